/*
 * Starting and ending the other programs. Called by one_shot.c and vkey.c. When pawl is SIGKILLed,
 * children that die with us get the same by the kernel; the coordinator sees the end of its owner
 * fd.
 */
#include "coordinator/client/child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "coordinator/client/interrupt.h"
#include "shm/program.h"

#define ARGUMENTS_MAX 16
#define KILLED_WAIT_MS 5000

static int find_program(char out[PATH_MAX], const char *name)
{
    char folder[PATH_MAX - 64];
    int error = program_folder(folder, sizeof(folder));
    if (error)
        return error;
    snprintf(out, PATH_MAX, "%s/pawl-%s", folder, name);
    if (access(out, X_OK) == 0)
        return 0;
    snprintf(out, PATH_MAX, "%s/%s", folder, name);
    return access(out, X_OK) ? -errno : 0;
}

/* Puts the fds at 0, 1, 2 ...; by way of high numbers, for they may overlap. */
static int place_fds(const struct child_spec *spec)
{
    int high[CHILD_FDS_MAX];
    for (int i = 0; i < spec->fd_count; i++) {
        int fd = spec->fds[i] >= 0 ? spec->fds[i] : open("/dev/null", O_RDWR | O_CLOEXEC);
        high[i] = fcntl(fd, F_DUPFD_CLOEXEC, CHILD_FDS_MAX);
        if (high[i] < 0)
            return -1;
    }
    for (int i = 0; i < spec->fd_count; i++)
        if (dup2(high[i], i) < 0)
            return -1;
    return 0;
}

/* In the child: never returns. */
static void become(const char *path, char *const *argv, const struct child_spec *spec, pid_t parent)
{
    sigset_t none;
    sigemptyset(&none);
    setpgid(0, 0);
    if (spec->dies_with_us && (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent))
        _exit(EXIT_INTERNAL);
    if (place_fds(spec))
        _exit(EXIT_INTERNAL);
    /* Ours are closed by exec anyway; what we were started with goes too. */
    close_range((unsigned)spec->fd_count, ~0u, 0);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execv(path, argv);
    _exit(EXIT_INTERNAL);
}

int child_start(struct child *child, const struct child_spec *spec)
{
    char path[PATH_MAX];
    char *argv[ARGUMENTS_MAX] = {path};
    int error = find_program(path, spec->program);
    if (error)
        return error;
    for (int i = 0; i < ARGUMENTS_MAX - 2 && spec->arguments[i]; i++)
        argv[i + 1] = spec->arguments[i];
    pid_t parent = getpid();
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0)
        return -errno;
    if (pid == 0)
        become(path, argv, spec, parent);
    setpgid(pid, pid); /* whoever of the two is first */
    *child = (struct child){pid, (int)syscall(SYS_pidfd_open, pid, 0)};
    if (child->pidfd >= 0)
        return 0;
    error = -errno;
    child_stop(child, 0);
    return error;
}

int child_wait(struct child *child, int timeout_ms, int *status)
{
    struct pollfd wait = {.fd = child->pidfd, .events = POLLIN};
    int ready;
    do
        ready = child->pidfd < 0 ? 1 : poll(&wait, 1, timeout_ms);
    while (ready < 0 && errno == EINTR);
    if (ready != 1)
        return 0;
    while (waitpid(child->pid, status, 0) < 0 && errno == EINTR)
        ;
    if (child->pidfd >= 0)
        close(child->pidfd);
    *child = (struct child){0, -1};
    return 1;
}

void child_stop(struct child *child, int grace_ms)
{
    int status;
    if (!child->pid)
        return;
    kill(child->pid, SIGTERM);
    if (child->pidfd >= 0 && child_wait(child, grace_ms, &status))
        return;
    kill(child->pid, SIGKILL);
    if (!child_wait(child, KILLED_WAIT_MS, &status))
        close(child->pidfd);
    *child = (struct child){0, -1};
}

/* ---- one run ---- */

struct reading {
    int fd;
    char *text;
    size_t bytes, room, limit;
};

/* 1 at the end, 0 for more to come, or -errno. */
static int read_some(struct reading *reading)
{
    if (reading->room - reading->bytes < 4096) {
        size_t room = reading->room * 2 + 8192;
        char *text = realloc(reading->text, room);
        if (!text)
            return -ENOMEM;
        reading->text = text;
        reading->room = room;
    }
    ssize_t got =
        read(reading->fd, reading->text + reading->bytes, reading->room - reading->bytes - 1);
    if (got < 0)
        return errno == EINTR || errno == EAGAIN ? 0 : -errno;
    reading->bytes += (size_t)got;
    reading->text[reading->bytes] = 0;
    if (reading->bytes > reading->limit)
        return -EMSGSIZE;
    return got == 0;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

/* What is left until end_ms for poll; -1: for ever. */
static int left_ms(int64_t end_ms)
{
    int64_t left = end_ms - now_ms();
    return end_ms < 0 ? -1 : left > 0 ? (int)left : 0;
}

/* Reads both pipes to their ends. 0, -EINTR at a signal, -ETIMEDOUT past end_ms, -errno. */
static int read_both(struct reading *out, struct reading *err, int interrupt, int64_t end_ms)
{
    struct pollfd wait[3] = {{out->fd, POLLIN, 0}, {err->fd, POLLIN, 0}, {interrupt, POLLIN, 0}};
    struct reading *readings[2] = {out, err};
    while (wait[0].fd >= 0 || wait[1].fd >= 0) {
        int ready = poll(wait, 3, left_ms(end_ms));
        if (ready == 0)
            return -ETIMEDOUT;
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready < 0)
            return -errno;
        if (wait[2].revents)
            return -EINTR;
        for (int i = 0; i < 2; i++) {
            int end = wait[i].fd >= 0 && wait[i].revents ? read_some(readings[i]) : 0;
            if (end < 0)
                return end;
            if (end)
                wait[i].fd = -1;
        }
    }
    return 0;
}

/* The last line that is not empty, without the program's name before it. */
static void last_line(char *out, size_t bytes, char *text, const char *program)
{
    char *end = text + strlen(text);
    while (end > text && (end[-1] == '\n' || end[-1] == '\r'))
        *--end = 0;
    char *line = strrchr(text, '\n');
    line = line ? line + 1 : text;
    size_t name = strlen(program);
    if (!strncmp(line, program, name) && !strncmp(line + name, ": ", 2))
        line += name + 2;
    snprintf(out, bytes, "%s", line);
}

static int run_to_end(struct child *child, struct reading *out, struct reading *err, int timeout_ms,
                      int *status)
{
    int64_t end_ms = timeout_ms < 0 ? -1 : now_ms() + timeout_ms;
    int error = read_both(out, err, interrupt_fd(), end_ms);
    if (error)
        child_stop(child, 0);
    else
        child_wait(child, -1, status);
    return error;
}

int child_run(struct child_output *output, const char *program, char *const *arguments,
              size_t limit, int timeout_ms)
{
    int out[2], err[2] = {-1, -1};
    struct child child = {0, -1};
    *output = (struct child_output){0};
    if (pipe2(out, O_CLOEXEC))
        return -errno;
    int error = pipe2(err, O_CLOEXEC) ? -errno : 0;
    struct child_spec spec = {program, arguments, {-1, out[1], err[1]}, 3, 1};
    if (!error)
        error = child_start(&child, &spec);
    close(out[1]);
    if (err[1] >= 0)
        close(err[1]);
    struct reading text = {.fd = out[0], .limit = limit}, said = {.fd = err[0], .limit = 1 << 20};
    if (!error)
        error = run_to_end(&child, &text, &said, timeout_ms, &output->status);
    if (!error)
        last_line(output->error, sizeof(output->error), said.text, program);
    output->text = text.text;
    output->bytes = text.bytes;
    free(said.text);
    close(out[0]);
    if (err[0] >= 0)
        close(err[0]);
    return error;
}
