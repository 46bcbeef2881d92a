/*
 * Output files; see the header for what it promises. Called by prove, vkey, job and submit.
 */
#include "coordinator/client/output.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coordinator/client/interrupt.h"
#include "coordinator/client/say.h"
#include "shm/program.h"

#define READER_POLL_MS 50 /* how often a FIFO without a reader is tried again */

/* One output on its way. */
struct pending {
    const struct output *output;
    char target[PATH_MAX];    /* links resolved: the file is replaced, not the link */
    char temp[PATH_MAX + 32]; /* "": none */
    int exists, special, fifo;
    int placed, exchanged;
};

static int cannot_write(const char *path, int error)
{
    return say_error(EXIT_OUTPUT, "cannot write %s: %s", path, strerror(error));
}

static int folder_of(char out[PATH_MAX], const char *path)
{
    char copy[PATH_MAX];
    if (strlen(path) >= sizeof(copy))
        return -ENAMETOOLONG;
    strcpy(copy, path);
    strcpy(out, dirname(copy));
    return 0;
}

/* Finds out what stands at the path. 0 or -errno. */
static int look(struct pending *pending, const char *path)
{
    struct stat status;
    if (strlen(path) >= sizeof(pending->target))
        return -ENAMETOOLONG;
    if (!*path)
        return -ENOENT;
    if (!realpath(path, pending->target))
        strcpy(pending->target, path);
    pending->exists = stat(pending->target, &status) == 0;
    if (pending->exists && S_ISDIR(status.st_mode))
        return -EISDIR;
    pending->special = pending->exists && !S_ISREG(status.st_mode);
    pending->fifo = pending->exists && S_ISFIFO(status.st_mode);
    return 0;
}

/* The one absolute name of what stands, or would stand, at the path. 0 or -errno. */
static int resolve(char out[PATH_MAX], const char *path)
{
    char folder[PATH_MAX], real[PATH_MAX], copy[PATH_MAX];
    if (realpath(path, out))
        return 0;
    int error = folder_of(folder, path);
    if (error)
        return error;
    if (!realpath(folder, real))
        return -errno;
    strcpy(copy, path);
    return snprintf(out, PATH_MAX, "%s/%s", real, basename(copy)) < PATH_MAX ? 0 : -ENAMETOOLONG;
}

int output_replaces(const char *path, const char *other)
{
    char one[PATH_MAX], two[PATH_MAX];
    struct pending pending = {0};
    return look(&pending, path) == 0 && !pending.special && resolve(one, path) == 0 &&
           resolve(two, other) == 0 && strcmp(one, two) == 0;
}

int output_check(const char *path)
{
    struct pending pending = {0};
    char folder[PATH_MAX];
    int error = look(&pending, path);
    if (!error && pending.special)
        error = access(pending.target, W_OK) ? -errno : 0;
    else if (!error && !(error = folder_of(folder, pending.target)))
        error = access(folder, W_OK | X_OK) ? -errno : 0;
    return error ? cannot_write(path, -error) : 0;
}

/* Until fd (-1: nothing) takes bytes, or ms have passed. 0, or -EINTR if a signal wants an end. */
static int wait_to_write(int fd, int ms)
{
    struct pollfd wait[2] = {{fd, POLLOUT, 0}, {interrupt_fd(), POLLIN, 0}};
    if (poll(wait, 2, ms) < 0 && errno != EINTR)
        return -errno;
    return wait[1].revents ? -EINTR : 0;
}

static int write_all(int fd, const char *text, size_t bytes)
{
    while (bytes) {
        ssize_t wrote = write(fd, text, bytes);
        if (wrote < 0 && errno == EAGAIN) {
            int error = wait_to_write(fd, -1);
            if (error)
                return error;
            continue;
        }
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return -errno;
        text += wrote;
        bytes -= (size_t)wrote;
    }
    return 0;
}

static int name_temp(struct pending *pending)
{
    char folder[PATH_MAX], copy[PATH_MAX];
    int error = folder_of(folder, pending->target);
    if (error)
        return error;
    strcpy(copy, pending->target);
    int length = snprintf(pending->temp, sizeof(pending->temp), "%s/.%.100s.pawl-XXXXXX", folder,
                          basename(copy));
    return length > 0 && (size_t)length < sizeof(pending->temp) ? 0 : -ENAMETOOLONG;
}

static mode_t usual_mode(void)
{
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

/* Writes the text beside the target. 0 or -errno; temp is "" where nothing was made. */
static int write_temp(struct pending *pending)
{
    int error = name_temp(pending);
    int fd = error ? -1 : mkostemp(pending->temp, O_CLOEXEC);
    if (fd < 0) {
        pending->temp[0] = 0;
        return error ? error : -errno;
    }
    error = write_all(fd, pending->output->text, pending->output->bytes);
    if (!error && (fchmod(fd, usual_mode()) || fsync(fd)))
        error = -errno;
    if (close(fd) && !error)
        error = -errno;
    return error;
}

static int prepare(struct pending *pending)
{
    int error = look(pending, pending->output->path);
    return error || pending->special ? error : write_temp(pending);
}

/* Puts the file in its place; what stood there takes the temp's name, so that it can come back. */
static int place(struct pending *pending)
{
    if (pending->special)
        return 0;
    if (pending->exists &&
        renameat2(AT_FDCWD, pending->temp, AT_FDCWD, pending->target, RENAME_EXCHANGE) == 0)
        pending->exchanged = 1;
    else if (rename(pending->temp, pending->target))
        return -errno;
    pending->placed = 1;
    return 0;
}

/* Never blocks: a FIFO's reader may never come, and a signal must still end us. fd or -errno. */
static int open_special(const struct pending *pending)
{
    for (;;) {
        int fd = open(pending->target, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        if (fd >= 0)
            return fd;
        if (errno != ENXIO || !pending->fifo)
            return -errno;
        int error = wait_to_write(-1, READER_POLL_MS);
        if (error)
            return error;
    }
}

static int write_special(struct pending *pending)
{
    if (!pending->special)
        return 0;
    int fd = open_special(pending);
    if (fd < 0)
        return fd;
    int error = write_all(fd, pending->output->text, pending->output->bytes);
    close(fd);
    return error;
}

static void put_back(struct pending *pending)
{
    if (pending->exchanged)
        renameat2(AT_FDCWD, pending->temp, AT_FDCWD, pending->target, RENAME_EXCHANGE);
    else if (pending->placed)
        unlink(pending->target);
}

static void sync_folder(const struct pending *pending)
{
    char folder[PATH_MAX];
    if (folder_of(folder, pending->target))
        return;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
}

/* Runs one step over all. 0, or -errno with *at the index at fault. */
static int for_all(struct pending *pending, int count, int (*step)(struct pending *), int *at)
{
    int error = 0;
    for (*at = 0; *at < count && !(error = step(&pending[*at])); (*at)++)
        ;
    return error;
}

static void finish(struct pending *pending, int count, int error)
{
    for (int i = count - 1; i >= 0; i--) {
        if (error)
            put_back(&pending[i]);
        if (pending[i].temp[0])
            unlink(pending[i].temp);
        if (!error && !pending[i].special)
            sync_folder(&pending[i]);
    }
}

int output_write(const struct output *outputs, int count)
{
    struct pending pending[OUTPUTS_MAX] = {{0}};
    int at = 0;
    assert(count <= OUTPUTS_MAX);
    for (int i = 0; i < count; i++)
        pending[i].output = &outputs[i];
    int error = for_all(pending, count, prepare, &at);
    if (!error)
        error = for_all(pending, count, place, &at);
    if (!error)
        error = for_all(pending, count, write_special, &at);
    finish(pending, count, error);
    if (error == -EINTR)
        return say_error(EXIT_CANCELLED, "interrupted");
    return error ? cannot_write(outputs[at].path, -error) : 0;
}

/* As snarkjs's files are: indented by 1, no line end, and an empty array on two lines. */
static char *text_as_snarkjs(const json_t *value)
{
    if (json_is_array(value) && json_array_size(value) == 0)
        return strdup("[\n]");
    return json_dumps(value, JSON_INDENT(1));
}

int output_write_proof(const char *proof_path, const json_t *proof, const char *public_path,
                       const json_t *publics)
{
    char *proof_text = text_as_snarkjs(proof);
    char *public_text = text_as_snarkjs(publics);
    int code;
    if (proof_text && public_text) {
        struct output outputs[2] = {{proof_path, proof_text, strlen(proof_text)},
                                    {public_path, public_text, strlen(public_text)}};
        code = output_write(outputs, 2);
    } else {
        code = say_error(EXIT_INTERNAL, "the result is not a proof and its public signals");
    }
    free(proof_text);
    free(public_text);
    return code;
}
