/*
 * The prove loop: a thread that takes staged assignments in order, has the device compute their
 * sums, and hands them to the finalizer, so that the next is computed while one is finalized.
 *
 *   slab checked, key loaded -> STARTED -> sums -> (finalizer free) -> COMPUTED
 *
 * It reads slabs and never writes one: a proof that fails or is cut short is made again from the
 * same slab. It ends when the desk was left and nothing is staged.
 */
#ifndef PAWL_GPU_WORKER_PROVER_H
#define PAWL_GPU_WORKER_PROVER_H

struct context;

/* Thread body; arg is the struct context. Closes the desk at its end. */
void *prover_main(void *context);

#endif
