/*
 * The check of a hello; see the header. Pure. What another build says could mean anything, so
 * versions are compared before all else, and all of them exactly.
 */
#include "coordinator/hello.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "shm/control.h"
#include "shm/image.h"
#include "shm/program.h"
#include "shm/slab.h"

int refuse(struct refusal *refusal, uint32_t exit_code, const char *format, ...)
{
    va_list arguments;
    refusal->exit_code = exit_code;
    va_start(arguments, format);
    vsnprintf(refusal->why, sizeof(refusal->why), format, arguments);
    va_end(arguments);
    return -EACCES;
}

static int check_number(struct refusal *refusal, const char *what, uint32_t theirs, uint32_t ours)
{
    if (theirs == ours)
        return 0;
    return refuse(
        refusal, EXIT_CONFIG,
        "%s %u of the worker is not the coordinator's %u: install programs of one version", what,
        theirs, ours);
}

static int check_build(const struct wire_hello *hello, struct refusal *refusal)
{
    int error = check_number(refusal, "protocol", hello->protocol, WIRE_PROTOCOL);
    if (!error)
        error = check_number(refusal, "control layout", hello->control_layout, CONTROL_LAYOUT);
    if (!error)
        error = check_number(refusal, "slab layout", hello->slab_layout, SLAB_LAYOUT);
    if (!error)
        error = check_number(refusal, "image layout", hello->image_layout, IMAGE_LAYOUT);
    if (!error && strcmp(hello->build_id, pawl_build_id) != 0)
        error = refuse(refusal, EXIT_CONFIG,
                       "build id %s of the worker is not the coordinator's %s: install programs of "
                       "one build",
                       hello->build_id, pawl_build_id);
    return error;
}

static int check_device(const struct wire_hello *hello, struct refusal *refusal)
{
    const char *device = hello->device;
    if (hello->role == ROLE_SYNTH)
        return 0;
    if (!device[0])
        return refuse(refusal, EXIT_CONFIG, "a gpu-worker names its device: none was named");
    for (; *device; device++)
        if (*device <= ' ' || *device > '~' || *device == '"' || *device == '\\')
            return refuse(refusal, EXIT_CONFIG, "the device's name holds an illegal character");
    return 0;
}

int hello_check(const struct wire_hello *hello, struct refusal *refusal)
{
    int error = check_build(hello, refusal);
    if (error)
        return error;
    if (hello->role != ROLE_SYNTH && hello->role != ROLE_GPU)
        return refuse(refusal, EXIT_CONFIG, "there is no worker role %u", hello->role);
    return check_device(hello, refusal);
}
