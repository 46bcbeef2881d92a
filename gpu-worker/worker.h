/*
 * The gpu-worker at work: attached to a coordinator, until it is told to leave, is ended, or is
 * orphaned.
 *
 *   socket's thread (the caller's)   reads messages, stages and cancels; never blocks elsewhere
 *   prover, finalizer                prover.h, finalizer.h
 *   outbox                           sends
 *
 * A SIGKILL leaves its slabs as they were, for it writes none; the coordinator reclaims them.
 */
#ifndef PAWL_GPU_WORKER_WORKER_H
#define PAWL_GPU_WORKER_WORKER_H

struct blinders;
struct device;
struct device_settings;
struct wire_packet;

struct worker_options {
    const char *device;                    /* "cpu" */
    const struct blinders *fixed_blinders; /* NULL: fresh ones for each proof */
    struct device *(*device_open)(const char *name, const struct device_settings *settings,
                                  const char **why);
};

/* Attaches to the coordinator at `path` and serves. The exit code. */
int worker_run(const char *path, const struct worker_options *options);

/*
 * Serves on a socket that has its WELCOME: applies its settings, maps control and slabs, says
 * READY, proves. Closes the socket and the packet's fds. The exit code: 0 after LEAVE, SIGTERM or
 * SIGINT once what was assigned has ended. Where the coordinator goes away the call does not
 * return: the process ends at once with EXIT_CAPACITY. For a process of its own, before it has
 * other threads: it blocks SIGTERM and SIGINT and sets handlers of fatal signals.
 */
int worker_serve(int socket, struct wire_packet *welcome, const struct worker_options *options);

#endif
