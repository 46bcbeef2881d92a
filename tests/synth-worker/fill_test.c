/*
 * Filled slabs: header, witness, digest and rows are what the definition says, on both curves and
 * across chunks; a fill that is stopped or fails at any point leaves an unsealed slab.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>

#include "synth-worker/hash.h"
#include "tests/support/scalars.h"
#include "tests/synth-worker/pipeline.h"

static const char *const folders[] = {
    "tests/fixtures/bn128/mul2",    "tests/fixtures/bls12381/mul2",  "tests/fixtures/bn128/nopub",
    "tests/fixtures/bn128/order",   "tests/fixtures/bn128/noconstr", "tests/fixtures/bn128/pos10",
    "tests/fixtures/bls12381/pos10"};

struct circuit {
    const struct curve *curve;
    struct container zkey, wtns;
    struct image image;
    void *slab;
    uint64_t slab_bytes;
};

static void circuit_open(struct circuit *circuit, const char *folder)
{
    struct complaint complaint = {0};
    circuit->zkey = container_load(folder, "key.zkey");
    circuit->wtns = container_load(folder, "w1.wtns");
    struct bytes key = container_write(&circuit->zkey);
    assert_int_equal(pipeline_compile(&circuit->image, &key, 0, &complaint), 0);
    free(key.data);
    circuit->curve = curve_by_id(circuit->image.header->curve);
    circuit->slab = pipeline_slab(&circuit->image, &circuit->slab_bytes);
}

static void circuit_close(struct circuit *circuit)
{
    free(circuit->slab);
    image_unmap(&circuit->image);
    container_free(&circuit->zkey);
    container_free(&circuit->wtns);
}

static const uint64_t *section(const struct circuit *circuit, const struct slab_section *at)
{
    return (const void *)((const uint8_t *)circuit->slab + at->offset);
}

/* Rows from the key's records themselves, one product and sum at a time. */
static struct scalar *rows_by_definition(struct circuit *circuit, uint32_t matrix)
{
    const struct curve *curve = circuit->curve;
    struct scalar *rows = calloc(UINT64_C(1) << circuit->image.header->log2_domain, sizeof *rows);
    const uint8_t *at = container_find(&circuit->zkey, 4)->payload;
    const uint8_t *witness = container_find(&circuit->wtns, 2)->payload;
    for (uint32_t count = binfile_u32(at), i = 0; i < count; i++) {
        const uint8_t *record = at + 4 + 44 * (size_t)i;
        struct scalar value, w, *row = &rows[binfile_u32(record + 4)];
        if (binfile_u32(record) != matrix)
            continue;
        memcpy(&value, record + 12, 32);
        memcpy(&w, witness + 32 * (size_t)binfile_u32(record + 8), 32);
        value = scalar_mul(curve, &value, &w); /* v R^2 w / R */
        *row = scalar_add(curve, row, &value);
    }
    return rows;
}

static void expect_rows(struct circuit *circuit, uint32_t matrix, const struct slab_section *at)
{
    struct scalar *rows = rows_by_definition(circuit, matrix);
    assert_int_equal(at->bytes, UINT64_C(32) << circuit->image.header->log2_domain);
    assert_memory_equal(section(circuit, at), rows, at->bytes);
    free(rows);
}

static void test_a_slab_is_what_it_should_be(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        struct circuit circuit;
        struct complaint complaint = {0};
        struct slab_header header;
        struct hash hash;
        uint8_t digest[HASH_SHA256_BYTES];
        const char *what = "";
        circuit_open(&circuit, folders[i]);
        struct bytes wtns = container_write(&circuit.wtns);
        const struct container_section *values = container_find(&circuit.wtns, 2);
        assert_int_equal(pipeline_fill(&circuit.image, &wtns, circuit.slab, &complaint), 0);
        assert_int_equal(slab_check(&header, circuit.slab, circuit.slab_bytes, &what), 0);
        assert_int_equal(header.generation, PIPELINE_GENERATION);
        assert_int_equal(header.job, 3);
        assert_int_equal(header.partition, 4);
        assert_int_equal(header.curve, circuit.curve->id);
        assert_memory_equal(header.image_hash, circuit.image.header->hash, HASH_BYTES);
        assert_int_equal(header.witness.bytes, values->bytes);
        assert_memory_equal(section(&circuit, &header.witness), values->payload, values->bytes);
        hash_begin(&hash);
        hash_add(&hash, values->payload, values->bytes);
        hash_end(&hash, digest);
        assert_memory_equal(header.witness_digest, digest, HASH_BYTES);
        expect_rows(&circuit, 0, &header.rows_a);
        expect_rows(&circuit, 1, &header.rows_b);
        assert_int_equal(pipeline_prove(&circuit.image, circuit.slab, circuit.slab_bytes), 1);
        free(wtns.data);
        circuit_close(&circuit);
    }
}

static void test_a_refused_witness_leaves_no_seal(void **state)
{
    struct circuit circuit;
    struct complaint complaint = {0};
    (void)state;
    circuit_open(&circuit, folders[0]);
    struct bytes wtns = container_write(&circuit.wtns);
    assert_int_equal(pipeline_fill(&circuit.image, &wtns, circuit.slab, &complaint), 0);
    assert_int_equal(((struct slab_header *)circuit.slab)->sealed, PIPELINE_GENERATION);
    memset(wtns.data + wtns.count - 32, 0xff, 32);
    assert_int_not_equal(pipeline_fill(&circuit.image, &wtns, circuit.slab, &complaint), 0);
    assert_string_equal(complaint.text, "w.wtns: the value at index 4 is not below the prime r");
    assert_int_equal(((struct slab_header *)circuit.slab)->sealed, 0);
    free(wtns.data);
    circuit_close(&circuit);
}

/* ---- a circuit of several chunks, made up ---- */

enum { BIG_WIRES = 20000, BIG_LOG2 = 14, BIG_ROWS = 13000 };

struct big {
    struct image_header header;
    struct image image;
    uint32_t *row_start, *wire;
    uint64_t (*value)[4];
    uint8_t *slab;
    uint64_t slab_bytes;
    int witness_fd;
};

/* Row i of A is 3 w_i + w_(19999 - i), of B 3 w_i. */
static void big_fill_matrices(struct big *big, const struct curve *curve)
{
    struct scalar one = scalar_from(curve, 1), three = scalar_from(curve, 3);
    big->row_start = calloc(BIG_ROWS + 1, sizeof *big->row_start);
    big->wire = calloc(2 * BIG_ROWS, sizeof *big->wire);
    big->value = calloc(2 * BIG_ROWS, sizeof *big->value);
    for (uint32_t i = 0; i < BIG_ROWS; i++) {
        big->row_start[i + 1] = 2 * (i + 1);
        big->wire[2 * i] = i;
        big->wire[2 * i + 1] = BIG_WIRES - 1 - i;
        memcpy(big->value[2 * i], &three, 32);
        memcpy(big->value[2 * i + 1], &one, 32);
    }
    big->image.a = (struct image_matrix){.rows = BIG_ROWS,
                                         .row_start = big->row_start,
                                         .wire = big->wire,
                                         .value = (const uint64_t(*)[4])big->value};
    big->image.b = big->image.a;
    big->image.b.rows = 0; /* an empty matrix: all rows are zero */
}

static int big_witness(const struct curve *curve)
{
    struct container file = {.type = "wtns", .version = 2};
    uint8_t header[40] = {32}, *values = calloc(BIG_WIRES, 32);
    memcpy(header + 4, curve->fr_modulus, 32);
    put_u32(header + 36, BIG_WIRES);
    for (uint32_t i = 0; i < BIG_WIRES; i++)
        put_u32(values + 32 * (size_t)i, i + 1);
    container_add(&file, 1, header, sizeof header);
    container_add(&file, 2, values, (uint64_t)BIG_WIRES * 32);
    struct bytes bytes = container_write(&file);
    int fd = bytes_to_memfd(bytes.data, bytes.count);
    free(bytes.data);
    free(values);
    container_free(&file);
    return fd;
}

static void big_open(struct big *big)
{
    const struct curve *curve = curve_by_id(CURVE_BN254);
    memset(big, 0, sizeof *big);
    big->header = (struct image_header){
        .curve = CURVE_BN254, .wires = BIG_WIRES, .public_count = 1, .log2_domain = BIG_LOG2};
    big->image.header = &big->header;
    big_fill_matrices(big, curve);
    big->slab = pipeline_slab(&big->image, &big->slab_bytes);
    big->witness_fd = big_witness(curve);
}

static void big_close(struct big *big)
{
    free(big->row_start);
    free(big->wire);
    free(big->value);
    free(big->slab);
    close(big->witness_fd);
}

struct stop {
    unsigned at, calls, rows_calls;
};

static int stop_at(void *arg, enum fill_step step)
{
    struct stop *stop = arg;
    stop->rows_calls += step == FILL_ROWS;
    return ++stop->calls == stop->at;
}

static int big_fill(struct big *big, struct stop *stop, int with_rows)
{
    struct fill_result result;
    struct complaint complaint = {0};
    const struct fill_request request = {.image = &big->image,
                                         .witness_fd = big->witness_fd,
                                         .label = "big",
                                         .slab = big->slab,
                                         .generation = 9,
                                         .with_rows = with_rows,
                                         .pause = stop_at,
                                         .pause_arg = stop};
    return fill_slab(&request, &result, &complaint);
}

static void test_rows_across_chunks(void **state)
{
    struct big big;
    struct stop stop = {0};
    struct slab_header header;
    const char *what = "";
    const struct curve *curve = curve_by_id(CURVE_BN254);
    (void)state;
    big_open(&big);
    assert_int_equal(big_fill(&big, &stop, 1), 0);
    assert_int_equal(slab_check(&header, big.slab, big.slab_bytes, &what), 0);
    const struct scalar *a = (const void *)(big.slab + header.rows_a.offset);
    const struct scalar *b = (const void *)(big.slab + header.rows_b.offset);
    for (uint64_t i = 0; i < 1u << BIG_LOG2; i++) {
        struct scalar expected =
            scalar_from(curve, i < BIG_ROWS ? 3 * (i + 1) + (BIG_WIRES - i) : 0);
        struct scalar zero = {{0}};
        assert_true(scalar_equal(&a[i], &expected));
        assert_true(scalar_equal(&b[i], &zero));
    }
    big_close(&big);
}

static void test_a_stop_at_every_pause(void **state)
{
    struct big big;
    int status = -1;
    (void)state;
    big_open(&big);
    for (unsigned at = 1; status; at++) {
        struct stop stop = {.at = at};
        status = big_fill(&big, &stop, 1);
        if (status) {
            assert_int_equal(status, -ECANCELED);
            assert_int_equal(stop.calls, at);
            assert_int_equal(((struct slab_header *)big.slab)->sealed, 0);
        } else {
            assert_int_equal(((struct slab_header *)big.slab)->sealed, 9);
            assert_int_equal(stop.calls, 3 + 2 * 4); /* chunks of witness, of rows a and b */
        }
    }
    big_close(&big);
}

static void test_without_rows(void **state)
{
    struct big big;
    struct stop stop = {0};
    struct slab_header header;
    const char *what = "";
    (void)state;
    big_open(&big);
    assert_int_equal(big_fill(&big, &stop, 0), 0);
    assert_int_equal(stop.rows_calls, 0);
    assert_int_equal(slab_check(&header, big.slab, big.slab_bytes, &what), 0);
    assert_int_equal(header.rows_a.bytes, 0);
    assert_int_equal(header.rows_b.bytes, 0);
    /* nothing was written behind the witness */
    uint64_t end = header.witness.offset + header.witness.bytes;
    for (uint64_t i = end; i < big.slab_bytes; i++)
        assert_int_equal(big.slab[i], 0xa5);
    big_close(&big);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_slab_is_what_it_should_be),
        cmocka_unit_test(test_a_refused_witness_leaves_no_seal),
        cmocka_unit_test(test_rows_across_chunks),
        cmocka_unit_test(test_a_stop_at_every_pause),
        cmocka_unit_test(test_without_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
