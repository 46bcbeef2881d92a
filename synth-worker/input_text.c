/*
 * JSON strings; see the header. Called by input_json.c. A SIGKILL leaves nothing.
 */
#include "synth-worker/input_text.h"

#include <stdint.h>
#include <string.h>

struct decoding {
    const char *at, *end;
    char *out;
    size_t length, room;
};

static int put(struct decoding *text, unsigned byte)
{
    if (text->length + 1 >= text->room)
        return 1;
    text->out[text->length++] = (char)byte;
    return 0;
}

static int put_code(struct decoding *text, uint32_t code)
{
    if (code < 0x80)
        return put(text, code);
    if (code < 0x800)
        return put(text, 0xc0 | code >> 6) || put(text, 0x80 | (code & 63));
    if (code < 0x10000)
        return put(text, 0xe0 | code >> 12) || put(text, 0x80 | (code >> 6 & 63)) ||
               put(text, 0x80 | (code & 63));
    return put(text, 0xf0 | code >> 18) || put(text, 0x80 | (code >> 12 & 63)) ||
           put(text, 0x80 | (code >> 6 & 63)) || put(text, 0x80 | (code & 63));
}

/* Four hex digits; UINT32_MAX where they are not. */
static uint32_t read_hex(struct decoding *text)
{
    uint32_t code = 0;
    if (text->end - text->at < 4)
        return UINT32_MAX;
    for (int i = 0; i < 4; i++) {
        static const char digits[] = "0123456789abcdefABCDEF";
        const char *digit = memchr(digits, text->at[i], sizeof digits - 1);
        if (!digit)
            return UINT32_MAX;
        uint32_t value = (uint32_t)(digit - digits);
        code = code << 4 | (value < 16 ? value : value - 6);
    }
    text->at += 4;
    return code;
}

static const char *read_unicode(struct decoding *text)
{
    static const char wrong[] = "a wrong \\u escape";
    uint32_t code = read_hex(text);
    if (code == UINT32_MAX || (code >= 0xdc00 && code < 0xe000))
        return wrong;
    if (code >= 0xd800 && code < 0xdc00) {
        if (text->end - text->at < 2 || text->at[0] != '\\' || text->at[1] != 'u')
            return wrong;
        text->at += 2;
        uint32_t low = read_hex(text);
        if (low < 0xdc00 || low >= 0xe000)
            return wrong;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    if (!code)
        return "a NUL character";
    return put_code(text, code) ? "a text that is too long" : NULL;
}

static const char *read_escape(struct decoding *text)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    if (text->at == text->end)
        return "a string without end";
    char letter = *text->at++;
    if (letter == 'u')
        return read_unicode(text);
    const char *found = memchr(letters, letter, sizeof letters - 1);
    if (!found)
        return "a wrong escape";
    return put(text, (unsigned char)meant[found - letters]) ? "a text that is too long" : NULL;
}

/* The bytes of the UTF-8 sequence at p, 0 where it is none (overlong, surrogate, cut). */
static size_t utf8_length(const unsigned char *p, size_t left)
{
    size_t length = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    if (!length || p[0] > 0xf4 || length > left)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
        (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
        return 0;
    return length;
}

static const char *read_plain(struct decoding *text)
{
    size_t length = utf8_length((const unsigned char *)text->at, (size_t)(text->end - text->at));
    if (!length)
        return "bytes that are not UTF-8";
    if ((unsigned char)*text->at < 0x20)
        return "a control character in a string";
    while (length--)
        if (put(text, (unsigned char)*text->at++))
            return "a text that is too long";
    return NULL;
}

const char *input_text_read(const char **at, const char *end, char *out, size_t room,
                            size_t *length)
{
    struct decoding text = {.at = *at, .end = end, .out = out, .room = room};
    const char *wrong = NULL;
    while (!wrong) {
        if (text.at == text.end)
            return "a string without end";
        if (*text.at == '"')
            break;
        if (*text.at == '\\') {
            text.at++;
            wrong = read_escape(&text);
        } else {
            wrong = read_plain(&text);
        }
    }
    *at = text.at + !wrong;
    out[text.length] = 0;
    *length = text.length;
    return wrong;
}
