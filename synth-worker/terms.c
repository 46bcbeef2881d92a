/*
 * See the header. What circom writes is in order already, so that sorting is seldom done.
 */
#include "synth-worker/terms.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/curves.h"

int terms_open(struct terms *terms, uint32_t count)
{
    terms->count = 0;
    if (count <= terms->room)
        return 0;
    struct term *larger = realloc(terms->term, (size_t)count * sizeof *larger);
    if (!larger)
        return -ENOMEM;
    terms->term = larger;
    terms->room = count;
    return 0;
}

void terms_free(struct terms *terms)
{
    free(terms->term);
    *terms = (struct terms){0};
}

static int compare_wires(const void *a, const void *b)
{
    uint32_t x = ((const struct term *)a)->wire, y = ((const struct term *)b)->wire;
    return (x > y) - (x < y);
}

static void sort(struct terms *terms)
{
    for (uint32_t i = 1; i < terms->count; i++)
        if (terms->term[i].wire < terms->term[i - 1].wire) {
            qsort(terms->term, terms->count, sizeof *terms->term, compare_wires);
            return;
        }
}

/* a += b mod r; the top bit of r's top word is free, so the sum has no carry. */
static void add_value(uint64_t *a, const uint64_t *b, const struct curve *curve)
{
    unsigned __int128 carry = 0, borrow = 0;
    for (unsigned i = 0; i < FR_WORDS; i++) {
        carry += (unsigned __int128)a[i] + b[i];
        a[i] = (uint64_t)carry;
        carry >>= 64;
    }
    if (curve->fr_is_canonical(a))
        return;
    for (unsigned i = 0; i < FR_WORDS; i++) {
        unsigned __int128 d = (unsigned __int128)a[i] - curve->fr_modulus[i] - borrow;
        a[i] = (uint64_t)d;
        borrow = d >> 64 & 1;
    }
}

static int is_zero(const struct term *term)
{
    return !(term->value[0] | term->value[1] | term->value[2] | term->value[3]);
}

int terms_merge(struct terms *terms, const struct curve *curve)
{
    uint32_t kept = 0;
    int twice = 0;
    sort(terms);
    for (uint32_t i = 0, next; i < terms->count; i = next) {
        struct term sum = terms->term[i];
        for (next = i + 1; next < terms->count && terms->term[next].wire == sum.wire; next++)
            add_value(sum.value, terms->term[next].value, curve);
        twice |= next > i + 1;
        if (!is_zero(&sum))
            terms->term[kept++] = sum;
    }
    terms->count = kept;
    return twice;
}

int terms_equal(const struct terms *a, const struct terms *b)
{
    if (a->count != b->count)
        return 0;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->term[i].wire != b->term[i].wire ||
            memcmp(a->term[i].value, b->term[i].value, sizeof a->term[i].value) != 0)
            return 0;
    return 1;
}
