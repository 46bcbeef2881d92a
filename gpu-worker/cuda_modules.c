/*
 * See the header. The list is made by the Makefile: a line CUDA_MODULE(name, curve, "path of the
 * fatbin") for each; PAWL_CUDA is defined where there is one.
 */
#include "gpu-worker/cuda_modules.h"

#include <assert.h>

#ifdef PAWL_CUDA

#define CUDA_CURVE_bn254 CURVE_BN254
#define CUDA_CURVE_bls12381 CURVE_BLS12381

/* The assembler puts the file's bytes into read-only data, with a symbol before and one behind. */
#define CUDA_MODULE(name, curve, path)                                                             \
    __asm__(".pushsection .rodata\n"                                                               \
            ".balign 16\n"                                                                         \
            "cuda_image_" #name "_" #curve ":\n"                                                   \
            ".incbin \"" path "\"\n"                                                               \
            "cuda_image_end_" #name "_" #curve ":\n"                                               \
            ".byte 0\n"                                                                            \
            ".popsection\n");                                                                      \
    extern const char cuda_image_##name##_##curve[], cuda_image_end_##name##_##curve[];
#include "cuda_modules.inc"
#undef CUDA_MODULE

/* An end is no constant to the compiler, so the lengths are taken when they are asked for. */
struct embedded {
    struct cuda_module module;
    const char *end;
};

#define CUDA_MODULE(name, curve, path)                                                             \
    {{#name, CUDA_CURVE_##curve, cuda_image_##name##_##curve, 0}, cuda_image_end_##name##_##curve},
static struct embedded modules[] = {
#include "cuda_modules.inc"
};
#undef CUDA_MODULE

unsigned cuda_modules_count(void)
{
    return sizeof(modules) / sizeof(modules[0]);
}

const struct cuda_module *cuda_modules_at(unsigned number)
{
    assert(number < cuda_modules_count());
    struct embedded *embedded = &modules[number];
    embedded->module.bytes = (size_t)(embedded->end - (const char *)embedded->module.image);
    return &embedded->module;
}

#else

unsigned cuda_modules_count(void)
{
    return 0;
}

const struct cuda_module *cuda_modules_at(unsigned number)
{
    (void)number;
    assert(!"a build without CUDA kernels has no module");
    return 0;
}

#endif
