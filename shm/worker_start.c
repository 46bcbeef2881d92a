/*
 * A worker's settings and last words; see the header. What runs in a signal handler here uses
 * nothing but seat_say, write(2) and plain loops.
 */
#include "shm/worker_start.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

#include "shm/seat.h"
#include "shm/wire.h"

#define CRASH_STACK_BYTES 65536

static struct seat_page *crash_page;
static _Atomic int crash_said;

/* ---- settings ---- */

static const char *parse_cpu_number(const char *at, unsigned long *number)
{
    if (*at < '0' || *at > '9')
        return NULL;
    char *end;
    *number = strtoul(at, &end, 10);
    return *number < CPU_SETSIZE ? end : NULL;
}

static const char *parse_cpu_range(const char *at, cpu_set_t *cpus)
{
    unsigned long first, last;
    at = parse_cpu_number(at, &first);
    if (!at)
        return NULL;
    last = first;
    if (*at == '-' && !(at = parse_cpu_number(at + 1, &last)))
        return NULL;
    for (unsigned long cpu = first; cpu <= last; cpu++)
        CPU_SET(cpu, cpus);
    return first <= last ? at : NULL;
}

int worker_parse_cpus(const char *text, cpu_set_t *cpus)
{
    CPU_ZERO(cpus);
    for (const char *at = text;; at++) {
        at = parse_cpu_range(at, cpus);
        if (!at || (*at && *at != ','))
            return -EINVAL;
        if (!*at)
            return 0;
    }
}

static int apply_cpus(const char *text)
{
    cpu_set_t cpus;
    if (!*text)
        return 0;
    int error = worker_parse_cpus(text, &cpus);
    if (error)
        return error;
    return sched_setaffinity(0, sizeof(cpus), &cpus) ? -errno : 0;
}

int worker_settings_apply(const struct wire_welcome *welcome, const char **what)
{
    int error = 0;
    *what = NULL;
    if (!welcome->dumpable && prctl(PR_SET_DUMPABLE, 0)) {
        error = -errno;
        *what = "dumpable";
    }
    if (welcome->nice && setpriority(PRIO_PROCESS, 0, welcome->nice)) {
        error = -errno;
        *what = "nice";
    }
    int cpus_error = apply_cpus(welcome->cpus);
    if (cpus_error)
        *what = "cpus";
    return cpus_error ? cpus_error : error;
}

unsigned worker_count_cpus(void)
{
    cpu_set_t cpus;
    if (sched_getaffinity(0, sizeof(cpus), &cpus))
        return 1;
    int count = CPU_COUNT(&cpus);
    return count > 0 ? (unsigned)count : 1;
}

/* ---- last words ---- */

/* The first words count: an assert's text is not to be lost to the SIGABRT that follows it. */
static void crash_say(const char *text)
{
    if (crash_page && !atomic_exchange_explicit(&crash_said, 1, memory_order_relaxed))
        seat_say(crash_page, text);
}

static const char *crash_signal_text(int number)
{
    switch (number) {
    case SIGSEGV:
        return "SIGSEGV: an address that is not mapped";
    case SIGBUS:
        return "SIGBUS: a mapped file or object ended early, or memory failed";
    case SIGFPE:
        return "SIGFPE";
    case SIGILL:
        return "SIGILL: an instruction that this CPU does not have";
    case SIGSYS:
        return "SIGSYS: a forbidden system call";
    default:
        return "SIGABRT";
    }
}

/* SA_RESETHAND: the signal raised again ends the process in its own way. */
static void crash_handle(int number)
{
    crash_say(crash_signal_text(number));
    raise(number);
}

void worker_crash_watch(struct seat_page *page)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGABRT};
    static char stack[CRASH_STACK_BYTES];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
    struct sigaction action = {.sa_handler = crash_handle,
                               .sa_flags = (int)(SA_RESETHAND | SA_NODEFER | SA_ONSTACK)};
    crash_page = page;
    atomic_store_explicit(&crash_said, 0, memory_order_relaxed);
    if (!page)
        action.sa_handler = SIG_DFL;
    sigemptyset(&action.sa_mask);
    sigaltstack(&alternate, NULL); /* of this thread; others crash on their own stacks */
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        sigaction(signals[i], &action, NULL);
}

/* What assert(3) calls: in place of the C library's, so that the text reaches the seat page. */
void __assert_fail(const char *assertion, const char *file, unsigned line, const char *function)
{
    char text[SEAT_LAST_WORDS_BYTES];
    snprintf(text, sizeof(text), "%s:%u: %s: assertion failed: %s", file, line, function,
             assertion);
    fprintf(stderr, "%s\n", text);
    crash_say(text);
    abort();
}

uint64_t worker_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
