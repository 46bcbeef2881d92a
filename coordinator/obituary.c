/*
 * A worker's obituary; see the header. Workers are nobody's children here (the supervisor's or a
 * user's), so their status comes from the pidfd, where the kernel has PIDFD_GET_INFO with exit
 * information (6.15) and the parent has already waited; else it is not known.
 */
#include "coordinator/obituary.h"

#include <linux/ioctl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "coordinator/workers.h"
#include "shm/seat.h"

/* As in linux/pidfd.h, which older headers do not have. */
#define INFO_EXIT (UINT64_C(1) << 3)
struct pidfd_exit_info {
    uint64_t mask;
    uint64_t cgroup;
    uint32_t ids[11];
    int32_t exit_code;
    uint64_t later[8];
};
#define GET_INFO _IOWR(0xFF, 11, struct pidfd_exit_info)

/* A status as wait(2) has it, or -1. */
static int read_status(int pidfd)
{
    struct pidfd_exit_info info = {.mask = INFO_EXIT};
    siginfo_t child = {0};
    if (waitid(P_PIDFD, (id_t)pidfd, &child, WEXITED | WNOHANG | WNOWAIT) == 0 && child.si_pid)
        return child.si_code == CLD_EXITED ? (child.si_status & 0xff) << 8 : child.si_status;
    if (ioctl(pidfd, GET_INFO, &info) == 0 && info.mask & INFO_EXIT)
        return info.exit_code;
    return -1;
}

static void say_end(int status, char *out, size_t bytes)
{
    if (status < 0)
        snprintf(out, bytes, "ended");
    else if (WIFSIGNALED(status))
        snprintf(out, bytes, "ended by signal %d (SIG%s)", WTERMSIG(status),
                 sigabbrev_np(WTERMSIG(status)) ? sigabbrev_np(WTERMSIG(status)) : "?");
    else
        snprintf(out, bytes, "exited with code %d", WEXITSTATUS(status));
}

int obituary_write(const struct worker *worker, char out[OBITUARY_BYTES])
{
    struct seat_view view;
    char end[64], words[SEAT_LAST_WORDS_BYTES / 2];
    int status = worker->ending == ENDING_LOST ? -1 : read_status(worker->pidfd);
    seat_read(worker->page, &view);
    seat_last_words(worker->page, words, sizeof(words));
    say_end(status, end, sizeof(end));
    snprintf(out, OBITUARY_BYTES, "%s %s in stage %s%s%s",
             worker->role == ROLE_SYNTH ? "synth-worker" : "gpu-worker",
             worker->ending == ENDING_LOST ? "does not die" : end, seat_stage_name(view.stage),
             words[0] ? "; last words: " : "", words);
    return view.stage != STAGE_LEAVING || status > 0;
}
