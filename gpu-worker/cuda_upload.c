/*
 * See the header.
 */
#include "gpu-worker/cuda_upload.h"

#include <string.h>

#include "gpu-worker/cuda_pinned.h"

static const struct cuda_driver *driver_of(const struct cuda_upload *upload)
{
    return upload->fault->driver;
}

static int pinned(const struct cuda_upload *upload, void **memory, size_t bytes)
{
    return cuda_fault_check(upload->fault,
                            cuda_pinned_make(driver_of(upload), upload->fault->seat, memory, bytes),
                            "cuMemHostAlloc");
}

static int make_piece(struct cuda_upload *upload, unsigned i)
{
    int error = pinned(upload, &upload->piece[i].memory, CUDA_PIECE_BYTES);
    if (error)
        return error;
    return cuda_fault_check(
        upload->fault,
        driver_of(upload)->cuEventCreate(&upload->piece[i].free, CU_EVENT_DISABLE_TIMING),
        "cuEventCreate");
}

int cuda_upload_open(struct cuda_upload *upload, const struct cuda_fault *fault, CUstream stream)
{
    *upload = (struct cuda_upload){.fault = fault, .stream = stream};
    int error = pinned(upload, &upload->results, CUDA_RESULTS_BYTES);
    for (unsigned i = 0; i < 2 && !error; i++)
        error = make_piece(upload, i);
    if (error)
        cuda_upload_close(upload);
    return error;
}

void cuda_upload_close(struct cuda_upload *upload)
{
    for (unsigned i = 0; i < 2; i++) {
        if (upload->piece[i].free)
            driver_of(upload)->cuEventDestroy(upload->piece[i].free);
        if (upload->piece[i].memory)
            driver_of(upload)->cuMemFreeHost(upload->piece[i].memory);
    }
    if (upload->results)
        driver_of(upload)->cuMemFreeHost(upload->results);
    *upload = (struct cuda_upload){.fault = upload->fault};
}

/* A deadline for each piece: reading the image may take long, for it may come from a disk. */
static int copy_piece(struct cuda_upload *upload, gpu_pointer to, const void *from, size_t bytes)
{
    struct cuda_deadline deadline = cuda_deadline_from(bytes);
    const struct cuda_driver *driver = driver_of(upload);
    void *memory = upload->piece[upload->next].memory;
    CUevent free = upload->piece[upload->next].free;
    int error = cuda_wait_event(upload->fault, free, NULL, &deadline, "the upload of a key");
    if (error)
        return error;
    upload->next ^= 1;
    memcpy(memory, from, bytes);
    error = cuda_fault_check(upload->fault,
                             driver->cuMemcpyHtoDAsync(to, memory, bytes, upload->stream),
                             "cuMemcpyHtoDAsync");
    if (error)
        return error;
    return cuda_fault_check(upload->fault, driver->cuEventRecord(free, upload->stream),
                            "cuEventRecord");
}

int cuda_upload_copy(struct cuda_upload *upload, gpu_pointer to, const void *from, size_t bytes)
{
    int error = 0;
    for (size_t done = 0; done < bytes && !error; done += CUDA_PIECE_BYTES) {
        size_t left = bytes - done;
        error = copy_piece(upload, to + done, (const char *)from + done,
                           left < CUDA_PIECE_BYTES ? left : CUDA_PIECE_BYTES);
    }
    return error;
}
