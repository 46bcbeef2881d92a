/*
 * Prove loop; see the header.
 */
#include "gpu-worker/prover.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gpu-worker/context.h"
#include "gpu-worker/desk.h"
#include "gpu-worker/device.h"
#include "gpu-worker/fault.h"
#include "gpu-worker/key_parcels.h"
#include "gpu-worker/keys.h"
#include "shm/wire.h"
#include "shm/worker_start.h"

/* ---- the slab against its assignment ---- */

static const char *find_mismatch(const struct assignment *assignment)
{
    const struct slab_header *header = &assignment->header;
    const struct wire_prove *order = &assignment->order;
    const struct image_header *image = assignment->key->image.header;
    if (header->generation != order->generation)
        return "generation";
    if (header->job != order->job || header->partition != order->partition)
        return "job or partition";
    if (memcmp(header->image_hash, order->hash, HASH_BYTES) != 0)
        return "image hash";
    if (memcmp(header->witness_digest, order->digest, HASH_BYTES) != 0)
        return "witness digest";
    if (header->curve != image->curve || header->wires != image->wires ||
        header->domain != UINT64_C(1) << image->log2_domain)
        return "curve, wires or domain";
    return NULL;
}

/*
 * Copies the slab's header out and compares it with the assignment and the key: 0, or -EBADMSG with
 * the mismatch in words in why[bytes]. (A stale slab would give a valid proof of another witness.)
 */
static int check_slab(struct assignment *assignment, char *why, unsigned bytes)
{
    const char *what = NULL;
    if (slab_check(&assignment->header, assignment->slab, assignment->slab_bytes, &what)) {
        snprintf(why, bytes, "slab %" PRIu32 " is not whole: %s", assignment->order.slab, what);
        return -EBADMSG;
    }
    what = find_mismatch(assignment);
    if (!what)
        return 0;
    snprintf(why, bytes, "slab %" PRIu32 " is not the one assigned: its %s differs",
             assignment->order.slab, what);
    return -EBADMSG;
}

/* ---- one assignment ---- */

static void end_failed(struct context *context, struct assignment *assignment, unsigned fault,
                       unsigned stage, int device_charged, const char *why)
{
    int cancelled = desk_end(context->desk, assignment);
    if (cancelled)
        context_post_step(context, assignment, WIRE_RELEASED);
    else
        context_post_failed(context, assignment, fault, stage, device_charged, why);
    context_discard(context, assignment);
}

static void end_released(struct context *context, struct assignment *assignment)
{
    desk_end(context->desk, assignment);
    context_post_step(context, assignment, WIRE_RELEASED);
    context_discard(context, assignment);
}

static void end_with_errno(struct context *context, struct assignment *assignment, unsigned stage,
                           const char *what, int error)
{
    char why[WIRE_TEXT_BYTES];
    snprintf(why, sizeof(why), "%s: %s", what, strerror(-error));
    int is_capacity = error == -ENOMEM || error == -E2BIG; /* another device may have the room */
    end_failed(context, assignment, is_capacity ? FAULT_CAPACITY : FAULT_INTERNAL, stage,
               error == -EIO, why);
}

static const uint64_t *section_at(const struct assignment *assignment,
                                  const struct slab_section *section)
{
    if (section->bytes == 0)
        return NULL;
    return (const uint64_t *)((const char *)assignment->slab + section->offset);
}

static struct device_work work_of(const struct assignment *assignment)
{
    const struct slab_header *header = &assignment->header;
    return (struct device_work){section_at(assignment, &header->witness),
                                section_at(assignment, &header->rows_a),
                                section_at(assignment, &header->rows_b)};
}

/* ---- the one ahead: its upload overlaps this one's computation ---- */

struct prover_watch {
    struct context_watch base; /* first: the calls cast back */
    struct context *context;
};

/* One whose slab is wrong or whose key is not loaded waits for its turn as it is. */
static void stage(struct context *context, struct assignment *ahead)
{
    char why[WIRE_TEXT_BYTES];
    if (!ahead->key->loaded || check_slab(ahead, why, sizeof(why)))
        return;
    struct device_work work = work_of(ahead);
    context->device->operations->stage(context->device, ahead->key->loaded, &work);
}

static void unstage(struct context *context)
{
    if (context->device->operations->unstage)
        context->device->operations->unstage(context->device);
}

static void watch_idle(struct device_watch *self)
{
    struct context *context = ((struct prover_watch *)self)->context;
    struct assignment *ahead = desk_look_ahead(context->desk);
    if (!ahead)
        return;
    if (assignment_is_cancelled(ahead)) {
        unstage(context);
        end_released(context, ahead);
    } else if (!ahead->looked_at) {
        ahead->looked_at = 1;
        stage(context, ahead);
    }
}

/* ---- the sums ---- */

static int compute_sums(struct context *context, struct assignment *assignment)
{
    struct device_times times = {0};
    struct prover_watch watch = {.context = context};
    struct device_work work = work_of(assignment);
    context_watch_init(&watch.base, context, SIDE_PROVER, assignment);
    if (context->device->operations->stage)
        watch.base.watch.idle = watch_idle;
    assignment->times.start_ns = worker_now_ns();
    context_post_step(context, assignment, WIRE_STARTED);
    int error = context->device->operations->prove(context->device, assignment->key->loaded, &work,
                                                   &watch.base.watch, &assignment->sums, &times);
    assignment->times.upload_ns = times.upload_ns;
    assignment->times.ntt_ns = times.ntt_ns;
    assignment->times.msm_ns = times.msm_ns;
    return error;
}

static void hand_over(struct context *context, struct assignment *assignment)
{
    fault_touch_sums(&assignment->sums);
    activity_rest(context->activity,
                  SIDE_PROVER); /* what it waits for is the finalizer's to show */
    if (desk_await_finalizer(context->desk, assignment)) {
        end_released(context, assignment);
        return;
    }
    assignment->times.prove_ns = worker_now_ns() - assignment->times.start_ns;
    context_post_step(context, assignment, WIRE_COMPUTED);
    desk_hand_over(context->desk, assignment);
}

static int ask_cancelled(void *arg)
{
    struct device_watch *watch = arg;
    return watch->cancelled(watch);
}

/* 0 where nobody died over this partition, or not because of the image: or -EUCLEAN with
 * why[bytes], or -ECANCELED. */
static int check_image(struct context *context, struct assignment *assignment, char *why,
                       unsigned bytes)
{
    struct context_watch watch;
    context_watch_init(&watch, context, SIDE_PROVER, assignment);
    if (!assignment->order.check_image)
        return 0;
    int error = image_check(&assignment->key->image, ask_cancelled, &watch.watch);
    if (error != -EUCLEAN)
        return error;
    keys_log_damaged(assignment->key);
    snprintf(why, bytes, "%s", IMAGE_DAMAGED_TEXT);
    return error;
}

static int check(struct context *context, struct assignment *assignment, char *why, unsigned bytes)
{
    if (assignment_is_cancelled(assignment))
        return -ECANCELED;
    int error = check_slab(assignment, why, bytes);
    return error ? error : check_image(context, assignment, why, bytes);
}

/* 0, or it has ended. What may have been staged is this one's, and is read no longer then. */
static int prepare(struct context *context, struct assignment *assignment)
{
    char why[WIRE_TEXT_BYTES];
    int checked = check(context, assignment, why, sizeof(why));
    int error = checked ? checked : key_parcels_load(context, assignment->key);
    if (!error)
        return 0;
    unstage(context);
    if (checked == -ECANCELED)
        end_released(context, assignment);
    else if (checked)
        end_failed(context, assignment, FAULT_INTERNAL, STAGE_UPLOAD, 0, why);
    else
        end_with_errno(context, assignment, STAGE_UPLOAD, "the device cannot load the key", error);
    return error;
}

static void prove(struct context *context, struct assignment *assignment)
{
    activity_enter(context->activity, SIDE_PROVER, STAGE_UPLOAD, &assignment->order);
    if (prepare(context, assignment))
        return;
    int error = compute_sums(context, assignment);
    if (error == -ECANCELED)
        end_released(context, assignment);
    else if (error)
        end_with_errno(context, assignment, STAGE_MSM, "the device failed", error);
    else
        hand_over(context, assignment);
}

void *prover_main(void *arg)
{
    struct context *context = arg;
    struct assignment *assignment;
    enum desk_answer answer;
    while ((answer = desk_take(context->desk, &assignment)) != DESK_OVER) {
        if (answer == DESK_WORK)
            prove(context, assignment);
        activity_rest(context->activity, SIDE_PROVER);
        keys_sweep(context->keys, context->device);
    }
    desk_close(context->desk);
    return NULL;
}
