/*
 * The queue of messages to one worker; see the header. Called by workers.c alone. A SIGKILL loses
 * what was kept, and the worker ends with the coordinator.
 */
#include "coordinator/outbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct outbox_entry {
    struct outbox_entry *next;
    union wire_message message;
    enum wire_type type;
    int fds[WIRE_FDS_MAX];
    unsigned fd_count;
};

static void entry_free(struct outbox_entry *entry)
{
    for (unsigned i = 0; i < entry->fd_count; i++)
        close(entry->fds[i]);
    free(entry);
}

static struct outbox_entry *entry_make(const union wire_message *message, enum wire_type type,
                                       const int *fds, unsigned fd_count)
{
    struct outbox_entry *entry = calloc(1, sizeof(*entry));
    if (!entry)
        return NULL;
    entry->message = *message;
    entry->type = type;
    for (unsigned i = 0; i < fd_count; i++) {
        entry->fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 0);
        if (entry->fds[i] < 0) {
            entry_free(entry);
            return NULL;
        }
        entry->fd_count++;
    }
    return entry;
}

static int keep(struct outbox *outbox, const union wire_message *message, enum wire_type type,
                const int *fds, unsigned fd_count)
{
    if (outbox->count >= OUTBOX_MESSAGES_MAX)
        return -ENOBUFS;
    struct outbox_entry *entry = entry_make(message, type, fds, fd_count);
    if (!entry)
        return -ENOMEM;
    if (outbox->last)
        outbox->last->next = entry;
    else
        outbox->first = entry;
    outbox->last = entry;
    outbox->count++;
    return 1;
}

int outbox_send(struct outbox *outbox, int socket, union wire_message *message, enum wire_type type,
                const int *fds, unsigned fd_count)
{
    if (outbox->first)
        return keep(outbox, message, type, fds, fd_count);
    int error = wire_send(socket, message, type, fds, fd_count);
    return error == -EAGAIN ? keep(outbox, message, type, fds, fd_count) : error;
}

static void drop_first(struct outbox *outbox)
{
    struct outbox_entry *entry = outbox->first;
    outbox->first = entry->next;
    if (!outbox->first)
        outbox->last = NULL;
    outbox->count--;
    entry_free(entry);
}

int outbox_flush(struct outbox *outbox, int socket)
{
    while (outbox->first) {
        struct outbox_entry *entry = outbox->first;
        int error = wire_send(socket, &entry->message, entry->type, entry->fds, entry->fd_count);
        if (error == -EAGAIN)
            return 1;
        if (error)
            return error;
        drop_first(outbox);
    }
    return 0;
}

void outbox_clear(struct outbox *outbox)
{
    while (outbox->first)
        drop_first(outbox);
}
