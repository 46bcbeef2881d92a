/*
 * A prime field for CUDA kernels: included by field_cuda.h, once for Fr and once for Fq (no guard).
 *
 * Wants GPU_FIELD (the name), GPU_WORDS (N, even), GPU_MODULUS (p), GPU_NEGATIVE_INVERSE, GPU_ONE,
 * GPU_R_SQUARED; undefines them. field_cuda.h has the contract.
 *
 * Products a_j b_i of words i + j of the same parity do not overlap, so a row of them is one chain
 * of multiply-adds in an accumulator: `even`, whose word k weighs 2^(32 k), or `odd`, whose word k
 * weighs 2^(32 (k + 1)). (Even and odd accumulators: N. Emmart, C. Weems, "Pushing the performance
 * envelope of modular exponentiation across multiple generations of GPUs", 2015.) In a Montgomery
 * product (Koc, Acar, Kaliski 1996) each row divides by 2^32, which makes odd even and even odd.
 *
 * Bounds, R = 2^(32 N): a row's value even + 2^32 odd stays below 2^32 (A + p), where A is the sum
 * of the left factors; so with A + p <= R no carry leaves `odd`. The result of sum(a b) is below
 * sum(a b) / R + p, so one subtraction makes it canonical where sum(a b) <= p R.
 *   p / R is 0.19 (BN254, both), 0.46 (BLS12-381's Fr), 0.11 (BLS12-381's Fq): in Fq two products
 *   of canonical factors, or one of two factors below 2p, or of one below 2p and one below p, may
 *   be reduced together; in Fr one product of canonical factors.
 */
#ifndef GPU_FIELD_FN
#define GPU_JOIN_(a, b, c) a##_##b##_##c
#define GPU_JOIN(a, b, c) GPU_JOIN_(a, b, c)
#define GPU_FIELD_FN(name) GPU_JOIN(gpu, GPU_FIELD, name)
#define GPU_STRUCT_(field) struct gpu_##field
#define GPU_STRUCT(field) GPU_STRUCT_(field)
#define GPU_ELEMENT GPU_STRUCT(GPU_FIELD)
#endif

/* ---- sums ---- */

/* out = x or x - p, whichever is canonical; x is below 2p */
GPU_FN void GPU_FIELD_FN(reduce_once)(GPU_ELEMENT *out, const uint32_t *x)
{
    const uint32_t p[GPU_WORDS] = GPU_MODULUS;
    uint32_t d[GPU_WORDS];
    d[0] = gpu_sub_cc(x[0], p[0]);
    GPU_UNROLL
    for (int i = 1; i < GPU_WORDS; i++)
        d[i] = gpu_subc_cc(x[i], p[i]);
    const uint32_t borrow = gpu_subc(0, 0);
    GPU_UNROLL
    for (int i = 0; i < GPU_WORDS; i++)
        out->limb[i] = borrow ? x[i] : d[i];
}

/* out = a + b, not reduced */
GPU_FN void GPU_FIELD_FN(add_raw)(uint32_t *out, const uint32_t *a, const uint32_t *b)
{
    out[0] = gpu_add_cc(a[0], b[0]);
    GPU_UNROLL
    for (int i = 1; i + 1 < GPU_WORDS; i++)
        out[i] = gpu_addc_cc(a[i], b[i]);
    out[GPU_WORDS - 1] = gpu_addc(a[GPU_WORDS - 1], b[GPU_WORDS - 1]);
}

/* out = a - b; all ones where that is negative (and 2^(32 N) too much), else 0 */
GPU_FN uint32_t GPU_FIELD_FN(sub_raw)(uint32_t *out, const uint32_t *a, const uint32_t *b)
{
    out[0] = gpu_sub_cc(a[0], b[0]);
    GPU_UNROLL
    for (int i = 1; i < GPU_WORDS; i++)
        out[i] = gpu_subc_cc(a[i], b[i]);
    return gpu_subc(0, 0);
}

/* out += p where mask is all ones */
GPU_FN void GPU_FIELD_FN(add_modulus)(uint32_t *out, uint32_t mask)
{
    const uint32_t p[GPU_WORDS] = GPU_MODULUS;
    out[0] = gpu_add_cc(out[0], p[0] & mask);
    GPU_UNROLL
    for (int i = 1; i + 1 < GPU_WORDS; i++)
        out[i] = gpu_addc_cc(out[i], p[i] & mask);
    out[GPU_WORDS - 1] = gpu_addc(out[GPU_WORDS - 1], p[GPU_WORDS - 1] & mask);
}

GPU_FN void GPU_FIELD_FN(add)(GPU_ELEMENT *out, const GPU_ELEMENT *a, const GPU_ELEMENT *b)
{
    uint32_t sum[GPU_WORDS];
    GPU_FIELD_FN(add_raw)(sum, a->limb, b->limb);
    GPU_FIELD_FN(reduce_once)(out, sum);
}

GPU_FN void GPU_FIELD_FN(sub)(GPU_ELEMENT *out, const GPU_ELEMENT *a, const GPU_ELEMENT *b)
{
    const uint32_t negative = GPU_FIELD_FN(sub_raw)(out->limb, a->limb, b->limb);
    GPU_FIELD_FN(add_modulus)(out->limb, negative);
}

GPU_FN void GPU_FIELD_FN(double)(GPU_ELEMENT *out, const GPU_ELEMENT *a)
{
    GPU_FIELD_FN(add)(out, a, a);
}

GPU_FN void GPU_FIELD_FN(set_zero)(GPU_ELEMENT *out)
{
    GPU_UNROLL
    for (int i = 0; i < GPU_WORDS; i++)
        out->limb[i] = 0;
}

GPU_FN void GPU_FIELD_FN(set_one)(GPU_ELEMENT *out)
{
    const uint32_t one[GPU_WORDS] = GPU_ONE;
    GPU_UNROLL
    for (int i = 0; i < GPU_WORDS; i++)
        out->limb[i] = one[i];
}

GPU_FN int GPU_FIELD_FN(is_zero)(const GPU_ELEMENT *a)
{
    uint32_t any = 0;
    GPU_UNROLL
    for (int i = 0; i < GPU_WORDS; i++)
        any |= a->limb[i];
    return any == 0;
}

GPU_FN int GPU_FIELD_FN(equal)(const GPU_ELEMENT *a, const GPU_ELEMENT *b)
{
    uint32_t any = 0;
    GPU_UNROLL
    for (int i = 0; i < GPU_WORDS; i++)
        any |= a->limb[i] ^ b->limb[i];
    return any == 0;
}

GPU_FN void GPU_FIELD_FN(neg)(GPU_ELEMENT *out, const GPU_ELEMENT *a)
{
    GPU_ELEMENT zero;
    GPU_FIELD_FN(set_zero)(&zero);
    GPU_FIELD_FN(sub)(out, &zero, a);
}

GPU_FN void GPU_FIELD_FN(load)(GPU_ELEMENT *out, const void *global)
{
    gpu_words_load(out->limb, global, GPU_WORDS);
}

GPU_FN void GPU_FIELD_FN(store)(void *global, const GPU_ELEMENT *a)
{
    gpu_words_store(global, a->limb, GPU_WORDS);
}

/* ---- chains ---- */

/* t[k], t[k + 1] += a[k] b for k = 0, 2 ... below `words`; the carry is left to be added */
GPU_FN void GPU_FIELD_FN(chain)(uint32_t *t, const uint32_t *a, uint32_t b, int words)
{
    t[0] = gpu_mad_lo_cc(a[0], b, t[0]);
    t[1] = gpu_madc_hi_cc(a[0], b, t[1]);
    GPU_UNROLL
    for (int k = 2; k < words; k += 2) {
        t[k] = gpu_madc_lo_cc(a[k], b, t[k]);
        t[k + 1] = gpu_madc_hi_cc(a[k], b, t[k + 1]);
    }
}

/* t[k], t[k + 1] = a[k] b */
GPU_FN void GPU_FIELD_FN(products)(uint32_t *t, const uint32_t *a, uint32_t b)
{
    GPU_UNROLL
    for (int k = 0; k < GPU_WORDS; k += 2) {
        const uint64_t wide = (uint64_t)a[k] * b;
        t[k] = (uint32_t)wide;
        t[k + 1] = (uint32_t)(wide >> 32);
    }
}

/* odd = (odd >> 64) + the carry + the products of a[1], a[3] ... by b */
GPU_FN void GPU_FIELD_FN(chain_shifted)(uint32_t *odd, const uint32_t *a, uint32_t b)
{
    GPU_UNROLL
    for (int k = 0; k + 2 < GPU_WORDS; k += 2) {
        odd[k] = gpu_madc_lo_cc(a[k + 1], b, odd[k + 2]);
        odd[k + 1] = gpu_madc_hi_cc(a[k + 1], b, odd[k + 3]);
    }
    odd[GPU_WORDS - 2] = gpu_madc_lo_cc(a[GPU_WORDS - 1], b, 0);
    odd[GPU_WORDS - 1] = gpu_madc_hi(a[GPU_WORDS - 1], b, 0);
}

/* even + 2^32 odd += a b */
GPU_FN void GPU_FIELD_FN(row)(uint32_t *even, uint32_t *odd, const uint32_t *a, uint32_t b)
{
    GPU_FIELD_FN(chain)(odd, a + 1, b, GPU_WORDS);
    GPU_FIELD_FN(chain)(even, a, b, GPU_WORDS);
    odd[GPU_WORDS - 1] = gpu_addc(odd[GPU_WORDS - 1], 0);
}

/*
 * The m that makes low + m p a multiple of 2^32. Where that is -low (BLS12-381's Fr), the compiler
 * may not see it: it would take products by -m for those by m, whose high words do not fit.
 */
GPU_FN uint32_t GPU_FIELD_FN(quotient)(uint32_t low)
{
    uint32_t complement = ~low;
    if (GPU_NEGATIVE_INVERSE != UINT32_MAX)
        return low * GPU_NEGATIVE_INVERSE;
    GPU_OPAQUE(complement);
    return complement + 1;
}

/* adds the multiple of p that makes even[0] zero */
GPU_FN void GPU_FIELD_FN(row_reduce)(uint32_t *even, uint32_t *odd)
{
    const uint32_t p[GPU_WORDS] = GPU_MODULUS;
    GPU_FIELD_FN(row)(even, odd, p, GPU_FIELD_FN(quotient)(even[0]));
}

/* the first row: even + 2^32 odd = a b */
GPU_FN void GPU_FIELD_FN(row_first)(uint32_t *even, uint32_t *odd, const uint32_t *a, uint32_t b)
{
    GPU_FIELD_FN(products)(odd, a + 1, b);
    GPU_FIELD_FN(products)(even, a, b);
}

/* the row after one that was reduced: its `odd` is `even` here, and the other way round */
GPU_FN void GPU_FIELD_FN(row_next)(uint32_t *even, uint32_t *odd, const uint32_t *a, uint32_t b)
{
    even[0] = gpu_add_cc(even[0], odd[1]);
    GPU_FIELD_FN(chain_shifted)(odd, a, b);
    GPU_FIELD_FN(chain)(even, a, b, GPU_WORDS);
    odd[GPU_WORDS - 1] = gpu_addc(odd[GPU_WORDS - 1], 0);
}

/* out = odd + even / 2^32: the quotient after the last row */
GPU_FN void GPU_FIELD_FN(rows_sum)(uint32_t *out, const uint32_t *even, const uint32_t *odd)
{
    out[0] = gpu_add_cc(odd[0], even[1]);
    GPU_UNROLL
    for (int k = 1; k + 1 < GPU_WORDS; k++)
        out[k] = gpu_addc_cc(odd[k], even[k + 1]);
    out[GPU_WORDS - 1] = gpu_addc(odd[GPU_WORDS - 1], 0);
}

/* ---- Montgomery products by rows ---- */

/* out = a b / R; a + p <= R and a b <= p R */
GPU_FN void GPU_FIELD_FN(mul_raw)(GPU_ELEMENT *out, const uint32_t *a, const uint32_t *b)
{
    uint32_t even[GPU_WORDS], odd[GPU_WORDS];
    GPU_FIELD_FN(row_first)(even, odd, a, b[0]);
    GPU_FIELD_FN(row_reduce)(even, odd);
    GPU_UNROLL
    for (int i = 1; i < GPU_WORDS; i += 2) {
        GPU_FIELD_FN(row_next)(odd, even, a, b[i]);
        GPU_FIELD_FN(row_reduce)(odd, even);
        if (i + 1 < GPU_WORDS) {
            GPU_FIELD_FN(row_next)(even, odd, a, b[i + 1]);
            GPU_FIELD_FN(row_reduce)(even, odd);
        }
    }
    GPU_FIELD_FN(rows_sum)(even, odd, even);
    GPU_FIELD_FN(reduce_once)(out, even);
}

GPU_FN void GPU_FIELD_FN(mul)(GPU_ELEMENT *out, const GPU_ELEMENT *a, const GPU_ELEMENT *b)
{
    GPU_FIELD_FN(mul_raw)(out, a->limb, b->limb);
}

/* out = (a b + c d) / R; a + c + p <= R and a b + c d <= p R */
GPU_FN void GPU_FIELD_FN(mul_add_raw)(GPU_ELEMENT *out, const uint32_t *a, const uint32_t *b,
                                      const uint32_t *c, const uint32_t *d)
{
    uint32_t even[GPU_WORDS], odd[GPU_WORDS];
    GPU_FIELD_FN(row_first)(even, odd, a, b[0]);
    GPU_FIELD_FN(row)(even, odd, c, d[0]);
    GPU_FIELD_FN(row_reduce)(even, odd);
    GPU_UNROLL
    for (int i = 1; i < GPU_WORDS; i += 2) {
        GPU_FIELD_FN(row_next)(odd, even, a, b[i]);
        GPU_FIELD_FN(row)(odd, even, c, d[i]);
        GPU_FIELD_FN(row_reduce)(odd, even);
        if (i + 1 < GPU_WORDS) {
            GPU_FIELD_FN(row_next)(even, odd, a, b[i + 1]);
            GPU_FIELD_FN(row)(even, odd, c, d[i + 1]);
            GPU_FIELD_FN(row_reduce)(even, odd);
        }
    }
    GPU_FIELD_FN(rows_sum)(even, odd, even);
    GPU_FIELD_FN(reduce_once)(out, even);
}

/* ---- wide products and their reduction ---- */

/* out (2 N words) = even + 2^32 odd */
GPU_FN void GPU_FIELD_FN(wide_sum)(uint32_t *out, const uint32_t *even, const uint32_t *odd)
{
    out[0] = even[0];
    out[1] = gpu_add_cc(even[1], odd[0]);
    GPU_UNROLL
    for (int k = 2; k + 1 < 2 * GPU_WORDS; k++)
        out[k] = gpu_addc_cc(even[k], odd[k - 1]);
    out[2 * GPU_WORDS - 1] = gpu_addc(even[2 * GPU_WORDS - 1], odd[2 * GPU_WORDS - 2]);
}

/*
 * out (2 N words) = a b. An even row's chain in `odd`, and an odd row's in `even`, ends in a pair
 * of words that held a carry at most: it leaves none.
 */
GPU_FN void GPU_FIELD_FN(wide_mul)(uint32_t *out, const uint32_t *a, const uint32_t *b)
{
    uint32_t even[2 * GPU_WORDS] = {0}, odd[2 * GPU_WORDS] = {0};
    GPU_FIELD_FN(products)(even, a, b[0]);
    GPU_FIELD_FN(products)(odd, a + 1, b[0]);
    GPU_UNROLL
    for (int i = 1; i < GPU_WORDS; i += 2) {
        GPU_FIELD_FN(chain)(even + i + 1, a + 1, b[i], GPU_WORDS);
        GPU_FIELD_FN(chain)(odd + i - 1, a, b[i], GPU_WORDS);
        odd[i - 1 + GPU_WORDS] = gpu_addc(0, 0);
        if (i + 1 < GPU_WORDS) {
            GPU_FIELD_FN(chain)(odd + i + 1, a + 1, b[i + 1], GPU_WORDS);
            GPU_FIELD_FN(chain)(even + i + 1, a, b[i + 1], GPU_WORDS);
            even[i + 1 + GPU_WORDS] = gpu_addc(0, 0);
        }
    }
    GPU_FIELD_FN(wide_sum)(out, even, odd);
}

/* the products a_i a_j, i < j, of a square: in chains as above, with the same words free of carries
 */
GPU_FN void GPU_FIELD_FN(wide_cross)(uint32_t *even, uint32_t *odd, const uint32_t *a)
{
    GPU_UNROLL
    for (int i = 0; i + 1 < GPU_WORDS; i++) {
        const int reach = GPU_WORDS - 1 - i; /* so many a_j are left */
        GPU_FIELD_FN(chain)(odd + 2 * i, a + i + 1, a[i], reach);
        if (i % 2)
            odd[i - 1 + GPU_WORDS] = gpu_addc(0, 0);
        if (reach < 2)
            continue;
        GPU_FIELD_FN(chain)(even + 2 * i + 2, a + i + 2, a[i], reach - 1);
        if (i % 2 == 0)
            even[i + GPU_WORDS] = gpu_addc(0, 0);
    }
}

/* out (2 N words) = a^2: twice the cross products and the squares of words */
GPU_FN void GPU_FIELD_FN(wide_square)(uint32_t *out, const uint32_t *a)
{
    uint32_t even[2 * GPU_WORDS] = {0}, odd[2 * GPU_WORDS] = {0}, cross[2 * GPU_WORDS];
    GPU_FIELD_FN(wide_cross)(even, odd, a);
    GPU_FIELD_FN(wide_sum)(cross, even, odd);
    out[0] = 0;
    GPU_UNROLL
    for (int k = 1; k < 2 * GPU_WORDS; k++)
        out[k] = cross[k] << 1 | cross[k - 1] >> 31;
    out[0] = gpu_mad_lo_cc(a[0], a[0], 0);
    out[1] = gpu_madc_hi_cc(a[0], a[0], out[1]);
    GPU_UNROLL
    for (int i = 1; i < GPU_WORDS; i++) {
        out[2 * i] = gpu_madc_lo_cc(a[i], a[i], out[2 * i]);
        out[2 * i + 1] = gpu_madc_hi_cc(a[i], a[i], out[2 * i + 1]);
    }
}

/* a row that only reduces, after one that was reduced: roles change as in row_next */
GPU_FN void GPU_FIELD_FN(row_fold)(uint32_t *even, uint32_t *odd)
{
    const uint32_t p[GPU_WORDS] = GPU_MODULUS;
    even[0] = gpu_add_cc(even[0], odd[1]);
    const uint32_t m = GPU_FIELD_FN(quotient)(even[0]);
    GPU_FIELD_FN(chain_shifted)(odd, p, m);
    GPU_FIELD_FN(chain)(even, p, m, GPU_WORDS);
    odd[GPU_WORDS - 1] = gpu_addc(odd[GPU_WORDS - 1], 0);
}

/* out = t / R, t of 2 N words and at most p R: its lower half by rows, then its upper half added */
GPU_FN void GPU_FIELD_FN(wide_reduce)(GPU_ELEMENT *out, const uint32_t *t)
{
    const uint32_t p[GPU_WORDS] = GPU_MODULUS;
    uint32_t even[GPU_WORDS], odd[GPU_WORDS];
    GPU_UNROLL
    for (int k = 0; k < GPU_WORDS; k++)
        even[k] = t[k];
    const uint32_t m = GPU_FIELD_FN(quotient)(even[0]);
    GPU_FIELD_FN(products)(odd, p + 1, m);
    GPU_FIELD_FN(chain)(even, p, m, GPU_WORDS);
    odd[GPU_WORDS - 1] = gpu_addc(odd[GPU_WORDS - 1], 0);
    GPU_UNROLL
    for (int i = 1; i < GPU_WORDS; i += 2) {
        GPU_FIELD_FN(row_fold)(odd, even);
        if (i + 1 < GPU_WORDS)
            GPU_FIELD_FN(row_fold)(even, odd);
    }
    GPU_FIELD_FN(rows_sum)(even, odd, even);
    GPU_FIELD_FN(add_raw)(even, even, t + GPU_WORDS);
    GPU_FIELD_FN(reduce_once)(out, even);
}

GPU_FN void GPU_FIELD_FN(square)(GPU_ELEMENT *out, const GPU_ELEMENT *a)
{
    uint32_t wide[2 * GPU_WORDS];
    GPU_FIELD_FN(wide_square)(wide, a->limb);
    GPU_FIELD_FN(wide_reduce)(out, wide);
}

/* ---- forms ---- */

GPU_FN void GPU_FIELD_FN(to_montgomery)(GPU_ELEMENT *out, const GPU_ELEMENT *a)
{
    const uint32_t r_squared[GPU_WORDS] = GPU_R_SQUARED;
    GPU_FIELD_FN(mul_raw)(out, a->limb, r_squared);
}

GPU_FN void GPU_FIELD_FN(from_montgomery)(GPU_ELEMENT *out, const GPU_ELEMENT *a)
{
    uint32_t wide[2 * GPU_WORDS] = {0};
    GPU_UNROLL
    for (int i = 0; i < GPU_WORDS; i++)
        wide[i] = a->limb[i];
    GPU_FIELD_FN(wide_reduce)(out, wide);
}

#undef GPU_FIELD
#undef GPU_WORDS
#undef GPU_MODULUS
#undef GPU_NEGATIVE_INVERSE
#undef GPU_ONE
#undef GPU_R_SQUARED
