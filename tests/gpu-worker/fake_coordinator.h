/*
 * A test that plays coordinator to one gpu-worker in a process of its own, over a socketpair and a
 * real region of four slabs. Header only.
 */
#ifndef PAWL_TESTS_GPU_WORKER_FAKE_COORDINATOR_H
#define PAWL_TESTS_GPU_WORKER_FAKE_COORDINATOR_H

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu-worker/blinders.h"
#include "gpu-worker/worker.h"
#include "shm/program.h"
#include "shm/region.h"
#include "shm/result.h"
#include "shm/seat.h"
#include "shm/wire.h"
#include "tests/gpu-worker/circuit.h"
#include "tests/gpu-worker/gate_device.h"

enum { FAKE_SLABS = 4, FAKE_WAIT_MS = 60000 };

struct fake {
    struct region region;
    struct seat_page *seat;
    char *slabs; /* writable: the test plays synth-worker too */
    int socket;
    pid_t worker;
    struct circuit circuit;
    struct wire_prove order[FAKE_SLABS]; /* as circuit_fill left the slabs */
};

/* Of the workers opened from now on: the device stages; another device than the gate's. */
static int fake_staging;
static struct worker_options fake_device = {.device = "cpu", .device_open = gate_open};

static inline void fake_run_worker(struct fake *fake, int socket, int seat_fd)
{
    struct blinders blinders;
    struct worker_options options = fake_device;
    struct wire_packet welcome = {.fd_count = 3};
    struct wire_welcome *settings = &welcome.message.welcome;
    close(fake->socket);
    assert(blinders_parse(&blinders, CIRCUIT_R "," CIRCUIT_S) == 0);
    options.fixed_blinders = &blinders;
    *settings = (struct wire_welcome){.threads = 2,
                                      .staged = 2,
                                      .dumpable = 1,
                                      .incarnation = 7,
                                      .control_bytes = fake->region.control_bytes,
                                      .slabs_bytes = fake->region.slabs_bytes};
    welcome.fds[0] = fcntl(fake->region.control_ro_fd, F_DUPFD_CLOEXEC, 3);
    welcome.fds[1] = fcntl(fake->region.slabs_fd, F_DUPFD_CLOEXEC, 3);
    welcome.fds[2] = seat_fd;
    _exit(worker_serve(socket, &welcome, &options));
}

static inline void fake_open_region(struct fake *fake, uint64_t slab_bytes)
{
    struct lane_spec lane = {.name = "main",
                             .slab_bytes = slab_bytes,
                             .slab_count = FAKE_SLABS,
                             .credits = FAKE_SLABS,
                             .priorities = 0xf,
                             .rows = ROWS_HOST};
    const char *what;
    assert(region_create(&fake->region, &lane, 1, "memfd", pawl_build_id, &what) == 0);
    fake->slabs = mmap(NULL, fake->region.slabs_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                       fake->region.slabs_fd, 0);
    assert(fake->slabs != MAP_FAILED);
}

/* Waits for one message and gives its type; 0: the worker has closed the socket. */
static inline uint32_t fake_receive(struct fake *fake, struct wire_packet *packet)
{
    struct pollfd event = {.fd = fake->socket, .events = POLLIN};
    assert(poll(&event, 1, FAKE_WAIT_MS) == 1);
    int got = wire_receive(fake->socket, packet, 0);
    assert(got >= 0);
    return got ? packet->message.header.type : 0;
}

static inline void fake_open(struct fake *fake, const char *folder)
{
    int pair[2], seat_fd;
    struct wire_packet packet;
    memset(fake, 0, sizeof(*fake));
    gate_create();
    atomic_store(&gate->staging, fake_staging);
    circuit_open(&fake->circuit, folder);
    fake_open_region(fake, circuit_slab_bytes(&fake->circuit));
    assert(seat_create(&fake->seat, &seat_fd, 7) == 0);
    assert(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
    fake->socket = pair[0];
    fake->worker = fork();
    assert(fake->worker >= 0);
    if (fake->worker == 0)
        fake_run_worker(fake, pair[1], seat_fd);
    close(pair[1]);
    close(seat_fd);
    assert(fake_receive(fake, &packet) == WIRE_READY);
}

/* The worker's wait status. */
static inline int fake_wait(struct fake *fake)
{
    int status;
    assert(waitpid(fake->worker, &status, 0) == fake->worker);
    fake->worker = 0;
    return status;
}

static inline int fake_exit_code(struct fake *fake)
{
    int status = fake_wait(fake);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static inline void fake_send(struct fake *fake, union wire_message *message, enum wire_type type,
                             int fd)
{
    assert(wire_send(fake->socket, message, type, &fd, fd >= 0 ? 1 : 0) == 0);
}

static inline void fake_send_plain(struct fake *fake, enum wire_type type)
{
    union wire_message message = {0};
    fake_send(fake, &message, type, -1);
}

static inline void fake_close(struct fake *fake)
{
    if (fake->worker) {
        fake_send_plain(fake, WIRE_LEAVE);
        assert(fake_exit_code(fake) == 0);
    }
    if (fake->socket >= 0)
        close(fake->socket);
    seat_unmap(fake->seat);
    munmap(fake->slabs, fake->region.slabs_bytes);
    region_destroy(&fake->region);
    circuit_close(&fake->circuit);
    gate_destroy();
}

static inline void fake_send_image(struct fake *fake, enum wire_type type)
{
    union wire_message message = {0};
    memcpy(message.image.hash, fake->circuit.hash, HASH_BYTES);
    fake_send(fake, &message, type, type == WIRE_IMAGE ? fake->circuit.image_fd : -1);
}

static inline char *fake_slab(struct fake *fake, uint32_t slab)
{
    return fake->slabs + fake->region.control.slabs[slab].offset;
}

/* Fills a slab and keeps the order that fits it: assignment 100 + slab. */
static inline void fake_fill(struct fake *fake, uint32_t slab, struct filling filling)
{
    struct wire_prove *order = &fake->order[slab];
    *order = (struct wire_prove){.assignment = 100 + slab,
                                 .job = 5,
                                 .partition = slab,
                                 .slab = slab,
                                 .generation = 40 + slab};
    filling.generation = order->generation;
    filling.job = order->job;
    filling.partition = order->partition;
    memcpy(order->hash, fake->circuit.hash, HASH_BYTES);
    circuit_fill(&fake->circuit, fake_slab(fake, slab), &filling, order->digest);
}

static inline void fake_assign(struct fake *fake, const struct wire_prove *order)
{
    union wire_message message = {.prove = *order};
    fake_send(fake, &message, WIRE_PROVE, -1);
}

static inline void fake_cancel(struct fake *fake, uint32_t slab)
{
    const struct wire_prove *order = &fake->order[slab];
    union wire_message message = {
        .step = {.assignment = order->assignment, .slab = slab, .generation = order->generation}};
    fake_send(fake, &message, WIRE_CANCEL, -1);
}

#endif
