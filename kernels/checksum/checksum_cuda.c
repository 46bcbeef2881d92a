/*
 * Launches checksum.cu, and the same sum on the host (checksum_cuda.h). No state.
 */
#include <string.h>

#include "kernels/checksum/checksum_cuda.h"
#include "kernels/checksum/checksum_mix_cuda.h"

enum { BLOCKS_A_MULTIPROCESSOR = 8, WORD = 8 };

/* No more blocks than the device runs at once: threads go through the words in strides. */
static uint32_t blocks_for(const struct gpu_queue *queue, size_t bytes)
{
    const size_t wanted = bytes / WORD / CHECKSUM_THREADS + 1;
    const size_t most = (size_t)BLOCKS_A_MULTIPROCESSOR * queue->multiprocessors;
    return (uint32_t)(wanted < most ? wanted : most);
}

int checksum_cuda_sum(struct gpu_queue *queue, gpu_pointer out, gpu_pointer data, size_t bytes,
                      uint64_t first_word)
{
    const struct checksum_arguments arguments = {
        .out = out, .data = data, .bytes = bytes, .first_word = first_word};
    const struct gpu_launch launch = {.kernel = "checksum_sum",
                                      .blocks = blocks_for(queue, bytes),
                                      .threads = CHECKSUM_THREADS,
                                      .arguments = &arguments,
                                      .argument_bytes = sizeof(arguments)};
    return bytes ? queue->launch(queue, &launch) : 0;
}

uint64_t checksum_host(const void *data, size_t bytes, uint64_t first_word)
{
    const unsigned char *at = data;
    const size_t words = bytes / WORD;
    uint64_t sum = 0, word;
    for (size_t i = 0; i < words; i++) {
        memcpy(&word, at + WORD * i, WORD);
        sum += checksum_mix(word, first_word + i);
    }
    if (bytes % WORD) {
        word = 0;
        memcpy(&word, at + WORD * words, bytes % WORD);
        sum += checksum_mix(word, first_word + words);
    }
    return sum;
}
