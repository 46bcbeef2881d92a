/*
 * Starts the runner and waits for its report; see the header. Called by synth_serve.c. A SIGKILL of
 * the worker ends the runner and the program (PR_SET_PDEATHSIG), and leaves the place to the next
 * worker's sweep.
 */
#include "synth-worker/witness_program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/program.h"
#include "shm/worker_start.h"
#include "synth-worker/complaint.h"
#include "synth-worker/witness_child.h"
#include "synth-worker/witness_place.h"

#define OWN_PATH "/proc/self/exe"
#define PAUSE_MS 20
#define GRACE_MS 2000 /* of the runner, after the deadline or a TERM */
#define GRACE_NS UINT64_C(5000000000)

extern char **environ;

/* ---- start ---- */

/* fds: those of enum witness_child_fd, in order, all above them. */
static int spawn(pid_t *pid, const struct witness_request *request, const int fds[4])
{
    const struct witness_order order = {.parent = (int32_t)getpid(),
                                        .curve = request->curve,
                                        .deadline_ms = request->deadline_ms,
                                        .memory_bytes = request->memory_bytes,
                                        .output_bytes = request->output_bytes};
    char text[WITNESS_ORDER_WORDS][24];
    char *words[] = {
        "synth-worker", WITNESS_CHILD_OPTION, text[0], text[1], text[2], text[3], text[4], NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    witness_order_write(text, &order);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    program_reset_signals(&attributes, POSIX_SPAWN_SETSID);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    for (int i = 0; i < 4; i++)
        posix_spawn_file_actions_adddup2(&actions, fds[i], WITNESS_FD_INPUT + i);
    int error = posix_spawn(pid, OWN_PATH, &actions, &attributes, words, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return -error;
}

static int start(pid_t *pid, const struct witness_request *request, int place_fd, int report_fd)
{
    const int given[4] = {request->input_fd, request->folder_fd, place_fd, report_fd};
    int fds[4], status = 0;
    for (int i = 0; i < 4; i++) {
        fds[i] = fcntl(given[i], F_DUPFD_CLOEXEC, 20);
        if (fds[i] < 0)
            status = -errno;
    }
    if (!status)
        status = spawn(pid, request, fds);
    for (int i = 0; i < 4; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    return status;
}

/* ---- end ---- */

/* Everything that is left of the runner comes to us (PR_SET_CHILD_SUBREAPER) and is reaped. */
static void reap(pid_t pid)
{
    for (int ms = 0; ms < GRACE_MS; ms += 5) {
        if (waitpid(pid, NULL, WNOHANG) != 0)
            break;
        if (ms == 0)
            kill(pid, SIGTERM);
        poll(NULL, 0, 5);
    }
    if (kill(pid, 0) == 0 && waitpid(pid, NULL, WNOHANG) == 0) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
}

static uint64_t backstop_ns(const struct witness_request *request)
{
    return request->deadline_ms ? worker_now_ns() + request->deadline_ms * 1000000 + GRACE_NS
                                : UINT64_MAX;
}

/* 0 with the runner's report in *complaint. */
static int await_report(const struct witness_request *request, int fd, struct complaint *complaint)
{
    uint64_t end_ns = backstop_ns(request);
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    while (poll(&ready, 1, PAUSE_MS) <= 0) {
        if (request->pause && request->pause(request->pause_arg))
            return -ECANCELED;
        if (worker_now_ns() > end_ns)
            return complain_input(complaint, "witness program ran past its deadline");
    }
    ssize_t got = read(fd, complaint, sizeof *complaint);
    if (got != (ssize_t)sizeof *complaint)
        return complain_system(complaint, EXIT_INTERNAL, ECHILD,
                               "the runner of the witness program ended without a report");
    complaint->text[sizeof complaint->text - 1] = 0;
    return complaint->exit_code ? -EINVAL : 0;
}

static int open_output(int place_fd, struct complaint *complaint)
{
    struct stat status;
    int fd = openat(place_fd, WITNESS_OUTPUT_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && !fstat(fd, &status) && S_ISREG(status.st_mode))
        return fd;
    if (fd >= 0)
        close(fd);
    return complain_input(complaint, "witness program left no regular file as its output");
}

static int run_in(const struct witness_request *request, int place_fd, struct complaint *complaint)
{
    int report[2];
    pid_t pid;
    if (pipe2(report, O_CLOEXEC))
        return complain_system(complaint, EXIT_MACHINE, errno, "a pipe");
    int status = start(&pid, request, place_fd, report[1]);
    close(report[1]);
    if (status) {
        close(report[0]);
        return complain_system(complaint, EXIT_MACHINE, -status, "the runner of witness programs");
    }
    status = await_report(request, report[0], complaint);
    close(report[0]);
    reap(pid);
    return status ? status : open_output(place_fd, complaint);
}

int witness_program_run(const struct witness_request *request, struct witness_place *place,
                        struct complaint *complaint)
{
    int status = witness_place_open(place, complaint);
    int place_fd = status ? status : witness_place_enter(place, complaint);
    if (place_fd < 0) {
        witness_place_close(place);
        return place_fd;
    }
    status = run_in(request, place_fd, complaint);
    close(place_fd);
    witness_place_close(place);
    return status;
}
