/*
 * Puts decoded instructions, registers and immediates into the module being built. Called by the
 * parser's files.
 */
#include "tests/softcuda/ptx_parser.h"

#include <stdlib.h>
#include <string.h>

bool ptx_room(struct ptx_parser *parser, void *array, uint32_t count, uint32_t *room,
              size_t element_bytes)
{
    if (count < *room)
        return true;
    const uint32_t more = *room == 0 ? 64 : *room * 2;
    void *old;
    memcpy(&old, array, sizeof old);
    void *grown = more < 1u << 30 ? realloc(old, more * element_bytes) : NULL;
    if (grown == NULL)
        return ptx_fail(parser, "no memory for a module of this size");
    memcpy(array, &grown, sizeof grown);
    *room = more;
    return true;
}

/* where a failed emission writes to: nobody runs it */
static struct ptx_code discarded;

struct ptx_code *ptx_emit(struct ptx_parser *parser,
                          void (*run)(struct ptx_warp *, const struct ptx_code *))
{
    struct ptx_module *module = parser->module;
    if (!ptx_room(parser, &module->code, module->codes, &parser->code_room, sizeof *module->code))
        return &discarded;
    struct ptx_code *code = &module->code[module->codes++];
    *code = (struct ptx_code){.run = run,
                              .guard = parser->guard,
                              .guard_not = parser->guard_not,
                              .line = parser->statement_line};
    return code;
}

void ptx_emit_operand(struct ptx_code *code, uint32_t operand)
{
    if (code->operands < PTX_OPERANDS)
        code->operand[code->operands++] = operand;
}

uint32_t ptx_register_new(struct ptx_parser *parser, enum ptx_class class, uint32_t count)
{
    const uint32_t first = parser->registers;
    if (count > (1u << 24) - first) {
        ptx_fail(parser, "too many registers");
        return 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!ptx_room(parser, &parser->class, parser->registers, &parser->class_room, 1))
            return 0;
        parser->class[parser->registers++] = (uint8_t) class;
    }
    return first;
}

uint32_t ptx_temporary(struct ptx_parser *parser, enum ptx_class class)
{
    return ptx_register_new(parser, class, 1) << 2 | PTX_BANK_FRAME;
}

/* a vector of 32 times the value, at the end of the bank */
static uint32_t add_vector(struct ptx_parser *parser, bool is_wide, uint64_t value)
{
    struct ptx_bytes *vectors = &parser->module->vectors;
    const size_t bytes = is_wide ? PTX_BYTES_64 : PTX_BYTES_32;
    if (vectors->bytes + bytes > vectors->room) {
        const size_t room = vectors->room == 0 ? 4096 : 2 * vectors->room;
        uint8_t *grown = room < UINT32_MAX / 2 ? realloc(vectors->data, room) : NULL;
        if (grown == NULL) {
            ptx_fail(parser, "no memory for immediates");
            return PTX_BANK_CONSTANT;
        }
        vectors->data = grown;
        vectors->room = room;
    }
    uint8_t *at = vectors->data + vectors->bytes;
    for (unsigned lane = 0; lane < PTX_LANES; lane++)
        memcpy(at + lane * (bytes / PTX_LANES), &value, bytes / PTX_LANES); /* little-endian */
    const uint32_t operand = (uint32_t)vectors->bytes | PTX_BANK_CONSTANT;
    vectors->bytes += bytes;
    return operand;
}

uint32_t ptx_constant(struct ptx_parser *parser, enum ptx_class class, uint64_t value)
{
    const bool is_wide = class == PTX_64;
    if (class == PTX_16)
        value &= UINT16_MAX;
    else if (!is_wide)
        value &= UINT32_MAX;
    const uint32_t hash = (uint32_t)((value * UINT64_C(0x9e3779b97f4a7c15)) >> 40) % PTX_HASH;
    for (uint32_t i = parser->constant_hash[hash]; i != 0; i = parser->constant[i - 1].next)
        if (parser->constant[i - 1].value == value && parser->constant[i - 1].is_wide == is_wide)
            return parser->constant[i - 1].operand;
    if (!ptx_room(parser, &parser->constant, parser->constants, &parser->constant_room,
                  sizeof *parser->constant))
        return PTX_BANK_CONSTANT;
    parser->constant[parser->constants] =
        (struct ptx_constant){.value = value,
                              .is_wide = is_wide,
                              .operand = add_vector(parser, is_wide, value),
                              .next = parser->constant_hash[hash]};
    parser->constant_hash[hash] = ++parser->constants;
    return parser->constant[parser->constants - 1].operand;
}
