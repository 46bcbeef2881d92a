/*
 * A JSON string, decoded. Pure.
 */
#ifndef PAWL_SYNTH_WORKER_INPUT_TEXT_H
#define PAWL_SYNTH_WORKER_INPUT_TEXT_H

#include <stddef.h>

/*
 * Decodes the string that begins behind its opening quote at *at and moves *at behind the closing
 * one. out[room] gets UTF-8, NUL-terminated, *length bytes. NULL, or what is wrong: no end, a
 * control character, a wrong escape, bytes that are not UTF-8, NUL, more than room - 1 bytes.
 */
const char *input_text_read(const char **at, const char *end, char *out, size_t room,
                            size_t *length);

#endif
