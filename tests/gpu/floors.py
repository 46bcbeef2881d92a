"""What the parts of a proof need at least on a GPU, counted in multiply-adds of 32 by 32 bits to 64
("wide"), and the tables that hold measured times against that.

Counts: kernels/README.md (products, additions of points); a sum's additions are those of the best
window size, with signed digits; a quotient's products those of its butterflies and scalings. Pure.
"""

PRODUCT_FR = 128
# XYZZ plus affine: 8 products and 2 squares, one reduction saved; in G2 with three products in Fq for
# one in Fq2
ADDITION = {("bn128", "g1"): 1170, ("bls12381", "g1"): 2620,
            ("bn128", "g2"): 3152, ("bls12381", "g2"): 7032}
WINDOWS = range(2, 24)
SCALAR_BITS = 255


def additions(count):
    return min((SCALAR_BITS + c) // c * (count + 2 ** c) for c in WINDOWS)


def wide_of_sum(curve, group, count):
    return additions(count) * ADDITION[curve, group]


def wide_of_quotient(log2):
    return 2 ** log2 * (3 * max(log2 - 2, 0) + 7) * PRODUCT_FR


def wide_of_proof(curve, wires, public, log2):
    private = wires - public - 1
    in_g1 = 2 * additions(wires) + additions(private) + additions(2 ** log2)
    return (in_g1 * ADDITION[curve, "g1"] + additions(wires) * ADDITION[curve, "g2"]
            + wide_of_quotient(log2))


class Rates:
    """what this GPU was measured to do, from the records of `rates` and `copies`"""

    def __init__(self, records):
        wide = [r["per_s"] for r in records
                if r["check"] == "rate" and r["what"] in ("rate_wide", "rate_chain")]
        copies = [r["gb_per_s"] for r in records
                  if r["check"] == "copy" and r["what"] == "in, registered"]
        self.wide_per_ms = max(wide) / 1e3 if wide else None
        self.bytes_per_ms = max(copies) * 1e6 if copies else None

    def floor_ms(self, wide):
        return wide / self.wide_per_ms if self.wide_per_ms else None

    def upload_ms(self, count):
        return count / self.bytes_per_ms if self.bytes_per_ms else None


def add_floors(records, rates):
    """puts floor_ms and times_floor into the records of operations and proofs"""
    for record in records:
        if record["check"] == "operation":
            wide = (wide_of_quotient(record["log2"]) if record["what"] == "quotient"
                    else wide_of_sum(record["curve"], record["what"][4:], 2 ** record["log2"]))
        elif record["check"] == "proof":
            wide = wide_of_proof(record["curve"], record["wires"], record["public"], record["log2"])
            record["upload_floor_ms"] = rates.upload_ms(32 * record["wires"])
        else:
            continue
        record["floor_ms"] = rates.floor_ms(wide)
        if record["floor_ms"]:
            record["times_floor"] = record["ms"] / record["floor_ms"]


# ---- tables ----


def cell(value):
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "WRONG" if value else "right"
    if isinstance(value, float):
        return "%.3g" % value if value < 1e4 else "%.4g" % value
    return str(value)


def table(title, heads, rows):
    if not rows:
        return ""
    lines = [heads] + [[cell(v) for v in row] for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(heads))]
    text = ["  ".join(c.ljust(w) for c, w in zip(line, widths)).rstrip() for line in lines]
    return "%s\n\n    %s\n" % (title, "\n    ".join(text))


def of(records, check):
    return [r for r in records if r["check"] == check]


def rows(records, check, keys):
    return [[r.get(k) for k in keys] for r in of(records, check)]


def tables(records):
    parts = [
        table("Parts", ["part", "result", "seconds", "why"],
              rows(records, "part", ["name", "result", "seconds", "why"])),
        table("Self-test: elements that differ from the CPU's", ["curve", "what", "of", "wrong"],
              rows(records, "selftest", ["curve", "what", "count", "wrong"])),
        table("Cases: sums, bit for bit the CPU's", ["folder", "witness", "rows by", ""],
              rows(records, "case", ["folder", "witness", "rows", "wrong"])),
        table("Rates", ["curve", "what", "a second"],
              rows(records, "rate", ["curve", "what", "per_s"])),
        table("Copies and registration", ["pages", "what", "bytes", "ms", "GB/s"],
              rows(records, "copy", ["pages", "what", "bytes", "ms", "gb_per_s"])),
        table("Operations (ms; a sort serves four sums)",
              ["curve", "what", "log2", "ms", "sort", "floor", "times floor", ""],
              rows(records, "operation", ["curve", "what", "log2", "ms", "sort_ms", "floor_ms",
                                          "times_floor", "wrong"])),
        table("Proofs (ms; the sums of a proof on the device, dense witnesses)",
              ["curve", "log2", "key", "first", "proof", "upload", "ntt", "msm", "floor",
               "times floor", "upload floor", ""],
              rows(records, "proof", ["curve", "log2", "key_ms", "first_ms", "ms", "upload_ms",
                                      "ntt_ms", "msm_ms", "floor_ms", "times_floor",
                                      "upload_floor_ms", "wrong"])),
        table("kill -9 in mid-proof: seconds to the next proof",
              ["curve", "log2", "key kept", "imported", "pinned", "seconds", "jobs done"],
              rows(records, "kill", ["curve", "log2", "keep", "imported", "pinned", "seconds",
                                     "done"])),
        table("compute-sanitizer", ["tool", "result", "why"],
              rows(records, "sanitizer", ["tool", "result", "why"])),
    ]
    return "\n".join(p for p in parts if p)
