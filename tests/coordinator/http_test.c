/*
 * The HTTP face of a real coordinator process: uploads, jobs that are refused, waiting, circuits,
 * limits, and clients that do not behave.
 */
#include "tests/coordinator/daemon_rig.h"

#include <sys/resource.h>

#include "tests/coordinator/fake_worker.h"

/* The answer must have that status and blame that field (NULL: any). */
static void expect_problem(const struct rig *rig, const char *method, const char *path,
                           const char *body, int status, const char *field)
{
    struct rig_answer answer = rig_http(rig, method, path, body);
    if (answer.status != status)
        fail_msg("%s %s %s: %s", method, path, body ? body : "", answer.body);
    assert_non_null(strstr(answer.head, "Content-Type: application/problem+json"));
    assert_int_equal(rig_number_at(answer.json, "status"), status);
    assert_non_null(json_string_value(json_object_get(answer.json, "detail")));
    if (field)
        rig_expect_text(answer.json, "field", field);
    rig_free_answer(&answer);
}

/* ---- uploads ---- */

static void uploads_go_by_offset(void **state)
{
    struct rig rig;
    char id[17], path[64], body[160], hex[65];
    (void)state;
    rig_start(&rig, RIG_LANE);
    rig_open_upload(&rig, id);
    snprintf(path, sizeof(path), "/v1/uploads/%s?offset=0", id);
    assert_int_equal(rig_status_of(&rig, "PUT", path, "abc"), 200);
    struct rig_answer answer = rig_http(&rig, "PUT", path, "abc"); /* once more */
    assert_int_equal(answer.status, 409);
    assert_non_null(strstr(answer.head, "Upload-Offset: 3"));
    assert_non_null(strstr(answer.body, "3 bytes"));
    rig_free_answer(&answer);
    snprintf(path, sizeof(path), "/v1/uploads/%s?offset=3", id);
    assert_int_equal(rig_status_of(&rig, "PUT", path, "def"), 200);
    snprintf(path, sizeof(path), "/v1/uploads/%s", id);
    expect_problem(&rig, "PUT", path, "x", 400, "offset");
    snprintf(path, sizeof(path), "/v1/uploads/%s?offset=-6", id);
    expect_problem(&rig, "PUT", path, "x", 400, "offset");

    rig_hash("abcdef", 6, hex);
    snprintf(path, sizeof(path), "/v1/uploads/%s/finish", id);
    snprintf(body, sizeof(body), "{\"bytes\": 5, \"sha256\": \"%s\"}", hex);
    expect_problem(&rig, "POST", path, body, 409, "bytes");
    snprintf(body, sizeof(body), "{\"bytes\": 6, \"sha256\": \"%064d\"}", 0);
    expect_problem(&rig, "POST", path, body, 422, "sha256");
    expect_problem(&rig, "POST", path, "{\"bytes\": 6}", 400, NULL);
    snprintf(body, sizeof(body), "{\"bytes\": 6, \"sha256\": \"%s\"}", hex);
    assert_int_equal(rig_status_of(&rig, "POST", path, body), 200);
    expect_problem(&rig, "POST", path, body, 409, NULL); /* it is finished */
    snprintf(path, sizeof(path), "/v1/uploads/%s?offset=6", id);
    expect_problem(&rig, "PUT", path, "x", 409, NULL);
    expect_problem(&rig, "PUT", "/v1/uploads/0000000000000000?offset=0", "x", 404, NULL);
    expect_problem(&rig, "PUT", "/v1/uploads/no-id?offset=0", "x", 404, NULL);
    rig_stop(&rig);
}

static void uploads_are_bounded(void **state)
{
    struct rig rig;
    char id[17], path[64];
    size_t bytes = (4u << 20) + 1;
    char *big = calloc(1, bytes);
    (void)state;
    rig_start(&rig, "[limits]\nqueued_bytes = 6M\n" RIG_LANE);
    rig_open_upload(&rig, id);
    snprintf(path, sizeof(path), "/v1/uploads/%s?offset=0", id);
    struct rig_answer answer = rig_http_bytes(&rig, "PUT", path, big, bytes);
    assert_int_equal(answer.status, 413);
    rig_free_answer(&answer);
    answer = rig_http_bytes(&rig, "PUT", path, big, bytes - 1);
    assert_int_equal(answer.status, 200);
    rig_free_answer(&answer);
    snprintf(path, sizeof(path), "/v1/uploads/%s?offset=%zu", id, bytes - 1);
    answer = rig_http_bytes(&rig, "PUT", path, big, bytes - 1);
    assert_int_equal(answer.status, 413); /* will never fit */
    rig_free_answer(&answer);
    rig_open_upload(&rig, id);
    snprintf(path, sizeof(path), "/v1/uploads/%s?offset=0", id);
    answer = rig_http_bytes(&rig, "PUT", path, big, bytes - 1);
    assert_int_equal(answer.status, 503); /* may fit once the first is gone */
    assert_non_null(strstr(answer.head, "Retry-After: "));
    rig_free_answer(&answer);
    answer = rig_http_bytes(&rig, "PUT", path, big, 1 << 20); /* what fits is taken */
    assert_int_equal(answer.status, 200);
    rig_free_answer(&answer);
    free(big);
    rig_stop(&rig);
}

static void an_upload_is_used_once(void **state)
{
    struct rig rig;
    char id[17], body[200];
    (void)state;
    rig_start_with_circuit(&rig, "");
    rig_open_upload(&rig, id);
    snprintf(body, sizeof(body), "{\"circuit\": \"c\", \"partitions\": [{\"upload\": \"%s\"}]}",
             id);
    expect_problem(&rig, "POST", "/v1/jobs", body, 409, "partitions[0].upload"); /* not finished */
    rig_upload(&rig, "w", id);
    snprintf(body, sizeof(body),
             "{\"circuit\": \"c\", \"partitions\": [{\"upload\": \"%s\"}, {\"upload\": \"%s\"}]}",
             id, id);
    expect_problem(&rig, "POST", "/v1/jobs", body, 409, "partitions[1].upload");
    snprintf(body, sizeof(body),
             "{\"circuit\": \"c\", \"partitions\": [{\"upload\": \"%s\", \"name\": \"w.wtns\"}]}",
             id);
    assert_int_equal(rig_status_of(&rig, "POST", "/v1/jobs", body), 202);
    expect_problem(&rig, "POST", "/v1/jobs", body, 404, "partitions[0].upload"); /* it was used */
    rig_stop(&rig);
}

/* ---- jobs ---- */

static void wrong_jobs_are_refused(void **state)
{
    struct rig rig;
    (void)state;
    rig_start_with_circuit(&rig, "");
    static const struct {
        const char *body;
        int status;
        const char *field;
    } wrong[] = {
        {"", 400, NULL},
        {"[]", 400, NULL},
        {"{\"circuit\": \"c\"", 400, NULL},
        {"{\"circuit\": \"c\", \"circuit\": \"c\"}", 400, NULL},
        {"{\"circuit\": 1}", 422, "circuit"},
        {"{\"circuit\": \"../c\"}", 422, "circuit"},
        {"{\"partitions\": []}", 422, "partitions"},
        {"{\"circuit\": \"c\"}", 422, "partitions"},
        {"{\"circuit\": \"c\", \"partitions\": [1]}", 422, "partitions[0]"},
        {"{\"circuit\": \"c\", \"partitions\": [{}]}", 422, "partitions[0]"},
        {"{\"circuit\": \"c\", \"partitions\": [{\"path\": \"/x\"}]}", 422, "partitions[0].path"},
        {"{\"circuit\": \"c\", \"partitions\": [{\"path\": \"x\"}]}", 422, "partitions[0].path"},
        {"{\"circuit\": \"c\", \"partitions\": [{\"input\": []}]}", 422, "partitions[0].input"},
        {"{\"circuit\": \"c\", \"partitions\": [{\"input\": 0}]}", 422, "partitions[0].input"},
        {"{\"circuit\": \"c\", \"partitions\": [{\"\\u0069nput\": {}}]}", 422,
         "partitions[0].input"},
        {"{\"circuit\": \"c\", \"partitions\": [{\"input\": {}, \"path\": \"/x\"}]}", 422,
         "partitions[0].path"},
        {"{\"circuit\": \"c\", \"partitions\": [{\"input\": {]}}]}", 400, NULL},
        {"{\"circuit\": \"c\", \"partitions\": [{\"input\": {}, \"input\": {}}]}", 400, NULL},
        {"{\"circuit\": \"c\", \"partitions\": [{\"upload\": 7}]}", 422, "partitions[0].upload"},
        {"{\"circuit\": \"c\", \"partitions\": [{\"colour\": 7}]}", 422, "partitions[0].colour"},
        {"{\"circuit\": \"c\", \"partitions\": [{\"upload\": \"0123456789abcdef\"}]}", 404,
         "partitions[0].upload"},
        {"{\"circuit\": \"d\", \"partitions\": [{\"upload\": \"0123456789abcdef\"}]}", 404,
         "circuit"},
        {"{\"circuit\": \"c\", \"priority\": \"urgent\"}", 422, "priority"},
        {"{\"circuit\": \"c\", \"lane\": \"\"}", 422, "lane"},
        {"{\"circuit\": \"c\", \"deadline_s\": 0}", 422, "deadline_s"},
        {"{\"circuit\": \"c\", \"deadline_s\": \"1\"}", 422, "deadline_s"},
        {"{\"circuit\": \"c\", \"idempotency_key\": \"\"}", 422, "idempotency_key"},
        {"{\"circuit\": \"c\", \"idempotency_key\": \"a\\nb\"}", 422, "idempotency_key"},
        {"{\"circuit\": \"c\", \"colour\": 1}", 422, "colour"},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        expect_problem(&rig, "POST", "/v1/jobs", wrong[i].body, wrong[i].status, wrong[i].field);
    struct rig_answer answer = rig_post_job(&rig, 1, "\"lane\": \"express\", ");
    assert_int_equal(answer.status, 422);
    rig_expect_text(answer.json, "field", "lane");
    rig_free_answer(&answer);
    assert_int_equal(rig_number(&rig, "jobs.queued"), 0);
    rig_stop(&rig);
}

static void jobs_are_listed_newest_first(void **state)
{
    struct rig rig;
    char ids[5][17], path[64];
    (void)state;
    rig_start_with_circuit(&rig, "");
    for (int i = 0; i < 5; i++)
        rig_submit(&rig, 1, "\"priority\": \"high\", ", ids[i]);
    json_t *page = rig_get(&rig, "/v1/jobs?limit=3");
    json_t *jobs = json_object_get(page, "jobs");
    assert_int_equal(json_array_size(jobs), 3);
    for (size_t i = 0; i < 3; i++)
        rig_expect_text(json_array_get(jobs, i), "id", ids[4 - i]);
    rig_expect_text(json_array_get(jobs, 0), "priority", "high");
    snprintf(path, sizeof(path), "/v1/jobs?before=%d", (int)rig_number_at(page, "next_before"));
    json_decref(page);
    page = rig_get(&rig, path);
    jobs = json_object_get(page, "jobs");
    assert_int_equal(json_array_size(jobs), 2);
    rig_expect_text(json_array_get(jobs, 1), "id", ids[0]);
    assert_true(json_is_null(json_object_get(page, "next_before")));
    json_decref(page);
    expect_problem(&rig, "GET", "/v1/jobs?limit=0", NULL, 400, "limit");
    expect_problem(&rig, "GET", "/v1/jobs?limit=1001", NULL, 400, "limit");
    expect_problem(&rig, "GET", "/v1/jobs?before=x", NULL, 400, "before");
    expect_problem(&rig, "GET", "/v1/jobs/0123456789abcdef", NULL, 404, NULL);
    expect_problem(&rig, "DELETE", "/v1/jobs/0123456789abcdef", NULL, 404, NULL);
    rig_stop(&rig);
}

/* ---- waiting ---- */

static int start_waiting(const struct rig *rig, const char *id, const char *wait)
{
    char path[64];
    int fd = rig_connect(rig->http, SOCK_STREAM);
    snprintf(path, sizeof(path), "/v1/jobs/%s?wait=%s", id, wait);
    rig_send_request(fd, "GET", path, NULL, 0);
    return fd;
}

static void waiters_are_answered_at_the_end(void **state)
{
    struct rig rig;
    char id[17], path[48];
    int fds[3];
    (void)state;
    rig_start_with_circuit(&rig, "");
    rig_submit(&rig, 1, "", id);
    for (int i = 0; i < 3; i++)
        fds[i] = start_waiting(&rig, id, "60");
    struct rig_answer answer = rig_http(&rig, "GET", "/v1/status", NULL); /* not held up */
    rig_free_answer(&answer);
    struct pollfd early = {.fd = fds[0], .events = POLLIN};
    assert_int_equal(poll(&early, 1, 300), 0);
    snprintf(path, sizeof(path), "/v1/jobs/%s", id);
    assert_int_equal(rig_status_of(&rig, "DELETE", path, NULL), 200);
    for (int i = 0; i < 3; i++) {
        answer = rig_read_answer(fds[i]);
        rig_expect_text(answer.json, "state", "cancelled");
        rig_free_answer(&answer);
        close(fds[i]);
    }
    rig_submit(&rig, 1, "", id);
    int fd = start_waiting(&rig, id, "0.2"); /* its time is up */
    answer = rig_read_answer(fd);
    rig_expect_text(answer.json, "state", "queued");
    rig_free_answer(&answer);
    close(fd);
    snprintf(path, sizeof(path), "/v1/jobs/%s?wait=soon", id);
    expect_problem(&rig, "GET", path, NULL, 400, "wait");
    rig_stop(&rig);
}

static void waiters_that_went_away_are_dropped(void **state)
{
    struct rig rig;
    char id[17];
    unsigned fds = 0;
    (void)state;
    rig_start_with_circuit(&rig, "");
    rig_submit(&rig, 1, "", id);
    unsigned before = rig_count_fds(&rig);
    for (int i = 0; i < 20; i++)
        close(start_waiting(&rig, id, "60"));
    for (unsigned waited = 0; waited < RIG_WAIT_MS; waited += 50) {
        fds = rig_count_fds(&rig);
        if (fds <= before)
            break;
        rig_sleep_ms(50);
    }
    assert_true(fds <= before);
    assert_int_equal(rig_status_of(&rig, "GET", "/healthz", NULL), 200);
    rig_stop(&rig);
}

/* While a request waits, its connection may bring the next one already. */
static void pipelined_requests_do_no_harm(void **state)
{
    struct rig rig;
    char id[17], request[200], path[48];
    (void)state;
    rig_start_with_circuit(&rig, "");
    rig_submit(&rig, 1, "", id);
    int fd = rig_connect(rig.http, SOCK_STREAM);
    snprintf(request, sizeof(request), "GET /v1/jobs/%s?wait=60 HTTP/1.1\r\nHost: x\r\n\r\n", id);
    rig_write(fd, request, strlen(request));
    rig_sleep_ms(100);
    rig_send_request(fd, "GET", "/healthz", NULL, 0);
    rig_sleep_ms(200);
    snprintf(path, sizeof(path), "/v1/jobs/%s", id);
    assert_int_equal(rig_status_of(&rig, "DELETE", path, NULL), 200);
    struct rig_answer answer = rig_read_answer(fd); /* both, one after the other */
    assert_non_null(strstr(answer.body, "cancelled"));
    assert_non_null(strstr(answer.body, "ok\n"));
    rig_free_answer(&answer);
    close(fd);
    rig_stop(&rig);
}

/* ---- circuits ---- */

static void circuits_come_and_go(void **state)
{
    struct rig rig;
    char id[17], folder[2048], body[4200];
    (void)state;
    rig_start_with_circuit(&rig, "");
    json_t *list = rig_get(&rig, "/v1/circuits"), *circuit = json_array_get(list, 0);
    rig_expect_text(circuit, "curve", "bn128");
    assert_int_equal(strlen(json_string_value(json_object_get(circuit, "hash"))), 64);
    assert_true(rig_number_at(circuit, "wires") > 1 && rig_number_at(circuit, "domain") >= 2);
    json_decref(list);
    rig_submit(&rig, 1, "", id);
    expect_problem(&rig, "DELETE", "/v1/circuits/c", NULL, 409, NULL); /* a job waits for it */
    assert_int_equal(rig_status_of(&rig, "DELETE", "/v1/circuits/c?force=1", NULL), 200);
    expect_problem(&rig, "DELETE", "/v1/circuits/c", NULL, 404, NULL);
    pid_t synth = fake_spawn(&rig, ROLE_SYNTH, "", FAKE_WORKS);
    pid_t gpu = fake_spawn(&rig, ROLE_GPU, "cpu", FAKE_WORKS);
    rig_expect_end(&rig, id, "done", NULL); /* what was accepted is done all the same */
    fake_kill(synth);
    fake_kill(gpu);
    assert_non_null(getcwd(folder, sizeof(folder)));
    snprintf(body, sizeof(body), "{\"zkey_path\": \"%s/tests/fixtures\"}", folder);
    expect_problem(&rig, "PUT", "/v1/circuits/d", body, 422, "zkey_path");
    static const struct {
        const char *path, *body, *field;
        int status;
    } wrong[] = {{"/v1/circuits/.d", "{}", "name", 422},
                 {"/v1/circuits/d", "{}", "zkey_path", 422},
                 {"/v1/circuits/d", "x", NULL, 400},
                 {"/v1/circuits/d", "{\"zkey_path\": \"key.zkey\"}", "zkey_path", 422},
                 {"/v1/circuits/d", "{\"zkey_path\": \"/no/such\"}", "zkey_path", 422},
                 {"/v1/circuits/d", "{\"r1cs_path\": 7}", "r1cs_path", 422},
                 {"/v1/circuits/d", "{\"program_path\": 7}", "program_path", 422},
                 {"/v1/circuits/d", "{\"colour\": 1}", "colour", 422}};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        expect_problem(&rig, "PUT", wrong[i].path, wrong[i].body, wrong[i].status, wrong[i].field);
    rig_stop(&rig);
}

static void a_key_that_is_none_fails(void **state)
{
    struct rig rig;
    (void)state;
    rig_start(&rig, RIG_LANE);
    rig_add_circuit(&rig, "c", "mul2/w1.wtns", "failed");
    json_t *list = rig_get(&rig, "/v1/circuits");
    const char *error = json_string_value(json_object_get(json_array_get(list, 0), "error"));
    assert_non_null(strstr(error, "mul2/w1.wtns: Invalid File format"));
    rig_expect_text(json_array_get(list, 0), "error_class", "input");
    json_decref(list);
    struct rig_answer answer = rig_post_job(&rig, 1, "");
    assert_int_equal(answer.status, 409);
    rig_free_answer(&answer);
    rig_add_circuit(&rig, "c", "mul2/key.zkey", "ready"); /* a right one mends it */
    rig_stop(&rig);
}

static void a_circuit_that_fits_no_lane_fails(void **state)
{
    struct rig rig;
    (void)state;
    rig_start(&rig, RIG_LANE);
    rig_add_circuit(&rig, "c", "pos10/key.zkey", "failed");
    json_t *list = rig_get(&rig, "/v1/circuits");
    const char *error = json_string_value(json_object_get(json_array_get(list, 0), "error"));
    assert_non_null(strstr(error, "size = "));
    assert_non_null(strstr(error, "[lane main]"));
    rig_expect_text(json_array_get(list, 0), "error_class", "capacity");
    json_decref(list);
    rig_stop(&rig);
}

/* ---- the rest ---- */

static void paths_and_methods_are_told_apart(void **state)
{
    struct rig rig;
    (void)state;
    rig_start(&rig, RIG_LANE);
    expect_problem(&rig, "GET", "/v2/jobs", NULL, 404, NULL);
    expect_problem(&rig, "GET", "/v1/jobs/a/b", NULL, 404, NULL);
    struct rig_answer answer = rig_http(&rig, "PUT", "/v1/jobs", "{}");
    assert_int_equal(answer.status, 405);
    assert_non_null(strstr(answer.head, "Allow: GET, POST"));
    rig_free_answer(&answer);
    answer = rig_http(&rig, "GET", "/metrics", NULL);
    assert_non_null(strstr(answer.body, "pawl_slabs{lane=\"main\",state=\"free\"} 3\n"));
    assert_non_null(strstr(answer.body, "pawl_credits_available{lane=\"main\"} "));
    assert_non_null(strstr(answer.body, "pawl_jobs_total{result=\"done\"} 0\n"));
    assert_non_null(strstr(answer.body, "pawl_registered_bytes 0\n"));
    assert_non_null(strstr(answer.body, "pawl_device_keys 0\n"));
    assert_non_null(strstr(answer.body, "pawl_device_keys_handed_total 0\n"));
    rig_free_answer(&answer);
    rig_stop(&rig);
}

static void bodies_are_bounded(void **state)
{
    struct rig rig;
    size_t bytes = 5000;
    char *body = malloc(bytes);
    (void)state;
    memset(body, ' ', bytes);
    rig_start(&rig, "[http]\nmax_body = 4K\n" RIG_LANE);
    struct rig_answer answer = rig_http_bytes(&rig, "POST", "/v1/jobs", body, bytes);
    assert_int_equal(answer.status, 413);
    rig_free_answer(&answer);
    free(body);
    rig_stop(&rig);
}

static void garbage_is_survived(void **state)
{
    struct rig rig;
    static const char *const garbage[] = {"\r\n\r\n\r\n",
                                          "GET\r\n\r\n",
                                          "\x16\x03\x01 hello\r\n\r\n",
                                          "GET / HTTP/9.9\r\n\r\n",
                                          "POST /v1/jobs HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
                                          "POST /v1/jobs HTTP/1.1\r\nContent-Length: 99\r\n\r\nx"};
    (void)state;
    rig_start(&rig, RIG_LANE);
    unsigned before = rig_count_fds(&rig);
    for (size_t i = 0; i < sizeof(garbage) / sizeof(garbage[0]); i++) {
        int fd = rig_connect(rig.http, SOCK_STREAM);
        rig_write(fd, garbage[i], strlen(garbage[i]));
        rig_sleep_ms(20);
        close(fd);
    }
    char *deep = malloc(200001);
    memset(deep, '[', 200000);
    deep[200000] = 0;
    expect_problem(&rig, "POST", "/v1/jobs", deep, 400, NULL);
    free(deep);
    rig_sleep_ms(100);
    assert_true(rig_count_fds(&rig) <= before);
    rig_stop(&rig);
}

/* ---- want of fds ---- */

#define FEW_FDS 128
#define CLIENTS 200

static void allow_few_fds(const struct rig *rig)
{
    const struct rlimit few = {FEW_FDS, FEW_FDS};
    assert_int_equal(prlimit(rig->pid, RLIMIT_NOFILE, &few, NULL), 0);
}

/* Clients that ask for nothing take no fd from workers, whose work goes on. */
static void idle_clients_leave_fds_to_workers(void **state)
{
    struct rig rig;
    char id[17];
    int idle[CLIENTS];
    (void)state;
    rig_start_with_circuit(&rig, "");
    rig_submit(&rig, 3, "", id);
    int waiting = start_waiting(&rig, id, "60");
    rig_sleep_ms(100);
    allow_few_fds(&rig);
    for (int i = 0; i < CLIENTS; i++)
        idle[i] = rig_connect(rig.http, SOCK_STREAM);
    pid_t synth = fake_spawn(&rig, ROLE_SYNTH, "", FAKE_WORKS);
    pid_t gpu = fake_spawn(&rig, ROLE_GPU, "cpu", FAKE_WORKS);
    struct rig_answer answer = rig_read_answer(waiting);
    rig_expect_text(answer.json, "state", "done");
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(
            rig_number_at(json_array_get(json_object_get(answer.json, "partitions"), i), "deaths"),
            0);
    rig_free_answer(&answer);
    close(waiting);
    for (int i = 0; i < CLIENTS; i++)
        close(idle[i]);
    fake_kill(synth);
    fake_kill(gpu);
    rig_stop(&rig);
}

/* Nor do uploads, finished or not, and they leave connections their share. */
static void uploads_leave_fds_to_others(void **state)
{
    struct rig rig;
    struct rig_answer answer = {0};
    char id[17];
    int opened = 0, status = 0;
    (void)state;
    rig_start(&rig, RIG_LANE);
    allow_few_fds(&rig);
    for (int i = 0; i < 10; i++)
        rig_upload(&rig, "w", id);
    for (; status != 503 && opened < FEW_FDS; opened++) {
        answer = rig_http(&rig, "POST", "/v1/uploads", "");
        status = answer.status;
        if (status == 503)
            assert_non_null(strstr(answer.body, "RLIMIT_NOFILE"));
        rig_free_answer(&answer);
    }
    assert_in_range(opened, 10, FEW_FDS / 2);
    assert_true(rig_count_fds(&rig) <= FEW_FDS / 2 + 4);
    assert_int_equal(rig_status_of(&rig, "GET", "/healthz", NULL), 200);
    rig_stop(&rig);
}

/* ---- HUP ---- */

static void limits_are_read_again(void **state)
{
    struct rig rig;
    char id[17];
    (void)state;
    rig_start_with_circuit(&rig, "[limits]\nqueued_jobs = 1\n");
    rig_submit(&rig, 1, "", id);
    struct rig_answer answer = rig_post_job(&rig, 1, "");
    assert_int_equal(answer.status, 503);
    rig_free_answer(&answer);
    rig_write_config(&rig, "[limits]\nqueued_jobs = 9\n[lane main]\nslabs = 2\nsize = 64K\n"
                           "credits = 1\n");
    kill(rig.pid, SIGHUP);
    rig_await(&rig, "lanes.0.credits.limit", 1);
    assert_int_equal(rig_number(&rig, "lanes.0.slabs.free"), 3); /* geometry needs a restart */
    rig_submit(&rig, 1, "", id);
    rig_write_config(&rig, "[limits]\nqueued_jobz = 1\n"); /* a mistake changes nothing */
    kill(rig.pid, SIGHUP);
    rig_sleep_ms(200);
    assert_int_equal(rig_number(&rig, "lanes.0.credits.limit"), 1);
    rig_stop(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uploads_go_by_offset),
        cmocka_unit_test(uploads_are_bounded),
        cmocka_unit_test(an_upload_is_used_once),
        cmocka_unit_test(wrong_jobs_are_refused),
        cmocka_unit_test(jobs_are_listed_newest_first),
        cmocka_unit_test(waiters_are_answered_at_the_end),
        cmocka_unit_test(waiters_that_went_away_are_dropped),
        cmocka_unit_test(pipelined_requests_do_no_harm),
        cmocka_unit_test(circuits_come_and_go),
        cmocka_unit_test(a_key_that_is_none_fails),
        cmocka_unit_test(a_circuit_that_fits_no_lane_fails),
        cmocka_unit_test(paths_and_methods_are_told_apart),
        cmocka_unit_test(bodies_are_bounded),
        cmocka_unit_test(garbage_is_survived),
        cmocka_unit_test(idle_clients_leave_fds_to_workers),
        cmocka_unit_test(uploads_leave_fds_to_others),
        cmocka_unit_test(limits_are_read_again),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
