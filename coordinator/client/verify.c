/*
 * pawl verify: a proof against a verification key and public signals, with no service. Keeps
 * nothing.
 */
#include <stdio.h>
#include <stdlib.h>

#include "coordinator/client/commands.h"
#include "coordinator/client/interrupt.h"
#include "coordinator/client/options.h"
#include "coordinator/client/proof_file.h"
#include "coordinator/client/say.h"
#include "shm/program.h"

struct verification {
    struct vkey_file vkey;
    uint64_t *publics;
    struct proof proof;
};

static int malformed(const char *path, const struct proof_file_why *why)
{
    return say_error(EXIT_INPUT, "%s: %s", path, why->text);
}

static int read_vkey(struct verification *this, const char *path)
{
    struct proof_file_why why = {""};
    json_t *root = proof_file_load(path, &why);
    enum file_fault kind = root ? proof_file_vkey(&this->vkey, root, &why) : FILE_MALFORMED;
    json_decref(root);
    return kind ? malformed(path, &why) : 0;
}

/* Says the verdict. Returns the exit code. */
static int tell(const struct arguments *arguments, const char *path, const char *why)
{
    if (options_value(arguments, "--json")) {
        json_t *verdict = json_pack("{s:b,s:s*}", "valid", !why, "reason", why);
        int code = say_json(verdict);
        json_decref(verdict);
        return code ? code : why ? EXIT_INPUT : 0;
    }
    puts(why ? "Invalid proof" : "OK!");
    int code = say_flush();
    if (code || !why)
        return code;
    return path ? say_error(EXIT_INPUT, "%s: %s", path, why) : EXIT_INPUT;
}

static int judge(struct verification *this, const struct arguments *arguments)
{
    int valid = this->vkey.curve->proof_verify(&this->vkey.key, this->publics, &this->proof);
    return tell(arguments, NULL,
                valid ? NULL : "the pairing equation does not hold for these public signals");
}

static int read_publics(struct verification *this, const json_t *root, struct proof_file_why *why)
{
    return proof_file_publics(&this->publics, this->vkey.key.public_count, this->vkey.curve, root,
                              why);
}

static int read_proof(struct verification *this, const json_t *root, struct proof_file_why *why)
{
    return proof_file_proof(&this->proof, this->vkey.curve, root, why);
}

/* Reads one of the two files that may make the proof invalid. 0 with *done 0 to go on; else the
 * exit code. */
static int read_part(struct verification *this, const struct arguments *arguments, int place,
                     int (*read)(struct verification *, const json_t *, struct proof_file_why *),
                     int *done)
{
    struct proof_file_why why = {""};
    const char *path = arguments->positional[place];
    json_t *root = proof_file_load(path, &why);
    int kind = root ? read(this, root, &why) : FILE_MALFORMED;
    json_decref(root);
    *done = kind != FILE_FINE;
    if (kind == FILE_MALFORMED)
        return malformed(path, &why);
    return kind == FILE_INVALID ? tell(arguments, path, why.text) : 0;
}

int command_verify(const struct arguments *arguments)
{
    struct verification this = {0};
    int done = 1;
    interrupt_close();
    int code = read_vkey(&this, arguments->positional[0]);
    if (!code)
        code = read_part(&this, arguments, 1, read_publics, &done);
    if (!done)
        code = read_part(&this, arguments, 2, read_proof, &done);
    if (!done)
        code = judge(&this, arguments);
    free(this.publics);
    free(this.vkey.ic);
    return code;
}
