/*
 * A watched child; see the header. Called by witness_input.c and witness_child.c. A SIGKILL of the
 * runner ends the child too (PR_SET_PDEATHSIG).
 */
#include "synth-worker/witness_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/worker_start.h"

static void keep(struct witness_stream *stream, const char *piece, size_t bytes)
{
    if (bytes > WITNESS_TAIL_BYTES) {
        piece += bytes - WITNESS_TAIL_BYTES;
        bytes = WITNESS_TAIL_BYTES;
    }
    if (stream->bytes + bytes > WITNESS_TAIL_BYTES) {
        size_t drop = stream->bytes + bytes - WITNESS_TAIL_BYTES;
        memmove(stream->text, stream->text + drop, stream->bytes - drop);
        stream->bytes -= drop;
    }
    memcpy(stream->text + stream->bytes, piece, bytes);
    stream->bytes += bytes;
}

static void close_stream(struct witness_stream *stream)
{
    if (stream->fd >= 0)
        close(stream->fd);
    stream->fd = -1;
}

/* What is there now, at most so much that a child that never stops does not hold us. */
static void read_stream(struct witness_stream *stream)
{
    char piece[WITNESS_TAIL_BYTES];
    for (int i = 0; i < 32 && stream->fd >= 0; i++) {
        ssize_t got = read(stream->fd, piece, sizeof piece);
        if (got > 0)
            keep(stream, piece, (size_t)got);
        else if (got < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        else
            close_stream(stream);
    }
}

static int ms_left(const struct witness_watch *watch)
{
    uint64_t now_ns = worker_now_ns();
    if (!watch->deadline_ns)
        return -1;
    if (watch->deadline_ns <= now_ns)
        return 0;
    uint64_t ms = (watch->deadline_ns - now_ns) / 1000000 + 1;
    return ms < 60000 ? (int)ms : 60000;
}

/* One wait. -1: go on; else how it ended. */
static int wait_once(struct witness_watch *watch, int pidfd)
{
    struct pollfd news[2 + WITNESS_STREAMS] = {{.fd = pidfd, .events = POLLIN},
                                               {.fd = watch->signals, .events = POLLIN}};
    int left_ms = ms_left(watch);
    for (int i = 0; i < WITNESS_STREAMS; i++)
        news[2 + i] = (struct pollfd){.fd = watch->stream[i].fd, .events = POLLIN};
    int ready = poll(news, 2 + WITNESS_STREAMS, left_ms);
    for (int i = 0; i < WITNESS_STREAMS; i++)
        if (ready > 0 && news[2 + i].revents)
            read_stream(&watch->stream[i]);
    if (ready > 0 && news[0].revents)
        return WITNESS_ENDED;
    if (ready > 0 && news[1].revents)
        return WITNESS_STOPPED;
    return left_ms == 0 ? WITNESS_LATE : -1;
}

enum witness_end witness_watch_child(struct witness_watch *watch, pid_t pid)
{
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0), end = -1;
    for (int i = 0; i < WITNESS_STREAMS; i++)
        if (watch->stream[i].fd >= 0)
            fcntl(watch->stream[i].fd, F_SETFL, O_NONBLOCK);
    while (end < 0)
        end = pidfd < 0 ? WITNESS_STOPPED : wait_once(watch, pidfd);
    if (end != WITNESS_ENDED)
        kill(pid, SIGKILL); /* not reaped yet: the number is still its own */
    while (waitpid(pid, &watch->status, 0) < 0 && errno == EINTR)
        ;
    for (int i = 0; i < WITNESS_STREAMS; i++) {
        read_stream(&watch->stream[i]);
        close_stream(&watch->stream[i]);
    }
    if (pidfd >= 0)
        close(pidfd);
    return (enum witness_end)end;
}
