/*
 * Circuits of a service: adding one and waiting until it is ready.
 */
#ifndef PAWL_CLIENT_CIRCUITS_H
#define PAWL_CLIENT_CIRCUITS_H

#include <jansson.h>

struct service;

/*
 * Adds the key under the name and waits until the service has compiled it. 0, with the circuit's
 * entry of the status in *circuit (owned by the caller; circuit may be NULL), else an exit code
 * having said why.
 */
int circuits_add(struct service *service, const char *name, const char *key_path,
                 const char *r1cs_path, const char *program_path, json_t **circuit);

#endif
