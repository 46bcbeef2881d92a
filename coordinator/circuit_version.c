/*
 * Versions of circuits; see the header. Called by circuits.c. A SIGKILL leaves nothing.
 */
#include "coordinator/circuit_version.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/circuits.h"
#include "shm/image.h"
#include "shm/slab.h"

/* Reads what the image says of itself. 0 or -errno with *what. */
static int read_image(struct circuit *circuit, const char **what)
{
    struct image image;
    struct slab_plan plan;
    int error = image_map(&image, circuit->image_fd, what);
    if (error)
        return error;
    const struct image_header *header = image.header;
    *what = "hash";
    error = memcmp(header->hash, circuit->hash, HASH_BYTES) == 0 ? 0 : -EBADMSG;
    circuit->curve = header->curve;
    circuit->wires = header->wires;
    circuit->public_count = header->public_count;
    circuit->domain = UINT64_C(1) << (header->log2_domain & 63);
    circuit->bytes = header->file_bytes;
    circuit->slab_bytes = header->slab_bytes;
    circuit->device_bytes = (uint64_t)header->device_mib << 20;
    image_unmap(&image);
    if (error)
        return error;
    *what = "size";
    error = slab_plan(&plan, circuit->wires, circuit->domain, 0);
    circuit->slab_bytes_without_rows = plan.bytes;
    return error;
}

void circuit_version_free(struct circuit *circuit)
{
    if (circuit->image_fd >= 0)
        close(circuit->image_fd);
    if (circuit->program_fd >= 0)
        close(circuit->program_fd);
    free(circuit);
}

static int open_image(const struct circuit_names *names, struct circuit *circuit, char *why,
                      size_t bytes)
{
    const char *what = "image";
    circuit->image_fd = circuit_names_open_image(names, circuit->hash);
    int error = circuit->image_fd < 0 ? circuit->image_fd : read_image(circuit, &what);
    if (error)
        snprintf(why, bytes, "its image cannot be used (%s: %s): add the circuit again", what,
                 strerror(-error));
    return error;
}

static int open_program(const struct circuit_programs *programs, struct circuit *circuit,
                        const char *program, char *why, size_t bytes)
{
    if (!*program)
        return 0;
    snprintf(circuit->program, sizeof(circuit->program), "%s", program);
    circuit->program_fd = circuit_programs_open_folder(programs, program);
    circuit->has_program = circuit->program_fd >= 0;
    if (circuit->has_program)
        return 0;
    snprintf(why, bytes, "its witness program cannot be used (%s): add the circuit again",
             strerror(-circuit->program_fd));
    return circuit->program_fd;
}

struct circuit *circuit_version_open(const struct circuit_names *names,
                                     const struct circuit_programs *programs, const uint8_t *hash,
                                     const char *program, char *why, size_t bytes)
{
    struct circuit *circuit = calloc(1, sizeof(*circuit));
    if (!circuit) {
        snprintf(why, bytes, "no memory");
        return NULL;
    }
    memcpy(circuit->hash, hash, HASH_BYTES);
    circuit->image_fd = circuit->program_fd = -1;
    if (!open_image(names, circuit, why, bytes) &&
        !open_program(programs, circuit, program, why, bytes))
        return circuit;
    circuit_version_free(circuit);
    return NULL;
}

int circuit_version_is(const struct circuit *circuit, const uint8_t *hash, const char *program)
{
    return memcmp(circuit->hash, hash, HASH_BYTES) == 0 && strcmp(circuit->program, program) == 0;
}
