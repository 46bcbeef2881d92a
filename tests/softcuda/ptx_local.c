/*
 * Local memory: the stack of each lane, with the parameters of calls. Addresses known when the
 * module was loaded, and those that are alike in all lanes, are moved by whole words of the warp.
 */
#include "tests/softcuda/ptx_local.h"
#include "tests/softcuda/ptx_address.h"
#include "tests/softcuda/ptx_handlers.h"
#include "tests/softcuda/ptx_lanes_template.h"

/* ------------------------------------------------------------ one lane */

static bool check(struct ptx_warp *warp, const struct ptx_code *code, unsigned lane,
                  uint64_t address)
{
    const uint64_t offset = address - PTX_WINDOW_LOCAL;
    if (offset >= warp->local_bytes || warp->local_bytes - offset < code->bytes) {
        ptx_fault_raise(warp, code, PTX_FAULT_ADDRESS, lane, address,
                        "an access outside the thread's local memory");
        return false;
    }
    if ((offset & (code->bytes - 1u)) != 0) {
        ptx_fault_raise(warp, code, PTX_FAULT_ALIGNMENT, lane, address,
                        "a local address that is not a multiple of the access");
        return false;
    }
    return true;
}

static uint64_t read_element(const struct ptx_warp *warp, unsigned bytes, unsigned lane,
                             uint64_t offset)
{
    const uint32_t *word = ptx_local_word(warp, offset) + lane;
    if (bytes == 8)
        return (uint64_t)word[PTX_LANES] << 32 | word[0];
    const uint32_t value = *word >> 8 * (offset % 4);
    return bytes == 4 ? value : value & ((1u << 8 * bytes) - 1);
}

static void write_element(const struct ptx_warp *warp, unsigned bytes, unsigned lane,
                          uint64_t offset, uint64_t value)
{
    uint32_t *word = ptx_local_word(warp, offset) + lane;
    if (bytes == 8)
        word[PTX_LANES] = (uint32_t)(value >> 32);
    if (bytes >= 4) {
        *word = (uint32_t)value;
        return;
    }
    const uint32_t mask = ((1u << 8 * bytes) - 1) << 8 * (offset % 4);
    *word = (*word & ~mask) | ((uint32_t)value << 8 * (offset % 4) & mask);
}

bool ptx_local_read(struct ptx_warp *warp, const struct ptx_code *code, unsigned lane,
                    uint64_t address, uint64_t *value)
{
    if (!check(warp, code, lane, address))
        return false;
    *value = read_element(warp, code->bytes, lane, address - PTX_WINDOW_LOCAL);
    return true;
}

bool ptx_local_write(struct ptx_warp *warp, const struct ptx_code *code, unsigned lane,
                     uint64_t address, uint64_t value)
{
    if (!check(warp, code, lane, address))
        return false;
    write_element(warp, code->bytes, lane, address - PTX_WINDOW_LOCAL, value);
    return true;
}

/* ------------------------------------------------------------ all lanes at one offset */

#define BITS4(n) 1u << (n), 2u << (n), 4u << (n), 8u << (n)
static const uint32_t lane_bit[PTX_LANES] = {BITS4(0),  BITS4(4),  BITS4(8),  BITS4(12),
                                             BITS4(16), BITS4(20), BITS4(24), BITS4(28)};

static void load_narrow(const struct ptx_warp *warp, const struct ptx_code *code, unsigned element,
                        uint64_t offset)
{
    const unsigned above = 64 - 8 * code->bytes;
    for (unsigned l = 0; l < PTX_LANES; l++) {
        if (!(warp->active >> l & 1))
            continue;
        uint64_t value = read_element(warp, code->bytes, l, offset);
        if (code->is_signed)
            value = (uint64_t)((int64_t)(value << above) >> above);
        if (code->class == PTX_64)
            ((uint64_t *)ptx_vector(warp, code->operand[element]))[l] = value;
        else
            ((uint32_t *)ptx_vector(warp, code->operand[element]))[l] =
                code->class == PTX_16 ? (uint16_t)value : (uint32_t)value;
    }
}

/* A word of each active lane, without a branch for each: the compiler makes vectors of it. */
static void copy_words(const struct ptx_warp *warp, uint32_t *to, const uint32_t *from)
{
    if (warp->active == PTX_ALL_LANES) {
        memmove(to, from, PTX_BYTES_32);
        return;
    }
    uint32_t masks[PTX_LANES];
    for (unsigned l = 0; l < PTX_LANES; l++)
        masks[l] = (warp->active & lane_bit[l]) != 0 ? UINT32_MAX : 0;
    PTX_VECTOR_LOOP for (unsigned l = 0; l < PTX_LANES; l++)
    {
        to[l] = (from[l] & masks[l]) | (to[l] & ~masks[l]);
    }
}

static void load_at(const struct ptx_warp *warp, const struct ptx_code *code, uint64_t offset)
{
    for (unsigned e = 0; e < code->count; e++, offset += code->bytes) {
        const uint32_t *word = ptx_local_word(warp, offset);
        if (code->bytes == 4 && code->class == PTX_32) {
            copy_words(warp, ptx_vector(warp, code->operand[e]), word);
        } else if (code->bytes == 8) {
            uint64_t *d = ptx_vector(warp, code->operand[e]);
            EACH_LANE(d[l] = (uint64_t)word[l + PTX_LANES] << 32 | word[l]);
        } else {
            load_narrow(warp, code, e, offset);
        }
    }
}

static void store_narrow(const struct ptx_warp *warp, const struct ptx_code *code, unsigned element,
                         uint64_t offset)
{
    for (unsigned l = 0; l < PTX_LANES; l++) {
        if (!(warp->active >> l & 1))
            continue;
        const void *vector = ptx_vector(warp, code->operand[element]);
        const uint64_t value =
            code->class == PTX_64 ? ((const uint64_t *)vector)[l] : ((const uint32_t *)vector)[l];
        write_element(warp, code->bytes, l, offset, value);
    }
}

static void store_at(const struct ptx_warp *warp, const struct ptx_code *code, uint64_t offset)
{
    for (unsigned e = 0; e < code->count; e++, offset += code->bytes) {
        uint32_t *word = ptx_local_word(warp, offset);
        if (code->bytes == 4 && code->class == PTX_32) {
            copy_words(warp, word, ptx_vector(warp, code->operand[e]));
        } else if (code->bytes == 8) {
            const uint64_t *a = ptx_vector(warp, code->operand[e]);
            EACH_LANE(word[l] = (uint32_t)a[l]; word[l + PTX_LANES] = (uint32_t)(a[l] >> 32));
        } else {
            store_narrow(warp, code, e, offset);
        }
    }
}

static uint64_t frame_offset(const struct ptx_warp *warp, const struct ptx_code *code)
{
    return warp->frame[warp->frames - 1].local_offset + (uint64_t)code->immediate;
}

PTX_HANDLER(ptx_run_load_frame)
{
    load_at(warp, code, frame_offset(warp, code));
}

PTX_HANDLER(ptx_run_store_frame)
{
    store_at(warp, code, frame_offset(warp, code));
}

PTX_HANDLER(ptx_run_frame_address)
{
    uint64_t *d = ptx_vector(warp, code->operand[0]);
    const uint64_t address = PTX_WINDOW_LOCAL + frame_offset(warp, code);
    EACH_LANE(d[l] = address);
}

/* ------------------------------------------------------------ at addresses in registers */

/* all active lanes at one address, and that is right */
static bool is_uniform(const struct ptx_warp *warp, const struct ptx_code *code,
                       const uint64_t *addresses, uint64_t *offset)
{
    const uint64_t first = addresses[__builtin_ctz(warp->active)];
    uint64_t differences = 0;
    for (unsigned l = 0; l < PTX_LANES; l++)
        differences |= (addresses[l] ^ first) & -(uint64_t)(warp->active >> l & 1);
    const uint64_t bytes = (uint64_t)code->bytes * code->count;
    *offset = first - PTX_WINDOW_LOCAL;
    return differences == 0 && *offset < warp->local_bytes &&
           warp->local_bytes - *offset >= bytes && (*offset & (bytes - 1)) == 0;
}

PTX_HANDLER(ptx_run_load_local)
{
    uint64_t addresses[PTX_LANES], offset, value;
    ptx_addresses(warp, code, code->operand[code->count], addresses);
    if (is_uniform(warp, code, addresses, &offset)) {
        load_at(warp, code, offset);
        return;
    }
    const uint32_t active = warp->active;
    for (unsigned l = 0; l < PTX_LANES; l++)
        for (unsigned e = 0; active >> l & 1 && e < code->count; e++) {
            if (!ptx_local_read(warp, code, l, addresses[l] + e * code->bytes, &value))
                return;
            warp->active = UINT32_C(1) << l;
            load_narrow(warp, code, e, addresses[l] + e * code->bytes - PTX_WINDOW_LOCAL);
        }
}

PTX_HANDLER(ptx_run_store_local)
{
    uint64_t addresses[PTX_LANES], offset;
    ptx_addresses(warp, code, code->operand[code->count], addresses);
    if (is_uniform(warp, code, addresses, &offset)) {
        store_at(warp, code, offset);
        return;
    }
    for (unsigned l = 0; l < PTX_LANES; l++)
        for (unsigned e = 0; warp->active >> l & 1 && e < code->count; e++) {
            const void *vector = ptx_vector(warp, code->operand[e]);
            const uint64_t value = code->class == PTX_64 ? ((const uint64_t *)vector)[l]
                                                         : ((const uint32_t *)vector)[l];
            if (!ptx_local_write(warp, code, l, addresses[l] + e * code->bytes, value))
                return;
        }
}
