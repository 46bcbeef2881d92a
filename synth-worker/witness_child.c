/*
 * The runner; see the header. Started by witness_program.c. A SIGKILL of it ends its children
 * (PR_SET_PDEATHSIG) and leaves the place to the worker, which empties it.
 */
#include "synth-worker/witness_child.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/program.h"
#include "shm/worker_start.h"
#include "synth-worker/complaint.h"
#include "synth-worker/sandbox.h"
#include "synth-worker/witness_watch.h"

#define PROGRAM_PATH "/proc/self/fd/3/program" /* by the one fd of ours that it keeps */
#define SHOWN_BYTES 400
#define START_BYTES 256 /* of what a child says that did not become the program */
#define NOEXEC_HINT                                                                                \
    " (is its file system mounted noexec? It lies in state_dir, or, of pawl fullprove, in "        \
    "XDG_RUNTIME_DIR or TMPDIR)"

struct run {
    struct witness_order order;
    int signals, input_fd, output_fd;
    uint64_t deadline_ns;
    struct complaint *complaint;
};

/* ---- the order ---- */

void witness_order_write(char words[WITNESS_ORDER_WORDS][24], const struct witness_order *order)
{
    snprintf(words[0], 24, "%" PRId32, order->parent);
    snprintf(words[1], 24, "%" PRIu32, order->curve);
    snprintf(words[2], 24, "%" PRIu64, order->deadline_ms);
    snprintf(words[3], 24, "%" PRIu64, order->memory_bytes);
    snprintf(words[4], 24, "%" PRIu64, order->output_bytes);
}

int witness_order_read(struct witness_order *order, char *const *words, int count)
{
    uint64_t number[WITNESS_ORDER_WORDS];
    if (count != WITNESS_ORDER_WORDS)
        return -EINVAL;
    for (int i = 0; i < count; i++) {
        char *end;
        errno = 0;
        number[i] = strtoull(words[i], &end, 10);
        if (errno || *end || end == words[i])
            return -EINVAL;
    }
    *order = (struct witness_order){.parent = (int32_t)number[0],
                                    .curve = (uint32_t)number[1],
                                    .deadline_ms = number[2],
                                    .memory_bytes = number[3],
                                    .output_bytes = number[4]};
    return 0;
}

/* ---- how it ended ---- */

/* The stream's last bytes in one line: blanks for controls, bars for line ends. */
static void append_tail(char *out, size_t bytes, const struct witness_stream *stream)
{
    size_t used = strlen(out), end = stream->bytes;
    while (end && (stream->text[end - 1] == '\n' || stream->text[end - 1] == ' '))
        end--;
    size_t begin = end > SHOWN_BYTES ? end - SHOWN_BYTES : 0;
    if (begin == end)
        return;
    used += (size_t)snprintf(out + used, bytes - used, ": %s", begin ? "..." : "");
    for (size_t i = begin; i < end && used + 4 < bytes; i++) {
        unsigned char letter = (unsigned char)stream->text[i];
        if (letter == '\n')
            used += (size_t)snprintf(out + used, bytes - used, " | ");
        else
            out[used++] = letter < 0x20 || letter > 0x7e ? '?' : (char)letter;
    }
    out[used] = 0;
}

static int complain_end(struct run *run, const struct witness_watch *watch, const char *what)
{
    char tails[2 * SHOWN_BYTES + 64] = "";
    append_tail(tails, sizeof tails, &watch->stream[1]);
    append_tail(tails, sizeof tails, &watch->stream[0]);
    return complain_input(run->complaint, "witness program %s%s", what, tails);
}

static const char *hint_of(int signal)
{
    switch (signal) {
    case SIGXFSZ:
        return " (program_output in [limits])";
    case SIGXCPU:
        return " (its processor time was used up: deadline.witness in [limits])";
    case SIGKILL:
        return " (is memory short?)";
    default:
        return "";
    }
}

static int judge(struct run *run, const struct witness_watch *watch, enum witness_end end)
{
    char what[128];
    struct stat output;
    if (end == WITNESS_STOPPED)
        return -ECANCELED;
    if (end == WITNESS_LATE) {
        snprintf(what, sizeof what, "ran past its deadline of %" PRIu64 " ms (deadline.witness)",
                 run->order.deadline_ms);
        return complain_end(run, watch, what);
    }
    if (WIFSIGNALED(watch->status)) {
        const char *name = sigabbrev_np(WTERMSIG(watch->status));
        snprintf(what, sizeof what, "ended with SIG%s%s", name ? name : "?",
                 hint_of(WTERMSIG(watch->status)));
        return complain_end(run, watch, what);
    }
    if (WEXITSTATUS(watch->status)) {
        snprintf(what, sizeof what, "exited with code %d", WEXITSTATUS(watch->status));
        return complain_end(run, watch, what);
    }
    if (fstat(run->output_fd, &output) || output.st_size == 0)
        return complain_end(run, watch, "exited with code 0 and made no output");
    return 0;
}

/* ---- the program ---- */

static int raise_fd(int fd)
{
    return fcntl(fd, F_DUPFD_CLOEXEC, 20);
}

/* 0 to 2, the folder as 3, and for a moment what landlock and we need; all others are closed. */
static int place_fds(const struct run *run, int out, int error, int report,
                     struct sandbox_places *places)
{
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int high[] = {raise_fd(nothing),           raise_fd(out),    raise_fd(error),
                  raise_fd(WITNESS_FD_FOLDER), raise_fd(report), raise_fd(run->input_fd),
                  raise_fd(run->output_fd)};
    for (int i = 0; i < 7; i++)
        if (high[i] < 0)
            return -errno;
    if (fchdir(WITNESS_FD_PLACE))
        return -errno;
    for (int i = 0; i < 7; i++)
        if (dup3(high[i], i, i < 4 ? 0 : O_CLOEXEC) < 0)
            return -errno;
    *places = (struct sandbox_places){.program_folder = 3, .input = 5, .output = 6};
    return close_range(7, ~0u, 0) ? -errno : 0;
}

static int become_program(const struct run *run, int out, int error, int *report, const char **what)
{
    static char *const words[] = {PROGRAM_PATH, WITNESS_INPUT_NAME, WITNESS_OUTPUT_NAME, NULL};
    static char *const environment[] = {"PATH=/usr/bin:/bin", "LANG=C", NULL};
    uint64_t cpus = worker_count_cpus(), seconds = (run->order.deadline_ms + 999) / 1000;
    const struct sandbox_limits limits = {.memory_bytes = run->order.memory_bytes,
                                          .output_bytes = run->order.output_bytes,
                                          .cpu_s = seconds ? seconds * cpus + 1 : 0};
    struct sandbox_places places;
    sigset_t none;
    *what = "fds";
    int status = place_fds(run, out, error, *report, &places);
    if (status)
        return status;
    *report = 4;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (int number = 1; number < SIGRTMAX; number++)
        signal(number, SIG_DFL); /* what we ignore is not what it should */
    umask(077);
    setsid();
    status = sandbox_program(&limits, &places, what);
    if (status)
        return status;
    *what = "starting it";
    execve(PROGRAM_PATH, words, environment);
    return -errno;
}

/* Only what did not become the program comes back. */
static void be_program(const struct run *run, int out, int error, int report, pid_t parent)
{
    const char *what = "parent";
    char text[START_BYTES];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int status = getppid() == parent ? become_program(run, out, error, &report, &what) : -ESRCH;
    int length = snprintf(text, sizeof text, "%s: %s%s", what, strerror(-status),
                          status == -EACCES ? NOEXEC_HINT : "");
    if (write(report, text, (size_t)length) < 0)
        _exit(EXIT_INTERNAL);
    _exit(EXIT_INTERNAL);
}

/* What the child said because it did not become the program; 0 where it did. */
static int read_start(int fd, struct complaint *complaint)
{
    char text[START_BYTES];
    ssize_t got = read(fd, text, sizeof text - 1);
    if (got <= 0)
        return 0;
    text[got] = 0;
    complain_input(complaint, "the witness program cannot be run: %s", text);
    return -EINVAL;
}

static int run_with_pipes(struct run *run, const int out[2], const int error[2],
                          const int report[2])
{
    pid_t self = getpid(), pid = fork();
    if (pid == 0)
        be_program(run, out[1], error[1], report[1], self);
    close(out[1]);
    close(error[1]);
    close(report[1]);
    if (pid < 0)
        return complain_system(run->complaint, EXIT_MACHINE, errno, "a process for the program");
    struct witness_watch watch = {.signals = run->signals,
                                  .deadline_ns = run->deadline_ns,
                                  .stream = {{.fd = out[0]}, {.fd = error[0]}}};
    enum witness_end end = witness_watch_child(&watch, pid);
    int status = read_start(report[0], run->complaint);
    return status ? status : judge(run, &watch, end);
}

/* The runner ends soon after: what an error leaves open goes with it. */
static int run_program(struct run *run)
{
    int out[2], error[2], report[2];
    if (pipe2(out, O_CLOEXEC) || pipe2(error, O_CLOEXEC) || pipe2(report, O_CLOEXEC))
        return complain_system(run->complaint, EXIT_MACHINE, errno, "pipes");
    return run_with_pipes(run, out, error, report);
}

/* ---- the runner ---- */

static int make_file(const char *name, mode_t mode)
{
    int fd = openat(WITNESS_FD_PLACE, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return fd < 0 || fchmod(fd, mode) ? -1 : fd;
}

/* The program finds both files there and can make no others. Nobody but it and we can get there. */
static int make_files(struct run *run)
{
    run->input_fd = make_file(WITNESS_INPUT_NAME, 0444);
    run->output_fd = make_file(WITNESS_OUTPUT_NAME, 0666);
    if (run->input_fd >= 0 && run->output_fd >= 0 && !fchmod(WITNESS_FD_PLACE, 0511))
        return 0;
    return complain_system(run->complaint, EXIT_MACHINE, errno, "files for a witness program");
}

static int settle(struct run *run)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    run->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    for (int fd = WITNESS_FD_INPUT; fd <= WITNESS_FD_REPORT; fd++)
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    close_range(WITNESS_FD_REPORT + 1, (unsigned)run->signals - 1, 0);
    if (run->order.deadline_ms)
        run->deadline_ns = worker_now_ns() + run->order.deadline_ms * 1000000;
    return run->signals < 0 ? -errno : 0;
}

static int run_all(struct run *run)
{
    int status = settle(run);
    if (status)
        return complain_system(run->complaint, EXIT_MACHINE, -status, "signals");
    status = make_files(run);
    if (!status)
        status = witness_input_make(WITNESS_FD_INPUT, run->input_fd, run->order.curve, run->signals,
                                    run->deadline_ns, run->complaint);
    return status ? status : run_program(run);
}

int witness_child_run(int count, char *const *words)
{
    struct complaint complaint = {0};
    struct run run = {.complaint = &complaint};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (witness_order_read(&run.order, words, count) || getppid() != run.order.parent)
        return EXIT_USAGE_ERROR;
    int status = run_all(&run);
    if (status == -ECANCELED)
        return EXIT_CANCELLED;
    if (!status)
        complaint.exit_code = 0;
    return write(WITNESS_FD_REPORT, &complaint, sizeof complaint) == (ssize_t)sizeof complaint
               ? 0
               : EXIT_INTERNAL;
}
