/*
 * snarkjs's JSON files, read with distrust: verification key, proof, public signals. Numbers are
 * decimal strings (publics may be JSON integers too); points are affine or infinity; every one is
 * checked to be canonical and on its curve.
 */
#ifndef PAWL_CLIENT_PROOF_FILE_H
#define PAWL_CLIENT_PROOF_FILE_H

#include <jansson.h>
#include <stdint.h>

#include "kernels/curves.h"

enum file_fault {
    FILE_FINE,
    FILE_MALFORMED, /* not such a file at all */
    FILE_INVALID    /* well formed, but no proof with it can be valid */
};

struct proof_file_why {
    char text[256];
};

struct vkey_file {
    const struct curve *curve;
    struct verification_key key; /* beta1 and delta1 are zero: verification needs neither */
    void *ic;                    /* free() */
};

/* Reads JSON of at most 1 GiB. NULL with *why where it cannot be read or is no JSON. */
json_t *proof_file_load(const char *path, struct proof_file_why *why);

/* All points are also checked to be in the subgroup. vkey->ic is set only where FILE_FINE. */
enum file_fault proof_file_vkey(struct vkey_file *vkey, const json_t *root,
                                struct proof_file_why *why);
enum file_fault proof_file_proof(struct proof *proof, const struct curve *curve, const json_t *root,
                                 struct proof_file_why *why);
/* *publics is malloc'd, `count` plain scalars below r; only where FILE_FINE. */
enum file_fault proof_file_publics(uint64_t **publics, uint32_t count, const struct curve *curve,
                                   const json_t *root, struct proof_file_why *why);

#endif
