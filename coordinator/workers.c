/*
 * Workers with a seat; see the header. Called by attach.c (seats), engine.c (messages) and
 * watchdog.c. A SIGKILL of the coordinator closes all sockets, at which workers end.
 */
#include "coordinator/workers.h"

#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/clock.h"
#include "coordinator/obituary.h"
#include "coordinator/watchdog.h"
#include "shm/program.h"
#include "shm/region.h"
#include "shm/seat.h"

#define PACKETS_AT_ONCE 64 /* then other callbacks have their turn */

void workers_init(struct workers *workers, struct event_base *base, struct clock_meter *meter,
                  struct region *region, const struct config *config)
{
    *workers = (struct workers){.base = base, .meter = meter, .region = region, .config = config};
    workers->device_keys.config = config;
}

/* ---- a worker's life ---- */

static void free_event(struct event **event)
{
    if (*event)
        event_free(*event);
    *event = NULL;
}

static void close_socket(struct worker *worker)
{
    free_event(&worker->read_event);
    free_event(&worker->write_event);
    outbox_clear(&worker->outbox);
    if (worker->socket >= 0)
        close(worker->socket);
    worker->socket = -1;
}

static void worker_free(struct worker *worker)
{
    close_socket(worker);
    free_event(&worker->death_event);
    if (worker->pidfd >= 0)
        close(worker->pidfd);
    seat_unmap(worker->page);
    free(worker->images);
    free(worker);
}

void workers_free(struct workers *workers)
{
    for (uint32_t seat = 0; seat < SEATS_MAX; seat++)
        if (workers->seats[seat])
            worker_free(workers->seats[seat]);
    memset(workers->seats, 0, sizeof(workers->seats));
    workers->count = 0;
    device_keys_clear(&workers->device_keys);
}

const char *worker_role_name(const struct worker *worker)
{
    return worker->role == ROLE_SYNTH ? "synth" : "gpu";
}

void worker_set_leaving(struct worker *worker)
{
    if (worker->leaving)
        return;
    worker->leaving = 1;
    worker->workers->on_leaving(worker->workers->arg, worker);
}

void worker_condemn(struct worker *worker, const char *why)
{
    char quoted[256];
    if (worker->socket < 0)
        return;
    log_event("warn", "worker_condemned", "role=%s seat=%u pid=%d why=%s", worker_role_name(worker),
              worker->seat, (int)worker->pid, log_quote(quoted, sizeof(quoted), why));
    close_socket(worker);
    watchdog_expect_end(worker, clock_now_ns());
    worker_set_leaving(worker);
}

static void announce_death(struct worker *worker)
{
    struct workers *workers = worker->workers;
    char obituary[OBITUARY_BYTES];
    int died = obituary_write(worker, obituary);
    workers->deaths_total[worker->role] += (uint64_t)died;
    worker->leaving = 1;
    device_keys_mourn(&workers->device_keys, worker, died);
    workers->on_dead(workers->arg, worker, obituary, died);
}

void worker_give_up(struct worker *worker)
{
    close_socket(worker);
    announce_death(worker);
}

static void add_pinning(struct workers_pinning *sum, const struct worker *worker)
{
    struct seat_view view;
    seat_read(worker->page, &view);
    sum->registered_bytes += view.registered_bytes;
    sum->registrations_total += view.registrations_total;
    sum->allocations_after_start += view.allocations_after_start;
}

void workers_sum_pinning(const struct workers *workers, struct workers_pinning *sum)
{
    *sum = workers->pinning;
    for (uint32_t seat = 0; seat < SEATS_MAX; seat++)
        if (workers->seats[seat])
            add_pinning(sum, workers->seats[seat]);
}

void worker_bury(struct worker *worker)
{
    struct workers *workers = worker->workers;
    while (worker->socket >= 0 && worker_read_packet(worker) > 0)
        ;
    close_socket(worker); /* nothing more is sent, whoever inherited the other end */
    if (worker->ending != ENDING_LOST)
        announce_death(worker);
    add_pinning(&workers->pinning, worker);
    workers->pinning.registered_bytes = 0; /* with its process all its registrations went */
    workers->seats[worker->seat] = NULL;
    workers->count--;
    seat_vacate(&workers->region->control, worker->seat);
    worker_free(worker);
}

/* ---- events ---- */

/* READY for slabs that are not the region's any more says nothing. */
static int is_up_to_date(struct worker *worker, const union wire_message *message)
{
    if (message->header.type != WIRE_READY)
        return 1;
    worker->generation = message->ready.generation;
    return worker->generation == worker->workers->region->generation;
}

/* 1: a message was handed on; 0: there is none; the socket may be closed afterwards. */
int worker_read_packet(struct worker *worker)
{
    struct wire_packet packet;
    int got = wire_receive(worker->socket, &packet, MSG_DONTWAIT);
    if (got == -EAGAIN)
        return 0;
    if (got <= 0) {
        if (got == -EPROTO)
            worker_condemn(worker, "sent something that is no message");
        else
            worker_hang_up(worker);
        return 0;
    }
    if (is_up_to_date(worker, &packet.message))
        worker->workers->on_packet(worker->workers->arg, worker, &packet);
    for (unsigned i = 0; i < packet.fd_count; i++)
        if (packet.fds[i] >= 0)
            close(packet.fds[i]);
    return 1;
}

/* The end of its socket is not its death, but it should follow. */
void worker_hang_up(struct worker *worker)
{
    close_socket(worker);
    watchdog_expect_end(worker, clock_now_ns());
    worker_set_leaving(worker);
}

/* Nothing reaches it any more; on_readable goes on to the end of what it said. */
static void cut_off(struct worker *worker)
{
    outbox_clear(&worker->outbox);
    watchdog_expect_end(worker, clock_now_ns());
    worker_set_leaving(worker);
}

void worker_not_sent(struct worker *worker, int error)
{
    if (error == -EPIPE || error == -ECONNRESET)
        cut_off(worker);
    else
        worker_condemn(worker, strerror(-error));
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct worker *worker = arg;
    struct clock_meter *meter = worker->workers->meter;
    uint64_t entered_ns = clock_enter();
    int packets = 0;
    (void)fd, (void)what;
    while (packets < PACKETS_AT_ONCE && worker->socket >= 0 && worker_read_packet(worker))
        packets++;
    clock_leave(meter, entered_ns);
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    struct worker *worker = arg;
    uint64_t entered_ns = clock_enter();
    (void)fd, (void)what;
    int left = outbox_flush(&worker->outbox, worker->socket);
    if (left == 1)
        event_add(worker->write_event, NULL);
    else if (left < 0)
        worker_not_sent(worker, left);
    clock_leave(worker->workers->meter, entered_ns);
}

static void on_death(evutil_socket_t fd, short what, void *arg)
{
    struct worker *worker = arg;
    struct clock_meter *meter = worker->workers->meter;
    uint64_t entered_ns = clock_enter();
    (void)fd, (void)what;
    worker_bury(worker);
    clock_leave(meter, entered_ns);
}

/* ---- seating ---- */

static int find_seat(const struct workers *workers, const struct wire_hello *hello)
{
    int seat = -ENOSPC;
    for (int i = SEATS_MAX - 1; i >= 0; i--) {
        const struct worker *worker = workers->seats[i];
        if (!worker)
            seat = i;
        else if (worker->role == ROLE_GPU && hello->role == ROLE_GPU &&
                 strcmp(worker->device, hello->device) == 0)
            return -EEXIST;
    }
    return seat;
}

static int device_is_seated(const struct workers *workers, const char *device)
{
    for (uint32_t seat = 0; seat < SEATS_MAX; seat++)
        if (workers->seats[seat] && workers->seats[seat]->role == ROLE_GPU &&
            strcmp(workers->seats[seat]->device, device) == 0)
            return 1;
    return 0;
}

/* Its number, the one that it had before where it was here; a new one takes one that is free, or
 * that of a device that has no worker now. -ENOSPC. */
static int number_device(struct workers *workers, const char *device)
{
    int number = -ENOSPC;
    for (int i = DISPATCH_DEVICES_MAX - 1; i >= 0; i--) {
        if (strcmp(workers->devices[i], device) == 0)
            return i;
        if (!workers->devices[i][0] ||
            (number < 0 && !device_is_seated(workers, workers->devices[i])))
            number = i;
    }
    if (number >= 0)
        memcpy(workers->devices[number], device, WIRE_DEVICE_BYTES);
    return number;
}

static int make_events(struct worker *worker, int socket, int pidfd)
{
    struct event_base *base = worker->workers->base;
    worker->read_event = event_new(base, socket, EV_READ | EV_PERSIST, on_readable, worker);
    worker->write_event = event_new(base, socket, EV_WRITE, on_writable, worker);
    worker->death_event = event_new(base, pidfd, EV_READ, on_death, worker);
    if (!worker->read_event || !worker->write_event || !worker->death_event)
        return -ENOMEM;
    if (event_add(worker->read_event, NULL) || event_add(worker->death_event, NULL))
        return -ENOMEM;
    return 0;
}

static int send_welcome(const struct worker *worker, int socket, int page_fd)
{
    const struct config *config = worker->workers->config;
    const struct region *region = worker->workers->region;
    union wire_message message = {0};
    const int fds[3] = {region->control_ro_fd, region->slabs_fd, page_fd};
    struct wire_welcome *welcome = &message.welcome;
    welcome->seat = worker->seat;
    welcome->threads = config->threads;
    welcome->staged = config->staged;
    welcome->dumpable = (uint32_t)config->dumpable;
    welcome->nice = config->nice[worker->role];
    welcome->keep_device_keys = worker->role == ROLE_GPU && config->keep_device_keys;
    welcome->incarnation = worker->incarnation;
    welcome->control_bytes = region->control_bytes;
    welcome->slabs_bytes = region->slabs_bytes;
    welcome->generation = region->generation;
    strncpy(welcome->cpus, config->cpus[worker->role], sizeof(welcome->cpus) - 1);
    return wire_send(socket, &message, WIRE_WELCOME, fds, 3);
}

static int prepare(struct worker *worker, const struct peer *peer, int socket)
{
    int page_fd;
    int error = seat_create(&worker->page, &page_fd, worker->incarnation);
    if (error)
        return error;
    seat_occupy(&worker->workers->region->control, worker->seat, worker->incarnation, peer->pid,
                worker->role);
    error = make_events(worker, socket, peer->pidfd);
    if (!error)
        error = send_welcome(worker, socket, page_fd);
    close(page_fd);
    if (error)
        seat_vacate(&worker->workers->region->control, worker->seat);
    return error;
}

static struct worker *make_worker(struct workers *workers, uint32_t seat,
                                  const struct wire_hello *hello)
{
    struct worker *worker = calloc(1, sizeof(*worker));
    if (!worker)
        return NULL;
    worker->workers = workers;
    worker->seat = seat;
    worker->role = hello->role;
    worker->incarnation = ++workers->incarnations;
    worker->socket = worker->pidfd = -1;
    worker->moved_ns = clock_now_ns();
    memcpy(worker->device, hello->device, sizeof(worker->device));
    return worker;
}

int workers_seat(struct workers *workers, struct peer *peer, int socket,
                 const struct wire_hello *hello)
{
    int seat = find_seat(workers, hello);
    int number = seat >= 0 && hello->role == ROLE_GPU ? number_device(workers, hello->device) : 0;
    if (seat < 0 || number < 0)
        return seat < 0 ? seat : number;
    struct worker *worker = make_worker(workers, (uint32_t)seat, hello);
    if (!worker)
        return -ENOMEM;
    int error = prepare(worker, peer, socket);
    if (error) {
        worker_free(worker);
        return error;
    }
    worker->socket = socket;
    worker->device_number = (uint32_t)number;
    worker->pid = peer->pid;
    worker->pidfd = peer->pidfd;
    peer->pidfd = -1;
    workers->seats[seat] = worker;
    workers->count++;
    workers->on_attached(workers->arg, worker);
    return 0;
}

uint32_t workers_count_ready(const struct workers *workers, enum worker_role role)
{
    uint32_t ready = 0;
    for (uint32_t seat = 0; seat < SEATS_MAX; seat++) {
        const struct worker *worker = workers->seats[seat];
        ready += worker && worker->role == role && worker->ready && !worker->leaving;
    }
    return ready;
}
