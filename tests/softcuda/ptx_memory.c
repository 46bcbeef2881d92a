/*
 * Loads and stores. Where all lanes' addresses lie in one range and are right, as they nearly
 * always do, the bytes are moved in plain loops; else lane by lane, which finds the one that is
 * wrong. Lanes store in an order that changes with every store: where two store to one place,
 * either may be the last.
 */
#include "tests/softcuda/ptx_address.h"
#include "tests/softcuda/ptx_handlers.h"
#include "tests/softcuda/ptx_local.h"
#include "tests/softcuda/ptx_lanes_template.h"

size_t ptx_written_bytes(uint64_t range_bytes)
{
    return (size_t)(range_bytes / 8 + 2);
}

void ptx_written_mark(struct ptx_range *range, uint64_t offset, uint64_t bytes, bool written)
{
    if (range->written == NULL)
        return;
    uint64_t at = offset;
    const uint64_t end = offset + bytes;
    while (at < end) {
        if (at % 8 == 0 && end - at >= 8) {
            const uint64_t whole = (end - at) / 8;
            memset(range->written + at / 8, written ? 0xff : 0, whole);
            at += 8 * whole;
            continue;
        }
        const uint8_t bit = (uint8_t)(1u << at % 8);
        range->written[at / 8] =
            (uint8_t)(written ? range->written[at / 8] | bit : range->written[at / 8] & ~bit);
        at++;
    }
}

/* ------------------------------------------------------------ a lane's value in its register */

static void put_value(const struct ptx_warp *warp, const struct ptx_code *code, unsigned element,
                      unsigned lane, uint64_t value)
{
    if (code->is_signed && code->bytes < 8) {
        const unsigned above = 64 - 8 * code->bytes;
        value = (uint64_t)((int64_t)(value << above) >> above);
    }
    if (code->class == PTX_64)
        ((uint64_t *)ptx_vector(warp, code->operand[element]))[lane] = value;
    else
        ((uint32_t *)ptx_vector(warp, code->operand[element]))[lane] =
            code->class == PTX_16 ? (uint16_t)value : (uint32_t)value;
}

static uint64_t get_value(const struct ptx_warp *warp, const struct ptx_code *code,
                          unsigned element, unsigned lane)
{
    if (code->class == PTX_64)
        return ((const uint64_t *)ptx_vector(warp, code->operand[element]))[lane];
    return ((const uint32_t *)ptx_vector(warp, code->operand[element]))[lane];
}

/* ------------------------------------------------------------ loads */

/* the first active lane whose bytes were never written, or PTX_LANES */
static unsigned find_unwritten(const struct ptx_warp *warp, const struct ptx_range *range,
                               const uint64_t *addresses, unsigned bytes)
{
    if (range->written == NULL)
        return PTX_LANES;
    for (unsigned l = 0; l < PTX_LANES; l++)
        if (warp->active >> l & 1 && !ptx_is_written(range, addresses[l] - range->base, bytes))
            return l;
    return PTX_LANES;
}

static void raise_unwritten(struct ptx_warp *warp, const struct ptx_code *code, unsigned lane,
                            uint64_t address)
{
    ptx_fault_raise(warp, code, PTX_FAULT_UNWRITTEN, lane, address,
                    "a load of bytes that nothing was written to");
}

#define LOAD_ELEMENTS(register_type, memory_type)                                                  \
    for (unsigned e = 0; e < code->count; e++) {                                                   \
        register_type *d = ptx_vector(warp, code->operand[e]);                                     \
        const uintptr_t at = base + e * sizeof(memory_type);                                       \
        EACH_LANE(memory_type value; memcpy(&value, (void *)(at + addresses[l]), sizeof value);    \
                  d[l] = (register_type)value);                                                    \
    }

/* `base` is such that base + address is the byte; the usual widths */
static bool load_all(struct ptx_warp *warp, const struct ptx_code *code, uintptr_t base,
                     const uint64_t *addresses)
{
    if (code->bytes == 4 && code->class == PTX_32) {
        LOAD_ELEMENTS(uint32_t, uint32_t)
    } else if (code->bytes == 8) {
        LOAD_ELEMENTS(uint64_t, uint64_t)
    } else if (code->bytes == 1 && code->class == PTX_16 && !code->is_signed) {
        LOAD_ELEMENTS(uint32_t, uint8_t)
    } else if (code->bytes == 2 && code->class == PTX_16) {
        LOAD_ELEMENTS(uint32_t, uint16_t)
    } else {
        return false;
    }
    return true;
}

static bool load_lane(struct ptx_warp *warp, const struct ptx_code *code, unsigned lane,
                      uint64_t address)
{
    const unsigned bytes = code->bytes * code->count;
    if (ptx_is_local(code, address)) {
        for (unsigned e = 0; e < code->count; e++) {
            uint64_t value;
            if (!ptx_local_read(warp, code, lane, address + e * code->bytes, &value))
                return false;
            put_value(warp, code, e, lane, value);
        }
        return true;
    }
    uint64_t offset;
    const struct ptx_range *range =
        ptx_range_of_lane(warp, code, lane, address, bytes, PTX_LOADS, &offset);
    if (range == NULL)
        return false;
    if (range->written != NULL && !ptx_is_written(range, offset, bytes)) {
        raise_unwritten(warp, code, lane, address);
        return false;
    }
    for (unsigned e = 0; e < code->count; e++) {
        uint64_t value = 0;
        memcpy(&value, range->host + offset + e * code->bytes, code->bytes);
        put_value(warp, code, e, lane, value);
    }
    return true;
}

PTX_HANDLER(ptx_run_load)
{
    uint64_t addresses[PTX_LANES];
    ptx_addresses(warp, code, code->operand[code->count], addresses);
    const unsigned bytes = code->bytes * code->count;
    const struct ptx_range *range = ptx_range_of_all(warp, code, addresses, bytes, PTX_LOADS);
    if (range != NULL) {
        const unsigned unwritten = find_unwritten(warp, range, addresses, bytes);
        if (unwritten < PTX_LANES)
            return raise_unwritten(warp, code, unwritten, addresses[unwritten]);
        if (load_all(warp, code, (uintptr_t)range->host - range->base, addresses))
            return;
    }
    for (unsigned l = 0; l < PTX_LANES; l++)
        if (warp->active >> l & 1 && !load_lane(warp, code, l, addresses[l]))
            return;
}

/* ------------------------------------------------------------ stores */

static bool store_lane(struct ptx_warp *warp, const struct ptx_code *code, unsigned lane,
                       uint64_t address, const struct ptx_range *range)
{
    const unsigned bytes = code->bytes * code->count;
    uint64_t offset;
    if (range != NULL) {
        offset = address - range->base;
    } else if (ptx_is_local(code, address)) {
        for (unsigned e = 0; e < code->count; e++)
            if (!ptx_local_write(warp, code, lane, address + e * code->bytes,
                                 get_value(warp, code, e, lane)))
                return false;
        return true;
    } else {
        range = ptx_range_of_lane(warp, code, lane, address, bytes, PTX_STORES, &offset);
        if (range == NULL)
            return false;
    }
    for (unsigned e = 0; e < code->count; e++) {
        const uint64_t value = get_value(warp, code, e, lane);
        memcpy(range->host + offset + e * code->bytes, &value, code->bytes);
    }
    if (range->written != NULL)
        ptx_set_written(range, offset, bytes);
    return true;
}

PTX_HANDLER(ptx_run_store)
{
    uint64_t addresses[PTX_LANES];
    ptx_addresses(warp, code, code->operand[code->count], addresses);
    const struct ptx_range *range =
        ptx_range_of_all(warp, code, addresses, code->bytes * code->count, PTX_STORES);
    const uint64_t order = ptx_random(&warp->random);
    for (unsigned i = 0; i < PTX_LANES; i++) {
        const unsigned lane = ptx_lane_at(order, i);
        if (warp->active >> lane & 1 && !store_lane(warp, code, lane, addresses[lane], range))
            return;
    }
}
