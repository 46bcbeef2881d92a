/*
 * The functions that run what is not a plain operation, for the decoders to put into codes. What
 * operands they expect stands at each definition.
 */
#ifndef PAWL_TESTS_SOFTCUDA_PTX_HANDLERS_H
#define PAWL_TESTS_SOFTCUDA_PTX_HANDLERS_H

#include "tests/softcuda/ptx_warp.h"

#define PTX_HANDLER(name) void name(struct ptx_warp *warp, const struct ptx_code *code)

/* ptx_control.c */
PTX_HANDLER(ptx_run_branch);    /* [guard]; target */
PTX_HANDLER(ptx_run_branch_if); /* p; target, guard_not */
PTX_HANDLER(ptx_run_call);      /* target: struct ptx_call */
PTX_HANDLER(ptx_run_return);    /* of the function */
PTX_HANDLER(ptx_run_exit);      /* of the thread */
PTX_HANDLER(ptx_run_trap);
PTX_HANDLER(ptx_run_barrier); /* immediate: its number */

/* ptx_collective.c: shuffles, votes and their like; the member mask is the last operand */
PTX_HANDLER(ptx_run_warp_barrier); /* mask */
PTX_HANDLER(ptx_run_shuffle_up);   /* d, p, a, b, c, mask */
PTX_HANDLER(ptx_run_shuffle_down);
PTX_HANDLER(ptx_run_shuffle_butterfly);
PTX_HANDLER(ptx_run_shuffle_index);
PTX_HANDLER(ptx_run_vote_all); /* p, q, mask */
PTX_HANDLER(ptx_run_vote_any);
PTX_HANDLER(ptx_run_vote_uniform);
PTX_HANDLER(ptx_run_vote_ballot); /* d, q, mask */
PTX_HANDLER(ptx_run_match_any);   /* d, a, mask; class: of a */
PTX_HANDLER(ptx_run_match_all);   /* d, p, a, mask */
PTX_HANDLER(ptx_run_reduce);      /* d, a, mask; immediate: enum ptx_update */
PTX_HANDLER(ptx_run_active_mask); /* d */

/* ptx_memory.c: values, then the address; immediate: its offset */
PTX_HANDLER(ptx_run_load);
PTX_HANDLER(ptx_run_store);
/* ptx_local.c: at `immediate` in the frame's part of local memory, the same for all lanes */
PTX_HANDLER(ptx_run_load_frame);
PTX_HANDLER(ptx_run_store_frame);
PTX_HANDLER(ptx_run_load_local); /* as ptx_run_load */
PTX_HANDLER(ptx_run_store_local);
PTX_HANDLER(ptx_run_frame_address);  /* d, 64 bits; immediate */
PTX_HANDLER(ptx_run_dynamic_shared); /* d; class: 32 or 64; immediate */
PTX_HANDLER(ptx_run_clock);          /* d; class */

/* ptx_atomic.c: d, address, b, c; immediate: offset; target: enum ptx_update; writes 0: red */
PTX_HANDLER(ptx_run_atomic);

enum ptx_update {
    PTX_ADD,
    PTX_MIN,
    PTX_MAX,
    PTX_AND,
    PTX_OR,
    PTX_XOR,
    PTX_EXCHANGE,
    PTX_COMPARE_AND_SWAP,
    PTX_INCREMENT,
    PTX_DECREMENT
};
/* The word that takes the place of `old`; `bytes` of each count. */
uint64_t ptx_update(enum ptx_update update, unsigned bytes, bool is_signed, uint64_t old,
                    uint64_t b, uint64_t c);

static inline bool ptx_is_branch(const struct ptx_code *code)
{
    return code->run == ptx_run_branch || code->run == ptx_run_branch_if;
}

#endif
