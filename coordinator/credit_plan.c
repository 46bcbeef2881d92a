/*
 * How many credits a lane gets: the formula, and the low percentile that feeds it. The mathematics
 * and who calls it stand in credit_plan.h. Holds nothing: a SIGKILL leaves nothing.
 */
#include "coordinator/credit_plan.h"

#include <stdlib.h>

void credit_samples_add(struct credit_samples *samples, uint32_t circuit, uint32_t device,
                        uint64_t ns)
{
    uint32_t at = samples->written % CREDIT_SAMPLES;

    samples->ring[at] = (struct credit_sample){circuit, device, ns ? ns : 1};
    samples->written++;
    if (!samples->written)
        samples->written = CREDIT_SAMPLES; /* still full after the wrap */
}

static int compare_samples(const void *left, const void *right)
{
    const struct credit_sample *a = left, *b = right;

    if (a->circuit != b->circuit)
        return a->circuit < b->circuit ? -1 : 1;
    return (a->ns > b->ns) - (a->ns < b->ns);
}

/* Copies out the samples of the device, by circuit and then by time. */
static uint32_t sorted_samples(const struct credit_samples *samples, uint32_t device,
                               struct credit_sample *out)
{
    uint32_t held = samples->written < CREDIT_SAMPLES ? samples->written : CREDIT_SAMPLES;
    uint32_t count = 0;

    for (uint32_t i = 0; i < held; i++) {
        if (device == CREDIT_ANY_DEVICE || samples->ring[i].device == device)
            out[count++] = samples->ring[i];
    }
    qsort(out, count, sizeof(*out), compare_samples);
    return count;
}

uint64_t credit_samples_time(const struct credit_samples *samples, uint32_t device)
{
    struct credit_sample sorted[CREDIT_SAMPLES] = {0};
    uint32_t count = sorted_samples(samples, device, sorted);
    double sum = 0;

    for (uint32_t first = 0, next; first < count; first = next) {
        for (next = first; next < count && sorted[next].circuit == sorted[first].circuit;)
            next++;
        uint32_t low = first + (next - first - 1) * CREDIT_PERCENTILE / 100;
        sum += (double)(next - first) * (double)sorted[low].ns;
    }
    return count ? (uint64_t)(sum / count) : 0;
}

/* How many syntheses run while the devices prove one each; negative while a stage is not timed. */
static double syntheses_at_once(const struct credit_inputs *inputs)
{
    double sum = 0;

    if (!inputs->synth_ns || !inputs->finalize_ns || !inputs->devices)
        return -1;
    for (uint32_t i = 0; i < inputs->devices; i++) {
        if (!inputs->prove_ns[i])
            return -1;
        sum +=
            ((double)inputs->synth_ns + (double)inputs->finalize_ns) / (double)inputs->prove_ns[i];
    }
    return sum;
}

uint32_t credit_plan(const struct credit_inputs *inputs)
{
    uint64_t devices = inputs->devices ? inputs->devices : 1;
    uint64_t synth_workers = inputs->synth_workers ? inputs->synth_workers : 1;
    uint64_t cap = synth_workers + devices * (2 + (uint64_t)inputs->staged);
    double at_once = syntheses_at_once(inputs);

    if (cap > inputs->slabs)
        cap = inputs->slabs;
    if (at_once < 0 || at_once >= (double)cap)
        return (uint32_t)cap;

    uint64_t whole = (uint64_t)at_once;
    uint64_t credits = whole + (at_once > (double)whole) + devices * (1 + (uint64_t)inputs->staged);
    return (uint32_t)(credits < cap ? credits : cap);
}
