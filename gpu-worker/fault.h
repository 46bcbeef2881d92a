/*
 * Faults that tests ask for. Only a build with PAWL_FAULT defined has them; in every other build
 * the call is empty and the environment is not looked at.
 */
#ifndef PAWL_GPU_WORKER_FAULT_H
#define PAWL_GPU_WORKER_FAULT_H

struct proof_sums;

#ifdef PAWL_FAULT
/* PAWL_FAULT=flip_sum:N in the environment: flips a bit in the N-th sums made (1 is the first), as
 * a device with bad memory would; N = 0: in all of them. */
void fault_touch_sums(struct proof_sums *sums);
#else
static inline void fault_touch_sums(struct proof_sums *sums)
{
    (void)sums;
}
#endif

#endif
