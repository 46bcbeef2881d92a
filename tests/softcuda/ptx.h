/*
 * PTX on the CPU: loads the text that nvcc put into a fatbin and runs its kernels, warp by warp, as
 * a GPU would, but with every address checked, fresh memory poisoned, and lanes, warps and blocks
 * in an order shuffled from a seed. What it promises and what it cannot show: README.md.
 *
 * Called by soft_queue.c (kernel tests) and driver_*.c (the software libcuda.so.1). It keeps no
 * state between runs but a module's .global variables, takes no locks and writes no file.
 */
#ifndef PAWL_TESTS_SOFTCUDA_PTX_H
#define PAWL_TESTS_SOFTCUDA_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PTX_POISON = 0xa5 }; /* the byte that fresh device, shared and local memory is filled with */

struct ptx_module;
struct ptx_kernel;

/*
 * An uncompressed fatbin, or PTX text. Nothing of `image` is kept. NULL where it cannot be run,
 * with the reason and its line in `why`: an opcode that is not known is refused here.
 */
struct ptx_module *ptx_module_load(const void *image, size_t bytes, char *why, size_t why_bytes);
void ptx_module_free(struct ptx_module *module); /* NULL is allowed */

struct ptx_kernel_limits {
    const char *name;
    uint32_t registers;      /* as the text declares them: virtual ones, no ptxas has packed them */
    uint32_t shared_bytes;   /* static */
    uint32_t local_bytes;    /* of a thread, callees included */
    uint32_t constant_bytes; /* of the module */
    uint32_t param_bytes;
    uint32_t threads_most; /* of a block: .maxntid, else 1024 */
};
const struct ptx_kernel *ptx_kernel_find(const struct ptx_module *module, const char *name);
uint32_t ptx_kernel_count(const struct ptx_module *module);
const struct ptx_kernel *ptx_kernel_at(const struct ptx_module *module, uint32_t number);
struct ptx_kernel_limits ptx_kernel_limits(const struct ptx_kernel *kernel);

/* One piece of global memory, and where it lies. */
struct ptx_range {
    uint64_t base, bytes;
    uint8_t *host;
    uint8_t *written; /* a bit for each byte that was ever written; NULL: not watched */
    bool read_only;
};

/* What a launch sees of global memory. */
struct ptx_memory {
    /* The range that holds `address`, or NULL; valid until the launch ends. */
    const struct ptx_range *(*find)(void *owner, uint64_t address);
    void *owner;
    uint64_t seed;       /* of the order of lanes, warps and blocks */
    uint64_t steps_most; /* instructions of warps before it counts as hung; 0: no bound */
};

/* Bytes of the map for a range, and marking what the host wrote (or took away: `written` no). */
size_t ptx_written_bytes(uint64_t range_bytes);
void ptx_written_mark(struct ptx_range *range, uint64_t offset, uint64_t bytes, bool written);

enum ptx_fault_kind {
    PTX_FAULT_NONE,
    PTX_FAULT_ADDRESS,   /* outside every range, or a store to a read-only one */
    PTX_FAULT_ALIGNMENT, /* not a multiple of the access's size */
    PTX_FAULT_UNWRITTEN, /* a load of memory that nothing was written to */
    PTX_FAULT_BARRIER,   /* waiting for lanes or warps that do not come */
    PTX_FAULT_TRAP,
    PTX_FAULT_STEPS, /* steps_most instructions were run */
    PTX_FAULT_LAUNCH /* the launch itself: sizes, parameters */
};

struct ptx_fault {
    enum ptx_fault_kind kind;
    unsigned line; /* of the PTX text */
    unsigned lane, warp, block;
    uint64_t address;
    char text[240]; /* the whole of it, for people: kernel, line, lane, address */
};

struct ptx_launch {
    uint32_t grid[3], block[3];
    uint32_t shared_bytes; /* dynamic */
    const void *params;
    size_t param_bytes;
};

/*
 * Runs all blocks, and returns when they are done. 0; -EINVAL for a launch that a GPU would refuse,
 * -EFAULT for one that failed while it ran, memory being left as it stands; -ENOMEM. `fault` says
 * why.
 */
int ptx_run(const struct ptx_kernel *kernel, const struct ptx_launch *launch,
            const struct ptx_memory *memory, struct ptx_fault *fault);

/* Instructions times active lanes since the program began, for figures of speed. */
uint64_t ptx_lane_instructions(void);

#endif
