/*
 * The Miller loop of the optimal ate pairing, several pairs at once. Called by pairing.c, verify.c
 * and prepared.c.
 *
 * The loop count is 6x + 2 on BN254, followed by the lines through pi(Q) and -pi^2(Q), and |x| on
 * BLS12-381, where x < 0 turns into one conjugation at the end (Vercauteren 2010). Pairs share the
 * squarings. T runs over the twist in homogeneous coordinates (Costello, Lange, Naehrig 2010;
 * Aranha and others 2011); the lines are scaled by factors in Fq2, which the final exponentiation
 * maps to 1.
 *
 * A twist point (x', y') is the point (x' w^2, y' w^3) where the twist divides b by xi (BN254), and
 * (x' / w^2, y' / w^3) where it multiplies (BLS12-381). So the line y_P - lambda x_P + (lambda x_T
 * - y_T) has coefficients at w^0, w, w^3 in the first case, and, times w^3, at w^3, w^2, w^0 in the
 * second. Lines depend on Q alone, so those of a key's points are made once, and divided by their
 * y coefficient, which saves a fifth of the product.
 */
#include "kernels/pairing/miller.h"

#include "kernels/curve/endomorphism.h"

#include <assert.h>

struct g2_homogeneous {
    struct fq2 x, y, z;
};

/* T = 2T; the line is the tangent at T, times -2YZ. */
static void double_step(struct g2_homogeneous *t, struct line *line)
{
    struct fq2 a, b, c, e, f, g, h;
    fq2_mul(&a, &t->x, &t->y);
    fq2_scale(&a, &a, &fq_two_inverse);
    fq2_square(&b, &t->y);
    fq2_square(&c, &t->z);
    fq2_double(&e, &c);
    fq2_add(&e, &e, &c);
    fq2_mul(&e, &e, &g2_coefficient_b);
    fq2_double(&f, &e);
    fq2_add(&f, &f, &e);
    fq2_add(&g, &b, &f);
    fq2_scale(&g, &g, &fq_two_inverse);
    fq2_mul(&h, &t->y, &t->z);
    fq2_double(&h, &h);
    fq2_square(&c, &t->x);
    fq2_double(&line->x, &c);
    fq2_add(&line->x, &line->x, &c);
    fq2_sub(&line->constant, &e, &b);
    fq2_neg(&line->y, &h);
    fq2_sub(&f, &b, &f);
    fq2_mul(&t->x, &a, &f);
    fq2_square(&g, &g);
    fq2_square(&e, &e);
    fq2_double(&f, &e);
    fq2_add(&f, &f, &e);
    fq2_sub(&t->y, &g, &f);
    fq2_mul(&t->z, &b, &h);
}

/* T = T + Q; the line goes through both, times X_T - x_Q Z_T. T is neither Q, -Q nor infinity. */
static void add_step(struct g2_homogeneous *t, struct line *line, const struct g2_affine *q)
{
    struct fq2 theta, lambda, d, e, f, g, h;
    fq2_mul(&theta, &q->y, &t->z);
    fq2_sub(&theta, &t->y, &theta);
    fq2_mul(&lambda, &q->x, &t->z);
    fq2_sub(&lambda, &t->x, &lambda);
    fq2_square(&d, &lambda);
    fq2_mul(&e, &lambda, &d);
    fq2_square(&f, &theta);
    fq2_mul(&f, &f, &t->z);
    fq2_mul(&g, &t->x, &d);
    fq2_add(&h, &e, &f);
    fq2_sub(&h, &h, &g);
    fq2_sub(&h, &h, &g);
    fq2_mul(&t->x, &lambda, &h);
    fq2_sub(&g, &g, &h);
    fq2_mul(&g, &g, &theta);
    fq2_mul(&t->y, &e, &t->y);
    fq2_sub(&t->y, &g, &t->y);
    fq2_mul(&t->z, &t->z, &e);
    line->y = lambda;
    fq2_neg(&line->x, &theta);
    fq2_mul(&d, &theta, &q->x);
    fq2_mul(&f, &lambda, &q->y);
    fq2_sub(&line->constant, &d, &f);
}

/* f *= y + x w + constant w^3 */
static void multiply_line_dividing(struct fq12 *f, const struct line *line)
{
    struct fq6 low, high, sum;
    struct fq2 t;
    fq6_scale(&low, &f->c[0], &line->y);
    fq6_mul_sparse(&high, &f->c[1], &line->x, &line->constant);
    fq6_add(&sum, &f->c[0], &f->c[1]);
    fq2_add(&t, &line->y, &line->x);
    fq6_mul_sparse(&sum, &sum, &t, &line->constant);
    fq6_sub(&sum, &sum, &low);
    fq6_sub(&f->c[1], &sum, &high);
    fq6_mul_v(&high, &high);
    fq6_add(&f->c[0], &low, &high);
}

/* f *= constant + x w^2 + y w^3 */
static void multiply_line_multiplying(struct fq12 *f, const struct line *line)
{
    struct fq6 low, high, sum;
    struct fq2 t;
    fq6_mul_sparse(&low, &f->c[0], &line->constant, &line->x);
    fq6_scale(&high, &f->c[1], &line->y);
    fq6_mul_v(&high, &high);
    fq6_add(&sum, &f->c[0], &f->c[1]);
    fq2_add(&t, &line->x, &line->y);
    fq6_mul_sparse(&sum, &sum, &line->constant, &t);
    fq6_sub(&sum, &sum, &low);
    fq6_sub(&f->c[1], &sum, &high);
    fq6_mul_v(&high, &high);
    fq6_add(&f->c[0], &low, &high);
}

/* The same with line->y = 1. */
static void multiply_monic_dividing(struct fq12 *f, const struct line *line)
{
    struct fq6 high, sum;
    struct fq2 t;
    fq6_mul_sparse(&high, &f->c[1], &line->x, &line->constant);
    fq6_add(&sum, &f->c[0], &f->c[1]);
    fq2_add(&t, &fq2_one, &line->x);
    fq6_mul_sparse(&sum, &sum, &t, &line->constant);
    fq6_sub(&sum, &sum, &f->c[0]);
    fq6_sub(&f->c[1], &sum, &high);
    fq6_mul_v(&high, &high);
    fq6_add(&f->c[0], &f->c[0], &high);
}

static void multiply_monic_multiplying(struct fq12 *f, const struct line *line)
{
    struct fq6 low, high, sum;
    struct fq2 t;
    fq6_mul_sparse(&low, &f->c[0], &line->constant, &line->x);
    fq6_mul_v(&high, &f->c[1]);
    fq6_add(&sum, &f->c[0], &f->c[1]);
    fq2_add(&t, &line->x, &fq2_one);
    fq6_mul_sparse(&sum, &sum, &line->constant, &t);
    fq6_sub(&sum, &sum, &low);
    fq6_sub(&f->c[1], &sum, &high);
    fq6_mul_v(&high, &high);
    fq6_add(&f->c[0], &low, &high);
}

static void multiply_line(struct fq12 *f, const struct line *of_q, const struct g1_affine *p)
{
    struct line line = {.constant = of_q->constant};
    fq2_scale(&line.y, &of_q->y, &p->y);
    fq2_scale(&line.x, &of_q->x, &p->x);
    if (TWIST_DIVIDES)
        multiply_line_dividing(f, &line);
    else
        multiply_line_multiplying(f, &line);
}

/* p holds x / y and 1 / y */
static void multiply_monic(struct fq12 *f, const struct line *of_q, const struct g1_affine *p)
{
    struct line line;
    fq2_scale(&line.x, &of_q->x, &p->x);
    fq2_scale(&line.constant, &of_q->constant, &p->y);
    if (TWIST_DIVIDES)
        multiply_monic_dividing(f, &line);
    else
        multiply_monic_multiplying(f, &line);
}

static void multiply_lines(struct fq12 *f, const struct miller_pair *pairs, unsigned count,
                           unsigned number)
{
    for (unsigned i = 0; i < count; i++) {
        if (pairs[i].monic)
            multiply_monic(f, &pairs[i].lines[number], &pairs[i].p);
        else
            multiply_line(f, &pairs[i].lines[number], &pairs[i].p);
    }
}

/* The two lines that end a Barreto-Naehrig curve's loop: through pi(Q) and -pi^2(Q). */
static unsigned make_frobenius_lines(struct line *line, struct g2_homogeneous *t,
                                     const struct g2_affine *q)
{
    struct g2_affine image;
    g2_psi_affine(&image, q);
    add_step(t, &line[0], &image);
    g2_psi_affine(&image, &image);
    g2_affine_neg(&image, &image);
    add_step(t, &line[1], &image);
    return 2;
}

unsigned CURVE_FN(miller_lines)(struct line *out, const struct g2_affine *q)
{
    struct g2_homogeneous t = {q->x, q->y, fq2_one};
    struct g2_affine negated;
    unsigned count = 0;
    g2_affine_neg(&negated, q);
    for (int d = 0; d < MILLER_DIGITS; d++) {
        double_step(&t, &out[count++]);
        if (miller_digit[d])
            add_step(&t, &out[count++], miller_digit[d] > 0 ? q : &negated);
    }
    if (CURVE_NUMBER == CURVE_BN254)
        count += make_frobenius_lines(out + count, &t, q);
    assert(count <= MILLER_LINES_MAX);
    return count;
}

void CURVE_FN(miller_loop)(struct fq12 *out, const struct miller_pair *pairs, unsigned count)
{
    unsigned number = 0;
    fq12_set_one(out);
    for (int d = 0; d < MILLER_DIGITS; d++) {
        fq12_square(out, out);
        multiply_lines(out, pairs, count, number++);
        if (miller_digit[d])
            multiply_lines(out, pairs, count, number++);
    }
    if (PAIRING_X_NEGATIVE)
        fq12_conjugate(out, out);
    if (CURVE_NUMBER == CURVE_BN254) {
        multiply_lines(out, pairs, count, number);
        multiply_lines(out, pairs, count, number + 1);
    }
}
