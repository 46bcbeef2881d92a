/*
 * From a key's and a witness's bytes to a checked proof, in one process, by the functions that the
 * workers call: compile, map, fill, check the slab, sums, assembly, pairing check. Header only.
 */
#ifndef PAWL_TESTS_SYNTH_WORKER_PIPELINE_H
#define PAWL_TESTS_SYNTH_WORKER_PIPELINE_H

#include "kernels/curves.h"
#include "kernels/parallel.h"
#include "shm/image.h"
#include "shm/slab.h"
#include "synth-worker/complaint.h"
#include "synth-worker/fill.h"
#include "synth-worker/image_build.h"
#include "tests/synth-worker/container.h"

enum { PIPELINE_GENERATION = 7 };

/* 0 with *image mapped, or -errno with the complaint. */
static inline int pipeline_compile(struct image *image, const struct bytes *key, int subgroups,
                                   struct complaint *complaint)
{
    const struct binfile_source source = {key->data, -1, key->count, "k.zkey"};
    const uint8_t hash[IMAGE_HASH_BYTES] = {42};
    struct image_header header;
    const char *what = NULL;
    int fd = memfd_create("image", MFD_CLOEXEC);
    assert(fd >= 0);
    int status =
        image_build_file(fd, &source, hash, subgroups, &parallel_serial, &header, complaint);
    if (!status && image_map(image, fd, &what)) {
        fprintf(stderr, "an image that was built does not map: %s\n", what);
        abort();
    }
    close(fd);
    return status;
}

static inline void *pipeline_slab(const struct image *image, uint64_t *bytes)
{
    struct slab_plan plan;
    assert(fill_plan(&plan, image, 1) == 0);
    void *slab = aligned_alloc(SLAB_PAGE_BYTES, plan.bytes);
    assert(slab);
    memset(slab, 0xa5, plan.bytes);
    *bytes = plan.bytes;
    return slab;
}

static inline int pipeline_fill(const struct image *image, const struct bytes *wtns, void *slab,
                                struct complaint *complaint)
{
    struct fill_result result;
    struct fill_request request = {.image = image,
                                   .witness_fd = bytes_to_memfd(wtns->data, wtns->count),
                                   .label = "w.wtns",
                                   .slab = slab,
                                   .generation = PIPELINE_GENERATION,
                                   .job = 3,
                                   .partition = 4,
                                   .with_rows = 1};
    int status = fill_slab(&request, &result, complaint);
    close(request.witness_fd);
    return status;
}

static inline struct verification_key pipeline_key(const struct curve *curve,
                                                   const struct image *image)
{
    struct verification_key key = {.ic = image->ic, .public_count = image->header->public_count};
    const uint8_t *points = image->verification;
    void *const to[] = {&key.alpha1, &key.beta1, &key.delta1, &key.beta2, &key.gamma2, &key.delta2};
    for (unsigned i = 0; i < 6; i++) {
        uint32_t bytes = i < 3 ? curve->g1_bytes : curve->g2_bytes;
        memcpy(to[i], points, bytes);
        points += bytes;
    }
    return key;
}

static inline void *pipeline_scratch(const struct curve *curve, uint64_t points)
{
    size_t g1 = curve->msm_scratch_bytes(GROUP_G1, points, 1);
    size_t g2 = curve->msm_scratch_bytes(GROUP_G2, points, 1);
    size_t bytes = (g1 > g2 ? g1 : g2) / 64 * 64 + 64;
    void *scratch = aligned_alloc(64, bytes);
    assert(scratch);
    return scratch;
}

static inline void pipeline_quotient(const struct curve *curve, const uint64_t *a,
                                     const uint64_t *b, unsigned log2_domain, uint64_t *h)
{
    size_t bytes = (size_t)32 << log2_domain;
    uint64_t *b_copy = aligned_alloc(64, bytes < 64 ? 64 : bytes);
    uint64_t *c = aligned_alloc(64, bytes < 64 ? 64 : bytes);
    void *table = aligned_alloc(64, curve->ntt_table_bytes(log2_domain) / 64 * 64 + 64);
    assert(b_copy && c && table);
    memcpy(h, a, bytes);
    memcpy(b_copy, b, bytes);
    curve->ntt_table_make(table, log2_domain, &parallel_serial);
    assert(curve->quotient(h, b_copy, c, log2_domain, table, &parallel_serial) == 0);
    free(table);
    free(c);
    free(b_copy);
}

static inline struct proof_sums pipeline_sums(const struct curve *curve, const struct image *image,
                                              const uint64_t *w, const uint64_t *a,
                                              const uint64_t *b)
{
    const struct image_header *header = image->header;
    uint64_t domain = UINT64_C(1) << header->log2_domain, wires = header->wires;
    uint64_t publics = (uint64_t)header->public_count + 1;
    uint64_t *h = aligned_alloc(64, domain * 32 < 64 ? 64 : domain * 32);
    void *scratch = pipeline_scratch(curve, wires > domain ? wires : domain);
    struct parallel *serial = &parallel_serial;
    struct proof_sums sums;
    assert(h);
    pipeline_quotient(curve, a, b, header->log2_domain, h);
    curve->msm_g1(&sums.a, image->points_a, w, wires, scratch, serial);
    curve->msm_g1(&sums.b1, image->points_b1, w, wires, scratch, serial);
    curve->msm_g2(&sums.b2, image->points_b2, w, wires, scratch, serial);
    curve->msm_g1(&sums.c, image->points_c, w + 4 * publics, wires - publics, scratch, serial);
    curve->msm_g1(&sums.h, image->points_h, h, domain, scratch, serial);
    free(scratch);
    free(h);
    return sums;
}

/* Proves from a filled slab, with blinders 5 and 6: 1 where the pairing check accepts, else 0. */
static inline int pipeline_prove(const struct image *image, const void *slab, uint64_t slab_bytes)
{
    static const uint64_t r[FR_WORDS] = {5}, s[FR_WORDS] = {6};
    const struct curve *curve = curve_by_id(image->header->curve);
    struct verification_key key = pipeline_key(curve, image);
    struct slab_header header;
    struct proof proof;
    const char *what = "";
    if (slab_check(&header, slab, slab_bytes, &what)) {
        fprintf(stderr, "a slab that was filled is refused: %s\n", what);
        abort();
    }
    const uint64_t *w = (const void *)((const uint8_t *)slab + header.witness.offset);
    struct proof_sums sums =
        pipeline_sums(curve, image, w, (const void *)((const uint8_t *)slab + header.rows_a.offset),
                      (const void *)((const uint8_t *)slab + header.rows_b.offset));
    curve->proof_assemble(&proof, &sums, &key, r, s);
    return curve->proof_verify(&key, w + FR_WORDS, &proof);
}

#endif
