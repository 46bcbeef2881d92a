/*
 * Makes the table of a domain for the AVX-512 form (table_ifma.h). Once a key, by whoever holds the
 * key; plain memory, so a SIGKILL leaves nothing.
 */
#include "kernels/ntt/table_ifma.h"
#include "kernels/ntt/domain.h"
#include "kernels/ntt/ntt.h"
#include "kernels/ranges.h"

extern __typeof__(CURVE_FN(ntt_table_bytes)) BASE_FN(ntt_table_bytes);
extern __typeof__(CURVE_FN(ntt_table_make)) BASE_FN(ntt_table_make);

struct making {
    const struct table *table;
    struct fr root; /* of the vectors' or the blocks' twists, or of the step */
    unsigned levels;
    size_t half;
};

size_t CURVE_FN(ntt_table_bytes)(unsigned log2_domain)
{
    if (log2_domain < TABLE_LEAST)
        return BASE_FN(ntt_table_bytes)(log2_domain);
    unsigned block_levels = table_block_levels(log2_domain);
    return sizeof(struct table_head) + (sizeof(struct twist_low) << (block_levels - LANE_LEVELS)) +
           (sizeof(struct twist_high) << (log2_domain - block_levels)) +
           (sizeof(struct shoup) << (log2_domain - LANE_LEVELS - 1));
}

static size_t reversed(size_t x, unsigned bits)
{
    size_t out = 0;
    for (unsigned i = 0; i < bits; i++)
        out |= (x >> i & 1) << (bits - 1 - i);
    return out;
}

static void power(struct fr *out, const struct fr *base, uint64_t exponent)
{
    fr_pow(out, base, &exponent, 1);
}

/* base, base * step, base * step^2 ... */
static void progression(struct fr out[LANES], const struct fr *base, const struct fr *step)
{
    out[0] = *base;
    for (int i = 1; i < LANES; i++)
        fr_mul(&out[i], &out[i - 1], step);
}

/* v^(b (1 - 2m)) and v^(2bm) for the lanes m; v is of order 2^(levels + 1), b the reverse of
 * `index`. */
static void twist_lanes(struct fr in[LANES], struct fr out[LANES], const struct making *making,
                        unsigned bits, size_t index)
{
    uint64_t b = reversed(index, bits), order = UINT64_C(2) << making->levels;
    struct fr first, step;
    power(&first, &making->root, b);
    power(&step, &making->root, order - 2 * b);
    progression(in, &first, &step);
    power(&step, &making->root, 2 * b);
    progression(out, &fr_one, &step);
}

static void lanes_of_constants(struct shoup_x8 *out, const struct fr from[LANES])
{
    struct shoup constant[LANES];
    for (int i = 0; i < LANES; i++)
        shoup_make(&constant[i], &from[i]);
    shoup_lanes(out, constant);
}

static void make_low(struct table *table)
{
    unsigned bits = table->block_levels - LANE_LEVELS;
    struct making making = {.table = table, .levels = table->block_levels};
    domain_root(&making.root, table->block_levels + 1);
    struct twist_low *low = (struct twist_low *)table->low;
    for (size_t i = 0; i < (size_t)1 << bits; i++) {
        struct fr in[LANES], out[LANES];
        twist_lanes(in, out, &making, bits, i);
        lanes_of_constants(&low[i].in, in);
        lanes_of_constants(&low[i].out, out);
    }
}

static void vector_of(struct fr_x8 *out, const struct fr from[LANES])
{
    fr_x8_load_packed(out, from->word);
    fr_x8_canonical(out, out);
}

static void high_piece(void *arg, size_t begin, size_t end)
{
    const struct making *making = arg;
    struct twist_high *high = (struct twist_high *)making->table->high;
    for (size_t i = begin; i < end; i++) {
        struct fr in[LANES], out[LANES];
        twist_lanes(in, out, making, making->table->log2 - making->table->block_levels, i);
        vector_of(&high[i].in, in);
        vector_of(&high[i].out, out);
    }
}

/* T[2^m + i] = T[i] * w_(2^(m+2)), as in table.c */
static void double_piece(void *arg, size_t begin, size_t end)
{
    const struct making *making = arg;
    struct shoup *root = (struct shoup *)making->table->root;
    for (size_t i = begin; i < end; i++) {
        struct fr x;
        shoup_element(&x, &root[i]);
        fr_mul(&x, &x, &making->root);
        shoup_make(&root[making->half + i], &x);
    }
}

static void make_roots(struct table *table, struct parallel *parallel)
{
    struct making making = {.table = table, .half = 1};
    shoup_make((struct shoup *)table->root, &fr_one);
    for (unsigned m = 0; m + LANE_LEVELS + 1 < table->log2; m++, making.half *= 2) {
        domain_root(&making.root, m + 2);
        ranges_run(parallel, making.half, 1024, double_piece, &making);
    }
}

/*
 * The factors: rows are x R, R = 2^256, and a product of them by Montgomery's rule with 2^260 is
 * x y 2^252. All three arrays come out n times too large. So that a * b / 2^260 - c is plain,
 * a is scaled by 1 / (n 2^252), b by 1 / n and c by 1 / (n 2^252).
 */
static void make_head(struct table *table)
{
    struct table_head *head = (struct table_head *)table->head;
    struct fr root, inverse, lane[LANES], factor[ARRAYS];
    domain_root(&root, LANE_LEVELS);
    progression(lane, &fr_one, &root);
    for (int i = 0; i < 3; i++) {
        shoup_make(&head->root[i], &lane[1 + i]);
        shoup_make(&head->inverse_root[i], &lane[LANES - 1 - i]);
    }
    domain_inverse_size(&factor[1], table->log2);
    domain_inverse_size(&inverse, 252);
    fr_mul(&factor[0], &factor[1], &inverse);
    factor[2] = factor[0];
    domain_root(&root, LANE_LEVELS + 1);
    for (int array = 0; array < ARRAYS; array++) {
        progression(lane, &factor[array], &root);
        for (int u = 0; u < LANES; u++)
            shoup_make(&head->scale[array][u], &lane[u]);
    }
}

void CURVE_FN(ntt_table_make)(void *out, unsigned log2_domain, struct parallel *parallel)
{
    if (log2_domain < TABLE_LEAST) {
        BASE_FN(ntt_table_make)(out, log2_domain, parallel);
        return;
    }
    struct table table = table_view(out, log2_domain);
    struct making making = {.table = &table, .levels = log2_domain};
    domain_root(&making.root, log2_domain + 1);
    make_head(&table);
    make_low(&table);
    ranges_run(parallel, (size_t)1 << (log2_domain - table.block_levels), 16, high_piece, &making);
    make_roots(&table, parallel);
}
