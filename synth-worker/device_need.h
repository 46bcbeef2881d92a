/*
 * How much memory of its own the CPU device needs to prove with a key: an estimate that the compile
 * leaves in the image, so that whoever plans memory need not know the mathematics.
 */
#ifndef PAWL_SYNTH_WORKER_DEVICE_NEED_H
#define PAWL_SYNTH_WORKER_DEVICE_NEED_H

#include <stdint.h>

struct curve;

/*
 * Three vectors of the domain (the sums' scratch lies over two of them where it is smaller) and the
 * table of the transform, for the threads that this machine has. In MiB, rounded up.
 */
uint32_t device_need_mib(const struct curve *curve, uint64_t wires, uint64_t first_private,
                         unsigned log2_domain);

#endif
