/*
 * PTX text into tokens: words (identifiers, registers, directives, whole mnemonics), numbers,
 * strings and single marks. Called by the parser's files. The text need not end with anything.
 */
#include "tests/softcuda/ptx_parser.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool ptx_fail(struct ptx_parser *parser, const char *format, ...)
{
    if (parser->failed)
        return false;
    parser->failed = true;
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(parser->why, parser->why_bytes, "PTX line %u: %s", parser->line, text);
    parser->token = (struct ptx_token){.kind = PTX_END, .text = "", .line = parser->line};
    parser->at = parser->end;
    return false;
}

static void skip_comment(struct ptx_parser *parser)
{
    parser->at += 2;
    while (parser->at < parser->end) {
        if (parser->at[0] == '*' && parser->end - parser->at >= 2 && parser->at[1] == '/') {
            parser->at += 2;
            return;
        }
        if (*parser->at++ == '\n')
            parser->line++;
    }
}

void ptx_skip_line(struct ptx_parser *parser)
{
    while (parser->at < parser->end && *parser->at != '\n')
        parser->at++;
    ptx_next(parser);
}

static void skip_space(struct ptx_parser *parser)
{
    while (parser->at < parser->end) {
        const char c = parser->at[0];
        const char after = parser->end - parser->at >= 2 ? parser->at[1] : 0;
        if (c == '\n') {
            parser->line++;
            parser->at++;
        } else if (c == ' ' || c == '\t' || c == '\r') {
            parser->at++;
        } else if (c == '/' && after == '/') {
            while (parser->at < parser->end && *parser->at != '\n')
                parser->at++;
        } else if (c == '/' && after == '*') {
            skip_comment(parser);
        } else {
            return;
        }
    }
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%' || c == '.';
}

/* up to its end; "::" belongs to a word, as in .L1::no_allocate */
static void take_word(struct ptx_parser *parser)
{
    while (parser->at < parser->end) {
        if (is_word(*parser->at))
            parser->at++;
        else if (parser->end - parser->at >= 3 && parser->at[0] == ':' && parser->at[1] == ':' &&
                 is_word(parser->at[2]))
            parser->at += 2;
        else
            return;
    }
}

static unsigned digit(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    const char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? (unsigned)(lower - 'a') + 10 : 99;
}

static bool take_number(struct ptx_parser *parser)
{
    const char *text = parser->token.text;
    const size_t length = (size_t)(parser->at - text);
    unsigned base = 10;
    size_t i = 0;
    if (length > 2 && text[0] == '0' && (text[1] | 0x20) == 'x') {
        base = 16;
        i = 2;
    } else if (length > 2 && text[0] == '0' && (text[1] | 0x20) == 'b') {
        base = 2;
        i = 2;
    } else if (length > 1 && text[0] == '0') {
        base = 8;
    }
    uint64_t value = 0;
    for (; i < length; i++) {
        if (i + 1 == length && i > 0 && (text[i] | 0x20) == 'u')
            break;
        const unsigned next = digit(text[i]);
        if (next >= base || value > (UINT64_MAX - next) / base)
            return ptx_fail(parser, "no integer: %.*s", (int)(length < 40 ? length : 40), text);
        value = value * base + next;
    }
    parser->token.number = value;
    return true;
}

static void take_string(struct ptx_parser *parser)
{
    parser->at++;
    while (parser->at < parser->end && *parser->at != '"' && *parser->at != '\n')
        parser->at++;
    if (parser->at == parser->end || *parser->at == '\n')
        ptx_fail(parser, "a string without an end");
    else
        parser->at++;
}

void ptx_next(struct ptx_parser *parser)
{
    skip_space(parser);
    struct ptx_token *token = &parser->token;
    *token = (struct ptx_token){.kind = PTX_END, .text = parser->at, .line = parser->line};
    if (parser->at == parser->end)
        return;
    const char c = *parser->at;
    if (is_word(c)) {
        token->kind = isdigit((unsigned char)c) ? PTX_NUMBER : PTX_WORD;
        take_word(parser);
        if (token->kind == PTX_NUMBER && !take_number(parser))
            return;
    } else if (c == '"') {
        token->kind = PTX_STRING;
        take_string(parser);
    } else {
        token->kind = PTX_MARK;
        parser->at++;
    }
    if (!parser->failed)
        token->length = (size_t)(parser->at - token->text);
}

bool ptx_same(const struct ptx_token *token, const char *text)
{
    return token->length == strlen(text) && memcmp(token->text, text, token->length) == 0;
}

bool ptx_is(const struct ptx_parser *parser, const char *text)
{
    const enum ptx_token_kind kind = parser->token.kind;
    return (kind == PTX_WORD || kind == PTX_MARK) && ptx_same(&parser->token, text);
}

bool ptx_accept(struct ptx_parser *parser, const char *text)
{
    if (!ptx_is(parser, text))
        return false;
    ptx_next(parser);
    return true;
}

bool ptx_expect(struct ptx_parser *parser, const char *text)
{
    if (ptx_accept(parser, text))
        return true;
    const size_t length = parser->token.length < 40 ? parser->token.length : 40;
    return ptx_fail(parser, "'%s' expected, not '%.*s'", text, (int)length, parser->token.text);
}

bool ptx_number(struct ptx_parser *parser, uint64_t *value)
{
    const bool minus = ptx_accept(parser, "-");
    if (parser->token.kind != PTX_NUMBER)
        return ptx_fail(parser, "a number expected");
    *value = minus ? -parser->token.number : parser->token.number;
    ptx_next(parser);
    return true;
}

bool ptx_count(struct ptx_parser *parser, uint64_t most, uint32_t *value)
{
    uint64_t number = 0;
    if (!ptx_number(parser, &number))
        return false;
    if (number > most)
        return ptx_fail(parser, "%llu is too many", (unsigned long long)number);
    *value = (uint32_t)number;
    return true;
}

struct ptx_place ptx_place(const struct ptx_parser *parser)
{
    return (struct ptx_place){parser->at, parser->line, parser->token};
}

void ptx_go_back(struct ptx_parser *parser, const struct ptx_place *place)
{
    if (parser->failed)
        return;
    parser->at = place->at;
    parser->line = place->line;
    parser->token = place->token;
}
