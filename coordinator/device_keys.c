/*
 * Keys kept for the next gpu-worker; see the header.
 */
#include "coordinator/device_keys.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coordinator/config.h"
#include "coordinator/workers.h"
#include "shm/program.h"
#include "shm/seat.h"

/* The first eight bytes in hexadecimal name a key well enough for a log. */
static uint64_t short_hash(const uint8_t *hash)
{
    uint64_t number = 0;
    for (int i = 0; i < 8; i++)
        number = number << 8 | hash[i];
    return number;
}

static int is_of(const struct device_key *key, const char *device, const uint8_t *hash)
{
    return strcmp(key->told.device, device) == 0 && memcmp(key->told.hash, hash, HASH_BYTES) == 0;
}

static struct device_key *find(struct device_keys *keys, const char *device, const uint8_t *hash)
{
    for (uint32_t i = 0; i < keys->count; i++)
        if (is_of(&keys->list[i], device, hash))
            return &keys->list[i];
    return NULL;
}

/* ---- closing ---- */

static void close_both(const int fds[2])
{
    for (int i = 0; i < 2; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

static void *close_aside(void *arg)
{
    close_both(arg);
    free(arg);
    return NULL;
}

/* Where no thread is to be had, here. */
static void close_soon(const int fds[2])
{
    pthread_t thread;
    int *copy = malloc(2 * sizeof(*copy));
    if (copy)
        memcpy(copy, fds, 2 * sizeof(*copy));
    if (copy && pthread_create(&thread, NULL, close_aside, copy) == 0) {
        pthread_detach(thread);
        return;
    }
    free(copy);
    close_both(fds);
}

/* The last one takes its place in the list. */
static void drop(struct device_keys *keys, struct device_key *key, const char *why)
{
    log_event("info", "device_key_closed", "hash=%016" PRIx64 " device=%s why=%s",
              short_hash(key->told.hash), key->told.device, why);
    close_soon(key->fds);
    *key = keys->list[--keys->count];
}

static struct device_key *find_oldest(struct device_keys *keys)
{
    struct device_key *oldest = &keys->list[0];
    for (uint32_t i = 1; i < keys->count; i++)
        if (keys->list[i].used < oldest->used)
            oldest = &keys->list[i];
    return oldest;
}

/* ---- taking ---- */

/* Drivers export memory as a device's file or an anonymous one; nothing else is held for anybody.
 */
static int may_be_memory(int fd)
{
    struct stat status;
    if (fstat(fd, &status))
        return 0;
    mode_t kind = status.st_mode & S_IFMT;
    return kind == S_IFCHR || kind == 0 || (kind == S_IFREG && status.st_nlink == 0);
}

static int is_device(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISCHR(status.st_mode);
}

/* NULL: nothing is wrong. */
static const char *find_fault(const struct worker *worker, const struct wire_packet *packet)
{
    const struct wire_device_key *told = &packet->message.device_key;
    if (strcmp(told->device, worker->device) != 0)
        return "it is of another device";
    if (!worker_has_image(worker, told->hash))
        return "the worker was never given its image";
    if (!told->bytes)
        return "it has no bytes";
    if (!may_be_memory(packet->fds[0]))
        return "its memory is no device memory";
    if (packet->fd_count > 1 && !is_device(packet->fds[1]))
        return "its device node is none";
    return NULL;
}

static void keep(struct device_keys *keys, struct wire_packet *packet)
{
    const struct wire_device_key *told = &packet->message.device_key;
    struct device_key *before = find(keys, told->device, told->hash);
    if (before)
        drop(keys, before, "replaced");
    if (keys->count == DEVICE_KEYS_MAX)
        drop(keys, find_oldest(keys), "\"too many\"");
    struct device_key *key = &keys->list[keys->count++];
    *key = (struct device_key){.told = *told, .fds = {packet->fds[0], -1}, .used = ++keys->uses};
    if (packet->fd_count > 1)
        key->fds[1] = packet->fds[1];
    packet->fds[0] = packet->fds[1] = -1;
    keys->kept_total++;
    log_event("info", "device_key_kept", "hash=%016" PRIx64 " device=%s bytes=%" PRIu64,
              short_hash(told->hash), told->device, told->bytes);
}

void device_keys_take(struct device_keys *keys, const struct worker *worker,
                      struct wire_packet *packet)
{
    const struct wire_device_key *told = &packet->message.device_key;
    if (!packet->fd_count) {
        struct device_key *key = find(keys, worker->device, told->hash);
        if (key)
            drop(keys, key, "\"taken back\"");
        return;
    }
    if (!keys->config->keep_device_keys)
        return; /* the worker was told so before the configuration changed */
    const char *fault = find_fault(worker, packet);
    if (!fault) {
        keep(keys, packet);
        return;
    }
    keys->refused_total++;
    log_event("warn", "device_key_refused", "seat=%u pid=%d why=\"%s\"", worker->seat,
              (int)worker->pid, fault);
}

/* ---- handing on ---- */

void device_keys_send(struct device_keys *keys, struct worker *worker, const uint8_t *hash)
{
    struct device_key *key = worker->role == ROLE_GPU ? find(keys, worker->device, hash) : NULL;
    if (!key)
        return;
    union wire_message message = {.device_key = key->told};
    key->used = ++keys->uses;
    keys->handed_total++;
    worker->was_handed_key = 1;
    log_event("info", "device_key_handed", "hash=%016" PRIx64 " device=%s pid=%d", short_hash(hash),
              worker->device, (int)worker->pid);
    worker_send(worker, &message, WIRE_DEVICE_KEY, key->fds, key->fds[1] >= 0 ? 2 : 1);
}

/* ---- letting go ---- */

void device_keys_mourn(struct device_keys *keys, const struct worker *worker, int died)
{
    struct seat_view view;
    if (worker->role != ROLE_GPU)
        return;
    seat_read(worker->page, &view);
    if (worker->ending == ENDING_LOST || (died && worker->was_handed_key && !view.done_total))
        device_keys_forget_device(keys, worker->device, "\"its worker ended badly\"");
}

void device_keys_forget_hash(struct device_keys *keys, const uint8_t *hash)
{
    for (uint32_t i = keys->count; i-- > 0;)
        if (memcmp(keys->list[i].told.hash, hash, HASH_BYTES) == 0)
            drop(keys, &keys->list[i], "\"image forgotten\"");
}

void device_keys_forget_device(struct device_keys *keys, const char *device, const char *why)
{
    for (uint32_t i = keys->count; i-- > 0;)
        if (strcmp(keys->list[i].told.device, device) == 0)
            drop(keys, &keys->list[i], why);
}

void device_keys_clear(struct device_keys *keys)
{
    while (keys->count)
        drop(keys, &keys->list[keys->count - 1], "\"none are kept\"");
}

uint64_t device_keys_bytes(const struct device_keys *keys)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < keys->count; i++)
        if (__builtin_add_overflow(sum, keys->list[i].told.bytes, &sum))
            return UINT64_MAX;
    return sum;
}
