/*
 * Decodes branches, calls, returns and barriers. Called through ptx_decoders_control.
 */
#include "tests/softcuda/ptx_parser.h"
#include "tests/softcuda/ptx_handlers.h"

/* The condition of a branch is its guard; it belongs to the handler, not to the lanes' mask. */
static bool decode_bra(struct ptx_parser *parser, const struct ptx_mnemonic *mnemonic)
{
    if (mnemonic->parts > 2 || (mnemonic->parts == 2 && !ptx_part_is(mnemonic, 1, "uni")))
        return ptx_unknown(parser, mnemonic);
    const uint32_t condition = parser->guard;
    parser->guard = PTX_NO_OPERAND;
    struct ptx_code *code =
        ptx_emit(parser, condition == PTX_NO_OPERAND ? ptx_run_branch : ptx_run_branch_if);
    if (condition == PTX_NO_OPERAND)
        code->ends_block = true;
    else
        ptx_emit_operand(code, condition);
    code->guard_not = parser->guard_not;
    uint32_t label;
    if (!ptx_label_use(parser, &parser->token, &label))
        return false;
    code->target = label;
    ptx_next(parser);
    return true;
}

static bool decode_simple(struct ptx_parser *parser, const struct ptx_mnemonic *mnemonic)
{
    const bool is_return = ptx_part_is(mnemonic, 0, "ret");
    const bool is_trap = ptx_part_is(mnemonic, 0, "trap");
    struct ptx_code *code = ptx_emit(parser, is_return ? ptx_run_return
                                             : is_trap ? ptx_run_trap
                                                       : ptx_run_exit);
    code->ends_block = parser->guard == PTX_NO_OPERAND;
    return true;
}

/* ------------------------------------------------------------ calls */

static bool add_copy(struct ptx_parser *parser, const struct ptx_param *param)
{
    const struct ptx_symbol *symbol = ptx_symbol_find(parser, &parser->token);
    if (symbol == NULL || symbol->kind != PTX_SYMBOL_VARIABLE || !symbol->is_frame ||
        symbol->bytes != param->bytes)
        return ptx_fail(parser, "'%.*s' does not fit the function's parameter",
                        (int)(parser->token.length < 40 ? parser->token.length : 40),
                        parser->token.text);
    struct ptx_module *module = parser->module;
    if (!ptx_room(parser, &module->copy, module->copies, &parser->copy_room, sizeof *module->copy))
        return false;
    module->copy[module->copies++] = (struct ptx_copy){
        .caller = (uint32_t)symbol->address, .callee = param->offset, .bytes = param->bytes};
    ptx_next(parser);
    return true;
}

static uint32_t find_function(const struct ptx_parser *parser, const struct ptx_token *name)
{
    for (uint32_t i = 0; i < parser->module->functions; i++)
        if (ptx_same(name, parser->module->function[i].name))
            return i;
    return UINT32_MAX;
}

/* Where the returns are named, which stands before the function. */
struct arguments {
    struct ptx_place place;
    bool has_any;
};

static void skip_arguments(struct ptx_parser *parser)
{
    while (parser->token.kind != PTX_END && !ptx_accept(parser, ")"))
        ptx_next(parser);
}

static bool take_arguments(struct ptx_parser *parser, const struct ptx_param *param, uint32_t count)
{
    if (!ptx_expect(parser, "("))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if ((i > 0 && !ptx_take_comma(parser)) || !add_copy(parser, &param[i]))
            return false;
    return ptx_expect(parser, ")");
}

/* `(retval0), name, (param0, param1)`: the copies in come first, those out after them */
static bool take_call(struct ptx_parser *parser, struct ptx_call *call)
{
    struct arguments returns = {.place = ptx_place(parser), .has_any = ptx_is(parser, "(")};
    if (returns.has_any) {
        skip_arguments(parser);
        if (!ptx_take_comma(parser))
            return false;
    }
    call->function = find_function(parser, &parser->token);
    if (call->function == UINT32_MAX)
        return ptx_fail(parser, "a call of %.*s, which is not declared",
                        (int)(parser->token.length < 60 ? parser->token.length : 60),
                        parser->token.text);
    const struct ptx_function *function = &parser->module->function[call->function];
    if (function->is_kernel || (function->returns > 0) != returns.has_any)
        return ptx_fail(parser, "a call that does not fit %s", function->name);
    ptx_next(parser);
    call->in = function->params;
    call->out = function->returns;
    if (ptx_accept(parser, ",")) {
        if (!take_arguments(parser, &function->param[function->returns], function->params))
            return false;
    } else if (function->params > 0) {
        return ptx_fail(parser, "a call without parameters");
    }
    const struct ptx_place end = ptx_place(parser);
    if (returns.has_any) {
        ptx_go_back(parser, &returns.place);
        if (!take_arguments(parser, function->param, function->returns))
            return false;
        ptx_go_back(parser, &end);
    }
    return true;
}

static bool decode_call(struct ptx_parser *parser, const struct ptx_mnemonic *mnemonic)
{
    if (mnemonic->parts > 2 || (mnemonic->parts == 2 && !ptx_part_is(mnemonic, 1, "uni")))
        return ptx_unknown(parser, mnemonic);
    if (parser->guard != PTX_NO_OPERAND)
        return ptx_fail(parser, "a call with a guard");
    struct ptx_module *module = parser->module;
    struct ptx_call call = {.copies = module->copies};
    if (!take_call(parser, &call) ||
        !ptx_room(parser, &module->call, module->calls, &parser->call_room, sizeof *module->call))
        return false;
    struct ptx_code *code = ptx_emit(parser, ptx_run_call);
    code->target = module->calls;
    module->call[module->calls++] = call;
    return true;
}

/* ------------------------------------------------------------ barriers */

/* bar.sync 0; barrier.sync.aligned 0; of all threads of the block */
static bool decode_barrier(struct ptx_parser *parser, const struct ptx_mnemonic *mnemonic)
{
    const bool is_warp = ptx_part_is(mnemonic, 1, "warp") && ptx_part_is(mnemonic, 2, "sync");
    const unsigned sync = ptx_part_is(mnemonic, 1, "cta") ? 2 : 1;
    if (is_warp) {
        uint32_t mask;
        if (!ptx_take_source(parser, PTX_32, &mask))
            return false;
        ptx_emit_operand(ptx_emit(parser, ptx_run_warp_barrier), mask);
        return true;
    }
    if (!ptx_part_is(mnemonic, sync, "sync") ||
        (mnemonic->parts > sync + 1 && !ptx_part_is(mnemonic, sync + 1, "aligned")))
        return ptx_unknown(parser, mnemonic);
    uint32_t number;
    if (!ptx_count(parser, 15, &number))
        return false;
    if (ptx_is(parser, ","))
        return ptx_fail(parser, "a barrier of some of the block's threads");
    ptx_emit(parser, ptx_run_barrier)->immediate = number;
    return true;
}

const struct ptx_decoder ptx_decoders_control[] = {
    {"bra", decode_bra},         {"ret", decode_simple},
    {"exit", decode_simple},     {"trap", decode_simple},
    {"call", decode_call},       {"bar", decode_barrier},
    {"barrier", decode_barrier}, {NULL, NULL}};
