/*
 * Modules: made from a fatbin or a text, looked into by name, freed.
 */
#include "tests/softcuda/ptx_parser.h"
#include "tests/softcuda/ptx_fatbin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* what vector instructions read is aligned to their size */
static bool align_vectors(struct ptx_bytes *vectors)
{
    uint8_t *aligned = aligned_alloc(64, (vectors->bytes + 64) / 64 * 64);
    if (aligned == NULL)
        return false;
    if (vectors->bytes > 0)
        memcpy(aligned, vectors->data, vectors->bytes);
    free(vectors->data);
    vectors->data = aligned;
    return true;
}

static void set_ranges(struct ptx_module *module)
{
    module->constant = (struct ptx_range){.base = PTX_WINDOW_CONSTANT,
                                          .bytes = module->constant_space.bytes,
                                          .host = module->constant_space.data,
                                          .read_only = true};
    module->global = (struct ptx_range){.base = PTX_WINDOW_GLOBAL,
                                        .bytes = module->global_space.bytes,
                                        .host = module->global_space.data};
}

struct ptx_module *ptx_module_load(const void *image, size_t bytes, char *why, size_t why_bytes)
{
    const char *text = image;
    size_t text_bytes = bytes;
    snprintf(why, why_bytes, "no memory for a module");
    if (ptx_fatbin_is(image, bytes) &&
        !ptx_fatbin_text(image, bytes, &text, &text_bytes, why, why_bytes))
        return NULL;
    struct ptx_module *module = calloc(1, sizeof *module);
    if (module == NULL)
        return NULL;
    if (!ptx_parse_text(module, text, text_bytes, why, why_bytes) ||
        !align_vectors(&module->vectors)) {
        ptx_module_free(module);
        return NULL;
    }
    set_ranges(module);
    return module;
}

void ptx_module_free(struct ptx_module *module)
{
    if (module == NULL)
        return;
    for (uint32_t i = 0; i < module->functions; i++)
        free(module->function[i].name);
    free(module->function);
    free(module->code);
    free(module->kernel);
    free(module->call);
    free(module->copy);
    free(module->vectors.data);
    free(module->constant_space.data);
    free(module->global_space.data);
    free(module);
}

const struct ptx_kernel *ptx_kernel_find(const struct ptx_module *module, const char *name)
{
    for (uint32_t i = 0; i < module->kernels; i++)
        if (strcmp(module->kernel[i].function->name, name) == 0)
            return &module->kernel[i];
    return NULL;
}

uint32_t ptx_kernel_count(const struct ptx_module *module)
{
    return module->kernels;
}

const struct ptx_kernel *ptx_kernel_at(const struct ptx_module *module, uint32_t number)
{
    return number < module->kernels ? &module->kernel[number] : NULL;
}

struct ptx_kernel_limits ptx_kernel_limits(const struct ptx_kernel *kernel)
{
    const struct ptx_function *function = kernel->function;
    return (struct ptx_kernel_limits){.name = function->name,
                                      .registers = function->registers,
                                      .shared_bytes = function->shared_bytes,
                                      .local_bytes = function->stack_local_bytes,
                                      .constant_bytes = (uint32_t)kernel->module->constant.bytes,
                                      .param_bytes = function->param_bytes,
                                      .threads_most = function->threads_most};
}
