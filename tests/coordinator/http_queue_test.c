/*
 * The bounds of the queue, at a real coordinator process: when a job is refused, and when it is
 * not; and a kept job whose circuit has no room any more.
 */
#include "tests/coordinator/daemon_rig.h"

static void a_full_queue_says_try_later(void **state)
{
    struct rig rig;
    char first[17], second[17], path[48];
    (void)state;
    rig_start_with_circuit(&rig, "[limits]\nqueued_jobs = 2\n");
    rig_submit(&rig, 1, "", first);
    rig_submit(&rig, 1, "", second);
    struct rig_answer answer = rig_post_job(&rig, 1, "");
    assert_int_equal(answer.status, 503);
    assert_non_null(strstr(answer.head, "Retry-After: "));
    rig_free_answer(&answer);
    json_t *job = rig_job(&rig, second, 0);
    assert_int_equal(rig_number_at(job, "position"), 2);
    json_decref(job);
    snprintf(path, sizeof(path), "/v1/jobs/%s", first);
    assert_int_equal(rig_status_of(&rig, "DELETE", path, NULL), 200);
    rig_submit(&rig, 1, "", first); /* there is room again */
    rig_stop(&rig);
}

struct posting {
    int fd;
    char body[96];
};

static void prepare(const struct rig *rig, struct posting *posting)
{
    char upload[17];
    rig_upload(rig, "witness bytes", upload);
    snprintf(posting->body, sizeof(posting->body),
             "{\"circuit\": \"c\", \"partitions\": [{\"upload\": \"%s\"}]}", upload);
    posting->fd = rig_connect(rig->http, SOCK_STREAM);
}

/* Does not wait for the answer. */
static void post(const struct posting *posting)
{
    rig_send_request(posting->fd, "POST", "/v1/jobs", posting->body, strlen(posting->body));
}

static void expect_accepted(int fd, char path[48])
{
    struct rig_answer answer = rig_read_answer(fd);
    if (answer.status != 202)
        fail_msg("%s", answer.body);
    snprintf(path, 48, "/v1/jobs/%s", json_string_value(json_object_get(answer.json, "id")));
    rig_free_answer(&answer);
    close(fd);
}

/* One that waits for its commit when the next one comes is counted once. */
static void a_queue_is_full_at_its_last_place(void **state)
{
    struct rig rig;
    char first[48], second[48];
    (void)state;
    rig_start_with_circuit(&rig, "[limits]\nqueued_jobs = 2\n");
    for (unsigned round = 0; round < 20; round++) {
        struct posting one, other;
        prepare(&rig, &one);
        prepare(&rig, &other);
        post(&one);
        usleep(100 * round);
        post(&other);
        expect_accepted(one.fd, first);
        expect_accepted(other.fd, second);
        assert_int_equal(rig_status_of(&rig, "DELETE", first, NULL), 200);
        assert_int_equal(rig_status_of(&rig, "DELETE", second, NULL), 200);
    }
    rig_stop(&rig);
}

/* The slabs were made smaller between two starts: the job says so, and what to do. */
static void a_kept_job_without_a_slab_says_why(void **state)
{
    struct rig rig;
    char id[17];
    (void)state;
    rig_start(&rig, "[lane main]\nslabs = 2\nsize = 1M\n");
    rig_add_circuit(&rig, "c", "pos10/key.zkey", "ready");
    rig_submit(&rig, 1, "", id);
    kill(rig.pid, SIGTERM);
    assert_int_equal(rig_wait_exit(rig.pid), 0);
    rig_write_config(&rig, "[lane main]\nslabs = 2\nsize = 8K\n");
    rig_launch(&rig);
    json_t *job = rig_job(&rig, id, 5);
    rig_expect_text(job, "state", "failed");
    rig_expect_text(job, "error_class", "capacity");
    assert_non_null(
        strstr(json_string_value(json_object_get(job, "error")), "its circuit c needs"));
    json_decref(job);
    rig_stop(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_queue_says_try_later),
        cmocka_unit_test(a_queue_is_full_at_its_last_place),
        cmocka_unit_test(a_kept_job_without_a_slab_says_why),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
