/*
 * The decoded form of a module: an array of instructions of fixed size, each with the function that
 * runs it and the places of its operands. Made once by the parser, read-only while kernels run
 * (but for the bytes of .global variables).
 *
 * Where operands lie. A value of a warp is a vector of its 32 lanes: 32 bits (and 16, in the low
 * half) as uint32_t[32], 64 bits as uint64_t[32], a predicate as one uint32_t with a bit for each
 * lane. An operand is the byte offset of that vector in one of three banks, with the bank's number
 * in the low two bits (offsets are multiples of 4): the frame's registers, the module's constants
 * (immediates, broadcast), and the warp's special registers.
 */
#ifndef PAWL_TESTS_SOFTCUDA_PTX_CODE_H
#define PAWL_TESTS_SOFTCUDA_PTX_CODE_H

#include "tests/softcuda/ptx.h"

enum { PTX_LANES = 32, PTX_OPERANDS = 6 };

enum ptx_bank { PTX_BANK_FRAME, PTX_BANK_CONSTANT, PTX_BANK_SPECIAL, PTX_BANKS };

enum ptx_class { PTX_PREDICATE, PTX_16, PTX_32, PTX_64 };

enum { PTX_BYTES_32 = 4 * PTX_LANES, PTX_BYTES_64 = 8 * PTX_LANES };

#define PTX_NO_OPERAND UINT32_MAX

/*
 * Addresses that are no device allocation's. Local, constant, parameter and module-global addresses
 * are the same in their own space and as generic ones; a shared address is an offset in its own
 * space and has the window's base added as a generic one.
 */
#define PTX_WINDOW_SHARED (UINT64_C(0xf1) << 56)
#define PTX_WINDOW_LOCAL (UINT64_C(0xf2) << 56)
#define PTX_WINDOW_CONSTANT (UINT64_C(0xf3) << 56)
#define PTX_WINDOW_PARAM (UINT64_C(0xf4) << 56)
#define PTX_WINDOW_GLOBAL (UINT64_C(0xf5) << 56) /* the module's own variables */
#define PTX_WINDOW_MASK (UINT64_C(0xff) << 56)

enum ptx_space {
    PTX_SPACE_GENERIC,
    PTX_SPACE_GLOBAL,
    PTX_SPACE_SHARED,
    PTX_SPACE_LOCAL,
    PTX_SPACE_CONSTANT,
    PTX_SPACE_PARAM
};

struct ptx_warp;

struct ptx_code {
    void (*run)(struct ptx_warp *warp, const struct ptx_code *code);
    uint32_t operand[PTX_OPERANDS]; /* those written first */
    uint32_t guard;                 /* the predicate's operand; PTX_NO_OPERAND */
    bool guard_not;
    uint8_t operands, writes; /* how many there are, and how many of them are written */
    uint8_t bytes, count;     /* of an element of an access, and elements of its vector */
    uint8_t space;            /* enum ptx_space */
    bool wide_address;        /* in a register of 64 bits */
    bool is_signed;           /* of a load, a minimum or a maximum */
    uint8_t class;            /* enum ptx_class of the value that is loaded or stored */
    bool ends_block;          /* what follows is not reached from here but by a branch */
    int64_t immediate;        /* an address's offset; a number that the operation needs */
    uint32_t target;          /* of a branch: index of a code; of a call: of a struct ptx_call */
    uint32_t line;            /* of the text */
};

/* Bytes of local memory that a call copies between caller and callee, offsets in their frames. */
struct ptx_copy {
    uint32_t caller, callee, bytes;
};

struct ptx_call {
    uint32_t function;
    uint32_t copies, in, out; /* the first of `in` copies before the call; `out` follow, after it */
};

enum { PTX_PARAMS_MOST = 32 };

struct ptx_param {
    uint32_t offset, bytes; /* in the kernel's parameters, or in the function's local frame */
};

struct ptx_function {
    char *name;
    bool is_kernel, is_defined;
    uint32_t first, codes;                /* in the module's array */
    uint32_t register_bytes, local_bytes; /* of its own frame */
    uint32_t poison_bytes; /* of its registers, those that may be read before they are written */
    uint32_t frames, stack_register_bytes, stack_local_bytes; /* with those that it calls */
    uint32_t registers;                                       /* declared */
    uint32_t shared_bytes;                                    /* static, the module's included */
    uint32_t threads_most;
    uint32_t returns, params; /* in param[], returns first */
    uint32_t param_bytes;
    struct ptx_param param[PTX_PARAMS_MOST];
};

struct ptx_kernel {
    const struct ptx_module *module;
    const struct ptx_function *function;
};

/* Bytes that grow; allocated in doubling steps. */
struct ptx_bytes {
    uint8_t *data;
    size_t bytes, room;
};

struct ptx_module {
    struct ptx_code *code;
    struct ptx_function *function;
    struct ptx_kernel *kernel;
    struct ptx_call *call;
    struct ptx_copy *copy;
    uint32_t codes, functions, kernels, calls, copies;
    struct ptx_bytes vectors;          /* bank of constants */
    struct ptx_bytes constant_space;   /* .const variables */
    struct ptx_bytes global_space;     /* .global variables: written by kernels */
    struct ptx_range constant, global; /* those, as ranges */
    uint32_t shared_bytes;             /* of shared variables that belong to no kernel */
};

#endif
