/*
 * Products with known constants in eight lanes (ntt/shoup_ifma.h) at the edges of their bounds,
 * against the portable field. A test program of one curve is this file behind its PAWL_CURVE; the
 * Makefile compiles it with AVX-512's flags. No state.
 */
#include "kernels/ntt/shoup_ifma.h"
#include "tests/support/forms.h"
#include "tests/support/scalars.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

enum { LANES = 8, ROUNDS = 2000, LIFTS = 16 };

static void draw(struct fr *out, uint64_t *state)
{
    do {
        for (int i = 0; i < FR_LIMBS; i++)
            out->word[i] = random_next(state) >> (i == FR_LIMBS - 1);
    } while (!fr_is_canonical(out->word));
}

/* The residue of limbs of 52 bits, Montgomery. */
static struct fr residue(const uint64_t limb[SHOUP_LIMBS])
{
    struct fr out = fr_zero, radix = {{UINT64_C(1) << 52}};
    fr_to_montgomery(&radix, &radix);
    for (int i = SHOUP_LIMBS; i-- > 0;) {
        struct fr digit = {{limb[i]}};
        fr_to_montgomery(&digit, &digit);
        fr_mul(&out, &out, &radix);
        fr_add(&out, &out, &digit);
    }
    return out;
}

static void limbs_of(uint64_t out[LANES][SHOUP_LIMBS], const struct fr_x8 *x)
{
    for (int j = 0; j < SHOUP_LIMBS; j++) {
        uint64_t lane[LANES];
        _mm512_storeu_si512(lane, x->limb[j]);
        for (int i = 0; i < LANES; i++)
            out[i][j] = lane[i];
    }
}

static void vector_of(struct fr_x8 *out, const uint64_t limb[LANES][SHOUP_LIMBS])
{
    for (int j = 0; j < SHOUP_LIMBS; j++) {
        uint64_t lane[LANES];
        for (int i = 0; i < LANES; i++)
            lane[i] = limb[i][j];
        out->limb[j] = _mm512_loadu_si512(lane);
    }
}

/* Below 2p but for the top 104 bits' last places: v w' / 2^260 misses by 7 / 2^52 at most. */
static void assert_below_2p(const uint64_t limb[SHOUP_LIMBS])
{
    unsigned __int128 top = (unsigned __int128)limb[4] << 52 | limb[3];
    unsigned __int128 most = 2 * ((unsigned __int128)fr_modulus_52[4] << 52 | fr_modulus_52[3]);
    assert_true(top <= most + (UINT64_C(1) << 51));
}

static void add_modulus(struct fr_x8 *x, int64_t times)
{
    for (int j = 0; j < SHOUP_LIMBS; j++)
        x->limb[j] =
            _mm512_add_epi64(x->limb[j], _mm512_set1_epi64(times * (int64_t)fr_modulus_52[j]));
}

static void check_product(const uint64_t v[LANES][SHOUP_LIMBS], const struct fr *w)
{
    uint64_t from_zero[LANES][SHOUP_LIMBS], from_minus_p[LANES][SHOUP_LIMBS];
    struct shoup constant;
    struct shoup_x8 factor;
    struct fr_x8 x, zero, out;
    struct fr back;
    shoup_make(&constant, w);
    shoup_element(&back, &constant);
    assert_true(fr_equal(&back, w));
    shoup_broadcast(&factor, &constant);
    vector_of(&x, v);
    fr_x8_zero(&zero);
    shoup_mul_from(&out, &zero, &x, &factor);
    fr_x8_normalize_wrapping(&out);
    limbs_of(from_zero, &out);
    shoup_mul(&out, &x, &factor);
    add_modulus(&out, 1);
    fr_x8_normalize_wrapping(&out);
    limbs_of(from_minus_p, &out);
    assert_memory_equal(from_zero, from_minus_p, sizeof(from_zero));
    for (int i = 0; i < LANES; i++) {
        struct fr want = residue(v[i]), got = residue(from_zero[i]);
        fr_mul(&want, &want, w);
        assert_true(fr_equal(&want, &got));
        assert_below_2p(from_zero[i]);
    }
}

/* 0, 1, p - 1, p, 16 p, the largest number of 260 bits, and two at random. */
static void operands(uint64_t v[LANES][SHOUP_LIMBS], uint64_t *state)
{
    memset(v, 0, LANES * sizeof(v[0]));
    v[1][0] = 1;
    for (int j = 0; j < SHOUP_LIMBS; j++) {
        v[2][j] = fr_modulus_52[j] - (j == 0);
        v[3][j] = fr_modulus_52[j];
        v[4][j] = fr_modulus_times_loaded_52[j];
        v[5][j] = VECTOR_MASK52;
        v[6][j] = random_next(state) & VECTOR_MASK52;
        v[7][j] = j == 4 ? VECTOR_MASK52 : random_next(state) & VECTOR_MASK52;
    }
}

static void products_hold_at_their_bounds(void **state)
{
    uint64_t random = 1, v[LANES][SHOUP_LIMBS];
    struct fr w = fr_zero;
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        operands(v, &random);
        check_product(v, &w);
        if (round == 0)
            w = fr_one;
        else if (round == 1)
            fr_neg(&w, &fr_one);
        else
            draw(&w, &random);
    }
}

static void check_reduction(const struct fr *canonical, int64_t times)
{
    uint64_t got[LANES][SHOUP_LIMBS];
    struct fr_x8 x;
    const void *pointer[LANES];
    for (int i = 0; i < LANES; i++)
        pointer[i] = canonical;
    fr_x8_load_plain(&x, pointer);
    add_modulus(&x, times);
    shoup_reduce(&x);
    add_modulus(&x, 1);
    fr_x8_normalize_wrapping(&x);
    limbs_of(got, &x);
    struct fr want, have = residue(got[0]);
    fr_to_montgomery(&want, canonical);
    assert_true(fr_equal(&want, &have));
    unsigned __int128 top = (unsigned __int128)got[0][4] << 52 | got[0][3];
    unsigned __int128 one = (unsigned __int128)fr_modulus_52[4] << 52 | fr_modulus_52[3];
    assert_true(top + (one >> 40) >= one && top <= 2 * one + (one >> 9));
}

/* From -16 p to 16 p, at both ends of every multiple. */
static void reductions_hold_at_their_bounds(void **state)
{
    uint64_t random = 2;
    struct fr x = fr_zero;
    (void)state;
    for (int64_t times = -LIFTS; times < LIFTS; times++)
        for (int i = 0; i < 20; i++) {
            check_reduction(&x, times);
            draw(&x, &random);
            if (i == 0)
                memcpy(&x, fr_modulus, sizeof(x)), x.word[0]--;
            if (i == 19)
                x = fr_zero;
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_hold_at_their_bounds),
        cmocka_unit_test(reductions_hold_at_their_bounds),
    };
    if (forms_skip(FORM_IFMA))
        return 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
