/*
 * See the header. What is at fault is proof_finish's to say; this file carries it to the message.
 */
#include "gpu-worker/finalizer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu-worker/blinders.h"
#include "gpu-worker/context.h"
#include "gpu-worker/desk.h"
#include "gpu-worker/keys.h"
#include "gpu-worker/outbox.h"
#include "gpu-worker/proof_finish.h"
#include "gpu-worker/proof_json.h"
#include "shm/program.h"
#include "shm/result.h"
#include "shm/wire.h"
#include "shm/worker_start.h"

/* What finalizing one assignment came to. */
struct ending {
    enum proof_verdict verdict;
    struct proof_outcome outcome;
    int result_fd; /* -1: none */
    uint64_t result_bytes;
};

static const uint64_t *witness_of(const struct assignment *assignment)
{
    const char *slab = assignment->slab;
    return (const uint64_t *)(slab + assignment->header.witness.offset);
}

/* ---- the result ---- */

static int create_result(const struct assignment *assignment, const struct proof *proof,
                         uint64_t *bytes)
{
    const struct key *key = assignment->key;
    const struct wire_prove *order = &assignment->order;
    struct result_header header = {.partition = order->partition,
                                   .job = order->job,
                                   .assignment = order->assignment,
                                   .generation = order->generation};
    char text[PROOF_JSON_BYTES_MAX];
    size_t proof_bytes = proof_json_write(text, key->curve, proof), public_bytes;
    char *publics = proof_json_publics(witness_of(assignment) + FR_WORDS,
                                       key->verification.public_count, &public_bytes);
    if (!publics)
        return -ENOMEM;
    int fd = result_create(&header, text, proof_bytes, publics, public_bytes);
    free(publics);
    *bytes = sizeof(header) + proof_bytes + public_bytes;
    return fd;
}

static void make_result(struct ending *ending, const struct assignment *assignment,
                        const struct proof *proof)
{
    int fd = create_result(assignment, proof, &ending->result_bytes);
    if (fd >= 0) {
        ending->result_fd = fd;
        return;
    }
    log_event("error", "result_failed", "error=\"%s\"", strerror(-fd));
    ending->verdict = PROOF_WRONG;
    ending->outcome.why =
        "the result cannot be written to a memfd: memory or descriptors are short";
}

/* ---- one assignment ---- */

static int choose_blinders(struct context *context, const struct curve *curve,
                           struct blinders *blinders)
{
    if (!context->fixed_blinders)
        return blinders_draw(blinders, curve);
    *blinders = *context->fixed_blinders;
    return 0;
}

static void finish(struct context *context, struct assignment *assignment, struct ending *ending)
{
    struct key *key = assignment->key;
    struct context_watch watch;
    struct blinders blinders;
    struct proof proof;
    struct proof_inputs inputs = {.curve = key->curve,
                                  .image = &key->image,
                                  .key = &key->verification,
                                  .prepared = keys_prepared(key),
                                  .witness = witness_of(assignment),
                                  .blinders = &blinders,
                                  .threads = context->check_threads};
    context_watch_init(&watch, context, SIDE_FINALIZER, assignment);
    if (choose_blinders(context, key->curve, &blinders)) {
        ending->verdict = PROOF_WRONG;
        ending->outcome.why = "getrandom gives no bytes for the blinders";
        return;
    }
    ending->verdict =
        proof_finish(&proof, &ending->outcome, &inputs, &assignment->sums, &watch.watch);
    blinders_forget(&blinders);
    if (ending->verdict == PROOF_GOOD)
        make_result(ending, assignment, &proof);
}

static void post_proved(struct context *context, const struct assignment *assignment,
                        const struct ending *ending)
{
    union wire_message message = {.proved = {.assignment = assignment->order.assignment,
                                             .slab = assignment->order.slab,
                                             .generation = assignment->header.generation,
                                             .device_charged = ending->outcome.device_charged != 0,
                                             .result_bytes = ending->result_bytes,
                                             .times = assignment->times}};
    memcpy(message.proved.digest, assignment->header.witness_digest, HASH_BYTES);
    activity_count_done(context->activity);
    outbox_post(context->outbox, &message, WIRE_PROVED, ending->result_fd);
}

static void post_ending(struct context *context, const struct assignment *assignment,
                        const struct ending *ending, int cancelled)
{
    if (cancelled || ending->verdict == PROOF_CANCELLED) {
        if (ending->result_fd >= 0)
            close(ending->result_fd);
        context_post_step(context, assignment, WIRE_RELEASED);
    } else if (ending->verdict == PROOF_GOOD) {
        post_proved(context, assignment, ending);
    } else {
        context_post_failed(context, assignment,
                            ending->verdict == PROOF_UNSATISFIED ? FAULT_INPUT : FAULT_INTERNAL,
                            STAGE_FINALIZE, ending->outcome.device_charged, ending->outcome.why);
    }
}

static void log_blame(const struct assignment *assignment, const struct ending *ending)
{
    if (ending->outcome.image_damaged)
        keys_log_damaged(assignment->key);
    if (ending->outcome.device_charged)
        log_event("error", "device_charged", "job=%llu partition=%u slab=%u used=%s",
                  (unsigned long long)assignment->order.job, assignment->order.partition,
                  assignment->order.slab, ending->verdict == PROOF_GOOD ? "portable" : "nothing");
}

static void finalize(struct context *context, struct assignment *assignment)
{
    struct ending ending = {.result_fd = -1};
    activity_enter(context->activity, SIDE_FINALIZER, STAGE_FINALIZE, &assignment->order);
    assignment->times.finalize_start_ns = worker_now_ns();
    finish(context, assignment, &ending);
    assignment->times.finalize_ns = worker_now_ns() - assignment->times.finalize_start_ns;
    assignment->times.verify_ns = ending.outcome.verify_ns;
    log_blame(assignment, &ending);
    int cancelled = desk_end(context->desk, assignment);
    post_ending(context, assignment, &ending, cancelled);
    activity_rest(context->activity, SIDE_FINALIZER);
    desk_clear(context->desk);
    context_discard(context, assignment);
}

void *finalizer_main(void *arg)
{
    struct context *context = arg;
    struct assignment *assignment;
    while ((assignment = desk_receive(context->desk)))
        finalize(context, assignment);
    return NULL;
}
