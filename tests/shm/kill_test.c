/*
 * SIGKILL at any point: slab words stay legal, a trace slot is whole or refused, and a slab that
 * was being filled is never taken for a whole one.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shm/credit.h"
#include "shm/ledger.h"
#include "shm/slab.h"
#include "shm/trace.h"
#include "shm/control.h"

#define KILLS 300
#define LIFE_NS_MAX 1500000u
#define SLABS 4u
#define SEAT 2u
#define WIRES 4000u

static const struct lane_spec lanes[] = {
    {.name = "main", .slab_bytes = 4096, .slab_count = SLABS, .credits = SLABS}};

static uint64_t random_state = 7;

static uint32_t dice(uint32_t sides)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_state >> 33) % sides;
}

static void *map_shared(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    assert_ptr_not_equal(memory, MAP_FAILED);
    return memory;
}

/* Runs `act` for ever in a child, kills it at a random instant, waits. The child says by *started
 * that it is at work. */
static void run_and_kill(void (*act)(void *), void *arg, volatile int *started)
{
    struct timespec life = {0, 1 + (long)dice(LIFE_NS_MAX)};
    int status;

    *started = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        *started = 1;
        for (;;)
            act(arg);
    }
    while (!*started)
        usleep(50);
    nanosleep(&life, NULL);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* ---- the ledger ---- */

struct life {
    struct control control;
    volatile int started;
};

static void walk_slab(struct control *control, uint32_t slab)
{
    uint64_t generation = 0;

    ledger_grant(control, slab, SEAT, &generation);
    ledger_filled(control, slab, SEAT, generation);
    ledger_assign(control, slab, SEAT, generation);
    ledger_unassign(control, slab, SEAT, generation);
    ledger_assign(control, slab, SEAT, generation);
    ledger_start(control, slab, SEAT, generation);
    ledger_computed(control, slab, SEAT, generation);
    ledger_reprove(control, slab, SEAT, generation);
    ledger_assign(control, slab, SEAT, generation);
    ledger_start(control, slab, SEAT, generation);
    ledger_computed(control, slab, SEAT, generation);
    ledger_finalized(control, slab, SEAT, generation);
}

static void walk_all(void *arg)
{
    for (uint32_t slab = 0; slab < SLABS; slab++)
        walk_slab(arg, slab);
}

static void assert_words_are_legal(const struct control *control)
{
    for (uint32_t slab = 0; slab < SLABS; slab++) {
        struct slab_word word = slab_word_load(control, slab);
        int unheld = word.state == SLAB_FREE || word.state == SLAB_READY;

        assert_true(word.state < SLAB_WIPING);
        assert_int_equal(word.seat, unheld ? SEAT_NONE : SEAT);
    }
}

/* At most the one event that was being written is missing; none is made of two. */
static unsigned assert_trace_is_whole(const struct control *control)
{
    uint64_t written = trace_written(control);
    uint64_t first = written > TRACE_CAPACITY ? written - TRACE_CAPACITY + 1 : 1;
    unsigned missing = 0;

    for (uint64_t number = first; number <= written; number++) {
        struct trace_event event;

        if (!trace_read(control, number, &event)) {
            missing++;
            continue;
        }
        assert_int_equal(event.seq, number);
        assert_int_equal(event.limit, SLABS);
        /* one slab out at a time: a take leaves 3, a return 4 */
        assert_int_equal(event.available, event.kind == TRACE_CREDIT_TAKE ? 3 : 4);
    }
    assert_true(missing <= 1);
    return missing;
}

static void killed_ledger_leaves_legal_words(void **state)
{
    uint64_t bytes = control_bytes(lanes, 1);
    struct life *life = map_shared(sizeof(*life));
    void *memory = map_shared(bytes);
    unsigned seen[SLAB_STATES] = {0}, states = 0;

    (void)state;
    for (int i = 0; i < KILLS; i++) {
        memset(memory, 0, bytes);
        control_lay_out(memory, lanes, 1, "plain", "test");
        assert_int_equal(control_view(&life->control, memory, bytes), 0);
        run_and_kill(walk_all, &life->control, &life->started);
        assert_words_are_legal(&life->control);
        assert_trace_is_whole(&life->control);
        for (uint32_t slab = 0; slab < SLABS; slab++)
            seen[slab_word_load(&life->control, slab).state]++;
    }
    for (int s = 0; s < SLAB_STATES; s++)
        states += seen[s] > 0;
    assert_true(states >= 3); /* the kills fell into different places */
    munmap(memory, bytes);
    munmap(life, sizeof(*life));
}

/* A dead worker's slabs, wherever it was killed, come back to legal counters by one reclaim. */
static void reclaim_after_a_kill_settles_the_account(void **state)
{
    uint64_t bytes = control_bytes(lanes, 1);
    void *memory = map_shared(bytes);

    (void)state;
    for (unsigned steps = 0; steps < 6; steps++) {
        struct control control;
        uint64_t generation = 0;

        memset(memory, 0, bytes);
        control_lay_out(memory, lanes, 1, "plain", "test");
        assert_int_equal(control_view(&control, memory, bytes), 0);
        if (steps > 0)
            ledger_grant(&control, 0, SEAT, &generation);
        if (steps > 1)
            ledger_filled(&control, 0, SEAT, generation);
        if (steps > 2)
            ledger_assign(&control, 0, SEAT, generation);
        if (steps > 3)
            ledger_start(&control, 0, SEAT, generation);
        if (steps > 4)
            ledger_computed(&control, 0, SEAT, generation);
        ledger_reclaim(&control, SEAT, NULL, NULL);
        credit_check(&control, 0);
        assert_int_equal(slab_word_load(&control, 0).state, steps > 1 ? SLAB_READY : SLAB_FREE);
    }
    munmap(memory, bytes);
}

/* ---- the seal ---- */

struct filling {
    struct slab_plan plan;
    uint64_t generation;
    char *slab;
    volatile int started;
};

/* Everything in the slab follows from the generation. */
static void fill_slab(void *arg)
{
    struct filling *filling = arg;
    uint64_t generation = ++filling->generation;
    struct slab_header header = {.magic = SLAB_MAGIC,
                                 .layout = SLAB_LAYOUT,
                                 .curve = 1,
                                 .generation = generation,
                                 .job = generation * 3,
                                 .partition = (uint32_t)generation,
                                 .wires = WIRES,
                                 .domain = 4096,
                                 .witness = filling->plan.witness};

    memset(header.witness_digest, (int)generation, HASH_BYTES);
    slab_open(filling->slab);
    memset(filling->slab + header.witness.offset, (int)generation, header.witness.bytes);
    slab_seal(filling->slab, &header);
}

/* The present filling, or the one before where the child died between two; never parts of both. */
static void assert_slab_is_one_filling(const struct filling *filling, const struct slab_header *out)
{
    const unsigned char *witness = (const void *)(filling->slab + out->witness.offset);

    assert_true(out->generation == filling->generation ||
                out->generation + 1 == filling->generation);
    assert_int_equal(out->job, out->generation * 3);
    assert_int_equal(out->witness_digest[0], out->generation & 0xff);
    assert_int_equal(out->witness_digest[HASH_BYTES - 1], out->generation & 0xff);
    for (uint64_t i = 0; i < out->witness.bytes; i++)
        if (witness[i] != (out->generation & 0xff))
            fail_msg("byte %llu is of another filling", (unsigned long long)i);
}

static void half_filled_slab_is_never_accepted(void **state)
{
    struct filling *filling = map_shared(sizeof(*filling));
    unsigned refused = 0;

    (void)state;
    assert_int_equal(slab_plan(&filling->plan, WIRES, 4096, 0), 0);
    filling->slab = map_shared(filling->plan.bytes);
    for (int i = 0; i < KILLS; i++) {
        struct slab_header out;
        const char *what;

        run_and_kill(fill_slab, filling, &filling->started);
        if (slab_check(&out, filling->slab, filling->plan.bytes, &what)) {
            refused++;
            assert_string_equal(what, filling->generation > 1 ? "sealed" : what);
            continue;
        }
        assert_slab_is_one_filling(filling, &out);
    }
    assert_true(refused > 0);
    munmap(filling->slab, filling->plan.bytes);
    munmap(filling, sizeof(*filling));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_ledger_leaves_legal_words),
        cmocka_unit_test(reclaim_after_a_kill_settles_the_account),
        cmocka_unit_test(half_filled_slab_is_never_accepted),
    };

    return cmocka_run_group_tests_name("kill", tests, NULL, NULL);
}
