/*
 * Keys on their way between processes: by hash, the newest, bounded, and no fd is lost.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "gpu-worker/key_parcels.h"
#include "shm/wire.h"

static int is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

/* A DEVICE_KEY as it was received: `fds` of them, made here; the first one's number to *fd. */
static struct wire_packet packet_of(uint8_t hash, uint64_t bytes, unsigned fds, int *fd)
{
    struct wire_packet packet = {.fd_count = fds, .fds = {-1, -1, -1}};
    packet.message.device_key = (struct wire_device_key){
        .hash = {hash}, .device = "GPU-1", .driver_version = 13, .layout = 2, .bytes = bytes};
    for (unsigned i = 0; i < fds; i++)
        packet.fds[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    *fd = packet.fds[0];
    return packet;
}

static int put(struct key_parcels *parcels, uint8_t hash, uint64_t bytes, unsigned fds)
{
    int fd;
    struct wire_packet packet = packet_of(hash, bytes, fds, &fd);
    key_parcels_put(parcels, &packet);
    assert_int_equal(packet.fds[0], -1);
    assert_int_equal(packet.fds[1], -1);
    return fd;
}

static int take(struct key_parcels *parcels, uint8_t hash, struct device_parcel *out)
{
    uint8_t whole[HASH_BYTES] = {hash};
    return key_parcels_take(parcels, whole, out);
}

static void test_what_was_put_is_taken_once(void **state)
{
    (void)state;
    struct key_parcels *parcels = key_parcels_create();
    struct device_parcel parcel;
    int first = put(parcels, 1, 100, 2), second = put(parcels, 2, 200, 1);
    assert_int_equal(take(parcels, 3, &parcel), 0);
    assert_int_equal(take(parcels, 1, &parcel), 1);
    assert_int_equal(parcel.bytes, 100);
    assert_int_equal(parcel.memory_fd, first);
    assert_true(parcel.node_fd >= 0);
    assert_string_equal(parcel.device, "GPU-1");
    int node = parcel.node_fd;
    key_parcel_close(&parcel);
    assert_false(is_open(first) || is_open(node));
    assert_int_equal(take(parcels, 1, &parcel), 0);
    assert_true(is_open(second));
    key_parcels_destroy(parcels);
    assert_false(is_open(second));
}

static void test_a_later_one_takes_the_place(void **state)
{
    (void)state;
    struct key_parcels *parcels = key_parcels_create();
    struct device_parcel parcel;
    int first = put(parcels, 1, 100, 1), again = put(parcels, 1, 300, 1);
    assert_true(first == again || !is_open(first));
    assert_int_equal(take(parcels, 1, &parcel), 1);
    assert_int_equal(parcel.bytes, 300);
    assert_int_equal(parcel.node_fd, -1);
    key_parcel_close(&parcel);
    assert_int_equal(take(parcels, 1, &parcel), 0);
    key_parcels_destroy(parcels);
}

static void test_forgotten_ones_are_closed(void **state)
{
    (void)state;
    struct key_parcels *parcels = key_parcels_create();
    struct device_parcel parcel;
    uint8_t hash[HASH_BYTES] = {1};
    int fd = put(parcels, 1, 100, 1);
    key_parcels_forget(parcels, hash);
    key_parcels_forget(parcels, hash);
    assert_false(is_open(fd));
    assert_int_equal(take(parcels, 1, &parcel), 0);
    key_parcels_destroy(parcels);
}

static void test_the_oldest_makes_room(void **state)
{
    (void)state;
    struct key_parcels *parcels = key_parcels_create();
    struct device_parcel parcel;
    int oldest = put(parcels, 0, 100, 1);
    for (int i = 1; i <= KEY_PARCELS_MOST; i++)
        put(parcels, (uint8_t)i, 100, 1);
    assert_false(is_open(oldest));
    assert_int_equal(take(parcels, 0, &parcel), 0);
    for (int i = 1; i <= KEY_PARCELS_MOST; i++) {
        assert_int_equal(take(parcels, (uint8_t)i, &parcel), 1);
        key_parcel_close(&parcel);
    }
    key_parcels_destroy(parcels);
}

static void test_one_without_an_fd_is_nothing(void **state)
{
    (void)state;
    struct key_parcels *parcels = key_parcels_create();
    struct device_parcel parcel;
    put(parcels, 1, 100, 0);
    assert_int_equal(take(parcels, 1, &parcel), 0);
    key_parcels_destroy(parcels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_was_put_is_taken_once),
        cmocka_unit_test(test_a_later_one_takes_the_place),
        cmocka_unit_test(test_forgotten_ones_are_closed),
        cmocka_unit_test(test_the_oldest_makes_room),
        cmocka_unit_test(test_one_without_an_fd_is_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
