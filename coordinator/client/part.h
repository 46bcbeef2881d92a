/*
 * One process of a private instance: its child, and a file for what it says on stderr, so that its
 * end can be explained.
 */
#ifndef PAWL_CLIENT_PART_H
#define PAWL_CLIENT_PART_H

#include <stddef.h>

#include "coordinator/client/child.h"

struct part {
    const char *program;
    struct child child;
    int log_fd; /* -1: none */
};

/* No process yet. */
void part_init(struct part *part, const char *program);
/*
 * Starts it with these words (as in child_spec) and up to two more fds as its 3 and 4 (-1: none);
 * its log lies in the folder. 0, or an exit code having said why.
 */
int part_start(struct part *part, const char *folder, char *const *words, int fd3, int fd4);
/* Where it has ended: 1, with what became of it in `why` and what that means for us in *exit_code.
 */
int part_describe_end(struct part *part, char *why, size_t bytes, int *exit_code);
void part_stop(struct part *part, int grace_ms);

#endif
