/*
 * Words of 32 bits with a carry from one instruction to the next, as PTX has them, and the same as
 * C.
 *
 * The field's products are chains of these. nvcc makes each one PTX instruction; a pair
 * mad_lo_cc, madc_hi_cc of the same factors becomes one IMAD.WIDE. Compiled as C (the host model)
 * the carry flag is a variable, so that the identical chain runs under a debugger or a sanitizer.
 * The host model is for tests: it is not for use by several threads at once.
 *
 *     _cc at the end      sets the carry          c before the _ (addc, madc)    adds the carry in
 *     sub and subc        the carry is a borrow
 *
 * PTX keeps the carry in a register that nothing but such an instruction changes; the compiler
 * itself uses them for integers of 128 bits only, and kernels have none.
 * No state but the host model's carry; included by field_cuda.h and by kernels.
 */
#ifndef PAWL_KERNELS_FIELD_CARRY_CUDA_H
#define PAWL_KERNELS_FIELD_CARRY_CUDA_H

#include <stdint.h>

#ifdef __CUDACC__
#define GPU_FN static __device__ __forceinline__
#define GPU_OUT_OF_LINE static __device__ __noinline__
#define GPU_UNROLL _Pragma("unroll")
#define GPU_ONCE _Pragma("unroll 1")
/* the compiler is to know nothing of x's value from here */
#define GPU_OPAQUE(x) asm volatile("" : "+r"(x))

#define GPU_CARRY_2(name, instruction)                                                             \
    GPU_FN uint32_t name(uint32_t a, uint32_t b)                                                   \
    {                                                                                              \
        uint32_t out;                                                                              \
        asm volatile(instruction " %0, %1, %2;" : "=r"(out) : "r"(a), "r"(b));                     \
        return out;                                                                                \
    }
#define GPU_CARRY_3(name, instruction)                                                             \
    GPU_FN uint32_t name(uint32_t a, uint32_t b, uint32_t c)                                       \
    {                                                                                              \
        uint32_t out;                                                                              \
        asm volatile(instruction " %0, %1, %2, %3;" : "=r"(out) : "r"(a), "r"(b), "r"(c));         \
        return out;                                                                                \
    }
GPU_CARRY_2(gpu_add_cc, "add.cc.u32")
GPU_CARRY_2(gpu_addc_cc, "addc.cc.u32")
GPU_CARRY_2(gpu_addc, "addc.u32")
GPU_CARRY_2(gpu_sub_cc, "sub.cc.u32")
GPU_CARRY_2(gpu_subc_cc, "subc.cc.u32")
GPU_CARRY_2(gpu_subc, "subc.u32")
GPU_CARRY_3(gpu_mad_lo_cc, "mad.lo.cc.u32")
GPU_CARRY_3(gpu_madc_lo_cc, "madc.lo.cc.u32")
GPU_CARRY_3(gpu_madc_hi_cc, "madc.hi.cc.u32")
GPU_CARRY_3(gpu_madc_hi, "madc.hi.u32")
#undef GPU_CARRY_2
#undef GPU_CARRY_3

#else
#define GPU_FN static inline
#define GPU_OUT_OF_LINE static __attribute__((noinline, unused))
#define GPU_UNROLL
#define GPU_ONCE
#define GPU_OPAQUE(x) ((void)(x))

static uint32_t gpu_carry; /* 0 or 1 */

/* the sum's low word; its carry is kept */
GPU_FN uint32_t gpu_carry_sum(uint32_t a, uint32_t b, uint32_t carry)
{
    const uint64_t sum = (uint64_t)a + b + carry;
    gpu_carry = (uint32_t)(sum >> 32);
    return (uint32_t)sum;
}

GPU_FN uint32_t gpu_borrow_difference(uint32_t a, uint32_t b, uint32_t borrow)
{
    const uint64_t difference = (uint64_t)a - b - borrow;
    gpu_carry = (uint32_t)(difference >> 32) & 1;
    return (uint32_t)difference;
}

GPU_FN uint32_t gpu_high_word(uint32_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)a * b >> 32);
}

GPU_FN uint32_t gpu_add_cc(uint32_t a, uint32_t b)
{
    return gpu_carry_sum(a, b, 0);
}

GPU_FN uint32_t gpu_addc_cc(uint32_t a, uint32_t b)
{
    return gpu_carry_sum(a, b, gpu_carry);
}

GPU_FN uint32_t gpu_addc(uint32_t a, uint32_t b)
{
    return a + b + gpu_carry;
}

GPU_FN uint32_t gpu_sub_cc(uint32_t a, uint32_t b)
{
    return gpu_borrow_difference(a, b, 0);
}

GPU_FN uint32_t gpu_subc_cc(uint32_t a, uint32_t b)
{
    return gpu_borrow_difference(a, b, gpu_carry);
}

GPU_FN uint32_t gpu_subc(uint32_t a, uint32_t b)
{
    return a - b - gpu_carry;
}

GPU_FN uint32_t gpu_mad_lo_cc(uint32_t a, uint32_t b, uint32_t c)
{
    return gpu_carry_sum(a * b, c, 0);
}

GPU_FN uint32_t gpu_madc_lo_cc(uint32_t a, uint32_t b, uint32_t c)
{
    return gpu_carry_sum(a * b, c, gpu_carry);
}

GPU_FN uint32_t gpu_madc_hi_cc(uint32_t a, uint32_t b, uint32_t c)
{
    return gpu_carry_sum(gpu_high_word(a, b), c, gpu_carry);
}

GPU_FN uint32_t gpu_madc_hi(uint32_t a, uint32_t b, uint32_t c)
{
    return gpu_high_word(a, b) + c + gpu_carry;
}
#endif

#endif
