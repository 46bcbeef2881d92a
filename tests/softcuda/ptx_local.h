/*
 * Local memory of the lanes, interleaved by words so that all lanes' words of one address lie side
 * by side: ptx_local.c.
 */
#ifndef PAWL_TESTS_SOFTCUDA_PTX_LOCAL_H
#define PAWL_TESTS_SOFTCUDA_PTX_LOCAL_H

#include "tests/softcuda/ptx_warp.h"

/* One element of code->bytes at a local address of a lane; false: a fault has been raised. */
bool ptx_local_read(struct ptx_warp *warp, const struct ptx_code *code, unsigned lane,
                    uint64_t address, uint64_t *value);
bool ptx_local_write(struct ptx_warp *warp, const struct ptx_code *code, unsigned lane,
                     uint64_t address, uint64_t value);

#endif
