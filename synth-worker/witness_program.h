/*
 * A witness by the circuit's witness program: the worker's side. The hostile input and the hostile
 * program are handled by children (witness_child.h) that hold no fd of the region.
 */
#ifndef PAWL_SYNTH_WORKER_WITNESS_PROGRAM_H
#define PAWL_SYNTH_WORKER_WITNESS_PROGRAM_H

#include <stdint.h>

struct complaint;
struct witness_place;

struct witness_request {
    int input_fd, folder_fd; /* the input's bytes; the program's folder; borrowed */
    uint32_t curve;          /* enum curve_id */
    uint64_t deadline_ms, memory_bytes, output_bytes; /* deadline 0: none */
    /* Called every few ms while the program runs; non-zero: stop. */
    int (*pause)(void *arg);
    void *pause_arg;
};

/*
 * Runs the program in `place` and returns a fd of the witness that it made, the caller's; its file
 * has no name any more, and nobody can write it. -ECANCELED: `pause` stopped it; -errno with the
 * complaint: EXIT_INPUT where input or program are at fault (with its last words), EXIT_MACHINE,
 * EXIT_INTERNAL. Whatever it returns, no process and no file is left.
 */
int witness_program_run(const struct witness_request *request, struct witness_place *place,
                        struct complaint *complaint);

#endif
