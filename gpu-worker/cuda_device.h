/*
 * What the parts of the CUDA device share: the open device and a loaded key.
 *
 *     device_cuda.c   opens, dispatches           cuda_scratch.c  plans and memory for proofs
 *     cuda_key.c      a key in device memory      cuda_sums.c     the five sums of a proof
 *
 * All of it is the prover's thread's but opening, closing and the pinning. A SIGKILL leaves
 * nothing, save a key's memory that was exported.
 */
#ifndef PAWL_GPU_WORKER_CUDA_DEVICE_H
#define PAWL_GPU_WORKER_CUDA_DEVICE_H

#include "gpu-worker/cuda_devices.h"
#include "gpu-worker/cuda_driver.h"
#include "gpu-worker/cuda_fault.h"
#include "gpu-worker/cuda_memory.h"
#include "gpu-worker/cuda_queue.h"
#include "gpu-worker/cuda_upload.h"
#include "gpu-worker/device.h"
#include "kernels/msm/msm_cuda.h"

struct cuda_pinning;
struct image;

/* The five sums, in the order in which their windows lie among the results. */
enum cuda_sum { CUDA_SUM_H, CUDA_SUM_A, CUDA_SUM_B1, CUDA_SUM_B2, CUDA_SUM_C, CUDA_SUMS };

/* What lies in a key's memory, in this order, each aligned to 256 bytes. */
enum cuda_section {
    CUDA_POINTS_A,
    CUDA_POINTS_B1,
    CUDA_POINTS_B2,
    CUDA_POINTS_C,
    CUDA_POINTS_H,
    CUDA_A_ROW_START,
    CUDA_A_WIRE,
    CUDA_A_VALUE,
    CUDA_A_INDEX,
    CUDA_B_ROW_START,
    CUDA_B_WIRE,
    CUDA_B_VALUE,
    CUDA_B_INDEX,
    CUDA_FROM_IMAGE, /* up to here: from the image; what follows is made on the device */
    CUDA_NTT_TABLE = CUDA_FROM_IMAGE,
    CUDA_SECTIONS
};

/* Changes with the order above and with what kernels make of it. */
#define CUDA_KEY_LAYOUT 1u

struct cuda_key_section {
    const void *from; /* in the image; NULL: none */
    size_t offset, bytes;
};

/* How a key's scratch is cut: work, results, two witnesses; bytes of each, multiples of 256. */
struct cuda_scratch_need {
    size_t work, results, witness;
};

struct device_key {
    const struct curve *curve;
    const struct image *image;
    struct cuda_queue *queue;
    struct cuda_block block;
    size_t key_bytes; /* of the block: all sections */
    struct cuda_key_section section[CUDA_SECTIONS];
    struct msm_cuda_plan plan_h, plan_witness;
    struct cuda_scratch_need need;
    size_t result_at[CUDA_SUMS];
    uint64_t checksum; /* of the sections from the image and of those made here */
    uint64_t model_ns; /* of a proof, on a slow GPU */
};

struct cuda_scratch {
    struct cuda_block block;
    struct cuda_scratch_need has;
};

#define CUDA_EVENTS 10 /* the beginning of a proof, and each of its steps */
#define CUDA_CURVES 2

/* The witness of the next proof, on its way to the device. */
struct cuda_staged {
    const struct device_key *key; /* NULL: none */
    const uint64_t *witness;
    struct cuda_deadline deadline;
};

struct cuda_device {
    struct device device; /* first: the calls cast back */
    struct cuda_driver driver;
    struct cuda_facts facts;
    struct cuda_fault fault;
    struct cuda_memory memory;
    struct cuda_upload upload;
    struct cuda_scratch scratch;
    struct cuda_pinning *pinning; /* never NULL once open */
    CUcontext context;
    CUstream stream, copies;
    CUevent event[CUDA_EVENTS];
    CUevent copied; /* the staged witness has arrived */
    struct cuda_queue queue[CUDA_CURVES];
    unsigned threads, keys;
    uint64_t keys_bytes;
    unsigned witness_buffer; /* of the two: the current proof's; the other is for staging */
    struct cuda_staged staged;
};

/* ---- cuda_scratch.c ---- */
/*
 * Plans for the key's sums and scratch for them, grown where there is less. Nothing runs or is
 * staged. Where memory is short and no other key is loaded, smaller plans are tried. 0; -ENOMEM;
 * -E2BIG: too large for any plan.
 */
int cuda_scratch_prepare(struct cuda_device *cuda, struct device_key *key);
void cuda_scratch_free(struct cuda_device *cuda);
gpu_pointer cuda_scratch_results(const struct cuda_device *cuda);
gpu_pointer cuda_scratch_witness(const struct cuda_device *cuda, unsigned buffer);

/* ---- cuda_key.c ---- */
/* Fills in where each section of the key's image comes from and lies. 0, or -EBADMSG for an image
 * that lacks one. */
int cuda_key_plan(struct device_key *key);
/*
 * With key->block made: uploads, makes the tables, checks on the device what arrived. 0; -ENOMEM;
 * -EIO: what arrived is not what was sent.
 */
int cuda_key_fill(struct cuda_device *cuda, struct device_key *key);
/* With key->block imported: 0; -EBADMSG where what lies there is not this key or not as `checksum`
 * has it; -ENOMEM. */
int cuda_key_check(struct cuda_device *cuda, struct device_key *key, uint64_t checksum);
/* Waits for what either has put into the stream before it failed: the block may be freed then. */
void cuda_key_drain(struct cuda_device *cuda, const struct device_key *key);
gpu_pointer cuda_key_at(const struct device_key *key, enum cuda_section section);

/* ---- cuda_sums.c ---- */
/* device.h's prove, stage and unstage. */
int cuda_sums_prove(struct cuda_device *cuda, struct device_key *key,
                    const struct device_work *work, struct device_watch *watch,
                    struct proof_sums *sums, struct device_times *times);
int cuda_sums_stage(struct cuda_device *cuda, struct device_key *key,
                    const struct device_work *work);
void cuda_sums_unstage(struct cuda_device *cuda);

#endif
