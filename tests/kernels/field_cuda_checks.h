/*
 * Module `field` as nvcc made it, run by the PTX interpreter, bit for bit against the portable
 * fields and groups: so what is tested is the compiler's code, its carry chains too. A test program
 * of one curve is this file behind its PAWL_CURVE. No state but the queue.
 */
#include "kernels/curve/curve.h"
#include "kernels/curve/group.h"
#include "kernels/field/field_kernels_cuda.h"
#include "tests/kernels/field_samples_cuda.h"
#include "tests/kernels/vectors.h"
#include "tests/softcuda/soft_queue.h"

#define TEXT_(name) #name
#define TEXT(name) TEXT_(name)

enum { ELEMENTS = 150, BLOCKS = 2, THREADS = 48 }; /* threads go round; a warp is not full */

static struct soft_queue *soft;

static int open_queue(void **state)
{
    (void)state;
    soft = soft_queue_open(TEXT(PAWL_CURVE), 1);
    return 0;
}

static int close_queue(void **state)
{
    (void)state;
    soft_queue_close(soft);
    return 0;
}

static gpu_pointer send(const void *from, size_t bytes)
{
    const gpu_pointer at = soft_queue_allocate(soft, bytes);
    soft_queue_write(soft, at, from, bytes);
    return at;
}

/* what `kernel` makes of a and b; each array has an allocation that ends with it */
struct operands {
    const char *kernel;
    const void *a, *b;
    size_t a_bytes, b_bytes, count;
    uint32_t repeat, negate;
};

static void run_kernel(void *out, size_t out_bytes, const struct operands *o)
{
    struct field_cuda_operands arguments = {.a = send(o->a, o->a_bytes),
                                            .b = o->b ? send(o->b, o->b_bytes) : 0,
                                            .out = soft_queue_allocate(soft, out_bytes),
                                            .count = o->count,
                                            .repeat = o->repeat,
                                            .negate = o->negate};
    const struct gpu_launch launch = {.kernel = o->kernel,
                                      .blocks = BLOCKS,
                                      .threads = THREADS,
                                      .arguments = &arguments,
                                      .argument_bytes = sizeof(arguments)};
    assert_int_equal(soft->queue.launch(&soft->queue, &launch), 0);
    soft_queue_read(soft, out, arguments.out, out_bytes);
    soft_queue_free(soft, arguments.a);
    soft_queue_free(soft, arguments.out);
    if (arguments.b)
        soft_queue_free(soft, arguments.b);
}

#define FIELD fr
#include "tests/kernels/field_cuda_template.h"
#define FIELD fq
#include "tests/kernels/field_cuda_template.h"
#define GROUP g1
#define COORDINATE fq
#include "tests/kernels/xyzz_cuda_template.h"
#define GROUP g2
#define COORDINATE fq2
#include "tests/kernels/xyzz_cuda_template.h"

static void fq_differences_are_exact(void **state)
{
    (void)state;
    uint64_t seed = 21;
    struct fq a[ELEMENTS], b[ELEMENTS], got[ELEMENTS], s, want;
    for (unsigned i = 0; i < ELEMENTS; i++) {
        fq_sample(&a[i], &seed, i);
        fq_sample(&b[i], &seed, (i * 7 + 1) % 40);
    }
    run_kernel(got, sizeof(got),
               &(struct operands){.kernel = "field_fq_differences",
                                  .a = a,
                                  .b = b,
                                  .a_bytes = sizeof(a),
                                  .b_bytes = sizeof(b),
                                  .count = ELEMENTS});
    for (unsigned i = 0; i < ELEMENTS; i++) {
        fq_mul(&want, &a[i], &b[i]);
        fq_square(&s, &b[i]);
        fq_sub(&want, &want, &s);
        assert_memory_equal(&got[i], &want, sizeof(want));
    }
}

static void fq2_products_are_exact(void **state)
{
    (void)state;
    uint64_t seed = 22;
    struct fq2 a[ELEMENTS], b[ELEMENTS], products[ELEMENTS], squares[ELEMENTS], want;
    for (unsigned i = 0; i < ELEMENTS; i++) {
        fq_sample(&a[i].c0, &seed, i % 6 ? i : i / 6);
        fq_sample(&a[i].c1, &seed, i / 5);
        fq_sample(&b[i].c0, &seed, i * 7 % 50);
        fq_sample(&b[i].c1, &seed, i * 3 % 31);
    }
    struct operands o = {.kernel = "field_fq2_products",
                         .a = a,
                         .b = b,
                         .a_bytes = sizeof(a),
                         .b_bytes = sizeof(b),
                         .count = ELEMENTS,
                         .repeat = 1};
    run_kernel(products, sizeof(products), &o);
    o.kernel = "field_fq2_squares";
    run_kernel(squares, sizeof(squares), &o);
    for (unsigned i = 0; i < ELEMENTS; i++) {
        fq2_mul(&want, &a[i], &b[i]);
        assert_memory_equal(&products[i], &want, sizeof(want));
        fq2_square(&want, &a[i]);
        assert_memory_equal(&squares[i], &want, sizeof(want));
    }
}

/* The rates' kernels write one word for each thread and end. */
static void rates_are_measured_by_kernels_that_end(void **state)
{
    (void)state;
    static const char *const kernels[] = {"rate_wide", "rate_low", "rate_chain"};
    uint32_t words[BLOCKS * THREADS];
    for (unsigned k = 0; k < COUNT(kernels); k++) {
        struct field_cuda_rate arguments = {
            .out = soft_queue_allocate(soft, sizeof(words)), .repeat = 2, .factor = 0x9e3779b1};
        const struct gpu_launch launch = {.kernel = kernels[k],
                                          .blocks = BLOCKS,
                                          .threads = THREADS,
                                          .arguments = &arguments,
                                          .argument_bytes = sizeof(arguments)};
        assert_int_equal(soft->queue.launch(&soft->queue, &launch), 0);
        soft_queue_read(soft, words, arguments.out, sizeof(words));
        soft_queue_free(soft, arguments.out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fr_products_are_exact),
        cmocka_unit_test(fq_products_are_exact),
        cmocka_unit_test(fr_sums_are_exact),
        cmocka_unit_test(fq_sums_are_exact),
        cmocka_unit_test(fq_differences_are_exact),
        cmocka_unit_test(fq2_products_are_exact),
        cmocka_unit_test(g1_sums_are_complete),
        cmocka_unit_test(g2_sums_are_complete),
        cmocka_unit_test(rates_are_measured_by_kernels_that_end),
    };
    return cmocka_run_group_tests(tests, open_queue, close_queue);
}
