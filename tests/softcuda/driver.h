/*
 * The software CUDA driver's own state: what the files driver_*.c share. The calls that it exports
 * are those of gpu-worker/cuda_driver.h, under the symbols that NVIDIA's library has.
 *
 * One lock guards everything and one condition tells of every change; kernels run outside of it, in
 * the threads of their streams. State belongs to the process that called cuInit: a child made by
 * fork gets CUDA_ERROR_NOT_INITIALIZED, as from the real one. A SIGKILL leaves nothing but exported
 * memory that another process holds by its fd.
 */
#ifndef PAWL_TESTS_SOFTCUDA_DRIVER_H
#define PAWL_TESTS_SOFTCUDA_DRIVER_H

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "gpu-worker/cuda_driver.h"

#define SOFT_EXPORT __attribute__((visibility("default")))
#define SOFT_DECLARE(name, symbol, parameters) SOFT_EXPORT CUresult symbol parameters;
CUDA_DRIVER_CALLS(SOFT_DECLARE)
#undef SOFT_DECLARE

enum { SOFT_DEVICES_MOST = 16 };
#define SOFT_GRANULARITY ((size_t)2 << 20)    /* of cuMemCreate */
#define SOFT_SHARED_BYTES (48 << 10)          /* of a block, where nobody asks for more */
#define SOFT_CONTEXT_BYTES ((size_t)16 << 20) /* what a context takes of a device's memory */
/* Of a thread, in what a context takes. A GPU's has 1024; PTX shows more than ptxas leaves of it.
 */
#define SOFT_LOCAL_BYTES ((size_t)1536)
#define SOFT_THREADS 8192 /* that the device can hold at a time */

/* PAWL_SOFTCUDA: what kind of machine this is, and what goes wrong. README.md explains the words.
 */
struct soft_options {
    unsigned devices;
    int version, capability; /* 13000; 90 */
    CUresult init;           /* of cuInit */
    uint64_t memory_bytes;   /* of each device */
    bool novmm, noprotect, noregister, roregister, mps, prohibited, mig;
    uint64_t oom_at, fault_at, hang_at, flip_at; /* 1: the first; 0: never */
    bool oom_on;                                 /* from that one on */
    CUresult fault_code;
    unsigned slow_us; /* each launch takes at least that */
    uint64_t seed;
    char once[PATH_MAX], trace[PATH_MAX];
};

/* Reads the variable. 0, or -EINVAL with the word at fault on stderr. */
int soft_options_read(struct soft_options *options);

struct soft_counts {
    uint64_t allocations, launches, copies_in, copies_out, bytes_in, bytes_out;
};

struct soft_state {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    _Atomic pid_t pid; /* 0: cuInit has not been called */
    struct soft_options options;
    CUresult sticky; /* a kernel's fault: what every call answers from then on */
    unsigned visible[SOFT_DEVICES_MOST], visible_count; /* after CUDA_VISIBLE_DEVICES */
    unsigned contexts[SOFT_DEVICES_MOST];               /* how often each is retained */
    size_t local_bytes[SOFT_DEVICES_MOST];              /* a thread's local memory */
    struct soft_counts counts;
};
extern struct soft_state soft;

/*
 * Every call begins with one of these: takes the lock, or gives the error that the call returns.
 * soft_begin() wants cuInit, and no sticky error; soft_begin_in_context() a context that is current
 * in this thread besides. soft_end() gives the lock back and passes the code on.
 */
CUresult soft_begin(void);
CUresult soft_begin_in_context(void);
CUresult soft_begin_device(CUdevice device); /* a device that there is; no context */
CUresult soft_end(CUresult code);

/* Local memory of the current context: as much a thread, from now on. Counts as an allocation. */
CUresult soft_local_grow(size_t bytes);

int soft_shared_optin_bytes(void); /* of a block, for who asks; by the capability */

/* The device whose context is current in this thread, or -1. */
int soft_current_device(void);
struct cuda_uuid soft_device_uuid(CUdevice device);
void soft_devices_choose(void); /* fills soft.visible */

/* driver_fault.c; all under the lock. Each counts its own kind of step and says whether this is the
 * one that was asked for. */
bool soft_fault_allocation(void);                            /* this one has no memory */
CUresult soft_fault_launch(bool *hang);                      /* what this launch ends with */
bool soft_fault_copy_out(void);                              /* one bit of it flips */
void soft_fault_set_sticky(CUresult code, const char *what); /* the first stays */

/* driver_trace.c: a line into the file of `trace=`, if there is one. */
__attribute__((format(printf, 1, 2))) void soft_trace(const char *format, ...);
void soft_trace_open(void);

#endif
