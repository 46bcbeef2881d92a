/*
 * Branches, calls, returns, barriers. Called through codes.
 */
#include "tests/softcuda/ptx_handlers.h"
#include "tests/softcuda/ptx_launch.h"

PTX_HANDLER(ptx_run_branch)
{
    warp->pc = code->target;
}

PTX_HANDLER(ptx_run_branch_if)
{
    const uint32_t condition = *(const uint32_t *)ptx_vector(warp, code->operand[0]);
    const uint32_t taken = warp->group & (code->guard_not ? ~condition : condition);
    ptx_group_branch(warp, taken, code->target);
}

PTX_HANDLER(ptx_run_call)
{
    ptx_frame_push(warp, &warp->run->module->call[code->target]);
}

PTX_HANDLER(ptx_run_return)
{
    (void)code;
    ptx_group_leave(warp, warp->active, warp->frames == 1);
}

PTX_HANDLER(ptx_run_exit)
{
    (void)code;
    ptx_group_leave(warp, warp->active, true);
}

PTX_HANDLER(ptx_run_trap)
{
    ptx_fault_raise(warp, code, PTX_FAULT_TRAP, (unsigned)__builtin_ctz(warp->active), 0, "trap");
}

PTX_HANDLER(ptx_run_barrier)
{
    uint32_t masks[PTX_LANES];
    for (unsigned l = 0; l < PTX_LANES; l++)
        masks[l] = warp->alive;
    if (!ptx_group_gather(warp, code, masks))
        return;
    warp->state = PTX_WARP_AT_BARRIER;
    warp->turn_over = true;
}

PTX_HANDLER(ptx_run_dynamic_shared)
{
    const uint64_t address = warp->run->dynamic_offset + (uint64_t)code->immediate;
    uint32_t *narrow = ptx_vector(warp, code->operand[0]);
    uint64_t *wide = ptx_vector(warp, code->operand[0]);
    for (unsigned l = 0; l < PTX_LANES; l++) {
        if (!(warp->active >> l & 1))
            continue;
        if (code->class == PTX_64)
            wide[l] = address;
        else
            narrow[l] = (uint32_t)address;
    }
}

PTX_HANDLER(ptx_run_clock)
{
    uint32_t *narrow = ptx_vector(warp, code->operand[0]);
    uint64_t *wide = ptx_vector(warp, code->operand[0]);
    for (unsigned l = 0; l < PTX_LANES; l++) {
        if (!(warp->active >> l & 1))
            continue;
        if (code->class == PTX_64)
            wide[l] = warp->steps;
        else
            narrow[l] = (uint32_t)warp->steps;
    }
}
