/*
 * Keys in devices' memory that the coordinator keeps: which it takes, to whom it hands them, and
 * that each way to let go of one closes its fds. Workers are structs with a socket pair here; no
 * event loop runs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "coordinator/clock.h"
#include "coordinator/config.h"
#include "coordinator/device_keys.h"
#include "coordinator/watchdog.h"
#include "coordinator/workers.h"
#include "shm/region.h"
#include "shm/seat.h"
#include "tests/support/scratch.h"

static struct config config;
static struct region region;
static struct workers workers;

struct desk { /* a worker with a seat, and the other end of its socket */
    struct worker *worker;
    int peer;
};

static uint32_t deaths;

static void on_dead(void *arg, struct worker *worker, const char *obituary, int died)
{
    (void)arg, (void)worker, (void)died;
    assert_non_null(strstr(obituary, "does not die"));
    deaths++;
}

static void on_leaving(void *arg, struct worker *worker)
{
    (void)arg, (void)worker;
}

static int has_work(void *arg, const struct worker *worker)
{
    (void)arg, (void)worker;
    return 1;
}

static int set_up(void **state)
{
    (void)state;
    memset(&config, 0, sizeof(config));
    config.keep_device_keys = 1;
    workers_init(&workers, NULL, NULL, &region, &config);
    workers.on_dead = on_dead;
    workers.on_leaving = on_leaving;
    workers.has_work = has_work;
    deaths = 0;
    return 0;
}

/* A thread of its own closes them, soon. */
static void expect_fds(unsigned wanted)
{
    const struct timespec pause = {.tv_nsec = 1000000};

    for (int i = 0; i < 5000 && scratch_count_fds() != wanted; i++)
        nanosleep(&pause, NULL);
    assert_int_equal(scratch_count_fds(), wanted);
}

static void sit(struct desk *desk, uint32_t seat, enum worker_role role, const char *device)
{
    struct worker *worker = calloc(1, sizeof(*worker));
    int ends[2], page_fd;

    assert_non_null(worker);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    worker->workers = &workers;
    worker->seat = seat;
    worker->role = role;
    worker->socket = ends[0];
    worker->pidfd = -1;
    snprintf(worker->device, sizeof(worker->device), "%s", device);
    assert_int_equal(seat_create(&worker->page, &page_fd, 1), 0);
    close(page_fd);
    workers.seats[seat] = worker;
    *desk = (struct desk){worker, ends[1]};
}

static void stand_up(struct desk *desk)
{
    workers.seats[desk->worker->seat] = NULL;
    if (desk->worker->socket >= 0)
        close(desk->worker->socket);
    if (desk->worker->pidfd >= 0)
        close(desk->worker->pidfd);
    close(desk->peer);
    seat_unmap(desk->worker->page);
    free(desk->worker->images);
    free(desk->worker);
}

static const uint8_t *hash_of(unsigned number)
{
    static uint8_t hash[HASH_BYTES];

    memset(hash, 0, sizeof(hash));
    memcpy(hash, &number, sizeof(number));
    return hash;
}

/* The worker is given the image, as before any proof. */
static void give_image(struct desk *desk, unsigned number)
{
    int image = memfd_create("image", MFD_CLOEXEC);

    worker_send_image(desk->worker, hash_of(number), image);
    close(image);
}

/* The next message that the worker gets. */
static struct wire_packet hear(struct desk *desk)
{
    struct wire_packet packet;

    assert_int_equal(wire_receive(desk->peer, &packet, MSG_DONTWAIT), 1);
    return packet;
}

static void drop_packet(struct wire_packet *packet)
{
    for (unsigned i = 0; i < packet->fd_count; i++)
        if (packet->fds[i] >= 0)
            close(packet->fds[i]);
}

static struct wire_packet key_packet(const char *device, unsigned number, int memory, int node)
{
    struct wire_packet packet = {.fds = {memory, node, -1}};
    struct wire_device_key *told = &packet.message.device_key;

    packet.fd_count = (unsigned)(memory >= 0) + (node >= 0);
    told->header = (struct wire_header){WIRE_DEVICE_KEY, sizeof(*told)};
    memcpy(told->hash, hash_of(number), HASH_BYTES);
    snprintf(told->device, sizeof(told->device), "%s", device);
    told->driver_version = 13000;
    told->layout = 3;
    told->bytes = 4096 + number;
    told->checksum = 99 + number;
    return packet;
}

static int make_memory(void)
{
    return memfd_create("key", MFD_CLOEXEC);
}

/* As workers.c does with a packet that came. */
static void say(struct desk *desk, struct wire_packet packet)
{
    device_keys_take(&workers.device_keys, desk->worker, &packet);
    drop_packet(&packet);
}

static void keep_one(struct desk *desk, unsigned number)
{
    give_image(desk, number);
    struct wire_packet image = hear(desk);
    drop_packet(&image);
    say(desk, key_packet(desk->worker->device, number, make_memory(),
                         open("/dev/null", O_RDONLY | O_CLOEXEC)));
}

static void a_key_goes_to_the_next_worker(void **state)
{
    unsigned before = scratch_count_fds();
    struct stat kept, handed;
    struct desk first, second;
    int memory = make_memory();

    (void)state;
    sit(&first, 0, ROLE_GPU, "GPU-1");
    give_image(&first, 7);
    struct wire_packet packet = hear(&first);
    assert_int_equal(packet.message.header.type, WIRE_IMAGE);
    drop_packet(&packet);
    fstat(memory, &kept);
    say(&first, key_packet("GPU-1", 7, memory, open("/dev/null", O_RDONLY | O_CLOEXEC)));
    assert_int_equal(workers.device_keys.count, 1);
    assert_int_equal(device_keys_bytes(&workers.device_keys), 4103);
    stand_up(&first);

    sit(&second, 0, ROLE_GPU, "GPU-1");
    give_image(&second, 7);
    packet = hear(&second); /* before the image */
    assert_int_equal(packet.message.header.type, WIRE_DEVICE_KEY);
    assert_int_equal(packet.fd_count, 2);
    assert_int_equal(packet.message.device_key.driver_version, 13000);
    assert_int_equal(packet.message.device_key.layout, 3);
    assert_int_equal(packet.message.device_key.checksum, 106);
    fstat(packet.fds[0], &handed);
    assert_int_equal(handed.st_ino, kept.st_ino);
    fstat(packet.fds[1], &handed);
    assert_true(S_ISCHR(handed.st_mode));
    drop_packet(&packet);
    packet = hear(&second);
    assert_int_equal(packet.message.header.type, WIRE_IMAGE);
    drop_packet(&packet);
    assert_int_equal(workers.device_keys.handed_total, 1);
    assert_int_equal(workers.device_keys.count, 1); /* and is kept for the one after */
    device_keys_clear(&workers.device_keys);
    stand_up(&second);
    expect_fds(before);
}

static void a_key_goes_to_no_other(void **state)
{
    unsigned before = scratch_count_fds();
    struct desk first, others[2];

    (void)state;
    sit(&first, 0, ROLE_GPU, "GPU-1");
    keep_one(&first, 7);
    sit(&others[0], 1, ROLE_GPU, "GPU-2");
    sit(&others[1], 2, ROLE_SYNTH, "GPU-1"); /* a role that has no device, whatever it said */
    for (int i = 0; i < 2; i++) {
        give_image(&others[i], 7);
        struct wire_packet packet = hear(&others[i]);
        assert_int_equal(packet.message.header.type, WIRE_IMAGE);
        drop_packet(&packet);
        stand_up(&others[i]);
    }
    give_image(&first, 8); /* another key, and the worker itself has that one already */
    struct wire_packet packet = hear(&first);
    assert_int_equal(packet.message.header.type, WIRE_IMAGE);
    drop_packet(&packet);
    stand_up(&first);
    device_keys_clear(&workers.device_keys);
    expect_fds(before);
}

static void expect_refused(struct desk *desk, struct wire_packet packet)
{
    uint64_t refused = workers.device_keys.refused_total;

    say(desk, packet);
    assert_int_equal(workers.device_keys.refused_total, refused + 1);
    assert_int_equal(workers.device_keys.count, 0);
}

static void what_is_no_key_is_refused(void **state)
{
    unsigned before = scratch_count_fds();
    struct wire_packet packet;
    struct desk desk;
    int pipe_ends[2], sockets[2];

    (void)state;
    sit(&desk, 0, ROLE_GPU, "GPU-1");
    give_image(&desk, 7);
    packet = hear(&desk);
    drop_packet(&packet);
    expect_refused(&desk, key_packet("GPU-2", 7, make_memory(), -1));
    expect_refused(&desk, key_packet("GPU-1", 8, make_memory(), -1));
    packet = key_packet("GPU-1", 7, make_memory(), -1);
    packet.message.device_key.bytes = 0;
    expect_refused(&desk, packet);
    expect_refused(&desk, key_packet("GPU-1", 7, make_memory(), make_memory()));
    expect_refused(&desk, key_packet("GPU-1", 7, open("/", O_RDONLY | O_CLOEXEC), -1));
    expect_refused(&desk, key_packet("GPU-1", 7, open("Makefile", O_RDONLY | O_CLOEXEC), -1));
    assert_int_equal(pipe2(pipe_ends, O_CLOEXEC), 0);
    expect_refused(&desk, key_packet("GPU-1", 7, pipe_ends[0], -1));
    close(pipe_ends[1]);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
    expect_refused(&desk, key_packet("GPU-1", 7, sockets[0], -1));
    close(sockets[1]);
    config.keep_device_keys = 0; /* nothing is wrong with it, but none is wanted */
    say(&desk, key_packet("GPU-1", 7, make_memory(), -1));
    assert_int_equal(workers.device_keys.count, 0);
    stand_up(&desk);
    expect_fds(before);
}

static void letting_go_closes(void **state)
{
    unsigned before = scratch_count_fds(), kept;
    struct desk desk;

    (void)state;
    sit(&desk, 0, ROLE_GPU, "GPU-1");
    kept = scratch_count_fds() + 2;
    keep_one(&desk, 7);
    keep_one(&desk, 8);
    assert_int_equal(workers.device_keys.count, 2);
    say(&desk, key_packet("GPU-1", 8, make_memory(), -1)); /* replaced */
    assert_int_equal(workers.device_keys.count, 2);
    expect_fds(kept + 1);
    say(&desk, key_packet("", 8, -1, -1)); /* taken back */
    assert_int_equal(workers.device_keys.count, 1);
    expect_fds(kept);
    say(&desk, key_packet("", 8, -1, -1)); /* which is nothing new */
    assert_int_equal(workers.device_keys.count, 1);
    workers_forget_image(&workers, hash_of(8));
    assert_int_equal(workers.device_keys.count, 1);
    workers_forget_image(&workers, hash_of(7)); /* evicted or removed */
    assert_int_equal(workers.device_keys.count, 0);
    stand_up(&desk);
    expect_fds(before);
}

static void the_oldest_makes_room(void **state)
{
    unsigned before = scratch_count_fds();
    struct desk desk, next;
    struct wire_packet packet;

    (void)state;
    sit(&desk, 0, ROLE_GPU, "GPU-1");
    for (unsigned i = 1; i <= DEVICE_KEYS_MAX; i++)
        keep_one(&desk, i);
    sit(&next, 1, ROLE_GPU, "GPU-1");
    give_image(&next, 1); /* used: 2 is the oldest now */
    keep_one(&desk, DEVICE_KEYS_MAX + 1);
    assert_int_equal(workers.device_keys.count, DEVICE_KEYS_MAX);
    packet = hear(&next);
    assert_int_equal(packet.message.header.type, WIRE_DEVICE_KEY);
    drop_packet(&packet);
    packet = hear(&next);
    drop_packet(&packet);
    give_image(&next, 2);
    packet = hear(&next);
    assert_int_equal(packet.message.header.type, WIRE_IMAGE); /* without a key */
    drop_packet(&packet);
    device_keys_clear(&workers.device_keys);
    stand_up(&desk);
    stand_up(&next);
    expect_fds(before);
}

/* A key that was handed on is suspect until its worker has proved something. */
static void a_key_that_may_kill_is_closed(void **state)
{
    struct device_keys *keys = &workers.device_keys;
    struct desk first, next;

    (void)state;
    sit(&first, 0, ROLE_GPU, "GPU-1");
    keep_one(&first, 7);
    device_keys_mourn(keys, first.worker, 1); /* it was handed none */
    assert_int_equal(keys->count, 1);
    sit(&next, 1, ROLE_GPU, "GPU-1");
    give_image(&next, 7);
    device_keys_mourn(keys, next.worker, 0); /* left in order */
    assert_int_equal(keys->count, 1);
    seat_add(next.worker->page, 0, 0, 1);
    device_keys_mourn(keys, next.worker, 1);
    assert_int_equal(keys->count, 1);
    stand_up(&next);
    sit(&next, 1, ROLE_GPU, "GPU-1");
    give_image(&next, 7);
    device_keys_mourn(keys, next.worker, 1);
    assert_int_equal(keys->count, 0);
    stand_up(&first);
    stand_up(&next);
}

/* A gpu-worker that outlives SIGKILL, as one in the hands of a hung driver does: nobody tells the
 * watchdog here that it ended. It is given up once, and nothing of its device is kept. */
static void a_lost_device_keeps_nothing(void **state)
{
    uint64_t now_ns = clock_now_ns();
    struct desk desk, other;
    pid_t pid = fork();

    (void)state;
    if (pid == 0)
        for (;;)
            pause();
    sit(&desk, 0, ROLE_GPU, "GPU-1");
    sit(&other, 1, ROLE_GPU, "GPU-2");
    other.worker->ending = ENDING_LOST; /* the watchdog has nothing to do with that one */
    desk.worker->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    desk.worker->moved_ns = now_ns;
    config.deadline_ms[STAGE_UPLOAD] = 1000;
    keep_one(&desk, 7);
    keep_one(&other, 7);
    assert_int_equal(workers.device_keys.count, 2);
    for (int second = 0; second < 60; second++)
        watchdog_tick(&workers, now_ns + (uint64_t)second * NS_PER_S);
    assert_int_equal(desk.worker->ending, ENDING_LOST);
    assert_int_equal(deaths, 1);
    assert_int_equal(desk.worker->socket, -1); /* what it still sends is dropped */
    assert_int_equal(workers.device_keys.count, 1);
    assert_string_equal(workers.device_keys.list[0].told.device, "GPU-2");
    device_keys_clear(&workers.device_keys);
    stand_up(&desk);
    stand_up(&other);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_key_goes_to_the_next_worker, set_up),
        cmocka_unit_test_setup(a_key_goes_to_no_other, set_up),
        cmocka_unit_test_setup(what_is_no_key_is_refused, set_up),
        cmocka_unit_test_setup(letting_go_closes, set_up),
        cmocka_unit_test_setup(the_oldest_makes_room, set_up),
        cmocka_unit_test_setup(a_key_that_may_kill_is_closed, set_up),
        cmocka_unit_test_setup(a_lost_device_keeps_nothing, set_up),
    };

    return cmocka_run_group_tests_name("device_keys", tests, NULL, NULL);
}
