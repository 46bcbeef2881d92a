/*
 * The device node of the GPU that this process uses. Memory that was exported lives on only while
 * the GPU is kept from being shut down, which an open node sees to where no other process has one.
 * Called when a key is exported.
 */
#ifndef PAWL_GPU_WORKER_CUDA_NODE_H
#define PAWL_GPU_WORKER_CUDA_NODE_H

#include "gpu-worker/cuda_driver.h"

/* An fd (O_CLOEXEC, the caller's) of the device's node, opened anew; -1 where it cannot be told
 * which that is: the kernel module's own folder of GPUs is not to be seen, and this process has no
 * node open, or several. */
int cuda_node_open(const struct cuda_driver *driver, CUdevice device);

#endif
