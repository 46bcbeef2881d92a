/*
 * See the header.
 */
#include "gpu-worker/device_list.h"

#include <inttypes.h>
#include <string.h>

#include "gpu-worker/cuda_devices.h"
#include "gpu-worker/cuda_driver.h"
#include "gpu-worker/device.h"
#include "shm/program.h"

static void print_json_text(FILE *out, const char *text)
{
    putc('"', out);
    for (const char *at = text; *at; at++)
        if (*at == '"' || *at == '\\')
            fprintf(out, "\\%c", *at);
        else if ((unsigned char)*at < ' ')
            fprintf(out, "\\u%04x", (unsigned)(unsigned char)*at);
        else
            putc(*at, out);
    putc('"', out);
}

/* null where there is nothing to say */
static void print_json_why(FILE *out, const char *why)
{
    if (*why)
        print_json_text(out, why);
    else
        fputs("null", out);
}

/* ---- the CPU ---- */

static int describe_cpu(struct device_description *cpu, const char **why)
{
    struct device_settings settings = {0};
    struct device *device = device_open("cpu", &settings, why);
    if (!device)
        return EXIT_MACHINE;
    device->operations->describe(device, cpu);
    device->operations->close(device);
    return 0;
}

static void print_cpu(FILE *out, int json, const struct device_description *cpu)
{
    if (!json) {
        fprintf(out, "%s  %s, %u threads\n", cpu->name, cpu->model, cpu->threads);
        return;
    }
    fputs("{\"devices\":[{\"name\":\"cpu\",\"device\":\"cpu\",\"index\":null,\"model\":", out);
    print_json_text(out, cpu->model);
    fprintf(out,
            ",\"capability\":null,\"memory_bytes\":null,\"threads\":%u,\"mps\":false,"
            "\"fit\":true,\"why\":null}",
            cpu->threads);
}

/* ---- GPUs ---- */

static void print_gpu_json(FILE *out, const struct cuda_facts *gpu)
{
    char index[16];
    const char *name = gpu->uuid;
    snprintf(index, sizeof(index), "cuda:%d", gpu->ordinal);
    if (!*name) /* the driver does not even tell its UUID */
        name = index;
    fprintf(out, ",{\"name\":\"%s\",\"device\":\"%s\",\"index\":%d,\"model\":", name, name,
            gpu->ordinal);
    print_json_text(out, gpu->model);
    fprintf(out,
            ",\"capability\":\"%d.%d\",\"memory_bytes\":%" PRIu64
            ",\"threads\":null,\"mps\":%s,\"fit\":%s,\"why\":",
            gpu->capability / 10, gpu->capability % 10, gpu->memory_bytes,
            gpu->shared_by_mps ? "true" : "false", gpu->why[0] ? "false" : "true");
    print_json_why(out, gpu->why);
    putc('}', out);
}

static void print_gpu(FILE *out, const struct cuda_facts *gpu)
{
    fprintf(out, "%s  cuda:%d, %s, compute capability %d.%d, %" PRIu64 " MiB%s%s%s\n", gpu->uuid,
            gpu->ordinal, gpu->model, gpu->capability / 10, gpu->capability % 10,
            gpu->memory_bytes >> 20, gpu->shared_by_mps ? ", shared by MPS" : "",
            gpu->why[0] ? "; unfit: " : "", gpu->why);
}

static void print_gpus(FILE *out, int json, const struct cuda_driver *driver)
{
    struct cuda_code code = cuda_devices_own_code();
    struct cuda_facts facts;
    for (int i = 0; i < driver->devices; i++) {
        cuda_devices_read(driver, i, &code, &facts);
        if (json)
            print_gpu_json(out, &facts);
        else
            print_gpu(out, &facts);
    }
}

static void print_end(FILE *out, int json, const struct cuda_driver *driver, const char *why)
{
    if (!json) {
        if (*why)
            fprintf(out, "no GPU: %s\n", why);
        return;
    }
    if (driver->version > 0)
        fprintf(out, "],\"driver\":{\"version\":%d},\"why\":", driver->version);
    else
        fputs("],\"driver\":null,\"why\":", out);
    print_json_why(out, why);
    fputs("}\n", out);
}

int device_list_print(FILE *out, int json, const char **why)
{
    struct device_description cpu;
    struct cuda_driver driver;
    const char *no_gpu = "";
    int code = describe_cpu(&cpu, why);
    if (code)
        return code;
    print_cpu(out, json, &cpu);
    if (cuda_driver_open(&driver, &no_gpu) == 0) {
        print_gpus(out, json, &driver);
        no_gpu = "";
    }
    print_end(out, json, &driver, no_gpu);
    if (fflush(out) == 0)
        return 0;
    *why = "the list cannot be written";
    return EXIT_OUTPUT;
}
