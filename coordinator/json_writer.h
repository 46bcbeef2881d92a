/*
 * Writes JSON text into an evbuffer, with the commas in their places. Depth at most
 * JSON_WRITER_DEPTH (asserted). Texts are escaped; what is not UTF-8 is replaced.
 */
#ifndef PAWL_COORDINATOR_JSON_WRITER_H
#define PAWL_COORDINATOR_JSON_WRITER_H

#include <stdint.h>

#define JSON_WRITER_DEPTH 16

struct evbuffer;

struct json_writer {
    struct evbuffer *out; /* borrowed */
    unsigned depth;
    unsigned char filled[JSON_WRITER_DEPTH]; /* the level has a value already */
    int keyed;                               /* a key has been written, its value has not */
};

void jsonw_start(struct json_writer *json, struct evbuffer *out);
void jsonw_open(struct json_writer *json, char bracket); /* '{' or '[' */
void jsonw_close(struct json_writer *json, char bracket);
/* The next value's name, in an object. */
void jsonw_key(struct json_writer *json, const char *key);

/* Values. */
void jsonw_text(struct json_writer *json, const char *text); /* NULL: null */
void jsonw_uint(struct json_writer *json, uint64_t value);
void jsonw_real(struct json_writer *json, double value); /* not finite: null */
void jsonw_bool(struct json_writer *json, int value);
void jsonw_null(struct json_writer *json);
/* JSON text that was checked before, as it is; NULL: null. */
void jsonw_raw(struct json_writer *json, const char *text);

/* Key and value at once. */
void jsonw_put_text(struct json_writer *json, const char *key, const char *text);
void jsonw_put_uint(struct json_writer *json, const char *key, uint64_t value);
void jsonw_put_real(struct json_writer *json, const char *key, double value);
void jsonw_put_bool(struct json_writer *json, const char *key, int value);
void jsonw_put_raw(struct json_writer *json, const char *key, const char *text);
void jsonw_put_open(struct json_writer *json, const char *key, char bracket);

#endif
