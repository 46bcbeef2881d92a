/*
 * Reads and checks a witness file. Called by fill.c, chunk by chunk. Values are secrets: texts name
 * indices and lengths, never values. A SIGKILL leaves nothing.
 */
#include "synth-worker/wtns.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "kernels/curves.h"
#include "synth-worker/complaint.h"

#define HEADER_BYTES (4u + WTNS_VALUE_BYTES + 4u)

static int check_header_length(const struct binfile *file, uint32_t n8, struct complaint *complaint)
{
    uint64_t length = file->section[1].length, expected = 8 + (uint64_t)n8;
    if (length == expected)
        return 0;
    return complain_input(complaint,
                          "%.700s: section 1 has %" PRIu64 " bytes, its field of %" PRIu32
                          " bytes calls for %" PRIu64,
                          file->source.name, length, n8, expected);
}

static int read_count(struct wtns *wtns, const struct binfile *file, struct complaint *complaint)
{
    uint8_t header[HEADER_BYTES];
    const struct binfile_section *section = &file->section[1];
    if (section->length < 4)
        return check_header_length(file, WTNS_VALUE_BYTES, complaint);
    int status = binfile_read(&file->source, section->offset, header, 4, complaint);
    if (status)
        return status;
    uint32_t n8 = binfile_u32(header);
    status = check_header_length(file, n8, complaint);
    if (status)
        return status;
    if (n8 == WTNS_VALUE_BYTES)
        status = binfile_read(&file->source, section->offset, header, sizeof header, complaint);
    if (status)
        return status;
    if (n8 != WTNS_VALUE_BYTES || memcmp(header + 4, wtns->curve->fr_modulus, WTNS_VALUE_BYTES))
        return complain_input(complaint, "Curve of the witness does not match the curve of the "
                                         "proving key");
    wtns->count = binfile_u32(header + 4 + WTNS_VALUE_BYTES);
    return 0;
}

static int check_values_length(const struct wtns *wtns, const struct binfile_section *section,
                               struct complaint *complaint)
{
    uint64_t expected = (uint64_t)wtns->count * WTNS_VALUE_BYTES;
    if (section->length == expected)
        return 0;
    return complain_input(complaint,
                          "%.700s: section 2 has %" PRIu64 " bytes, %" PRIu32
                          " values of 32 bytes (%" PRIu64 ") are called for",
                          wtns->source.name, section->length, wtns->count, expected);
}

int wtns_open(struct wtns *wtns, const struct binfile_source *source, const struct curve *curve,
              uint32_t wires, struct complaint *complaint)
{
    struct binfile file;
    *wtns = (struct wtns){.source = *source, .curve = curve};
    int status = binfile_open(&file, source, "wtns", WTNS_VERSION, complaint);
    if (status)
        return status;
    if (!binfile_section(&file, 1, complaint))
        return -EINVAL;
    status = read_count(wtns, &file, complaint);
    if (status)
        return status;
    if (wtns->count != wires)
        return complain_input(complaint,
                              "Invalid witness length. Circuit: %" PRIu32 ", witness: %" PRIu32,
                              wires, wtns->count);
    const struct binfile_section *values = binfile_section(&file, 2, complaint);
    if (!values)
        return -EINVAL;
    wtns->values_offset = values->offset;
    return check_values_length(wtns, values, complaint);
}

static int is_one(const uint64_t *value)
{
    return value[0] == 1 && !(value[1] | value[2] | value[3]);
}

int wtns_read(const struct wtns *wtns, uint32_t begin, uint32_t end, uint64_t *out,
              struct complaint *complaint)
{
    uint64_t offset = wtns->values_offset + (uint64_t)begin * WTNS_VALUE_BYTES;
    size_t bytes = (size_t)(end - begin) * WTNS_VALUE_BYTES;
    int status = binfile_read(&wtns->source, offset, out, bytes, complaint);
    if (status)
        return status;
    for (uint32_t i = begin; i < end; i++)
        if (!wtns->curve->fr_is_canonical(out + (size_t)(i - begin) * FR_WORDS))
            return complain_input(complaint,
                                  "%.700s: the value at index %" PRIu32 " is not below the prime r",
                                  wtns->source.name, i);
    if (begin == 0 && end > 0 && !is_one(out))
        return complain_input(complaint, "%.700s: the value at index 0 is not 1",
                              wtns->source.name);
    return 0;
}
