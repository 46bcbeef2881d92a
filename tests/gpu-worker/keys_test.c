/*
 * Keys: by hash, held while in use, dropped from the device least recently used first.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gpu-worker/device.h"
#include "gpu-worker/keys.h"
#include "tests/gpu-worker/circuit.h"

/* A device with room for so many keys; a key is a word with its image's hash in it. */
struct small_device {
    struct device device;
    int room, loaded, drops;
    uint8_t last_dropped;
};

struct device_key {
    uint8_t first_hash_byte;
};

static int small_load(struct device *device, const struct curve *curve, const struct image *image,
                      struct device_key **key)
{
    struct small_device *small = (struct small_device *)device;
    (void)curve;
    if (small->loaded == small->room)
        return -ENOMEM;
    small->loaded++;
    *key = malloc(sizeof(**key));
    assert_non_null(*key);
    (*key)->first_hash_byte = image->header->hash[0];
    return 0;
}

static void small_drop(struct device *device, struct device_key *key)
{
    struct small_device *small = (struct small_device *)device;
    small->loaded--;
    small->drops++;
    small->last_dropped = key->first_hash_byte;
    free(key);
}

/* Takes a parcel of as many bytes as it has loaded keys. */
static int small_import(struct device *device, const struct curve *curve, const struct image *image,
                        const struct device_parcel *parcel, struct device_key **key)
{
    struct small_device *small = (struct small_device *)device;
    if ((int)parcel->bytes != small->loaded)
        return small->loaded == small->room ? -ENOMEM : -EBADMSG;
    return small_load(device, curve, image, key);
}

static const struct device_operations small_operations = {
    .key_load = small_load, .key_drop = small_drop, .key_import = small_import};

enum { CIRCUITS = 3 };
static struct circuit circuits[CIRCUITS];

static int open_circuits(void **state)
{
    (void)state;
    circuit_open(&circuits[0], "tests/fixtures/bn128/mul2");
    circuit_open(&circuits[1], "tests/fixtures/bn128/nopub");
    circuit_open(&circuits[2], "tests/fixtures/bls12381/mul2");
    return 0;
}

static int close_circuits(void **state)
{
    (void)state;
    for (int i = 0; i < CIRCUITS; i++)
        circuit_close(&circuits[i]);
    return 0;
}

static struct key *add_and_hold(struct keys *keys, int i)
{
    const char *what;
    assert_int_equal(keys_add(keys, circuits[i].hash, circuits[i].image_fd, &what), 0);
    struct key *key = keys_hold(keys, circuits[i].hash);
    assert_non_null(key);
    return key;
}

static void test_the_least_recently_used_is_dropped(void **state)
{
    (void)state;
    struct small_device small = {.device = {&small_operations}, .room = 2};
    struct keys *keys = keys_create();
    struct key *key[CIRCUITS];
    for (int i = 0; i < CIRCUITS; i++)
        key[i] = add_and_hold(keys, i);
    assert_int_equal(keys_load(keys, key[0], &small.device), 0);
    assert_int_equal(keys_load(keys, key[1], &small.device), 0);
    assert_int_equal(keys_load(keys, key[0], &small.device), 0); /* used again */
    assert_int_equal(small.drops, 0);
    assert_int_equal(keys_load(keys, key[2], &small.device), 0);
    assert_int_equal(small.drops, 1);
    assert_int_equal(small.last_dropped, circuits[1].hash[0]);
    assert_null(key[1]->loaded);
    small.room = 0;
    keys_load(keys, key[0], &small.device); /* there already */
    assert_int_equal(small.drops, 1);
    for (int i = 0; i < CIRCUITS; i++)
        keys_release(keys, key[i]);
    keys_destroy(keys, &small.device);
    assert_int_equal(small.loaded, 0);
}

static void test_no_room_at_all_is_an_error(void **state)
{
    (void)state;
    struct small_device small = {.device = {&small_operations}, .room = 0};
    struct keys *keys = keys_create();
    struct key *key = add_and_hold(keys, 0);
    assert_int_equal(keys_load(keys, key, &small.device), -ENOMEM);
    keys_release(keys, key);
    keys_destroy(keys, &small.device);
}

static const struct key *told;

static void note_drop(void *arg, const struct key *key)
{
    assert_ptr_equal(arg, &told);
    told = key;
}

/* Who keeps a key's memory too is told when it is given up for want of room, and then only. */
static void test_a_kept_key_that_is_dropped_is_told(void **state)
{
    (void)state;
    struct small_device small = {.device = {&small_operations}, .room = 2};
    struct keys *keys = keys_create();
    struct key *key[CIRCUITS];
    keys_on_drop(keys, note_drop, &told);
    told = NULL;
    for (int i = 0; i < CIRCUITS; i++)
        key[i] = add_and_hold(keys, i);
    for (int i = 0; i < 2; i++)
        assert_int_equal(keys_load(keys, key[i], &small.device), 0);
    key[1]->kept = 1;
    assert_int_equal(keys_load(keys, key[2], &small.device), 0); /* drops the first: not kept */
    assert_null(told);
    assert_int_equal(keys_load(keys, key[0], &small.device), 0); /* drops the second */
    assert_ptr_equal(told, key[1]);
    assert_int_equal(key[1]->kept, 0);
    for (int i = 0; i < CIRCUITS; i++)
        keys_release(keys, key[i]);
    keys_destroy(keys, &small.device);
}

static void test_an_imported_key_makes_room_too(void **state)
{
    (void)state;
    struct small_device small = {.device = {&small_operations}, .room = 1};
    struct keys *keys = keys_create();
    struct key *key[2] = {add_and_hold(keys, 0), add_and_hold(keys, 1)};
    struct device_parcel parcel = {.bytes = 0};
    assert_int_equal(keys_load(keys, key[0], &small.device), 0);
    assert_int_equal(keys_import(keys, key[1], &small.device, &parcel), 0);
    assert_int_equal(small.drops, 1);
    assert_non_null(key[1]->loaded);
    parcel.bytes = 7;
    small.room = 2;
    assert_int_equal(keys_import(keys, key[0], &small.device, &parcel), -EBADMSG);
    assert_null(key[0]->loaded);
    keys_release(keys, key[0]);
    keys_release(keys, key[1]);
    keys_destroy(keys, &small.device);
}

static void test_a_forgotten_key_lives_while_held(void **state)
{
    (void)state;
    struct small_device small = {.device = {&small_operations}, .room = 3};
    struct keys *keys = keys_create();
    struct key *key = add_and_hold(keys, 0);
    assert_int_equal(keys_load(keys, key, &small.device), 0);
    keys_forget(keys, circuits[0].hash);
    assert_null(keys_hold(keys, circuits[0].hash));
    keys_sweep(keys, &small.device);
    assert_int_equal(small.drops, 0);
    assert_int_equal(key->image.header->magic, IMAGE_MAGIC);
    struct key *again = add_and_hold(keys, 0); /* given once more meanwhile */
    assert_ptr_not_equal(key, again);
    keys_release(keys, again);
    keys_release(keys, key);
    keys_sweep(keys, &small.device);
    assert_int_equal(small.drops, 1);
    assert_ptr_equal(keys_hold(keys, circuits[0].hash), again);
    keys_release(keys, again);
    keys_destroy(keys, &small.device);
}

static void test_adding_twice_keeps_the_first(void **state)
{
    (void)state;
    struct small_device small = {.device = {&small_operations}, .room = 3};
    struct keys *keys = keys_create();
    struct key *key = add_and_hold(keys, 0);
    assert_ptr_equal(key, add_and_hold(keys, 0));
    keys_release(keys, key);
    keys_release(keys, key);
    keys_destroy(keys, &small.device);
}

static void test_images_that_are_not_what_they_say(void **state)
{
    (void)state;
    struct small_device small = {.device = {&small_operations}, .room = 3};
    struct keys *keys = keys_create();
    const char *what = NULL;
    uint8_t other[HASH_BYTES] = {1};
    assert_int_equal(keys_add(keys, other, circuits[0].image_fd, &what), -EBADMSG);
    assert_string_equal(what, "hash");
    int fd = circuit_memfd("PAWLIMG1", 8);
    assert_int_equal(keys_add(keys, other, fd, &what), -EBADMSG);
    assert_non_null(what);
    close(fd);
    assert_null(keys_hold(keys, other));
    keys_destroy(keys, &small.device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_least_recently_used_is_dropped),
        cmocka_unit_test(test_no_room_at_all_is_an_error),
        cmocka_unit_test(test_a_kept_key_that_is_dropped_is_told),
        cmocka_unit_test(test_an_imported_key_makes_room_too),
        cmocka_unit_test(test_a_forgotten_key_lives_while_held),
        cmocka_unit_test(test_adding_twice_keeps_the_first),
        cmocka_unit_test(test_images_that_are_not_what_they_say),
    };
    return cmocka_run_group_tests(tests, open_circuits, close_circuits);
}
