/*
 * Places of a function's registers in its frame: vectors of 64 bits first, then of 32, then the
 * predicates' words. Called by ptx_function.c when a body is complete.
 */
#include "tests/softcuda/ptx_parser.h"

#include <stdlib.h>

enum { FRAME_BYTES_MOST = 1 << 26 };

static uint32_t vector_bytes(enum ptx_class class)
{
    return class == PTX_64 ? PTX_BYTES_64 : class == PTX_PREDICATE ? 4 : PTX_BYTES_32;
}

static bool choose_places(struct ptx_parser *parser, uint32_t *places)
{
    static const uint32_t sizes[] = {PTX_BYTES_64, PTX_BYTES_32, 4};
    uint64_t bytes = 0;
    for (unsigned pass = 0; pass < 3; pass++)
        for (uint32_t i = 0; i < parser->registers; i++) {
            if (vector_bytes((enum ptx_class)parser->class[i]) != sizes[pass])
                continue;
            places[i] = (uint32_t)bytes;
            bytes += sizes[pass];
            if (bytes > FRAME_BYTES_MOST)
                return ptx_fail(parser, "%s has too many registers", parser->function->name);
        }
    parser->function->register_bytes = (uint32_t)((bytes + 63) / 64 * 64);
    return true;
}

static void place_operand(const uint32_t *places, uint32_t *operand)
{
    if (*operand != PTX_NO_OPERAND && (*operand & 3) == PTX_BANK_FRAME)
        *operand = places[*operand >> 2] | PTX_BANK_FRAME;
}

bool ptx_registers_place(struct ptx_parser *parser)
{
    uint32_t *places = calloc(parser->registers + 1, sizeof *places);
    if (places == NULL)
        return ptx_fail(parser, "no memory for registers");
    const bool placed = choose_places(parser, places);
    const struct ptx_function *function = parser->function;
    for (uint32_t i = 0; placed && i < function->codes; i++) {
        struct ptx_code *code = &parser->module->code[function->first + i];
        for (unsigned n = 0; n < code->operands; n++)
            place_operand(places, &code->operand[n]);
        place_operand(places, &code->guard);
    }
    free(places);
    return placed;
}
