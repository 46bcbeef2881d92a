/*
 * Inputs made exact; see the header. Called by witness_input.c in a child of its own. A SIGKILL
 * leaves half an output, which nobody reads.
 */
#include "synth-worker/input_json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <string.h>

#include "synth-worker/complaint.h"
#include "synth-worker/input_keys.h"
#include "synth-worker/input_text.h"
#include "synth-worker/input_value.h"

#define PATH_ROOM 256u

struct reader {
    const char *start, *at, *end;
    const struct curve *curve;
    FILE *out;
    struct complaint *complaint;
    struct input_keys keys;
    char path[PATH_ROOM]; /* the signal in hand, cut where it is longer */
    size_t path_bytes;    /* its whole length */
};

static int read_value(struct reader *reader, struct input_name name, unsigned depth);

/* ---- what is wrong ---- */

static int not_json(const struct reader *reader, const char *what)
{
    return complain_input(reader->complaint, "the input is not JSON: %s at byte %" PRIu64, what,
                          (uint64_t)(reader->at - reader->start));
}

static int wrong_signal(struct reader *reader, const char *what)
{
    size_t shown = reader->path_bytes < PATH_ROOM ? reader->path_bytes : PATH_ROOM - 1;
    return complain_input(reader->complaint, "input signal %.*s%s: %s", (int)shown, reader->path,
                          shown < reader->path_bytes ? "..." : "", what);
}

/* ---- the signal's name ---- */

static void append_path(struct reader *reader, struct input_name *name, const char *text,
                        size_t bytes)
{
    for (size_t i = 0; i < bytes && reader->path_bytes + i < PATH_ROOM; i++)
        reader->path[reader->path_bytes + i] = text[i];
    reader->path_bytes += bytes;
    input_name_add(name, text, bytes);
}

/* ---- the parts of JSON ---- */

static char skip_blanks(struct reader *reader)
{
    while (reader->at < reader->end && memchr(" \t\r\n", *reader->at, 4))
        reader->at++;
    return reader->at < reader->end ? *reader->at : 0;
}

static int expect(struct reader *reader, char letter)
{
    const char what[] = {'\'', letter, '\'', ' ', 'm', 'i', 's', 's', 'i', 'n', 'g', 0};
    if (skip_blanks(reader) != letter)
        return not_json(reader, what);
    reader->at++;
    return 0;
}

static void write_key(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        unsigned char letter = (unsigned char)*text;
        if (letter < 0x20)
            fprintf(out, "\\u%04x", letter);
        else
            fprintf(out, letter == '"' || letter == '\\' ? "\\%c" : "%c", letter);
    }
    fputc('"', out);
}

static int write_number(struct reader *reader, const char *text, size_t length)
{
    char value[INPUT_VALUE_BYTES];
    const char *wrong = input_value_write(value, text, length, reader->curve);
    if (wrong)
        return wrong_signal(reader, wrong);
    fprintf(reader->out, "\"%s\"", value);
    return 0;
}

static size_t count_digits(const struct reader *reader, const char *at)
{
    size_t count = 0;
    while (at + count < reader->end && at[count] >= '0' && at[count] <= '9')
        count++;
    return count;
}

static int read_number(struct reader *reader)
{
    const char *start = reader->at;
    size_t sign = *start == '-', digits = count_digits(reader, start + sign);
    if (!digits || (digits > 1 && start[sign] == '0'))
        return not_json(reader, "a wrong number");
    reader->at += sign + digits;
    if (reader->at < reader->end && memchr(".eE", *reader->at, 3))
        return wrong_signal(reader,
                            "a fraction or an exponent: write all digits of a whole number");
    return write_number(reader, start, sign + digits);
}

static int read_text(struct reader *reader)
{
    char text[INPUT_JSON_TEXT_MAX + 1];
    size_t length;
    reader->at++;
    const char *wrong = input_text_read(&reader->at, reader->end, text, sizeof text, &length);
    return wrong ? not_json(reader, wrong) : write_number(reader, text, length);
}

static int read_word(struct reader *reader)
{
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i]);
        if ((size_t)(reader->end - reader->at) >= length && !memcmp(reader->at, words[i], length))
            return wrong_signal(reader, "true, false and null are no numbers");
    }
    return not_json(reader, reader->at == reader->end ? "a value missing" : "an unknown value");
}

static int read_element(struct reader *reader, struct input_name name, unsigned depth,
                        uint64_t index)
{
    char text[24];
    size_t before = reader->path_bytes;
    int length = snprintf(text, sizeof text, "[%" PRIu64 "]", index);
    append_path(reader, &name, text, (size_t)length);
    int status = read_value(reader, name, depth);
    reader->path_bytes = before;
    return status;
}

static int read_array(struct reader *reader, struct input_name name, unsigned depth)
{
    int status = 0;
    reader->at++;
    fputc('[', reader->out);
    for (uint64_t index = 0; skip_blanks(reader) != ']'; index++) {
        if (index) {
            status = expect(reader, ',');
            fputc(',', reader->out);
        }
        if (!status)
            status = read_element(reader, name, depth, index);
        if (status)
            return status;
    }
    reader->at++;
    fputc(']', reader->out);
    return 0;
}

static int read_member(struct reader *reader, struct input_name name, unsigned depth)
{
    char key[INPUT_JSON_TEXT_MAX + 1];
    size_t length, before = reader->path_bytes;
    int status = expect(reader, '"');
    if (status)
        return status;
    const char *wrong = input_text_read(&reader->at, reader->end, key, sizeof key, &length);
    if (wrong)
        return not_json(reader, wrong);
    if (reader->path_bytes)
        append_path(reader, &name, ".", 1);
    append_path(reader, &name, key, length);
    status = input_keys_add(&reader->keys, &name);
    if (status == -EEXIST)
        return wrong_signal(reader, "given twice");
    if (status == -E2BIG)
        return wrong_signal(reader, "the input has more than 4194304 names");
    if (status)
        return complain_system(reader->complaint, 1, -status, "the names of the input");
    write_key(reader->out, key);
    fputc(':', reader->out);
    status = expect(reader, ':');
    if (!status)
        status = read_value(reader, name, depth);
    reader->path_bytes = before;
    return status;
}

static int read_object(struct reader *reader, struct input_name name, unsigned depth)
{
    int status = 0;
    reader->at++;
    fputc('{', reader->out);
    for (int first = 1; skip_blanks(reader) != '}'; first = 0) {
        if (!first) {
            status = expect(reader, ',');
            fputc(',', reader->out);
        }
        if (!status)
            status = read_member(reader, name, depth);
        if (status)
            return status;
    }
    reader->at++;
    fputc('}', reader->out);
    return 0;
}

static int read_value(struct reader *reader, struct input_name name, unsigned depth)
{
    char first = skip_blanks(reader);
    if (depth > INPUT_JSON_DEPTH_MAX)
        return not_json(reader, "too deep a nesting");
    if (first == '{')
        return read_object(reader, name, depth + 1);
    if (first == '[')
        return read_array(reader, name, depth + 1);
    if (first == '"')
        return read_text(reader);
    if (first == '-' || (first >= '0' && first <= '9'))
        return read_number(reader);
    return read_word(reader);
}

int input_json_normalise(const char *text, size_t bytes, const struct curve *curve, FILE *out,
                         struct complaint *complaint)
{
    struct reader reader = {.start = text,
                            .at = text,
                            .end = text + bytes,
                            .curve = curve,
                            .out = out,
                            .complaint = complaint};
    int status;
    if (skip_blanks(&reader) != '{')
        status = not_json(&reader, "not an object of signals");
    else
        status = read_object(&reader, INPUT_NAME_EMPTY, 1);
    if (!status && (skip_blanks(&reader), reader.at != reader.end))
        status = not_json(&reader, "something behind the object");
    input_keys_free(&reader.keys);
    return status;
}
