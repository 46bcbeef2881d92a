/*
 * Runs of points to one sum each, by trees that fill whole vectors. Included by msm_ifma.c once for
 * each group (so no guard), after batch_template_ifma.h.
 *
 * A run is cut into pieces of at most PIECE_POINTS. Eight pieces of equal length (they are sorted
 * by it) are the lanes of a group of rows; a round adds the rows of a group pairwise, row 2i + 1 to
 * row 2i, then 4i + 2 to 4i, until row 0 is the sum of each lane's piece. As many groups as there
 * are rows in a batch go together. Where the lengths in a group differ, the shorter lanes have
 * infinity in its last rows. A run of several pieces is done again with the sums of its pieces for
 * points: so one bucket that gets all of a witness's ones is as cheap as many.
 */
#define GROUP_COLUMNS struct GROUP_FN(columns)

/* What to add up: piece i is order[begin] .. order[begin + length - 1], entries 2 * number of a
 * point
 * + (1 where it is subtracted), the points packed from number `first` on; its sum goes to out[i].
 */
GROUP_COLUMNS
{
    const unsigned char *point;
    size_t first;
    const uint32_t *order;
    const struct piece *piece;
    uint32_t pieces;
    uint32_t *by_length; /* pieces: their numbers, the longest first */
    GROUP_AFFINE *out;
};

static const GROUP_AFFINE GROUP_FN(nothing);

/* ---- a row from eight packed points ---- */

/* Where the eight are, each coordinate: addresses, one by one. (Had the compiler the chance to
 * compute all eight y from all eight x in a vector, loading that would wait for eight stores.) */
struct GROUP_FN(row_source) {
    const void *x[8], *y[8];
    __mmask8 negative;
};

static inline void GROUP_FN(source_set)(struct GROUP_FN(row_source) * source, unsigned lane,
                                        const void *point)
{
    const unsigned char *y = (const unsigned char *)point + sizeof(COORD);
    __asm__("" : "+r"(point), "+r"(y));
    source->x[lane] = point;
    source->y[lane] = y;
}

static inline void GROUP_FN(row_load)(GROUP_ROW *row, const struct GROUP_FN(row_source) * source)
{
    COORD_X8 loaded, minus;
    COORD_FN(x8_load)(&loaded, source->x);
    COORD_FN(x8_reduce)(&row->x, &loaded);
    COORD_FN(x8_load)(&loaded, source->y);
    __mmask8 negative = source->negative & (__mmask8)~GROUP_FN(x8_nothing)(&loaded);
    COORD_FN(x8_neg_loaded)(&minus, &loaded);
    COORD_FN(x8_select)(&loaded, negative, &loaded, &minus);
    COORD_FN(x8_reduce)(&row->y, &loaded);
}

/* Packed, canonical; infinity all zero. */
static inline void GROUP_FN(row_store)(GROUP_AFFINE *const to[8], GROUP_ROW *row)
{
    COORD_X8 zero;
    void *x[8], *y[8];
    for (unsigned lane = 0; lane < 8; lane++) {
        x[lane] = &to[lane]->x;
        y[lane] = &to[lane]->y;
    }
    COORD_FN(x8_zero)(&zero);
    COORD_FN(x8_select)(&row->x, GROUP_FN(row_infinite)(row), &row->x, &zero);
    COORD_FN(x8_store)(x, &row->x);
    COORD_FN(x8_store)(y, &row->y);
}

static inline const unsigned char *GROUP_FN(columns_point)(const GROUP_COLUMNS *c, uint32_t entry)
{
    return c->point + ((size_t)(entry / 2) - c->first) * sizeof(GROUP_AFFINE);
}

/* ---- segments: as many groups as there are rows for ---- */

/* The entries of eight pieces, a row after the other. */
static void GROUP_FN(group_list)(const GROUP_COLUMNS *c, const struct columns_group *group,
                                 struct columns_row *list)
{
    for (uint32_t lane = 0; lane < 8; lane++) {
        struct piece piece = {0, 0};
        if (group->first + lane < c->pieces)
            piece = c->piece[c->by_length[group->first + lane]];
        for (uint32_t j = 0; j < piece.length; j++)
            list[j].entry[lane] = c->order[piece.begin + j];
        for (uint32_t j = piece.length; j < group->rows; j++)
            list[j].entry[lane] = COLUMNS_NOTHING;
    }
}

/* Takes groups from piece *first on while there are rows for them. */
static void GROUP_FN(segment_list)(struct columns_segment *s, struct columns_row *list,
                                   const GROUP_COLUMNS *c, uint32_t *first)
{
    *s = (struct columns_segment){.list = list, .group = s->group};
    for (; *first < c->pieces; *first += 8) {
        struct columns_group g = {
            .first = *first, .row = s->rows, .rows = c->piece[c->by_length[*first]].length};
        if (s->rows + g.rows > BATCH_ROWS)
            break;
        GROUP_FN(group_list)(c, &g, list + g.row);
        s->group[s->groups++] = g;
        s->rows += g.rows;
    }
}

static inline void GROUP_FN(list_load)(GROUP_ROW *row, const GROUP_COLUMNS *c,
                                       const struct columns_row *list)
{
    struct GROUP_FN(row_source) source;
    unsigned negative = 0;
    for (unsigned lane = 0; lane < 8; lane++) {
        const uint32_t entry = list->entry[lane];
        const void *from = entry == COLUMNS_NOTHING ? (const void *)&GROUP_FN(nothing)
                                                    : GROUP_FN(columns_point)(c, entry);
        GROUP_FN(source_set)(&source, lane, from);
        negative |= (entry & 1) << lane;
    }
    source.negative = (__mmask8)negative;
    GROUP_FN(row_load)(row, &source);
}

/* Points that have left the cache since they were fetched are fetched again a few rows ahead. */
static void GROUP_FN(segment_load)(GROUP_BATCH *b, const GROUP_COLUMNS *c,
                                   struct columns_segment *s)
{
    struct columns_ahead near = {c->point - c->first * sizeof(GROUP_AFFINE),
                                 s->list[NEAR_ROWS].entry, s->list[s->rows].entry};
    for (uint32_t g = 0; g < s->groups; g++) {
        struct columns_group *group = &s->group[g];
        group->shortest = group->rows;
        for (uint32_t j = 0; j < group->rows; j++) {
            GROUP_ROW *row = &b->row[group->row + j];
            columns_fetch(&near, 8, sizeof(GROUP_AFFINE));
            GROUP_FN(list_load)(row, c, &s->list[group->row + j]);
            if (j < group->shortest && GROUP_FN(row_infinite)(row))
                group->shortest = j;
        }
    }
}

static void GROUP_FN(segment_add)(GROUP_BATCH *b, const struct columns_segment *s)
{
    uint32_t most = s->group[0].rows;
    for (uint32_t step = 1; step < most; step *= 2) {
        for (uint32_t g = 0; g < s->groups; g++) {
            const struct columns_group *group = &s->group[g];
            for (uint32_t i = step; i < group->rows; i += 2 * step)
                GROUP_FN(batch_add)
            (b, group->row + i - step, group->row + i, i < group->shortest ? 0 : BATCH_RAGGED);
        }
        GROUP_FN(batch_run)(b);
    }
}

static void GROUP_FN(segment_store)(GROUP_BATCH *b, const GROUP_COLUMNS *c,
                                    const struct columns_segment *s)
{
    for (uint32_t g = 0; g < s->groups; g++) {
        const struct columns_group *group = &s->group[g];
        GROUP_AFFINE spill = GROUP_FN(nothing), *to[8];
        for (uint32_t lane = 0; lane < 8; lane++)
            to[lane] = group->first + lane < c->pieces ? &c->out[c->by_length[group->first + lane]]
                                                       : &spill;
        GROUP_FN(row_store)(to, &b->row[group->row]);
    }
}

/* Key points lie in no order of memory: those of the next segment are fetched while this one is
 * added up. */
static void GROUP_FN(segment_prefetch)(GROUP_BATCH *b, const GROUP_COLUMNS *c,
                                       const struct columns_segment *s)
{
    b->ahead = (struct columns_ahead){.point = c->point - c->first * sizeof(GROUP_AFFINE),
                                      .next = s->list->entry,
                                      .end = s->list->entry + 8 * (size_t)s->rows};
}

/* Sums all pieces, each of one point at least. */
static void GROUP_FN(columns_run)(GROUP_BATCH *b, const GROUP_COLUMNS *c)
{
    struct columns_group group[2][BATCH_ROWS];
    struct columns_segment segment[2] = {{.group = group[0]}, {.group = group[1]}};
    uint32_t first = 0;
    pieces_sort(c->by_length, c->piece, c->pieces);
    GROUP_FN(segment_list)(&segment[0], b->list[0], c, &first);
    for (unsigned at = 0; segment[at].groups > 0; at ^= 1) {
        GROUP_FN(segment_list)(&segment[at ^ 1], b->list[at ^ 1], c, &first);
        GROUP_FN(segment_load)(b, c, &segment[at]);
        GROUP_FN(segment_prefetch)(b, c, &segment[at ^ 1]);
        GROUP_FN(segment_add)(b, &segment[at]);
        GROUP_FN(segment_store)(b, c, &segment[at]);
    }
    b->ahead.next = b->ahead.end;
}
