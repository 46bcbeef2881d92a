/*
 * Decodes loads, stores, atomics, fences and prefetches. Called through ptx_decoders_memory.
 * Fences and prefetches make no code: lanes run one after another over one memory.
 */
#include "tests/softcuda/ptx_parser.h"
#include "tests/softcuda/ptx_handlers.h"

#include <stdio.h>
#include <string.h>

struct access {
    enum ptx_space space;
    unsigned bytes, count; /* of an element; elements */
    bool is_signed, has_type;
    char kind; /* b, u or s */
};

/* a type's letters, as in .u32 */
static bool read_type(const struct ptx_token *part, struct access *access)
{
    static const struct {
        const char *digits;
        unsigned bytes;
    } widths[] = {{"8", 1}, {"16", 2}, {"32", 4}, {"64", 8}};
    if (part->length < 2 || strchr("busf", part->text[0]) == NULL)
        return false;
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        if (part->length != 1 + strlen(widths[i].digits) ||
            memcmp(part->text + 1, widths[i].digits, part->length - 1) != 0)
            continue;
        access->bytes = widths[i].bytes;
        access->kind = part->text[0];
        access->is_signed = part->text[0] == 's';
        access->has_type = true;
        return true;
    }
    return false;
}

static bool read_space(const struct ptx_token *part, struct access *access)
{
    static const struct {
        const char *name;
        enum ptx_space space;
    } spaces[] = {{"global", PTX_SPACE_GLOBAL},      {"shared", PTX_SPACE_SHARED},
                  {"shared::cta", PTX_SPACE_SHARED}, {"local", PTX_SPACE_LOCAL},
                  {"const", PTX_SPACE_CONSTANT},     {"param", PTX_SPACE_PARAM},
                  {"param::entry", PTX_SPACE_PARAM}, {"param::func", PTX_SPACE_PARAM}};
    for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++)
        if (ptx_same(part, spaces[i].name)) {
            access->space = spaces[i].space;
            return true;
        }
    return false;
}

/* how an access is ordered and cached: nothing here depends on it */
static bool is_ordering(const struct ptx_token *part)
{
    static const char *const words[] = {"volatile", "relaxed", "acquire", "release", "acq_rel",
                                        "weak",     "cta",     "gpu",     "sys",     "cluster",
                                        "nc",       "ca",      "cg",      "cs",      "cv",
                                        "lu",       "wb",      "wt",      "unified"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (ptx_same(part, words[i]))
            return true;
    return part->length > 4 && part->text[0] == 'L' && memcmp(part->text + 2, "::", 2) == 0;
}

static bool read_access(struct ptx_parser *parser, const struct ptx_mnemonic *mnemonic,
                        struct access *access)
{
    *access = (struct access){.space = PTX_SPACE_GENERIC, .count = 1};
    for (unsigned i = 1; i < mnemonic->parts; i++) {
        const struct ptx_token *part = &mnemonic->part[i];
        if (ptx_same(part, "v2") || ptx_same(part, "v4"))
            access->count = (unsigned)(part->text[1] - '0');
        else if (!read_type(part, access) && !read_space(part, access) && !is_ordering(part))
            return ptx_unknown(parser, mnemonic);
    }
    if (!access->has_type || access->bytes * access->count > 32)
        return ptx_unknown(parser, mnemonic);
    return true;
}

/* Values may be in registers wider than the access; all of a vector are alike. */
static bool take_values(struct ptx_parser *parser, const struct access *access, bool written,
                        uint32_t *operands, enum ptx_class *class)
{
    const enum ptx_class least = access->bytes == 8 ? PTX_64 : access->bytes == 4 ? PTX_32 : PTX_16;
    *class = least;
    const struct ptx_place place = ptx_place(parser);
    uint32_t number;
    ptx_accept(parser, "{");
    while (ptx_accept(parser, "_") || ptx_accept(parser, ","))
        continue;
    enum ptx_class found;
    if (ptx_register_find(parser, &parser->token, &number, &found) && found > least)
        *class = found;
    ptx_go_back(parser, &place);
    return ptx_take_vector(parser, *class, access->count, written, operands);
}

/* The address as an operand and an offset, whatever it was written as. */
static bool fix_address(struct ptx_parser *parser, struct ptx_address *address)
{
    if (address->operand != PTX_NO_OPERAND)
        return true;
    address->is_wide = true;
    if (address->symbol != NULL)
        return ptx_symbol_address(parser, address->symbol, PTX_64, 0, &address->operand);
    address->operand = ptx_constant(parser, PTX_64, 0);
    return true;
}

static void describe(struct ptx_code *code, const struct access *access, enum ptx_class class,
                     const struct ptx_address *address)
{
    code->bytes = (uint8_t)access->bytes;
    code->count = (uint8_t)access->count;
    code->space = (uint8_t)access->space;
    code->is_signed = access->is_signed;
    code->class = (uint8_t) class;
    code->immediate = address->offset;
    code->wide_address = address->is_wide;
}

/* a parameter of a call, a return value, or a local variable by name */
static bool is_in_frame(const struct ptx_address *address, const struct access *access)
{
    const struct ptx_symbol *symbol = address->symbol;
    return symbol != NULL && symbol->is_frame && address->offset >= 0 &&
           (uint64_t)address->offset + access->bytes * access->count <= symbol->bytes &&
           (address->offset + (int64_t)symbol->address) % access->bytes == 0;
}

static bool decode_access(struct ptx_parser *parser, const struct ptx_mnemonic *mnemonic,
                          bool is_load)
{
    struct access access;
    struct ptx_address address;
    enum ptx_class class;
    uint32_t value[4];
    if (!read_access(parser, mnemonic, &access))
        return false;
    if (is_load && (!take_values(parser, &access, true, value, &class) || !ptx_take_comma(parser)))
        return false;
    if (!ptx_take_address(parser, &address))
        return false;
    if (!is_load &&
        (!ptx_take_comma(parser) || !take_values(parser, &access, false, value, &class)))
        return false;
    const bool by_name = is_in_frame(&address, &access);
    if (address.symbol != NULL && address.symbol->is_frame && !by_name &&
        access.space == PTX_SPACE_PARAM)
        return ptx_fail(parser, "an access outside %.*s", (int)address.symbol->length,
                        address.symbol->name);
    if (by_name)
        address.offset += (int64_t)address.symbol->address;
    else if (!fix_address(parser, &address))
        return false;
    const bool is_local = access.space == PTX_SPACE_LOCAL;
    struct ptx_code *code =
        ptx_emit(parser, by_name    ? is_load ? ptx_run_load_frame : ptx_run_store_frame
                         : is_local ? is_load ? ptx_run_load_local : ptx_run_store_local
                         : is_load  ? ptx_run_load
                                    : ptx_run_store);
    describe(code, &access, class, &address);
    for (unsigned i = 0; i < access.count; i++)
        ptx_emit_operand(code, value[i]);
    if (!by_name)
        ptx_emit_operand(code, address.operand);
    code->writes = is_load ? (uint8_t)access.count : 0;
    return true;
}

static bool decode_ld(struct ptx_parser *parser, const struct ptx_mnemonic *mnemonic)
{
    return decode_access(parser, mnemonic, true);
}

static bool decode_st(struct ptx_parser *parser, const struct ptx_mnemonic *mnemonic)
{
    return decode_access(parser, mnemonic, false);
}

/* ------------------------------------------------------------ atomics */

static bool read_update(struct ptx_parser *parser, const struct ptx_mnemonic *mnemonic,
                        struct access *access, enum ptx_update *update)
{
    static const char *const names[] = {
        [PTX_ADD] = "add",       [PTX_MIN] = "min",       [PTX_MAX] = "max",
        [PTX_AND] = "and",       [PTX_OR] = "or",         [PTX_XOR] = "xor",
        [PTX_EXCHANGE] = "exch", [PTX_INCREMENT] = "inc", [PTX_COMPARE_AND_SWAP] = "cas",
        [PTX_DECREMENT] = "dec"};
    bool found = false;
    *access = (struct access){.space = PTX_SPACE_GENERIC, .count = 1};
    for (unsigned i = 1; i < mnemonic->parts; i++) {
        const struct ptx_token *part = &mnemonic->part[i];
        unsigned name = 0;
        while (name < sizeof names / sizeof names[0] && !ptx_same(part, names[name]))
            name++;
        if (name < sizeof names / sizeof names[0]) {
            *update = (enum ptx_update)name;
            found = true;
        } else if (!read_type(part, access) && !read_space(part, access) && !is_ordering(part)) {
            return ptx_unknown(parser, mnemonic);
        }
    }
    const bool is_memory = access->space == PTX_SPACE_GENERIC ||
                           access->space == PTX_SPACE_GLOBAL || access->space == PTX_SPACE_SHARED;
    return (found && access->has_type && access->kind != 'f' && access->bytes >= 4 && is_memory) ||
           ptx_unknown(parser, mnemonic);
}

static bool decode_update(struct ptx_parser *parser, const struct ptx_mnemonic *mnemonic,
                          bool returns)
{
    struct access access;
    enum ptx_update update = PTX_ADD;
    if (!read_update(parser, mnemonic, &access, &update))
        return false;
    const enum ptx_class class = access.bytes == 8 ? PTX_64 : PTX_32;
    uint32_t old = 0, b, c = 0;
    struct ptx_address address;
    if (returns && (!ptx_take_destination(parser, class, &old) || !ptx_take_comma(parser)))
        return false;
    if (!ptx_take_address(parser, &address) || !fix_address(parser, &address) ||
        !ptx_take_comma(parser) || !ptx_take_source(parser, class, &b))
        return false;
    if (update == PTX_COMPARE_AND_SWAP &&
        (!ptx_take_comma(parser) || !ptx_take_source(parser, class, &c)))
        return false;
    struct ptx_code *code = ptx_emit(parser, ptx_run_atomic);
    describe(code, &access, class, &address);
    code->target = (uint32_t)update;
    if (returns)
        ptx_emit_operand(code, old);
    ptx_emit_operand(code, address.operand);
    ptx_emit_operand(code, b);
    if (update == PTX_COMPARE_AND_SWAP)
        ptx_emit_operand(code, c);
    code->writes = returns;
    return true;
}

static bool decode_atom(struct ptx_parser *parser, const struct ptx_mnemonic *mnemonic)
{
    return decode_update(parser, mnemonic, true);
}

static bool decode_red(struct ptx_parser *parser, const struct ptx_mnemonic *mnemonic)
{
    return decode_update(parser, mnemonic, false);
}

/* ------------------------------------------------------------ what only orders */

static bool decode_nothing(struct ptx_parser *parser, const struct ptx_mnemonic *mnemonic)
{
    (void)mnemonic;
    while (parser->token.kind != PTX_END && !ptx_is(parser, ";"))
        ptx_next(parser);
    return true;
}

const struct ptx_decoder ptx_decoders_memory[] = {{"ld", decode_ld},
                                                  {"st", decode_st},
                                                  {"ldu", decode_ld},
                                                  {"atom", decode_atom},
                                                  {"red", decode_red},
                                                  {"membar", decode_nothing},
                                                  {"fence", decode_nothing},
                                                  {"prefetch", decode_nothing},
                                                  {"nanosleep", decode_nothing},
                                                  {NULL, NULL}};
