/*
 * Uploads and inputs over a real disk thread: what may be done when, who owns what, and that
 * nothing is left of what is not taken.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <openssl/evp.h>

#include "coordinator/clock.h"
#include "coordinator/config.h"
#include "coordinator/disk_thread.h"
#include "coordinator/inputs.h"
#include "coordinator/service.h"
#include "coordinator/spool_file.h"
#include "coordinator/store.h"
#include "coordinator/uploads.h"
#include "tests/support/scratch.h"

struct rig {
    char folder[SCRATCH_PATH_BYTES];
    struct service service;
    struct config config;
    struct clock_meter meter;
    struct spool spool;
    struct uploads uploads;
};

static struct rig *rig_make(int in_memory)
{
    struct rig *rig = calloc(1, sizeof(*rig));
    const struct store_limits limits = {.queued_jobs = 10, .queued_bytes = 100, .kept_jobs = 10};
    assert_non_null(rig);
    assert_int_equal(scratch_make(rig->folder, "uploads"), 0);
    struct service *service = &rig->service;
    service->base = event_base_new();
    service->store = store_memory_create(&limits);
    service->config = &rig->config;
    service->spool = &rig->spool;
    service->uploads = &rig->uploads;
    assert_int_equal(disk_thread_start(&service->disk, service->base, &rig->meter), 0);
    assert_int_equal(spool_open(&rig->spool, in_memory ? NULL : rig->folder), 0);
    uploads_init(&rig->uploads, service->store, &rig->spool, service->disk, 100);
    rig->config.path_root_count = 1;
    strcpy(rig->config.path_roots[0], rig->folder);
    return rig;
}

static unsigned spool_count(const struct rig *rig)
{
    char path[128];
    unsigned count = 0;
    snprintf(path, sizeof(path), "%s/spool", rig->folder);
    DIR *folder = opendir(path);
    for (const struct dirent *entry; folder && (entry = readdir(folder));)
        count += entry->d_name[0] != '.';
    if (folder)
        closedir(folder);
    return count;
}

static void rig_free(struct rig *rig)
{
    disk_thread_drain(rig->service.disk);
    uploads_free(&rig->uploads);
    assert_int_equal(spool_count(rig), 0);
    disk_thread_stop(rig->service.disk);
    spool_close(&rig->spool);
    rig->service.store->destroy(rig->service.store);
    event_base_free(rig->service.base);
    assert_int_equal(scratch_remove(rig->folder), 0);
    free(rig);
}

/* ---- uploads ---- */

struct told {
    int count, error;
    uint64_t id, have;
};

static void on_answer(void *arg, int error, uint64_t id, uint64_t have)
{
    struct told *told = arg;
    told->count++;
    told->error = error;
    told->id = id;
    told->have = have;
}

static uint64_t create(struct rig *rig)
{
    struct told told = {0};
    uploads_create(&rig->uploads, 1, on_answer, &told);
    assert_int_equal(told.count, 0); /* not before the disk has done its part */
    disk_thread_drain(rig->service.disk);
    assert_int_equal(told.count, 1);
    assert_int_equal(told.error, 0);
    return told.id;
}

static void start_append(struct rig *rig, uint64_t id, uint64_t offset, const char *text,
                         struct told *told)
{
    struct evbuffer *part = evbuffer_new();
    *told = (struct told){0};
    evbuffer_add(part, text, strlen(text));
    uploads_append(&rig->uploads, id, offset, part, 2, on_answer, told);
    evbuffer_free(part);
}

static int append(struct rig *rig, uint64_t id, uint64_t offset, const char *text)
{
    struct told told;
    start_append(rig, id, offset, text, &told);
    disk_thread_drain(rig->service.disk);
    assert_int_equal(told.count, 1);
    return told.error;
}

static int finish(struct rig *rig, uint64_t id, const char *text)
{
    struct told told = {0};
    uint8_t digest[32];
    unsigned length;
    EVP_Digest(text, strlen(text), digest, &length, EVP_sha256(), NULL);
    uploads_finish(&rig->uploads, id, strlen(text), digest, 3, on_answer, &told);
    disk_thread_drain(rig->service.disk);
    assert_int_equal(told.count, 1);
    return told.error;
}

static void one_thing_at_a_time(void **state)
{
    (void)state;
    struct rig *rig = rig_make(0);
    struct told first, second;
    uint64_t id = create(rig);
    start_append(rig, id, 0, "abc", &first);
    start_append(rig, id, 3, "def", &second);
    assert_int_equal(second.count, 1);
    assert_int_equal(second.error, -EAGAIN);
    assert_int_equal(uploads_drop(&rig->uploads, id), -EAGAIN);
    uploads_tick(&rig->uploads, 1000 * UPLOAD_IDLE_NS); /* nor is it idle */
    disk_thread_drain(rig->service.disk);
    assert_int_equal(first.count, 1);
    assert_int_equal(first.have, 3);
    assert_int_equal(append(rig, id, 0, "abc"), -ESTALE);
    assert_int_equal(append(rig, id, 3, "def"), 0);
    assert_int_equal(finish(rig, id, "abcdeX"), -EBADMSG);
    assert_int_equal(finish(rig, id, "abcde"), -ERANGE);
    assert_int_equal(finish(rig, id, "abcdef"), 0);
    assert_int_equal(finish(rig, id, "abcdef"), -EALREADY);
    assert_int_equal(uploads_drop(&rig->uploads, id), 0);
    assert_int_equal(append(rig, id, 6, "x"), -ENOENT);
    assert_int_equal(rig->uploads.bytes, 0);
    rig_free(rig);
}

static void bytes_are_counted_before_they_are_written(void **state)
{
    char text[61];
    (void)state;
    struct rig *rig = rig_make(0);
    struct told first, second;
    uint64_t a = create(rig), b = create(rig);
    memset(text, 'x', 60);
    text[60] = '\0';
    start_append(rig, a, 0, text, &first);
    start_append(rig, b, 0, text, &second);
    assert_int_equal(second.error, -EXFULL);
    assert_int_equal(uploads_reserve(&rig->uploads, 41), -EXFULL);
    assert_int_equal(uploads_reserve(&rig->uploads, 40), 0);
    disk_thread_drain(rig->service.disk);
    assert_int_equal(append(rig, b, 0, "x"), -EXFULL);
    uploads_unreserve(&rig->uploads, 40);
    uploads_tick(&rig->uploads, 3 + UPLOAD_IDLE_NS); /* both are idle */
    disk_thread_drain(rig->service.disk);
    assert_int_equal(spool_count(rig), 0);
    assert_int_equal(rig->uploads.count, 0);
    assert_int_equal(uploads_reserve(&rig->uploads, 100), 0);
    uploads_unreserve(&rig->uploads, 100);
    rig_free(rig);
}

/* What can never be taken is not told to come again. */
static void what_is_larger_than_all_is_refused(void **state)
{
    char text[102];
    (void)state;
    struct rig *rig = rig_make(0);
    uint64_t id = create(rig), other = create(rig);
    memset(text, 'x', 101);
    text[101] = '\0';
    assert_int_equal(append(rig, id, 0, text), -EMSGSIZE);
    assert_int_equal(append(rig, id, 0, text + 51), 0);
    assert_int_equal(append(rig, id, 50, text + 50), -EMSGSIZE);
    assert_int_equal(append(rig, other, 0, text + 50), -EXFULL);
    assert_int_equal(append(rig, id, 50, text + 51), 0);
    assert_int_equal(append(rig, id, 100, "x"), -EMSGSIZE);
    rig_free(rig);
}

static void a_job_takes_an_upload_once(void **state)
{
    const struct spool_file *file;
    (void)state;
    for (int in_memory = 0; in_memory < 2; in_memory++) {
        struct rig *rig = rig_make(in_memory);
        uint64_t id = create(rig);
        char name[SPOOL_NAME_BYTES];
        assert_int_equal(append(rig, id, 0, "w"), 0);
        assert_int_equal(uploads_take(&rig->uploads, id, &file), -EAGAIN);
        assert_int_equal(finish(rig, id, "w"), 0);
        assert_int_equal(uploads_take(&rig->uploads, id, &file), 0);
        assert_int_equal(uploads_take(&rig->uploads, id, &file), -EALREADY);
        assert_int_equal(uploads_drop(&rig->uploads, id), -ENOENT);
        uploads_give_back(&rig->uploads, id, 4);
        assert_int_equal(uploads_take(&rig->uploads, id, &file), 0);
        strcpy(name, file->name);
        int fd = uploads_consume(&rig->uploads, id);
        assert_int_equal(fd >= 0, in_memory);
        assert_int_equal(name[0] == '\0', in_memory);
        assert_int_equal(uploads_take(&rig->uploads, id, &file), -ENOENT);
        assert_int_equal(rig->uploads.bytes, 0);
        if (!in_memory) {
            fd = spool_open_file(&rig->spool, name);
            assert_true(fd >= 0);
            assert_int_equal(spool_remove(&rig->spool, name), 0);
        }
        close(fd);
        rig_free(rig);
    }
}

/* ---- inputs ---- */

struct ready {
    struct inputs *inputs;
    int count, status;
    char field[JOB_FIELD_BYTES];
};

static void on_ready(void *arg, struct inputs *inputs, const struct job_request_error *problem)
{
    struct ready *ready = arg;
    ready->count++;
    ready->inputs = inputs;
    ready->status = problem ? problem->status : 202;
    snprintf(ready->field, sizeof(ready->field), "%s", problem ? problem->field : "");
}

/* Bodies have %s where the rig's folder belongs. */
static void bring(struct rig *rig, const char *partitions, struct ready *ready)
{
    char form[600], body[1000];
    struct job_request request;
    struct job_request_error error;
    snprintf(form, sizeof(form), "{\"circuit\":\"c\",\"partitions\":%s}", partitions);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(body, sizeof(body), form, rig->folder, rig->folder);
#pragma GCC diagnostic pop
    assert_int_equal(job_request_parse(&request, body, strlen(body), &error), 0);
    *ready = (struct ready){0};
    inputs_start(&rig->service, &request, on_ready, ready);
    disk_thread_drain(rig->service.disk);
    assert_int_equal(ready->count, 1);
}

static void put_file(const struct rig *rig, const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", rig->folder, name);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void inputs_come_from_everywhere(void **state)
{
    (void)state;
    for (int in_memory = 0; in_memory < 2; in_memory++) {
        struct rig *rig = rig_make(in_memory);
        struct ready ready;
        struct store_spec_partition out[3];
        put_file(rig, "w", "wtns....");
        put_file(rig, "x.json", " {\"a\": 2}");
        bring(rig, "[{\"path\":\"%s/w\"},{\"input\":{\"a\": 1}},{\"path\":\"%s/x.json\"}]", &ready);
        assert_int_equal(ready.status, 202);
        assert_int_equal(rig->uploads.reserved, 8 + 8 + 9);
        assert_false(inputs_is_json(ready.inputs, 0));
        assert_true(inputs_is_json(ready.inputs, 1) && inputs_is_json(ready.inputs, 2));
        inputs_hand_over(ready.inputs, out);
        inputs_free(ready.inputs);
        disk_thread_drain(rig->service.disk);
        assert_int_equal(rig->uploads.reserved, 0);
        assert_int_equal(spool_count(rig), in_memory ? 0 : 3); /* what was handed over stays */
        assert_int_equal(out[0].input.kind, INPUT_WTNS);
        assert_int_equal(out[1].input.kind, INPUT_JSON);
        for (int i = 0; i < 3; i++) {
            char back[16] = "";
            int fd =
                in_memory ? out[i].witness_fd : spool_open_file(&rig->spool, out[i].input.name);
            assert_int_equal(pread(fd, back, 15, 0), out[i].input.bytes);
            assert_string_equal(back, i == 0 ? "wtns...." : i == 1 ? "{\"a\": 1}" : " {\"a\": 2}");
            close(fd);
            if (!in_memory)
                spool_remove(&rig->spool, out[i].input.name);
        }
        rig_free(rig);
    }
}

static void what_is_refused_leaves_nothing(void **state)
{
    static const struct {
        const char *partitions, *field;
        int status;
    } cases[] = {
        {"[{\"path\":\"%s/w\"},{\"path\":\"/etc/passwd\"}]", "partitions[1].path", 422},
        {"[{\"path\":\"%s/w\"},{\"path\":\"%s/none\"}]", "partitions[1].path", 422},
        {"[{\"path\":\"%s/w\"},{\"path\":\"%s/large\"}]", "partitions[1].path", 413},
        {"[{\"path\":\"%s/half\"},{\"path\":\"%s/half\"}]", "", 503},
        {"[{\"input\":{}},{\"upload\":\"0123456789abcdef\"}]", "partitions[1].upload", 404},
    };
    char text[102];
    (void)state;
    struct rig *rig = rig_make(0);
    put_file(rig, "w", "wtns....");
    memset(text, 'x', sizeof(text));
    text[101] = '\0';
    put_file(rig, "large", text);
    text[60] = '\0';
    put_file(rig, "half", text);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct ready ready;
        bring(rig, cases[i].partitions, &ready);
        assert_int_equal(ready.status, cases[i].status);
        assert_string_equal(ready.field, cases[i].field);
        inputs_free(ready.inputs);
        disk_thread_drain(rig->service.disk);
        assert_int_equal(spool_count(rig), 0);
        assert_int_equal(rig->uploads.reserved, 0);
    }
    rig_free(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_thing_at_a_time),
        cmocka_unit_test(bytes_are_counted_before_they_are_written),
        cmocka_unit_test(what_is_larger_than_all_is_refused),
        cmocka_unit_test(a_job_takes_an_upload_once),
        cmocka_unit_test(inputs_come_from_everywhere),
        cmocka_unit_test(what_is_refused_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
