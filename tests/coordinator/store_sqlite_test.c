/*
 * The store in a database: what every store promises, and what outlives a restart, a kill, a full
 * disk.
 */
#include "tests/coordinator/store_suite.h"

#include <event2/event.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "coordinator/disk_thread.h"
#include "coordinator/store_sqlite.h"
#include "tests/support/scratch.h"

static struct {
    char folder[SCRATCH_PATH_BYTES], path[96];
    struct event_base *base;
    struct disk_thread *disk;
    struct clock_meter meter;
    struct spool spool;
} rig;

/* ---- the rig ---- */

static void remove_folder(void)
{
    if (rig.folder[0])
        scratch_remove(rig.folder);
    rig.folder[0] = '\0';
}

static void make_folder(void)
{
    remove_folder();
    assert_int_equal(scratch_make(rig.folder, "store"), 0);
    snprintf(rig.path, sizeof(rig.path), "%s/jobs.db", rig.folder);
}

static struct store *open_again(const struct store_limits *limits)
{
    const struct store_sqlite_options options = {
        .path = rig.path, .base = rig.base, .disk = rig.disk, .spool = &rig.spool};
    struct store *store = NULL;
    char why[256] = "";
    int error = store_sqlite_create(&store, limits, &options, why, sizeof(why));
    if (error)
        print_error("%s\n", why);
    assert_int_equal(error, 0);
    return store;
}

static void rig_start(void)
{
    rig.base = event_base_new();
    assert_non_null(rig.base);
    assert_int_equal(disk_thread_start(&rig.disk, rig.base, &rig.meter), 0);
    assert_int_equal(spool_open(&rig.spool, rig.folder), 0);
}

static struct store *rig_open(const struct store_limits *limits)
{
    make_folder();
    rig_start();
    return open_again(limits);
}

static void rig_settle(void)
{
    disk_thread_drain(rig.disk);
}

static void rig_close(struct store *store)
{
    disk_thread_drain(rig.disk);
    store->destroy(store);
    disk_thread_stop(rig.disk);
    spool_close(&rig.spool);
    event_base_free(rig.base);
}

static struct store *reopen(struct store *store, const struct store_limits *limits,
                            struct told *told)
{
    rig_close(store);
    rig_start();
    *told = (struct told){0};
    store = open_again(limits);
    store->on_final = on_final;
    store->on_ended = on_ended;
    store->on_final_arg = told;
    return store;
}

static int resolve_all(void *arg, struct store_job *job, char *why, size_t bytes)
{
    if (arg && strcmp(job->circuit, arg) == 0) {
        snprintf(why, bytes, "its circuit is gone");
        return FAULT_CAPACITY;
    }
    job->circuit_number = 7;
    job->lane = 0;
    return 0;
}

/* A job whose inputs are files of the spool; their names are given back. */
static uint64_t accept_files(struct store *store, struct told *told, uint32_t parts,
                             char names[][SPOOL_NAME_BYTES])
{
    struct store_spec_partition partitions[PARTS_MAX];
    struct store_spec spec = {.circuit = "files",
                              .program = "abc",
                              .now_ns = clock_now_ns(),
                              .deadline_ns = clock_now_ns() + 100 * S,
                              .priority = PRIORITY_HIGH,
                              .partition_count = parts,
                              .partitions = partitions};
    memset(partitions, 0, sizeof(partitions));
    for (uint32_t i = 0; i < parts; i++) {
        struct store_input *input = &partitions[i].input;
        int fd = spool_create(&rig.spool, input->name);
        assert_true(fd >= 0);
        assert_int_equal(write(fd, "bytes", 5), 5);
        close(fd);
        strcpy(names[i], input->name);
        partitions[i].witness_fd = -1;
        input->kind = INPUT_JSON;
        input->bytes = 5;
        input->sha256[31] = (uint8_t)(i + 1);
    }
    store->accept(store, &spec, on_accept, told);
    rig_settle();
    return told->error ? 0 : told->job;
}

static int has_file(const char *name)
{
    int fd = spool_open_file(&rig.spool, name);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static sqlite3_int64 count_rows(const char *query)
{
    sqlite3 *handle;
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_open_v2(rig.path, &handle, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(handle, query, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    sqlite3_int64 count = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(handle);
    return count;
}

/* ---- what outlives a restart ---- */

static void test_what_is_kept(void **state)
{
    char names[4][SPOOL_NAME_BYTES], failed_name[1][SPOOL_NAME_BYTES];
    struct told told;
    struct store_claim claims[4];
    struct store *store = open_store(&test_limits, &told);
    uint64_t id = accept_files(store, &told, 4, names);
    (void)state;
    assert_int_equal(store->claim(store, 0, 3, clock_now_ns(), claims), 3);
    store->note(store, id, 1, PARTITION_FILLING, 2, 1);
    complete(store, &told, id, 0, clock_now_ns());
    uint64_t failed = accept_files(store, &told, 1, failed_name);
    end_job(store, failed, FAULT_CANCELLED, "no more", clock_now_ns());
    assert_false(has_file(failed_name[0]));
    uint64_t order = store->find(store, id)->order;

    store = reopen(store, &test_limits, &told);
    assert_int_equal(store->claim(store, 0, 4, clock_now_ns(), claims), 0); /* not resolved yet */
    store->resolve(store, resolve_all, NULL);
    const struct store_job *job = fetch(store, id);
    assert_int_equal(job->state, JOB_RUNNING);
    assert_int_equal(job->order, order);
    assert_string_equal(job->circuit, "files");
    assert_string_equal(job->program, "abc");
    assert_int_equal(job->priority, PRIORITY_HIGH);
    assert_string_equal(job->partitions[0].proof, "{}");
    assert_int_equal(job->partitions[1].attempts, 2);
    assert_int_equal(store->uses_circuit(store, 7), 1);
    job = store->find(store, id);
    assert_in_range(job->deadline_ns, clock_now_ns() + 80 * S, clock_now_ns() + 100 * S);
    assert_in_range(job->accepted_ns, clock_now_ns() - 20 * S, clock_now_ns());
    assert_int_equal(job->partitions[3].input.kind, INPUT_JSON);
    assert_int_equal(job->partitions[3].input.sha256[31], 4);
    assert_int_equal(fetch(store, failed)->state, JOB_CANCELLED);
    assert_string_equal(fetch(store, failed)->error, "no more");

    assert_int_equal(store->claim(store, 0, 4, clock_now_ns(), claims), 3); /* one is done */
    assert_int_equal(claims[0].partition, 1);
    assert_int_equal(claims[0].attempts, 2);
    assert_int_equal(claims[0].deaths, 1);
    int fd = store->open_input(store, id, 1);
    assert_true(fd >= 0);
    close(fd);
    for (uint32_t i = 1; i < 4; i++) {
        assert_true(has_file(names[i]));
        complete(store, &told, id, i, clock_now_ns());
    }
    assert_int_equal(told.final_state, JOB_DONE);
    for (uint32_t i = 0; i < 4; i++)
        assert_false(has_file(names[i]));
    rig_close(store);
    assert_int_equal(count_rows("SELECT count(*) FROM results"), 4);
}

static void test_a_circuit_that_is_gone(void **state)
{
    char names[1][SPOOL_NAME_BYTES];
    struct told told;
    struct store *store = open_store(&test_limits, &told);
    uint64_t id = accept_files(store, &told, 1, names);
    (void)state;
    store = reopen(store, &test_limits, &told);
    store->resolve(store, resolve_all, (void *)"files");
    rig_settle();
    assert_int_equal(told.final_state, JOB_FAILED);
    assert_int_equal(told.ended, 1);
    assert_string_equal(fetch(store, id)->error, "its circuit is gone");
    assert_int_equal(fetch(store, id)->fault, FAULT_CAPACITY);
    assert_false(has_file(names[0]));
    rig_close(store);
}

static void test_keys_outlive_a_restart(void **state)
{
    struct told told;
    struct store *store = open_store(&test_limits, &told);
    struct request request = {.now_ns = at(1), .parts = 1, .key = "k", .digest = 1};
    uint64_t id = accept_request(store, &told, &request);
    (void)state;
    store = reopen(store, &test_limits, &told);
    store->resolve(store, resolve_all, NULL);
    assert_int_equal(accept_request(store, &told, &request), id);
    request.digest = 9;
    assert_int_equal(accept_request(store, &told, &request), 0);
    assert_int_equal(told.error, -EEXIST);
    rig_close(store);
}

/* Two that come before the first is committed. */
static void test_a_key_twice_at_once(void **state)
{
    char names[2][SPOOL_NAME_BYTES];
    struct told told[2] = {{0}};
    struct store_spec_partition partition = {.witness_fd = -1};
    struct store_spec spec = {.key = "twice", .partition_count = 1, .partitions = &partition};
    struct store *store = open_store(&test_limits, &told[0]);
    (void)state;
    for (int i = 0; i < 2; i++) {
        int fd = spool_create(&rig.spool, names[i]);
        assert_true(fd >= 0);
        close(fd);
        strcpy(partition.input.name, names[i]);
        spec.now_ns = clock_now_ns();
        store->accept(store, &spec, on_accept, &told[i]);
    }
    rig_settle();
    assert_int_equal(told[0].accepts + told[1].accepts, 2);
    assert_int_equal(told[0].error + told[1].error, 0);
    assert_int_equal(told[0].job, told[1].job);
    assert_true(has_file(names[0]));
    assert_false(has_file(names[1]));
    rig_close(store);
}

/* What is seen is committed: neither a result nor an end shows before. */
static void test_nothing_shows_before_its_commit(void **state)
{
    static const struct partition_times ms;
    struct told told;
    struct store_claim claim;
    struct store *store = open_store(&test_limits, &told);
    uint64_t id = accept_job(store, &told, 0, PRIORITY_NORMAL, at(1), 1, 1);
    uint64_t other = accept_job(store, &told, 1, PRIORITY_NORMAL, at(1), 1, 1);
    char *proof = strdup("{}");
    (void)state;
    assert_int_equal(store->claim(store, 0, 1, at(1), &claim), 1);
    store->complete(store, id, 0, proof, proof + 2, &ms, at(1), on_commit, &told);
    assert_int_equal(store->find(store, id)->state, JOB_RUNNING);
    assert_int_equal(store->find(store, id)->partitions[0].state, PARTITION_QUEUED);
    assert_int_equal(store->end(store, id, FAULT_CANCELLED, "too late", at(1)), -EALREADY);
    assert_int_equal(store->end(store, other, FAULT_CANCELLED, "no", at(1)), 0);
    assert_int_equal(store->find(store, other)->state, JOB_QUEUED);
    assert_int_equal(told.finals + told.commits, 0);
    rig_settle();
    assert_int_equal(told.finals, 2);
    assert_int_equal(told.commits, 1);
    assert_null(store->find(store, id)); /* it costs no memory any more */
    assert_int_equal(fetch(store, id)->state, JOB_DONE);
    assert_true(fetch(store, id)->partitions[0].ms.store > 0);
    rig_close(store);
}

static void test_retention(void **state)
{
    struct told told;
    struct store *store = open_store(&test_limits, &told);
    uint64_t ids[6], now_ns = clock_now_ns();
    (void)state;
    for (int i = 0; i < 6; i++)
        ids[i] = accept_job(store, &told, 0, PRIORITY_NORMAL, now_ns, 1, 1);
    /* ended 200, 199, 10, 9, 8 s ago: two are past their time, and three are kept */
    const uint64_t ago_s[] = {200, 199, 10, 9, 8};
    for (int i = 0; i < 5; i++)
        end_job(store, ids[i], FAULT_CANCELLED, "no", now_ns - ago_s[i] * S);
    assert_null(fetch(store, ids[0]));
    assert_null(fetch(store, ids[1]));
    assert_non_null(fetch(store, ids[2]));
    end_job(store, ids[5], FAULT_CANCELLED, "no", now_ns);
    assert_null(fetch(store, ids[2]));
    assert_non_null(fetch(store, ids[3]));
    rig_close(store);
    assert_int_equal(count_rows("SELECT count(*) FROM jobs"), 3);
    assert_int_equal(count_rows("SELECT count(*) FROM partitions"), 3);
}

/* Many jobs come and go, and the file does not grow with them. */
static void test_the_file_stays_small(void **state)
{
    static const struct partition_times ms;
    enum { PUBLICS = 20000, JOBS = 300 };
    struct told told;
    struct stat about;
    struct store *store = open_store(&test_limits, &told);
    (void)state;
    for (int i = 0; i < JOBS; i++) {
        struct store_claim claim;
        char *proof = malloc(3 + PUBLICS);
        assert_non_null(proof);
        memset(proof, '1', 3 + PUBLICS);
        memcpy(proof, "{}", 3);
        proof[2 + PUBLICS] = '\0';
        accept_job(store, &told, 0, PRIORITY_NORMAL, clock_now_ns(), 1, 1);
        assert_int_equal(store->claim(store, 0, 1, clock_now_ns(), &claim), 1);
        store->complete(store, claim.job, 0, proof, proof + 3, &ms, clock_now_ns(), on_commit,
                        &told);
        rig_settle();
    }
    assert_int_equal(told.finals, JOBS);
    rig_close(store);
    assert_int_equal(stat(rig.path, &about), 0);
    assert_in_range(about.st_size, 1, 1 << 20);
    assert_int_equal(about.st_mode & 0777, 0600);
}

/* ---- trouble ---- */

/* ---- trouble ---- */

static void on_pause(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what;
    event_base_loopbreak(arg);
}

/* The loop runs until the counter has that value, at most 20 s. */
static void run_loop_until(const uint32_t *counter, uint32_t wanted)
{
    const struct timeval pause = {.tv_usec = 10000};
    struct event *event = event_new(rig.base, -1, EV_PERSIST, on_pause, rig.base);
    assert_int_equal(event_add(event, &pause), 0);
    for (int i = 0; i < 2000 && *counter != wanted; i++)
        event_base_dispatch(rig.base);
    event_free(event);
    assert_int_equal(*counter, wanted);
}

/* No file can grow any more, or all can again: as a disk that is full. */
static void set_full(int is_full)
{
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = is_full ? 0 : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Nothing is accepted or claimed, nothing is lost, and it goes on by itself. */
static void test_a_full_disk(void **state)
{
    static const struct partition_times ms;
    char text[256] = "", name[1][SPOOL_NAME_BYTES];
    struct told told;
    struct store_claim claims[4];
    struct store_counts counts;
    struct store *store = open_store(&test_limits, &told);
    uint64_t first = accept_job(store, &told, 0, PRIORITY_NORMAL, at(1), 2, 1);
    uint64_t second = accept_job(store, &told, 0, PRIORITY_NORMAL, at(1), 1, 1);
    uint64_t third = accept_job(store, &told, 1, PRIORITY_NORMAL, at(1), 1, 1);
    char *proof = strdup("{}");
    (void)state;
    assert_int_equal(store->claim(store, 0, 1, at(1), claims), 1);
    assert_int_equal(store->trouble(store, text, sizeof(text)), 0);
    int fd = spool_create(&rig.spool, name[0]);
    assert_true(fd >= 0);
    close(fd);
    set_full(1);
    struct store_spec_partition partition = {.witness_fd = -1};
    struct store_spec spec = {.now_ns = at(1), .partition_count = 1, .partitions = &partition};
    strcpy(partition.input.name, name[0]);
    store->accept(store, &spec, on_accept, &told); /* under way as it shows */
    store->complete(store, first, 0, proof, proof + 2, &ms, at(2), on_commit, &told);
    assert_int_equal(store->end(store, third, FAULT_CANCELLED, "no", at(2)), 0);
    rig_settle();
    assert_int_equal(told.error, -EIO);
    assert_int_equal(store->trouble(store, text, sizeof(text)), 1);
    assert_non_null(strstr(text, "cannot be written"));
    assert_int_equal(accept_job(store, &told, 0, PRIORITY_NORMAL, at(2), 1, 1), 0);
    assert_int_equal(told.error, -EIO);
    assert_int_equal(store->claim(store, 0, 4, at(2), claims), 0);
    assert_int_equal(told.commits + told.finals, 0);
    assert_int_equal(fetch(store, third)->state, JOB_QUEUED);
    set_full(0);
    run_loop_until(&told.commits, 1);
    rig_settle();
    assert_int_equal(told.finals, 1);
    assert_int_equal(store->trouble(store, text, sizeof(text)), 0);
    assert_int_equal(fetch(store, third)->state, JOB_CANCELLED);
    assert_string_equal(fetch(store, first)->partitions[0].proof, "{}");
    assert_false(has_file(name[0])); /* of a job that was refused */
    assert_int_equal(store->claim(store, 0, 4, at(2), claims), 2);
    store->counts(store, &counts);
    assert_int_equal(counts.uncommitted, 0);
    assert_int_equal(counts.queued + counts.running, 2);
    assert_true(second != 0);
    assert_true(store->commits(store)->failed_total > 0);
    rig_close(store);
}

static void test_another_has_the_database(void **state)
{
    struct told told;
    struct store *store = open_store(&test_limits, &told), *second = NULL;
    const struct store_sqlite_options options = {
        .path = rig.path, .base = rig.base, .disk = rig.disk, .spool = &rig.spool};
    char why[256];
    (void)state;
    assert_int_equal(store_sqlite_create(&second, &test_limits, &options, why, sizeof(why)),
                     -EBUSY);
    assert_non_null(strstr(why, "another process"));
    rig_close(store);
}

/* state_dir may lie behind links, as /var/lib does on some machines; the file itself is none. */
static void test_links_on_the_way(void **state)
{
    struct told told;
    char link[80], why[256];
    struct store *store = open_store(&test_limits, &told), *second = NULL;
    const struct store_sqlite_options options = {
        .path = rig.path, .base = rig.base, .disk = rig.disk, .spool = &rig.spool};
    (void)state;
    snprintf(link, sizeof(link), "%s/link", rig.folder);
    assert_int_equal(symlink(".", link), 0);
    snprintf(rig.path, sizeof(rig.path), "%s/link/jobs.db", rig.folder);
    store = reopen(store, &test_limits, &told);
    snprintf(rig.path, sizeof(rig.path), "%s/other.db", rig.folder);
    assert_int_equal(symlink("jobs.db", rig.path), 0);
    assert_int_equal(store_sqlite_create(&second, &test_limits, &options, why, sizeof(why)),
                     -ELOOP);
    rig_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_SUITE,
        cmocka_unit_test(test_what_is_kept),
        cmocka_unit_test(test_a_circuit_that_is_gone),
        cmocka_unit_test(test_keys_outlive_a_restart),
        cmocka_unit_test(test_a_key_twice_at_once),
        cmocka_unit_test(test_nothing_shows_before_its_commit),
        cmocka_unit_test(test_retention),
        cmocka_unit_test(test_the_file_stays_small),
        cmocka_unit_test(test_a_full_disk),
        cmocka_unit_test(test_another_has_the_database),
        cmocka_unit_test(test_links_on_the_way),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove_folder();
    return failed;
}
