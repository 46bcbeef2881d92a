/*
 * Buckets of a window to a few sums by which it is weighted. Included by msm_ifma.c once for each
 * group (so no guard), after columns_template_ifma.h.
 *
 * A lane of a block has WEIGH_ROWS (or fewer) consecutive buckets, T_0[r], in its rows. With
 *
 *     T_(k+1)[j] = T_k[2j] + T_k[2j + 1]      O_k = sum over j of T_k[2j + 1]
 *
 * sum r T_0[r] = sum 2^k O_k, and T_L[0] is the sum of all: two affine additions a bucket, 12
 * products, where running sums take 24 and each waits for the one before. All in place: row r's
 * lowest bit set says whose part it is. T_k[2j + 1] serves twice, so the addition to T_k[2j], which
 * destroys it, gets a copy.
 *
 * What is left are the same sums over the lanes of a window, `ends`: of O_k for each k, and, lane e
 * standing for buckets from e * rows on, of the T_L of lanes with a given bit of e set; and the sum
 * of all T_L, for bucket r weighs r + 1. Those are runs for columns_template_ifma.h.
 */
#define GROUP_WEIGH struct GROUP_FN(weigh)

GROUP_WEIGH
{
    struct weigh_plan plan;
    const struct piece *bucket; /* windows * buckets; length 0: empty, else its sum is sum[begin] */
    const GROUP_AFFINE *sum;
    GROUP_AFFINE *end; /* windows * plan.ends: lanes of O_0, ..., O_(levels - 1), T */
};

/* Block `block` (of all windows) into the rows from `row` on. */
static void GROUP_FN(weigh_load)(GROUP_BATCH *b, const GROUP_WEIGH *w, size_t block, uint32_t row)
{
    const struct piece *bucket = w->bucket + block * 8 * w->plan.rows;
    for (uint32_t r = 0; r < w->plan.rows; r++) {
        struct GROUP_FN(row_source) source = {.negative = 0};
        for (uint32_t lane = 0; lane < 8; lane++) {
            const struct piece *at = &bucket[lane * w->plan.rows + r];
            const GROUP_AFFINE *sum = at->length ? &w->sum[at->begin] : &GROUP_FN(nothing);
            GROUP_FN(source_set)(&source, lane, sum);
        }
        GROUP_FN(row_load)(&b->row[row + r], &source);
    }
}

/* Round k of the block in the rows from `row` on; copies go to the rows from *copy down. */
static void GROUP_FN(weigh_round)(GROUP_BATCH *b, uint32_t row, uint32_t rows, uint32_t k,
                                  uint32_t *copy)
{
    for (uint32_t r = 0; r < rows; r += 2u << k) {
        b->row[--*copy] = b->row[row + r + (1u << k)];
        GROUP_FN(batch_add)(b, row + r, *copy, BATCH_RAGGED);
    }
    /* O_level's leaves are 2^level (2j + 1); they have been added up 2^done at a time */
    for (uint32_t level = 0; level < k; level++) {
        uint32_t done = k - level - 1, leaves = rows >> (level + 1);
        for (uint32_t j = 0; j + (1u << done) < leaves; j += 2u << done) {
            uint32_t p = (2 * j + 1) << level, q = (2 * (j + (1u << done)) + 1) << level;
            GROUP_FN(batch_add)(b, row + p, row + q, BATCH_RAGGED);
        }
    }
}

static void GROUP_FN(weigh_store)(GROUP_BATCH *b, const GROUP_WEIGH *w, size_t block, uint32_t row)
{
    const struct weigh_plan *plan = &w->plan;
    size_t window = block / plan->blocks, lanes = 8 * (size_t)plan->blocks;
    GROUP_AFFINE *end = w->end + window * plan->ends + 8 * (block % plan->blocks);
    for (uint32_t k = 0; k <= plan->levels; k++) {
        GROUP_AFFINE *to[8];
        for (size_t lane = 0; lane < 8; lane++)
            to[lane] = end + k * lanes + lane;
        GROUP_FN(row_store)(to, &b->row[row + (k < plan->levels ? 1u << k : 0)]);
    }
}

/* All blocks of `windows` windows, as many at a time as there is room for with their copies. */
static void GROUP_FN(weigh_run)(GROUP_BATCH *b, const GROUP_WEIGH *w, size_t windows)
{
    const uint32_t rows = w->plan.rows;
    const size_t blocks = windows * w->plan.blocks, most = BATCH_ROWS / (rows + (rows + 1) / 2);
    for (size_t first = 0; first < blocks; first += most) {
        uint32_t here = (uint32_t)(blocks - first < most ? blocks - first : most);
        for (uint32_t i = 0; i < here; i++)
            GROUP_FN(weigh_load)(b, w, first + i, i * rows);
        for (uint32_t k = 0; k < w->plan.levels; k++) {
            uint32_t copy = BATCH_ROWS;
            for (uint32_t i = 0; i < here; i++)
                GROUP_FN(weigh_round)(b, i * rows, rows, k, &copy);
            GROUP_FN(batch_run)(b);
        }
        for (uint32_t i = 0; i < here; i++)
            GROUP_FN(weigh_store)(b, w, first + i, i * rows);
    }
}
