/*
 * What is refused when a module is loaded, with its reason; and thousands of damaged texts and
 * fatbins, which may be refused or run, but never end the program.
 */
#include "tests/softcuda/ptx.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define HEAD ".version 9.0\n.target sm_90\n.address_size 64\n"
#define KERNEL(body) HEAD ".visible .entry k(.param .u64 k_out)\n{\n.reg .b32 %r<4>;\n" body "}\n"

static void test_what_is_refused_names_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"", "PTX line 1: no .version: this is no PTX"},
        {"no PTX at all", "PTX line 1: no .version: this is no PTX"},
        {KERNEL("add.f32 %r1, %r2, %r3;\n"), "PTX line 7: opcode add.f32 is not known"},
        {KERNEL("frobnicate.u32 %r1;\n"), "PTX line 7: opcode frobnicate.u32 is not known"},
        {KERNEL("ld.global.v3.u32 %r1, [%r2];\n"), "PTX line 7: opcode ld.global.v3.u32 is not"},
        {KERNEL("add.u32 %r1, %r2, %r4;\n"), "PTX line 7: a register, number or variable expected"},
        {KERNEL("add.u64 %r1, %r2, %r3;\n"), "PTX line 7: a destination of another width"},
        {KERNEL("bra NOWHERE;\n"), "PTX line 7: label NOWHERE is nowhere defined"},
        {KERNEL("A:\nA:\n"), "PTX line 8: label A is defined twice"},
        {KERNEL("call f, ();\n"), "PTX line 7: a call of f, which is not declared"},
        {KERNEL("ret\n"), "PTX line 8: ';' expected, not '}'"},
        {HEAD ".visible .entry k()\n{\nret;\n", "PTX line 7: the text ends within k"},
        {HEAD ".func f()\n{\ncall f, ();\nret;\n}\n.visible .entry k()\n{\ncall f, ();\n}\n",
         "PTX line 6: f: calls nested deeper than 12, or recursive"},
        {HEAD ".global .align 4 .b8 g[4] = {1, 2, 3, 4, 5};\n",
         "PTX line 4: more initial values than the variable holds"},
        {HEAD ".global .b8 g[99999999999];\n", "PTX line 4: 99999999999 is too many"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char why[300] = "";
        struct ptx_module *module =
            ptx_module_load(cases[i].text, strlen(cases[i].text), why, sizeof why);
        assert_null(module);
        if (strncmp(why, cases[i].why, strlen(cases[i].why)) != 0)
            print_error("%s\ngot:  %s\nwant: %s\n", cases[i].text, why, cases[i].why);
        assert_memory_equal(why, cases[i].why, strlen(cases[i].why));
    }
}

/* ------------------------------------------------------------ fatbins */

struct fatbin {
    uint8_t bytes[4096];
    size_t length;
};

static void put(struct fatbin *fatbin, size_t at, uint64_t value, unsigned bytes)
{
    memcpy(fatbin->bytes + at, &value, bytes);
}

static void add_entry(struct fatbin *fatbin, unsigned kind, unsigned architecture, uint64_t flags,
                      const char *payload)
{
    const size_t at = fatbin->length, length = strlen(payload) + 5;
    put(fatbin, at, kind, 2);
    put(fatbin, at + 4, 64, 4);
    put(fatbin, at + 8, length, 8);
    put(fatbin, at + 28, architecture, 4);
    put(fatbin, at + 40, flags, 8);
    memcpy(fatbin->bytes + at + 64, payload, strlen(payload));
    fatbin->length += 64 + length;
    put(fatbin, 8, fatbin->length - 16, 8);
}

static struct fatbin make_fatbin(void)
{
    struct fatbin fatbin = {.length = 16};
    put(&fatbin, 0, 0xba55ed50, 4);
    put(&fatbin, 4, 1, 2);
    put(&fatbin, 6, 16, 2);
    add_entry(&fatbin, 2, 90, 0, "\177ELF");
    return fatbin;
}

static struct ptx_module *load(const struct fatbin *fatbin, size_t length, char *why)
{
    /* of exactly that size, so that a read behind it is seen */
    uint8_t *copy = malloc(length + 1);
    assert_non_null(copy);
    memcpy(copy, fatbin->bytes, length);
    struct ptx_module *module = ptx_module_load(copy, length, why, 300);
    free(copy);
    return module;
}

static void test_the_newest_text_of_a_fatbin(void **state)
{
    (void)state;
    char why[300];
    struct fatbin fatbin = make_fatbin();
    assert_null(load(&fatbin, fatbin.length, why));
    assert_non_null(strstr(why, "it holds no PTX"));
    add_entry(&fatbin, 1, 80, 0, HEAD ".entry old() { ret; }");
    add_entry(&fatbin, 1, 121, 0, HEAD ".entry fresh() { ret; }");
    add_entry(&fatbin, 1, 90, 0, HEAD ".entry middle() { ret; }");
    struct ptx_module *module = load(&fatbin, fatbin.length, why);
    assert_non_null(module);
    assert_non_null(ptx_kernel_find(module, "fresh"));
    assert_null(ptx_kernel_find(module, "old"));
    ptx_module_free(module);
    add_entry(&fatbin, 1, 122, 0x8000, "compressed");
    assert_null(load(&fatbin, fatbin.length, why));
    assert_non_null(strstr(why, "--no-compress"));
}

static void test_fatbins_cut_short(void **state)
{
    (void)state;
    char why[300];
    struct fatbin fatbin = make_fatbin();
    add_entry(&fatbin, 1, 90, 0, HEAD ".entry k() { ret; }");
    for (size_t length = 0; length < fatbin.length; length++)
        assert_null(load(&fatbin, length, why));
    static const struct {
        size_t at;
        uint64_t value;
        unsigned bytes;
    } lies[] = {{8, UINT64_MAX, 8}, {6, 0, 2},           {6, 65535, 2},       {4, 2, 2},
                {20, 0, 4},         {20, UINT32_MAX, 4}, {24, UINT64_MAX, 8}, {24, 1 << 20, 8},
                {97, 1 << 20, 8},   {97, UINT64_MAX, 8}};
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        struct fatbin damaged = fatbin;
        put(&damaged, lies[i].at, lies[i].value, lies[i].bytes);
        assert_null(load(&damaged, damaged.length, why));
        assert_memory_equal(why, "fatbin, byte ", 13);
    }
}

/* ------------------------------------------------------------ damage */

static const char whole[] = HEAD
    ".const .align 4 .b8 table[8] = {1, 0, 0, 0, 2};\n.global .align 8 .b64 word;\n"
    ".extern .shared .align 16 .b8 tile[];\n"
    ".func (.param .b32 back) f(.param .align 8 .b8 pair[8])\n{\n.reg .b32 %r<4>;\n"
    ".reg .b64 %rd<3>;\nld.param.u64 %rd1, [pair];\nmov.b64 {%r1, %r2}, %rd1;\n"
    "mad.lo.cc.u32 %r1, %r1, %r2, 3;\nmadc.hi.u32 %r2, %r1, %r2, 0;\n"
    "st.param.b32 [back], %r2;\nret;\n}\n"
    ".visible .entry k(.param .u64 k_out)\n.maxntid 128\n{\n.local .align 16 .b8 depot[32];\n"
    ".reg .pred %p<4>;\n.reg .b16 %rs<3>;\n.reg .b32 %r<20>;\n.reg .b64 %rd<12>;\n"
    "ld.param.u64 %rd1, [k_out];\ncvta.to.global.u64 %rd2, %rd1;\nmov.u32 %r1, %tid.x;\n"
    "mov.u64 %rd3, depot;\nst.local.v2.u32 [%rd3+8], {%r1, %r1};\nsetp.lt.u32 %p1, %r1, 9;\n"
    "LOOP:\n@%p1 bra SKIP;\n{ // callseq\n.param .align 8 .b8 p0[8];\nld.local.u64 %rd4, "
    "[%rd3+8];\n"
    "st.param.b64 [p0], %rd4;\n.param .b32 r0;\ncall.uni (r0), f, (p0);\nld.param.b32 %r2, [r0];\n"
    "}\nSKIP:\nshfl.sync.down.b32 %r3|%p2, %r1, 1, 31, -1;\nvote.sync.ballot.b32 %r4, %p1, -1;\n"
    "mov.u32 %r5, tile;\nshl.b32 %r6, %r1, 2;\nadd.s32 %r5, %r5, %r6;\nst.shared.u32 [%r5], %r3;\n"
    "bar.sync 0;\nmov.u64 %rd5, word;\natom.global.add.u32 %r7, [%rd5], 1;\n"
    "ld.const.u32 %r8, [table+4];\nsetp.gt.and.u32 %p3, %r8, 1, !%p1;\nselp.u32 %r9, %r7, %r8, "
    "%p3;\n"
    "mul.wide.u32 %rd6, %r1, 4;\nadd.s64 %rd7, %rd2, %rd6;\nst.global.u32 [%rd7], %r9;\n"
    "add.u32 %r10, %r10, 1;\nsetp.lt.u32 %p2, %r10, 3;\n@%p2 bra LOOP;\nret;\n}\n";

static uint8_t memory[512];
static const struct ptx_range range = {.base = 4096, .bytes = sizeof memory, .host = memory};

static const struct ptx_range *find(void *owner, uint64_t address)
{
    (void)owner;
    return address - range.base < range.bytes ? &range : NULL;
}

static int run(const struct ptx_module *module)
{
    const struct ptx_kernel *kernel = ptx_kernel_find(module, "k");
    if (kernel == NULL)
        return -ENOENT;
    const uint64_t params[64] = {range.base};
    const struct ptx_launch launch = {.grid = {2, 1, 1},
                                      .block = {64, 1, 1},
                                      .shared_bytes = 256,
                                      .params = params,
                                      .param_bytes = ptx_kernel_limits(kernel).param_bytes};
    if (launch.param_bytes > sizeof params)
        return -ENOENT;
    const struct ptx_memory view = {.find = find, .steps_most = 3000};
    struct ptx_fault fault;
    return ptx_run(kernel, &launch, &view, &fault);
}

/* another digit: it often still is a program, but another one */
static size_t change_digit(char *text, size_t length)
{
    for (unsigned tries = 0; tries < 100; tries++) {
        const size_t at = (size_t)rand() % length;
        if (text[at] < '0' || text[at] > '9')
            continue;
        text[at] = (char)('0' + rand() % 10);
        return length;
    }
    return length;
}

/* one of: a byte changed, some removed, some doubled, the end cut off */
static size_t damage(char *text, size_t length)
{
    const size_t at = (size_t)rand() % length, some = (size_t)rand() % 12 + 1;
    const char marks[] = "0123456789%rdp.,;[]{}+-@!_ \n()<>\"/*\377";
    switch (rand() % 5) {
    case 0:
        text[at] = (char)rand();
        return length;
    case 1:
        text[at] = marks[(size_t)rand() % (sizeof marks - 1)];
        return length;
    case 2:
        if (at + some > length)
            return length;
        memmove(text + at, text + at + some, length - at - some);
        return length - some;
    case 3:
        if (at + 2 * some > length)
            return length;
        memcpy(text + at + some, text + at, some);
        return length;
    default:
        return rand() % 4 == 0 ? at + 1 : length;
    }
}

static void test_damaged_texts(void **state)
{
    (void)state;
    char why[300];
    struct ptx_module *module = ptx_module_load(whole, strlen(whole), why, sizeof why);
    if (module == NULL)
        print_error("%s\n", why);
    assert_non_null(module);
    assert_int_equal(run(module), 0);
    ptx_module_free(module);
    unsigned refused = 0, faulted = 0;
    srand(7);
    for (unsigned round = 0; round < 4000; round++) {
        size_t length = strlen(whole);
        char *text = malloc(length);
        assert_non_null(text);
        memcpy(text, whole, length);
        for (int times = rand() % 3; times >= 0; times--)
            length = round % 2 ? change_digit(text, length) : damage(text, length);
        char *exact = realloc(text, length);
        assert_non_null(exact);
        module = ptx_module_load(exact, length, why, sizeof why);
        free(exact);
        refused += module == NULL;
        faulted += module != NULL && run(module) != 0;
        ptx_module_free(module);
    }
    assert_true(refused > 1000 && refused < 3900);
    assert_true(faulted > 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_refused_names_its_line),
        cmocka_unit_test(test_the_newest_text_of_a_fatbin),
        cmocka_unit_test(test_fatbins_cut_short),
        cmocka_unit_test(test_damaged_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
