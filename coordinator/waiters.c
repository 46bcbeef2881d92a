/*
 * Waiting clients; see the header. Called by http_jobs.c, the engine's job end and the tick. A
 * SIGKILL closes their connections.
 */
#include "coordinator/waiters.h"

#include <errno.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <poll.h>
#include <stdlib.h>

struct waiter {
    struct waiter *next;
    struct evhttp_request *request;
    uint64_t job, until_ns;
    int is_due;
};

static void answer_due(struct waiters *waiters)
{
    struct waiter **link = &waiters->first;
    while (*link) {
        struct waiter *waiter = *link;
        if (!waiter->is_due) {
            link = &waiter->next;
            continue;
        }
        *link = waiter->next;
        waiters->count--;
        waiters->answer(waiters->arg, waiter->request, waiter->job);
        free(waiter);
    }
}

static void on_wake(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what;
    answer_due(arg);
}

int waiters_init(struct waiters *waiters, struct event_base *base,
                 void (*answer)(void *arg, struct evhttp_request *request, uint64_t job), void *arg)
{
    *waiters = (struct waiters){.answer = answer, .arg = arg};
    waiters->wake_event = event_new(base, -1, 0, on_wake, waiters);
    return waiters->wake_event ? 0 : -ENOMEM;
}

void waiters_free(struct waiters *waiters)
{
    while (waiters->first) {
        struct waiter *waiter = waiters->first;
        waiters->first = waiter->next;
        free(waiter);
    }
    waiters->count = 0;
    if (waiters->wake_event)
        event_free(waiters->wake_event);
    waiters->wake_event = NULL;
}

int waiters_add(struct waiters *waiters, struct evhttp_request *request, uint64_t job,
                uint64_t until_ns)
{
    if (waiters->count >= WAITERS_MAX)
        return -ENOSPC;
    struct waiter *waiter = calloc(1, sizeof(*waiter));
    if (!waiter)
        return -ENOMEM;
    waiter->request = request;
    waiter->job = job;
    waiter->until_ns = until_ns;
    waiter->next = waiters->first;
    waiters->first = waiter;
    waiters->count++;
    return 0;
}

void waiters_wake(struct waiters *waiters, uint64_t job)
{
    for (struct waiter *at = waiters->first; at; at = at->next)
        at->is_due |= at->job == job;
    if (waiters->wake_event)
        event_active(waiters->wake_event, EV_TIMEOUT, 0);
}

static int client_is_gone(const struct waiter *waiter)
{
    struct evhttp_connection *connection = evhttp_request_get_connection(waiter->request);
    struct bufferevent *stream = evhttp_connection_get_bufferevent(connection);
    struct pollfd poll_one = {.fd = bufferevent_getfd(stream)};
    return poll(&poll_one, 1, 0) > 0; /* POLLHUP and POLLERR are always asked for */
}

void waiters_tick(struct waiters *waiters, uint64_t now_ns)
{
    for (struct waiter *at = waiters->first; at; at = at->next)
        at->is_due |= now_ns >= at->until_ns || client_is_gone(at);
    answer_due(waiters);
}
