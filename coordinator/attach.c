/*
 * Attachment of workers; see the header. Called by the loop. A SIGKILL closes the socket, and
 * whoever waits for a welcome sees the end of it.
 */
#include "coordinator/attach.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "coordinator/clock.h"
#include "coordinator/hello.h"
#include "coordinator/workers.h"
#include "shm/program.h"

struct attach_pending {
    struct attach *attach;
    struct attach_pending *next, **link;
    struct event *event;
    struct peer peer;
    int socket;
};

/* ---- the list of those who have not said hello ---- */

static void pending_add(struct attach *attach, struct attach_pending *pending)
{
    pending->next = attach->first;
    pending->link = &attach->first;
    if (pending->next)
        pending->next->link = &pending->next;
    attach->first = pending;
    attach->pending_count++;
}

static void pending_free(struct attach_pending *pending)
{
    *pending->link = pending->next;
    if (pending->next)
        pending->next->link = pending->link;
    pending->attach->pending_count--;
    if (pending->event)
        event_free(pending->event);
    if (pending->socket >= 0)
        close(pending->socket);
    peer_close(&pending->peer);
    free(pending);
}

/* ---- the hello ---- */

static int admit(struct attach_pending *pending, const struct wire_hello *hello,
                 struct refusal *refusal)
{
    struct workers *workers = pending->attach->workers;
    int error = hello_check(hello, refusal);
    if (error)
        return error;
    if (pending->attach->draining)
        return refuse(refusal, EXIT_CAPACITY, "the coordinator is draining");
    error = workers_seat(workers, &pending->peer, pending->socket, hello);
    if (!error)
        pending->socket = -1; /* the worker's now */
    if (error == -ENOSPC)
        return refuse(refusal, EXIT_CAPACITY, "all %u seats are taken", SEATS_MAX);
    if (error == -EEXIST)
        return refuse(refusal, EXIT_CONFIG, "device %s has a gpu-worker already", hello->device);
    if (error)
        return refuse(refusal, EXIT_CAPACITY, "no seat can be made: %s", strerror(-error));
    return 0;
}

static int check_sender(const struct attach_pending *pending, const struct wire_packet *packet,
                        struct refusal *refusal)
{
    const struct config *config = pending->attach->workers->config;
    const struct peer *peer = &pending->peer;
    if (!peer_is_allowed(config, peer->uid))
        return refuse(refusal, EXIT_PERMISSION,
                      "uid %u may not attach: add it to allow_uids in [pawl]", peer->uid);
    if (!peer->certain && (packet->sender_pid != peer->pid || peer_is_dead(peer->pidfd)))
        return refuse(refusal, EXIT_PERMISSION, "the hello is not from process %d", peer->pid);
    return 0;
}

static void send_refusal(struct attach_pending *pending, const struct refusal *refusal)
{
    union wire_message message = {0};
    char quoted[WIRE_TEXT_BYTES];
    message.refused.exit_code = refusal->exit_code;
    memcpy(message.refused.why, refusal->why, sizeof(message.refused.why));
    wire_send(pending->socket, &message, WIRE_REFUSED, NULL, 0);
    pending->attach->refused_total++;
    log_event("warn", "worker_refused", "pid=%d uid=%u exit=%u why=%s", (int)pending->peer.pid,
              pending->peer.uid, refusal->exit_code,
              log_quote(quoted, sizeof(quoted), refusal->why));
}

static void take_hello(struct attach_pending *pending)
{
    struct wire_packet packet;
    struct refusal refusal = {0};
    int got = wire_receive(pending->socket, &packet, MSG_DONTWAIT);
    if (got == -EAGAIN)
        return;
    if (got == 1) {
        int error = packet.message.header.type != WIRE_HELLO
                        ? refuse(&refusal, EXIT_CONFIG, "the first message must be the hello")
                        : check_sender(pending, &packet, &refusal);
        for (unsigned i = 0; i < packet.fd_count; i++)
            close(packet.fds[i]);
        if (!error)
            error = admit(pending, &packet.message.hello, &refusal);
        if (error)
            send_refusal(pending, &refusal);
    }
    pending_free(pending);
}

static void on_hello(evutil_socket_t fd, short what, void *arg)
{
    struct attach_pending *pending = arg;
    struct clock_meter *meter = pending->attach->workers->meter;
    uint64_t entered_ns = clock_enter();
    (void)fd;
    if (what & EV_READ)
        take_hello(pending);
    else
        pending_free(pending); /* too slow */
    clock_leave(meter, entered_ns);
}

/* ---- accepting ---- */

static int await_hello(struct attach_pending *pending)
{
    const struct timeval limit = {.tv_sec = ATTACH_HELLO_MS / 1000};
    struct event_base *base = pending->attach->workers->base;
    int error = peer_read(&pending->peer, pending->socket);
    if (error)
        return error;
    pending->event = event_new(base, pending->socket, EV_READ | EV_PERSIST, on_hello, pending);
    if (!pending->event || event_add(pending->event, &limit))
        return -ENOMEM;
    return 0;
}

static void take_connection(struct attach *attach, int socket)
{
    struct attach_pending *pending = NULL;
    if (attach->pending_count < ATTACH_PENDING_MAX)
        pending = calloc(1, sizeof(*pending));
    if (!pending) {
        close(socket);
        return;
    }
    pending->attach = attach;
    pending->socket = socket;
    pending->peer.pidfd = -1;
    pending_add(attach, pending);
    if (await_hello(pending))
        pending_free(pending);
}

static void on_connection(evutil_socket_t fd, short what, void *arg)
{
    struct attach *attach = arg;
    uint64_t entered_ns = clock_enter();
    (void)what;
    int socket = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket >= 0)
        take_connection(attach, socket);
    else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
        event_del(attach->accept_event); /* attach_tick tries again */
    clock_leave(attach->workers->meter, entered_ns);
}

int attach_start(struct attach *attach, struct workers *workers, int socket)
{
    *attach = (struct attach){.workers = workers, .socket = socket};
    attach->accept_event =
        event_new(workers->base, socket, EV_READ | EV_PERSIST, on_connection, attach);
    if (!attach->accept_event || event_add(attach->accept_event, NULL))
        return -ENOMEM;
    return 0;
}

void attach_stop(struct attach *attach)
{
    while (attach->first)
        pending_free(attach->first);
    if (attach->accept_event)
        event_free(attach->accept_event);
    attach->accept_event = NULL;
}

void attach_drain(struct attach *attach)
{
    attach->draining = 1;
}

void attach_tick(struct attach *attach)
{
    event_add(attach->accept_event, NULL);
}
