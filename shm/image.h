/*
 * The bytes of a circuit image: one file per proving key, made by `synth-worker --compile`, named
 * HASH.image after the SHA-256 of the key's bytes (and, where one is given, the r1cs's bytes behind
 * them), mapped read-only by all. It is made aside,
 * synced and renamed: an image that is there is whole. What a reader indexes with was validated
 * when the image was made; the header and the sections' bounds are checked again at each mapping.
 * The rest is not read then. Bytes that changed on the disk since it was made are found by the
 * checksum (image_checksum.c), which is asked for once something has gone wrong: a proof that does
 * not verify, or a worker that died over the image.
 */
#ifndef PAWL_SHM_IMAGE_H
#define PAWL_SHM_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#define IMAGE_MAGIC UINT64_C(0x31474d494c574150) /* "PAWLIMG1" */
#define IMAGE_LAYOUT 4u
#define IMAGE_ALIGN 64u
#define IMAGE_SECTIONS_MAX 48u
#define IMAGE_HASH_BYTES 32u

/* header flags */
#define IMAGE_SUBGROUPS_CHECKED 1u

/* Sections that every image has (device, feature and layout tags 0). Points are packed as in
 * kernels/curves.h. */
enum image_tag {
    IMAGE_VERIFICATION = 1, /* alpha1 beta1 delta1 (G1), beta2 gamma2 delta2 (G2), packed */
    IMAGE_IC = 2,           /* public + 1 G1 */
    IMAGE_POINTS_A = 3,     /* wires G1 */
    IMAGE_POINTS_B1 = 4,    /* wires G1 */
    IMAGE_POINTS_B2 = 5,    /* wires G2 */
    IMAGE_POINTS_C = 6,     /* wires - public - 1 G1 */
    IMAGE_POINTS_H = 7,     /* domain G1 */
    /*
     * Sparse matrices, four tags each: row_start u32 (rows + 1), wire u32 (entries), value 32 bytes
     * Montgomery, index. Where there is an index section, the values are distinct, 1 and -1 are the
     * first two, and the index has the number of its value for each entry, image_index_bytes wide;
     * without one there is a value for each entry.
     */
    IMAGE_A_ROW_START = 8,
    IMAGE_A_WIRE = 9,
    IMAGE_A_VALUE = 10,
    IMAGE_A_INDEX = 11,
    IMAGE_B_ROW_START = 12,
    IMAGE_B_WIRE = 13,
    IMAGE_B_VALUE = 14,
    IMAGE_B_INDEX = 15,
    /* C, in images made with an r1cs: then row i of A, B and C is constraint i, i < rows_c. */
    IMAGE_C_ROW_START = 16,
    IMAGE_C_WIRE = 17,
    IMAGE_C_VALUE = 18,
    IMAGE_C_INDEX = 19,
    IMAGE_NTT_TABLE = 20, /* optional: ntt_table_make's output for the domain */
};

/* A section is found by its tag and by what it was made for; 0 means made for all. */
struct image_section {
    uint32_t tag;
    uint16_t device, feature;
    uint32_t layout;
    uint32_t reserved;
    uint64_t offset; /* from the file's start, a multiple of IMAGE_ALIGN */
    uint64_t bytes;
};
_Static_assert(sizeof(struct image_section) == 32, "image section layout");

struct image_header {
    uint64_t magic;
    uint32_t layout;
    uint32_t flags;
    uint32_t curve; /* enum curve_id */
    uint32_t section_count;
    uint32_t wires;        /* with ONE */
    uint32_t public_count; /* without ONE */
    uint32_t log2_domain;
    uint32_t rows_a, rows_b; /* rows of the sparse matrices, at most the domain */
    uint32_t device_mib;     /* what the CPU device needs of its own for it, an estimate */
    uint32_t rows_c;         /* constraints; 0 also where there is no C */
    uint32_t reserved;
    uint64_t file_bytes;
    uint64_t slab_bytes; /* what a slab for this circuit needs, rows included */
    uint8_t hash[IMAGE_HASH_BYTES];
    uint64_t checksum; /* of the whole file: image_checksum_part */
    struct image_section sections[IMAGE_SECTIONS_MAX];
};
_Static_assert(sizeof(struct image_header) == 112 + 32 * IMAGE_SECTIONS_MAX, "image header layout");

/* One matrix of a mapped image; the arrays point into the mapping. */
struct image_matrix {
    uint32_t rows;
    const uint32_t *row_start;
    const uint32_t *wire;
    const uint64_t (*value)[4];
    const void *index;    /* NULL where value[i] is entry i's */
    uint32_t index_bytes; /* of one index; 0 where there is none */
};

/* How wide the numbers of that many distinct values are: 1, 2 or 4 bytes. */
static inline uint32_t image_index_bytes(uint64_t values)
{
    return values <= 256 ? 1 : values <= 65536 ? 2 : 4;
}

/* A mapped image. Everything points into the mapping. Not valid after image_unmap. */
struct image {
    const struct image_header *header;
    uint64_t bytes;
    const void *verification, *ic, *points_a, *points_b1, *points_b2, *points_c, *points_h;
    struct image_matrix a, b;
    struct image_matrix c; /* row_start NULL where the image has none */
    const void *ntt_table; /* NULL where the image has none */
    uint64_t ntt_table_bytes;
};

/*
 * Maps the image behind `fd` read-only (the fd stays the caller's) and checks header, bounds, and
 * the length of every section against wires, public count, domain and the curve's point sizes. Does
 * no mathematics and reads no section but the first and last row_start. 0, or -errno (-EBADMSG with
 * `*what` naming what is wrong).
 */
int image_map(struct image *image, int fd, const char **what);
void image_unmap(struct image *image);

/* What people are told of an image that does not have its checksum. */
#define IMAGE_DAMAGED_TEXT                                                                         \
    "the circuit's image is damaged on disk: `pawl circuit add` with its key makes it again"
/*
 * The checksum of an image of `bytes` in memory, aligned to 8, header included and the field itself
 * left out: the sum, modulo 2^64, of the shares of its words, so that it can be made in parts, in
 * any order. begin <= end <= image_checksum_words. Against accidents, not against malice.
 */
uint64_t image_checksum_words(uint64_t bytes);
uint64_t image_checksum_part(const struct image_header *header, uint64_t bytes, uint64_t begin,
                             uint64_t end);
/*
 * Reads all of a mapped image and compares: 0, -EUCLEAN where it is damaged, -ECANCELED where
 * `pause` (NULL: never asked), called every few milliseconds, gave non-zero.
 */
int image_check(const struct image *image, int (*pause)(void *arg), void *arg);

/* The section with that tag and tags of device, feature, layout, or NULL. */
const struct image_section *image_find(const struct image_header *header, uint32_t tag,
                                       unsigned device, unsigned feature, unsigned layout);

#endif
