/*
 * The slab's geometry, the writer's seal and the reader's check. Called by synth-workers (plan,
 * open, seal), gpu-workers (check) and whoever plans memory. A SIGKILL between slab_open and the
 * last store of slab_seal leaves `sealed` zero, which slab_check refuses.
 */
#include "shm/slab.h"

#include <errno.h>
#include <string.h>

#define ELEMENT_BYTES 32u

static int add_section(struct slab_section *section, uint64_t *end, uint64_t elements)
{
    uint64_t bytes, start = *end;

    if (__builtin_mul_overflow(elements, ELEMENT_BYTES, &bytes) ||
        __builtin_add_overflow(start, SLAB_ALIGN - 1, &start))
        return -EOVERFLOW;
    start -= start % SLAB_ALIGN;
    if (__builtin_add_overflow(start, bytes, end))
        return -EOVERFLOW;
    section->offset = start;
    section->bytes = bytes;
    return 0;
}

int slab_plan(struct slab_plan *plan, uint64_t wires, uint64_t domain, int with_rows)
{
    uint64_t end = SLAB_HEADER_BYTES;

    memset(plan, 0, sizeof(*plan));
    if (wires > UINT32_MAX || add_section(&plan->witness, &end, wires))
        return -EOVERFLOW;
    if (with_rows &&
        (add_section(&plan->rows_a, &end, domain) || add_section(&plan->rows_b, &end, domain)))
        return -EOVERFLOW;
    if (__builtin_add_overflow(end, SLAB_PAGE_BYTES - 1, &end))
        return -EOVERFLOW;
    plan->bytes = end - end % SLAB_PAGE_BYTES;
    return 0;
}

void slab_open(void *slab)
{
    struct slab_header *header = slab;

    /* An exchange, not a store: its acquire half keeps the filling's stores behind it.
     * Pairs with slab_check. */
    (void)atomic_exchange_explicit(&header->sealed, 0, memory_order_acq_rel);
}

void slab_seal(void *slab, const struct slab_header *header)
{
    struct slab_header *to = slab;

    memcpy(to, header, offsetof(struct slab_header, sealed));
    /* Pairs with slab_check: who sees the seal sees header and sections. */
    atomic_store_explicit(&to->sealed, header->generation, memory_order_release);
}

/* The section lies between *floor and the slab's end, and *floor moves behind it. */
static int section_fits(const struct slab_section *section, uint64_t bytes, uint64_t *floor,
                        uint64_t slab_bytes)
{
    if (section->bytes != bytes || section->offset % SLAB_ALIGN || section->offset < *floor)
        return 0;
    if (section->offset > slab_bytes || bytes > slab_bytes - section->offset)
        return 0;
    *floor = section->offset + bytes;
    return 1;
}

static const char *bad_header(const struct slab_header *header)
{
    if (header->magic != SLAB_MAGIC)
        return "magic";
    if (header->layout != SLAB_LAYOUT)
        return "layout";
    if (header->generation == 0 || header->sealed != header->generation)
        return "sealed";
    if (header->curve < 1 || header->curve > 2)
        return "curve";
    if (header->wires == 0)
        return "wires";
    if (header->domain == 0 || header->domain & (header->domain - 1))
        return "domain";
    return NULL;
}

static const char *bad_sections(const struct slab_header *header, uint64_t slab_bytes)
{
    uint64_t floor = SLAB_HEADER_BYTES, rows_bytes;

    if (!section_fits(&header->witness, (uint64_t)header->wires * ELEMENT_BYTES, &floor,
                      slab_bytes))
        return "witness";
    if (header->rows_a.bytes == 0 && header->rows_b.bytes == 0)
        return NULL; /* the device evaluates them */
    if (__builtin_mul_overflow(header->domain, ELEMENT_BYTES, &rows_bytes))
        return "domain";
    if (!section_fits(&header->rows_a, rows_bytes, &floor, slab_bytes))
        return "rows_a";
    if (!section_fits(&header->rows_b, rows_bytes, &floor, slab_bytes))
        return "rows_b";
    return NULL;
}

int slab_check(struct slab_header *out, const void *slab, uint64_t slab_bytes, const char **what)
{
    const struct slab_header *header = slab;

    *what = "slab_bytes";
    if (slab_bytes < SLAB_HEADER_BYTES)
        return -EBADMSG;
    /* Pairs with slab_seal and slab_open. */
    uint64_t sealed = atomic_load_explicit(&header->sealed, memory_order_acquire);
    memcpy(out, header, offsetof(struct slab_header, sealed));
    atomic_init(&out->sealed, sealed);
    *what = bad_header(out);
    if (!*what)
        *what = bad_sections(out, slab_bytes);
    return *what ? -EBADMSG : 0;
}
