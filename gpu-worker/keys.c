/*
 * A list of keys under one mutex; there are few, and they are looked up once an assignment.
 */
#include "gpu-worker/keys.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "gpu-worker/device.h"
#include "shm/program.h"

struct keys {
    pthread_mutex_t mutex;
    struct key *first;
    uint64_t uses; /* the prover's */
    void (*dropped)(void *arg, const struct key *key);
    void *dropped_arg;
};

struct keys *keys_create(void)
{
    struct keys *keys = calloc(1, sizeof(*keys));
    if (keys)
        pthread_mutex_init(&keys->mutex, NULL);
    return keys;
}

static void key_destroy(struct key *key, struct device *device)
{
    if (key->loaded)
        device->operations->key_drop(device, key->loaded);
    image_unmap(&key->image);
    free(key->prepared);
    free(key);
}

void keys_destroy(struct keys *keys, struct device *device)
{
    while (keys->first) {
        struct key *key = keys->first;
        assert(key->holders == 0);
        keys->first = key->next;
        key_destroy(key, device);
    }
    pthread_mutex_destroy(&keys->mutex);
    free(keys);
}

/* ---- adding ---- */

/* alpha1 beta1 delta1 beta2 gamma2 delta2, packed. */
static void read_verification(struct key *key)
{
    const char *at = key->image.verification;
    struct g1 *g1[] = {&key->verification.alpha1, &key->verification.beta1,
                       &key->verification.delta1};
    struct g2 *g2[] = {&key->verification.beta2, &key->verification.gamma2,
                       &key->verification.delta2};
    for (int i = 0; i < 3; i++, at += key->curve->g1_bytes)
        memcpy(g1[i], at, key->curve->g1_bytes);
    for (int i = 0; i < 3; i++, at += key->curve->g2_bytes)
        memcpy(g2[i], at, key->curve->g2_bytes);
    key->verification.ic = key->image.ic;
    key->verification.public_count = key->image.header->public_count;
}

static const char *check_image(const struct key *key)
{
    const struct image_header *header = key->image.header;
    if (memcmp(header->hash, key->hash, HASH_BYTES) != 0)
        return "hash";
    if (!key->curve)
        return "curve";
    if (header->log2_domain < 1 || header->log2_domain >= key->curve->two_adicity)
        return "domain";
    return header->public_count < header->wires ? NULL : "public count";
}

static int key_open(struct key *key, int fd, const char **what)
{
    int error = image_map(&key->image, fd, what);
    if (error)
        return error;
    key->curve = curve_by_id(key->image.header->curve);
    *what = check_image(key);
    if (*what) {
        image_unmap(&key->image);
        return -EBADMSG;
    }
    read_verification(key);
    return 0;
}

static struct key *find(struct keys *keys, const uint8_t *hash)
{
    for (struct key *key = keys->first; key; key = key->next)
        if (!key->forgotten && memcmp(key->hash, hash, HASH_BYTES) == 0)
            return key;
    return NULL;
}

/* Only the socket's thread adds, so nothing comes between the look and the insertion. */
int keys_add(struct keys *keys, const uint8_t hash[HASH_BYTES], int fd, const char **what)
{
    struct key *key = keys_hold(keys, hash);
    if (key) {
        keys_release(keys, key);
        return 0;
    }
    *what = "memory";
    key = calloc(1, sizeof(*key));
    if (!key)
        return -ENOMEM;
    memcpy(key->hash, hash, HASH_BYTES);
    int error = key_open(key, fd, what);
    if (error) {
        free(key);
        return error;
    }
    pthread_mutex_lock(&keys->mutex);
    key->next = keys->first;
    keys->first = key;
    pthread_mutex_unlock(&keys->mutex);
    return 0;
}

/* ---- holding ---- */

struct key *keys_hold(struct keys *keys, const uint8_t hash[HASH_BYTES])
{
    pthread_mutex_lock(&keys->mutex);
    struct key *key = find(keys, hash);
    if (key)
        key->holders++;
    pthread_mutex_unlock(&keys->mutex);
    return key;
}

void keys_release(struct keys *keys, struct key *key)
{
    pthread_mutex_lock(&keys->mutex);
    assert(key->holders > 0);
    key->holders--;
    pthread_mutex_unlock(&keys->mutex);
}

void keys_forget(struct keys *keys, const uint8_t hash[HASH_BYTES])
{
    pthread_mutex_lock(&keys->mutex);
    struct key *key = find(keys, hash);
    if (key)
        key->forgotten = 1;
    pthread_mutex_unlock(&keys->mutex);
}

uint64_t keys_short_hash(const uint8_t hash[HASH_BYTES])
{
    uint64_t number = 0;
    for (int i = 0; i < 8; i++)
        number = number << 8 | hash[i];
    return number;
}

void keys_log_damaged(const struct key *key)
{
    log_event("error", "image_damaged", "hash=%016" PRIx64 " bytes=%" PRIu64,
              keys_short_hash(key->hash), key->image.bytes);
}

/* ---- the device's share ---- */

/* `loaded` and `last_use` are touched by the prover alone, which is here. */
static struct key *least_recently_used(struct keys *keys, const struct key *but)
{
    struct key *oldest = NULL;
    pthread_mutex_lock(&keys->mutex);
    for (struct key *key = keys->first; key; key = key->next)
        if (key != but && key->loaded && (!oldest || key->last_use < oldest->last_use))
            oldest = key;
    pthread_mutex_unlock(&keys->mutex);
    return oldest;
}

static void drop(struct keys *keys, struct key *key, struct device *device)
{
    device->operations->key_drop(device, key->loaded);
    key->loaded = NULL;
    if (key->kept && keys->dropped)
        keys->dropped(keys->dropped_arg, key);
    key->kept = 0;
}

/* parcel NULL: afresh */
static int load_once(struct key *key, struct device *device, const struct device_parcel *parcel)
{
    const struct device_operations *operations = device->operations;
    return parcel ? operations->key_import(device, key->curve, &key->image, parcel, &key->loaded)
                  : operations->key_load(device, key->curve, &key->image, &key->loaded);
}

static int load(struct keys *keys, struct key *key, struct device *device,
                const struct device_parcel *parcel)
{
    key->last_use = ++keys->uses;
    while (!key->loaded) {
        int error = load_once(key, device, parcel);
        struct key *other = error == -ENOMEM ? least_recently_used(keys, key) : NULL;
        if (error && !other)
            return error;
        if (other)
            drop(keys, other, device);
    }
    return 0;
}

int keys_load(struct keys *keys, struct key *key, struct device *device)
{
    return load(keys, key, device, NULL);
}

int keys_import(struct keys *keys, struct key *key, struct device *device,
                const struct device_parcel *parcel)
{
    return device->operations->key_import ? load(keys, key, device, parcel) : -ENOTSUP;
}

void keys_on_drop(struct keys *keys, void (*call)(void *arg, const struct key *key), void *arg)
{
    keys->dropped = call;
    keys->dropped_arg = arg;
}

static void *prepare(const struct key *key)
{
    size_t bytes = key->curve->prepared_key_bytes(key->verification.public_count);
    void *prepared = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (prepared)
        key->curve->prepared_key_make(prepared, &key->verification);
    return prepared;
}

const void *keys_prepared(struct key *key)
{
    if (key->was_asked && !key->prepared)
        key->prepared = prepare(key);
    key->was_asked = 1;
    return key->prepared;
}

static struct key *take_swept(struct keys *keys)
{
    struct key *swept = NULL;
    pthread_mutex_lock(&keys->mutex);
    for (struct key **at = &keys->first; *at && !swept;) {
        if ((*at)->forgotten && (*at)->holders == 0) {
            swept = *at;
            *at = swept->next;
        } else {
            at = &(*at)->next;
        }
    }
    pthread_mutex_unlock(&keys->mutex);
    return swept;
}

void keys_sweep(struct keys *keys, struct device *device)
{
    struct key *key;
    while ((key = take_swept(keys)))
        key_destroy(key, device);
}
