/*
 * The worker's life at a socket, with the test as coordinator: attach, fill, fail, cancel, forget,
 * leave, and every way in which either side can end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "shm/program.h"
#include "shm/region.h"
#include "shm/seat.h"
#include "synth-worker/synth.h"
#include "tests/synth-worker/pipeline.h"

#define POS10 "tests/fixtures/bn128/pos10"

enum { SLAB_BYTES = 1 << 20, INCARNATION = 5, SEAT = 2 };

struct fake {
    char folder[64], path[100];
    int listener, socket;
    struct region region;
    struct seat_page *page;
    int seat_fd, image_fd;
    uint8_t hash[HASH_BYTES];
    pid_t worker;
    uint64_t assignment;
};

static void make_region(struct fake *fake)
{
    const struct lane_spec lane = {
        .name = "test", .slab_bytes = SLAB_BYTES, .slab_count = 2, .credits = 2, .priorities = 15};
    const char *what = "";
    if (region_create(&fake->region, &lane, 1, "memfd", pawl_build_id, &what))
        fail_msg("region: %s", what);
    assert_int_equal(seat_create(&fake->page, &fake->seat_fd, INCARNATION), 0);
}

static void make_image(struct fake *fake)
{
    struct complaint complaint = {0};
    struct image_header header;
    size_t bytes;
    unsigned char *key = file_read(POS10, "key.zkey", &bytes);
    const struct binfile_source source = {key, -1, bytes, "k"};
    memset(fake->hash, 0x77, HASH_BYTES);
    fake->image_fd = memfd_create("image", MFD_CLOEXEC);
    assert_int_equal(image_build_file(fake->image_fd, &source, fake->hash, 0, &parallel_serial,
                                      &header, &complaint),
                     0);
    free(key);
}

static void start_worker(struct fake *fake)
{
    fake->worker = fork();
    if (fake->worker == 0) {
        close(fake->listener);
        close(fake->region.slabs_fd);
        _exit(synth_run(fake->path));
    }
    fake->socket = accept4(fake->listener, NULL, NULL, SOCK_CLOEXEC);
    assert_true(fake->socket >= 0);
}

static struct wire_packet expect_message(struct fake *fake, enum wire_type type)
{
    struct wire_packet packet;
    struct pollfd ready = {.fd = fake->socket, .events = POLLIN};
    assert_int_equal(poll(&ready, 1, 20000), 1);
    assert_int_equal(wire_receive(fake->socket, &packet, 0), 1);
    if (packet.message.header.type != type)
        fail_msg("%s instead of %s%s%s", wire_type_name(packet.message.header.type),
                 wire_type_name(type), ": ", packet.message.failed.why);
    return packet;
}

static void send_message(struct fake *fake, union wire_message message, enum wire_type type,
                         const int *fds, unsigned fd_count)
{
    assert_int_equal(wire_send(fake->socket, &message, type, fds, fd_count), 0);
}

static void welcome(struct fake *fake)
{
    struct wire_packet hello = expect_message(fake, WIRE_HELLO);
    const int fds[] = {fake->region.control_ro_fd, fake->region.slabs_fd, fake->seat_fd};
    union wire_message message = {.welcome = {.seat = SEAT,
                                              .dumpable = 1,
                                              .incarnation = INCARNATION,
                                              .control_bytes = fake->region.control_bytes,
                                              .slabs_bytes = fake->region.slabs_bytes,
                                              .cpus = "0"}};
    assert_int_equal(hello.message.hello.role, ROLE_SYNTH);
    assert_string_equal(hello.message.hello.build_id, pawl_build_id);
    send_message(fake, message, WIRE_WELCOME, fds, 3);
    expect_message(fake, WIRE_READY);
}

static int open_fake(void **state)
{
    struct fake *fake = calloc(1, sizeof *fake);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(fake->folder, "/tmp/pawl-worker-XXXXXX");
    if (!mkdtemp(fake->folder))
        return -1;
    snprintf(fake->path, sizeof fake->path, "%s/sock", fake->folder);
    strcpy(address.sun_path, fake->path);
    fake->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (bind(fake->listener, (struct sockaddr *)&address, sizeof address) ||
        listen(fake->listener, 4))
        return -1;
    make_region(fake);
    make_image(fake);
    start_worker(fake);
    *state = fake;
    return 0;
}

static int close_fake(void **state)
{
    struct fake *fake = *state;
    if (fake->worker > 0) {
        kill(fake->worker, SIGKILL);
        waitpid(fake->worker, NULL, 0);
    }
    if (fake->socket >= 0)
        close(fake->socket);
    close(fake->listener);
    close(fake->image_fd);
    close(fake->seat_fd);
    seat_unmap(fake->page);
    region_destroy(&fake->region);
    unlink(fake->path);
    rmdir(fake->folder);
    free(fake);
    return 0;
}

/* The status of the worker's end, within ten seconds. */
static int wait_for_end(struct fake *fake)
{
    int ended;
    for (int i = 0; i < 1000; i++) {
        if (waitpid(fake->worker, &ended, WNOHANG) == fake->worker) {
            fake->worker = 0;
            return ended;
        }
        usleep(10000);
    }
    fail_msg("the worker does not end");
    return -1;
}

static void expect_exit(struct fake *fake, int code)
{
    int ended = wait_for_end(fake);
    assert_true(WIFEXITED(ended));
    assert_int_equal(WEXITSTATUS(ended), code);
}

static void send_image(struct fake *fake)
{
    union wire_message message = {0};
    memcpy(message.image.hash, fake->hash, HASH_BYTES);
    send_message(fake, message, WIRE_IMAGE, &fake->image_fd, 1);
}

static void send_fill(struct fake *fake, uint32_t slab, const char *witness)
{
    size_t bytes;
    unsigned char *wtns = file_read(POS10, witness, &bytes);
    int fd = bytes_to_memfd(wtns, bytes);
    union wire_message message = {.fill = {.assignment = ++fake->assignment,
                                           .job = 11,
                                           .partition = 1,
                                           .slab = slab,
                                           .generation = 100 + fake->assignment,
                                           .slab_offset = (uint64_t)slab * SLAB_BYTES,
                                           .slab_bytes = SLAB_BYTES,
                                           .rows = ROWS_HOST,
                                           .label = "my.wtns"}};
    memcpy(message.fill.hash, fake->hash, HASH_BYTES);
    send_message(fake, message, WIRE_FILL, &fd, 1);
    close(fd);
    free(wtns);
}

static void send_cancel(struct fake *fake, uint64_t assignment)
{
    union wire_message message = {.step = {.assignment = assignment}};
    send_message(fake, message, WIRE_CANCEL, NULL, 0);
}

static void send_bare(struct fake *fake, enum wire_type type)
{
    union wire_message message = {0};
    memcpy(message.image.hash, fake->hash, HASH_BYTES);
    send_message(fake, message, type, NULL, 0);
}

static void expect_slab(struct fake *fake, uint32_t slab, const struct wire_filled *filled)
{
    const uint8_t *slabs = region_map_slabs(fake->region.slabs_fd, fake->region.slabs_bytes);
    struct slab_header header;
    const char *what = "";
    assert_non_null(slabs);
    if (slab_check(&header, slabs + (size_t)slab * SLAB_BYTES, SLAB_BYTES, &what))
        fail_msg("slab: %s", what);
    assert_int_equal(header.generation, filled->generation);
    assert_int_equal(header.job, 11);
    assert_memory_equal(header.witness_digest, filled->digest, HASH_BYTES);
    assert_memory_equal(header.image_hash, fake->hash, HASH_BYTES);
    munmap((void *)(uintptr_t)slabs, fake->region.slabs_bytes);
}

static void fill_and_expect(struct fake *fake, uint32_t slab, const char *witness)
{
    send_fill(fake, slab, witness);
    struct wire_packet packet = expect_message(fake, WIRE_FILLED);
    assert_int_equal(packet.message.filled.assignment, fake->assignment);
    assert_int_equal(packet.message.filled.slab, slab);
    assert_int_equal(packet.message.filled.generation, 100 + fake->assignment);
    assert_true(packet.message.filled.start_ns > 0);
    expect_slab(fake, slab, &packet.message.filled);
}

static void test_fills_one_after_another(void **state)
{
    struct fake *fake = *state;
    struct seat_view view;
    welcome(fake);
    send_image(fake);
    send_image(fake); /* known already */
    fill_and_expect(fake, 0, "w1.wtns");
    fill_and_expect(fake, 1, "w2.wtns");
    fill_and_expect(fake, 0, "w2.wtns");
    send_bare(fake, WIRE_LEAVE);
    expect_exit(fake, 0);
    seat_read(fake->page, &view);
    assert_int_equal(view.done_total, 3);
    assert_true(view.busy_ns > 0);
    assert_true(view.progress > 3);
    assert_int_equal(view.stage, STAGE_LEAVING);
}

static void test_a_bad_witness_fails_and_work_goes_on(void **state)
{
    struct fake *fake = *state;
    welcome(fake);
    send_image(fake);
    send_fill(fake, 0, "key.zkey");
    struct wire_packet packet = expect_message(fake, WIRE_FAILED);
    assert_int_equal(packet.message.failed.assignment, 1);
    assert_int_equal(packet.message.failed.fault, FAULT_INPUT);
    assert_int_equal(packet.message.failed.stage, STAGE_WITNESS);
    assert_string_equal(packet.message.failed.why, "my.wtns: Invalid File format");
    send_fill(fake, 0, "../mul2/w1.wtns");
    packet = expect_message(fake, WIRE_FAILED);
    assert_string_equal(packet.message.failed.why,
                        "Invalid witness length. Circuit: 963, witness: 5");
    fill_and_expect(fake, 0, "w1.wtns");
}

static void test_an_image_that_is_not_there(void **state)
{
    struct fake *fake = *state;
    welcome(fake);
    send_fill(fake, 0, "w1.wtns");
    struct wire_packet packet = expect_message(fake, WIRE_FAILED);
    assert_int_equal(packet.message.failed.fault, FAULT_INTERNAL);
    send_image(fake);
    fill_and_expect(fake, 0, "w1.wtns");
    send_bare(fake, WIRE_FORGET);
    send_fill(fake, 0, "w1.wtns");
    expect_message(fake, WIRE_FAILED);
    send_image(fake);
    fill_and_expect(fake, 0, "w1.wtns");
    /* the bytes of one image under another's hash */
    send_bare(fake, WIRE_FORGET);
    fake->hash[0] ^= 1;
    send_image(fake);
    send_fill(fake, 0, "w1.wtns");
    packet = expect_message(fake, WIRE_FAILED);
    assert_int_equal(packet.message.failed.fault, FAULT_INTERNAL);
}

static void test_a_slab_outside_the_region(void **state)
{
    struct fake *fake = *state;
    welcome(fake);
    send_image(fake);
    send_fill(fake, 2, "w1.wtns");
    struct wire_packet packet = expect_message(fake, WIRE_FAILED);
    assert_int_equal(packet.message.failed.fault, FAULT_INTERNAL);
    fill_and_expect(fake, 1, "w1.wtns");
}

/* ---- other slabs ---- */

static void make_other_slabs(struct fake *fake)
{
    const struct lane_spec lane = {.name = "test", .slab_bytes = SLAB_BYTES, .slab_count = 1};
    struct region_slabs slabs;
    assert_int_equal(region_slabs_begin(&slabs, &lane, 1, "memfd"), 0);
    while (region_slabs_make(&slabs, 1 << 20) > 0)
        ;
    region_slabs_adopt(&fake->region, &slabs);
}

static void send_region(struct fake *fake)
{
    union wire_message message = {
        .region = {.generation = fake->region.generation, .slabs_bytes = fake->region.slabs_bytes}};
    send_message(fake, message, WIRE_REGION, &fake->region.slabs_fd, 1);
}

/* How many mappings of the object with that inode the worker has. */
static unsigned count_mappings(pid_t pid, uint64_t inode)
{
    char path[64], line[512], wanted[32];
    unsigned count = 0;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    snprintf(wanted, sizeof wanted, " %llu ", (unsigned long long)inode);
    FILE *maps = fopen(path, "re");
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps))
        count += strstr(line, wanted) != NULL;
    fclose(maps);
    return count;
}

static void test_other_slabs_take_the_place_of_the_first(void **state)
{
    struct fake *fake = *state;
    struct stat old;
    welcome(fake);
    send_image(fake);
    fill_and_expect(fake, 1, "w1.wtns");
    assert_int_equal(fstat(fake->region.slabs_fd, &old), 0);
    assert_true(count_mappings(fake->worker, old.st_ino) > 0);
    make_other_slabs(fake);
    send_region(fake);
    struct wire_packet packet = expect_message(fake, WIRE_READY);
    assert_int_equal(packet.message.ready.generation, 2);
    assert_int_equal(count_mappings(fake->worker, old.st_ino), 0);
    fill_and_expect(fake, 0, "w2.wtns");
    send_fill(fake, 1, "w1.wtns"); /* its place is outside now */
    expect_message(fake, WIRE_FAILED);
    send_bare(fake, WIRE_LEAVE);
    expect_exit(fake, 0);
}

/* The worker is stopped so that both lie in its socket: the second comes while it fills. */
static void test_other_slabs_during_a_filling_are_no_protocol(void **state)
{
    struct fake *fake = *state;
    welcome(fake);
    send_image(fake);
    kill(fake->worker, SIGSTOP);
    send_fill(fake, 0, "w1.wtns");
    send_region(fake);
    kill(fake->worker, SIGCONT);
    expect_exit(fake, EXIT_INTERNAL);
}

/* Both messages lie in the socket before the worker looks. */
static void test_cancel(void **state)
{
    struct fake *fake = *state;
    welcome(fake);
    send_image(fake);
    fill_and_expect(fake, 0, "w1.wtns");
    send_cancel(fake, 1); /* of one that has ended: ignored */
    kill(fake->worker, SIGSTOP);
    send_fill(fake, 1, "w1.wtns");
    send_cancel(fake, 2);
    send_bare(fake, WIRE_FORGET);
    kill(fake->worker, SIGCONT);
    struct wire_packet packet = expect_message(fake, WIRE_RELEASED);
    assert_int_equal(packet.message.step.assignment, 2);
    assert_int_equal(packet.message.step.slab, 1);
    send_image(fake);
    fill_and_expect(fake, 1, "w1.wtns");
}

static void test_what_waits_is_done_before_leaving(void **state)
{
    struct fake *fake = *state;
    welcome(fake);
    kill(fake->worker, SIGSTOP);
    send_image(fake);
    send_fill(fake, 0, "w1.wtns");
    send_bare(fake, WIRE_LEAVE);
    kill(fake->worker, SIGCONT);
    expect_message(fake, WIRE_FILLED);
    expect_exit(fake, 0);
}

static void test_sigterm_drains(void **state)
{
    struct fake *fake = *state;
    welcome(fake);
    kill(fake->worker, SIGSTOP);
    send_image(fake);
    send_fill(fake, 0, "w1.wtns");
    kill(fake->worker, SIGTERM);
    kill(fake->worker, SIGCONT);
    expect_message(fake, WIRE_FILLED);
    expect_exit(fake, 0);
}

static void test_the_coordinator_goes_away(void **state)
{
    struct fake *fake = *state;
    welcome(fake);
    close(fake->socket);
    fake->socket = -1;
    expect_exit(fake, EXIT_CAPACITY);
}

static void test_refused(void **state)
{
    struct fake *fake = *state;
    union wire_message message = {.refused = {.exit_code = EXIT_CONFIG, .why = "another build"}};
    expect_message(fake, WIRE_HELLO);
    send_message(fake, message, WIRE_REFUSED, NULL, 0);
    expect_exit(fake, EXIT_CONFIG);
}

static void test_a_message_that_is_none(void **state)
{
    struct fake *fake = *state;
    welcome(fake);
    assert_int_equal(send(fake->socket, "nonsense", 8, 0), 8);
    expect_exit(fake, EXIT_INTERNAL);
}

static void test_last_words(void **state)
{
    struct fake *fake = *state;
    char words[200];
    welcome(fake);
    kill(fake->worker, SIGSEGV);
    int ended = wait_for_end(fake);
    assert_true(WIFSIGNALED(ended));
    assert_int_equal(WTERMSIG(ended), SIGSEGV);
    seat_last_words(fake->page, words, sizeof words);
    assert_non_null(strstr(words, "SIGSEGV"));
}

static void test_nobody_there(void **state)
{
    (void)state;
    assert_int_equal(synth_run("/tmp/pawl-nobody-is-here.sock"), EXIT_NO_COORDINATOR);
}

#define WITH_FAKE(test) cmocka_unit_test_setup_teardown(test, open_fake, close_fake)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FAKE(test_fills_one_after_another),
        WITH_FAKE(test_a_bad_witness_fails_and_work_goes_on),
        WITH_FAKE(test_an_image_that_is_not_there),
        WITH_FAKE(test_a_slab_outside_the_region),
        WITH_FAKE(test_other_slabs_take_the_place_of_the_first),
        WITH_FAKE(test_other_slabs_during_a_filling_are_no_protocol),
        WITH_FAKE(test_cancel),
        WITH_FAKE(test_what_waits_is_done_before_leaving),
        WITH_FAKE(test_sigterm_drains),
        WITH_FAKE(test_the_coordinator_goes_away),
        WITH_FAKE(test_refused),
        WITH_FAKE(test_a_message_that_is_none),
        WITH_FAKE(test_last_words),
        cmocka_unit_test(test_nobody_there),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
