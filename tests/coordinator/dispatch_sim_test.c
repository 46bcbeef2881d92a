/*
 * Dispatch under a seeded storm: workers that answer early and late, die, lie, leave and hand back;
 * jobs that end; results that are committed late; limits that change. After every step what must
 * always hold is checked, and at the end everything has ended exactly once.
 *
 * SIM_EVENTS and SIM_SEED in the environment run longer or repeat one seed.
 */
#include <stdbool.h>

#include "tests/coordinator/dispatch_rig.h"

enum { SEATS = 10, SLABS = 6, JOBS = 4000, PARTITIONS = 4, HELD = 8, FALLBACK = SEATS - 1 };

/* What became of a partition. */
enum end { END_NONE, END_CLAIMED, END_RESULT, END_FAIL, END_JOB, END_COMMITTED };

struct assignment {
    struct action action;
    bool started, computed, cancelled;
};

struct worker {
    enum worker_role role;
    bool alive, leaving;
    struct assignment held[HELD];
    uint32_t count;
};

struct sim {
    struct rig rig;
    uint64_t seed;
    uint32_t lanes;
    struct worker workers[SEATS];
    uint8_t ends[JOBS][PARTITIONS];
    uint16_t excluded[JOBS][PARTITIONS]; /* seats (each a device) that had no memory for it */
    uint64_t moved;                      /* partitions that went on to another device */
    uint64_t next_job;                   /* job numbers count from 1 */
    uint32_t next_partition;
    struct action uncommitted[4096]; /* results that wait for their commit */
    uint32_t uncommitted_count;
    uint64_t failed_jobs[64];
    uint32_t failed_count;
    struct action stale[64]; /* messages of the past, to be replayed */
    uint32_t stale_count;
    uint64_t results, fails, deaths, traced;
    int64_t out[LANES_MAX];        /* starts less returns, by the trace */
    int64_t least_room[LANES_MAX]; /* the least of available + out since the last new limit */
    bool honest;
};

static uint64_t draw(struct sim *sim)
{
    sim->seed ^= sim->seed << 13;
    sim->seed ^= sim->seed >> 7;
    sim->seed ^= sim->seed << 17;
    return sim->seed;
}

static uint32_t below(struct sim *sim, uint32_t n)
{
    return (uint32_t)((draw(sim) >> 11) % n);
}

static bool chance(struct sim *sim, uint32_t per_mille)
{
    return below(sim, 1000) < per_mille;
}

/* ---------------------------------------------------------------- what must always hold */

static void check_words(struct sim *sim)
{
    for (uint32_t slab = 0; slab < sim->lanes * SLABS; slab++) {
        struct slab_word word = slab_word_load(&sim->rig.control, slab);

        if (word.state == SLAB_FREE || word.state == SLAB_READY) {
            assert_int_equal(word.seat, SEAT_NONE);
            continue;
        }
        assert_true(word.seat < SEATS);
        assert_true(sim->workers[word.seat].alive);
        assert_int_equal(sim->workers[word.seat].role,
                         word.state == SLAB_FILLING ? ROLE_SYNTH : ROLE_GPU);
    }
}

static void check_credits(struct sim *sim)
{
    for (uint32_t lane = 0; lane < sim->lanes; lane++) {
        uint32_t used = SLABS - rig_slabs(&sim->rig, lane, SLAB_FREE);
        struct credit_view view;

        credit_read(&sim->rig.control, lane, &view);
        assert_int_equal(view.taken_total, view.returned_total + used);
        assert_int_equal(view.available, view.limit > used ? view.limit - used : 0);
    }
}

/*
 * Between any two points of the trace, starts <= available at the first + returns between. With
 * out = starts - returns so far: out(later) <= available(earlier) + out(earlier).
 */
static void check_trace(struct sim *sim)
{
    struct trace_event event;

    while (sim->traced < trace_written(&sim->rig.control)) {
        assert_int_equal(trace_read(&sim->rig.control, ++sim->traced, &event), 1);
        if (event.kind < TRACE_CREDIT_TAKE)
            continue;
        if (event.kind == TRACE_CREDIT_LIMIT)
            sim->least_room[event.lane] = INT64_MAX;
        sim->out[event.lane] += event.kind == TRACE_CREDIT_TAKE;
        sim->out[event.lane] -= event.kind == TRACE_CREDIT_RETURN;
        assert_true(sim->out[event.lane] <= sim->least_room[event.lane]);
        int64_t room = (int64_t)event.available + sim->out[event.lane];
        if (room < sim->least_room[event.lane])
            sim->least_room[event.lane] = room;
    }
}

/* ---------------------------------------------------------------- carrying out actions */

/* Nobody alive may hold a slab that is given to another. */
static void check_alone(struct sim *sim, uint32_t slab)
{
    for (uint32_t seat = 0; seat < SEATS; seat++) {
        for (uint32_t i = 0; i < sim->workers[seat].count; i++)
            assert_true(sim->workers[seat].held[i].action.slab != slab);
    }
}

/* It has memory for the partition as far as is known, and is no fallback where another could. */
static void check_device(struct sim *sim, const struct action *action)
{
    uint16_t excluded = sim->excluded[action->job][action->partition];

    assert_false(excluded >> action->seat & 1);
    sim->moved += excluded != 0;
    for (uint32_t seat = 0; seat < FALLBACK && action->seat == FALLBACK; seat++) {
        const struct worker *other = &sim->workers[seat];
        assert_true(other->role != ROLE_GPU || !other->alive || other->leaving ||
                    excluded >> seat & 1 || dispatch_set_aside(sim->rig.dispatch, seat));
    }
}

static void hold(struct sim *sim, const struct action *action)
{
    struct worker *worker = &sim->workers[action->seat];

    assert_true(worker->alive && !worker->leaving);
    assert_int_equal(worker->role, action->type == ACTION_FILL ? ROLE_SYNTH : ROLE_GPU);
    check_alone(sim, action->slab);
    if (action->type == ACTION_PROVE)
        check_device(sim, action);
    assert_true(worker->count < (action->type == ACTION_FILL ? 1u : 4u));
    worker->held[worker->count++] = (struct assignment){.action = *action};
}

static void cancel(struct sim *sim, const struct action *action)
{
    struct worker *worker = &sim->workers[action->seat];
    bool found = false;

    for (uint32_t i = 0; i < worker->count; i++) {
        if (worker->held[i].action.assignment != action->assignment)
            continue;
        assert_false(worker->held[i].cancelled);
        worker->held[i].cancelled = found = true;
    }
    assert_true(found);
}

static void end_partition(struct sim *sim, const struct action *action, enum end end)
{
    uint8_t *was = &sim->ends[action->job][action->partition];

    assert_int_equal(*was, END_CLAIMED); /* once, and never after its job has ended */
    *was = (uint8_t)end;
    sim->results += end == END_RESULT;
    sim->fails += end == END_FAIL;
    if (end == END_RESULT)
        sim->uncommitted[sim->uncommitted_count++] = *action;
    else
        sim->failed_jobs[sim->failed_count++] = action->job;
    assert_true(sim->uncommitted_count < 4096 && sim->failed_count < 64);
}

static void carry_out(struct sim *sim)
{
    for (uint32_t i = 0; i < sim->rig.actions.count; i++) {
        const struct action *action = &sim->rig.actions.list[i];

        if (action->type == ACTION_FILL || action->type == ACTION_PROVE)
            hold(sim, action);
        else if (action->type == ACTION_CANCEL)
            cancel(sim, action);
        else if (action->type == ACTION_RESULT)
            end_partition(sim, action, END_RESULT);
        else if (action->type == ACTION_FAIL)
            end_partition(sim, action, END_FAIL);
        else
            assert_int_equal(sim->ends[action->job][action->partition], END_CLAIMED);
    }
}

static void step(struct sim *sim, struct dispatch_event event)
{
    rig_step(&sim->rig, event);
    carry_out(sim);
    check_words(sim);
    check_credits(sim);
    check_trace(sim);
}

/* ---------------------------------------------------------------- jobs */

static void end_job(struct sim *sim, uint64_t job)
{
    struct dispatch_event event = {.type = EVENT_JOB_ENDED};

    for (uint32_t partition = 0; partition < PARTITIONS; partition++) {
        uint8_t *end = &sim->ends[job][partition];
        if (*end == END_CLAIMED || *end == END_NONE)
            *end = END_JOB;
    }
    event.job.job = job;
    step(sim, event);
}

static void end_failed_jobs(struct sim *sim)
{
    while (sim->failed_count)
        end_job(sim, sim->failed_jobs[--sim->failed_count]);
}

static void claim_next(struct sim *sim, uint32_t lane)
{
    struct dispatch_event event = {.type = EVENT_CLAIMED};

    if (sim->next_partition == PARTITIONS) {
        sim->next_partition = 0;
        sim->next_job++;
    }
    if (sim->next_job >= JOBS)
        return;
    uint32_t partition = sim->next_partition++;
    if (sim->ends[sim->next_job][partition] != END_NONE)
        return; /* the job ended before this one was claimed */
    sim->ends[sim->next_job][partition] = END_CLAIMED;
    event.claimed.job = sim->next_job;
    event.claimed.partition = partition;
    event.claimed.lane = lane;
    event.claimed.circuit = lane;
    event.claimed.priority = (enum priority)below(sim, PRIORITIES);
    step(sim, event);
}

static void claim(struct sim *sim)
{
    for (uint32_t i = 0; i < sim->lanes; i++) {
        uint32_t lane = dispatch_lane_turn(sim->rig.dispatch, i);
        uint32_t wants = dispatch_wants(sim->rig.dispatch, lane) + chance(sim, 50);
        while (wants--)
            claim_next(sim, lane);
    }
}

static void commit(struct sim *sim, uint32_t which)
{
    struct dispatch_event event = {.type = EVENT_COMMITTED};
    struct action *result = &sim->uncommitted[which];

    event.job.job = result->job;
    event.job.partition = result->partition;
    assert_int_equal(sim->ends[result->job][result->partition], END_RESULT);
    sim->ends[result->job][result->partition] = END_COMMITTED;
    *result = sim->uncommitted[--sim->uncommitted_count];
    step(sim, event);
}

static void end_any_job(struct sim *sim)
{
    uint32_t behind = below(sim, 8);

    if (sim->next_job > behind)
        end_job(sim, sim->next_job - behind);
}

/* ---------------------------------------------------------------- workers */

static void attach(struct sim *sim, uint32_t seat)
{
    struct worker *worker = &sim->workers[seat];

    *worker = (struct worker){.alive = true, .role = seat < SEATS / 2 + 1 ? ROLE_SYNTH : ROLE_GPU};
    step(sim, (struct dispatch_event){.type = EVENT_ATTACHED,
                                      .seat = seat,
                                      .attached = {worker->role, seat, seat == FALLBACK}});
    step(sim, (struct dispatch_event){.type = EVENT_READY, .seat = seat});
}

static void die(struct sim *sim, uint32_t seat)
{
    sim->workers[seat].alive = false;
    sim->workers[seat].count = 0;
    sim->deaths++;
    step(sim, (struct dispatch_event){
                  .type = EVENT_DIED, .seat = seat, .died = {.obituary = "signal 9"}});
    end_failed_jobs(sim);
}

static void keep_stale(struct sim *sim, const struct action *action)
{
    sim->stale[sim->stale_count++ % 64] = *action;
}

/* The message ends the assignment, whatever it says. */
static void say_last(struct sim *sim, struct worker *worker, uint32_t which,
                     struct dispatch_event event)
{
    const struct action *action = &worker->held[which].action;

    keep_stale(sim, action);
    if (event.type == EVENT_FAILED && event.failed.fault == FAULT_CAPACITY &&
        worker->role == ROLE_GPU)
        sim->excluded[action->job][action->partition] |= (uint16_t)(1u << action->seat);
    worker->held[which] = worker->held[--worker->count];
    step(sim, event);
}

static struct dispatch_event failure(struct sim *sim, const struct action *action)
{
    static const enum wire_fault faults[] = {FAULT_INPUT, FAULT_INTERNAL, FAULT_INTERNAL,
                                             FAULT_CAPACITY, (enum wire_fault)0};

    return rig_failure(action, faults[below(sim, 5)], chance(sim, 200));
}

static void synth_acts(struct sim *sim, struct worker *worker, uint32_t which)
{
    struct assignment *held = &worker->held[which];
    struct dispatch_event event = rig_filling(&sim->rig, &held->action);

    if (!sim->honest && chance(sim, 20))
        event.filled.generation ^= 1 + below(sim, 3);
    if (!sim->honest && chance(sim, 20))
        event.filled.start_ns = draw(sim);
    if (held->cancelled && chance(sim, 700))
        event = rig_word(EVENT_RELEASED, &held->action);
    else if (!sim->honest && chance(sim, 40))
        event = failure(sim, &held->action);
    else if (!sim->honest && chance(sim, 10))
        event = rig_word(EVENT_RELEASED, &held->action);
    say_last(sim, worker, which, event);
}

static struct dispatch_event make_proof(struct sim *sim, const struct action *action)
{
    struct dispatch_event event = rig_proof(&sim->rig, action);

    /* The digest that dispatch handed out is the one of the filling. */
    struct dispatch_event filling = rig_filling(&sim->rig, action);
    assert_memory_equal(filling.filled.digest, action->digest, HASH_BYTES);
    if (sim->honest)
        return event;
    event.proved.digest[0] ^= chance(sim, 20);
    event.proved.generation ^= chance(sim, 20);
    event.proved.slab ^= chance(sim, 20);
    event.proved.device_charged = chance(sim, 20);
    if (chance(sim, 20))
        event.proved.times.prove_ns = draw(sim);
    return event;
}

static void gpu_acts(struct sim *sim, struct worker *worker, uint32_t which)
{
    struct assignment *held = &worker->held[which];

    if (held->cancelled && chance(sim, 600))
        say_last(sim, worker, which, rig_word(EVENT_RELEASED, &held->action));
    else if (!sim->honest && chance(sim, 30))
        say_last(sim, worker, which, failure(sim, &held->action));
    else if (!sim->honest && chance(sim, 5))
        say_last(sim, worker, which, rig_word(EVENT_RELEASED, &held->action));
    else if (!held->started) {
        held->started = true;
        step(sim, rig_word(EVENT_STARTED, &held->action));
    } else if (!held->computed && (sim->honest || !chance(sim, 10))) {
        held->computed = true;
        step(sim, rig_word(EVENT_COMPUTED, &held->action));
    } else {
        say_last(sim, worker, which, make_proof(sim, &held->action));
    }
}

static void worker_acts(struct sim *sim, uint32_t seat)
{
    struct worker *worker = &sim->workers[seat];

    if (!worker->alive && (sim->honest || chance(sim, 300)))
        attach(sim, seat);
    else if (worker->alive && !sim->honest && chance(sim, 10))
        die(sim, seat);
    else if (worker->alive && worker->leaving && !worker->count)
        die(sim, seat);
    else if (worker->alive && worker->count && worker->role == ROLE_SYNTH)
        synth_acts(sim, worker, 0);
    else if (worker->alive && worker->count)
        gpu_acts(sim, worker, below(sim, worker->count));
    end_failed_jobs(sim);
}

static void leave(struct sim *sim, uint32_t seat)
{
    if (!sim->workers[seat].alive)
        return;
    sim->workers[seat].leaving = true;
    step(sim, (struct dispatch_event){.type = EVENT_LEAVING, .seat = seat});
}

/* Messages of the past, of other seats, or of nothing at all. Never of one's own assignment. */
static void replay(struct sim *sim)
{
    static const enum event_type types[] = {EVENT_STARTED, EVENT_COMPUTED, EVENT_RELEASED};
    struct action action = {.slab = below(sim, 40), .generation = below(sim, 4)};
    uint64_t dropped = rig_dropped(&sim->rig);

    if (sim->stale_count && chance(sim, 800))
        action = sim->stale[below(sim, sim->stale_count < 64 ? sim->stale_count : 64)];
    action.seat = below(sim, SEATS);
    switch (below(sim, 4)) {
    case 0:
        step(sim, rig_filling(&sim->rig, &action));
        break;
    case 1:
        step(sim, rig_proof(&sim->rig, &action));
        break;
    case 2:
        step(sim, failure(sim, &action));
        break;
    default:
        step(sim, rig_word(types[below(sim, 3)], &action));
    }
    assert_int_equal(rig_dropped(&sim->rig), dropped + 1);
}

static void change_limits(struct sim *sim)
{
    for (uint32_t lane = 0; lane < sim->lanes; lane++)
        sim->rig.limits.fixed_credits[lane] = below(sim, SLABS + 2);
    sim->rig.limits.staged = 1 + below(sim, 2);
    sim->rig.limits.uncommitted_results = 1 + below(sim, 5);
    dispatch_set_limits(sim->rig.dispatch, &sim->rig.limits);
    check_trace(sim);
    step(sim, (struct dispatch_event){.type = EVENT_TICK});
}

/* ---------------------------------------------------------------- a run */

static void storm(struct sim *sim)
{
    uint32_t what = below(sim, 1000);

    if (what < 300)
        claim(sim);
    else if (what < 850)
        worker_acts(sim, below(sim, SEATS));
    else if (what < 920 && sim->uncommitted_count)
        commit(sim, below(sim, sim->uncommitted_count));
    else if (what < 940)
        step(sim, (struct dispatch_event){.type = EVENT_TICK});
    else if (what < 985)
        replay(sim);
    else if (what < 990)
        end_any_job(sim);
    else if (what < 994)
        leave(sim, below(sim, SEATS));
    else if (what < 996)
        change_limits(sim);
}

/* Everything honest, nothing new: all that was claimed ends. */
static void drain(struct sim *sim)
{
    sim->honest = true;
    for (uint32_t seat = 0; seat < SEATS; seat++) {
        if (sim->workers[seat].alive)
            die(sim, seat); /* set-aside devices are replaced too */
    }
    for (uint32_t round = 0; round < 100000; round++) {
        worker_acts(sim, below(sim, SEATS));
        if (sim->uncommitted_count && chance(sim, 300))
            commit(sim, below(sim, sim->uncommitted_count));
        if (!dispatch_tasks(sim->rig.dispatch) && !sim->uncommitted_count)
            break;
    }
    assert_int_equal(dispatch_tasks(sim->rig.dispatch), 0);
    for (uint32_t round = 0; round < 1000; round++)
        worker_acts(sim, below(sim, SEATS)); /* what ended jobs left in their hands */
}

static void check_ends(struct sim *sim)
{
    for (uint64_t job = 0; job < JOBS; job++) {
        for (uint32_t partition = 0; partition < PARTITIONS; partition++) {
            assert_true(sim->ends[job][partition] != END_CLAIMED);
            assert_true(sim->ends[job][partition] != END_RESULT);
        }
    }
    for (uint32_t lane = 0; lane < sim->lanes; lane++) {
        struct credit_view view;
        credit_read(&sim->rig.control, lane, &view);
        assert_int_equal(view.taken_total, view.returned_total);
        assert_int_equal(view.available, view.limit);
        assert_int_equal(rig_slabs(&sim->rig, lane, SLAB_FREE), SLABS);
    }
    /* The storm did blow. */
    print_message("    %u results, %u fails, %u deaths, %u set aside\n", (unsigned)sim->results,
                  (unsigned)sim->fails, (unsigned)sim->deaths,
                  (unsigned)rig_counters(&sim->rig).set_aside_total);
    assert_true(sim->results > 500 && sim->fails > 20 && sim->deaths > 50);
    print_message("    %u went on to another device\n", (unsigned)sim->moved);
    assert_true(sim->moved > 0);
    assert_true(rig_counters(&sim->rig).retries_synth_total > 20);
    assert_true(rig_counters(&sim->rig).retries_prove_total > 20);
}

static void run(uint64_t seed, uint32_t events)
{
    struct sim *sim = calloc(1, sizeof(*sim));
    struct dispatch_limits limits = rig_limits;

    assert_non_null(sim);
    sim->seed = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    sim->next_job = 1;
    sim->lanes = 1 + (uint32_t)(seed % 3);
    limits.uncommitted_results = 2;
    for (uint32_t lane = 0; lane < LANES_MAX; lane++)
        sim->least_room[lane] = INT64_MAX;
    if (seed % 2)
        memset(limits.fixed_credits, 0, sizeof(limits.fixed_credits));
    rig_open(&sim->rig, sim->lanes, SLABS, &limits);
    for (uint32_t i = 0; i < events; i++)
        storm(sim);
    drain(sim);
    check_ends(sim);
    rig_close(&sim->rig);
    free(sim);
}

static void test_storm(void **state)
{
    const char *events = getenv("SIM_EVENTS"), *seed = getenv("SIM_SEED");
    uint32_t count = events ? (uint32_t)strtoul(events, NULL, 10) : 30000;

    (void)state;
    if (seed) {
        run(strtoul(seed, NULL, 10), count);
        return;
    }
    for (uint64_t i = 1; i <= 8; i++) {
        print_message("seed %u\n", (unsigned)i);
        run(i, count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_storm)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
