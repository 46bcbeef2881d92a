/*
 * Messages between coordinator and workers. Called by every daemon. One packet, one message: a
 * SIGKILL of the sender leaves whole messages in the socket or none, never half a one. What comes
 * in is refused unless type, length and number of fds agree, and refused fds are closed here.
 */
#include "shm/wire.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "shm/image.h"
#include "shm/program.h"

struct wire_kind {
    const char *name;
    uint16_t bytes;
    uint8_t fds, more_fds; /* those that it has, and how many more it may have */
};

static const struct wire_kind kinds[WIRE_TYPES] = {
    [WIRE_HELLO] = {"hello", sizeof(struct wire_hello), 0, 0},
    [WIRE_WELCOME] = {"welcome", sizeof(struct wire_welcome), 3, 0},
    [WIRE_REFUSED] = {"refused", sizeof(struct wire_refused), 0, 0},
    [WIRE_READY] = {"ready", sizeof(struct wire_ready), 0, 0},
    [WIRE_IMAGE] = {"image", sizeof(struct wire_image), 1, 0},
    [WIRE_FORGET] = {"forget", sizeof(struct wire_image), 0, 0},
    [WIRE_FILL] = {"fill", sizeof(struct wire_fill), 1, 0},
    [WIRE_FILLED] = {"filled", sizeof(struct wire_filled), 0, 0},
    [WIRE_PROVE] = {"prove", sizeof(struct wire_prove), 0, 0},
    [WIRE_STARTED] = {"started", sizeof(struct wire_step), 0, 0},
    [WIRE_COMPUTED] = {"computed", sizeof(struct wire_step), 0, 0},
    [WIRE_PROVED] = {"proved", sizeof(struct wire_proved), 1, 0},
    [WIRE_FAILED] = {"failed", sizeof(struct wire_failed), 0, 0},
    [WIRE_CANCEL] = {"cancel", sizeof(struct wire_step), 0, 0},
    [WIRE_RELEASED] = {"released", sizeof(struct wire_step), 0, 0},
    [WIRE_LEAVE] = {"leave", sizeof(struct wire_simple), 0, 0},
    [WIRE_LEAVING] = {"leaving", sizeof(struct wire_simple), 0, 0},
    [WIRE_REGION] = {"region", sizeof(struct wire_region), 1, 0},
    [WIRE_FILL_INPUT] = {"fill_input", sizeof(struct wire_fill), 2, 0},
    [WIRE_DEVICE_KEY] = {"device_key", sizeof(struct wire_device_key), 0, 2},
};

static const struct wire_kind *kind_of(uint32_t type)
{
    return type < WIRE_TYPES && kinds[type].bytes ? &kinds[type] : NULL;
}

static int takes_fds(const struct wire_kind *kind, unsigned count)
{
    return count >= kind->fds && count <= (unsigned)kind->fds + kind->more_fds;
}

/* The text ends within its array, and nothing of the sender's memory lies behind its end. */
static void settle_text(char *text, size_t bytes)
{
    size_t length = strnlen(text, bytes - 1);

    memset(text + length, 0, bytes - length);
}

static void settle_texts(union wire_message *message)
{
    switch (message->header.type) {
    case WIRE_HELLO:
        settle_text(message->hello.build_id, sizeof(message->hello.build_id));
        settle_text(message->hello.device, sizeof(message->hello.device));
        break;
    case WIRE_WELCOME:
        settle_text(message->welcome.cpus, sizeof(message->welcome.cpus));
        break;
    case WIRE_REFUSED:
        settle_text(message->refused.why, sizeof(message->refused.why));
        break;
    case WIRE_FILL:
    case WIRE_FILL_INPUT:
        settle_text(message->fill.label, sizeof(message->fill.label));
        break;
    case WIRE_DEVICE_KEY:
        settle_text(message->device_key.device, sizeof(message->device_key.device));
        break;
    case WIRE_FAILED:
        settle_text(message->failed.why, sizeof(message->failed.why));
        break;
    default:
        break;
    }
}

static void attach_fds(struct msghdr *packet, void *room, const int *fds, unsigned fd_count)
{
    packet->msg_control = room;
    packet->msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
    struct cmsghdr *part = CMSG_FIRSTHDR(packet);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(fd_count * sizeof(int));
    memcpy(CMSG_DATA(part), fds, fd_count * sizeof(int));
}

int wire_send(int socket, union wire_message *message, enum wire_type type, const int *fds,
              unsigned fd_count)
{
    const struct wire_kind *kind = kind_of(type);
    _Alignas(struct cmsghdr) char room[CMSG_SPACE(WIRE_FDS_MAX * sizeof(int))] = {0};
    ssize_t sent;

    if (!kind || !takes_fds(kind, fd_count) || (fd_count && !fds))
        return -EINVAL;
    message->header.type = type;
    message->header.bytes = kind->bytes;
    settle_texts(message);
    struct iovec part = {.iov_base = message, .iov_len = kind->bytes};
    struct msghdr packet = {.msg_iov = &part, .msg_iovlen = 1};
    if (fds && fd_count)
        attach_fds(&packet, room, fds, fd_count);
    do
        sent = sendmsg(socket, &packet, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? -errno : 0;
}

/* Keeps the first fds and closes those past the room; returns how many came. */
static unsigned keep_fds(struct wire_packet *packet, const struct cmsghdr *part, unsigned came)
{
    size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);

    for (size_t i = 0; i < count; i++, came++) {
        int fd;

        memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof(fd));
        if (came < WIRE_FDS_MAX)
            packet->fds[came] = fd;
        else
            close(fd);
    }
    return came;
}

static void take_control(struct wire_packet *packet, struct msghdr *header)
{
    unsigned came = 0;

    for (struct cmsghdr *part = CMSG_FIRSTHDR(header); part; part = CMSG_NXTHDR(header, part)) {
        if (part->cmsg_level != SOL_SOCKET)
            continue;
        if (part->cmsg_type == SCM_RIGHTS)
            came = keep_fds(packet, part, came);
        if (part->cmsg_type == SCM_CREDENTIALS &&
            part->cmsg_len >= CMSG_LEN(sizeof(struct ucred))) {
            struct ucred sender;

            memcpy(&sender, CMSG_DATA(part), sizeof(sender));
            packet->sender_pid = sender.pid;
        }
    }
    packet->fd_count = came;
}

static int refuse(struct wire_packet *packet)
{
    for (unsigned i = 0; i < WIRE_FDS_MAX; i++) {
        if (packet->fds[i] >= 0)
            close(packet->fds[i]);
        packet->fds[i] = -1;
    }
    packet->fd_count = 0;
    return -EPROTO;
}

static int is_legal(const struct wire_packet *packet, size_t bytes, int flags)
{
    const struct wire_header *header = &packet->message.header;

    if (bytes < sizeof(*header) || flags & (MSG_TRUNC | MSG_CTRUNC))
        return 0;
    const struct wire_kind *kind = kind_of(header->type);
    return kind && bytes == kind->bytes && header->bytes == bytes &&
           takes_fds(kind, packet->fd_count);
}

static ssize_t receive_packet(int socket, struct msghdr *header, int flags)
{
    ssize_t got;

    /* ECONNRESET is said once, before what the peer still sent: go on to that, or to the end. */
    do
        got = recvmsg(socket, header, flags | MSG_CMSG_CLOEXEC);
    while (got < 0 && (errno == EINTR || errno == ECONNRESET));
    return got < 0 ? -errno : got;
}

int wire_receive(int socket, struct wire_packet *packet, int flags)
{
    /* Room for one fd too many and for credentials, so that a surplus is seen, not only cut. */
    _Alignas(struct cmsghdr) char
        room[CMSG_SPACE((WIRE_FDS_MAX + 1) * sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
    struct iovec part = {.iov_base = &packet->message, .iov_len = sizeof(packet->message)};
    struct msghdr header = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room)};

    memset(packet, 0, sizeof(*packet));
    for (unsigned i = 0; i < WIRE_FDS_MAX; i++)
        packet->fds[i] = -1;
    ssize_t got = receive_packet(socket, &header, flags);
    if (got < 0)
        return (int)got;
    take_control(packet, &header);
    if (got == 0) {
        (void)refuse(packet);
        return 0;
    }
    if (!is_legal(packet, (size_t)got, header.msg_flags))
        return refuse(packet);
    settle_texts(&packet->message);
    return 1;
}

const char *wire_type_name(uint32_t type)
{
    const struct wire_kind *kind = kind_of(type);

    return kind ? kind->name : "unknown";
}

const char *wire_fault_name(uint32_t fault)
{
    static const char *const names[] = {NULL,       "input",     "internal",
                                        "capacity", "cancelled", "deadline"};

    return fault < sizeof(names) / sizeof(names[0]) ? names[fault] : NULL;
}

static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int result;

    if (strlen(path) >= sizeof(address.sun_path))
        return -ENAMETOOLONG;
    memcpy(address.sun_path, path, strlen(path) + 1);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    do
        result = connect(fd, (struct sockaddr *)&address, sizeof(address));
    while (result < 0 && errno == EINTR);
    if (result == 0)
        return fd;
    result = -errno;
    close(fd);
    return result;
}

static int say_hello(int socket, enum worker_role role, const char *device)
{
    union wire_message message = {.hello = {.protocol = WIRE_PROTOCOL,
                                            .control_layout = CONTROL_LAYOUT,
                                            .slab_layout = SLAB_LAYOUT,
                                            .image_layout = IMAGE_LAYOUT,
                                            .role = role,
                                            .pid = getpid()}};

    strncpy(message.hello.build_id, pawl_build_id, sizeof(message.hello.build_id) - 1);
    if (device)
        strncpy(message.hello.device, device, sizeof(message.hello.device) - 1);
    return wire_send(socket, &message, WIRE_HELLO, NULL, 0);
}

static int await_welcome(int socket, struct wire_packet *packet)
{
    int got = wire_receive(socket, packet, 0);

    if (got <= 0)
        return got ? got : -ECONNRESET;
    if (packet->message.header.type == WIRE_WELCOME)
        return 0;
    if (packet->message.header.type == WIRE_REFUSED)
        return -EACCES;
    return refuse(packet);
}

int wire_attach(const char *path, enum worker_role role, const char *device,
                struct wire_packet *packet)
{
    int socket = connect_to(path);

    if (socket < 0)
        return socket;
    int error = say_hello(socket, role, device);
    if (!error)
        error = await_welcome(socket, packet);
    if (!error)
        return socket;
    close(socket);
    return error;
}
