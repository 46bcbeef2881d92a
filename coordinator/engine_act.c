/*
 * Actions; see the header. Called by engine.c. A SIGKILL between two actions ends all of it: the
 * workers end too, and the store alone counts.
 */
#include "coordinator/engine_act.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/circuit_mend.h"
#include "coordinator/circuits.h"
#include "coordinator/clock.h"
#include "shm/program.h"
#include "shm/seat.h"

/* ---- to workers ---- */

/* Its bytes cannot be opened: the filling has failed, and it is ours. */
static void fail_fill(struct engine *engine, const struct action *action, int error)
{
    struct dispatch_event event = {
        .type = EVENT_FAILED, .now_ns = clock_now_ns(), .seat = action->seat};
    struct wire_failed *failed = &event.failed;
    memset(failed, 0, sizeof(*failed));
    failed->assignment = action->assignment;
    failed->slab = action->slab;
    failed->generation = action->generation;
    failed->fault = FAULT_INTERNAL;
    failed->stage = STAGE_WITNESS;
    snprintf(failed->why, sizeof(failed->why), "the job's input cannot be opened: %s",
             strerror(-error));
    engine_queue(engine, &event);
}

/* A witness goes as it is; an input goes with the program that makes one of it. */
static int send_input(struct worker *worker, const struct engine *engine,
                      const struct store_job *job, union wire_message *message, int fd,
                      enum input_kind kind)
{
    const struct config *config = worker->workers->config;
    int fds[] = {fd, circuits_program(engine->circuits, job->circuit_number)};
    if (kind == INPUT_WTNS) {
        worker_send(worker, message, WIRE_FILL, fds, 1);
        return 0;
    }
    if (fds[1] < 0)
        return -ENOENT;
    message->fill.program_deadline_ms = config->deadline_ms[STAGE_WITNESS];
    message->fill.program_memory_bytes = config->program_memory_bytes;
    message->fill.program_output_bytes = config->program_output_bytes;
    worker_send(worker, message, WIRE_FILL_INPUT, fds, 2);
    return 0;
}

static void send_fill(struct worker *worker, struct engine *engine, const struct action *action,
                      const struct store_job *job)
{
    const struct store_partition *partition = &job->partitions[action->partition];
    const struct control_slab *slab = &engine->control->slabs[action->slab];
    union wire_message message = {0};
    struct wire_fill *fill = &message.fill;
    fill->assignment = action->assignment;
    fill->job = action->job;
    fill->partition = action->partition;
    fill->slab = action->slab;
    fill->generation = action->generation;
    fill->slab_offset = slab->offset;
    fill->slab_bytes = slab->bytes;
    fill->rows = engine->control->lanes[slab->lane].rows;
    fill->check_image = action->deaths > 0;
    memcpy(fill->hash, job->hash, HASH_BYTES);
    memcpy(fill->label, partition->input.label, sizeof(fill->label));
    int fd = engine->store->open_input(engine->store, action->job, action->partition);
    if (fd < 0) {
        fail_fill(engine, action, fd);
        return;
    }
    int error = send_input(worker, engine, job, &message, fd, partition->input.kind);
    close(fd);
    if (error)
        fail_fill(engine, action, error);
}

static void send_prove(struct worker *worker, const struct action *action,
                       const struct store_job *job)
{
    const struct worker_task task = {action->assignment, action->job, action->partition};
    union wire_message message = {0};
    struct wire_prove *prove = &message.prove;
    prove->assignment = action->assignment;
    prove->job = action->job;
    prove->partition = action->partition;
    prove->slab = action->slab;
    prove->generation = action->generation;
    prove->check_image = action->deaths > 0;
    memcpy(prove->digest, action->digest, HASH_BYTES);
    memcpy(prove->hash, job->hash, HASH_BYTES);
    worker_note_task(worker, &task);
    worker_send(worker, &message, WIRE_PROVE, NULL, 0);
}

static void assign(struct engine *engine, const struct action *action)
{
    struct worker *worker = engine->workers->seats[action->seat];
    const struct store_job *job = engine->store->find(engine->store, action->job);
    /* dispatch assigns to attached seats and tasks of jobs that are not final, and to no others */
    assert(worker && job && action->partition < job->partition_count);
    int image_fd = circuits_image(engine->circuits, job->circuit_number);
    assert(image_fd >= 0);
    worker_send_image(worker, job->hash, image_fd);
    if (action->type == ACTION_FILL)
        send_fill(worker, engine, action, job);
    else
        send_prove(worker, action, job);
}

static void cancel(struct engine *engine, const struct action *action)
{
    struct worker *worker = engine->workers->seats[action->seat];
    union wire_message message = {0};
    if (!worker)
        return;
    message.step.assignment = action->assignment;
    message.step.slab = action->slab;
    message.step.generation = action->generation;
    worker_send(worker, &message, WIRE_CANCEL, NULL, 0);
}

/* ---- to the store ---- */

static void on_committed(void *arg, uint64_t job, uint32_t partition)
{
    struct dispatch_event event = {.type = EVENT_COMMITTED, .now_ns = clock_now_ns()};
    event.job.job = job;
    event.job.partition = partition;
    engine_queue(arg, &event);
}

static void note(struct engine *engine, const struct action *action, enum partition_state state)
{
    engine->store->note(engine->store, action->job, action->partition, state, action->attempts,
                        action->deaths);
}

static void complete(struct engine *engine, const struct action *action, struct engine_entry *entry)
{
    struct partition_times ms;
    struct store *store = engine->store;
    uint64_t now_ns = clock_now_ns();
    const struct store_job *job = store->find(store, action->job);
    double life_ms = job ? (double)(now_ns - job->accepted_ns) / (double)NS_PER_MS : 0;
    assert(entry->result.proof); /* dispatch takes each result once, with the event it came with */
    note(engine, action, PARTITION_PROVING);
    result_times(action, &entry->event.proved.times, life_ms, &ms);
    store->complete(store, action->job, action->partition, entry->result.proof,
                    entry->result.publics, &ms, now_ns, on_committed, engine);
    entry->result = (struct result_texts){0};
}

static void fail(struct engine *engine, const struct action *action)
{
    char quoted[WIRE_TEXT_BYTES];
    const char *fault = wire_fault_name(action->fault);
    log_event("warn", "partition_failed",
              "job=%016" PRIx64 " partition=%" PRIu32 " class=%s attempts=%" PRIu32
              " deaths=%" PRIu32 " error=%s",
              action->job, action->partition, fault ? fault : "internal", action->attempts,
              action->deaths, log_quote(quoted, sizeof(quoted), action->text));
    note(engine, action, PARTITION_QUEUED);
    if (action->fault == FAULT_INTERNAL)
        circuit_mend_suspect(engine->circuits, action->circuit);
    engine->store->fail(engine->store, action->job, action->partition, action->fault, action->text,
                        clock_now_ns());
}

void engine_act(struct engine *engine, const struct action *action, struct engine_entry *entry)
{
    switch (action->type) {
    case ACTION_FILL:
    case ACTION_PROVE:
        assign(engine, action);
        break;
    case ACTION_CANCEL:
        cancel(engine, action);
        break;
    case ACTION_STATE:
        note(engine, action, action->state);
        break;
    case ACTION_RESULT:
        complete(engine, action, entry);
        break;
    case ACTION_FAIL:
        fail(engine, action);
        break;
    }
}
