/*
 * The number of credits: the formula at hand-computed points, its caps, and that neither slow
 * outliers nor other circuits' times move it where they must not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "coordinator/credit_plan.h"

static struct credit_inputs inputs_of(uint32_t slabs, uint32_t synth, uint32_t devices,
                                      uint32_t staged, uint64_t synth_ns, uint64_t finalize_ns,
                                      uint64_t prove_ns)
{
    struct credit_inputs inputs = {.slabs = slabs,
                                   .synth_workers = synth,
                                   .staged = staged,
                                   .devices = devices,
                                   .synth_ns = synth_ns,
                                   .finalize_ns = finalize_ns};

    for (uint32_t i = 0; i < devices; i++)
        inputs.prove_ns[i] = prove_ns;
    return inputs;
}

static void test_formula(void **state)
{
    const struct {
        uint32_t slabs, synth, devices, staged;
        uint64_t synth_ns, finalize_ns, prove_ns;
        uint32_t credits;
    } cases[] = {
        {100, 50, 1, 1, 90, 10, 100, 1 + 2},   /* whole */
        {100, 50, 1, 1, 91, 10, 100, 2 + 2},   /* rounded up */
        {100, 50, 1, 1, 1, 1, 1000000, 1 + 2}, /* never less than one at work */
        {100, 50, 2, 1, 90, 10, 40, 5 + 4},    /* D times */
        {100, 50, 2, 4, 90, 10, 40, 5 + 10},   /* staged */
        {7, 50, 2, 1, 90, 10, 40, 7},          /* the slabs cap */
        {100, 2, 1, 1, 1000, 10, 10, 2 + 3},   /* the workers cap: 2 + D (2 + staged) */
        {100, 6, 1, 1, 0, 10, 10, 6 + 3},      /* not timed: the cap */
        {100, 6, 1, 1, 10, 0, 10, 6 + 3},
        {100, 6, 1, 1, 10, 10, 0, 6 + 3},
        {100, 0, 0, 1, 10, 10, 10, 1 + 3}, /* nobody there: one is expected back */
        {100, 6, 1, 1, UINT64_MAX, UINT64_MAX, 1, 6 + 3},
        {0, 6, 1, 1, 10, 10, 10, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct credit_inputs inputs =
            inputs_of(cases[i].slabs, cases[i].synth, cases[i].devices, cases[i].staged,
                      cases[i].synth_ns, cases[i].finalize_ns, cases[i].prove_ns);
        assert_int_equal(credit_plan(&inputs), cases[i].credits);
    }
}

/* Two devices, one of them four times as fast: by rate, not by number. */
static void test_unequal_devices(void **state)
{
    struct credit_inputs inputs = inputs_of(100, 50, 2, 1, 180, 20, 100);

    (void)state;
    inputs.prove_ns[1] = 25;
    assert_int_equal(credit_plan(&inputs), 2 + 8 + 4);
    inputs.prove_ns[1] = 0; /* a new device holds the cap until it has been timed */
    assert_int_equal(credit_plan(&inputs), 50 + 6);
}

static void test_low_percentile(void **state)
{
    struct credit_samples samples;

    (void)state;
    memset(&samples, 0, sizeof(samples));
    assert_int_equal(credit_samples_time(&samples, CREDIT_ANY_DEVICE), 0);
    credit_samples_add(&samples, 1, 0, 50);
    assert_int_equal(credit_samples_time(&samples, CREDIT_ANY_DEVICE), 50);
    for (uint64_t i = 1; i <= 64; i++)
        credit_samples_add(&samples, 1, 0, i * 100);
    assert_int_equal(credit_samples_time(&samples, CREDIT_ANY_DEVICE), 700);
    /* A load that makes four of five slower does not move it. */
    for (uint64_t i = 0; i < 640; i++)
        credit_samples_add(&samples, 1, 0, i % 5 ? 100000 + i : 700);
    assert_int_equal(credit_samples_time(&samples, CREDIT_ANY_DEVICE), 700);
    /* Old times are forgotten. */
    for (uint64_t i = 0; i < CREDIT_SAMPLES; i++)
        credit_samples_add(&samples, 1, 0, 9);
    assert_int_equal(credit_samples_time(&samples, CREDIT_ANY_DEVICE), 9);
    credit_samples_add(&samples, 2, 0, 0); /* no time at all is still a time */
    assert_true(credit_samples_time(&samples, CREDIT_ANY_DEVICE) > 0);
}

/* The mean over circuits, weighted by how many partitions each had of late. */
static void test_circuits_weigh(void **state)
{
    struct credit_samples samples;

    (void)state;
    memset(&samples, 0, sizeof(samples));
    for (int i = 0; i < 30; i++)
        credit_samples_add(&samples, 1, 0, 1000);
    for (int i = 0; i < 10; i++)
        credit_samples_add(&samples, 2, 0, 5000);
    assert_int_equal(credit_samples_time(&samples, CREDIT_ANY_DEVICE), 2000);
}

static void test_devices_apart(void **state)
{
    struct credit_samples samples;

    (void)state;
    memset(&samples, 0, sizeof(samples));
    for (int i = 0; i < 8; i++) {
        credit_samples_add(&samples, 1, 3, 100);
        credit_samples_add(&samples, 1, 4, 400);
    }
    assert_int_equal(credit_samples_time(&samples, 3), 100);
    assert_int_equal(credit_samples_time(&samples, 4), 400);
    assert_int_equal(credit_samples_time(&samples, 5), 0);
}

/* The counter of samples may wrap around; the ring stays full. */
static void test_wrap(void **state)
{
    struct credit_samples samples;

    (void)state;
    memset(&samples, 0, sizeof(samples));
    samples.written = UINT32_MAX - 10;
    for (uint32_t i = 0; i < CREDIT_SAMPLES; i++)
        samples.ring[i] = (struct credit_sample){1, 0, 40};
    for (int i = 0; i < 20; i++) {
        credit_samples_add(&samples, 1, 0, 40);
        assert_int_equal(credit_samples_time(&samples, CREDIT_ANY_DEVICE), 40);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formula),        cmocka_unit_test(test_unequal_devices),
        cmocka_unit_test(test_low_percentile), cmocka_unit_test(test_circuits_weigh),
        cmocka_unit_test(test_devices_apart),  cmocka_unit_test(test_wrap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
