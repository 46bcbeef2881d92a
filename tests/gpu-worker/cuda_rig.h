/*
 * A device on the software CUDA driver, and the CPU device beside it, with a fixture's circuit and
 * slab. What a test does with the driver it does in a process of its own (rig_child), for
 * PAWL_SOFTCUDA is read once and a fault ends the process. Header only; asserts, so that a child
 * that errs ends by SIGABRT.
 */
#ifndef PAWL_TESTS_GPU_WORKER_CUDA_RIG_H
#define PAWL_TESTS_GPU_WORKER_CUDA_RIG_H

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu-worker/device.h"
#include "gpu-worker/keys.h"
#include "shm/seat.h"
#include "tests/gpu-worker/circuit.h"

/* In memory that test and child share. */
struct rig_shared {
    struct seat_page seat;
    int numbers[8]; /* what a child wants to tell */
};
static struct rig_shared *rig_shared;

/* The library is found by the path that the process began with: so it begins once more. */
static inline void rig_enter(char **argv)
{
    const char *build = getenv("BUILD_DIR");
    char path[512];
    snprintf(path, sizeof(path), "%s/softcuda", build && *build ? build : "build");
    const char *now = getenv("LD_LIBRARY_PATH");
    if (!now || strcmp(now, path) != 0) {
        setenv("LD_LIBRARY_PATH", path, 1);
        execv("/proc/self/exe", argv);
        perror("execv");
        _exit(70);
    }
    rig_shared =
        mmap(NULL, sizeof(*rig_shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert(rig_shared != MAP_FAILED);
}

/* The wait status of a process that runs `body` on a machine such as PAWL_SOFTCUDA says. */
static inline int rig_child(const char *softcuda, void (*body)(void))
{
    int status;
    memset(rig_shared, 0, sizeof(*rig_shared));
    pid_t child = fork();
    assert(child >= 0);
    if (child == 0) {
        setenv("PAWL_SOFTCUDA", softcuda, 1);
        body();
        _exit(0);
    }
    assert(waitpid(child, &status, 0) == child);
    return status;
}

/* ---- a watch that cancels after so many questions; -1: never ---- */

struct rig_watch {
    struct device_watch watch;
    int left;
    unsigned steps, idles;
    void (*idle)(struct rig_watch *self);
    void *arg;
};

static inline void rig_step(struct device_watch *self, enum worker_stage stage)
{
    (void)stage;
    ((struct rig_watch *)self)->steps++;
}

static inline int rig_cancelled(struct device_watch *self)
{
    struct rig_watch *watch = (struct rig_watch *)self;
    if (watch->left < 0)
        return 0;
    return watch->left == 0 || --watch->left == 0;
}

static inline void rig_idle(struct device_watch *self)
{
    struct rig_watch *watch = (struct rig_watch *)self;
    watch->idles++;
    if (watch->idle)
        watch->idle(watch);
}

static inline struct rig_watch rig_watch_of(int left)
{
    return (struct rig_watch){
        .watch = {.step = rig_step, .cancelled = rig_cancelled, .idle = rig_idle}, .left = left};
}

/* ---- one circuit ---- */

struct rig {
    struct circuit circuit;
    const struct curve *curve;
    void *slab;
    uint64_t slab_bytes;
    struct slab_header header;
    struct proof_sums expected; /* by the CPU device, once asked for */
};

static inline void rig_fill(struct rig *rig, struct filling filling)
{
    uint8_t digest[HASH_BYTES];
    const char *what;
    filling.generation = 1;
    circuit_fill(&rig->circuit, rig->slab, &filling, digest);
    assert(slab_check(&rig->header, rig->slab, rig->slab_bytes, &what) == 0);
}

static inline const uint64_t *rig_section(const struct rig *rig, const struct slab_section *at)
{
    return at->bytes ? (const uint64_t *)((const char *)rig->slab + at->offset) : NULL;
}

static inline struct device_work rig_work(const struct rig *rig)
{
    return (struct device_work){rig_section(rig, &rig->header.witness),
                                rig_section(rig, &rig->header.rows_a),
                                rig_section(rig, &rig->header.rows_b)};
}

static inline struct device *rig_device(const char *name)
{
    struct device_settings settings = {.threads = 1, .seat = &rig_shared->seat};
    const char *why = "";
    struct device *device = device_open(name, &settings, &why);
    if (!device)
        fprintf(stderr, "%s: %s\n", name, why);
    return device;
}

static inline struct device_key *rig_load(struct device *device, struct rig *rig)
{
    struct device_key *key;
    int error = device->operations->key_load(device, rig->curve, &rig->circuit.image, &key);
    if (error)
        fprintf(stderr, "%s: key_load: %s\n", rig->circuit.folder, strerror(-error));
    assert(error == 0);
    return key;
}

static inline int rig_prove(struct device *device, struct device_key *key, const struct rig *rig,
                            struct rig_watch *watch, struct proof_sums *sums)
{
    struct device_work work = rig_work(rig);
    struct device_times times = {0};
    int error = device->operations->prove(device, key, &work, &watch->watch, sums, &times);
    assert(error || (times.ntt_ns > 0 && times.msm_ns > 0));
    return error;
}

/* The sums are the CPU device's, bit for bit. */
static inline void rig_must_prove(struct device *device, struct device_key *key,
                                  const struct rig *rig)
{
    struct rig_watch never = rig_watch_of(-1);
    struct proof_sums sums;
    assert(rig_prove(device, key, rig, &never, &sums) == 0);
    assert(memcmp(&sums.h, &rig->expected.h, sizeof(sums.h)) == 0);
    assert(memcmp(&sums.a, &rig->expected.a, sizeof(sums.a)) == 0);
    assert(memcmp(&sums.b1, &rig->expected.b1, sizeof(sums.b1)) == 0);
    assert(memcmp(&sums.b2, &rig->expected.b2, sizeof(sums.b2)) == 0);
    assert(memcmp(&sums.c, &rig->expected.c, sizeof(sums.c)) == 0);
}

/* Makes it anew by the CPU device. */
static inline void rig_expect(struct rig *rig)
{
    struct device *cpu = rig_device("cpu");
    struct rig_watch never = rig_watch_of(-1);
    struct device_key *key = rig_load(cpu, rig);
    assert(rig_prove(cpu, key, rig, &never, &rig->expected) == 0);
    cpu->operations->key_drop(cpu, key);
    cpu->operations->close(cpu);
}

static inline void rig_open(struct rig *rig, const char *folder)
{
    circuit_open(&rig->circuit, folder);
    rig->curve = curve_by_id(rig->circuit.image.header->curve);
    rig->slab_bytes = circuit_slab_bytes(&rig->circuit);
    rig->slab = aligned_alloc(4096, rig->slab_bytes);
    assert(rig->slab);
    memset(rig->slab, 0, rig->slab_bytes);
    rig_fill(rig, (struct filling){0});
    rig_expect(rig);
}

static inline void rig_close(struct rig *rig)
{
    free(rig->slab);
    circuit_close(&rig->circuit);
}

/* Of a child in which all went well. */
static inline void assert_ended_well(int status)
{
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

#endif
