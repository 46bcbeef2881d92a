/*
 * The names of a PTX text: one hash table, in which a scope's end takes back what it added. Called
 * by the parser's files. Names point into the text.
 */
#include "tests/softcuda/ptx_parser.h"

#include <string.h>

uint32_t ptx_hash(const char *text, size_t length)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (uint8_t)text[i]) * 16777619u;
    return hash ^ hash >> 15;
}

struct ptx_symbol *ptx_symbol_add(struct ptx_parser *parser, const struct ptx_token *name,
                                  enum ptx_symbol_kind kind)
{
    if (name->kind != PTX_WORD) {
        ptx_fail(parser, "a name expected");
        return NULL;
    }
    if (!ptx_room(parser, &parser->symbol, parser->symbols, &parser->symbol_room,
                  sizeof *parser->symbol))
        return NULL;
    const uint32_t hash = ptx_hash(name->text, name->length) % PTX_HASH;
    struct ptx_symbol *symbol = &parser->symbol[parser->symbols++];
    *symbol = (struct ptx_symbol){.name = name->text,
                                  .length = name->length,
                                  .kind = kind,
                                  .next = parser->symbol_hash[hash],
                                  .hash = hash};
    parser->symbol_hash[hash] = parser->symbols;
    return symbol;
}

void ptx_scope_end(struct ptx_parser *parser, uint32_t symbols)
{
    while (parser->symbols > symbols) {
        const struct ptx_symbol *symbol = &parser->symbol[--parser->symbols];
        parser->symbol_hash[symbol->hash] = symbol->next;
    }
}

static const struct ptx_symbol *find(const struct ptx_parser *parser, const char *text,
                                     size_t length)
{
    uint32_t index = parser->symbol_hash[ptx_hash(text, length) % PTX_HASH];
    while (index != 0) {
        const struct ptx_symbol *symbol = &parser->symbol[index - 1];
        if (symbol->length == length && memcmp(symbol->name, text, length) == 0)
            return symbol;
        index = symbol->next;
    }
    return NULL;
}

const struct ptx_symbol *ptx_symbol_find(const struct ptx_parser *parser,
                                         const struct ptx_token *name)
{
    return name->kind == PTX_WORD ? find(parser, name->text, name->length) : NULL;
}

/* %r12 of the family %r<68> */
static bool find_member(const struct ptx_parser *parser, const struct ptx_token *name,
                        uint32_t *number, enum ptx_class *class)
{
    size_t stem = name->length;
    uint64_t member = 0, scale = 1;
    while (stem > 0 && name->text[stem - 1] >= '0' && name->text[stem - 1] <= '9') {
        member += scale * (uint64_t)(name->text[--stem] - '0');
        scale *= 10;
        if (name->length - stem > 9)
            return false;
    }
    if (stem == name->length)
        return false;
    const struct ptx_symbol *family = find(parser, name->text, stem);
    if (family == NULL || family->kind != PTX_SYMBOL_FAMILY || member >= family->count)
        return false;
    *number = family->first + (uint32_t)member;
    *class = family->class;
    return true;
}

bool ptx_register_find(const struct ptx_parser *parser, const struct ptx_token *name,
                       uint32_t *number, enum ptx_class *class)
{
    if (name->kind != PTX_WORD)
        return false;
    if (find_member(parser, name, number, class))
        return true;
    const struct ptx_symbol *symbol = find(parser, name->text, name->length);
    if (symbol == NULL || symbol->kind != PTX_SYMBOL_REGISTER)
        return false;
    *number = symbol->first;
    *class = symbol->class;
    return true;
}
