/*
 * Laying out and viewing the control object, and the slab's word. The coordinator lays out; every
 * process views. A SIGKILL while it is laid out leaves `version` zero, which control_view answers
 * with -EAGAIN.
 */
#include "shm/control.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "shm/credit.h"
#include "shm/ledger.h"
#include "shm/slab.h"
#include "shm/trace.h"

#define SLABS_BYTES_MAX (UINT64_C(1) << 62)

struct layout {
    uint64_t lanes, slabs, seats, trace, bytes;
};

static uint64_t round_up(uint64_t bytes, uint64_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

static uint32_t room_of(const struct lane_spec *lane)
{
    return lane->slab_room > lane->slab_count ? lane->slab_room : lane->slab_count;
}

static uint32_t count_room(const struct lane_spec *lanes, uint32_t lane_count)
{
    uint32_t slabs = 0;

    for (uint32_t i = 0; i < lane_count; i++)
        slabs += room_of(&lanes[i]);
    return slabs;
}

static int lanes_fit(const struct lane_spec *lanes, uint32_t lane_count)
{
    uint64_t slabs = 0, left = SLABS_BYTES_MAX;

    if (lane_count > LANES_MAX)
        return 0;
    for (uint32_t i = 0; i < lane_count; i++) {
        uint64_t count = lanes[i].slab_count;

        slabs += room_of(&lanes[i]);
        if (slabs > SLABS_MAX || lanes[i].slab_bytes > SLABS_BYTES_MAX)
            return 0;
        if (count && round_up(lanes[i].slab_bytes, SLAB_PAGE_BYTES) > left / count)
            return 0;
        left -= count * round_up(lanes[i].slab_bytes, SLAB_PAGE_BYTES);
    }
    return 1;
}

static void compute_layout(struct layout *layout, uint32_t lane_count, uint32_t slab_count)
{
    layout->lanes = round_up(sizeof(struct control_header), CACHE_LINE);
    layout->slabs = layout->lanes + lane_count * sizeof(struct control_lane);
    layout->seats = layout->slabs + slab_count * sizeof(struct control_slab);
    layout->trace = layout->seats + SEATS_MAX * sizeof(struct control_seat);
    layout->bytes = round_up(layout->trace + sizeof(struct trace_ring) +
                                 (uint64_t)TRACE_CAPACITY * sizeof(struct trace_slot),
                             SLAB_PAGE_BYTES);
}

uint64_t control_bytes(const struct lane_spec *lanes, uint32_t lane_count)
{
    struct layout layout;

    if (!lanes_fit(lanes, lane_count))
        return 0;
    compute_layout(&layout, lane_count, count_room(lanes, lane_count));
    return layout.bytes;
}

uint64_t control_slabs_bytes(const struct lane_spec *lanes, uint32_t lane_count)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < lane_count; i++)
        bytes += lanes[i].slab_count * round_up(lanes[i].slab_bytes, SLAB_PAGE_BYTES);
    return bytes ? bytes : SLAB_PAGE_BYTES;
}

static void put_text(char *out, size_t bytes, const char *text)
{
    size_t length = strnlen(text, bytes - 1);

    memcpy(out, text, length);
    memset(out + length, 0, bytes - length);
}

static void lay_out_lane(struct control_lane *lane, const struct lane_spec *spec,
                         uint32_t first_slab)
{
    uint32_t credits = spec->credits < spec->slab_count ? spec->credits : spec->slab_count;

    put_text(lane->name, sizeof(lane->name), spec->name);
    lane->first_slab = first_slab;
    lane->slab_room = room_of(spec);
    lane->priorities = spec->priorities;
    lane->rows = spec->rows;
    atomic_init(&lane->credit.limit, credits);
    atomic_init(&lane->credit.available, credits);
}

static void lay_out_words(struct control_slab *slabs, const struct control_lane *lane,
                          uint32_t lane_number)
{
    struct slab_word word = {.state = SLAB_FREE, .seat = SEAT_NONE, .generation = 0};

    for (uint32_t i = 0; i < lane->slab_room; i++) {
        struct control_slab *slab = &slabs[lane->first_slab + i];

        atomic_init(&slab->word, slab_word_pack(word));
        slab->lane = lane_number;
    }
}

/* Returns the offset behind the lane's last slab. */
static uint64_t place_slabs(struct control_slab *slabs, struct control_lane *lane,
                            const struct lane_spec *spec, uint64_t offset)
{
    lane->slab_bytes = round_up(spec->slab_bytes, SLAB_PAGE_BYTES);
    lane->slab_count = spec->slab_count;
    for (uint32_t i = 0; i < lane->slab_room; i++) {
        struct control_slab *slab = &slabs[lane->first_slab + i];
        int is_planned = i < lane->slab_count;

        slab->offset = is_planned ? offset : 0;
        slab->bytes = is_planned ? lane->slab_bytes : 0;
        offset += slab->bytes;
    }
    return offset;
}

static void lay_out_header(struct control_header *header, const struct layout *layout,
                           const char *backing, const char *build_id)
{
    header->magic = CONTROL_MAGIC;
    header->layout = CONTROL_LAYOUT;
    header->seat_count = SEATS_MAX;
    header->trace_capacity = TRACE_CAPACITY;
    header->coordinator_pid = (uint32_t)getpid();
    header->control_bytes = layout->bytes;
    header->lanes_offset = layout->lanes;
    header->slabs_offset = layout->slabs;
    header->seats_offset = layout->seats;
    header->trace_offset = layout->trace;
    put_text(header->backing, sizeof(header->backing), backing);
    put_text(header->build_id, sizeof(header->build_id), build_id);
}

void control_lay_out(void *memory, const struct lane_spec *lanes, uint32_t lane_count,
                     const char *backing, const char *build_id)
{
    struct control_header *header = memory;
    struct layout layout;
    uint64_t offset = 0;
    uint32_t first_slab = 0;

    assert(lanes_fit(lanes, lane_count));
    compute_layout(&layout, lane_count, count_room(lanes, lane_count));
    lay_out_header(header, &layout, backing, build_id);
    header->lane_count = lane_count;
    header->slab_count = count_room(lanes, lane_count);
    header->slabs_bytes = control_slabs_bytes(lanes, lane_count);
    struct control_lane *lane = (void *)((char *)memory + layout.lanes);
    struct control_slab *slabs = (void *)((char *)memory + layout.slabs);
    for (uint32_t i = 0; i < lane_count; i++) {
        lay_out_lane(&lane[i], &lanes[i], first_slab);
        lay_out_words(slabs, &lane[i], i);
        offset = place_slabs(slabs, &lane[i], &lanes[i], offset);
        first_slab += lane[i].slab_room;
    }
    /* Pairs with control_view: who sees the version sees the whole object. */
    atomic_store_explicit(&header->version, CONTROL_LAYOUT, memory_order_release);
}

static int table_fits(uint64_t offset, uint64_t bytes, uint64_t object_bytes)
{
    return offset % CACHE_LINE == 0 && offset >= sizeof(struct control_header) &&
           offset <= object_bytes && bytes <= object_bytes - offset;
}

static int header_fits(const struct control_header *header, uint64_t bytes)
{
    uint64_t capacity = header->trace_capacity;

    if (header->magic != CONTROL_MAGIC || header->layout != CONTROL_LAYOUT ||
        header->control_bytes != bytes)
        return 0;
    if (header->lane_count > LANES_MAX || header->slab_count > SLABS_MAX ||
        header->seat_count > SEATS_MAX || capacity == 0 || capacity & (capacity - 1))
        return 0;
    if (!memchr(header->backing, 0, sizeof(header->backing)) ||
        !memchr(header->build_id, 0, sizeof(header->build_id)))
        return 0;
    return table_fits(header->lanes_offset, header->lane_count * sizeof(struct control_lane),
                      bytes) &&
           table_fits(header->slabs_offset, header->slab_count * sizeof(struct control_slab),
                      bytes) &&
           table_fits(header->seats_offset, header->seat_count * sizeof(struct control_seat),
                      bytes) &&
           table_fits(header->trace_offset,
                      sizeof(struct trace_ring) + capacity * sizeof(struct trace_slot), bytes);
}

static int lane_fits(const struct control_lane *lane, uint32_t slab_count)
{
    return memchr(lane->name, 0, sizeof(lane->name)) && lane->first_slab <= slab_count &&
           lane->slab_room <= slab_count - lane->first_slab;
}

/* What a plan changes is not looked at: it may change now. */
static int tables_fit(const struct control *control)
{
    for (uint32_t i = 0; i < control->header->lane_count; i++)
        if (!lane_fits(&control->lanes[i], control->header->slab_count))
            return 0;
    for (uint32_t i = 0; i < control->header->slab_count; i++)
        if (control->slabs[i].lane >= control->header->lane_count)
            return 0;
    return 1;
}

void control_plan(struct control *control, const struct lane_spec *lanes, uint32_t lane_count)
{
    uint64_t offset = 0;

    assert(lane_count == control->header->lane_count && lanes_fit(lanes, lane_count));
    assert(ledger_all_free(control));
    for (uint32_t i = 0; i < lane_count; i++) {
        assert(lanes[i].slab_count <= control->lanes[i].slab_room);
        if (credit_limit(control, i))
            credit_set_limit(control, i, 0);
        offset = place_slabs(control->slabs, &control->lanes[i], &lanes[i], offset);
    }
    control->header->slabs_bytes = control_slabs_bytes(lanes, lane_count);
}

int control_view(struct control *control, void *memory, uint64_t bytes)
{
    struct control_header *header = memory;
    char *base = memory;

    memset(control, 0, sizeof(*control));
    if (bytes < sizeof(*header))
        return -EBADMSG;
    /* Pairs with control_lay_out. */
    uint64_t version = atomic_load_explicit(&header->version, memory_order_acquire);
    if (version == 0)
        return -EAGAIN;
    if (version != CONTROL_LAYOUT || !header_fits(header, bytes))
        return -EBADMSG;
    struct control view = {
        .header = header,
        .lanes = (void *)(base + header->lanes_offset),
        .slabs = (void *)(base + header->slabs_offset),
        .seats = (void *)(base + header->seats_offset),
        .trace = (void *)(base + header->trace_offset),
        .bytes = bytes,
    };
    if (!tables_fit(&view))
        return -EBADMSG;
    *control = view;
    return 0;
}

uint64_t control_allocations(const struct control *control)
{
    return atomic_load_explicit(&control->header->allocations_after_start, memory_order_relaxed);
}

struct slab_word slab_word_unpack(uint64_t word)
{
    struct slab_word out = {
        .state = (enum slab_state)(word & 0xff),
        .seat = (uint32_t)(word >> 8) & 0xffff,
        .generation = word >> 24,
    };

    return out;
}

uint64_t slab_word_pack(struct slab_word word)
{
    assert(word.state < SLAB_STATES && word.seat <= SEAT_NONE &&
           word.generation <= SLAB_GENERATION_MAX);
    return (uint64_t)word.state | (uint64_t)word.seat << 8 | word.generation << 24;
}

struct slab_word slab_word_load(const struct control *control, uint32_t slab)
{
    /* Pairs with ledger_store. */
    return slab_word_unpack(atomic_load_explicit(&control->slabs[slab].word, memory_order_acquire));
}

const char *slab_state_name(enum slab_state state)
{
    static const char *const names[SLAB_STATES] = {"free",    "filling",    "ready", "assigned",
                                                   "proving", "finalizing", "wiping"};

    return (unsigned)state < SLAB_STATES ? names[state] : "unknown";
}
