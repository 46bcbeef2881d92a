/*
 * The CUDA device: a GPU behind the interface of device.h, over the driver API loaded at run time.
 * What it is made of: cuda_device.h.
 *
 * One context, the device's primary one; one stream for computing and one for the next witness.
 * Pinned memory is made when it is opened and never after; device memory when keys are loaded and
 * never in a proof. Any error of the driver but out of memory ends the process (cuda_fault.h).
 */
#include "gpu-worker/device.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu-worker/cuda_device.h"
#include "gpu-worker/cuda_modules.h"
#include "gpu-worker/cuda_node.h"
#include "gpu-worker/cuda_pinning.h"
#include "shm/worker_start.h"

static struct cuda_device *enter(struct device *device)
{
    struct cuda_device *cuda = (struct cuda_device *)device;
    cuda_fault_check(&cuda->fault, cuda->driver.cuCtxSetCurrent(cuda->context), "cuCtxSetCurrent");
    return cuda;
}

/* ---- keys ---- */

/* 1 where what failed for lack of memory is worth another try: no key needs the scratch, and what
 * larger ones that are gone left of it is let go of. */
static int may_retry(struct cuda_device *cuda, int error)
{
    if (error != -ENOMEM || cuda->keys > 0)
        return 0;
    cuda_scratch_free(cuda);
    return 1;
}

static int open_queue(struct cuda_device *cuda, struct device_key *key)
{
    return cuda_queue_open(key->queue, &cuda->fault, cuda->facts.device, cuda->stream,
                           key->curve->id);
}

/* The curve's kernels, loaded at its first key. */
static int take_queue(struct cuda_device *cuda, struct device_key *key)
{
    key->queue = &cuda->queue[key->curve->id == CURVE_BLS12381];
    if (key->queue->modules)
        return 0;
    int error = open_queue(cuda, key);
    return may_retry(cuda, error) ? open_queue(cuda, key) : error;
}

/*
 * By rates below those of any GPU that the kernels run on: 2 or 4 ns for an addition in G1, three
 * times that in G2, 32 ns for an element of the domain, 1 ns for a byte of a key or a witness.
 */
static uint64_t model_ns(const struct device_key *key)
{
    struct msm_cuda_additions h = msm_cuda_count_additions(&key->plan_h);
    struct msm_cuda_additions w = msm_cuda_count_additions(&key->plan_witness);
    uint64_t addition_ns = key->curve->fq_bytes > 32 ? 4 : 2;
    uint64_t in_h = h.mixed + 2 * h.full + h.doublings;
    uint64_t in_w = w.mixed + 2 * w.full + w.doublings;
    return addition_ns * (in_h + (3 + 3) * in_w) + key->section[CUDA_NTT_TABLE].bytes +
           key->key_bytes;
}

/* Memory for key and proofs, where the block is not imported. */
static int make_memory(struct cuda_device *cuda, struct device_key *key)
{
    int error = cuda_block_make(&cuda->memory, &key->block, key->key_bytes);
    if (may_retry(cuda, error))
        error = cuda_block_make(&cuda->memory, &key->block, key->key_bytes);
    return error;
}

static int fill_key(struct cuda_device *cuda, struct device_key *key,
                    const struct device_parcel *parcel)
{
    int error = take_queue(cuda, key);
    if (!error)
        error = cuda_key_plan(key);
    if (!error && parcel && parcel->bytes != key->key_bytes)
        error = -ESTALE;
    if (!error)
        error = parcel ? cuda_block_import(&cuda->memory, &key->block, parcel->memory_fd,
                                           key->key_bytes)
                       : make_memory(cuda, key);
    if (!error)
        error = cuda_scratch_prepare(cuda, key);
    if (!error)
        error = parcel ? cuda_key_check(cuda, key, parcel->checksum) : cuda_key_fill(cuda, key);
    key->model_ns = error ? 0 : model_ns(key);
    return error;
}

static int make_key(struct cuda_device *cuda, const struct curve *curve, const struct image *image,
                    const struct device_parcel *parcel, struct device_key **out)
{
    struct device_key *key = calloc(1, sizeof(*key));
    if (!key)
        return -ENOMEM;
    key->curve = curve;
    key->image = image;
    int error = fill_key(cuda, key, parcel);
    if (error) {
        if (key->block.at)
            cuda_key_drain(cuda, key);
        cuda_block_free(&cuda->memory, &key->block);
        free(key);
        return error;
    }
    cuda->keys++;
    cuda->keys_bytes += key->key_bytes;
    *out = key;
    return 0;
}

static int cuda_key_load(struct device *device, const struct curve *curve,
                         const struct image *image, struct device_key **key)
{
    return make_key(enter(device), curve, image, NULL, key);
}

static void cuda_key_drop(struct device *device, struct device_key *key)
{
    struct cuda_device *cuda = enter(device);
    if (cuda->staged.key == key)
        cuda_sums_unstage(cuda);
    cuda->keys--;
    cuda->keys_bytes -= key->key_bytes;
    cuda_block_free(&cuda->memory, &key->block);
    free(key);
}

static int cuda_key_export(struct device *device, struct device_key *key, struct device_parcel *out)
{
    struct cuda_device *cuda = enter(device);
    *out = (struct device_parcel){.driver_version = (uint32_t)cuda->driver.version,
                                  .layout = CUDA_KEY_LAYOUT,
                                  .bytes = key->key_bytes,
                                  .checksum = key->checksum,
                                  .memory_fd = -1,
                                  .node_fd = -1};
    snprintf(out->device, sizeof(out->device), "%s", cuda->facts.uuid);
    int error = cuda_block_export(&cuda->memory, &key->block, &out->memory_fd);
    if (!error)
        out->node_fd = cuda_node_open(&cuda->driver, cuda->facts.device);
    return error;
}

static int cuda_key_import(struct device *device, const struct curve *curve,
                           const struct image *image, const struct device_parcel *parcel,
                           struct device_key **key)
{
    struct cuda_device *cuda = enter(device);
    if (strcmp(parcel->device, cuda->facts.uuid) != 0 || parcel->layout != CUDA_KEY_LAYOUT ||
        parcel->driver_version != (uint32_t)cuda->driver.version)
        return -ESTALE;
    return make_key(cuda, curve, image, parcel, key);
}

/* ---- proofs ---- */

static int cuda_prove(struct device *device, struct device_key *key, const struct device_work *work,
                      struct device_watch *watch, struct proof_sums *sums,
                      struct device_times *times)
{
    return cuda_sums_prove(enter(device), key, work, watch, sums, times);
}

static int cuda_stage(struct device *device, struct device_key *key, const struct device_work *work)
{
    return cuda_sums_stage(enter(device), key, work);
}

static void cuda_unstage(struct device *device)
{
    cuda_sums_unstage(enter(device));
}

/* ---- slabs: the socket's thread ---- */

static int cuda_slabs_attach(struct device *device, const struct device_slabs *slabs)
{
    return cuda_pinning_attach(enter(device)->pinning, slabs);
}

static void cuda_slabs_detach(struct device *device)
{
    cuda_pinning_detach(enter(device)->pinning);
}

static void cuda_slab_want(struct device *device, const void *slab)
{
    cuda_pinning_want(((struct cuda_device *)device)->pinning, slab);
}

/* ---- */

static void cuda_describe(const struct device *device, struct device_description *out)
{
    const struct cuda_device *cuda = (const struct cuda_device *)device;
    memset(out, 0, sizeof(*out));
    snprintf(out->name, sizeof(out->name), "%s", cuda->facts.uuid);
    snprintf(out->model, sizeof(out->model), "%s", cuda->facts.model);
    out->threads = cuda->threads;
    out->scratch_bytes = cuda->scratch.block.bytes;
    out->keys_bytes = cuda->keys_bytes;
}

static void destroy_events(struct cuda_device *cuda)
{
    for (int i = 0; i < CUDA_EVENTS; i++)
        if (cuda->event[i])
            cuda->driver.cuEventDestroy(cuda->event[i]);
    if (cuda->copied)
        cuda->driver.cuEventDestroy(cuda->copied);
    if (cuda->copies)
        cuda->driver.cuStreamDestroy(cuda->copies);
    if (cuda->stream)
        cuda->driver.cuStreamDestroy(cuda->stream);
}

/* What there is of it, in the order opposite to opening. */
static void dismantle(struct cuda_device *cuda)
{
    if (cuda->context) {
        cuda_sums_unstage(cuda);
        for (int i = 0; i < CUDA_CURVES; i++)
            if (cuda->queue[i].modules)
                cuda_queue_close(&cuda->queue[i]);
        if (cuda->memory.fault)
            cuda_scratch_free(cuda);
        if (cuda->pinning)
            cuda_pinning_destroy(cuda->pinning);
        if (cuda->upload.fault)
            cuda_upload_close(&cuda->upload);
        destroy_events(cuda);
        cuda->driver.cuDevicePrimaryCtxRelease(cuda->facts.device);
    }
    cuda_driver_close(&cuda->driver);
    free(cuda);
}

static void cuda_close(struct device *device)
{
    dismantle(enter(device));
}

static const struct device_operations cuda_operations = {
    .close = cuda_close,
    .describe = cuda_describe,
    .key_load = cuda_key_load,
    .key_drop = cuda_key_drop,
    .prove = cuda_prove,
    .stage = cuda_stage,
    .unstage = cuda_unstage,
    .key_export = cuda_key_export,
    .key_import = cuda_key_import,
    .slabs_attach = cuda_slabs_attach,
    .slabs_detach = cuda_slabs_detach,
    .slab_want = cuda_slab_want,
};

/* ---- opening ---- */

struct opening {
    struct cuda_device *cuda;
    char *why;
    size_t why_bytes;
};

/* 1 and the reason where the code is none of success. */
static int refused(const struct opening *opening, CUresult code, const char *call)
{
    if (code == CUDA_SUCCESS)
        return 0;
    snprintf(opening->why, opening->why_bytes, "%s: %s (%d)%s", call,
             cuda_driver_error_name(&opening->cuda->driver, code), code,
             code == CUDA_ERROR_OUT_OF_MEMORY
                 ? ": too little memory is free, on the GPU or to be pinned; end what uses it"
                 : "");
    return 1;
}

static int find_device(const struct opening *opening, const char *name)
{
    struct cuda_code code = cuda_devices_own_code();
    struct cuda_device *cuda = opening->cuda;
    const char *why = "";
    if (cuda_driver_open(&cuda->driver, &why)) {
        snprintf(opening->why, opening->why_bytes, "%s", why);
        return -ENODEV;
    }
    return cuda_devices_find(&cuda->driver, name, &code, &cuda->facts, opening->why,
                             opening->why_bytes);
}

/* The flags matter to calls that wait; where another has the context already they stay his. */
static int make_context(const struct opening *opening)
{
    struct cuda_device *cuda = opening->cuda;
    CUcontext context = NULL;
    cuda->driver.cuDevicePrimaryCtxSetFlags(cuda->facts.device, CU_CTX_SCHED_BLOCKING_SYNC);
    if (refused(opening, cuda->driver.cuDevicePrimaryCtxRetain(&context, cuda->facts.device),
                "cuDevicePrimaryCtxRetain"))
        return -EIO;
    cuda->context = context;
    return refused(opening, cuda->driver.cuCtxSetCurrent(context), "cuCtxSetCurrent") ? -EIO : 0;
}

static int make_streams(const struct opening *opening)
{
    struct cuda_device *cuda = opening->cuda;
    const struct cuda_driver *driver = &cuda->driver;
    CUresult code = driver->cuStreamCreate(&cuda->stream, CU_STREAM_NON_BLOCKING);
    if (code == CUDA_SUCCESS)
        code = driver->cuStreamCreate(&cuda->copies, CU_STREAM_NON_BLOCKING);
    if (code == CUDA_SUCCESS)
        code = driver->cuEventCreate(&cuda->copied, CU_EVENT_DISABLE_TIMING);
    for (int i = 0; i < CUDA_EVENTS && code == CUDA_SUCCESS; i++)
        code = driver->cuEventCreate(&cuda->event[i], CU_EVENT_DEFAULT);
    return refused(opening, code, "the streams and events of the GPU") ? -EIO : 0;
}

static int make_pinned(const struct opening *opening, struct seat_page *seat)
{
    struct cuda_device *cuda = opening->cuda;
    int read_only = 0;
    cuda->driver.cuDeviceGetAttribute(
        &read_only, CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED, cuda->facts.device);
    struct cuda_pinning_target target = {
        .driver = &cuda->driver, .context = cuda->context, .read_only = read_only, .seat = seat};
    int error = cuda_upload_open(&cuda->upload, &cuda->fault, cuda->stream);
    if (!error)
        error = cuda_pinning_create(&cuda->pinning, &target);
    if (error)
        refused(opening, error > 0 ? error : CUDA_ERROR_OUT_OF_MEMORY, "pinned memory");
    return error ? -EIO : 0;
}

static int open_parts(const struct opening *opening, const char *name,
                      const struct device_settings *settings)
{
    struct cuda_device *cuda = opening->cuda;
    int error = find_device(opening, name);
    if (!error)
        error = make_context(opening);
    if (error)
        return error;
    cuda->fault = (struct cuda_fault){.driver = &cuda->driver, .seat = settings->seat};
    memcpy(cuda->fault.device, cuda->facts.uuid, sizeof(cuda->fault.device));
    cuda_memory_open(&cuda->memory, &cuda->fault, cuda->facts.device);
    error = make_streams(opening);
    return error ? error : make_pinned(opening, settings->seat);
}

struct device *device_cuda_open(const char *name, const struct device_settings *settings,
                                const char **why)
{
    static char reason[CUDA_WHY_BYTES]; /* a worker opens one device */
    struct cuda_device *cuda = calloc(1, sizeof(*cuda));
    struct opening opening = {cuda, reason, sizeof(reason)};
    snprintf(reason, sizeof(reason), "no memory for the CUDA device");
    *why = reason;
    if (!cuda)
        return NULL;
    cuda->device.operations = &cuda_operations;
    cuda->threads = settings->threads ? settings->threads : worker_count_cpus();
    if (open_parts(&opening, name, settings) == 0)
        return &cuda->device;
    dismantle(cuda);
    return NULL;
}
