/*
 * Operations of the interpreter against values that the PTX ISA's definitions give.
 */
#include "tests/softcuda/ptx_operations.h"
#include "tests/softcuda/ptx_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct operation_case {
    const char *body;
    bool narrow;
    uint64_t a, b, c, d, expected;
};

static void check(const struct operation_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct operation_case *one = &cases[i];
        const uint64_t got = rig_compute(one->body, one->narrow, one->a, one->b, one->c, one->d);
        if (got != one->expected)
            print_error("%s\n", one->body);
        assert_int_equal(got, one->expected);
    }
}
#define CHECK(cases) check(cases, sizeof(cases) / sizeof((cases)[0]))

#define NEG32(n) ((uint32_t) - (n))
#define NEG64(n) ((uint64_t) - (n))

static void test_arithmetic_of_32_bits(void **state)
{
    (void)state;
    static const struct operation_case cases[] = {
        {"add.s32 %r9, %r1, %r2;", true, 0xffffffff, 3, 0, 0, 2},
        {"sub.s32 %r9, %r1, -7;", true, 5, 0, 0, 0, 12},
        {"mul.lo.s32 %r9, %r1, %r2;", true, 0x10001, 0x10001, 0, 0, 0x20001},
        {"mul.hi.u32 %r9, %r1, %r2;", true, 0xffffffff, 0xffffffff, 0, 0, 0xfffffffe},
        {"mul.hi.s32 %r9, %r1, %r2;", true, NEG32(1), 5, 0, 0, 0xffffffff},
        {"mul.wide.u32 %d9, %r1, %r2;", false, 0xffffffff, 0xffffffff, 0, 0, 0xfffffffe00000001},
        {"mul.wide.s32 %d9, %r1, %r2;", false, NEG32(3), 7, 0, 0, NEG64(21)},
        {"mad.wide.u32 %d9, %r1, %r2, %d3;", false, 3, 4, NEG64(5), 0, 7},
        {"mad.lo.s32 %r9, %r1, %r2, %r3;", true, 7, 8, 9, 0, 65},
        {"mad.hi.u32 %r9, %r1, %r2, %r3;", true, 0x80000000, 6, 9, 0, 12},
        {"div.u32 %r9, %r1, %r2;", true, 0xffffffff, 10, 0, 0, 429496729},
        {"div.u32 %r9, %r1, %r2;", true, 1, 0, 0, 0, 0xffffffff},
        {"div.s32 %r9, %r1, %r2;", true, NEG32(7), 2, 0, 0, NEG32(3)},
        {"rem.s32 %r9, %r1, %r2;", true, NEG32(7), 2, 0, 0, NEG32(1)},
        {"div.s32 %r9, %r1, %r2;", true, 0x80000000, NEG32(1), 0, 0, 0x80000000},
        {"rem.u32 %r9, %r1, 10;", true, 123, 0, 0, 0, 3},
        {"min.s32 %r9, %r1, %r2;", true, NEG32(1), 1, 0, 0, NEG32(1)},
        {"min.u32 %r9, %r1, %r2;", true, NEG32(1), 1, 0, 0, 1},
        {"max.s32 %r9, %r1, %r2;", true, NEG32(1), 1, 0, 0, 1},
        {"max.u32 %r9, %r1, %r2;", true, NEG32(1), 1, 0, 0, NEG32(1)},
        {"neg.s32 %r9, %r1;", true, 5, 0, 0, 0, NEG32(5)},
        {"abs.s32 %r9, %r1;", true, NEG32(5), 0, 0, 0, 5},
    };
    CHECK(cases);
}

static void test_logic_and_shifts_of_32_bits(void **state)
{
    (void)state;
    static const struct operation_case cases[] = {
        {"and.b32 %r9, %r1, 0xff;", true, 0x1234, 0, 0, 0, 0x34},
        {"or.b32 %r9, %r1, %r2;", true, 0xf0, 0x0f, 0, 0, 0xff},
        {"xor.b32 %r9, %r1, %r2;", true, 0xff, 0x0f, 0, 0, 0xf0},
        {"not.b32 %r9, %r1;", true, 1, 0, 0, 0, 0xfffffffe},
        {"shl.b32 %r9, %r1, %r2;", true, 1, 31, 0, 0, 0x80000000},
        {"shl.b32 %r9, %r1, %r2;", true, 1, 32, 0, 0, 0},
        {"shr.u32 %r9, %r1, %r2;", true, 0x80000000, 40, 0, 0, 0},
        {"shr.s32 %r9, %r1, %r2;", true, 0x80000000, 40, 0, 0, 0xffffffff},
        {"shr.s32 %r9, %r1, 4;", true, 0x80000000, 0, 0, 0, 0xf8000000},
        {"shf.l.wrap.b32 %r9, %r1, %r2, %r3;", true, 0x80000001, 2, 33, 0, 5},
        {"shf.l.clamp.b32 %r9, %r1, %r2, %r3;", true, 0x12345678, 2, 40, 0, 0x12345678},
        {"shf.r.wrap.b32 %r9, %r1, %r2, %r3;", true, 0x12345678, 0xabc, 4, 0, 0xc1234567},
        {"shf.r.clamp.b32 %r9, %r1, %r2, %r3;", true, 1, 0xabc, 77, 0, 0xabc},
        {"popc.b32 %r9, %r1;", true, 0xf0f0, 0, 0, 0, 8},
        {"clz.b32 %r9, %r1;", true, 0, 0, 0, 0, 32},
        {"clz.b32 %r9, %r1;", true, 1, 0, 0, 0, 31},
        {"brev.b32 %r9, %r1;", true, 1, 0, 0, 0, 0x80000000},
        {"bfind.u32 %r9, %r1;", true, 0x1000, 0, 0, 0, 12},
        {"bfind.u32 %r9, %r1;", true, 0, 0, 0, 0, 0xffffffff},
        {"bfind.s32 %r9, %r1;", true, NEG32(1), 0, 0, 0, 0xffffffff},
        {"bfind.shiftamt.u32 %r9, %r1;", true, 0x1000, 0, 0, 0, 19},
        {"prmt.b32 %r9, %r1, %r2, 0x4321;", true, 0x44332211, 0x88776655, 0, 0, 0x55443322},
        {"prmt.b32 %r9, %r1, %r2, 0xf8;", true, 0x44332291, 0x88776655, 0, 0, 0x9191ffff},
        {"bfe.u32 %r9, %r1, 4, 8;", true, 0xabcd, 0, 0, 0, 0xbc},
        {"bfe.s32 %r9, %r1, 4, 8;", true, 0xabcd, 0, 0, 0, 0xffffffbc},
        {"bfe.u32 %r9, %r1, 28, 8;", true, 0xabcd1234, 0, 0, 0, 0xa},
        {"bfi.b32 %r9, %r1, %r2, 8, 4;", true, 0x5, 0xffffffff, 0, 0, 0xfffff5ff},
        {"lop3.b32 %r9, %r1, %r2, %r3, 0x96;", true, 0xff00, 0x0ff0, 0x00ff, 0, 0xf00f},
        {"lop3.b32 %r9, %r1, %r2, %r3, 0xe8;", true, 0xff00, 0x0ff0, 0x00ff, 0, 0x0ff0},
    };
    CHECK(cases);
}

static void test_carries(void **state)
{
    (void)state;
    static const struct operation_case cases[] = {
        {"add.cc.u32 %r8, %r1, %r2; addc.u32 %r9, %r3, %r4;", true, 0xffffffff, 1, 5, 6, 12},
        {"add.cc.u32 %r8, %r1, %r2; addc.u32 %r9, %r3, %r4;", true, 0xfffffffe, 1, 5, 6, 11},
        /* the carry in alone makes the carry out */
        {"add.cc.u32 %r8, %r1, %r1; addc.cc.u32 %r8, %r2, 0; addc.u32 %r9, 0, 0;", true, 0x80000000,
         0xffffffff, 0, 0, 1},
        {"sub.cc.u32 %r8, %r1, %r2; subc.u32 %r9, %r3, %r4;", true, 1, 2, 10, 3, 6},
        {"sub.cc.u32 %r8, %r1, %r2; subc.cc.u32 %r8, 0, 0; subc.u32 %r9, 0, 0;", true, 1, 2, 0, 0,
         0xffffffff},
        {"mad.lo.cc.u32 %r8, %r1, %r2, %r3; madc.hi.u32 %r9, %r1, %r2, %r4;", true, 0xffffffff,
         0xffffffff, 0xffffffff, 0, 0xffffffff},
        {"mad.lo.cc.u32 %r8, %r1, %r2, %r3; madc.hi.cc.u32 %r8, %r1, %r2, %r4; addc.u32 %r9, 0, 0;",
         true, 0xffffffff, 0xffffffff, 0xffffffff, 1, 1},
        {"add.cc.u32 %r8, %r1, %r1; madc.lo.cc.u32 %r8, %r2, 1, %r3; addc.u32 %r9, 0, 0;", true,
         0x80000000, 0xffffffff, 0, 0, 1},
        {"mad.hi.cc.u32 %r8, %r1, %r2, %r3; addc.u32 %r9, 0, 0;", true, 0xffffffff, 2, 0xffffffff,
         0, 1},
        {"add.cc.u64 %d8, %d1, %d2; addc.u64 %d9, %d3, %d4;", false, UINT64_MAX, 1, 5, 6, 12},
        {"mad.lo.cc.u64 %d8, %d1, %d2, %d3; madc.hi.u64 %d9, %d1, %d2, 0;", false, UINT64_MAX,
         UINT64_MAX, UINT64_MAX, 0, UINT64_MAX},
    };
    CHECK(cases);
}

static void test_64_and_16_bits(void **state)
{
    (void)state;
    static const struct operation_case cases[] = {
        {"add.s64 %d9, %d1, -1;", false, 0, 0, 0, 0, UINT64_MAX},
        {"mul.lo.s64 %d9, %d1, %d2;", false, 1ull << 33, 1ull << 30, 0, 0, 1ull << 63},
        {"mul.hi.u64 %d9, %d1, %d2;", false, UINT64_MAX, UINT64_MAX, 0, 0, UINT64_MAX - 1},
        {"div.u64 %d9, %d1, %d2;", false, UINT64_MAX, 10, 0, 0, 1844674407370955161},
        {"rem.s64 %d9, %d1, %d2;", false, NEG64(7), 4, 0, 0, NEG64(3)},
        {"shl.b64 %d9, %d1, %r2;", false, 1, 63, 0, 0, 1ull << 63},
        {"shl.b64 %d9, %d1, %r2;", false, 1, 64, 0, 0, 0},
        {"shr.s64 %d9, %d1, %r2;", false, 1ull << 63, 99, 0, 0, UINT64_MAX},
        {"popc.b64 %r9, %d1;", true, UINT64_MAX, 0, 0, 0, 64},
        {"clz.b64 %r9, %d1;", true, 1, 0, 0, 0, 63},
        {"brev.b64 %d9, %d1;", false, 1, 0, 0, 0, 1ull << 63},
        {"bfe.u64 %d9, %d1, 60, 8;", false, 0xabull << 56, 0, 0, 0, 0xa},
        {"min.s64 %d9, %d1, %d2;", false, NEG64(1), 1, 0, 0, NEG64(1)},
        {"mov.b64 %d9, {%r2, %r1};", false, 1, 2, 0, 0, 0x100000002},
        {"mov.b64 {%r8, %r9}, %d1;", true, 0x500000007, 0, 0, 0, 5},
        {"mov.b64 {_, %r9}, %d1;", true, 0x500000007, 0, 0, 0, 5},
        {"mov.b32 {%h1, %h2}, %r1; cvt.u32.u16 %r9, %h2;", true, 0x12345678, 0, 0, 0, 0x1234},
        {"cvt.u16.u32 %h1, %r1; add.s16 %h2, %h1, 1; cvt.u32.u16 %r9, %h2;", true, 0xffff, 0, 0, 0,
         0},
        {"cvt.u16.u32 %h1, %r1; shr.s16 %h2, %h1, 20; cvt.u32.u16 %r9, %h2;", true, 0x8000, 0, 0, 0,
         0xffff},
        {"cvt.u16.u32 %h1, %r1; mul.wide.s16 %r9, %h1, %h1;", true, 0xffff, 0, 0, 0, 1},
        {"cvt.s64.s32 %d9, %r1;", false, 0x80000000, 0, 0, 0, 0xffffffff80000000},
        {"cvt.u16.u32 %h1, %r1; cvt.s32.s8 %r9, %h1;", true, 0x1ff, 0, 0, 0, 0xffffffff},
        {"cvt.u16.u32 %h1, %r1; cvt.u32.u8 %r9, %h1;", true, 0x1ff, 0, 0, 0, 0xff},
        {"cvt.u32.u64 %r9, %d1;", true, 0x1234567890, 0, 0, 0, 0x34567890},
    };
    CHECK(cases);
}

static void test_predicates(void **state)
{
    (void)state;
#define CHOOSE "selp.u32 %r9, 1, 0, %p1;"
    static const struct operation_case cases[] = {
        {"setp.lt.s32 %p1, %r1, %r2;" CHOOSE, true, NEG32(1), 0, 0, 0, 1},
        {"setp.lt.u32 %p1, %r1, %r2;" CHOOSE, true, NEG32(1), 0, 0, 0, 0},
        {"setp.lo.u32 %p1, %r1, %r2;" CHOOSE, true, 1, 2, 0, 0, 1},
        {"setp.hs.u32 %p1, %r1, %r2;" CHOOSE, true, 2, 2, 0, 0, 1},
        {"setp.ge.s64 %p1, %d1, %d2;" CHOOSE, true, 0, NEG64(1), 0, 0, 1},
        {"setp.gt.u64 %p1, %d1, %d2;" CHOOSE, true, 0, NEG64(1), 0, 0, 0},
        {"setp.ne.b32 %p1, %r1, 7;" CHOOSE, true, 7, 0, 0, 0, 0},
        {"setp.eq.s32 %p2, %r1, 7; setp.lt.and.u32 %p1, %r2, 5, %p2;" CHOOSE, true, 7, 4, 0, 0, 1},
        {"setp.eq.s32 %p2, %r1, 7; setp.lt.or.u32 %p1, %r2, 5, !%p2;" CHOOSE, true, 7, 6, 0, 0, 0},
        {"setp.eq.s32 %p2, %r1, 7; not.pred %p1, %p2;" CHOOSE, true, 7, 0, 0, 0, 0},
        {"setp.eq.s32 %p2, %r1, 7; setp.eq.s32 %p3, %r2, 7; xor.pred %p1, %p2, %p3;" CHOOSE, true,
         7, 8, 0, 0, 1},
        {"setp.eq.s32 %p2, %r1, 7; mov.u32 %r9, 1; @%p2 mov.u32 %r9, 2;", true, 7, 0, 0, 0, 2},
        {"setp.eq.s32 %p2, %r1, 7; mov.u32 %r9, 1; @!%p2 mov.u32 %r9, 2;", true, 7, 0, 0, 0, 1},
        {"setp.eq.s32 %p1, %r1, 7; selp.b64 %d9, %d2, %d3, %p1;", false, 6, 1, 1ull << 40, 0,
         1ull << 40},
        {"{ .reg .b32 %r<2>; mov.u32 %r1, 9; } mov.u32 %r9, %r1;", true, 4, 0, 0, 0, 4},
    };
    CHECK(cases);
}

/* What the two builds of the operations make of the same vectors, and of a part of the lanes. */
static void compare_operation(const struct ptx_operation *plain, const struct ptx_operation *fast)
{
    static uint64_t bank[2][8][PTX_LANES] __attribute__((aligned(64)));
    static struct ptx_warp warp[2];
    static const uint32_t edges[] = {0, 1, 31, 32, 0x7fffffff, 0x80000000, 0xffffffff, 0xffff};
    const struct ptx_operation *operation[2] = {plain, fast};
    for (unsigned i = 0; i < 8 * PTX_LANES; i++) {
        const uint32_t low = i % 3 ? edges[rand() % 8] : (uint32_t)rand() * 3u;
        const uint32_t high = i % 5 ? edges[rand() % 8] : (uint32_t)rand() * 5u;
        bank[0][i / PTX_LANES][i % PTX_LANES] = (uint64_t)high << 32 | low;
    }
    memcpy(bank[1], bank[0], sizeof bank[0]);
    const uint32_t active = rand() % 2 ? UINT32_MAX : (uint32_t)rand() * 3u;
    struct ptx_code code = {.operands = (uint8_t)strlen(plain->operands), .writes = 1};
    for (uint32_t i = 0; i < PTX_OPERANDS; i++)
        code.operand[i] = i * PTX_BYTES_64;
    for (unsigned form = 0; form < 2; form++) {
        warp[form].bank[PTX_BANK_FRAME] = (uint8_t *)bank[form];
        warp[form].active = active;
        for (unsigned l = 0; l < PTX_LANES; l++)
            warp[form].carry[l] = l & 1;
        operation[form]->run(&warp[form], &code);
    }
    if (memcmp(bank[0], bank[1], sizeof bank[0]) != 0)
        print_error("%s\n", plain->mnemonic);
    assert_memory_equal(bank[0], bank[1], sizeof bank[0]);
    assert_memory_equal(warp[0].carry, warp[1].carry, sizeof warp[0].carry);
}

static void test_both_builds_agree(void **state)
{
    (void)state;
    if (ptx_operations_for_cpu() == ptx_operations_portable)
        skip();
    srand(1);
    for (unsigned i = 0; ptx_operations_portable[i].mnemonic != NULL; i++)
        for (unsigned round = 0; round < 8; round++)
            compare_operation(&ptx_operations_portable[i], &ptx_operations_avx512[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arithmetic_of_32_bits),
        cmocka_unit_test(test_logic_and_shifts_of_32_bits),
        cmocka_unit_test(test_carries),
        cmocka_unit_test(test_64_and_16_bits),
        cmocka_unit_test(test_predicates),
        cmocka_unit_test(test_both_builds_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
