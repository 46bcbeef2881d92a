/*
 * A worker's obituary; see the header. Workers are nobody's children here (the supervisor's or a
 * user's), so their status is read from /proc before their parent has waited for them, and after
 * that from the pidfd where the kernel tells it (PIDFD_GET_INFO, 6.15); else it is not known.
 */
#include "coordinator/obituary.h"

#include <fcntl.h>
#include <linux/ioctl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* Of a dead process that nobody has waited for yet: the last field of /proc/PID/stat. -1: none.
 * (Where the number went to another process meanwhile, that one is no zombie.) */
static int read_zombie_status(int32_t pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t bytes = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0)
        close(fd);
    if (bytes <= 0)
        return -1;
    text[bytes] = 0;
    const char *state = strrchr(text, ')'), *last = strrchr(text, ' ');
    if (!state || !last || strncmp(state, ") Z ", 4) != 0)
        return -1;
    return (int)strtol(last, NULL, 10);
}

/* A status as wait(2) has it, or -1. */
static int read_status(const struct worker *worker)
{
    struct pidfd_exit_info info = {.mask = INFO_EXIT};
    int status = read_zombie_status(worker->pid);
    if (status < 0 && ioctl(worker->pidfd, GET_INFO, &info) == 0 && info.mask & INFO_EXIT)
        status = info.exit_code;
    return status;
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

/* Where the last words do not tell it themselves. */
static void say_device_error(const struct seat_view *view, const char *words, char *out,
                             size_t bytes)
{
    out[0] = 0;
    if (view->device_error && !strstr(words, "CUDA error"))
        snprintf(out, bytes, "; CUDA error %u", view->device_error);
}

int obituary_write(const struct worker *worker, char out[OBITUARY_BYTES])
{
    struct seat_view view;
    char end[64], device[64], words[SEAT_LAST_WORDS_BYTES / 2];
    int status = worker->ending == ENDING_LOST ? -1 : read_status(worker);
    seat_read(worker->page, &view);
    seat_last_words(worker->page, words, sizeof(words));
    say_end(status, end, sizeof(end));
    say_device_error(&view, words, device, sizeof(device));
    snprintf(out, OBITUARY_BYTES, "%s %s in stage %s%s%s%s",
             worker->role == ROLE_SYNTH ? "synth-worker" : "gpu-worker",
             worker->ending == ENDING_LOST ? "does not die" : end, seat_stage_name(view.stage),
             device, words[0] ? "; last words: " : "", words);
    return view.stage != STAGE_LEAVING || status > 0;
}
