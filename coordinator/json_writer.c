/*
 * JSON text into an evbuffer; see the header. Called by everything that answers over HTTP. Memory
 * that is short shows as a text that is cut, which no reader accepts. A SIGKILL leaves nothing.
 */
#include "coordinator/json_writer.h"

#include <assert.h>
#include <event2/buffer.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

void jsonw_start(struct json_writer *json, struct evbuffer *out)
{
    memset(json, 0, sizeof(*json));
    json->out = out;
}

static void put(struct json_writer *json, const char *text, size_t bytes)
{
    evbuffer_add(json->out, text, bytes);
}

/* Before each value: a comma where one stands before it on its level. */
static void begin_value(struct json_writer *json)
{
    if (json->keyed) {
        json->keyed = 0;
        return;
    }
    if (json->filled[json->depth])
        put(json, ",", 1);
    json->filled[json->depth] = 1;
}

void jsonw_open(struct json_writer *json, char bracket)
{
    begin_value(json);
    assert(json->depth + 1 < JSON_WRITER_DEPTH);
    json->filled[++json->depth] = 0;
    put(json, &bracket, 1);
}

void jsonw_close(struct json_writer *json, char bracket)
{
    assert(json->depth > 0 && !json->keyed);
    json->depth--;
    put(json, &bracket, 1);
}

/* Bytes of the UTF-8 character at text (its continuation bytes checked), 0 where there is none. */
static size_t utf8_length(const unsigned char *text)
{
    size_t length = text[0] < 0x80                       ? 1
                    : text[0] >= 0xc2 && text[0] <= 0xdf ? 2
                    : (text[0] & 0xf0) == 0xe0           ? 3
                    : text[0] >= 0xf0 && text[0] <= 0xf4 ? 4
                                                         : 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    if (length == 3 && ((text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f)))
        return 0;
    if (length == 4 && ((text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f)))
        return 0;
    return length;
}

/* Writes one character, escaped where it must be; how many bytes of text it took. */
static size_t put_character(struct json_writer *json, const char *text)
{
    unsigned char first = (unsigned char)*text;
    size_t length = utf8_length((const unsigned char *)text);
    if (length == 0) {
        put(json, "\xef\xbf\xbd", 3);
        return 1;
    }
    if (first < 0x20 || first == 0x7f)
        evbuffer_add_printf(json->out, "\\u%04x", first);
    else if (first == '"' || first == '\\')
        evbuffer_add_printf(json->out, "\\%c", first);
    else
        put(json, text, length);
    return length;
}

/* How many bytes from text on need no escape: written in one piece. */
static size_t plain_length(const char *text)
{
    size_t length = 0;
    while (text[length] >= 0x20 && text[length] < 0x7f && text[length] != '"' &&
           text[length] != '\\')
        length++;
    return length;
}

static void put_quoted(struct json_writer *json, const char *text)
{
    put(json, "\"", 1);
    while (*text) {
        size_t plain = plain_length(text);
        if (plain)
            put(json, text, plain);
        text += plain ? plain : put_character(json, text);
    }
    put(json, "\"", 1);
}

void jsonw_key(struct json_writer *json, const char *key)
{
    assert(!json->keyed);
    begin_value(json);
    put_quoted(json, key);
    put(json, ":", 1);
    json->keyed = 1;
}

void jsonw_raw(struct json_writer *json, const char *text)
{
    if (!text)
        text = "null";
    begin_value(json);
    put(json, text, strlen(text));
}

void jsonw_text(struct json_writer *json, const char *text)
{
    if (!text) {
        jsonw_null(json);
        return;
    }
    begin_value(json);
    put_quoted(json, text);
}

void jsonw_uint(struct json_writer *json, uint64_t value)
{
    begin_value(json);
    evbuffer_add_printf(json->out, "%" PRIu64, value);
}

void jsonw_real(struct json_writer *json, double value)
{
    if (!isfinite(value)) {
        jsonw_null(json);
        return;
    }
    begin_value(json);
    evbuffer_add_printf(json->out, "%.3f", value);
}

void jsonw_bool(struct json_writer *json, int value)
{
    jsonw_raw(json, value ? "true" : "false");
}

void jsonw_null(struct json_writer *json)
{
    jsonw_raw(json, NULL);
}

void jsonw_put_text(struct json_writer *json, const char *key, const char *text)
{
    jsonw_key(json, key);
    jsonw_text(json, text);
}

void jsonw_put_uint(struct json_writer *json, const char *key, uint64_t value)
{
    jsonw_key(json, key);
    jsonw_uint(json, value);
}

void jsonw_put_real(struct json_writer *json, const char *key, double value)
{
    jsonw_key(json, key);
    jsonw_real(json, value);
}

void jsonw_put_bool(struct json_writer *json, const char *key, int value)
{
    jsonw_key(json, key);
    jsonw_bool(json, value);
}

void jsonw_put_raw(struct json_writer *json, const char *key, const char *text)
{
    jsonw_key(json, key);
    jsonw_raw(json, text);
}

void jsonw_put_open(struct json_writer *json, const char *key, char bracket)
{
    jsonw_key(json, key);
    jsonw_open(json, bracket);
}
