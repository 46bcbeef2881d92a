/*
 * The checksum of the software device's memory against the host's, and what must change it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kernels/checksum/checksum_cuda.h"
#include "tests/kernels/cuda_memory.h"
#include "tests/support/scalars.h"

enum { BYTES_MOST = 20000 };

static unsigned char data[BYTES_MOST];

static void data_fill(void)
{
    uint64_t state = 1;
    for (size_t i = 0; i + 8 <= sizeof(data); i += 8) {
        const uint64_t word = random_next(&state);
        memcpy(data + i, &word, 8);
    }
}

static gpu_pointer sum_new(struct soft_queue *queue)
{
    gpu_pointer out = soft_queue_allocate(queue, 8);
    assert_int_equal(queue->queue.clear(&queue->queue, out, 8), 0);
    return out;
}

static uint64_t sum_read(struct soft_queue *queue, gpu_pointer out)
{
    uint64_t sum;
    soft_queue_read(queue, &sum, out, sizeof(sum));
    return sum;
}

static uint64_t device_sum(struct soft_queue *queue, size_t bytes, uint64_t first_word)
{
    gpu_pointer at = cuda_upload(queue, data, bytes), out = sum_new(queue);
    assert_int_equal(checksum_cuda_sum(&queue->queue, out, at, bytes, first_word), 0);
    return sum_read(queue, out);
}

/* Less than a word, ends within one, more words than the threads of a launch. */
static void device_equals_host(void **unused)
{
    (void)unused;
    static const size_t sizes[] = {1, 7, 8, 9, 255, 256, 2047, 2048, 2049, 10001, BYTES_MOST};
    static const uint64_t first_words[] = {0, 1, 0x123456789abcd};
    struct soft_queue *queue = soft_queue_open("bn254", 3);
    queue->queue.multiprocessors = 1;
    data_fill();
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
        for (size_t k = 0; k < 3; k++)
            assert_int_equal(device_sum(queue, sizes[i], first_words[k]),
                             checksum_host(data, sizes[i], first_words[k]));
    soft_queue_close(queue);
}

static void parts_add_up(void **unused)
{
    (void)unused;
    struct soft_queue *queue = soft_queue_open("bls12381", 4);
    data_fill();
    gpu_pointer at = cuda_upload(queue, data, 5003), out = sum_new(queue);
    assert_int_equal(checksum_cuda_sum(&queue->queue, out, at + 4000, 1003, 500), 0);
    assert_int_equal(checksum_cuda_sum(&queue->queue, out, at, 4000, 0), 0);
    assert_int_equal(checksum_cuda_sum(&queue->queue, out, at, 0, 0), 0);
    assert_int_equal(sum_read(queue, out), checksum_host(data, 5003, 0));
    assert_int_equal(checksum_host(data, 4000, 0) + checksum_host(data + 4000, 1003, 500),
                     checksum_host(data, 5003, 0));
    soft_queue_close(queue);
}

static void words_swap(size_t i, size_t k)
{
    unsigned char word[8];
    memcpy(word, data + 8 * i, 8);
    memcpy(data + 8 * i, data + 8 * k, 8);
    memcpy(data + 8 * k, word, 8);
}

static void damage_shows(void **unused)
{
    (void)unused;
    enum { BYTES = 1003 };
    data_fill();
    const uint64_t sum = checksum_host(data, BYTES, 0);
    for (size_t bit = 0; bit < 8 * BYTES; bit++) {
        data[bit / 8] ^= (unsigned char)(1 << bit % 8);
        assert_int_not_equal(checksum_host(data, BYTES, 0), sum);
        data[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    for (size_t i = 0; i < BYTES / 8; i++) {
        const size_t other = (i + 1) % (BYTES / 8);
        words_swap(i, other);
        assert_int_not_equal(checksum_host(data, BYTES, 0), sum);
        words_swap(i, other);
    }
    assert_int_not_equal(checksum_host(data, BYTES, 1), sum);
    assert_int_equal(checksum_host(data, BYTES, 0), sum);
}

/* Zeros have a sum of their own, so that a length shows. */
static void lengths_show(void **unused)
{
    (void)unused;
    memset(data, 0, sizeof(data));
    for (size_t words = 0; words < 100; words++)
        assert_int_not_equal(checksum_host(data, 8 * words, 0),
                             checksum_host(data, 8 * words + 8, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_equals_host),
        cmocka_unit_test(parts_add_up),
        cmocka_unit_test(damage_shows),
        cmocka_unit_test(lengths_show),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
