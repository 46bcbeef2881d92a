/*
 * The CPU device: cpu_sums over a pool of threads. Scratch is as large as the largest loaded key
 * asked for and is zeroed through once when it grows, so that no page fault falls into a proof.
 */
#include "gpu-worker/device.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu-worker/cpu_sums.h"
#include "gpu-worker/thread_pool.h"
#include "kernels/curves.h"
#include "kernels/parallel.h"
#include "shm/image.h"
#include "shm/worker_start.h"

struct device_key {
    struct cpu_key key;
    void *own_table; /* where the image has none */
    size_t own_table_bytes;
};

struct device_cpu {
    struct device device; /* first: the calls cast back */
    struct thread_pool *pool;
    void *scratch;
    size_t scratch_bytes;
    size_t keys_bytes;
};

static int ensure_scratch(struct device_cpu *cpu, size_t bytes)
{
    if (bytes <= cpu->scratch_bytes)
        return 0;
    void *scratch = cpu_sums_allocate(bytes);
    if (!scratch)
        return -ENOMEM;
    memset(scratch, 0, bytes);
    free(cpu->scratch);
    cpu->scratch = scratch;
    cpu->scratch_bytes = bytes;
    return 0;
}

static int fill_key(struct device_cpu *cpu, struct device_key *key, const struct curve *curve,
                    const struct image *image)
{
    struct parallel *parallel = thread_pool_parallel(cpu->pool);
    key->key = (struct cpu_key){curve, image, cpu_sums_image_table(curve, image)};
    int error = ensure_scratch(cpu, cpu_sums_scratch_bytes(curve, image, parallel->threads));
    if (error || key->key.table)
        return error;
    key->own_table = cpu_sums_make_table(curve, image, parallel);
    key->own_table_bytes = key->own_table ? curve->ntt_table_bytes(image->header->log2_domain) : 0;
    key->key.table = key->own_table;
    return key->own_table ? 0 : -ENOMEM;
}

static int cpu_key_load(struct device *device, const struct curve *curve, const struct image *image,
                        struct device_key **out)
{
    struct device_cpu *cpu = (struct device_cpu *)device;
    struct device_key *key = calloc(1, sizeof(*key));
    if (!key)
        return -ENOMEM;
    int error = fill_key(cpu, key, curve, image);
    if (error) {
        free(key);
        return error;
    }
    cpu->keys_bytes += key->own_table_bytes;
    *out = key;
    return 0;
}

static void cpu_key_drop(struct device *device, struct device_key *key)
{
    struct device_cpu *cpu = (struct device_cpu *)device;
    cpu->keys_bytes -= key->own_table_bytes;
    free(key->own_table);
    free(key);
}

static int watch_cancelled(void *arg)
{
    struct device_watch *watch = arg;
    return watch->cancelled(watch);
}

static int cpu_prove(struct device *device, struct device_key *key, const struct device_work *work,
                     struct device_watch *watch, struct proof_sums *sums,
                     struct device_times *times)
{
    struct device_cpu *cpu = (struct device_cpu *)device;
    thread_pool_set_cancelled(cpu->pool, watch_cancelled, watch);
    int error = cpu_sums_compute(&key->key, work, cpu->scratch, thread_pool_parallel(cpu->pool),
                                 watch, sums, times);
    thread_pool_set_cancelled(cpu->pool, NULL, NULL);
    return error;
}

/* The line "model name : ..." of /proc/cpuinfo; other machines go without. */
static void read_model(char *out, size_t bytes)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "re");
    snprintf(out, bytes, "CPU");
    while (file && fgets(line, sizeof(line), file)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon && colon[1]) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(out, bytes, "%.*s", (int)bytes - 1, colon + 2);
            break;
        }
    }
    if (file)
        fclose(file);
}

static void cpu_describe(const struct device *device, struct device_description *out)
{
    const struct device_cpu *cpu = (const struct device_cpu *)device;
    char model[DEVICE_NAME_BYTES - 16]; /* the form's name behind it */
    memset(out, 0, sizeof(*out));
    snprintf(out->name, sizeof(out->name), "cpu");
    read_model(model, sizeof(model));
    snprintf(out->model, sizeof(out->model), "%s (%s)", model, cpu_form_name(cpu_form_chosen()));
    out->threads = thread_pool_parallel(cpu->pool)->threads;
    out->scratch_bytes = cpu->scratch_bytes;
    out->keys_bytes = cpu->keys_bytes;
}

static void cpu_close(struct device *device)
{
    struct device_cpu *cpu = (struct device_cpu *)device;
    thread_pool_destroy(cpu->pool);
    free(cpu->scratch);
    free(cpu);
}

static const struct device_operations cpu_operations = {
    .close = cpu_close,
    .describe = cpu_describe,
    .key_load = cpu_key_load,
    .key_drop = cpu_key_drop,
    .prove = cpu_prove,
};

struct device *device_cpu_open(const struct device_settings *settings, const char **why)
{
    struct device_cpu *cpu = calloc(1, sizeof(*cpu));
    *why = "no memory for the CPU device";
    if (!cpu)
        return NULL;
    cpu->device.operations = &cpu_operations;
    cpu->pool = thread_pool_create(settings->threads ? settings->threads : worker_count_cpus());
    if (cpu->pool)
        return &cpu->device;
    *why = "the threads of the CPU device cannot be started (a limit of processes or memory)";
    free(cpu);
    return NULL;
}
