/*
 * The witness programs of circuits on disk, in state_dir/programs, kept over restarts:
 *
 *     HASH/program, HASH/program.dat      a program as it was taken along, and the data beside it
 *     names/NAME@IMAGE -> ../HASH         the program of circuit NAME while its image is IMAGE
 *
 * HASH is of both files' bytes. They are put there, whole or not at all, by the compiling child
 * (synth-worker/program_take.h). A link is replaced by rename; since it names the image too, a
 * crash between it and the circuit's own link leaves the circuit as it was before or as it is
 * after. Other users may read a program (a synth-worker may be one), but not reach it by its path:
 * state_dir is 0700. A SIGKILL leaves at most a link or a folder that nobody needs, which the next
 * sweep removes.
 */
#ifndef PAWL_COORDINATOR_CIRCUIT_PROGRAMS_H
#define PAWL_COORDINATOR_CIRCUIT_PROGRAMS_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/circuit_names.h"

struct config;

struct circuit_programs {
    char folder[PATH_MAX]; /* need not be there while no circuit has a program */
};

/* 0 or -ENAMETOOLONG. */
int circuit_programs_open(struct circuit_programs *programs, const struct config *config);
/* The circuit's program from now on, while it has that image; "": none. 0 or -errno. */
int circuit_programs_save(const struct circuit_programs *programs, const char *name,
                          const uint8_t *image, const char *program);
/* The circuit's program with that image, in hex; "" where it has none. */
void circuit_programs_find(const struct circuit_programs *programs, const char *name,
                           const uint8_t *image, char out[CIRCUIT_HEX_BYTES]);
/* Removes the circuit's links but that of the image (NULL: all). */
void circuit_programs_forget(const struct circuit_programs *programs, const char *name,
                             const uint8_t *image);
/* The folder of a program, for reading what is in it: fd or -errno. */
int circuit_programs_open_folder(const struct circuit_programs *programs, const char *program);
/* Removes the programs that no link leads to and that are not in use. */
void circuit_programs_sweep(const struct circuit_programs *programs,
                            int (*in_use)(void *arg, const char *program), void *arg);
/* Removes everything: a coordinator that leaves nothing behind. */
void circuit_programs_erase(const struct circuit_programs *programs);

#endif
