/*
 * Constants of bls12381 for CUDA kernels, written by constants.py: do not edit.
 * Words of 32 bits, the lowest first; elements in Montgomery form. Included by field_cuda.h.
 */
/* clang-format off */
#ifndef PAWL_KERNELS_FIELD_CONSTANTS_CUDA_BLS12381_H
#define PAWL_KERNELS_FIELD_CONSTANTS_CUDA_BLS12381_H

#define GPU_FR_WORDS 8
#define GPU_FR_NEGATIVE_INVERSE 0xffffffffu /* -p^-1 mod 2^32 */
/* p */
#define GPU_FR_MODULUS \
    {0x00000001u, 0xffffffffu, 0xfffe5bfeu, 0x53bda402u, 0x09a1d805u, 0x3339d808u, \
     0x299d7d48u, 0x73eda753u}
/* R mod p, R = 2^256 */
#define GPU_FR_ONE \
    {0xfffffffeu, 0x00000001u, 0x00034802u, 0x5884b7fau, 0xecbc4ff5u, 0x998c4fefu, \
     0xacc5056fu, 0x1824b159u}
/* R^2 mod p */
#define GPU_FR_R_SQUARED \
    {0xf3f29c6du, 0xc999e990u, 0x87925c23u, 0x2b6cedcbu, 0x7254398fu, 0x05d31496u, \
     0x9f59ff11u, 0x0748d9d9u}
/* 1/2 */
#define GPU_FR_TWO_INVERSE \
    {0xffffffffu, 0x00000000u, 0x0001a401u, 0xac425bfdu, 0xf65e27fau, 0xccc627f7u, \
     0xd66282b7u, 0x0c1258acu}
#define GPU_FR_TWO_ADICITY 32
/* 5^((r - 1) / 2^GPU_FR_TWO_ADICITY), of order 2^GPU_FR_TWO_ADICITY */
#define GPU_FR_ROOT \
    {0x0c17f47cu, 0x9cab6d5cu, 0xfd4b71e5u, 0x1ce1e93du, 0x471dd505u, 0x0d6db230u, \
     0x743a3b6au, 0x3f0ee990u}

#define GPU_FQ_WORDS 12
#define GPU_FQ_NEGATIVE_INVERSE 0xfffcfffdu /* -p^-1 mod 2^32 */
/* p */
#define GPU_FQ_MODULUS \
    {0xffffaaabu, 0xb9feffffu, 0xb153ffffu, 0x1eabfffeu, 0xf6b0f624u, 0x6730d2a0u, \
     0xf38512bfu, 0x64774b84u, 0x434bacd7u, 0x4b1ba7b6u, 0x397fe69au, 0x1a0111eau}
/* R mod p, R = 2^384 */
#define GPU_FQ_ONE \
    {0x0002fffdu, 0x76090000u, 0xc40c0002u, 0xebf4000bu, 0x53c758bau, 0x5f489857u, \
     0x70525745u, 0x77ce5853u, 0xa256ec6du, 0x5c071a97u, 0xfa80e493u, 0x15f65ec3u}
/* R^2 mod p */
#define GPU_FQ_R_SQUARED \
    {0x1c341746u, 0xf4df1f34u, 0x09d104f1u, 0x0a76e6a6u, 0x4c95b6d5u, 0x8de5476cu, \
     0x939d83c0u, 0x67eb88a9u, 0xb519952du, 0x9a793e85u, 0x92cae3aau, 0x11988fe5u}
/* 1/2 */
#define GPU_FQ_TWO_INVERSE \
    {0x00015554u, 0x18040000u, 0x3ab00001u, 0x85500005u, 0x253c276fu, 0x633cb57cu, \
     0x31ebb502u, 0x6e22d1ecu, 0xf2d14ca2u, 0xd3916126u, 0x1a006596u, 0x17fbb857u}

#endif
/* clang-format on */
