"""What `run` measured, as text and as a picture."""
import math


def table(head, rows):
    columns = list(zip(*([head] + rows)))
    width = [max(len(str(cell)) for cell in column) for column in columns]
    lines = []
    for row in [head] + rows:
        cells = [str(cell).ljust(w) if i == 0 else str(cell).rjust(w)
                 for i, (cell, w) in enumerate(zip(row, width))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines) + "\n"


def number(x):
    if not x:
        return "-"
    return "%.3g" % x if x < 1000 else "%.0f" % x


def each(record):
    """time of one thing: ns of a product, ms of a check, us of a point, row or element"""
    scale = {"fr product": 1e6, "fq product": 1e6, "assemble": 1, "verify": 1}
    return record["cpu_ms"] / record["units"] * scale.get(record["operation"], 1000)


def operations(result):
    portable = {(r["curve"], r["operation"], r["log2"], r["threads"]): r["cpu_ms"]
                for r in result["operations"] if r["form"] == "portable"}
    rows = []
    for r in sorted(result["operations"], key=lambda r: (r["curve"], r["operation"], r["log2"],
                                                         r["threads"])):
        base = portable.get((r["curve"], r["operation"], r["log2"], r["threads"]))
        rows.append([r["operation"], r["curve"], "2^%d" % r["log2"] if r["log2"] else "",
                     r["threads"], r["form"], number(r["ms"]), number(r["cpu_ms"]),
                     number(each(r)), number(base / r["cpu_ms"]) if base else "-",
                     number(r["cpu_ms"] / r["floor_ms"]) if r["floor_ms"] else "-"])
    return table(["operation", "curve", "size", "threads", "form", "ms", "cpu ms", "each",
                  "faster than portable", "times floor"], rows)


def proofs(result):
    rows = []
    for r in result["proofs"]:
        ms, shot = r["phases_ms"], r["one_shot_ms"]
        other = sorted(r["other_ms"])[len(r["other_ms"]) // 2] if r["other_ms"] else 0
        rows.append([r["profile"], r["curve"], "2^%d" % r["log2"], r["threads"],
                     number(ms["prove"]), number(ms["prove"] + ms["finalize"]),
                     number(r["whole_ms"]), number(shot["none"]), number(shot["cold"]),
                     number(shot["warm"]), number(other),
                     number(other / ms["prove"]) if other else "-"])
    return table(["profile", "curve", "size", "threads", "device", "+finalize", "whole",
                  "one-shot none", "cold", "warm", "other", "other/device"], rows)


def phases(result):
    names = ["queue", "witness", "rows", "ready", "upload", "ntt", "msm", "prove", "finalize",
             "verify", "store"]
    rows = [[r["profile"], r["curve"], "2^%d" % r["log2"], r["threads"], number(r["accept_ms"])] +
            [number(r["phases_ms"][n]) for n in names] for r in result["proofs"]]
    return table(["profile", "curve", "size", "threads", "accept"] + names, rows)


def memory(result):
    rows = []
    for r in result["proofs"]:
        m = r["memory"]
        rows.append([r["profile"], r["curve"], "2^%d" % r["log2"], r["threads"]] +
                    [number(m[role][k] / 1024) for role in ("synth", "gpu")
                     for k in ("anonymous_kib", "pss_kib")] +
                    [number(t["per_s"]) for t in r["throughput"]])
    return table(["profile", "curve", "size", "threads", "synth own MiB", "pss", "gpu own MiB", "pss",
                  "proofs/s at 2", "4", "8"], rows)


def tables(result):
    machine = result["machine"]
    rate = result["madds_per_s"]
    parts = ["%s, %d cores, load %.1f; medians of %d; %s" % (
        machine["model"], machine["cores"], machine["load"], result["runs"],
        "%.3g eight-lane multiply-adds a second and core" % rate if rate else "no AVX-512 IFMA")]
    parts.append("Operations. cpu ms: of all threads, and what follows is of it. each: ns a product, "
                 "us a point, row or element, ms a check\n" +
                 operations(result))
    parts.append("Whole proofs, ms. device, +finalize and whole: in a running service; one-shot by "
                 "cache\nother: %s\n" % (result["other"] or "none given") + proofs(result))
    parts.append("Phases in a running service, ms\n" + phases(result))
    parts.append("Memory and throughput of the service. own: anonymous memory\n" + memory(result))
    return "\n".join(parts)


# ---- the picture: time of a proof against size, both axes logarithmic ----

COLOURS = ["#1b6ca8", "#c8553d", "#588157", "#7b2d8b", "#b08900", "#444444"]
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 760, 480, 70, 30, 210, 50


def lines_of(result):
    lines = {}
    for r in result["proofs"]:
        if r["profile"] != "dense":
            continue
        name = "%s, %d threads" % (r["curve"], r["threads"])
        lines.setdefault(name, []).append((r["log2"], r["phases_ms"]["prove"]))
        if r["other_ms"]:
            other = sorted(r["other_ms"])[len(r["other_ms"]) // 2]
            lines.setdefault("other, " + r["curve"], []).append((r["log2"], other))
    return {name: sorted(points) for name, points in lines.items()}


def plot(result):
    lines = lines_of(result)
    points = [p for line in lines.values() for p in line if p[1] > 0]
    if not points:
        return "<svg xmlns='http://www.w3.org/2000/svg'/>\n"
    x0, x1 = min(p[0] for p in points), max(p[0] for p in points)
    y0 = math.floor(math.log10(min(p[1] for p in points)))
    y1 = math.ceil(math.log10(max(p[1] for p in points)) + 1e-9)

    def at(point):
        x = LEFT + (point[0] - x0) / max(x1 - x0, 1) * (WIDTH - LEFT - RIGHT)
        y = (y1 - math.log10(point[1])) / max(y1 - y0, 1)
        return x, TOP + y * (HEIGHT - TOP - BOTTOM)

    out = ["<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' font-family='sans-serif' "
           "font-size='12'><rect width='100%%' height='100%%' fill='white'/>" % (WIDTH, HEIGHT),
           "<text x='%d' y='18'>device time of a dense proof, ms, on %s</text>" %
           (LEFT, result["machine"]["model"].replace("&", "and").replace("<", ""))]
    for decade in range(y0, y1 + 1):
        _, y = at((x0, 10.0 ** decade))
        out.append("<path d='M%d %.1fH%d' stroke='#ddd'/><text x='%d' y='%.1f' text-anchor='end'>%g"
                   "</text>" % (LEFT, y, WIDTH - RIGHT, LEFT - 6, y + 4, 10.0 ** decade))
    for size in range(x0, x1 + 1):
        x, _ = at((size, 10.0 ** y0))
        out.append("<text x='%.1f' y='%d' text-anchor='middle'>2^%d</text>" %
                   (x, HEIGHT - BOTTOM + 18, size))
    for i, (name, line) in enumerate(lines.items()):
        colour = COLOURS[i % len(COLOURS)]
        path = "L".join("%.1f %.1f" % at(p) for p in line if p[1] > 0)
        out.append("<path d='M%s' fill='none' stroke='%s' stroke-width='2'/>" % (path, colour))
        out.append("<text x='%d' y='%d' fill='%s'>%s</text>" %
                   (WIDTH - RIGHT + 12, TOP + 16 * (i + 1), colour, name))
    return "\n".join(out) + "\n</svg>\n"
