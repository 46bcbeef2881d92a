/*
 * What the kernels cost, counted in the code that nvcc made (cubin_cuda.h), against bars: nothing
 * is run or timed. Reads $BUILD_DIR/cuda and, where `make cuda-all` has made it,
 * $BUILD_DIR/cuda-all.
 *
 *     cost_cuda_test            the bars, as TAP
 *     cost_cuda_test --table    the costs of every kernel, and an H200's predicted times, as tables
 *
 * No state but what was read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/kernels/cost_bars_cuda.h"
#include "tests/kernels/cost_prediction_cuda.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const curves[] = {"bn254", "bls12381"};
static const unsigned archs_all[] = {80, 86, 89, 90, 100, 120};
static struct kernel_costs costs;

static void costs_read_all(void)
{
    const char *build = getenv("BUILD_DIR");
    char folder[4096];
    snprintf(folder, sizeof(folder), "%s/cuda-all", build ? build : "build");
    if (costs_read(&costs, folder) > 0)
        return; /* sm_90 is among them */
    snprintf(folder, sizeof(folder), "%s/cuda", build ? build : "build");
    assert(costs_read(&costs, folder) > 0);
}

/* says which kernel before a check fails */
static void check_bar(const struct kernel_cost *cost, const char *what, unsigned got, unsigned most)
{
    if (got > most)
        print_error("%s, %s, sm_%u: %u %s, %u at most\n", cost->name, cost->curve, cost->arch, got,
                    what, most);
    assert_true(got <= most);
}

/* An opcode that is not found would pass every bar: each product has its wide multiplies. */
static void instructions_are_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < costs.count; i++) {
        const struct kernel_cost *cost = &costs.kernel[i];
        assert_true(cost->body.all > 0 && cost->registers > 0);
        if (strcmp(cost->name, "cost_fq_product") == 0)
            assert_true(cost->body.wide >= (strcmp(cost->curve, "bn254") ? 250 : 110));
        if (strcmp(cost->name, "rate_low") == 0)
            assert_true(cost->body.low >= 128);
        if (strcmp(cost->name, "curve_g2_mixed_adds") == 0)
            assert_true(cost->body.calls >= 10 && cost->product.wide && cost->square.wide);
    }
}

static void operations_take_few_wide_multiplies(void **state)
{
    (void)state;
    size_t checked = 0;
    for (size_t i = 0; i < costs.count; i++)
        for (unsigned b = 0; b < COUNT(operation_bars); b++) {
            const struct kernel_cost *cost = &costs.kernel[i];
            if (strcmp(cost->name, operation_bars[b].kernel) != 0)
                continue;
            check_bar(cost, "wide multiplies", operation_counts(cost).wide,
                      operation_bars[b].wide[strcmp(cost->curve, "bn254") != 0]);
            checked++;
        }
    assert_true(checked >= COUNT(operation_bars) * COUNT(curves));
}

static const struct resource_bar *bar_of(const struct kernel_cost *cost)
{
    static const struct resource_bar other = {.registers = {REGISTERS_MOST, REGISTERS_MOST}};
    for (unsigned b = 0; b < COUNT(resource_bars); b++)
        if (strcmp(cost->name, resource_bars[b].kernel) == 0)
            return &resource_bars[b];
    return &other;
}

static void kernels_keep_to_their_registers(void **state)
{
    (void)state;
    for (size_t i = 0; i < costs.count; i++) {
        const struct kernel_cost *cost = &costs.kernel[i];
        const struct resource_bar *bar = bar_of(cost);
        const int curve = strcmp(cost->curve, "bn254") != 0;
        check_bar(cost, "registers", cost->registers, bar->registers[curve]);
        check_bar(cost, "bytes of stack", cost->stack_bytes, bar->stack_bytes[curve]);
        check_bar(cost, "bytes spilled", cost->spill_bytes, bar->spill_bytes[curve]);
    }
}

/* A launch that asks for more fails on a GPU, which no software driver would show: registers are
 * handed out to warps by eights. Plans launch no more threads than the bound (the software driver
 * refuses it). */
static void kernels_can_be_launched(void **state)
{
    enum { THREADS_OF_BLOCK = 1024, REGISTERS_OF_BLOCK = 65536, SHARED_UNASKED = 49152, WARP = 32 };
    (void)state;
    for (size_t i = 0; i < costs.count; i++) {
        const struct kernel_cost *cost = &costs.kernel[i];
        const unsigned threads = (cost->threads_most + WARP - 1) / WARP * WARP;
        if (threads == 0)
            print_error("%s, %s, sm_%u has no bound\n", cost->name, cost->curve, cost->arch);
        assert_true(threads > 0);
        check_bar(cost, "threads of a block", threads, THREADS_OF_BLOCK);
        check_bar(cost, "registers of a block", threads * ((cost->registers + 7) / 8 * 8),
                  REGISTERS_OF_BLOCK);
        check_bar(cost, "bytes of shared memory", cost->shared_bytes, SHARED_UNASKED);
    }
}

/* What is read for that is read: each of these has some. */
static void limits_are_found(void **state)
{
    (void)state;
    size_t shared = 0, bound = 0;
    for (size_t i = 0; i < costs.count; i++) {
        const struct kernel_cost *cost = &costs.kernel[i];
        shared += strcmp(cost->name, "rows_evaluate") == 0 && cost->shared_bytes > 32768;
        bound += strcmp(cost->name, "ntt_middle") == 0 && cost->threads_most == 768;
    }
    assert_true(shared >= COUNT(curves) && bound == shared);
}

/* whatever the table of bars says */
static void g1_spills_nothing(void **state)
{
    (void)state;
    size_t checked = 0;
    for (size_t i = 0; i < costs.count; i++) {
        const struct kernel_cost *cost = &costs.kernel[i];
        if (strcmp(cost->module, "msm_g1") != 0 && !strstr(cost->name, "_g1_"))
            continue;
        check_bar(cost, "bytes spilled", cost->spill_bytes, 0);
        checked++;
        if (strcmp(cost->name, "msm_g1_accumulate") != 0 && !strstr(cost->name, "_mixed_add"))
            continue;
        check_bar(cost, "local stores", cost->body.local_stores, 0);
        check_bar(cost, "local loads", cost->body.local_loads, 0);
    }
    assert_true(checked >= 2 * COUNT(curves));
}

static void every_kernel_is_there_for_both_curves(void **state)
{
    (void)state;
    for (size_t i = 0; i < costs.count; i++)
        for (unsigned c = 0; c < COUNT(curves); c++)
            assert_non_null(cost_of(&costs, curves[c], costs.kernel[i].arch, costs.kernel[i].name));
}

/* ---- tables ---- */

/* One operation of module field's; of other kernels the code that there is, each function once. */
static struct instruction_counts printed_counts(const struct kernel_cost *cost)
{
    struct instruction_counts c = cost->body;
    if (strcmp(cost->module, "field") == 0)
        return operation_counts(cost);
    c.all += cost->product.all + cost->square.all + cost->functions.all;
    c.wide += cost->product.wide + cost->square.wide + cost->functions.wide;
    c.low += cost->product.low + cost->square.low + cost->functions.low;
    return c;
}

static void print_kernel(const struct kernel_cost *cost)
{
    const struct instruction_counts c = printed_counts(cost);
    struct kernel_cost like = *cost;
    unsigned spill = 0;
    printf("| %s | %s | %u | %u | %u |", cost->name, cost->curve, c.all, c.wide, c.low);
    for (unsigned a = 0; a < COUNT(archs_all); a++) {
        like.arch = archs_all[a];
        const struct kernel_cost *other = costs_find(&costs, &like);
        printf(other ? " %u |" : " |", other ? other->registers : 0);
        if (other && other->spill_bytes > spill)
            spill = other->spill_bytes;
    }
    printf(" %u | %u |\n", cost->stack_bytes, spill);
}

static void print_tables(void)
{
    printf(
        "| kernel | curve | instructions | wide | low | registers: sm_80 | 86 | 89 | 90 | 100 | "
        "120 | stack | spilled, most |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < costs.count; i++)
        if (costs.kernel[i].arch == 90)
            print_kernel(&costs.kernel[i]);
    printf(
        "\n| curve | k | G1 ms | G2 ms | NTT ms | rows ms | sum ms | upload of the witness ms |\n"
        "|---|---|---|---|---|---|---|---|\n");
    for (unsigned c = 0; c < COUNT(curves); c++)
        for (unsigned k = 16; k <= 24; k += 2)
            prediction_print(&costs, curve_by_id(c == 0 ? CURVE_BN254 : CURVE_BLS12381), k);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions_are_found),
        cmocka_unit_test(operations_take_few_wide_multiplies),
        cmocka_unit_test(kernels_keep_to_their_registers),
        cmocka_unit_test(kernels_can_be_launched),
        cmocka_unit_test(limits_are_found),
        cmocka_unit_test(g1_spills_nothing),
        cmocka_unit_test(every_kernel_is_there_for_both_curves),
    };
    costs_read_all();
    if (argc > 1 && strcmp(argv[1], "--table") == 0) {
        print_tables();
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
