/*
 * `pawl doctor`: what this machine, its limits and the places of the service mean for Pawl, each
 * with the command that mends it. It changes nothing; drivers are initialised in processes of
 * their own.
 */
#ifndef PAWL_CLIENT_DOCTOR_H
#define PAWL_CLIENT_DOCTOR_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

enum doctor_state { DOCTOR_OK, DOCTOR_WARN, DOCTOR_FAIL };

struct doctor_finding {
    const char *name;
    enum doctor_state state;
    char means[400];
    const char *mend; /* a command or a key; NULL: nothing is to be done */
};

/* What is looked at: below `root` ("" but in tests), at the socket's path, and at what is
 * configured. */
struct doctor_place {
    const char *root, *socket;
    const char *backing, *state_dir; /* of the configuration; NULL: its defaults */
    uint64_t slabs_bytes;            /* of lanes of a fixed size */
};

struct doctor_check {
    const char *name;
    /* Sets state, means and mend; they are OK, empty and NULL before. */
    void (*look)(struct doctor_finding *finding, const struct doctor_place *place);
};
/* Ended by one without a name. */
extern const struct doctor_check doctor_checks[];

/* Sets a finding; `means` is formatted as by printf. */
void doctor_find(struct doctor_finding *finding, enum doctor_state state, const char *mend,
                 const char *means, ...) __attribute__((format(printf, 4, 5)));

/* doctor_places.c */
void doctor_look_at_socket(struct doctor_finding *finding, const struct doctor_place *place);
void doctor_look_at_run_dir(struct doctor_finding *finding, const struct doctor_place *place);
void doctor_look_at_state_dir(struct doctor_finding *finding, const struct doctor_place *place);
/* doctor_devices.c */
void doctor_look_at_cpu(struct doctor_finding *finding, const struct doctor_place *place);
void doctor_look_at_driver(struct doctor_finding *finding, const struct doctor_place *place);
void doctor_look_at_devices(struct doctor_finding *finding, const struct doctor_place *place);
/* The finding of a list of gpu-worker --list-devices. */
void doctor_judge_devices(struct doctor_finding *finding, const json_t *list);
void doctor_look_at_mps(struct doctor_finding *finding, const struct doctor_place *place);

#endif
