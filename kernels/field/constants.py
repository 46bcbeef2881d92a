#!/usr/bin/env python3
"""Writes the field and curve constants of kernels/ from the curves' defining numbers.

    constants.py            writes constants_bn254.h, constants_bls12381.h and the same curves'
                            constants_cuda_*.h beside this file
    constants.py --check    exit 1, naming the file, where a committed one differs

Needs only Python's library. Every number below is either a parameter from the curve's definition
(the seed x, the curve coefficient, the tower's non-residue, the generators) or derived here; the
derivations are asserted, so a typo in a parameter does not get into a header.
"""
import os
import sys
from math import gcd


class Fq2:
    """c0 + c1 u with u^2 = -1 over the integers modulo q"""

    def __init__(self, q, c0, c1):
        self.q, self.c0, self.c1 = q, c0 % q, c1 % q

    def __mul__(self, o):
        return Fq2(self.q, self.c0 * o.c0 - self.c1 * o.c1, self.c0 * o.c1 + self.c1 * o.c0)

    def __add__(self, o):
        return Fq2(self.q, self.c0 + o.c0, self.c1 + o.c1)

    def __eq__(self, o):
        return (self.c0, self.c1) == (o.c0, o.c1)

    def __pow__(self, e):
        out, base = Fq2(self.q, 1, 0), self
        while e:
            if e & 1:
                out = out * base
            base, e = base * base, e >> 1
        return out

    def inverse(self):
        n = pow(self.c0 * self.c0 + self.c1 * self.c1, -1, self.q)
        return Fq2(self.q, self.c0 * n, -self.c1 * n)


def psi_norm(f, t, q):
    """f(psi) f(psi-bar) for psi^2 - t psi + q = 0, f's coefficients from the lowest"""
    a, b = 0, 0  # a + b psi
    for c in reversed(f):
        a, b = c - b * q, a + b * t
    return a * a + a * b * t + b * b * q


def assert_psi_decides(f, t, q, r, cofactor):
    """f(psi) is zero on the subgroup of order r of the twist, and on no other point: a point that
    it takes to infinity has an order that divides the norm, and the cofactor's part is excluded"""
    norm = psi_norm(f, t, q)
    assert norm % r == 0 and gcd(norm, cofactor) == 1 and cofactor % r


def bn254():
    x = 4965661367192848881
    q = 36 * x**4 + 36 * x**3 + 24 * x**2 + 6 * x + 1
    r = 36 * x**4 + 36 * x**3 + 18 * x**2 + 6 * x + 1
    g2 = [10857046999023057135944570762232829481370756359578518086990519993285655852781,
          11559732032986387107991004021392285783925812861821192530917403151452391805634,
          8495653923123431417604973247489272438418190587263600148770280649306958101930,
          4082367875863433681332203403145435568316851327593401208105741076214120093531]
    # x > 0 and the hard part is the one of Fuentes-Castaneda, Knapp, Rodriguez-Henriquez:
    # 2x(6x^2 + 3x + 1) (q^4 - q^2 + 1)/r = sum_i l_i q^i
    l = [1 + 6 * x + 12 * x**2 + 12 * x**3, 4 * x + 6 * x**2 + 12 * x**3,
         6 * x + 6 * x**2 + 12 * x**3, -1 + 4 * x + 6 * x**2 + 12 * x**3]
    hard = 2 * x * (6 * x**2 + 3 * x + 1) * ((q**4 - q**2 + 1) // r)
    assert sum(c * q**i for i, c in enumerate(l)) == hard
    # the subgroup check of curve/endomorphism.h: x + 1 + x psi + x psi^2 - 2x psi^3
    assert_psi_decides([x + 1, x, x, -2 * x], 6 * x**2 + 1, q, r, 2 * q - r)
    return dict(name="bn254", x=x, q=q, r=r, b=3, xi=9, twist_divides=True, loop=6 * x + 2,
                g1=[1, 2], g2=g2, limbs=4, g1_cofactor_is_one=1)


def bls12381():
    x = -0xd201000000010000
    r = x**4 - x**2 + 1
    q = (x - 1)**2 * r // 3 + x
    g1 = [
        int("17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905"
            "a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb", 16),
        int("08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af6"
            "00db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1", 16)]
    g2 = [
        int("024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02"
            "b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8", 16),
        int("13e02b6052719f607dacd3a088274f65596bd0d09920b61a"
            "b5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e", 16),
        int("0ce5d527727d6e118cc9cdc6da2e351aadfd9baa8cbdd3a7"
            "6d429a695160d12c923ac9cc3baca289e193548608b82801", 16),
        int("0606c4a02ea734cc32acd2b02bc28b99cb3e287e85a763af"
            "267492ab572e99ab3f370d275cec1da1aaa9075ff05f79be", 16)]
    # the hard part of Hayashida, Hayasaka, Teruya: 3 (q^4 - q^2 + 1)/r
    assert (x - 1)**2 * (x + q) * (x**2 + q**2 - 1) + 3 == 3 * ((q**4 - q**2 + 1) // r)
    # the subgroup checks of curve/endomorphism.h: psi - x; and phi + x^2 has the norm r
    cofactor = (x**8 - 4 * x**7 + 5 * x**6 - 4 * x**4 + 6 * x**3 - 4 * x**2 - 4 * x + 13) // 9
    assert_psi_decides([-x, 1], x + 1, q, r, cofactor)
    assert r == x**4 - x**2 + 1
    return dict(name="bls12381", x=x, q=q, r=r, b=4, xi=1, twist_divides=False, loop=-x,
                g1=g1, g2=g2, limbs=6, g1_cofactor_is_one=0)


def naf(n):
    """digits of the non-adjacent form, most significant first, without the leading 1"""
    digits = []
    while n:
        d = 2 - (n & 3) if n & 1 else 0
        digits.append(d)
        n = (n - d) >> 1
    assert digits[-1] == 1
    return digits[-2::-1]


class Header:
    def __init__(self, curve):
        self.c = curve
        self.lines = []
        self.q, self.limbs = curve["q"], curve["limbs"]

    def put(self, text=""):
        self.lines.append(text)

    def words(self, value, limbs):
        """the words between braces, three a line"""
        w = ["0x%016xULL" % (value >> (64 * i) & 2**64 - 1) for i in range(limbs)]
        assert value >> (64 * limbs) == 0
        return "{" + (",\n     ".join(", ".join(w[i:i + 3]) for i in range(0, limbs, 3))) + "}"

    def fq(self, value):
        return "{" + self.words((value << 64 * self.limbs) % self.q, self.limbs) + "}"

    def fq2(self, value):
        return "{%s,\n     %s}" % (self.fq(value.c0), self.fq(value.c1))

    def constant(self, kind, name, text, comment=None):
        if comment:
            self.put("/* %s */" % comment)
        self.put("static const %s %s =\n    %s;" % (kind, name, text))

    def prime_field(self, name, p, limbs):
        big = 1 << 64 * limbs
        upper = name.upper()
        self.put("#define %s_NEGATIVE_INVERSE 0x%016xULL /* -p^-1 mod 2^64 */"
                 % (upper, -pow(p, -1, 2**64) % 2**64))
        self.constant("uint64_t", "%s_modulus[%d]" % (name, limbs), self.words(p, limbs))
        self.constant("uint64_t", "%s_inverse_exponent[%d]" % (name, limbs),
                      self.words(p - 2, limbs), "p - 2")
        for suffix, value, comment in (
                ("one", 1, "R mod p"), ("r_squared", big, "R^2 mod p"),
                ("two_inverse", pow(2, -1, p), "1/2")):
            self.constant("struct " + name, name + "_" + suffix,
                          "{" + self.words(value * big % p, limbs) + "}", comment)
        self.limbs_52(name, p, limbs)
        self.put()

    def limbs_52(self, name, p, words):
        """for eight lanes (vector_ifma.h): numbers in limbs of 52 bits, R' = 2^(52 * count)"""
        count, shift = (5, 4) if words == 4 else (8, 32)
        big = 1 << 52 * count
        for suffix, value, comment in (
                ("modulus", p, None), ("complement", big - p, "R' - p"),
                ("modulus_times_4", 4 * p, None),
                ("modulus_times_loaded", p << shift, "what a loaded value is below"),
                ("vector_one", big % p, "R' mod p"),
                ("vector_r_squared", big * big % p, "R'^2 mod p"),
                ("vector_to_word", (1 << 64 * words) % p, "R mod p, plain")):
            assert 0 <= value < big
            limbs = ["0x%013xULL" % (value >> 52 * i & 2**52 - 1) for i in range(count)]
            text = ",\n     ".join(", ".join(limbs[i:i + 4]) for i in range(0, count, 4))
            self.constant("uint64_t", "%s_%s_52[%d]" % (name, suffix, count), "{%s}" % text, comment)
        if count == 5:
            quotient = (1 << 52 + 45) // ((p >> 208) + 1)
            assert quotient < 1 << 52
            self.constant("uint64_t", name + "_quotient_52", "0x%013xULL" % quotient,
                          "2^97 / (p / 2^208), rounded down")
        else:
            digits = (1 << 312 + 120) // p
            exponent = digits.bit_length() - 48
            self.constant("double", name + "_quotient_52",
                          "0x%xp%d" % ((digits >> exponent) - 1, exponent - 120),
                          "2^312 / p, less up to 2^-46 of it")

    def scalars(self):
        r = self.c["r"]
        self.prime_field("fr", r, 4)
        adicity = ((r - 1) & -(r - 1)).bit_length() - 1
        root = pow(5, (r - 1) >> adicity, r)
        assert pow(root, 1 << adicity - 1, r) == r - 1, "5 is a square"
        self.put("#define FR_TWO_ADICITY %d" % adicity)
        self.constant("struct fr", "fr_root", "{" + self.words((root << 256) % r, 4) + "}",
                      "5^((r - 1) / 2^FR_TWO_ADICITY), of order 2^FR_TWO_ADICITY")
        self.put()

    def curve(self):
        c, q = self.c, self.q
        xi = Fq2(q, c["xi"], 1)
        b2 = xi.inverse() * Fq2(q, c["b"], 0) if c["twist_divides"] else xi * Fq2(q, c["b"], 0)
        x, y = c["g1"]
        assert (y * y - x**3 - c["b"]) % q == 0
        x2, y2 = Fq2(q, *c["g2"][:2]), Fq2(q, *c["g2"][2:])
        assert y2 * y2 == x2 * x2 * x2 + b2
        self.constant("struct fq", "g1_coefficient_b", self.fq(c["b"]), "y^2 = x^3 + b")
        self.constant("struct fq2", "g2_coefficient_b", self.fq2(b2), "of the sextic twist")
        for name, values in (("G1", [x, y]), ("G2", c["g2"])):
            words = ", ".join(self.words((v << 64 * self.limbs) % q, self.limbs)[1:-1]
                              for v in values)
            words = words.replace("\n", " \\\n")
            self.put("#define %s_GENERATOR_WORDS \\\n    {%s}" % (name, words))
        self.put("#define G1_COFACTOR_IS_ONE %d" % c["g1_cofactor_is_one"])
        self.constant("struct fq", "g1_generator_x", self.fq(x))
        self.constant("struct fq", "g1_generator_y", self.fq(y))
        self.constant("struct fq2", "g2_generator_x", self.fq2(x2))
        self.constant("struct fq2", "g2_generator_y", self.fq2(y2))
        self.put()

    def tower(self):
        q, xi = self.q, Fq2(self.q, self.c["xi"], 1)
        self.constant("struct fq2", "fq2_one", self.fq2(Fq2(q, 1, 0)))
        self.put("#define FQ2_XI_REAL %d /* xi = FQ2_XI_REAL + u, w^6 = v^3 = xi */" % self.c["xi"])
        # xi is neither a square nor a cube, so the tower's polynomials are irreducible
        one = Fq2(q, 1, 0)
        assert not xi ** ((q * q - 1) // 2) == one and not xi ** ((q * q - 1) // 3) == one
        rows = []
        for n in (1, 2, 3):
            rows.append("{" + ",\n     ".join(
                self.fq2(xi ** (k * (q**n - 1) // 6)) for k in range(6)) + "}")
        self.constant("struct fq2", "frobenius_factor[3][6]", "{" + ",\n    ".join(rows) + "}",
                      "[n - 1][k] = xi^(k (q^n - 1) / 6): w^k to the q^n is this times w^k")
        self.put()

    def pairing(self):
        c = self.c
        digits = naf(c["loop"])
        self.put("/* w^2 x' = x for a point (x', y') of a twist that divides b by xi; "
                 "else x' = w^2 x */")
        self.put("#define TWIST_DIVIDES %d" % c["twist_divides"])
        self.put("#define PAIRING_X 0x%016xULL /* |x|, the curve's seed */" % abs(c["x"]))
        self.put("#define PAIRING_X_NEGATIVE %d" % (c["x"] < 0))
        self.put("/* the Miller loop's count, signed digits from the top, without the leading 1 */")
        self.put("#define MILLER_DIGITS %d" % len(digits))
        rows = [", ".join(str(d) for d in digits[i:i + 24]) for i in range(0, len(digits), 24)]
        self.constant("int8_t", "miller_digit[MILLER_DIGITS]", "{" + ",\n     ".join(rows) + "}")

    def text(self):
        guard = "PAWL_KERNELS_FIELD_CONSTANTS_%s_H" % self.c["name"].upper()
        self.put("/*\n * Constants of %s, written by constants.py: do not edit." % self.c["name"])
        self.put(" * Field elements are in Montgomery form. Included by fields.h, after its "
                 "structs.")
        self.put(" */")
        self.put("/* clang-format off */")
        self.put("#ifndef %s\n#define %s\n" % (guard, guard))
        self.scalars()
        self.prime_field("fq", self.q, self.limbs)
        self.curve()
        self.tower()
        self.pairing()
        self.put("\n#endif")
        self.put("/* clang-format on */")
        return "\n".join(self.lines) + "\n"


class CudaHeader:
    """the two prime fields in words of 32 bits, as initializers of arrays: macros only, so that a
    kernel that names a limb in an unrolled loop has it as an immediate"""

    def __init__(self, curve):
        self.c = curve
        self.lines = []

    def words(self, name, value, count, comment):
        assert 0 <= value < 1 << 32 * count
        w = ["0x%08xu" % (value >> 32 * i & 2**32 - 1) for i in range(count)]
        rows = [", ".join(w[i:i + 6]) for i in range(0, count, 6)]
        self.lines += ["/* %s */" % comment,
                       "#define %s \\\n    {%s}" % (name, ", \\\n     ".join(rows))]

    def prime_field(self, name, p, count):
        big = 1 << 32 * count
        prefix = "GPU_%s_" % name.upper()
        self.lines.append("#define %sWORDS %d" % (prefix, count))
        self.lines.append("#define %sNEGATIVE_INVERSE 0x%08xu /* -p^-1 mod 2^32 */"
                          % (prefix, -pow(p, -1, 2**32) % 2**32))
        self.words(prefix + "MODULUS", p, count, "p")
        self.words(prefix + "ONE", big % p, count, "R mod p, R = 2^%d" % (32 * count))
        self.words(prefix + "R_SQUARED", big * big % p, count, "R^2 mod p")
        self.words(prefix + "TWO_INVERSE", pow(2, -1, p) * big % p, count, "1/2")

    def root(self):
        r = self.c["r"]
        adicity = ((r - 1) & -(r - 1)).bit_length() - 1
        self.lines.append("#define GPU_FR_TWO_ADICITY %d" % adicity)
        self.words("GPU_FR_ROOT", (pow(5, (r - 1) >> adicity, r) << 256) % r, 8,
                   "5^((r - 1) / 2^GPU_FR_TWO_ADICITY), of order 2^GPU_FR_TWO_ADICITY")

    def text(self):
        guard = "PAWL_KERNELS_FIELD_CONSTANTS_CUDA_%s_H" % self.c["name"].upper()
        self.lines = ["/*",
                      " * Constants of %s for CUDA kernels, written by constants.py: do not edit."
                      % self.c["name"],
                      " * Words of 32 bits, the lowest first; elements in Montgomery form. Included "
                      "by field_cuda.h.",
                      " */", "/* clang-format off */",
                      "#ifndef %s\n#define %s\n" % (guard, guard)]
        self.prime_field("fr", self.c["r"], 8)
        self.root()
        self.lines.append("")
        self.prime_field("fq", self.c["q"], 2 * self.c["limbs"])
        return "\n".join(self.lines + ["\n#endif", "/* clang-format on */"]) + "\n"


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    stale = 0
    for curve in (bn254(), bls12381()):
        for kind, text in (("", Header(curve).text()), ("cuda_", CudaHeader(curve).text())):
            path = os.path.join(here, "constants_%s%s.h" % (kind, curve["name"]))
            if "--check" not in sys.argv[1:]:
                with open(path, "w") as f:
                    f.write(text)
            elif not os.path.exists(path) or open(path).read() != text:
                print("%s differs from what constants.py writes" % path, file=sys.stderr)
                stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main())
