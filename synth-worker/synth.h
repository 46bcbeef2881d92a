/*
 * The synth-worker's life at a coordinator's socket: attach, fill what is assigned, leave.
 */
#ifndef PAWL_SYNTH_WORKER_SYNTH_H
#define PAWL_SYNTH_WORKER_SYNTH_H

#include <stdint.h>

#include "shm/control.h"
#include "shm/region.h"
#include "shm/wire.h"
#include "synth-worker/synth_images.h"
#include "synth-worker/witness_place.h"

struct seat_page;

struct synth {
    int socket, signals; /* signals: a signalfd for TERM and INT */
    struct control control;
    struct slab_windows windows; /* their fd is ours */
    uint64_t generation;         /* of the slab object that they are on */
    struct seat_page *page;
    struct synth_images images;
    struct wire_fill fill; /* the assignment in hand; assignment 0: none */
    int witness_fd;        /* or the input's bytes, where program_fd is given */
    int program_fd;        /* the folder of the witness program; -1: none */
    struct witness_place place;
    int cancelled; /* the assignment in hand is to be given back */
    uint64_t idle_since_ns;
};

/* Attaches at `socket_path`, serves until told to leave, and returns the exit code. It does not
 * return where the coordinator goes away: the process ends then, at once, with EXIT_CAPACITY. */
int synth_run(const char *socket_path);

/* ---- synth_serve.c ---- */
/* READY, for the slabs of the generation that is mapped. 0 or -errno. */
int synth_say_ready(struct synth *synth);
/* Takes all messages that wait, without blocking. 0, or -errno: the socket is of no more use. */
int synth_take_messages(struct synth *synth);
/* Fills the slab in hand and says how it ended. 0, or -errno: the socket is of no more use. */
int synth_serve(struct synth *synth);

/* ---- synth_watch.c ---- */
/* Starts the thread that ends the process when the peer of `socket` is gone. 0 or -errno. */
int synth_watch_start(int socket);
/* From now on the peer's end is expected: exit 0. */
void synth_watch_leaving(void);
int synth_is_leaving(void);

#endif
