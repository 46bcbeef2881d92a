/*
 * The socket's thread: what each message of the coordinator does. Nothing here blocks.
 */
#ifndef PAWL_GPU_WORKER_INBOX_H
#define PAWL_GPU_WORKER_INBOX_H

struct context;
struct view;
struct wire_packet;

/*
 * Acts on one message and closes the fds that came with it. 0; 1: LEAVE, which the caller acts on;
 * -EPROTO: a message that no gpu-worker gets (or not now); -errno: other slabs cannot be mapped.
 */
int inbox_handle(struct context *context, struct view *view, struct wire_packet *packet);

/* Posts READY, for the slabs that are mapped. */
void inbox_say_ready(struct context *context, const struct view *view);

/* Gives all staged assignments back (RELEASED); later ones are given back as they come. */
void inbox_leave(struct context *context);

#endif
