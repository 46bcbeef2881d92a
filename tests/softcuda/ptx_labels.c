/*
 * The labels of the function being parsed. A branch keeps its label's number until the function
 * ends, when all are known. Called by ptx_function.c and ptx_decode_control.c.
 */
#include "tests/softcuda/ptx_parser.h"
#include "tests/softcuda/ptx_handlers.h"

#include <string.h>

bool ptx_label_use(struct ptx_parser *parser, const struct ptx_token *name, uint32_t *label)
{
    if (name->kind != PTX_WORD)
        return ptx_fail(parser, "a label expected");
    const uint32_t hash = ptx_hash(name->text, name->length) % PTX_HASH;
    for (uint32_t i = parser->label_hash[hash]; i != 0; i = parser->label[i - 1].next) {
        const struct ptx_label *known = &parser->label[i - 1];
        if (known->length == name->length && memcmp(known->name, name->text, name->length) == 0) {
            *label = i - 1;
            return true;
        }
    }
    if (!ptx_room(parser, &parser->label, parser->labels, &parser->label_room,
                  sizeof *parser->label))
        return false;
    parser->label[parser->labels] = (struct ptx_label){.name = name->text,
                                                       .length = name->length,
                                                       .code = UINT32_MAX,
                                                       .line = name->line,
                                                       .next = parser->label_hash[hash]};
    *label = parser->labels++;
    parser->label_hash[hash] = parser->labels;
    return true;
}

bool ptx_label_define(struct ptx_parser *parser, const struct ptx_token *name)
{
    uint32_t label;
    if (!ptx_label_use(parser, name, &label))
        return false;
    if (parser->label[label].code != UINT32_MAX)
        return ptx_fail(parser, "label %.*s is defined twice", (int)name->length, name->text);
    parser->label[label].code = parser->module->codes;
    return true;
}

bool ptx_labels_resolve(struct ptx_parser *parser)
{
    for (uint32_t i = 0; i < parser->labels; i++) {
        const struct ptx_label *label = &parser->label[i];
        if (label->code != UINT32_MAX)
            continue;
        parser->line = label->line;
        return ptx_fail(parser, "label %.*s is nowhere defined", (int)label->length, label->name);
    }
    for (uint32_t i = parser->function->first; i < parser->module->codes; i++) {
        struct ptx_code *code = &parser->module->code[i];
        if (ptx_is_branch(code))
            code->target = parser->label[code->target].code;
    }
    memset(parser->label_hash, 0, sizeof parser->label_hash);
    parser->labels = 0;
    return true;
}
