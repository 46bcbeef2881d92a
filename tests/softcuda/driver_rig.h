/*
 * What the tests of the software driver share. Each scenario runs in a child of its own, for the
 * driver's state belongs to a process, and a sticky error stays. A child says what failed and ends
 * with 1. Included by test programs only.
 */
#ifndef PAWL_TESTS_SOFTCUDA_DRIVER_RIG_H
#define PAWL_TESTS_SOFTCUDA_DRIVER_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/softcuda/driver.h"

#define require(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

/* One call, and the code that it must give. */
#define require_code(expected, call)                                                               \
    do {                                                                                           \
        CUresult code_ = (call);                                                                   \
        if (code_ != (expected)) {                                                                 \
            fprintf(stderr, "%s:%d: %s: %d\n", __FILE__, __LINE__, #call, code_);                  \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)
#define require_ok(call) require_code(CUDA_SUCCESS, call)

static pid_t scenario_start(const char *options, void (*scenario)(void))
{
    fflush(NULL);
    pid_t pid = fork();

    if (pid)
        return pid;
    setenv("PAWL_SOFTCUDA", options, 1);
    alarm(60); /* under sanitizers, on a busy machine */
    scenario();
    _exit(0);
}

static int scenario_end(pid_t pid)
{
    int status;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

__attribute__((unused)) static void scenario_run(const char *options, void (*scenario)(void))
{
    assert_int_equal(scenario_end(scenario_start(options, scenario)), 0);
}

__attribute__((unused)) static void open_context(void)
{
    CUcontext context;

    require_ok(cuInit(0));
    require_ok(cuDevicePrimaryCtxRetain(&context, 0));
    require_ok(cuCtxSetCurrent(context));
}

/* out[i] = in[i] + add for i < count; the structure is {out, in, count, add}. */
static const char rig_ptx[] = ".version 9.0\n"
                              ".target sm_90\n"
                              ".address_size 64\n"
                              ".visible .entry add_to_each(\n"
                              ".param .align 8 .b8 add_to_each_param_0[24]\n"
                              ")\n"
                              "{\n"
                              ".reg .pred %p<2>;\n"
                              ".reg .b32 %r<9>;\n"
                              ".reg .b64 %rd<8>;\n"
                              "ld.param.u64 %rd2, [add_to_each_param_0+8];\n"
                              "ld.param.u64 %rd1, [add_to_each_param_0];\n"
                              "ld.param.u32 %r2, [add_to_each_param_0+16];\n"
                              "ld.param.u32 %r3, [add_to_each_param_0+20];\n"
                              "mov.u32 %r4, %ctaid.x;\n"
                              "mov.u32 %r5, %ntid.x;\n"
                              "mov.u32 %r6, %tid.x;\n"
                              "mad.lo.s32 %r1, %r4, %r5, %r6;\n"
                              "setp.ge.u32 %p1, %r1, %r2;\n"
                              "@%p1 bra $L__BB0_2;\n"
                              "cvta.to.global.u64 %rd3, %rd2;\n"
                              "cvta.to.global.u64 %rd4, %rd1;\n"
                              "mul.wide.u32 %rd5, %r1, 4;\n"
                              "add.s64 %rd6, %rd3, %rd5;\n"
                              "ld.global.u32 %r7, [%rd6];\n"
                              "add.s32 %r8, %r7, %r3;\n"
                              "add.s64 %rd7, %rd4, %rd5;\n"
                              "st.global.u32 [%rd7], %r8;\n"
                              "$L__BB0_2:\n"
                              "ret;\n"
                              "}\n";

struct rig_add {
    CUdeviceptr out, in;
    uint32_t count, add;
};
enum { RIG_THREADS = 64 };

__attribute__((unused)) static CUfunction rig_load(void)
{
    CUmodule module;
    CUfunction function;

    require_ok(cuModuleLoadData(&module, rig_ptx));
    require_ok(cuModuleGetFunction(&function, module, "add_to_each"));
    return function;
}

__attribute__((unused)) static CUresult rig_launch(CUfunction function, struct rig_add add,
                                                   CUstream stream)
{
    void *parameters[] = {&add};

    return cuLaunchKernel(function, (add.count + RIG_THREADS - 1) / RIG_THREADS, 1, 1, RIG_THREADS,
                          1, 1, 0, stream, parameters, NULL);
}

/* Device memory with the words 0, 1, 2 ... */
__attribute__((unused)) static CUdeviceptr rig_words(uint32_t count)
{
    uint32_t *words = malloc(count * sizeof(words[0]));
    CUdeviceptr at;

    require(words);
    for (uint32_t i = 0; i < count; i++)
        words[i] = i;
    require_ok(cuMemAlloc_v2(&at, count * sizeof(words[0])));
    require_ok(cuMemcpyHtoDAsync_v2(at, words, count * sizeof(words[0]), NULL));
    free(words);
    return at;
}

__attribute__((unused)) static uint32_t rig_word(CUdeviceptr at, uint32_t index)
{
    uint32_t word;

    require_ok(cuMemcpyDtoHAsync_v2(&word, at + index * sizeof(word), sizeof(word), NULL));
    return word;
}

#endif
