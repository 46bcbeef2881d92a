/*
 * What pawl says: errors as one line on stderr, results on stdout.
 */
#ifndef PAWL_CLIENT_SAY_H
#define PAWL_CLIENT_SAY_H

#include <jansson.h>

/*
 * Prints "pawl: TEXT" as one line on stderr; line ends and other controls become '?', for parts of
 * the text come from files and sockets. Returns exit_code. Long texts are cut at 2000 bytes.
 */
int say_error(int exit_code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* From now on say_error prints nothing and keeps the first text; say_release prints that, or with
 * `drop` forgets it: for what may yet turn out well. */
void say_hold(void);
void say_release(int drop);

/* Prints value as one line of compact JSON on stdout. 0, or EXIT_OUTPUT having said so. */
int say_json(const json_t *value);
/* Flushes stdout. 0, or EXIT_OUTPUT having said so: a result that was not written is an error. */
int say_flush(void);

/* Replaces every control character, in place. Returns text. */
char *say_clean(char *text);

#endif
