/*
 * Decodes what moves and compares values in more forms than one mnemonic each: mov with vectors,
 * variables and clocks, setp with combined predicates, conversions of addresses. Called through
 * ptx_decoders_move.
 */
#include "tests/softcuda/ptx_parser.h"
#include "tests/softcuda/ptx_handlers.h"
#include "tests/softcuda/ptx_operations.h"

#include <stdio.h>
#include <string.h>

static struct ptx_code *emit_named(struct ptx_parser *parser, const char *mnemonic)
{
    return ptx_emit(parser, ptx_operation_find(mnemonic, strlen(mnemonic))->run);
}

/* ------------------------------------------------------------ mov */

static const char *whole_type(const struct ptx_mnemonic *mnemonic)
{
    return mnemonic->parts > 1 && mnemonic->part[1].length == 3 && mnemonic->part[1].text[1] == '6'
               ? "b64"
               : "b32";
}

/* mov.b64 {%r1, %r2}, %rd1 */
static bool unpack(struct ptx_parser *parser, const struct ptx_mnemonic *mnemonic)
{
    const bool is_wide = strcmp(whole_type(mnemonic), "b64") == 0;
    uint32_t operand[3];
    if (!ptx_take_vector(parser, is_wide ? PTX_32 : PTX_16, 2, true, operand) ||
        !ptx_take_comma(parser) || !ptx_take_source(parser, is_wide ? PTX_64 : PTX_32, &operand[2]))
        return false;
    struct ptx_code *code = emit_named(parser, is_wide ? "unpack.b64" : "unpack.b32");
    code->writes = 2;
    for (unsigned i = 0; i < 3; i++)
        ptx_emit_operand(code, operand[i]);
    return true;
}

/* mov.b64 %rd1, {%r1, %r2} */
static bool pack(struct ptx_parser *parser, const struct ptx_mnemonic *mnemonic, uint32_t to)
{
    const bool is_wide = strcmp(whole_type(mnemonic), "b64") == 0;
    uint32_t operand[2];
    if (!ptx_take_vector(parser, is_wide ? PTX_32 : PTX_16, 2, false, operand))
        return false;
    struct ptx_code *code = emit_named(parser, is_wide ? "pack.b64" : "pack.b32");
    code->writes = 1;
    ptx_emit_operand(code, to);
    ptx_emit_operand(code, operand[0]);
    ptx_emit_operand(code, operand[1]);
    return true;
}

static bool move_clock(struct ptx_parser *parser, uint32_t to, enum ptx_class class)
{
    ptx_next(parser);
    struct ptx_code *code = ptx_emit(parser, ptx_run_clock);
    code->writes = 1;
    code->class = (uint8_t) class;
    ptx_emit_operand(code, to);
    return class == PTX_32 || class == PTX_64 || ptx_fail(parser, "a clock of 16 bits");
}

static bool move_source(struct ptx_parser *parser, uint32_t to, enum ptx_class class)
{
    static const char *const names[] = {[PTX_PREDICATE] = "mov.pred",
                                        [PTX_16] = "mov.b16",
                                        [PTX_32] = "mov.b32",
                                        [PTX_64] = "mov.b64"};
    uint32_t from;
    if (!ptx_take_source(parser, class, &from))
        return false;
    struct ptx_code *code = emit_named(parser, names[class]);
    code->writes = 1;
    ptx_emit_operand(code, to);
    ptx_emit_operand(code, from);
    return true;
}

static bool decode_mov(struct ptx_parser *parser, const struct ptx_mnemonic *mnemonic)
{
    if (mnemonic->parts != 2)
        return ptx_unknown(parser, mnemonic);
    if (ptx_is(parser, "{"))
        return unpack(parser, mnemonic);
    uint32_t to;
    enum ptx_class class;
    if (!ptx_take_register(parser, &to, &class) || !ptx_take_comma(parser))
        return false;
    if (ptx_is(parser, "{")) {
        const bool is_wide = strcmp(whole_type(mnemonic), "b64") == 0;
        if (class != (is_wide ? PTX_64 : PTX_32))
            return ptx_fail(parser, "a destination of another width than the operation");
        return pack(parser, mnemonic, to);
    }
    if (ptx_is(parser, "%clock") || ptx_is(parser, "%clock64") || ptx_is(parser, "%globaltimer"))
        return move_clock(parser, to, class);
    return move_source(parser, to, class);
}

/* ------------------------------------------------------------ setp */

/* setp.lt.and.u32 p, a, b, q: the comparison, then `and` with q, both into p */
static bool combine(struct ptx_parser *parser, const struct ptx_token *how, uint32_t to,
                    uint32_t compared)
{
    char name[16];
    snprintf(name, sizeof name, "%.*s.pred", (int)how->length, how->text);
    uint32_t other;
    if (!ptx_take_comma(parser) || !ptx_take_source(parser, PTX_PREDICATE, &other))
        return false;
    struct ptx_code *code = emit_named(parser, name);
    code->writes = 1;
    ptx_emit_operand(code, to);
    ptx_emit_operand(code, compared);
    ptx_emit_operand(code, other);
    return true;
}

static bool is_combination(const struct ptx_token *part)
{
    return ptx_same(part, "and") || ptx_same(part, "or") || ptx_same(part, "xor");
}

static enum ptx_class class_of(char letter)
{
    return letter == 'h' ? PTX_16 : letter == 'w' ? PTX_32 : PTX_64;
}

static bool compare(struct ptx_parser *parser, const struct ptx_operation *operation, uint32_t to)
{
    const enum ptx_class class = class_of(operation->operands[1]);
    uint32_t a, b;
    if (!ptx_take_comma(parser) || !ptx_take_source(parser, class, &a) || !ptx_take_comma(parser) ||
        !ptx_take_source(parser, class, &b))
        return false;
    struct ptx_code *code = ptx_emit(parser, operation->run);
    code->writes = 1;
    ptx_emit_operand(code, to);
    ptx_emit_operand(code, a);
    ptx_emit_operand(code, b);
    return true;
}

static bool decode_setp(struct ptx_parser *parser, const struct ptx_mnemonic *mnemonic)
{
    const unsigned type = mnemonic->parts - 1;
    const bool combined = mnemonic->parts == 4 && is_combination(&mnemonic->part[2]);
    if (mnemonic->parts != 3 && !combined)
        return ptx_unknown(parser, mnemonic);
    char name[32];
    const int length = snprintf(name, sizeof name, "setp.%.*s.%.*s", (int)mnemonic->part[1].length,
                                mnemonic->part[1].text, (int)mnemonic->part[type].length,
                                mnemonic->part[type].text);
    const struct ptx_operation *operation =
        length < (int)sizeof name ? ptx_operation_find(name, (size_t)length) : NULL;
    if (operation == NULL)
        return ptx_unknown(parser, mnemonic);
    uint32_t to, compared;
    if (!ptx_take_destination(parser, PTX_PREDICATE, &to))
        return false;
    compared = combined ? ptx_temporary(parser, PTX_PREDICATE) : to;
    return compare(parser, operation, compared) &&
           (!combined || combine(parser, &mnemonic->part[2], to, compared));
}

/* ------------------------------------------------------------ addresses */

/* cvta.shared.u64 adds the window's base, cvta.to.shared.u64 takes it off; others are the same */
static bool decode_cvta(struct ptx_parser *parser, const struct ptx_mnemonic *mnemonic)
{
    const bool to_space = ptx_part_is(mnemonic, 1, "to");
    const unsigned space = to_space ? 2 : 1;
    if (mnemonic->parts != space + 2 || !ptx_part_is(mnemonic, space + 1, "u64"))
        return ptx_unknown(parser, mnemonic);
    uint32_t to, from;
    if (!ptx_take_destination(parser, PTX_64, &to) || !ptx_take_comma(parser) ||
        !ptx_take_source(parser, PTX_64, &from))
        return false;
    const bool is_shared = ptx_part_is(mnemonic, space, "shared");
    struct ptx_code *code = emit_named(parser, !is_shared ? "mov.b64"
                                               : to_space ? "sub.u64"
                                                          : "add.u64");
    code->writes = 1;
    ptx_emit_operand(code, to);
    ptx_emit_operand(code, from);
    if (is_shared) {
        const uint32_t window = ptx_constant(parser, PTX_64, PTX_WINDOW_SHARED);
        ptx_emit_operand(code, window);
    }
    return true;
}

const struct ptx_decoder ptx_decoders_move[] = {
    {"mov", decode_mov}, {"setp", decode_setp}, {"cvta", decode_cvta}, {NULL, NULL}};
