/*
 * Damaged images; see the header. Called by circuits.c and by the engine. A SIGKILL forgets what is
 * suspect, and the next failure finds it again.
 */
#include "coordinator/circuit_mend.h"

#include <string.h>
#include <unistd.h>

#include "coordinator/circuits.h"
#include "coordinator/workers.h"
#include "shm/program.h"

void circuit_mend_suspect(struct circuits *circuits, uint32_t number)
{
    for (struct circuit *at = circuits->first; at; at = at->next)
        if (at->number == number)
            at->is_suspect = 1;
}

int circuit_mend_wants_check(const struct circuit_name *name)
{
    return !name->current || name->current->is_suspect;
}

/* Where the new file cannot be opened the old one stays, and stays suspect. */
static int renew(const struct circuits *circuits, struct circuit *circuit)
{
    int fd = circuit_names_open_image(&circuits->names, circuit->hash);
    if (fd < 0) {
        log_event("error", "image_not_renewed", "number=%u error=\"%s\"", circuit->number,
                  strerror(-fd));
        return 0;
    }
    close(circuit->image_fd);
    circuit->image_fd = fd;
    circuit->is_suspect = 0;
    log_event("info", "image_renewed", "number=%u", circuit->number);
    return 1;
}

void circuit_mend_made(struct circuits *circuits, const uint8_t *hash, int made)
{
    int renewed = 0;
    for (struct circuit *at = circuits->first; at; at = at->next) {
        if (memcmp(at->hash, hash, HASH_BYTES) != 0)
            continue;
        if (made)
            renewed |= renew(circuits, at);
        else
            at->is_suspect = 0;
    }
    if (renewed)
        workers_forget_image(circuits->workers, hash);
}
