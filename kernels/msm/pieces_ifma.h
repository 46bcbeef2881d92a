/*
 * Pieces of runs (columns_template_ifma.h), the same for both groups. Private to msm/; no state.
 */
#ifndef PAWL_KERNELS_MSM_PIECES_IFMA_H
#define PAWL_KERNELS_MSM_PIECES_IFMA_H

#include <stdint.h>

enum { PIECE_POINTS = 128, NEAR_ROWS = 4 };

struct piece {
    uint32_t begin, length; /* in the order; length is 1 to PIECE_POINTS */
};

#define COLUMNS_NOTHING 0xfffffffeu /* an entry that stands for infinity */

/* Rows row .. row + rows - 1 hold eight pieces from the first on; those before the row
 * `shortest` have no infinity. */
struct columns_group {
    uint32_t first, row, rows, shortest;
};

struct columns_row {
    uint32_t entry[8];
};

/* What is in a batch's rows: groups, and the entries of each row. */
struct columns_segment {
    struct columns_group *group;
    struct columns_row *list;
    uint32_t groups, rows;
};

/* Points that will be read next: entries next .. end - 1. */
struct columns_ahead {
    const unsigned char *point; /* number 0 */
    const uint32_t *next, *end;
};

/* Asks for the points of the next `count` entries, `bytes` each. */
static inline void columns_fetch(struct columns_ahead *ahead, size_t count, size_t bytes)
{
    for (; count > 0 && ahead->next < ahead->end; count--, ahead->next++) {
        if (*ahead->next == COLUMNS_NOTHING)
            continue;
        const unsigned char *point = ahead->point + (size_t)(*ahead->next / 2) * bytes;
        for (size_t at = 0; at < bytes; at += 64)
            __builtin_prefetch(point + at);
        __builtin_prefetch(point + bytes - 1);
    }
}

/* The numbers of the pieces, longest first, by counting. */
static inline void pieces_sort(uint32_t *by_length, const struct piece *piece, uint32_t pieces)
{
    uint32_t place[PIECE_POINTS + 1] = {0}, total = 0;
    for (uint32_t i = 0; i < pieces; i++)
        place[piece[i].length]++;
    for (uint32_t length = PIECE_POINTS; length > 0; length--) {
        uint32_t here = place[length];
        place[length] = total;
        total += here;
    }
    for (uint32_t i = 0; i < pieces; i++)
        by_length[place[piece[i].length]++] = i;
}

/* Appends the pieces of a run of `length` entries, as even as can be; returns how many. */
static inline uint32_t pieces_cut(struct piece *piece, uint32_t begin, uint32_t length)
{
    uint32_t count = (length + PIECE_POINTS - 1) / PIECE_POINTS;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t from = (uint32_t)((uint64_t)length * i / count);
        uint32_t to = (uint32_t)((uint64_t)length * (i + 1) / count);
        piece[i] = (struct piece){begin + from, to - from};
    }
    return count;
}

#endif
