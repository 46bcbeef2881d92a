/*
 * The coordinator process and its workers: work, attachment, cancel, deadline, drain, and that
 * nothing is left behind. The workers are played by children of the test.
 */
#include "tests/coordinator/daemon_rig.h"

#include "tests/coordinator/fake_worker.h"

/* ---- work ---- */

static unsigned count_events(const json_t *trace, const char *name)
{
    unsigned count = 0;
    size_t index;
    json_t *event;
    json_array_foreach(json_object_get(trace, "traceEvents"), index, event)
    {
        count += strcmp(json_string_value(json_object_get(event, "name")), name) == 0;
    }
    return count;
}

static void jobs_are_proved(void **state)
{
    struct rig rig;
    char id[17];
    (void)state;
    rig_start_with_circuit(&rig, "");
    assert_int_equal(rig_status_of(&rig, "GET", "/readyz", NULL), 503);
    pid_t synth = fake_spawn(&rig, ROLE_SYNTH, "", FAKE_WORKS);
    pid_t gpu = fake_spawn(&rig, ROLE_GPU, "cpu", FAKE_WORKS);
    rig_submit(&rig, 7, "", id);
    fake_expect_proofs(&rig, id, 7);
    assert_int_equal(rig_status_of(&rig, "GET", "/readyz", NULL), 200);
    rig_expect_rest(&rig);
    json_t *trace = rig_get(&rig, "/v1/trace");
    assert_int_equal(count_events(trace, "synth"), 7);
    assert_int_equal(count_events(trace, "prove"), 7);
    assert_int_equal(count_events(trace, "credit_take"), 7);
    assert_int_equal(count_events(trace, "credit_return"), 7);
    json_decref(trace);
    trace = rig_get(&rig, "/v1/trace?seconds=0");
    assert_int_equal(count_events(trace, "synth"), 0);
    json_decref(trace);
    rig_stop(&rig);
    assert_int_equal(rig_wait_exit(synth), 0); /* LEAVE */
    assert_int_equal(rig_wait_exit(gpu), 0);
}

static void an_input_at_fault_fails_its_job(void **state)
{
    struct rig rig;
    char id[17];
    (void)state;
    rig_start_with_circuit(&rig, "");
    pid_t synth = fake_spawn(&rig, ROLE_SYNTH, "", FAKE_BLAMES_INPUT);
    rig_submit(&rig, 2, "", id);
    rig_expect_end(&rig, id, "failed", "input");
    json_t *job = rig_job(&rig, id, 0);
    rig_expect_text(json_array_get(json_object_get(job, "partitions"), 0), "error",
                    "the witness is no good");
    assert_non_null(strstr(json_string_value(json_object_get(job, "error")), "no good"));
    json_decref(job);
    rig_expect_rest(&rig);
    fake_kill(synth);
    rig_stop(&rig);
}

static void expect_bad_results_fail(enum fake_manner manner)
{
    struct rig rig;
    char id[17];
    rig_start_with_circuit(&rig, "[limits]\nattempts = 2\ndevice_charges = 100\n");
    pid_t synth = fake_spawn(&rig, ROLE_SYNTH, "", FAKE_WORKS);
    pid_t gpu = fake_spawn(&rig, ROLE_GPU, "cpu", manner);
    rig_submit(&rig, 1, "", id);
    rig_expect_end(&rig, id, "failed", "internal");
    json_t *job = rig_job(&rig, id, 0);
    assert_int_equal(rig_number_at(job, "partitions.0.attempts"), 2);
    assert_true(json_is_null(
        json_object_get(json_array_get(json_object_get(job, "partitions"), 0), "proof")));
    json_decref(job);
    rig_expect_rest(&rig);
    fake_kill(synth);
    fake_kill(gpu);
    rig_stop(&rig);
}

static void results_are_checked(void **state)
{
    (void)state;
    expect_bad_results_fail(FAKE_BAD_RESULT);
    expect_bad_results_fail(FAKE_OTHERS_RESULT);
}

/* ---- attachment ---- */

/* The exit code that a hello with one thing wrong is refused with. */
static uint32_t hello_code(const struct rig *rig, void (*spoil)(struct wire_hello *hello))
{
    union wire_message message = {0};
    struct wire_packet packet;
    int fd = rig_connect(rig->socket, SOCK_SEQPACKET);
    struct wire_hello *hello = &message.hello;
    hello->protocol = WIRE_PROTOCOL;
    hello->control_layout = CONTROL_LAYOUT;
    hello->slab_layout = SLAB_LAYOUT;
    hello->image_layout = 1;
    hello->role = ROLE_SYNTH;
    hello->pid = getpid();
    strcpy(hello->build_id, pawl_build_id);
    spoil(hello);
    assert_int_equal(wire_send(fd, &message, WIRE_HELLO, NULL, 0), 0);
    assert_int_equal(wire_receive(fd, &packet, 0), 1);
    assert_int_equal(packet.message.header.type, WIRE_REFUSED);
    assert_true(packet.message.refused.why[0]);
    close(fd);
    return packet.message.refused.exit_code;
}

static void spoil_build(struct wire_hello *hello)
{
    hello->build_id[0] ^= 1;
}

static void spoil_protocol(struct wire_hello *hello)
{
    hello->protocol++;
}

static void spoil_layout(struct wire_hello *hello)
{
    hello->slab_layout++;
}

static void spoil_role(struct wire_hello *hello)
{
    hello->role = 9;
}

static void spoil_device(struct wire_hello *hello)
{
    hello->role = ROLE_GPU;
    strcpy(hello->device, "a\nb");
}

static void hellos_are_checked(void **state)
{
    struct rig rig;
    (void)state;
    rig_start(&rig, RIG_LANE);
    assert_int_equal(hello_code(&rig, spoil_build), EXIT_CONFIG);
    assert_int_equal(hello_code(&rig, spoil_protocol), EXIT_CONFIG);
    assert_int_equal(hello_code(&rig, spoil_layout), EXIT_CONFIG);
    assert_int_equal(hello_code(&rig, spoil_role), EXIT_CONFIG);
    assert_int_equal(hello_code(&rig, spoil_device), EXIT_CONFIG);
    int fd = rig_connect(rig.socket, SOCK_SEQPACKET); /* garbage in place of a hello */
    struct pollfd end = {.fd = fd, .events = POLLIN};
    assert_int_equal(send(fd, "xx", 2, 0), 2);
    assert_int_equal(poll(&end, 1, RIG_WAIT_MS), 1);
    assert_int_equal(recv(fd, &end, sizeof(end), 0), 0);
    close(fd);
    assert_int_equal(rig_number(&rig, "region.allocations_after_start"), 0);
    rig_stop(&rig);
}

static void expect_role(const struct rig *rig, unsigned worker, const char *role)
{
    json_t *status = rig_get(rig, "/v1/status");
    rig_expect_text(json_array_get(json_object_get(status, "workers"), worker), "role", role);
    json_decref(status);
}

static void a_device_has_one_worker(void **state)
{
    struct rig rig;
    (void)state;
    rig_start(&rig, RIG_LANE);
    pid_t first = fake_spawn(&rig, ROLE_GPU, "cpu", FAKE_WORKS);
    rig_await(&rig, "workers.0.pid", first);
    expect_role(&rig, 0, "gpu");
    pid_t second = fake_spawn(&rig, ROLE_GPU, "cpu", FAKE_WORKS);
    assert_int_equal(rig_wait_exit(second), EXIT_CONFIG);
    fake_kill(first);
    for (;;) { /* free again once its worker is dead */
        json_t *status = rig_get(&rig, "/v1/status");
        size_t workers = json_array_size(json_object_get(status, "workers"));
        json_decref(status);
        if (workers == 0)
            break;
    }
    pid_t third = fake_spawn(&rig, ROLE_GPU, "cpu", FAKE_WORKS);
    rig_await(&rig, "workers.0.pid", third);
    rig_await(&rig, "workers.1.pid", fake_spawn(&rig, ROLE_SYNTH, "", FAKE_WORKS));
    expect_role(&rig, 1, "synth");
    fake_kill(third);
    rig_stop(&rig);
}

static void attaching_leaks_nothing(void **state)
{
    struct rig rig;
    unsigned before = 0;
    (void)state;
    rig_start(&rig, RIG_LANE);
    for (int i = 0; i < 104; i++) {
        if (i == 4)
            before = rig_count_fds(&rig);
        pid_t synth = fake_spawn(&rig, ROLE_SYNTH, "", i % 2 ? FAKE_LEAVES : FAKE_WORKS);
        if (i % 2) {
            assert_int_equal(rig_wait_exit(synth), 0);
        } else {
            rig_await(&rig, "workers.0.pid", synth);
            fake_kill(synth);
        }
        for (size_t workers = 1; workers;) {
            json_t *status = rig_get(&rig, "/v1/status");
            workers = json_array_size(json_object_get(status, "workers"));
            json_decref(status);
        }
    }
    assert_int_equal(rig_count_fds(&rig), before);
    assert_int_equal(rig_number(&rig, "deaths_total.synth"), 52); /* leaving is no death */
    rig_stop(&rig);
}

/* ---- ends of jobs ---- */

static void a_job_is_cancelled_in_every_stage(void **state)
{
    struct rig rig;
    char id[17], path[40];
    (void)state;
    rig_start_with_circuit(&rig, "");
    static const char *const stages[] = {"jobs.queued", "lanes.0.slabs.filling",
                                         "lanes.0.slabs.ready", "lanes.0.slabs.proving"};
    pid_t synth = 0, gpu = 0;
    for (int i = 0; i < 4; i++) {
        if (i == 1)
            synth = fake_spawn(&rig, ROLE_SYNTH, "", FAKE_HANGS);
        if (i == 2) {
            fake_kill(synth);
            synth = fake_spawn(&rig, ROLE_SYNTH, "", FAKE_WORKS);
        }
        if (i == 3)
            gpu = fake_spawn(&rig, ROLE_GPU, "cpu", FAKE_HANGS);
        rig_submit(&rig, 1, "", id);
        rig_await(&rig, stages[i], 1);
        snprintf(path, sizeof(path), "/v1/jobs/%s", id);
        assert_int_equal(rig_status_of(&rig, "DELETE", path, NULL), 200);
        rig_expect_end(&rig, id, "cancelled", "cancelled");
        rig_expect_rest(&rig);
    }
    assert_int_equal(rig_status_of(&rig, "DELETE", path, NULL), 200); /* stays what it is */
    assert_int_equal(rig_number(&rig, "jobs.cancelled_total"), 4);
    fake_kill(synth);
    fake_kill(gpu);
    rig_stop(&rig);
}

static void a_deadline_ends_its_job(void **state)
{
    struct rig rig;
    char id[17];
    (void)state;
    rig_start_with_circuit(&rig, "");
    rig_submit(&rig, 2, "\"deadline_s\": 0.2, ", id);
    rig_expect_end(&rig, id, "failed", "deadline");
    rig_stop(&rig);
}

/* TERM, while a job is worked on and a client waits for it: how the client is answered. */
static void drain_with_waiter(struct rig *rig, const char *config, char id[17], const char *state,
                              const char *class)
{
    char path[48];
    rig_start_with_circuit(rig, config);
    pid_t synth = fake_spawn(rig, ROLE_SYNTH, "", FAKE_HANGS);
    rig_submit(rig, 1, "", id);
    rig_await(rig, "lanes.0.slabs.filling", 1);
    int waiter = rig_connect(rig->http, SOCK_STREAM);
    snprintf(path, sizeof(path), "/v1/jobs/%s?wait=60", id);
    rig_send_request(waiter, "GET", path, NULL, 0);
    kill(rig->pid, SIGTERM);
    for (json_t *status = rig_get(rig, "/v1/status");; status = rig_get(rig, "/v1/status")) {
        int draining = json_is_true(json_object_get(status, "draining"));
        json_decref(status);
        if (draining)
            break;
    }
    assert_int_equal(rig_status_of(rig, "POST", "/v1/jobs", "{}"), 503);
    assert_int_equal(rig_status_of(rig, "GET", "/readyz", NULL), 503);
    struct rig_answer answer = rig_read_answer(waiter); /* at drain_timeout */
    rig_expect_text(answer.json, "state", state);
    if (class)
        rig_expect_text(answer.json, "error_class", class);
    rig_free_answer(&answer);
    close(waiter);
    assert_int_equal(rig_wait_exit(rig->pid), 0);
    assert_int_equal(rig_wait_exit(synth), 0);
    close(rig->owner);
}

static void draining_ends_jobs_in_memory(void **state)
{
    struct rig rig;
    char id[17];
    (void)state;
    drain_with_waiter(&rig, "store = memory\n", id, "failed", "capacity");
    rig_remove(&rig);
}

static void draining_keeps_durable_jobs(void **state)
{
    struct rig rig;
    char id[17];
    (void)state;
    drain_with_waiter(&rig, "", id, "running", NULL);
    rig_launch(&rig);
    json_t *job = rig_job(&rig, id, 0);
    rig_expect_text(job, "state", "queued");
    json_decref(job);
    pid_t synth = fake_spawn(&rig, ROLE_SYNTH, "", FAKE_WORKS);
    pid_t gpu = fake_spawn(&rig, ROLE_GPU, "cpu", FAKE_WORKS);
    fake_expect_proofs(&rig, id, 1);
    rig_stop(&rig);
    assert_int_equal(rig_wait_exit(synth), 0);
    assert_int_equal(rig_wait_exit(gpu), 0);
}

/* ---- one coordinator, and nothing left ---- */

static void a_second_coordinator_is_refused(void **state)
{
    struct rig rig;
    char text[64];
    (void)state;
    rig_start(&rig, RIG_LANE);
    int out[2], log = rig_open_log(&rig);
    assert_int_equal(pipe(out), 0);
    pid_t second = rig_spawn_coordinator(&rig, 1, -1, out[1]);
    assert_int_equal(rig_wait_exit(second), EXIT_CONFIG);
    ssize_t got = read(out[0], text, sizeof(text) - 1);
    char wanted[64];
    snprintf(wanted, sizeof(wanted), "coordinator: already running (pid %d)\n", (int)rig.pid);
    assert_true(got > 0);
    text[got] = 0;
    assert_string_equal(text, wanted);
    close(out[0]);
    close(out[1]);
    close(log);
    assert_int_equal(rig_status_of(&rig, "GET", "/healthz", NULL), 200);
    rig_stop(&rig);
}

/* Shared-memory names of that process: those of others come and go. */
static unsigned count_names(pid_t pid)
{
    char mine[32];
    snprintf(mine, sizeof(mine), "pawl-%d-", (int)pid);
    return scratch_count("/dev/shm", mine);
}

static void a_killed_coordinator_is_followed_by_another(void **state)
{
    struct rig rig;
    char id[17], before[17];
    (void)state;
    rig_start_with_circuit(&rig, "");
    pid_t synth = fake_spawn(&rig, ROLE_SYNTH, "", FAKE_WORKS);
    rig_await(&rig, "workers.0.pid", synth);
    rig_submit(&rig, 2, "", before);
    rig_await(&rig, "lanes.0.slabs.ready", 2);
    kill(rig.pid, SIGKILL);
    rig_wait(rig.pid);
    close(rig.owner);
    assert_int_equal(rig_wait_exit(synth), EXIT_CAPACITY); /* at the end of its socket */
    assert_int_equal(count_names(rig.pid), 0);
    rig_launch(&rig); /* over the stale sockets and lock */
    json_t *list = rig_get(&rig, "/v1/circuits");
    rig_expect_text(json_array_get(list, 0), "name", "c"); /* names are kept */
    rig_expect_text(json_array_get(list, 0), "state", "ready");
    json_decref(list);
    synth = fake_spawn(&rig, ROLE_SYNTH, "", FAKE_WORKS);
    pid_t gpu = fake_spawn(&rig, ROLE_GPU, "cpu", FAKE_WORKS);
    rig_submit(&rig, 1, "", id);
    fake_expect_proofs(&rig, before, 2); /* accepted before: there under its id */
    fake_expect_proofs(&rig, id, 1);
    fake_kill(synth);
    fake_kill(gpu);
    assert_int_equal(count_names(rig.pid), 0);
    rig_stop(&rig);
}

static void an_owned_coordinator_ends_with_its_owner(void **state)
{
    struct rig rig;
    char path[96];
    (void)state;
    rig_prepare(&rig, RIG_LANE);
    rig_launch(&rig);
    assert_int_equal(rig_status_of(&rig, "GET", "/healthz", NULL), 200);
    close(rig.owner);
    assert_int_equal(rig_wait_exit(rig.pid), 0);
    snprintf(path, sizeof(path), "%s/run", rig.folder);
    assert_int_equal(access(path, F_OK), -1); /* sockets, lock and folder are gone */
    rig_remove(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_are_proved),
        cmocka_unit_test(an_input_at_fault_fails_its_job),
        cmocka_unit_test(results_are_checked),
        cmocka_unit_test(hellos_are_checked),
        cmocka_unit_test(a_device_has_one_worker),
        cmocka_unit_test(attaching_leaks_nothing),
        cmocka_unit_test(a_job_is_cancelled_in_every_stage),
        cmocka_unit_test(a_deadline_ends_its_job),
        cmocka_unit_test(draining_ends_jobs_in_memory),
        cmocka_unit_test(draining_keeps_durable_jobs),
        cmocka_unit_test(a_second_coordinator_is_refused),
        cmocka_unit_test(a_killed_coordinator_is_followed_by_another),
        cmocka_unit_test(an_owned_coordinator_ends_with_its_owner),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
