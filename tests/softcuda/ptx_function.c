/*
 * One .entry or .func: head, parameters, and the statements of its body with their nested scopes.
 * Called by ptx_parse.c.
 */
#include "tests/softcuda/ptx_parser.h"
#include "tests/softcuda/ptx_handlers.h"

#include <stdlib.h>
#include <string.h>

enum { SCOPES_MOST = 16 };

static struct ptx_function *find_function(struct ptx_parser *parser, const struct ptx_token *name)
{
    for (uint32_t i = 0; i < parser->module->functions; i++)
        if (ptx_same(name, parser->module->function[i].name))
            return &parser->module->function[i];
    return NULL;
}

/* calls that were decoded already rely on where parameters lie */
static bool same_head(const struct ptx_function *a, const struct ptx_function *b)
{
    return !a->is_defined && a->is_kernel == b->is_kernel && a->returns == b->returns &&
           a->params == b->params && memcmp(a->param, b->param, sizeof a->param) == 0;
}

/* the one of that name, declared before, or a new one */
static struct ptx_function *open_function(struct ptx_parser *parser, const struct ptx_token *name,
                                          const struct ptx_function *head)
{
    struct ptx_function *function = find_function(parser, name);
    if (function != NULL)
        return same_head(function, head) ? function : NULL;
    struct ptx_module *module = parser->module;
    if (!ptx_room(parser, &module->function, module->functions, &parser->function_room,
                  sizeof *module->function))
        return NULL;
    char *copy = strndup(name->text, name->length);
    if (copy == NULL)
        return NULL;
    function = &module->function[module->functions++];
    *function = (struct ptx_function){.name = copy, .threads_most = 1024};
    return function;
}

/* .maxntid 256, .reqntid 32,1,1, .minnctapersm 2, .noreturn and their like */
static bool parse_hints(struct ptx_parser *parser)
{
    while (parser->token.kind == PTX_WORD && parser->token.text[0] == '.') {
        const bool is_bound = ptx_is(parser, ".maxntid") || ptx_is(parser, ".reqntid");
        const bool is_pragma = ptx_is(parser, ".pragma");
        ptx_next(parser);
        uint64_t threads = 1;
        while (parser->token.kind == PTX_NUMBER || parser->token.kind == PTX_STRING) {
            threads *= parser->token.number < 1025 ? parser->token.number : 1025;
            ptx_next(parser);
            if (!ptx_accept(parser, ","))
                break;
        }
        if (is_bound && threads > 0 && threads < parser->function->threads_most)
            parser->function->threads_most = (uint32_t)threads;
        if (is_pragma)
            ptx_accept(parser, ";");
    }
    return !parser->failed;
}

/* ------------------------------------------------------------ statements */

static bool is_label(const struct ptx_parser *parser)
{
    return parser->token.kind == PTX_WORD && parser->at < parser->end && *parser->at == ':';
}

static bool parse_guard(struct ptx_parser *parser)
{
    if (!ptx_accept(parser, "@"))
        return true;
    const bool negated = ptx_accept(parser, "!");
    uint32_t number;
    enum ptx_class class;
    if (!ptx_register_find(parser, &parser->token, &number, &class) || class != PTX_PREDICATE)
        return ptx_fail(parser, "a guard that is no predicate");
    parser->guard = number << 2 | PTX_BANK_FRAME;
    parser->guard_not = negated;
    ptx_next(parser);
    return true;
}

static bool parse_directive(struct ptx_parser *parser)
{
    if (ptx_accept(parser, ".reg"))
        return ptx_parse_registers(parser);
    if (ptx_is(parser, ".loc") || ptx_is(parser, ".file")) {
        ptx_skip_line(parser);
        return true;
    }
    if (ptx_accept(parser, ".pragma")) {
        ptx_next(parser);
        return ptx_expect(parser, ";");
    }
    return ptx_parse_variable(parser);
}

static bool parse_statement(struct ptx_parser *parser)
{
    if (ptx_accept(parser, ";"))
        return true;
    parser->statement_line = parser->token.line;
    parser->guard = PTX_NO_OPERAND;
    parser->guard_not = false;
    if (is_label(parser)) {
        const struct ptx_token name = parser->token;
        ptx_next(parser);
        return ptx_label_define(parser, &name) && ptx_expect(parser, ":");
    }
    if (parser->token.kind == PTX_WORD && parser->token.text[0] == '.')
        return parse_directive(parser);
    return parse_guard(parser) && ptx_decode_instruction(parser) && ptx_expect(parser, ";");
}

struct scope {
    uint32_t symbols, local_bytes;
};

/* after the first brace, up to the last one */
static bool parse_body(struct ptx_parser *parser)
{
    struct scope scope[SCOPES_MOST];
    unsigned depth = 0;
    for (;;) {
        if (ptx_is(parser, "{")) {
            if (depth == SCOPES_MOST)
                return ptx_fail(parser, "scopes nested too deep");
            scope[depth++] = (struct scope){parser->symbols, parser->local_bytes};
            ptx_next(parser);
        } else if (ptx_is(parser, "}")) {
            ptx_next(parser);
            if (depth == 0)
                return true;
            ptx_scope_end(parser, scope[--depth].symbols);
            parser->local_bytes = scope[depth].local_bytes;
        } else if (parser->token.kind == PTX_END) {
            return ptx_fail(parser, "the text ends within %s", parser->function->name);
        } else if (!parse_statement(parser)) {
            return false;
        }
    }
}

static bool finish_body(struct ptx_parser *parser)
{
    struct ptx_function *function = parser->function;
    parser->guard = PTX_NO_OPERAND;
    parser->statement_line = parser->line;
    struct ptx_code *end = ptx_emit(parser, ptx_run_return);
    end->ends_block = true;
    function->codes = parser->module->codes - function->first;
    function->is_defined = true;
    return !parser->failed && ptx_labels_resolve(parser) && ptx_registers_place(parser);
}

static bool parse_definition(struct ptx_parser *parser)
{
    parser->function->first = parser->module->codes;
    return ptx_expect(parser, "{") && parse_body(parser) && finish_body(parser);
}

/* returns of a .func stand before its name: they are read into an unnamed function first */
static bool parse_head(struct ptx_parser *parser, bool is_kernel)
{
    struct ptx_function head = {.threads_most = 1024, .is_kernel = is_kernel};
    parser->function = &head;
    parser->local_bytes = 0;
    if (!is_kernel && !ptx_parse_params(parser, &head, false, true))
        return false;
    const struct ptx_token name = parser->token;
    if (name.kind != PTX_WORD)
        return ptx_fail(parser, "a function's name expected");
    ptx_next(parser);
    if (!ptx_parse_params(parser, &head, is_kernel, false) || !parse_hints(parser))
        return false;
    struct ptx_function *function = open_function(parser, &name, &head);
    if (function == NULL)
        return ptx_fail(parser, "%.*s is there already, or no memory is left for it",
                        (int)name.length, name.text);
    head.name = function->name;
    head.shared_bytes = parser->module->shared_bytes;
    *function = head;
    parser->function = function;
    return true;
}

static bool parse_function(struct ptx_parser *parser)
{
    const bool is_kernel = ptx_is(parser, ".entry");
    ptx_next(parser);
    if (!parse_head(parser, is_kernel))
        return false;
    parser->registers = 0;
    if (!ptx_accept(parser, ";") && !parse_definition(parser))
        return false;
    if (is_kernel && parser->function->is_defined)
        parser->module->kernels++;
    return true;
}

bool ptx_parse_function(struct ptx_parser *parser)
{
    const uint32_t symbols = parser->symbols;
    const bool done = parse_function(parser);
    ptx_scope_end(parser, symbols);
    parser->function = NULL;
    return done && !parser->failed;
}
