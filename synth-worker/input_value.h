/*
 * One value of an input as a field element: what circom's and snarkjs's inputs may say of a number,
 * exactly, or not at all.
 */
#ifndef PAWL_SYNTH_WORKER_INPUT_VALUE_H
#define PAWL_SYNTH_WORKER_INPUT_VALUE_H

#include <stddef.h>

#include "kernels/decimal.h"

struct curve;

#define INPUT_VALUE_BYTES DECIMAL_TEXT_BYTES(4)

/*
 * text: a JSON number, or the contents of a JSON string: decimal digits with or without a minus
 * before them, or 0x, 0o, 0b and digits. -x becomes r - x. Writes the decimal text below r,
 * NUL-terminated. NULL where it is that, else what is wrong with it, for people; never the value
 * itself, which is a secret.
 */
const char *input_value_write(char out[INPUT_VALUE_BYTES], const char *text, size_t length,
                              const struct curve *curve);

#endif
