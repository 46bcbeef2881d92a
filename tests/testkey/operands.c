/*
 * Operand lists (operands.h). Part of the test key maker; memory only.
 */
#include "tests/testkey/operands.h"
#include "tests/testkey/circuit.h"

void operands_add(struct operands *operands, uint32_t wire)
{
    if (operands->count == operands->capacity) {
        operands->capacity = 2 * operands->capacity + 256;
        operands->wire = memory_resize(operands->wire, operands->capacity, sizeof(wire));
    }
    operands->wire[operands->count++] = wire;
}

/* Changes places with the first that waits. */
void operands_add_used(struct operands *operands, uint32_t wire)
{
    operands_add(operands, wire);
    uint32_t *first = &operands->wire[operands->used++];
    operands->wire[operands->count - 1] = *first;
    *first = wire;
}

size_t operands_take(struct operands *operands, uint32_t *out, size_t count, uint64_t *state)
{
    size_t taken = 0, before = operands->used;
    while (taken < count && operands->used < operands->count)
        out[taken++] = operands->wire[operands->used++];
    if (taken == count || before == 0)
        return taken;
    size_t start = random_next(state) % before;
    for (size_t i = 0; i < before && taken < count; i++)
        out[taken++] = operands->wire[(start + i) % before];
    return taken;
}
