/*
 * How an instruction goes over the lanes: all 32 in a loop that the compiler makes vector
 * instructions of, or only the active ones. Included by ptx_alu_*.c, which are compiled for
 * different machines; everything here is static.
 */
#include "tests/softcuda/ptx_warp.h"

#if defined(__clang__)
#define PTX_VECTOR_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define PTX_VECTOR_LOOP _Pragma("GCC ivdep")
#endif

#define EACH_LANE(...)                                                                             \
    do {                                                                                           \
        const uint32_t active = warp->active;                                                      \
        if (active == PTX_ALL_LANES) {                                                             \
            PTX_VECTOR_LOOP for (unsigned l = 0; l < PTX_LANES; l++)                               \
            {                                                                                      \
                __VA_ARGS__;                                                                       \
            }                                                                                      \
        } else {                                                                                   \
            PTX_VECTOR_LOOP for (unsigned l = 0; l < PTX_LANES; l++) if (active >> l & 1)          \
            {                                                                                      \
                __VA_ARGS__;                                                                       \
            }                                                                                      \
        }                                                                                          \
    } while (0)

#define OPERATION(name) static void name(struct ptx_warp *warp, const struct ptx_code *code)

#define OPERAND(type, n) ((type *)ptx_vector(warp, code->operand[n]))

/* d = f(a), f(a, b), f(a, b, c): T is the type of the destination's vector, A, B, C the sources'.
 */
#define UNARY(name, T, A, ...)                                                                     \
    OPERATION(name)                                                                                \
    {                                                                                              \
        T *d = OPERAND(T, 0);                                                                      \
        const A *a = OPERAND(A, 1);                                                                \
        EACH_LANE(d[l] = (T)(__VA_ARGS__));                                                        \
    }
#define BINARY(name, T, A, B, ...)                                                                 \
    OPERATION(name)                                                                                \
    {                                                                                              \
        T *d = OPERAND(T, 0);                                                                      \
        const A *a = OPERAND(A, 1);                                                                \
        const B *b = OPERAND(B, 2);                                                                \
        EACH_LANE(d[l] = (T)(__VA_ARGS__));                                                        \
    }
#define TERNARY(name, T, A, B, C, ...)                                                             \
    OPERATION(name)                                                                                \
    {                                                                                              \
        T *d = OPERAND(T, 0);                                                                      \
        const A *a = OPERAND(A, 1);                                                                \
        const B *b = OPERAND(B, 2);                                                                \
        const C *c = OPERAND(C, 3);                                                                \
        EACH_LANE(d[l] = (T)(__VA_ARGS__));                                                        \
    }
