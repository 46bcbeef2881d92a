/*
 * One prime field's samples: included by field_samples_cuda.h once for Fr and once for Fq (so no
 * guard). Wants FIELD and FIELD_LIMBS; undefines them.
 */

/* Edges: 0, 1, p - 1, halves, powers of two less one, R mod p; then words of zeros, ones, or any.
 */
static void FIELD_FN(sample)(FIELD_TYPE *out, uint64_t *seed, unsigned i)
{
    const FIELD_TYPE one = {{1}};
    memset(out, 0, sizeof(*out));
    if (i == 1)
        *out = one;
    else if (i == 2)
        FIELD_FN(neg)(out, &one);
    else if (i == 3)
        FIELD_FN(from_montgomery)(out, &FIELD_FN(two_inverse));
    else if (i == 4)
        *out = FIELD_FN(one);
    else if (i == 5)
        *out = FIELD_FN(r_squared);
    else if (i > 5 && i < SAMPLE_EDGES)
        sample_ones(out->word, i * 64 * FIELD_LIMBS / SAMPLE_EDGES);
    while (i >= SAMPLE_EDGES || !FIELD_FN(is_canonical)(out->word)) {
        sample_words(out->word, FIELD_LIMBS, seed);
        out->word[FIELD_LIMBS - 1] %= FIELD_FN(modulus)[FIELD_LIMBS - 1] + 1;
        i = 0;
    }
}

#undef FIELD
#undef FIELD_LIMBS
