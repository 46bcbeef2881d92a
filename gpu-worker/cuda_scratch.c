/*
 * Memory that proofs on a GPU work in, one block for all keys:
 *
 *     | work                                | results | witness 0 | witness 1 |
 *     | a | b | c |                           rows and quotient; a becomes the scalars of H
 *     | a | scratch of the sum for H |
 *     | scratch of the witness's sums     |
 *
 * It grows when a key is loaded, never in a proof. While other keys are loaded the old block is let
 * go of only once the new one is there, for they need it. See cuda_device.h.
 */
#include "gpu-worker/cuda_device.h"

#include <errno.h>

#include "shm/image.h"

#define ALIGN_BYTES ((size_t)256)
#define ELEMENT_BYTES (FR_WORDS * sizeof(uint64_t))

static size_t round_up(size_t bytes)
{
    return (bytes + ALIGN_BYTES - 1) / ALIGN_BYTES * ALIGN_BYTES;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t domain_of(const struct device_key *key)
{
    return (size_t)1 << key->image->header->log2_domain;
}

/* ---- plans ---- */

/* Fails with -E2BIG where the pinned buffer for results is too small, which no curve comes near. */
static int place_results(struct device_key *key)
{
    size_t at = 0;
    for (int sum = 0; sum < CUDA_SUMS; sum++) {
        const struct msm_cuda_plan *plan = sum == CUDA_SUM_H ? &key->plan_h : &key->plan_witness;
        key->result_at[sum] = at;
        at += round_up(msm_cuda_result_bytes(plan, sum == CUDA_SUM_B2 ? GROUP_G2 : GROUP_G1));
    }
    key->need.results = larger(at, ALIGN_BYTES);
    return at <= CUDA_RESULTS_BYTES ? 0 : -E2BIG;
}

/* `most`: bytes of work. 0, -ENOSPC, -E2BIG. */
static int make_plans(struct device_key *key, size_t most)
{
    const struct gpu_queue *queue = &key->queue->queue;
    size_t vector = round_up(domain_of(key) * ELEMENT_BYTES), wires = key->image->header->wires;
    if (most < 3 * vector)
        return -ENOSPC;
    int error = msm_cuda_plan_make(&key->plan_h, key->curve, domain_of(key), queue, most - vector);
    if (!error)
        error = msm_cuda_plan_make(&key->plan_witness, key->curve, wires, queue, most);
    if (error)
        return error;
    key->need.work = round_up(larger(larger(3 * vector, vector + key->plan_h.scratch_bytes),
                                     key->plan_witness.scratch_bytes));
    key->need.witness = round_up(wires * ELEMENT_BYTES);
    return place_results(key);
}

/* ---- memory ---- */

static size_t total(const struct cuda_scratch_need *need)
{
    return need->work + need->results + 2 * need->witness;
}

static int grow(struct cuda_device *cuda, const struct cuda_scratch_need *need)
{
    const struct cuda_scratch_need *has = &cuda->scratch.has;
    struct cuda_scratch_need wanted = {.work = larger(need->work, has->work),
                                       .results = larger(need->results, has->results),
                                       .witness = larger(need->witness, has->witness)};
    struct cuda_block block;
    if (total(&wanted) == total(has))
        return 0;
    int error = cuda_block_make(&cuda->memory, &block, total(&wanted));
    if (error)
        return error;
    cuda_block_free(&cuda->memory, &cuda->scratch.block);
    cuda->scratch = (struct cuda_scratch){.block = block, .has = wanted};
    return 0;
}

/* No key needs the scratch that is there: so all of it may go, and the plan may be small. */
static int fit_alone(struct cuda_device *cuda, struct device_key *key)
{
    int error = -ENOMEM;
    cuda_scratch_free(cuda);
    size_t most = cuda_memory_free_bytes(&cuda->memory);
    if (most > key->need.work)
        most = key->need.work;
    while (error == -ENOMEM) {
        if (make_plans(key, most))
            return -ENOMEM;
        error = grow(cuda, &key->need);
        most -= most / 4;
    }
    return error;
}

int cuda_scratch_prepare(struct cuda_device *cuda, struct device_key *key)
{
    int error = make_plans(key, SIZE_MAX);
    if (!error)
        error = grow(cuda, &key->need);
    return error == -ENOMEM && cuda->keys == 0 ? fit_alone(cuda, key) : error;
}

void cuda_scratch_free(struct cuda_device *cuda)
{
    cuda_block_free(&cuda->memory, &cuda->scratch.block);
    cuda->scratch = (struct cuda_scratch){.block = {.at = 0}};
}

gpu_pointer cuda_scratch_results(const struct cuda_device *cuda)
{
    return cuda->scratch.block.at + cuda->scratch.has.work;
}

gpu_pointer cuda_scratch_witness(const struct cuda_device *cuda, unsigned buffer)
{
    const struct cuda_scratch_need *has = &cuda->scratch.has;
    return cuda_scratch_results(cuda) + has->results + buffer * has->witness;
}
