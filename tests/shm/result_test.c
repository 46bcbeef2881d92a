/*
 * Results: what is created is what is read; unsealed, wrong-sized and ill-formed ones are refused.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shm/result.h"

#define PROOF                                                                                      \
    "{\"pi_a\":[\"1\",\"2\",\"1\"],\"pi_b\":[[\"3\",\"4\"],[\"5\",\"6\"],[\"1\",\"0\"]],"          \
    "\"pi_c\":[\"7\",\"8\",\"1\"],\"protocol\":\"groth16\",\"curve\":\"bn128\"}"
#define PUBLICS "[\"33\",\"0\"]"
#define ALL_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

static struct result_header header_of(void)
{
    struct result_header header = {.partition = 2, .job = 3, .assignment = 4, .generation = 5};

    return header;
}

static uint64_t bytes_of(const char *proof, const char *publics)
{
    return sizeof(struct result_header) + strlen(proof) + strlen(publics);
}

static int read_back(int fd, uint64_t bytes)
{
    struct result_header header;
    char *text, *publics;
    int error = result_read(fd, bytes, &header, &text, &publics);

    if (error) {
        assert_null(text);
        assert_null(publics);
    }
    free(text);
    return error;
}

static int judge(const char *proof, const char *publics)
{
    struct result_header header = header_of();
    int fd = result_create(&header, proof, strlen(proof), publics, strlen(publics));

    assert_true(fd >= 0);
    int error = read_back(fd, bytes_of(proof, publics));
    close(fd);
    return error;
}

static void results_come_back(void **state)
{
    struct result_header header = header_of(), out;
    char *text, *publics;
    int fd = result_create(&header, PROOF, strlen(PROOF), PUBLICS, strlen(PUBLICS));

    (void)state;
    assert_true(fd >= 0);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(pwrite(fd, "x", 1, 60), -1); /* sealed */
    assert_int_equal(result_read(fd, bytes_of(PROOF, PUBLICS), &out, &text, &publics), 0);
    assert_string_equal(text, PROOF);
    assert_string_equal(publics, PUBLICS);
    assert_int_equal(out.job, 3);
    assert_int_equal(out.assignment, 4);
    assert_int_equal(out.generation, 5);
    assert_int_equal(out.partition, 2);
    free(text);
    assert_int_equal(read_back(fd, bytes_of(PROOF, PUBLICS) - 1), -EBADMSG);
    assert_int_equal(read_back(fd, bytes_of(PROOF, PUBLICS) + 1), -EBADMSG);
    assert_int_equal(read_back(fd, UINT64_MAX), -EBADMSG);
    close(fd);
    assert_int_equal(read_back(fd, bytes_of(PROOF, PUBLICS)), -EBADMSG);
}

static void many_publics_come_back(void **state)
{
    size_t count = 200000, at = 1;
    char *publics = malloc(count * 8 + 8);

    (void)state;
    assert_non_null(publics);
    publics[0] = '[';
    for (size_t i = 0; i < count; i++)
        at += (size_t)sprintf(publics + at, "%s\"%05zu\"", i ? "," : "", i % 100000);
    strcpy(publics + at, "]");
    assert_int_equal(judge(PROOF, publics), 0);
    free(publics);
}

static void lengths_out_of_bounds_are_refused(void **state)
{
    struct result_header header = header_of();
    static char big[RESULT_PROOF_BYTES_MAX + 1];

    (void)state;
    memset(big, '1', sizeof(big));
    assert_int_equal(result_create(&header, big, sizeof(big), PUBLICS, 2), -EMSGSIZE);
    assert_int_equal(result_create(&header, big, 0, PUBLICS, 2), -EMSGSIZE);
    assert_int_equal(result_create(&header, PROOF, 5, PUBLICS, 0), -EMSGSIZE);
    assert_int_equal(result_create(&header, PROOF, 5, PUBLICS, RESULT_BYTES_MAX), -EMSGSIZE);
}

/* A memfd with these bytes and seals. */
static int fake(const struct result_header *header, const char *texts, int seals)
{
    int fd = memfd_create("fake", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    assert_int_equal(write(fd, header, sizeof(*header)), sizeof(*header));
    assert_int_equal(write(fd, texts, strlen(texts)), (ssize_t)strlen(texts));
    assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
    return fd;
}

static int judge_fake(struct result_header header, int seals)
{
    int fd = fake(&header, PROOF PUBLICS, seals);
    int error = read_back(fd, bytes_of(PROOF, PUBLICS));

    close(fd);
    return error;
}

static void unsealed_results_are_refused(void **state)
{
    static const int seals[] = {F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_WRITE};
    struct result_header header = header_of();
    int pipes[2];

    (void)state;
    header.magic = RESULT_MAGIC;
    header.layout = RESULT_LAYOUT;
    header.proof_bytes = strlen(PROOF);
    header.public_bytes = strlen(PUBLICS);
    assert_int_equal(judge_fake(header, ALL_SEALS), 0);
    assert_int_equal(judge_fake(header, 0), -EBADMSG);
    for (int i = 0; i < 3; i++)
        assert_int_equal(judge_fake(header, ALL_SEALS & ~seals[i]), -EBADMSG);
    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(read_back(pipes[0], 100), -EBADMSG);
    close(pipes[0]);
    close(pipes[1]);
}

static void header_lies_are_refused(void **state)
{
    struct result_header right = header_of(), lie;

    (void)state;
    right.magic = RESULT_MAGIC;
    right.layout = RESULT_LAYOUT;
    right.proof_bytes = strlen(PROOF);
    right.public_bytes = strlen(PUBLICS);
    lie = right, lie.magic++;
    assert_int_equal(judge_fake(lie, ALL_SEALS), -EBADMSG);
    lie = right, lie.layout++;
    assert_int_equal(judge_fake(lie, ALL_SEALS), -EBADMSG);
    lie = right, lie.proof_bytes++;
    assert_int_equal(judge_fake(lie, ALL_SEALS), -EBADMSG);
    lie = right, lie.proof_bytes++, lie.public_bytes--; /* the border lies in the public text */
    assert_int_equal(judge_fake(lie, ALL_SEALS), -EBADMSG);
    lie = right, lie.proof_bytes = UINT64_MAX - 5; /* the sum wraps to the right one */
    lie.public_bytes = right.proof_bytes + right.public_bytes + 6;
    assert_int_equal(judge_fake(lie, ALL_SEALS), -EBADMSG);
    lie = right, lie.public_bytes = 0, lie.proof_bytes += right.public_bytes;
    assert_int_equal(judge_fake(lie, ALL_SEALS), -EBADMSG);
}

static void ill_formed_texts_are_refused(void **state)
{
    static const char *const proofs[] = {
        "[]",
        "{",
        "}",
        "{]",
        "{}}",
        "{}{}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1}",
        "{\"a\":\"1\",}",
        "{a:\"1\"}",
        "{\"A\":\"1\"}",
        " {}",
        "{}\n",
        "{\"a\":\"\\\"\"}",
        "{\"a\":\"<\"}",
        "{\"a\":\"1\"\"b\":\"2\"}",
        "{\"a\":[\"1\"}",
        "{\"a\":[}]",
        "{\"a",
        "{\"a\":\"\xc3\xa9\"}",
    };
    static const char *const publics[] = {
        "{}",           "[",   "]",        "[[]",       "[\"1\",]", "[,]",    "[\"1\" ,\"2\"]",
        "[\"1\"\"2\"]", "[1]", "[\"-1\"]", "[\"1.5\"]", "[\"1\"],", "[null]", "\"1\"",
    };

    (void)state;
    assert_int_equal(judge(PROOF, PUBLICS), 0);
    assert_int_equal(judge("{}", "[]"), 0);
    for (size_t i = 0; i < sizeof(proofs) / sizeof(proofs[0]); i++)
        assert_int_equal(judge(proofs[i], PUBLICS), -EBADMSG);
    for (size_t i = 0; i < sizeof(publics) / sizeof(publics[0]); i++)
        assert_int_equal(judge(PROOF, publics[i]), -EBADMSG);
}

/* Depth is bounded, so that no result can exhaust the coordinator's stack. */
static void deep_texts_are_refused(void **state)
{
    static char deep[2000001];

    (void)state;
    assert_int_equal(judge(PROOF, "[[[[[[[[]]]]]]]]"), 0);
    assert_int_equal(judge(PROOF, "[[[[[[[[[]]]]]]]]]"), -EBADMSG);
    memset(deep, '[', sizeof(deep) - 1);
    memset(deep + 1000000, ']', 1000000);
    assert_int_equal(judge(PROOF, deep), -EBADMSG);
}

/* Every byte of the texts changed in turn: refused, or still only the permitted characters. */
static void changed_bytes_break_nothing(void **state)
{
    static const char instead[] = {0, '"', '\\', '{', '[', ',', 'a', 'Z', ' ', '\n', (char)0xff};
    char proof[] = PROOF;

    (void)state;
    for (size_t i = 0; i < strlen(PROOF); i++)
        for (size_t j = 0; j < sizeof(instead); j++) {
            struct result_header header = header_of();
            char was = proof[i];

            proof[i] = instead[j];
            int fd = result_create(&header, proof, strlen(PROOF), PUBLICS, strlen(PUBLICS));
            int error = read_back(fd, bytes_of(PROOF, PUBLICS));
            close(fd);
            if (instead[j] == 0 || strchr("\\Z \n\xff", instead[j]))
                assert_int_equal(error, -EBADMSG);
            proof[i] = was;
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_come_back),
        cmocka_unit_test(many_publics_come_back),
        cmocka_unit_test(lengths_out_of_bounds_are_refused),
        cmocka_unit_test(unsealed_results_are_refused),
        cmocka_unit_test(header_lies_are_refused),
        cmocka_unit_test(ill_formed_texts_are_refused),
        cmocka_unit_test(deep_texts_are_refused),
        cmocka_unit_test(changed_bytes_break_nothing),
    };

    return cmocka_run_group_tests_name("result", tests, NULL, NULL);
}
