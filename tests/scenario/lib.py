#!/usr/bin/env python3
"""Breaks zkeys and wtns files in one named way, for the scenario scripts:

    lib.py KIND IN OUT

The container is parsed and written anew, so that all else stays as it was.
"""
import struct
import sys


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    magic, version, count = data[:4], *struct.unpack_from("<II", data, 4)
    at, sections = 12, []
    for _ in range(count):
        kind, length = struct.unpack_from("<IQ", data, at)
        sections.append([kind, bytearray(data[at + 12 : at + 12 + length])])
        at += 12 + length
    return magic, version, sections


def write(path, magic, version, sections):
    with open(path, "wb") as file:
        file.write(magic + struct.pack("<II", version, len(sections)))
        for kind, payload in sections:
            file.write(struct.pack("<IQ", kind, len(payload)) + payload)


def section(sections, kind):
    return next(payload for number, payload in sections if number == kind)


# ---- witnesses: section 1 is u32 n8, r, u32 count; section 2 the values ----


def set_count(sections, count):
    section(sections, 1)[36:40] = struct.pack("<I", count)


def count_of(sections):
    return struct.unpack_from("<I", section(sections, 1), 36)[0]


def wtns_unsatisfied(sections):
    values = section(sections, 2)
    values[-32:] = (int.from_bytes(values[-32:], "little") ^ 1).to_bytes(32, "little")


def wtns_first(sections):
    section(sections, 2)[:32] = (2).to_bytes(32, "little")


def wtns_short(sections):
    del section(sections, 2)[-32:]
    set_count(sections, count_of(sections) - 1)


def wtns_long(sections):
    section(sections, 2).extend(bytes(32))
    set_count(sections, count_of(sections) + 1)


def wtns_values_short(sections):
    del section(sections, 2)[-32:]


def wtns_not_canonical(sections):
    values, r = section(sections, 2), int.from_bytes(section(sections, 1)[4:36], "little")
    values[-32:] = (int.from_bytes(values[-32:], "little") + r).to_bytes(32, "little")


def wtns_other_prime(sections):
    section(sections, 1)[4:36] = (2**255 - 19).to_bytes(32, "little")


# ---- keys: section 2 is u32 n8q, q, u32 n8r, r, u32 nVars, u32 nPublic, u32 domain, points ----


def header_at(sections):
    n8q = struct.unpack_from("<I", section(sections, 2))[0]
    return 4 + n8q + 4 + 32


def zkey_length(sections):
    del section(sections, 5)[-8:]


def zkey_count(sections):
    header, at = section(sections, 2), header_at(sections)
    struct.pack_into("<I", header, at, struct.unpack_from("<I", header, at)[0] + 1)


def zkey_domain(sections):
    struct.pack_into("<I", section(sections, 2), header_at(sections) + 8, 3)


def zkey_index(sections):
    struct.pack_into("<I", section(sections, 4), 4 + 8, 0xFFFFFFF0)


def zkey_row(sections):
    struct.pack_into("<I", section(sections, 4), 4 + 4, 0xFFFFFFF0)


def zkey_matrix(sections):
    struct.pack_into("<I", section(sections, 4), 4, 2)


def zkey_coefficients(sections):
    payload = section(sections, 4)
    struct.pack_into("<I", payload, 0, struct.unpack_from("<I", payload)[0] + 1)


def zkey_point(sections):
    section(sections, 9)[0] ^= 1


def zkey_plonk(sections):
    section(sections, 1)[:4] = struct.pack("<I", 2)


def zkey_missing(sections):
    sections[:] = [entry for entry in sections if entry[0] != 8]


def zkey_twice(sections):
    sections.append([3, bytearray(section(sections, 3))])


# ---- these leave a right file ----


def zkey_reversed(sections):
    sections.reverse()


def main():
    kind, source, target = sys.argv[1:]
    magic, version, sections = read(source)
    globals()[kind](sections)
    write(target, magic, version, sections)


if __name__ == "__main__":
    main()
