/*
 * Atomic operations, one lane after another in an order that changes with every instruction. Blocks
 * run one after another, so an atomic of any scope is one of the whole device.
 */
#include "tests/softcuda/ptx_address.h"
#include "tests/softcuda/ptx_handlers.h"

static uint64_t lesser(unsigned bytes, bool is_signed, uint64_t a, uint64_t b)
{
    if (!is_signed)
        return a < b ? a : b;
    const unsigned above = 64 - 8 * bytes;
    return (int64_t)(a << above) < (int64_t)(b << above) ? a : b;
}

uint64_t ptx_update(enum ptx_update update, unsigned bytes, bool is_signed, uint64_t old,
                    uint64_t b, uint64_t c)
{
    switch (update) {
    case PTX_ADD:
        return old + b;
    case PTX_MIN:
        return lesser(bytes, is_signed, old, b);
    case PTX_MAX:
        return lesser(bytes, is_signed, old, b) == old ? b : old;
    case PTX_AND:
        return old & b;
    case PTX_OR:
        return old | b;
    case PTX_XOR:
        return old ^ b;
    case PTX_EXCHANGE:
        return b;
    case PTX_COMPARE_AND_SWAP:
        return old == b ? c : old;
    case PTX_INCREMENT:
        return old >= b ? 0 : old + 1;
    case PTX_DECREMENT:
        return old == 0 || old > b ? b : old - 1;
    }
    return old;
}

static uint64_t lane_value(const struct ptx_warp *warp, const struct ptx_code *code,
                           unsigned operand, unsigned lane)
{
    const void *vector = ptx_vector(warp, code->operand[operand]);
    return code->bytes == 8 ? ((const uint64_t *)vector)[lane] : ((const uint32_t *)vector)[lane];
}

static bool update_lane(struct ptx_warp *warp, const struct ptx_code *code, unsigned lane,
                        uint64_t address)
{
    uint64_t offset;
    const struct ptx_range *range =
        ptx_range_of_lane(warp, code, lane, address, code->bytes, PTX_UPDATES, &offset);
    if (range == NULL)
        return false;
    if (range->written != NULL && !ptx_is_written(range, offset, code->bytes)) {
        ptx_fault_raise(warp, code, PTX_FAULT_UNWRITTEN, lane, address,
                        "an atomic on bytes that nothing was written to");
        return false;
    }
    uint64_t old = 0;
    memcpy(&old, range->host + offset, code->bytes);
    const unsigned b = code->writes + 1u;
    const enum ptx_update update = (enum ptx_update)code->target;
    const uint64_t c = update == PTX_COMPARE_AND_SWAP ? lane_value(warp, code, b + 1, lane) : 0;
    const uint64_t value =
        ptx_update(update, code->bytes, code->is_signed, old, lane_value(warp, code, b, lane), c);
    memcpy(range->host + offset, &value, code->bytes);
    if (code->writes == 0)
        return true;
    if (code->bytes == 8)
        ((uint64_t *)ptx_vector(warp, code->operand[0]))[lane] = old;
    else
        ((uint32_t *)ptx_vector(warp, code->operand[0]))[lane] = (uint32_t)old;
    return true;
}

PTX_HANDLER(ptx_run_atomic)
{
    uint64_t addresses[PTX_LANES];
    ptx_addresses(warp, code, code->operand[code->writes], addresses);
    const uint64_t order = ptx_random(&warp->random);
    for (unsigned i = 0; i < PTX_LANES; i++) {
        const unsigned lane = ptx_lane_at(order, i);
        if (warp->active >> lane & 1 && !update_lane(warp, code, lane, addresses[lane]))
            return;
    }
}
