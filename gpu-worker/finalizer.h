/*
 * The finalizer: a thread that makes of sums a proof that has been checked, and of that the result
 * that leaves: blinders, assembly, pairing check, JSON, sealed memfd, PROVED.
 *
 * One at a time, beside the prover. A SIGKILL leaves nothing: a memfd goes with its last holder.
 */
#ifndef PAWL_GPU_WORKER_FINALIZER_H
#define PAWL_GPU_WORKER_FINALIZER_H

/* Thread body; arg is the struct context. Ends when the desk is closed and empty. */
void *finalizer_main(void *context);

#endif
