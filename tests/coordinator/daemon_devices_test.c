/*
 * The coordinator process and gpu-workers of more than one kind: who gets the work, where a
 * partition goes that a device has no memory for, what is told of a device that failed, and keys
 * that outlive their worker. The workers are played by children of the test.
 */
#include "tests/coordinator/daemon_rig.h"

#include "tests/coordinator/fake_worker.h"

static void start_with_synth_worker(struct rig *rig, const char *extra)
{
    rig_start_with_circuit(rig, extra);
    fake_spawn(rig, ROLE_SYNTH, "", FAKE_WORKS);
    rig_await(rig, "workers.0.seat", 0);
}

/* Waits until worker i of the status, which attaches as that device, is there. */
static pid_t spawn_gpu(const struct rig *rig, const char *device, enum fake_manner manner, int i)
{
    char path[32];
    snprintf(path, sizeof(path), "workers.%d.seat", i);
    pid_t pid = fake_spawn(rig, ROLE_GPU, device, manner);
    rig_await(rig, path, i);
    return pid;
}

static void await_fallback(const struct rig *rig, size_t worker)
{
    int is_fallback = 0;
    for (unsigned waited = 0; waited < RIG_WAIT_MS && !is_fallback; waited += 10) {
        json_t *status = rig_get(rig, "/v1/status");
        json_t *workers = json_object_get(status, "workers");
        is_fallback = json_is_true(json_object_get(json_array_get(workers, worker), "fallback"));
        json_decref(status);
        rig_sleep_ms(10);
    }
    assert_true(is_fallback);
}

static void the_cpu_is_a_fallback(void **state)
{
    struct rig rig;
    char id[17];
    (void)state;
    start_with_synth_worker(&rig, "");
    spawn_gpu(&rig, "cpu", FAKE_BLAMES_INPUT, 1); /* whatever it gets fails */
    pid_t gpu = spawn_gpu(&rig, "GPU-1", FAKE_WORKS, 2);
    rig_submit(&rig, 9, "", id);
    rig_expect_end(&rig, id, "done", NULL);
    json_t *status = rig_get(&rig, "/v1/status");
    json_t *workers = json_object_get(status, "workers");
    assert_true(json_is_true(json_object_get(json_array_get(workers, 1), "fallback")));
    assert_true(json_is_false(json_object_get(json_array_get(workers, 2), "fallback")));
    json_decref(status);
    fake_kill(gpu); /* now it is its turn */
    rig_await(&rig, "deaths_total.gpu", 1);
    rig_submit(&rig, 1, "", id);
    rig_expect_end(&rig, id, "failed", "input");
    rig_stop(&rig);
}

static void uses_are_configured(void **state)
{
    struct rig rig;
    char id[17];
    (void)state;
    start_with_synth_worker(&rig, "[device GPU-1]\nuse = fallback\n[device cpu]\nuse = always\n");
    spawn_gpu(&rig, "cpu", FAKE_WORKS, 1);
    spawn_gpu(&rig, "GPU-1", FAKE_BLAMES_INPUT, 2);
    rig_submit(&rig, 9, "", id);
    rig_expect_end(&rig, id, "done", NULL);
    rig_write_config(&rig, "[device cpu]\nuse = fallback\n" RIG_LANE); /* HUP turns it round */
    kill(rig.pid, SIGHUP);
    await_fallback(&rig, 1);
    rig_submit(&rig, 1, "", id);
    rig_expect_end(&rig, id, "failed", "input");
    rig_stop(&rig);
}

static void no_memory_goes_to_another(void **state)
{
    struct rig rig;
    char id[17];
    (void)state;
    start_with_synth_worker(&rig, "");
    pid_t cpu = spawn_gpu(&rig, "cpu", FAKE_WORKS, 1);
    spawn_gpu(&rig, "GPU-1", FAKE_NO_MEMORY, 2);
    rig_submit(&rig, 5, "", id);
    rig_expect_end(&rig, id, "done", NULL);
    json_t *job = rig_job(&rig, id, 0);
    assert_int_equal(rig_number_at(job, "partitions.0.attempts"), 0);
    json_decref(job);
    fake_kill(cpu);
    rig_await(&rig, "deaths_total.gpu", 1);
    spawn_gpu(&rig, "cpu", FAKE_NO_MEMORY, 1);
    rig_submit(&rig, 1, "", id);
    rig_expect_end(&rig, id, "failed", "capacity");
    job = rig_job(&rig, id, 0);
    assert_non_null(strstr(json_string_value(json_object_get(job, "error")),
                           "no device has memory for it; the last said: it is too large"));
    json_decref(job);
    rig_stop(&rig);
}

static void a_device_set_aside_is_told(void **state)
{
    struct rig rig;
    char id[17];
    (void)state;
    start_with_synth_worker(&rig, "[limits]\ndevice_charges = 1\n");
    spawn_gpu(&rig, "cpu", FAKE_WORKS, 1);
    spawn_gpu(&rig, "GPU-1", FAKE_BAD_RESULT, 2);
    rig_submit(&rig, 1, "", id);
    rig_expect_end(&rig, id, "done", NULL);
    json_t *status = rig_get(&rig, "/v1/status");
    json_t *workers = json_object_get(status, "workers");
    assert_true(json_is_false(json_object_get(json_array_get(workers, 1), "set_aside")));
    assert_true(json_is_true(json_object_get(json_array_get(workers, 2), "set_aside")));
    assert_int_equal(rig_number_at(status, "devices_set_aside_total"), 1);
    json_decref(status);
    rig_stop(&rig);
}

static void a_device_error_is_told(void **state)
{
    struct rig rig;
    char id[17];
    (void)state;
    start_with_synth_worker(&rig, "[limits]\ndeaths = 0\n");
    pid_t gpu = spawn_gpu(&rig, "GPU-1", FAKE_DEVICE_LOST, 1);
    rig_submit(&rig, 1, "", id);
    rig_expect_end(&rig, id, "failed", "internal");
    assert_int_equal(rig_wait_exit(gpu), EXIT_DEVICE_LOST);
    json_t *job = rig_job(&rig, id, 0);
    const char *error = json_string_value(json_object_get(job, "error"));
    assert_non_null(strstr(error, "in stage msm; CUDA error 700; last words: an address"));
    json_decref(job);
    rig_stop(&rig);
}

static void keys_outlive_their_worker(void **state)
{
    struct rig rig;
    char id[17];
    (void)state;
    start_with_synth_worker(&rig, "[workers]\nkeep_device_keys = yes\n");
    unsigned fds = rig_count_fds(&rig);
    for (int round = 0; round < 2; round++) {
        pid_t gpu = spawn_gpu(&rig, "GPU-1", FAKE_KEEPS_KEY, 1);
        rig_submit(&rig, 2, "", id);
        rig_expect_end(&rig, id, "done", NULL);
        rig_await(&rig, "device_keys.kept", 1);
        assert_int_equal(rig_number(&rig, "device_keys.bytes"), 1 << 20);
        assert_int_equal(rig_number(&rig, "device_keys.kept_total"), 1);
        assert_int_equal(rig_number(&rig, "device_keys.handed_total"), round);
        fake_kill(gpu);
        rig_await(&rig, "deaths_total.gpu", round + 1);
        /* The first left a key behind. The second was handed it, and its page tells of no proof. */
        rig_await(&rig, "device_keys.kept", !round);
        assert_int_equal(rig_count_fds(&rig), fds + !round);
    }
    spawn_gpu(&rig, "GPU-1", FAKE_KEEPS_KEY, 1);
    rig_submit(&rig, 1, "", id);
    rig_expect_end(&rig, id, "done", NULL);
    rig_await(&rig, "device_keys.kept", 1);
    assert_int_equal(rig_status_of(&rig, "DELETE", "/v1/circuits/c", NULL), 200);
    rig_await(&rig, "device_keys.kept", 0);
    rig_stop(&rig);
}

/* What is kept for a worker that is gone may be the memory that the next one lacks. */
static void no_memory_ends_the_keeping(void **state)
{
    struct rig rig;
    char id[17];
    (void)state;
    start_with_synth_worker(&rig, "[workers]\nkeep_device_keys = yes\n");
    pid_t gpu = spawn_gpu(&rig, "GPU-1", FAKE_KEEPS_KEY, 1);
    rig_submit(&rig, 1, "", id);
    rig_expect_end(&rig, id, "done", NULL);
    rig_await(&rig, "device_keys.kept", 1);
    fake_kill(gpu);
    rig_await(&rig, "deaths_total.gpu", 1);
    spawn_gpu(&rig, "GPU-1", FAKE_NO_MEMORY, 1);
    rig_submit(&rig, 1, "", id);
    rig_expect_end(&rig, id, "failed", "capacity");
    rig_await(&rig, "device_keys.kept", 0);
    rig_stop(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cpu_is_a_fallback),      cmocka_unit_test(uses_are_configured),
        cmocka_unit_test(no_memory_goes_to_another),  cmocka_unit_test(a_device_set_aside_is_told),
        cmocka_unit_test(a_device_error_is_told),     cmocka_unit_test(keys_outlive_their_worker),
        cmocka_unit_test(no_memory_ends_the_keeping),
    };
    return cmocka_run_group_tests_name("daemon_devices", tests, NULL, NULL);
}
