/*
 * Seeded damage to zkey and wtns files: structured where a reader looks (lengths, counts, indices,
 * points, values, order of sections), blind elsewhere. Header only.
 */
#ifndef PAWL_TESTS_SYNTH_WORKER_MUTATE_H
#define PAWL_TESTS_SYNTH_WORKER_MUTATE_H

#include "kernels/curves.h"
#include "tests/support/scalars.h"
#include "tests/synth-worker/container.h"

static inline uint64_t pick(uint64_t *random, uint64_t below)
{
    return random_next(random) % below;
}

/* Numbers at which comparisons and products go wrong. */
static inline uint64_t odd_number(uint64_t *random, uint64_t near)
{
    static const uint64_t numbers[] = {0,          1,          2,          3,         4,
                                       7,          8,          16,         28,        0x7fffffff,
                                       0x80000000, 0xffffffff, 1u << 27,   1u << 28,  0x08000000,
                                       0x04000000, 0x02000000, UINT64_MAX, 1ull << 63};
    switch (pick(random, 4)) {
    case 0:
        return near + pick(random, 5) - 2;
    case 1:
        return random_next(random) >> pick(random, 64);
    default:
        return numbers[pick(random, sizeof numbers / sizeof *numbers)];
    }
}

static inline struct container_section *pick_section(struct container *file, uint64_t *random)
{
    return &file->section[pick(random, file->count)];
}

static inline void damage_bytes(struct container_section *section, uint64_t *random)
{
    if (section->bytes)
        section->payload[pick(random, section->bytes)] ^= (uint8_t)(1u << pick(random, 8));
}

static inline void damage_length(struct container_section *section, uint64_t *random)
{
    if (pick(random, 2))
        section->claimed_bytes = odd_number(random, section->bytes);
    else
        section_resize(section, (section->bytes + pick(random, 200)) * 2 / (1 + pick(random, 3)));
}

static inline void damage_order(struct container *file, uint64_t *random)
{
    uint32_t index = (uint32_t)pick(random, file->count);
    struct container_section *section = &file->section[index];
    switch (pick(random, 5)) {
    case 0:
        container_reverse(file);
        break;
    case 1:
        if (file->count < CONTAINER_SECTIONS)
            container_add(file, section->id, section->payload, section->bytes);
        break;
    case 2:
        if (file->count > 1)
            container_remove(file, index);
        break;
    case 3:
        section->id = (uint32_t)odd_number(random, section->id);
        break;
    default:
        container_swap(file, index, (uint32_t)pick(random, file->count));
        break;
    }
}

static inline void damage_envelope(struct container *file, uint64_t *random)
{
    switch (pick(random, 3)) {
    case 0:
        file->type[pick(random, 4)] ^= (char)(1u << pick(random, 7));
        break;
    case 1:
        file->version = (uint32_t)odd_number(random, file->version);
        break;
    default:
        file->claimed_count = (uint32_t)odd_number(random, file->count);
        break;
    }
}

static inline struct container_section *try_find(struct container *file, uint32_t id)
{
    for (uint32_t i = 0; i < file->count; i++)
        if (file->section[i].id == id)
            return &file->section[i];
    return NULL;
}

/* A u32 of a section, where it reaches that far. */
static inline void damage_u32(struct container_section *section, uint64_t at, uint64_t *random)
{
    if (at + 4 <= section->bytes)
        put_u32(section->payload + at,
                (uint32_t)odd_number(random, binfile_u32(section->payload + at)));
}

static inline void damage_zkey_header(struct container *file, const struct curve *curve,
                                      uint64_t *random)
{
    const uint64_t counts = 8 + curve->fq_bytes + 32;
    const uint64_t at[] = {0, 4 + curve->fq_bytes, counts, counts + 4, counts + 8};
    struct container_section *header = try_find(file, 2), *protocol = try_find(file, 1);
    if (protocol && !pick(random, 8))
        damage_u32(protocol, 0, random);
    else if (header)
        damage_u32(header, at[pick(random, 5)], random);
}

static inline void set_value(uint8_t *to, const struct curve *curve, uint64_t *random)
{
    struct scalar value = scalar_random(curve, random);
    switch (pick(random, 7)) {
    case 0:
        memset(to, 0, 32);
        break;
    case 1:
        memset(to, 0, 32);
        to[0] = 1;
        break;
    case 2:
        memcpy(to, curve->fr_modulus, 32);
        break;
    case 3:
        memcpy(to, curve->fr_modulus, 32);
        to[0]--;
        break;
    case 4:
        memset(to, 0xff, 32);
        break;
    default:
        memcpy(to, &value, 32);
        break;
    }
}

static inline void damage_coefficients(struct container *file, const struct curve *curve,
                                       uint64_t *random)
{
    struct container_section *section = try_find(file, 4);
    uint64_t records = section && section->bytes > 4 ? (section->bytes - 4) / 44 : 0;
    if (!records)
        return;
    uint8_t *record = section->payload + 4 + 44 * pick(random, records);
    uint8_t *other = section->payload + 4 + 44 * pick(random, records), kept[44];
    switch (pick(random, 5)) {
    case 0:
        put_u32(record + 4 * pick(random, 3), (uint32_t)pick(random, 10));
        break;
    case 1:
        damage_u32(section, (uint64_t)(record - section->payload) + 4 * pick(random, 3), random);
        break;
    case 2:
        set_value(record + 12, curve, random);
        break;
    case 3:
        memcpy(kept, record, 44);
        memcpy(record, other, 44);
        memcpy(other, kept, 44);
        break;
    default:
        section_resize(section, 4 + 44 * (records - 1));
        put_u32(section->payload, (uint32_t)(records - 1));
        break;
    }
}

/* A point of the right group: zero, a multiple of the generator, one off the curve or past q. */
static inline void set_point(uint8_t *to, const struct curve *curve, enum group group,
                             uint64_t *random)
{
    uint32_t bytes = group == GROUP_G2 ? curve->g2_bytes : curve->g1_bytes;
    struct scalar scalar = {{pick(random, 100)}};
    struct g1 g1;
    struct g2 g2;
    switch (pick(random, 4)) {
    case 0:
        memset(to, 0, bytes);
        break;
    case 1:
        to[pick(random, bytes)] ^= (uint8_t)(1u << pick(random, 8));
        break;
    case 2:
        memcpy(to + curve->fq_bytes * pick(random, bytes / curve->fq_bytes), curve->fq_modulus,
               curve->fq_bytes);
        break;
    default:
        curve->g1_multiply(&g1, curve->g1_generator, scalar.word);
        curve->g2_multiply(&g2, curve->g2_generator, scalar.word);
        memcpy(to, group == GROUP_G2 ? (const void *)&g2 : &g1, bytes);
        break;
    }
}

static inline void damage_points(struct container *file, const struct curve *curve,
                                 uint64_t *random)
{
    static const uint32_t ids[] = {2, 3, 5, 6, 7, 8, 9};
    uint32_t id = ids[pick(random, 7)];
    struct container_section *section = try_find(file, id);
    enum group group = id == 7 ? GROUP_G2 : GROUP_G1;
    uint32_t bytes = group == GROUP_G2 ? curve->g2_bytes : curve->g1_bytes;
    uint64_t start = id == 2 ? 8 + curve->fq_bytes + 32 + 12 : 0;
    if (!section || section->bytes < start + bytes)
        return;
    uint64_t count = (section->bytes - start) / bytes;
    set_point(section->payload + start + bytes * pick(random, count), curve, group, random);
}

enum { DAMAGED = 0 };

/* The first four kinds are those of any container; the others are the caller's: returned. */
static inline uint64_t damage_any(struct container *file, uint64_t kind, uint64_t *random)
{
    switch (kind) {
    case 0:
        damage_bytes(pick_section(file, random), random);
        return DAMAGED;
    case 1:
        damage_length(pick_section(file, random), random);
        return DAMAGED;
    case 2:
        damage_order(file, random);
        return DAMAGED;
    case 3:
        damage_envelope(file, random);
        return DAMAGED;
    default:
        return kind;
    }
}

static inline void mutate_zkey(struct container *file, const struct curve *curve, uint64_t *random)
{
    for (uint64_t times = 1 + pick(random, 2); times && file->count; times--)
        switch (damage_any(file, pick(random, 12), random)) {
        case DAMAGED:
            break;
        case 4:
        case 5:
            damage_zkey_header(file, curve, random);
            break;
        case 6:
        case 7:
        case 8:
            damage_coefficients(file, curve, random);
            break;
        default:
            damage_points(file, curve, random);
            break;
        }
}

static inline void mutate_wtns(struct container *file, const struct curve *curve, uint64_t *random)
{
    struct container_section *section;
    for (uint64_t times = 1 + pick(random, 2); times && file->count; times--)
        switch (damage_any(file, pick(random, 8), random)) {
        case DAMAGED:
            break;
        case 4:
            if ((section = try_find(file, 1)))
                damage_u32(section, pick(random, 2) ? 0 : 36, random);
            break;
        default:
            section = try_find(file, 2);
            if (section && section->bytes >= 32)
                set_value(section->payload + 32 * pick(random, section->bytes / 32), curve, random);
            break;
        }
}

/* Cuts the file, adds to it, or flips a byte anywhere, headers of sections included. */
static inline void mutate_bytes(struct bytes *file, uint64_t *random)
{
    switch (pick(random, 12)) {
    case 0:
        file->count = pick(random, file->count + 1);
        break;
    case 1:
        file->data[pick(random, file->count)] ^= (uint8_t)(1 + pick(random, 255));
        break;
    case 2:
        file->data = realloc(file->data, file->count + 40);
        assert(file->data);
        memset(file->data + file->count, 0x11, 40);
        file->count += 40;
        break;
    default:
        return;
    }
    /* just as long as it says, so that a sanitizer sees a read past it */
    file->data = realloc(file->data, file->count ? file->count : 1);
    assert(file->data);
}

#endif
