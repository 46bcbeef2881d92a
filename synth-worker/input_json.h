/*
 * Inputs of witness programs, made exact: a JSON object of signals, their values numbers or strings
 * in nested arrays and objects, written again with each value as a string of decimal digits below
 * r. What a program would read otherwise than it is written (fractions, exponents, numbers beyond
 * r, an empty text, true, false, null, a key given twice, also as `a.b` beside {"a": {"b": ..}}) is
 * refused, naming the signal. Reads hostile bytes: depth and lengths are bounded, UTF-8 is checked.
 * The caller runs it in a process that holds nothing else.
 */
#ifndef PAWL_SYNTH_WORKER_INPUT_JSON_H
#define PAWL_SYNTH_WORKER_INPUT_JSON_H

#include <stddef.h>
#include <stdio.h>

struct complaint;
struct curve;

#define INPUT_JSON_DEPTH_MAX 64u
#define INPUT_JSON_TEXT_MAX 1024u /* bytes of a key, and of a value */

/* Writes to `out`. 0; -EINVAL with the complaint; -ENOMEM likewise. Whether the writing went well
 * is for the caller to ask of `out`. */
int input_json_normalise(const char *text, size_t bytes, const struct curve *curve, FILE *out,
                         struct complaint *complaint);

#endif
