/*
 * A seat page: the one page of shared memory that a worker may write, an object of its own (a
 * sealed memfd, made by the coordinator at the hello and passed with the welcome). The worker
 * writes, the coordinator reads: what the worker is doing, a counter that moves while it makes
 * progress, and its last words. A SIGKILL leaves the last values: that is their use.
 */
#ifndef PAWL_SHM_SEAT_H
#define PAWL_SHM_SEAT_H

#include <stdatomic.h>
#include <stdint.h>

#define SEAT_PAGE_BYTES 4096u
#define SEAT_MAGIC UINT64_C(0x314145534c574150) /* "PAWLSEA1" */
#define SEAT_LAST_WORDS_BYTES 1024u

/* What a worker does; the names (seat_stage_name) are those of the status. */
enum worker_stage {
    STAGE_STARTING,
    STAGE_IDLE,
    STAGE_WITNESS,
    STAGE_ROWS,
    STAGE_UPLOAD,
    STAGE_NTT,
    STAGE_MSM,
    STAGE_FINALIZE,
    STAGE_LEAVING,
    STAGES
};

/* How a device reaches the slabs; the names (seat_pinning_name) are those of the status. */
enum seat_pinning {
    PINNING_NONE,   /* no device with memory of its own, or not known yet */
    PINNING_DIRECT, /* slabs are registered with the device's driver */
    PINNING_BOUNCE, /* they cannot be: copies go through a small pinned buffer */
    PINNINGS
};

struct seat_page {
    uint64_t magic;
    uint64_t incarnation; /* of the coordinator's welcome; written by the coordinator before the
                             page is passed */
    _Alignas(64) _Atomic uint64_t progress;
    _Atomic uint32_t stage; /* enum worker_stage */
    _Atomic uint32_t partition;
    _Atomic uint64_t assignment; /* 0 while idle */
    _Atomic uint64_t job;
    _Atomic uint64_t done_total;
    _Atomic uint64_t busy_ns, idle_ns; /* summed over finished spans */
    /* ---- of a device with memory of its own ---- */
    _Alignas(64) _Atomic uint64_t registered_bytes; /* of slabs, now */
    _Atomic uint64_t registrations_total;           /* of slabs, ever */
    _Atomic uint64_t allocations_after_start;       /* of pinned memory; should stay 0 */
    _Atomic uint32_t pinned;                        /* enum seat_pinning */
    _Atomic uint32_t device_error;                  /* the driver's code; 0: none */
    _Alignas(64) _Atomic uint32_t last_words_bytes; /* stored after the text */
    char last_words[SEAT_LAST_WORDS_BYTES];
};
_Static_assert(sizeof(struct seat_page) <= SEAT_PAGE_BYTES, "a seat page is one page");

/* ---- the seat table in control: one writer, the coordinator ---- */
struct control;
/* Somebody sits down: pid and role, then the incarnation (release). */
void seat_occupy(struct control *control, uint32_t seat, uint64_t incarnation, int32_t pid,
                 uint32_t role);
/* The seat is empty again; its holder is dead and reclaimed. */
void seat_vacate(struct control *control, uint32_t seat);
/* Its incarnation, 0 where it is empty (acquire; pairs with seat_occupy). */
uint64_t seat_incarnation(const struct control *control, uint32_t seat);

/* ---- the seat page ---- */
/* Coordinator: makes a sealed (shrink, grow, seal) page object, maps it; the fd to *fd, the mapping
 * to *page. 0 or -errno. */
int seat_create(struct seat_page **page, int *fd, uint64_t incarnation);
/* Worker: maps the page behind fd writable after checking its size, magic and incarnation. 0 or
 * -errno. */
int seat_map(struct seat_page **page, int fd, uint64_t incarnation);
void seat_unmap(struct seat_page *page);

/* Worker: says what it does now and moves the progress counter. */
void seat_enter(struct seat_page *page, enum worker_stage stage, uint64_t assignment, uint64_t job,
                uint32_t partition);
void seat_progress(struct seat_page *page);
/* Worker: adds a finished span and, where `done` is not 0, that many finished assignments. Any
 * thread. */
void seat_add(struct seat_page *page, uint64_t busy_ns, uint64_t idle_ns, uint64_t done);
/* Worker: how its device reaches the slabs. */
void seat_set_pinning(struct seat_page *page, enum seat_pinning pinning);
/* Worker: a slab of so many bytes was registered with the device's driver, or is no longer. */
void seat_add_registration(struct seat_page *page, uint64_t bytes);
void seat_drop_registration(struct seat_page *page, uint64_t bytes);
/* Worker: pinned memory was made outside of its start and of a change of slabs. */
void seat_add_allocation(struct seat_page *page);
/* Worker: the code with which the device's driver failed. The first one stays. */
void seat_set_device_error(struct seat_page *page, uint32_t code);
/* Worker: last words, cut to the page's room. Safe in a signal handler. */
void seat_say(struct seat_page *page, const char *text);
/* Coordinator: copies the last words, made printable and NUL-terminated, into out[bytes]. */
void seat_last_words(const struct seat_page *page, char *out, uint32_t bytes);
/* Coordinator: what the worker says of itself, each word read once; nothing in it is checked. */
struct seat_view {
    uint64_t progress, assignment, job, done_total, busy_ns, idle_ns;
    uint64_t registered_bytes, registrations_total, allocations_after_start;
    uint32_t stage, partition;
    uint32_t pinned; /* enum seat_pinning, or any number */
    uint32_t device_error;
};
void seat_read(const struct seat_page *page, struct seat_view *view);
const char *seat_stage_name(uint32_t stage);     /* "unknown" for a stage that there is not */
const char *seat_pinning_name(uint32_t pinning); /* "direct", "bounce", or NULL */

#endif
