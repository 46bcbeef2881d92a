/*
 * Rejection: a draw is cut to the bits of the modulus, so one in two is kept at worst.
 */
#include "gpu-worker/blinders.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "kernels/curves.h"
#include "kernels/decimal.h"

static int fill_random(void *out, size_t bytes)
{
    char *at = out;
    while (bytes) {
        ssize_t got = getrandom(at, bytes, 0);
        if (got < 0 && errno != EINTR)
            return -errno;
        if (got > 0) {
            at += got;
            bytes -= (size_t)got;
        }
    }
    return 0;
}

static int draw_scalar(uint64_t out[FR_WORDS], const struct curve *curve)
{
    uint64_t top_mask = UINT64_MAX >> __builtin_clzll(curve->fr_modulus[FR_WORDS - 1]);
    do {
        int error = fill_random(out, FR_WORDS * sizeof(*out));
        if (error)
            return error;
        out[FR_WORDS - 1] &= top_mask;
    } while (!curve->fr_is_canonical(out));
    return 0;
}

int blinders_draw(struct blinders *out, const struct curve *curve)
{
    int error = draw_scalar(out->r, curve);
    return error ? error : draw_scalar(out->s, curve);
}

static int is_below_all_orders(const uint64_t *value)
{
    return curve_by_id(CURVE_BN254)->fr_is_canonical(value) &&
           curve_by_id(CURVE_BLS12381)->fr_is_canonical(value);
}

int blinders_parse(struct blinders *out, const char *text)
{
    const char *comma = strchr(text, ',');
    if (!comma || decimal_read(out->r, FR_WORDS, text, (size_t)(comma - text)) ||
        decimal_read(out->s, FR_WORDS, comma + 1, strlen(comma + 1)))
        return -EINVAL;
    return is_below_all_orders(out->r) && is_below_all_orders(out->s) ? 0 : -EINVAL;
}

void blinders_forget(struct blinders *blinders)
{
    explicit_bzero(blinders, sizeof(*blinders));
}
