/*
 * What is known of a worker's end, as one line: signal or exit code where the kernel tells it, the
 * stage it was in, its last words.
 */
#ifndef PAWL_COORDINATOR_OBITUARY_H
#define PAWL_COORDINATOR_OBITUARY_H

#define OBITUARY_BYTES 1024

struct worker;

/* 1: it died; 0: it left in order (its page says so, and it exited with 0 where that is known). */
int obituary_write(const struct worker *worker, char out[OBITUARY_BYTES]);

#endif
