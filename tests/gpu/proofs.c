/*
 * Whole proofs by a device, as a gpu-worker asks for them, with the device's own times. See
 * checks.h.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kernels/curves.h"
#include "shm/image.h"
#include "shm/program.h"
#include "shm/worker_start.h"
#include "tests/gpu/checks.h"
#include "tests/gpu/gpu.h"
#include "tests/gpu/slab.h"

enum { ALL, UPLOAD, NTT, MSM, PARTS };

struct series {
    const struct check_options *options;
    struct image image;
    const struct curve *curve;
    struct check_slab slab;
    struct device *device;
    struct device_key *key;
    struct proof_sums sums;
    double key_ms, first_ms;
    double ms[PARTS][GPU_RUNS_MOST];
};

static double since_ms(uint64_t begin_ns)
{
    return (double)(worker_now_ns() - begin_ns) / 1e6;
}

static int prove(struct series *series, struct device_times *times, double *ms)
{
    struct device_work work = check_slab_work(&series->slab);
    uint64_t begin_ns = worker_now_ns();
    memset(times, 0, sizeof(*times));
    int error = series->device->operations->prove(series->device, series->key, &work, &check_watch,
                                                  &series->sums, times);
    *ms = since_ms(begin_ns);
    return error;
}

/* Key, a first proof, and as many as are asked for. 0 or -errno. */
static int run(struct series *series)
{
    struct device_times times;
    uint64_t begin_ns = worker_now_ns();
    int error = series->device->operations->key_load(series->device, series->curve, &series->image,
                                                     &series->key);
    series->key_ms = since_ms(begin_ns);
    if (!error)
        error = prove(series, &times, &series->first_ms);
    for (unsigned i = 0; i < series->options->runs && !error; i++) {
        error = prove(series, &times, &series->ms[ALL][i]);
        series->ms[UPLOAD][i] = (double)times.upload_ns / 1e6;
        series->ms[NTT][i] = (double)times.ntt_ns / 1e6;
        series->ms[MSM][i] = (double)times.msm_ns / 1e6;
    }
    return error;
}

/* 1 where the CPU's sums differ from those of the last proof. */
static int differs_from_cpu(struct series *series)
{
    struct device *cpu = check_device_open("cpu", &series->slab);
    struct device_key *key = NULL;
    struct device_work work = check_slab_work(&series->slab);
    struct device_times times = {0};
    struct proof_sums sums = {0};
    if (!cpu)
        return 1;
    int error = cpu->operations->key_load(cpu, series->curve, &series->image, &key);
    if (!error) {
        error = cpu->operations->prove(cpu, key, &work, &check_watch, &sums, &times);
        cpu->operations->key_drop(cpu, key);
    }
    check_device_close(cpu);
    return error || memcmp(&sums, &series->sums, sizeof(sums)) != 0;
}

static int report(struct series *series)
{
    const struct image_header *header = series->image.header;
    unsigned runs = series->options->runs;
    const char *verdict = "";
    int wrong = 0;
    if (series->options->check) {
        wrong = differs_from_cpu(series);
        verdict = wrong ? ",\"wrong\":true" : ",\"wrong\":false";
    }
    printf("{\"check\":\"proof\",\"device\":\"%s\",\"curve\":\"%s\",\"log2\":%u,\"wires\":%u,"
           "\"public\":%u,\"key_ms\":%.6g,\"first_ms\":%.6g,\"ms\":%.6g,\"upload_ms\":%.6g,"
           "\"ntt_ms\":%.6g,\"msm_ms\":%.6g%s}\n",
           series->options->device, series->curve->name, (unsigned)header->log2_domain,
           (unsigned)header->wires, (unsigned)header->public_count, series->key_ms,
           series->first_ms, gpu_median(series->ms[ALL], runs),
           gpu_median(series->ms[UPLOAD], runs), gpu_median(series->ms[NTT], runs),
           gpu_median(series->ms[MSM], runs), verdict);
    return wrong;
}

static int open_image(struct image *image, const char *path)
{
    const char *what = "cannot be opened";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int error = fd < 0 ? -1 : image_map(image, fd, &what);
    if (fd >= 0)
        close(fd);
    if (error)
        fprintf(stderr, "gpu-check: %s: %s\n", path, what);
    return error;
}

static int measure(struct series *series)
{
    int error = run(series);
    if (error) {
        fprintf(stderr, "gpu-check: a proof of 2^%u fails: %s\n",
                (unsigned)series->image.header->log2_domain, strerror(-error));
        return EXIT_MACHINE;
    }
    int wrong = report(series);
    series->device->operations->key_drop(series->device, series->key);
    return wrong;
}

int check_proofs(const struct check_options *options)
{
    static struct series series; /* many runs are too much for the stack */
    int code = EXIT_MACHINE;
    series.options = options;
    if (!options->files[0] || !options->files[1]) {
        fputs("gpu-check: proofs IMAGE WITNESS\n", stderr);
        return EXIT_USAGE_ERROR;
    }
    if (open_image(&series.image, options->files[0]))
        return EXIT_MACHINE;
    series.curve = curve_by_id(series.image.header->curve);
    check_slab_open(&series.slab, &series.image);
    if (check_slab_fill(&series.slab, &series.image, options->files[1], 0) == 0) {
        series.device = check_device_open(options->device, &series.slab);
        if (series.device) {
            code = measure(&series);
            check_device_close(series.device);
        }
    }
    check_slab_close(&series.slab);
    image_unmap(&series.image);
    return code;
}
