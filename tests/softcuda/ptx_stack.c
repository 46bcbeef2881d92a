/*
 * What a kernel's threads need for all frames that can be open at once: the deepest chain of calls.
 * PTX has no recursion here: a cycle is refused, since its depth is not known. Called when the
 * whole text is parsed.
 */
#include "tests/softcuda/ptx_parser.h"
#include "tests/softcuda/ptx_handlers.h"

#define MAX(a, b) ((a) > (b) ? (a) : (b))

static bool measure(struct ptx_parser *parser, struct ptx_function *function, unsigned depth)
{
    if (function->frames != 0)
        return true;
    if (!function->is_defined)
        return ptx_fail(parser, "%s is called, but not defined here", function->name);
    if (depth >= PTX_FRAMES_MOST)
        return ptx_fail(parser, "%s: calls nested deeper than %d, or recursive", function->name,
                        PTX_FRAMES_MOST);
    uint32_t frames = 0, registers = 0, local = 0;
    for (uint32_t i = 0; i < function->codes; i++) {
        const struct ptx_code *code = &parser->module->code[function->first + i];
        if (code->run != ptx_run_call)
            continue;
        struct ptx_function *callee =
            &parser->module->function[parser->module->call[code->target].function];
        parser->line = code->line;
        if (!measure(parser, callee, depth + 1))
            return false;
        frames = MAX(frames, callee->frames);
        registers = MAX(registers, callee->stack_register_bytes);
        local = MAX(local, callee->stack_local_bytes);
    }
    if (depth + frames >= PTX_FRAMES_MOST)
        return ptx_fail(parser, "%s: calls nested deeper than %d", function->name, PTX_FRAMES_MOST);
    function->frames = frames + 1;
    function->stack_register_bytes = function->register_bytes + registers;
    function->stack_local_bytes = function->local_bytes + local;
    return true;
}

bool ptx_stacks_measure(struct ptx_parser *parser)
{
    for (uint32_t i = 0; i < parser->module->functions; i++) {
        struct ptx_function *function = &parser->module->function[i];
        if (function->is_kernel && function->is_defined && !measure(parser, function, 0))
            return false;
    }
    return true;
}
