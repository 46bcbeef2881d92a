/*
 * Finds an operation by its mnemonic in the table that suits this machine. The index is made once,
 * by whichever thread loads a module first.
 */
#include "tests/softcuda/ptx_operations.h"
#include "tests/softcuda/ptx_parser.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

enum { INDEX = 1024 };

static const struct ptx_operation *slots[INDEX];
static pthread_once_t once = PTHREAD_ONCE_INIT;

const struct ptx_operation *ptx_operations_for_cpu(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("bmi2"))
        return ptx_operations_avx512;
#endif
    return ptx_operations_portable;
}

static void make_index(void)
{
    for (const struct ptx_operation *operation = ptx_operations_for_cpu();
         operation->mnemonic != NULL; operation++) {
        uint32_t slot = ptx_hash(operation->mnemonic, strlen(operation->mnemonic)) % INDEX;
        while (slots[slot] != NULL)
            slot = (slot + 1) % INDEX;
        slots[slot] = operation;
    }
}

const struct ptx_operation *ptx_operation_find(const char *mnemonic, size_t length)
{
    assert(pthread_once(&once, make_index) == 0);
    for (uint32_t slot = ptx_hash(mnemonic, length) % INDEX; slots[slot] != NULL;
         slot = (slot + 1) % INDEX)
        if (strlen(slots[slot]->mnemonic) == length &&
            memcmp(slots[slot]->mnemonic, mnemonic, length) == 0)
            return slots[slot];
    return NULL;
}
