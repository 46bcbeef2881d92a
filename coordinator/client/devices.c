/*
 * Devices by name; see the header. Called by prove and the doctor. Leaves nothing.
 */
#include "coordinator/client/devices.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "coordinator/client/child.h"
#include "coordinator/client/interrupt.h"
#include "coordinator/client/say.h"
#include "shm/program.h"

#define LIST_BYTES_MAX 65536
#define LIST_WAIT_MS 60000 /* a driver that hangs must not take pawl with it */

int devices_library_loads(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);

    if (library)
        dlclose(library);
    return library != NULL;
}

json_t *devices_list(char *why, size_t bytes)
{
    char *words[] = {"--list-devices", "--json", NULL};
    struct child_output output;
    json_t *list = NULL;
    int error = child_run(&output, "gpu-worker", words, LIST_BYTES_MAX, LIST_WAIT_MS);

    if (error)
        snprintf(why, bytes, "gpu-worker --list-devices: %s%s", strerror(-error),
                 error == -ETIMEDOUT ? ": the driver may hang; --device cpu does without it" : "");
    else if (output.status != 0)
        snprintf(why, bytes, "gpu-worker --list-devices ended with %s %d: %.200s",
                 WIFSIGNALED(output.status) ? "signal" : "exit code",
                 WIFSIGNALED(output.status) ? WTERMSIG(output.status) : WEXITSTATUS(output.status),
                 output.error);
    else if (!(list = json_loadb(output.text, output.bytes, JSON_REJECT_DUPLICATES, NULL)))
        snprintf(why, bytes, "gpu-worker --list-devices printed no list");
    free(output.text);
    return list;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

/* A name that is a word of an argument list and a configuration. */
static int is_name(const char *name)
{
    const char *at = name;

    while (isalnum((unsigned char)*at) || (*at && strchr(":-_", *at)))
        at++;
    return at > name && !*at && at - name < DEVICES_NAME_BYTES;
}

static int is_meant(const json_t *device, const char *wanted)
{
    char numbered[32] = "";
    const json_t *index = json_object_get(device, "index");
    int is_cpu = strcmp(text_of(device, "name"), "cpu") == 0;

    if (json_is_integer(index))
        snprintf(numbered, sizeof(numbered), "cuda:%d", (int)json_integer_value(index));
    if (strcmp(wanted, "auto") == 0)
        return !is_cpu && json_is_true(json_object_get(device, "fit"));
    return strcmp(wanted, text_of(device, "name")) == 0 || strcmp(wanted, numbered) == 0;
}

const char *devices_find(const json_t *list, const char *wanted, char *why, size_t bytes)
{
    const char *reason = text_of(list, "why");
    size_t i;
    const json_t *device;

    json_array_foreach(json_object_get(list, "devices"), i, device)
    {
        if (!is_meant(device, wanted) || !is_name(text_of(device, "name")))
            continue;
        if (json_is_true(json_object_get(device, "fit")))
            return text_of(device, "name");
        snprintf(why, bytes, "it is unfit: %.300s", text_of(device, "why"));
        return NULL;
    }
    snprintf(why, bytes, "%.300s", *reason ? reason : "the driver shows no such GPU");
    return NULL;
}

static int look_up(const char *wanted, char name[DEVICES_NAME_BYTES])
{
    char why[512] = "";
    json_t *list = devices_list(why, sizeof(why));
    const char *found = list ? devices_find(list, wanted, why, sizeof(why)) : NULL;
    int code = 0;

    if (found)
        snprintf(name, DEVICES_NAME_BYTES, "%s", found);
    else if (interrupt_came())
        code = say_error(EXIT_CANCELLED, "interrupted");
    else if (strcmp(wanted, "auto") != 0)
        code = say_error(EXIT_MACHINE, "there is no device %s: %s", wanted, why);
    json_decref(list);
    return code;
}

int devices_choose(const char *wanted, char name[DEVICES_NAME_BYTES])
{
    snprintf(name, DEVICES_NAME_BYTES, "cpu");
    if (!wanted)
        wanted = "auto";
    if (strcmp(wanted, "cpu") == 0)
        return 0;
    if (strcmp(wanted, "auto") == 0)
        return devices_library_loads() ? look_up(wanted, name) : 0;
    if (strncmp(wanted, "cuda:", 5) != 0 && strncmp(wanted, "GPU-", 4) != 0 &&
        strncmp(wanted, "MIG-", 4) != 0)
        return say_error(EXIT_USAGE_ERROR, "no such device: %s; auto, cpu, cuda:N and UUIDs are",
                         wanted);
    return look_up(wanted, name);
}
