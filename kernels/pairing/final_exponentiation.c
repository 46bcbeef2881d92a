/*
 * The final exponentiation: from a Miller value to the group of r-th roots of unity. Called by
 * pairing.c and verify.c.
 *
 * (q^12 - 1)/r = (q^6 - 1)(q^2 + 1) * (q^4 - q^2 + 1)/r. The first two factors are Frobenius maps
 * and one inversion; after them a is in the cyclotomic subgroup, where the inverse is the conjugate
 * and squarings are cheap. What remains is taken to a multiple that both curves' seed x makes
 * short (and that snarkjs takes too, so that e(alpha, beta) is what it prints):
 *
 * BN254 (Fuentes-Castaneda, Knapp, Rodriguez-Henriquez 2011), times 2x(6x^2 + 3x + 1):
 *     (1 + 6x + 12x^2 + 12x^3) + (4x + 6x^2 + 12x^3) q + (6x + 6x^2 + 12x^3) q^2
 *     + (-1 + 4x + 6x^2 + 12x^3) q^3
 * BLS12-381 (Hayashida, Hayasaka, Teruya 2020), times 3:
 *     (x - 1)^2 (x + q)(x^2 + q^2 - 1) + 3
 *
 * constants.py asserts both.
 */
#include "kernels/pairing/miller.h"

/* The value of the odd window of at most three bits that begins at the set bit `top`, and in *low
 * its lowest bit. */
static unsigned window_at(int top, int *low)
{
    *low = top > 2 ? top - 2 : 0;
    while (!(PAIRING_X >> *low & 1))
        ++*low;
    return (unsigned)(PAIRING_X >> *low & ((2ULL << (top - *low)) - 1));
}

/*
 * out = a^|x| in the cyclotomic subgroup, by a sliding window over `count` odd powers of a. BN254's
 * seed has 28 ones and takes 20 products so; BLS12-381's has 6, too few for more than a itself.
 */
static void power_seed(struct fq12 *out, const struct fq12 *odd, int count)
{
    fq12_set_one(out);
    int started = 0;
    for (int bit = 63 - __builtin_clzll(PAIRING_X), low; bit >= 0; bit = low - 1) {
        unsigned value = 0;
        low = bit;
        if (PAIRING_X >> bit & 1)
            value = count > 1 ? window_at(bit, &low) : 1;
        for (int i = bit; i >= low && started; i--)
            fq12_cyclotomic_square(out, out);
        if (value && started)
            fq12_mul(out, out, &odd[value / 2]);
        else if (value)
            *out = odd[value / 2];
        started = 1;
    }
}

/* out = a^x in the cyclotomic subgroup; x is the curve's seed with its sign. */
static void power_x(struct fq12 *out, const struct fq12 *a)
{
    struct fq12 odd[4] = {*a}, square;
    int count = CURVE_NUMBER == CURVE_BN254 ? 4 : 1;
    if (count > 1)
        fq12_cyclotomic_square(&square, a);
    for (int i = 1; i < count; i++)
        fq12_mul(&odd[i], &odd[i - 1], &square);
    power_seed(out, odd, count);
    if (PAIRING_X_NEGATIVE)
        fq12_conjugate(out, out);
}

/* out = a^((q^6 - 1)(q^2 + 1)) */
static void easy_part(struct fq12 *out, const struct fq12 *a)
{
    struct fq12 t, u;
    fq12_inverse(&t, a);
    fq12_conjugate(&u, a);
    fq12_mul(&u, &u, &t);
    fq12_frobenius(&t, &u, 2);
    fq12_mul(out, &t, &u);
}

#if CURVE_NUMBER == 1

static void hard_part(struct fq12 *out, const struct fq12 *a)
{
    struct fq12 x2, x6, xx6, sum, four, term, inverse;
    power_x(&x2, a);
    fq12_cyclotomic_square(&x2, &x2); /* 2x */
    fq12_cyclotomic_square(&x6, &x2);
    fq12_mul(&x6, &x6, &x2); /* 6x */
    power_x(&xx6, &x6);      /* 6x^2 */
    fq12_cyclotomic_square(&sum, &xx6);
    power_x(&sum, &sum); /* 12x^3 */
    fq12_mul(&sum, &sum, &xx6);
    fq12_mul(&sum, &sum, &x6); /* 6x + 6x^2 + 12x^3 */
    fq12_conjugate(&inverse, &x2);
    fq12_mul(&four, &sum, &inverse); /* 4x + 6x^2 + 12x^3 */
    fq12_conjugate(&inverse, a);
    fq12_mul(&term, &four, &inverse);
    fq12_frobenius(&term, &term, 3);
    fq12_frobenius(&four, &four, 1);
    fq12_mul(&term, &term, &four);
    fq12_mul(&four, &sum, &xx6);
    fq12_mul(&four, &four, a); /* 1 + 6x + 12x^2 + 12x^3 */
    fq12_mul(&term, &term, &four);
    fq12_frobenius(&sum, &sum, 2);
    fq12_mul(out, &term, &sum);
}

#else

/* out = a^(x - 1) */
static void power_x_minus_one(struct fq12 *out, const struct fq12 *a)
{
    struct fq12 t, inverse;
    power_x(&t, a);
    fq12_conjugate(&inverse, a);
    fq12_mul(out, &t, &inverse);
}

static void hard_part(struct fq12 *out, const struct fq12 *a)
{
    struct fq12 f, t, u;
    power_x_minus_one(&f, a);
    power_x_minus_one(&f, &f);
    power_x(&t, &f);
    fq12_frobenius(&u, &f, 1);
    fq12_mul(&f, &t, &u); /* (x - 1)^2 (x + q) */
    power_x(&t, &f);
    power_x(&t, &t);
    fq12_frobenius(&u, &f, 2);
    fq12_mul(&t, &t, &u);
    fq12_conjugate(&u, &f);
    fq12_mul(&f, &t, &u); /* ... (x^2 + q^2 - 1) */
    fq12_cyclotomic_square(&t, a);
    fq12_mul(&t, &t, a);
    fq12_mul(out, &f, &t);
}

#endif

void CURVE_FN(final_exponentiation)(struct fq12 *out, const struct fq12 *a)
{
    struct fq12 t;
    easy_part(&t, a);
    hard_part(out, &t);
}
