/*
 * The coordinator process and workers that die, hang, speak nonsense or leave in mid-work: what
 * each costs, and who is charged. The workers are played by children of the test.
 */
#include "tests/coordinator/daemon_rig.h"

#include "tests/coordinator/fake_worker.h"

static void a_dead_synth_worker_costs_one_stage(void **state)
{
    struct rig rig;
    char id[17];
    (void)state;
    rig_start_with_circuit(&rig, "");
    pid_t synth = fake_spawn(&rig, ROLE_SYNTH, "", FAKE_HANGS);
    rig_submit(&rig, 1, "", id);
    rig_await(&rig, "lanes.0.slabs.filling", 1);
    fake_kill(synth);
    rig_expect_rest(&rig); /* its slab and credit are back, the job is queued again */
    json_t *job = rig_job(&rig, id, 0);
    assert_int_equal(rig_number_at(job, "partitions.0.deaths"), 1);
    rig_expect_text(json_array_get(json_object_get(job, "partitions"), 0), "state", "queued");
    json_decref(job);
    assert_int_equal(rig_number(&rig, "deaths_total.synth"), 1);
    pid_t gpu = fake_spawn(&rig, ROLE_GPU, "cpu", FAKE_WORKS);
    synth = fake_spawn(&rig, ROLE_SYNTH, "", FAKE_WORKS);
    fake_expect_proofs(&rig, id, 1);
    rig_expect_rest(&rig);
    fake_kill(synth);
    fake_kill(gpu);
    rig_stop(&rig);
}

static void a_dead_gpu_worker_costs_one_stage(void **state)
{
    struct rig rig;
    char id[17];
    (void)state;
    rig_start_with_circuit(&rig, "");
    pid_t synth = fake_spawn(&rig, ROLE_SYNTH, "", FAKE_WORKS);
    pid_t gpu = fake_spawn(&rig, ROLE_GPU, "cpu", FAKE_HANGS);
    rig_submit(&rig, 4, "", id);
    rig_await(&rig, "lanes.0.slabs.proving", 1);
    fake_kill(gpu);
    rig_await(&rig, "lanes.0.slabs.proving", 0);
    assert_int_equal(rig_number(&rig, "deaths_total.gpu"), 1);
    gpu = fake_spawn(&rig, ROLE_GPU, "cpu", FAKE_WORKS);
    fake_expect_proofs(&rig, id, 4);
    json_t *job = rig_job(&rig, id, 0);
    int64_t deaths = 0;
    for (int i = 0; i < 4; i++) {
        char path[40];
        snprintf(path, sizeof(path), "partitions.%d.deaths", i);
        deaths += rig_number_at(job, path);
    }
    assert_int_equal(deaths, 1); /* those staged behind it are not charged */
    json_decref(job);
    rig_expect_rest(&rig);
    fake_kill(synth);
    fake_kill(gpu);
    rig_stop(&rig);
}

static void a_deadly_partition_fails_with_the_obituary(void **state)
{
    struct rig rig;
    char id[17];
    (void)state;
    rig_start_with_circuit(&rig, "[limits]\ndeaths = 1\n");
    rig_submit(&rig, 1, "", id);
    for (int i = 0; i < 2; i++) {
        pid_t synth = fake_spawn(&rig, ROLE_SYNTH, "", FAKE_HANGS);
        rig_await(&rig, "lanes.0.slabs.filling", 1);
        fake_kill(synth);
        rig_await(&rig, "deaths_total.synth", i + 1);
    }
    rig_expect_end(&rig, id, "failed", "internal");
    json_t *job = rig_job(&rig, id, 0);
    const char *error = json_string_value(json_object_get(job, "error"));
    assert_non_null(strstr(error, "signal 9"));
    assert_non_null(strstr(error, "witness")); /* the stage that it was in */
    json_decref(job);
    rig_expect_rest(&rig);
    rig_stop(&rig);
}

static void expect_peer_dropped(enum fake_manner manner)
{
    struct rig rig;
    char id[17];
    rig_start_with_circuit(&rig, "");
    pid_t bad = fake_spawn(&rig, ROLE_SYNTH, "", manner);
    rig_submit(&rig, 1, "", id);
    int status = rig_wait(bad); /* it ignores the end of its socket, and is killed */
    assert_true(WIFSIGNALED(status));
    pid_t synth = fake_spawn(&rig, ROLE_SYNTH, "", FAKE_WORKS);
    pid_t gpu = fake_spawn(&rig, ROLE_GPU, "cpu", FAKE_WORKS);
    fake_expect_proofs(&rig, id, 1);
    rig_expect_rest(&rig);
    fake_kill(synth);
    fake_kill(gpu);
    rig_stop(&rig);
}

static void peers_that_speak_nonsense_are_dropped(void **state)
{
    (void)state;
    expect_peer_dropped(FAKE_GARBAGE);
    expect_peer_dropped(FAKE_WRONG_ROLE);
}

static void a_worker_that_hangs_is_ended(void **state)
{
    struct rig rig;
    char id[17];
    (void)state;
    rig_start_with_circuit(&rig, "[limits]\ndeadline.witness = 300ms\n");
    pid_t deaf = fake_spawn(&rig, ROLE_SYNTH, "", FAKE_DEAF);
    rig_submit(&rig, 1, "", id);
    int status = rig_wait(deaf);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL); /* it ignores SIGTERM */
    rig_expect_rest(&rig);
    pid_t hung = fake_spawn(&rig, ROLE_SYNTH, "", FAKE_HANGS);
    status = rig_wait(hung);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    rig_stop(&rig);
}

/* Stopped just before its assignment came: to look at, it is idle. */
static void a_worker_that_never_begins_is_ended(void **state)
{
    struct rig rig;
    char id[17];
    (void)state;
    rig_start_with_circuit(&rig, "[limits]\ndeadline.witness = 300ms\ndeadline.upload = 300ms\n");
    pid_t synth = fake_spawn(&rig, ROLE_SYNTH, "", FAKE_SLEEPS);
    pid_t gpu = fake_spawn(&rig, ROLE_GPU, "cpu", FAKE_SLEEPS);
    rig_await(&rig, "workers.1.seat", 1);
    usleep(600000); /* idle for longer than any deadline, which is no fault */
    assert_int_equal(rig_number(&rig, "deaths_total.synth"), 0);
    assert_int_equal(rig_number(&rig, "deaths_total.gpu"), 0);
    rig_submit(&rig, 2, "", id);
    int status = rig_wait(synth);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    synth = fake_spawn(&rig, ROLE_SYNTH, "", FAKE_WORKS);
    status = rig_wait(gpu);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    gpu = fake_spawn(&rig, ROLE_GPU, "cpu", FAKE_WORKS);
    fake_expect_proofs(&rig, id, 2);
    rig_expect_rest(&rig);
    fake_kill(synth);
    fake_kill(gpu);
    rig_stop(&rig);
}

/* No partition of the job was charged with anything but `deaths` deaths in all. */
static void expect_charges(const struct rig *rig, const char *id, long deaths)
{
    json_t *job = rig_job(rig, id, 20), *partition;
    size_t index;
    json_array_foreach(json_object_get(job, "partitions"), index, partition)
    {
        assert_int_equal(rig_number_at(partition, "attempts"), 0);
        deaths -= rig_number_at(partition, "deaths");
    }
    assert_int_equal(deaths, 0);
    json_decref(job);
}

static void what_a_leaving_gpu_worker_gives_back_is_not_charged(void **state)
{
    struct rig rig;
    char id[17];
    (void)state;
    rig_start_with_circuit(&rig, "[limits]\nattempts = 1\n");
    rig_await(&rig, "workers.0.pid", fake_spawn(&rig, ROLE_SYNTH, "", FAKE_WORKS));
    pid_t leaving = fake_spawn(&rig, ROLE_GPU, "cpu", FAKE_GIVES_BACK);
    rig_await(&rig, "workers.1.pid", leaving);
    rig_submit(&rig, 3, "", id);
    rig_await(&rig, "lanes.0.slabs.ready", 1); /* nobody takes them, and the job lives */
    fake_spawn(&rig, ROLE_GPU, "other", FAKE_WORKS);
    rig_await(&rig, "lanes.0.slabs.free", 2);
    fake_kill(leaving);
    fake_expect_proofs(&rig, id, 3);
    expect_charges(&rig, id, 1);
    rig_expect_rest(&rig);
    rig_stop(&rig);
}

static void what_a_leaving_synth_worker_did_not_read_is_not_charged(void **state)
{
    struct rig rig;
    char id[17];
    (void)state;
    rig_start_with_circuit(&rig, "[limits]\ndeaths = 0\n");
    for (int i = 0; i < 3; i++) {
        pid_t leaving = fake_spawn(&rig, ROLE_SYNTH, "", FAKE_LEAVES_LATE);
        if (i == 0)
            rig_submit(&rig, 1, "", id);
        assert_int_equal(rig_wait_exit(leaving), 0);
        rig_await(&rig, "jobs.running", 1);
    }
    fake_spawn(&rig, ROLE_SYNTH, "", FAKE_WORKS);
    fake_spawn(&rig, ROLE_GPU, "cpu", FAKE_WORKS);
    fake_expect_proofs(&rig, id, 1);
    expect_charges(&rig, id, 0);
    rig_expect_rest(&rig);
    rig_stop(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dead_synth_worker_costs_one_stage),
        cmocka_unit_test(a_dead_gpu_worker_costs_one_stage),
        cmocka_unit_test(a_deadly_partition_fails_with_the_obituary),
        cmocka_unit_test(peers_that_speak_nonsense_are_dropped),
        cmocka_unit_test(a_worker_that_hangs_is_ended),
        cmocka_unit_test(a_worker_that_never_begins_is_ended),
        cmocka_unit_test(what_a_leaving_gpu_worker_gives_back_is_not_charged),
        cmocka_unit_test(what_a_leaving_synth_worker_did_not_read_is_not_charged),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
