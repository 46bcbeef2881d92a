/*
 * The device node of the GPU that this process uses. Memory that was exported lives on only while
 * the GPU is kept from being shut down, which an open node sees to where no other process has one.
 * Called when a key is exported.
 */
#ifndef PAWL_GPU_WORKER_CUDA_NODE_H
#define PAWL_GPU_WORKER_CUDA_NODE_H

/* An fd (O_CLOEXEC, the caller's) of the node, opened anew; -1 where this process has none open, or
 * several, so that it cannot be told which is meant. */
int cuda_node_open(void);

#endif
