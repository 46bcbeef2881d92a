/*
 * A warp while it runs. Its lanes go in lockstep as far as they agree: the group is the lanes that
 * are at `pc`; lanes that took another branch wait as splits, and the group with the lowest pc
 * always goes first, so that lanes meet again where branches join (nvcc lays blocks out so that the
 * join lies behind). Lanes that a barrier, shuffle or vote must wait for make their group wait.
 * Lanes may also be left behind where nothing makes them part, as on hardware, which promises
 * lockstep nowhere: they are a split that waits, until the others do or are done.
 *
 *     running ──bar.sync, all lanes here──> at the barrier ──all warps there──> running
 *        │ ──its slice of steps is over──> running, another warp's turn
 *        └──last lane returns──> done                      any ──fault──> failed
 *
 * A call pushes a frame with the lanes of the group; the caller's splits wait until those are back.
 */
#ifndef PAWL_TESTS_SOFTCUDA_PTX_WARP_H
#define PAWL_TESTS_SOFTCUDA_PTX_WARP_H

#include "tests/softcuda/ptx_code.h"

#define PTX_ALL_LANES UINT32_MAX

enum { PTX_FRAMES_MOST = 12 };

enum ptx_warp_state { PTX_WARP_RUNNING, PTX_WARP_AT_BARRIER, PTX_WARP_DONE, PTX_WARP_FAILED };

struct ptx_split {
    uint32_t pc, lanes;
    bool waits; /* at pc for other lanes of the warp */
};

struct ptx_frame {
    const struct ptx_function *function;
    const struct ptx_call *call;            /* that made it; NULL for the kernel's own */
    uint32_t return_pc, returned;           /* in the caller; lanes that have come back */
    uint32_t register_offset, local_offset; /* bytes, in the warp's memory */
    uint32_t splits;
    struct ptx_split split[PTX_LANES];
};

enum ptx_special {
    PTX_TID_X,
    PTX_TID_Y,
    PTX_TID_Z,
    PTX_NTID_X,
    PTX_NTID_Y,
    PTX_NTID_Z,
    PTX_CTAID_X,
    PTX_CTAID_Y,
    PTX_CTAID_Z,
    PTX_NCTAID_X,
    PTX_NCTAID_Y,
    PTX_NCTAID_Z,
    PTX_LANEID,
    PTX_WARPID,
    PTX_NWARPID,
    PTX_SMID,
    PTX_NSMID,
    PTX_GRIDID,
    PTX_LANEMASK_EQ,
    PTX_LANEMASK_LE,
    PTX_LANEMASK_LT,
    PTX_LANEMASK_GE,
    PTX_LANEMASK_GT,
    PTX_DYNAMIC_SMEM,
    PTX_TOTAL_SMEM,
    PTX_SPECIALS
};

struct ptx_run; /* a launch: ptx_launch.h */

struct ptx_warp {
    uint8_t *bank[PTX_BANKS]; /* [PTX_BANK_FRAME]: of the frame on top */
    uint32_t active;          /* lanes that the instruction is for */
    uint32_t group, lanes;    /* the lanes at pc, and how many they are */
    uint32_t pc, limit;       /* limit: the lowest pc of a split that could run */
    enum ptx_warp_state state;
    bool turn_over; /* the slice ended, or the state is no longer running */
    uint32_t alive; /* lanes that have not exited */
    bool may_retry; /* something changed that waiting lanes may wait for */
    uint32_t frames;
    uint64_t steps, lane_steps;
    uint8_t *registers, *local; /* of all frames; local: [word][32 lanes] */
    uint64_t local_bytes;       /* of a lane */
    struct ptx_run *run;
    unsigned index; /* in its block */
    uint64_t random;
    uint32_t carry[PTX_LANES] __attribute__((aligned(64)));
    uint32_t special[PTX_SPECIALS][PTX_LANES] __attribute__((aligned(64)));
    struct ptx_frame frame[PTX_FRAMES_MOST];
};

static inline void *ptx_vector(const struct ptx_warp *warp, uint32_t operand)
{
    return warp->bank[operand & 3] + (operand & ~UINT32_C(3));
}

/* The 32 lanes' words at a byte of their local memory. */
static inline uint32_t *ptx_local_word(const struct ptx_warp *warp, uint64_t byte)
{
    return (uint32_t *)(warp->local + byte / 4 * PTX_BYTES_32);
}

/* The i-th lane of an order that a random number stands for: each lane once. */
static inline unsigned ptx_lane_at(uint64_t order, unsigned i)
{
    return (unsigned)(i * (order | 1) + (order >> 32)) % PTX_LANES;
}
uint64_t ptx_random(uint64_t *state);

/* Ends the warp's run with a fault at `code`; the first one counts. `what` says what was wrong. */
void ptx_fault_raise(struct ptx_warp *warp, const struct ptx_code *code, enum ptx_fault_kind kind,
                     unsigned lane, uint64_t address, const char *what);

/* ptx_warp.c: the warp's memory as at a kernel's first instruction; runs until its turn is over. */
void ptx_warp_start(struct ptx_warp *warp, uint32_t lanes);
void ptx_frame_poison(struct ptx_warp *warp, const struct ptx_frame *frame);
void ptx_warp_run(struct ptx_warp *warp, uint64_t steps);

/* ptx_group.c: which lanes go on, and where */
void ptx_group_set(struct ptx_warp *warp, uint32_t lanes, uint32_t pc);
void ptx_group_branch(struct ptx_warp *warp, uint32_t taken, uint32_t target);
void ptx_group_next(struct ptx_warp *warp); /* the group with the lowest pc, lanes there joined */
void ptx_group_leave(struct ptx_warp *warp, uint32_t lanes, bool for_good);
/* Where all the warp's lanes are together: those of `lanes` go on once the others are done or wait.
 */
void ptx_group_leave_behind(struct ptx_warp *warp, uint32_t lanes);
/*
 * Lanes that wait at this code join the group; those whose members (masks[lane]: lanes that must be
 * here too) are all here stay in the group and are active; others wait. False: nobody stayed.
 */
bool ptx_group_gather(struct ptx_warp *warp, const struct ptx_code *code, const uint32_t *masks);
void ptx_frame_push(struct ptx_warp *warp, const struct ptx_call *call);

#endif
