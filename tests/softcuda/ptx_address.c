/*
 * Addresses: which range of memory they are in, and whether the access is allowed. Windows other
 * than device allocations' are described in ptx_code.h.
 */
#include "tests/softcuda/ptx_address.h"
#include "tests/softcuda/ptx_lanes_template.h"

void ptx_addresses(const struct ptx_warp *warp, const struct ptx_code *code, uint32_t operand,
                   uint64_t *addresses)
{
    const uint64_t offset = (uint64_t)code->immediate;
    if (code->wide_address) {
        const uint64_t *base = ptx_vector(warp, operand);
        for (unsigned l = 0; l < PTX_LANES; l++)
            addresses[l] = base[l] + offset;
    } else {
        const uint32_t *base = ptx_vector(warp, operand);
        for (unsigned l = 0; l < PTX_LANES; l++)
            addresses[l] = base[l] + offset;
    }
}

static bool holds(const struct ptx_range *range, uint64_t address)
{
    return range != NULL && address - range->base < range->bytes;
}

static const struct ptx_range *find_global(struct ptx_warp *warp, const struct ptx_code *code,
                                           uint64_t address)
{
    const struct ptx_range **recent = &warp->run->recent[code->line % PTX_RECENT];
    if (holds(*recent, address))
        return *recent;
    const struct ptx_range *range = warp->run->memory->find(warp->run->memory->owner, address);
    if (!holds(range, address))
        return NULL;
    *recent = range;
    return range;
}

/* the range that an address begins in, and that address within its own space */
static const struct ptx_range *find_range(struct ptx_warp *warp, const struct ptx_code *code,
                                          uint64_t *address)
{
    const struct ptx_run *run = warp->run;
    const struct ptx_range *range = NULL;
    const uint64_t window = *address & PTX_WINDOW_MASK;
    const bool is_generic = code->space == PTX_SPACE_GENERIC;
    if (code->space == PTX_SPACE_SHARED) {
        range = &run->shared;
    } else if (is_generic && window == PTX_WINDOW_SHARED) {
        range = &run->shared;
        *address -= PTX_WINDOW_SHARED;
    } else if (window == PTX_WINDOW_CONSTANT) {
        range = is_generic || code->space == PTX_SPACE_CONSTANT ? &run->module->constant : NULL;
    } else if (window == PTX_WINDOW_PARAM) {
        range = is_generic || code->space == PTX_SPACE_PARAM ? &run->params : NULL;
    } else if (is_generic || code->space == PTX_SPACE_GLOBAL) {
        range =
            window == PTX_WINDOW_GLOBAL ? &run->module->global : find_global(warp, code, *address);
    }
    return holds(range, *address) ? range : NULL;
}

const struct ptx_range *ptx_range_of_all(struct ptx_warp *warp, const struct ptx_code *code,
                                         const uint64_t *addresses, unsigned bytes,
                                         enum ptx_intent intent)
{
    uint64_t low = UINT64_MAX, high = 0, bits = 0;
    EACH_LANE(low = addresses[l] < low ? addresses[l] : low;
              high = addresses[l] > high ? addresses[l] : high; bits |= addresses[l]);
    if ((bits & (bytes - 1)) != 0 || (code->space == PTX_SPACE_GENERIC && low >> 56 != 0))
        return NULL;
    const struct ptx_range *range = find_range(warp, code, &low);
    if (range == NULL || high - range->base > range->bytes ||
        range->bytes - (high - range->base) < bytes || (range->read_only && intent != PTX_LOADS))
        return NULL;
    return range;
}

static const char *const outside[] = {[PTX_LOADS] = "a load outside all memory",
                                      [PTX_STORES] = "a store outside all memory",
                                      [PTX_UPDATES] = "an atomic outside all memory"};

const struct ptx_range *ptx_range_of_lane(struct ptx_warp *warp, const struct ptx_code *code,
                                          unsigned lane, uint64_t address, unsigned bytes,
                                          enum ptx_intent intent, uint64_t *offset)
{
    uint64_t place = address;
    const struct ptx_range *range = find_range(warp, code, &place);
    if (range == NULL || range->bytes - (place - range->base) < bytes) {
        ptx_fault_raise(warp, code, PTX_FAULT_ADDRESS, lane, address, outside[intent]);
        return NULL;
    }
    if ((place & (bytes - 1)) != 0) {
        ptx_fault_raise(warp, code, PTX_FAULT_ALIGNMENT, lane, address,
                        "an address that is not a multiple of the access");
        return NULL;
    }
    if (range->read_only && intent != PTX_LOADS) {
        ptx_fault_raise(warp, code, PTX_FAULT_ADDRESS, lane, address,
                        "a store to memory that is only read");
        return NULL;
    }
    *offset = place - range->base;
    return range;
}
