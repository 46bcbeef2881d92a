/*
 * The store in memory: limits, the order of claims, how jobs end, what is kept, and that no fd and
 * no byte is left behind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/store.h"

#undef fail /* cmocka's: the store has a call of that name */

#define S UINT64_C(1000000000)
#define PARTS_MAX 8

static const struct store_limits test_limits = {.queued_jobs = 10,
                                                .queued_bytes = 1000,
                                                .kept_jobs = 3,
                                                .kept_ns = 100 * S,
                                                .ageing_ns = 10 * S};

/* What the callbacks told. */
struct told {
    int error;
    uint64_t job;
    uint32_t commits, finals;
    enum job_state final_state;
};

static void on_accept(void *arg, int error, uint64_t job)
{
    struct told *told = arg;

    told->error = error;
    told->job = job;
}

static void on_commit(void *arg, uint64_t job, uint32_t partition)
{
    struct told *told = arg;

    (void)job;
    (void)partition;
    told->commits++;
}

static void on_final(void *arg, const struct store_job *job)
{
    struct told *told = arg;

    told->finals++;
    told->final_state = job->state;
    for (uint32_t i = 0; i < job->partition_count; i++) {
        assert_int_equal(job->partitions[i].witness_fd, -1);
        assert_true(job->partitions[i].state >= PARTITION_DONE);
    }
}

static struct store *open_store(const struct store_limits *limits, struct told *told)
{
    struct store *store = store_memory_create(limits);

    assert_non_null(store);
    *told = (struct told){0};
    store->on_final = on_final;
    store->on_final_arg = told;
    return store;
}

static int open_fd(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    return fd;
}

/* How many fds are open: opens and closes one more, so that leaks show. */
static int lowest_free_fd(void)
{
    int fd = open_fd();

    close(fd);
    return fd;
}

static uint64_t accept_job(struct store *store, struct told *told, uint32_t lane,
                           enum priority priority, uint64_t now_ns, uint32_t parts, uint64_t bytes)
{
    struct store_spec_partition partitions[PARTS_MAX];
    struct store_spec spec = {.circuit = "square",
                              .circuit_number = 5,
                              .lane = lane,
                              .priority = priority,
                              .now_ns = now_ns,
                              .partition_count = parts,
                              .partitions = partitions};

    memset(partitions, 0, sizeof(partitions));
    for (uint32_t i = 0; i < parts; i++) {
        partitions[i].witness_fd = open_fd();
        partitions[i].input.bytes = bytes;
        snprintf(partitions[i].input.label, sizeof(partitions[i].input.label), "w%u.wtns", i);
    }
    told->error = 1;
    store->accept(store, &spec, on_accept, told);
    return told->error ? 0 : told->job;
}

static void complete(struct store *store, struct told *told, uint64_t job, uint32_t partition,
                     uint64_t now_ns)
{
    static const struct partition_times ms = {.prove = 12.5};
    char *proof = malloc(16);

    assert_non_null(proof);
    memcpy(proof, "{}\0[\"1\"]", 9);
    store->complete(store, job, partition, proof, proof + 3, &ms, now_ns, on_commit, told);
}

static void test_life_of_a_job(void **state)
{
    int fds = lowest_free_fd();
    struct told told;
    struct store *store = open_store(&test_limits, &told);
    const struct store_job *job;
    struct store_claim claims[4];
    struct store_counts counts;
    uint64_t id = accept_job(store, &told, 0, PRIORITY_NORMAL, S, 3, 10);

    (void)state;
    assert_true(id != 0);
    job = store->find(store, id);
    assert_int_equal(job->state, JOB_QUEUED);
    assert_string_equal(job->circuit, "square");
    assert_string_equal(job->partitions[2].input.label, "w2.wtns");
    assert_true(job->partitions[0].ms.prove < 0);
    assert_int_equal(store->position(store, id, S), 1);
    assert_int_equal(store->uses_circuit(store, 5), 1);
    assert_int_equal(store->claim(store, 0, 2, S, claims), 2);
    assert_int_equal(claims[0].partition, 0);
    assert_int_equal(claims[1].partition, 1);
    assert_int_equal(claims[1].circuit_number, 5);
    assert_int_equal(store->find(store, id)->state, JOB_RUNNING);
    assert_int_equal(store->position(store, id, S), 0);
    store->note(store, id, 0, PARTITION_PROVING, 1, 2);
    assert_int_equal(store->find(store, id)->partitions[0].state, PARTITION_PROVING);
    assert_int_equal(store->find(store, id)->partitions[0].deaths, 2);
    complete(store, &told, id, 0, 2 * S);
    assert_int_equal(told.commits, 1);
    complete(store, &told, id, 1, 2 * S);
    assert_int_equal(told.finals, 0);
    assert_int_equal(store->claim(store, 0, 4, S, claims), 1);
    assert_int_equal(claims[0].partition, 2);
    complete(store, &told, id, 2, 3 * S);
    assert_int_equal(told.commits, 3);
    assert_int_equal(told.finals, 1);
    assert_int_equal(told.final_state, JOB_DONE);
    job = store->find(store, id);
    assert_string_equal(job->partitions[2].proof, "{}");
    assert_string_equal(job->partitions[2].publics, "[\"1\"]");
    assert_true(job->partitions[2].ms.prove == 12.5);
    store->counts(store, &counts);
    assert_int_equal(counts.done_total, 1);
    assert_int_equal(counts.running + counts.queued + counts.queued_bytes, 0);
    assert_int_equal(store->uses_circuit(store, 5), 0);
    assert_int_equal(lowest_free_fd(), fds);
    store->destroy(store);
}

static void test_limits_are_kept(void **state)
{
    int fds = lowest_free_fd();
    struct told told;
    struct store *store = open_store(&test_limits, &told);
    struct store_limits more = test_limits;
    struct store_counts counts;

    (void)state;
    assert_true(accept_job(store, &told, 0, PRIORITY_NORMAL, S, 2, 400) != 0);
    assert_int_equal(accept_job(store, &told, 0, PRIORITY_NORMAL, S, 2, 101), 0);
    assert_int_equal(told.error, -ENOSPC);
    assert_int_equal(accept_job(store, &told, 0, PRIORITY_NORMAL, S, 2, UINT64_MAX / 2 + 10), 0);
    assert_int_equal(told.error, -ENOSPC); /* and the sum does not wrap around */
    assert_int_equal(accept_job(store, &told, 0, PRIORITY_NORMAL, S, 0, 1), 0);
    assert_int_equal(told.error, -EINVAL);
    assert_true(accept_job(store, &told, 0, PRIORITY_NORMAL, S, 2, 100) != 0);
    for (int i = 0; i < 8; i++)
        assert_true(accept_job(store, &told, 0, PRIORITY_NORMAL, S, 1, 0) != 0);
    assert_int_equal(accept_job(store, &told, 0, PRIORITY_NORMAL, S, 1, 0), 0);
    assert_int_equal(told.error, -ENOSPC); /* ten jobs */
    store->counts(store, &counts);
    assert_int_equal(counts.queued, 10);
    assert_int_equal(counts.queued_bytes, 1000);
    more.queued_jobs = 11;
    store->set_limits(store, &more);
    assert_true(accept_job(store, &told, 0, PRIORITY_NORMAL, S, 1, 0) != 0);
    store->destroy(store);
    assert_int_equal(lowest_free_fd(), fds);
}

/* Two sizes whose sum wraps around are too much all the same; their fds are closed. */
static void test_sizes_that_wrap(void **state)
{
    int fds = lowest_free_fd();
    struct told told;
    struct store *store = open_store(&test_limits, &told);
    struct store_spec_partition partitions[] = {
        {.witness_fd = open_fd(), .input.bytes = 400},
        {.witness_fd = open_fd(), .input.bytes = UINT64_MAX - 100},
    };
    struct store_spec spec = {.now_ns = S, .partition_count = 2, .partitions = partitions};

    (void)state;
    store->accept(store, &spec, on_accept, &told);
    assert_int_equal(told.error, -ENOSPC);
    store->destroy(store);
    assert_int_equal(lowest_free_fd(), fds);
}

static void test_order_of_claims(void **state)
{
    struct told told;
    struct store *store = open_store(&test_limits, &told);
    struct store_claim claims[10];
    uint64_t low = accept_job(store, &told, 0, PRIORITY_LOW, S, 1, 1);
    uint64_t normal = accept_job(store, &told, 0, PRIORITY_NORMAL, S, 2, 1);
    uint64_t second = accept_job(store, &told, 0, PRIORITY_NORMAL, S, 1, 1);
    uint64_t other = accept_job(store, &told, 1, PRIORITY_CRITICAL, S, 1, 1);
    uint64_t critical = accept_job(store, &told, 0, PRIORITY_CRITICAL, S, 1, 1);

    (void)state;
    assert_int_equal(store->position(store, critical, S), 1);
    assert_int_equal(store->position(store, normal, S), 2);
    assert_int_equal(store->position(store, second, S), 4);
    assert_int_equal(store->position(store, low, S), 5);
    assert_int_equal(store->position(store, other, S), 1);
    assert_int_equal(store->claim(store, 0, 10, S, claims), 5);
    const uint64_t order[] = {critical, normal, normal, second, low};
    for (int i = 0; i < 5; i++)
        assert_int_equal(claims[i].job, order[i]);
    assert_int_equal(store->claim(store, 0, 10, S, claims), 0);
    assert_int_equal(store->claim(store, 1, 10, S, claims), 1);

    /* Back in the queue, a claimed one comes first again. */
    store->release(store, low, 0);
    assert_int_equal(store->find(store, low)->state, JOB_QUEUED);
    uint64_t high = accept_job(store, &told, 0, PRIORITY_HIGH, 25 * S, 1, 1);
    critical = accept_job(store, &told, 0, PRIORITY_CRITICAL, 25 * S, 1, 1);
    store->release(store, normal, 0);
    /* After 24 s of ageing by 10 s the low one is high, and older; nothing becomes critical. */
    assert_int_equal(store->claim(store, 0, 10, 25 * S, claims), 4);
    assert_int_equal(claims[0].job, critical);
    assert_int_equal(claims[1].job, low);
    assert_int_equal(claims[2].job, normal);
    assert_int_equal(claims[2].partition, 0);
    assert_int_equal(claims[3].job, high);
    store->destroy(store);
}

static void test_failure_of_a_partition(void **state)
{
    int fds = lowest_free_fd();
    struct told told;
    struct store *store = open_store(&test_limits, &told);
    struct store_claim claims[4];
    const struct store_job *job;
    uint64_t id = accept_job(store, &told, 0, PRIORITY_NORMAL, S, 4, 1);

    (void)state;
    assert_int_equal(store->claim(store, 0, 3, S, claims), 3);
    complete(store, &told, id, 0, S);
    store->fail(store, id, 1, FAULT_INPUT, "no good", 2 * S);
    assert_int_equal(told.finals, 1);
    assert_int_equal(told.final_state, JOB_FAILED);
    job = store->find(store, id);
    assert_int_equal(job->fault, FAULT_INPUT);
    assert_string_equal(job->error, "partition 1: no good");
    assert_int_equal(job->partitions[0].state, PARTITION_DONE);
    assert_int_equal(job->partitions[1].state, PARTITION_FAILED);
    assert_string_equal(job->partitions[1].error, "no good");
    assert_int_equal(job->partitions[2].state, PARTITION_CANCELLED);
    assert_int_equal(job->partitions[3].state, PARTITION_CANCELLED);
    assert_int_equal(store->claim(store, 0, 3, S, claims), 0);
    /* Late answers change nothing, but a commit is always answered. */
    store->fail(store, id, 2, FAULT_INTERNAL, "late", 3 * S);
    store->note(store, id, 2, PARTITION_READY, 9, 9);
    store->release(store, id, 2);
    complete(store, &told, id, 2, 3 * S);
    assert_int_equal(told.commits, 2);
    assert_int_equal(told.finals, 1);
    assert_int_equal(job->partitions[2].state, PARTITION_CANCELLED);
    assert_null(job->partitions[2].proof);
    assert_int_equal(job->partitions[2].attempts, 0);
    assert_int_equal(lowest_free_fd(), fds);
    store->destroy(store);
}

static void test_ended_by_others(void **state)
{
    struct told told;
    struct store *store = open_store(&test_limits, &told);
    struct store_claim claim;
    struct store_counts counts;
    uint64_t cancelled = accept_job(store, &told, 0, PRIORITY_NORMAL, S, 1, 1);
    uint64_t late = accept_job(store, &told, 0, PRIORITY_NORMAL, S, 1, 1);

    (void)state;
    assert_int_equal(store->end(store, 12345, FAULT_CANCELLED, "no", S), -ENOENT);
    assert_int_equal(store->claim(store, 0, 1, S, &claim), 1);
    assert_int_equal(store->end(store, cancelled, FAULT_CANCELLED, "by a client", S), 0);
    assert_int_equal(store->end(store, cancelled, FAULT_CANCELLED, "again", S), -EALREADY);
    assert_int_equal(store->find(store, cancelled)->state, JOB_CANCELLED);
    assert_int_equal(store->find(store, cancelled)->partitions[0].state, PARTITION_CANCELLED);
    assert_int_equal(store->end(store, late, FAULT_DEADLINE, "past its deadline", S), 0);
    assert_int_equal(store->find(store, late)->state, JOB_FAILED);
    assert_int_equal(store->find(store, late)->fault, FAULT_DEADLINE);
    assert_string_equal(store->find(store, late)->error, "past its deadline");
    assert_int_equal(store->claim(store, 0, 1, S, &claim), 0);
    store->counts(store, &counts);
    assert_int_equal(counts.cancelled_total, 1);
    assert_int_equal(counts.failed_total, 1);
    assert_int_equal(told.finals, 2);
    store->destroy(store);
}

static void test_deadlines(void **state)
{
    struct told told;
    struct store *store = open_store(&test_limits, &told);
    struct store_spec_partition partition = {.witness_fd = open_fd()};
    struct store_spec spec = {.now_ns = S,
                              .deadline_ns = 5 * S,
                              .priority = PRIORITY_LOW,
                              .partition_count = 1,
                              .partitions = &partition};

    (void)state;
    accept_job(store, &told, 0, PRIORITY_NORMAL, S, 1, 1);
    store->accept(store, &spec, on_accept, &told);
    assert_int_equal(told.error, 0);
    assert_int_equal(store->overdue(store, 5 * S - 1), 0);
    assert_int_equal(store->overdue(store, 5 * S), told.job);
    store->end(store, told.job, FAULT_DEADLINE, "late", 5 * S);
    assert_int_equal(store->overdue(store, 6 * S), 0);
    store->destroy(store);
}

static void count_listed(void *arg, const struct store_job *job)
{
    uint64_t *listed = arg;

    listed[1 + listed[0]++] = job->order;
}

static void end_listed(void *arg, int error)
{
    (void)arg;
    assert_int_equal(error, 0);
}

static void test_retention_and_list(void **state)
{
    struct told told;
    struct store *store = open_store(&test_limits, &told);
    uint64_t ids[6], listed[8] = {0};

    (void)state;
    for (int i = 0; i < 6; i++)
        ids[i] = accept_job(store, &told, 0, PRIORITY_NORMAL, S, 1, 1);
    for (int i = 0; i < 5; i++)
        store->end(store, ids[i], FAULT_CANCELLED, "no", (uint64_t)(10 + i) * S);
    assert_int_equal(store->overdue(store, 20 * S), 0); /* the tick */
    assert_null(store->find(store, ids[0]));
    assert_null(store->find(store, ids[1]));
    assert_non_null(store->find(store, ids[2])); /* three are kept */
    store->list(store, 0, 10, count_listed, end_listed, listed);
    assert_int_equal(listed[0], 4);
    for (uint64_t i = 0; i < 4; i++)
        assert_int_equal(listed[1 + i], 6 - i); /* newest first */
    listed[0] = 0;
    store->list(store, 6, 2, count_listed, end_listed, listed);
    assert_int_equal(listed[0], 2);
    assert_int_equal(listed[1], 5);
    store->overdue(store, 113 * S);
    assert_null(store->find(store, ids[2])); /* ended at 12 s, kept for 100 s */
    assert_non_null(store->find(store, ids[3]));
    assert_non_null(store->find(store, ids[5])); /* not final: for ever */
    store->destroy(store);
}

/* Callbacks that call the store again, as the daemon's do. */
struct again {
    struct store *store;
    struct told told;
    uint32_t claimed;
};

static void accept_more(void *arg, const struct store_job *job)
{
    struct again *again = arg;

    assert_non_null(again->store->find(again->store, job->id));
    accept_job(again->store, &again->told, 0, PRIORITY_NORMAL, 500 * S, 1, 1);
}

static void claim_more(void *arg, uint64_t job, uint32_t partition)
{
    struct again *again = arg;
    struct store_claim claim;

    (void)job;
    (void)partition;
    again->store->overdue(again->store, 1000 * S);
    again->claimed += again->store->claim(again->store, 0, 1, 1000 * S, &claim);
}

static void test_callbacks_call_again(void **state)
{
    struct store_limits limits = test_limits;
    struct again again = {0};
    struct store_claim claim;
    static const struct partition_times ms;
    struct store *store;

    (void)state;
    limits.kept_jobs = 0;
    store = again.store = open_store(&limits, &again.told);
    store->on_final = accept_more;
    store->on_final_arg = &again;
    accept_job(store, &again.told, 0, PRIORITY_NORMAL, S, 1, 1);
    assert_int_equal(store->claim(store, 0, 1, S, &claim), 1);
    store->complete(store, claim.job, 0, calloc(1, 8), NULL, &ms, S, claim_more, &again);
    assert_int_equal(again.claimed, 1);
    assert_null(store->find(store, claim.job));
    store->destroy(store);
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(job_state_name(JOB_CANCELLED), "cancelled");
    assert_string_equal(job_state_name((enum job_state)99), "unknown");
    assert_string_equal(partition_state_name(PARTITION_PROVING), "proving");
    assert_string_equal(partition_state_name(PARTITION_CANCELLED), "cancelled");
    for (int i = 0; i < PRIORITIES; i++)
        assert_int_equal(priority_parse(priority_name((enum priority)i)), i);
    assert_int_equal(priority_parse("urgent"), -EINVAL);
    assert_int_equal(priority_parse(""), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_life_of_a_job),
        cmocka_unit_test(test_limits_are_kept),
        cmocka_unit_test(test_sizes_that_wrap),
        cmocka_unit_test(test_order_of_claims),
        cmocka_unit_test(test_failure_of_a_partition),
        cmocka_unit_test(test_ended_by_others),
        cmocka_unit_test(test_deadlines),
        cmocka_unit_test(test_retention_and_list),
        cmocka_unit_test(test_callbacks_call_again),
        cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
