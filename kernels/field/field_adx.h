/*
 * The Montgomery product for x86-64 with MULX, ADCX and ADOX: included by field_template.h for each
 * prime field of the forms adx and ifma (so no guard), whose rounds these are.
 *
 * Two chains of carries run side by side, one in CF and one in OF: the low halves of a row of
 * partial products and the high halves one word further up. MULX leaves both alone. Operands are
 * words in registers and the modulus in memory, so no register is spent on it.
 */

/*
 * A round: t += multiplicand * multiplier (one word), then t += m p, which makes t0 zero: the next
 * round takes the words one further on, with t0 as its top. `inverse` is -p^-1 mod 2^64.
 */
/* clang-format off */
#define ADX_STEP(low_chain, high_chain, factor, low_to, high_to)                                 \
    "mulxq " factor ", %[low], %[high]\n\t"                                                      \
    low_chain " %[low], " low_to "\n\t"                                                          \
    high_chain " %[high], " high_to "\n\t"
#define ADX_CLEAR "xorl %k[low], %k[low]\n\t" /* and both carries */
#if FIELD_LIMBS == 4
#define ADX_ROUND(t0, t1, t2, t3, t4, multiplicand, multiplier)                                  \
    __asm__("movq %[factor], %%rdx\n\t"                                                          \
            ADX_CLEAR                                                                            \
            ADX_STEP("adoxq", "adcxq", "0(%[from])", "%[s0]", "%[s1]")                           \
            ADX_STEP("adoxq", "adcxq", "8(%[from])", "%[s1]", "%[s2]")                           \
            ADX_STEP("adoxq", "adcxq", "16(%[from])", "%[s2]", "%[s3]")                          \
            ADX_STEP("adoxq", "adcxq", "24(%[from])", "%[s3]", "%[s4]")                          \
            "movl $0, %k[low]\n\t"                                                               \
            "adoxq %[low], %[s4]\n\t"                                                            \
            "movq %[s0], %%rdx\n\t"                                                              \
            "imulq %[inverse], %%rdx\n\t"                                                        \
            ADX_CLEAR                                                                            \
            ADX_STEP("adcxq", "adoxq", "%[p0]", "%[s0]", "%[s1]")                                \
            ADX_STEP("adcxq", "adoxq", "%[p1]", "%[s1]", "%[s2]")                                \
            ADX_STEP("adcxq", "adoxq", "%[p2]", "%[s2]", "%[s3]")                                \
            ADX_STEP("adcxq", "adoxq", "%[p3]", "%[s3]", "%[s4]")                                \
            "movl $0, %k[low]\n\t"                                                               \
            "adcxq %[low], %[s4]\n\t"                                                            \
            : [s0] "+&r"(t0), [s1] "+&r"(t1), [s2] "+&r"(t2), [s3] "+&r"(t3),                    \
              [s4] "+&r"(t4), [low] "=&r"(low), [high] "=&r"(high)                               \
            : [from] "r"(multiplicand), "m"(*(const uint64_t(*)[FIELD_LIMBS])(multiplicand)),    \
              [factor] "m"(multiplier), [inverse] "m"(inverse),                                  \
              [p0] "m"(FIELD_FN(modulus)[0]), [p1] "m"(FIELD_FN(modulus)[1]),                    \
              [p2] "m"(FIELD_FN(modulus)[2]), [p3] "m"(FIELD_FN(modulus)[3])                     \
            : "rdx", "cc")
#else
#define ADX_ROUND(t0, t1, t2, t3, t4, t5, t6, multiplicand, multiplier)                          \
    __asm__("movq %[factor], %%rdx\n\t"                                                          \
            ADX_CLEAR                                                                            \
            ADX_STEP("adoxq", "adcxq", "0(%[from])", "%[s0]", "%[s1]")                           \
            ADX_STEP("adoxq", "adcxq", "8(%[from])", "%[s1]", "%[s2]")                           \
            ADX_STEP("adoxq", "adcxq", "16(%[from])", "%[s2]", "%[s3]")                          \
            ADX_STEP("adoxq", "adcxq", "24(%[from])", "%[s3]", "%[s4]")                          \
            ADX_STEP("adoxq", "adcxq", "32(%[from])", "%[s4]", "%[s5]")                          \
            ADX_STEP("adoxq", "adcxq", "40(%[from])", "%[s5]", "%[s6]")                          \
            "movl $0, %k[low]\n\t"                                                               \
            "adoxq %[low], %[s6]\n\t"                                                            \
            "movq %[s0], %%rdx\n\t"                                                              \
            "imulq %[inverse], %%rdx\n\t"                                                        \
            ADX_CLEAR                                                                            \
            ADX_STEP("adcxq", "adoxq", "%[p0]", "%[s0]", "%[s1]")                                \
            ADX_STEP("adcxq", "adoxq", "%[p1]", "%[s1]", "%[s2]")                                \
            ADX_STEP("adcxq", "adoxq", "%[p2]", "%[s2]", "%[s3]")                                \
            ADX_STEP("adcxq", "adoxq", "%[p3]", "%[s3]", "%[s4]")                                \
            ADX_STEP("adcxq", "adoxq", "%[p4]", "%[s4]", "%[s5]")                                \
            ADX_STEP("adcxq", "adoxq", "%[p5]", "%[s5]", "%[s6]")                                \
            "movl $0, %k[low]\n\t"                                                               \
            "adcxq %[low], %[s6]\n\t"                                                            \
            : [s0] "+&r"(t0), [s1] "+&r"(t1), [s2] "+&r"(t2), [s3] "+&r"(t3),                    \
              [s4] "+&r"(t4), [s5] "+&r"(t5), [s6] "+&r"(t6), [low] "=&r"(low), [high] "=&r"(high)\
            : [from] "r"(multiplicand), "m"(*(const uint64_t(*)[FIELD_LIMBS])(multiplicand)),    \
              [factor] "m"(multiplier), [inverse] "m"(inverse),                                  \
              [p0] "m"(FIELD_FN(modulus)[0]), [p1] "m"(FIELD_FN(modulus)[1]),                    \
              [p2] "m"(FIELD_FN(modulus)[2]), [p3] "m"(FIELD_FN(modulus)[3]),                    \
              [p4] "m"(FIELD_FN(modulus)[4]), [p5] "m"(FIELD_FN(modulus)[5])                     \
            : "rdx", "cc")
#endif
/* clang-format on */

/* out = a * b / R mod p */
FIELD_INLINE void FIELD_FN(mul)(FIELD_TYPE *out, const FIELD_TYPE *a, const FIELD_TYPE *b)
{
    static const uint64_t inverse = FIELD_NEGATIVE_INVERSE;
    uint64_t t0 = 0, t1 = 0, t2 = 0, t3 = 0, t4 = 0, low, high;
#if FIELD_LIMBS == 4
    ADX_ROUND(t0, t1, t2, t3, t4, a->word, b->word[0]);
    ADX_ROUND(t1, t2, t3, t4, t0, a->word, b->word[1]);
    ADX_ROUND(t2, t3, t4, t0, t1, a->word, b->word[2]);
    ADX_ROUND(t3, t4, t0, t1, t2, a->word, b->word[3]);
    const uint64_t t[FIELD_LIMBS] = {t4, t0, t1, t2};
#else
    uint64_t t5 = 0, t6 = 0;
    ADX_ROUND(t0, t1, t2, t3, t4, t5, t6, a->word, b->word[0]);
    ADX_ROUND(t1, t2, t3, t4, t5, t6, t0, a->word, b->word[1]);
    ADX_ROUND(t2, t3, t4, t5, t6, t0, t1, a->word, b->word[2]);
    ADX_ROUND(t3, t4, t5, t6, t0, t1, t2, a->word, b->word[3]);
    ADX_ROUND(t4, t5, t6, t0, t1, t2, t3, a->word, b->word[4]);
    ADX_ROUND(t5, t6, t0, t1, t2, t3, t4, a->word, b->word[5]);
    const uint64_t t[FIELD_LIMBS] = {t6, t0, t1, t2, t3, t4};
#endif
    FIELD_FN(reduce_once)(out, t);
}

#undef ADX_STEP
#undef ADX_CLEAR
#undef ADX_ROUND
