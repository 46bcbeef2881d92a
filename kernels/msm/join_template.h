/*
 * Horner's rule over windows, the highest first. Included by join.c once for each group (so no
 * guard), with GROUP and COORDINATE defined. Costs windows * window_bits doublings.
 */

static int GROUP_FN(join_windows)(GROUP_POINT *out, const void *sums, unsigned windows,
                                  unsigned window_bits)
{
    GROUP_XYZZ sum = GROUP_FN(xyzz_infinity), window;
    GROUP_AFFINE affine;
    *out = (GROUP_POINT){{0}};
    if (!all_canonical(sums, windows * sizeof(GROUP_XYZZ) / sizeof(struct fq)))
        return -EBADMSG;
    for (unsigned w = windows; w-- > 0;) {
        for (unsigned i = 0; i < window_bits; i++)
            GROUP_FN(xyzz_double)(&sum, &sum);
        memcpy(&window, (const char *)sums + w * sizeof(window), sizeof(window));
        GROUP_FN(xyzz_add)(&sum, &sum, &window);
    }
    GROUP_FN(xyzz_to_affine)(&affine, &sum);
    GROUP_FN(point_store)(out, &affine);
    return 0;
}
