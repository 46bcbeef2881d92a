/*
 * The two curves behind one table each: all that the programs know of the mathematics.
 *
 * Elements of Fq and Fr are little-endian 64-bit words; "Montgomery" means x * R mod p with R =
 * 2^(64 * words) (2^256 for both Fr and for BN254's Fq, 2^384 for BLS12-381's Fq), "plain" means x
 * itself. Both are canonical: below the modulus. Points are affine with Montgomery coordinates, x|y
 * in G1 and x.c0|x.c1|y.c0|y.c1 in G2, infinity all zero: the form of a zkey. Arrays of points are
 * packed with a stride of g1_bytes or g2_bytes; all arrays are aligned to 8 bytes.
 *
 * No function allocates, keeps state between calls, or starts a thread. Lengths and ranges are
 * checked at the border (where an image is compiled, where a witness is read), not here.
 */
#ifndef PAWL_KERNELS_CURVES_H
#define PAWL_KERNELS_CURVES_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/cpu_form.h"

struct parallel;

enum curve_id { CURVE_BN254 = 1, CURVE_BLS12381 = 2 };

#define FR_WORDS 4
#define FQ_WORDS_MAX 6

/* One point; the words past the curve's own length are zero, so that memcmp compares. */
struct g1 {
    uint64_t word[2 * FQ_WORDS_MAX];
};
struct g2 {
    uint64_t word[4 * FQ_WORDS_MAX];
};

struct proof {
    struct g1 a;
    struct g2 b;
    struct g1 c;
};

/* The five sums of a proof before blinding: sum w_i A_i, w_i B1_i, w_i B2_i, w_i C_i (private
 * wires), h_i H_i. */
struct proof_sums {
    struct g1 a, b1;
    struct g2 b2;
    struct g1 c, h;
};

/* The points that a witness multiplies, packed: one for each wire in a, b1 and b2; one for each
 * private wire (the first of them is wire `first_private`) in c. */
struct witness_points {
    const void *a, *b1, *b2, *c;
};

/* What assembly and checking need of a key. `ic` has public_count + 1 packed G1 points and is
 * borrowed. */
struct verification_key {
    struct g1 alpha1, beta1, delta1;
    struct g2 beta2, gamma2, delta2;
    const void *ic;
    uint32_t public_count;
};

/*
 * A sparse matrix by rows: row i has the entries row_start[i] .. row_start[i + 1] - 1. Rows at or
 * past `rows` are zero. Values are given for each entry (index NULL), or once each with the number
 * of its value for each entry; then the first two are 1 and -1.
 */
enum { SPARSE_ONE, SPARSE_MINUS_ONE };
struct sparse_matrix {
    uint32_t rows;
    const uint32_t *row_start;         /* rows + 1, not decreasing */
    const uint32_t *wire;              /* per entry, below the number of wires */
    const uint64_t (*value)[FR_WORDS]; /* Montgomery */
    const void *index;                 /* per entry, below the number of values; or NULL */
    uint32_t index_bytes;              /* of one index: 1, 2 or 4; 0 where index is NULL */
};

enum point_check { POINT_OK, POINT_NOT_CANONICAL, POINT_NOT_ON_CURVE };

/* Which of the two groups an operation works on. */
enum group { GROUP_G1, GROUP_G2 };

/* A coordinate or scalar check against a modulus, decimal text and back: field/decimal.h. */

struct curve {
    enum curve_id id;
    enum cpu_form form;                    /* of these functions; cpu_form_name(form) for people */
    const char *name;                      /* as snarkjs writes it: "bn128", "bls12381" */
    uint32_t fq_bytes, g1_bytes, g2_bytes; /* 32, 64, 128 or 48, 96, 192 */
    uint32_t two_adicity;                  /* of r - 1: 28 or 32 */
    const uint64_t *fq_modulus, *fr_modulus;

    /* ---- scalars: one element of FR_WORDS words; out may be in ---- */
    int (*fr_is_canonical)(const uint64_t *x); /* 1 where x < r */
    void (*fr_to_montgomery)(uint64_t *out, const uint64_t *plain);
    void (*fr_from_montgomery)(uint64_t *out,
                               const uint64_t *montgomery); /* also v*R^2 -> v*R: zkey section 4 */
    void (*fr_multiply)(uint64_t *out, const uint64_t *a,
                        const uint64_t *b);                                /* Montgomery product */
    void (*fq_from_montgomery)(uint64_t *out, const uint64_t *montgomery); /* fq_bytes each */
    int (*fq_to_montgomery)(uint64_t *out, const uint64_t *plain); /* -EINVAL where plain >= q */

    /* ---- points ---- */
    enum point_check (*g1_check)(
        const void *point); /* canonical and on the curve; infinity is POINT_OK */
    enum point_check (*g2_check)(const void *point);
    int (*g1_in_subgroup)(
        const void *point); /* 1 where r * point is infinity; the point is on the curve */
    int (*g2_in_subgroup)(const void *point);
    /*
     * 1 where all `count` packed points are in the subgroup of order r, else 0; all are on the
     * curve. By random subset sums: a wrong point is missed with probability at most 2^-64. `seed`
     * is 32 bytes from getrandom(2). Scratch: subgroup_scratch_bytes(group, count, threads),
     * 64-byte aligned.
     */
    int (*points_in_subgroup)(enum group group, const void *points, size_t count,
                              const uint8_t seed[32], void *scratch, struct parallel *parallel);
    size_t (*subgroup_scratch_bytes)(enum group group, size_t count, unsigned threads);
    /* out = scalar * point, scalar plain. Constant time is not promised. */
    void (*g1_multiply)(struct g1 *out, const struct g1 *point, const uint64_t *scalar);
    void (*g2_multiply)(struct g2 *out, const struct g2 *point, const uint64_t *scalar);
    void (*g1_add)(struct g1 *out, const struct g1 *a, const struct g1 *b);
    void (*g2_add)(struct g2 *out, const struct g2 *a, const struct g2 *b);
    const struct g1 *g1_generator;
    const struct g2 *g2_generator;

    /* ---- multi-scalar multiplication ---- */
    /*
     * sum scalars[i] * points[i], i < count. scalars: plain, FR_WORDS each. Handles zeros, ones,
     * infinity, equal and opposite points. Scratch: msm_scratch_bytes(group, count, threads),
     * 64-byte aligned. 0 or -ECANCELED.
     */
    int (*msm_g1)(struct g1 *out, const void *points, const uint64_t *scalars, size_t count,
                  void *scratch, struct parallel *parallel);
    int (*msm_g2)(struct g2 *out, const void *points, const uint64_t *scalars, size_t count,
                  void *scratch, struct parallel *parallel);
    size_t (*msm_scratch_bytes)(enum group group, size_t count, unsigned threads);
    /*
     * The four sums of a proof over one witness (plain, `wires` elements): a, b1, b2 and c of
     * `out`; h stays as it was. first_private <= wires. The same scalars three or four times, so
     * that a form may sort them once. Scratch: witness_sums_scratch_bytes(wires, first_private,
     * threads), 64-byte aligned. 0 or -ECANCELED.
     */
    int (*witness_sums)(struct proof_sums *out, const struct witness_points *points,
                        const uint64_t *witness, size_t wires, size_t first_private, void *scratch,
                        struct parallel *parallel);
    size_t (*witness_sums_scratch_bytes)(size_t wires, size_t first_private, unsigned threads);
    /*
     * sum over w < windows of 2^(window_bits * w) * sums[w], for sums that a GPU made: packed, each
     * x|y|zz|zzz in Montgomery form (the point is x / zz, y / zzz with zz^3 = zzz^2; zz = 0:
     * infinity), aligned to 8. `out` is a struct g1 or g2. 0; -EBADMSG where a coordinate is not
     * canonical, and out is infinity. That the sums are on the curve is not checked.
     */
    int (*msm_join_windows)(enum group group, void *out, const void *sums, unsigned windows,
                            unsigned window_bits);

    /* ---- number-theoretic transform ---- */
    /* Tables for a domain of 2^log2_domain (1 <= log2_domain < two_adicity): bytes, and made into
     * `out` (64-byte aligned). */
    size_t (*ntt_table_bytes)(unsigned log2_domain);
    void (*ntt_table_make)(void *out, unsigned log2_domain, struct parallel *parallel);
    /*
     * The scalars of H: a, b are rows on the domain (Montgomery, 2^log2_domain elements,
     * overwritten), c is scratch of the same length; the result h (plain, canonical) lands in a.
     * h_i = a*b - c at the odd points of the double domain, where c interpolates a_i * b_i
     * (snarkjs's rule). 0 or -ECANCELED.
     */
    int (*quotient)(uint64_t *a, uint64_t *b, uint64_t *c, unsigned log2_domain, const void *table,
                    struct parallel *parallel);

    /* ---- rows ---- */
    /* out[i - begin] = row i of matrix * witness, begin <= i < end; witness plain, out Montgomery.
     */
    void (*rows_evaluate)(uint64_t *out, const struct sparse_matrix *matrix,
                          const uint64_t *witness, size_t begin, size_t end);

    /* ---- Groth16 ---- */
    /* Sums and blinders r, s (plain) to a proof. */
    void (*proof_assemble)(struct proof *out, const struct proof_sums *sums,
                           const struct verification_key *key, const uint64_t *r,
                           const uint64_t *s);
    /*
     * 1 where e(A,B) = e(alpha,beta) e(IC_0 + sum public_i IC_i, gamma) e(C,delta), else 0.
     * publics: plain, public_count of them. Points must be on the curve; A, B and C are also
     * checked to be in the subgroup.
     */
    int (*proof_verify)(const struct verification_key *key, const uint64_t *publics,
                        const struct proof *proof);
    /* vk_alphabeta_12 of snarkjs's verification key: e(alpha1, beta2), 12 Fq elements plain,
     * [i][j][k] with i < 2, j < 3, k < 2. */
    void (*pairing_alphabeta)(uint64_t *out, const struct g1 *alpha1, const struct g2 *beta2);
    /*
     * A key made ready for many proofs: `out`, of prepared_key_bytes and aligned to 64, holds what
     * depends on the key alone (lines of gamma2 and delta2, multiples of delta1, delta2 and a few
     * IC). It copies the key, whose `ic` stays borrowed. Making it costs about as much as one
     * assembly and check with the plain key. A buffer is for this table's form only.
     */
    size_t (*prepared_key_bytes)(uint32_t public_count);
    void (*prepared_key_make)(void *out, const struct verification_key *key);
    /* proof_assemble and proof_verify, with such a buffer. */
    void (*prepared_assemble)(struct proof *out, const struct proof_sums *sums,
                              const void *prepared, const uint64_t *r, const uint64_t *s);
    int (*prepared_verify)(const void *prepared, const uint64_t *publics,
                           const struct proof *proof);
};

/* The table of a curve in the form in use (cpu_form.h), or NULL for an id that is none. */
const struct curve *curve_by_id(uint32_t id);
/* The reference, which every other form is checked against. */
const struct curve *curve_portable(uint32_t id);
/* In a form of the caller's choice; NULL also where this machine has it not. */
const struct curve *curve_in_form(uint32_t id, enum cpu_form form);
/* By snarkjs's name ("bn128", also "bn254"; "bls12381"), or NULL. */
const struct curve *curve_by_name(const char *name);

#endif
