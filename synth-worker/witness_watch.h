/*
 * A child of the runner, watched to its end: its deadline, its last words, a TERM for us meanwhile.
 */
#ifndef PAWL_SYNTH_WORKER_WITNESS_WATCH_H
#define PAWL_SYNTH_WORKER_WITNESS_WATCH_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define WITNESS_TAIL_BYTES 4096u
#define WITNESS_STREAMS 2

enum witness_end { WITNESS_ENDED, WITNESS_LATE, WITNESS_STOPPED };

/* The last bytes of a stream. */
struct witness_stream {
    int fd; /* -1: none, or at its end */
    size_t bytes;
    char text[WITNESS_TAIL_BYTES];
};

struct witness_watch {
    int signals;          /* a signalfd for TERM and INT */
    uint64_t deadline_ns; /* CLOCK_MONOTONIC; 0: none */
    int status;           /* of waitpid */
    struct witness_stream stream[WITNESS_STREAMS];
};

/* Waits for the child, which it kills at the deadline or at a signal; closes the streams. The child
 * is reaped when it returns. */
enum witness_end witness_watch_child(struct witness_watch *watch, pid_t pid);

#endif
