/*
 * The memory budget: what the service may use, and the terms of what it will. Pure.
 *
 * The terms are what is really allocated, or what a process was measured to take: no margin is
 * added and nothing is guessed from the size of a key. What does not fit is refused with all terms
 * and the key to change for each.
 */
#ifndef PAWL_COORDINATOR_MEMORY_H
#define PAWL_COORDINATOR_MEMORY_H

#include <stddef.h>
#include <stdint.h>

struct config;

enum memory_term {
    MEMORY_REGION,      /* control, slabs, seat pages */
    MEMORY_IMAGES,      /* of all circuits, mapped once for all */
    MEMORY_SYNTH,       /* heaps of the synth-workers */
    MEMORY_DEVICE,      /* the CPU device: its process and its scratch for the largest circuit */
    MEMORY_COORDINATOR, /* its own heap and what it keeps of jobs */
    MEMORY_SPOOL,       /* accepted inputs that are in the page cache */
    MEMORY_TERMS
};

/* What the circuits need, all together. */
struct memory_needs {
    uint64_t image_bytes;  /* the sum */
    uint64_t device_bytes; /* the largest scratch of the CPU device */
};

struct memory_terms {
    uint64_t bytes[MEMORY_TERMS];
};

/* "region", "images" ...: as in the status. */
const char *memory_term_name(enum memory_term term);
/* The budget: `memory`, and at most what the machine and the control group have. */
uint64_t memory_budget_bytes(const struct config *config, uint64_t limit_bytes);
/* region_bytes: control and slabs. synth_workers: attached, if more than the configuration's. */
void memory_terms_fill(struct memory_terms *terms, const struct config *config,
                       const struct memory_needs *needs, uint64_t region_bytes,
                       uint32_t synth_workers);
uint64_t memory_terms_sum(const struct memory_terms *terms);
/* What is left for slabs beside all other terms; 0: nothing. */
uint64_t memory_room_bytes(const struct memory_terms *terms, uint64_t budget_bytes);
/* All terms and what to change, in one line, at most `bytes`. */
void memory_explain(char *out, size_t bytes, const struct memory_terms *terms,
                    uint64_t budget_bytes);

#endif
