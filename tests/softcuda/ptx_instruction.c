/*
 * One instruction: takes its mnemonic apart and hands it to the decoder of its kind, or to the
 * table of plain operations. What neither knows is an error here, when the module is loaded. Called
 * by ptx_function.c.
 */
#include "tests/softcuda/ptx_parser.h"
#include "tests/softcuda/ptx_handlers.h"
#include "tests/softcuda/ptx_operations.h"

bool ptx_unknown(struct ptx_parser *parser, const struct ptx_mnemonic *mnemonic)
{
    const size_t length = mnemonic->word.length < 60 ? mnemonic->word.length : 60;
    return ptx_fail(parser, "opcode %.*s is not known", (int)length, mnemonic->word.text);
}

bool ptx_part_is(const struct ptx_mnemonic *mnemonic, unsigned part, const char *text)
{
    return part < mnemonic->parts && ptx_same(&mnemonic->part[part], text);
}

bool ptx_has_part(const struct ptx_mnemonic *mnemonic, const char *text)
{
    for (unsigned i = 1; i < mnemonic->parts; i++)
        if (ptx_same(&mnemonic->part[i], text))
            return true;
    return false;
}

static bool split(struct ptx_parser *parser, struct ptx_mnemonic *mnemonic)
{
    *mnemonic = (struct ptx_mnemonic){.word = parser->token};
    if (parser->token.kind != PTX_WORD)
        return ptx_fail(parser, "an instruction expected");
    const char *at = parser->token.text, *end = at + parser->token.length;
    while (at < end) {
        if (mnemonic->parts == PTX_PARTS_MOST)
            return ptx_unknown(parser, mnemonic);
        const char *dot = at;
        while (dot < end && *dot != '.')
            dot++;
        mnemonic->part[mnemonic->parts++] =
            (struct ptx_token){.kind = PTX_WORD, .text = at, .length = (size_t)(dot - at)};
        at = dot + (dot < end);
    }
    ptx_next(parser);
    return true;
}

static enum ptx_class class_of(char letter)
{
    return letter == 'p' ? PTX_PREDICATE : letter == 'h' ? PTX_16 : letter == 'w' ? PTX_32 : PTX_64;
}

/* Sources may need code of their own before, so the operation is emitted last. */
bool ptx_decode_operation(struct ptx_parser *parser, const char *mnemonic, size_t length)
{
    const struct ptx_operation *operation = ptx_operation_find(mnemonic, length);
    if (operation == NULL)
        return ptx_fail(parser, "opcode %.*s is not known", (int)(length < 60 ? length : 60),
                        mnemonic);
    uint32_t operand[PTX_OPERANDS];
    unsigned count = 0;
    for (const char *letter = operation->operands; *letter != 0; letter++, count++) {
        const enum ptx_class class = class_of(*letter);
        if (count > 0 && !ptx_take_comma(parser))
            return false;
        if (count == 0 ? !ptx_take_destination(parser, class, &operand[count])
                       : !ptx_take_source(parser, class, &operand[count]))
            return false;
    }
    struct ptx_code *code = ptx_emit(parser, operation->run);
    code->writes = 1;
    for (unsigned i = 0; i < count; i++)
        ptx_emit_operand(code, operand[i]);
    return true;
}

static const struct ptx_decoder *find_decoder(const struct ptx_mnemonic *mnemonic)
{
    static const struct ptx_decoder *const tables[] = {
        ptx_decoders_move, ptx_decoders_memory, ptx_decoders_control, ptx_decoders_collective};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        for (const struct ptx_decoder *decoder = tables[i]; decoder->first != NULL; decoder++)
            if (ptx_part_is(mnemonic, 0, decoder->first))
                return decoder;
    return NULL;
}

bool ptx_decode_instruction(struct ptx_parser *parser)
{
    struct ptx_mnemonic mnemonic;
    if (!split(parser, &mnemonic))
        return false;
    const struct ptx_decoder *decoder = find_decoder(&mnemonic);
    if (decoder != NULL)
        return decoder->decode(parser, &mnemonic);
    return ptx_decode_operation(parser, mnemonic.word.text, mnemonic.word.length);
}
