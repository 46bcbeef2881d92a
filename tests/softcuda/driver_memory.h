/*
 * Memory of the software devices. Device addresses lie where no pointer of a program can, so that
 * a host that follows one crashes; each allocation has a gap behind it, and an address is never
 * given out twice. All under the driver's lock.
 */
#ifndef PAWL_TESTS_SOFTCUDA_DRIVER_MEMORY_H
#define PAWL_TESTS_SOFTCUDA_DRIVER_MEMORY_H

#include "tests/softcuda/driver.h"
#include "tests/softcuda/ptx.h"

/* One piece that kernels and copies may use. */
struct soft_piece {
    struct ptx_range range;
    CUdevice device;
    bool accessible;             /* else mapped without access, as fresh mappings are */
    struct soft_memory *backing; /* of a mapping (driver_vmm.c); NULL: cuMemAlloc */
};

/* Addresses for `bytes`, aligned and with a gap behind them; nothing lies there yet. */
CUdeviceptr soft_memory_reserve(size_t bytes, size_t alignment);

/* -ENOMEM, or 0 with `bytes` counted against the device. */
int soft_memory_charge(CUdevice device, size_t bytes);
void soft_memory_refund(CUdevice device, size_t bytes);

/* Takes over `piece` (from malloc). */
void soft_memory_insert(struct soft_piece *piece);
void soft_memory_remove(struct soft_piece *piece); /* not freed */
struct soft_piece *soft_memory_find(CUdeviceptr at);

/* Where [at, at + bytes) lies, if in one piece, accessible, and writable where `write`; else NULL.
 */
unsigned char *soft_memory_resolve(CUdeviceptr at, size_t bytes, bool write);
void soft_memory_mark(CUdeviceptr at, size_t bytes); /* it has been written now */

/* What one launch sees: fixed for its time. */
struct soft_view {
    size_t count;
    const struct ptx_range *ranges[]; /* by address */
};
struct soft_view *soft_view_take(CUdevice device); /* NULL: no memory; free() it */
const struct ptx_range *soft_view_find(void *view, uint64_t address);

void soft_memory_release(CUdevice device); /* all that a context held */

/* Fresh memory: poisoned, and a map of what is written, none of it. NULL: no memory. */
unsigned char *soft_memory_map(size_t bytes, int fd);
uint8_t *soft_written_make(size_t bytes);

#endif
