/*
 * Images: a small one made by hand, every lie in its header, every truncation. The file is mapped
 * into a heap block of its exact size here, so that a sanitizer sees any read past its end.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int live_mappings;

static void *heap_map(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    (void)at;
    (void)flags;
    assert_int_equal(protection, PROT_READ);
    void *memory = NULL;
    if (posix_memalign(&memory, 64, bytes) || !memory)
        abort();
    assert_int_equal(pread(fd, memory, bytes, offset), (ssize_t)bytes);
    live_mappings++;
    return memory;
}

static int heap_unmap(void *memory, size_t bytes)
{
    (void)bytes;
    free(memory);
    live_mappings--;
    return 0;
}

#define mmap heap_map
#define munmap heap_unmap
#include "shm/image.c"
#undef mmap
#undef munmap

#define WIRES 5u
#define PUBLICS 2u
#define LOG2_DOMAIN 2u
#define ROWS_A 3u
#define ENTRIES_A 4u
#define ROWS_B 4u
#define ENTRIES_B 0u
#define IMAGE_ROOM 16384u

struct bytes {
    _Alignas(64) unsigned char at[IMAGE_ROOM];
    uint64_t count;
};

static struct image_header *header_of(struct bytes *bytes)
{
    return (void *)bytes->at;
}

static void add(struct bytes *bytes, uint32_t tag, uint64_t count)
{
    struct image_header *header = header_of(bytes);
    struct image_section *section = &header->sections[header->section_count++];

    bytes->count = (bytes->count + 63) / 64 * 64;
    section->tag = tag;
    section->offset = bytes->count;
    section->bytes = count;
    memset(bytes->at + bytes->count, (int)tag, count);
    bytes->count += count;
    assert_true(bytes->count <= IMAGE_ROOM);
}

static uint32_t *row_starts(struct bytes *bytes, uint32_t tag)
{
    return (void *)(bytes->at + image_find(header_of(bytes), tag, 0, 0, 0)->offset);
}

static void add_matrix(struct bytes *bytes, uint32_t tag, uint32_t rows, uint32_t entries)
{
    add(bytes, tag, (rows + 1) * 4);
    for (uint32_t i = 0; i <= rows; i++)
        row_starts(bytes, tag)[i] = i ? entries : 0;
    add(bytes, tag + 1, entries * 4);
    add(bytes, tag + 2, entries * 32);
}

static void make(struct bytes *bytes, uint32_t curve)
{
    uint64_t g1 = curve == 1 ? 64 : 96, g2 = 2 * g1;
    struct image_header *header = header_of(bytes);
    struct slab_plan plan;

    memset(bytes, 0, sizeof(*bytes));
    bytes->count = sizeof(*header);
    assert_int_equal(slab_plan(&plan, WIRES, 1 << LOG2_DOMAIN, 1), 0);
    *header = (struct image_header){.magic = IMAGE_MAGIC,
                                    .layout = IMAGE_LAYOUT,
                                    .curve = curve,
                                    .wires = WIRES,
                                    .public_count = PUBLICS,
                                    .log2_domain = LOG2_DOMAIN,
                                    .rows_a = ROWS_A,
                                    .rows_b = ROWS_B,
                                    .slab_bytes = plan.bytes};
    add(bytes, IMAGE_POINTS_H, (1 << LOG2_DOMAIN) * g1);
    add(bytes, IMAGE_VERIFICATION, 3 * g1 + 3 * g2);
    add(bytes, IMAGE_IC, (PUBLICS + 1) * g1);
    add(bytes, IMAGE_POINTS_A, WIRES * g1);
    add(bytes, IMAGE_POINTS_B1, WIRES * g1);
    add(bytes, IMAGE_POINTS_B2, WIRES * g2);
    add(bytes, IMAGE_POINTS_C, (WIRES - PUBLICS - 1) * g1);
    add_matrix(bytes, IMAGE_A_ROW_START, ROWS_A, ENTRIES_A);
    add_matrix(bytes, IMAGE_B_ROW_START, ROWS_B, ENTRIES_B);
    header->file_bytes = bytes->count;
}

static int file_of(const void *bytes, size_t count)
{
    int fd = memfd_create("image", MFD_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, count), (ssize_t)count);
    return fd;
}

static int map_bytes(struct image *image, const void *bytes, size_t count, const char **what)
{
    int fd = file_of(bytes, count);
    int error = image_map(image, fd, what);

    close(fd);
    if (error)
        assert_null(image->header);
    return error;
}

/* Touches the first and the last byte of all that an accepted image promises. */
static unsigned touch(const void *section, uint64_t bytes)
{
    const volatile unsigned char *at = section;

    assert_non_null(section);
    return bytes ? at[0] + at[bytes - 1] : 0;
}

static unsigned touch_matrix(const struct image_matrix *matrix)
{
    uint64_t entries = matrix->row_start[matrix->rows];
    unsigned sum = touch(matrix->row_start, (matrix->rows + UINT64_C(1)) * 4) +
                   touch(matrix->wire, entries * 4);

    if (matrix->index)
        return sum + touch(matrix->index, entries * matrix->index_bytes) +
               touch(matrix->value, 2 * 32);
    return sum + touch(matrix->value, entries * 32);
}

static unsigned touch_all(const struct image *image)
{
    const struct image_header *header = image->header;
    uint64_t g1 = header->curve == 1 ? 64 : 96, wires = header->wires;
    unsigned sum = touch(image->verification, 9 * g1);

    sum += touch(image->ic, (header->public_count + UINT64_C(1)) * g1);
    sum += touch(image->points_a, wires * g1);
    sum += touch(image->points_b1, wires * g1);
    sum += touch(image->points_b2, wires * 2 * g1);
    sum += touch(image->points_c, (wires - header->public_count - 1) * g1);
    sum += touch(image->points_h, g1 << header->log2_domain);
    sum += touch_matrix(&image->a) + touch_matrix(&image->b);
    if (image->ntt_table)
        sum += touch(image->ntt_table, image->ntt_table_bytes);
    return sum;
}

static void right_images_are_mapped(void **state)
{
    static struct bytes bytes;
    struct image image;
    const char *what;

    (void)state;
    for (uint32_t curve = 1; curve <= 2; curve++) {
        make(&bytes, curve);
        assert_int_equal(map_bytes(&image, bytes.at, bytes.count, &what), 0);
        touch_all(&image);
        assert_int_equal(*(const unsigned char *)image.points_c, IMAGE_POINTS_C);
        assert_int_equal(image.a.rows, ROWS_A);
        assert_int_equal(image.a.row_start[ROWS_A], ENTRIES_A);
        assert_null(image.ntt_table);
        image_unmap(&image);
    }
    assert_int_equal(live_mappings, 0);
}

static void optional_sections_are_found_by_tags(void **state)
{
    static struct bytes bytes;
    struct image image;
    const char *what;

    (void)state;
    make(&bytes, 1);
    add(&bytes, IMAGE_NTT_TABLE, 320);
    add(&bytes, IMAGE_POINTS_A, 100); /* another device's order of the points */
    header_of(&bytes)->sections[header_of(&bytes)->section_count - 1].device = 2;
    header_of(&bytes)->file_bytes = bytes.count;
    assert_int_equal(map_bytes(&image, bytes.at, bytes.count, &what), 0);
    assert_int_equal(image.ntt_table_bytes, 320);
    assert_int_equal(image_find(image.header, IMAGE_POINTS_A, 2, 0, 0)->bytes, 100);
    assert_null(image_find(image.header, IMAGE_POINTS_A, 2, 1, 0));
    assert_null(image_find(image.header, 999, 0, 0, 0));
    image_unmap(&image);
}

/* An image whose matrix A has `values` values of its own and `index` bytes of their numbers. */
static void make_indexed(struct bytes *bytes, uint32_t values, uint64_t index)
{
    make(bytes, 1);
    for (uint32_t i = 0; i < header_of(bytes)->section_count; i++)
        if (header_of(bytes)->sections[i].tag == IMAGE_A_VALUE)
            header_of(bytes)->sections[i].tag = 999;
    add(bytes, IMAGE_A_VALUE, values * UINT64_C(32));
    add(bytes, IMAGE_A_INDEX, index);
    header_of(bytes)->file_bytes = bytes->count;
}

static void numbered_values_are_mapped(void **state)
{
    static struct bytes bytes;
    static const struct {
        uint32_t values, width;
        int right;
    } cases[] = {{2, 1, 1},   {1, 1, 0},   {0, 1, 0},   {2, 2, 0},   {2, 4, 0},
                 {256, 1, 1}, {257, 2, 1}, {257, 1, 0}, {256, 2, 0}, {2, 0, 0}};
    struct image image;
    const char *what;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        make_indexed(&bytes, cases[i].values, cases[i].width * UINT64_C(1) * ENTRIES_A);
        int error = map_bytes(&image, bytes.at, bytes.count, &what);
        assert_int_equal(error, cases[i].right ? 0 : -EBADMSG);
        if (error) {
            assert_string_equal(what, "matrix A");
            continue;
        }
        assert_int_equal(image.a.index_bytes, cases[i].width);
        assert_null(image.b.index);
        touch_all(&image);
        image_unmap(&image);
    }
    assert_int_equal(live_mappings, 0);
}

static void every_truncation_is_refused(void **state)
{
    static struct bytes bytes;
    struct image image;
    const char *what;

    (void)state;
    make(&bytes, 2);
    for (uint64_t count = 0; count < bytes.count; count++)
        assert_int_equal(map_bytes(&image, bytes.at, count, &what), -EBADMSG);
    assert_int_equal(map_bytes(&image, bytes.at, bytes.count + 1, &what), -EBADMSG);
    assert_int_equal(live_mappings, 0);
}

/* A flipped byte is refused, or what is accepted still lies inside the file. */
static void every_flip_stays_inside(void **state)
{
    static struct bytes bytes;
    static const unsigned char masks[] = {0x01, 0x40, 0x80, 0xff};
    struct image image;
    const char *what;
    unsigned refused = 0;

    (void)state;
    make(&bytes, 1);
    for (size_t i = 0; i < sizeof(struct image_header) * sizeof(masks); i++) {
        unsigned char *at = &bytes.at[i / sizeof(masks)], mask = masks[i % sizeof(masks)];

        *at ^= mask;
        int error = map_bytes(&image, bytes.at, bytes.count, &what);
        if (error) {
            assert_int_equal(error, -EBADMSG);
            assert_non_null(what);
            refused++;
        } else {
            touch_all(&image);
            image_unmap(&image);
        }
        *at ^= mask;
    }
    assert_true(refused > 1500);
    assert_int_equal(live_mappings, 0);
}

static void expect_lie(struct bytes *bytes, const char *expected)
{
    struct image image;
    const char *what;

    assert_int_equal(map_bytes(&image, bytes->at, bytes->count, &what), -EBADMSG);
    assert_string_equal(what, expected);
}

#define LIE(field, value, expected)                                                                \
    do {                                                                                           \
        make(&bytes, 1);                                                                           \
        header_of(&bytes)->field = (value);                                                        \
        expect_lie(&bytes, expected);                                                              \
    } while (0)

static void header_lies_are_named(void **state)
{
    static struct bytes bytes;

    (void)state;
    LIE(magic, SLAB_MAGIC, "magic");
    LIE(layout, 1, "layout");
    LIE(file_bytes, bytes.count + 1, "file length");
    LIE(curve, 0, "curve");
    LIE(curve, 3, "curve");
    LIE(curve, 2, "verification key");
    LIE(section_count, IMAGE_SECTIONS_MAX + 1, "section count");
    LIE(section_count, 0, "verification key");
    LIE(log2_domain, 33, "domain");
    LIE(log2_domain, 64, "domain");
    LIE(public_count, WIRES, "public count");
    LIE(public_count, UINT32_MAX, "public count");
    LIE(wires, 0, "public count");
    LIE(wires, UINT32_MAX, "slab bytes");
    LIE(rows_a, 5, "rows");
    LIE(rows_b, UINT32_MAX, "rows");
    LIE(slab_bytes, 0, "slab bytes");
    LIE(rows_a, 2, "matrix A");
    LIE(sections[0].offset, 0, "section bounds");
    LIE(sections[0].offset, header_of(&bytes)->sections[0].offset + 8, "section bounds");
    LIE(sections[0].offset, UINT64_MAX - 63, "section bounds");
    LIE(sections[3].bytes, UINT64_MAX, "section bounds");
    LIE(sections[3].bytes, 64, "points A");
    LIE(sections[6].tag, 99, "points C");
    LIE(sections[8].bytes, 12, "matrix A");
}

static void row_start_lies_are_refused(void **state)
{
    static struct bytes bytes;

    (void)state;
    make(&bytes, 1);
    row_starts(&bytes, IMAGE_A_ROW_START)[0] = 1;
    expect_lie(&bytes, "matrix A");
    make(&bytes, 1);
    row_starts(&bytes, IMAGE_A_ROW_START)[ROWS_A] = ENTRIES_A + 1;
    expect_lie(&bytes, "matrix A");
    make(&bytes, 1);
    row_starts(&bytes, IMAGE_B_ROW_START)[ROWS_B] = UINT32_MAX;
    expect_lie(&bytes, "matrix B");
}

static void what_is_no_file_is_refused(void **state)
{
    struct image image;
    const char *what;
    int pipes[2];

    (void)state;
    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(image_map(&image, pipes[0], &what), -EBADMSG);
    close(pipes[0]);
    close(pipes[1]);
    assert_int_equal(image_map(&image, pipes[0], &what), -EBADF);
    image_unmap(&image); /* of what is not mapped: nothing */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_images_are_mapped),
        cmocka_unit_test(optional_sections_are_found_by_tags),
        cmocka_unit_test(numbered_values_are_mapped),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(every_flip_stays_inside),
        cmocka_unit_test(header_lies_are_named),
        cmocka_unit_test(row_start_lies_are_refused),
        cmocka_unit_test(what_is_no_file_is_refused),
    };

    return cmocka_run_group_tests_name("image", tests, NULL, NULL);
}
