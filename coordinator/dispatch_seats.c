/*
 * The workers as dispatch sees them: who may get work, and what each holds, which is counted from
 * the slab words anew in each pass, so that there is no second account to drift away. A SIGKILL
 * leaves nothing.
 */
#include "coordinator/dispatch_internal.h"

#include "shm/credit.h"

void seat_attached(struct dispatch *dispatch, const struct dispatch_event *event)
{
    struct seat *fresh = &dispatch->seats[event->seat];
    enum worker_role role = event->attached.role;

    if (fresh->role != ROLE_NONE || (role != ROLE_SYNTH && role != ROLE_GPU) ||
        event->attached.device >= DISPATCH_DEVICES_MAX) {
        dispatch->counters.dropped_messages_total++;
        return;
    }
    *fresh = (struct seat){.role = role,
                           .device = event->attached.device,
                           .fallback = role == ROLE_GPU && event->attached.fallback};
    if (role == ROLE_GPU)
        dispatch->devices_known |= UINT64_C(1) << fresh->device;
    for (uint32_t lane = 0; lane < LANES_MAX; lane++)
        fresh->last_slab[lane] = SLAB_NONE;
}

void seats_replanned(struct dispatch *dispatch)
{
    for (uint32_t seat = 0; seat < SEATS_MAX; seat++) {
        dispatch->seats[seat].ready = false;
        for (uint32_t lane = 0; lane < LANES_MAX; lane++)
            dispatch->seats[seat].last_slab[lane] = SLAB_NONE;
    }
}

bool seat_may_work(const struct seat *seat, enum worker_role role)
{
    return seat->role == role && seat->ready && !seat->leaving && !seat->set_aside;
}

static void count_slab(struct dispatch *dispatch, uint32_t slab)
{
    struct slab_word word = slab_word_load(dispatch->control, slab);
    const struct task *task = dispatch->slab_task[slab];
    struct seat_load *load;

    if (word.seat >= SEATS_MAX)
        return;
    load = &dispatch->loads[word.seat];
    load->filling += word.state == SLAB_FILLING;
    load->assigned += word.state == SLAB_ASSIGNED;
    load->proving += word.state == SLAB_PROVING;
    load->finalizing += word.state == SLAB_FINALIZING && !(task && task->proved);
}

void seats_count_loads(struct dispatch *dispatch)
{
    for (uint32_t seat = 0; seat < SEATS_MAX; seat++)
        dispatch->loads[seat] = (struct seat_load){0};
    for (uint32_t slab = 0; slab < dispatch->control->header->slab_count; slab++)
        count_slab(dispatch, slab);
}

static bool synth_is_idle(const struct dispatch *dispatch, uint32_t seat)
{
    return seat_may_work(&dispatch->seats[seat], ROLE_SYNTH) && !dispatch->loads[seat].filling;
}

static bool last_slab_is_free(const struct dispatch *dispatch, uint32_t seat, uint32_t lane)
{
    uint32_t slab = dispatch->seats[seat].last_slab[lane];

    return slab != SLAB_NONE && slab_word_load(dispatch->control, slab).state == SLAB_FREE;
}

uint32_t seat_find_synth(const struct dispatch *dispatch, uint32_t lane)
{
    uint32_t found = SEAT_NONE;

    for (uint32_t seat = 0; seat < SEATS_MAX; seat++) {
        if (!synth_is_idle(dispatch, seat))
            continue;
        if (last_slab_is_free(dispatch, seat, lane))
            return seat;
        if (found == SEAT_NONE)
            found = seat;
    }
    return found;
}

uint32_t seats_idle_synth(const struct dispatch *dispatch)
{
    uint32_t idle = 0;

    for (uint32_t seat = 0; seat < SEATS_MAX; seat++)
        idle += synth_is_idle(dispatch, seat);
    return idle;
}

/* Room for one more: one PROVING, one FINALIZING, `staged` ASSIGNED. */
static bool gpu_has_room(const struct dispatch *dispatch, uint32_t seat)
{
    const struct seat_load *load = &dispatch->loads[seat];
    uint32_t staged = dispatch->limits.staged ? dispatch->limits.staged : 1;

    return load->assigned < staged && load->assigned + load->proving < 1 + staged &&
           load->assigned + load->proving + load->finalizing < 2 + staged;
}

static uint32_t gpu_holds(const struct dispatch *dispatch, uint32_t seat)
{
    const struct seat_load *load = &dispatch->loads[seat];

    return 2 * (load->assigned + load->proving) + load->finalizing;
}

/* One that is not READY yet counts: it is about to be, and better waited for than passed over. */
static bool device_is_here(const struct dispatch *dispatch, uint32_t seat, uint64_t excluded)
{
    const struct seat *gpu = &dispatch->seats[seat];

    return gpu->role == ROLE_GPU && !gpu->leaving && !gpu->set_aside &&
           !(excluded >> gpu->device & 1);
}

bool seats_have_device(const struct dispatch *dispatch, uint64_t excluded)
{
    for (uint32_t seat = 0; seat < SEATS_MAX; seat++)
        if (device_is_here(dispatch, seat, excluded))
            return true;
    return false;
}

bool seats_have_main(const struct dispatch *dispatch, uint64_t excluded)
{
    for (uint32_t seat = 0; seat < SEATS_MAX; seat++)
        if (!dispatch->seats[seat].fallback && device_is_here(dispatch, seat, excluded))
            return true;
    return false;
}

static bool suits(const struct dispatch *dispatch, uint32_t seat, uint64_t excluded, bool main)
{
    const struct seat *gpu = &dispatch->seats[seat];

    return seat_may_work(gpu, ROLE_GPU) && !(excluded >> gpu->device & 1) &&
           !(gpu->fallback && main);
}

bool seat_suits(const struct dispatch *dispatch, uint32_t seat, uint64_t excluded)
{
    return suits(dispatch, seat, excluded, seats_have_main(dispatch, excluded));
}

void dispatch_set_fallback(struct dispatch *dispatch, uint32_t seat, int fallback)
{
    if (seat < SEATS_MAX && dispatch->seats[seat].role == ROLE_GPU)
        dispatch->seats[seat].fallback = fallback != 0;
}

uint32_t seat_find_gpu(const struct dispatch *dispatch, uint64_t excluded)
{
    bool main = seats_have_main(dispatch, excluded);
    uint32_t found = SEAT_NONE;

    for (uint32_t seat = 0; seat < SEATS_MAX; seat++) {
        if (suits(dispatch, seat, excluded, main) && gpu_has_room(dispatch, seat) &&
            (found == SEAT_NONE || gpu_holds(dispatch, seat) < gpu_holds(dispatch, found)))
            found = seat;
    }
    return found;
}

/* What is staged at a device that gets no more work goes to others. */
static void recall_staged(struct dispatch *dispatch, uint32_t seat)
{
    struct task *task;

    TAILQ_FOREACH (task, &dispatch->tasks, link) {
        if (task->slab == SLAB_NONE)
            continue;
        struct slab_word word = task_word(dispatch, task);
        if (word.state == SLAB_ASSIGNED && word.seat == seat)
            task_cancel(dispatch, task);
    }
}

void seat_charge_device(struct dispatch *dispatch, uint32_t seat, bool charged)
{
    struct seat *device = &dispatch->seats[seat];

    if (!charged) {
        device->charges = 0;
        return;
    }
    dispatch->counters.device_charges_total++;
    device->charges++;
    if (device->set_aside || device->charges < dispatch->limits.device_charges)
        return;
    device->set_aside = true;
    dispatch->counters.set_aside_total++;
    recall_staged(dispatch, seat);
}

/* A slow device's samples are few among a fast one's, and now and then there is none: then its last
 * time counts, for it has not become fast. */
static uint64_t device_time(struct dispatch *dispatch, uint32_t lane, uint32_t device)
{
    uint64_t *known_ns = &dispatch->device_ns[lane][device];
    uint64_t own_ns = credit_samples_time(&dispatch->times[lane].prove, device);

    if (own_ns)
        *known_ns = own_ns;
    return *known_ns;
}

/* A fallback counts where it works at all. */
static void plan_inputs(struct dispatch *dispatch, uint32_t lane, struct credit_inputs *inputs)
{
    const struct credit_times *times = &dispatch->times[lane];
    bool main = seats_have_main(dispatch, 0);
    uint64_t any_ns = credit_samples_time(&times->prove, CREDIT_ANY_DEVICE);

    *inputs = (struct credit_inputs){
        .slabs = dispatch->control->lanes[lane].slab_count,
        .staged = dispatch->limits.staged,
        .synth_ns = credit_samples_time(&times->synth, CREDIT_ANY_DEVICE),
        .finalize_ns = credit_samples_time(&times->finalize, CREDIT_ANY_DEVICE),
    };
    for (uint32_t seat = 0; seat < SEATS_MAX; seat++) {
        uint64_t own_ns;

        inputs->synth_workers += seat_may_work(&dispatch->seats[seat], ROLE_SYNTH);
        if (!suits(dispatch, seat, 0, main))
            continue;
        own_ns = device_time(dispatch, lane, dispatch->seats[seat].device);
        inputs->prove_ns[inputs->devices++] = own_ns ? own_ns : any_ns;
    }
}

void seats_plan_credits(struct dispatch *dispatch)
{
    for (uint32_t lane = 0; lane < dispatch->control->header->lane_count; lane++) {
        uint64_t limit = dispatch->limits.fixed_credits[lane];
        uint32_t slabs = dispatch->control->lanes[lane].slab_count;
        struct credit_inputs inputs;

        if (!limit) {
            plan_inputs(dispatch, lane, &inputs);
            limit = credit_plan(&inputs);
        }
        if (limit > slabs)
            limit = slabs;
        if (dispatch->held)
            limit = 0;
        if (limit != credit_limit(dispatch->control, lane))
            credit_set_limit(dispatch->control, lane, limit);
    }
}
