/*
 * What the parser's files share: tokens, symbols, and the module and function being built. The text
 * may be damaged: the first error is kept with its line, and from then on every token is the end,
 * so that all loops end. Nothing here outlives ptx_parse_text() but the module.
 */
#ifndef PAWL_TESTS_SOFTCUDA_PTX_PARSER_H
#define PAWL_TESTS_SOFTCUDA_PTX_PARSER_H

#include "tests/softcuda/ptx_code.h"

enum ptx_token_kind { PTX_END, PTX_WORD, PTX_NUMBER, PTX_STRING, PTX_MARK };

struct ptx_token {
    enum ptx_token_kind kind;
    const char *text;
    size_t length;
    uint64_t number;
    uint32_t line;
};

enum ptx_symbol_kind {
    PTX_SYMBOL_REGISTER,
    PTX_SYMBOL_FAMILY,  /* %r<68> */
    PTX_SYMBOL_VARIABLE /* in memory: parameters and shared variables too */
};

struct ptx_symbol {
    const char *name;
    size_t length;
    enum ptx_symbol_kind kind;
    enum ptx_class class; /* of registers */
    uint32_t first;       /* the register's number, or the family's first */
    uint32_t count;       /* of a family */
    enum ptx_space space; /* of a variable */
    bool is_dynamic;      /* extern shared: lies behind all that is static */
    bool is_frame;        /* in the frame's part of local memory, at `address` */
    uint64_t address, bytes;
    uint32_t next; /* in its hash chain, plus 1 */
    uint32_t hash;
};

enum { PTX_HASH = 4096 };

struct ptx_label {
    const char *name;
    size_t length;
    uint32_t code; /* where it stands; UINT32_MAX: not met yet */
    uint32_t line; /* of its first use */
    uint32_t next;
};

struct ptx_parser {
    const char *at, *end;
    uint32_t line;
    struct ptx_token token; /* the one that is looked at */
    struct ptx_module *module;
    char *why;
    size_t why_bytes;
    bool failed;

    struct ptx_symbol *symbol;
    uint32_t symbols, symbol_room;
    uint32_t symbol_hash[PTX_HASH]; /* index plus 1 */

    /* the function being built */
    struct ptx_function *function;
    struct ptx_label *label;
    uint32_t labels, label_room;
    uint32_t label_hash[PTX_HASH];
    uint8_t *class; /* of each register */
    uint32_t registers, class_room;
    uint32_t local_bytes; /* in use at this point; the function keeps the most */
    uint32_t code_room, function_room, call_room, copy_room, constant_room;

    /* the instruction being decoded */
    uint32_t guard;
    bool guard_not;
    uint32_t statement_line;
    struct ptx_constant *constant; /* those that have vectors already */
    uint32_t constant_hash[PTX_HASH];
    uint32_t constants;
};

struct ptx_constant {
    uint64_t value;
    bool is_wide;
    uint32_t operand, next;
};

/* ptx_parse.c: the whole text into the empty module. False: `why` is set. */
bool ptx_parse_text(struct ptx_module *module, const char *text, size_t bytes, char *why,
                    size_t why_bytes);

/* Keeps the first error; always false. */
__attribute__((format(printf, 2, 3))) bool ptx_fail(struct ptx_parser *parser, const char *format,
                                                    ...);

/* ptx_lexer.c */
void ptx_next(struct ptx_parser *parser);
bool ptx_is(const struct ptx_parser *parser, const char *text); /* the token, word or mark */
bool ptx_accept(struct ptx_parser *parser, const char *text);
bool ptx_expect(struct ptx_parser *parser, const char *text);
bool ptx_number(struct ptx_parser *parser, uint64_t *value); /* a minus sign is allowed */
/* A number of at most `most`: sizes and counts. */
bool ptx_count(struct ptx_parser *parser, uint64_t most, uint32_t *value);
void ptx_skip_line(struct ptx_parser *parser);
/* where the lexer is, to look ahead and come back */
struct ptx_place {
    const char *at;
    uint32_t line;
    struct ptx_token token;
};
struct ptx_place ptx_place(const struct ptx_parser *parser);
void ptx_go_back(struct ptx_parser *parser, const struct ptx_place *place);
bool ptx_same(const struct ptx_token *token, const char *text);

/* ptx_symbols.c: names within nested scopes */
struct ptx_symbol *ptx_symbol_add(struct ptx_parser *parser, const struct ptx_token *name,
                                  enum ptx_symbol_kind kind);
const struct ptx_symbol *ptx_symbol_find(const struct ptx_parser *parser,
                                         const struct ptx_token *name);
/* The register that a word names: its number and class. */
bool ptx_register_find(const struct ptx_parser *parser, const struct ptx_token *name,
                       uint32_t *number, enum ptx_class *class);
void ptx_scope_end(struct ptx_parser *parser, uint32_t symbols); /* forgets the later ones */
uint32_t ptx_hash(const char *text, size_t length);

/* ptx_labels.c */
bool ptx_label_define(struct ptx_parser *parser, const struct ptx_token *name);
bool ptx_label_use(struct ptx_parser *parser, const struct ptx_token *name, uint32_t *label);
bool ptx_labels_resolve(struct ptx_parser *parser); /* branches' targets, at a function's end */

/* ptx_declarations.c */
bool ptx_parse_variable(struct ptx_parser *parser); /* at .global, .shared, .extern, ... */
bool ptx_parse_registers(struct ptx_parser *parser);
bool ptx_parse_params(struct ptx_parser *parser, struct ptx_function *function, bool of_kernel,
                      bool returns);
/* `.param .align 16 .b8 name[64]`, after .param: size and alignment of one variable */
struct ptx_shape {
    uint64_t bytes, element_bytes;
    uint32_t align;
    bool is_open; /* name[] */
    struct ptx_token name;
};
bool ptx_parse_shape(struct ptx_parser *parser, struct ptx_shape *shape);
bool ptx_parse_initial(struct ptx_parser *parser, const struct ptx_shape *shape, uint8_t *bytes);
uint32_t ptx_local_reserve(struct ptx_parser *parser, uint64_t bytes, uint32_t align);

/* ptx_function.c */
bool ptx_parse_function(struct ptx_parser *parser); /* at .entry or .func */

/* ptx_emit.c */
struct ptx_code *ptx_emit(struct ptx_parser *parser,
                          void (*run)(struct ptx_warp *, const struct ptx_code *));
void ptx_emit_operand(struct ptx_code *code, uint32_t operand);
/* A fresh register of the function, as an operand; an immediate's vector, as an operand. */
uint32_t ptx_temporary(struct ptx_parser *parser, enum ptx_class class);
uint32_t ptx_constant(struct ptx_parser *parser, enum ptx_class class, uint64_t value);
uint32_t ptx_register_new(struct ptx_parser *parser, enum ptx_class class, uint32_t count);
/* An array with room for one more element, doubled where it must; false: no memory. */
bool ptx_room(struct ptx_parser *parser, void *array, uint32_t count, uint32_t *room,
              size_t element_bytes);

/* ptx_operands.c: each takes one operand from the text */
bool ptx_take_destination(struct ptx_parser *parser, enum ptx_class class, uint32_t *operand);
bool ptx_take_source(struct ptx_parser *parser, enum ptx_class class, uint32_t *operand);
bool ptx_take_comma(struct ptx_parser *parser);
bool ptx_take_register(struct ptx_parser *parser, uint32_t *operand, enum ptx_class *class);
/* {a, b, ...} or a single one; classes must agree with `class` */
bool ptx_take_vector(struct ptx_parser *parser, enum ptx_class class, unsigned count, bool written,
                     uint32_t *operands);
/* [register + 4], [symbol], [symbol + 4] */
struct ptx_address {
    uint32_t operand; /* PTX_NO_OPERAND: the address is `offset` alone */
    bool is_wide;
    int64_t offset;
    const struct ptx_symbol *symbol;
};
bool ptx_take_address(struct ptx_parser *parser, struct ptx_address *address);
/* The symbol's address in its space, in a register or constant of the class. */
bool ptx_symbol_address(struct ptx_parser *parser, const struct ptx_symbol *symbol,
                        enum ptx_class class, uint64_t offset, uint32_t *operand);

/* A mnemonic, taken apart at its dots. */
enum { PTX_PARTS_MOST = 12 };
struct ptx_mnemonic {
    struct ptx_token word;
    unsigned parts;
    struct ptx_token part[PTX_PARTS_MOST];
};
bool ptx_part_is(const struct ptx_mnemonic *mnemonic, unsigned part, const char *text);
bool ptx_has_part(const struct ptx_mnemonic *mnemonic, const char *text);

/* Decoders of one instruction, after its mnemonic and up to its semicolon. */
bool ptx_decode_instruction(struct ptx_parser *parser);
bool ptx_decode_operation(struct ptx_parser *parser, const char *mnemonic, size_t length);
bool ptx_unknown(struct ptx_parser *parser, const struct ptx_mnemonic *mnemonic);

struct ptx_decoder {
    const char *first; /* the mnemonic's first part */
    bool (*decode)(struct ptx_parser *parser, const struct ptx_mnemonic *mnemonic);
};
extern const struct ptx_decoder ptx_decoders_move[], ptx_decoders_memory[], ptx_decoders_control[],
    ptx_decoders_collective[];

/* ptx_registers.c: gives the function's registers their places in a frame. */
bool ptx_registers_place(struct ptx_parser *parser);

/* ptx_stack.c: adds up the frames of functions that call each other. */
bool ptx_stacks_measure(struct ptx_parser *parser);

#endif
