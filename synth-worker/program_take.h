/*
 * A witness program taken along: copied, with the data beside it, into a folder of programs:
 *
 *     HASH/program, HASH/program.dat     (0555, 0444)
 *     .tmp-PID-NUMBER                    in the making, locked (flock) by its maker
 *
 * HASH is the SHA-256 of the program's length (u64, little-endian), its bytes and the data's, so
 * that the same files are kept once. Made aside, synced and renamed: what is there is whole. A
 * SIGKILL leaves a folder without a lock, which the next program_take there removes.
 */
#ifndef PAWL_SYNTH_WORKER_PROGRAM_TAKE_H
#define PAWL_SYNTH_WORKER_PROGRAM_TAKE_H

#include "synth-worker/hash.h"

struct complaint;

struct program_request {
    const char *program;  /* the file */
    const char *data;     /* what lies beside it; NULL: PROGRAM.dat, where there is one */
    const char *programs; /* the folder, made where it is not there */
};

/* 0 with the hash in hex; -errno with the complaint: EXIT_INPUT where the file is no program that
 * runs here (what it is instead is named), EXIT_OUTPUT, EXIT_MACHINE. */
int program_take(const struct program_request *request, char out[HASH_HEX_BYTES],
                 struct complaint *complaint);

#endif
