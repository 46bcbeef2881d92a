/*
 * Declarations: variables of the module and of functions, parameters, registers. Called by
 * ptx_parse.c and ptx_function.c. Every size is bounded before it is added to another.
 */
#include "tests/softcuda/ptx_parser.h"

#include <stdlib.h>
#include <string.h>

enum { VARIABLE_BYTES_MOST = 1 << 26, ALIGN_MOST = 4096 };

struct type {
    const char *name;
    uint8_t bytes;
    enum ptx_class class;
};

static const struct type types[] = {
    {".pred", 0, PTX_PREDICATE}, {".b8", 1, PTX_16},  {".u8", 1, PTX_16},  {".s8", 1, PTX_16},
    {".b16", 2, PTX_16},         {".u16", 2, PTX_16}, {".s16", 2, PTX_16}, {".b32", 4, PTX_32},
    {".u32", 4, PTX_32},         {".s32", 4, PTX_32}, {".f32", 4, PTX_32}, {".b64", 8, PTX_64},
    {".u64", 8, PTX_64},         {".s64", 8, PTX_64}, {".f64", 8, PTX_64},
};

static bool take_type(struct ptx_parser *parser, const struct type **type)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (ptx_accept(parser, types[i].name)) {
            *type = &types[i];
            return true;
        }
    return ptx_fail(parser, "a type expected, not '%.*s'",
                    (int)(parser->token.length < 40 ? parser->token.length : 40),
                    parser->token.text);
}

static uint64_t aligned(uint64_t offset, uint32_t align)
{
    return (offset + align - 1) / align * align;
}

static bool take_align(struct ptx_parser *parser, uint32_t *align)
{
    if (!ptx_accept(parser, ".align"))
        return true;
    if (!ptx_count(parser, ALIGN_MOST, align))
        return false;
    return (*align != 0 && (*align & (*align - 1)) == 0) || ptx_fail(parser, "no alignment");
}

/* [4], [4][8], or [] */
static bool take_dimensions(struct ptx_parser *parser, struct ptx_shape *shape)
{
    while (ptx_accept(parser, "[")) {
        if (ptx_accept(parser, "]")) {
            shape->is_open = true;
            continue;
        }
        uint32_t count;
        if (!ptx_count(parser, VARIABLE_BYTES_MOST, &count) || !ptx_expect(parser, "]"))
            return false;
        shape->bytes *= count;
        if (shape->bytes > VARIABLE_BYTES_MOST)
            return ptx_fail(parser, "a variable of more than %d bytes", VARIABLE_BYTES_MOST);
    }
    return true;
}

bool ptx_parse_shape(struct ptx_parser *parser, struct ptx_shape *shape)
{
    uint32_t align = 0;
    if (!take_align(parser, &align))
        return false;
    uint32_t elements = 1;
    if (ptx_accept(parser, ".v2"))
        elements = 2;
    else if (ptx_accept(parser, ".v4"))
        elements = 4;
    const struct type *type = NULL;
    if (!take_type(parser, &type))
        return false;
    if (ptx_accept(parser, ".ptr")) { /* of a parameter: what it points to, which is not used */
        while (ptx_accept(parser, ".global") || ptx_accept(parser, ".shared") ||
               ptx_accept(parser, ".const") || ptx_accept(parser, ".local"))
            continue;
        uint32_t ignored = 0;
        if (!take_align(parser, &ignored))
            return false;
    }
    shape->element_bytes = type->bytes;
    shape->bytes = (uint64_t)type->bytes * elements;
    shape->align = align != 0 ? align : shape->bytes != 0 ? (uint32_t)shape->bytes : 1;
    shape->is_open = false;
    shape->name = parser->token;
    if (parser->token.kind != PTX_WORD || type->bytes == 0)
        return ptx_fail(parser, "no variable");
    ptx_next(parser);
    return take_dimensions(parser, shape);
}

uint32_t ptx_local_reserve(struct ptx_parser *parser, uint64_t bytes, uint32_t align)
{
    /* by whole words, for those are what lanes interleave */
    const uint64_t at = aligned(parser->local_bytes, align < 16 ? 16 : align);
    const uint64_t end = aligned(at + bytes, 4);
    if (end > VARIABLE_BYTES_MOST) {
        ptx_fail(parser, "more than %d bytes of local memory", VARIABLE_BYTES_MOST);
        return 0;
    }
    parser->local_bytes = (uint32_t)end;
    if (parser->function->local_bytes < end)
        parser->function->local_bytes = (uint32_t)end;
    return (uint32_t)at;
}

/* ------------------------------------------------------------ variables */

static bool grow_space(struct ptx_parser *parser, struct ptx_bytes *space,
                       const struct ptx_shape *shape, uint64_t *at)
{
    *at = aligned(space->bytes, shape->align < 16 ? 16 : shape->align);
    const uint64_t end = *at + shape->bytes;
    if (end > 4ull * VARIABLE_BYTES_MOST)
        return ptx_fail(parser, "variables of too many bytes");
    if (end >= space->room) {
        uint8_t *grown = realloc(space->data, 2 * end + 64);
        if (grown == NULL)
            return ptx_fail(parser, "no memory for variables");
        space->data = grown;
        space->room = 2 * end + 64;
    }
    memset(space->data + space->bytes, 0, end - space->bytes);
    space->bytes = end;
    return true;
}

static bool take_elements(struct ptx_parser *parser, const struct ptx_shape *shape, uint8_t *bytes,
                          uint64_t *at)
{
    if (ptx_accept(parser, "{")) {
        do {
            if (ptx_is(parser, "}"))
                break;
            if (!take_elements(parser, shape, bytes, at))
                return false;
        } while (ptx_accept(parser, ","));
        return ptx_expect(parser, "}");
    }
    uint64_t value;
    if (parser->token.kind == PTX_WORD)
        return ptx_fail(parser, "an initial value that is an address: only numbers are known");
    if (!ptx_number(parser, &value))
        return false;
    if (*at + shape->element_bytes > shape->bytes)
        return ptx_fail(parser, "more initial values than the variable holds");
    memcpy(bytes + *at, &value, shape->element_bytes);
    *at += shape->element_bytes;
    return true;
}

bool ptx_parse_initial(struct ptx_parser *parser, const struct ptx_shape *shape, uint8_t *bytes)
{
    uint64_t at = 0;
    return take_elements(parser, shape, bytes, &at);
}

static bool add_data(struct ptx_parser *parser, const struct ptx_shape *shape,
                     struct ptx_symbol *symbol)
{
    const bool is_constant = symbol->space == PTX_SPACE_CONSTANT;
    struct ptx_bytes *space =
        is_constant ? &parser->module->constant_space : &parser->module->global_space;
    uint64_t at;
    if (!grow_space(parser, space, shape, &at))
        return false;
    symbol->address = (is_constant ? PTX_WINDOW_CONSTANT : PTX_WINDOW_GLOBAL) + at;
    if (ptx_accept(parser, "="))
        return ptx_parse_initial(parser, shape, space->data + at);
    return true;
}

/* a kernel's own follow the module's */
static bool add_shared(struct ptx_parser *parser, const struct ptx_shape *shape,
                       struct ptx_symbol *symbol)
{
    uint32_t *bytes = parser->function != NULL && parser->function->is_kernel
                          ? &parser->function->shared_bytes
                          : &parser->module->shared_bytes;
    symbol->address = aligned(*bytes, shape->align < 16 ? 16 : shape->align);
    if (symbol->address + shape->bytes > VARIABLE_BYTES_MOST)
        return ptx_fail(parser, "more than %d bytes of shared memory", VARIABLE_BYTES_MOST);
    *bytes = (uint32_t)(symbol->address + shape->bytes);
    return true;
}

static bool add_variable(struct ptx_parser *parser, enum ptx_space space, bool is_extern)
{
    struct ptx_shape shape;
    if (!ptx_parse_shape(parser, &shape))
        return false;
    struct ptx_symbol *symbol = ptx_symbol_add(parser, &shape.name, PTX_SYMBOL_VARIABLE);
    if (symbol == NULL)
        return false;
    symbol->space = space;
    symbol->bytes = shape.bytes;
    symbol->is_dynamic = shape.is_open && is_extern && space == PTX_SPACE_SHARED;
    if (symbol->is_dynamic)
        return true;
    if (shape.is_open || is_extern)
        return ptx_fail(parser, "%.*s is defined elsewhere", (int)shape.name.length,
                        shape.name.text);
    if (space == PTX_SPACE_SHARED)
        return add_shared(parser, &shape, symbol);
    if (space != PTX_SPACE_LOCAL && space != PTX_SPACE_PARAM)
        return add_data(parser, &shape, symbol);
    if (parser->function == NULL)
        return ptx_fail(parser, "a local variable outside a function");
    symbol->space = PTX_SPACE_LOCAL; /* parameters of a call lie there as well */
    symbol->is_frame = true;
    symbol->address = ptx_local_reserve(parser, shape.bytes, shape.align);
    return true;
}

bool ptx_parse_variable(struct ptx_parser *parser)
{
    static const struct {
        const char *word;
        enum ptx_space space;
    } spaces[] = {{".global", PTX_SPACE_GLOBAL},
                  {".const", PTX_SPACE_CONSTANT},
                  {".shared", PTX_SPACE_SHARED},
                  {".local", PTX_SPACE_LOCAL},
                  {".param", PTX_SPACE_PARAM}};
    bool is_extern = false;
    while (ptx_is(parser, ".visible") || ptx_is(parser, ".weak") || ptx_is(parser, ".common") ||
           ptx_is(parser, ".extern")) {
        is_extern |= ptx_is(parser, ".extern");
        ptx_next(parser);
    }
    for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++)
        if (ptx_accept(parser, spaces[i].word))
            return add_variable(parser, spaces[i].space, is_extern) && ptx_expect(parser, ";");
    return ptx_fail(parser, "a declaration expected, not '%.*s'",
                    (int)(parser->token.length < 40 ? parser->token.length : 40),
                    parser->token.text);
}

/* ------------------------------------------------------------ registers, parameters */

bool ptx_parse_registers(struct ptx_parser *parser)
{
    const struct type *type = NULL;
    if (!take_type(parser, &type))
        return false;
    do {
        const struct ptx_token name = parser->token;
        struct ptx_symbol *symbol = ptx_symbol_add(parser, &name, PTX_SYMBOL_REGISTER);
        if (symbol == NULL)
            return false;
        ptx_next(parser);
        symbol->class = type->class;
        symbol->count = 1;
        if (ptx_accept(parser, "<")) {
            symbol->kind = PTX_SYMBOL_FAMILY;
            if (!ptx_count(parser, 1 << 22, &symbol->count) || !ptx_expect(parser, ">"))
                return false;
        }
        symbol->first = ptx_register_new(parser, type->class, symbol->count);
        parser->function->registers += symbol->count;
    } while (ptx_accept(parser, ","));
    return ptx_expect(parser, ";");
}

static bool add_param(struct ptx_parser *parser, struct ptx_function *function, bool of_kernel)
{
    struct ptx_shape shape;
    if (!ptx_expect(parser, ".param") || !ptx_parse_shape(parser, &shape))
        return false;
    struct ptx_symbol *symbol = ptx_symbol_add(parser, &shape.name, PTX_SYMBOL_VARIABLE);
    if (symbol == NULL)
        return false;
    if (function->returns + function->params == PTX_PARAMS_MOST || shape.is_open)
        return ptx_fail(parser, "parameters of a kind or number that is not known");
    struct ptx_param *param = &function->param[function->returns + function->params];
    if (of_kernel) {
        param->offset = (uint32_t)aligned(function->param_bytes, shape.align);
        function->param_bytes = param->offset + (uint32_t)shape.bytes;
        if (function->param_bytes > 32764)
            return ptx_fail(parser, "more than 32764 bytes of parameters");
        symbol->space = PTX_SPACE_PARAM;
        symbol->address = PTX_WINDOW_PARAM + param->offset;
    } else {
        param->offset = ptx_local_reserve(parser, shape.bytes, shape.align);
        symbol->space = PTX_SPACE_LOCAL;
        symbol->is_frame = true;
        symbol->address = param->offset;
    }
    param->bytes = (uint32_t)shape.bytes;
    symbol->bytes = shape.bytes;
    return true;
}

bool ptx_parse_params(struct ptx_parser *parser, struct ptx_function *function, bool of_kernel,
                      bool returns)
{
    if (!ptx_accept(parser, "("))
        return true;
    while (!ptx_is(parser, ")")) {
        if (!add_param(parser, function, of_kernel))
            return false;
        if (returns)
            function->returns++;
        else
            function->params++;
        if (!ptx_accept(parser, ","))
            break;
    }
    return ptx_expect(parser, ")");
}
