/*
 * From a lane's address to bytes of this process, checked: between ptx_address.c and the handlers
 * of loads, stores and atomics.
 */
#ifndef PAWL_TESTS_SOFTCUDA_PTX_ADDRESS_H
#define PAWL_TESTS_SOFTCUDA_PTX_ADDRESS_H

#include "tests/softcuda/ptx_launch.h"

#include <string.h>

enum ptx_intent { PTX_LOADS, PTX_STORES, PTX_UPDATES };

/* Addresses of all lanes, for those not active of no meaning: the operand's plus the offset. */
void ptx_addresses(const struct ptx_warp *warp, const struct ptx_code *code, uint32_t operand,
                   uint64_t *addresses);

/*
 * The range that holds all of `bytes` at each active lane's address, aligned; NULL where they are
 * not all in one, or not all right: lanes are then looked at one by one.
 */
const struct ptx_range *ptx_range_of_all(struct ptx_warp *warp, const struct ptx_code *code,
                                         const uint64_t *addresses, unsigned bytes,
                                         enum ptx_intent intent);

/* The range of one lane's access and, in *offset, where in it; NULL: a fault has been raised. */
const struct ptx_range *ptx_range_of_lane(struct ptx_warp *warp, const struct ptx_code *code,
                                          unsigned lane, uint64_t address, unsigned bytes,
                                          enum ptx_intent intent, uint64_t *offset);

/* A generic address that means local memory. */
static inline bool ptx_is_local(const struct ptx_code *code, uint64_t address)
{
    return code->space == PTX_SPACE_GENERIC && (address & PTX_WINDOW_MASK) == PTX_WINDOW_LOCAL;
}

/* Bits of the map of written bytes: of at most 16 bytes, aligned to their number. */
static inline bool ptx_is_written(const struct ptx_range *range, uint64_t offset, unsigned bytes)
{
    const uint8_t *map = range->written + offset / 8;
    if (bytes < 8)
        return (map[0] >> offset % 8 & ((1u << bytes) - 1)) == (1u << bytes) - 1;
    bool all = true;
    for (unsigned i = 0; i < bytes / 8; i++)
        all &= map[i] == 0xff;
    return all;
}

static inline void ptx_set_written(const struct ptx_range *range, uint64_t offset, unsigned bytes)
{
    uint8_t *map = range->written + offset / 8;
    if (bytes < 8)
        map[0] |= (uint8_t)(((1u << bytes) - 1) << offset % 8);
    else
        memset(map, 0xff, bytes / 8);
}

#endif
