/*
 * Seats: the table, the sealed page, and what a coordinator may believe of it.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shm/seat.h"
#include "plain_control.h"

static const struct lane_spec lanes[] = {{.name = "main", .slab_bytes = 4096, .slab_count = 1}};

static void seats_are_taken_and_left(void **state)
{
    struct control control;

    (void)state;
    plain_control_make(&control, lanes, 1);
    assert_int_equal(seat_incarnation(&control, 4), 0);
    seat_occupy(&control, 4, 17, 1234, 2);
    assert_int_equal(seat_incarnation(&control, 4), 17);
    assert_int_equal(control.seats[4].pid, 1234);
    assert_int_equal(control.seats[4].role, 2);
    seat_vacate(&control, 4);
    assert_int_equal(seat_incarnation(&control, 4), 0);
    assert_int_equal(seat_incarnation(&control, SEATS_MAX), 0);
    plain_control_drop(&control);
}

static void page_is_sealed(void **state)
{
    struct seat_page *page;
    int fd;

    (void)state;
    assert_int_equal(seat_create(&page, &fd, 5), 0);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(ftruncate(fd, 0), -1);
    assert_int_equal(errno, EPERM);
    assert_int_equal(ftruncate(fd, 2 * SEAT_PAGE_BYTES), -1);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), -1); /* nor sealed further */
    seat_unmap(page);
    close(fd);
}

static void both_sides_share_the_page(void **state)
{
    struct seat_page *ours, *theirs;
    struct seat_view view;
    int fd;

    (void)state;
    assert_int_equal(seat_create(&ours, &fd, 5), 0);
    assert_int_equal(seat_map(&theirs, fd, 5), 0);
    seat_read(ours, &view);
    assert_int_equal(view.stage, STAGE_STARTING);
    assert_int_equal(view.progress, 0);
    seat_enter(theirs, STAGE_MSM, 11, 12, 13);
    seat_progress(theirs);
    seat_add(theirs, 100, 50, 1);
    seat_read(ours, &view);
    assert_int_equal(view.stage, STAGE_MSM);
    assert_int_equal(view.assignment, 11);
    assert_int_equal(view.job, 12);
    assert_int_equal(view.partition, 13);
    assert_int_equal(view.progress, 2);
    assert_int_equal(view.busy_ns, 100);
    assert_int_equal(view.idle_ns, 50);
    assert_int_equal(view.done_total, 1);
    seat_unmap(ours);
    seat_unmap(theirs);
    close(fd);
}

static void a_device_tells_of_its_memory(void **state)
{
    struct seat_page *page;
    struct seat_view view;
    int fd;

    (void)state;
    assert_int_equal(seat_create(&page, &fd, 5), 0);
    seat_read(page, &view);
    assert_null(seat_pinning_name(view.pinned));
    assert_int_equal(view.registrations_total + view.device_error, 0);
    seat_set_pinning(page, PINNING_DIRECT);
    seat_add_registration(page, 4096);
    seat_add_registration(page, UINT64_C(5) << 32);
    seat_drop_registration(page, 4096);
    seat_add_allocation(page);
    seat_set_device_error(page, 700);
    seat_set_device_error(page, 999); /* what follows from the first */
    seat_read(page, &view);
    assert_string_equal(seat_pinning_name(view.pinned), "direct");
    assert_int_equal(view.registered_bytes, UINT64_C(5) << 32);
    assert_int_equal(view.registrations_total, 2);
    assert_int_equal(view.allocations_after_start, 1);
    assert_int_equal(view.device_error, 700);
    assert_string_equal(seat_pinning_name(PINNING_BOUNCE), "bounce");
    assert_null(seat_pinning_name(UINT32_MAX)); /* a worker can write anything */
    seat_unmap(page);
    close(fd);
}

static void wrong_pages_are_refused(void **state)
{
    struct seat_page *page, *other;
    int fd;

    (void)state;
    assert_int_equal(seat_create(&page, &fd, 5), 0);
    assert_int_equal(seat_map(&other, fd, 6), -ESTALE);
    assert_null(other);
    page->magic ^= 1;
    assert_int_equal(seat_map(&other, fd, 5), -EBADMSG);
    seat_unmap(page);
    close(fd);
    assert_int_equal(seat_map(&other, fd, 5), -EBADF);

    fd = memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_int_equal(ftruncate(fd, SEAT_PAGE_BYTES), 0);
    assert_int_equal(seat_map(&other, fd, 0), -EBADMSG); /* could shrink under us */
    assert_int_equal(ftruncate(fd, 100), 0);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
    assert_int_equal(seat_map(&other, fd, 0), -EBADMSG); /* too short */
    close(fd);
}

static void last_words_are_made_printable(void **state)
{
    struct seat_page *page;
    char out[32], whole[2 * SEAT_LAST_WORDS_BYTES], text[2 * SEAT_LAST_WORDS_BYTES];
    int fd;

    (void)state;
    assert_int_equal(seat_create(&page, &fd, 1), 0);
    seat_last_words(page, out, sizeof(out));
    assert_string_equal(out, "");
    seat_say(page, "assert\nfailed \"x\" \x01\xff.");
    seat_last_words(page, out, sizeof(out));
    assert_string_equal(out, "assert failed \"x\" ?\?.");
    seat_last_words(page, out, 7);
    assert_string_equal(out, "assert");
    out[0] = 'k';
    seat_last_words(page, out, 0); /* no room: nothing written */
    assert_int_equal(out[0], 'k');

    memset(text, 'a', sizeof(text));
    text[sizeof(text) - 1] = 0;
    seat_say(page, text);
    seat_last_words(page, whole, sizeof(whole));
    assert_int_equal(strlen(whole), SEAT_LAST_WORDS_BYTES);
    atomic_store(&page->last_words_bytes, UINT32_MAX); /* a worker can write anything */
    seat_last_words(page, whole, sizeof(whole));
    assert_int_equal(strlen(whole), SEAT_LAST_WORDS_BYTES);
    seat_unmap(page);
    close(fd);
}

static void stages_have_names(void **state)
{
    (void)state;
    assert_string_equal(seat_stage_name(STAGE_STARTING), "starting");
    assert_string_equal(seat_stage_name(STAGE_FINALIZE), "finalize");
    assert_string_equal(seat_stage_name(STAGE_LEAVING), "leaving");
    assert_string_equal(seat_stage_name(STAGES), "unknown");
    assert_string_equal(seat_stage_name(UINT32_MAX), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seats_are_taken_and_left),
        cmocka_unit_test(page_is_sealed),
        cmocka_unit_test(both_sides_share_the_page),
        cmocka_unit_test(a_device_tells_of_its_memory),
        cmocka_unit_test(wrong_pages_are_refused),
        cmocka_unit_test(last_words_are_made_printable),
        cmocka_unit_test(stages_have_names),
    };

    return cmocka_run_group_tests_name("seat", tests, NULL, NULL);
}
