/*
 * The engine; see the header. Called by workers.c (messages, deaths), by HTTP (a job was accepted)
 * and by the tick. A SIGKILL loses the queue; the workers end with it, and the store has the jobs.
 */
#include "coordinator/engine.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/circuits.h"
#include "coordinator/clock.h"
#include "coordinator/engine_act.h"
#include "shm/program.h"
#include "shm/seat.h"

#define CLAIMS_AT_ONCE 64u

/* ---- the queue ---- */

static void grow(struct engine *engine)
{
    uint32_t room = engine->room ? 2 * engine->room : 64;
    struct engine_entry *queue = calloc(room, sizeof(*queue));
    assert(queue); /* an event cannot be dropped: the ledger would be wrong */
    for (uint32_t i = 0; i < engine->count; i++)
        queue[i] = engine->queue[(engine->first + i) % engine->room];
    free(engine->queue);
    engine->queue = queue;
    engine->first = 0;
    engine->room = room;
}

static void put(struct engine *engine, const struct dispatch_event *event,
                const struct result_texts *result)
{
    if (engine->count == engine->room)
        grow(engine);
    struct engine_entry *entry = &engine->queue[(engine->first + engine->count++) % engine->room];
    entry->event = *event;
    entry->result = result ? *result : (struct result_texts){0};
}

static void say_set_aside(const struct engine *engine, uint32_t seat)
{
    const struct worker *worker = engine->workers->seats[seat];
    log_event("error", "device_set_aside",
              "seat=%u device=%s why=\"too many wrong results in a row\" hint=\"it gets no more "
              "work until its gpu-worker is started anew\" key=device_charges",
              seat, worker ? worker->device : "-");
}

static void step(struct engine *engine)
{
    struct engine_entry entry = engine->queue[engine->first];
    engine->first = (engine->first + 1) % engine->room;
    engine->count--;
    actions_clear(&engine->actions);
    int was_set_aside = dispatch_set_aside(engine->dispatch, entry.event.seat);
    dispatch_step(engine->dispatch, &entry.event, &engine->actions);
    if (!was_set_aside && dispatch_set_aside(engine->dispatch, entry.event.seat))
        say_set_aside(engine, entry.event.seat);
    for (uint32_t i = 0; i < engine->actions.count; i++)
        engine_act(engine, &engine->actions.list[i], &entry);
    free(entry.result.proof);
}

/* ---- claiming ---- */

static uint32_t claim_lane(struct engine *engine, uint32_t lane, uint32_t wanted)
{
    struct store_claim claims[CLAIMS_AT_ONCE];
    struct dispatch_event event = {.type = EVENT_CLAIMED, .now_ns = clock_now_ns()};
    uint32_t n = wanted < CLAIMS_AT_ONCE ? wanted : CLAIMS_AT_ONCE;
    n = n ? engine->store->claim(engine->store, lane, n, event.now_ns, claims) : 0;
    for (uint32_t i = 0; i < n; i++) {
        event.claimed.job = claims[i].job;
        event.claimed.partition = claims[i].partition;
        event.claimed.lane = lane;
        event.claimed.circuit = claims[i].circuit_number;
        event.claimed.priority = claims[i].priority;
        event.claimed.attempts = claims[i].attempts;
        event.claimed.deaths = claims[i].deaths;
        memcpy(event.claimed.hash, claims[i].hash, HASH_BYTES);
        put(engine, &event, NULL);
    }
    return n;
}

static uint32_t claim(struct engine *engine)
{
    uint32_t lanes = engine->control->header->lane_count, wants[LANES_MAX], order[LANES_MAX];
    uint32_t claimed = 0;
    for (uint32_t i = 0; i < lanes; i++) {
        order[i] = dispatch_lane_turn(engine->dispatch, i);
        wants[i] = dispatch_wants(engine->dispatch, order[i]);
    }
    for (uint32_t i = 0; i < lanes; i++)
        claimed += claim_lane(engine, order[i], wants[i]);
    return claimed;
}

static void run(struct engine *engine)
{
    if (engine->running)
        return; /* the run that is under way comes to it */
    engine->running = 1;
    do {
        while (engine->count)
            step(engine);
    } while (claim(engine));
    engine->running = 0;
}

void engine_queue(struct engine *engine, const struct dispatch_event *event)
{
    put(engine, event, NULL);
    run(engine);
}

void engine_claim(struct engine *engine)
{
    run(engine);
}

/* ---- what workers say ---- */

static struct dispatch_event seat_event(const struct worker *worker, enum event_type type)
{
    return (struct dispatch_event){.type = type, .now_ns = clock_now_ns(), .seat = worker->seat};
}

static int is_fallback(const struct worker *worker)
{
    return worker->role == ROLE_GPU && config_is_fallback(worker->workers->config, worker->device);
}

void engine_read_uses(struct engine *engine)
{
    for (uint32_t seat = 0; seat < SEATS_MAX; seat++)
        if (engine->workers->seats[seat])
            dispatch_set_fallback(engine->dispatch, seat,
                                  is_fallback(engine->workers->seats[seat]));
}

static void on_attached(void *arg, struct worker *worker)
{
    struct dispatch_event event = seat_event(worker, EVENT_ATTACHED);
    event.attached.role = worker->role;
    event.attached.device = worker->device_number;
    event.attached.fallback = is_fallback(worker);
    log_event("info", "worker_attached", "role=%s seat=%u pid=%d device=%s",
              worker_role_name(worker), worker->seat, (int)worker->pid,
              worker->role == ROLE_SYNTH ? "-" : worker->device);
    engine_queue(arg, &event);
}

static void on_leaving(void *arg, struct worker *worker)
{
    struct dispatch_event event = seat_event(worker, EVENT_LEAVING);
    engine_queue(arg, &event);
}

static void on_dead(void *arg, struct worker *worker, const char *obituary, int died)
{
    struct engine *engine = arg;
    struct dispatch_event event = seat_event(worker, EVENT_DIED);
    struct seat_view view;
    char quoted[SEAT_LAST_WORDS_BYTES + 256];
    assert(!engine->running); /* the obituary is borrowed */
    seat_read(worker->page, &view);
    log_event(died ? "warn" : "info", died ? "worker_dead" : "worker_left",
              "role=%s seat=%u pid=%d device_error=%u obituary=%s", worker_role_name(worker),
              worker->seat, (int)worker->pid, view.device_error,
              log_quote(quoted, sizeof(quoted), obituary));
    event.died.obituary = obituary;
    event.died.left = !died;
    event.died.assignment = view.assignment;
    engine_queue(engine, &event);
}

static int has_work(void *arg, const struct worker *worker)
{
    const struct engine *engine = arg;
    return dispatch_has_work(engine->dispatch, worker->seat);
}

/* A proof that cannot be taken over counts as one that failed for a reason of ours. */
static struct dispatch_event failure_of(const struct worker *worker,
                                        const struct wire_proved *proved, const char *what)
{
    struct dispatch_event event = seat_event(worker, EVENT_FAILED);
    struct wire_failed *failed = &event.failed;
    memset(failed, 0, sizeof(*failed));
    failed->assignment = proved->assignment;
    failed->slab = proved->slab;
    failed->generation = proved->generation;
    failed->fault = FAULT_INTERNAL;
    failed->stage = STAGE_FINALIZE;
    failed->device_charged = 1;
    snprintf(failed->why, sizeof(failed->why), "the gpu-worker's result has a wrong %s", what);
    return event;
}

static void take_proved(struct engine *engine, struct worker *worker, struct wire_packet *packet)
{
    struct dispatch_event event = seat_event(worker, EVENT_PROVED);
    const struct worker_task *task = worker_find_task(worker, packet->message.proved.assignment);
    struct result_texts result = {0};
    const char *what = "assignment";
    event.proved = packet->message.proved;
    if (!task ||
        result_take(engine->control, &event.proved, task, packet->fds[0], &result, &what)) {
        engine->malformed_results_total++;
        event = failure_of(worker, &packet->message.proved, what);
    }
    worker_forget_task(worker, packet->message.proved.assignment);
    put(engine, &event, &result);
    run(engine);
}

static int take_synth(struct dispatch_event *event, const union wire_message *message)
{
    switch (message->header.type) {
    case WIRE_FILLED:
        event->type = EVENT_FILLED;
        event->filled = message->filled;
        return 1;
    case WIRE_FAILED:
        event->type = EVENT_FAILED;
        event->failed = message->failed;
        return 1;
    case WIRE_RELEASED:
        event->type = EVENT_RELEASED;
        event->step = message->step;
        return 1;
    default:
        return 0;
    }
}

static int take_gpu(struct dispatch_event *event, const union wire_message *message)
{
    switch (message->header.type) {
    case WIRE_STARTED:
        event->type = EVENT_STARTED;
        event->step = message->step;
        return 1;
    case WIRE_COMPUTED:
        event->type = EVENT_COMPUTED;
        event->step = message->step;
        return 1;
    case WIRE_FAILED:
    case WIRE_RELEASED:
        return take_synth(event, message);
    default:
        return 0;
    }
}

static void take_message(struct engine *engine, struct worker *worker,
                         const union wire_message *message)
{
    struct dispatch_event event = seat_event(worker, EVENT_READY);
    if (message->header.type == WIRE_READY) {
        if (worker->ready)
            return;
        worker->ready = 1;
    } else if (message->header.type == WIRE_LEAVING) {
        worker_set_leaving(worker);
        return;
    } else if (!(worker->role == ROLE_SYNTH ? take_synth(&event, message)
                                            : take_gpu(&event, message))) {
        worker_condemn(worker, "sent a message that its role does not send");
        return;
    }
    if (event.type == EVENT_FAILED || event.type == EVENT_RELEASED)
        worker_forget_task(worker, event.type == EVENT_FAILED ? event.failed.assignment
                                                              : event.step.assignment);
    if (event.type == EVENT_FAILED && !wire_fault_name(event.failed.fault))
        event.failed.fault = FAULT_INTERNAL;
    if (event.type == EVENT_FAILED && event.failed.fault == FAULT_CAPACITY &&
        worker->role == ROLE_GPU)
        device_keys_forget_device(&engine->workers->device_keys, worker->device,
                                  "\"no memory for another\"");
    engine_queue(engine, &event);
}

static void on_packet(void *arg, struct worker *worker, struct wire_packet *packet)
{
    struct engine *engine = arg;
    if (packet->message.header.type == WIRE_PROVED && worker->role == ROLE_GPU)
        take_proved(engine, worker, packet);
    else if (packet->message.header.type == WIRE_DEVICE_KEY && worker->role == ROLE_GPU)
        device_keys_take(&engine->workers->device_keys, worker, packet);
    else
        take_message(engine, worker, &packet->message);
}

/* ---- jobs ---- */

static void on_ended(void *arg, uint64_t job)
{
    struct dispatch_event event = {.type = EVENT_JOB_ENDED, .now_ns = clock_now_ns()};
    event.job.job = job;
    engine_queue(arg, &event);
}

static void on_final(void *arg, const struct store_job *job)
{
    struct engine *engine = arg;
    log_event("info", "job_final", "job=%016" PRIx64 " state=%s partitions=%" PRIu32, job->id,
              job_state_name(job->state), job->partition_count);
    engine->on_job_final(engine->arg, job->id);
}

void engine_tick(struct engine *engine, uint64_t now_ns)
{
    struct dispatch_event event = {.type = EVENT_TICK, .now_ns = now_ns};
    struct store *store = engine->store;
    for (uint64_t job = store->overdue(store, now_ns); job; job = store->overdue(store, now_ns))
        if (store->end(store, job, FAULT_DEADLINE, "its deadline has passed", now_ns))
            break;
    engine_queue(engine, &event);
}

void engine_init(struct engine *engine, struct dispatch *dispatch, struct store *store,
                 struct workers *workers, struct circuits *circuits, const struct control *control)
{
    *engine = (struct engine){.dispatch = dispatch,
                              .store = store,
                              .workers = workers,
                              .circuits = circuits,
                              .control = control};
    store->on_ended = on_ended;
    store->on_final = on_final;
    store->on_final_arg = engine;
    workers->on_attached = on_attached;
    workers->on_packet = on_packet;
    workers->on_leaving = on_leaving;
    workers->on_dead = on_dead;
    workers->has_work = has_work;
    workers->arg = engine;
}

void engine_free(struct engine *engine)
{
    for (uint32_t i = 0; i < engine->count; i++)
        free(engine->queue[(engine->first + i) % engine->room].result.proof);
    free(engine->queue);
    actions_free(&engine->actions);
}
