/*
 * The watchdog; see the header. Called by the loop's tick. A SIGKILL leaves nothing.
 */
#include "coordinator/watchdog.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "coordinator/clock.h"
#include "coordinator/workers.h"
#include "shm/program.h"
#include "shm/region.h"
#include "shm/seat.h"

#define ENDS_BY_ITSELF_NS (2 * NS_PER_S) /* after the end of its socket */
#define TERM_TO_KILL_NS (2 * NS_PER_S)
#define KILL_TO_LOST_NS (10 * NS_PER_S)

static void send_signal(struct worker *worker, int number)
{
    int error = peer_signal(worker->pidfd, number);
    if (error)
        log_event("error", "worker_not_signalled",
                  "role=%s seat=%u pid=%d sig=%d error=\"%s\" hint=\"run workers under the "
                  "coordinator's uid\"",
                  worker_role_name(worker), worker->seat, (int)worker->pid, number,
                  strerror(-error));
}

void watchdog_expect_end(struct worker *worker, uint64_t now_ns)
{
    if (worker->ending != ENDING_NONE)
        return;
    worker->ending = ENDING_ASKED;
    worker->ending_ns = now_ns + ENDS_BY_ITSELF_NS;
}

static void end_hung(struct worker *worker, const char *stage, uint64_t still_ms, uint64_t now_ns)
{
    log_event("error", "worker_hung",
              "role=%s seat=%u pid=%d stage=%s still_ms=%" PRIu64 " key=deadline.%s",
              worker_role_name(worker), worker->seat, (int)worker->pid, stage, still_ms, stage);
    worker->ending = ENDING_ASKED;
    worker->ending_ns = now_ns + TERM_TO_KILL_NS;
    send_signal(worker, SIGTERM);
    worker_set_leaving(worker);
}

static void go_on_ending(struct worker *worker, uint64_t now_ns)
{
    if (worker->ending == ENDING_ASKED) {
        worker->ending = ENDING_KILLED;
        worker->ending_ns = now_ns + KILL_TO_LOST_NS;
        send_signal(worker, SIGKILL);
    } else if (worker->ending == ENDING_KILLED && worker->role == ROLE_GPU) {
        log_event("error", "worker_lost", "seat=%u pid=%d device=%s", worker->seat,
                  (int)worker->pid, worker->device);
        worker->ending = ENDING_LOST;
        worker_give_up(worker);
    }
}

/* It has been sent slabs and does not say that it has mapped them. */
static int owes_ready(const struct worker *worker)
{
    return worker->generation != worker->workers->region->generation;
}

/* The stage whose deadline counts. One that was given work and does not begin it, or slabs and does
 * not map them, or wants to leave and does not end its work, hangs in the stage that its work
 * begins with. */
static uint32_t stage_due(const struct worker *worker, const struct seat_view *view)
{
    if (view->stage >= STAGE_WITNESS && view->stage <= STAGE_FINALIZE)
        return view->stage;
    if (!worker->workers->has_work(worker->workers->arg, worker) && !owes_ready(worker))
        return STAGE_IDLE;
    return worker->role == ROLE_SYNTH ? STAGE_WITNESS : STAGE_UPLOAD;
}

static void check_progress(struct worker *worker, const struct seat_view *view, uint64_t now_ns)
{
    uint32_t stage = stage_due(worker, view);
    uint64_t deadline_ms = worker->workers->config->deadline_ms[stage];
    uint64_t still_ms = (now_ns - worker->moved_ns) / NS_PER_MS;
    if (view->progress != worker->progress || stage == STAGE_IDLE) {
        worker->progress = view->progress;
        worker->moved_ns = now_ns;
    } else if (deadline_ms && still_ms > deadline_ms) {
        end_hung(worker, seat_stage_name(stage), still_ms, now_ns);
    }
}

static void look_at(struct worker *worker, uint64_t now_ns)
{
    struct seat_view view;
    if (worker->ending != ENDING_NONE) {
        if (worker->ending != ENDING_LOST && now_ns >= worker->ending_ns)
            go_on_ending(worker, now_ns);
        return;
    }
    seat_read(worker->page, &view);
    if (view.stage == STAGE_LEAVING)
        worker_set_leaving(worker);
    check_progress(worker, &view, now_ns);
}

void watchdog_tick(struct workers *workers, uint64_t now_ns)
{
    for (uint32_t seat = 0; seat < SEATS_MAX; seat++)
        if (workers->seats[seat])
            look_at(workers->seats[seat], now_ns);
}
