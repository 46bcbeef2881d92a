/*
 * From a key file to its circuit image in the cache: `synth-worker --compile`.
 */
#ifndef PAWL_SYNTH_WORKER_COMPILE_H
#define PAWL_SYNTH_WORKER_COMPILE_H

#include <stdio.h>

#include "shm/image.h"

struct complaint;
struct parallel;

struct compile_request {
    const char *key_path;  /* the zkey */
    const char *images;    /* the folder of images, made where it is not there */
    int check_subgroups;   /* an image without IMAGE_SUBGROUPS_CHECKED is made again */
    int check_image;       /* an image that is damaged is made again, too: reads all of it */
    const char *r1cs_path; /* the circuit's constraints, or NULL */
    uint64_t images_max;   /* bytes that the folder may have in all; 0: no bound; image_trim.h */
};

struct compile_result {
    struct image_header header;
    int cached;          /* found, not made */
    uint32_t repeated;   /* made, with this many combinations that list a wire twice */
    const char *program; /* the hash of the witness program taken along; NULL: none */
};

/* 0, or -errno with the complaint set: EXIT_INPUT where the key is at fault, EXIT_MACHINE,
 * EXIT_OUTPUT (the folder), EXIT_INTERNAL. */
int compile_key(const struct compile_request *request, struct parallel *parallel,
                struct compile_result *result, struct complaint *complaint);
/* One line of JSON about the result: hash, slab_bytes, curve, wires, public, domain, bytes, cached,
 * path, and constraints where there is an r1cs. */
void compile_print(FILE *out, const struct compile_request *request,
                   const struct compile_result *result);

#endif
