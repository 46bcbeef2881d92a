/*
 * operations: times of single operations, by curve, size, form and number of threads.
 *
 *     operations --curve bn128|bls12381 --size LOG2 --threads N [--runs R] [--forms F,F...]
 *
 * Prints a JSON object a line: what was measured, the median in ms, and the floor in ms: counted
 * multiply-adds over the rate of this core, measured first. tests/bench/run starts it and makes
 * tables of it. Sizes are log2 of points, rows and domain; 0 measures products and a proof's check.
 * A benchmark: nothing here is a test. Memory only; a SIGKILL leaves nothing.
 */
#include <assert.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpu-worker/thread_pool.h"
#include "kernels/parallel.h"
#include "tests/bench/floors.h"
#include "tests/bench/inputs.h"
#include "tests/bench/products.h"
#include "shm/worker_start.h"

struct options {
    const char *curve, *forms;
    unsigned log2, threads, runs;
};

struct bench {
    struct options options;
    const struct curve *curve;
    struct parallel *parallel;
    double madds_per_ms; /* 0: the CPU has none, and there is no floor */
    struct inputs inputs;
};

/* ---- timing and printing ---- */

static double now_ms(void)
{
    return (double)worker_now_ns() / 1e6;
}

/* Of all threads: other load on the machine lengthens it less than it does the time that passes. */
static double now_cpu_ms(void)
{
    struct timespec at;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return (double)at.tv_sec * 1e3 + (double)at.tv_nsec / 1e6;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

enum { RUNS_MAX = 64 };

static double median(double *values, unsigned count)
{
    qsort(values, count, sizeof(*values), compare);
    return values[count / 2];
}

/* Medians: that passed, and of all threads. */
struct times {
    double ms, cpu_ms;
};

/* One run before, which warms caches, does not count. */
static struct times measure(struct bench *bench, void (*operation)(struct bench *bench))
{
    double ms[RUNS_MAX], cpu_ms[RUNS_MAX];
    operation(bench);
    for (unsigned i = 0; i < bench->options.runs; i++) {
        double begin = now_ms(), cpu_begin = now_cpu_ms();
        operation(bench);
        ms[i] = now_ms() - begin;
        cpu_ms[i] = now_cpu_ms() - cpu_begin;
    }
    return (struct times){median(ms, bench->options.runs), median(cpu_ms, bench->options.runs)};
}

/* `units`: how many things one run did, for the time of one. The floor is of one core's work. */
static void report(const struct bench *bench, const char *operation, struct times times,
                   double units, double products, unsigned words)
{
    double madds = products / 8 * floor_madds_of_product(words);
    double floor = bench->madds_per_ms > 0 ? madds / bench->madds_per_ms : 0;
    printf("{\"curve\":\"%s\",\"operation\":\"%s\",\"form\":\"%s\",\"log2\":%u,\"threads\":%u,"
           "\"runs\":%u,\"ms\":%.9g,\"cpu_ms\":%.9g,\"units\":%.0f,\"floor_ms\":%.9g}\n",
           bench->curve->name, operation, cpu_form_name(bench->curve->form), bench->options.log2,
           bench->options.threads, bench->options.runs, times.ms, times.cpu_ms, units, floor);
    fflush(stdout);
}

/* ---- products ---- */

#define ROUNDS 2000UL
#define RATE_ROUNDS 200000UL

static volatile unsigned long sink; /* keeps the compiler from leaving work out */

extern __typeof__(bn254_portable_bench_products) bn254_adx_bench_products,
    bn254_ifma_bench_products, bls12381_portable_bench_products, bls12381_adx_bench_products,
    bls12381_ifma_bench_products;

static unsigned long (*const products[][FORM_COUNT])(int in_fq, unsigned long rounds) = {
#ifdef __x86_64__
    [CURVE_BN254] = {bn254_portable_bench_products, bn254_adx_bench_products,
                     bn254_ifma_bench_products},
    [CURVE_BLS12381] = {bls12381_portable_bench_products, bls12381_adx_bench_products,
                        bls12381_ifma_bench_products}};
#else
    [CURVE_BN254] = {bn254_portable_bench_products},
    [CURVE_BLS12381] = {bls12381_portable_bench_products}};
#endif

static void run_fr(struct bench *bench)
{
    sink = products[bench->curve->id][bench->curve->form](0, ROUNDS);
}

static void run_fq(struct bench *bench)
{
    sink = products[bench->curve->id][bench->curve->form](1, ROUNDS);
}

static void bench_products_of_fields(struct bench *bench)
{
    double units = (double)ROUNDS * PRODUCTS_A_ROUND;
    report(bench, "fr product", measure(bench, run_fr), units, units, FR_WORDS);
    report(bench, "fq product", measure(bench, run_fq), units, units, bench->curve->fq_bytes / 8);
}

static void measure_rate(struct bench *bench)
{
#ifdef __x86_64__
    if (!cpu_form_available(FORM_IFMA))
        return;
    double best = 0;
    for (int i = 0; i < 5; i++) { /* the best: a rate is what the core can do */
        double begin = now_cpu_ms();
        sink = bench_madds(RATE_ROUNDS);
        double rate = (double)RATE_ROUNDS * MADDS_A_ROUND / (now_cpu_ms() - begin);
        best = rate > best ? rate : best;
    }
    bench->madds_per_ms = best;
    printf("{\"madds_per_s\":%.4g}\n", best * 1000);
#else
    (void)bench;
#endif
}

/* ---- what is made of them ---- */

static void run_msm_g1(struct bench *bench)
{
    struct inputs *in = &bench->inputs;
    bench->curve->msm_g1(&in->g1, in->points_g1, in->scalars, in->count, in->scratch,
                         bench->parallel);
}

static void run_msm_g2(struct bench *bench)
{
    struct inputs *in = &bench->inputs;
    bench->curve->msm_g2(&in->g2, in->points_g2, in->scalars, in->count, in->scratch,
                         bench->parallel);
}

static void run_witness(struct bench *bench)
{
    struct inputs *in = &bench->inputs;
    struct proof_sums sums;
    struct witness_points points = {in->points_g1, in->points_g1, in->points_g2, in->points_g1};
    bench->curve->witness_sums(&sums, &points, in->scalars, in->count, 1, in->scratch,
                               bench->parallel);
}

static void run_quotient(struct bench *bench)
{
    struct inputs *in = &bench->inputs;
    bench->curve->quotient(in->vector[0], in->vector[1], in->vector[2], bench->options.log2,
                           in->table, bench->parallel);
}

static void rows_piece(void *arg, unsigned index)
{
    struct bench *bench = arg;
    struct inputs *in = &bench->inputs;
    size_t step = in->count / bench->options.threads, begin = step * index;
    size_t end = index + 1 == bench->options.threads ? in->count : begin + step;
    bench->curve->rows_evaluate(in->vector[0] + begin * FR_WORDS, &in->matrix, in->scalars, begin,
                                end);
}

static void run_rows(struct bench *bench)
{
    bench->parallel->run(bench->parallel, rows_piece, bench, bench->options.threads);
}

static void run_check(struct bench *bench)
{
    struct inputs *in = &bench->inputs;
    sink = (unsigned long)bench->curve->prepared_verify(in->prepared, in->scalars, &in->proof);
}

static void run_assemble(struct bench *bench)
{
    struct inputs *in = &bench->inputs;
    bench->curve->prepared_assemble(&in->proof, &in->sums, in->prepared, in->scalars,
                                    in->scalars + FR_WORDS);
}

static void bench_sized(struct bench *bench)
{
    unsigned words = bench->curve->fq_bytes / 8;
    double n = (double)bench->inputs.count, additions = floor_additions_of_msm(bench->inputs.count);
    report(bench, "msm g1", measure(bench, run_msm_g1), n, 6 * additions, words);
    report(bench, "msm g2", measure(bench, run_msm_g2), n, 17 * additions, words);
    report(bench, "witness sums", measure(bench, run_witness), n, 35 * additions, words);
    report(bench, "quotient", measure(bench, run_quotient), n,
           floor_products_of_quotient(bench->options.log2), FR_WORDS);
    report(bench, "rows", measure(bench, run_rows), n, (double)INPUTS_ENTRIES * n, FR_WORDS);
}

static void bench_single(struct bench *bench)
{
    bench_products_of_fields(bench);
    inputs_make_proof(&bench->inputs, bench->curve);
    report(bench, "assemble", measure(bench, run_assemble), 1, FLOOR_PRODUCTS_OF_ASSEMBLY,
           bench->curve->fq_bytes / 8);
    report(bench, "verify", measure(bench, run_check), 1, FLOOR_PRODUCTS_OF_CHECK,
           bench->curve->fq_bytes / 8);
}

/* ---- */

static void bench_form(struct bench *bench, enum cpu_form form)
{
    const struct curve *any = curve_by_name(bench->options.curve);
    bench->curve = curve_in_form(any->id, form);
    if (!bench->curve || !strstr(bench->options.forms, cpu_form_name(form)))
        return;
    if (bench->options.log2 == 0) {
        bench_single(bench);
    } else {
        inputs_make(&bench->inputs, bench->curve, bench->options.log2, bench->parallel);
        bench_sized(bench);
    }
    inputs_free(&bench->inputs);
}

static struct options options_parse(int argc, char **argv)
{
    static const struct option known[] = {
        {"curve", required_argument, NULL, 'c'},   {"size", required_argument, NULL, 's'},
        {"threads", required_argument, NULL, 't'}, {"runs", required_argument, NULL, 'r'},
        {"forms", required_argument, NULL, 'f'},   {NULL, 0, NULL, 0}};
    struct options options = {"bn128", "portable,adx,ifma", 0, 1, 5};
    int option;
    while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
        if (option == 'c')
            options.curve = optarg;
        else if (option == 'f')
            options.forms = optarg;
        else if (option == 's')
            options.log2 = (unsigned)strtoul(optarg, NULL, 10);
        else if (option == 't')
            options.threads = (unsigned)strtoul(optarg, NULL, 10);
        else if (option == 'r')
            options.runs = (unsigned)strtoul(optarg, NULL, 10);
        else
            exit(64);
    }
    if (!curve_by_name(options.curve) || options.log2 > 24 || !options.threads || !options.runs ||
        options.runs > RUNS_MAX) {
        fputs("operations: see tests/bench/README.md\n", stderr);
        exit(64);
    }
    return options;
}

int main(int argc, char **argv)
{
    struct bench bench = {.options = options_parse(argc, argv)};
    struct thread_pool *pool = thread_pool_create(bench.options.threads);
    assert(pool);
    bench.parallel = thread_pool_parallel(pool);
    measure_rate(&bench);
    for (int form = 0; form < FORM_COUNT; form++)
        bench_form(&bench, (enum cpu_form)form);
    thread_pool_destroy(pool);
    return 0;
}
