/*
 * Workers played by forked children of a test: real messages, hand-made results. Header only.
 */
#ifndef PAWL_TESTS_COORDINATOR_FAKE_WORKER_H
#define PAWL_TESTS_COORDINATOR_FAKE_WORKER_H

#include "shm/program.h"
#include "shm/region.h"
#include "shm/result.h"
#include "shm/seat.h"
#include "shm/wire.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>

enum fake_manner {
    FAKE_WORKS,
    FAKE_HANGS,         /* takes an assignment, says its stage, and no more; answers CANCEL */
    FAKE_DEAF,          /* the same, and ignores CANCEL and SIGTERM */
    FAKE_SLEEPS,        /* says nothing of an assignment, and its seat page stays idle */
    FAKE_BLAMES_INPUT,  /* fails every assignment */
    FAKE_BAD_RESULT,    /* a result that is not sealed */
    FAKE_OTHERS_RESULT, /* a result of another partition */
    FAKE_GARBAGE,       /* answers an assignment with bytes that are no message, and stays */
    FAKE_WRONG_ROLE,    /* answers with a message that its role does not send */
    FAKE_LEAVES,        /* says READY, then leaves in order */
    FAKE_LEAVES_LATE,   /* the same, once it has an assignment, which it does not read */
    FAKE_NO_MEMORY,     /* fails every assignment for want of memory */
    FAKE_DEVICE_LOST,   /* ends as a gpu-worker does whose driver failed */
    FAKE_KEEPS_KEY,     /* works, and exports a key with each image; its proofs do not matter */
    FAKE_GIVES_BACK /* begins one, and leaves when it has another: gives that and later ones back */
};

#define FAKE_PROOF "{\"pi_a\":[\"1\",\"2\",\"1\"],\"protocol\":\"groth16\",\"curve\":\"bn128\"}"
#define FAKE_PUBLIC "[\"33\"]"

struct fake {
    int socket;
    enum fake_manner manner;
    struct seat_page *page;
    uint64_t hangs_at; /* the assignment; later ones stay staged */
    const char *device;
    int was_handed_key;
};

static inline void fake_send_step(struct fake *fake, enum wire_type type, uint64_t assignment,
                                  uint32_t slab, uint64_t generation)
{
    union wire_message message = {0};
    message.step.assignment = assignment;
    message.step.slab = slab;
    message.step.generation = generation;
    wire_send(fake->socket, &message, type, NULL, 0);
}

static inline void fake_send_failed(struct fake *fake, uint64_t assignment, uint32_t slab,
                                    uint64_t generation, enum wire_fault fault, const char *why)
{
    union wire_message message = {0};
    message.failed.assignment = assignment;
    message.failed.slab = slab;
    message.failed.generation = generation;
    message.failed.fault = fault;
    strcpy(message.failed.why, why);
    wire_send(fake->socket, &message, WIRE_FAILED, NULL, 0);
}

/* 1: the manner does not work on assignments, and this was it. */
static inline int fake_misbehave(struct fake *fake, uint64_t assignment, uint32_t slab,
                                 uint64_t generation, enum worker_stage stage)
{
    char garbage[100] = "no message";
    seat_enter(fake->page, stage, assignment, 1, 0);
    switch (fake->manner) {
    case FAKE_HANGS:
    case FAKE_DEAF:
    case FAKE_GIVES_BACK:
        fake->hangs_at = assignment;
        return 1;
    case FAKE_BLAMES_INPUT:
        fake_send_failed(fake, assignment, slab, generation, FAULT_INPUT, "the witness is no good");
        return 1;
    case FAKE_NO_MEMORY:
        fake_send_failed(fake, assignment, slab, generation, FAULT_CAPACITY, "it is too large");
        return 1;
    case FAKE_DEVICE_LOST:
        seat_set_device_error(fake->page, 700);
        seat_say(fake->page, "an address that is not there");
        _exit(EXIT_DEVICE_LOST);
    case FAKE_GARBAGE:
        send(fake->socket, garbage, sizeof(garbage), MSG_NOSIGNAL);
        pause();
        return 1;
    case FAKE_WRONG_ROLE:
        fake_send_step(fake, WIRE_CANCEL, assignment, slab, generation);
        pause();
        return 1;
    default:
        return 0;
    }
}

static inline void fake_fill(struct fake *fake, const struct wire_fill *fill)
{
    union wire_message message = {0};
    if (fake_misbehave(fake, fill->assignment, fill->slab, fill->generation, STAGE_WITNESS))
        return;
    message.filled.assignment = fill->assignment;
    message.filled.slab = fill->slab;
    message.filled.generation = fill->generation;
    memset(message.filled.digest, 7, sizeof(message.filled.digest));
    wire_send(fake->socket, &message, WIRE_FILLED, NULL, 0);
    seat_enter(fake->page, STAGE_IDLE, 0, 0, 0);
}

static inline int fake_result(struct fake *fake, const struct wire_prove *prove, uint64_t *bytes)
{
    struct result_header header = {.job = prove->job,
                                   .partition = prove->partition,
                                   .assignment = prove->assignment,
                                   .generation = prove->generation};
    *bytes = sizeof(header) + strlen(FAKE_PROOF) + strlen(FAKE_PUBLIC);
    if (fake->manner == FAKE_BAD_RESULT) {
        int fd = memfd_create("fake", MFD_CLOEXEC);
        return ftruncate(fd, (off_t)*bytes) ? -1 : fd;
    }
    if (fake->manner == FAKE_OTHERS_RESULT)
        header.job++;
    return result_create(&header, FAKE_PROOF, strlen(FAKE_PROOF), FAKE_PUBLIC, strlen(FAKE_PUBLIC));
}

static inline void fake_give_back(struct fake *fake, const struct wire_prove *prove)
{
    union wire_message leaving = {0};
    wire_send(fake->socket, &leaving, WIRE_LEAVING, NULL, 0);
    fake_send_step(fake, WIRE_RELEASED, prove->assignment, prove->slab, prove->generation);
}

static inline void fake_prove(struct fake *fake, const struct wire_prove *prove)
{
    union wire_message message = {0};
    if (fake->hangs_at && fake->manner == FAKE_GIVES_BACK)
        fake_give_back(fake, prove);
    if (fake->hangs_at)
        return;
    if (fake->manner != FAKE_NO_MEMORY) /* that is known before */
        fake_send_step(fake, WIRE_STARTED, prove->assignment, prove->slab, prove->generation);
    if (fake_misbehave(fake, prove->assignment, prove->slab, prove->generation, STAGE_MSM))
        return;
    fake_send_step(fake, WIRE_COMPUTED, prove->assignment, prove->slab, prove->generation);
    message.proved.assignment = prove->assignment;
    message.proved.slab = prove->slab;
    message.proved.generation = prove->generation;
    memcpy(message.proved.digest, prove->digest, sizeof(message.proved.digest));
    int fd = fake_result(fake, prove, &message.proved.result_bytes);
    wire_send(fake->socket, &message, WIRE_PROVED, &fd, 1);
    close(fd);
    seat_enter(fake->page, STAGE_IDLE, 0, 0, 0);
}

static inline void fake_export_key(struct fake *fake, const uint8_t *hash)
{
    union wire_message message = {0};
    int fd = memfd_create("key", MFD_CLOEXEC);
    memcpy(message.device_key.hash, hash, HASH_BYTES);
    strcpy(message.device_key.device, fake->device);
    message.device_key.bytes = 1 << 20;
    wire_send(fake->socket, &message, WIRE_DEVICE_KEY, &fd, 1);
    close(fd);
}

static inline void fake_take(struct fake *fake, const union wire_message *message)
{
    if (fake->manner == FAKE_SLEEPS && message->header.type != WIRE_LEAVE)
        return;
    switch (message->header.type) {
    case WIRE_FILL:
        fake_fill(fake, &message->fill);
        break;
    case WIRE_PROVE:
        fake_prove(fake, &message->prove);
        break;
    case WIRE_CANCEL:
        if (fake->hangs_at == message->step.assignment)
            fake->hangs_at = 0;
        if (fake->manner == FAKE_HANGS)
            fake_send_step(fake, WIRE_RELEASED, message->step.assignment, message->step.slab,
                           message->step.generation);
        break;
    case WIRE_IMAGE:
        if (fake->manner == FAKE_KEEPS_KEY && !fake->was_handed_key)
            fake_export_key(fake, message->image.hash);
        break;
    case WIRE_DEVICE_KEY:
        fake->was_handed_key = 1;
        break;
    case WIRE_LEAVE:
        seat_enter(fake->page, STAGE_LEAVING, 0, 0, 0);
        _exit(0);
    default:
        break;
    }
}

static inline void fake_serve(struct fake *fake)
{
    struct wire_packet packet;
    int got;
    while ((got = wire_receive(fake->socket, &packet, 0)) == 1) {
        fake_take(fake, &packet.message);
        for (unsigned i = 0; i < packet.fd_count; i++)
            close(packet.fds[i]);
    }
    if (fake->manner == FAKE_DEAF)
        for (;;)
            pause();
    _exit(EXIT_CAPACITY);
}

static inline void fake_run(const char *path, enum worker_role role, const char *device,
                            enum fake_manner manner)
{
    struct wire_packet packet;
    union wire_message message = {0};
    struct fake fake = {.manner = manner, .device = device};
    fake.socket = wire_attach(path, role, device, &packet);
    if (fake.socket == -EACCES)
        _exit((int)packet.message.refused.exit_code);
    if (fake.socket < 0 || seat_map(&fake.page, packet.fds[2], packet.message.welcome.incarnation))
        _exit(100);
    for (unsigned i = 0; i < packet.fd_count; i++)
        close(packet.fds[i]);
    signal(SIGTERM, manner == FAKE_DEAF ? SIG_IGN : SIG_DFL);
    seat_enter(fake.page, STAGE_IDLE, 0, 0, 0);
    message.ready.generation = packet.message.welcome.generation;
    wire_send(fake.socket, &message, WIRE_READY, NULL, 0);
    if (manner == FAKE_LEAVES_LATE)
        poll(&(struct pollfd){.fd = fake.socket, .events = POLLIN}, 1, -1);
    if (manner == FAKE_LEAVES || manner == FAKE_LEAVES_LATE) {
        seat_enter(fake.page, STAGE_LEAVING, 0, 0, 0);
        _exit(0);
    }
    fake_serve(&fake);
}

static inline pid_t fake_spawn(const struct rig *rig, enum worker_role role, const char *device,
                               enum fake_manner manner)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(rig->owner);
        fake_run(rig->socket, role, device, manner);
        _exit(99);
    }
    return pid;
}

static inline void fake_kill(pid_t pid)
{
    kill(pid, SIGKILL);
    rig_wait(pid);
}

/* Waits for the end of the job, all of whose proofs must be those of FAKE_WORKS. */
static inline void fake_expect_proofs(const struct rig *rig, const char *id, unsigned partitions)
{
    json_t *job = rig_job(rig, id, 20), *proof = json_loads(FAKE_PROOF, 0, NULL);
    json_t *publics = json_loads(FAKE_PUBLIC, 0, NULL);
    rig_expect_text(job, "state", "done");
    assert_int_equal(json_array_size(json_object_get(job, "partitions")), partitions);
    for (unsigned i = 0; i < partitions; i++) {
        json_t *partition = json_array_get(json_object_get(job, "partitions"), i);
        rig_expect_text(partition, "state", "done");
        assert_true(json_equal(json_object_get(partition, "proof"), proof));
        assert_true(json_equal(json_object_get(partition, "public"), publics));
    }
    json_decref(proof);
    json_decref(publics);
    json_decref(job);
}

#endif
