/*
 * A launch while it runs: what its warps share. One launch is one thread's; nothing is locked.
 */
#ifndef PAWL_TESTS_SOFTCUDA_PTX_LAUNCH_H
#define PAWL_TESTS_SOFTCUDA_PTX_LAUNCH_H

#include "tests/softcuda/ptx_warp.h"

enum { PTX_RECENT = 64, PTX_THREADS_MOST = 1024, PTX_SHARED_MOST = 227 * 1024 };

struct ptx_run {
    const struct ptx_kernel *kernel;
    const struct ptx_module *module;
    const struct ptx_launch *launch;
    const struct ptx_memory *memory;
    struct ptx_fault *fault;
    uint64_t random;
    uint64_t steps;
    uint32_t threads, warps; /* of a block */
    bool warps_meet;         /* in shared memory, or at a barrier */
    uint32_t block;          /* the one that runs */
    uint32_t dynamic_offset; /* where dynamic shared memory begins */
    struct ptx_range shared, params;
    const struct ptx_range *recent[PTX_RECENT]; /* by line of text: the range it last hit */
    struct ptx_warp *warp;
};

static inline void ptx_special_set(struct ptx_warp *warp, enum ptx_special which, uint32_t value)
{
    for (unsigned l = 0; l < PTX_LANES; l++)
        warp->special[which][l] = value;
}

/* ptx_block.c: one block, from its first instruction to its last. False: `fault` is set. */
bool ptx_block_run(struct ptx_run *run, uint32_t block);

#endif
