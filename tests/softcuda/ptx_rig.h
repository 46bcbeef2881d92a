/*
 * For tests of the interpreter: a kernel made of a few lines of PTX, run over lanes that each read
 * four 64-bit words and write one.
 *
 * In the body, %d1 to %d4 are the lane's words and %r1 to %r4 their low halves; %d9 is what is
 * written (%r9 where the rig is told so: %d9 is then its value). %r0 is the lane's number in its
 * block. %in and %out are the buffers' addresses, %mine and %yours those of the lane's words.
 */
#ifndef PAWL_TESTS_SOFTCUDA_PTX_RIG_H
#define PAWL_TESTS_SOFTCUDA_PTX_RIG_H

#include "tests/softcuda/ptx.h"

enum { RIG_LANES = 256, RIG_WORDS = 4 };

struct rig {
    uint64_t in[RIG_LANES][RIG_WORDS], out[RIG_LANES];
    uint32_t threads, blocks, shared_bytes;
    uint64_t seed, steps_most;
    bool watch_writes; /* loads of `out` that nothing wrote are faults */
    struct ptx_fault fault;
    char why[300];
};

#define RIG_IN UINT64_C(0x10000)
#define RIG_OUT UINT64_C(0x20000)

/* `module` stands before the kernel: variables and functions. -ENOEXEC: the text is refused. */
int rig_run(struct rig *rig, const char *module, const char *body, bool narrow);

/* One result of one lane with these words, by a whole warp and by a part of one; both must agree.
 */
uint64_t rig_compute(const char *body, bool narrow, uint64_t a, uint64_t b, uint64_t c, uint64_t d);

#endif
