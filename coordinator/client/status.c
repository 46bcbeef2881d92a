/*
 * pawl status: what the service does, as a few tables or as JSON; and healthz, which conf/supervise
 * asks whether the coordinator's loop still answers.
 */
#include <stdio.h>
#include <string.h>

#include "coordinator/client/commands.h"
#include "coordinator/client/options.h"
#include "coordinator/client/say.h"
#include "coordinator/client/service.h"
#include "shm/program.h"

#define MIB (1024.0 * 1024.0)

/* The columns of a lane's slabs: state and width. */
static const struct {
    const char *state;
    int width;
} columns[] = {{"free", 4},    {"filling", 7},     {"ready", 5}, {"assigned", 8},
               {"proving", 7}, {"finalizing", 10}, {"wiping", 6}};
#define COLUMNS (sizeof(columns) / sizeof(*columns))

static void print_lane(const json_t *lane)
{
    const json_t *credits = json_object_get(lane, "credits"),
                 *slabs = json_object_get(lane, "slabs");
    printf("%-16s %3.0f of %-3.0f        ", service_text(lane, "name"),
           service_number(credits, "available"), service_number(credits, "limit"));
    for (size_t i = 0; i < COLUMNS; i++)
        printf(" %*.0f", columns[i].width, service_number(slabs, columns[i].state));
    putchar('\n');
}

static void print_lanes(const json_t *lanes)
{
    printf("lane              credits  slabs:  ");
    for (size_t i = 0; i < COLUMNS; i++)
        printf("%s%s", i ? " " : "", columns[i].state);
    putchar('\n');
    for (size_t i = 0; i < json_array_size(lanes); i++)
        print_lane(json_array_get(lanes, i));
}

static void print_worker(const json_t *worker)
{
    printf("%4.0f  %-5s  %-7.0f  %-8.8s  %-10s  %-16s  %-6.0f  %.1f\n",
           service_number(worker, "seat"), service_text(worker, "role"),
           service_number(worker, "pid"), service_text(worker, "device"),
           service_text(worker, "stage"), service_text(worker, "job"),
           service_number(worker, "done_total"), service_number(worker, "busy_s"));
}

static void print_workers(const json_t *workers)
{
    puts("\nseat  role   pid      device    stage       job               done    busy s");
    for (size_t i = 0; i < json_array_size(workers); i++)
        print_worker(json_array_get(workers, i));
}

static void print_rest(const json_t *status)
{
    const json_t *jobs = json_object_get(status, "jobs");
    const json_t *deaths = json_object_get(status, "deaths_total");
    const json_t *region = json_object_get(status, "region");
    printf("\njobs: %.0f queued, %.0f running, %.0f done, %.0f failed, %.0f cancelled\n",
           service_number(jobs, "queued"), service_number(jobs, "running"),
           service_number(jobs, "done_total"), service_number(jobs, "failed_total"),
           service_number(jobs, "cancelled_total"));
    printf("deaths: %.0f synth, %.0f gpu; reclaims: %.0f\n", service_number(deaths, "synth"),
           service_number(deaths, "gpu"), service_number(status, "reclaims_total"));
    printf("region: %.1f MiB (%s); circuits: %zu\n", service_number(region, "bytes") / MIB,
           service_text(region, "backing"), json_array_size(json_object_get(status, "circuits")));
}

static int print_status(const json_t *status)
{
    printf("pawl %s, pid %.0f, up %.0f s%s, longest callback %.1f ms\n\n",
           service_text(status, "version"), service_number(status, "pid"),
           service_number(status, "uptime_s"),
           json_is_true(json_object_get(status, "draining")) ? ", draining" : "",
           service_number(status, "loop_max_ms"));
    print_lanes(json_object_get(status, "lanes"));
    print_workers(json_object_get(status, "workers"));
    print_rest(status);
    return say_flush();
}

int command_status(const struct arguments *arguments)
{
    struct service service;
    json_t *status;
    int code = service_open(&service, arguments);
    if (code)
        return code;
    code = service_call(&service, "GET", "/v1/status", NULL, &status);
    if (!code)
        code = options_value(arguments, "--json") ? say_json(status) : print_status(status);
    json_decref(status);
    service_close(&service);
    return code;
}

int command_healthz(const struct arguments *arguments)
{
    struct service service;
    struct http_answer answer;
    unsigned long seconds = 10;
    int code = options_number(arguments, "--timeout", 3600, &seconds);
    if (!code)
        code = service_open(&service, arguments);
    if (code)
        return code;
    service.http.timeout_ms = (long)seconds * 1000;
    code = service_call_raw(&service, "GET", "/healthz", NULL, 0, &answer);
    if (!code)
        http_answer_free(&answer);
    service_close(&service);
    return code;
}
