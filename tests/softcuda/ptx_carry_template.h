/*
 * Extended precision: what ends in .cc writes the lane's carry flag, what begins with addc, subc or
 * madc reads it; after sub.cc the flag is the borrow (PTX ISA, "Extended-Precision Integer
 * Arithmetic Instructions"). The product's low or high half and the addition are two steps, each of
 * which may carry, but not both. Included by ptx_alu_*.c.
 */
/* d = x + y; NAME.cc, NAMEc.cc and NAMEc, T wide */
#define WITH_CARRY(name, T, LOADS, x, y)                                                           \
    OPERATION(name##_cc)                                                                           \
    {                                                                                              \
        uint32_t *carry = warp->carry;                                                             \
        T *d = OPERAND(T, 0);                                                                      \
        LOADS;                                                                                     \
        EACH_LANE(const T left = (x); const T sum = left + (y); carry[l] = sum < left;             \
                  d[l] = sum);                                                                     \
    }                                                                                              \
    OPERATION(name##c_cc)                                                                          \
    {                                                                                              \
        uint32_t *carry = warp->carry;                                                             \
        T *d = OPERAND(T, 0);                                                                      \
        LOADS;                                                                                     \
        EACH_LANE(const T left = (x); const T sum = left + (y); const T all = sum + carry[l];      \
                  carry[l] = (sum < left) | (all < sum); d[l] = all);                              \
    }                                                                                              \
    OPERATION(name##c)                                                                             \
    {                                                                                              \
        const uint32_t *carry = warp->carry;                                                       \
        T *d = OPERAND(T, 0);                                                                      \
        LOADS;                                                                                     \
        EACH_LANE(d[l] = (x) + (y) + carry[l]);                                                    \
    }
#define LOAD2(T) const T *a = OPERAND(T, 1), *b = OPERAND(T, 2)
#define LOAD3(T) const T *a = OPERAND(T, 1), *b = OPERAND(T, 2), *c = OPERAND(T, 3)

WITH_CARRY(add32, uint32_t, LOAD2(uint32_t), a[l], b[l])
WITH_CARRY(mad_lo32, uint32_t, LOAD3(uint32_t), a[l] * b[l], c[l])
WITH_CARRY(mad_hi_u32, uint32_t, LOAD3(uint32_t), (uint32_t)((uint64_t)a[l] * b[l] >> 32), c[l])
WITH_CARRY(add64, uint64_t, LOAD2(uint64_t), a[l], b[l])
WITH_CARRY(mad_lo64, uint64_t, LOAD3(uint64_t), a[l] * b[l], c[l])
WITH_CARRY(mad_hi_u64, uint64_t, LOAD3(uint64_t), (uint64_t)((unsigned __int128)a[l] * b[l] >> 64),
           c[l])

#define WITH_BORROW(name, T)                                                                       \
    OPERATION(name##_cc)                                                                           \
    {                                                                                              \
        uint32_t *carry = warp->carry;                                                             \
        T *d = OPERAND(T, 0);                                                                      \
        LOAD2(T);                                                                                  \
        EACH_LANE(const T left = a[l]; const T right = b[l]; carry[l] = left < right;              \
                  d[l] = left - right);                                                            \
    }                                                                                              \
    OPERATION(name##c_cc)                                                                          \
    {                                                                                              \
        uint32_t *carry = warp->carry;                                                             \
        T *d = OPERAND(T, 0);                                                                      \
        LOAD2(T);                                                                                  \
        EACH_LANE(const T left = a[l]; const T right = b[l]; const T difference = left - right;    \
                  const T borrow = carry[l]; carry[l] = (left < right) | (difference < borrow);    \
                  d[l] = difference - borrow);                                                     \
    }                                                                                              \
    OPERATION(name##c)                                                                             \
    {                                                                                              \
        const uint32_t *carry = warp->carry;                                                       \
        T *d = OPERAND(T, 0);                                                                      \
        LOAD2(T);                                                                                  \
        EACH_LANE(d[l] = a[l] - b[l] - carry[l]);                                                  \
    }
WITH_BORROW(sub32, uint32_t)
WITH_BORROW(sub64, uint64_t)
