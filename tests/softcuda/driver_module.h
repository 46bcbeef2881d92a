/*
 * Functions of loaded modules, as launches need them. Under the driver's lock.
 */
#ifndef PAWL_TESTS_SOFTCUDA_DRIVER_MODULE_H
#define PAWL_TESTS_SOFTCUDA_DRIVER_MODULE_H

#include <sys/queue.h>

#include "tests/softcuda/driver.h"
#include "tests/softcuda/ptx.h"

struct CUfunc_st {
    LIST_ENTRY(CUfunc_st) link;
    const struct ptx_kernel *kernel;
    struct ptx_kernel_limits limits;
    uint32_t shared_most; /* dynamic: 48 KiB less what is static, or what was asked for */
};

CUfunction soft_function_find(CUfunction handle); /* NULL where it is none */

#endif
