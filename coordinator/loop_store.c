/*
 * The job store of the daemon: opening it, and taking up what was accepted before the start; see
 * loop.h. A SIGKILL leaves the database as it was last committed, and files of the spool that the
 * next start removes where no job has them.
 */
#include "coordinator/loop.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/store_sqlite.h"
#include "shm/program.h"

void loop_store_limits(const struct config *config, struct store_limits *limits)
{
    *limits = (struct store_limits){.queued_jobs = config->queued_jobs,
                                    .queued_bytes = config->queued_bytes,
                                    .kept_jobs = config->kept_jobs,
                                    .kept_ns = config->kept_for_ms * NS_PER_MS};
}

/* ---- opening ---- */

int loop_store_is_durable(const struct config *config)
{
    return strcmp(config->store, "memory") != 0;
}

static int exit_code_of(int error)
{
    return error == -EBUSY || error == -EPROTO || error == -EACCES ? EXIT_CONFIG : EXIT_MACHINE;
}

static int open_database(struct loop *loop, const struct store_limits *limits, char *why,
                         size_t bytes)
{
    char path[PATH_MAX + 16], cause[384];
    struct store_sqlite_options options = {.path = path,
                                           .base = loop->service.base,
                                           .disk = loop->service.disk,
                                           .spool = &loop->spool};
    snprintf(path, sizeof(path), "%s/jobs.db", loop->config.state_dir);
    int error = store_sqlite_create(&loop->service.store, limits, &options, cause, sizeof(cause));
    if (!error)
        return 0;
    snprintf(why, bytes, "%s: the job store cannot be opened: %s", path, cause);
    return exit_code_of(error);
}

int loop_open_store(struct loop *loop, char *why, size_t bytes)
{
    struct store_limits limits;
    loop_store_limits(&loop->config, &limits);
    if (loop_store_is_durable(&loop->config))
        return open_database(loop, &limits, why, bytes);
    loop->service.store = store_memory_create(&limits);
    snprintf(why, bytes, "no memory to start with");
    return loop->service.store ? 0 : EXIT_MACHINE;
}

/* ---- jobs from before ---- */

static void hold_circuit(void *arg, const struct store_job *job)
{
    circuits_hold(arg, job->hash, job->program);
}

void loop_hold_circuits(struct loop *loop)
{
    struct store *store = loop->service.store;
    store->each_active(store, hold_circuit, &loop->circuits);
}

/* Why the circuit of a kept job is not served. The fault. */
static int explain_loss(const struct loop *loop, const struct store_job *job, char *why,
                        size_t bytes)
{
    const struct circuit_name *name = circuits_find(&loop->circuits, job->circuit);
    if (name && !name->current && name->error && name->fault == FAULT_CAPACITY) {
        snprintf(why, bytes, "its circuit %s %s", job->circuit, name->error);
        return FAULT_CAPACITY;
    }
    snprintf(why, bytes,
             "the image of its circuit %s is gone from images_dir, or its witness program from "
             "state_dir: add the circuit again, and submit the job again",
             job->circuit);
    return FAULT_INTERNAL;
}

static int place_job(void *arg, struct store_job *job, char *why, size_t bytes)
{
    struct loop *loop = arg;
    const struct circuit *circuit = circuits_find_version(&loop->circuits, job->hash, job->program);
    if (!circuit)
        return explain_loss(loop, job, why, bytes);
    const char *name = job->lane_name[0] ? job->lane_name : NULL;
    int lane = circuits_choose_lane(&loop->circuits, circuit, name, job->priority, why, bytes);
    if (lane < 0)
        return FAULT_CAPACITY;
    job->circuit_number = circuit->number;
    job->lane = (uint32_t)lane;
    return 0;
}

/* ---- files that nobody owns ---- */

struct owned {
    char (*names)[SPOOL_NAME_BYTES];
    size_t count, room;
};

static void collect_names(void *arg, const struct store_job *job)
{
    struct owned *owned = arg;
    for (uint32_t i = 0; i < job->partition_count; i++) {
        if (owned->count == owned->room) {
            size_t room = owned->room ? 2 * owned->room : 256;
            void *names = realloc(owned->names, room * sizeof(*owned->names));
            if (!names)
                abort(); /* a file of a job would be taken for nobody's */
            owned->names = names;
            owned->room = room;
        }
        memcpy(owned->names[owned->count++], job->partitions[i].input.name, SPOOL_NAME_BYTES);
    }
}

static int compare_names(const void *a, const void *b)
{
    return strncmp(a, b, SPOOL_NAME_BYTES);
}

static int is_owned(void *arg, const char *name)
{
    const struct owned *owned = arg;
    return owned->count &&
           bsearch(name, owned->names, owned->count, sizeof(*owned->names), compare_names) != NULL;
}

static void sweep_spool(struct loop *loop)
{
    struct store *store = loop->service.store;
    struct owned owned = {0};
    store->each_active(store, collect_names, &owned);
    if (owned.count)
        qsort(owned.names, owned.count, sizeof(*owned.names), compare_names);
    int64_t removed = spool_sweep(&loop->spool, is_owned, &owned);
    if (removed)
        log_event(removed < 0 ? "warn" : "info", "spool_swept", "files=%" PRIi64, removed);
    free(owned.names);
}

void loop_resume_jobs(struct loop *loop)
{
    struct store *store = loop->service.store;
    struct store_counts counts;
    if (!store->is_durable)
        return;
    sweep_spool(loop);
    store->counts(store, &counts);
    store->resolve(store, place_job, loop);
    if (counts.queued + counts.running)
        log_event("info", "jobs_resumed", "jobs=%" PRIu64, counts.queued + counts.running);
}
