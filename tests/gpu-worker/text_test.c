/*
 * What a gpu-worker writes and reads as text: proofs and publics as snarkjs has them, blinders.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "gpu-worker/blinders.h"
#include "gpu-worker/proof_json.h"
#include "kernels/curves.h"

/* ---- proofs ---- */

static void test_infinity_is_as_snarkjs_has_it(void **state)
{
    (void)state;
    char text[PROOF_JSON_BYTES_MAX];
    struct proof proof;
    memset(&proof, 0, sizeof(proof));
    size_t bytes = proof_json_write(text, curve_by_id(CURVE_BN254), &proof);
    assert_string_equal(text, "{\"pi_a\":[\"0\",\"1\",\"0\"],"
                              "\"pi_b\":[[\"0\",\"0\"],[\"1\",\"0\"],[\"0\",\"0\"]],"
                              "\"pi_c\":[\"0\",\"1\",\"0\"],"
                              "\"protocol\":\"groth16\",\"curve\":\"bn128\"}");
    assert_int_equal(bytes, strlen(text));
    proof_json_write(text, curve_by_id(CURVE_BLS12381), &proof);
    assert_non_null(strstr(text, "\"curve\":\"bls12381\"}"));
}

/* BN254's generators have coordinates that everybody knows. */
static void test_points_are_plain_decimals(void **state)
{
    (void)state;
    char text[PROOF_JSON_BYTES_MAX];
    const struct curve *curve = curve_by_id(CURVE_BN254);
    struct proof proof = {*curve->g1_generator, *curve->g2_generator, *curve->g1_generator};
    proof_json_write(text, curve, &proof);
    assert_string_equal(
        text, "{\"pi_a\":[\"1\",\"2\",\"1\"],\"pi_b\":"
              "[[\"10857046999023057135944570762232829481370756359578518086990519993285655852781\","
              "\"11559732032986387107991004021392285783925812861821192530917403151452391805634\"],"
              "[\"8495653923123431417604973247489272438418190587263600148770280649306958101930\","
              "\"4082367875863433681332203403145435568316851327593401208105741076214120093531\"],"
              "[\"1\",\"0\"]],\"pi_c\":[\"1\",\"2\",\"1\"],"
              "\"protocol\":\"groth16\",\"curve\":\"bn128\"}");
}

/* The largest coordinates there are fit, on the curve with the longer ones. */
static void test_the_longest_proof_fits(void **state)
{
    (void)state;
    char text[PROOF_JSON_BYTES_MAX];
    const struct curve *curve = curve_by_id(CURVE_BLS12381);
    struct proof proof = {*curve->g1_generator, *curve->g2_generator, *curve->g1_generator};
    size_t bytes = proof_json_write(text, curve, &proof);
    assert_in_range(bytes, 800, 1200);
    assert_int_equal(bytes, strlen(text));
}

static void test_publics(void **state)
{
    (void)state;
    uint64_t values[3][4] = {{0}, {10, 0, 0, 0}, {0, 1, 0, 0}};
    const char *const expected[] = {"[]", "[\"0\"]", "[\"0\",\"10\"]",
                                    "[\"0\",\"10\",\"18446744073709551616\"]"};
    for (uint32_t count = 0; count <= 3; count++) {
        size_t bytes;
        char *text = proof_json_publics(values[0], count, &bytes);
        assert_string_equal(text, expected[count]);
        assert_int_equal(bytes, strlen(expected[count]));
        free(text);
    }
}

static void test_many_publics_of_full_length(void **state)
{
    (void)state;
    enum { COUNT = 5000 };
    static uint64_t values[COUNT][4];
    size_t bytes;
    for (int i = 0; i < COUNT; i++)
        memcpy(values[i], curve_by_id(CURVE_BN254)->fr_modulus, sizeof(values[i]));
    char *text = proof_json_publics(values[0], COUNT, &bytes);
    assert_int_equal(bytes, COUNT * (77 + 3) + 1);
    assert_int_equal(bytes, strlen(text));
    free(text);
}

/* ---- blinders ---- */

static void test_blinders_are_parsed_strictly(void **state)
{
    (void)state;
    struct blinders blinders;
    static const char *const bad[] = {
        "", "1", "1,", ",1", "1,2,3", "-1,2", "1, 2", "0x1,2", "a,b", "1;2",
        /* the order of BN254, which is below that of BLS12-381 */
        "21888242871839275222246405745257275088548364400416034343698204186575808495617,1",
        "1,21888242871839275222246405745257275088548364400416034343698204186575808495617",
        "1,115792089237316195423570985008687907853269984665640564039457584007913129639936"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(blinders_parse(&blinders, bad[i]), -EINVAL);
    assert_int_equal(blinders_parse(&blinders, "12345,18446744073709551617"), 0);
    assert_true(blinders.r[0] == 12345 && blinders.r[1] == 0);
    assert_true(blinders.s[0] == 1 && blinders.s[1] == 1 && blinders.s[2] == 0);
    assert_int_equal(
        blinders_parse(
            &blinders,
            "21888242871839275222246405745257275088548364400416034343698204186575808495616,0"),
        0);
}

/* 2,000 draws: all below the order, none twice, every bit seen both ways, and the part above half
 * of the order reached as often as it must (a draw that was cut short would not be). */
static void test_blinders_are_uniform_and_fresh(void **state)
{
    (void)state;
    enum { DRAWS = 2000 };
    for (uint32_t id = CURVE_BN254; id <= CURVE_BLS12381; id++) {
        const struct curve *curve = curve_by_id(id);
        struct blinders last = {0}, blinders;
        unsigned upper = 0;
        uint64_t ones[4] = {0}, zeros[4] = {0};
        for (int i = 0; i < DRAWS; i++) {
            assert_int_equal(blinders_draw(&blinders, curve), 0);
            assert_true(curve->fr_is_canonical(blinders.r) && curve->fr_is_canonical(blinders.s));
            assert_memory_not_equal(blinders.r, blinders.s, sizeof(blinders.r));
            assert_memory_not_equal(&blinders, &last, sizeof(blinders));
            upper += blinders.r[3] > curve->fr_modulus[3] / 2;
            for (int k = 0; k < 4; k++) {
                ones[k] |= blinders.r[k];
                zeros[k] |= ~blinders.r[k];
            }
            last = blinders;
        }
        assert_in_range(upper, DRAWS / 2 - 250, DRAWS / 2 + 250); /* 11 standard deviations */
        for (int k = 0; k < 3; k++)
            assert_true(ones[k] == UINT64_MAX && zeros[k] == UINT64_MAX);
    }
}

static void test_blinders_are_forgotten(void **state)
{
    (void)state;
    struct blinders blinders, zero = {0};
    assert_int_equal(blinders_draw(&blinders, curve_by_id(CURVE_BN254)), 0);
    blinders_forget(&blinders);
    assert_memory_equal(&blinders, &zero, sizeof(zero));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_infinity_is_as_snarkjs_has_it),
        cmocka_unit_test(test_points_are_plain_decimals),
        cmocka_unit_test(test_the_longest_proof_fits),
        cmocka_unit_test(test_publics),
        cmocka_unit_test(test_many_publics_of_full_length),
        cmocka_unit_test(test_blinders_are_parsed_strictly),
        cmocka_unit_test(test_blinders_are_uniform_and_fresh),
        cmocka_unit_test(test_blinders_are_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
