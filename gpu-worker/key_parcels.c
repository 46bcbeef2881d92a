/*
 * A short list under a mutex.
 */
#include "gpu-worker/key_parcels.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu-worker/context.h"
#include "gpu-worker/keys.h"
#include "gpu-worker/outbox.h"
#include "shm/program.h"
#include "shm/wire.h"

struct entry {
    struct entry *next;
    uint8_t hash[HASH_BYTES];
    struct device_parcel parcel;
};

struct key_parcels {
    pthread_mutex_t mutex;
    struct entry *first; /* the newest */
};

struct key_parcels *key_parcels_create(void)
{
    struct key_parcels *parcels = calloc(1, sizeof(*parcels));
    if (parcels)
        pthread_mutex_init(&parcels->mutex, NULL);
    return parcels;
}

void key_parcel_close(struct device_parcel *parcel)
{
    if (parcel->memory_fd >= 0)
        close(parcel->memory_fd);
    if (parcel->node_fd >= 0)
        close(parcel->node_fd);
    parcel->memory_fd = parcel->node_fd = -1;
}

static void entry_destroy(struct entry *entry)
{
    if (entry)
        key_parcel_close(&entry->parcel);
    free(entry);
}

void key_parcels_destroy(struct key_parcels *parcels)
{
    while (parcels->first) {
        struct entry *entry = parcels->first;
        parcels->first = entry->next;
        entry_destroy(entry);
    }
    pthread_mutex_destroy(&parcels->mutex);
    free(parcels);
}

/* ---- the list ---- */

static struct entry *unlink_entry(struct key_parcels *parcels, const uint8_t *hash)
{
    struct entry *found = NULL;
    pthread_mutex_lock(&parcels->mutex);
    for (struct entry **at = &parcels->first; *at && !found;) {
        if (memcmp((*at)->hash, hash, HASH_BYTES) == 0) {
            found = *at;
            *at = found->next;
        } else {
            at = &(*at)->next;
        }
    }
    pthread_mutex_unlock(&parcels->mutex);
    return found;
}

/* Puts it in front; the one past the most there may be is returned. */
static struct entry *link_entry(struct key_parcels *parcels, struct entry *entry)
{
    unsigned count = 0;
    pthread_mutex_lock(&parcels->mutex);
    entry->next = parcels->first;
    parcels->first = entry;
    struct entry **at = &parcels->first;
    while (*at && count < KEY_PARCELS_MOST) {
        at = &(*at)->next;
        count++;
    }
    struct entry *past = *at;
    *at = NULL;
    pthread_mutex_unlock(&parcels->mutex);
    return past;
}

static int take_fd(struct wire_packet *packet, unsigned i)
{
    int fd = i < packet->fd_count ? packet->fds[i] : -1;
    if (fd >= 0)
        packet->fds[i] = -1;
    return fd;
}

void key_parcels_put(struct key_parcels *parcels, struct wire_packet *packet)
{
    const struct wire_device_key *told = &packet->message.device_key;
    struct entry *entry = packet->fd_count ? calloc(1, sizeof(*entry)) : NULL;
    if (!entry)
        return; /* the key is uploaded then */
    entry->parcel = (struct device_parcel){.driver_version = told->driver_version,
                                           .layout = told->layout,
                                           .bytes = told->bytes,
                                           .checksum = told->checksum,
                                           .memory_fd = take_fd(packet, 0),
                                           .node_fd = take_fd(packet, 1)};
    _Static_assert(sizeof(told->device) == sizeof(entry->parcel.device), "a device's name");
    memcpy(entry->parcel.device, told->device, sizeof(told->device));
    memcpy(entry->hash, told->hash, HASH_BYTES);
    key_parcels_forget(parcels, told->hash);
    entry_destroy(link_entry(parcels, entry));
}

void key_parcels_forget(struct key_parcels *parcels, const uint8_t hash[HASH_BYTES])
{
    entry_destroy(unlink_entry(parcels, hash));
}

int key_parcels_take(struct key_parcels *parcels, const uint8_t hash[HASH_BYTES],
                     struct device_parcel *out)
{
    struct entry *entry = unlink_entry(parcels, hash);
    if (!entry)
        return 0;
    *out = entry->parcel;
    free(entry);
    return 1;
}

/* ---- loading ---- */

static union wire_message message_of(const struct key *key, const struct device_parcel *parcel)
{
    union wire_message message = {.device_key = {.driver_version = parcel->driver_version,
                                                 .layout = parcel->layout,
                                                 .bytes = parcel->bytes,
                                                 .checksum = parcel->checksum}};
    memcpy(message.device_key.hash, key->hash, HASH_BYTES);
    memcpy(message.device_key.device, parcel->device, sizeof(message.device_key.device));
    return message;
}

static void send_key(struct context *context, struct key *key)
{
    struct device_parcel parcel;
    if (!context->device->operations->key_export)
        return;
    int error = context->device->operations->key_export(context->device, key->loaded, &parcel);
    if (error) {
        log_event("info", "key_not_kept", "hash=%016" PRIx64 " error=\"%s\"",
                  keys_short_hash(key->hash), strerror(-error));
        return;
    }
    union wire_message message = message_of(key, &parcel);
    int fds[] = {parcel.memory_fd, parcel.node_fd};
    key->kept = 1;
    outbox_post_fds(context->outbox, &message, WIRE_DEVICE_KEY, fds, parcel.node_fd >= 0 ? 2 : 1);
}

/* 1 where the key is loaded by it. */
static int import_key(struct context *context, struct key *key)
{
    struct device_parcel parcel;
    if (!key_parcels_take(context->parcels, key->hash, &parcel))
        return 0;
    int error = keys_import(context->keys, key, context->device, &parcel);
    key_parcel_close(&parcel);
    key->kept = !error;
    if (!error) {
        log_event("info", "key_imported", "hash=%016" PRIx64 " bytes=%" PRIu64,
                  keys_short_hash(key->hash), parcel.bytes);
        return 1;
    }
    log_event("warn", "key_not_imported", "hash=%016" PRIx64 " error=\"%s\" then=upload",
              keys_short_hash(key->hash), strerror(-error));
    key_parcels_take_back(context, key); /* it is of no use, and may be in the way of the upload */
    return 0;
}

int key_parcels_load(struct context *context, struct key *key)
{
    int was_loaded = key->loaded != NULL;
    if (!was_loaded && import_key(context, key))
        return 0;
    int error = keys_load(context->keys, key, context->device);
    if (!error && !was_loaded && context->keep_device_keys)
        send_key(context, key);
    return error;
}

void key_parcels_take_back(void *context, const struct key *key)
{
    struct device_parcel nothing = {.bytes = 0};
    union wire_message message = message_of(key, &nothing);
    outbox_post_fds(((struct context *)context)->outbox, &message, WIRE_DEVICE_KEY, NULL, 0);
}
