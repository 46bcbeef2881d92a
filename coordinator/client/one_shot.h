/*
 * A private instance for one proof: coordinator, synth-worker and gpu-worker of our own, with one
 * slab that fits the key, in a folder of their own that goes with them.
 *
 * Whatever ends pawl ends them: the coordinator sees the end of its owner fd, the workers are
 * killed by the kernel. A SIGKILL of pawl leaves at most the folder's few small files (with
 * `--cache none` the key's image too).
 */
#ifndef PAWL_CLIENT_ONE_SHOT_H
#define PAWL_CLIENT_ONE_SHOT_H

#include <stdint.h>

#include "coordinator/client/part.h"
#include "coordinator/client/service.h"

#define ONE_SHOT_CIRCUIT "one-shot"

struct one_shot_options {
    const char *key_path;
    const char *program_path; /* the circuit's witness program; NULL: none */
    const char *cache;        /* a folder, "none", or NULL for the usual one */
    const char *device;       /* "cpu" or a UUID */
    unsigned long threads;    /* of the CPU device; 0: all */
};

struct one_shot {
    struct service service;
    struct part coordinator, synth, gpu;
    int owner_fd; /* the coordinator ends when this closes */
    char folder[128];
    char hash[80];
    char program[80]; /* the hash of the witness program; "": none */
    uint64_t slab_bytes;
    int cached;    /* the image was there; not made for this proof */
    char why[512]; /* buffer of why_gone */
};

/*
 * Compiles the key (or finds it compiled) and starts the instance with it as circuit
 * ONE_SHOT_CIRCUIT. 0, or an exit code having said why; one_shot_stop is called either way.
 */
int one_shot_start(struct one_shot *this, const struct one_shot_options *options);
/*
 * Has the key's image in the cache held against its checksum: 1 where it was damaged and is made
 * again, 0 where it was not, or could not be.
 */
int one_shot_mend(const struct one_shot_options *options);
/* Ends everything and removes the folder. */
void one_shot_stop(struct one_shot *this);

#endif
