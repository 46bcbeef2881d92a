/*
 * The second thread: order, the bound, work that posts more, the end.
 */
#include <errno.h>
#include <event2/event.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "coordinator/clock.h"
#include "coordinator/disk_thread.h"

struct piece {
    struct disk_work work;
    struct log *log;
    uint32_t number;
    pthread_t ran_on;
};

struct log {
    struct event_base *base;
    struct disk_thread *thread;
    struct clock_meter meter;
    pthread_mutex_t gate; /* work waits for it where it is held */
    uint32_t ran, ran_wrong, told, told_wrong, wanted;
    uint32_t more; /* pieces that `done` posts again */
};

static void on_run(struct disk_work *work)
{
    struct piece *piece = (struct piece *)work;
    pthread_mutex_lock(&piece->log->gate);
    pthread_mutex_unlock(&piece->log->gate);
    piece->log->ran_wrong += piece->log->ran++ != piece->number;
    piece->ran_on = pthread_self();
}

static void on_done(struct disk_work *work)
{
    struct piece *piece = (struct piece *)work;
    struct log *log = piece->log;
    log->told_wrong += log->told++ != piece->number;
    log->told_wrong += pthread_equal(piece->ran_on, pthread_self()) != 0;
    if (log->more) {
        log->more--;
        piece->number = log->wanted++;
        disk_thread_must_post(log->thread, work);
    }
    if (log->told == log->wanted)
        event_base_loopbreak(log->base);
}

static void open_log(struct log *log)
{
    *log = (struct log){.base = event_base_new()};
    assert_non_null(log->base);
    pthread_mutex_init(&log->gate, NULL);
    assert_int_equal(disk_thread_start(&log->thread, log->base, &log->meter), 0);
}

static void close_log(struct log *log)
{
    disk_thread_stop(log->thread);
    event_base_free(log->base);
    pthread_mutex_destroy(&log->gate);
}

static void fill_pieces(struct log *log, struct piece *pieces, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        pieces[i] = (struct piece){.work = {.run = on_run, .done = on_done}, .log = log};
}

/* All run elsewhere, are told here, each in the order of posting. */
static void test_order(void **state)
{
    enum { N = 1000 };
    static struct piece pieces[N];
    struct log log;
    (void)state;
    open_log(&log);
    fill_pieces(&log, pieces, N);
    log.more = 500;
    for (uint32_t i = 0; i < N; i++) {
        pieces[i].number = log.wanted++;
        assert_int_equal(disk_thread_post(log.thread, &pieces[i].work), 0);
    }
    assert_int_equal(disk_thread_waiting(log.thread), N);
    event_base_dispatch(log.base);
    assert_int_equal(log.ran, N + 500);
    assert_int_equal(log.told, N + 500);
    assert_int_equal(log.ran_wrong + log.told_wrong, 0);
    assert_int_equal(disk_thread_waiting(log.thread), 0);
    close_log(&log);
}

/* What clients cause is bounded; what cannot be refused is not. Stopping tells everything first. */
static void test_bound_and_stop(void **state)
{
    static struct piece pieces[DISK_WORK_MAX + 2];
    struct log log;
    (void)state;
    open_log(&log);
    fill_pieces(&log, pieces, DISK_WORK_MAX + 2);
    pthread_mutex_lock(&log.gate);
    for (uint32_t i = 0; i < DISK_WORK_MAX; i++) {
        pieces[i].number = log.wanted++;
        assert_int_equal(disk_thread_post(log.thread, &pieces[i].work), 0);
    }
    assert_int_equal(disk_thread_post(log.thread, &pieces[DISK_WORK_MAX + 1].work), -EBUSY);
    pieces[DISK_WORK_MAX].number = log.wanted++;
    disk_thread_must_post(log.thread, &pieces[DISK_WORK_MAX].work);
    log.more = 3;
    pthread_mutex_unlock(&log.gate);
    disk_thread_drain(log.thread);
    assert_int_equal(log.told, DISK_WORK_MAX + 4);
    assert_int_equal(log.ran_wrong + log.told_wrong, 0);
    pieces[0].number = log.wanted++;
    assert_int_equal(disk_thread_post(log.thread, &pieces[0].work), 0);
    close_log(&log);
    assert_int_equal(log.told, DISK_WORK_MAX + 5);
}

static volatile sig_atomic_t signalled_here;
static pthread_t main_thread;

static void on_signal(int number)
{
    (void)number;
    signalled_here += pthread_equal(pthread_self(), main_thread) ? 1 : 100;
}

/* Signals of the process are never taken by the thread. */
static void test_signals_stay_on_the_loop(void **state)
{
    struct log log;
    (void)state;
    main_thread = pthread_self();
    signal(SIGUSR1, on_signal);
    open_log(&log);
    for (int i = 0; i < 50; i++)
        kill(getpid(), SIGUSR1);
    close_log(&log);
    assert_in_range(signalled_here, 1, 50);
    signal(SIGUSR1, SIG_DFL);
}

static void test_stop_of_nothing(void **state)
{
    (void)state;
    disk_thread_stop(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_bound_and_stop),
        cmocka_unit_test(test_signals_stay_on_the_loop),
        cmocka_unit_test(test_stop_of_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
