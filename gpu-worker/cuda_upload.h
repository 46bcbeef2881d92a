/*
 * How a key reaches a GPU: from its image, a mapped file that nobody may register, in pieces
 * through two small pinned buffers; one is filled while the other is under way. And how results
 * come back: through one more. All three are made at the start; nothing pinned is made later.
 *
 * Called by the CUDA device, from the prover's thread. A SIGKILL leaves nothing.
 */
#ifndef PAWL_GPU_WORKER_CUDA_UPLOAD_H
#define PAWL_GPU_WORKER_CUDA_UPLOAD_H

#include <stddef.h>

#include "gpu-worker/cuda_wait.h"
#include "kernels/gpu_queue.h"

#define CUDA_PIECE_BYTES ((size_t)4 << 20)
#define CUDA_RESULTS_BYTES ((size_t)1 << 20)

struct cuda_upload {
    const struct cuda_fault *fault;
    CUstream stream;
    unsigned next; /* the piece to fill next */
    struct {
        void *memory;
        CUevent free; /* reached: what was in it has been copied */
    } piece[2];
    void *results; /* CUDA_RESULTS_BYTES */
};

/* With the context current; the stream stays the caller's. 0 or -ENOMEM. */
int cuda_upload_open(struct cuda_upload *upload, const struct cuda_fault *fault, CUstream stream);
void cuda_upload_close(struct cuda_upload *upload);

/* Puts a copy into the stream; `from` has been read when it returns. 0 or -ENOMEM. */
int cuda_upload_copy(struct cuda_upload *upload, gpu_pointer to, const void *from, size_t bytes);

#endif
