/*
 * Host memory that the driver knows: registered, or allocated by it. All under the driver's lock.
 */
#ifndef PAWL_TESTS_SOFTCUDA_DRIVER_HOST_H
#define PAWL_TESTS_SOFTCUDA_DRIVER_HOST_H

#include "tests/softcuda/driver.h"

enum soft_host_kind {
    SOFT_HOST_PAGEABLE, /* the driver knows nothing of it */
    SOFT_HOST_PINNED,   /* all in one piece that it knows */
    SOFT_HOST_MIXED,    /* neither: the real one refuses such copies */
};
enum soft_host_kind soft_host_kind(const void *at, size_t bytes);

#endif
