/*
 * The compiling child; see the header. Called by circuits.c. A SIGKILL of the coordinator leaves
 * the child to its end: its image is whole or not there, and the next start finds it in the cache.
 */
#include "coordinator/compile.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <inttypes.h>
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
#define CHILD_PROGRAM_FD 5
#define CHILD_PROGRAM_PATH "/proc/self/fd/5"
#define CHILD_PROGRAM_DATA_FD 6
#define CHILD_PROGRAM_DATA_PATH "/proc/self/fd/6"
#define TEXT_ROOM (COMPILE_TEXT_BYTES + 4 * PATH_MAX)
#define WORDS_MAX 24

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

/* The child knows a file as a fd's path; users know it by its own. */
static void name_file(char *text, size_t bytes, const char *path, const char *name)
{
    char *at = strstr(text, path), rest[TEXT_ROOM];
    if (!at)
        return;
    snprintf(rest, sizeof(rest), "%s", at + strlen(path));
    snprintf(at, bytes - (size_t)(at - text), "%s%s", name, rest);
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
    char error[TEXT_ROOM], out[COMPILE_TEXT_BYTES], data_path[PATH_MAX + 8];
    int exit_code = compile->exit_code;
    if (exit_code < 0 || compile->out.fd >= 0 || compile->error.fd >= 0)
        return;
    snprintf(error, sizeof(error), "%s", last_line(compile->error.text));
    snprintf(data_path, sizeof(data_path), "%s.dat", compile->program_path);
    name_file(error, sizeof(error), CHILD_KEY_PATH, compile->key_path);
    name_file(error, sizeof(error), CHILD_R1CS_PATH, compile->r1cs_path);
    name_file(error, sizeof(error), CHILD_PROGRAM_PATH, compile->program_path);
    name_file(error, sizeof(error), CHILD_PROGRAM_DATA_PATH, data_path);
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

static void add_words(char **words, const char *option, const char *value)
{
    while (*words)
        words++;
    *words++ = (char *)(uintptr_t)option;
    *words = (char *)(uintptr_t)value;
}

/* The child's command line, its own name first; zeros behind it. */
static void write_words(char *words[WORDS_MAX], const struct compile_job *job, char *images_max)
{
    memset(words, 0, WORDS_MAX * sizeof(*words));
    add_words(words, "synth-worker", "--compile");
    add_words(words, CHILD_KEY_PATH, "--images");
    add_words(words, job->images_dir, "--images-max");
    add_words(words, images_max, job->check_subgroups ? "--check-subgroups" : NULL);
    if (job->check_image)
        add_words(words, "--check-image", NULL);
    if (job->r1cs_fd >= 0)
        add_words(words, "--r1cs", CHILD_R1CS_PATH);
    if (job->program_fd < 0)
        return;
    add_words(words, "--program", CHILD_PROGRAM_PATH);
    add_words(words, "--programs", job->programs_dir);
    if (job->program_data_fd >= 0)
        add_words(words, "--program-data", CHILD_PROGRAM_DATA_PATH);
}

static void hand_down(posix_spawn_file_actions_t *actions, int fd, int number)
{
    if (fd >= 0)
        posix_spawn_file_actions_adddup2(actions, fd, number);
}

static int spawn(struct compile *compile, const struct compile_job *job, int out, int error)
{
    char program[PATH_MAX], images_max[24], *words[WORDS_MAX];
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int failed = find_program(program, sizeof(program));
    if (failed)
        return failed;
    snprintf(images_max, sizeof(images_max), "%" PRIu64, job->images_max);
    write_words(words, job, images_max);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    program_reset_signals(&attributes, 0);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    hand_down(&actions, out, 1);
    hand_down(&actions, error, 2);
    hand_down(&actions, job->key_fd, CHILD_KEY_FD);
    hand_down(&actions, job->r1cs_fd, CHILD_R1CS_FD);
    hand_down(&actions, job->program_fd, CHILD_PROGRAM_FD);
    hand_down(&actions, job->program_data_fd, CHILD_PROGRAM_DATA_FD);
    failed = posix_spawn(&compile->pid, program, &actions, &attributes, words, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return -failed;
}

static int spawn_with_raised_fds(struct compile *compile, const struct compile_job *job, int out,
                                 int error)
{
    struct compile_job raised = *job;
    int *fds[] = {
        &out, &error, &raised.key_fd, &raised.r1cs_fd, &raised.program_fd, &raised.program_data_fd};
    size_t count = sizeof(fds) / sizeof(fds[0]), done;
    int failed = 0;
    for (done = 0; done < count && !failed; done++)
        if (*fds[done] >= 0 && (*fds[done] = raise_fd(*fds[done])) < 0)
            failed = -EMFILE;
    if (!failed)
        failed = spawn(compile, &raised, out, error);
    while (done--)
        if (*fds[done] >= 0)
            close(*fds[done]);
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
    snprintf(compile->program_path, sizeof(compile->program_path), "%s",
             job->program_path ? job->program_path : "");
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
