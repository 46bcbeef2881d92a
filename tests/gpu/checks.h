/*
 * What `gpu-check` can be asked for; each prints a JSON object a line on stdout and returns 0, 1
 * where a result is wrong, or an exit code. tests/gpu/run makes tables of them.
 */
#ifndef PAWL_TESTS_GPU_CHECKS_H
#define PAWL_TESTS_GPU_CHECKS_H

struct gpu;

struct check_options {
    const char *device;       /* "cuda:N" or a UUID */
    unsigned log2;            /* of elements, points, domain */
    unsigned runs;            /* of which the median is taken */
    unsigned megabytes;       /* of a copy */
    int soft;                 /* on the software driver: as little as shows that it works */
    int check;                /* also against the CPU where that takes long */
    const char *const *files; /* NULL at the end */
};

/* Products and additions of module `field`, both curves, against the CPU's. */
int check_selftest(const struct check_options *options, struct gpu *gpu);
/* Multiply-adds, field products, additions of points: how many a second. */
int check_rates(const struct check_options *options, struct gpu *gpu);
/* Copies to the device from memory that is registered and that is not; what registering costs, by
 * size of page. */
int check_copies(const struct check_options *options, struct gpu *gpu);
/* The quotient and sums over 2^log2 elements, both curves, by the plans that proofs use; against
 * the CPU with `check`. */
int check_operations(const struct check_options *options, struct gpu *gpu);

/* ---- by the device interface; they open the device themselves ---- */
/* files: folders of cases. Sums by GPU and CPU, bit for bit, with rows and without; and that a
 * proof takes none of the GPU's memory. */
int check_cases(const struct check_options *options);
/* files: an image and a witness. Times of whole proofs; with `check`, against the CPU. */
int check_proofs(const struct check_options *options);

#endif
