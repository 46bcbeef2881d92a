/*
 * The memory budget; see the header. The constants are anonymous memory of our processes, rounded
 * up: tests/scenario/memory_terms.sh compares the terms with what is measured.
 */
#include "coordinator/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "coordinator/config.h"
#include "shm/seat.h"

#define MIB (UINT64_C(1) << 20)
#define COORDINATOR_BYTES (4 * MIB)
#define JOB_BYTES UINT64_C(2048) /* of a job that is not final, in the coordinator */
#define JOBS_COUNTED_MAX UINT64_C(16384)
#define SYNTH_BYTES (2 * MIB)
#define DEVICE_BYTES (8 * MIB)
#define GPU_BYTES (16 * MIB)         /* pinned buffers; what the driver itself takes is its own */
#define SPOOL_CACHE_BYTES (64 * MIB) /* more of it gives way to whoever needs memory */

const char *memory_term_name(enum memory_term term)
{
    static const char *const names[MEMORY_TERMS] = {
        [MEMORY_REGION] = "region",           [MEMORY_IMAGES] = "images",
        [MEMORY_SYNTH] = "synth_heaps",       [MEMORY_DEVICE] = "device_scratch",
        [MEMORY_COORDINATOR] = "coordinator", [MEMORY_SPOOL] = "spool_cache"};

    return names[term];
}

static const char *term_key(enum memory_term term)
{
    static const char *const keys[MEMORY_TERMS] = {[MEMORY_REGION] = "slabs and size of the lanes",
                                                   [MEMORY_IMAGES] = "pawl circuit remove",
                                                   [MEMORY_SYNTH] = "synth",
                                                   [MEMORY_DEVICE] = "devices, threads",
                                                   [MEMORY_COORDINATOR] = "queued_jobs",
                                                   [MEMORY_SPOOL] = "queued_bytes"};

    return keys[term];
}

uint64_t memory_budget_bytes(const struct config *config, uint64_t limit_bytes)
{
    if (config->memory_bytes && config->memory_bytes < limit_bytes)
        return config->memory_bytes;
    return limit_bytes;
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The CPU is among what auto stands for. */
static uint64_t count_cpu_devices(const struct config *config)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < config->device_count; i++)
        count += strcmp(config->devices[i], "cpu") == 0 || strcmp(config->devices[i], "auto") == 0;
    return count;
}

void memory_terms_fill(struct memory_terms *terms, const struct config *config,
                       const struct memory_needs *needs, uint64_t region_bytes,
                       uint32_t synth_workers)
{
    uint64_t synth = synth_workers > config->synth ? synth_workers : config->synth;
    uint64_t *bytes = terms->bytes;

    bytes[MEMORY_REGION] = region_bytes + (synth + config->device_count) * SEAT_PAGE_BYTES;
    bytes[MEMORY_IMAGES] = needs->image_bytes;
    bytes[MEMORY_SYNTH] = synth * SYNTH_BYTES;
    uint64_t cpus = count_cpu_devices(config);
    bytes[MEMORY_DEVICE] =
        cpus * (DEVICE_BYTES + needs->device_bytes) + (config->device_count - cpus) * GPU_BYTES;
    bytes[MEMORY_COORDINATOR] =
        COORDINATOR_BYTES + lesser(config->queued_jobs, JOBS_COUNTED_MAX) * JOB_BYTES;
    bytes[MEMORY_SPOOL] = lesser(config->queued_bytes, SPOOL_CACHE_BYTES);
}

uint64_t memory_terms_sum(const struct memory_terms *terms)
{
    uint64_t sum = 0;

    for (int i = 0; i < MEMORY_TERMS; i++)
        sum = terms->bytes[i] > UINT64_MAX - sum ? UINT64_MAX : sum + terms->bytes[i];
    return sum;
}

uint64_t memory_room_bytes(const struct memory_terms *terms, uint64_t budget_bytes)
{
    uint64_t sum = memory_terms_sum(terms);

    return sum < budget_bytes ? budget_bytes - sum : 0;
}

void memory_explain(char *out, size_t bytes, const struct memory_terms *terms,
                    uint64_t budget_bytes)
{
    int used = snprintf(out, bytes,
                        "needs %" PRIu64 " MiB together and may use %" PRIu64 " (memory in [pawl])",
                        (memory_terms_sum(terms) + MIB - 1) / MIB, budget_bytes / MIB);

    for (int i = 0; i < MEMORY_TERMS && used >= 0 && (size_t)used < bytes; i++)
        used +=
            snprintf(out + used, bytes - (size_t)used, "%s %s %" PRIu64 " MiB (%s)", i ? "," : ":",
                     memory_term_name(i), (terms->bytes[i] + MIB - 1) / MIB, term_key(i));
}
