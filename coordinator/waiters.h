/*
 * Clients that wait for a job's end (GET /v1/jobs/ID?wait=S). A waiter whose client has gone is
 * answered at once, which finds out and frees the connection.
 */
#ifndef PAWL_COORDINATOR_WAITERS_H
#define PAWL_COORDINATOR_WAITERS_H

#include <stdint.h>

#define WAITERS_MAX 4096u
#define WAIT_S_MAX 60.0

struct event;
struct event_base;
struct evhttp_request;
struct waiter;

struct waiters {
    struct waiter *first;
    uint32_t count;
    struct event *wake_event;
    /* Answers the request with the job's present state; set by the owner. */
    void (*answer)(void *arg, struct evhttp_request *request, uint64_t job);
    void *arg;
};

/* 0 or -ENOMEM. */
int waiters_init(struct waiters *waiters, struct event_base *base,
                 void (*answer)(void *arg, struct evhttp_request *request, uint64_t job),
                 void *arg);
/* Drops all; the requests are their connections'. */
void waiters_free(struct waiters *waiters);
/* 0, or -ENOSPC, -ENOMEM. */
int waiters_add(struct waiters *waiters, struct evhttp_request *request, uint64_t job,
                uint64_t until_ns);
/* The job is final: its waiters are answered from the loop, soon. */
void waiters_wake(struct waiters *waiters, uint64_t job);
/* Answers those whose time is up or whose client has gone. */
void waiters_tick(struct waiters *waiters, uint64_t now_ns);

#endif
