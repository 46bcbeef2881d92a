/*
 * Takes a proof over from a gpu-worker: everything about it is checked against the message that
 * brought it and against what a proof of that slab can be.
 */
#ifndef PAWL_COORDINATOR_RESULT_TAKE_H
#define PAWL_COORDINATOR_RESULT_TAKE_H

#include "coordinator/store.h"

struct control;
struct wire_proved;
struct worker_task;

struct result_texts {
    char *proof, *publics; /* one block, at proof; NULL where there is none */
};

/* task: what the assignment is about. 0 and the texts (the caller's), or -errno with *what naming
 * what is wrong. */
int result_take(const struct control *control, const struct wire_proved *proved,
                const struct worker_task *task, int fd, struct result_texts *texts,
                const char **what);
/* Times of a message in ms, none of them longer than the partition's whole life. */
void result_times(const struct action *action, const struct wire_times *times, double life_ms,
                  struct partition_times *out);

#endif
