/*
 * The credit rule as an invariant: a seeded walk of legal and illegal calls beside a model that
 * counts on its own.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/credit.h"
#include "shm/ledger.h"
#include "shm/trace.h"
#include "plain_control.h"

#define LANES 2u
#define SLABS 8u
#define SEATS 4u
#define STEPS 100000

static const struct lane_spec lanes[LANES] = {
    {.name = "main", .slab_bytes = 4096, .slab_count = 5, .credits = 4},
    {.name = "express", .slab_bytes = 4096, .slab_count = 3, .credits = 1},
};

struct model {
    enum slab_state state[SLABS];
    uint32_t seat[SLABS];
    uint64_t generation[SLABS];
    uint64_t limit[LANES], taken[LANES], returned[LANES], instants;
};

static uint64_t random_state;

static uint32_t dice(uint32_t sides)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_state >> 33) % sides;
}

static uint32_t lane_of(uint32_t slab)
{
    return slab >= 5;
}

static uint64_t out_of(const struct model *model, uint32_t lane)
{
    uint64_t out = 0;

    for (uint32_t slab = 0; slab < SLABS; slab++)
        out += lane_of(slab) == lane && model->state[slab] != SLAB_FREE;
    return out;
}

static uint64_t available_of(const struct model *model, uint32_t lane)
{
    uint64_t out = out_of(model, lane);

    return model->limit[lane] > out ? model->limit[lane] - out : 0;
}

static void model_free(struct model *model, uint32_t slab)
{
    model->state[slab] = SLAB_FREE;
    model->seat[slab] = SEAT_NONE;
    model->returned[lane_of(slab)]++;
    model->instants++;
}

static void model_ready(struct model *model, uint32_t slab)
{
    model->state[slab] = SLAB_READY;
    model->seat[slab] = SEAT_NONE;
}

static void walk_grant(struct control *control, struct model *model, uint32_t slab, uint32_t seat)
{
    uint32_t lane = lane_of(slab);
    uint64_t generation = 0;
    int expected = model->state[slab] != SLAB_FREE ? -EINVAL
                   : available_of(model, lane)     ? 0
                                                   : -EAGAIN;

    assert_int_equal(ledger_grant(control, slab, seat, &generation), expected);
    if (expected)
        return;
    model->state[slab] = SLAB_FILLING;
    model->seat[slab] = seat;
    assert_int_equal(generation, ++model->generation[slab]);
    model->taken[lane]++;
    model->instants++;
}

/* An edge with one start state and one end state; holder: who must hold it, where it must be held.
 */
static void walk_edge(struct control *control, struct model *model, uint32_t edge, uint32_t slab,
                      uint32_t seat, uint64_t generation)
{
    static int (*const edges[])(struct control *, uint32_t, uint32_t, uint64_t) = {
        ledger_filled,   ledger_assign,    ledger_unassign, ledger_start,
        ledger_computed, ledger_finalized, ledger_reprove,  ledger_abandon};
    static const unsigned from[] = {1u << SLAB_FILLING,
                                    1u << SLAB_READY,
                                    1u << SLAB_ASSIGNED,
                                    1u << SLAB_ASSIGNED,
                                    1u << SLAB_PROVING,
                                    1u << SLAB_FINALIZING,
                                    1u << SLAB_PROVING | 1u << SLAB_FINALIZING,
                                    1u << SLAB_FILLING | 1u << SLAB_READY | 1u << SLAB_PROVING |
                                        1u << SLAB_FINALIZING};
    static const enum slab_state to[] = {SLAB_READY,      SLAB_ASSIGNED, SLAB_READY, SLAB_PROVING,
                                         SLAB_FINALIZING, SLAB_FREE,     SLAB_READY, SLAB_FREE};
    int legal = from[edge] >> model->state[slab] & 1 && generation == model->generation[slab] &&
                (edge == 1 || seat == model->seat[slab]);

    int error = edges[edge](control, slab, seat, generation);
    assert_int_equal(error == 0, legal);
    if (!legal)
        return;
    if (to[edge] == SLAB_FREE)
        model_free(model, slab);
    else if (to[edge] == SLAB_READY)
        model_ready(model, slab);
    else
        model->state[slab] = to[edge], model->seat[slab] = seat;
}

static void count_call(void *arg, uint32_t slab, int was_state, uint64_t generation)
{
    (void)slab;
    (void)was_state;
    (void)generation;
    ++*(unsigned *)arg;
}

static void walk_reclaim(struct control *control, struct model *model, uint32_t seat)
{
    unsigned calls = 0, expected = 0;

    for (uint32_t slab = 0; slab < SLABS; slab++) {
        if (model->seat[slab] != seat)
            continue;
        expected++;
        if (model->state[slab] == SLAB_FILLING)
            model_free(model, slab);
        else
            model_ready(model, slab);
    }
    ledger_reclaim(control, seat, count_call, &calls);
    assert_int_equal(calls, expected);
    ledger_reclaim(control, seat, count_call, &calls);
    assert_int_equal(calls, expected);
}

static void walk_limit(struct control *control, struct model *model, uint32_t lane)
{
    uint64_t limit = dice(8);

    credit_set_limit(control, lane, limit);
    model->limit[lane] = limit < lanes[lane].slab_count ? limit : lanes[lane].slab_count;
    model->instants++;
}

static void compare(const struct control *control, const struct model *model)
{
    struct trace_event event;

    for (uint32_t slab = 0; slab < SLABS; slab++) {
        struct slab_word word = slab_word_load(control, slab);

        assert_int_equal(word.state, model->state[slab]);
        assert_int_equal(word.seat, model->seat[slab]);
        assert_int_equal(word.generation, model->generation[slab]);
    }
    for (uint32_t lane = 0; lane < LANES; lane++) {
        struct credit_view view;

        credit_check(control, lane);
        credit_read(control, lane, &view);
        assert_int_equal(view.limit, model->limit[lane]);
        assert_int_equal(view.available, available_of(model, lane));
        assert_int_equal(view.taken_total, model->taken[lane]);
        assert_int_equal(view.grants_total, model->taken[lane]);
        assert_int_equal(view.taken_total, view.returned_total + out_of(model, lane));
    }
    assert_int_equal(trace_written(control), model->instants);
    if (model->instants) {
        assert_int_equal(trace_read(control, model->instants, &event), 1);
        assert_int_equal(event.seq, model->instants);
        assert_int_equal(event.available, credit_available(control, event.lane));
        assert_int_equal(event.limit, credit_limit(control, event.lane));
    }
}

static void walk_step(struct control *control, struct model *model)
{
    uint32_t slab = dice(SLABS), seat = dice(SEATS), what = dice(100);
    uint64_t generation = model->generation[slab];

    if (what < 2) {
        walk_reclaim(control, model, seat);
    } else if (what < 4) {
        walk_limit(control, model, dice(LANES));
    } else if (what < 30) {
        walk_grant(control, model, slab, seat);
    } else {
        if (what < 80 && model->seat[slab] != SEAT_NONE)
            seat = model->seat[slab];
        else if (what < 85)
            seat = SEAT_NONE;
        if (what >= 95)
            generation += dice(3) - 1;
        uint32_t edge = dice(8);
        if (edge == 1 && seat == SEAT_NONE)
            seat = 0;
        walk_edge(control, model, edge, slab, seat, generation);
    }
}

static void random_walk_keeps_the_rule(void **state)
{
    struct control control;
    struct model model = {.limit = {4, 1}};

    (void)state;
    for (uint32_t slab = 0; slab < SLABS; slab++)
        model.seat[slab] = SEAT_NONE;
    random_state = 20240607;
    plain_control_make(&control, lanes, LANES);
    for (int step = 0; step < STEPS; step++) {
        walk_step(&control, &model);
        compare(&control, &model);
    }
    /* the walk went everywhere it should */
    assert_true(model.taken[0] > 1000 && model.taken[1] > 300);
    assert_true(model.instants > TRACE_CAPACITY / 8);
    plain_control_drop(&control);
}

/* More are out than a lowered limit allows: returns add nothing until that has passed. */
static void lowered_limit_swallows_returns(void **state)
{
    struct control control;
    uint64_t generation[5];

    (void)state;
    plain_control_make(&control, lanes, LANES);
    credit_set_limit(&control, 0, 99);
    assert_int_equal(credit_limit(&control, 0), 5); /* at most the slabs */
    for (uint32_t slab = 0; slab < 5; slab++)
        assert_int_equal(ledger_grant(&control, slab, 0, &generation[slab]), 0);
    credit_set_limit(&control, 0, 2);
    for (uint32_t slab = 0; slab < 5; slab++) {
        assert_int_equal(credit_available(&control, 0), slab < 4 ? 0 : slab - 3);
        assert_int_equal(ledger_abandon(&control, slab, 0, generation[slab]), 0);
        credit_check(&control, 0);
    }
    assert_int_equal(credit_available(&control, 0), 2);
    credit_set_limit(&control, 0, 0);
    assert_int_equal(ledger_grant(&control, 0, 0, generation), -EAGAIN);
    credit_set_limit(&control, 0, 1); /* a higher one counts at once */
    assert_int_equal(ledger_grant(&control, 0, 0, generation), 0);
    plain_control_drop(&control);
}

static void most_starts_are_kept(void **state)
{
    struct control control;
    struct credit_view view;

    (void)state;
    plain_control_make(&control, lanes, LANES);
    credit_note_starts(&control, 1, 2);
    credit_note_starts(&control, 1, 1);
    credit_read(&control, 1, &view);
    assert_int_equal(view.starts_at_once_max, 2);
    credit_read(&control, 0, &view);
    assert_int_equal(view.starts_at_once_max, 0);
    plain_control_drop(&control);
}

static int signal_of(void (*act)(struct control *), struct control *control)
{
    int status;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        struct rlimit none = {0, 0};

        setrlimit(RLIMIT_CORE, &none);
        (void)!freopen("/dev/null", "w", stderr);
        signal(SIGABRT, SIG_DFL);
        act(control);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void check_lane_0(struct control *control)
{
    credit_check(control, 0);
}

static void return_to_lane_0(struct control *control)
{
    credit_return(control, 0);
}

static void false_counters_abort(void **state)
{
    struct control control;

    (void)state;
    plain_control_make(&control, lanes, LANES);
    assert_int_equal(signal_of(check_lane_0, &control), 0);
    assert_int_equal(signal_of(return_to_lane_0, &control), SIGABRT); /* none is out */
    atomic_store(&control.lanes[0].credit.available, 3);
    assert_int_equal(signal_of(check_lane_0, &control), SIGABRT);
    atomic_store(&control.lanes[0].credit.available, 4);
    atomic_store(&control.lanes[0].credit.taken_total, 1);
    assert_int_equal(signal_of(check_lane_0, &control), SIGABRT);
    plain_control_drop(&control);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_walk_keeps_the_rule),
        cmocka_unit_test(lowered_limit_swallows_returns),
        cmocka_unit_test(most_starts_are_kept),
        cmocka_unit_test(false_counters_abort),
    };

    return cmocka_run_group_tests_name("credit", tests, NULL, NULL);
}
