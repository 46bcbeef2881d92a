/*
 * The ledger: every edge from every state, as one table; an edge that is none changes nothing, not
 * a byte of control.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "shm/credit.h"
#include "shm/ledger.h"
#include "plain_control.h"

#define SLAB 1u
#define SEAT 3u
#define GENERATION 5u
#define NONE (-1)

static const struct lane_spec lanes[] = {
    {.name = "main", .slab_bytes = 4096, .slab_count = 3, .credits = 2},
};

enum edge { GRANT, FILLED, ASSIGN, UNASSIGN, START, COMPUTED, FINALIZED, REPROVE, ABANDON, EDGES };

/* next[state][edge]: the state behind the edge, or NONE. */
static const int next[SLAB_STATES][EDGES] = {
    [SLAB_FREE] = {SLAB_FILLING, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE},
    [SLAB_FILLING] = {NONE, SLAB_READY, NONE, NONE, NONE, NONE, NONE, NONE, SLAB_FREE},
    [SLAB_READY] = {NONE, NONE, SLAB_ASSIGNED, NONE, NONE, NONE, NONE, NONE, SLAB_FREE},
    [SLAB_ASSIGNED] = {NONE, NONE, NONE, SLAB_READY, SLAB_PROVING, NONE, NONE, NONE, NONE},
    [SLAB_PROVING] = {NONE, NONE, NONE, NONE, NONE, SLAB_FINALIZING, NONE, SLAB_READY, SLAB_FREE},
    [SLAB_FINALIZING] = {NONE, NONE, NONE, NONE, NONE, NONE, SLAB_FREE, SLAB_READY, SLAB_FREE},
    [SLAB_WIPING] = {NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE},
};

static int call(struct control *control, enum edge edge, uint32_t slab, uint32_t seat,
                uint64_t generation)
{
    static int (*const edges[EDGES])(struct control *, uint32_t, uint32_t, uint64_t) = {
        [FILLED] = ledger_filled,   [ASSIGN] = ledger_assign,     [UNASSIGN] = ledger_unassign,
        [START] = ledger_start,     [COMPUTED] = ledger_computed, [FINALIZED] = ledger_finalized,
        [REPROVE] = ledger_reprove, [ABANDON] = ledger_abandon,
    };
    uint64_t given;

    if (edge == GRANT)
        return ledger_grant(control, slab, seat, &given);
    return edges[edge](control, slab, seat, generation);
}

static uint32_t holder(enum slab_state state)
{
    return state == SLAB_FREE || state == SLAB_READY ? SEAT_NONE : SEAT;
}

/* Puts the slab into the state as if it had come there: with its credit out. */
static void put(struct control *control, enum slab_state state)
{
    struct slab_word word = {.state = state, .seat = holder(state), .generation = GENERATION};
    struct control_credit *credit = &control->lanes[0].credit;

    atomic_store(&control->slabs[SLAB].word, slab_word_pack(word));
    atomic_store(&credit->taken_total, 10);
    atomic_store(&credit->returned_total, state == SLAB_FREE ? 10 : 9);
    atomic_store(&credit->available, state == SLAB_FREE ? 2 : 1);
    credit_check(control, 0);
}

static uint32_t seat_of_edge(enum slab_state state, enum edge edge)
{
    return edge == GRANT || edge == ASSIGN ? SEAT : holder(state);
}

static void check_legal(struct control *control, enum slab_state from, enum edge edge)
{
    enum slab_state to = (enum slab_state)next[from][edge];
    struct credit_view before, after;

    credit_read(control, 0, &before);
    assert_int_equal(call(control, edge, SLAB, seat_of_edge(from, edge), GENERATION), 0);
    struct slab_word word = slab_word_load(control, SLAB);
    assert_int_equal(word.state, to);
    assert_int_equal(word.seat, holder(to));
    assert_int_equal(word.generation, GENERATION + (edge == GRANT));
    credit_read(control, 0, &after);
    assert_int_equal(after.taken_total, before.taken_total + (edge == GRANT));
    assert_int_equal(after.grants_total, before.grants_total + (edge == GRANT));
    assert_int_equal(after.returned_total, before.returned_total + (to == SLAB_FREE));
    credit_check(control, 0);
}

static void expect_unchanged(struct control *control, void *copy, int expected, int result)
{
    assert_int_equal(result, expected);
    assert_memory_equal(control->header, copy, control->bytes);
}

/* Wrong numbers on an edge that fits the state. */
static void check_wrong_numbers(struct control *control, void *copy, enum slab_state from,
                                enum edge edge)
{
    uint32_t seat = seat_of_edge(from, edge);

    expect_unchanged(control, copy, -ENOENT, call(control, edge, 3, seat, GENERATION));
    expect_unchanged(control, copy, -ENOENT, call(control, edge, UINT32_MAX, seat, GENERATION));
    if (edge == GRANT || edge == ASSIGN) {
        expect_unchanged(control, copy, -EINVAL, call(control, edge, SLAB, SEATS_MAX, GENERATION));
        expect_unchanged(control, copy, -EINVAL, call(control, edge, SLAB, SEAT_NONE, GENERATION));
    } else {
        expect_unchanged(control, copy, -ESTALE, call(control, edge, SLAB, SEAT + 1, GENERATION));
    }
    if (edge != GRANT) {
        expect_unchanged(control, copy, -ESTALE, call(control, edge, SLAB, seat, GENERATION - 1));
        expect_unchanged(control, copy, -ESTALE, call(control, edge, SLAB, seat, GENERATION + 1));
    }
}

static void every_edge_from_every_state(void **state)
{
    (void)state;
    for (int from = 0; from < SLAB_STATES; from++)
        for (int edge = 0; edge < EDGES; edge++) {
            struct control control;

            plain_control_make(&control, lanes, 1);
            put(&control, (enum slab_state)from);
            void *copy = malloc(control.bytes);
            assert_non_null(copy);
            memcpy(copy, control.header, control.bytes);
            if (next[from][edge] == NONE) {
                uint32_t seat = seat_of_edge((enum slab_state)from, (enum edge)edge);
                expect_unchanged(&control, copy, -EINVAL,
                                 call(&control, (enum edge)edge, SLAB, seat, GENERATION));
            } else {
                check_wrong_numbers(&control, copy, (enum slab_state)from, (enum edge)edge);
                check_legal(&control, (enum slab_state)from, (enum edge)edge);
            }
            free(copy);
            plain_control_drop(&control);
        }
}

static void grant_needs_a_credit(void **state)
{
    struct control control;
    uint64_t generation = 0;

    (void)state;
    plain_control_make(&control, lanes, 1);
    assert_int_equal(ledger_grant(&control, 0, 1, &generation), 0);
    assert_int_equal(generation, 1);
    assert_int_equal(ledger_grant(&control, 1, 1, &generation), 0);
    assert_int_equal(ledger_grant(&control, 2, 1, &generation), -EAGAIN); /* limit 2 of 3 slabs */
    assert_int_equal(slab_word_load(&control, 2).state, SLAB_FREE);
    assert_int_equal(ledger_abandon(&control, 0, 1, 1), 0);
    assert_int_equal(ledger_grant(&control, 2, 1, &generation), 0);
    assert_int_equal(ledger_grant(&control, 0, 1, &generation), -EAGAIN);
    plain_control_drop(&control);
}

static void last_generation_is_refused(void **state)
{
    struct slab_word word = {SLAB_FREE, SEAT_NONE, SLAB_GENERATION_MAX};
    struct control control;
    uint64_t generation;

    (void)state;
    plain_control_make(&control, lanes, 1);
    atomic_store(&control.slabs[0].word, slab_word_pack(word));
    assert_int_equal(ledger_grant(&control, 0, 1, &generation), -EOVERFLOW);
    credit_check(&control, 0);
    plain_control_drop(&control);
}

struct reclaimed {
    unsigned calls;
    int was_state[3];
    uint64_t generation[3];
    const struct control *control;
};

static void note(void *arg, uint32_t slab, int was_state, uint64_t generation)
{
    struct reclaimed *seen = arg;

    seen->calls++;
    seen->was_state[slab] = was_state;
    seen->generation[slab] = generation;
    /* after the change */
    assert_int_equal(slab_word_load(seen->control, slab).seat, SEAT_NONE);
}

static void reclaim_from_every_state(void **state)
{
    (void)state;
    for (int from = 0; from < SLAB_STATES; from++) {
        struct control control;
        struct reclaimed seen = {.control = &control};
        int held = holder((enum slab_state)from) == SEAT && from != SLAB_WIPING;

        plain_control_make(&control, lanes, 1);
        put(&control, (enum slab_state)from);
        ledger_reclaim(&control, SEAT + 1, note, &seen); /* somebody else */
        ledger_reclaim(&control, SEAT_NONE, note, &seen);
        assert_int_equal(seen.calls, 0);
        ledger_reclaim(&control, SEAT, note, &seen);
        assert_int_equal(seen.calls, held);
        struct slab_word word = slab_word_load(&control, SLAB);
        if (held) {
            assert_int_equal(seen.was_state[SLAB], from);
            assert_int_equal(seen.generation[SLAB], GENERATION);
            assert_int_equal(word.state, from == SLAB_FILLING ? SLAB_FREE : SLAB_READY);
            assert_int_equal(word.generation, GENERATION);
        } else {
            assert_int_equal(word.state, from);
        }
        credit_check(&control, 0);
        uint64_t before = slab_word_pack(word);
        ledger_reclaim(&control, SEAT, note, &seen); /* again: nothing */
        assert_int_equal(seen.calls, held);
        assert_int_equal(slab_word_pack(slab_word_load(&control, SLAB)), before);
        plain_control_drop(&control);
    }
}

static void free_slabs_are_found(void **state)
{
    static const struct lane_spec two[] = {
        {.name = "a", .slab_bytes = 4096, .slab_count = 2, .credits = 2},
        {.name = "b", .slab_bytes = 4096, .slab_count = 2, .credits = 2},
    };
    struct control control;
    uint32_t counts[SLAB_STATES];
    uint64_t generation;

    (void)state;
    plain_control_make(&control, two, 2);
    assert_int_equal(ledger_find_free(&control, 1, -1), 2);
    assert_int_equal(ledger_find_free(&control, 1, 3), 3);
    assert_int_equal(ledger_find_free(&control, 1, 0), 2); /* another lane's */
    assert_int_equal(ledger_find_free(&control, 1, INT64_MAX), 2);
    assert_int_equal(ledger_find_free(&control, 2, -1), -ENOSPC);
    assert_int_equal(ledger_grant(&control, 3, 0, &generation), 0);
    assert_int_equal(ledger_find_free(&control, 1, 3), 2); /* preferred is taken */
    assert_int_equal(ledger_grant(&control, 2, 0, &generation), 0);
    assert_int_equal(ledger_filled(&control, 2, 0, generation), 0);
    assert_int_equal(ledger_find_free(&control, 1, 3), -ENOSPC);
    assert_int_equal(ledger_find_free(&control, 0, 3), 0);
    ledger_count(&control, 1, counts);
    assert_int_equal(counts[SLAB_FREE], 0);
    assert_int_equal(counts[SLAB_FILLING], 1);
    assert_int_equal(counts[SLAB_READY], 1);
    ledger_count(&control, 0, counts);
    assert_int_equal(counts[SLAB_FREE], 2);
    plain_control_drop(&control);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_edge_from_every_state), cmocka_unit_test(grant_needs_a_credit),
        cmocka_unit_test(last_generation_is_refused),  cmocka_unit_test(reclaim_from_every_state),
        cmocka_unit_test(free_slabs_are_found),
    };

    return cmocka_run_group_tests_name("ledger", tests, NULL, NULL);
}
