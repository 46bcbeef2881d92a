/*
 * Splitting an index range over the caller's threads: run f on pieces of 0 .. total - 1. No state;
 * nothing to clean up.
 */
#ifndef PAWL_KERNELS_RANGES_H
#define PAWL_KERNELS_RANGES_H

#include <stddef.h>

#include "kernels/parallel.h"

struct range_work {
    void (*piece)(void *arg, size_t begin, size_t end);
    void *arg;
    size_t total;
    unsigned pieces;
};

static inline void range_run_piece(void *arg, unsigned index)
{
    const struct range_work *work = arg;
    size_t step = work->total / work->pieces, rest = work->total % work->pieces;
    size_t begin = index * step + (index < rest ? index : rest);
    work->piece(work->arg, begin, begin + step + (index < rest));
}

/* Several pieces a thread, so that a slow core does not hold up the others; none shorter than
 * `least`. */
static inline void ranges_run(struct parallel *parallel, size_t total, size_t least,
                              void (*piece)(void *arg, size_t begin, size_t end), void *arg)
{
    size_t pieces = total / least, most = parallel->threads > 1 ? 8 * (size_t)parallel->threads : 1;
    pieces = pieces < 1 ? 1 : pieces > most ? most : pieces;
    struct range_work work = {piece, arg, total, (unsigned)pieces};
    parallel->run(parallel, range_run_piece, &work, work.pieces);
}

static inline int parallel_is_cancelled(struct parallel *parallel)
{
    return parallel->cancelled && parallel->cancelled(parallel);
}

#endif
