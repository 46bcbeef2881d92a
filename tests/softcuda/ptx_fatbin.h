/*
 * Finds the PTX text in a fatbin: ptx_fatbin.c.
 */
#ifndef PAWL_TESTS_SOFTCUDA_PTX_FATBIN_H
#define PAWL_TESTS_SOFTCUDA_PTX_FATBIN_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the bytes begin as a fatbin does. */
bool ptx_fatbin_is(const void *image, size_t bytes);

/* The text lies within the image. False: `why` says what is wrong with the image. */
bool ptx_fatbin_text(const void *image, size_t bytes, const char **text, size_t *text_bytes,
                     char *why, size_t why_bytes);

#endif
