/*
 * The trace as JSON; see the header. Called by http_trace.c.
 */
#include "coordinator/json_trace.h"

#include <event2/buffer.h>
#include <inttypes.h>
#include <stdio.h>

#include "coordinator/workers.h"
#include "shm/control.h"
#include "shm/trace.h"

enum track_group { TRACKS_WORKERS = 1, TRACKS_SLABS, TRACKS_CREDITS };

static void put_us(struct json_writer *json, const char *key, uint64_t ns)
{
    jsonw_put_real(json, key, (double)ns / 1000.0);
}

static void put_place(struct json_writer *json, enum track_group group, uint64_t track)
{
    jsonw_put_uint(json, "pid", group);
    jsonw_put_uint(json, "tid", track);
}

/* ---- names of tracks ---- */

static void put_name(struct json_writer *json, const char *kind, enum track_group group,
                     uint64_t track, const char *name)
{
    jsonw_open(json, '{');
    jsonw_put_text(json, "ph", "M");
    jsonw_put_text(json, "name", kind);
    put_place(json, group, track);
    jsonw_put_open(json, "args", '{');
    jsonw_put_text(json, "name", name);
    jsonw_close(json, '}');
    jsonw_close(json, '}');
}

static void put_worker_names(struct json_writer *json, const struct workers *workers)
{
    for (uint32_t seat = 0; workers && seat < SEATS_MAX; seat++) {
        const struct worker *worker = workers->seats[seat];
        char name[WIRE_DEVICE_BYTES + 64];
        if (!worker)
            continue;
        snprintf(name, sizeof(name), "seat %" PRIu32 ": %s %s", seat,
                 worker->role == ROLE_SYNTH ? "synth-worker" : "gpu-worker", worker->device);
        put_name(json, "thread_name", TRACKS_WORKERS, seat, name);
    }
}

static void put_slab_names(struct json_writer *json, const struct control *control)
{
    for (uint32_t slab = 0; slab < control->header->slab_count; slab++) {
        char name[LANE_NAME_BYTES + 64];
        snprintf(name, sizeof(name), "slab %" PRIu32 " of lane %s", slab,
                 control->lanes[control->slabs[slab].lane].name);
        put_name(json, "thread_name", TRACKS_SLABS, slab, name);
    }
}

/* ---- events ---- */

static const char *lane_name(const struct control *control, uint32_t lane)
{
    return lane < control->header->lane_count ? control->lanes[lane].name : NULL;
}

static void put_complete(struct json_trace *trace, const struct trace_event *event)
{
    struct json_writer *json = &trace->json;
    char job[17];
    int has_worker = event->seat != SEAT_NONE;
    snprintf(job, sizeof(job), "%016" PRIx64, event->job);
    jsonw_open(json, '{');
    jsonw_put_text(json, "ph", "X");
    jsonw_put_text(json, "name", trace_kind_name(event->kind));
    put_us(json, "ts", event->start_ns);
    put_us(json, "dur", event->duration_ns);
    put_place(json, has_worker ? TRACKS_WORKERS : TRACKS_SLABS,
              has_worker ? event->seat : event->slab);
    jsonw_put_open(json, "args", '{');
    jsonw_put_text(json, "job", job);
    jsonw_put_uint(json, "partition", event->partition);
    jsonw_put_uint(json, "slab", event->slab);
    jsonw_put_text(json, "lane", lane_name(trace->control, event->lane));
    jsonw_close(json, '}');
    jsonw_close(json, '}');
}

static void put_credit(struct json_trace *trace, const struct trace_event *event)
{
    struct json_writer *json = &trace->json;
    jsonw_open(json, '{');
    jsonw_put_text(json, "ph", "i");
    jsonw_put_text(json, "s", "t");
    jsonw_put_text(json, "name", trace_kind_name(event->kind));
    put_us(json, "ts", event->start_ns);
    put_place(json, TRACKS_CREDITS, event->lane);
    jsonw_put_open(json, "args", '{');
    jsonw_put_text(json, "lane", lane_name(trace->control, event->lane));
    jsonw_put_uint(json, "limit", event->limit);
    jsonw_put_uint(json, "available", event->available);
    jsonw_put_uint(json, "seq", event->seq);
    jsonw_close(json, '}');
    jsonw_close(json, '}');
}

static void put_event(struct json_trace *trace, uint64_t number)
{
    struct trace_event event;
    if (!trace_read(trace->control, number, &event))
        return; /* overwritten meanwhile */
    if (event.start_ns + event.duration_ns < trace->since_ns)
        return;
    if (event.kind >= TRACE_CREDIT_TAKE)
        put_credit(trace, &event);
    else
        put_complete(trace, &event);
}

/* ---- the whole ---- */

void json_trace_start(struct json_trace *trace, struct evbuffer *out, const struct control *control,
                      const struct workers *workers, uint64_t since_ns)
{
    uint64_t written = trace_written(control);
    struct json_writer *json = &trace->json;
    trace->control = control;
    trace->since_ns = since_ns;
    trace->end = written + 1;
    trace->next = written > TRACE_CAPACITY ? written - TRACE_CAPACITY + 1 : 1;
    jsonw_start(json, out);
    jsonw_open(json, '{');
    jsonw_put_text(json, "displayTimeUnit", "ms");
    jsonw_put_open(json, "traceEvents", '[');
    put_name(json, "process_name", TRACKS_WORKERS, 0, "workers");
    put_name(json, "process_name", TRACKS_SLABS, 0, "slabs");
    put_name(json, "process_name", TRACKS_CREDITS, 0, "credits");
    put_worker_names(json, workers);
    put_slab_names(json, control);
}

int json_trace_continue(struct json_trace *trace, uint32_t most)
{
    for (uint32_t i = 0; i < most && trace->next < trace->end; i++)
        put_event(trace, trace->next++);
    if (trace->next < trace->end)
        return 1;
    jsonw_close(&trace->json, ']');
    jsonw_close(&trace->json, '}');
    evbuffer_add(trace->json.out, "\n", 1);
    return 0;
}
