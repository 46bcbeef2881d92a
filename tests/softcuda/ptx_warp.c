/*
 * The loop that runs a warp. Called by ptx_block.c, warp by warp.
 */
#include "tests/softcuda/ptx_launch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

uint64_t ptx_random(uint64_t *state) /* splitmix64 (Steele, Lea, Flood 2014) */
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

void ptx_fault_raise(struct ptx_warp *warp, const struct ptx_code *code, enum ptx_fault_kind kind,
                     unsigned lane, uint64_t address, const char *what)
{
    const struct ptx_run *run = warp->run;
    warp->state = PTX_WARP_FAILED;
    warp->turn_over = true;
    if (run->fault->kind != PTX_FAULT_NONE)
        return;
    *run->fault = (struct ptx_fault){.kind = kind,
                                     .line = code->line,
                                     .lane = lane,
                                     .warp = warp->index,
                                     .block = run->block,
                                     .address = address};
    snprintf(run->fault->text, sizeof run->fault->text,
             "%s: PTX line %u: %s: 0x%" PRIx64 " (block %u, warp %u, lane %u)",
             run->kernel->function->name, code->line, what, address, run->block, warp->index, lane);
}

void ptx_frame_poison(struct ptx_warp *warp, const struct ptx_frame *frame)
{
    memset(warp->registers + frame->register_offset, PTX_POISON, frame->function->poison_bytes);
    memset(ptx_local_word(warp, frame->local_offset), PTX_POISON,
           (size_t)frame->function->local_bytes * PTX_LANES);
}

void ptx_warp_start(struct ptx_warp *warp, uint32_t lanes)
{
    const struct ptx_function *function = warp->run->kernel->function;
    warp->state = PTX_WARP_RUNNING;
    warp->alive = lanes;
    warp->may_retry = false;
    warp->frames = 1;
    warp->frame[0] = (struct ptx_frame){.function = function};
    warp->bank[PTX_BANK_FRAME] = warp->registers;
    warp->limit = UINT32_MAX;
    ptx_frame_poison(warp, &warp->frame[0]);
    memset(warp->carry, 0, sizeof warp->carry);
    ptx_group_set(warp, lanes, function->first);
}

/* lanes of the group that the guard lets through */
static inline uint32_t guarded(const struct ptx_warp *warp, const struct ptx_code *code)
{
    const uint32_t condition = *(const uint32_t *)ptx_vector(warp, code->guard);
    return warp->group & (code->guard_not ? ~condition : condition);
}

void ptx_warp_run(struct ptx_warp *warp, uint64_t steps)
{
    const struct ptx_code *const codes = warp->run->module->code;
    const uint64_t end = warp->steps + steps;
    warp->turn_over = false;
    while (!warp->turn_over && warp->steps < end) {
        if (warp->pc >= warp->limit) {
            ptx_group_next(warp);
            continue;
        }
        const struct ptx_code *code = &codes[warp->pc++];
        warp->steps++;
        warp->lane_steps += warp->lanes;
        warp->active = warp->group;
        if (code->guard != PTX_NO_OPERAND && (warp->active = guarded(warp, code)) == 0)
            continue;
        code->run(warp, code);
    }
}
