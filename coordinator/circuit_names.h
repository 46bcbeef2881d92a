/*
 * The names of circuits, kept over restarts: a folder of symbolic links NAME -> ../HASH.image.
 * With images_dir at its default it is images/names in the image cache; a cache that lies elsewhere
 * may be shared by several coordinators, so then the folder is state_dir/names.
 */
#ifndef PAWL_COORDINATOR_CIRCUIT_NAMES_H
#define PAWL_COORDINATOR_CIRCUIT_NAMES_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#define CIRCUIT_NAME_BYTES 65
#define CIRCUIT_HEX_BYTES 65 /* of a hash as text */

struct config;

struct circuit_names {
    char folder[PATH_MAX];
    char images[PATH_MAX];
    int in_cache; /* the folder lies in the image cache: links are relative */
};

/* 1: [A-Za-z0-9][A-Za-z0-9._-]{0,63}. */
int circuit_name_is_valid(const char *name);
/* 64 lower-case hex digits and 32 bytes. 0 or -EINVAL. */
void circuit_hash_write(const uint8_t *hash, char out[CIRCUIT_HEX_BYTES]);
int circuit_hash_parse(const char *text, size_t length, uint8_t *hash);

/* Makes the folder. 0 or -errno. */
int circuit_names_open(struct circuit_names *names, const struct config *config);
/* The link is replaced at once or not at all. 0 or -errno. */
int circuit_names_save(const struct circuit_names *names, const char *name, const uint8_t *hash);
void circuit_names_remove(const struct circuit_names *names, const char *name);
/* Calls each for every legal link. 0 or -errno. */
int circuit_names_each(const struct circuit_names *names,
                       void (*each)(void *arg, const char *name, const uint8_t *hash), void *arg);
/* The image with that hash, opened read-only, with a shared lock that keeps it in the folder as
 * long as the fd or a copy of it is open: fd or -errno. */
int circuit_names_open_image(const struct circuit_names *names, const uint8_t *hash);
/* Removes folder and links: a coordinator that leaves nothing behind. */
void circuit_names_erase(const struct circuit_names *names);

#endif
