/*
 * The signals that end a command, by signalfd. Called by main before anything else starts. A
 * SIGKILL is not among them; what it leaves stands in README.md.
 */
#include "coordinator/client/interrupt.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

static int signals_fd = -1;

static sigset_t the_three(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    return set;
}

int interrupt_open(void)
{
    sigset_t set = the_three();
    if (sigprocmask(SIG_BLOCK, &set, NULL))
        return -errno;
    signal(SIGPIPE, SIG_IGN);
    signals_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return signals_fd < 0 ? -errno : 0;
}

void interrupt_close(void)
{
    sigset_t set = the_three();
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    close(signals_fd);
    signals_fd = -1;
}

int interrupt_fd(void)
{
    return signals_fd;
}

/* The signal stays pending: it is asked for again on the way out. */
int interrupt_came(void)
{
    struct pollfd wait = {.fd = signals_fd, .events = POLLIN};
    return signals_fd >= 0 && poll(&wait, 1, 0) == 1;
}
