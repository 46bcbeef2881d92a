/*
 * The five sums of a proof on the CPU: what the CPU device computes, and what the finalizer
 * computes anew where a proof does not verify.
 *
 * Pure: caller-owned scratch, no state. The order is rows, quotient, the sum for H, then the four
 * sums over the witness in one call, each over all threads in turn. Scratch is used three times:
 *
 *     rows, quotient    | a | b | c |         a becomes the scalars of H
 *     sum for H         | a |  its scratch    |
 *     witness's sums    |     their scratch   |
 */
#ifndef PAWL_GPU_WORKER_CPU_SUMS_H
#define PAWL_GPU_WORKER_CPU_SUMS_H

#include <stddef.h>

struct curve;
struct device_times;
struct device_watch;
struct device_work;
struct image;
struct parallel;
struct proof_sums;

/* A key as this form needs it: `table` is ntt_table_make's output for the image's domain. */
struct cpu_key {
    const struct curve *curve;
    const struct image *image;
    const void *table;
};

/* A multiple of 64; scratch is to be 64-byte aligned. */
size_t cpu_sums_scratch_bytes(const struct curve *curve, const struct image *image,
                              unsigned threads);
/* 0 or -ECANCELED. parallel->threads is at most what scratch was sized for. */
int cpu_sums_compute(const struct cpu_key *key, const struct device_work *work, void *scratch,
                     struct parallel *parallel, struct device_watch *watch, struct proof_sums *sums,
                     struct device_times *times);

/* The image's own table where it has one of the right size, else NULL. */
const void *cpu_sums_image_table(const struct curve *curve, const struct image *image);
/* A table for the image's domain, 64-byte aligned, free() it; NULL: no memory. */
void *cpu_sums_make_table(const struct curve *curve, const struct image *image,
                          struct parallel *parallel);
/* 64-byte aligned memory of at least `bytes`; free() it. NULL: no memory. */
void *cpu_sums_allocate(size_t bytes);

#endif
