/*
 * The parts of the coordinator, made in order and taken down in reverse; see loop.h. Every failure
 * is said here, once, with what to do about it.
 */
#include "coordinator/loop.h"

#include <errno.h>
#include <event2/event.h>
#include <grp.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coordinator/disk_thread.h"
#include "coordinator/listener.h"
#include "coordinator/store.h"
#include "shm/program.h"
#include "shm/worker_start.h"

/* One line for people, beside the log. */
static int say(int exit_code, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int say(int exit_code, const char *format, ...)
{
    va_list arguments;
    fputs("coordinator: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return exit_code;
}

/* ---- the process ---- */

static void set_own_limits(const struct config *config)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    prctl(PR_SET_DUMPABLE, config->dumpable ? 1 : 0);
    signal(SIGPIPE, SIG_IGN);
    umask(077);
}

static void place_process(const struct config *config)
{
    cpu_set_t cpus;
    const char *list = config->cpus[ROLE_NONE];
    int nice = config->nice[ROLE_NONE];
    if (nice && setpriority(PRIO_PROCESS, 0, nice))
        log_event("warn", "not_placed", "key=nice.coordinator error=\"%s\"", strerror(errno));
    if (list[0] && (worker_parse_cpus(list, &cpus) || sched_setaffinity(0, sizeof(cpus), &cpus)))
        log_event("warn", "not_placed", "key=cpus.coordinator error=\"%s\"", strerror(errno));
}

/* ---- folders and lock ---- */

static int take_folders(struct loop *loop)
{
    const char *what = "";
    int32_t holder;
    int error = rundir_make_folders(&loop->config, &what);
    if (error)
        return say(EXIT_CONFIG, "%s: cannot be made a folder of ours: %s", what, strerror(-error));
    error = rundir_lock(&loop->rundir, loop->config.run_dir, &holder);
    if (error == -EALREADY)
        return say(EXIT_CONFIG, "already running (pid %d)", (int)holder);
    if (error)
        return say(EXIT_CONFIG, "%s: cannot be locked: %s", loop->rundir.lock_path,
                   strerror(-error));
    return 0;
}

/* ---- region ---- */

static int make_region(struct loop *loop)
{
    char why[PLANNER_TEXT_BYTES] = "no memory";
    int code = loop_make_region(loop, why, sizeof(why));
    return code ? say(code, "%s: %s", loop->config.path, why) : 0;
}

static int plan_slabs(struct loop *loop)
{
    char why[PLANNER_TEXT_BYTES] = "no memory";
    int code = loop_plan_slabs(loop, why, sizeof(why));
    return code ? say(code, "%s: %s", loop->config.path, why) : 0;
}

/* ---- parts in memory ---- */

void loop_dispatch_limits(const struct config *config, struct dispatch_limits *limits)
{
    *limits = (struct dispatch_limits){.staged = config->staged,
                                       .attempts = config->attempts,
                                       .deaths = config->deaths,
                                       .uncommitted_results = config->uncommitted_results,
                                       .device_charges = config->device_charges};
    for (uint32_t i = 0; i < config->lane_count; i++)
        limits->fixed_credits[i] = config->lanes[i].credits;
}

static void on_job_final(void *arg, uint64_t job)
{
    waiters_wake(arg, job);
}

/* What waits for disks: the thread, the spool, the job store. */
static int open_store(struct loop *loop)
{
    struct service *service = &loop->service;
    const char *state_dir = loop_store_is_durable(&loop->config) ? loop->config.state_dir : NULL;
    char why[PATH_MAX + 512];
    service->base = event_base_new();
    if (!service->base)
        return say(EXIT_MACHINE, "no memory to start with");
    int error = disk_thread_start(&service->disk, service->base, &loop->meter);
    if (error)
        return say(EXIT_MACHINE, "no second thread: %s", strerror(-error));
    error = spool_open(&loop->spool, state_dir);
    if (error)
        return say(EXIT_CONFIG, "%s/spool: cannot be made a folder of ours: %s",
                   loop->config.state_dir, strerror(-error));
    int code = loop_open_store(loop, why, sizeof(why));
    return code ? say(code, "%s", why) : 0;
}

static int make_engine(struct loop *loop)
{
    struct service *service = &loop->service;
    struct dispatch_limits limits;
    loop_dispatch_limits(&loop->config, &limits);
    service->dispatch = dispatch_create(&loop->region.control, &limits);
    if (!service->dispatch ||
        waiters_init(&loop->waiters, service->base, http_answer_waiter, service))
        return say(EXIT_MACHINE, "no memory to start with");
    workers_init(&loop->workers, service->base, &loop->meter, &loop->region, &loop->config);
    uploads_init(&loop->uploads, service->store, &loop->spool, service->disk,
                 loop->config.queued_bytes);
    engine_init(&loop->engine, service->dispatch, service->store, &loop->workers, &loop->circuits,
                &loop->region.control);
    loop->engine.on_job_final = on_job_final;
    loop->engine.arg = &loop->waiters;
    return 0;
}

static int load_circuits(struct loop *loop)
{
    int error = circuits_start(&loop->circuits, loop->service.base, &loop->meter,
                               &loop->region.control, &loop->config);
    loop->circuits.store = loop->service.store;
    loop->circuits.workers = &loop->workers;
    if (error)
        return say(EXIT_CONFIG, "%s: the names of circuits cannot be read: %s",
                   loop->circuits.names.folder, strerror(-error));
    loop_hold_circuits(loop);
    return 0;
}

static int resume_jobs(struct loop *loop)
{
    loop_resume_jobs(loop);
    return 0;
}

static void fill_service(struct loop *loop)
{
    struct service *service = &loop->service;
    service->meter = &loop->meter;
    service->config = &loop->config;
    service->region = &loop->region;
    service->engine = &loop->engine;
    service->workers = &loop->workers;
    service->attach = &loop->attach;
    service->circuits = &loop->circuits;
    service->planner = &loop->planner;
    service->spool = &loop->spool;
    service->uploads = &loop->uploads;
    service->waiters = &loop->waiters;
    service->started_ns = clock_now_ns();
}

/* ---- sockets ---- */

unsigned loop_socket_mode(const struct config *config)
{
    return config->allow_uid_count ? 0666 : 0600;
}

static int cannot_listen(const char *path, int error)
{
    return say(error == -EACCES ? EXIT_PERMISSION : EXIT_CONFIG, "%s: cannot listen: %s", path,
               strerror(-error));
}

static int open_worker_socket(struct loop *loop)
{
    const char *path = loop->config.socket;
    int fd = listener_open(path, SOCK_SEQPACKET, loop_socket_mode(&loop->config), (gid_t)-1);
    if (fd < 0)
        return cannot_listen(path, fd);
    loop->worker_socket = fd;
    return attach_start(&loop->attach, &loop->workers, fd) ? say(EXIT_MACHINE, "no memory") : 0;
}

static int find_group(const char *name, gid_t *group)
{
    errno = 0;
    const struct group *entry = getgrnam(name);
    if (!entry)
        return say(EXIT_CONFIG, "http_group %s: there is no such group", name);
    *group = entry->gr_gid;
    return 0;
}

static int open_http_socket(struct loop *loop)
{
    gid_t group = (gid_t)-1;
    int is_shared = loop->config.http_group[0] != 0;
    snprintf(loop->http_path, sizeof(loop->http_path), "%s.http", loop->config.socket);
    if (strlen(loop->http_path) >= PAWL_SOCKET_BYTES)
        return say(EXIT_CONFIG, "%s: too long for a socket", loop->http_path);
    if (is_shared) {
        int code = find_group(loop->config.http_group, &group);
        if (code)
            return code;
    }
    int fd = listener_open(loop->http_path, SOCK_STREAM, is_shared ? 0660 : 0600, group);
    if (fd < 0)
        return cannot_listen(loop->http_path, fd);
    if (http_start(&loop->http, &loop->service, fd)) {
        close(fd);
        return say(EXIT_MACHINE, "no memory for the HTTP server");
    }
    return 0;
}

/* ---- the order ---- */

int loop_start(struct loop *loop)
{
    static int (*const parts[])(struct loop * loop) = {
        take_folders, make_region, open_store,         make_engine,     load_circuits,
        plan_slabs,   resume_jobs, open_worker_socket, open_http_socket};
    set_own_limits(&loop->config);
    place_process(&loop->config);
    fill_service(loop);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        int code = parts[i](loop);
        if (code)
            return code;
    }
    return 0;
}

/* What a private instance made below its run folder goes with it. */
static void erase_state(const struct loop *loop)
{
    const struct config *config = &loop->config;
    size_t length = strlen(config->run_dir);
    if (strncmp(config->state_dir, config->run_dir, length) == 0 &&
        config->state_dir[length] == '/') {
        circuit_names_erase(&loop->circuits.names);
        circuit_programs_erase(&loop->circuits.programs);
        rmdir(config->images_dir);
        rmdir(config->state_dir);
    }
    rmdir(config->run_dir); /* where it is empty */
}

void loop_stop(struct loop *loop)
{
    struct service *service = &loop->service;
    service->stopping = 1;
    if (service->disk) /* who waits for a commit has its answer */
        disk_thread_drain(service->disk);
    if (loop->http.evhttp)
        unlink(loop->http_path);
    http_stop(&loop->http);
    attach_stop(&loop->attach);
    if (loop->worker_socket >= 0)
        listener_close(loop->config.socket, loop->worker_socket);
    waiters_free(&loop->waiters);
    planner_stop(&loop->planner);
    circuits_stop(&loop->circuits);
    uploads_free(&loop->uploads);
    workers_free(&loop->workers);
    engine_free(&loop->engine);
    disk_thread_stop(service->disk);
    spool_close(&loop->spool);
    if (service->store)
        service->store->destroy(service->store);
    if (service->dispatch)
        dispatch_destroy(service->dispatch);
    if (service->base)
        event_base_free(service->base);
    if (loop->region.control.header)
        region_destroy(&loop->region);
    if (loop->rundir.lock_fd >= 0) {
        rundir_unlock(&loop->rundir);
        if (loop->owner_fd >= 0)
            erase_state(loop);
    }
}
