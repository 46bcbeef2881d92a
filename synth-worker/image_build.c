/*
 * Makes a circuit image from a proving key in memory. Called by compile.c and by tests. The points'
 * bytes are the same in key and image; they are copied to their aligned place and checked there.
 * A SIGKILL leaves a half-made file under a temporary name (image_draft.c).
 */
#include "synth-worker/image_build.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "kernels/curves.h"
#include "kernels/ranges.h"
#include "shm/program.h"
#include "shm/slab.h"
#include "synth-worker/coefficients.h"
#include "synth-worker/complaint.h"
#include "synth-worker/device_need.h"
#include "synth-worker/points.h"
#include "synth-worker/r1cs.h"
#include "synth-worker/zkey.h"

#define SUM_PIECE_LEAST 65536u /* words */

/* What an image of a key will be. */
struct image_plan {
    struct zkey zkey;
    struct coefficient_counts counts;
    struct r1cs r1cs;           /* row_start NULL: none was given */
    struct image_header header; /* whole but for IMAGE_SUBGROUPS_CHECKED */
};

/* Which section of the key becomes which of the image. */
static const struct point_section {
    enum zkey_section from;
    enum image_tag to;
    enum group group;
} point_sections[] = {
    {ZKEY_IC, IMAGE_IC, GROUP_G1},
    {ZKEY_POINTS_A, IMAGE_POINTS_A, GROUP_G1},
    {ZKEY_POINTS_B1, IMAGE_POINTS_B1, GROUP_G1},
    {ZKEY_POINTS_B2, IMAGE_POINTS_B2, GROUP_G2},
    {ZKEY_POINTS_C, IMAGE_POINTS_C, GROUP_G1},
    {ZKEY_POINTS_H, IMAGE_POINTS_H, GROUP_G1},
};
#define POINT_SECTIONS (sizeof point_sections / sizeof *point_sections)

static uint64_t align_up(uint64_t bytes)
{
    return (bytes + IMAGE_ALIGN - 1) / IMAGE_ALIGN * IMAGE_ALIGN;
}

static void add_section(struct image_header *header, enum image_tag tag, uint64_t bytes)
{
    struct image_section *section = &header->sections[header->section_count++];
    section->tag = tag;
    section->offset = header->file_bytes;
    section->bytes = bytes;
    header->file_bytes = align_up(header->file_bytes + bytes);
}

struct matrix_size {
    uint32_t rows, entries, values, index_bytes;
};

static void add_matrix(struct image_header *header, enum image_tag row_start,
                       struct matrix_size size)
{
    add_section(header, row_start, ((uint64_t)size.rows + 1) * sizeof(uint32_t));
    add_section(header, row_start + 1, (uint64_t)size.entries * sizeof(uint32_t));
    add_section(header, row_start + 2, (uint64_t)size.values * FR_WORDS * sizeof(uint64_t));
    if (size.index_bytes)
        add_section(header, row_start + 3, (uint64_t)size.entries * size.index_bytes);
}

/* A is matrix 0 of the key, B matrix 1 */
static struct matrix_size size_of_matrix(const struct coefficient_counts *counts, unsigned matrix)
{
    return (struct matrix_size){counts->rows[matrix], counts->entries[matrix],
                                coefficients_values(counts, matrix), counts->index_bytes[matrix]};
}

static struct matrix_size size_of_c(const struct r1cs *r1cs)
{
    return (struct matrix_size){r1cs->constraints, r1cs->row_start[r1cs->constraints],
                                r1cs_values(r1cs), r1cs->index_bytes};
}

/* All sums stay far below 2^64: each section is no longer than four times the key's. */
static void lay_out(struct image_plan *plan)
{
    const struct zkey *zkey = &plan->zkey;
    struct image_header *header = &plan->header;
    header->file_bytes = align_up(sizeof *header);
    add_section(header, IMAGE_VERIFICATION, 3 * zkey->curve->g1_bytes + 3 * zkey->curve->g2_bytes);
    for (unsigned i = 0; i < POINT_SECTIONS; i++)
        add_section(header, point_sections[i].to,
                    zkey_point_count(zkey, point_sections[i].from) *
                        zkey_point_bytes(zkey, point_sections[i].from));
    add_matrix(header, IMAGE_A_ROW_START, size_of_matrix(&plan->counts, 0));
    add_matrix(header, IMAGE_B_ROW_START, size_of_matrix(&plan->counts, 1));
    if (plan->r1cs.row_start)
        add_matrix(header, IMAGE_C_ROW_START, size_of_c(&plan->r1cs));
}

static int fill_header(struct image_plan *plan, const uint8_t *hash, struct complaint *complaint)
{
    const struct zkey *zkey = &plan->zkey;
    struct slab_plan slab;
    int status = slab_plan(&slab, zkey->wires, UINT64_C(1) << zkey->log2_domain, 1);
    if (status)
        return complain_system(complaint, EXIT_MACHINE, -status, "%.700s: the slab is too large",
                               zkey->file.source.name);
    plan->header = (struct image_header){
        .magic = IMAGE_MAGIC,
        .layout = IMAGE_LAYOUT,
        .curve = zkey->curve->id,
        .wires = zkey->wires,
        .public_count = zkey->public_count,
        .log2_domain = zkey->log2_domain,
        .rows_a = plan->counts.rows[0],
        .rows_b = plan->counts.rows[1],
        .rows_c = plan->r1cs.constraints,
        .device_mib = device_need_mib(zkey->curve, zkey->wires, zkey->public_count + UINT64_C(1),
                                      zkey->log2_domain),
        .slab_bytes = slab.bytes,
    };
    memcpy(plan->header.hash, hash, IMAGE_HASH_BYTES);
    lay_out(plan);
    return 0;
}

/*
 * Checks the key's structure (sections, lengths, coefficients) and lays the image out. `key` and
 * `r1cs` (or NULL) are in memory (source.bytes) and must outlive the plan; `hash` is the SHA-256 of
 * their bytes. 0 or -errno.
 */
static int make_plan(struct image_plan *plan, const struct binfile_source *key,
                     const struct binfile_source *r1cs, const uint8_t hash[IMAGE_HASH_BYTES],
                     struct complaint *complaint)
{
    int status = zkey_open(&plan->zkey, key, complaint);
    if (!status)
        status = zkey_check_sections(&plan->zkey, complaint);
    if (!status)
        status = coefficients_count(&plan->zkey, &plan->counts, complaint);
    if (!status && r1cs)
        status = r1cs_read(&plan->r1cs, r1cs, &plan->zkey, complaint);
    if (!status)
        status = fill_header(plan, hash, complaint);
    return status;
}

static void *section_at(const struct image_plan *plan, void *out, enum image_tag tag)
{
    return (uint8_t *)out + image_find(&plan->header, tag, 0, 0, 0)->offset;
}

static struct point_array array_of(const struct image_plan *plan, void *out, unsigned index)
{
    const struct point_section *section = &point_sections[index];
    return (struct point_array){
        .curve = plan->zkey.curve,
        .group = section->group,
        .points = section_at(plan, out, section->to),
        .count = zkey_point_count(&plan->zkey, section->from),
        .section = section->from,
        .name = plan->zkey.file.source.name,
    };
}

static int copy_points(const struct image_plan *plan, void *out, struct parallel *parallel,
                       struct complaint *complaint)
{
    const struct binfile *file = &plan->zkey.file;
    int status = points_check_constants(plan->zkey.curve, plan->zkey.constants, file->source.name,
                                        complaint);
    for (unsigned i = 0; i < POINT_SECTIONS && !status; i++) {
        const struct binfile_section *from = &file->section[point_sections[i].from];
        struct point_array array = array_of(plan, out, i);
        status = binfile_read(&file->source, from->offset,
                              section_at(plan, out, point_sections[i].to), from->length, complaint);
        if (!status)
            status = points_check(&array, parallel, complaint);
    }
    return status;
}

static int check_subgroups(const struct image_plan *plan, void *out, struct parallel *parallel,
                           struct complaint *complaint)
{
    int status = points_check_constants_subgroup(plan->zkey.curve, plan->zkey.constants,
                                                 plan->zkey.file.source.name, complaint);
    for (unsigned i = 0; i < POINT_SECTIONS && !status; i++) {
        struct point_array array = array_of(plan, out, i);
        status = points_check_subgroup(&array, parallel, complaint);
    }
    return status;
}

static struct coefficient_matrix matrix_at(const struct image_plan *plan, void *out,
                                           enum image_tag row_start, uint32_t index_bytes)
{
    return (struct coefficient_matrix){
        .row_start = section_at(plan, out, row_start),
        .wire = section_at(plan, out, row_start + 1),
        .value = section_at(plan, out, row_start + 2),
        .index = index_bytes ? section_at(plan, out, row_start + 3) : NULL,
    };
}

static struct sparse_matrix view_of(const struct coefficient_matrix *matrix,
                                    const struct coefficient_counts *counts, unsigned which)
{
    return (struct sparse_matrix){.rows = counts->rows[which],
                                  .row_start = matrix->row_start,
                                  .wire = matrix->wire,
                                  .value = (const uint64_t(*)[FR_WORDS])matrix->value,
                                  .index = matrix->index,
                                  .index_bytes = counts->index_bytes[which]};
}

static int place_matrices(struct image_plan *plan, void *out, struct complaint *complaint)
{
    struct coefficient_counts *counts = &plan->counts;
    struct coefficient_matrix matrix[2] = {
        matrix_at(plan, out, IMAGE_A_ROW_START, counts->index_bytes[0]),
        matrix_at(plan, out, IMAGE_B_ROW_START, counts->index_bytes[1])};
    coefficients_place(&plan->zkey, counts, matrix);
    if (!plan->r1cs.row_start)
        return 0;
    struct coefficient_matrix c = matrix_at(plan, out, IMAGE_C_ROW_START, plan->r1cs.index_bytes);
    struct sparse_matrix view_a = view_of(&matrix[0], counts, 0);
    struct sparse_matrix view_b = view_of(&matrix[1], counts, 1);
    r1cs_place(&plan->r1cs, &c);
    return r1cs_compare(&plan->r1cs, &view_a, &view_b, complaint);
}

struct summing {
    const struct image_header *header;
    _Atomic uint64_t sum;
};

static void sum_piece(void *arg, size_t begin, size_t end)
{
    struct summing *summing = arg;
    atomic_fetch_add_explicit(
        &summing->sum,
        image_checksum_part(summing->header, summing->header->file_bytes, begin, end),
        memory_order_relaxed);
}

static uint64_t sum_image(const struct image_header *header, struct parallel *parallel)
{
    struct summing summing = {.header = header};
    ranges_run(parallel, image_checksum_words(header->file_bytes), SUM_PIECE_LEAST, sum_piece,
               &summing);
    return atomic_load_explicit(&summing.sum, memory_order_relaxed);
}

/*
 * Builds the image into `out`: header.file_bytes zeroed bytes, 64-byte aligned. Checks all points;
 * with `subgroups`, their subgroups too, and flags it in the header. 0 or -errno; after an error
 * `out` holds no image.
 */
static int build(struct image_plan *plan, void *out, int subgroups, struct parallel *parallel,
                 struct complaint *complaint)
{
    int status = copy_points(plan, out, parallel, complaint);
    if (!status && subgroups)
        status = check_subgroups(plan, out, parallel, complaint);
    if (status)
        return status;
    memcpy(section_at(plan, out, IMAGE_VERIFICATION), plan->zkey.constants,
           image_find(&plan->header, IMAGE_VERIFICATION, 0, 0, 0)->bytes);
    status = place_matrices(plan, out, complaint);
    if (status)
        return status;
    struct image_header *header = out;
    *header = plan->header;
    header->flags = subgroups ? IMAGE_SUBGROUPS_CHECKED : 0;
    header->checksum = sum_image(header, parallel);
    return 0;
}

static int complain_space(struct complaint *complaint, int error, uint64_t bytes)
{
    return complain_system(complaint, EXIT_OUTPUT, error,
                           "cannot make the circuit image of %" PRIu64 " bytes", bytes);
}

static int build_mapped(int fd, struct image_plan *plan, int subgroups, struct parallel *parallel,
                        struct image_header *header, struct complaint *complaint)
{
    uint64_t bytes = plan->header.file_bytes;
    int error = posix_fallocate(fd, 0, (off_t)bytes);
    if (error)
        return complain_space(complaint, error, bytes);
    void *out = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (out == MAP_FAILED)
        return complain_space(complaint, errno, bytes);
    int status = build(plan, out, subgroups, parallel, complaint);
    *header = *(struct image_header *)out;
    munmap(out, bytes);
    return status;
}

int image_build_file_r1cs(int fd, const struct binfile_source *key,
                          const struct binfile_source *r1cs, const uint8_t hash[IMAGE_HASH_BYTES],
                          int subgroups, struct parallel *parallel, struct image_header *header,
                          uint32_t *repeated, struct complaint *complaint)
{
    struct image_plan plan = {.counts = {.entries = {0}}};
    int status = make_plan(&plan, key, r1cs, hash, complaint);
    if (!status)
        status = build_mapped(fd, &plan, subgroups, parallel, header, complaint);
    *repeated = plan.r1cs.repeated;
    r1cs_free(&plan.r1cs);
    coefficients_free(&plan.counts);
    return status;
}

int image_build_file(int fd, const struct binfile_source *key, const uint8_t hash[IMAGE_HASH_BYTES],
                     int subgroups, struct parallel *parallel, struct image_header *header,
                     struct complaint *complaint)
{
    uint32_t none;
    return image_build_file_r1cs(fd, key, NULL, hash, subgroups, parallel, header, &none,
                                 complaint);
}
