/*
 * The coordinator's life: what it holds, in which order it starts and stops, its tick and its
 * signals.
 *
 * Start: configuration, folders, lock, region, circuits, sockets, and only then the byte on the
 * ready fd. Stop, in reverse. TERM or INT drains: no new jobs, accepted ones end up to
 * drain_timeout, workers are told to leave, exit 0; a second signal, or the end of the owner fd,
 * stops at once. HUP reads the configuration again.
 */
#ifndef PAWL_COORDINATOR_LOOP_H
#define PAWL_COORDINATOR_LOOP_H

#include <stdint.h>

#include "coordinator/attach.h"
#include "coordinator/circuits.h"
#include "coordinator/clock.h"
#include "coordinator/config.h"
#include "coordinator/engine.h"
#include "coordinator/http.h"
#include "coordinator/planner.h"
#include "coordinator/rundir.h"
#include "coordinator/service.h"
#include "coordinator/spool.h"
#include "coordinator/uploads.h"
#include "coordinator/waiters.h"
#include "coordinator/workers.h"
#include "shm/region.h"

#define LOOP_SIGNALS 3
#define LOOP_SOCKET_BYTES (PAWL_SOCKET_BYTES + 8)

enum loop_phase { PHASE_SERVING, PHASE_DRAINING, PHASE_LEAVING };

struct loop {
    struct config config;
    struct service service;
    struct clock_meter meter;
    struct rundir rundir;
    struct region region;
    struct planner planner;
    struct workers workers;
    struct attach attach;
    struct circuits circuits;
    struct spool spool;
    struct uploads uploads;
    struct waiters waiters;
    struct engine engine;
    struct http http;
    char http_path[LOOP_SOCKET_BYTES];
    int worker_socket;
    int owner_fd;
    struct event *tick_event, *owner_event, *signal_events[LOOP_SIGNALS];
    enum loop_phase phase;
    uint64_t phase_until_ns;
};

/* owner_fd: -1 where nobody owns it. config: as loaded, copied. Returns enum program_exit, having
 * said why on stderr. ready_fd: -1, or a fd that gets "\n" when all listens, and is closed. */
int loop_run(const struct config *config, int ready_fd, int owner_fd);

/* loop_parts.c: 0, or an exit code having said why. loop_stop undoes as much as was done. */
int loop_start(struct loop *loop);
void loop_stop(struct loop *loop);
/* loop_region.c: likewise, with the reason in why. */
int loop_make_region(struct loop *loop, char *why, size_t bytes);
int loop_plan_slabs(struct loop *loop, char *why, size_t bytes);
/* loop_store.c: the job store, after the disk thread and the spool. 0, or an exit code and why. */
int loop_open_store(struct loop *loop, char *why, size_t bytes);
int loop_store_is_durable(const struct config *config);
struct store_limits;
void loop_store_limits(const struct config *config, struct store_limits *limits);
/* Jobs that were accepted before: their circuits are there before slabs are planned, and then they
 * are queued, or fail where they cannot be worked on any more. */
void loop_hold_circuits(struct loop *loop);
void loop_resume_jobs(struct loop *loop);
/* loop_reload.c: what HUP does. */
void loop_reload(struct loop *loop);
/* Limits of dispatch from the configuration. */
void loop_dispatch_limits(const struct config *config, struct dispatch_limits *limits);
/* Mode of the worker socket: with allow_uids others may connect, and the uid check decides. */
unsigned loop_socket_mode(const struct config *config);

#endif
