/*
 * The child that reads hostile JSON: it has the input's bytes, an output and a pipe for its
 * complaint, and no system call to reach anything else by. Called by witness_child.c. A SIGKILL of
 * it is an error of the input; one of the runner ends it too.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/curves.h"
#include "shm/program.h"
#include "synth-worker/complaint.h"
#include "synth-worker/input_json.h"
#include "synth-worker/sandbox.h"
#include "synth-worker/witness_child.h"
#include "synth-worker/witness_watch.h"

#define INPUT_BYTES_MAX (UINT64_C(256) << 20)

static char *read_all(int fd, size_t *bytes, struct complaint *complaint)
{
    struct stat status;
    if (fstat(fd, &status) || (uint64_t)status.st_size > INPUT_BYTES_MAX) {
        complain_input(complaint, "the input has more than 256 MiB");
        return NULL;
    }
    char *text = malloc((size_t)status.st_size + 1);
    for (*bytes = 0; text && *bytes < (size_t)status.st_size;) {
        ssize_t got = pread(fd, text + *bytes, (size_t)status.st_size - *bytes, (off_t)*bytes);
        if (got <= 0) {
            complain_system(complaint, EXIT_INTERNAL, got ? errno : EIO, "reading the input");
            free(text);
            return NULL;
        }
        *bytes += (size_t)got;
    }
    if (!text)
        complain_system(complaint, EXIT_MACHINE, ENOMEM, "reading the input");
    return text;
}

static int parse(int input_fd, int out_fd, uint32_t curve, struct complaint *complaint)
{
    static char buffer[1 << 16];
    const char *what;
    size_t bytes;
    char *text = read_all(input_fd, &bytes, complaint);
    FILE *out = text ? fdopen(out_fd, "w") : NULL;
    if (!out)
        return text ? complain_system(complaint, EXIT_MACHINE, errno, "the exact input") : -EINVAL;
    setvbuf(out, buffer, _IOFBF, sizeof buffer);
    int status = sandbox_parser(&what);
    if (status)
        return complain_system(complaint, EXIT_INTERNAL, -status, "the parser's sandbox: %s", what);
    status = input_json_normalise(text, bytes, curve_by_id(curve), out, complaint);
    if (!status && (fflush(out) || ferror(out)))
        status = complain_system(complaint, EXIT_MACHINE, errno, "writing the exact input");
    return status;
}

static void be_parser(int input_fd, int out_fd, uint32_t curve, int report_fd)
{
    struct complaint complaint = {0};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int status = parse(input_fd, out_fd, curve, &complaint);
    if (status && write(report_fd, &complaint, sizeof complaint) != (ssize_t)sizeof complaint)
        status = -EIO;
    /* at once: what a sanitizer does at an exit needs more than is left here */
    syscall(SYS_exit_group, status ? EXIT_INPUT : 0);
    _exit(EXIT_INTERNAL);
}

static int judge(const struct witness_watch *watch, enum witness_end end,
                 struct complaint *complaint)
{
    const struct witness_stream *report = &watch->stream[0];
    if (end == WITNESS_LATE)
        return complain_input(complaint, "the input could not be read within deadline.witness");
    if (end == WITNESS_STOPPED)
        return -ECANCELED;
    if (WIFEXITED(watch->status) && WEXITSTATUS(watch->status) == 0)
        return 0;
    if (report->bytes != sizeof *complaint)
        return complain_input(complaint,
                              "the input could not be read (its parser ended with "
                              "status 0x%x)",
                              (unsigned)watch->status);
    memcpy(complaint, report->text, sizeof *complaint);
    complaint->text[sizeof complaint->text - 1] = 0;
    return -EINVAL;
}

int witness_input_make(int input_fd, int out_fd, uint32_t curve, int signals, uint64_t deadline_ns,
                       struct complaint *complaint)
{
    int report[2];
    if (pipe2(report, O_CLOEXEC))
        return complain_system(complaint, EXIT_MACHINE, errno, "a pipe");
    pid_t pid = fork();
    if (pid == 0)
        be_parser(input_fd, out_fd, curve, report[1]);
    close(report[1]);
    if (pid < 0) {
        close(report[0]);
        return complain_system(complaint, EXIT_MACHINE, errno, "a process for the input");
    }
    struct witness_watch watch = {
        .signals = signals, .deadline_ns = deadline_ns, .stream = {{.fd = report[0]}, {.fd = -1}}};
    enum witness_end end = witness_watch_child(&watch, pid);
    return judge(&watch, end, complaint);
}
