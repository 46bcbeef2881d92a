/*
 * Tick, signals, drain; see the header. Called by main.c. A SIGKILL closes all sockets, at which
 * workers end; the region has no name and goes with the last of them; the lock is free.
 */
#include "coordinator/loop.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/dispatch.h"
#include "coordinator/store.h"
#include "coordinator/watchdog.h"
#include "shm/program.h"

#define TICK_MS 100
#define LEAVING_MS 2000

/* ---- drain ---- */

static int is_idle(const struct loop *loop)
{
    struct store_counts counts;
    loop->service.store->counts(loop->service.store, &counts);
    return counts.queued + counts.running + counts.uncommitted == 0 &&
           loop->service.accepting == 0 && dispatch_tasks(loop->service.dispatch) == 0;
}

static void begin_drain(struct loop *loop)
{
    loop->phase = PHASE_DRAINING;
    loop->phase_until_ns = clock_now_ns() + loop->config.drain_timeout_ms * NS_PER_MS;
    loop->service.draining = 1;
    attach_drain(&loop->attach);
    log_event("info", "draining", "timeout_ms=%" PRIu64, loop->config.drain_timeout_ms);
}

struct unfinished {
    uint64_t *jobs;
    uint64_t count, room;
};

static void collect_unfinished(void *arg, const struct store_job *job)
{
    struct unfinished *unfinished = arg;
    if (unfinished->count < unfinished->room)
        unfinished->jobs[unfinished->count++] = job->id;
}

/* Jobs that did not end in time are told so: who waits for them has an answer. */
static void end_rest(struct loop *loop)
{
    struct store *store = loop->service.store;
    struct store_counts counts;
    struct unfinished unfinished = {0};
    store->counts(store, &counts);
    unfinished.room = counts.queued + counts.running;
    if (unfinished.room)
        unfinished.jobs = calloc(unfinished.room, sizeof(*unfinished.jobs));
    if (!unfinished.jobs)
        return;
    store->each_active(store, collect_unfinished, &unfinished);
    for (uint64_t i = 0; i < unfinished.count; i++)
        store->end(store, unfinished.jobs[i], FAULT_CAPACITY,
                   "the service stopped before the job ended", clock_now_ns());
    log_event("warn", "drain_timeout", "jobs=%" PRIu64 " key=drain_timeout", unfinished.count);
    free(unfinished.jobs);
}

static void begin_leaving(struct loop *loop)
{
    if (loop->service.store->is_durable) /* the next start goes on with them */
        waiters_tick(&loop->waiters, UINT64_MAX);
    else
        end_rest(loop);
    loop->phase = PHASE_LEAVING;
    loop->phase_until_ns = clock_now_ns() + LEAVING_MS * NS_PER_MS;
    workers_leave(&loop->workers);
}

static void drain_tick(struct loop *loop, uint64_t now_ns)
{
    if (loop->phase == PHASE_DRAINING && (is_idle(loop) || now_ns >= loop->phase_until_ns))
        begin_leaving(loop);
    else if (loop->phase == PHASE_LEAVING &&
             (loop->workers.count == 0 || now_ns >= loop->phase_until_ns))
        event_base_loopbreak(loop->service.base);
}

/* ---- events ---- */

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    struct loop *loop = arg;
    uint64_t now_ns = clock_enter();
    (void)fd, (void)what;
    watchdog_tick(&loop->workers, now_ns);
    engine_tick(&loop->engine, now_ns);
    circuits_tick(&loop->circuits);
    planner_tick(&loop->planner);
    uploads_tick(&loop->uploads, now_ns);
    waiters_tick(&loop->waiters, now_ns);
    attach_tick(&loop->attach);
    http_tick(&loop->http);
    drain_tick(loop, now_ns);
    clock_leave(&loop->meter, now_ns);
}

static void on_signal(evutil_socket_t number, short what, void *arg)
{
    struct loop *loop = arg;
    uint64_t entered_ns = clock_enter();
    (void)what;
    if (number == SIGHUP)
        loop_reload(loop);
    else if (loop->phase == PHASE_SERVING)
        begin_drain(loop);
    else
        event_base_loopbreak(loop->service.base);
    clock_leave(&loop->meter, entered_ns);
}

/* The owner never writes: whatever it sends is dropped, its end is ours. */
static void on_owner(evutil_socket_t fd, short what, void *arg)
{
    struct loop *loop = arg;
    char dropped[64];
    (void)what;
    ssize_t got = read(fd, dropped, sizeof(dropped));
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
        log_event("info", "owner_gone", "fd=%d", loop->owner_fd);
        event_base_loopbreak(loop->service.base);
    }
}

static int add_event(struct loop *loop, struct event **event, int fd, short what,
                     event_callback_fn callback, const struct timeval *every)
{
    *event = event_new(loop->service.base, fd, what | EV_PERSIST, callback, loop);
    return *event && event_add(*event, every) == 0 ? 0 : -ENOMEM;
}

static int add_events(struct loop *loop)
{
    static const int signals[LOOP_SIGNALS] = {SIGTERM, SIGINT, SIGHUP};
    const struct timeval tick = {.tv_usec = TICK_MS * 1000};
    int error = add_event(loop, &loop->tick_event, -1, 0, on_tick, &tick);
    for (int i = 0; !error && i < LOOP_SIGNALS; i++)
        error = add_event(loop, &loop->signal_events[i], signals[i], EV_SIGNAL, on_signal, NULL);
    if (!error && loop->owner_fd >= 0)
        error = add_event(loop, &loop->owner_event, loop->owner_fd, EV_READ, on_owner, NULL);
    return error;
}

static void free_events(struct loop *loop)
{
    struct event *events[] = {loop->tick_event, loop->owner_event, loop->signal_events[0],
                              loop->signal_events[1], loop->signal_events[2]};
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
        if (events[i])
            event_free(events[i]);
}

/* ---- the whole ---- */

static void say_ready(const struct loop *loop, int ready_fd)
{
    log_event("info", "ready", "socket=%s pid=%d lanes=%u slabs_bytes=%" PRIu64,
              loop->config.socket, (int)getpid(), loop->config.lane_count,
              loop->region.slabs_bytes);
    if (ready_fd < 0)
        return;
    if (write(ready_fd, "\n", 1) != 1)
        log_event("warn", "ready_fd_closed", "fd=%d", ready_fd);
    close(ready_fd);
}

static int serve(struct loop *loop, int ready_fd)
{
    if (add_events(loop)) {
        log_event("error", "start", "what=events error=\"%s\"", strerror(ENOMEM));
        return EXIT_INTERNAL;
    }
    say_ready(loop, ready_fd);
    event_base_dispatch(loop->service.base);
    log_event("info", "stopped", "loop_max_ms=%.1f",
              (double)loop->meter.longest_ns / (double)NS_PER_MS);
    return 0;
}

int loop_run(const struct config *config, int ready_fd, int owner_fd)
{
    struct loop *loop = calloc(1, sizeof(*loop));
    if (!loop)
        return EXIT_MACHINE;
    loop->config = *config;
    loop->worker_socket = loop->rundir.lock_fd = loop->spool.folder = -1;
    loop->owner_fd = owner_fd;
    if (owner_fd >= 0) {
        fcntl(owner_fd, F_SETFD, FD_CLOEXEC);
        fcntl(owner_fd, F_SETFL, fcntl(owner_fd, F_GETFL) | O_NONBLOCK);
    }
    if (ready_fd >= 0)
        fcntl(ready_fd, F_SETFD, FD_CLOEXEC);
    int code = loop_start(loop);
    if (!code)
        code = serve(loop, ready_fd);
    free_events(loop);
    loop_stop(loop);
    free(loop);
    return code;
}
