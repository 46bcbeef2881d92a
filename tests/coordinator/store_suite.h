/*
 * What every job store promises, run over each of them: limits, keys, the order of claims, how jobs
 * end, and that no fd and no byte is left behind. Included by store_memory_test.c and
 * store_sqlite_test.c, which open the store (rig_open), wait until it has answered everything
 * (rig_settle) and close it (rig_close).
 */
#ifndef PAWL_TESTS_STORE_SUITE_H
#define PAWL_TESTS_STORE_SUITE_H

#include "tests/coordinator/store_calls.h"

static void suite_life_of_a_job(void **state)
{
    struct told told;
    struct store *store = open_store(&test_limits, &told);
    const struct store_job *job;
    struct store_claim claims[4];
    uint64_t id = accept_job(store, &told, 0, PRIORITY_NORMAL, at(1), 3, 10);
    (void)state;
    assert_true(id != 0);
    job = fetch(store, id);
    assert_int_equal(job->state, JOB_QUEUED);
    assert_string_equal(job->circuit, "square");
    assert_string_equal(job->lane_name, "main");
    assert_string_equal(job->partitions[2].input.label, "w2.wtns");
    assert_true(job->partitions[0].ms.prove < 0);
    assert_int_equal(store->find(store, id)->id, id);
    assert_int_equal(store->position(store, id, at(1)), 1);
    assert_int_equal(store->uses_circuit(store, 5), 1);
    assert_int_equal(store->claim(store, 0, 2, at(1), claims), 2);
    assert_int_equal(claims[0].partition, 0);
    assert_int_equal(claims[1].partition, 1);
    assert_int_equal(claims[1].circuit_number, 5);
    assert_int_equal(fetch(store, id)->state, JOB_RUNNING);
    assert_int_equal(store->position(store, id, at(1)), 0);
    int input = store->open_input(store, id, 0);
    assert_true(input >= 0);
    close(input);
    assert_int_equal(store->open_input(store, id, 3), -ENOENT);
    store->note(store, id, 0, PARTITION_PROVING, 1, 2);
    assert_int_equal(fetch(store, id)->partitions[0].state, PARTITION_PROVING);
    assert_int_equal(fetch(store, id)->partitions[0].deaths, 2);
    rig_close(store);
}

static void suite_results_of_a_job(void **state)
{
    struct told told;
    struct store *store = open_store(&test_limits, &told);
    int fds = lowest_free_fd();
    const struct store_job *job;
    struct store_claim claims[4];
    struct store_counts counts;
    uint64_t id = accept_job(store, &told, 0, PRIORITY_NORMAL, at(1), 3, 10);
    (void)state;
    assert_int_equal(store->claim(store, 0, 2, at(1), claims), 2);
    store->note(store, id, 0, PARTITION_PROVING, 1, 2);
    complete(store, &told, id, 0, at(2));
    assert_int_equal(told.commits, 1);
    job = fetch(store, id);
    assert_int_equal(job->state, JOB_RUNNING);
    assert_int_equal(job->partitions[0].state, PARTITION_DONE);
    assert_string_equal(job->partitions[0].proof, "{}");
    assert_null(job->partitions[1].proof);
    complete(store, &told, id, 1, at(2));
    assert_int_equal(told.finals, 0);
    assert_int_equal(store->claim(store, 0, 4, at(1), claims), 1);
    assert_int_equal(claims[0].partition, 2);
    complete(store, &told, id, 2, at(3));
    assert_int_equal(told.commits, 3);
    assert_int_equal(told.finals, 1);
    assert_int_equal(told.ended, 0);
    assert_int_equal(told.final_state, JOB_DONE);
    job = fetch(store, id);
    assert_int_equal(job->state, JOB_DONE);
    assert_string_equal(job->partitions[2].proof, "{}");
    assert_string_equal(job->partitions[2].publics, "[\"1\"]");
    assert_true(job->partitions[2].ms.prove == 12.5);
    assert_int_equal(job->partitions[0].attempts, 1);
    assert_int_equal(job->partitions[0].deaths, 2);
    store->counts(store, &counts);
    assert_int_equal(counts.done_total, 1);
    assert_int_equal(counts.running + counts.queued + counts.queued_bytes, 0);
    assert_int_equal(counts.uncommitted, 0);
    assert_int_equal(store->uses_circuit(store, 5), 0);
    assert_int_equal(lowest_free_fd(), fds);
    rig_close(store);
}

static void suite_limits_are_kept(void **state)
{
    struct told told;
    int fds = lowest_free_fd();
    struct store *store = open_store(&test_limits, &told);
    struct store_limits more = test_limits;
    struct store_counts counts;
    (void)state;
    assert_true(accept_job(store, &told, 0, PRIORITY_NORMAL, at(1), 2, 400) != 0);
    assert_int_equal(accept_job(store, &told, 0, PRIORITY_NORMAL, at(1), 2, 101), 0);
    assert_int_equal(told.error, -ENOSPC);
    assert_int_equal(accept_job(store, &told, 0, PRIORITY_NORMAL, at(1), 2, UINT64_MAX / 2 + 10),
                     0);
    assert_int_equal(told.error, -ENOSPC); /* and the sum does not wrap around */
    assert_int_equal(accept_job(store, &told, 0, PRIORITY_NORMAL, at(1), 0, 1), 0);
    assert_int_equal(told.error, -EINVAL);
    assert_true(accept_job(store, &told, 0, PRIORITY_NORMAL, at(1), 2, 100) != 0);
    for (int i = 0; i < 8; i++)
        assert_true(accept_job(store, &told, 0, PRIORITY_NORMAL, at(1), 1, 0) != 0);
    assert_int_equal(accept_job(store, &told, 0, PRIORITY_NORMAL, at(1), 1, 0), 0);
    assert_int_equal(told.error, -ENOSPC); /* ten jobs */
    store->counts(store, &counts);
    assert_int_equal(counts.queued, 10);
    assert_int_equal(counts.queued_bytes, 1000);
    more.queued_jobs = 11;
    store->set_limits(store, &more);
    assert_true(accept_job(store, &told, 0, PRIORITY_NORMAL, at(1), 1, 0) != 0);
    rig_close(store);
    assert_int_equal(lowest_free_fd(), fds);
}

/* Two sizes whose sum wraps around are too much all the same; their fds are closed. */
static void suite_sizes_that_wrap(void **state)
{
    struct told told;
    struct store *store = open_store(&test_limits, &told);
    int fds = lowest_free_fd();
    struct store_spec_partition partitions[] = {
        {.witness_fd = open_fd(), .input.bytes = 400},
        {.witness_fd = open_fd(), .input.bytes = UINT64_MAX - 100},
    };
    struct store_spec spec = {.now_ns = at(1), .partition_count = 2, .partitions = partitions};
    (void)state;
    store->accept(store, &spec, on_accept, &told);
    rig_settle();
    assert_int_equal(told.error, -ENOSPC);
    assert_int_equal(lowest_free_fd(), fds);
    rig_close(store);
}

static void suite_order_of_claims(void **state)
{
    struct told told;
    struct store *store = open_store(&test_limits, &told);
    struct store_claim claims[10];
    uint64_t low = accept_job(store, &told, 0, PRIORITY_LOW, at(1), 1, 1);
    uint64_t normal = accept_job(store, &told, 0, PRIORITY_NORMAL, at(1), 2, 1);
    uint64_t second = accept_job(store, &told, 0, PRIORITY_NORMAL, at(1), 1, 1);
    uint64_t other = accept_job(store, &told, 1, PRIORITY_CRITICAL, at(1), 1, 1);
    uint64_t critical = accept_job(store, &told, 0, PRIORITY_CRITICAL, at(1), 1, 1);
    (void)state;
    assert_int_equal(store->position(store, critical, at(1)), 1);
    assert_int_equal(store->position(store, normal, at(1)), 2);
    assert_int_equal(store->position(store, second, at(1)), 4);
    assert_int_equal(store->position(store, low, at(1)), 5);
    assert_int_equal(store->position(store, other, at(1)), 1);
    assert_int_equal(store->claim(store, 0, 10, at(1), claims), 5);
    const uint64_t order[] = {critical, normal, normal, second, low};
    for (int i = 0; i < 5; i++)
        assert_int_equal(claims[i].job, order[i]);
    assert_int_equal(store->claim(store, 0, 10, at(1), claims), 0);
    assert_int_equal(store->claim(store, 1, 10, at(1), claims), 1);

    /* Back in the queue, a claimed one comes first again, with what it has been charged. */
    store->note(store, low, 0, PARTITION_QUEUED, 2, 1);
    store->release(store, low, 0);
    assert_int_equal(store->find(store, low)->state, JOB_QUEUED);
    uint64_t high = accept_job(store, &told, 0, PRIORITY_HIGH, at(25), 1, 1);
    critical = accept_job(store, &told, 0, PRIORITY_CRITICAL, at(25), 1, 1);
    store->release(store, normal, 0);
    /* After 24 s of ageing by 10 s the low one is high, and older; nothing becomes critical. */
    assert_int_equal(store->claim(store, 0, 10, at(25), claims), 4);
    assert_int_equal(claims[0].job, critical);
    assert_int_equal(claims[1].job, low);
    assert_int_equal(claims[1].attempts, 2);
    assert_int_equal(claims[1].deaths, 1);
    assert_int_equal(claims[2].job, normal);
    assert_int_equal(claims[2].partition, 0);
    assert_int_equal(claims[3].job, high);
    rig_close(store);
}

static void suite_failure_of_a_partition(void **state)
{
    struct told told;
    struct store *store = open_store(&test_limits, &told);
    int fds = lowest_free_fd();
    struct store_claim claims[4];
    const struct store_job *job;
    uint64_t id = accept_job(store, &told, 0, PRIORITY_NORMAL, at(1), 4, 1);
    (void)state;
    assert_int_equal(store->claim(store, 0, 3, at(1), claims), 3);
    complete(store, &told, id, 0, at(1));
    fail_partition(store, id, 1, FAULT_INPUT, "no good", at(2));
    assert_int_equal(told.finals, 1);
    assert_int_equal(told.ended, 1);
    assert_int_equal(told.final_state, JOB_FAILED);
    assert_int_equal(store->claim(store, 0, 3, at(1), claims), 0);
    /* Late answers change nothing, but a commit is always answered. */
    fail_partition(store, id, 2, FAULT_INTERNAL, "late", at(3));
    store->note(store, id, 2, PARTITION_READY, 9, 9);
    store->release(store, id, 2);
    complete(store, &told, id, 2, at(3));
    assert_int_equal(told.commits, 2);
    assert_int_equal(told.finals, 1);
    job = fetch(store, id);
    assert_int_equal(job->fault, FAULT_INPUT);
    assert_string_equal(job->error, "partition 1: no good");
    assert_int_equal(job->partitions[0].state, PARTITION_DONE);
    assert_string_equal(job->partitions[0].proof, "{}");
    assert_int_equal(job->partitions[1].state, PARTITION_FAILED);
    assert_int_equal(job->partitions[1].fault, FAULT_INPUT);
    assert_string_equal(job->partitions[1].error, "no good");
    assert_int_equal(job->partitions[2].state, PARTITION_CANCELLED);
    assert_int_equal(job->partitions[3].state, PARTITION_CANCELLED);
    assert_int_equal(job->partitions[3].fault, FAULT_CANCELLED);
    assert_null(job->partitions[2].proof);
    assert_int_equal(job->partitions[2].attempts, 0);
    assert_int_equal(lowest_free_fd(), fds);
    rig_close(store);
}

static void suite_ended_by_others(void **state)
{
    struct told told;
    struct store *store = open_store(&test_limits, &told);
    struct store_claim claim;
    struct store_counts counts;
    uint64_t cancelled = accept_job(store, &told, 0, PRIORITY_NORMAL, at(1), 1, 1);
    uint64_t late = accept_job(store, &told, 0, PRIORITY_NORMAL, at(1), 1, 1);
    (void)state;
    assert_int_equal(end_job(store, 12345, FAULT_CANCELLED, "no", at(1)), -ENOENT);
    assert_int_equal(store->claim(store, 0, 1, at(1), &claim), 1);
    assert_int_equal(store->end(store, cancelled, FAULT_CANCELLED, "by a client", at(1)), 0);
    assert_int_equal(store->end(store, cancelled, FAULT_CANCELLED, "again", at(1)), -EALREADY);
    assert_int_equal(told.ended, 1); /* at once: nobody works on it any more */
    rig_settle();
    assert_int_equal(fetch(store, cancelled)->state, JOB_CANCELLED);
    assert_int_equal(fetch(store, cancelled)->partitions[0].state, PARTITION_CANCELLED);
    assert_int_equal(end_job(store, late, FAULT_DEADLINE, "past its deadline", at(1)), 0);
    assert_int_equal(fetch(store, late)->state, JOB_FAILED);
    assert_int_equal(fetch(store, late)->fault, FAULT_DEADLINE);
    assert_string_equal(fetch(store, late)->error, "past its deadline");
    assert_int_equal(store->claim(store, 0, 1, at(1), &claim), 0);
    store->counts(store, &counts);
    assert_int_equal(counts.cancelled_total, 1);
    assert_int_equal(counts.failed_total, 1);
    assert_int_equal(told.finals, 2);
    rig_close(store);
}

static void suite_deadlines(void **state)
{
    struct told told;
    struct store *store = open_store(&test_limits, &told);
    const struct request request = {.now_ns = at(1), .deadline_ns = at(5), .parts = 1};
    (void)state;
    accept_job(store, &told, 0, PRIORITY_NORMAL, at(1), 1, 1);
    uint64_t id = accept_request(store, &told, &request);
    assert_true(id != 0);
    assert_int_equal(store->overdue(store, at(5) - 1), 0);
    assert_int_equal(store->overdue(store, at(5)), id);
    store->end(store, id, FAULT_DEADLINE, "late", at(5));
    assert_int_equal(store->overdue(store, at(6)), 0);
    rig_settle();
    rig_close(store);
}

/* The same key and the same bytes are the same job, also when it is final; others are refused. */
static void suite_idempotency_keys(void **state)
{
    struct told told;
    struct store *store = open_store(&test_limits, &told);
    int fds = lowest_free_fd();
    struct request request = {.now_ns = at(1), .parts = 2, .bytes = 3, .key = "a key", .digest = 1};
    struct store_counts counts;
    (void)state;
    uint64_t id = accept_request(store, &told, &request);
    assert_true(id != 0);
    assert_int_equal(accept_request(store, &told, &request), id);
    assert_int_equal(lowest_free_fd(), fds + 2);
    request.digest = 2;
    assert_int_equal(accept_request(store, &told, &request), 0);
    assert_int_equal(told.error, -EEXIST);
    assert_int_equal(told.job, id);
    request.digest = 1;
    request.parts = 1;
    assert_int_equal(accept_request(store, &told, &request), 0);
    request.key = "another";
    uint64_t other = accept_request(store, &told, &request);
    assert_true(other != 0 && other != id);
    store->counts(store, &counts);
    assert_int_equal(counts.queued, 2);
    assert_int_equal(counts.queued_bytes, 9);
    assert_int_equal(end_job(store, id, FAULT_CANCELLED, "no", at(2)), 0);
    request =
        (struct request){.now_ns = at(3), .parts = 2, .bytes = 3, .key = "a key", .digest = 1};
    assert_int_equal(accept_request(store, &told, &request), id);
    assert_int_equal(list(store, 0, 10).count, 2);
    rig_close(store);
}

static void suite_list_in_pages(void **state)
{
    struct told told;
    struct store *store = open_store(&test_limits, &told);
    struct listed listed;
    (void)state;
    for (int i = 0; i < 6; i++)
        assert_true(accept_job(store, &told, 0, PRIORITY_NORMAL, at(1), 1, 1) != 0);
    listed = list(store, 0, 10);
    assert_int_equal(listed.count, 6);
    for (uint64_t i = 0; i < 6; i++)
        assert_int_equal(listed.orders[i], 6 - i); /* newest first */
    listed = list(store, 6, 2);
    assert_int_equal(listed.count, 2);
    assert_int_equal(listed.orders[0], 5);
    assert_int_equal(list(store, 1, 2).count, 0);
    rig_close(store);
}

/* Callbacks that call the store again, as the daemon's do. */
struct again {
    struct store *store;
    struct told told;
    uint32_t claimed, finals;
};

static void accept_more(void *arg, const struct store_job *job)
{
    struct again *again = arg;
    struct store_spec_partition partition = {.witness_fd = open_fd()};
    struct store_spec spec = {.now_ns = at(500), .partition_count = 1, .partitions = &partition};
    assert_non_null(again->store->find(again->store, job->id));
    again->finals++;
    again->store->accept(again->store, &spec, on_accept, &again->told);
}

static void claim_more(void *arg, uint64_t job, uint32_t partition)
{
    struct again *again = arg;
    struct store_claim claim;
    (void)job, (void)partition;
    again->store->overdue(again->store, at(1000));
    again->claimed += again->store->claim(again->store, 0, 1, at(1000), &claim);
}

static void suite_callbacks_call_again(void **state)
{
    struct again again = {0};
    struct store_claim claim;
    static const struct partition_times ms;
    struct store *store = again.store = open_store(&test_limits, &again.told);
    char *proof = calloc(1, 8);
    (void)state;
    store->on_final = accept_more;
    store->on_ended = NULL;
    store->on_final_arg = &again;
    accept_job(store, &again.told, 0, PRIORITY_NORMAL, at(1), 1, 1);
    accept_job(store, &again.told, 1, PRIORITY_NORMAL, at(1), 1, 1);
    assert_int_equal(store->claim(store, 1, 1, at(1), &claim), 1);
    store->complete(store, claim.job, 0, proof, proof + 1, &ms, at(1), claim_more, &again);
    rig_settle();
    assert_int_equal(again.finals, 1);
    assert_int_equal(again.claimed, 1);
    assert_int_equal(again.told.accepts, 3);
    assert_int_equal(again.told.error, 0);
    rig_close(store);
}

#define STORE_SUITE                                                                                \
    cmocka_unit_test(suite_life_of_a_job), cmocka_unit_test(suite_results_of_a_job),               \
        cmocka_unit_test(suite_limits_are_kept), cmocka_unit_test(suite_sizes_that_wrap),          \
        cmocka_unit_test(suite_order_of_claims), cmocka_unit_test(suite_failure_of_a_partition),   \
        cmocka_unit_test(suite_ended_by_others), cmocka_unit_test(suite_deadlines),                \
        cmocka_unit_test(suite_idempotency_keys), cmocka_unit_test(suite_list_in_pages),           \
        cmocka_unit_test(suite_callbacks_call_again)

#endif
