#!/usr/bin/env python3
"""Writes the test vectors of the kernels' tests, in plain integers that Python computed.

    vectors.py            writes vectors_bn254.h and vectors_bls12381.h beside this file
    vectors.py --check    exit 1, naming the file, where a committed one differs

Nothing of the C code's methods is here: integers modulo p, affine chords and tangents. The curves'
parameters are those of kernels/field/constants.py.
"""
import hashlib
import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "..", "..", "kernels", "field"))
import constants  # noqa: E402
from constants import Fq2  # noqa: E402


def pseudorandom(label, below):
    data = b"".join(hashlib.sha256(b"%s %d" % (label.encode(), i)).digest() for i in range(3))
    return int.from_bytes(data, "little") % below


# ---- curves y^2 = x^3 + b over Fq2 (G1 is its part with c1 = 0); None is infinity ----

def add(p, q):
    if p is None or q is None:
        return p or q
    field = p[0].q
    if p[0] == q[0]:
        if not p[1] == q[1]:
            return None
        slope = Fq2(field, 3, 0) * p[0] * p[0] * (p[1] + p[1]).inverse()
    else:
        slope = minus(q[1], p[1]) * minus(q[0], p[0]).inverse()
    x = minus(minus(slope * slope, p[0]), q[0])
    return x, minus(slope * minus(p[0], x), p[1])


def minus(a, b):
    return Fq2(a.q, a.c0 - b.c0, a.c1 - b.c1)


def multiply(p, k):
    out = None
    while k:
        if k & 1:
            out = add(out, p)
        p, k = add(p, p), k >> 1
    return out


def square_root(a):
    """in Fq2 for q = 3 mod 4 (Adj, Rodriguez-Henriquez 2012), or None"""
    q = a.q
    t = a ** ((q - 3) // 4)
    x, s = a * t, a * t * t
    if s == Fq2(q, -1, 0):
        root = x * Fq2(q, 0, 1)
    else:
        root = (s + Fq2(q, 1, 0)) ** ((q - 1) // 2) * x
    return root if root * root == a else None


def points(b, real):
    """points of the whole curve, by counting x up; `real` keeps to Fq"""
    n = 1
    while True:
        x = Fq2(b.q, n, 0 if real else 1)
        y = square_root(x * x * x + b)
        if y is not None and (not real or y.c1 == 0):
            yield x, y
        n += 1


class Vectors:
    def __init__(self, curve):
        self.c, self.q, self.r, self.limbs = curve, curve["q"], curve["r"], curve["limbs"]
        self.out = []
        xi = Fq2(self.q, curve["xi"], 1)
        b = Fq2(self.q, curve["b"], 0)
        self.b = {"g1": b, "g2": xi.inverse() * b if curve["twist_divides"] else xi * b}
        self.generator = {"g1": tuple(Fq2(self.q, v, 0) for v in curve["g1"]),
                          "g2": (Fq2(self.q, *curve["g2"][:2]), Fq2(self.q, *curve["g2"][2:]))}
        t = curve["q"] + 1 - curve["r"] if curve["g1_cofactor_is_one"] else curve["x"] + 1
        assert (self.q + 1 - t) % self.r == 0
        self.h1 = (self.q + 1 - t) // self.r
        # the sextic twist's order is q^2 + 1 - (one of the six traces); the one that r divides
        t2 = t * t - 2 * self.q
        f = math.isqrt((4 * self.q**2 - t2 * t2) // 3)
        assert 3 * f * f == 4 * self.q**2 - t2 * t2
        orders = [self.q**2 + 1 - u for u in ((t2 + 3 * f) // 2, (t2 - 3 * f) // 2)]
        order, = [n for n in orders if n % self.r == 0]
        self.h2 = order // self.r

    def words(self, value, limbs):
        w = ["0x%016xULL" % (value >> (64 * i) & 2**64 - 1) for i in range(limbs)]
        return "{" + (",\n     ".join(", ".join(w[i:i + 4]) for i in range(0, limbs, 4))) + "}"

    def field(self, name, p, limbs):
        edges = [0, 1, 2, p - 1, p - 2, (1 << 64 * limbs) % p, (p - 1) // 2, 2**64 - 1, 2**192 - 1]
        edges += [pseudorandom("%s %s %d" % (self.c["name"], name, i), p) for i in range(7)]
        rows = []
        for i, a in enumerate(edges):
            b = edges[(7 * i + 4) % len(edges)]
            rows.append("{" + ",\n     ".join(self.words(v, limbs) for v in (
                a, b, (a + b) % p, (a - b) % p, a * b % p, pow(a, -1, p) if a else 0)) + "}")
        self.out.append("struct %s_vector {\n    uint64_t a[%d], b[%d], sum[%d], difference[%d], "
                        "product[%d], inverse[%d];\n};" % ((name,) + (limbs,) * 6))
        self.out.append("static const struct %s_vector %s_vectors[] =\n    {%s};\n"
                        % (name, name, ",\n    ".join(rows)))

    def point(self, name, p):
        coordinates = [v for c in p for v in (c.c0, c.c1)]
        if name == "g1":
            assert coordinates[1] == coordinates[3] == 0
            coordinates = coordinates[::2]
        value = sum((v << 64 * self.limbs) % self.q << 64 * self.limbs * i
                    for i, v in enumerate(coordinates))
        return self.words(value, len(coordinates) * self.limbs)

    def group(self, name):
        g = self.generator[name]
        rows = []
        for k in [1, 2, 3, self.r - 1, (self.r + 1) // 2] + [
                pseudorandom("%s %s %d" % (self.c["name"], name, i), self.r) for i in range(4)]:
            rows.append("{%s,\n     {%s}}" % (self.words(k, 4), self.point(name, multiply(g, k))))
        self.out.append("/* scalar, and scalar * generator, Montgomery */\nstruct %s_vector {\n    "
                        "uint64_t scalar[4];\n    struct %s point;\n};" % (name, name))
        self.out.append("static const struct %s_vector %s_vectors[] =\n    {%s};\n"
                        % (name, name, ",\n    ".join(rows)))

    def outside(self, name, cofactor, small):
        """outside the subgroup: any point of the curve, one of cofactor order, one of small"""
        assert cofactor % small == 0
        any_point = next(p for p in points(self.b[name], name == "g1")
                         if multiply(p, self.r) is not None)
        cofactor_point = multiply(any_point, self.r)
        n = cofactor * self.r
        part = n
        while part % small == 0:
            part //= small
        for p in points(self.b[name], name == "g1"):
            assert multiply(p, n) is None
            s = multiply(p, part)
            while s is not None and multiply(s, small) is not None:
                s = multiply(s, small)
            if s is not None:
                break
        rows = ["{%s}" % self.point(name, p) for p in (any_point, cofactor_point, s)]
        self.out.append("/* on the curve, not in the subgroup; the last has order %d */" % small)
        self.out.append("static const struct %s %s_outside[] =\n    {%s};\n"
                        % (name, name, ",\n    ".join(rows)))

    def text(self):
        guard = "PAWL_TESTS_KERNELS_VECTORS_%s_H" % self.c["name"].upper()
        self.out.append("/* Test vectors of %s, written by vectors.py: do not edit. */"
                        % self.c["name"])
        self.out.append("/* clang-format off */\n#ifndef %s\n#define %s\n" % (guard, guard))
        self.field("fr", self.r, 4)
        self.field("fq", self.q, self.limbs)
        self.group("g1")
        self.group("g2")
        if self.c["g1_cofactor_is_one"]:
            assert self.h1 == 1
            self.outside("g2", self.h2, 10069)
        else:
            self.outside("g1", self.h1, 3)
            self.outside("g2", self.h2, 13)
        self.out.append("#endif\n/* clang-format on */")
        return "\n".join(self.out) + "\n"


def main():
    stale = 0
    for curve in (constants.bn254(), constants.bls12381()):
        path = os.path.join(HERE, "vectors_%s.h" % curve["name"])
        text = Vectors(curve).text()
        if "--check" in sys.argv[1:]:
            with open(path) as f:
                if f.read() != text:
                    print("%s differs from what vectors.py writes" % path, file=sys.stderr)
                    stale = 1
            continue
        with open(path, "w") as f:
            f.write(text)
    return stale


if __name__ == "__main__":
    sys.exit(main())
