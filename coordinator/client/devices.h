/*
 * The devices of this machine, as `gpu-worker --list-devices --json` tells them: pawl itself
 * initialises no driver.
 */
#ifndef PAWL_CLIENT_DEVICES_H
#define PAWL_CLIENT_DEVICES_H

#include <jansson.h>

#define DEVICES_NAME_BYTES 64

/* The list, json_decref; NULL, with the reason in why[bytes]. */
json_t *devices_list(char *why, size_t bytes);
/* Whether there is a libcuda.so.1 that can be loaded; where not, no GPU needs to be asked for. */
int devices_library_loads(void);
/*
 * What --device means (NULL: auto): "cpu" or a UUID, as gpu-worker takes it. auto is the first GPU
 * that is fit, else the CPU; cuda:N and UUIDs are looked up. 0, or an exit code having said why.
 */
int devices_choose(const char *wanted, char name[DEVICES_NAME_BYTES]);
/* The name that `wanted` has in that list; NULL where none is fit, with the reason in why[bytes].
 */
const char *devices_find(const json_t *list, const char *wanted, char *why, size_t bytes);

#endif
