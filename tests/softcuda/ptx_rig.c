/*
 * The rig of ptx_rig.h.
 */
#include "tests/softcuda/ptx_rig.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const head =
    ".version 9.0\n.target sm_90\n.address_size 64\n%s\n"
    ".visible .entry k(.param .u64 k_in, .param .u64 k_out)\n{\n"
    ".reg .pred %%p<10>;\n.reg .b16 %%h<10>;\n.reg .b32 %%r<40>;\n.reg .b64 %%d<40>;\n"
    ".reg .b64 %%in, %%out, %%mine, %%yours;\n"
    "ld.param.u64 %%in, [k_in];\nld.param.u64 %%out, [k_out];\n"
    "mov.u32 %%r0, %%tid.x;\nmul.wide.u32 %%d0, %%r0, 32;\nadd.s64 %%mine, %%in, %%d0;\n"
    "mul.wide.u32 %%d0, %%r0, 8;\nadd.s64 %%yours, %%out, %%d0;\n"
    "ld.global.v2.u64 {%%d1, %%d2}, [%%mine];\nld.global.v2.u64 {%%d3, %%d4}, [%%mine+16];\n"
    "cvt.u32.u64 %%r1, %%d1;\ncvt.u32.u64 %%r2, %%d2;\ncvt.u32.u64 %%r3, %%d3;\n"
    "cvt.u32.u64 %%r4, %%d4;\n"
    "%s\n%s\nst.global.u64 [%%yours], %%d9;\nret;\n}\n";

struct memory {
    struct ptx_range in, out;
};

static const struct ptx_range *find(void *owner, uint64_t address)
{
    const struct memory *memory = owner;
    if (address - memory->in.base < memory->in.bytes)
        return &memory->in;
    return address - memory->out.base < memory->out.bytes ? &memory->out : NULL;
}

static int run_module(struct rig *rig, const struct ptx_module *module)
{
    uint8_t written[RIG_LANES + 2] = {0};
    const uint64_t params[2] = {RIG_IN, RIG_OUT};
    assert(sizeof written >= ptx_written_bytes(sizeof rig->out));
    struct memory memory = {
        .in = {.base = RIG_IN, .bytes = sizeof rig->in, .host = (uint8_t *)rig->in},
        .out = {.base = RIG_OUT,
                .bytes = sizeof rig->out,
                .host = (uint8_t *)rig->out,
                .written = rig->watch_writes ? written : NULL}};
    memory.in.read_only = true;
    const struct ptx_launch launch = {.grid = {rig->blocks != 0 ? rig->blocks : 1, 1, 1},
                                      .block = {rig->threads != 0 ? rig->threads : 32, 1, 1},
                                      .shared_bytes = rig->shared_bytes,
                                      .params = params,
                                      .param_bytes = sizeof params};
    const struct ptx_memory view = {
        .find = find, .owner = &memory, .seed = rig->seed, .steps_most = rig->steps_most};
    const struct ptx_kernel *kernel = ptx_kernel_find(module, "k");
    assert(kernel != NULL);
    return ptx_run(kernel, &launch, &view, &rig->fault);
}

int rig_run(struct rig *rig, const char *module, const char *body, bool narrow)
{
    char *text = NULL;
    const int length = asprintf(&text, head, module, body, narrow ? "cvt.u64.u32 %d9, %r9;" : "");
    assert(length > 0);
    struct ptx_module *loaded = ptx_module_load(text, (size_t)length, rig->why, sizeof rig->why);
    free(text);
    if (loaded == NULL)
        return -ENOEXEC;
    const int result = run_module(rig, loaded);
    ptx_module_free(loaded);
    return result;
}

uint64_t rig_compute(const char *body, bool narrow, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    static const uint32_t threads[] = {32, 7};
    uint64_t result = 0;
    for (unsigned i = 0; i < 2; i++) {
        struct rig rig = {.threads = threads[i]};
        for (unsigned lane = 0; lane < RIG_LANES; lane++)
            memcpy(rig.in[lane], (const uint64_t[RIG_WORDS]){a, b, c, d}, sizeof rig.in[lane]);
        if (rig_run(&rig, "", body, narrow) != 0) {
            fprintf(stderr, "%s: %s%s\n", body, rig.why, rig.fault.text);
            abort();
        }
        for (unsigned lane = 0; lane < threads[i]; lane++)
            assert(rig.out[lane] == rig.out[0]);
        assert(i == 0 || rig.out[0] == result);
        result = rig.out[0];
    }
    return result;
}
