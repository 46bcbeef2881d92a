/*
 * The plan of the lanes, and the budget that it is made from: sizes follow the circuits, numbers
 * the workers and the room; what has a number keeps it.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/config.h"
#include "coordinator/lane_plan.h"
#include "coordinator/memory.h"
#include "shm/control.h"
#include "shm/wire.h"

#define PAGE UINT64_C(4096)
#define MIB (UINT64_C(1) << 20)

static struct config config;
static struct lane_spec lanes[LANES_MAX];
static const struct lane_needs circuits = {.with_rows = 300 * PAGE, .without_rows = 100 * PAGE};

static int set_up(void **state)
{
    (void)state;
    config = (struct config){
        .synth = 2, .staged = 1, .device_count = 1, .lane_count = 1, .devices = {"cpu"}};
    config.lanes[0] = (struct config_lane){.name = "main", .priorities = 15};
    return 0;
}

static int plan(const struct lane_needs *needs, uint64_t room)
{
    return lane_plan(&config, needs, PAGE, room, lanes);
}

static void without_circuits_there_are_no_slabs(void **state)
{
    static const struct lane_needs none = {0};

    (void)state;
    assert_int_equal(plan(&none, UINT64_MAX), 0);
    assert_int_equal(lanes[0].slab_count, 0);
    assert_int_equal(lanes[0].slab_room, 7); /* 2 + 1 (2 + 1) + 2 */
    assert_string_equal(lanes[0].name, "main");
    assert_int_equal(control_slabs_bytes(lanes, 1), PAGE);
}

static void slabs_follow_the_largest_circuit(void **state)
{
    (void)state;
    assert_int_equal(plan(&circuits, UINT64_MAX), 0);
    assert_int_equal(lanes[0].slab_count, 7);
    assert_int_equal(lanes[0].slab_bytes, 300 * PAGE);
    config.lanes[0].rows = ROWS_DEVICE;
    assert_int_equal(plan(&circuits, UINT64_MAX), 0);
    assert_int_equal(lanes[0].slab_bytes, 100 * PAGE);
    assert_int_equal(lane_plan(&config, &circuits, 2 * MIB, UINT64_MAX, lanes), 0);
    assert_int_equal(lanes[0].slab_bytes, 2 * MIB); /* a huge page */
}

static void slabs_follow_the_workers(void **state)
{
    (void)state;
    config.synth = 10;
    config.device_count = 3;
    config.staged = 4;
    assert_int_equal(lane_plan_slabs(&config, &config.lanes[0]), 10 + 3 * 6 + 2);
    config.lanes[0].credits = 50;
    assert_int_equal(lane_plan_slabs(&config, &config.lanes[0]), 50);
    config.lanes[0].slabs = 3;
    assert_int_equal(lane_plan_slabs(&config, &config.lanes[0]), 3);
}

static void short_memory_makes_fewer(void **state)
{
    (void)state;
    assert_int_equal(plan(&circuits, 7 * 300 * PAGE - 1), 0);
    assert_int_equal(lanes[0].slab_count, 6);
    assert_int_equal(plan(&circuits, 300 * PAGE), 0);
    assert_int_equal(lanes[0].slab_count, 1);
    assert_int_equal(plan(&circuits, 300 * PAGE - 1), -ENOSPC);
    assert_int_equal(plan(&circuits, 0), -ENOSPC);
    assert_int_equal(lanes[0].slab_count, 1); /* the least, for the text */
}

static void what_has_a_number_keeps_it(void **state)
{
    (void)state;
    config.lane_count = 2;
    config.lanes[0].slabs = 4; /* of size auto */
    config.lanes[1] =
        (struct config_lane){.name = "express", .size_bytes = 5 * PAGE, .slabs = 2, .credits = 1};
    assert_int_equal(plan(&circuits, 1210 * PAGE), 0);
    assert_int_equal(lanes[0].slab_count, 4);
    assert_int_equal(lanes[1].slab_count, 2);
    assert_int_equal(lanes[1].slab_bytes, 5 * PAGE);
    assert_int_equal(lanes[1].credits, 1);
    assert_int_equal(plan(&circuits, 1209 * PAGE), -ENOSPC);
}

static void the_richest_lane_gives(void **state)
{
    (void)state;
    config.lane_count = 2;
    config.lanes[1] = (struct config_lane){.name = "small", .size_bytes = 10 * PAGE};
    assert_int_equal(plan(&circuits, 700 * PAGE), 0);
    assert_int_equal(lanes[0].slab_count, 2);
    assert_int_equal(lanes[1].slab_count, 7);
    assert_int_equal(plan(&circuits, 320 * PAGE), 0);
    assert_int_equal(lanes[0].slab_count, 1);
    assert_int_equal(lanes[1].slab_count, 2);
}

static void impossible_sizes_are_refused(void **state)
{
    static const struct lane_needs vast = {.with_rows = UINT64_MAX / 2, .without_rows = 1};

    (void)state;
    assert_int_equal(plan(&vast, UINT64_MAX), -ENOSPC);
}

/* ---- the budget ---- */

static void budget_is_the_lesser(void **state)
{
    (void)state;
    assert_int_equal(memory_budget_bytes(&config, 77), 77);
    config.memory_bytes = 50;
    assert_int_equal(memory_budget_bytes(&config, 77), 50);
    config.memory_bytes = 100;
    assert_int_equal(memory_budget_bytes(&config, 77), 77);
}

static void terms_add_up(void **state)
{
    const struct memory_needs needs = {.image_bytes = 300 * MIB, .device_bytes = 40 * MIB};
    struct memory_terms terms, more;

    (void)state;
    config.queued_jobs = 1000;
    config.queued_bytes = 1 << 30;
    memory_terms_fill(&terms, &config, &needs, 100 * MIB, 0);
    assert_true(terms.bytes[MEMORY_REGION] > 100 * MIB);
    assert_int_equal(terms.bytes[MEMORY_IMAGES], 300 * MIB);
    assert_true(terms.bytes[MEMORY_DEVICE] > 40 * MIB);
    assert_true(terms.bytes[MEMORY_SPOOL] < 1 << 30);
    memory_terms_fill(&more, &config, &needs, 100 * MIB, 4); /* workers started by hand */
    assert_int_equal(more.bytes[MEMORY_SYNTH], 2 * terms.bytes[MEMORY_SYNTH]);
    strcpy(config.devices[0], "cuda:0"); /* has memory of its own */
    memory_terms_fill(&more, &config, &needs, 100 * MIB, 0);
    assert_int_equal(more.bytes[MEMORY_DEVICE], 16 * MIB); /* its pinned buffers */
    uint64_t sum = memory_terms_sum(&terms);
    assert_int_equal(memory_room_bytes(&terms, sum + 5), 5);
    assert_int_equal(memory_room_bytes(&terms, sum - 5), 0);
    terms.bytes[MEMORY_REGION] = UINT64_MAX;
    assert_true(memory_terms_sum(&terms) == UINT64_MAX);
}

static void every_term_is_told(void **state)
{
    const struct memory_needs needs = {.image_bytes = 300 * MIB, .device_bytes = 40 * MIB};
    struct memory_terms terms;
    char text[1024];

    (void)state;
    memory_terms_fill(&terms, &config, &needs, 100 * MIB, 0);
    memory_explain(text, sizeof(text), &terms, 200 * MIB);
    for (int i = 0; i < MEMORY_TERMS; i++)
        assert_non_null(strstr(text, memory_term_name((enum memory_term)i)));
    assert_non_null(strstr(text, "may use 200 (memory in [pawl])"));
    assert_non_null(strstr(text, "images 300 MiB (pawl circuit remove)"));
    for (size_t bytes = 0; bytes < 200; bytes++)
        memory_explain(text, bytes, &terms, 1);
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(without_circuits_there_are_no_slabs),
        TEST(slabs_follow_the_largest_circuit),
        TEST(slabs_follow_the_workers),
        TEST(short_memory_makes_fewer),
        TEST(what_has_a_number_keeps_it),
        TEST(the_richest_lane_gives),
        TEST(impossible_sizes_are_refused),
        TEST(budget_is_the_lesser),
        TEST(terms_add_up),
        TEST(every_term_is_told),
    };

    return cmocka_run_group_tests_name("lane_plan", tests, NULL, NULL);
}
