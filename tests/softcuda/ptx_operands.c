/*
 * Operands of instructions: registers, immediates, special registers, vectors in braces, addresses
 * in brackets. Called by the decoders. What an operand must be is checked here, so that handlers
 * never meet a register of another width.
 */
#include "tests/softcuda/ptx_parser.h"
#include "tests/softcuda/ptx_handlers.h"
#include "tests/softcuda/ptx_operations.h"

static const char *const specials[PTX_SPECIALS] = {
    [PTX_TID_X] = "%tid.x",
    [PTX_TID_Y] = "%tid.y",
    [PTX_TID_Z] = "%tid.z",
    [PTX_NTID_X] = "%ntid.x",
    [PTX_NTID_Y] = "%ntid.y",
    [PTX_NTID_Z] = "%ntid.z",
    [PTX_CTAID_X] = "%ctaid.x",
    [PTX_CTAID_Y] = "%ctaid.y",
    [PTX_CTAID_Z] = "%ctaid.z",
    [PTX_NCTAID_X] = "%nctaid.x",
    [PTX_NCTAID_Y] = "%nctaid.y",
    [PTX_NCTAID_Z] = "%nctaid.z",
    [PTX_LANEID] = "%laneid",
    [PTX_WARPID] = "%warpid",
    [PTX_NWARPID] = "%nwarpid",
    [PTX_SMID] = "%smid",
    [PTX_NSMID] = "%nsmid",
    [PTX_GRIDID] = "%gridid",
    [PTX_LANEMASK_EQ] = "%lanemask_eq",
    [PTX_LANEMASK_LE] = "%lanemask_le",
    [PTX_LANEMASK_LT] = "%lanemask_lt",
    [PTX_LANEMASK_GE] = "%lanemask_ge",
    [PTX_LANEMASK_GT] = "%lanemask_gt",
    [PTX_DYNAMIC_SMEM] = "%dynamic_smem_size",
    [PTX_TOTAL_SMEM] = "%total_smem_size",
};

static bool unexpected(struct ptx_parser *parser, const char *what)
{
    const size_t length = parser->token.length < 40 ? parser->token.length : 40;
    return ptx_fail(parser, "%s expected, not '%.*s'", what, (int)length, parser->token.text);
}

bool ptx_take_comma(struct ptx_parser *parser)
{
    return ptx_expect(parser, ",");
}

bool ptx_take_register(struct ptx_parser *parser, uint32_t *operand, enum ptx_class *class)
{
    uint32_t number;
    if (!ptx_register_find(parser, &parser->token, &number, class))
        return unexpected(parser, "a register");
    *operand = number << 2 | PTX_BANK_FRAME;
    ptx_next(parser);
    return true;
}

bool ptx_take_destination(struct ptx_parser *parser, enum ptx_class class, uint32_t *operand)
{
    if (ptx_accept(parser, "_")) {
        *operand = ptx_temporary(parser, class);
        return true;
    }
    enum ptx_class found;
    if (!ptx_take_register(parser, operand, &found))
        return false;
    return found == class || ptx_fail(parser, "a destination of another width than the operation");
}

static bool find_special(const struct ptx_token *name, uint32_t *operand)
{
    for (unsigned i = 0; i < PTX_SPECIALS; i++)
        if (ptx_same(name, specials[i])) {
            *operand = i * PTX_BYTES_32 | PTX_BANK_SPECIAL;
            return true;
        }
    return false;
}

bool ptx_symbol_address(struct ptx_parser *parser, const struct ptx_symbol *symbol,
                        enum ptx_class class, uint64_t offset, uint32_t *operand)
{
    if (symbol->kind != PTX_SYMBOL_VARIABLE || (class != PTX_64 && class != PTX_32))
        return ptx_fail(parser, "%.*s has no address here", (int)symbol->length, symbol->name);
    if (!symbol->is_dynamic && !symbol->is_frame) {
        *operand = ptx_constant(parser, class, symbol->address + offset);
        return true;
    }
    if (symbol->is_frame && class != PTX_64)
        return ptx_fail(parser, "a local address of 32 bits");
    const bool is_frame = symbol->is_frame;
    const uint64_t address = symbol->is_frame ? symbol->address : 0;
    *operand = ptx_temporary(parser, class);
    struct ptx_code *code =
        ptx_emit(parser, is_frame ? ptx_run_frame_address : ptx_run_dynamic_shared);
    code->class = (uint8_t) class;
    code->immediate = (int64_t)(address + offset);
    code->writes = 1;
    ptx_emit_operand(code, *operand);
    return true;
}

/* !%p: into a register of its own */
static bool take_negated(struct ptx_parser *parser, uint32_t *operand)
{
    enum ptx_class class;
    uint32_t source = 0;
    if (!ptx_take_register(parser, &source, &class))
        return false;
    if (class != PTX_PREDICATE)
        return ptx_fail(parser, "'!' before what is no predicate");
    *operand = ptx_temporary(parser, PTX_PREDICATE);
    struct ptx_code *code = ptx_emit(parser, ptx_operation_find("not.pred", 8)->run);
    code->writes = 1;
    ptx_emit_operand(code, *operand);
    ptx_emit_operand(code, source);
    return true;
}

static bool take_word(struct ptx_parser *parser, enum ptx_class class, uint32_t *operand)
{
    uint32_t number;
    enum ptx_class found;
    if (ptx_register_find(parser, &parser->token, &number, &found)) {
        ptx_next(parser);
        *operand = number << 2 | PTX_BANK_FRAME;
        return found == class || ptx_fail(parser, "a source of another width than the operation");
    }
    const struct ptx_token name = parser->token;
    if (find_special(&name, operand)) {
        ptx_next(parser);
        return class == PTX_32 || ptx_fail(parser, "a special register has 32 bits");
    }
    const struct ptx_symbol *symbol = ptx_symbol_find(parser, &name);
    if (symbol == NULL && !ptx_same(&name, "WARP_SZ"))
        return unexpected(parser, "a register, number or variable");
    ptx_next(parser);
    if (symbol != NULL)
        return ptx_symbol_address(parser, symbol, class, 0, operand);
    *operand = ptx_constant(parser, class, PTX_LANES);
    return true;
}

bool ptx_take_source(struct ptx_parser *parser, enum ptx_class class, uint32_t *operand)
{
    if (class == PTX_PREDICATE && ptx_accept(parser, "!"))
        return take_negated(parser, operand);
    if (parser->token.kind == PTX_WORD)
        return take_word(parser, class, operand);
    uint64_t value;
    if (class == PTX_PREDICATE)
        return unexpected(parser, "a predicate");
    if (!ptx_number(parser, &value))
        return false;
    *operand = ptx_constant(parser, class, value);
    return true;
}

static bool take_one(struct ptx_parser *parser, enum ptx_class class, bool written,
                     uint32_t *operand)
{
    return written ? ptx_take_destination(parser, class, operand)
                   : ptx_take_source(parser, class, operand);
}

bool ptx_take_vector(struct ptx_parser *parser, enum ptx_class class, unsigned count, bool written,
                     uint32_t *operands)
{
    if (count == 1 && !ptx_is(parser, "{"))
        return take_one(parser, class, written, operands);
    if (!ptx_expect(parser, "{"))
        return false;
    for (unsigned i = 0; i < count; i++)
        if ((i > 0 && !ptx_take_comma(parser)) || !take_one(parser, class, written, &operands[i]))
            return false;
    return ptx_expect(parser, "}");
}

static bool take_base(struct ptx_parser *parser, struct ptx_address *address)
{
    uint32_t number;
    enum ptx_class class;
    if (ptx_register_find(parser, &parser->token, &number, &class)) {
        if (class != PTX_64 && class != PTX_32)
            return ptx_fail(parser, "an address in a register of the wrong width");
        address->operand = number << 2 | PTX_BANK_FRAME;
        address->is_wide = class == PTX_64;
        ptx_next(parser);
        return true;
    }
    address->symbol = ptx_symbol_find(parser, &parser->token);
    if (address->symbol == NULL || address->symbol->kind != PTX_SYMBOL_VARIABLE)
        return unexpected(parser, "an address");
    ptx_next(parser);
    return true;
}

bool ptx_take_address(struct ptx_parser *parser, struct ptx_address *address)
{
    *address = (struct ptx_address){.operand = PTX_NO_OPERAND};
    if (!ptx_expect(parser, "["))
        return false;
    if (parser->token.kind == PTX_WORD && !take_base(parser, address))
        return false;
    uint64_t offset = 0;
    const bool has_offset = ptx_accept(parser, "+") || parser->token.kind == PTX_NUMBER;
    if ((has_offset || ptx_is(parser, "-")) && !ptx_number(parser, &offset))
        return false;
    address->offset = (int64_t)offset;
    return ptx_expect(parser, "]");
}
