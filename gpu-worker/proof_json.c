/*
 * A coordinate is taken out of Montgomery form and written as a decimal string.
 */
#include "gpu-worker/proof_json.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/curves.h"
#include "kernels/decimal.h"
#include "shm/result.h"

_Static_assert(PROOF_JSON_BYTES_MAX <= RESULT_PROOF_BYTES_MAX, "a proof fits a result");

#define COORDINATE_TEXT_BYTES DECIMAL_TEXT_BYTES(FQ_WORDS_MAX)

/* Text that grows into a buffer that is known to be large enough. */
struct text {
    char *at, *end;
};

static void text_add(struct text *text, const char *more)
{
    size_t length = strlen(more);
    assert(length < (size_t)(text->end - text->at));
    memcpy(text->at, more, length + 1);
    text->at += length;
}

static int all_zero(const uint64_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (words[i])
            return 0;
    return 1;
}

static void coordinate_write(char out[COORDINATE_TEXT_BYTES], const struct curve *curve,
                             const uint64_t *montgomery)
{
    uint64_t plain[FQ_WORDS_MAX];
    curve->fq_from_montgomery(plain, montgomery);
    decimal_write(out, plain, curve->fq_bytes / sizeof(uint64_t));
}

static void g1_write(struct text *text, const struct curve *curve, const struct g1 *point)
{
    char x[COORDINATE_TEXT_BYTES], y[COORDINATE_TEXT_BYTES], all[2 * COORDINATE_TEXT_BYTES + 16];
    size_t words = curve->fq_bytes / sizeof(uint64_t);
    if (all_zero(point->word, 2 * words)) {
        text_add(text, "[\"0\",\"1\",\"0\"]");
        return;
    }
    coordinate_write(x, curve, point->word);
    coordinate_write(y, curve, point->word + words);
    snprintf(all, sizeof(all), "[\"%s\",\"%s\",\"1\"]", x, y);
    text_add(text, all);
}

static void fq2_write(struct text *text, const struct curve *curve, const uint64_t *montgomery)
{
    char c0[COORDINATE_TEXT_BYTES], c1[COORDINATE_TEXT_BYTES], all[2 * COORDINATE_TEXT_BYTES + 16];
    coordinate_write(c0, curve, montgomery);
    coordinate_write(c1, curve, montgomery + curve->fq_bytes / sizeof(uint64_t));
    snprintf(all, sizeof(all), "[\"%s\",\"%s\"]", c0, c1);
    text_add(text, all);
}

static void g2_write(struct text *text, const struct curve *curve, const struct g2 *point)
{
    size_t words = curve->fq_bytes / sizeof(uint64_t);
    if (all_zero(point->word, 4 * words)) {
        text_add(text, "[[\"0\",\"0\"],[\"1\",\"0\"],[\"0\",\"0\"]]");
        return;
    }
    text_add(text, "[");
    fq2_write(text, curve, point->word);
    text_add(text, ",");
    fq2_write(text, curve, point->word + 2 * words);
    text_add(text, ",[\"1\",\"0\"]]");
}

size_t proof_json_write(char out[PROOF_JSON_BYTES_MAX], const struct curve *curve,
                        const struct proof *proof)
{
    struct text text = {out, out + PROOF_JSON_BYTES_MAX};
    text_add(&text, "{\"pi_a\":");
    g1_write(&text, curve, &proof->a);
    text_add(&text, ",\"pi_b\":");
    g2_write(&text, curve, &proof->b);
    text_add(&text, ",\"pi_c\":");
    g1_write(&text, curve, &proof->c);
    text_add(&text, ",\"protocol\":\"groth16\",\"curve\":\"");
    text_add(&text, curve->name);
    text_add(&text, "\"}");
    return (size_t)(text.at - out);
}

char *proof_json_publics(const uint64_t *publics, uint32_t count, size_t *bytes)
{
    /* an element is quoted and followed by a comma or the bracket */
    char *out = malloc((size_t)count * (DECIMAL_TEXT_BYTES(FR_WORDS) + 3) + 3);
    if (!out)
        return NULL;
    char *at = out;
    *at++ = '[';
    for (uint32_t i = 0; i < count; i++) {
        if (i)
            *at++ = ',';
        *at++ = '"';
        at += decimal_write(at, publics + (size_t)i * FR_WORDS, FR_WORDS);
        *at++ = '"';
    }
    *at++ = ']';
    *at = '\0';
    *bytes = (size_t)(at - out);
    return out;
}
