/*
 * The system calls that are left to hostile children (seccomp, by libseccomp). See sandbox.h.
 * Everything that is not named fails with ENOSYS, which C libraries take for an old kernel. A
 * SIGKILL leaves nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "synth-worker/sandbox.h"

static const char *const parser_calls[] = {
    "read",       "write",        "writev",        "lseek",          "fstat",
    "newfstatat", "brk",          "mmap",          "munmap",         "mremap",
    "mprotect",   "exit",         "exit_group",    "madvise",        "futex",
    "getrandom",  "rt_sigreturn", "clock_gettime", "rt_sigprocmask", NULL};

/* What C and C++ programs need that compute, read files and write one. */
static const char *const program_calls[] = {"read",
                                            "pread64",
                                            "readv",
                                            "preadv",
                                            "write",
                                            "pwrite64",
                                            "writev",
                                            "pwritev",
                                            "open",
                                            "openat",
                                            "close",
                                            "close_range",
                                            "lseek",
                                            "_llseek",
                                            "fstat",
                                            "stat",
                                            "lstat",
                                            "newfstatat",
                                            "fstatat64",
                                            "statx",
                                            "access",
                                            "faccessat",
                                            "faccessat2",
                                            "readlink",
                                            "readlinkat",
                                            "getcwd",
                                            "getdents64",
                                            "ftruncate",
                                            "fallocate",
                                            "fadvise64",
                                            "fsync",
                                            "fdatasync",
                                            "dup",
                                            "dup2",
                                            "dup3",
                                            "poll",
                                            "ppoll",
                                            "select",
                                            "pselect6",
                                            "mmap",
                                            "mmap2",
                                            "mprotect",
                                            "munmap",
                                            "mremap",
                                            "brk",
                                            "madvise",
                                            "msync",
                                            "mincore",
                                            "rt_sigaction",
                                            "rt_sigprocmask",
                                            "rt_sigreturn",
                                            "sigaltstack",
                                            "futex",
                                            "set_robust_list",
                                            "get_robust_list",
                                            "rseq",
                                            "set_tid_address",
                                            "exit",
                                            "exit_group",
                                            "arch_prctl",
                                            "getrandom",
                                            "uname",
                                            "sysinfo",
                                            "getpid",
                                            "gettid",
                                            "getppid",
                                            "getuid",
                                            "geteuid",
                                            "getgid",
                                            "getegid",
                                            "clock_gettime",
                                            "clock_getres",
                                            "clock_nanosleep",
                                            "nanosleep",
                                            "gettimeofday",
                                            "time",
                                            "times",
                                            "getrusage",
                                            "getrlimit",
                                            "sched_yield",
                                            "sched_getaffinity",
                                            "membarrier",
                                            "restart_syscall",
                                            "pause",
                                            "execve",
                                            NULL};

static int allow(scmp_filter_ctx filter, const char *const *names)
{
    for (; *names; names++) {
        int number = seccomp_syscall_resolve_name(*names);
        int error = number < 0 ? 0 : seccomp_rule_add(filter, SCMP_ACT_ALLOW, number, 0);
        if (error)
            return error;
    }
    return 0;
}

static int load(scmp_filter_ctx filter, int error)
{
    if (!error)
        error = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    if (!error)
        error = seccomp_load(filter);
    seccomp_release(filter);
    return error;
}

int sandbox_filter_parser(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
    return filter ? load(filter, allow(filter, parser_calls)) : -ENOMEM;
}

/* The call, where its argument has that value in the bits of the mask. */
static int allow_where(scmp_filter_ctx filter, int number, unsigned argument, uint64_t mask,
                       uint64_t value)
{
    const struct scmp_arg_cmp test = {
        .arg = argument, .op = SCMP_CMP_MASKED_EQ, .datum_a = mask, .datum_b = value};
    return seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, number, 1, &test);
}

/* Threads, but no processes: nothing of a program can outlive it. clone3 hides its flags. */
static int allow_threads(scmp_filter_ctx filter)
{
    return allow_where(filter, SCMP_SYS(clone), 0, CLONE_THREAD, CLONE_THREAD);
}

/* A signal to itself (abort), to nobody else. */
static int allow_own_signals(scmp_filter_ctx filter)
{
    uint64_t self = (uint64_t)getpid();
    int error = allow_where(filter, SCMP_SYS(tgkill), 0, UINT64_MAX, self);
    return error ? error : allow_where(filter, SCMP_SYS(kill), 0, UINT64_MAX, self);
}

/* Its own limits, which it can only lower; whether an output is a terminal; its own fds. */
static int allow_with_arguments(scmp_filter_ctx filter)
{
    static const int controls[] = {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL};
    int error = allow_where(filter, SCMP_SYS(prlimit64), 0, UINT64_MAX, 0);
    if (!error)
        error = allow_where(filter, SCMP_SYS(ioctl), 1, UINT64_MAX, TCGETS);
    for (size_t i = 0; i < sizeof controls / sizeof *controls && !error; i++)
        error = allow_where(filter, SCMP_SYS(fcntl), 1, UINT64_MAX, (uint64_t)controls[i]);
    return error;
}

int sandbox_filter_program(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
    if (!filter)
        return -ENOMEM;
    int error = allow(filter, program_calls);
    if (!error)
        error = allow_threads(filter);
    if (!error)
        error = allow_own_signals(filter);
    if (!error)
        error = allow_with_arguments(filter);
    return load(filter, error);
}
