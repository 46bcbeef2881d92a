/*
 * Fills a slab from a witness file and an image. Called by worker.c under a grant, and by tests. A
 * SIGKILL leaves a slab whose `sealed` is zero; the coordinator takes it back.
 */
#include "synth-worker/fill.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "kernels/curves.h"
#include "shm/program.h"
#include "shm/worker_start.h"
#include "synth-worker/binfile.h"
#include "synth-worker/complaint.h"
#include "synth-worker/hash.h"
#include "synth-worker/wtns.h"

#define WITNESS_CHUNK 8192u /* values: 256 KiB, within the second-level cache */
#define ROWS_CHUNK 4096u
#define CHECK_CHUNK 256u /* three times 8 KiB of stack */

struct filling {
    const struct fill_request *request;
    const struct curve *curve;
    struct slab_plan plan;
    uint64_t *witness;
};

static int pause_between(const struct filling *filling, enum fill_step step)
{
    const struct fill_request *request = filling->request;
    return request->pause && request->pause(request->pause_arg, step) ? -ECANCELED : 0;
}

static uint64_t *section_at(const struct filling *filling, const struct slab_section *section)
{
    return (uint64_t *)((uint8_t *)filling->request->slab + section->offset);
}

int fill_plan(struct slab_plan *plan, const struct image *image, int with_rows)
{
    return slab_plan(plan, image->header->wires, UINT64_C(1) << image->header->log2_domain,
                     with_rows);
}

static int read_values(const struct filling *filling, const struct wtns *wtns, struct hash *hash,
                       struct complaint *complaint)
{
    for (uint32_t begin = 0; begin < wtns->count;) {
        uint32_t left = wtns->count - begin;
        uint32_t end = begin + (left < WITNESS_CHUNK ? left : WITNESS_CHUNK);
        uint64_t *out = filling->witness + (uint64_t)begin * FR_WORDS;
        int status = wtns_read(wtns, begin, end, out, complaint);
        if (!status)
            status = pause_between(filling, FILL_WITNESS);
        if (status)
            return status;
        hash_add(hash, out, (uint64_t)(end - begin) * WTNS_VALUE_BYTES);
        begin = end;
    }
    return 0;
}

static int fill_witness(struct filling *filling, uint8_t *digest, struct complaint *complaint)
{
    const struct fill_request *request = filling->request;
    struct binfile_source source;
    struct wtns wtns;
    struct hash hash;
    int status = binfile_source_fd(&source, request->witness_fd, request->label, complaint);
    if (!status)
        status =
            wtns_open(&wtns, &source, filling->curve, request->image->header->wires, complaint);
    if (status)
        return status;
    hash_begin(&hash);
    status = read_values(filling, &wtns, &hash, complaint);
    hash_end(&hash, status ? NULL : digest);
    return status;
}

static struct sparse_matrix matrix_of(const struct image_matrix *from)
{
    return (struct sparse_matrix){from->rows,  from->row_start, from->wire,
                                  from->value, from->index,     from->index_bytes};
}

static int fill_matrix(const struct filling *filling, const struct image_matrix *from,
                       const struct slab_section *section)
{
    const struct sparse_matrix matrix = matrix_of(from);
    uint64_t *rows = section_at(filling, section);
    uint64_t domain = UINT64_C(1) << filling->request->image->header->log2_domain;
    for (uint64_t begin = 0; begin < domain; begin += ROWS_CHUNK) {
        uint64_t end = domain - begin < ROWS_CHUNK ? domain : begin + ROWS_CHUNK;
        filling->curve->rows_evaluate(rows + begin * FR_WORDS, &matrix, filling->witness, begin,
                                      end);
        int status = pause_between(filling, FILL_ROWS);
        if (status)
            return status;
    }
    return 0;
}

static int fill_rows(const struct filling *filling)
{
    const struct fill_request *request = filling->request;
    if (!request->with_rows)
        return 0;
    int status = fill_matrix(filling, &request->image->a, &filling->plan.rows_a);
    return status ? status : fill_matrix(filling, &request->image->b, &filling->plan.rows_b);
}

/* Rows of one matrix: those in the slab, or evaluated into `room`. */
static const uint64_t *rows_of(const struct filling *filling, const struct image_matrix *from,
                               const struct slab_section *section, uint64_t begin, uint64_t end,
                               uint64_t *room)
{
    if (section && filling->request->with_rows)
        return section_at(filling, section) + begin * FR_WORDS;
    const struct sparse_matrix matrix = matrix_of(from);
    filling->curve->rows_evaluate(room, &matrix, filling->witness, begin, end);
    return room;
}

/* The first row of begin .. end - 1 where a * b is not c, or end. */
static uint64_t find_broken(const struct filling *filling, uint64_t begin, uint64_t end)
{
    uint64_t room[3][CHECK_CHUNK * FR_WORDS], product[FR_WORDS];
    const struct image *image = filling->request->image;
    const uint64_t *a = rows_of(filling, &image->a, &filling->plan.rows_a, begin, end, room[0]);
    const uint64_t *b = rows_of(filling, &image->b, &filling->plan.rows_b, begin, end, room[1]);
    const uint64_t *c = rows_of(filling, &image->c, NULL, begin, end, room[2]);
    for (uint64_t i = 0; i < end - begin; i++) {
        filling->curve->fr_multiply(product, a + i * FR_WORDS, b + i * FR_WORDS);
        if (memcmp(product, c + i * FR_WORDS, sizeof product) != 0)
            return begin + i;
    }
    return end;
}

/* ---- an image that may be damaged ---- */

struct checking {
    const struct filling *filling;
    enum fill_step step;
};

static int pause_checking(void *arg)
{
    const struct checking *checking = arg;
    return pause_between(checking->filling, checking->step);
}

static int check_image(const struct filling *filling, enum fill_step step,
                       struct complaint *complaint)
{
    struct checking checking = {filling, step};
    int status = image_check(filling->request->image, pause_checking, &checking);
    if (status == -EUCLEAN)
        complain_internal(complaint, "%s", IMAGE_DAMAGED_TEXT);
    return status;
}

/* ---- constraints ---- */

static int complain_broken(const struct filling *filling, uint64_t constraint,
                           struct complaint *complaint)
{
    int status = check_image(filling, FILL_ROWS, complaint);
    if (status)
        return status;
    return complain_input(complaint, "%.700s: constraint %" PRIu64 " is not satisfied",
                          filling->request->label, constraint);
}

static int check_constraints(const struct filling *filling, struct complaint *complaint)
{
    const struct fill_request *request = filling->request;
    uint64_t rows = request->image->c.row_start ? request->image->c.rows : 0;
    for (uint64_t begin = 0, end; begin < rows; begin = end) {
        end = rows - begin < CHECK_CHUNK ? rows : begin + CHECK_CHUNK;
        uint64_t broken = find_broken(filling, begin, end);
        if (broken < end)
            return complain_broken(filling, broken, complaint);
        int status = pause_between(filling, FILL_ROWS);
        if (status)
            return status;
    }
    return 0;
}

static void seal(const struct filling *filling, const struct fill_result *result)
{
    const struct fill_request *request = filling->request;
    const struct image_header *image = request->image->header;
    struct slab_header header = {
        .magic = SLAB_MAGIC,
        .layout = SLAB_LAYOUT,
        .curve = image->curve,
        .generation = request->generation,
        .job = request->job,
        .partition = request->partition,
        .wires = image->wires,
        .domain = UINT64_C(1) << image->log2_domain,
        .witness = filling->plan.witness,
        .rows_a = filling->plan.rows_a,
        .rows_b = filling->plan.rows_b,
    };
    memcpy(header.image_hash, image->hash, HASH_BYTES);
    memcpy(header.witness_digest, result->digest, HASH_BYTES);
    slab_seal(request->slab, &header);
}

int fill_slab(const struct fill_request *request, struct fill_result *result,
              struct complaint *complaint)
{
    struct filling filling = {.request = request,
                              .curve = curve_by_id(request->image->header->curve)};
    int status = fill_plan(&filling.plan, request->image, request->with_rows);
    if (status || !filling.curve)
        return complain_system(complaint, EXIT_INTERNAL, EBADMSG, "the image's header");
    slab_open(request->slab);
    filling.witness = section_at(&filling, &filling.plan.witness);
    result->start_ns = worker_now_ns();
    if (request->check_image)
        status = check_image(&filling, FILL_WITNESS, complaint);
    if (status)
        return status;
    status = fill_witness(&filling, result->digest, complaint);
    uint64_t witness_end_ns = worker_now_ns();
    if (!status)
        status = fill_rows(&filling);
    if (!status)
        status = check_constraints(&filling, complaint);
    if (status)
        return status;
    result->witness_ns = witness_end_ns - result->start_ns;
    result->rows_ns = worker_now_ns() - witness_end_ns;
    seal(&filling, result);
    return 0;
}
