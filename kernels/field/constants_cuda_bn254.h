/*
 * Constants of bn254 for CUDA kernels, written by constants.py: do not edit.
 * Words of 32 bits, the lowest first; elements in Montgomery form. Included by field_cuda.h.
 */
/* clang-format off */
#ifndef PAWL_KERNELS_FIELD_CONSTANTS_CUDA_BN254_H
#define PAWL_KERNELS_FIELD_CONSTANTS_CUDA_BN254_H

#define GPU_FR_WORDS 8
#define GPU_FR_NEGATIVE_INVERSE 0xefffffffu /* -p^-1 mod 2^32 */
/* p */
#define GPU_FR_MODULUS \
    {0xf0000001u, 0x43e1f593u, 0x79b97091u, 0x2833e848u, 0x8181585du, 0xb85045b6u, \
     0xe131a029u, 0x30644e72u}
/* R mod p, R = 2^256 */
#define GPU_FR_ONE \
    {0x4ffffffbu, 0xac96341cu, 0x9f60cd29u, 0x36fc7695u, 0x7879462eu, 0x666ea36fu, \
     0x9a07df2fu, 0x0e0a77c1u}
/* R^2 mod p */
#define GPU_FR_R_SQUARED \
    {0xae216da7u, 0x1bb8e645u, 0xe35c59e3u, 0x53fe3ab1u, 0x53bb8085u, 0x8c49833du, \
     0x7f4e44a5u, 0x0216d0b1u}
/* 1/2 */
#define GPU_FR_TWO_INVERSE \
    {0x1ffffffeu, 0x783c14d8u, 0x0c8d1eddu, 0xaf982f6fu, 0xfcfd4f45u, 0x8f5f7492u, \
     0x3d9cbfacu, 0x1f37631au}
#define GPU_FR_TWO_ADICITY 28
/* 5^((r - 1) / 2^GPU_FR_TWO_ADICITY), of order 2^GPU_FR_TWO_ADICITY */
#define GPU_FR_ROOT \
    {0x80d13d9cu, 0x636e7355u, 0x2445ffd6u, 0xa22bf374u, 0x1eb203d8u, 0x56452ac0u, \
     0x2963f9e7u, 0x1860ef94u}

#define GPU_FQ_WORDS 8
#define GPU_FQ_NEGATIVE_INVERSE 0xe4866389u /* -p^-1 mod 2^32 */
/* p */
#define GPU_FQ_MODULUS \
    {0xd87cfd47u, 0x3c208c16u, 0x6871ca8du, 0x97816a91u, 0x8181585du, 0xb85045b6u, \
     0xe131a029u, 0x30644e72u}
/* R mod p, R = 2^256 */
#define GPU_FQ_ONE \
    {0xc58f0d9du, 0xd35d438du, 0xf5c70b3du, 0x0a78eb28u, 0x7879462cu, 0x666ea36fu, \
     0x9a07df2fu, 0x0e0a77c1u}
/* R^2 mod p */
#define GPU_FQ_R_SQUARED \
    {0x538afa89u, 0xf32cfc5bu, 0xd44501fbu, 0xb5e71911u, 0x0a417ff6u, 0x47ab1effu, \
     0xcab8351fu, 0x06d89f71u}
/* 1/2 */
#define GPU_FQ_TWO_INVERSE \
    {0x4f060572u, 0x87bee7d2u, 0x2f1c6ae5u, 0xd0fd2addu, 0xfcfd4f44u, 0x8f5f7492u, \
     0x3d9cbfacu, 0x1f37631au}

#endif
/* clang-format on */
