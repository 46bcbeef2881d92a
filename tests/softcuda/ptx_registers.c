/*
 * Places of a function's registers in its frame. PTX has as many as it likes, each mostly written
 * once; a frame with a place for each would not fit a cache. So registers that live in one stretch
 * of code share places: one whose first appearance is a write that no guard hides, and which never
 * appears beyond the next branch target, is a temporary, and its place is free after its last
 * appearance. All others have a place of their own, at the frame's beginning, which is poisoned
 * when a call opens the frame: only they can be read before they are written.
 *
 * Called by ptx_function.c when a body is complete.
 */
#include "tests/softcuda/ptx_parser.h"
#include "tests/softcuda/ptx_handlers.h"

#include <stdlib.h>

enum { FRAME_BYTES_MOST = 1 << 26, NONE = 0xffffffff };

struct life {
    uint32_t last;    /* the last code that names it; NONE: nothing does */
    uint32_t stretch; /* of its first appearance */
    uint32_t place;   /* byte in the frame; NONE: none yet */
    bool is_temporary;
};

struct placing {
    struct ptx_parser *parser;
    struct ptx_code *code;
    uint32_t codes;
    struct life *life;
    bool *is_target;   /* of each code: a branch leads here */
    uint32_t *free[2]; /* places of temporaries that are free: of 32 bits, of 64 */
    uint32_t frees[2];
    uint64_t bytes;
};

static unsigned vector_bytes(enum ptx_class class)
{
    return class == PTX_64 ? PTX_BYTES_64 : class == PTX_PREDICATE ? 4 : PTX_BYTES_32;
}

static bool is_register(uint32_t operand)
{
    return operand != PTX_NO_OPERAND && (operand & 3) == PTX_BANK_FRAME;
}

static bool is_source(const struct ptx_code *code, uint32_t operand)
{
    for (unsigned n = code->writes; n < code->operands; n++)
        if (code->operand[n] == operand)
            return true;
    return code->guard == operand;
}

static void see(struct placing *placing, uint32_t operand, uint32_t i, uint32_t stretch,
                bool written)
{
    if (!is_register(operand))
        return;
    const uint32_t number = operand >> 2;
    struct life *life = &placing->life[number];
    const struct ptx_code *code = &placing->code[i];
    if (life->last == NONE) {
        life->stretch = stretch;
        life->is_temporary = written && code->guard == PTX_NO_OPERAND &&
                             placing->parser->class[number] != PTX_PREDICATE &&
                             !is_source(code, operand);
    } else if (life->stretch != stretch) {
        life->is_temporary = false;
    }
    life->last = i;
}

static void measure_lives(struct placing *placing)
{
    const uint32_t first = placing->parser->function->first;
    for (uint32_t i = 0; i < placing->codes; i++)
        if (ptx_is_branch(&placing->code[i]))
            placing->is_target[placing->code[i].target - first] = true;
    uint32_t stretch = 0;
    for (uint32_t i = 0; i < placing->codes; i++) {
        const struct ptx_code *code = &placing->code[i];
        stretch += placing->is_target[i];
        for (unsigned n = 0; n < code->operands; n++)
            see(placing, code->operand[n], i, stretch, n < code->writes);
        see(placing, code->guard, i, stretch, false);
    }
}

/* 64 bits first and predicates last, so that all are aligned */
static void place_lasting(struct placing *placing)
{
    static const unsigned sizes[] = {PTX_BYTES_64, PTX_BYTES_32, 4};
    struct ptx_parser *parser = placing->parser;
    for (unsigned pass = 0; pass < 3; pass++)
        for (uint32_t i = 0; i < parser->registers && placing->bytes <= FRAME_BYTES_MOST; i++) {
            struct life *life = &placing->life[i];
            if (life->is_temporary || life->last == NONE ||
                vector_bytes((enum ptx_class)parser->class[i]) != sizes[pass])
                continue;
            life->place = (uint32_t)placing->bytes;
            placing->bytes += sizes[pass];
        }
    placing->bytes = (placing->bytes + 63) / 64 * 64;
    parser->function->poison_bytes = (uint32_t)placing->bytes;
}

static void take_place(struct placing *placing, uint32_t number)
{
    struct life *life = &placing->life[number];
    const bool is_wide = placing->parser->class[number] == PTX_64;
    if (placing->frees[is_wide] > 0) {
        life->place = placing->free[is_wide][--placing->frees[is_wide]];
        return;
    }
    life->place = (uint32_t)placing->bytes;
    placing->bytes += is_wide ? PTX_BYTES_64 : PTX_BYTES_32;
}

static void give_back(struct placing *placing, uint32_t operand, uint32_t i)
{
    if (!is_register(operand))
        return;
    struct life *life = &placing->life[operand >> 2];
    if (!life->is_temporary || life->last != i)
        return;
    const bool is_wide = placing->parser->class[operand >> 2] == PTX_64;
    placing->free[is_wide][placing->frees[is_wide]++] = life->place;
    life->last = NONE; /* once, where an instruction names it twice */
}

/* Places taken before any is given back: what an instruction writes is never where it reads. */
static void place_temporaries(struct placing *placing)
{
    for (uint32_t i = 0; i < placing->codes && placing->bytes <= FRAME_BYTES_MOST; i++) {
        const struct ptx_code *code = &placing->code[i];
        for (unsigned n = 0; n < code->writes; n++)
            if (is_register(code->operand[n]) && placing->life[code->operand[n] >> 2].place == NONE)
                take_place(placing, code->operand[n] >> 2);
        for (unsigned n = 0; n < code->operands; n++)
            give_back(placing, code->operand[n], i);
    }
}

static void rewrite(const struct placing *placing, uint32_t *operand)
{
    if (is_register(*operand))
        *operand = placing->life[*operand >> 2].place | PTX_BANK_FRAME;
}

static bool place_all(struct placing *placing)
{
    measure_lives(placing);
    place_lasting(placing);
    place_temporaries(placing);
    if (placing->bytes > FRAME_BYTES_MOST)
        return ptx_fail(placing->parser, "%s has too many registers",
                        placing->parser->function->name);
    placing->parser->function->register_bytes = (uint32_t)((placing->bytes + 63) / 64 * 64);
    for (uint32_t i = 0; i < placing->codes; i++) {
        struct ptx_code *code = &placing->code[i];
        for (unsigned n = 0; n < code->operands; n++)
            rewrite(placing, &code->operand[n]);
        rewrite(placing, &code->guard);
    }
    return true;
}

bool ptx_registers_place(struct ptx_parser *parser)
{
    const struct ptx_function *function = parser->function;
    const size_t registers = parser->registers + 1;
    struct placing placing = {
        .parser = parser,
        .code = parser->module->code + function->first,
        .codes = function->codes,
        .life = malloc(registers * sizeof *placing.life),
        .is_target = calloc(function->codes, sizeof *placing.is_target),
        .free = {malloc(registers * sizeof(uint32_t)), malloc(registers * sizeof(uint32_t))}};
    bool placed = false;
    if (placing.life == NULL || placing.is_target == NULL || placing.free[0] == NULL ||
        placing.free[1] == NULL) {
        ptx_fail(parser, "no memory for registers");
    } else {
        for (size_t i = 0; i < registers; i++)
            placing.life[i] = (struct life){.last = NONE, .place = NONE};
        placed = place_all(&placing);
    }
    free(placing.life);
    free(placing.is_target);
    free(placing.free[0]);
    free(placing.free[1]);
    return placed;
}
