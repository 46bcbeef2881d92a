/*
 * What every program does first; see program.h. A SIGKILL leaves nothing.
 */
#include "shm/program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void set_oom_score(int adjust)
{
    char text[16];
    int length = snprintf(text, sizeof(text), "%d", adjust);
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    if (write(fd, text, (size_t)length) != length && adjust < 0)
        (void)!write(fd, "0", 1); /* lower than it was may need a privilege; none is no error */
    close(fd);
}

void program_begin(int oom_score_adjust)
{
    signal(SIGXFSZ, SIG_IGN);
    if (oom_score_adjust)
        set_oom_score(oom_score_adjust);
}

void program_reset_signals(posix_spawnattr_t *attributes, int flags)
{
    sigset_t signals;

    sigfillset(&signals);
    posix_spawnattr_setsigdefault(attributes, &signals);
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(attributes, &signals);
    posix_spawnattr_setflags(attributes,
                             (short)(flags | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK));
}

int program_check_files(const char *program)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_max >= PROGRAM_FILES_LEAST)
        return 0;
    fprintf(stderr,
            "%s: may open only %llu files and needs %d at least: raise the limit (ulimit -n 1024, "
            "systemd: LimitNOFILE=)\n",
            program, (unsigned long long)files.rlim_max, PROGRAM_FILES_LEAST);
    return EXIT_MACHINE;
}
