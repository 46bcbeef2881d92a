/*
 * Reads a proving key's header and holds its lengths against its counts. Called by image_build.c
 * and vkey_export.c. Keeps nothing; a SIGKILL leaves nothing.
 */
#include "synth-worker/zkey.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "kernels/curves.h"
#include "synth-worker/complaint.h"

#define PROTOCOL_GROTH16 1u
#define FR_BYTES 32u
#define COUNTS_BYTES 12u

static int check_unique(const struct zkey *zkey, uint32_t id, struct complaint *complaint)
{
    if (!binfile_section(&zkey->file, id, complaint))
        return -EINVAL;
    if (zkey->file.section[id].count > 1)
        return complain_input(complaint, "%.700s: Section Duplicated %" PRIu32,
                              zkey->file.source.name, id);
    return 0;
}

static int check_length(const struct zkey *zkey, uint32_t id, uint64_t expected,
                        struct complaint *complaint)
{
    uint64_t length = zkey->file.section[id].length;
    if (length == expected)
        return 0;
    return complain_input(complaint,
                          "%.700s: section %" PRIu32 " has %" PRIu64
                          " bytes, the header calls for %" PRIu64,
                          zkey->file.source.name, id, length, expected);
}

static int read_section(const struct zkey *zkey, uint32_t id, uint64_t skip, void *out,
                        size_t bytes, struct complaint *complaint)
{
    const struct binfile_section *section = &zkey->file.section[id];
    return binfile_read(&zkey->file.source, section->offset + skip, out, bytes, complaint);
}

static int check_protocol(const struct zkey *zkey, struct complaint *complaint)
{
    uint8_t protocol[4];
    int status = check_unique(zkey, ZKEY_PROTOCOL, complaint);
    if (!status)
        status = check_length(zkey, ZKEY_PROTOCOL, sizeof protocol, complaint);
    if (!status)
        status = read_section(zkey, ZKEY_PROTOCOL, 0, protocol, sizeof protocol, complaint);
    if (!status && binfile_u32(protocol) != PROTOCOL_GROTH16)
        status = complain_input(complaint, "zkey file is not groth16");
    return status;
}

/* The curve whose two primes stand at the start of the header: u32 n8q, q, u32 n8r, r. */
static const struct curve *match_curve(const uint8_t *header, uint64_t length)
{
    for (uint32_t id = CURVE_BN254; id <= CURVE_BLS12381; id++) {
        const struct curve *curve = curve_by_id(id);
        uint32_t n8q = curve->fq_bytes;
        if (length >= 8 + n8q + FR_BYTES && binfile_u32(header) == n8q &&
            !memcmp(header + 4, curve->fq_modulus, n8q) &&
            binfile_u32(header + 4 + n8q) == FR_BYTES &&
            !memcmp(header + 8 + n8q, curve->fr_modulus, FR_BYTES))
            return curve;
    }
    return NULL;
}

static int log2_exact(uint32_t value)
{
    int log2 = 31 - __builtin_clz(value | 1);
    return value == UINT32_C(1) << log2 ? log2 : -1;
}

static int take_counts(struct zkey *zkey, const uint8_t *counts, struct complaint *complaint)
{
    const char *name = zkey->file.source.name;
    uint32_t domain = binfile_u32(counts + 8);
    zkey->wires = binfile_u32(counts);
    zkey->public_count = binfile_u32(counts + 4);
    if (zkey->public_count >= zkey->wires)
        return complain_input(complaint,
                              "%.700s: section 2: nPublic %" PRIu32 " is not below nVars %" PRIu32,
                              name, zkey->public_count, zkey->wires);
    int log2_domain = log2_exact(domain);
    if (log2_domain < 1)
        return complain_input(complaint,
                              "%.700s: section 2: domainSize %" PRIu32
                              " is not a power of two of at least 2",
                              name, domain);
    if ((uint32_t)log2_domain >= zkey->curve->two_adicity)
        return complain_input(complaint,
                              "%.700s: section 2: domainSize 2^%d is not supported, the largest "
                              "on %s is 2^%" PRIu32,
                              name, log2_domain, zkey->curve->name, zkey->curve->two_adicity - 1);
    zkey->log2_domain = (uint32_t)log2_domain;
    return 0;
}

/* The file has alpha1 beta1 beta2 gamma2 delta1 delta2, the image the G1 points first. */
static void take_constants(struct zkey *zkey, const uint8_t *points)
{
    uint32_t g1 = zkey->curve->g1_bytes, g2 = zkey->curve->g2_bytes;
    uint8_t *out = (uint8_t *)zkey->constants;
    memcpy(out, points, 2 * g1);
    memcpy(out + 2 * g1, points + 2 * g1 + 2 * g2, g1);
    memcpy(out + 3 * g1, points + 2 * g1, 2 * g2);
    memcpy(out + 3 * g1 + 2 * g2, points + 3 * g1 + 2 * g2, g2);
}

static int read_header(struct zkey *zkey, struct complaint *complaint)
{
    uint8_t header[8 + 48 + FR_BYTES + COUNTS_BYTES + ZKEY_CONSTANTS_BYTES_MAX] = {0};
    uint64_t length = zkey->file.section[ZKEY_HEADER].length;
    uint64_t take = length < sizeof header ? length : sizeof header;
    int status = read_section(zkey, ZKEY_HEADER, 0, header, take, complaint);
    if (status)
        return status;
    zkey->curve = match_curve(header, take);
    if (!zkey->curve)
        return complain_input(complaint,
                              "%.700s: section 2 names the primes of no curve that is known "
                              "(bn128, bls12381)",
                              zkey->file.source.name);
    uint32_t primes = 8 + zkey->curve->fq_bytes + FR_BYTES;
    uint32_t constants = 3 * zkey->curve->g1_bytes + 3 * zkey->curve->g2_bytes;
    status = check_length(zkey, ZKEY_HEADER, primes + COUNTS_BYTES + constants, complaint);
    if (status)
        return status;
    take_constants(zkey, header + primes + COUNTS_BYTES);
    return take_counts(zkey, header + primes, complaint);
}

int zkey_open(struct zkey *zkey, const struct binfile_source *source, struct complaint *complaint)
{
    *zkey = (struct zkey){0};
    int status = binfile_open(&zkey->file, source, "zkey", ZKEY_VERSION, complaint);
    if (!status)
        status = check_protocol(zkey, complaint);
    if (!status)
        status = check_unique(zkey, ZKEY_HEADER, complaint);
    if (!status)
        status = read_header(zkey, complaint);
    return status;
}

uint64_t zkey_point_count(const struct zkey *zkey, enum zkey_section id)
{
    switch (id) {
    case ZKEY_IC:
        return (uint64_t)zkey->public_count + 1;
    case ZKEY_POINTS_C:
        return (uint64_t)zkey->wires - zkey->public_count - 1;
    case ZKEY_POINTS_H:
        return UINT64_C(1) << zkey->log2_domain;
    default:
        return zkey->wires;
    }
}

uint32_t zkey_point_bytes(const struct zkey *zkey, enum zkey_section id)
{
    return id == ZKEY_POINTS_B2 ? zkey->curve->g2_bytes : zkey->curve->g1_bytes;
}

int zkey_check_points_length(const struct zkey *zkey, enum zkey_section id, uint64_t count,
                             uint32_t point_bytes, struct complaint *complaint)
{
    int status = check_unique(zkey, id, complaint);
    if (status)
        return status;
    uint64_t length = zkey->file.section[id].length, expected = count * point_bytes;
    if (length == expected)
        return 0;
    return complain_input(complaint,
                          "%.700s: section %d has %" PRIu64 " bytes, %" PRIu64 " points of %" PRIu32
                          " bytes (%" PRIu64 ") are called for",
                          zkey->file.source.name, id, length, count, point_bytes, expected);
}

static int check_coefficients_length(struct zkey *zkey, struct complaint *complaint)
{
    uint8_t count[4];
    int status = check_unique(zkey, ZKEY_COEFFICIENTS, complaint);
    if (status)
        return status;
    uint64_t length = zkey->file.section[ZKEY_COEFFICIENTS].length;
    if (length < sizeof count)
        return check_length(zkey, ZKEY_COEFFICIENTS, sizeof count, complaint);
    status = read_section(zkey, ZKEY_COEFFICIENTS, 0, count, sizeof count, complaint);
    if (status)
        return status;
    zkey->coefficient_count = binfile_u32(count);
    uint64_t expected = (uint64_t)zkey->coefficient_count * ZKEY_COEFFICIENT_BYTES + sizeof count;
    if (length == expected)
        return 0;
    return complain_input(complaint,
                          "%.700s: section 4 has %" PRIu64 " bytes, its count of %" PRIu32
                          " coefficients calls for %" PRIu64,
                          zkey->file.source.name, length, zkey->coefficient_count, expected);
}

int zkey_check_sections(struct zkey *zkey, struct complaint *complaint)
{
    static const enum zkey_section points[] = {ZKEY_IC,        ZKEY_POINTS_A, ZKEY_POINTS_B1,
                                               ZKEY_POINTS_B2, ZKEY_POINTS_C, ZKEY_POINTS_H};
    int status = check_coefficients_length(zkey, complaint);
    for (unsigned i = 0; i < sizeof points / sizeof *points && !status; i++)
        status = zkey_check_points_length(zkey, points[i], zkey_point_count(zkey, points[i]),
                                          zkey_point_bytes(zkey, points[i]), complaint);
    return status;
}
