/*
 * The read-only view of a circuit image. Called by synth-workers and gpu-workers for each image
 * that they are sent, and by the compiler to check what it wrote. Whatever the header says is
 * checked against the file's real size before a pointer is made of it. Nothing is left by a
 * SIGKILL: a mapping ends with its process.
 */
#include "shm/image.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "shm/slab.h"

#define VALUE_BYTES 32u
#define LOG2_DOMAIN_MAX 32u

struct point_bytes {
    uint32_t g1, g2;
};

/* By curve: 1 is BN254, 2 is BLS12-381. */
static const struct point_bytes point_bytes[] = {{0, 0}, {64, 128}, {96, 192}};

static const char *bad_sizes(const struct image_header *header)
{
    struct slab_plan plan;

    if (header->curve < 1 || header->curve > 2)
        return "curve";
    if (header->section_count > IMAGE_SECTIONS_MAX)
        return "section count";
    if (header->log2_domain > LOG2_DOMAIN_MAX)
        return "domain";
    if (header->public_count >= header->wires)
        return "public count";
    uint64_t domain = UINT64_C(1) << header->log2_domain;
    if (header->rows_a > domain || header->rows_b > domain || header->rows_c > domain)
        return "rows";
    if (slab_plan(&plan, header->wires, domain, 1) || plan.bytes != header->slab_bytes)
        return "slab bytes";
    return NULL;
}

static const char *bad_bounds(const struct image_header *header)
{
    for (uint32_t i = 0; i < header->section_count; i++) {
        const struct image_section *section = &header->sections[i];

        if (section->offset % IMAGE_ALIGN || section->offset < sizeof(*header) ||
            section->offset > header->file_bytes ||
            section->bytes > header->file_bytes - section->offset)
            return "section bounds";
    }
    return NULL;
}

static const char *bad_header(const struct image_header *header, uint64_t file_bytes)
{
    if (header->magic != IMAGE_MAGIC)
        return "magic";
    if (header->layout != IMAGE_LAYOUT)
        return "layout";
    if (header->file_bytes != file_bytes)
        return "file length";
    const char *what = bad_sizes(header);
    return what ? what : bad_bounds(header);
}

const struct image_section *image_find(const struct image_header *header, uint32_t tag,
                                       unsigned device, unsigned feature, unsigned layout)
{
    for (uint32_t i = 0; i < header->section_count; i++) {
        const struct image_section *section = &header->sections[i];

        if (section->tag == tag && section->device == device && section->feature == feature &&
            section->layout == layout)
            return section;
    }
    return NULL;
}

/* The section that every image has, of exactly so many bytes; NULL where it is not so. */
static const void *whole_section(const struct image_header *header, uint32_t tag, uint64_t bytes)
{
    const struct image_section *section = image_find(header, tag, 0, 0, 0);

    if (!section || section->bytes != bytes)
        return NULL;
    return (const char *)header + section->offset;
}

static const char *view_points(struct image *image)
{
    const struct image_header *header = image->header;
    struct point_bytes point = point_bytes[header->curve];
    uint64_t wires = header->wires, publics = header->public_count;
    const struct {
        const void **where;
        uint32_t tag;
        uint64_t bytes;
        const char *name;
    } want[] = {
        {&image->verification, IMAGE_VERIFICATION, 3 * point.g1 + 3 * point.g2, "verification key"},
        {&image->ic, IMAGE_IC, (publics + 1) * point.g1, "IC"},
        {&image->points_a, IMAGE_POINTS_A, wires * point.g1, "points A"},
        {&image->points_b1, IMAGE_POINTS_B1, wires * point.g1, "points B1"},
        {&image->points_b2, IMAGE_POINTS_B2, wires * point.g2, "points B2"},
        {&image->points_c, IMAGE_POINTS_C, (wires - publics - 1) * point.g1, "points C"},
        {&image->points_h, IMAGE_POINTS_H, (UINT64_C(1) << header->log2_domain) * point.g1,
         "points H"},
    };

    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        *want[i].where = whole_section(header, want[i].tag, want[i].bytes);
        if (!*want[i].where)
            return want[i].name;
    }
    return NULL;
}

/* The values of a matrix, and which entry has which where they are given once each. */
static int view_values(struct image_matrix *matrix, const struct image_header *header,
                       uint32_t value_tag, uint64_t entries)
{
    const struct image_section *value = image_find(header, value_tag, 0, 0, 0);
    if (!value || value->bytes % VALUE_BYTES)
        return -EBADMSG;
    uint64_t values = value->bytes / VALUE_BYTES;
    matrix->value = whole_section(header, value_tag, value->bytes);
    if (!image_find(header, value_tag + 1, 0, 0, 0))
        return values == entries ? 0 : -EBADMSG;
    matrix->index_bytes = image_index_bytes(values);
    matrix->index = whole_section(header, value_tag + 1, entries * matrix->index_bytes);
    return matrix->index && values >= 2 ? 0 : -EBADMSG;
}

/* Reads the first and the last row_start: what lies between was validated when the image was made.
 */
static int view_matrix(struct image_matrix *matrix, const struct image_header *header,
                       uint32_t first_tag, uint32_t rows)
{
    matrix->rows = rows;
    matrix->row_start = whole_section(header, first_tag, ((uint64_t)rows + 1) * sizeof(uint32_t));
    if (!matrix->row_start || matrix->row_start[0] != 0)
        return -EBADMSG;
    uint64_t entries = matrix->row_start[rows];
    matrix->wire = whole_section(header, first_tag + 1, entries * sizeof(uint32_t));
    return matrix->wire ? view_values(matrix, header, first_tag + 2, entries) : -EBADMSG;
}

static const char *view_sections(struct image *image)
{
    const struct image_header *header = image->header;
    const char *what = view_points(image);

    if (what)
        return what;
    if (view_matrix(&image->a, header, IMAGE_A_ROW_START, header->rows_a))
        return "matrix A";
    if (view_matrix(&image->b, header, IMAGE_B_ROW_START, header->rows_b))
        return "matrix B";
    if (image_find(header, IMAGE_C_ROW_START, 0, 0, 0) &&
        view_matrix(&image->c, header, IMAGE_C_ROW_START, header->rows_c))
        return "matrix C";
    const struct image_section *table = image_find(header, IMAGE_NTT_TABLE, 0, 0, 0);
    if (table) {
        image->ntt_table = (const char *)header + table->offset;
        image->ntt_table_bytes = table->bytes;
    }
    return NULL;
}

int image_map(struct image *image, int fd, const char **what)
{
    struct stat status;

    memset(image, 0, sizeof(*image));
    *what = "file";
    if (fstat(fd, &status))
        return -errno;
    *what = "file length";
    if (!S_ISREG(status.st_mode) || (uint64_t)status.st_size < sizeof(struct image_header))
        return -EBADMSG;
    *what = "mapping";
    void *memory = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        return -errno;
    image->header = memory;
    image->bytes = (uint64_t)status.st_size;
    *what = bad_header(image->header, image->bytes);
    if (!*what)
        *what = view_sections(image);
    if (!*what)
        return 0;
    image_unmap(image);
    return -EBADMSG;
}

void image_unmap(struct image *image)
{
    if (image->header)
        munmap((void *)(uintptr_t)image->header, image->bytes);
    memset(image, 0, sizeof(*image));
}
