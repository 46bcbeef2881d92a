/*
 * What the files of dispatch share: its tasks and seats, and the calls between them.
 *
 *   dispatch.c        the step: one event, then the pass that hands out work
 *   dispatch_tasks.c  the tasks: adding, finding, ordering, ending; the actions about them
 *   dispatch_seats.c  the workers, and what the slab words say that each holds
 *   dispatch_synth.c  credits to synth-workers, their answers
 *   dispatch_prove.c  filled slabs to gpu-workers, their answers
 *   dispatch_end.c    jobs that end, workers that die, results that are committed
 *   dispatch_trace.c  the complete events of the trace
 *
 * Nobody else includes this. Nothing here outlives the coordinator.
 */
#ifndef PAWL_COORDINATOR_DISPATCH_INTERNAL_H
#define PAWL_COORDINATOR_DISPATCH_INTERNAL_H

#include <stdbool.h>
#include <sys/queue.h>

#include "coordinator/credit_plan.h"
#include "coordinator/dispatch.h"
#include "shm/trace.h"

#define SLAB_NONE UINT32_MAX
#define TASK_WHY_BYTES 192

/*
 * A claimed partition. Where it stands is what the word of its slab says; a task without a slab
 * waits for a synth-worker, or, once `proved`, for its commit alone.
 */
struct task {
    TAILQ_ENTRY(task) link;
    uint64_t job;
    uint32_t partition, lane, circuit;
    enum priority priority;
    uint32_t attempts, deaths;
    uint32_t slab;
    uint64_t assignment; /* that runs; 0: none */
    bool cancelled;      /* CANCEL is on its way to the holder */
    bool ended;          /* its job is over: its slab is given up as soon as its holder lets go */
    bool proved;         /* its result has been taken over */
    uint64_t excluded;   /* devices that had no memory for it, a bit for each */
    uint64_t alone_ns;   /* since when none of the others is here; 0: one is */
    char why[TASK_WHY_BYTES]; /* what the last of them said */
    uint8_t digest[HASH_BYTES];
    uint64_t claimed_ns, granted_ns, filled_ns, started_ns, proved_ns;
    uint64_t witness_ns, rows_ns;
    uint32_t prover; /* the seat that proved it, for the trace; its slab may be another's by then */
    uint32_t proved_slab;
};
TAILQ_HEAD(task_list, task);

struct seat {
    enum worker_role role; /* ROLE_NONE: nobody sits there */
    bool ready, leaving, set_aside;
    bool fallback; /* gets work only where no other device can do it */
    uint32_t device;
    uint32_t charges;              /* of its device, in a row */
    uint32_t last_slab[LANES_MAX]; /* whose window it has mapped; SLAB_NONE: none */
};

/* What a seat holds, counted from the slab words. */
struct seat_load {
    uint32_t filling, assigned, proving;
    uint32_t finalizing; /* without those that only wait for their commit */
};

struct dispatch {
    struct control *control;
    struct dispatch_limits limits;
    struct task_list tasks;  /* in the order of their claims */
    struct task **slab_task; /* by slab: whose it is, or NULL */
    struct seat seats[SEATS_MAX];
    struct seat_load loads[SEATS_MAX]; /* counted at the start of each pass */
    struct credit_times times[LANES_MAX];
    uint64_t device_ns[LANES_MAX][DISPATCH_DEVICES_MAX]; /* last known time of a proof; 0: none */
    uint64_t devices_known;                              /* that were ever here, a bit for each */
    uint64_t last_grant[LANES_MAX]; /* the assignment number of each lane's last grant */
    uint64_t next_assignment;
    bool held;            /* between HOLD and REPLANNED: every limit is 0 */
    uint32_t uncommitted; /* results whose slabs are FREE and that are not committed */
    struct dispatch_counters counters;
    /* of the step that runs */
    uint64_t now_ns;
    struct actions *actions;
};

/* ---- tasks ---- */
struct task *task_find(struct dispatch *dispatch, uint64_t job, uint32_t partition);
/* The task that runs under that assignment in the hands of that seat, or NULL: drop and count. */
struct task *task_held(struct dispatch *dispatch, uint32_t seat, uint64_t assignment);
void task_claimed(struct dispatch *dispatch, const struct dispatch_event *event);
/* Forgets the task; its slab is no longer its own. */
void task_drop(struct dispatch *dispatch, struct task *task);
/* Whether a is to be worked on before b: by aged priority, then by age. */
bool task_before(const struct dispatch *dispatch, const struct task *a, const struct task *b);
bool task_waits(const struct task *task);
struct slab_word task_word(const struct dispatch *dispatch, const struct task *task);
/* Gives the slab up, wherever it stands (its holder uses it no more): FREE, with the credit. */
void task_free_slab(struct dispatch *dispatch, struct task *task);
/* Takes the slab from its gpu-worker, which uses it no more: READY, same contents. */
void task_take_back(struct dispatch *dispatch, struct task *task);
/* An action with the task's fields filled in. */
struct action *task_act(struct dispatch *dispatch, const struct task *task, enum action_type type);
void task_say_state(struct dispatch *dispatch, const struct task *task, enum partition_state state);
void task_cancel(struct dispatch *dispatch, struct task *task);
/* Fails the partition for good and forgets it; the text is formatted as by printf. */
void task_fail(struct dispatch *dispatch, struct task *task, enum wire_fault fault,
               const char *format, ...) __attribute__((format(printf, 4, 5)));
/*
 * One more try has ended in a failure that is ours. Fails the task at the cap and returns true;
 * else false, and the caller sees to the next try.
 */
bool task_charge_attempt(struct dispatch *dispatch, struct task *task, enum wire_fault fault,
                         const char *why);
/* Likewise for the death of its worker. */
bool task_charge_death(struct dispatch *dispatch, struct task *task, const char *obituary);
/* Waits for a synth-worker again, with its slab given up. */
void task_requeue(struct dispatch *dispatch, struct task *task);

/* ---- seats ---- */
void seat_attached(struct dispatch *dispatch, const struct dispatch_event *event);
void seats_count_loads(struct dispatch *dispatch);
bool seat_may_work(const struct seat *seat, enum worker_role role);
/* The idle synth-worker for a slab of that lane, best the one that has a free slab mapped; or
 * SEAT_NONE. */
uint32_t seat_find_synth(const struct dispatch *dispatch, uint32_t lane);
uint32_t seats_idle_synth(const struct dispatch *dispatch);
/* ---- devices: `excluded` has a bit for each device that had no memory for the task ---- */
/* Whether a device that is not excluded is here, working or about to. */
bool seats_have_device(const struct dispatch *dispatch, uint64_t excluded);
/* Likewise one that is no fallback. */
bool seats_have_main(const struct dispatch *dispatch, uint64_t excluded);
/* Whether a task may go to that gpu-worker, when it has room. */
bool seat_suits(const struct dispatch *dispatch, uint32_t seat, uint64_t excluded);
/* The gpu-worker that suits, has room, and holds the least, or SEAT_NONE. */
uint32_t seat_find_gpu(const struct dispatch *dispatch, uint64_t excluded);
/* The device's sums were wrong, or right again. */
void seat_charge_device(struct dispatch *dispatch, uint32_t seat, bool charged);
void seats_plan_credits(struct dispatch *dispatch);
/* Other slabs: nobody is ready for them yet, and no window is on them. */
void seats_replanned(struct dispatch *dispatch);

/* ---- synth-workers ---- */
void synth_pass(struct dispatch *dispatch);
void synth_filled(struct dispatch *dispatch, struct task *task, const struct dispatch_event *event);
void synth_failed(struct dispatch *dispatch, struct task *task, const struct dispatch_event *event);
void synth_released(struct dispatch *dispatch, struct task *task,
                    const struct dispatch_event *event);

/* ---- gpu-workers ---- */
void prove_pass(struct dispatch *dispatch);
/* A device that is no fallback is ready: what is staged at fallbacks comes back for it. */
void prove_recall_fallbacks(struct dispatch *dispatch);
/* At each tick: fails partitions for which no device is left. */
void prove_check_devices(struct dispatch *dispatch);
void prove_started(struct dispatch *dispatch, struct task *task,
                   const struct dispatch_event *event);
void prove_computed(struct dispatch *dispatch, struct task *task,
                    const struct dispatch_event *event);
void prove_proved(struct dispatch *dispatch, struct task *task, const struct dispatch_event *event);
void prove_failed(struct dispatch *dispatch, struct task *task, const struct dispatch_event *event);
void prove_released(struct dispatch *dispatch, struct task *task,
                    const struct dispatch_event *event);

/* ---- ends ---- */
void end_job(struct dispatch *dispatch, uint64_t job);
void end_seat(struct dispatch *dispatch, const struct dispatch_event *event);
/* The slab of a proved task is given up as soon as few enough results wait for the disk. */
void end_proved(struct dispatch *dispatch, struct task *task);
void end_committed(struct dispatch *dispatch, uint64_t job, uint32_t partition);

/* ---- trace ---- */
/* Brings a span that a worker told into [not_before, now]. */
void trace_clamp(uint64_t not_before_ns, uint64_t now_ns, uint64_t *start_ns,
                 uint64_t *duration_ns);
void trace_task(struct dispatch *dispatch, const struct task *task, enum trace_kind kind,
                uint32_t seat, uint64_t start_ns, uint64_t duration_ns);
/* The spans of a proof as its worker told them, brought into bounds. */
void trace_proof(struct dispatch *dispatch, const struct task *task, uint32_t seat,
                 struct wire_times times);

#endif
