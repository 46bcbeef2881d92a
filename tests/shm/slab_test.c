/*
 * Slabs: geometry, seal, and the refusal of each lie that a header can tell.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shm/slab.h"

#define WIRES 7u
#define DOMAIN 8u
#define GENERATION 42u

struct made {
    struct slab_plan plan;
    struct slab_header header;
    char *slab;
};

static void make(struct made *made, int with_rows)
{
    assert_int_equal(slab_plan(&made->plan, WIRES, DOMAIN, with_rows), 0);
    made->slab = aligned_alloc(SLAB_PAGE_BYTES, made->plan.bytes);
    assert_non_null(made->slab);
    memset(made->slab, 0xa5, made->plan.bytes);
    made->header = (struct slab_header){.magic = SLAB_MAGIC,
                                        .layout = SLAB_LAYOUT,
                                        .curve = 1,
                                        .generation = GENERATION,
                                        .job = 9,
                                        .partition = 3,
                                        .wires = WIRES,
                                        .domain = DOMAIN,
                                        .witness = made->plan.witness,
                                        .rows_a = made->plan.rows_a,
                                        .rows_b = made->plan.rows_b};
    memset(made->header.image_hash, 1, HASH_BYTES);
    memset(made->header.witness_digest, 2, HASH_BYTES);
    slab_open(made->slab);
}

static void plan_places_sections(void **state)
{
    struct slab_plan plan;

    (void)state;
    assert_int_equal(slab_plan(&plan, 7, 8, 1), 0);
    assert_int_equal(plan.witness.offset, 4096);
    assert_int_equal(plan.witness.bytes, 7 * 32);
    assert_int_equal(plan.rows_a.offset, 4096 + 256); /* 224 rounded up to 64 */
    assert_int_equal(plan.rows_a.bytes, 8 * 32);
    assert_int_equal(plan.rows_b.offset, 4096 + 512);
    assert_int_equal(plan.bytes, 8192);

    assert_int_equal(slab_plan(&plan, 128, 1 << 20, 0), 0);
    assert_int_equal(plan.rows_a.bytes, 0);
    assert_int_equal(plan.rows_b.bytes, 0);
    assert_int_equal(plan.bytes, 8192); /* just full: no page more */
    assert_int_equal(slab_plan(&plan, 129, 1 << 20, 0), 0);
    assert_int_equal(plan.bytes, 3 * 4096);
}

static void plan_refuses_overflow(void **state)
{
    struct slab_plan plan;

    (void)state;
    assert_int_equal(slab_plan(&plan, UINT32_MAX, UINT64_C(1) << 32, 1), 0);
    assert_int_equal(slab_plan(&plan, UINT64_C(1) << 32, 8, 1), -EOVERFLOW);
    assert_int_equal(slab_plan(&plan, 8, UINT64_C(1) << 59, 1), -EOVERFLOW);
    assert_int_equal(slab_plan(&plan, 8, UINT64_C(1) << 58, 1), -EOVERFLOW); /* a + b overflows */
    assert_int_equal(slab_plan(&plan, 8, UINT64_MAX, 1), -EOVERFLOW);
    assert_int_equal(slab_plan(&plan, 8, UINT64_MAX, 0), 0); /* not looked at */
}

static void sealed_slab_is_accepted(void **state)
{
    struct slab_header out;
    struct made made;
    const char *what;

    (void)state;
    for (int with_rows = 0; with_rows < 2; with_rows++) {
        make(&made, with_rows);
        assert_int_equal(slab_check(&out, made.slab, made.plan.bytes, &what), -EBADMSG);
        made.header.sealed = 77; /* ignored */
        slab_seal(made.slab, &made.header);
        assert_int_equal(slab_check(&out, made.slab, made.plan.bytes, &what), 0);
        assert_int_equal(out.sealed, GENERATION);
        assert_memory_equal(&out, &made.header, offsetof(struct slab_header, sealed));
        /* a larger slab of the lane is as good; a shorter one is not */
        assert_int_equal(slab_check(&out, made.slab, made.plan.bytes + 4096, &what), 0);
        assert_int_equal(slab_check(&out, made.slab, SLAB_HEADER_BYTES, &what), -EBADMSG);
        assert_string_equal(what, "witness");
        assert_int_equal(slab_check(&out, made.slab, 100, &what), -EBADMSG);
        assert_string_equal(what, "slab_bytes");
        free(made.slab);
    }
}

static void reopened_slab_is_refused(void **state)
{
    struct slab_header out;
    struct made made;
    const char *what;

    (void)state;
    make(&made, 1);
    slab_seal(made.slab, &made.header);
    slab_open(made.slab);
    assert_int_equal(slab_check(&out, made.slab, made.plan.bytes, &what), -EBADMSG);
    assert_string_equal(what, "sealed");
    free(made.slab);
}

/* Each lie is one 64- or 32-bit field set to one wrong value. */
struct lie {
    size_t offset, bytes;
    uint64_t value;
    const char *what;
};
#define FIELD(f) offsetof(struct slab_header, f), sizeof(((struct slab_header *)0)->f)

static const struct lie lies[] = {
    {FIELD(magic), 0, "magic"},
    {FIELD(magic), SLAB_MAGIC ^ 1, "magic"},
    {FIELD(layout), SLAB_LAYOUT + 1, "layout"},
    {FIELD(curve), 0, "curve"},
    {FIELD(curve), 3, "curve"},
    {FIELD(generation), GENERATION + 1, "sealed"},
    {FIELD(generation), 0, "sealed"},
    {FIELD(sealed), 0, "sealed"},
    {FIELD(sealed), GENERATION - 1, "sealed"},
    {FIELD(wires), 0, "wires"},
    {FIELD(wires), WIRES + 1, "witness"},
    {FIELD(wires), UINT32_MAX, "witness"},
    {FIELD(domain), 0, "domain"},
    {FIELD(domain), 12, "domain"},
    {FIELD(domain), 4, "rows_a"},
    {FIELD(domain), 16, "rows_a"},
    {FIELD(domain), UINT64_C(1) << 63, "domain"},
    {FIELD(witness.offset), 0, "witness"},
    {FIELD(witness.offset), 4096 - 64, "witness"},
    {FIELD(witness.offset), 4096 + 8, "witness"},
    {FIELD(witness.offset), 8192, "witness"},
    {FIELD(witness.offset), UINT64_MAX - 63, "witness"},
    {FIELD(witness.bytes), 0, "witness"},
    {FIELD(witness.bytes), UINT64_MAX, "witness"},
    {FIELD(rows_a.offset), 4096, "rows_a"}, /* lies in the witness */
    {FIELD(rows_a.offset), 4096 + 264, "rows_a"},
    {FIELD(rows_a.offset), UINT64_MAX - 63, "rows_a"},
    {FIELD(rows_a.bytes), 0, "rows_a"}, /* one matrix without the other */
    {FIELD(rows_a.bytes), 288, "rows_a"},
    {FIELD(rows_b.offset), 4096 + 448, "rows_b"}, /* lies in a */
    {FIELD(rows_b.offset), 8192 - 192, "rows_b"}, /* past the end */
    {FIELD(rows_b.offset), UINT64_C(1) << 63, "rows_b"},
    {FIELD(rows_b.bytes), 0, "rows_b"},
    {FIELD(rows_b.bytes), UINT64_MAX - 31, "rows_b"},
};

static void each_lie_is_refused(void **state)
{
    struct slab_header out;
    struct made made;
    const char *what;

    (void)state;
    for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
        make(&made, 1);
        slab_seal(made.slab, &made.header);
        memcpy(made.slab + lies[i].offset, &lies[i].value, lies[i].bytes);
        assert_int_equal(slab_check(&out, made.slab, made.plan.bytes, &what), -EBADMSG);
        assert_string_equal(what, lies[i].what);
        free(made.slab);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plan_places_sections),    cmocka_unit_test(plan_refuses_overflow),
        cmocka_unit_test(sealed_slab_is_accepted), cmocka_unit_test(reopened_slab_is_refused),
        cmocka_unit_test(each_lie_is_refused),
    };

    return cmocka_run_group_tests_name("slab", tests, NULL, NULL);
}
