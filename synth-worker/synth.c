/*
 * The synth-worker's attachment and its loop. Called by main.c. A SIGKILL at any instruction leaves
 * at most an unsealed slab, which the coordinator takes back once the pidfd is readable.
 */
#include "synth-worker/synth.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "shm/program.h"
#include "shm/seat.h"
#include "shm/worker_start.h"

static int say_refused(const char *path, int error, const struct wire_packet *packet)
{
    if (error == -EACCES && packet->message.header.type == WIRE_REFUSED) {
        fprintf(stderr, "synth-worker: refused by the coordinator: %s\n",
                packet->message.refused.why);
        return (int)packet->message.refused.exit_code;
    }
    fprintf(stderr, "synth-worker: no coordinator at %s: %s\n", path, strerror(-error));
    return EXIT_NO_COORDINATOR;
}

static int catch_signals(struct synth *synth)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    synth->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return synth->signals < 0 ? -errno : 0;
}

/* The fds of the welcome: control and seat page are done with once mapped, the slabs' stays. */
static int map_region(struct synth *synth, struct wire_packet *packet, const char **what)
{
    const struct wire_welcome *welcome = &packet->message.welcome;
    *what = "control";
    int status = region_map_control(&synth->control, packet->fds[0], welcome->control_bytes);
    if (!status) {
        *what = "slabs";
        status =
            slab_windows_init(&synth->windows, packet->fds[1], synth->control.header->slab_count);
        synth->generation = welcome->generation;
    }
    if (!status) {
        *what = "seat";
        status = seat_map(&synth->page, packet->fds[2], welcome->incarnation);
    }
    close(packet->fds[0]);
    close(packet->fds[2]);
    return status;
}

static int settle_in(struct synth *synth, struct wire_packet *packet, const char **what)
{
    const char *setting;
    int status = worker_settings_apply(&packet->message.welcome, &setting);
    if (status)
        log_event("warn", "setting_not_applied", "what=%s errno=%d", setting, -status);
    status = map_region(synth, packet, what);
    if (status)
        return status;
    worker_crash_watch(synth->page);
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* what a runner leaves is ours to reap */
    *what = "signals";
    status = catch_signals(synth);
    if (status)
        return status;
    *what = "watcher";
    return synth_watch_start(synth->socket);
}

static int begin(struct synth *synth)
{
    seat_enter(synth->page, STAGE_IDLE, 0, 0, 0);
    synth->idle_since_ns = worker_now_ns();
    return synth_say_ready(synth);
}

static void wait_for_news(struct synth *synth)
{
    struct pollfd news[] = {{.fd = synth->socket, .events = POLLIN},
                            {.fd = synth->signals, .events = POLLIN}};
    struct signalfd_siginfo signal;
    if (poll(news, 2, -1) <= 0)
        return;
    if (read(synth->signals, &signal, sizeof signal) == (ssize_t)sizeof signal)
        synth_watch_leaving();
}

/* What waits in the socket is served before a leave is obeyed. */
static int serve(struct synth *synth)
{
    int status = begin(synth);
    while (!status) {
        status = synth_take_messages(synth);
        if (status)
            break;
        if (synth->fill.assignment)
            status = synth_serve(synth);
        else if (synth_is_leaving())
            break;
        else
            wait_for_news(synth);
    }
    return status;
}

static int exit_code_of(int status)
{
    if (!status || synth_is_leaving())
        return 0;
    if (status == -EPROTO) {
        log_event("error", "message_illegal", "exit=%d", EXIT_INTERNAL);
        return EXIT_INTERNAL;
    }
    log_event("warn", "coordinator_gone", "errno=%d exit=%d", -status, EXIT_CAPACITY);
    return EXIT_CAPACITY;
}

int synth_run(const char *socket_path)
{
    struct synth synth = {
        .socket = -1, .signals = -1, .program_fd = -1, .place = {.base_fd = -1, .worker_fd = -1}};
    struct wire_packet packet = {0};
    const char *what = NULL;
    log_open("synth-worker");
    synth.socket = wire_attach(socket_path, ROLE_SYNTH, NULL, &packet);
    if (synth.socket < 0)
        return say_refused(socket_path, synth.socket, &packet);
    int status = settle_in(&synth, &packet, &what);
    if (status) {
        log_event("error", "attach_failed", "what=%s errno=%d", what, -status);
        return status == -ENOMEM || status == -EMFILE ? EXIT_MACHINE : EXIT_INTERNAL;
    }
    log_event("info", "attached", "seat=%u", packet.message.welcome.seat);
    status = serve(&synth);
    seat_enter(synth.page, STAGE_LEAVING, 0, 0, 0);
    slab_windows_destroy(&synth.windows);
    witness_place_close(&synth.place);
    return exit_code_of(status);
}
