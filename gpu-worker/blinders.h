/*
 * The blinders r and s of a proof: uniform below the order of the group, fresh for each proof, from
 * getrandom(2). Fixed ones exist only where a caller fixed them (PAWL_TEST_BLINDERS).
 */
#ifndef PAWL_GPU_WORKER_BLINDERS_H
#define PAWL_GPU_WORKER_BLINDERS_H

#include <stdint.h>

struct curve;

struct blinders {
    uint64_t r[4], s[4]; /* plain */
};

/* Both from getrandom, by rejection. 0 or -errno. */
int blinders_draw(struct blinders *out, const struct curve *curve);
/* From text "R,S", decimal, each below the order of every curve. 0 or -EINVAL. */
int blinders_parse(struct blinders *out, const char *text);
/* Overwrites them so that the compiler cannot leave it out: they are as secret as the witness. */
void blinders_forget(struct blinders *blinders);

#endif
