/*
 * See the header.
 */
#include "tests/bench/floors.h"

double floor_madds_of_product(unsigned words)
{
    double limbs = words == 4 ? 5 : 8;
    return limbs * (4 * limbs + 1);
}

static double additions_with(size_t n, unsigned c)
{
    double windows = (255 + c) / c;
    return windows * ((double)n + (double)(2UL << (c - 1)));
}

double floor_additions_of_msm(size_t n)
{
    double least = additions_with(n, 2);
    for (unsigned c = 3; c <= 20; c++)
        if (additions_with(n, c) < least)
            least = additions_with(n, c);
    return least;
}

double floor_products_of_quotient(unsigned log2)
{
    double n = (double)(1UL << log2);
    return n * (3.0 * (log2 > 2 ? log2 - 2 : 0) + 7);
}
