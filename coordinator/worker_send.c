/*
 * What is sent to workers; see workers.h. Called by engine.c, circuits and the drain. A SIGKILL
 * loses what was not sent yet, and the workers end with the coordinator.
 */
#include "coordinator/workers.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "shm/region.h"

void worker_send(struct worker *worker, union wire_message *message, enum wire_type type,
                 const int *fds, unsigned fd_count)
{
    if (worker->socket < 0)
        return; /* it is about to die, and its death takes back what it was given */
    int kept = outbox_send(&worker->outbox, worker->socket, message, type, fds, fd_count);
    if (kept == 1)
        event_add(worker->write_event, NULL);
    else if (kept < 0)
        worker_not_sent(worker, kept);
}

static int64_t find_image(const struct worker *worker, const uint8_t *hash)
{
    for (uint32_t i = 0; i < worker->image_count; i++)
        if (memcmp(worker->images[i], hash, HASH_BYTES) == 0)
            return i;
    return -1;
}

int worker_has_image(const struct worker *worker, const uint8_t *hash)
{
    return find_image(worker, hash) >= 0;
}

void worker_send_image(struct worker *worker, const uint8_t *hash, int image_fd)
{
    union wire_message message = {0};
    if (find_image(worker, hash) >= 0)
        return;
    size_t bytes = (worker->image_count + 1u) * sizeof(*worker->images);
    void *grown = realloc(worker->images, bytes);
    if (!grown) {
        worker_condemn(worker, "no memory for the list of its images");
        return;
    }
    worker->images = grown;
    memcpy(worker->images[worker->image_count++], hash, HASH_BYTES);
    device_keys_send(&worker->workers->device_keys, worker, hash);
    memcpy(message.image.hash, hash, HASH_BYTES);
    worker_send(worker, &message, WIRE_IMAGE, &image_fd, 1);
}

/* WORKER_TASKS_MAX: none. */
static uint32_t find_place(const struct worker *worker, uint64_t assignment)
{
    uint32_t at = 0;
    while (at < WORKER_TASKS_MAX && worker->tasks[at].assignment != assignment)
        at++;
    return at;
}

/* A long proof stays known, however many assignments come and are taken back beside it. */
void worker_note_task(struct worker *worker, const struct worker_task *task)
{
    uint32_t free_place = find_place(worker, 0);
    if (free_place < WORKER_TASKS_MAX)
        worker->tasks[free_place] = *task;
}

const struct worker_task *worker_find_task(const struct worker *worker, uint64_t assignment)
{
    uint32_t at = find_place(worker, assignment);
    return assignment && at < WORKER_TASKS_MAX ? &worker->tasks[at] : NULL;
}

void worker_forget_task(struct worker *worker, uint64_t assignment)
{
    uint32_t at = find_place(worker, assignment);
    if (at < WORKER_TASKS_MAX)
        worker->tasks[at] = (struct worker_task){0};
}

static void forget_image(struct worker *worker, const uint8_t *hash)
{
    union wire_message message = {0};
    int64_t at = find_image(worker, hash);
    if (at < 0)
        return;
    memcpy(worker->images[at], worker->images[--worker->image_count], HASH_BYTES);
    memcpy(message.image.hash, hash, HASH_BYTES);
    worker_send(worker, &message, WIRE_FORGET, NULL, 0);
}

void workers_forget_image(struct workers *workers, const uint8_t *hash)
{
    for (uint32_t seat = 0; seat < SEATS_MAX; seat++)
        if (workers->seats[seat])
            forget_image(workers->seats[seat], hash);
    device_keys_forget_hash(&workers->device_keys, hash);
}

void workers_send_region(struct workers *workers)
{
    const struct region *region = workers->region;
    for (uint32_t seat = 0; seat < SEATS_MAX; seat++) {
        union wire_message message = {
            .region = {.generation = region->generation, .slabs_bytes = region->slabs_bytes}};
        if (!workers->seats[seat])
            continue;
        workers->seats[seat]->ready = 0;
        worker_send(workers->seats[seat], &message, WIRE_REGION, &region->slabs_fd, 1);
    }
}

int workers_have_region(const struct workers *workers)
{
    for (uint32_t seat = 0; seat < SEATS_MAX; seat++) {
        const struct worker *worker = workers->seats[seat];
        if (worker && worker->ending != ENDING_LOST &&
            worker->generation != workers->region->generation)
            return 0;
    }
    return 1;
}

void workers_leave(struct workers *workers)
{
    for (uint32_t seat = 0; seat < SEATS_MAX; seat++) {
        union wire_message message = {0};
        if (workers->seats[seat])
            worker_send(workers->seats[seat], &message, WIRE_LEAVE, NULL, 0);
    }
}
