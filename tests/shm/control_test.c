/*
 * The control object: what is laid out is what is viewed, and no view reaches outside.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "shm/credit.h"
#include "shm/trace.h"
#include "plain_control.h"

static const struct lane_spec lanes[] = {
    {.name = "main",
     .slab_bytes = 10000,
     .slab_count = 3,
     .credits = 2,
     .priorities = 7,
     .rows = 1},
    {.name = "express", .slab_bytes = 4096, .slab_count = 2, .credits = 9, .priorities = 8},
};

static void layout_is_viewed(void **state)
{
    struct control control;

    (void)state;
    assert_int_equal(control_slabs_bytes(lanes, 2), 3 * 12288 + 2 * 4096);
    plain_control_make(&control, lanes, 2);
    assert_int_equal(control.bytes % 4096, 0);
    assert_int_equal(control.header->slab_count, 5);
    assert_int_equal(control.header->seat_count, SEATS_MAX);
    assert_true(control.header->trace_capacity >= 20000);
    assert_string_equal(control.header->build_id, "test");
    assert_string_equal(control.lanes[1].name, "express");
    assert_int_equal(control.lanes[0].slab_bytes, 12288);
    assert_int_equal(control.lanes[0].rows, 1);
    assert_int_equal(control.lanes[1].first_slab, 3);
    assert_int_equal(control.lanes[1].priorities, 8);
    assert_int_equal(credit_limit(&control, 0), 2);
    assert_int_equal(credit_available(&control, 0), 2);
    assert_int_equal(credit_limit(&control, 1), 2); /* at most the slabs */
    for (uint32_t i = 0; i < 5; i++) {
        struct slab_word word = slab_word_load(&control, i);

        assert_int_equal(word.state, SLAB_FREE);
        assert_int_equal(word.seat, SEAT_NONE);
        assert_int_equal(word.generation, 0);
        assert_int_equal(control.slabs[i].lane, i >= 3);
    }
    assert_int_equal(control.slabs[4].offset, 3 * 12288 + 4096);
    credit_check(&control, 0);
    credit_check(&control, 1);
    plain_control_drop(&control);
}

static void impossible_lanes_are_refused(void **state)
{
    struct lane_spec many[LANES_MAX + 1] = {{.name = "x", .slab_bytes = 4096, .slab_count = 1}};

    (void)state;
    assert_int_equal(control_bytes(many, LANES_MAX + 1), 0);
    assert_true(control_bytes(many, 1) > 0);
    many[0].slab_count = SLABS_MAX + 1;
    assert_int_equal(control_bytes(many, 1), 0);
    many[0].slab_count = UINT32_MAX;
    many[1].slab_count = 2; /* the sum wraps in 32 bits */
    assert_int_equal(control_bytes(many, 2), 0);
    many[0] = (struct lane_spec){.slab_bytes = UINT64_MAX, .slab_count = 1};
    assert_int_equal(control_bytes(many, 1), 0);
    many[0] = (struct lane_spec){.slab_bytes = UINT64_C(1) << 61, .slab_count = 8};
    assert_int_equal(control_bytes(many, 1), 0);
    assert_true(control_bytes(NULL, 0) > 0); /* no lanes yet */
    assert_int_equal(control_slabs_bytes(NULL, 0), 4096);
}

static void unfinished_object_says_again(void **state)
{
    struct control control, other;

    (void)state;
    plain_control_make(&control, lanes, 2);
    atomic_store(&control.header->version, 0);
    assert_int_equal(control_view(&other, control.header, control.bytes), -EAGAIN);
    atomic_store(&control.header->version, CONTROL_LAYOUT + 1);
    assert_int_equal(control_view(&other, control.header, control.bytes), -EBADMSG);
    plain_control_drop(&control);
}

/* Whatever a flipped byte makes of the tables, an accepted view ends inside the object. */
static void assert_inside(const struct control *view)
{
    const char *base = (const char *)view->header, *end = base + view->bytes;
    const struct control_header *header = view->header;

    assert_true((const char *)(view->lanes + header->lane_count) <= end);
    assert_true((const char *)(view->slabs + header->slab_count) <= end);
    assert_true((const char *)(view->seats + header->seat_count) <= end);
    assert_true((const char *)(view->trace->slots + header->trace_capacity) <= end);
    for (uint32_t i = 0; i < header->slab_count; i++)
        assert_true(view->slabs[i].lane < header->lane_count);
}

static void every_flip_stays_inside(void **state)
{
    static const unsigned char masks[] = {0x01, 0x40, 0x80, 0xff};
    struct control control, view;
    unsigned refused = 0;

    (void)state;
    plain_control_make(&control, lanes, 2);
    unsigned char *bytes = (void *)control.header;
    size_t tables = control.header->seats_offset;
    for (size_t i = 0; i < tables * sizeof(masks); i++) {
        unsigned char *at = &bytes[i / sizeof(masks)], mask = masks[i % sizeof(masks)];

        *at ^= mask;
        if (control_view(&view, bytes, control.bytes))
            refused++;
        else
            assert_inside(&view);
        *at ^= mask;
    }
    assert_true(refused > 300);
    assert_int_equal(control_view(&view, bytes, control.bytes), 0);
    plain_control_drop(&control);
}

static void wrong_lengths_are_refused(void **state)
{
    struct control control, view;

    (void)state;
    plain_control_make(&control, lanes, 2);
    for (uint64_t bytes = 0; bytes < control.bytes; bytes += 40)
        assert_int_equal(control_view(&view, control.header, bytes), -EBADMSG);
    plain_control_drop(&control);
}

static void words_are_packed(void **state)
{
    struct slab_word word = {SLAB_PROVING, 258, SLAB_GENERATION_MAX};

    (void)state;
    assert_true(slab_word_pack(word) == UINT64_C(0xffffffffff010204));
    struct slab_word back = slab_word_unpack(slab_word_pack(word));
    assert_memory_equal(&word, &back, sizeof(word));
    assert_string_equal(slab_state_name(SLAB_FREE), "free");
    assert_string_equal(slab_state_name(SLAB_WIPING), "wiping");
    assert_string_equal(slab_state_name((enum slab_state)99), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layout_is_viewed),
        cmocka_unit_test(impossible_lanes_are_refused),
        cmocka_unit_test(unfinished_object_says_again),
        cmocka_unit_test(every_flip_stays_inside),
        cmocka_unit_test(wrong_lengths_are_refused),
        cmocka_unit_test(words_are_packed),
    };

    return cmocka_run_group_tests_name("control", tests, NULL, NULL);
}
