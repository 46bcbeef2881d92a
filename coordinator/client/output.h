/*
 * Output files, whole or not at all, and all of a set or none.
 *
 * Each is written beside its place under a name of its own, synced, and then renamed; where a later
 * one of the set fails, the earlier are put back as they were. Devices and FIFOs (/dev/stdout) are
 * written to directly, after the others stand; a signal ends the wait for their reader. A SIGKILL
 * during that wait, or the last milliseconds, may leave a file ".NAME.pawl-XXXXXX" beside the
 * target and one of two files new.
 */
#ifndef PAWL_CLIENT_OUTPUT_H
#define PAWL_CLIENT_OUTPUT_H

#include <jansson.h>
#include <stddef.h>

#define OUTPUTS_MAX 2

struct output {
    const char *path;
    const char *text;
    size_t bytes;
};

/* Whether a file could be written at path, so that it is known before long work. 0, or EXIT_OUTPUT
 * having said why not. */
int output_check(const char *path);

/* 1 if an output at path would take the place of the file at `other`, by whatever names the two go
 * (which need not exist); 0 too where path is a device or a FIFO. */
int output_replaces(const char *path, const char *other);

/* Writes all `count` (at most OUTPUTS_MAX). 0, or EXIT_OUTPUT or EXIT_CANCELLED having said why;
 * nothing has changed then. */
int output_write(const struct output *outputs, int count);

/* proof.json and public.json at the two paths, byte for byte in snarkjs's form. */
int output_write_proof(const char *proof_path, const json_t *proof, const char *public_path,
                       const json_t *publics);

#endif
