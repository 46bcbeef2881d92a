/*
 * Limits and privileges of hostile children; see the header. Called by witness_input.c and
 * witness_child.c. A SIGKILL leaves nothing.
 */
#include "synth-worker/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define PARSER_CPU_S 60u
#define FILES_MAX 64u
#define TASKS_MAX 512u

static int set_limit(int resource, rlim_t most)
{
    struct rlimit limit;
    if (getrlimit(resource, &limit))
        return -errno;
    if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max > most)
        limit.rlim_max = most;
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(resource, &limit) ? -errno : 0;
}

int sandbox_parser(const char **what)
{
    *what = "limits";
    int error = set_limit(RLIMIT_CORE, 0);
    if (!error)
        error = set_limit(RLIMIT_CPU, PARSER_CPU_S);
    if (error)
        return error;
    *what = "no_new_privs";
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return -errno;
    *what = "seccomp";
    return sandbox_filter_parser();
}

/* Where root may not (a container with one user), the program stays what we are. */
static int become_nobody(int *changed)
{
    *changed = 0;
    if (geteuid() != 0)
        return 0;
    if (setgroups(0, NULL) || setresgid(SANDBOX_UID, SANDBOX_UID, SANDBOX_UID) ||
        setresuid(SANDBOX_UID, SANDBOX_UID, SANDBOX_UID))
        return errno == EPERM || errno == EINVAL ? 0 : -errno;
    *changed = 1;
    return 0;
}

/* The first that the kernel's memory killer takes. */
static void offer_to_oom_killer(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (write(fd, "1000", 4) != 4)
        errno = 0; /* a wish, no need */
    close(fd);
}

static int set_program_limits(const struct sandbox_limits *limits, int own_user)
{
    const struct {
        int resource;
        rlim_t most;
    } all[] = {{RLIMIT_CORE, 0},
               {RLIMIT_FSIZE, limits->output_bytes},
               {RLIMIT_NOFILE, FILES_MAX},
               {RLIMIT_MEMLOCK, 0},
               {RLIMIT_MSGQUEUE, 0},
               {RLIMIT_CPU, limits->cpu_s ? limits->cpu_s : RLIM_INFINITY},
               {RLIMIT_NPROC, own_user ? TASKS_MAX : RLIM_INFINITY}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        int error = all[i].most == RLIM_INFINITY ? 0 : set_limit(all[i].resource, all[i].most);
        if (error)
            return error;
    }
    return 0;
}

static int drop_privileges(const char **what, int *own_user)
{
    *what = "user";
    int error = become_nobody(own_user);
    if (error)
        return error;
    *what = "no_new_privs";
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return -errno;
    *what = "parent's death"; /* a change of user has cleared it */
    return prctl(PR_SET_PDEATHSIG, SIGKILL) ? -errno : 0;
}

int sandbox_program(const struct sandbox_limits *limits, const struct sandbox_places *places,
                    const char **what)
{
    int own_user;
    offer_to_oom_killer();
    int error = drop_privileges(what, &own_user);
    if (error)
        return error;
    *what = "limits";
    error = set_program_limits(limits, own_user);
    if (error)
        return error;
    *what = "landlock";
    error = sandbox_restrict_files(places);
    if (error && error != -EOPNOTSUPP)
        return error;
    *what = "seccomp";
    error = sandbox_filter_program();
    if (error)
        return error;
    *what = "memory limit"; /* last: what comes before needs memory itself */
    return set_limit(RLIMIT_AS, limits->memory_bytes);
}
