/*
 * A list, a mutex, a thread.
 */
#include "gpu-worker/outbox.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shm/program.h"

struct letter {
    struct letter *next;
    enum wire_type type;
    int fds[WIRE_FDS_MAX];
    unsigned fd_count;
    union wire_message message;
};

struct outbox {
    int socket;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t posted;
    struct letter *first, **last;
    int ending;
};

void outbox_end_orphaned(const char *why)
{
    log_event("warn", "coordinator_gone", "why=\"%s\"", why);
    _exit(EXIT_CAPACITY);
}

static void send_letter(struct outbox *outbox, struct letter *letter)
{
    int error =
        wire_send(outbox->socket, &letter->message, letter->type, letter->fds, letter->fd_count);
    if (error == -EPIPE || error == -ECONNRESET || error == -ENOTCONN)
        outbox_end_orphaned("the worker socket is closed");
    if (error) {
        log_event("error", "send_failed", "type=%s error=\"%s\"", wire_type_name(letter->type),
                  strerror(-error));
        _exit(EXIT_INTERNAL);
    }
    for (unsigned i = 0; i < letter->fd_count; i++)
        close(letter->fds[i]);
    free(letter);
}

static struct letter *take_letter(struct outbox *outbox)
{
    pthread_mutex_lock(&outbox->mutex);
    while (!outbox->first && !outbox->ending)
        pthread_cond_wait(&outbox->posted, &outbox->mutex);
    struct letter *letter = outbox->first;
    if (letter && !(outbox->first = letter->next))
        outbox->last = &outbox->first;
    pthread_mutex_unlock(&outbox->mutex);
    return letter;
}

static void *outbox_main(void *arg)
{
    struct letter *letter;
    while ((letter = take_letter(arg)))
        send_letter(arg, letter);
    return NULL;
}

struct outbox *outbox_create(int socket)
{
    struct outbox *outbox = calloc(1, sizeof(*outbox));
    if (!outbox)
        return NULL;
    outbox->socket = socket;
    outbox->last = &outbox->first;
    pthread_mutex_init(&outbox->mutex, NULL);
    pthread_cond_init(&outbox->posted, NULL);
    int error = pthread_create(&outbox->thread, NULL, outbox_main, outbox);
    if (error) {
        free(outbox);
        errno = error;
        return NULL;
    }
    return outbox;
}

void outbox_post(struct outbox *outbox, const union wire_message *message, enum wire_type type,
                 int fd)
{
    outbox_post_fds(outbox, message, type, &fd, fd >= 0 ? 1 : 0);
}

void outbox_post_fds(struct outbox *outbox, const union wire_message *message, enum wire_type type,
                     const int *fds, unsigned count)
{
    struct letter *letter = malloc(sizeof(*letter));
    if (!letter) {
        log_event("error", "no_memory", "for=\"a message to the coordinator\"");
        _exit(EXIT_MACHINE);
    }
    *letter = (struct letter){.type = type, .fd_count = count, .message = *message};
    assert(count <= WIRE_FDS_MAX);
    for (unsigned i = 0; i < count; i++)
        letter->fds[i] = fds[i];
    pthread_mutex_lock(&outbox->mutex);
    *outbox->last = letter;
    outbox->last = &letter->next;
    pthread_cond_signal(&outbox->posted);
    pthread_mutex_unlock(&outbox->mutex);
}

void outbox_destroy(struct outbox *outbox)
{
    pthread_mutex_lock(&outbox->mutex);
    outbox->ending = 1;
    pthread_cond_signal(&outbox->posted);
    pthread_mutex_unlock(&outbox->mutex);
    pthread_join(outbox->thread, NULL);
    pthread_cond_destroy(&outbox->posted);
    pthread_mutex_destroy(&outbox->mutex);
    free(outbox);
}
