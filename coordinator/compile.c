/*
 * The compiling child; see the header. Called by circuits.c. A SIGKILL of the coordinator leaves
 * the child to its end: its image is whole or not there, and the next start finds it in the cache.
 */
#include "coordinator/compile.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coordinator/clock.h"
#include "coordinator/peer.h"
#include "shm/program.h"

#define CHILD_NICE 10
#define CHILD_KEY_FD 3
#define CHILD_KEY_PATH "/proc/self/fd/3"
#define CHILD_R1CS_FD 4
#define CHILD_R1CS_PATH "/proc/self/fd/4"

extern char **environ;

void compile_init(struct compile *compile, struct event_base *base, struct clock_meter *meter,
                  void (*done)(void *arg, int exit_code, const char *out, const char *error),
                  void *arg)
{
    memset(compile, 0, sizeof(*compile));
    compile->base = base;
    compile->meter = meter;
    compile->done = done;
    compile->arg = arg;
    compile->pidfd = compile->out.fd = compile->error.fd = -1;
}

/* ---- ends ---- */

static void close_stream(struct compile_stream *stream)
{
    if (stream->event)
        event_free(stream->event);
    if (stream->fd >= 0)
        close(stream->fd);
    stream->event = NULL;
    stream->fd = -1;
}

static void clean_up(struct compile *compile)
{
    close_stream(&compile->out);
    close_stream(&compile->error);
    if (compile->exit_event)
        event_free(compile->exit_event);
    if (compile->pidfd >= 0)
        close(compile->pidfd);
    compile->exit_event = NULL;
    compile->pidfd = -1;
    compile->pid = 0;
}

/* The child knows its files as fds' paths; users know them by their own. */
static void name_files(const struct compile *compile, const char *text, char *out, size_t bytes)
{
    const char *key = strstr(text, CHILD_KEY_PATH), *r1cs = strstr(text, CHILD_R1CS_PATH);
    const char *at = key ? key : r1cs;
    if (at)
        snprintf(out, bytes, "%.*s%s%s", (int)(at - text), text,
                 key ? compile->key_path : compile->r1cs_path, at + strlen(CHILD_KEY_PATH));
    else
        snprintf(out, bytes, "%s", text);
}

/* The last line of what the child said, without the program's name before it. */
static const char *last_line(char *text)
{
    size_t length = strlen(text);
    while (length && text[length - 1] == '\n')
        text[--length] = 0;
    char *line = strrchr(text, '\n');
    line = line ? line + 1 : text;
    return strncmp(line, "synth-worker: ", 14) == 0 ? line + 14 : line;
}

static void finish_when_all_ended(struct compile *compile)
{
    char error[COMPILE_TEXT_BYTES + PATH_MAX], out[COMPILE_TEXT_BYTES];
    int exit_code = compile->exit_code;
    if (exit_code < 0 || compile->out.fd >= 0 || compile->error.fd >= 0)
        return;
    name_files(compile, last_line(compile->error.text), error, sizeof(error));
    snprintf(out, sizeof(out), "%s", compile->out.text);
    clean_up(compile);
    compile->done(compile->arg, exit_code, out, error);
}

/* ---- events ---- */

static void on_output(evutil_socket_t fd, short what, void *arg)
{
    struct compile_stream *stream = arg;
    struct compile *compile = stream->compile;
    uint64_t entered_ns = clock_enter();
    char piece[1024];
    (void)what;
    ssize_t got = read(fd, piece, sizeof(piece));
    if (got > 0) {
        size_t room = sizeof(stream->text) - 1 - stream->bytes;
        size_t taken = (size_t)got < room ? (size_t)got : room;
        memcpy(stream->text + stream->bytes, piece, taken);
        stream->bytes += taken;
        stream->text[stream->bytes] = 0;
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        close_stream(stream);
        finish_when_all_ended(compile);
    }
    clock_leave(compile->meter, entered_ns);
}

static void on_exit_of_child(evutil_socket_t fd, short what, void *arg)
{
    struct compile *compile = arg;
    uint64_t entered_ns = clock_enter();
    siginfo_t info = {0};
    (void)what;
    if (waitid(P_PIDFD, (id_t)fd, &info, WEXITED | WNOHANG) || !info.si_pid)
        info = (siginfo_t){.si_code = CLD_EXITED, .si_status = EXIT_INTERNAL};
    compile->exit_code = info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
    finish_when_all_ended(compile);
    clock_leave(compile->meter, entered_ns);
}

/* ---- start ---- */

static int open_pipe(struct compile *compile, struct compile_stream *stream, int *child_end)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return -errno;
    *child_end = ends[1];
    stream->fd = ends[0];
    stream->compile = compile;
    stream->bytes = 0;
    stream->text[0] = 0;
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    stream->event = event_new(compile->base, ends[0], EV_READ | EV_PERSIST, on_output, stream);
    return stream->event && event_add(stream->event, NULL) == 0 ? 0 : -ENOMEM;
}

/* The numbers given must all be above the child's own, lest one dup2 overwrite another's source. */
static int raise_fd(int fd)
{
    return fcntl(fd, F_DUPFD_CLOEXEC, 10);
}

/* Beside our own file: `synth-worker`, or `pawl-synth-worker` where programs are installed. */
static int find_program(char *out, size_t bytes)
{
    char folder[PATH_MAX];
    int error = program_folder(folder, sizeof(folder));
    if (error)
        return error;
    if (snprintf(out, bytes, "%s/synth-worker", folder) >= (int)bytes)
        return -ENAMETOOLONG;
    if (access(out, X_OK) == 0)
        return 0;
    if (snprintf(out, bytes, "%s/pawl-synth-worker", folder) >= (int)bytes)
        return -ENAMETOOLONG;
    return access(out, X_OK) == 0 ? 0 : -errno;
}

static void set_signals(posix_spawnattr_t *attributes)
{
    sigset_t signals;
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(attributes, &signals);
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(attributes, &signals);
    posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
}

/* Behind the words that every compilation has. */
static void add_options(char **arguments, const struct compile_job *job)
{
    while (*arguments)
        arguments++;
    if (job->check_subgroups)
        *arguments++ = "--check-subgroups";
    if (job->r1cs_fd < 0)
        return;
    *arguments++ = "--r1cs";
    *arguments = CHILD_R1CS_PATH;
}

static int spawn(struct compile *compile, const struct compile_job *job, int out, int error)
{
    char program[PATH_MAX];
    char *arguments[] = {
        "synth-worker", "--compile", CHILD_KEY_PATH, "--images", (char *)(uintptr_t)job->images_dir,
        NULL,           NULL,        NULL,           NULL};
    add_options(arguments, job);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int failed = find_program(program, sizeof(program));
    if (failed)
        return failed;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    set_signals(&attributes);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out, 1);
    posix_spawn_file_actions_adddup2(&actions, error, 2);
    posix_spawn_file_actions_adddup2(&actions, job->key_fd, CHILD_KEY_FD);
    if (job->r1cs_fd >= 0)
        posix_spawn_file_actions_adddup2(&actions, job->r1cs_fd, CHILD_R1CS_FD);
    failed = posix_spawn(&compile->pid, program, &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return -failed;
}

static int spawn_with_raised_fds(struct compile *compile, const struct compile_job *job, int out,
                                 int error)
{
    struct compile_job raised = *job;
    int has_r1cs = job->r1cs_fd >= 0;
    int high[4] = {raise_fd(out), raise_fd(error), raise_fd(job->key_fd),
                   has_r1cs ? raise_fd(job->r1cs_fd) : -1};
    int failed = high[0] < 0 || high[1] < 0 || high[2] < 0 ? -EMFILE : 0;
    if (has_r1cs && high[3] < 0)
        failed = -EMFILE;
    raised.key_fd = high[2];
    raised.r1cs_fd = high[3];
    if (!failed)
        failed = spawn(compile, &raised, high[0], high[1]);
    for (int i = 0; i < 4; i++)
        if (high[i] >= 0)
            close(high[i]);
    return failed;
}

static int watch_child(struct compile *compile)
{
    compile->exit_code = -1;
    setpriority(PRIO_PROCESS, (id_t)compile->pid, CHILD_NICE);
    compile->pidfd = (int)syscall(SYS_pidfd_open, compile->pid, 0);
    if (compile->pidfd < 0)
        return -errno;
    compile->exit_event =
        event_new(compile->base, compile->pidfd, EV_READ, on_exit_of_child, compile);
    return compile->exit_event && event_add(compile->exit_event, NULL) == 0 ? 0 : -ENOMEM;
}

int compile_start(struct compile *compile, const struct compile_job *job)
{
    int out = -1, error = -1;
    snprintf(compile->key_path, sizeof(compile->key_path), "%s", job->key_path);
    snprintf(compile->r1cs_path, sizeof(compile->r1cs_path), "%s",
             job->r1cs_path ? job->r1cs_path : "");
    int failed = open_pipe(compile, &compile->out, &out);
    if (!failed)
        failed = open_pipe(compile, &compile->error, &error);
    if (!failed)
        failed = spawn_with_raised_fds(compile, job, out, error);
    if (!failed)
        failed = watch_child(compile);
    if (out >= 0)
        close(out);
    if (error >= 0)
        close(error);
    if (failed)
        compile_stop(compile);
    return failed;
}

void compile_kill(struct compile *compile)
{
    if (compile->pid > 0 && compile->exit_code < 0)
        kill(compile->pid, SIGKILL); /* not waited for yet: the number is still its own */
}

void compile_stop(struct compile *compile)
{
    if (compile->pid > 0 && compile->exit_code < 0) {
        compile_kill(compile);
        waitpid(compile->pid, NULL, 0);
    }
    clean_up(compile);
}
