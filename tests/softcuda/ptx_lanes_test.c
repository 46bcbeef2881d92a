/*
 * The interpreter's warps and blocks: divergence, calls, barriers, shuffles, votes, atomics in any
 * order of lanes, memory of every space, and the faults that wrong kernels make.
 */
#include "tests/softcuda/ptx_rig.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

enum { SEEDS = 20 };

static void run_right(struct rig *rig, const char *module, const char *body)
{
    const int result = rig_run(rig, module, body, true);
    if (result != 0)
        print_error("%s%s\n", rig->why, rig->fault.text);
    assert_int_equal(result, 0);
}

static void run_wrong(struct rig *rig, const char *module, const char *body,
                      enum ptx_fault_kind kind)
{
    assert_int_equal(rig_run(rig, module, body, true), -EFAULT);
    if (rig->fault.kind != kind)
        print_error("%s\n", rig->fault.text);
    assert_int_equal(rig->fault.kind, kind);
    assert_true(strncmp(rig->fault.text, "k: PTX line ", 12) == 0);
}

/* ------------------------------------------------------------ divergence */

static void test_loops_of_different_lengths_with_breaks(void **state)
{
    (void)state;
    struct rig rig = {.threads = 64};
    run_right(&rig, "",
              "mov.u32 %r9, 0;\nmov.u32 %r5, 0;\n"
              "LOOP:\nsetp.ge.u32 %p1, %r5, %r0;\n@%p1 bra DONE;\n"
              "add.u32 %r5, %r5, 1;\nand.b32 %r6, %r5, 1;\nsetp.eq.u32 %p2, %r6, 0;\n"
              "@%p2 bra LOOP;\nadd.u32 %r9, %r9, %r5;\nsetp.gt.u32 %p3, %r9, 200;\n"
              "@!%p3 bra LOOP;\nadd.u32 %r9, %r9, 1000;\nDONE:\n");
    for (unsigned lane = 0; lane < 64; lane++) {
        unsigned sum = 0;
        for (unsigned i = 1; i <= lane && sum < 1000; i++)
            if (i % 2 == 1 && (sum += i) > 200)
                sum += 1000;
        assert_int_equal(rig.out[lane], sum);
    }
}

static void test_lanes_meet_again_and_some_leave_early(void **state)
{
    (void)state;
    struct rig rig = {.threads = 32};
    rig.out[3] = 77;
    run_right(&rig, "",
              "setp.eq.u32 %p1, %r0, 3;\n@%p1 exit;\nsetp.lt.u32 %p2, %r0, 16;\n"
              "@%p2 bra LOW;\nmov.u32 %r5, 1;\nbra.uni JOIN;\nLOW:\nmov.u32 %r5, 2;\nJOIN:\n"
              "activemask.b32 %r6;\nvote.sync.ballot.b32 %r7, %p2, -1;\nadd.u32 %r9, %r6, %r5;\n"
              "add.u32 %r9, %r9, %r7;\n");
    const uint32_t here = ~8u;
    for (unsigned lane = 0; lane < 32; lane++)
        assert_int_equal(rig.out[lane],
                         lane == 3 ? 77 : (uint32_t)(here + (lane < 16 ? 2 : 1) + 0xfff7));
}

/* the second half of the lanes reaches the vote by a way that lies behind it in the text */
static void test_a_vote_waits_for_its_members(void **state)
{
    (void)state;
    struct rig rig = {.threads = 32};
    run_right(
        &rig, "",
        "setp.lt.u32 %p1, %r0, 16;\nsetp.eq.u32 %p2, %r0, 0;\n@%p1 bra VOTE;\nbra.uni LATER;\n"
        "VOTE:\nvote.sync.ballot.b32 %r9, %p2, -1;\nbra.uni END;\nLATER:\n"
        "setp.eq.u32 %p2, %r0, 31;\nbra.uni VOTE;\nEND:\n");
    for (unsigned lane = 0; lane < 32; lane++)
        assert_int_equal(rig.out[lane], 0x80000001);
}

static const char *const functions =
    ".func (.param .b32 result) fold(.param .b32 a, .param .align 16 .b8 pair[8])\n{\n"
    ".reg .b32 %r<9>;\n.reg .pred %p<2>;\nld.param.u32 %r1, [a];\n"
    "ld.param.v2.u32 {%r2, %r3}, [pair];\nsetp.gt.u32 %p1, %r1, 20;\n@%p1 bra BIG;\n"
    "mad.lo.s32 %r4, %r2, %r3, %r1;\nst.param.b32 [result], %r4;\nret;\nBIG:\n"
    "mov.u32 %r4, 5;\nst.param.b32 [result], %r4;\nret;\n}\n"
    ".func (.param .b32 out) twice(.param .b32 x)\n{\n.reg .b32 %r<9>;\nld.param.u32 %r1, [x];\n"
    "{\n.param .b32 p0;\nst.param.b32 [p0], %r1;\n.param .align 16 .b8 p1[8];\n"
    "st.param.v2.b32 [p1], {%r1, %r1};\n.param .b32 back;\ncall.uni (back), fold, (p0, p1);\n"
    "ld.param.b32 %r2, [back];\n}\nadd.s32 %r3, %r2, %r2;\nst.param.b32 [out], %r3;\nret;\n}\n";

static void test_calls_under_divergence(void **state)
{
    (void)state;
    struct rig rig = {.threads = 32};
    run_right(&rig, functions,
              "mov.u32 %r9, 1;\nsetp.lt.u32 %p1, %r0, 4;\n@%p1 bra SKIP;\n{\n.param .b32 p0;\n"
              "st.param.b32 [p0], %r0;\n.param .b32 back;\ncall (back), twice, (p0);\n"
              "ld.param.b32 %r9, [back];\n}\nSKIP:\n");
    for (unsigned lane = 0; lane < 32; lane++)
        assert_int_equal(rig.out[lane], lane < 4 ? 1 : 2 * (lane > 20 ? 5 : lane * lane + lane));
}

/* ------------------------------------------------------------ across lanes */

static void test_shuffles(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        unsigned expected[4]; /* of lanes 0, 5, 17, 31; 100 is added where it came from outside */
    } cases[] = {
        {"shfl.sync.down.b32 %r9|%p1, %r0, 3, 31, -1;", {3, 8, 20, 131}},
        {"shfl.sync.up.b32 %r9|%p1, %r0, 3, 0, -1;", {100, 2, 14, 28}},
        {"shfl.sync.bfly.b32 %r9|%p1, %r0, 16, 31, -1;", {16, 21, 1, 15}},
        {"shfl.sync.idx.b32 %r9|%p1, %r0, 9, 31, -1;", {9, 9, 9, 9}},
        {"shfl.sync.idx.b32 %r9|%p1, %r0, 2, 0x181f, -1;", {2, 2, 18, 26}},
        {"shfl.sync.down.b32 %r9|%p1, %r0, 3, 0x1807, -1;", {3, 105, 20, 131}},
    };
    static const unsigned lanes[] = {0, 5, 17, 31};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rig rig = {.threads = 32};
        char body[300];
        snprintf(body, sizeof body, "%s\n@!%%p1 add.u32 %%r9, %%r9, 100;", cases[i].body);
        run_right(&rig, "", body);
        for (unsigned n = 0; n < 4; n++) {
            if (rig.out[lanes[n]] != cases[i].expected[n])
                print_error("%s lane %u\n", cases[i].body, lanes[n]);
            assert_int_equal(rig.out[lanes[n]], cases[i].expected[n]);
        }
    }
}

static void test_votes_matches_and_reductions(void **state)
{
    (void)state;
    struct rig rig = {.threads = 32};
    run_right(&rig, "",
              "and.b32 %r5, %r0, 3;\nmatch.any.sync.b32 %r6, %r5, -1;\n"
              "redux.sync.add.u32 %r7, %r0, -1;\nsetp.lt.u32 %p1, %r0, 32;\n"
              "vote.sync.all.pred %p2, %p1, -1;\nvote.sync.any.pred %p3, !%p1, -1;\n"
              "selp.u32 %r8, 1, 0, %p2;\n@%p3 add.u32 %r8, %r8, 2;\nadd.u32 %r9, %r6, %r7;\n"
              "add.u32 %r9, %r9, %r8;\n");
    for (unsigned lane = 0; lane < 32; lane++)
        assert_int_equal(rig.out[lane], (uint32_t)((0x11111111u << lane % 4) + 496 + 1));
}

/* Adds are right in any order; what exchange leaves depends on it, and must differ by seed. */
static void test_atomics_in_many_orders(void **state)
{
    (void)state;
    uint64_t last = 0;
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        struct rig rig = {.threads = 96, .blocks = 3, .seed = seed};
        memset(rig.out, 0, sizeof rig.out);
        run_right(
            &rig, ".global .align 4 .u32 count;\n.global .align 8 .b64 mark[2] = {7, 9};\n",
            "mov.u64 %d5, count;\natom.global.add.u32 %r5, [%d5], 1;\n"
            "atom.global.max.u32 %r6, [%out+1024], %r5;\n"
            "red.global.add.u64 [%out+1032], 1;\natom.global.exch.b32 %r7, [%out+1040], %r0;\n"
            "atom.global.cas.b32 %r8, [%out+1048], 0, 5;\n"
            "atom.global.inc.u32 %r8, [%out+1056], 9;\nmov.u64 %d6, mark;\n"
            "ld.global.u32 %r9, [%d6+8];\n");
        assert_int_equal(rig.out[0], 9);
        assert_int_equal(rig.out[128], 287);
        assert_int_equal(rig.out[129], 288);
        assert_int_equal(rig.out[131], 5);
        assert_int_equal(rig.out[132], 8);
        last |= UINT64_C(1) << rig.out[130] % 64;
    }
    assert_true(__builtin_popcountll(last) > 3);
}

static void test_stores_to_one_place_are_of_any_lane(void **state)
{
    (void)state;
    uint64_t seen = 0;
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        struct rig rig = {.threads = 32, .seed = seed};
        run_right(&rig, "", "st.global.u32 [%out+1024], %r0;\nmov.u32 %r9, 0;\n");
        seen |= UINT64_C(1) << (uint32_t)rig.out[128];
    }
    assert_true(__builtin_popcountll(seen) > 3);
}

/* ------------------------------------------------------------ memory */

/* a lane's number to the tile, and that of the lane as far from `last` out of it */
#define EXCHANGE(last, between)                                                                    \
    "shl.b32 %r5, %r0, 2;\nmov.u32 %r6, tile;\nadd.u32 %r6, %r6, %r5;\n"                           \
    "st.shared.u32 [%r6], %r0;\n" between "mov.u32 %r7, " last                                     \
    ";\nsub.u32 %r7, %r7, %r0;\nshl.b32 %r7, %r7, 2;\nmov.u32 %r8, tile;\n"                        \
    "add.u32 %r8, %r8, %r7;\nld.shared.u32 %r9, [%r8];\n"

static void test_a_barrier_between_warps(void **state)
{
    (void)state;
    static const char *const tiles[] = {".shared .align 4 .b8 tile[512];\n",
                                        ".extern .shared .align 16 .b8 tile[];\n"};
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        struct rig rig = {.threads = 128, .seed = seed, .shared_bytes = seed % 2 ? 512 : 0};
        run_right(&rig, tiles[seed % 2], EXCHANGE("127", "bar.sync 0;\n"));
        for (unsigned lane = 0; lane < 128; lane++)
            assert_int_equal(rig.out[lane], 127 - lane);
    }
}

static void test_a_missing_barrier_shows(void **state)
{
    (void)state;
    struct rig rig = {.threads = 128, .seed = 1};
    run_wrong(&rig, ".shared .align 4 .b8 tile[512];\n", EXCHANGE("127", ""), PTX_FAULT_UNWRITTEN);
}

/* How many of the seeds show a fault. */
static unsigned faults_of(const char *module, const char *body)
{
    unsigned faults = 0;
    for (unsigned seed = 0; seed < 4 * SEEDS; seed++) {
        struct rig rig = {.threads = 32, .seed = seed, .watch_writes = true};
        const int result = rig_run(&rig, module, body, true);
        assert_true(result == 0 || rig.fault.kind == PTX_FAULT_UNWRITTEN);
        faults += result != 0;
        for (unsigned lane = 0; lane < 32 && result == 0; lane++)
            assert_int_equal(rig.out[lane], 31 - lane);
    }
    return faults;
}

/* In shared memory, and in global memory where there is a barrier somewhere. */
static void test_a_missing_barrier_of_a_warp_shows(void **state)
{
    (void)state;
    static const char tile[] = ".shared .align 4 .b8 tile[512];\n";
#define GLOBAL(between)                                                                            \
    "bar.sync 0;\ncvt.u64.u32 %d5, %r0;\nst.global.u64 [%yours], %d5;\n" between                   \
    "mov.u32 %r7, 31;\nsub.u32 %r7, %r7, %r0;\nmul.wide.u32 %d6, %r7, 8;\n"                        \
    "add.s64 %d6, %d6, %out;\nld.global.u32 %r9, [%d6];\nbar.sync 0;\n"
    assert_in_range(faults_of(tile, EXCHANGE("31", "")), 3, 4 * SEEDS - 3);
    assert_in_range(faults_of("", GLOBAL("")), 3, 4 * SEEDS - 3);
    assert_int_equal(faults_of(tile, EXCHANGE("31", "bar.warp.sync -1;\n")), 0);
    assert_int_equal(faults_of(tile, EXCHANGE("31", "bar.sync 0;\n")), 0);
    assert_int_equal(faults_of("", GLOBAL("bar.warp.sync -1;\n")), 0);
}

static void test_local_constant_and_generic_memory(void **state)
{
    (void)state;
    struct rig rig = {.threads = 32};
    run_right(&rig,
              ".const .align 4 .b8 table[16] = {1, 0, 0, 0, 2, 0, 0, 0, 3};\n"
              ".shared .align 8 .b64 cell;\n",
              ".local .align 16 .b8 depot[64];\nmov.u64 %d5, depot;\ncvta.local.u64 %d6, %d5;\n"
              "st.local.v4.u32 [%d5+16], {%r0, %r0, %r0, %r0};\nst.u8 [%d6+21], 1;\n"
              "and.b32 %r5, %r0, 1;\nmul.wide.u32 %d7, %r5, 4;\nadd.s64 %d7, %d5, %d7;\n"
              "ld.local.u32 %r6, [%d7+16];\nmov.u64 %d8, table;\nld.const.u32 %r7, [%d8+8];\n"
              "mov.u64 %d10, cell;\ncvta.shared.u64 %d11, %d10;\nst.u64 [%d11], 1000;\n"
              "ld.shared.u32 %r8, [cell];\nld.local.s8 %h1, [depot+21];\ncvt.u32.u16 %r10, %h1;\n"
              "add.u32 %r9, %r6, %r7;\nadd.u32 %r9, %r9, %r8;\nadd.u32 %r9, %r9, %r10;\n");
    for (unsigned lane = 0; lane < 32; lane++)
        assert_int_equal(rig.out[lane], lane + (lane & 1 ? 256 : 0) + 3 + 1000 + 1);
}

static void test_registers_that_nothing_wrote_are_poison(void **state)
{
    (void)state;
    struct rig rig = {.threads = 1};
    run_right(&rig, "", "mov.u32 %r9, %r30;\n");
    assert_int_equal(rig.out[0], 0xa5a5a5a5);
}

/* ------------------------------------------------------------ faults */

static void test_faults_of_addresses(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        enum ptx_fault_kind kind;
    } cases[] = {
        {"ld.global.u32 %r9, [%out+2048];", PTX_FAULT_ADDRESS},
        {"ld.global.u32 %r9, [%in-4];", PTX_FAULT_ADDRESS},
        {"ld.global.v4.u32 {%r9, %r5, %r6, %r7}, [%out+1016];", PTX_FAULT_ALIGNMENT},
        {"ld.global.u32 %r9, [%out+1022];", PTX_FAULT_ALIGNMENT},
        {"st.global.u32 [%in], %r0;", PTX_FAULT_ADDRESS}, /* read-only */
        {"mov.u64 %d5, 0;\nld.u32 %r9, [%d5];", PTX_FAULT_ADDRESS},
        {"mov.u64 %d5, -8;\nst.u64 [%d5], %d1;", PTX_FAULT_ADDRESS},
        {"mov.u32 %r5, 0;\nld.shared.u32 %r9, [%r5];", PTX_FAULT_ADDRESS},
        {"ld.global.u32 %r9, [%out+1024];", PTX_FAULT_UNWRITTEN},
        {"atom.global.add.u32 %r9, [%out+1024], 1;", PTX_FAULT_UNWRITTEN},
        {".local .b8 depot[16];\nmov.u64 %d5, depot;\nld.local.u32 %r9, [%d5+16];",
         PTX_FAULT_ADDRESS},
        /* they begin inside and end outside; the second for one lane alone */
        {".shared .align 16 .b8 tile[24];\nst.shared.v4.u32 [tile+16], {%r0, %r0, %r0, %r0};",
         PTX_FAULT_ADDRESS},
        {".shared .align 16 .b8 tile[24];\nmov.u64 %d5, tile;\ncvta.shared.u64 %d5, %d5;\n"
         "st.v4.u32 [%d5+16], {%r0, %r0, %r0, %r0};",
         PTX_FAULT_ADDRESS},
        {"setp.eq.u32 %p1, %r0, 9;\n@%p1 ld.global.u32 %r9, [%in+32768];", PTX_FAULT_ADDRESS},
        {"setp.eq.u32 %p1, %r0, 9;\n@%p1 trap;", PTX_FAULT_TRAP},
        {"LOOP:\nbra.uni LOOP;", PTX_FAULT_STEPS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rig rig = {.threads = 32, .watch_writes = true, .steps_most = 10000};
        run_wrong(&rig, "", cases[i].body, cases[i].kind);
        if (strncmp(cases[i].body, "setp", 4) == 0)
            assert_int_equal(rig.fault.lane, 9);
    }
}

static void test_faults_of_barriers(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        /* half of a warp at another barrier */
        "setp.lt.u32 %p1, %r0, 16;\n@%p1 bra A;\nbar.sync 0;\nbra.uni B;\nA:\nbar.sync 0;\nB:\n",
        /* warps at different ones */
        "setp.lt.u32 %p1, %r0, 32;\n@%p1 bra A;\nbar.sync 0;\nbra.uni B;\nA:\nbar.sync 0;\nB:\n",
        /* a lane that is named but is elsewhere for good */
        ("setp.lt.u32 %p1, %r0, 16;\n@%p1 bra A;\nvote.sync.any.pred %p2, %p1, -1;\n"
         "bra.uni B;\nA:\nvote.sync.all.pred %p2, %p1, -1;\nB:\n"),
        /* a lane that its own mask leaves out */
        "vote.sync.any.pred %p2, %p1, 1;\n",
        "shfl.sync.idx.b32 %r9, %r0, 1, 31, %r5;\n",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        struct rig rig = {.threads = 64};
        run_wrong(&rig, "", bodies[i], PTX_FAULT_BARRIER);
    }
}

static void test_launches_that_are_refused(void **state)
{
    (void)state;
    struct rig many = {.threads = 1025}, large = {.threads = 32, .shared_bytes = 228 * 1024};
    assert_int_equal(rig_run(&many, "", "mov.u32 %r9, 0;", true), -EINVAL);
    assert_int_equal(many.fault.kind, PTX_FAULT_LAUNCH);
    assert_int_equal(rig_run(&large, "", "mov.u32 %r9, 0;", true), -EINVAL);
    assert_int_equal(large.fault.kind, PTX_FAULT_LAUNCH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loops_of_different_lengths_with_breaks),
        cmocka_unit_test(test_lanes_meet_again_and_some_leave_early),
        cmocka_unit_test(test_a_vote_waits_for_its_members),
        cmocka_unit_test(test_calls_under_divergence),
        cmocka_unit_test(test_shuffles),
        cmocka_unit_test(test_votes_matches_and_reductions),
        cmocka_unit_test(test_atomics_in_many_orders),
        cmocka_unit_test(test_stores_to_one_place_are_of_any_lane),
        cmocka_unit_test(test_a_barrier_between_warps),
        cmocka_unit_test(test_a_missing_barrier_shows),
        cmocka_unit_test(test_a_missing_barrier_of_a_warp_shows),
        cmocka_unit_test(test_local_constant_and_generic_memory),
        cmocka_unit_test(test_registers_that_nothing_wrote_are_poison),
        cmocka_unit_test(test_faults_of_addresses),
        cmocka_unit_test(test_faults_of_barriers),
        cmocka_unit_test(test_launches_that_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
