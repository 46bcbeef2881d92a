/*
 * Messages to and from workers: what a worker said before its end is heard although it cannot be
 * reached any more, and what its proofs are about is known until each has ended. Workers are
 * structs with a socket pair here; no event loop runs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "coordinator/config.h"
#include "coordinator/workers.h"
#include "shm/region.h"

static struct config config;
static struct region region;
static struct workers workers;
static uint32_t leavings, packets;

static void on_leaving(void *arg, struct worker *worker)
{
    (void)arg, (void)worker;
    leavings++;
}

static void send_leave(struct worker *worker)
{
    union wire_message message = {0};

    worker_send(worker, &message, WIRE_LEAVE, NULL, 0);
}

/* Work may be handed out at any message, so also to one that has ended. */
static void on_packet(void *arg, struct worker *worker, struct wire_packet *packet)
{
    (void)arg;
    assert_int_equal(packet->message.header.type, WIRE_STARTED);
    assert_int_equal(packet->message.step.assignment, ++packets);
    send_leave(worker);
}

/* A worker, and the other end of its socket. */
static struct worker *sit(int *peer)
{
    struct worker *worker = calloc(1, sizeof(*worker));
    int ends[2];

    workers_init(&workers, NULL, NULL, &region, &config);
    workers.on_leaving = on_leaving;
    workers.on_packet = on_packet;
    leavings = packets = 0;
    assert_non_null(worker);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    worker->workers = &workers;
    worker->role = ROLE_GPU;
    worker->socket = ends[0];
    worker->pidfd = -1;
    *peer = ends[1];
    return worker;
}

static void say(int peer, uint64_t assignment)
{
    union wire_message message = {.step = {.assignment = assignment}};

    assert_int_equal(wire_send(peer, &message, WIRE_STARTED, NULL, 0), 0);
}

/* unread: messages to it that it has not read, for which the socket tells of a reset first. */
static void end_with_words(uint32_t unread)
{
    int peer;
    struct worker *worker = sit(&peer);

    for (uint32_t i = 0; i < unread; i++)
        send_leave(worker);
    for (uint64_t assignment = 1; assignment <= 3; assignment++)
        say(peer, assignment);
    close(peer);
    send_leave(worker);
    assert_int_equal(leavings, 1);
    assert_int_equal(worker->ending, ENDING_ASKED);
    for (int i = 0; i < 3; i++)
        assert_int_equal(worker_read_packet(worker), 1);
    assert_int_equal(packets, 3);
    assert_true(worker->socket >= 0);
    assert_int_equal(worker_read_packet(worker), 0);
    assert_int_equal(worker->socket, -1);
    assert_int_equal(leavings, 1);
    free(worker);
}

static void the_last_words_are_heard(void **state)
{
    (void)state;
    end_with_words(0);
    end_with_words(2);
}

static void a_task_is_known_until_it_ends(void **state)
{
    int peer;
    struct worker *worker = sit(&peer);
    const struct worker_task held = {.assignment = 1, .job = 5, .partition = 2};

    (void)state;
    assert_null(worker_find_task(worker, 0));
    worker_note_task(worker, &held);
    for (uint64_t assignment = 2; assignment < 100; assignment++) {
        const struct worker_task recalled = {.assignment = assignment, .job = assignment};
        worker_note_task(worker, &recalled);
        assert_int_equal(worker_find_task(worker, assignment)->job, assignment);
        worker_forget_task(worker, assignment);
        assert_null(worker_find_task(worker, assignment));
    }
    worker_forget_task(worker, 0);
    worker_forget_task(worker, 77);
    const struct worker_task *found = worker_find_task(worker, 1);
    assert_non_null(found);
    assert_int_equal(found->job, 5);
    assert_int_equal(found->partition, 2);
    close(peer);
    close(worker->socket);
    free(worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_words_are_heard),
        cmocka_unit_test(a_task_is_known_until_it_ends),
    };
    return cmocka_run_group_tests_name("workers", tests, NULL, NULL);
}
