/*
 * The runner, `synth-worker --run-program`: a child of the worker that holds no fd of the region.
 * It makes the input exact and runs the witness program on it, each in a child of its own, and
 * reports how that went.
 *
 *     worker ──> runner ──> parser of the input      (sandbox_parser)
 *                      └──> the program              (sandbox_program), which can start none
 *
 * It ends with its parent, at TERM, and at the deadline, and its children end before it or with it.
 */
#ifndef PAWL_SYNTH_WORKER_WITNESS_CHILD_H
#define PAWL_SYNTH_WORKER_WITNESS_CHILD_H

#include <stdint.h>

struct complaint;

#define WITNESS_CHILD_OPTION "--run-program"
#define WITNESS_INPUT_NAME "input.json"
#define WITNESS_OUTPUT_NAME "out.wtns"

/* The fds that the runner is started with; all others are closed. */
enum witness_child_fd {
    WITNESS_FD_INPUT = 3, /* the input's bytes */
    WITNESS_FD_FOLDER,    /* the program's folder */
    WITNESS_FD_PLACE,     /* an empty folder: the program's own; its output is there at the end */
    WITNESS_FD_REPORT,    /* a pipe: one struct complaint, with exit code 0 where all went well */
};

struct witness_order {
    int32_t parent;                                   /* the worker's pid */
    uint32_t curve;                                   /* enum curve_id */
    uint64_t deadline_ms, memory_bytes, output_bytes; /* deadline 0: none */
};
#define WITNESS_ORDER_WORDS 5
/* The order as words of the command line, and back. 0 or -EINVAL. */
void witness_order_write(char words[WITNESS_ORDER_WORDS][24], const struct witness_order *order);
int witness_order_read(struct witness_order *order, char *const *words, int count);

/* The whole process: words are those behind the option. The exit code. */
int witness_child_run(int count, char *const *words);

/* ---- witness_input.c ---- */
/* Makes the input behind input_fd exact, in a child, into out_fd. 0 or -errno with the complaint;
 * signals and deadline_ns as in witness_watch.h. */
int witness_input_make(int input_fd, int out_fd, uint32_t curve, int signals, uint64_t deadline_ns,
                       struct complaint *complaint);

#endif
