/* clang-format off */
/*
 * Messages between coordinator and workers: one SOCK_SEQPACKET packet each, at most WIRE_BYTES_MAX,
 * fds by SCM_RIGHTS. Every message starts with a wire_header; its type fixes its length and how
 * many fds come with it (wire_receive checks both, closes what is too many and refuses the packet);
 * DEVICE_KEY alone has up to two.
 * Texts are NUL-terminated within their arrays (wire_receive sees to it). Reserved bytes are zero.
 *
 *   worker                                                coordinator
 *     HELLO {versions, build id, role, device}  ───────>
 *                    <───────  WELCOME {seat, settings} + control (ro), slabs, seat page
 *                              or REFUSED {exit code, why}
 *     READY {generation}                        ───────>  (gpu: slabs mapped and registered)
 *                    <───────  DEVICE_KEY {hash, device ...} + memory: what an earlier worker of
 *                              the same device left, before the IMAGE of that hash
 *                    <───────  IMAGE {hash} + image fd, before its first use by this worker
 *                    <───────  FILL {assignment, slab ...} + witness fd, to a synth-worker
 *                              or FILL_INPUT {the same} + input fd, program folder
 *     FILLED | FAILED                           ───────>
 *                    <───────  PROVE {assignment, slab ...}, to a gpu-worker
 *     STARTED, COMPUTED, PROVED + result | FAILED ─────>
 *                    <───────  CANCEL {assignment}
 *     RELEASED                                  ───────>
 *     DEVICE_KEY {hash, device ...} + memory    ───────>  (gpu, where the welcome asks for keys)
 *                    <───────  FORGET {hash}, LEAVE
 *                    <───────  REGION {generation, bytes} + slabs, while it holds no assignment
 *     READY {generation}                        ───────>
 *     LEAVING                                   ───────>
 *
 * Exactly one of FILLED, PROVED, FAILED, RELEASED ends an assignment.
 *
 * An assignment number is given once in a coordinator's life. CANCEL of an assignment that has
 * already ended is ignored by the worker (its end is on the way). FORGET unmaps an image once
 * nothing assigned uses it. LEAVE: end what is assigned, then exit 0. LEAVING: a gpu-worker takes no
 * more and gives back what it has not begun, by its own signal or by LEAVE.
 */
/* clang-format on */
#ifndef PAWL_SHM_WIRE_H
#define PAWL_SHM_WIRE_H

#include <stdint.h>

#include "shm/control.h"
#include "shm/slab.h"

#define WIRE_PROTOCOL 4u
#define WIRE_BYTES_MAX 4096u
#define WIRE_FDS_MAX 3u
#define WIRE_DEVICE_BYTES 64
#define WIRE_LABEL_BYTES 256
#define WIRE_TEXT_BYTES 1024

enum worker_role { ROLE_NONE, ROLE_SYNTH, ROLE_GPU };
enum rows_place { ROWS_HOST, ROWS_DEVICE };

enum wire_type {
    WIRE_HELLO = 1,
    WIRE_WELCOME,
    WIRE_REFUSED,
    WIRE_READY,
    WIRE_IMAGE,
    WIRE_FORGET,
    WIRE_FILL,
    WIRE_FILLED,
    WIRE_PROVE,
    WIRE_STARTED,
    WIRE_COMPUTED,
    WIRE_PROVED,
    WIRE_FAILED,
    WIRE_CANCEL,
    WIRE_RELEASED,
    WIRE_LEAVE,
    WIRE_LEAVING,
    WIRE_REGION,
    WIRE_FILL_INPUT,
    WIRE_DEVICE_KEY,
    WIRE_TYPES
};

/* Whose fault a failure is; the names (wire_fault_name) are those of error_class. */
enum wire_fault {
    FAULT_INPUT = 1,
    FAULT_INTERNAL,
    FAULT_CAPACITY,
    FAULT_CANCELLED,
    FAULT_DEADLINE
};

struct wire_header {
    uint32_t type;
    uint32_t bytes; /* of the whole message */
};

struct wire_hello {
    struct wire_header header;
    uint32_t protocol, control_layout, slab_layout, image_layout;
    uint32_t role;
    int32_t pid; /* as the worker sees it; the socket's credentials are what counts */
    char build_id[BUILD_ID_BYTES];
    char device[WIRE_DEVICE_BYTES]; /* gpu: "cpu" or a UUID */
};

/* fds: control (read-only), slabs (read-write), seat page (read-write). */
struct wire_welcome {
    struct wire_header header;
    uint32_t seat;
    uint32_t threads; /* for a CPU device; 0: as many as the process may run on */
    uint32_t staged;
    uint32_t dumpable;
    int32_t nice;
    uint32_t keep_device_keys; /* 1: DEVICE_KEY is wanted of each key that is loaded */
    uint64_t incarnation;
    uint64_t control_bytes, slabs_bytes;
    uint64_t generation;         /* of the slab object */
    char cpus[WIRE_LABEL_BYTES]; /* a cpu list such as "0-3,8"; empty: leave as it is */
};

struct wire_refused {
    struct wire_header header;
    uint32_t exit_code;
    uint32_t reserved;
    char why[WIRE_TEXT_BYTES];
};

/* The slabs of that generation are mapped, and none of an earlier one. */
struct wire_ready {
    struct wire_header header;
    uint64_t generation;
};

/* fd: slabs (read-write), in place of those before, which are let go of first. */
struct wire_region {
    struct wire_header header;
    uint64_t generation;
    uint64_t slabs_bytes;
};

struct wire_simple { /* LEAVE, LEAVING */
    struct wire_header header;
};

/* IMAGE: fd: the image, read-only. FORGET: no fd. */
struct wire_image {
    struct wire_header header;
    uint8_t hash[HASH_BYTES];
};

/*
 * A proving key in a device's memory, exported by the driver so that it outlives the process that
 * made it. To the coordinator: keep this. From it: this may be imported in place of an upload, once
 * everything below agrees and a checksum made on the device does. A later one of the same hash
 * takes the place of an earlier one.
 * fds: the exported memory; then, where there is one, the open device node, which keeps the device
 * from being shut down while nobody else has it open. Without any fd, to the coordinator: keep the
 * key of that hash no longer. The memory is the device's again only once everybody has closed it,
 * so a gpu-worker that drops a key for want of memory says this first.
 */
struct wire_device_key {
    struct wire_header header;
    uint8_t hash[HASH_BYTES];       /* of the image */
    char device[WIRE_DEVICE_BYTES]; /* the UUID, as in the hello */
    uint32_t driver_version;        /* as the driver tells it, e.g. 13000 */
    uint32_t layout;                /* the gpu-worker's own: how the key lies in the memory */
    uint64_t bytes;                 /* of the memory */
    uint64_t checksum;              /* over the key's bytes, by the gpu-worker's own rule */
};

/*
 * FILL: fd: the witness file (wtns bytes), read-only, position not shared with anybody.
 * FILL_INPUT: fds: the input (JSON bytes) likewise, and the folder of the circuit's witness program
 * (`program`, and `program.dat` where it has one), which makes the witness of the input.
 */
struct wire_fill {
    struct wire_header header;
    uint64_t assignment;
    uint64_t job;
    uint32_t partition;
    uint32_t slab;
    uint64_t generation;
    uint64_t slab_offset,
        slab_bytes;       /* the whole slab; the worker maps what the circuit needs of it */
    uint32_t rows;        /* enum rows_place */
    uint32_t check_image; /* 1: a worker died over this partition; first image_check the image */
    uint8_t hash[HASH_BYTES];
    /* Limits of the witness program; 0 in FILL. */
    uint64_t program_deadline_ms; /* 0: none */
    uint64_t program_memory_bytes, program_output_bytes;
    char
        label[WIRE_LABEL_BYTES]; /* the witness's name for error texts, e.g. the user's file name */
};

struct wire_filled {
    struct wire_header header;
    uint64_t assignment;
    uint32_t slab;
    uint32_t reserved;
    uint64_t generation;
    uint8_t digest[HASH_BYTES];
    uint64_t start_ns; /* CLOCK_MONOTONIC */
    uint64_t witness_ns, rows_ns;
};

struct wire_prove {
    struct wire_header header;
    uint64_t assignment;
    uint64_t job;
    uint32_t partition;
    uint32_t slab;
    uint32_t check_image; /* as in FILL */
    uint32_t reserved;
    uint64_t generation;
    uint8_t digest[HASH_BYTES];
    uint8_t hash[HASH_BYTES];
};

struct wire_step { /* STARTED, COMPUTED, RELEASED, CANCEL */
    struct wire_header header;
    uint64_t assignment;
    uint32_t slab;
    uint32_t reserved;
    uint64_t generation;
};

/* Where the time of a proof went; start_ns is CLOCK_MONOTONIC at STARTED. */
struct wire_times {
    uint64_t start_ns;
    uint64_t upload_ns, ntt_ns, msm_ns; /* rows made by the device count as ntt */
    uint64_t prove_ns;                  /* STARTED to COMPUTED */
    uint64_t finalize_start_ns;
    uint64_t finalize_ns, verify_ns; /* finalize includes verify */
};

/* fd: the result, a sealed memfd (result.h). */
struct wire_proved {
    struct wire_header header;
    uint64_t assignment;
    uint32_t slab;
    uint32_t device_charged; /* 1: the device's sums were wrong and the portable form's were used */
    uint64_t generation;
    uint8_t digest[HASH_BYTES];
    uint64_t result_bytes;
    struct wire_times times;
};

struct wire_failed {
    struct wire_header header;
    uint64_t assignment;
    uint32_t slab;
    uint32_t fault; /* enum wire_fault */
    uint64_t generation;
    uint32_t stage; /* enum worker_stage */
    uint32_t device_charged;
    char why[WIRE_TEXT_BYTES];
};

union wire_message {
    struct wire_header header;
    struct wire_hello hello;
    struct wire_welcome welcome;
    struct wire_refused refused;
    struct wire_ready ready;
    struct wire_region region;
    struct wire_simple simple;
    struct wire_image image;
    struct wire_device_key device_key;
    struct wire_fill fill;
    struct wire_filled filled;
    struct wire_prove prove;
    struct wire_step step;
    struct wire_proved proved;
    struct wire_failed failed;
};
_Static_assert(sizeof(union wire_message) <= WIRE_BYTES_MAX, "messages fit a packet");

struct wire_packet {
    union wire_message message;
    int fds[WIRE_FDS_MAX]; /* -1 where absent; the receiver owns them */
    unsigned fd_count;
    int32_t sender_pid; /* by SCM_CREDENTIALS where the socket has SO_PASSCRED, else 0 */
};

/*
 * Sends the message, its type and the fds given; fills header.bytes from the type. 0 or -errno
 * (-EAGAIN: the socket is full, nothing was sent). MSG_NOSIGNAL. The fds stay the caller's.
 */
int wire_send(int socket, union wire_message *message, enum wire_type type, const int *fds,
              unsigned fd_count);
/*
 * Receives one packet (MSG_CMSG_CLOEXEC; `flags` may be MSG_DONTWAIT). 1: a message; 0: the peer
 * has closed; -errno: -EAGAIN, or -EPROTO for a packet that is no legal message (its fds are
 * closed).
 */
int wire_receive(int socket, struct wire_packet *packet, int flags);
const char *wire_type_name(uint32_t type);
const char *wire_fault_name(uint32_t fault); /* "input", "internal" ... or NULL */

/*
 * Worker's side of the attachment: connects to `path`, sends the hello, waits for the answer. On
 * success *packet holds the WELCOME with its three fds, and the connected socket is returned (>=
 * 0). -EACCES with the REFUSED message in *packet; else -errno.
 */
int wire_attach(const char *path, enum worker_role role, const char *device,
                struct wire_packet *packet);

#endif
