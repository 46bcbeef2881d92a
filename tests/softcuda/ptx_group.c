/*
 * Divergence: which lanes of a warp go on together, and where. The banner of ptx_warp.h tells how.
 * Lanes within a frame are in exactly one place: in the group, in one of the frame's splits, among
 * those that have returned, or gone for good. Called by the handlers of control and collectives.
 */
#include "tests/softcuda/ptx_launch.h"

#include <string.h>

static struct ptx_frame *top(struct ptx_warp *warp)
{
    return &warp->frame[warp->frames - 1];
}

static void add_split(struct ptx_warp *warp, uint32_t pc, uint32_t lanes, bool waits)
{
    struct ptx_frame *frame = top(warp);
    if (!waits && pc < warp->limit)
        warp->limit = pc;
    for (uint32_t i = 0; i < frame->splits; i++) {
        struct ptx_split *split = &frame->split[i];
        if (split->pc == pc && split->waits == waits) {
            split->lanes |= lanes;
            return;
        }
    }
    frame->split[frame->splits++] = (struct ptx_split){pc, lanes, waits};
}

static void remove_split(struct ptx_frame *frame, uint32_t i)
{
    frame->split[i] = frame->split[--frame->splits];
}

static void find_limit(struct ptx_warp *warp)
{
    const struct ptx_frame *frame = top(warp);
    warp->limit = UINT32_MAX;
    for (uint32_t i = 0; i < frame->splits; i++)
        if (!frame->split[i].waits && frame->split[i].pc < warp->limit)
            warp->limit = frame->split[i].pc;
}

void ptx_group_set(struct ptx_warp *warp, uint32_t lanes, uint32_t pc)
{
    warp->group = lanes;
    warp->lanes = (uint32_t)__builtin_popcount(lanes);
    warp->pc = pc;
}

/* the lowest that does not wait; UINT32_MAX: none */
static uint32_t find_lowest(const struct ptx_frame *frame)
{
    uint32_t lowest = UINT32_MAX;
    for (uint32_t i = 0; i < frame->splits; i++)
        if (!frame->split[i].waits &&
            (lowest == UINT32_MAX || frame->split[i].pc < frame->split[lowest].pc))
            lowest = i;
    return lowest;
}

/* lanes wait, and nobody runs: once more if something changed since, else for ever */
static bool retry_waiting(struct ptx_warp *warp)
{
    struct ptx_frame *frame = top(warp);
    if (!warp->may_retry) {
        const struct ptx_split *split = &frame->split[0];
        ptx_fault_raise(warp, &warp->run->module->code[split->pc], PTX_FAULT_BARRIER,
                        (unsigned)__builtin_ctz(split->lanes), 0,
                        "waits for lanes of its warp that are elsewhere");
        return false;
    }
    warp->may_retry = false;
    for (uint32_t i = 0; i < frame->splits; i++)
        frame->split[i].waits = false;
    return true;
}

/* Values that the callee returned, for the lanes that came back. */
static void copy_returns(struct ptx_warp *warp, const struct ptx_frame *callee, uint32_t lanes)
{
    const struct ptx_frame *caller = top(warp);
    const struct ptx_call *call = callee->call;
    for (uint32_t i = 0; i < call->out; i++) {
        const struct ptx_copy *copy = &warp->run->module->copy[call->copies + call->in + i];
        for (uint32_t byte = 0; byte < copy->bytes; byte += 4) {
            uint32_t *to = ptx_local_word(warp, caller->local_offset + copy->caller + byte);
            const uint32_t *from = ptx_local_word(warp, callee->local_offset + copy->callee + byte);
            for (unsigned l = 0; l < PTX_LANES; l++)
                if (lanes >> l & 1)
                    to[l] = from[l];
        }
    }
}

static void pop_frame(struct ptx_warp *warp)
{
    const struct ptx_frame *callee = top(warp);
    if (warp->frames == 1) {
        warp->state = PTX_WARP_DONE;
        warp->turn_over = true;
        return;
    }
    warp->frames--;
    warp->bank[PTX_BANK_FRAME] = warp->registers + top(warp)->register_offset;
    warp->may_retry = true;
    copy_returns(warp, callee, callee->returned);
    find_limit(warp);
    ptx_group_set(warp, callee->returned, callee->return_pc);
}

void ptx_group_next(struct ptx_warp *warp)
{
    if (warp->group != 0)
        add_split(warp, warp->pc, warp->group, false);
    ptx_group_set(warp, 0, 0);
    while (warp->group == 0 && !warp->turn_over) {
        struct ptx_frame *frame = top(warp);
        const uint32_t lowest = find_lowest(frame);
        if (lowest != UINT32_MAX) {
            const struct ptx_split split = frame->split[lowest];
            remove_split(frame, lowest);
            ptx_group_set(warp, split.lanes, split.pc);
            find_limit(warp);
        } else if (frame->splits == 0) {
            pop_frame(warp);
        } else if (!retry_waiting(warp)) {
            return;
        }
    }
}

void ptx_group_branch(struct ptx_warp *warp, uint32_t taken, uint32_t target)
{
    const uint32_t stays = warp->group & ~taken;
    if (stays == 0) {
        warp->pc = target;
    } else if (taken != 0 && target < warp->pc) {
        add_split(warp, warp->pc, stays, false);
        ptx_group_set(warp, taken, target);
    } else if (taken != 0) {
        add_split(warp, target, taken, false);
        ptx_group_set(warp, stays, warp->pc);
    }
}

void ptx_group_leave(struct ptx_warp *warp, uint32_t lanes, bool for_good)
{
    if (for_good) {
        warp->alive &= ~lanes;
        warp->may_retry = true;
    } else {
        top(warp)->returned |= lanes;
    }
    ptx_group_set(warp, warp->group & ~lanes, warp->pc);
    if (warp->group == 0)
        ptx_group_next(warp);
}

void ptx_group_leave_behind(struct ptx_warp *warp, uint32_t lanes)
{
    const uint32_t behind = warp->group & lanes;
    if (warp->group != warp->alive || behind == 0 || behind == warp->group)
        return;
    add_split(warp, warp->pc, behind, true);
    warp->may_retry = true;
    ptx_group_set(warp, warp->group & ~behind, warp->pc);
}

static void absorb_waiting(struct ptx_warp *warp, uint32_t pc)
{
    struct ptx_frame *frame = top(warp);
    for (uint32_t i = 0; i < frame->splits; i++)
        if (frame->split[i].waits && frame->split[i].pc == pc) {
            warp->group |= frame->split[i].lanes;
            remove_split(frame, i);
            return; /* there is one for each pc */
        }
}

/* lanes of the group whose members have all come; a lane that is no member of its own is a fault */
static uint32_t find_complete(struct ptx_warp *warp, const struct ptx_code *code,
                              const uint32_t *masks)
{
    uint32_t complete = 0, left = warp->group;
    while (left != 0) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        uint32_t same = 0;
        for (unsigned l = 0; l < PTX_LANES; l++)
            if (warp->group >> l & 1 && masks[l] == masks[lane])
                same |= UINT32_C(1) << l;
        if ((same & ~masks[lane]) != 0) {
            ptx_fault_raise(warp, code, PTX_FAULT_BARRIER,
                            (unsigned)__builtin_ctz(same & ~masks[lane]), masks[lane],
                            "a lane that its member mask does not name");
            return 0;
        }
        if ((masks[lane] & warp->alive) == same)
            complete |= same;
        left &= ~same;
    }
    return complete;
}

bool ptx_group_gather(struct ptx_warp *warp, const struct ptx_code *code, const uint32_t *masks)
{
    const uint32_t here = warp->pc - 1;
    if (warp->active != warp->group) { /* the others' guard lets them pass */
        add_split(warp, warp->pc, warp->group & ~warp->active, false);
        warp->group = warp->active;
    }
    absorb_waiting(warp, here);
    const uint32_t complete = find_complete(warp, code, masks);
    if (warp->turn_over)
        return false;
    if (complete != warp->group)
        add_split(warp, here, warp->group & ~complete, true);
    ptx_group_set(warp, complete, warp->pc);
    warp->active = complete;
    if (complete == 0)
        ptx_group_next(warp);
    return complete != 0;
}

void ptx_frame_push(struct ptx_warp *warp, const struct ptx_call *call)
{
    const struct ptx_module *module = warp->run->module;
    const struct ptx_frame *caller = top(warp);
    struct ptx_frame *frame = &warp->frame[warp->frames++];
    frame->function = &module->function[call->function];
    frame->call = call;
    frame->return_pc = warp->pc;
    frame->returned = 0;
    frame->splits = 0;
    frame->register_offset = caller->register_offset + caller->function->register_bytes;
    frame->local_offset = caller->local_offset + caller->function->local_bytes;
    ptx_frame_poison(warp, frame);
    for (uint32_t i = 0; i < call->in; i++) {
        const struct ptx_copy *copy = &module->copy[call->copies + i];
        for (uint32_t byte = 0; byte < copy->bytes; byte += 4)
            memcpy(ptx_local_word(warp, frame->local_offset + copy->callee + byte),
                   ptx_local_word(warp, caller->local_offset + copy->caller + byte), PTX_BYTES_32);
    }
    warp->bank[PTX_BANK_FRAME] = warp->registers + frame->register_offset;
    warp->limit = UINT32_MAX;
    warp->pc = frame->function->first;
}
