/*
 * Threads for --compile: as many as the process may run on, made for each run and joined at its
 * end.
 */
#ifndef PAWL_SYNTH_WORKER_THREADS_H
#define PAWL_SYNTH_WORKER_THREADS_H

struct parallel;

/* A parallel with that many threads; 0: as many CPUs as this process may run on. */
void threads_init(struct parallel *parallel, unsigned threads);

#endif
