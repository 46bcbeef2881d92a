/*
 * A key in a GPU's memory: points, the matrices A and B, the table of the transforms. Everything
 * from the image keeps its bytes; see cuda_device.h for the order.
 *
 * Two checksums are made on the device, of what came from the image and of what was made there. The
 * first is held against the host's, of the image itself, whenever a key is loaded or imported; both
 * together are the key's, which goes with its memory to another process.
 */
#include "gpu-worker/cuda_device.h"

#include <errno.h>
#include <string.h>

#include "gpu-worker/cuda_wait.h"
#include "kernels/checksum/checksum_cuda.h"
#include "kernels/ntt/ntt_cuda.h"
#include "shm/image.h"
#include "shm/program.h"

#define ALIGN_BYTES ((size_t)256)
#define WORD_BYTES 8
#define TABLE_FACTOR UINT64_C(0x9e3779b97f4a7c15) /* odd: no two tables' sums become equal */

struct sums {
    uint64_t image, made; /* as they lie in the device's memory */
};

gpu_pointer cuda_key_at(const struct device_key *key, enum cuda_section section)
{
    return key->section[section].bytes ? key->block.at + key->section[section].offset : 0;
}

/* ---- the plan ---- */

static int is_optional(uint32_t tag)
{
    return tag == IMAGE_A_INDEX || tag == IMAGE_B_INDEX;
}

static int take_section(struct device_key *key, enum cuda_section which, uint32_t tag)
{
    const struct image_section *section = image_find(key->image->header, tag, 0, 0, 0);
    if (!section)
        return is_optional(tag) ? 0 : -EBADMSG;
    key->section[which].from = (const char *)key->image->header + section->offset;
    key->section[which].bytes = section->bytes;
    return 0;
}

int cuda_key_plan(struct device_key *key)
{
    static const uint32_t tags[CUDA_FROM_IMAGE] = {
        [CUDA_POINTS_A] = IMAGE_POINTS_A,   [CUDA_POINTS_B1] = IMAGE_POINTS_B1,
        [CUDA_POINTS_B2] = IMAGE_POINTS_B2, [CUDA_POINTS_C] = IMAGE_POINTS_C,
        [CUDA_POINTS_H] = IMAGE_POINTS_H,   [CUDA_A_ROW_START] = IMAGE_A_ROW_START,
        [CUDA_A_WIRE] = IMAGE_A_WIRE,       [CUDA_A_VALUE] = IMAGE_A_VALUE,
        [CUDA_A_INDEX] = IMAGE_A_INDEX,     [CUDA_B_ROW_START] = IMAGE_B_ROW_START,
        [CUDA_B_WIRE] = IMAGE_B_WIRE,       [CUDA_B_VALUE] = IMAGE_B_VALUE,
        [CUDA_B_INDEX] = IMAGE_B_INDEX,
    };
    size_t at = 0;
    int error = 0;
    for (int i = 0; i < CUDA_FROM_IMAGE && !error; i++)
        error = take_section(key, i, tags[i]);
    key->section[CUDA_NTT_TABLE].bytes = ntt_cuda_table_bytes(key->image->header->log2_domain);
    for (int i = 0; i < CUDA_SECTIONS; i++) {
        key->section[i].offset = at;
        at += (key->section[i].bytes + ALIGN_BYTES - 1) / ALIGN_BYTES * ALIGN_BYTES;
    }
    key->key_bytes = at;
    return error;
}

/* ---- checksums ---- */

static uint64_t sum_on_host(const struct device_key *key)
{
    uint64_t sum = 0;
    for (int i = 0; i < CUDA_FROM_IMAGE; i++) {
        const struct cuda_key_section *section = &key->section[i];
        if (section->bytes)
            sum += checksum_host(section->from, section->bytes, section->offset / WORD_BYTES);
    }
    return sum;
}

static uint64_t sum_of_both(const struct sums *sums)
{
    return sums->image + TABLE_FACTOR * sums->made;
}

/* The results' place is free while a key is loaded. */
static int launch_sums(struct cuda_device *cuda, struct device_key *key)
{
    struct gpu_queue *queue = &key->queue->queue;
    gpu_pointer out = cuda_scratch_results(cuda);
    int error = queue->clear(queue, out, sizeof(struct sums));
    for (int i = 0; i < CUDA_SECTIONS && !error; i++) {
        const struct cuda_key_section *section = &key->section[i];
        size_t place =
            i < CUDA_FROM_IMAGE ? offsetof(struct sums, image) : offsetof(struct sums, made);
        if (section->bytes)
            error = checksum_cuda_sum(queue, out + place, cuda_key_at(key, i), section->bytes,
                                      section->offset / WORD_BYTES);
    }
    return error;
}

static int sum_on_device(struct cuda_device *cuda, struct device_key *key, struct sums *sums)
{
    struct cuda_deadline deadline = cuda_deadline_from(key->key_bytes);
    int error = launch_sums(cuda, key);
    if (!error)
        error = cuda_fault_check(&cuda->fault,
                                 cuda->driver.cuMemcpyDtoHAsync(cuda->upload.results,
                                                                cuda_scratch_results(cuda),
                                                                sizeof(*sums), cuda->stream),
                                 "cuMemcpyDtoHAsync");
    if (!error)
        error =
            cuda_fault_check(&cuda->fault, cuda->driver.cuEventRecord(cuda->event[0], cuda->stream),
                             "cuEventRecord");
    if (!error)
        error =
            cuda_wait_event(&cuda->fault, cuda->event[0], NULL, &deadline, "the checksum of a key");
    memcpy(sums, cuda->upload.results, sizeof(*sums));
    return error;
}

/* ---- loading ---- */

static int upload_sections(struct cuda_device *cuda, const struct device_key *key)
{
    int error = 0;
    for (int i = 0; i < CUDA_FROM_IMAGE && !error; i++) {
        const struct cuda_key_section *section = &key->section[i];
        if (section->bytes)
            error =
                cuda_upload_copy(&cuda->upload, cuda_key_at(key, i), section->from, section->bytes);
    }
    return error;
}

void cuda_key_drain(struct cuda_device *cuda, const struct device_key *key)
{
    struct cuda_deadline deadline = cuda_deadline_from(key->key_bytes);
    if (!cuda_fault_check(&cuda->fault, cuda->driver.cuEventRecord(cuda->event[0], cuda->stream),
                          "cuEventRecord"))
        cuda_wait_event(&cuda->fault, cuda->event[0], NULL, &deadline, "a key that was given up");
}

int cuda_key_fill(struct cuda_device *cuda, struct device_key *key)
{
    struct sums sums;
    int error = upload_sections(cuda, key);
    if (!error)
        error = ntt_cuda_table_make(&key->queue->queue, cuda_key_at(key, CUDA_NTT_TABLE),
                                    key->image->header->log2_domain);
    if (!error)
        error = sum_on_device(cuda, key, &sums);
    if (error)
        return error;
    key->checksum = sum_of_both(&sums);
    if (sums.image != sum_on_host(key)) {
        log_event("error", "key_damaged",
                  "device=%s why=\"what arrived on the device is not what the image has\"",
                  cuda->facts.uuid);
        return -EIO;
    }
    return cuda_block_protect(&cuda->memory, &key->block);
}

int cuda_key_check(struct cuda_device *cuda, struct device_key *key, uint64_t checksum)
{
    struct sums sums;
    int error = sum_on_device(cuda, key, &sums);
    if (error)
        return error;
    key->checksum = sum_of_both(&sums);
    return key->checksum == checksum && sums.image == sum_on_host(key) ? 0 : -EBADMSG;
}
