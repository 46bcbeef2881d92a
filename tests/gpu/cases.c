/*
 * Cases of the form of tests/fixtures on a GPU and on the CPU: sums must be the same bits. See
 * checks.h.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gpu-worker/cuda_driver.h"
#include "kernels/curves.h"
#include "shm/program.h"
#include "tests/gpu-worker/circuit.h"
#include "tests/gpu/checks.h"
#include "tests/gpu/slab.h"

/* So much the driver may take in a proof for itself; local memory for a large GPU is more. */
#define TAKEN_BYTES_MOST ((size_t)16 << 20)

struct bout {
    const struct check_options *options;
    const struct cuda_driver *driver;
    struct circuit circuit;
    const struct curve *curve;
    struct check_slab slab;
    struct device *gpu, *cpu;
    struct device_key *gpu_key, *cpu_key;
};

static int load_keys(struct bout *bout)
{
    const struct image *image = &bout->circuit.image;
    int error = bout->gpu->operations->key_load(bout->gpu, bout->curve, image, &bout->gpu_key);
    if (!error)
        error = bout->cpu->operations->key_load(bout->cpu, bout->curve, image, &bout->cpu_key);
    if (error)
        fprintf(stderr, "gpu-check: %s: a key cannot be loaded: %s\n", bout->circuit.folder,
                strerror(-error));
    return error;
}

static int compute(struct device *device, struct device_key *key, const struct device_work *work,
                   struct proof_sums *sums)
{
    struct device_times times = {0};
    memset(sums, 0, sizeof(*sums));
    return device->operations->prove(device, key, work, &check_watch, sums, &times);
}

/* Of the GPU's memory: its context is current since the device was called. */
static size_t free_bytes(const struct bout *bout)
{
    size_t bytes = 0, total_bytes;
    return bout->driver->cuMemGetInfo(&bytes, &total_bytes) == CUDA_SUCCESS ? bytes : 0;
}

/* 1 where the sums differ, one device fails, or the GPU's memory became less by its proof. */
static int compare_sums(struct bout *bout, const char *witness, int with_rows)
{
    char path[512];
    struct proof_sums gpu, cpu;
    snprintf(path, sizeof(path), "%s/%s", bout->circuit.folder, witness);
    if (access(path, R_OK))
        return 0;
    if (check_slab_fill(&bout->slab, &bout->circuit.image, path, with_rows))
        return 1;
    struct device_work work = check_slab_work(&bout->slab);
    size_t before = free_bytes(bout);
    int error = compute(bout->gpu, bout->gpu_key, &work, &gpu);
    size_t after = free_bytes(bout), taken = before > after ? before - after : 0;
    if (!error)
        error = compute(bout->cpu, bout->cpu_key, &work, &cpu);
    int wrong = error || memcmp(&gpu, &cpu, sizeof(gpu)) != 0 || taken > TAKEN_BYTES_MOST;
    printf("{\"check\":\"case\",\"folder\":\"%s\",\"witness\":\"%s\",\"rows\":\"%s\","
           "\"taken_bytes\":%zu,\"wrong\":%s}\n",
           bout->circuit.folder, witness, with_rows ? "host" : "device", taken,
           wrong ? "true" : "false");
    fflush(stdout);
    return wrong;
}

static int compare_all(struct bout *bout)
{
    int wrong = load_keys(bout) != 0;
    for (int with_rows = 0; with_rows < 2 && !wrong; with_rows++) {
        wrong |= compare_sums(bout, "w1.wtns", with_rows);
        if (!bout->options->soft)
            wrong |= compare_sums(bout, "w2.wtns", with_rows);
    }
    if (bout->gpu_key)
        bout->gpu->operations->key_drop(bout->gpu, bout->gpu_key);
    if (bout->cpu_key)
        bout->cpu->operations->key_drop(bout->cpu, bout->cpu_key);
    return wrong;
}

static int check_case(const struct check_options *options, const struct cuda_driver *driver,
                      const char *folder)
{
    struct bout bout = {.options = options, .driver = driver};
    int code = EXIT_MACHINE;
    circuit_open(&bout.circuit, folder);
    bout.curve = curve_by_id(bout.circuit.image.header->curve);
    check_slab_open(&bout.slab, &bout.circuit.image);
    bout.gpu = check_device_open(options->device, &bout.slab);
    bout.cpu = check_device_open("cpu", &bout.slab);
    if (bout.gpu && bout.cpu)
        code = compare_all(&bout);
    if (bout.gpu)
        check_device_close(bout.gpu);
    if (bout.cpu)
        check_device_close(bout.cpu);
    check_slab_close(&bout.slab);
    circuit_close(&bout.circuit);
    return code;
}

int check_cases(const struct check_options *options)
{
    static struct cuda_driver driver; /* the devices open it again */
    const char *why;
    int bad = 0;
    if (cuda_driver_open(&driver, &why)) {
        fprintf(stderr, "gpu-check: %s\n", why);
        return EXIT_CONFIG;
    }
    for (const char *const *folder = options->files; *folder && bad <= 1; folder++) {
        int code = check_case(options, &driver, *folder);
        bad = code > bad ? code : bad;
    }
    cuda_driver_close(&driver);
    return bad;
}
