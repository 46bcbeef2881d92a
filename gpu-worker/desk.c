/*
 * One mutex; a condition for each thread that waits.
 */
#include "gpu-worker/desk.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

struct desk {
    pthread_mutex_t mutex;
    pthread_cond_t prover_wanted, finalizer_wanted;
    struct assignment *staged, **staged_last;
    unsigned staged_count;
    struct assignment *ahead, *proving, *finalizing; /* on the desk: CANCEL finds them */
    struct assignment *received;                     /* in the finalizer's hands until desk_clear */
    int woken, left, closed;
};

struct desk *desk_create(void)
{
    struct desk *desk = calloc(1, sizeof(*desk));
    if (!desk)
        return NULL;
    pthread_mutex_init(&desk->mutex, NULL);
    pthread_cond_init(&desk->prover_wanted, NULL);
    pthread_cond_init(&desk->finalizer_wanted, NULL);
    desk->staged_last = &desk->staged;
    return desk;
}

void desk_destroy(struct desk *desk)
{
    assert(!desk->staged && !desk->ahead && !desk->proving);
    assert(!desk->finalizing && !desk->received);
    pthread_cond_destroy(&desk->finalizer_wanted);
    pthread_cond_destroy(&desk->prover_wanted);
    pthread_mutex_destroy(&desk->mutex);
    free(desk);
}

/* ---- the socket's thread ---- */

int desk_put(struct desk *desk, struct assignment *assignment)
{
    int error = 0;
    pthread_mutex_lock(&desk->mutex);
    if (desk->left) {
        error = -ESHUTDOWN;
    } else if (desk->staged_count == SLABS_MAX) {
        error = -ENOBUFS;
    } else {
        assignment->next = NULL;
        *desk->staged_last = assignment;
        desk->staged_last = &assignment->next;
        desk->staged_count++;
        pthread_cond_signal(&desk->prover_wanted);
    }
    pthread_mutex_unlock(&desk->mutex);
    return error;
}

static struct assignment *take_staged(struct desk *desk, struct assignment **at)
{
    struct assignment *assignment = *at;
    *at = assignment->next;
    if (desk->staged_last == &assignment->next)
        desk->staged_last = at;
    desk->staged_count--;
    assignment->next = NULL;
    return assignment;
}

static struct assignment *cancel_staged(struct desk *desk, uint64_t number)
{
    for (struct assignment **at = &desk->staged; *at; at = &(*at)->next)
        if ((*at)->order.assignment == number)
            return take_staged(desk, at);
    return NULL;
}

static void mark_cancelled(struct assignment *assignment)
{
    atomic_store_explicit(&assignment->cancelled, 1, memory_order_relaxed);
}

static void mark_if(struct assignment *assignment, uint64_t number)
{
    if (assignment && assignment->order.assignment == number)
        mark_cancelled(assignment);
}

struct assignment *desk_cancel(struct desk *desk, uint64_t number)
{
    pthread_mutex_lock(&desk->mutex);
    struct assignment *staged = cancel_staged(desk, number);
    mark_if(desk->ahead, number);
    mark_if(desk->proving, number);
    mark_if(desk->finalizing, number);
    pthread_cond_signal(&desk->prover_wanted); /* it may wait for the finalizer */
    pthread_mutex_unlock(&desk->mutex);
    return staged;
}

struct assignment *desk_leave(struct desk *desk)
{
    pthread_mutex_lock(&desk->mutex);
    struct assignment *staged = desk->staged;
    desk->staged = NULL;
    desk->staged_last = &desk->staged;
    desk->staged_count = 0;
    desk->left = 1;
    if (desk->ahead)
        mark_cancelled(desk->ahead);
    pthread_cond_signal(&desk->prover_wanted);
    pthread_mutex_unlock(&desk->mutex);
    return staged;
}

/* What is only `received` has ended, and its slab is let go of. */
int desk_is_empty(struct desk *desk)
{
    pthread_mutex_lock(&desk->mutex);
    int empty = !desk->staged && !desk->ahead && !desk->proving && !desk->finalizing;
    pthread_mutex_unlock(&desk->mutex);
    return empty;
}

void desk_wake(struct desk *desk)
{
    pthread_mutex_lock(&desk->mutex);
    desk->woken = 1;
    pthread_cond_signal(&desk->prover_wanted);
    pthread_mutex_unlock(&desk->mutex);
}

/* ---- the prover ---- */

static struct assignment *move_ahead(struct desk *desk)
{
    if (!desk->ahead && desk->staged)
        desk->ahead = take_staged(desk, &desk->staged);
    return desk->ahead;
}

struct assignment *desk_look_ahead(struct desk *desk)
{
    pthread_mutex_lock(&desk->mutex);
    struct assignment *ahead = move_ahead(desk);
    pthread_mutex_unlock(&desk->mutex);
    return ahead;
}

enum desk_answer desk_take(struct desk *desk, struct assignment **assignment)
{
    enum desk_answer answer = DESK_WOKEN;
    *assignment = NULL;
    pthread_mutex_lock(&desk->mutex);
    while (!desk->ahead && !desk->staged && !desk->left && !desk->woken)
        pthread_cond_wait(&desk->prover_wanted, &desk->mutex);
    if (move_ahead(desk)) {
        *assignment = desk->proving = desk->ahead;
        desk->ahead = NULL;
        answer = DESK_WORK;
    } else if (desk->left) {
        answer = DESK_OVER;
    }
    desk->woken = 0; /* the caller sweeps after every answer */
    pthread_mutex_unlock(&desk->mutex);
    return answer;
}

int desk_await_finalizer(struct desk *desk, struct assignment *assignment)
{
    pthread_mutex_lock(&desk->mutex);
    while (desk->received && !assignment_is_cancelled(assignment))
        pthread_cond_wait(&desk->prover_wanted, &desk->mutex);
    int error = assignment_is_cancelled(assignment) ? -ECANCELED : 0;
    pthread_mutex_unlock(&desk->mutex);
    return error;
}

void desk_hand_over(struct desk *desk, struct assignment *assignment)
{
    pthread_mutex_lock(&desk->mutex);
    assert(desk->proving == assignment && !desk->received);
    desk->proving = NULL;
    desk->finalizing = desk->received = assignment;
    pthread_cond_signal(&desk->finalizer_wanted);
    pthread_mutex_unlock(&desk->mutex);
}

void desk_close(struct desk *desk)
{
    pthread_mutex_lock(&desk->mutex);
    desk->closed = 1;
    pthread_cond_signal(&desk->finalizer_wanted);
    pthread_mutex_unlock(&desk->mutex);
}

/* ---- the finalizer ---- */

struct assignment *desk_receive(struct desk *desk)
{
    pthread_mutex_lock(&desk->mutex);
    while (!desk->received && !desk->closed)
        pthread_cond_wait(&desk->finalizer_wanted, &desk->mutex);
    struct assignment *assignment = desk->received;
    pthread_mutex_unlock(&desk->mutex);
    return assignment;
}

void desk_clear(struct desk *desk)
{
    pthread_mutex_lock(&desk->mutex);
    assert(!desk->finalizing);
    desk->received = NULL;
    pthread_cond_signal(&desk->prover_wanted);
    pthread_mutex_unlock(&desk->mutex);
}

int desk_end(struct desk *desk, struct assignment *assignment)
{
    pthread_mutex_lock(&desk->mutex);
    assert(desk->ahead == assignment || desk->proving == assignment ||
           desk->finalizing == assignment);
    if (desk->ahead == assignment)
        desk->ahead = NULL;
    if (desk->proving == assignment)
        desk->proving = NULL;
    if (desk->finalizing == assignment)
        desk->finalizing = NULL;
    int cancelled = assignment_is_cancelled(assignment);
    pthread_mutex_unlock(&desk->mutex);
    return cancelled;
}
