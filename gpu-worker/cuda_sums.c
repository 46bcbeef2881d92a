/*
 * The five sums of a proof on a GPU, as steps put into one stream, at most two ahead of what the
 * device is at, so that it never waits for the host and little is left to run where the proof is
 * cancelled:
 *
 *     inputs -> quotient -> sum H -> sort witness -> A, B1, B2, C -> results to the host
 *
 * Nothing is allocated or registered here. The call returns when nothing of it runs any more, so
 * that a slab is not read after it. See cuda_device.h.
 */
#include "gpu-worker/cuda_device.h"

#include <errno.h>
#include <string.h>

#include "gpu-worker/cuda_pinning.h"
#include "gpu-worker/cuda_wait.h"
#include "kernels/ntt/ntt_cuda.h"
#include "kernels/rows/rows_cuda.h"
#include "shm/image.h"
#include "shm/worker_start.h"

#define ELEMENT_BYTES (FR_WORDS * sizeof(uint64_t))
#define STEPS_AHEAD 2
#define NS_A_MS 1e6

struct run {
    struct cuda_device *cuda;
    struct device_key *key;
    const struct device_work *work;
    gpu_pointer witness, a, b, c, scratch_h, scratch;
    size_t domain, wires;
    int is_staged; /* the witness is there, or on its way */
};

struct step {
    int (*put)(struct run *run); /* into the stream: 0 or -errno */
    enum worker_stage stage;
    const char *name; /* in a fault's words */
};

/* ---- uploads ---- */

/* A device that hangs shows in the pinning's ring too. */
static int upload(struct cuda_device *cuda, gpu_pointer to, const uint64_t *from, size_t elements,
                  CUstream stream)
{
    struct cuda_deadline deadline = cuda_deadline_from(0);
    int error = cuda_pinning_upload(cuda->pinning, to, from, elements * ELEMENT_BYTES, stream);
    if (error == -ETIMEDOUT)
        cuda_fault_hang(&cuda->fault, "an upload",
                        (worker_now_ns() - deadline.begin_ns) / (uint64_t)NS_A_MS);
    return error > 0 ? cuda_fault_check(&cuda->fault, error, "an upload") : error;
}

static int put_witness(struct run *run)
{
    struct cuda_device *cuda = run->cuda;
    if (!run->is_staged)
        return upload(cuda, run->witness, run->work->witness, run->wires, cuda->stream);
    return cuda_fault_check(&cuda->fault,
                            cuda->driver.cuStreamWaitEvent(cuda->stream, cuda->copied, 0),
                            "cuStreamWaitEvent");
}

static int put_inputs(struct run *run)
{
    const struct device_work *work = run->work;
    int error = put_witness(run);
    if (error || !work->rows_a || !work->rows_b)
        return error;
    error = upload(run->cuda, run->a, work->rows_a, run->domain, run->cuda->stream);
    return error ? error : upload(run->cuda, run->b, work->rows_b, run->domain, run->cuda->stream);
}

/* ---- rows and quotient ---- */

static struct rows_cuda_matrix matrix_of(const struct device_key *key, enum cuda_section first,
                                         const struct image_matrix *matrix)
{
    return (struct rows_cuda_matrix){.row_start = cuda_key_at(key, first),
                                     .wire = cuda_key_at(key, first + 1),
                                     .value = cuda_key_at(key, first + 2),
                                     .index = cuda_key_at(key, first + 3),
                                     .rows = matrix->rows,
                                     .index_bytes = matrix->index_bytes};
}

static int put_rows(struct run *run)
{
    struct device_key *key = run->key;
    struct gpu_queue *queue = &key->queue->queue;
    struct rows_cuda_matrix a = matrix_of(key, CUDA_A_ROW_START, &key->image->a);
    struct rows_cuda_matrix b = matrix_of(key, CUDA_B_ROW_START, &key->image->b);
    int error = rows_cuda_evaluate(queue, run->a, &a, run->witness, run->domain);
    return error ? error : rows_cuda_evaluate(queue, run->b, &b, run->witness, run->domain);
}

static int put_quotient(struct run *run)
{
    int error = run->work->rows_a && run->work->rows_b ? 0 : put_rows(run);
    if (error)
        return error;
    return ntt_cuda_quotient(&run->key->queue->queue, run->a, run->b, run->c,
                             run->key->image->header->log2_domain,
                             cuda_key_at(run->key, CUDA_NTT_TABLE));
}

/* ---- sums ---- */

static gpu_pointer result_of(const struct run *run, enum cuda_sum sum)
{
    return cuda_scratch_results(run->cuda) + run->key->result_at[sum];
}

static int put_sum_h(struct run *run)
{
    struct gpu_queue *queue = &run->key->queue->queue;
    int error = msm_cuda_sort(queue, &run->key->plan_h, run->a, run->scratch_h);
    if (error)
        return error;
    return msm_cuda_sum(queue, &run->key->plan_h, GROUP_G1, cuda_key_at(run->key, CUDA_POINTS_H), 0,
                        run->scratch_h, result_of(run, CUDA_SUM_H));
}

static int put_sort(struct run *run)
{
    return msm_cuda_sort(&run->key->queue->queue, &run->key->plan_witness, run->witness,
                         run->scratch);
}

static int put_sum(struct run *run, enum group group, enum cuda_section points, size_t first,
                   enum cuda_sum sum)
{
    return msm_cuda_sum(&run->key->queue->queue, &run->key->plan_witness, group,
                        cuda_key_at(run->key, points), first, run->scratch, result_of(run, sum));
}

static int put_sum_a(struct run *run)
{
    return put_sum(run, GROUP_G1, CUDA_POINTS_A, 0, CUDA_SUM_A);
}

static int put_sum_b1(struct run *run)
{
    return put_sum(run, GROUP_G1, CUDA_POINTS_B1, 0, CUDA_SUM_B1);
}

static int put_sum_b2(struct run *run)
{
    return put_sum(run, GROUP_G2, CUDA_POINTS_B2, 0, CUDA_SUM_B2);
}

static int put_sum_c(struct run *run)
{
    size_t first_private = run->key->image->header->public_count + (size_t)1;
    return put_sum(run, GROUP_G1, CUDA_POINTS_C, first_private, CUDA_SUM_C);
}

static int put_results(struct run *run)
{
    struct cuda_device *cuda = run->cuda;
    return cuda_fault_check(&cuda->fault,
                            cuda->driver.cuMemcpyDtoHAsync(cuda->upload.results,
                                                           cuda_scratch_results(cuda),
                                                           run->key->need.results, cuda->stream),
                            "cuMemcpyDtoHAsync");
}

/* ---- the steps ---- */

enum { STEP_INPUTS, STEP_QUOTIENT, STEP_RESULTS = 8, STEPS };
static const struct step steps[STEPS] = {
    [STEP_INPUTS] = {put_inputs, STAGE_UPLOAD, "the upload"},
    [STEP_QUOTIENT] = {put_quotient, STAGE_NTT, "the quotient"},
    {put_sum_h, STAGE_MSM, "the sum for H"},
    {put_sort, STAGE_MSM, "the sorting of the witness"},
    {put_sum_a, STAGE_MSM, "the sum for A"},
    {put_sum_b1, STAGE_MSM, "the sum for B1"},
    {put_sum_b2, STAGE_MSM, "the sum for B2"},
    {put_sum_c, STAGE_MSM, "the sum for C"},
    [STEP_RESULTS] = {put_results, STAGE_MSM, "the way of the results"},
};
_Static_assert(STEPS + 1 <= CUDA_EVENTS, "an event for each step, and one for the beginning");

static int record(const struct cuda_device *cuda, CUevent event, CUstream stream)
{
    return cuda_fault_check(&cuda->fault, cuda->driver.cuEventRecord(event, stream),
                            "cuEventRecord");
}

static int put_step(struct run *run, int i)
{
    int error = steps[i].put(run);
    return error ? error : record(run->cuda, run->cuda->event[1 + i], run->cuda->stream);
}

static int wait_step(struct run *run, int i, struct device_watch *watch,
                     const struct cuda_deadline *deadline)
{
    if (watch)
        watch->step(watch, steps[i].stage);
    return cuda_wait_event(&run->cuda->fault, run->cuda->event[1 + i], watch, deadline,
                           steps[i].name);
}

/* Whatever was put into the stream has run when this returns, also where it is cut short. */
static int run_steps(struct run *run, struct device_watch *watch)
{
    struct cuda_deadline deadline = cuda_deadline_from(run->key->model_ns);
    int error = record(run->cuda, run->cuda->event[0], run->cuda->stream), put = 0;
    for (; put < STEPS && !error; put++) {
        if (put >= STEPS_AHEAD)
            error = wait_step(run, put - STEPS_AHEAD, watch, &deadline);
        if (!error && watch->cancelled(watch))
            error = -ECANCELED;
        if (!error)
            error = put_step(run, put);
    }
    for (int i = STEPS - STEPS_AHEAD; i < STEPS && !error; i++)
        error = wait_step(run, i, watch, &deadline);
    if (!error)
        return 0;
    /* a step may have stopped half way, before its event; the first, before it waited for what was
     * staged, whose copy is in a stream of its own and reads the slab */
    int drained = run->is_staged ? put_witness(run) : 0;
    if (!drained)
        drained = record(run->cuda, run->cuda->event[0], run->cuda->stream);
    if (!drained)
        cuda_wait_event(&run->cuda->fault, run->cuda->event[0], NULL, &deadline,
                        "what was cancelled");
    return error;
}

static uint64_t elapsed_ns(const struct run *run, int from, int to)
{
    float ms = 0;
    CUresult code =
        run->cuda->driver.cuEventElapsedTime(&ms, run->cuda->event[from], run->cuda->event[to]);
    return code == CUDA_SUCCESS && ms > 0 ? (uint64_t)((double)ms * NS_A_MS) : 0;
}

/* ---- the end, on the host ---- */

static int finish_one(const struct run *run, enum cuda_sum sum, void *out)
{
    const struct msm_cuda_plan *plan =
        sum == CUDA_SUM_H ? &run->key->plan_h : &run->key->plan_witness;
    return msm_cuda_finish(run->key->curve, plan, sum == CUDA_SUM_B2 ? GROUP_G2 : GROUP_G1,
                           (const char *)run->cuda->upload.results + run->key->result_at[sum], out);
}

/* Results that are no field elements become infinity: the proof does not verify then, and the
 * finalizer finds out who is at fault. */
static void finish_sums(const struct run *run, struct proof_sums *sums)
{
    void *out[CUDA_SUMS] = {[CUDA_SUM_H] = &sums->h,
                            [CUDA_SUM_A] = &sums->a,
                            [CUDA_SUM_B1] = &sums->b1,
                            [CUDA_SUM_B2] = &sums->b2,
                            [CUDA_SUM_C] = &sums->c};
    for (int sum = 0; sum < CUDA_SUMS; sum++)
        finish_one(run, sum, out[sum]);
}

/* ---- a proof ---- */

static int take_staged(struct cuda_device *cuda, const struct device_key *key,
                       const struct device_work *work)
{
    int matches = cuda->staged.key == key && cuda->staged.witness == work->witness;
    if (!matches) {
        cuda_sums_unstage(cuda);
        return 0;
    }
    cuda->staged = (struct cuda_staged){0};
    cuda->witness_buffer ^= 1;
    return 1;
}

int cuda_sums_prove(struct cuda_device *cuda, struct device_key *key,
                    const struct device_work *work, struct device_watch *watch,
                    struct proof_sums *sums, struct device_times *times)
{
    size_t domain = (size_t)1 << key->image->header->log2_domain;
    size_t vector_bytes = (domain * ELEMENT_BYTES + 255) / 256 * 256;
    int is_staged = take_staged(cuda, key, work);
    gpu_pointer at = cuda->scratch.block.at;
    struct run run = {.cuda = cuda,
                      .key = key,
                      .work = work,
                      .witness = cuda_scratch_witness(cuda, cuda->witness_buffer),
                      .a = at,
                      .b = at + vector_bytes,
                      .c = at + 2 * vector_bytes,
                      .scratch_h = at + vector_bytes,
                      .scratch = at,
                      .domain = domain,
                      .wires = key->image->header->wires,
                      .is_staged = is_staged};
    memset(sums, 0, sizeof(*sums));
    int error = run_steps(&run, watch);
    if (error)
        return error;
    uint64_t begin = worker_now_ns();
    finish_sums(&run, sums);
    times->upload_ns += elapsed_ns(&run, 0, 1 + STEP_INPUTS);
    times->ntt_ns += elapsed_ns(&run, 1 + STEP_INPUTS, 1 + STEP_QUOTIENT);
    times->msm_ns +=
        elapsed_ns(&run, 1 + STEP_QUOTIENT, 1 + STEP_RESULTS) + worker_now_ns() - begin;
    return 0;
}

/* ---- the next one's witness ---- */

int cuda_sums_stage(struct cuda_device *cuda, struct device_key *key,
                    const struct device_work *work)
{
    if (cuda->staged.key)
        return -EBUSY;
    gpu_pointer to = cuda_scratch_witness(cuda, cuda->witness_buffer ^ 1);
    size_t wires = key->image->header->wires;
    cuda->staged = (struct cuda_staged){.key = key,
                                        .witness = work->witness,
                                        .deadline = cuda_deadline_from(wires * ELEMENT_BYTES)};
    int error = upload(cuda, to, work->witness, wires, cuda->copies);
    int recorded = record(cuda, cuda->copied, cuda->copies);
    error = error ? error : recorded;
    if (error)
        cuda_sums_unstage(cuda); /* part of the copy may be on its way */
    return error;
}

void cuda_sums_unstage(struct cuda_device *cuda)
{
    if (!cuda->staged.key)
        return;
    cuda_wait_event(&cuda->fault, cuda->copied, NULL, &cuda->staged.deadline,
                    "the upload of a witness");
    cuda->staged = (struct cuda_staged){0};
}
