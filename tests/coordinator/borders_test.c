/*
 * The borders of the coordinator, function by function: paths of keys, names of circuits, the
 * queue of messages to a worker, listening sockets, the run lock, results, routes.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <event2/http.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coordinator/circuit_names.h"
#include "coordinator/config.h"
#include "coordinator/http.h"
#include "coordinator/key_open.h"
#include "coordinator/listener.h"
#include "coordinator/outbox.h"
#include "coordinator/peer.h"
#include "coordinator/result_take.h"
#include "coordinator/rundir.h"
#include "coordinator/workers.h"
#include "shm/control.h"
#include "shm/result.h"
#include "tests/support/scratch.h"

#define STRANGER 65534u /* a uid that is neither root's nor ours */

struct folder {
    char path[SCRATCH_PATH_BYTES];
};

static void folder_make(struct folder *folder)
{
    assert_int_equal(scratch_make(folder->path, "borders"), 0);
}

static void folder_remove(struct folder *folder)
{
    scratch_remove(folder->path);
}

static const char *in(const struct folder *folder, const char *name)
{
    static char paths[8][128];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, 128, "%s/%s", folder->path, name);
    return path;
}

static void put_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    close(fd);
}

/* ---- keys by path ---- */

static int opens(const struct config *config, uint32_t uid, const char *path)
{
    char why[512] = "";
    int fd = key_open(config, uid, path, why, sizeof(why));
    if (fd < 0) {
        assert_true(why[0]);
        return fd;
    }
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    close(fd);
    return 0;
}

static void keys_open_below_the_roots(void **state)
{
    struct folder folder;
    struct config *config = calloc(1, sizeof(*config));
    (void)state;
    folder_make(&folder);
    assert_int_equal(mkdir(in(&folder, "root"), 0700), 0);
    put_file(in(&folder, "root/key"));
    put_file(in(&folder, "outside"));
    assert_int_equal(symlink("key", in(&folder, "root/inner")), 0);
    assert_int_equal(symlink("../outside", in(&folder, "root/outer")), 0);
    assert_int_equal(symlink(in(&folder, "outside"), in(&folder, "root/absolute")), 0);
    assert_int_equal(mkfifo(in(&folder, "root/fifo"), 0600), 0);

    assert_int_equal(opens(config, geteuid(), in(&folder, "outside")), 0);
    assert_int_equal(opens(config, STRANGER, in(&folder, "root/key")), -EPERM); /* no roots */
    snprintf(config->path_roots[0], PATH_MAX, "%s", in(&folder, "root/"));
    config->path_root_count = 1;
    assert_int_equal(opens(config, STRANGER, in(&folder, "root/key")), 0);
    assert_int_equal(opens(config, STRANGER, in(&folder, "root/inner")), 0);
    assert_int_equal(opens(config, STRANGER, in(&folder, "outside")), -EPERM);
    assert_int_equal(opens(config, STRANGER, in(&folder, "root")), -EPERM);
    assert_int_equal(opens(config, STRANGER, in(&folder, "root/outer")), -EXDEV);
    assert_int_equal(opens(config, STRANGER, in(&folder, "root/absolute")), -EXDEV);
    assert_int_equal(opens(config, STRANGER, in(&folder, "root/../outside")), -EXDEV);
    assert_int_equal(opens(config, STRANGER, in(&folder, "rootless")), -EPERM);
    assert_int_equal(opens(config, STRANGER, in(&folder, "root/fifo")), -EINVAL);
    assert_int_equal(opens(config, geteuid(), in(&folder, "root")), -EINVAL);
    assert_int_equal(opens(config, geteuid(), "relative"), -EINVAL);
    assert_int_equal(opens(config, geteuid(), in(&folder, "none")), -ENOENT);
    free(config);
    folder_remove(&folder);
}

/* ---- names of circuits ---- */

static void names_have_their_form(void **state)
{
    char longest[66];
    (void)state;
    memset(longest, 'a', 65);
    longest[64] = 0;
    assert_true(circuit_name_is_valid("a"));
    assert_true(circuit_name_is_valid("0.b_c-D"));
    assert_true(circuit_name_is_valid(longest));
    longest[64] = 'a', longest[65] = 0;
    assert_false(circuit_name_is_valid(longest));
    assert_false(circuit_name_is_valid(""));
    assert_false(circuit_name_is_valid(".a"));
    assert_false(circuit_name_is_valid("-a"));
    assert_false(circuit_name_is_valid("a/b"));
    assert_false(circuit_name_is_valid("a b"));
    assert_false(circuit_name_is_valid("\xc3\xa4"));
}

static unsigned names_seen;

static void see_name(void *arg, const char *name, const uint8_t *hash)
{
    const char *wanted = arg;
    assert_string_equal(name, wanted);
    assert_int_equal(hash[0], 0x5a);
    assert_int_equal(hash[31], 9);
    names_seen++;
}

static void names_are_kept_as_links(void **state)
{
    struct folder folder;
    struct config *config = calloc(1, sizeof(*config));
    struct circuit_names names;
    const uint8_t hash[32] = {[0] = 0x5a, [31] = 9};
    char target[256];
    (void)state;
    folder_make(&folder);
    snprintf(config->state_dir, PATH_MAX, "%s", folder.path);
    snprintf(config->images_dir, PATH_MAX, "%s/images", folder.path);
    assert_int_equal(circuit_names_open(&names, config), 0);
    assert_int_equal(circuit_names_save(&names, "one", hash), 0);
    assert_int_equal(circuit_names_save(&names, "one", hash), 0); /* replaced at once */
    ssize_t length = readlink(in(&folder, "images/names/one"), target, sizeof(target));
    assert_true(length == 3 + 64 + 6);
    assert_memory_equal(target, "../5a0000", 9);
    assert_int_equal(symlink("../not-a-hash.image", in(&folder, "images/names/liar")), 0);
    assert_int_equal(symlink("/etc/passwd", in(&folder, "images/names/other")), 0);
    put_file(in(&folder, "images/names/file"));
    names_seen = 0;
    assert_int_equal(circuit_names_each(&names, see_name, "one"), 0);
    assert_int_equal(names_seen, 1);
    assert_int_equal(circuit_names_open_image(&names, hash), -ENOENT);
    circuit_names_remove(&names, "one");
    names_seen = 0;
    assert_int_equal(circuit_names_each(&names, see_name, "one"), 0);
    assert_int_equal(names_seen, 0);
    free(config);
    folder_remove(&folder);
}

/* ---- messages to workers ---- */

static void a_full_socket_keeps_the_order(void **state)
{
    int pair[2], sent = 0, left = 1;
    struct outbox outbox = {0};
    struct wire_packet packet;
    uint64_t expected = 1;
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
    while (outbox.count < OUTBOX_MESSAGES_MAX) {
        union wire_message message = {0};
        message.fill.assignment = (uint64_t)++sent;
        assert_true(outbox_send(&outbox, pair[0], &message, WIRE_FILL, &file, 1) >= 0);
    }
    union wire_message message = {0};
    assert_int_equal(outbox_send(&outbox, pair[0], &message, WIRE_FILL, &file, 1), -ENOBUFS);
    close(file); /* those that are kept have fds of their own */
    while (expected <= (uint64_t)sent) {
        assert_int_equal(wire_receive(pair[1], &packet, 0), 1);
        assert_int_equal(packet.message.fill.assignment, expected++);
        assert_int_equal(packet.fd_count, 1);
        close(packet.fds[0]);
        if (left)
            left = outbox_flush(&outbox, pair[0]);
    }
    assert_int_equal(left, 0);
    close(pair[0]);
    close(pair[1]);
}

/* ---- folders, lock, sockets ---- */

static void the_lock_is_taken_once(void **state)
{
    struct folder folder;
    struct rundir first, second;
    int32_t holder;
    (void)state;
    folder_make(&folder);
    put_file(in(&folder, "coordinator.lock")); /* a stale one is taken over */
    assert_int_equal(rundir_lock(&first, folder.path, &holder), 0);
    assert_int_equal(rundir_lock(&second, folder.path, &holder), -EALREADY);
    assert_int_equal(holder, getpid());
    rundir_unlock(&first);
    assert_int_equal(access(first.lock_path, F_OK), -1);
    assert_int_equal(rundir_lock(&second, folder.path, &holder), 0);
    rundir_unlock(&second);
    folder_remove(&folder);
}

static void a_stale_socket_is_replaced(void **state)
{
    struct folder folder;
    struct stat status;
    (void)state;
    folder_make(&folder);
    const char *path = in(&folder, "s");
    int first = listener_open(path, SOCK_STREAM, 0600, (gid_t)-1);
    assert_true(first >= 0);
    close(first); /* as after a SIGKILL: the name stays */
    int second = listener_open(path, SOCK_STREAM, 0660, (gid_t)-1);
    assert_true(second >= 0);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0660);
    listener_close(path, second);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(listener_open(in(&folder, "none/s"), SOCK_STREAM, 0600, (gid_t)-1), -ENOENT);
    assert_int_equal(rmdir(folder.path), 0); /* nothing else was left in it */
}

static void peers_are_known_by_their_pidfd(void **state)
{
    int pair[2];
    struct peer peer;
    struct config *config = calloc(1, sizeof(*config));
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
    assert_int_equal(peer_read(&peer, pair[0]), 0);
    assert_int_equal(peer.pid, getpid());
    assert_int_equal(peer.uid, geteuid());
    assert_true(fcntl(peer.pidfd, F_GETFD) & FD_CLOEXEC);
    assert_false(peer_is_dead(peer.pidfd));
    peer_close(&peer);
    assert_true(peer_is_allowed(config, geteuid()));
    assert_true(peer_is_allowed(config, 0));
    assert_false(peer_is_allowed(config, STRANGER));
    config->allow_uids[0] = STRANGER;
    config->allow_uid_count = 1;
    assert_true(peer_is_allowed(config, STRANGER));
    free(config);
    close(pair[0]);
    close(pair[1]);
}

/* ---- results ---- */

static int take_with(const struct control *control, struct result_header header, uint64_t bytes,
                     uint32_t slab)
{
    const struct worker_task task = {.assignment = 3, .job = 8, .partition = 1};
    struct wire_proved proved = {
        .assignment = 3, .generation = 5, .slab = slab, .result_bytes = bytes};
    struct result_texts texts;
    const char *what;
    int fd = result_create(&header, "{}", 2, "[]", 2);
    assert_true(fd >= 0);
    int error = result_take(control, &proved, &task, fd, &texts, &what);
    if (!error) {
        assert_string_equal(texts.proof, "{}");
        assert_string_equal(texts.publics, "[]");
    }
    free(texts.proof);
    close(fd);
    return error;
}

static void results_fit_their_assignment(void **state)
{
    const struct lane_spec lane = {.name = "main", .slab_bytes = 8192, .slab_count = 1};
    uint64_t bytes = control_bytes(&lane, 1), whole = sizeof(struct result_header) + 4;
    struct control control;
    void *memory = aligned_alloc(4096, bytes);
    const struct result_header right = {.assignment = 3, .generation = 5, .job = 8, .partition = 1};
    struct result_header wrong[4] = {right, right, right, right};
    (void)state;
    memset(memory, 0, bytes);
    control_lay_out(memory, &lane, 1, "shm", "test");
    assert_int_equal(control_view(&control, memory, bytes), 0);
    assert_int_equal(take_with(&control, right, whole, 0), 0);
    wrong[0].assignment++, wrong[1].generation++, wrong[2].job++, wrong[3].partition++;
    for (int i = 0; i < 4; i++)
        assert_int_equal(take_with(&control, wrong[i], whole, 0), -EBADMSG);
    assert_int_equal(take_with(&control, right, whole, 1), -EBADMSG);     /* no such slab */
    assert_int_equal(take_with(&control, right, whole + 1, 0), -EBADMSG); /* not its length */
    assert_int_equal(take_with(&control, right, 1 << 20, 0), -EBADMSG);   /* not from such a slab */
    free(memory);
}

/* ---- routes ---- */

static void routes_match_whole_paths(void **state)
{
    char segment[HTTP_SEGMENT_BYTES], longest[400];
    unsigned allowed;
    (void)state;
    const struct http_route *route =
        http_find_route(EVHTTP_REQ_POST, "/v1/uploads/ab/finish", segment, &allowed);
    assert_non_null(route);
    assert_ptr_equal(route->handler, http_finish_upload);
    assert_string_equal(segment, "ab");
    assert_null(http_find_route(EVHTTP_REQ_POST, "/v1/uploads/ab/finish/", segment, &allowed));
    assert_null(http_find_route(EVHTTP_REQ_POST, "/v1/uploads//finish", segment, &allowed));
    assert_null(http_find_route(EVHTTP_REQ_GET, "/v1/jobs/", segment, &allowed));
    assert_int_equal(allowed, 0);
    assert_null(http_find_route(EVHTTP_REQ_PUT, "/v1/jobs/ab", segment, &allowed));
    assert_int_equal(allowed, EVHTTP_REQ_GET | EVHTTP_REQ_DELETE);
    memset(longest, 'a', sizeof(longest));
    memcpy(longest, "/v1/jobs/", 9);
    longest[sizeof(longest) - 1] = 0;
    assert_null(http_find_route(EVHTTP_REQ_GET, longest, segment, &allowed));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_open_below_the_roots),
        cmocka_unit_test(names_have_their_form),
        cmocka_unit_test(names_are_kept_as_links),
        cmocka_unit_test(a_full_socket_keeps_the_order),
        cmocka_unit_test(the_lock_is_taken_once),
        cmocka_unit_test(a_stale_socket_is_replaced),
        cmocka_unit_test(peers_are_known_by_their_pidfd),
        cmocka_unit_test(results_fit_their_assignment),
        cmocka_unit_test(routes_match_whole_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
