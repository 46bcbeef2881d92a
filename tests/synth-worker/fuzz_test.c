/*
 * Damaged keys and witnesses through the whole of compile, fill, prove and check, in one process:
 * no crash, no hang over a second, never an invalid proof taken for valid.
 *
 * PAWL_FUZZ_COUNT mutations of each kind (zkey, wtns) and curve, from PAWL_FUZZ_SEED;
 * PAWL_FUZZ_LONG adds pos10. A damaged witness of the small circuits is accepted exactly where it
 * satisfies the r1cs, which the key does not hold: that is the oracle for "never an invalid proof".
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <signal.h>
#include <sys/time.h>

#include "tests/synth-worker/mutate.h"
#include "tests/synth-worker/pipeline.h"
#include "tests/synth-worker/r1cs.h"

static const char *const tiny[] = {"tests/fixtures/bn128/mul2", "tests/fixtures/bls12381/mul2",
                                   "tests/fixtures/bn128/nopub", "tests/fixtures/bn128/noconstr",
                                   "tests/fixtures/bn128/order"};

struct subject {
    const char *folder;
    const struct curve *curve;
    struct container zkey, wtns, r1cs;
    struct image image; /* of the undamaged key */
    int has_r1cs;
};

struct tally {
    unsigned tried, refused, filled, valid;
};

static char present[128]; /* which case it is, for whoever reads the core */

static void say_case(int number)
{
    ssize_t ignored = write(2, present, strlen(present));
    (void)ignored;
    signal(number, SIG_DFL);
    raise(number);
}

/* A second of CPU time for each case; a minute by the clock, should it sleep. */
static void begin_case(const char *folder, const char *kind, unsigned number)
{
    const struct itimerval second = {.it_value = {.tv_sec = 1}};
    snprintf(present, sizeof present, "\n%s %s case %u\n", folder, kind, number);
    setitimer(ITIMER_PROF, &second, NULL);
    alarm(60);
}

static void end_case(void)
{
    const struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_PROF, &never, NULL);
    alarm(0);
}

static void subject_open(struct subject *subject, const char *folder)
{
    struct complaint complaint = {0};
    subject->folder = folder;
    subject->curve = curve_by_name(strstr(folder, "bls12381") ? "bls12381" : "bn128");
    subject->zkey = container_load(folder, "key.zkey");
    subject->wtns = container_load(folder, "w1.wtns");
    subject->has_r1cs = !strstr(folder, "pos10");
    if (subject->has_r1cs)
        subject->r1cs = container_load(folder, "circuit.r1cs");
    struct bytes key = container_write(&subject->zkey);
    assert_int_equal(pipeline_compile(&subject->image, &key, 0, &complaint), 0);
    free(key.data);
}

static void subject_close(struct subject *subject)
{
    image_unmap(&subject->image);
    container_free(&subject->zkey);
    container_free(&subject->wtns);
    container_free(&subject->r1cs);
}

/* The proof's verdict where key and witness pass all checks, -1 where one is refused. */
static int run_witness(const struct image *image, const struct bytes *wtns, struct tally *tally,
                       uint64_t *witness)
{
    struct complaint complaint = {0};
    uint64_t slab_bytes;
    void *slab = pipeline_slab(image, &slab_bytes);
    int valid = -1;
    if (pipeline_fill(image, wtns, slab, &complaint)) {
        assert_true(complaint.text[0]);
        assert_int_equal(complaint.exit_code, 1);
        assert_int_equal(((struct slab_header *)slab)->sealed, 0);
        tally->refused++;
    } else {
        valid = pipeline_prove(image, slab, slab_bytes);
        tally->filled++;
        tally->valid += (unsigned)valid;
        if (witness)
            memcpy(witness, (uint8_t *)slab + ((struct slab_header *)slab)->witness.offset,
                   32 * (size_t)image->header->wires);
    }
    free(slab);
    return valid;
}

static void run_wtns_bytes(struct subject *subject, const struct bytes *wtns, struct tally *tally)
{
    uint64_t witness[FR_WORDS * 1024];
    assert(subject->image.header->wires <= 1024);
    int valid = run_witness(&subject->image, wtns, tally, witness);
    tally->tried++;
    if (valid >= 0 && subject->has_r1cs)
        assert_int_equal(valid, r1cs_is_satisfied(&subject->r1cs, subject->curve, witness));
}

static void run_zkey_bytes(struct subject *subject, const struct bytes *key, struct tally *tally)
{
    struct complaint complaint = {0};
    struct image image;
    tally->tried++;
    if (pipeline_compile(&image, key, tally->tried % 4 == 0, &complaint)) {
        assert_true(complaint.text[0]);
        assert_int_equal(complaint.exit_code, 1);
        tally->refused++;
        return;
    }
    struct bytes wtns = container_write(&subject->wtns);
    run_witness(&image, &wtns, tally, NULL);
    free(wtns.data);
    image_unmap(&image);
}

static void run_prefixes(struct subject *subject, const struct container *file, int is_key)
{
    struct bytes whole = container_write(file);
    struct tally tally = {0};
    for (size_t count = 0; count < whole.count; count++) {
        uint8_t *exact = malloc(count ? count : 1);
        memcpy(exact, whole.data, count);
        struct bytes part = {exact, count};
        begin_case(subject->folder, is_key ? "zkey prefix" : "wtns prefix", (unsigned)count);
        (is_key ? run_zkey_bytes : run_wtns_bytes)(subject, &part, &tally);
        end_case();
        free(exact);
    }
    free(whole.data);
    assert_int_equal(tally.refused, tally.tried);
}

static void test_every_prefix(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof tiny / sizeof *tiny; i++) {
        struct subject subject = {0};
        subject_open(&subject, tiny[i]);
        run_prefixes(&subject, &subject.zkey, 1);
        run_prefixes(&subject, &subject.wtns, 0);
        subject_close(&subject);
    }
}

static void test_undamaged_files_prove(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof tiny / sizeof *tiny; i++) {
        struct subject subject = {0};
        struct tally tally = {0};
        subject_open(&subject, tiny[i]);
        struct bytes wtns = container_write(&subject.wtns);
        struct bytes key = container_write(&subject.zkey);
        run_wtns_bytes(&subject, &wtns, &tally);
        run_zkey_bytes(&subject, &key, &tally);
        assert_int_equal(tally.valid, 2);
        free(wtns.data);
        free(key.data);
        subject_close(&subject);
    }
}

static void run_mutation(struct subject *subject, int is_key, unsigned number, uint64_t seed,
                         struct tally *tally)
{
    uint64_t random = seed * 1000003 + number;
    struct container file = container_copy(is_key ? &subject->zkey : &subject->wtns);
    begin_case(subject->folder, is_key ? "zkey" : "wtns", number);
    (is_key ? mutate_zkey : mutate_wtns)(&file, subject->curve, &random);
    struct bytes bytes = container_write(&file);
    mutate_bytes(&bytes, &random);
    (is_key ? run_zkey_bytes : run_wtns_bytes)(subject, &bytes, tally);
    end_case();
    free(bytes.data);
    container_free(&file);
}

static unsigned setting(const char *name, unsigned standard)
{
    const char *text = getenv(name);
    return text && *text ? (unsigned)strtoul(text, NULL, 10) : standard;
}

static void run_mutations(const char *folder, unsigned count)
{
    unsigned seed = setting("PAWL_FUZZ_SEED", 1);
    for (int is_key = 0; is_key < 2; is_key++) {
        struct subject subject = {0};
        struct tally tally = {0};
        subject_open(&subject, folder);
        for (unsigned i = 0; i < count; i++)
            run_mutation(&subject, is_key, i, seed, &tally);
        subject_close(&subject);
        printf("# %s %s: %u tried from seed %u, %u refused, %u filled, %u valid\n", folder,
               is_key ? "zkey" : "wtns", tally.tried, seed, tally.refused, tally.filled,
               tally.valid);
        /* damage that is always refused, or never, would test little */
        if (count >= 100) {
            assert_in_range(tally.refused, count / 10, count);
            assert_in_range(tally.filled, count / 20, count);
        }
    }
}

/* The share of the count that each circuit of a curve gets. */
static void test_mutations_bn128(void **state)
{
    unsigned count = setting("PAWL_FUZZ_COUNT", 300);
    (void)state;
    run_mutations(tiny[0], count - count / 4 * 3);
    for (int i = 2; i < 5; i++)
        run_mutations(tiny[i], count / 4);
}

static void test_mutations_bls12381(void **state)
{
    (void)state;
    run_mutations(tiny[1], setting("PAWL_FUZZ_COUNT", 300));
}

/* Each takes a hundred times as long: a hundredth of the count. */
static void test_mutations_pos10(void **state)
{
    unsigned count = setting("PAWL_FUZZ_COUNT", 300) / 100;
    (void)state;
    if (!setting("PAWL_FUZZ_LONG", 0))
        skip();
    run_mutations("tests/fixtures/bn128/pos10", count);
    run_mutations("tests/fixtures/bls12381/pos10", count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_undamaged_files_prove), cmocka_unit_test(test_every_prefix),
        cmocka_unit_test(test_mutations_bn128),       cmocka_unit_test(test_mutations_bls12381),
        cmocka_unit_test(test_mutations_pos10),
    };
    signal(SIGPROF, say_case);
    signal(SIGALRM, say_case);
    signal(SIGABRT, say_case);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
