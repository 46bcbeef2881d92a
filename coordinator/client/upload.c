/*
 * Uploads. Called by prove and submit; when pawl is SIGKILLed half way the coordinator drops the
 * upload after a while.
 */
#include "coordinator/client/upload.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coordinator/client/interrupt.h"
#include "coordinator/client/progress.h"
#include "coordinator/client/say.h"
#include "coordinator/client/service.h"
#include "shm/program.h"

#define PART_BYTES ((size_t)4 << 20)
#define LABEL_BYTES_MAX 200

static int cannot_read(const char *path, int error)
{
    return say_error(EXIT_INPUT, "cannot read %s: %s", path, strerror(error));
}

int upload_open_file(const char *path, int *fd)
{
    struct stat status;
    *fd = -1;
    /* Not blocking, so that an interrupt ends the wait for a FIFO's writer. */
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (*fd < 0)
        return cannot_read(path, errno);
    if (fstat(*fd, &status) || S_ISDIR(status.st_mode)) {
        close(*fd);
        *fd = -1;
        return cannot_read(path, EISDIR);
    }
    return 0;
}

/* ---- sending ---- */

/* What is being sent. */
struct sending {
    struct service *service;
    int fd;
    const char *path;
    const char *id;
    char *part;
    EVP_MD_CTX *hash;
    uint64_t bytes;
};

/* Waits until fd can be read. A FIFO that nobody has opened for writing yet reads as ended, so the
 * first byte is waited for by poll, which does not. 0 or -EINTR. */
static int wait_readable(int fd)
{
    struct pollfd wait[2] = {{fd, POLLIN, 0}, {interrupt_fd(), POLLIN, 0}};
    while (poll(wait, 2, -1) < 0)
        if (errno != EINTR)
            return -errno;
    return wait[1].revents ? -EINTR : 0;
}

/* Fills the part as far as the file goes. Its length, or -errno. */
static ssize_t read_part(int fd, char *part)
{
    size_t got = 0;
    while (got < PART_BYTES) {
        int error = wait_readable(fd);
        if (error)
            return error;
        ssize_t more = read(fd, part + got, PART_BYTES - got);
        if (more < 0 && errno != EINTR && errno != EAGAIN)
            return -errno;
        if (more == 0)
            break;
        got += more > 0 ? (size_t)more : 0;
    }
    return (ssize_t)got;
}

/* How far it is, where somebody looks on. */
static void show_progress(const struct sending *this)
{
    char stage[400];
    struct stat status;
    const char *name = strrchr(this->path, '/');
    if (!progress_is_shown())
        return;
    name = name ? name + 1 : this->path;
    int length = snprintf(stage, sizeof(stage), "sending %.255s", name);
    if (fstat(this->fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0)
        snprintf(stage + length, sizeof(stage) - (size_t)length, "  %.0f %%",
                 100 * (double)this->bytes / (double)status.st_size);
    progress_show(say_clean(stage));
}

static int send_part(struct sending *this, size_t bytes)
{
    char path[256] = "/v1/uploads/";
    struct http_answer answer;
    service_append_escaped(path, sizeof(path) - 40, this->id);
    size_t at = strlen(path);
    snprintf(path + at, sizeof(path) - at, "?offset=%" PRIu64, this->bytes);
    EVP_DigestUpdate(this->hash, this->part, bytes);
    int code = service_call_raw(this->service, "PUT", path, this->part, bytes, &answer);
    if (code)
        return code;
    http_answer_free(&answer);
    this->bytes += bytes;
    return 0;
}

static int send_parts(struct sending *this)
{
    for (;;) {
        show_progress(this);
        ssize_t got = read_part(this->fd, this->part);
        if (got == -EINTR)
            return say_error(EXIT_CANCELLED, "interrupted");
        if (got < 0)
            return cannot_read(this->path, (int)-got);
        int code = got ? send_part(this, (size_t)got) : 0;
        if (code || (size_t)got < PART_BYTES)
            return code;
    }
}

static json_t *finish_body(struct sending *this)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    char text[2 * EVP_MAX_MD_SIZE + 1];
    unsigned length = 0;
    EVP_DigestFinal_ex(this->hash, digest, &length);
    for (unsigned i = 0; i < length; i++)
        sprintf(text + 2 * i, "%02x", digest[i]);
    return json_pack("{s:I,s:s}", "bytes", (json_int_t)this->bytes, "sha256", text);
}

static int finish(struct sending *this)
{
    char path[256] = "/v1/uploads/";
    json_t *answer, *body = finish_body(this);
    service_append_escaped(path, sizeof(path) - 40, this->id);
    strcat(path, "/finish");
    int code = service_call(this->service, "POST", path, body, &answer);
    json_decref(body);
    json_decref(answer);
    return code;
}

static int begin(struct service *service, char id[UPLOAD_ID_BYTES])
{
    json_t *answer;
    int code = service_call(service, "POST", "/v1/uploads", NULL, &answer);
    snprintf(id, UPLOAD_ID_BYTES, "%s", service_text(answer, "upload"));
    json_decref(answer);
    if (!code && !*id)
        code = say_error(EXIT_INTERNAL, "the coordinator gave no upload");
    return code;
}

int upload_send(struct service *service, int fd, const char *path, char id[UPLOAD_ID_BYTES])
{
    struct sending this = {.service = service, .fd = fd, .path = path, .id = id};
    this.part = malloc(PART_BYTES);
    this.hash = EVP_MD_CTX_new();
    int code = 0;
    if (!this.part || !this.hash || !EVP_DigestInit_ex(this.hash, EVP_sha256(), NULL))
        code = say_error(EXIT_MACHINE, "out of memory");
    if (!code)
        code = begin(service, id);
    if (!code)
        code = send_parts(&this);
    if (!code)
        code = finish(&this);
    free(this.part);
    EVP_MD_CTX_free(this.hash);
    return code;
}

void upload_take_back(struct service *service, const char *id)
{
    char path[256] = "/v1/uploads/";
    struct http_answer answer;
    if (*id && service_append_escaped(path, sizeof(path), id) == 0 &&
        http_call(&service->http, "DELETE", path, NULL, 0, &answer) == 0)
        http_answer_free(&answer);
}

/* The name as a JSON string; where it is no UTF-8, with '?' for all that is not ASCII. */
static json_t *name_as_json(char *name)
{
    json_t *value = json_string(name);
    if (value)
        return value;
    for (char *at = name; *at; at++)
        if ((unsigned char)*at >= 0x80)
            *at = '?';
    return json_string(name);
}

json_t *upload_label(const char *label)
{
    char name[LABEL_BYTES_MAX + 1];
    size_t length = strlen(label);
    /* The end of a long path says more than its beginning; it starts with a whole character. */
    if (length > LABEL_BYTES_MAX)
        label += length - LABEL_BYTES_MAX;
    while (length > LABEL_BYTES_MAX && ((unsigned char)*label & 0xc0) == 0x80)
        label++;
    snprintf(name, sizeof(name), "%s", label);
    return name_as_json(say_clean(name));
}

json_t *upload_partition(const char *id, const char *label)
{
    return json_pack("{s:s,s:o}", "upload", id, "name", upload_label(label));
}
