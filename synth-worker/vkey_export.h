/*
 * The verification key of a proving key, as snarkjs exports it: the same names in the same order,
 * indented by one blank a level, byte for byte.
 */
#ifndef PAWL_SYNTH_WORKER_VKEY_EXPORT_H
#define PAWL_SYNTH_WORKER_VKEY_EXPORT_H

#include <stdio.h>

struct binfile_source;
struct complaint;

/* Reads sections 1, 2 and 3 of the key, checks their points, and prints. 0, or -errno with the
 * complaint set and nothing printed. */
int vkey_export(const struct binfile_source *key, FILE *out, struct complaint *complaint);

#endif
