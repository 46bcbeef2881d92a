/*
 * pawl vkey: the verification key of a zkey, as snarkjs exports it. The key is parsed by
 * synth-worker, in a process of its own.
 */
#include <stdlib.h>
#include <string.h>

#include "coordinator/client/child.h"
#include "coordinator/client/commands.h"
#include "coordinator/client/options.h"
#include "coordinator/client/output.h"
#include "coordinator/client/say.h"
#include "coordinator/client/synth_command.h"
#include "shm/program.h"

#define VKEY_BYTES_MAX ((size_t)1 << 30)

int command_vkey(const struct arguments *arguments)
{
    char *words[] = {"--export-vkey", arguments->positional[0], NULL};
    const char *path = arguments->positional[1];
    struct child_output output;
    if (output_replaces(path, arguments->positional[0]))
        return say_error(EXIT_USAGE_ERROR, "%s is an input and cannot be an output too", path);
    int code = output_check(path);
    if (code)
        return code;
    code = synth_command_run(&output, words, VKEY_BYTES_MAX);
    if (!code) {
        size_t bytes = output.bytes;
        while (bytes && output.text[bytes - 1] == '\n') /* snarkjs ends without one */
            bytes--;
        struct output file = {path, output.text, bytes};
        code = output_write(&file, 1);
    }
    free(output.text);
    return code;
}
