/*
 * A block: its warps take turns in a random order, each until a barrier, its end, or the end of its
 * slice; before a slice some of a warp's lanes may be left behind. Called by ptx_run.c, block after
 * block.
 */
#include "tests/softcuda/ptx_launch.h"

#include <string.h>

static void place_block(struct ptx_run *run, struct ptx_warp *warp)
{
    const uint32_t *grid = run->launch->grid;
    ptx_special_set(warp, PTX_CTAID_X, run->block % grid[0]);
    ptx_special_set(warp, PTX_CTAID_Y, run->block / grid[0] % grid[1]);
    ptx_special_set(warp, PTX_CTAID_Z, run->block / grid[0] / grid[1]);
}

static void start_block(struct ptx_run *run)
{
    memset(run->shared.host, PTX_POISON, run->shared.bytes);
    ptx_written_mark(&run->shared, 0, run->shared.bytes, false);
    for (uint32_t i = 0; i < run->warps; i++) {
        struct ptx_warp *warp = &run->warp[i];
        const uint32_t left = run->threads - i * PTX_LANES;
        place_block(run, warp);
        warp->random = ptx_random(&run->random);
        ptx_warp_start(warp, left >= PTX_LANES ? PTX_ALL_LANES : (UINT32_C(1) << left) - 1);
    }
}

/* nobody can go on: open the barrier if all who are left are at the same one */
static bool open_barrier(struct ptx_run *run)
{
    const struct ptx_warp *first = NULL;
    for (uint32_t i = 0; i < run->warps; i++) {
        struct ptx_warp *warp = &run->warp[i];
        if (warp->state != PTX_WARP_AT_BARRIER)
            continue;
        if (first == NULL)
            first = warp;
        if (warp->pc != first->pc) {
            ptx_fault_raise(warp, &run->module->code[warp->pc - 1], PTX_FAULT_BARRIER, 0,
                            run->module->code[first->pc - 1].line,
                            "a barrier while other warps wait at the one of the line");
            return false;
        }
    }
    for (uint32_t i = 0; i < run->warps; i++)
        if (run->warp[i].state == PTX_WARP_AT_BARRIER)
            run->warp[i].state = PTX_WARP_RUNNING;
    return first != NULL;
}

/* a running warp, each as likely as the others; NULL: none */
static struct ptx_warp *choose_warp(struct ptx_run *run)
{
    struct ptx_warp *chosen = NULL;
    uint32_t running = 0;
    for (uint32_t i = 0; i < run->warps; i++)
        if (run->warp[i].state == PTX_WARP_RUNNING) {
            running++;
            if (chosen == NULL || ptx_random(&run->random) % running == 0)
                chosen = &run->warp[i];
        }
    return chosen;
}

static bool all_done(const struct ptx_run *run)
{
    for (uint32_t i = 0; i < run->warps; i++)
        if (run->warp[i].state != PTX_WARP_DONE)
            return false;
    return true;
}

/* where warps do not meet, how they take turns shows in nothing */
static uint64_t slice_of(struct ptx_run *run)
{
    return run->warps_meet ? 32 + ptx_random(&run->random) % 4096 : 100000;
}

/* Before some slices some lanes stay behind, so that what lanes of one warp write for each other
 * without a barrier shows as it would between warps. */
static void stay_behind(struct ptx_run *run, struct ptx_warp *warp)
{
    const uint64_t chance = ptx_random(&run->random);
    if (run->warps_meet && chance % 4 == 0)
        ptx_group_leave_behind(warp, (uint32_t)(chance >> 32));
}

static bool count_steps(struct ptx_run *run, struct ptx_warp *warp, uint64_t steps)
{
    run->steps += steps;
    if (run->memory->steps_most == 0 || run->steps <= run->memory->steps_most)
        return true;
    ptx_fault_raise(warp, &run->module->code[warp->pc < run->module->codes ? warp->pc : 0],
                    PTX_FAULT_STEPS, 0, run->steps, "the kernel ran too many instructions");
    return false;
}

bool ptx_block_run(struct ptx_run *run, uint32_t block)
{
    run->block = block;
    start_block(run);
    while (!all_done(run)) {
        struct ptx_warp *warp = choose_warp(run);
        if (warp == NULL) {
            if (!open_barrier(run))
                return false;
            continue;
        }
        const uint64_t before = warp->steps;
        stay_behind(run, warp);
        ptx_warp_run(warp, slice_of(run));
        if (warp->state == PTX_WARP_FAILED || !count_steps(run, warp, warp->steps - before))
            return false;
    }
    return true;
}
