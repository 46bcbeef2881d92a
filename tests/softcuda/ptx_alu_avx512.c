/*
 * The operations of ptx_operations.h, compiled with AVX-512, for machines that have it.
 */
#if defined(__x86_64__) && !defined(__clang__)
#pragma GCC target(                                                                                \
    "avx512f,avx512bw,avx512dq,avx512vl,bmi,bmi2,lzcnt,popcnt,prefer-vector-width=512")
#endif
#include "tests/softcuda/ptx_operations.h"
#include "tests/softcuda/ptx_lanes_template.h"
#include "tests/softcuda/ptx_alu32_template.h"
#include "tests/softcuda/ptx_carry_template.h"
#include "tests/softcuda/ptx_alu64_template.h"
#include "tests/softcuda/ptx_compare_template.h"

#define OPERATIONS_TABLE ptx_operations_avx512
#include "tests/softcuda/ptx_table_template.h"
