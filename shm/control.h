/*
 * The layout of the control object: header, lanes with their credit counters, slab table, seat
 * table, trace ring.
 *
 * One writer: the coordinator. Workers hold a read-only fd of it. Every shared word has a fixed
 * width; offsets, never pointers; one writer to a cache line. `version` is stored last, when
 * everything else stands. A SIGKILL of the coordinator leaves an object that nobody opens again:
 * its name is gone since creation.
 */
#ifndef PAWL_SHM_CONTROL_H
#define PAWL_SHM_CONTROL_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define CONTROL_MAGIC UINT64_C(0x314c54434c574150) /* "PAWLCTL1" */
#define CONTROL_LAYOUT 2u
#define CACHE_LINE 64
#define LANE_NAME_BYTES 32
#define LANES_MAX 16u
#define SLABS_MAX 1024u
#define SEATS_MAX 256u
#define SEAT_NONE 0xffffu
#define TRACE_CAPACITY 32768u /* events; a power of two, at least 20,000 */
#define BUILD_ID_BYTES 64

/* The state of a slab; the diagram is above the functions of ledger.h. */
enum slab_state {
    SLAB_FREE,
    SLAB_FILLING,
    SLAB_READY,
    SLAB_ASSIGNED,
    SLAB_PROVING,
    SLAB_FINALIZING,
    SLAB_WIPING,
    SLAB_STATES
};

/* A slab's word: state in bits 0..7, seat in bits 8..23 (SEAT_NONE where nobody holds it),
 * generation in bits 24..63. */
#define SLAB_GENERATION_MAX ((UINT64_C(1) << 40) - 1)

struct control_credit {
    _Alignas(CACHE_LINE) _Atomic uint64_t available;
    _Atomic uint64_t limit;
    _Atomic uint64_t taken_total;
    _Atomic uint64_t returned_total;
    _Atomic uint64_t grants_total;       /* edges FREE -> FILLING */
    _Atomic uint64_t starts_at_once_max; /* most grants in one dispatch step */
};
_Static_assert(sizeof(struct control_credit) == CACHE_LINE, "one credit counter, one cache line");

struct control_lane {
    _Alignas(CACHE_LINE) char name[LANE_NAME_BYTES];
    uint64_t slab_bytes; /* by the present plan; 0 where there is none yet */
    uint32_t first_slab; /* a lane's slabs are neighbours in the slab table */
    uint32_t slab_count; /* by the present plan; at most slab_room */
    uint32_t slab_room;  /* entries of the slab table that are this lane's for good */
    uint32_t priorities; /* bit p: serves priority p */
    uint32_t rows;       /* enum rows_place of wire.h */
    struct control_credit credit;
};
_Static_assert(sizeof(struct control_lane) == 2 * CACHE_LINE, "lane layout");

struct control_slab {
    _Alignas(CACHE_LINE) _Atomic uint64_t word;
    uint64_t offset; /* in the present slab object; a multiple of the page */
    uint64_t bytes;  /* 0: not in the present plan */
    uint32_t lane;
};
_Static_assert(sizeof(struct control_slab) == CACHE_LINE, "slab entry layout");

/* A seat: 0 while empty, else its incarnation (1, 2, ... over the coordinator's life) of who sits
 * there. */
struct control_seat {
    _Alignas(CACHE_LINE) _Atomic uint64_t incarnation;
    int32_t pid;
    uint32_t role; /* enum worker_role */
};
_Static_assert(sizeof(struct control_seat) == CACHE_LINE, "seat entry layout");

struct control_header {
    uint64_t magic;
    uint32_t layout;
    uint32_t lane_count, slab_count, seat_count, trace_capacity;
    uint32_t coordinator_pid;
    uint64_t control_bytes, slabs_bytes;
    uint64_t lanes_offset, slabs_offset, seats_offset, trace_offset;
    char backing[16];
    char build_id[BUILD_ID_BYTES];
    _Atomic uint64_t allocations_after_start; /* of region memory: stays 0 */
    _Atomic uint64_t version; /* CONTROL_LAYOUT once the object is whole; stored last */
};

/*
 * What a plan changes (a lane's slab_bytes and slab_count, a slab's offset and bytes, the header's
 * slabs_bytes) changes only while all slabs are FREE (control_plan). A worker reads the place of a
 * slab while that slab is in its hands, and of the rest nothing: it checks each against its own
 * mapping, and control_view leaves them alone.
 */

/* A mapped control object: pointers into the mapping, found once by control_view. */
struct control {
    struct control_header *header;
    struct control_lane *lanes;
    struct control_slab *slabs;
    struct control_seat *seats;
    struct trace_ring *trace;
    uint64_t bytes;
};

/* The state, seat and generation of a slab word. */
struct slab_word {
    enum slab_state state;
    uint32_t seat;
    uint64_t generation;
};
struct slab_word slab_word_unpack(uint64_t word);
uint64_t slab_word_pack(struct slab_word word);
struct slab_word slab_word_load(const struct control *control,
                                uint32_t slab);     /* acquire; pairs with ledger edges */
const char *slab_state_name(enum slab_state state); /* "free", "filling" ... as in the status */

/*
 * Lays out a control object in zeroed memory of control_bytes(...) bytes, aligned to CACHE_LINE:
 * all slabs FREE with generation 0, credits at their limits. Needs no region: the tests of dispatch
 * use plain memory (aligned_alloc). `lane.credit`, `first_slab` are filled here.
 */
struct lane_spec {
    char name[LANE_NAME_BYTES];
    uint64_t slab_bytes; /* rounded up to the page */
    uint32_t slab_count;
    uint32_t credits; /* limit at start; at most slab_count */
    uint32_t priorities;
    uint32_t rows;
    uint32_t slab_room; /* the most slabs of any plan; where it is less, slab_count is */
    uint32_t numa;      /* where its pages are to lie: numa.h */
};
/* Multiples of the page. control_bytes is 0 where the lanes are more than LANES_MAX, their slabs
 * more than SLABS_MAX, or their bytes more than 2^62; then the other two must not be called.
 * control_slabs_bytes is at least one page, so that the object can be mapped. */
uint64_t control_bytes(const struct lane_spec *lanes, uint32_t lane_count);
uint64_t control_slabs_bytes(const struct lane_spec *lanes, uint32_t lane_count);
void control_lay_out(void *memory, const struct lane_spec *lanes, uint32_t lane_count,
                     const char *backing, const char *build_id);
/*
 * Another plan for the same lanes (their sizes and numbers of slabs; credit limits become 0 until
 * they are set anew). Words keep their generations. Aborts unless all slabs are FREE and each lane
 * has room for its slabs.
 */
void control_plan(struct control *control, const struct lane_spec *lanes, uint32_t lane_count);
/*
 * Finds the tables in a mapped object of `bytes` bytes and checks every offset and count of theirs
 * against it: 0 or -EBADMSG, -EAGAIN while `version` is not stored yet.
 */
int control_view(struct control *control, void *memory, uint64_t bytes);
/* Allocations of region memory since it was laid out (relaxed; the coordinator's to write). */
uint64_t control_allocations(const struct control *control);

#endif
