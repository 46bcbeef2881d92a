/*
 * What looks across the lanes of a warp (PTX ISA: shfl.sync, vote.sync, match.sync, redux.sync,
 * bar.warp.sync, activemask). Lanes named in the member mask are waited for: ptx_group_gather().
 */
#include "tests/softcuda/ptx_handlers.h"
#include "tests/softcuda/ptx_launch.h"

#include <string.h>

static const uint32_t *masks_of(const struct ptx_warp *warp, const struct ptx_code *code)
{
    return ptx_vector(warp, code->operand[code->operands - 1]);
}

static bool gather(struct ptx_warp *warp, const struct ptx_code *code)
{
    return ptx_group_gather(warp, code, masks_of(warp, code));
}

static void write_bits(const struct ptx_warp *warp, uint32_t operand, uint32_t bits)
{
    uint32_t *d = ptx_vector(warp, operand);
    *d = (*d & ~warp->active) | (bits & warp->active);
}

PTX_HANDLER(ptx_run_warp_barrier)
{
    gather(warp, code);
}

PTX_HANDLER(ptx_run_active_mask)
{
    uint32_t *d = ptx_vector(warp, code->operand[0]);
    for (unsigned l = 0; l < PTX_LANES; l++)
        if (warp->active >> l & 1)
            d[l] = warp->active;
}

/* ------------------------------------------------------------ shuffles */

enum direction { UP, DOWN, BUTTERFLY, INDEX };

/* c holds the bound in bits 0-4 and the mask of the segment in bits 8-12 */
static unsigned source_lane(enum direction direction, unsigned lane, uint32_t b, uint32_t c,
                            bool *inside)
{
    const unsigned segment = c >> 8 & 31, bound = c & 31, by = b & 31;
    const unsigned most = (lane & segment) | (bound & ~segment);
    const unsigned least = lane & segment;
    unsigned source = lane;
    switch (direction) {
    case UP:
        source = lane - by;
        *inside = (int)source >= (int)most;
        break;
    case DOWN:
        source = lane + by;
        *inside = source <= most;
        break;
    case BUTTERFLY:
        source = lane ^ by;
        *inside = source <= most;
        break;
    case INDEX:
        source = least | (by & ~segment);
        *inside = source <= most;
        break;
    }
    return *inside ? source : lane;
}

static void shuffle(struct ptx_warp *warp, const struct ptx_code *code, enum direction direction)
{
    if (!gather(warp, code))
        return;
    uint32_t value[PTX_LANES], bits = 0;
    memcpy(value, ptx_vector(warp, code->operand[2]), sizeof value);
    const uint32_t *b = ptx_vector(warp, code->operand[3]);
    const uint32_t *c = ptx_vector(warp, code->operand[4]);
    uint32_t result[PTX_LANES];
    for (unsigned l = 0; l < PTX_LANES; l++) {
        if (!(warp->active >> l & 1))
            continue;
        bool inside = false;
        const unsigned source = source_lane(direction, l, b[l], c[l], &inside);
        if (!(warp->active >> source & 1)) {
            ptx_fault_raise(warp, code, PTX_FAULT_BARRIER, l, source,
                            "a shuffle from a lane that takes no part");
            return;
        }
        result[l] = value[source];
        bits |= inside ? UINT32_C(1) << l : 0;
    }
    uint32_t *d = ptx_vector(warp, code->operand[0]);
    for (unsigned l = 0; l < PTX_LANES; l++)
        if (warp->active >> l & 1)
            d[l] = result[l];
    write_bits(warp, code->operand[1], bits);
}

PTX_HANDLER(ptx_run_shuffle_up)
{
    shuffle(warp, code, UP);
}

PTX_HANDLER(ptx_run_shuffle_down)
{
    shuffle(warp, code, DOWN);
}

PTX_HANDLER(ptx_run_shuffle_butterfly)
{
    shuffle(warp, code, BUTTERFLY);
}

PTX_HANDLER(ptx_run_shuffle_index)
{
    shuffle(warp, code, INDEX);
}

/* ------------------------------------------------------------ votes */

/* for each lane, the votes of those that it votes with */
static void vote(struct ptx_warp *warp, const struct ptx_code *code, char kind)
{
    if (!gather(warp, code))
        return;
    const uint32_t *masks = masks_of(warp, code);
    const uint32_t ayes = *(const uint32_t *)ptx_vector(warp, code->operand[1]);
    uint32_t bits = 0, ballots[PTX_LANES];
    for (unsigned l = 0; l < PTX_LANES; l++) {
        if (!(warp->active >> l & 1))
            continue;
        const uint32_t voters = masks[l] & warp->active;
        const uint32_t yes = ayes & voters;
        const bool all = yes == voters, any = yes != 0;
        ballots[l] = yes;
        if (kind == 'a' ? all : kind == 'o' ? any : all || !any)
            bits |= UINT32_C(1) << l;
    }
    if (kind != 'b') {
        write_bits(warp, code->operand[0], bits);
        return;
    }
    uint32_t *d = ptx_vector(warp, code->operand[0]);
    for (unsigned l = 0; l < PTX_LANES; l++)
        if (warp->active >> l & 1)
            d[l] = ballots[l];
}

PTX_HANDLER(ptx_run_vote_all)
{
    vote(warp, code, 'a');
}

PTX_HANDLER(ptx_run_vote_any)
{
    vote(warp, code, 'o');
}

PTX_HANDLER(ptx_run_vote_uniform)
{
    vote(warp, code, 'u');
}

PTX_HANDLER(ptx_run_vote_ballot)
{
    vote(warp, code, 'b');
}

/* ------------------------------------------------------------ matches, reductions */

static void read_values(const struct ptx_warp *warp, const struct ptx_code *code, unsigned operand,
                        uint64_t *values)
{
    const void *vector = ptx_vector(warp, code->operand[operand]);
    for (unsigned l = 0; l < PTX_LANES; l++)
        values[l] =
            code->class == PTX_64 ? ((const uint64_t *)vector)[l] : ((const uint32_t *)vector)[l];
}

PTX_HANDLER(ptx_run_match_any)
{
    if (!gather(warp, code))
        return;
    uint64_t values[PTX_LANES];
    read_values(warp, code, 1, values);
    const uint32_t *masks = masks_of(warp, code);
    uint32_t alike[PTX_LANES] = {0};
    for (unsigned l = 0; l < PTX_LANES; l++)
        for (unsigned other = 0; other < PTX_LANES; other++)
            if (warp->active >> l & 1 && (masks[l] & warp->active) >> other & 1 &&
                values[other] == values[l])
                alike[l] |= UINT32_C(1) << other;
    uint32_t *d = ptx_vector(warp, code->operand[0]);
    for (unsigned l = 0; l < PTX_LANES; l++)
        if (warp->active >> l & 1)
            d[l] = alike[l];
}

PTX_HANDLER(ptx_run_match_all)
{
    if (!gather(warp, code))
        return;
    uint64_t values[PTX_LANES];
    read_values(warp, code, 2, values);
    const uint32_t *masks = masks_of(warp, code);
    uint32_t bits = 0, members[PTX_LANES] = {0};
    for (unsigned l = 0; l < PTX_LANES; l++) {
        const uint32_t with = masks[l] & warp->active;
        bool all = true;
        for (unsigned other = 0; other < PTX_LANES; other++)
            if (with >> other & 1)
                all &= values[other] == values[l];
        members[l] = all ? with : 0;
        bits |= all ? UINT32_C(1) << l : 0;
    }
    uint32_t *d = ptx_vector(warp, code->operand[0]);
    for (unsigned l = 0; l < PTX_LANES; l++)
        if (warp->active >> l & 1)
            d[l] = members[l];
    write_bits(warp, code->operand[1], bits);
}

PTX_HANDLER(ptx_run_reduce)
{
    if (!gather(warp, code))
        return;
    uint64_t values[PTX_LANES];
    read_values(warp, code, 1, values);
    const uint32_t *masks = masks_of(warp, code);
    uint32_t *d = ptx_vector(warp, code->operand[0]);
    for (unsigned l = 0; l < PTX_LANES; l++) {
        if (!(warp->active >> l & 1))
            continue;
        const uint32_t with = masks[l] & warp->active;
        uint64_t result = values[l];
        for (unsigned other = 0; other < PTX_LANES; other++)
            if (other != l && with >> other & 1)
                result = ptx_update((enum ptx_update)code->immediate, 4, code->is_signed, result,
                                    values[other], 0);
        d[l] = (uint32_t)result;
    }
}
