/*
 * How many credits a lane gets. Pure: times and counts in, a number out.
 *
 *   credits = ceil(D (T_synth + T_finalize) / T_prove) + D (1 + staged)
 *
 * so that enough syntheses run to keep D devices fed, and each device has its slabs at hand. It is
 * capped by the slabs and by synth-workers + D (2 + staged), which is all that can be worked on at
 * once; until each stage has been timed, the cap holds. Devices of different speed count by their
 * rates: the first term is the sum of (T_synth + T_finalize) / T_prove(device).
 *
 * The times are those of the work alone, a low percentile of the last ones, weighted over circuits
 * by how many of each there were: never waiting times, which credits make. Hence a saturated system
 * does not move its own limit.
 *
 * Called by dispatch at each tick.
 */
#ifndef PAWL_COORDINATOR_CREDIT_PLAN_H
#define PAWL_COORDINATOR_CREDIT_PLAN_H

#include <stdint.h>

#define CREDIT_SAMPLES 64u
#define CREDIT_PERCENTILE 10u
#define CREDIT_DEVICES_MAX 256u
#define CREDIT_ANY_DEVICE UINT32_MAX

/* The last times of one stage; a ring. Zeroed: empty. */
struct credit_samples {
    uint32_t written; /* so far; wraps only after 2^32 samples, which is harmless */
    struct credit_sample {
        uint32_t circuit, device; /* device: a number; CREDIT_ANY_DEVICE where none did it */
        uint64_t ns;
    } ring[CREDIT_SAMPLES];
};

struct credit_times {
    struct credit_samples synth, prove, finalize;
};

void credit_samples_add(struct credit_samples *samples, uint32_t circuit, uint32_t device,
                        uint64_t ns);
/*
 * The unloaded time of the stage on `device` (or on any): for each circuit the low percentile of
 * its samples, and of these the mean weighted by their number. 0 where there is no sample.
 */
uint64_t credit_samples_time(const struct credit_samples *samples, uint32_t device);

struct credit_inputs {
    uint32_t slabs, synth_workers, staged;
    uint32_t devices;                      /* at most CREDIT_DEVICES_MAX */
    uint64_t synth_ns, finalize_ns;        /* 0: not timed yet */
    uint64_t prove_ns[CREDIT_DEVICES_MAX]; /* by device; 0: not timed yet */
};

/* At least 1 where there is a slab. No worker or no device counts as one: it is expected back. */
uint32_t credit_plan(const struct credit_inputs *inputs);

#endif
