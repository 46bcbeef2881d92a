/*
 * Messages and assignments of a synth-worker. Called by synth.c's loop. One assignment at a time;
 * while it is being filled, messages are taken between its chunks, so that a CANCEL is heard within
 * milliseconds. A SIGKILL leaves an unsealed slab and the seat page as it was.
 */
#include "synth-worker/synth.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shm/program.h"
#include "shm/seat.h"
#include "shm/worker_start.h"
#include "synth-worker/complaint.h"
#include "synth-worker/fill.h"
#include "synth-worker/hash.h"
#include "synth-worker/witness_program.h"

static int send_waiting(struct synth *synth, union wire_message *message, enum wire_type type)
{
    int status;
    while ((status = wire_send(synth->socket, message, type, NULL, 0)) == -EAGAIN) {
        struct pollfd room = {.fd = synth->socket, .events = POLLOUT};
        poll(&room, 1, -1);
    }
    return status;
}

static int send_failed(struct synth *synth, const struct wire_fill *fill, uint32_t stage,
                       enum wire_fault fault, const char *why)
{
    union wire_message message = {.failed = {.assignment = fill->assignment,
                                             .slab = fill->slab,
                                             .fault = fault,
                                             .generation = fill->generation,
                                             .stage = stage}};
    snprintf(message.failed.why, sizeof message.failed.why, "%s", why);
    return send_waiting(synth, &message, WIRE_FAILED);
}

static int send_released(struct synth *synth)
{
    union wire_message message = {.step = {.assignment = synth->fill.assignment,
                                           .slab = synth->fill.slab,
                                           .generation = synth->fill.generation}};
    return send_waiting(synth, &message, WIRE_RELEASED);
}

static int send_filled(struct synth *synth, const struct fill_result *result)
{
    union wire_message message = {.filled = {.assignment = synth->fill.assignment,
                                             .slab = synth->fill.slab,
                                             .generation = synth->fill.generation,
                                             .start_ns = result->start_ns,
                                             .witness_ns = result->witness_ns,
                                             .rows_ns = result->rows_ns}};
    memcpy(message.filled.digest, result->digest, HASH_BYTES);
    return send_waiting(synth, &message, WIRE_FILLED);
}

/* ---- messages ---- */

static int take_fill(struct synth *synth, struct wire_packet *packet)
{
    if (synth->fill.assignment) {
        for (unsigned i = 0; i < packet->fd_count; i++)
            close(packet->fds[i]);
        return send_failed(synth, &packet->message.fill, STAGE_IDLE, FAULT_INTERNAL,
                           "a second slab was assigned before the first was filled");
    }
    synth->fill = packet->message.fill;
    synth->witness_fd = packet->fds[0];
    synth->program_fd = packet->fd_count > 1 ? packet->fds[1] : -1;
    synth->cancelled = 0;
    return 0;
}

static void take_image(struct synth *synth, const struct wire_packet *packet)
{
    const char *what;
    int status =
        synth_images_add(&synth->images, packet->message.image.hash, packet->fds[0], &what);
    /* the FILL that needs it will fail by name */
    if (status)
        log_event("error", "image_refused", "what=\"%s\" errno=%d", what, -status);
    close(packet->fds[0]);
}

int synth_say_ready(struct synth *synth)
{
    union wire_message message = {.ready = {.generation = synth->generation}};
    return send_waiting(synth, &message, WIRE_READY);
}

/* Other slabs in place of those before, which are let go of first: they may be all the memory that
 * there is. */
static int take_region(struct synth *synth, const struct wire_packet *packet)
{
    if (synth->fill.assignment) {
        log_event("error", "region_refused", "why=\"a slab is being filled\"");
        close(packet->fds[0]);
        return -EPROTO;
    }
    close(synth->windows.fd);
    slab_windows_destroy(&synth->windows);
    int status =
        slab_windows_init(&synth->windows, packet->fds[0], synth->control.header->slab_count);
    if (status)
        return status;
    synth->generation = packet->message.region.generation;
    return synth_say_ready(synth);
}

static int take_message(struct synth *synth, struct wire_packet *packet)
{
    const union wire_message *message = &packet->message;
    switch (message->header.type) {
    case WIRE_FILL:
    case WIRE_FILL_INPUT:
        return take_fill(synth, packet);
    case WIRE_IMAGE:
        take_image(synth, packet);
        return 0;
    case WIRE_FORGET:
        synth_images_forget(&synth->images, message->image.hash);
        return 0;
    case WIRE_REGION:
        return take_region(synth, packet);
    case WIRE_CANCEL:
        if (synth->fill.assignment && message->step.assignment == synth->fill.assignment)
            synth->cancelled = 1;
        return 0;
    case WIRE_LEAVE:
        synth_watch_leaving();
        return 0;
    default:
        log_event("error", "message_unexpected", "type=%s", wire_type_name(message->header.type));
        for (unsigned i = 0; i < packet->fd_count; i++)
            close(packet->fds[i]);
        return -EPROTO;
    }
}

int synth_take_messages(struct synth *synth)
{
    for (;;) {
        struct wire_packet packet;
        int got = wire_receive(synth->socket, &packet, MSG_DONTWAIT);
        if (got == -EAGAIN)
            return 0;
        if (got == 0)
            return -ECONNRESET;
        if (got > 0)
            got = take_message(synth, &packet);
        if (got < 0)
            return got;
    }
}

/* ---- the assignment ---- */

struct serving {
    struct synth *synth;
    enum fill_step step;
    int socket_status;
};

static void enter(struct synth *synth, enum worker_stage stage)
{
    seat_enter(synth->page, stage, synth->fill.assignment, synth->fill.job, synth->fill.partition);
}

static int between_chunks(void *arg, enum fill_step step)
{
    struct serving *serving = arg;
    if (step != serving->step) {
        serving->step = step;
        enter(serving->synth, STAGE_ROWS);
    }
    seat_progress(serving->synth->page);
    serving->socket_status = synth_take_messages(serving->synth);
    return serving->synth->cancelled || serving->socket_status;
}

static int complain_slab(struct complaint *complaint, const struct wire_fill *fill, uint64_t need)
{
    return complain_internal(complaint,
                             "slab %" PRIu32 " has %" PRIu64 " bytes, the circuit needs %" PRIu64,
                             fill->slab, fill->slab_bytes, need);
}

static int fill_window(struct serving *serving, const struct image *image,
                       struct fill_result *result, struct complaint *complaint)
{
    struct synth *synth = serving->synth;
    const struct wire_fill *fill = &synth->fill;
    struct slab_plan plan;
    int with_rows = fill->rows == ROWS_HOST;
    if (fill_plan(&plan, image, with_rows) || plan.bytes > fill->slab_bytes)
        return complain_slab(complaint, fill, image->header->slab_bytes);
    void *slab = slab_window_open(&synth->windows, fill->slab, fill->slab_offset, plan.bytes);
    if (!slab)
        return complain_system(complaint, EXIT_INTERNAL, errno, "slab %" PRIu32 ": mapping",
                               fill->slab);
    const struct fill_request request = {.image = image,
                                         .witness_fd = synth->witness_fd,
                                         .label = fill->label,
                                         .slab = slab,
                                         .generation = fill->generation,
                                         .job = fill->job,
                                         .partition = fill->partition,
                                         .with_rows = with_rows,
                                         .check_image = fill->check_image != 0,
                                         .pause = between_chunks,
                                         .pause_arg = serving};
    int status = fill_slab(&request, result, complaint);
    slab_window_close(&synth->windows, fill->slab);
    return status;
}

static int during_program(void *arg)
{
    return between_chunks(arg, FILL_WITNESS);
}

/* From an input to a witness, whose fd takes the input's place. */
static int make_witness(struct serving *serving, const struct image *image,
                        struct complaint *complaint)
{
    struct synth *synth = serving->synth;
    struct wire_fill *fill = &synth->fill;
    const struct witness_request request = {.input_fd = synth->witness_fd,
                                            .folder_fd = synth->program_fd,
                                            .curve = image->header->curve,
                                            .deadline_ms = fill->program_deadline_ms,
                                            .memory_bytes = fill->program_memory_bytes,
                                            .output_bytes = fill->program_output_bytes,
                                            .pause = during_program,
                                            .pause_arg = serving};
    int fd = witness_program_run(&request, &synth->place, complaint);
    if (fd < 0)
        return fd;
    close(synth->witness_fd);
    synth->witness_fd = fd;
    snprintf(fill->label, sizeof fill->label, "the witness program's output");
    return 0;
}

static int make_and_fill(struct serving *serving, const struct image *image,
                         struct fill_result *result, struct complaint *complaint)
{
    uint64_t start_ns = worker_now_ns();
    int status = 0;
    if (serving->synth->program_fd >= 0)
        status = make_witness(serving, image, complaint);
    if (!status)
        status = fill_window(serving, image, result, complaint);
    if (!status) { /* the program's time is the witness's */
        result->witness_ns += result->start_ns - start_ns;
        result->start_ns = start_ns;
    }
    return status;
}

static void log_damaged(const struct wire_fill *fill)
{
    char hex[HASH_HEX_BYTES];
    hash_hex(hex, fill->hash);
    log_event("error", "image_damaged", "hash=%.16s", hex);
}

static int fill_assigned(struct serving *serving, struct fill_result *result,
                         struct complaint *complaint)
{
    struct synth *synth = serving->synth;
    const struct image *image = synth_images_use(&synth->images, synth->fill.hash);
    if (!image)
        return complain_system(complaint, EXIT_INTERNAL, ENOENT,
                               "the circuit's image is not "
                               "mapped here");
    int status = make_and_fill(serving, image, result, complaint);
    if (status == -EUCLEAN)
        log_damaged(&synth->fill);
    synth_images_release(&synth->images);
    return status;
}

static enum wire_fault fault_of(const struct complaint *complaint)
{
    switch (complaint->exit_code) {
    case EXIT_INPUT:
        return FAULT_INPUT;
    case EXIT_MACHINE:
        return FAULT_CAPACITY;
    default:
        return FAULT_INTERNAL;
    }
}

static int say_end(struct synth *synth, const struct serving *serving, int status,
                   const struct fill_result *result, const struct complaint *complaint)
{
    if (serving->socket_status)
        return serving->socket_status;
    if (!status)
        return send_filled(synth, result);
    if (status == -ECANCELED)
        return send_released(synth);
    return send_failed(synth, &synth->fill, serving->step == FILL_ROWS ? STAGE_ROWS : STAGE_WITNESS,
                       fault_of(complaint), complaint->text);
}

int synth_serve(struct synth *synth)
{
    struct serving serving = {.synth = synth, .step = FILL_WITNESS};
    struct fill_result result;
    struct complaint complaint = {0};
    uint64_t start_ns = worker_now_ns();
    enter(synth, STAGE_WITNESS);
    int status = synth->cancelled ? -ECANCELED : fill_assigned(&serving, &result, &complaint);
    close(synth->witness_fd);
    if (synth->program_fd >= 0)
        close(synth->program_fd);
    uint64_t end_ns = worker_now_ns();
    seat_add(synth->page, end_ns - start_ns, start_ns - synth->idle_since_ns, !status);
    status = say_end(synth, &serving, status, &result, &complaint);
    synth->fill.assignment = 0;
    synth->idle_since_ns = end_ns;
    seat_enter(synth->page, STAGE_IDLE, 0, 0, 0);
    return status;
}
