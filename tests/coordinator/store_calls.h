/*
 * Calls of a job store that wait for their answers, and what its callbacks told. Included by
 * store_suite.h.
 */
#ifndef PAWL_TESTS_STORE_CALLS_H
#define PAWL_TESTS_STORE_CALLS_H

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

#include "coordinator/clock.h"
#include "coordinator/store.h"

#undef fail /* cmocka's: the store has a call of that name */

#define S NS_PER_S
#define PARTS_MAX 8

static struct store *rig_open(const struct store_limits *limits);
static void rig_settle(void);
static void rig_close(struct store *store);

static const struct store_limits test_limits = {.queued_jobs = 10,
                                                .queued_bytes = 1000,
                                                .kept_jobs = 3,
                                                .kept_ns = 100 * S,
                                                .ageing_ns = 10 * S};

/* Times of the tests are near the present, for a store on a disk reads the clock. */
static uint64_t at(uint64_t seconds)
{
    static uint64_t start_ns;
    if (!start_ns)
        start_ns = clock_now_ns();
    return start_ns + seconds * S;
}

/* ---- what the callbacks told ---- */

struct told {
    int error;
    uint64_t job;
    uint32_t accepts, commits, finals, ended;
    enum job_state final_state;
};

static void on_accept(void *arg, int error, uint64_t job)
{
    struct told *told = arg;
    told->error = error;
    told->job = job;
    told->accepts++;
}

static void on_commit(void *arg, uint64_t job, uint32_t partition)
{
    struct told *told = arg;
    (void)job, (void)partition;
    told->commits++;
}

static void on_ended(void *arg, uint64_t job)
{
    struct told *told = arg;
    assert_true(job != 0);
    told->ended++;
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
    struct store *store = rig_open(limits);
    assert_non_null(store);
    *told = (struct told){0};
    store->on_final = on_final;
    store->on_ended = on_ended;
    store->on_final_arg = told;
    return store;
}

/* ---- calls that wait for their answer ---- */

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

struct request {
    uint32_t lane;
    enum priority priority;
    uint64_t now_ns, deadline_ns;
    uint32_t parts;
    uint64_t bytes;
    const char *key;
    uint8_t digest; /* first byte of every SHA-256 */
};

static uint64_t accept_request(struct store *store, struct told *told,
                               const struct request *request)
{
    struct store_spec_partition partitions[PARTS_MAX];
    struct store_spec spec = {.circuit = "square",
                              .circuit_number = 5,
                              .lane_name = "main",
                              .lane = request->lane,
                              .priority = request->priority,
                              .now_ns = request->now_ns,
                              .deadline_ns = request->deadline_ns,
                              .partition_count = request->parts,
                              .partitions = partitions};
    memset(partitions, 0, sizeof(partitions));
    snprintf(spec.key, sizeof(spec.key), "%s", request->key ? request->key : "");
    for (uint32_t i = 0; i < request->parts; i++) {
        struct store_input *input = &partitions[i].input;
        partitions[i].witness_fd = open_fd();
        input->bytes = request->bytes;
        input->sha256[0] = request->digest;
        snprintf(input->label, sizeof(input->label), "w%u.wtns", i);
    }
    told->error = 1;
    store->accept(store, &spec, on_accept, told);
    rig_settle();
    return told->error ? 0 : told->job;
}

static uint64_t accept_job(struct store *store, struct told *told, uint32_t lane,
                           enum priority priority, uint64_t now_ns, uint32_t parts, uint64_t bytes)
{
    const struct request request = {
        .lane = lane, .priority = priority, .now_ns = now_ns, .parts = parts, .bytes = bytes};
    return accept_request(store, told, &request);
}

static void complete(struct store *store, struct told *told, uint64_t job, uint32_t partition,
                     uint64_t now_ns)
{
    static const struct partition_times ms = {.prove = 12.5};
    char *proof = malloc(16);
    assert_non_null(proof);
    memcpy(proof, "{}\0[\"1\"]", 9);
    store->complete(store, job, partition, proof, proof + 3, &ms, now_ns, on_commit, told);
    rig_settle();
}

static void fail_partition(struct store *store, uint64_t job, uint32_t partition,
                           enum wire_fault fault, const char *error, uint64_t now_ns)
{
    store->fail(store, job, partition, fault, error, now_ns);
    rig_settle();
}

static int end_job(struct store *store, uint64_t job, enum wire_fault fault, const char *error,
                   uint64_t now_ns)
{
    int result = store->end(store, job, fault, error, now_ns);
    rig_settle();
    return result;
}

/* A job as `fetch` shows it. */
struct seen {
    int error;
    uint32_t answers;
    struct store_job job;
    struct store_partition parts[PARTS_MAX];
    char texts[2 + 3 * PARTS_MAX][64];
};

static char *keep_text(char out[64], const char *text)
{
    snprintf(out, 64, "%s", text ? text : "");
    return text ? out : NULL;
}

static void on_fetched(void *arg, int error, const struct store_job *job)
{
    struct seen *seen = arg;
    seen->error = error;
    seen->answers++;
    assert_int_equal(job == NULL, error != 0);
    if (!job)
        return;
    seen->job = *job;
    seen->job.error = keep_text(seen->texts[0], job->error);
    for (uint32_t i = 0; i < job->partition_count && i < PARTS_MAX; i++) {
        seen->parts[i] = job->partitions[i];
        seen->parts[i].error = keep_text(seen->texts[2 + 3 * i], job->partitions[i].error);
        seen->parts[i].proof = keep_text(seen->texts[3 + 3 * i], job->partitions[i].proof);
        seen->parts[i].publics = keep_text(seen->texts[4 + 3 * i], job->partitions[i].publics);
    }
    seen->job.partitions = seen->parts;
}

/* NULL where there is none; valid until the next. */
static const struct store_job *fetch(struct store *store, uint64_t job)
{
    static struct seen seen;
    seen = (struct seen){0};
    store->fetch(store, job, on_fetched, &seen);
    rig_settle();
    assert_int_equal(seen.answers, 1);
    if (!seen.error)
        return &seen.job;
    assert_int_equal(seen.error, -ENOENT);
    return NULL;
}

struct listed {
    uint64_t count, orders[16];
    int ends, error;
};

static void on_listed(void *arg, const struct store_job *job)
{
    struct listed *listed = arg;
    assert_true(listed->count < 16);
    listed->orders[listed->count++] = job->order;
}

static void on_list_end(void *arg, int error)
{
    struct listed *listed = arg;
    listed->ends++;
    listed->error = error;
}

static struct listed list(struct store *store, uint64_t before, uint32_t n)
{
    struct listed listed = {0};
    store->list(store, before, n, on_listed, on_list_end, &listed);
    rig_settle();
    assert_int_equal(listed.ends, 1);
    assert_int_equal(listed.error, 0);
    return listed;
}

#endif
