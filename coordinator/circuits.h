/*
 * The circuit set: names, and the versions (images) behind them.
 *
 * Adding a key is asynchronous: it waits for its turn, is compiled by a child, and then serves new
 * jobs. Jobs keep the version that they were accepted with, by its number; a version that no name
 * and no job uses any more is forgotten by all workers and closed. While a new key is compiled for
 * a name, and when that fails, the version before goes on serving.
 */
#ifndef PAWL_COORDINATOR_CIRCUITS_H
#define PAWL_COORDINATOR_CIRCUITS_H

#include <stdint.h>

#include "coordinator/circuit_names.h"
#include "coordinator/circuit_programs.h"
#include "coordinator/compile.h"
#include "coordinator/dispatch.h"
#include "shm/wire.h"

#define CIRCUITS_MAX 1024u

struct control;
struct json_writer;
struct lane_needs;
struct memory_needs;
struct store;
struct workers;

/* One version of a circuit. */
struct circuit {
    struct circuit *next;
    uint32_t number; /* 1, 2, 3 ... over the coordinator's life */
    uint8_t hash[HASH_BYTES];
    uint32_t curve, wires, public_count;
    uint64_t domain, bytes, slab_bytes;
    uint64_t slab_bytes_without_rows;
    uint64_t device_bytes; /* scratch of the CPU device */
    int image_fd;
    int has_program;                 /* it takes inputs (.json) too */
    char program[CIRCUIT_HEX_BYTES]; /* its witness program; "": none */
    int program_fd;                  /* the folder of that; -1: none */
    int is_current;                  /* a name leads to it */
    int is_suspect;                  /* its image may be damaged; circuit_mend.h */
};

struct circuit_name {
    struct circuit_name *next;
    char name[CIRCUIT_NAME_BYTES];
    struct circuit *current; /* NULL: none yet */
    struct circuit *pending; /* it serves once there are slabs for it; NULL: none */
    /* what waits to be compiled */
    uint64_t turn;       /* 0: nothing waits */
    int key_fd, r1cs_fd; /* -1: none */
    int program_fd, program_data_fd;
    char *key_path, *r1cs_path, *program_path;
    int check_subgroups;
    int is_compiling, is_checking; /* checking: an image that is there is read */
    /* what became of the last */
    char *error; /* NULL: no error */
    enum wire_fault fault;
};

struct circuits {
    const struct control *control;
    struct store *store;     /* set by the owner before the first tick */
    struct workers *workers; /* likewise */
    /* The planner's, set by the owner; NULL: a circuit serves where it fits a lane. */
    /* Before a circuit serves: 0, it may at once; 1, once circuits_planned is called; -errno, with
     * the reason in why. */
    int (*admit)(void *planner, const struct circuit *circuit, char *why, size_t bytes);
    /* A version is no more. */
    void (*changed)(void *planner);
    void *planner;
    uint64_t images_max; /* bytes that the folder of images may hold */
    uint32_t auto_lanes; /* bit i: lane i is planned for every circuit that serves */
    struct circuit_names names;
    struct circuit_programs programs;
    struct compile compile;
    struct circuit_name *first_name;
    struct circuit *first;
    uint32_t name_count, numbers;
    uint64_t turns;
    int sweep_due; /* a witness program may be out of use */
};

/* Loads the names that were kept. 0 or -errno. */
int circuits_start(struct circuits *circuits, struct event_base *base, struct clock_meter *meter,
                   const struct control *control, const struct config *config);
void circuits_stop(struct circuits *circuits);
/*
 * At the start, for jobs that were accepted before: the version with that hash and witness program
 * ("": none) is there from now on, where its files still are, though no name may lead to it. The
 * second finds it once the slabs are planned; NULL: its files are gone.
 */
void circuits_hold(struct circuits *circuits, const uint8_t *hash, const char *program);
const struct circuit *circuits_find_version(const struct circuits *circuits, const uint8_t *hash,
                                            const char *program);

/* What a circuit is made of, opened for reading, with names for error texts. */
struct circuit_files {
    int key_fd, r1cs_fd;             /* r1cs_fd -1 and r1cs_path NULL: none is given */
    int program_fd, program_data_fd; /* the witness program, what lies beside it: likewise */
    const char *key_path, *r1cs_path, *program_path;
};

/* Takes the fds over on success. 0, -ENOSPC, -ENOMEM. */
int circuits_add(struct circuits *circuits, const char *name, const struct circuit_files *files,
                 int check_subgroups);
/* 0, -ENOENT, -EBUSY (jobs wait and not force; with it they still run to their end). */
int circuits_remove(struct circuits *circuits, const char *name, int force);
const struct circuit_name *circuits_find(const struct circuits *circuits, const char *name);
/* The image of that version, for reading; -1 where there is none. Borrowed. */
int circuits_image(const struct circuits *circuits, uint32_t number);
/* The folder of its witness program likewise. */
int circuits_program(const struct circuits *circuits, uint32_t number);
/*
 * The lane for a job: the one named, or else (NULL) the smallest that fits and serves the priority.
 * The lane's number, or -EINVAL with the reason in why.
 */
int circuits_choose_lane(const struct circuits *circuits, const struct circuit *circuit,
                         const char *lane, enum priority priority, char *why, size_t bytes);
/* The slabs of the last plan stand: what waited for them serves now, where it fits them; else it
 * has failed with `why`. */
void circuits_planned(struct circuits *circuits, int error, const char *why);
/* What all versions, those that wait, and `more` (NULL: nothing) need. */
void circuits_needs(const struct circuits *circuits, const struct circuit *more,
                    struct lane_needs *slabs, struct memory_needs *memory);
/* Lets go of versions that nobody uses; called at each tick. */
void circuits_tick(struct circuits *circuits);
/* "compiling", "ready", "failed". */
const char *circuit_state_name(const struct circuit_name *name);

#endif
