/*
 * The scalars of a key (setup.h), by Groth 2016, section 3.2, with snarkjs's choice for H: rows
 * live on the n-th roots of one, and h is known by its values at the other 2n-th roots. Part of the
 * test key maker; memory only.
 */
#include <stdlib.h>

#include "kernels/ranges.h"
#include "tests/testkey/setup.h"

/* Lagrange polynomials at tau: out[i] = (tau^m - 1) / m * root_i / (tau - root_i), root_i = first *
 * step^i. */
struct lagrange {
    const struct curve *curve;
    struct scalar *out, *scratch;
    struct scalar tau, first, step, factor;
};

static void lagrange_piece(void *arg, size_t begin, size_t end)
{
    const struct lagrange *l = arg;
    const struct curve *curve = l->curve;
    struct scalar start = scalar_pow_small(curve, &l->step, begin), root;
    start = scalar_mul(curve, &start, &l->first);
    root = start;
    for (size_t i = begin; i < end; i++) {
        l->out[i] = scalar_sub(curve, &l->tau, &root);
        root = scalar_mul(curve, &root, &l->step);
    }
    scalars_invert(curve, l->out + begin, end - begin, l->scratch + begin);
    root = scalar_mul(curve, &start, &l->factor);
    for (size_t i = begin; i < end; i++) {
        l->out[i] = scalar_mul(curve, &l->out[i], &root);
        root = scalar_mul(curve, &root, &l->step);
    }
}

/* (tau^(2^log2) - 1) / 2^log2 */
static struct scalar lagrange_factor(const struct curve *curve, const struct scalar *tau,
                                     unsigned log2)
{
    struct scalar size = scalar_from(curve, (uint64_t)1 << log2), one = scalar_from(curve, 1);
    struct scalar power = scalar_pow_small(curve, tau, (uint64_t)1 << log2);
    power = scalar_sub(curve, &power, &one);
    size = scalar_inverse(curve, &size);
    return scalar_mul(curve, &power, &size);
}

/* out, 2^log2 elements: the whole basis of the domain. */
static void lagrange_domain(const struct curve *curve, struct scalar *out, struct scalar *scratch,
                            const struct scalar *tau, unsigned log2, struct parallel *parallel)
{
    struct lagrange l = {curve,
                         out,
                         scratch,
                         *tau,
                         scalar_from(curve, 1),
                         scalar_root(curve, log2),
                         lagrange_factor(curve, tau, log2)};
    ranges_run(parallel, (size_t)1 << log2, 1024, lagrange_piece, &l);
}

/* out, 2^log2 elements: the odd half of the basis of the double domain, times `scale`. */
static void lagrange_odd(const struct curve *curve, struct scalar *out, struct scalar *scratch,
                         const struct scalar *tau, unsigned log2, const struct scalar *scale,
                         struct parallel *parallel)
{
    struct scalar root = scalar_root(curve, log2 + 1);
    struct lagrange l = {curve,
                         out,
                         scratch,
                         *tau,
                         root,
                         scalar_mul(curve, &root, &root),
                         lagrange_factor(curve, tau, log2 + 1)};
    l.factor = scalar_mul(curve, &l.factor, scale);
    ranges_run(parallel, (size_t)1 << log2, 1024, lagrange_piece, &l);
}

/* out[wire] += factor * sum over rows of its coefficient in `side` * basis[row] */
static void side_evaluate(const struct circuit *circuit, enum side side, const struct scalar *basis,
                          struct scalar *out)
{
    const struct matrix *matrix = &circuit->side[side];
    for (size_t row = 0; row < circuit->constraints; row++) {
        for (size_t i = matrix->row_start[row]; i < matrix->row_start[row + 1]; i++) {
            struct term term = matrix->term[i];
            struct scalar value = basis[row];
            if (term.coefficient != COEFFICIENT_ONE)
                value = scalar_mul(circuit->curve, &value, &circuit->pool[term.coefficient]);
            out[term.wire] = scalar_add(circuit->curve, &out[term.wire], &value);
        }
    }
}

/* k = (beta a + alpha b + c) / divisor; then a, b and k are made plain. */
struct combine {
    const struct circuit *circuit;
    struct setup *setup;
    struct scalar alpha, beta, inverse_delta;
};

static void combine_piece(void *arg, size_t begin, size_t end)
{
    const struct combine *combine = arg;
    const struct curve *curve = combine->circuit->curve;
    struct setup *setup = combine->setup;
    for (size_t i = begin; i < end; i++) {
        struct scalar a = scalar_mul(curve, &setup->a[i], &combine->beta);
        struct scalar b = scalar_mul(curve, &setup->b[i], &combine->alpha);
        struct scalar sum = scalar_add(curve, &a, &b);
        sum = scalar_add(curve, &sum, &setup->k[i]);
        if (i > combine->circuit->publics)
            sum = scalar_mul(curve, &sum, &combine->inverse_delta);
        setup->k[i] = scalar_plain(curve, &sum);
        setup->a[i] = scalar_plain(curve, &setup->a[i]);
        setup->b[i] = scalar_plain(curve, &setup->b[i]);
    }
}

static void wires_make(struct setup *setup, const struct circuit *circuit,
                       const struct scalar *basis, const struct combine *combine,
                       struct parallel *parallel)
{
    struct scalar **out[SIDES] = {&setup->a, &setup->b, &setup->k};
    for (int side = 0; side < SIDES; side++) {
        *out[side] = memory_resize(NULL, circuit->wires, sizeof(struct scalar));
        memset(*out[side], 0, circuit->wires * sizeof(struct scalar));
        side_evaluate(circuit, (enum side)side, basis, *out[side]);
    }
    /* the rows after the constraints, which tie the publics down */
    for (uint32_t wire = 0; wire <= circuit->publics; wire++)
        setup->a[wire] =
            scalar_add(circuit->curve, &setup->a[wire], &basis[circuit->constraints + wire]);
    ranges_run(parallel, circuit->wires, 1024, combine_piece, (void *)combine);
}

void setup_make(struct setup *setup, const struct circuit *circuit, unsigned log2, uint64_t seed,
                struct parallel *parallel)
{
    const struct curve *curve = circuit->curve;
    size_t n = (size_t)1 << log2;
    struct scalar tau = scalar_random(curve, &seed), alpha = scalar_random(curve, &seed);
    struct scalar beta = scalar_random(curve, &seed), delta = scalar_random(curve, &seed);
    struct scalar *basis = memory_resize(NULL, n, sizeof(*basis));
    struct scalar *scratch = memory_resize(NULL, n, sizeof(*scratch));
    *setup = (struct setup){log2,
                            scalar_plain(curve, &alpha),
                            scalar_plain(curve, &beta),
                            scalar_plain(curve, &delta),
                            NULL,
                            NULL,
                            NULL,
                            NULL};
    struct combine combine = {circuit, setup, alpha, beta, scalar_inverse(curve, &delta)};

    lagrange_domain(curve, basis, scratch, &tau, log2, parallel);
    wires_make(setup, circuit, basis, &combine, parallel);

    /* a factor that is plain makes the products plain */
    struct scalar scale = scalar_plain(curve, &combine.inverse_delta);
    setup->h = basis;
    lagrange_odd(curve, setup->h, scratch, &tau, log2, &scale, parallel);
    free(scratch);
}

void setup_free(struct setup *setup)
{
    free(setup->a);
    free(setup->b);
    free(setup->k);
    free(setup->h);
}
