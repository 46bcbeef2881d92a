/*
 * A real coordinator process in a folder of its own, a small HTTP client for its socket, and
 * workers played by forked children. Header only.
 */
#ifndef PAWL_TESTS_COORDINATOR_DAEMON_RIG_H
#define PAWL_TESTS_COORDINATOR_DAEMON_RIG_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <openssl/evp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/scratch.h"

#define RIG_WAIT_MS 20000 /* nothing takes so long, save on a machine that stands still */

struct rig {
    char folder[SCRATCH_PATH_BYTES], socket[96], http[104], config[96];
    pid_t pid;
    int owner; /* write end of the owner pipe */
};

/* ---- processes ---- */

static inline void rig_sleep_ms(unsigned ms)
{
    struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    nanosleep(&pause, NULL);
}

/* The exit status of a child, which must end in time. */
static inline int rig_wait(pid_t pid)
{
    int status = 0;
    for (unsigned waited = 0; waited < RIG_WAIT_MS; waited += 5) {
        if (waitpid(pid, &status, WNOHANG) == pid)
            return status;
        rig_sleep_ms(5);
    }
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    fail_msg("process %d did not end", (int)pid);
    return status;
}

static inline int rig_wait_exit(pid_t pid)
{
    int status = rig_wait(pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static inline void rig_program(char *out, size_t bytes, const char *name)
{
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    assert_true(length > 0);
    self[length] = 0;
    for (int up = 0; up < 3; up++) /* BUILD/tests/coordinator/NAME */
        *strrchr(self, '/') = 0;
    assert_true(snprintf(out, bytes, "%s/bin/%s", self, name) < (int)bytes);
}

static inline pid_t rig_spawn_coordinator(const struct rig *rig, int ready, int owner, int log)
{
    char program[4096], ready_text[16], owner_text[16];
    rig_program(program, sizeof(program), "coordinator");
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid)
        return pid;
    dup2(log, 2);
    snprintf(ready_text, sizeof(ready_text), "%d", ready);
    snprintf(owner_text, sizeof(owner_text), "%d", owner);
    if (owner >= 0)
        execl(program, "coordinator", "--config", rig->config, "--ready-fd", ready_text,
              "--owner-fd", owner_text, NULL);
    else
        execl(program, "coordinator", "--config", rig->config, "--ready-fd", ready_text, NULL);
    _exit(127);
}

static inline int rig_open_log(const struct rig *rig)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/log", rig->folder);
    int log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    assert_true(log >= 0);
    return log;
}

/* Starts the coordinator and waits until it listens. It ends with us, whatever happens to us. */
static inline void rig_launch(struct rig *rig)
{
    int ready[2], owner[2], log = rig_open_log(rig);
    char byte;
    assert_int_equal(pipe(ready), 0);
    fcntl(ready[0], F_SETFD, FD_CLOEXEC);
    assert_int_equal(pipe(owner), 0);
    fcntl(owner[1], F_SETFD, FD_CLOEXEC);
    rig->pid = rig_spawn_coordinator(rig, ready[1], owner[0], log);
    rig->owner = owner[1];
    close(ready[1]);
    close(log);
    close(owner[0]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(byte, '\n');
    close(ready[0]);
}

/* extra: further lines for pawl.ini, beginning with a section's. */
static inline void rig_write_config(const struct rig *rig, const char *extra)
{
    FILE *file = fopen(rig->config, "w");
    assert_non_null(file);
    fprintf(file,
            "[pawl]\nsocket = %s\nstate_dir = %s/state\nrun_dir = %s/run\ndrain_timeout = 1s\n",
            rig->socket, rig->folder, rig->folder);
    fprintf(file, "%s\n", extra);
    fclose(file);
}

#define RIG_LANE "[lane main]\nslabs = 3\nsize = 64K\ncredits = 2\n"

static inline void rig_prepare(struct rig *rig, const char *extra)
{
    memset(rig, 0, sizeof(*rig));
    assert_int_equal(scratch_make(rig->folder, "rig"), 0);
    snprintf(rig->socket, sizeof(rig->socket), "%s/run/s", rig->folder);
    snprintf(rig->http, sizeof(rig->http), "%s.http", rig->socket);
    snprintf(rig->config, sizeof(rig->config), "%s/pawl.ini", rig->folder);
    rig_write_config(rig, extra);
}

static inline void rig_start(struct rig *rig, const char *extra)
{
    rig_prepare(rig, extra);
    rig_launch(rig);
}

static inline void rig_remove(struct rig *rig)
{
    scratch_remove(rig->folder);
}

static inline void rig_stop(struct rig *rig)
{
    kill(rig->pid, SIGTERM);
    assert_int_equal(rig_wait_exit(rig->pid), 0);
    close(rig->owner);
    assert_int_equal(access(rig->socket, F_OK), -1);
    assert_int_equal(access(rig->http, F_OK), -1);
    rig_remove(rig);
}

/* Once it stands still: connections of requests just answered take a moment to close. */
static inline unsigned rig_count_fds(const struct rig *rig)
{
    char path[64];
    unsigned count = 0, same = 0;
    snprintf(path, sizeof(path), "/proc/%d/fd", (int)rig->pid);
    while (same < 10) {
        unsigned now = scratch_count(path, "");
        same = now == count ? same + 1 : 0;
        count = now;
        rig_sleep_ms(10);
    }
    return count;
}

/* ---- HTTP ---- */

struct rig_answer {
    int status;
    char head[4096];
    char *body; /* NUL-terminated */
    size_t bytes;
    json_t *json; /* NULL where the body is none */
};

static inline int rig_connect(const char *path, int type)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    return fd;
}

static inline void rig_write(int fd, const void *data, size_t bytes)
{
    while (bytes) {
        ssize_t sent = send(fd, data, bytes, MSG_NOSIGNAL);
        if (sent <= 0)
            return; /* the answer, if any, says why */
        data = (const char *)data + sent;
        bytes -= (size_t)sent;
    }
}

static inline char *rig_read_all(int fd, size_t *bytes)
{
    size_t room = 1 << 16;
    char *text = malloc(room);
    *bytes = 0;
    for (;;) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        assert_true(poll(&wait, 1, RIG_WAIT_MS) == 1);
        ssize_t got = recv(fd, text + *bytes, room - *bytes - 1, 0);
        if (got <= 0)
            break;
        *bytes += (size_t)got;
        if (room - *bytes < 4096)
            text = realloc(text, room *= 2);
    }
    text[*bytes] = 0;
    return text;
}

/* Takes HTTP's chunks out of the text. */
static inline size_t rig_join_chunks(char *text)
{
    char *from = text, *to = text;
    for (;;) {
        char *end;
        size_t length = strtoul(from, &end, 16);
        if (length == 0)
            break;
        from = end + 2;
        memmove(to, from, length);
        to += length;
        from += length + 2;
    }
    *to = 0;
    return (size_t)(to - text);
}

static inline struct rig_answer rig_read_answer(int fd)
{
    struct rig_answer answer = {0};
    char *text = rig_read_all(fd, &answer.bytes), *body = strstr(text, "\r\n\r\n");
    assert_non_null(body);
    snprintf(answer.head, sizeof(answer.head), "%.*s", (int)(body - text), text);
    assert_int_equal(sscanf(text, "HTTP/1.1 %d", &answer.status), 1);
    answer.bytes -= (size_t)(body + 4 - text);
    answer.body = malloc(answer.bytes + 1);
    memcpy(answer.body, body + 4, answer.bytes + 1);
    if (strstr(answer.head, "chunked"))
        answer.bytes = rig_join_chunks(answer.body);
    answer.json = json_loads(answer.body, JSON_REJECT_DUPLICATES, NULL);
    free(text);
    return answer;
}

static inline void rig_send_request(int fd, const char *method, const char *path, const void *body,
                                    size_t bytes)
{
    char head[1024];
    int length = snprintf(head, sizeof(head),
                          "%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                          "Content-Length: %zu\r\n\r\n",
                          method, path, bytes);
    rig_write(fd, head, (size_t)length);
    rig_write(fd, body, bytes);
}

static inline struct rig_answer rig_http_bytes(const struct rig *rig, const char *method,
                                               const char *path, const void *body, size_t bytes)
{
    int fd = rig_connect(rig->http, SOCK_STREAM);
    rig_send_request(fd, method, path, body, bytes);
    struct rig_answer answer = rig_read_answer(fd);
    close(fd);
    return answer;
}

static inline struct rig_answer rig_http(const struct rig *rig, const char *method,
                                         const char *path, const char *body)
{
    return rig_http_bytes(rig, method, path, body, body ? strlen(body) : 0);
}

static inline void rig_free_answer(struct rig_answer *answer)
{
    free(answer->body);
    json_decref(answer->json);
}

/* The answer's status alone. */
static inline int rig_status_of(const struct rig *rig, const char *method, const char *path,
                                const char *body)
{
    struct rig_answer answer = rig_http(rig, method, path, body);
    int status = answer.status;
    rig_free_answer(&answer);
    return status;
}

/* The JSON of a GET, the caller's. */
static inline json_t *rig_get(const struct rig *rig, const char *path)
{
    struct rig_answer answer = rig_http(rig, "GET", path, NULL);
    json_t *json = json_incref(answer.json);
    assert_int_equal(answer.status, 200);
    assert_non_null(json);
    rig_free_answer(&answer);
    return json;
}

/* A number by its path, "lanes.0.credits.available"; -1 where there is none. */
static inline int64_t rig_number_at(const json_t *json, const char *path)
{
    char step[64];
    while (*path) {
        size_t length = strcspn(path, ".");
        snprintf(step, sizeof(step), "%.*s", (int)length, path);
        json = json_is_array(json) ? json_array_get(json, (size_t)atoi(step))
                                   : json_object_get(json, step);
        path += length + (path[length] == '.');
    }
    return json_is_number(json) ? (int64_t)json_number_value(json) : -1;
}

static inline int64_t rig_number(const struct rig *rig, const char *path)
{
    json_t *status = rig_get(rig, "/v1/status");
    int64_t number = rig_number_at(status, path);
    json_decref(status);
    return number;
}

/* Waits until a number of the status is `wanted`. */
static inline void rig_await(const struct rig *rig, const char *path, int64_t wanted)
{
    int64_t number = -1;
    for (unsigned waited = 0; waited < RIG_WAIT_MS; waited += 10) {
        number = rig_number(rig, path);
        if (number == wanted)
            return;
        rig_sleep_ms(10);
    }
    fail_msg("%s is %" PRId64 ", not %" PRId64, path, number, wanted);
}

/* ---- jobs ---- */

static inline void rig_hash(const void *data, size_t bytes, char out[65])
{
    unsigned char digest[32];
    unsigned length;
    assert_int_equal(EVP_Digest(data, bytes, digest, &length, EVP_sha256(), NULL), 1);
    for (int i = 0; i < 32; i++)
        snprintf(out + 2 * i, 3, "%02x", digest[i]);
}

static inline void rig_open_upload(const struct rig *rig, char id[17])
{
    struct rig_answer answer = rig_http(rig, "POST", "/v1/uploads", NULL);
    assert_int_equal(answer.status, 201);
    snprintf(id, 17, "%s", json_string_value(json_object_get(answer.json, "upload")));
    rig_free_answer(&answer);
}

static inline void rig_upload(const struct rig *rig, const char *text, char id[17])
{
    char path[64], body[160], hex[65];
    rig_open_upload(rig, id);
    snprintf(path, sizeof(path), "/v1/uploads/%s?offset=0", id);
    assert_int_equal(rig_status_of(rig, "PUT", path, text), 200);
    rig_hash(text, strlen(text), hex);
    snprintf(path, sizeof(path), "/v1/uploads/%s/finish", id);
    snprintf(body, sizeof(body), "{\"bytes\": %zu, \"sha256\": \"%s\"}", strlen(text), hex);
    assert_int_equal(rig_status_of(rig, "POST", path, body), 200);
}

/* extra: further fields of the job, each followed by a comma. */
static inline struct rig_answer rig_post_job(const struct rig *rig, unsigned partitions,
                                             const char *extra)
{
    char body[4096], upload[17];
    size_t at =
        (size_t)snprintf(body, sizeof(body), "{\"circuit\": \"c\", %s\"partitions\": [", extra);
    for (unsigned i = 0; i < partitions; i++) {
        rig_upload(rig, "witness bytes", upload);
        at += (size_t)snprintf(body + at, sizeof(body) - at, "%s{\"upload\": \"%s\"}", i ? "," : "",
                               upload);
    }
    snprintf(body + at, sizeof(body) - at, "]}");
    return rig_http(rig, "POST", "/v1/jobs", body);
}

static inline void rig_submit(const struct rig *rig, unsigned partitions, const char *extra,
                              char id[17])
{
    struct rig_answer answer = rig_post_job(rig, partitions, extra);
    if (answer.status != 202)
        fail_msg("%s", answer.body);
    snprintf(id, 17, "%s", json_string_value(json_object_get(answer.json, "id")));
    rig_free_answer(&answer);
}

static inline json_t *rig_job(const struct rig *rig, const char *id, unsigned wait_s)
{
    char path[64];
    snprintf(path, sizeof(path), "/v1/jobs/%s?wait=%u", id, wait_s);
    return rig_get(rig, path);
}

static inline void rig_expect_text(const json_t *json, const char *key, const char *text)
{
    const char *found = json_string_value(json_object_get(json, key));
    if (!found || strcmp(found, text) != 0)
        fail_msg("%s is %s, not %s", key, found ? found : "null", text);
}

/* Waits for the job's end, which must be in that state with that class (NULL: none). */
static inline void rig_expect_end(const struct rig *rig, const char *id, const char *state,
                                  const char *class)
{
    json_t *job = rig_job(rig, id, 20);
    rig_expect_text(job, "state", state);
    if (class)
        rig_expect_text(job, "error_class", class);
    else
        assert_true(json_is_null(json_object_get(job, "error_class")));
    json_decref(job);
}

/* Adds a key of the fixtures as circuit `name` and waits for its state. */
static inline void rig_add_circuit(const struct rig *rig, const char *name, const char *file,
                                   const char *state)
{
    char path[128], body[4200], folder[4096];
    assert_non_null(getcwd(folder, sizeof(folder)));
    snprintf(path, sizeof(path), "/v1/circuits/%s", name);
    snprintf(body, sizeof(body), "{\"zkey_path\": \"%s/tests/fixtures/bn128/%s\"}", folder, file);
    assert_int_equal(rig_status_of(rig, "PUT", path, body), 202);
    for (unsigned waited = 0; waited < RIG_WAIT_MS; waited += 10) {
        json_t *list = rig_get(rig, "/v1/circuits");
        const char *now = json_string_value(json_object_get(json_array_get(list, 0), "state"));
        int is_compiling = now && strcmp(now, "compiling") == 0;
        if (!is_compiling)
            rig_expect_text(json_array_get(list, 0), "state", state);
        json_decref(list);
        if (!is_compiling)
            return;
        rig_sleep_ms(10);
    }
    fail_msg("circuit %s is compiled for too long", name);
}

/* A coordinator with circuit `c`; extra: sections before the lane's. */
static inline void rig_start_with_circuit(struct rig *rig, const char *extra)
{
    char config[1024];
    snprintf(config, sizeof(config), "%s%s", extra, RIG_LANE);
    rig_start(rig, config);
    rig_add_circuit(rig, "c", "mul2/key.zkey", "ready");
}

/* At rest every slab is FREE and every credit back, whatever happened before. */
static inline void rig_expect_rest(const struct rig *rig)
{
    rig_await(rig, "lanes.0.slabs.free", 3);
    json_t *status = rig_get(rig, "/v1/status");
    assert_int_equal(rig_number_at(status, "lanes.0.credits.available"),
                     rig_number_at(status, "lanes.0.credits.limit"));
    assert_int_equal(rig_number_at(status, "lanes.0.credits.taken_total"),
                     rig_number_at(status, "lanes.0.credits.returned_total"));
    assert_int_equal(rig_number_at(status, "lanes.0.credits.taken_total"),
                     rig_number_at(status, "lanes.0.grants_total"));
    json_decref(status);
}

#endif
