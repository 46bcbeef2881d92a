/*
 * The text of a module: directives, variables, functions. Called by ptx_module.c with a text that
 * may be damaged; what it allocates belongs to the module, or is freed here.
 */
#include "tests/softcuda/ptx_parser.h"

#include <stdlib.h>

/* .file, .version, .target: to the end of the line; .section { ... } is what debuggers read */
static bool skip_directive(struct ptx_parser *parser)
{
    static const char *const lines[] = {".version", ".target", ".address_size", ".file", ".loc"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        if (ptx_is(parser, lines[i])) {
            ptx_skip_line(parser);
            return true;
        }
    if (!ptx_accept(parser, ".section"))
        return false;
    while (parser->token.kind != PTX_END && !ptx_accept(parser, "}"))
        ptx_next(parser);
    return true;
}

/* .visible .entry, .extern .func, .weak .global ...: what the words before it stand for */
static bool parse_linked(struct ptx_parser *parser)
{
    const struct ptx_place place = ptx_place(parser);
    while (ptx_is(parser, ".visible") || ptx_is(parser, ".weak") || ptx_is(parser, ".extern") ||
           ptx_is(parser, ".common"))
        ptx_next(parser);
    if (ptx_is(parser, ".entry") || ptx_is(parser, ".func"))
        return ptx_parse_function(parser);
    ptx_go_back(parser, &place);
    return ptx_parse_variable(parser);
}

static bool parse_module(struct ptx_parser *parser)
{
    ptx_next(parser);
    if (!ptx_is(parser, ".version"))
        return ptx_fail(parser, "no .version: this is no PTX");
    while (parser->token.kind != PTX_END) {
        if (skip_directive(parser) || ptx_accept(parser, ";"))
            continue;
        if (!parse_linked(parser))
            return false;
    }
    return !parser->failed && ptx_stacks_measure(parser);
}

static bool index_kernels(struct ptx_parser *parser)
{
    struct ptx_module *module = parser->module;
    module->kernel = calloc(module->kernels + 1, sizeof *module->kernel);
    if (module->kernel == NULL)
        return ptx_fail(parser, "no memory for kernels");
    uint32_t kernels = 0;
    for (uint32_t i = 0; i < module->functions; i++)
        if (module->function[i].is_kernel && module->function[i].is_defined)
            module->kernel[kernels++] = (struct ptx_kernel){module, &module->function[i]};
    return true;
}

bool ptx_parse_text(struct ptx_module *module, const char *text, size_t bytes, char *why,
                    size_t why_bytes)
{
    struct ptx_parser *parser = calloc(1, sizeof *parser);
    if (parser == NULL)
        return false;
    *parser = (struct ptx_parser){.at = text,
                                  .end = text + bytes,
                                  .line = 1,
                                  .module = module,
                                  .why = why,
                                  .why_bytes = why_bytes,
                                  .guard = PTX_NO_OPERAND};
    const bool parsed = parse_module(parser) && index_kernels(parser);
    free(parser->symbol);
    free(parser->label);
    free(parser->class);
    free(parser->constant);
    free(parser);
    return parsed;
}
