/*
 * Readers beside writers, for the thread sanitizer (SAN=thread): slab words and credits, a slab's
 * seal, a seat's page. In life the two sides are processes; the words are the same.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "shm/credit.h"
#include "shm/ledger.h"
#include "shm/seat.h"
#include "shm/slab.h"
#include "plain_control.h"

#define ROUNDS 20000

static const struct lane_spec lanes[] = {
    {.name = "main", .slab_bytes = 4096, .slab_count = 1, .credits = 1}};

struct shared {
    struct control control;
    uint64_t payload; /* plain memory that the READY word publishes */
    _Atomic int consumed;
    struct seat_page *page;
    char *slab;
};

static void fill_once(struct shared *shared, uint64_t round)
{
    uint64_t generation;

    assert_int_equal(ledger_grant(&shared->control, 0, 1, &generation), 0);
    shared->payload = round;
    assert_int_equal(ledger_filled(&shared->control, 0, 1, generation), 0);
    while (atomic_load_explicit(&shared->consumed, memory_order_acquire) != (int)round)
        sched_yield();
    assert_int_equal(ledger_abandon(&shared->control, 0, SEAT_NONE, generation), 0);
}

static void *fill(void *arg)
{
    for (uint64_t round = 1; round <= ROUNDS; round++)
        fill_once(arg, round);
    return NULL;
}

/* The word alone orders the payload: release in the edge, acquire in the load. */
static void slab_word_publishes_contents(void **state)
{
    struct shared shared = {.payload = 0};
    pthread_t writer;

    (void)state;
    plain_control_make(&shared.control, lanes, 1);
    assert_int_equal(pthread_create(&writer, NULL, fill, &shared), 0);
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        struct slab_word word;

        do {
            sched_yield();
            word = slab_word_load(&shared.control, 0);
            assert_true(credit_available(&shared.control, 0) <= 1);
        } while (word.state != SLAB_READY || word.generation != round);
        assert_int_equal(shared.payload, round);
        atomic_store_explicit(&shared.consumed, (int)round, memory_order_release);
    }
    pthread_join(writer, NULL);
    plain_control_drop(&shared.control);
}

static void *seal_once(void *arg)
{
    struct shared *shared = arg;
    struct slab_plan plan;

    assert_int_equal(slab_plan(&plan, 1, 1, 0), 0);
    struct slab_header header = {.magic = SLAB_MAGIC,
                                 .layout = SLAB_LAYOUT,
                                 .curve = 1,
                                 .generation = 7,
                                 .wires = 1,
                                 .domain = 1,
                                 .witness = plan.witness};
    slab_open(shared->slab);
    memset(shared->slab + plan.witness.offset, 0x5a, plan.witness.bytes);
    slab_seal(shared->slab, &header);
    return NULL;
}

static void seal_publishes_contents(void **state)
{
    (void)state;
    for (int round = 0; round < 200; round++) {
        struct shared shared = {.slab = aligned_alloc(4096, 8192)};
        struct slab_header *header = (void *)shared.slab;
        struct slab_header out;
        const char *what;
        pthread_t writer;

        assert_non_null(header);
        memset(shared.slab, 0, 8192);
        assert_int_equal(pthread_create(&writer, NULL, seal_once, &shared), 0);
        while (atomic_load_explicit(&header->sealed, memory_order_acquire) == 0)
            sched_yield();
        assert_int_equal(slab_check(&out, shared.slab, 8192, &what), 0);
        assert_int_equal(shared.slab[out.witness.offset + 31], 0x5a);
        pthread_join(writer, NULL);
        free(shared.slab);
    }
}

static void *work(void *arg)
{
    struct seat_page *page = arg;

    for (uint32_t n = 1; n <= ROUNDS; n++) {
        seat_enter(page, n % STAGES, n, n, n);
        seat_add(page, 3, 5, 1);
    }
    return NULL;
}

static void seat_page_is_read_beside_its_writer(void **state)
{
    struct seat_page *page;
    struct seat_view view;
    pthread_t worker;
    uint64_t last = 0;
    int fd;

    (void)state;
    assert_int_equal(seat_create(&page, &fd, 1), 0);
    assert_int_equal(pthread_create(&worker, NULL, work, page), 0);
    do {
        seat_read(page, &view);
        assert_true(view.progress >= last && view.stage < STAGES);
        last = view.progress;
    } while (last < ROUNDS);
    pthread_join(worker, NULL);
    seat_read(page, &view);
    assert_int_equal(view.done_total, ROUNDS);
    assert_int_equal(view.busy_ns, 3 * ROUNDS);
    assert_int_equal(view.idle_ns, 5 * ROUNDS);
    assert_int_equal(view.assignment, ROUNDS);
    seat_unmap(page);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slab_word_publishes_contents),
        cmocka_unit_test(seal_publishes_contents),
        cmocka_unit_test(seat_page_is_read_beside_its_writer),
    };

    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
