/*
 * The watcher: a thread that sleeps until the coordinator's end of the socket is gone, and then
 * ends the process at once, whatever the main thread is doing. A worker without coordinator has
 * nobody to work for, and its slab is already somebody else's. A SIGKILL needs no watcher.
 */
#include "synth-worker/synth.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "shm/program.h"

static _Atomic int leaving;

void synth_watch_leaving(void)
{
    atomic_store_explicit(&leaving, 1, memory_order_relaxed);
}

int synth_is_leaving(void)
{
    return atomic_load_explicit(&leaving, memory_order_relaxed);
}

static void *watch(void *arg)
{
    struct pollfd peer = {.fd = (int)(intptr_t)arg, .events = POLLRDHUP};
    while (poll(&peer, 1, -1) <= 0)
        ;
    if (synth_is_leaving())
        _exit(0);
    log_event("warn", "coordinator_gone", "exit=%d", EXIT_CAPACITY);
    _exit(EXIT_CAPACITY);
}

int synth_watch_start(int socket)
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, NULL, watch, (void *)(intptr_t)socket);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return -error;
}
