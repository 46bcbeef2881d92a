/*
 * Messages: every type goes over and comes back with its fds; whatever is no legal message is
 * refused and leaves no fd behind.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "shm/image.h"
#include "shm/program.h"
#include "shm/wire.h"
#include "tests/support/scratch.h"

static const struct {
    enum wire_type type;
    const char *name;
    size_t bytes;
    unsigned fds, more_fds;
} types[] = {
    {WIRE_HELLO, "hello", sizeof(struct wire_hello), 0, 0},
    {WIRE_WELCOME, "welcome", sizeof(struct wire_welcome), 3, 0},
    {WIRE_REFUSED, "refused", sizeof(struct wire_refused), 0, 0},
    {WIRE_READY, "ready", sizeof(struct wire_ready), 0, 0},
    {WIRE_IMAGE, "image", sizeof(struct wire_image), 1, 0},
    {WIRE_FORGET, "forget", sizeof(struct wire_image), 0, 0},
    {WIRE_FILL, "fill", sizeof(struct wire_fill), 1, 0},
    {WIRE_FILLED, "filled", sizeof(struct wire_filled), 0, 0},
    {WIRE_PROVE, "prove", sizeof(struct wire_prove), 0, 0},
    {WIRE_STARTED, "started", sizeof(struct wire_step), 0, 0},
    {WIRE_COMPUTED, "computed", sizeof(struct wire_step), 0, 0},
    {WIRE_PROVED, "proved", sizeof(struct wire_proved), 1, 0},
    {WIRE_FAILED, "failed", sizeof(struct wire_failed), 0, 0},
    {WIRE_CANCEL, "cancel", sizeof(struct wire_step), 0, 0},
    {WIRE_RELEASED, "released", sizeof(struct wire_step), 0, 0},
    {WIRE_LEAVE, "leave", sizeof(struct wire_simple), 0, 0},
    {WIRE_LEAVING, "leaving", sizeof(struct wire_simple), 0, 0},
    {WIRE_REGION, "region", sizeof(struct wire_region), 1, 0},
    {WIRE_FILL_INPUT, "fill_input", sizeof(struct wire_fill), 2, 0},
    {WIRE_DEVICE_KEY, "device_key", sizeof(struct wire_device_key), 0, 2},
};
#define TYPES (sizeof(types) / sizeof(types[0]))

static int takes_fds(size_t type, unsigned fds)
{
    return fds >= types[type].fds && fds <= types[type].fds + types[type].more_fds;
}

struct pair {
    int a, b;
    int files[16]; /* fds to send */
};

static void pair_make(struct pair *pair)
{
    int ends[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    pair->a = ends[0];
    pair->b = ends[1];
    for (int i = 0; i < 16; i++)
        pair->files[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void pair_drop(struct pair *pair)
{
    close(pair->a);
    close(pair->b);
    for (int i = 0; i < 16; i++)
        close(pair->files[i]);
}

static void close_fds(struct wire_packet *packet)
{
    for (unsigned i = 0; i < packet->fd_count; i++)
        close(packet->fds[i]);
}

/* Sends raw bytes with fds, as somebody who does not keep the rules. */
static void send_raw(int socket, const void *bytes, size_t count, const int *fds, size_t fd_count)
{
    _Alignas(struct cmsghdr) char room[CMSG_SPACE(16 * sizeof(int))] = {0};
    struct iovec part = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = count};
    struct msghdr packet = {.msg_iov = &part, .msg_iovlen = 1};

    if (fd_count) {
        packet.msg_control = room;
        packet.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
        struct cmsghdr *control = CMSG_FIRSTHDR(&packet);
        control->cmsg_level = SOL_SOCKET;
        control->cmsg_type = SCM_RIGHTS;
        control->cmsg_len = CMSG_LEN(fd_count * sizeof(int));
        memcpy(CMSG_DATA(control), fds, fd_count * sizeof(int));
    }
    assert_int_equal(sendmsg(socket, &packet, 0), (ssize_t)count);
}

static void every_type_goes_over(void **state)
{
    struct pair pair;
    unsigned before = scratch_count_fds();

    (void)state;
    pair_make(&pair);
    for (size_t i = 0; i < TYPES; i++) {
        union wire_message message;
        struct wire_packet packet;
        struct stat file;

        memset(&message, 'x', sizeof(message));
        assert_int_equal(wire_send(pair.a, &message, types[i].type, pair.files, types[i].fds), 0);
        assert_int_equal(message.header.bytes, types[i].bytes);
        assert_int_equal(wire_receive(pair.b, &packet, 0), 1);
        assert_int_equal(packet.message.header.type, types[i].type);
        assert_memory_equal(&packet.message, &message, types[i].bytes);
        assert_int_equal(packet.fd_count, types[i].fds);
        for (unsigned fd = 0; fd < WIRE_FDS_MAX; fd++) {
            assert_int_equal(packet.fds[fd] >= 0, fd < types[i].fds);
            if (fd >= types[i].fds)
                continue;
            assert_true(fcntl(packet.fds[fd], F_GETFD) & FD_CLOEXEC);
            assert_int_equal(fstat(packet.fds[fd], &file), 0);
            assert_true(S_ISCHR(file.st_mode));
        }
        assert_string_equal(wire_type_name(types[i].type), types[i].name);
        close_fds(&packet);
    }
    pair_drop(&pair);
    assert_int_equal(scratch_count_fds(), before);
}

/* The memory of a key comes alone, or with the device's node, or not at all. */
static void optional_fds_may_come(void **state)
{
    struct pair pair;

    (void)state;
    pair_make(&pair);
    for (size_t i = 0; i < TYPES; i++) {
        for (unsigned more = 1; more <= types[i].more_fds; more++) {
            union wire_message message = {.header = {0}};
            struct wire_packet packet;
            unsigned fds = types[i].fds + more;

            assert_int_equal(wire_send(pair.a, &message, types[i].type, pair.files, fds), 0);
            assert_int_equal(wire_receive(pair.b, &packet, 0), 1);
            assert_int_equal(packet.fd_count, fds);
            assert_int_equal(packet.message.header.type, types[i].type);
            close_fds(&packet);
        }
    }
    pair_drop(&pair);
}

static void senders_mistakes_are_refused(void **state)
{
    union wire_message message = {.header = {0}};
    struct pair pair;

    (void)state;
    pair_make(&pair);
    assert_int_equal(wire_send(pair.a, &message, 0, NULL, 0), -EINVAL);
    assert_int_equal(wire_send(pair.a, &message, WIRE_TYPES, NULL, 0), -EINVAL);
    for (size_t i = 0; i < TYPES; i++)
        for (unsigned fds = 0; fds <= 5; fds++)
            if (!takes_fds(i, fds))
                assert_int_equal(wire_send(pair.a, &message, types[i].type, pair.files, fds),
                                 -EINVAL);
    assert_int_equal(wire_send(-1, &message, WIRE_READY, NULL, 0), -EBADF);
    close(pair.b);
    assert_int_equal(wire_send(pair.a, &message, WIRE_READY, NULL, 0), -EPIPE); /* no SIGPIPE */
    pair.b = -1;
    pair_drop(&pair);
}

static void expect_refused(struct pair *pair)
{
    struct wire_packet packet;
    unsigned before = scratch_count_fds();

    assert_int_equal(wire_receive(pair->b, &packet, MSG_DONTWAIT), -EPROTO);
    assert_int_equal(packet.fd_count, 0);
    for (unsigned i = 0; i < WIRE_FDS_MAX; i++)
        assert_int_equal(packet.fds[i], -1);
    assert_int_equal(scratch_count_fds(), before);
}

static void wrong_lengths_are_refused(void **state)
{
    struct pair pair;

    (void)state;
    pair_make(&pair);
    for (size_t i = 0; i < TYPES; i++) {
        char bytes[WIRE_BYTES_MAX] = {0};
        struct wire_header header = {types[i].type, (uint32_t)types[i].bytes};

        for (size_t count = 1; count <= WIRE_BYTES_MAX; count += 1 + count / 16) {
            if (count == types[i].bytes)
                continue;
            memcpy(bytes, &header, sizeof(header));
            send_raw(pair.a, bytes, count, pair.files, types[i].fds);
            expect_refused(&pair);
        }
        header.bytes++; /* right length on the wire, another one said */
        memcpy(bytes, &header, sizeof(header));
        send_raw(pair.a, bytes, types[i].bytes, pair.files, types[i].fds);
        expect_refused(&pair);
    }
    pair_drop(&pair);
}

static void wrong_types_are_refused(void **state)
{
    static const uint32_t wrong[] = {0, WIRE_TYPES, WIRE_TYPES + 1, 1u << 31, UINT32_MAX};
    struct pair pair;

    (void)state;
    pair_make(&pair);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct wire_simple message = {.header = {wrong[i], sizeof(message)}};

        send_raw(pair.a, &message, sizeof(message), pair.files, 2);
        expect_refused(&pair);
    }
    assert_string_equal(wire_type_name(0), "unknown");
    assert_string_equal(wire_type_name(UINT32_MAX), "unknown");
    pair_drop(&pair);
}

static void wrong_fd_counts_are_refused(void **state)
{
    struct pair pair;

    (void)state;
    pair_make(&pair);
    for (size_t i = 0; i < TYPES; i++) {
        char bytes[WIRE_BYTES_MAX] = {0};
        struct wire_header header = {types[i].type, (uint32_t)types[i].bytes};

        memcpy(bytes, &header, sizeof(header));
        for (unsigned fds = 0; fds <= 16; fds++) {
            if (takes_fds(i, fds))
                continue;
            send_raw(pair.a, bytes, types[i].bytes, pair.files, fds);
            expect_refused(&pair);
        }
    }
    pair_drop(&pair);
}

/* A text that fills its array without an end is ended; nothing behind an end goes out. */
static void texts_are_ended(void **state)
{
    struct pair pair;
    struct wire_packet packet;
    struct wire_failed failed;
    union wire_message message;

    (void)state;
    pair_make(&pair);
    memset(&failed, 'y', sizeof(failed));
    failed.header = (struct wire_header){WIRE_FAILED, sizeof(failed)};
    send_raw(pair.a, &failed, sizeof(failed), NULL, 0);
    assert_int_equal(wire_receive(pair.b, &packet, 0), 1);
    assert_int_equal(strlen(packet.message.failed.why), WIRE_TEXT_BYTES - 1);

    memset(&message, 's', sizeof(message)); /* a secret behind the text */
    strcpy(message.refused.why, "no");
    assert_int_equal(wire_send(pair.a, &message, WIRE_REFUSED, NULL, 0), 0);
    assert_int_equal(recv(pair.b, &packet.message, sizeof(packet.message), 0),
                     sizeof(struct wire_refused));
    assert_string_equal(packet.message.refused.why, "no");
    for (size_t i = 2; i < WIRE_TEXT_BYTES; i++)
        assert_int_equal(packet.message.refused.why[i], 0);
    for (size_t i = 0; i < TYPES; i++) { /* and no array of any type stays open */
        memset(&message, 'z', sizeof(message));
        assert_int_equal(wire_send(pair.a, &message, types[i].type, pair.files, types[i].fds), 0);
        assert_int_equal(wire_receive(pair.b, &packet, 0), 1);
        close_fds(&packet);
        if (types[i].type == WIRE_HELLO) {
            assert_int_equal(packet.message.hello.build_id[BUILD_ID_BYTES - 1], 0);
            assert_int_equal(packet.message.hello.device[WIRE_DEVICE_BYTES - 1], 0);
        } else if (types[i].type == WIRE_WELCOME) {
            assert_int_equal(packet.message.welcome.cpus[WIRE_LABEL_BYTES - 1], 0);
        } else if (types[i].type == WIRE_FILL) {
            assert_int_equal(packet.message.fill.label[WIRE_LABEL_BYTES - 1], 0);
        } else if (types[i].type == WIRE_DEVICE_KEY) {
            assert_int_equal(packet.message.device_key.device[WIRE_DEVICE_BYTES - 1], 0);
        }
    }
    pair_drop(&pair);
}

static void full_and_empty_sockets_say_again(void **state)
{
    union wire_message message = {.header = {0}};
    struct wire_packet packet;
    struct pair pair;
    int error = 0;

    (void)state;
    pair_make(&pair);
    assert_int_equal(wire_receive(pair.b, &packet, MSG_DONTWAIT), -EAGAIN);
    assert_int_equal(fcntl(pair.a, F_SETFL, O_NONBLOCK), 0);
    for (int i = 0; i < 100000 && !error; i++)
        error = wire_send(pair.a, &message, WIRE_FAILED, NULL, 0);
    assert_int_equal(error, -EAGAIN);
    assert_int_equal(wire_receive(pair.b, &packet, 0), 1); /* whole ones, not half a one */
    pair_drop(&pair);
}

/* What a dead peer still said is read to the end, even where it left our messages unread. */
static void last_messages_of_the_dead_are_read(void **state)
{
    union wire_message message = {.header = {0}};
    struct wire_packet packet;
    struct pair pair;

    (void)state;
    pair_make(&pair);
    assert_int_equal(wire_send(pair.b, &message, WIRE_CANCEL, NULL, 0), 0);
    message.step.slab = 5;
    assert_int_equal(wire_send(pair.a, &message, WIRE_COMPUTED, NULL, 0), 0);
    close(pair.a); /* with the CANCEL unread: ECONNRESET comes first */
    pair.a = -1;
    assert_int_equal(wire_receive(pair.b, &packet, MSG_DONTWAIT), 1);
    assert_int_equal(packet.message.header.type, WIRE_COMPUTED);
    assert_int_equal(packet.message.step.slab, 5);
    assert_int_equal(wire_receive(pair.b, &packet, MSG_DONTWAIT), 0);
    assert_int_equal(wire_receive(pair.b, &packet, MSG_DONTWAIT), 0);
    pair_drop(&pair);
}

static void credentials_are_kept(void **state)
{
    union wire_message message = {.header = {0}};
    struct wire_packet packet;
    struct pair pair;
    int yes = 1;

    (void)state;
    pair_make(&pair);
    assert_int_equal(wire_send(pair.a, &message, WIRE_WELCOME, pair.files, 3), 0);
    assert_int_equal(wire_receive(pair.b, &packet, 0), 1);
    assert_int_equal(packet.sender_pid, 0);
    close_fds(&packet);
    assert_int_equal(setsockopt(pair.b, SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)), 0);
    assert_int_equal(wire_send(pair.a, &message, WIRE_WELCOME, pair.files, 3), 0);
    assert_int_equal(wire_receive(pair.b, &packet, 0), 1);
    assert_int_equal(packet.sender_pid, getpid());
    assert_int_equal(packet.fd_count, 3);
    close_fds(&packet);
    pair_drop(&pair);
}

static void faults_have_names(void **state)
{
    (void)state;
    assert_string_equal(wire_fault_name(FAULT_INPUT), "input");
    assert_string_equal(wire_fault_name(FAULT_DEADLINE), "deadline");
    assert_null(wire_fault_name(0));
    assert_null(wire_fault_name(6));
}

/* ---- attaching: a thread plays the coordinator ---- */

struct host {
    char folder[SCRATCH_PATH_BYTES], path[96];
    int listener;
    enum wire_type answer; /* 0: hang up */
    struct wire_packet hello;
};

static void *serve_one(void *arg)
{
    struct host *host = arg;
    union wire_message message = {.welcome = {.seat = 3, .incarnation = 9}};
    int files[3] = {0, 1, 2};
    int peer = accept4(host->listener, NULL, NULL, SOCK_CLOEXEC);

    assert_int_equal(wire_receive(peer, &host->hello, 0), 1);
    if (host->answer == WIRE_REFUSED) {
        message.refused.exit_code = 77;
        strcpy(message.refused.why, "other build");
    }
    if (host->answer)
        assert_int_equal(
            wire_send(peer, &message, host->answer, files, host->answer == WIRE_WELCOME ? 3 : 0),
            0);
    close(peer);
    return NULL;
}

static void host_make(struct host *host)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    strcpy(host->folder, "/tmp/pawl-wire-XXXXXX");
    assert_non_null(mkdtemp(host->folder));
    snprintf(host->path, sizeof(host->path), "%s/sock", host->folder);
    strcpy(address.sun_path, host->path);
    host->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(host->listener, (void *)&address, sizeof(address)), 0);
    assert_int_equal(listen(host->listener, 4), 0);
}

static int attach_to(struct host *host, enum wire_type answer, struct wire_packet *packet)
{
    pthread_t thread;

    host->answer = answer;
    assert_int_equal(pthread_create(&thread, NULL, serve_one, host), 0);
    int result = wire_attach(host->path, ROLE_GPU, "cpu", packet);
    pthread_join(thread, NULL);
    return result;
}

static void attaching_ends_in_one_of_these_ways(void **state)
{
    struct host host = {.listener = -1};
    struct wire_packet packet;
    char long_path[200];

    (void)state;
    host_make(&host);
    unsigned before = scratch_count_fds();
    int socket = attach_to(&host, WIRE_WELCOME, &packet);
    assert_true(socket >= 0);
    assert_int_equal(packet.message.welcome.seat, 3);
    assert_int_equal(packet.fd_count, 3);
    close_fds(&packet);
    close(socket);
    const struct wire_hello *hello = &host.hello.message.hello;
    assert_int_equal(hello->protocol, WIRE_PROTOCOL);
    assert_int_equal(hello->control_layout, CONTROL_LAYOUT);
    assert_int_equal(hello->slab_layout, SLAB_LAYOUT);
    assert_int_equal(hello->image_layout, IMAGE_LAYOUT);
    assert_int_equal(hello->role, ROLE_GPU);
    assert_int_equal(hello->pid, getpid());
    assert_string_equal(hello->build_id, pawl_build_id);
    assert_string_equal(hello->device, "cpu");

    assert_int_equal(attach_to(&host, WIRE_REFUSED, &packet), -EACCES);
    assert_int_equal(packet.message.refused.exit_code, 77);
    assert_string_equal(packet.message.refused.why, "other build");
    assert_int_equal(attach_to(&host, 0, &packet), -ECONNRESET);
    assert_int_equal(attach_to(&host, WIRE_LEAVE, &packet), -EPROTO);
    close(host.listener);
    assert_int_equal(wire_attach(host.path, ROLE_SYNTH, NULL, &packet), -ECONNREFUSED);
    unlink(host.path);
    assert_int_equal(wire_attach(host.path, ROLE_SYNTH, NULL, &packet), -ENOENT);
    memset(long_path, 'p', sizeof(long_path));
    long_path[sizeof(long_path) - 1] = 0;
    assert_int_equal(wire_attach(long_path, ROLE_SYNTH, NULL, &packet), -ENAMETOOLONG);
    assert_int_equal(scratch_count_fds(), before - 1); /* the listener */
    rmdir(host.folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_goes_over),
        cmocka_unit_test(optional_fds_may_come),
        cmocka_unit_test(senders_mistakes_are_refused),
        cmocka_unit_test(wrong_lengths_are_refused),
        cmocka_unit_test(wrong_types_are_refused),
        cmocka_unit_test(wrong_fd_counts_are_refused),
        cmocka_unit_test(texts_are_ended),
        cmocka_unit_test(full_and_empty_sockets_say_again),
        cmocka_unit_test(last_messages_of_the_dead_are_read),
        cmocka_unit_test(credentials_are_kept),
        cmocka_unit_test(faults_have_names),
        cmocka_unit_test(attaching_ends_in_one_of_these_ways),
    };

    return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}
