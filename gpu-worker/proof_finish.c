/*
 * Assembly and pairing check; the image's checksum and the second opinion by the portable form.
 */
#include "gpu-worker/proof_finish.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpu-worker/blinders.h"
#include "gpu-worker/cpu_sums.h"
#include "gpu-worker/device.h"
#include "gpu-worker/thread_pool.h"
#include "kernels/curves.h"
#include "kernels/parallel.h"
#include "shm/image.h"
#include "shm/worker_start.h"

/* What comes from a device may be any bits: the kernels' formulas want points of the curve. */
static int sums_are_points(const struct curve *curve, const struct proof_sums *sums)
{
    return curve->g1_check(&sums->a) == POINT_OK && curve->g1_check(&sums->b1) == POINT_OK &&
           curve->g2_check(&sums->b2) == POINT_OK && curve->g1_check(&sums->c) == POINT_OK &&
           curve->g1_check(&sums->h) == POINT_OK;
}

static void assemble(struct proof *out, const struct proof_inputs *inputs,
                     const struct proof_sums *sums)
{
    const struct curve *curve = inputs->curve;
    const struct blinders *blinders = inputs->blinders;
    if (inputs->prepared)
        curve->prepared_assemble(out, sums, inputs->prepared, blinders->r, blinders->s);
    else
        curve->proof_assemble(out, sums, inputs->key, blinders->r, blinders->s);
}

static int check(const struct proof_inputs *inputs, const struct proof *proof)
{
    const uint64_t *publics = inputs->witness + FR_WORDS;
    if (inputs->prepared)
        return inputs->curve->prepared_verify(inputs->prepared, publics, proof);
    return inputs->curve->proof_verify(inputs->key, publics, proof);
}

static int make_and_check(struct proof *out, struct proof_outcome *outcome,
                          const struct proof_inputs *inputs, const struct proof_sums *sums)
{
    if (!sums_are_points(inputs->curve, sums))
        return 0;
    assemble(out, inputs, sums);
    uint64_t begin = worker_now_ns();
    int good = check(inputs, out);
    outcome->verify_ns += worker_now_ns() - begin;
    return good;
}

/* ---- the second opinion ---- */

static int watch_cancelled(void *arg)
{
    struct device_watch *watch = arg;
    return watch->cancelled(watch);
}

/* Memory, table and threads of its own: the device may be at work on the next partition, and its
 * form's table may be another. They live for this one call; it is no part of a healthy proof. */
static int recompute_with(struct thread_pool *pool, const struct proof_inputs *inputs,
                          struct device_watch *watch, struct proof_sums *sums)
{
    struct parallel *parallel = thread_pool_parallel(pool);
    struct cpu_key key = {.curve = curve_portable(inputs->curve->id), .image = inputs->image};
    struct device_work work = {.witness = inputs->witness};
    struct device_times unused = {0};
    void *table = NULL;
    int error = -ENOMEM;
    void *scratch =
        cpu_sums_allocate(cpu_sums_scratch_bytes(key.curve, inputs->image, parallel->threads));
    key.table = table = cpu_sums_make_table(key.curve, inputs->image, parallel);
    if (scratch && key.table)
        error = cpu_sums_compute(&key, &work, scratch, parallel, watch, sums, &unused);
    free(table);
    free(scratch);
    return error;
}

static int recompute(const struct proof_inputs *inputs, struct device_watch *watch,
                     struct proof_sums *sums)
{
    struct thread_pool *pool = thread_pool_create(inputs->threads ? inputs->threads : 1);
    if (!pool)
        return -errno;
    thread_pool_set_cancelled(pool, watch_cancelled, watch);
    int error = recompute_with(pool, inputs, watch, sums);
    thread_pool_destroy(pool);
    return error;
}

/* The proof anew is made and checked by portable C and the plain key, too. */
static enum proof_verdict settle(struct proof *out, struct proof_outcome *outcome,
                                 const struct proof_inputs *inputs, const struct proof_sums *sums,
                                 const struct proof_sums *anew)
{
    struct proof_inputs plain = *inputs;
    if (memcmp(sums, anew, sizeof(*sums)) == 0) {
        outcome->why = "witness does not satisfy key";
        return PROOF_UNSATISFIED;
    }
    outcome->device_charged = 1;
    plain.curve = curve_portable(inputs->curve->id);
    plain.prepared = NULL;
    if (make_and_check(out, outcome, &plain, anew))
        return PROOF_GOOD;
    outcome->why = "neither the device's proof nor the portable form's verifies";
    return PROOF_WRONG;
}

/* PROOF_GOOD: the image is whole. It comes before the second opinion, which indexes with it. */
static enum proof_verdict suspect_image(struct proof_outcome *outcome,
                                        const struct proof_inputs *inputs,
                                        struct device_watch *watch)
{
    int error = image_check(inputs->image, watch_cancelled, watch);
    if (!error)
        return PROOF_GOOD;
    if (error == -ECANCELED)
        return PROOF_CANCELLED;
    outcome->image_damaged = 1;
    outcome->why = IMAGE_DAMAGED_TEXT;
    return PROOF_WRONG;
}

static enum proof_verdict ask_again(struct proof *out, struct proof_outcome *outcome,
                                    const struct proof_inputs *inputs,
                                    const struct proof_sums *sums, struct device_watch *watch)
{
    struct proof_sums anew;
    int error = recompute(inputs, watch, &anew);
    if (error == -ECANCELED)
        return PROOF_CANCELLED;
    if (error) {
        outcome->why = "the proof does not verify, and memory or threads to find out why are short";
        return PROOF_WRONG;
    }
    return settle(out, outcome, inputs, sums, &anew);
}

/* ---- */

static int publics_are_canonical(const struct proof_inputs *inputs)
{
    for (uint32_t i = 1; i <= inputs->key->public_count; i++)
        if (!inputs->curve->fr_is_canonical(inputs->witness + (size_t)i * FR_WORDS))
            return 0;
    return 1;
}

enum proof_verdict proof_finish(struct proof *out, struct proof_outcome *outcome,
                                const struct proof_inputs *inputs, const struct proof_sums *sums,
                                struct device_watch *watch)
{
    *outcome = (struct proof_outcome){0};
    if (!publics_are_canonical(inputs)) {
        outcome->why = "a public signal in the slab is not below the order of the curve";
        return PROOF_WRONG;
    }
    if (watch->cancelled(watch))
        return PROOF_CANCELLED;
    if (make_and_check(out, outcome, inputs, sums))
        return PROOF_GOOD;
    enum proof_verdict verdict = suspect_image(outcome, inputs, watch);
    return verdict == PROOF_GOOD ? ask_again(out, outcome, inputs, sums, watch) : verdict;
}
