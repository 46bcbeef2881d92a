/*
 * See the header.
 */
#include "gpu-worker/inbox.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu-worker/context.h"
#include "gpu-worker/desk.h"
#include "gpu-worker/key_parcels.h"
#include "gpu-worker/keys.h"
#include "gpu-worker/outbox.h"
#include "gpu-worker/view.h"
#include "shm/program.h"
#include "shm/wire.h"

static void take_image(struct context *context, const struct wire_packet *packet)
{
    const struct wire_image *image = &packet->message.image;
    const char *what = NULL;
    int error = keys_add(context->keys, image->hash, packet->fds[0], &what);
    if (error)
        log_event("error", "image_refused", "hash=%016" PRIx64 " what=\"%s\" error=\"%s\"",
                  keys_short_hash(image->hash), what, strerror(-error));
}

static void forget_image(struct context *context, const struct wire_image *image)
{
    keys_forget(context->keys, image->hash);
    key_parcels_forget(context->parcels, image->hash);
    desk_wake(context->desk); /* the prover sweeps */
}

/* ---- PROVE ---- */

/* What can be known without reading the slab; NULL: nothing is wrong. */
static const char *fill_assignment(struct context *context, const struct view *view,
                                   struct assignment *assignment)
{
    assignment->slab = view_slab(view, assignment->order.slab, &assignment->slab_bytes);
    if (!assignment->slab)
        return "the assignment names a slab that is not in the region";
    assignment->key = keys_hold(context->keys, assignment->order.hash);
    return assignment->key ? NULL : "no image of the assignment's hash was given, or it is damaged";
}

static void release_unstaged(struct context *context, struct assignment *assignment)
{
    context_post_step(context, assignment, WIRE_RELEASED);
    context_discard(context, assignment);
}

static void stage(struct context *context, struct assignment *assignment)
{
    int error = desk_put(context->desk, assignment);
    if (error == -ESHUTDOWN) {
        release_unstaged(context, assignment);
    } else if (error) {
        context_post_failed(context, assignment, FAULT_INTERNAL, STAGE_IDLE, 0,
                            "more partitions are assigned than there can be slabs");
        context_discard(context, assignment);
    }
}

/* The first that is assigned is the first that the device gets ready. */
static void want_slab(struct context *context, const struct assignment *assignment)
{
    struct device *device = context->device;
    if (device->operations->slab_want)
        device->operations->slab_want(device, assignment->slab);
}

static void take_order(struct context *context, const struct view *view,
                       const struct wire_prove *order)
{
    struct assignment local = {.order = *order};
    struct assignment *assignment = calloc(1, sizeof(*assignment));
    if (!assignment) {
        context_post_failed(context, &local, FAULT_CAPACITY, STAGE_IDLE, 0,
                            "no memory for an assignment");
        return;
    }
    assignment->order = *order;
    const char *why = fill_assignment(context, view, assignment);
    if (!why) {
        want_slab(context, assignment);
        stage(context, assignment);
        return;
    }
    context_post_failed(context, assignment, FAULT_INTERNAL, STAGE_IDLE, 0, why);
    free(assignment);
}

static void cancel(struct context *context, uint64_t number)
{
    struct assignment *staged = desk_cancel(context->desk, number);
    if (staged)
        release_unstaged(context, staged);
}

void inbox_leave(struct context *context)
{
    struct assignment *staged = desk_leave(context->desk);
    while (staged) {
        struct assignment *next = staged->next;
        release_unstaged(context, staged);
        staged = next;
    }
}

/* ---- */

static int take_region(struct context *context, struct view *view, struct wire_packet *packet)
{
    if (!desk_is_empty(context->desk)) {
        log_event("error", "region_refused", "why=\"a slab is assigned\"");
        return -EPROTO;
    }
    view_detach_device(context->device);
    int error = view_replace_slabs(view, packet);
    if (!error)
        error = view_attach_device(view, context->device);
    if (error)
        return error;
    inbox_say_ready(context, view);
    return 0;
}

static int handle(struct context *context, struct view *view, struct wire_packet *packet)
{
    const union wire_message *message = &packet->message;
    switch (message->header.type) {
    case WIRE_IMAGE:
        take_image(context, packet);
        return 0;
    case WIRE_FORGET:
        forget_image(context, &message->image);
        return 0;
    case WIRE_DEVICE_KEY:
        key_parcels_put(context->parcels, packet);
        return 0;
    case WIRE_PROVE:
        take_order(context, view, &message->prove);
        return 0;
    case WIRE_CANCEL:
        cancel(context, message->step.assignment);
        return 0;
    case WIRE_REGION:
        return take_region(context, view, packet);
    case WIRE_LEAVE:
        return 1;
    default:
        return -EPROTO;
    }
}

void inbox_say_ready(struct context *context, const struct view *view)
{
    union wire_message ready = {.ready = {.generation = view->generation}};
    outbox_post(context->outbox, &ready, WIRE_READY, -1);
}

int inbox_handle(struct context *context, struct view *view, struct wire_packet *packet)
{
    int answer = handle(context, view, packet);
    for (unsigned i = 0; i < packet->fd_count; i++)
        if (packet->fds[i] >= 0)
            close(packet->fds[i]);
    return answer;
}
