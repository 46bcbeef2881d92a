/*
 * Decodes what looks across the lanes of a warp: shuffles, votes, matches, reductions. Called
 * through ptx_decoders_collective.
 */
#include "tests/softcuda/ptx_parser.h"
#include "tests/softcuda/ptx_handlers.h"

/* after the destinations: sources by their classes, each after a comma */
static bool take_sources(struct ptx_parser *parser, const enum ptx_class *classes, unsigned count,
                         uint32_t *operands)
{
    for (unsigned i = 0; i < count; i++)
        if (!ptx_take_comma(parser) || !ptx_take_source(parser, classes[i], &operands[i]))
            return false;
    return true;
}

/* d, or d|p: what is left out gets a register that nobody reads */
static bool take_pair(struct ptx_parser *parser, uint32_t *value, uint32_t *predicate)
{
    if (!ptx_take_destination(parser, PTX_32, value))
        return false;
    if (ptx_accept(parser, "|"))
        return ptx_take_destination(parser, PTX_PREDICATE, predicate);
    *predicate = ptx_temporary(parser, PTX_PREDICATE);
    return true;
}

static struct ptx_code *emit(struct ptx_parser *parser,
                             void (*run)(struct ptx_warp *, const struct ptx_code *),
                             unsigned writes, const uint32_t *operands, unsigned count)
{
    struct ptx_code *code = ptx_emit(parser, run);
    code->writes = (uint8_t)writes;
    for (unsigned i = 0; i < count; i++)
        ptx_emit_operand(code, operands[i]);
    return code;
}

/* shfl.sync.down.b32 d|p, a, b, c, mask */
static bool decode_shfl(struct ptx_parser *parser, const struct ptx_mnemonic *mnemonic)
{
    static const struct {
        const char *name;
        void (*run)(struct ptx_warp *, const struct ptx_code *);
    } modes[] = {{"up", ptx_run_shuffle_up},
                 {"down", ptx_run_shuffle_down},
                 {"bfly", ptx_run_shuffle_butterfly},
                 {"idx", ptx_run_shuffle_index}};
    static const enum ptx_class classes[] = {PTX_32, PTX_32, PTX_32, PTX_32};
    uint32_t operand[PTX_OPERANDS];
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        if (mnemonic->parts != 4 || !ptx_part_is(mnemonic, 1, "sync") ||
            !ptx_part_is(mnemonic, 2, modes[i].name) || !ptx_part_is(mnemonic, 3, "b32"))
            continue;
        if (!take_pair(parser, &operand[0], &operand[1]) ||
            !take_sources(parser, classes, 4, operand + 2))
            return false;
        emit(parser, modes[i].run, 2, operand, 6);
        return true;
    }
    return ptx_unknown(parser, mnemonic);
}

/* vote.sync.any.pred p, q, mask; vote.sync.ballot.b32 d, q, mask */
static bool decode_vote(struct ptx_parser *parser, const struct ptx_mnemonic *mnemonic)
{
    static const struct {
        const char *name, *type;
        void (*run)(struct ptx_warp *, const struct ptx_code *);
    } modes[] = {{"all", "pred", ptx_run_vote_all},
                 {"any", "pred", ptx_run_vote_any},
                 {"uni", "pred", ptx_run_vote_uniform},
                 {"ballot", "b32", ptx_run_vote_ballot}};
    static const enum ptx_class classes[] = {PTX_PREDICATE, PTX_32};
    uint32_t operand[3];
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        if (mnemonic->parts != 4 || !ptx_part_is(mnemonic, 1, "sync") ||
            !ptx_part_is(mnemonic, 2, modes[i].name) || !ptx_part_is(mnemonic, 3, modes[i].type))
            continue;
        const enum ptx_class to = modes[i].type[0] == 'p' ? PTX_PREDICATE : PTX_32;
        if (!ptx_take_destination(parser, to, &operand[0]) ||
            !take_sources(parser, classes, 2, operand + 1))
            return false;
        emit(parser, modes[i].run, 1, operand, 3);
        return true;
    }
    return ptx_unknown(parser, mnemonic);
}

/* match.any.sync.b32 d, a, mask; match.all.sync.b64 d|p, a, mask */
static bool decode_match(struct ptx_parser *parser, const struct ptx_mnemonic *mnemonic)
{
    const bool is_all = ptx_part_is(mnemonic, 1, "all");
    const bool is_wide = ptx_part_is(mnemonic, 3, "b64");
    if (mnemonic->parts != 4 || !ptx_part_is(mnemonic, 2, "sync") ||
        (!is_all && !ptx_part_is(mnemonic, 1, "any")) ||
        (!is_wide && !ptx_part_is(mnemonic, 3, "b32")))
        return ptx_unknown(parser, mnemonic);
    const enum ptx_class classes[] = {is_wide ? PTX_64 : PTX_32, PTX_32};
    uint32_t operand[4];
    unsigned writes = 1;
    if (is_all) {
        writes = 2;
        if (!take_pair(parser, &operand[0], &operand[1]))
            return false;
    } else if (!ptx_take_destination(parser, PTX_32, &operand[0])) {
        return false;
    }
    if (!take_sources(parser, classes, 2, operand + writes))
        return false;
    emit(parser, is_all ? ptx_run_match_all : ptx_run_match_any, writes, operand, writes + 2)->class
        = (uint8_t)classes[0];
    return true;
}

/* redux.sync.add.u32 d, a, mask */
static bool decode_redux(struct ptx_parser *parser, const struct ptx_mnemonic *mnemonic)
{
    static const struct {
        const char *name;
        enum ptx_update update;
    } modes[] = {{"add", PTX_ADD}, {"min", PTX_MIN}, {"max", PTX_MAX},
                 {"and", PTX_AND}, {"or", PTX_OR},   {"xor", PTX_XOR}};
    static const enum ptx_class classes[] = {PTX_32, PTX_32};
    uint32_t operand[3];
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        if (mnemonic->parts != 4 || !ptx_part_is(mnemonic, 1, "sync") ||
            !ptx_part_is(mnemonic, 2, modes[i].name))
            continue;
        if (!ptx_take_destination(parser, PTX_32, &operand[0]) ||
            !take_sources(parser, classes, 2, operand + 1))
            return false;
        struct ptx_code *code = emit(parser, ptx_run_reduce, 1, operand, 3);
        code->immediate = modes[i].update;
        code->is_signed = ptx_part_is(mnemonic, 3, "s32");
        return true;
    }
    return ptx_unknown(parser, mnemonic);
}

static bool decode_activemask(struct ptx_parser *parser, const struct ptx_mnemonic *mnemonic)
{
    uint32_t to;
    if (!ptx_part_is(mnemonic, 1, "b32"))
        return ptx_unknown(parser, mnemonic);
    if (!ptx_take_destination(parser, PTX_32, &to))
        return false;
    emit(parser, ptx_run_active_mask, 1, &to, 1);
    return true;
}

const struct ptx_decoder ptx_decoders_collective[] = {{"shfl", decode_shfl},
                                                      {"vote", decode_vote},
                                                      {"match", decode_match},
                                                      {"redux", decode_redux},
                                                      {"activemask", decode_activemask},
                                                      {NULL, NULL}};
