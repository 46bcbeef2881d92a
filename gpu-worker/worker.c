/*
 * Start, message loop and end; see the header.
 *
 * The start goes from what needs nothing to what needs the rest, and the end goes back: each part
 * has a pointer in struct worker that is NULL until it stands.
 */
#include "gpu-worker/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gpu-worker/context.h"
#include "gpu-worker/desk.h"
#include "gpu-worker/finalizer.h"
#include "gpu-worker/inbox.h"
#include "gpu-worker/key_parcels.h"
#include "gpu-worker/keys.h"
#include "gpu-worker/outbox.h"
#include "gpu-worker/prover.h"
#include "gpu-worker/view.h"
#include "shm/program.h"
#include "shm/seat.h"
#include "shm/wire.h"
#include "shm/worker_start.h"

struct worker {
    int socket;
    int signals; /* signalfd */
    int drained; /* eventfd: the finalizer, the last to work, has ended */
    struct view view;
    struct context context;
    pthread_t prover, finalizer;
    int threads_run;
};

/* ---- the threads ---- */

static void *finalizer_thread(void *arg)
{
    struct worker *worker = arg;
    finalizer_main(&worker->context);
    uint64_t one = 1;
    while (write(worker->drained, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
    return NULL;
}

static int start_threads(struct worker *worker)
{
    int error = pthread_create(&worker->prover, NULL, prover_main, &worker->context);
    if (error)
        return -error;
    error = pthread_create(&worker->finalizer, NULL, finalizer_thread, worker);
    if (error) {
        desk_leave(worker->context.desk);
        pthread_join(worker->prover, NULL);
        return -error;
    }
    worker->threads_run = 1;
    return 0;
}

/* ---- start ---- */

static void apply_settings(const struct wire_welcome *welcome)
{
    const char *what;
    int error = worker_settings_apply(welcome, &what);
    if (error)
        log_event("warn", "setting_refused", "setting=%s error=\"%s\"", what, strerror(-error));
}

static int open_device(struct worker *worker, const struct wire_welcome *welcome,
                       const struct worker_options *options)
{
    struct context *context = &worker->context;
    struct device_settings settings = {.threads = welcome->threads, .seat = worker->view.seat};
    const char *why = "";
    context->device = options->device_open(options->device, &settings, &why);
    if (!context->device) {
        log_event("error", "device_failed", "device=%s why=\"%s\"", options->device, why);
        return EXIT_MACHINE;
    }
    struct device_description device;
    context->device->operations->describe(context->device, &device);
    context->check_threads = device.threads;
    log_event("info", "device_open", "device=%s model=\"%s\" threads=%u", device.name, device.model,
              device.threads);
    int error = view_attach_device(&worker->view, context->device);
    if (!error)
        return 0;
    log_event("error", "slabs_not_attached", "device=%s error=\"%s\"", device.name,
              strerror(-error));
    return EXIT_MACHINE;
}

static int open_view(struct worker *worker, struct wire_packet *welcome)
{
    const char *what;
    int error = view_open(&worker->view, welcome, &what);
    if (!error)
        return 0;
    log_event("error", "region_not_mapped", "part=\"%s\" error=\"%s\"", what, strerror(-error));
    return error == -ENOMEM || error == -EAGAIN ? EXIT_MACHINE : EXIT_INTERNAL;
}

static int make_context(struct worker *worker)
{
    struct context *context = &worker->context;
    context->keys = keys_create();
    context->parcels = key_parcels_create();
    context->desk = desk_create();
    context->activity = activity_create(worker->view.seat);
    context->outbox = outbox_create(worker->socket);
    if (context->keys && context->parcels && context->desk && context->activity &&
        context->outbox) {
        keys_on_drop(context->keys, key_parcels_take_back, context);
        return 0;
    }
    log_event("error", "no_memory", "for=\"the worker's queues and threads\"");
    return EXIT_MACHINE;
}

static int open_events(struct worker *worker)
{
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    pthread_sigmask(SIG_BLOCK, &ends, NULL); /* before any thread: all inherit it */
    worker->signals = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
    worker->drained = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (worker->signals >= 0 && worker->drained >= 0)
        return 0;
    log_event("error", "no_descriptors", "error=\"%s\"", strerror(errno));
    return EXIT_MACHINE;
}

static int start(struct worker *worker, struct wire_packet *welcome,
                 const struct worker_options *options)
{
    const struct wire_welcome *settings = &welcome->message.welcome;
    apply_settings(settings);
    int code = open_view(worker, welcome);
    if (code)
        return code;
    worker_crash_watch(worker->view.seat);
    code = open_events(worker);
    if (!code)
        code = open_device(worker, settings, options);
    if (!code)
        code = make_context(worker);
    if (!code && start_threads(worker)) {
        log_event("error", "no_threads", "hint=\"a limit of processes or of memory\"");
        code = EXIT_MACHINE;
    }
    return code;
}

/* ---- the message loop ---- */

/* Takes in all that has come. 0, or -EPROTO. */
static int read_socket(struct worker *worker, int *leave)
{
    struct wire_packet packet;
    for (;;) {
        int got = wire_receive(worker->socket, &packet, MSG_DONTWAIT);
        if (got == 0)
            outbox_end_orphaned("the worker socket is closed");
        if (got == -EAGAIN)
            return 0;
        int answer = got < 0 ? got : inbox_handle(&worker->context, &worker->view, &packet);
        if (answer < 0)
            return answer;
        *leave |= answer;
    }
}

/* Said before anything is given back: else that would come again at once, as work unasked back. */
static void begin_leaving(struct worker *worker, const char *why)
{
    union wire_message leaving = {0};
    log_event("info", "leaving", "why=%s", why);
    outbox_post(worker->context.outbox, &leaving, WIRE_LEAVING, -1);
    inbox_leave(&worker->context);
}

static int handle_events(struct worker *worker, const struct pollfd *event, int *left)
{
    struct signalfd_siginfo signal;
    int leave = 0;
    if (event[0].revents) {
        int error = read_socket(worker, &leave);
        if (error) {
            log_event("error", "protocol", "error=\"%s\"", strerror(-error));
            return EXIT_INTERNAL;
        }
    }
    int ended = read(worker->signals, &signal, sizeof(signal)) == (ssize_t)sizeof(signal);
    if ((leave || ended) && !*left) {
        *left = 1;
        begin_leaving(worker, ended ? "signal" : "coordinator");
    }
    return 0;
}

/* 0 once everything assigned has ended after LEAVE or a signal; else an exit code. */
static int serve(struct worker *worker)
{
    int left = 0;
    for (;;) {
        struct pollfd event[] = {{.fd = worker->socket, .events = POLLIN},
                                 {.fd = worker->signals, .events = POLLIN},
                                 {.fd = worker->drained, .events = POLLIN}};
        if (poll(event, 3, -1) < 0) {
            if (errno == EINTR)
                continue;
            return EXIT_INTERNAL;
        }
        int code = handle_events(worker, event, &left);
        if (code || event[2].revents)
            return code;
    }
}

/* ---- end ---- */

static void join_threads(struct worker *worker)
{
    if (!worker->threads_run)
        return;
    pthread_join(worker->prover, NULL);
    pthread_join(worker->finalizer, NULL);
}

static void dismantle(struct worker *worker)
{
    struct context *context = &worker->context;
    join_threads(worker);
    if (context->outbox)
        outbox_destroy(context->outbox); /* sends what is left */
    if (context->keys)
        keys_destroy(context->keys, context->device);
    if (context->parcels)
        key_parcels_destroy(context->parcels);
    if (context->desk)
        desk_destroy(context->desk);
    if (context->activity)
        activity_destroy(context->activity);
    if (context->device) {
        view_detach_device(context->device);
        context->device->operations->close(context->device);
    }
    worker_crash_watch(NULL);
    view_close(&worker->view);
    if (worker->signals >= 0)
        close(worker->signals);
    if (worker->drained >= 0)
        close(worker->drained);
    close(worker->socket);
}

int worker_serve(int socket, struct wire_packet *welcome, const struct worker_options *options)
{
    struct worker worker = {.socket = socket, .signals = -1, .drained = -1};
    worker.context.fixed_blinders = options->fixed_blinders;
    worker.context.keep_device_keys = welcome->message.welcome.keep_device_keys != 0;
    int code = start(&worker, welcome, options);
    if (!code) {
        activity_rest(worker.context.activity, SIDE_PROVER); /* it starts no longer: it is idle */
        inbox_say_ready(&worker.context, &worker.view);
        code = serve(&worker);
        if (code)
            _exit(code); /* the threads may be deep in a proof */
        seat_enter(worker.view.seat, STAGE_LEAVING, 0, 0, 0);
    }
    dismantle(&worker);
    return code;
}

static int report_refusal(const char *path, const struct wire_packet *packet, int error)
{
    const struct wire_refused *refused = &packet->message.refused;
    char why[2 * WIRE_TEXT_BYTES + 4];
    if (refused->header.type == WIRE_REFUSED) {
        log_event("error", "refused", "socket=%s why=%s", path,
                  log_quote(why, sizeof(why), refused->why));
        return refused->exit_code & 0xff ? (int)(refused->exit_code & 0xff) : EXIT_CONFIG;
    }
    if (error == -EACCES || error == -EPERM) {
        log_event("error", "attach_failed",
                  "socket=%s error=\"%s\" hint=\"run as a user of allow_uids\"", path,
                  strerror(-error));
        return EXIT_PERMISSION;
    }
    log_event("error", "no_coordinator", "socket=%s error=\"%s\" hint=\"start the coordinator\"",
              path, strerror(-error));
    return EXIT_NO_COORDINATOR;
}

int worker_run(const char *path, const struct worker_options *options)
{
    struct wire_packet packet = {0};
    int socket = wire_attach(path, ROLE_GPU, options->device, &packet);
    if (socket < 0)
        return report_refusal(path, &packet, socket);
    return worker_serve(socket, &packet, options);
}
