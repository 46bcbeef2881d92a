/*
 * synth-worker's commands that need no region (--compile, --export-vkey), with its complaints made
 * ours.
 */
#ifndef PAWL_CLIENT_SYNTH_COMMAND_H
#define PAWL_CLIENT_SYNTH_COMMAND_H

#include <stddef.h>

struct child_output;

/* Runs synth-worker with these words. 0, or the exit code having said why. output->text is free()d
 * by the caller either way. */
int synth_command_run(struct child_output *output, char *const *words, size_t limit);

#endif
