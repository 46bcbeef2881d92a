/*
 * The configuration file (inih). Every key, its default and its unit stand in conf/pawl.ini. An
 * unknown key or a bad value stops the start, naming file, line, and the nearest key.
 */
#ifndef PAWL_COORDINATOR_CONFIG_H
#define PAWL_COORDINATOR_CONFIG_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "shm/control.h"
#include "shm/program.h"

#define CONFIG_UIDS_MAX 32
#define CONFIG_ROOTS_MAX 16
#define CONFIG_DEVICES_MAX 16
#define CONFIG_ROLES 3 /* indexed by enum worker_role; [0] is the coordinator's own */

struct config_lane {
    char name[LANE_NAME_BYTES];
    uint32_t slabs;      /* 0: auto */
    uint64_t size_bytes; /* 0: auto */
    uint32_t credits;    /* 0: auto */
    uint32_t priorities; /* bits */
    uint32_t rows;       /* enum rows_place */
    uint32_t numa;       /* as shm/numa.h has it */
};

#define CONFIG_CIRCUITS_MAX 64
struct config_circuit {
    char name[65];
    char program[1024]; /* the witness program's path; "": none */
};

/* Whether a device gets work always, or only where no other one can do it. */
enum device_use {
    DEVICE_USE_AUTO, /* the CPU as a fallback, other devices always */
    DEVICE_USE_ALWAYS,
    DEVICE_USE_FALLBACK,
    DEVICE_USES
};
struct config_device {
    char name[64]; /* as its worker names it: cpu, or a UUID */
    uint32_t use;  /* enum device_use */
};

struct config {
    char path[PATH_MAX]; /* of the file, for messages */
    char socket[PAWL_SOCKET_BYTES];
    char state_dir[PATH_MAX]; /* images lie in state_dir/images unless images_dir is given */
    char images_dir[PATH_MAX];
    uint64_t images_max_bytes;
    char run_dir[PATH_MAX];
    char path_roots[CONFIG_ROOTS_MAX][PATH_MAX];
    uint32_t path_root_count;
    uint32_t allow_uids[CONFIG_UIDS_MAX]; /* besides the coordinator's own */
    uint32_t allow_uid_count;
    char http_group[64];
    uint64_t memory_bytes; /* 0: auto */
    uint64_t drain_timeout_ms;
    uint32_t uncommitted_results;
    char backing[16];
    char store[16];
    int dumpable;
    uint64_t max_body_bytes;
    uint32_t synth;                       /* synth-workers that supervise starts */
    char devices[CONFIG_DEVICES_MAX][64]; /* "auto" alone: whatever the machine has */
    uint32_t device_count;
    struct config_device device_uses[CONFIG_DEVICES_MAX];
    uint32_t device_use_count;
    uint32_t threads; /* 0: all */
    uint32_t staged;
    int keep_device_keys;
    char cpus[CONFIG_ROLES][256];
    int nice[CONFIG_ROLES];
    struct config_lane lanes[LANES_MAX];
    uint32_t lane_count;
    struct config_circuit circuits[CONFIG_CIRCUITS_MAX];
    uint32_t circuit_count;
    uint64_t queued_jobs, queued_bytes;
    uint32_t kept_jobs;
    uint64_t kept_for_ms; /* 0: no such limit */
    uint32_t attempts, deaths, device_charges;
    uint64_t program_memory_bytes, program_output_bytes; /* of a witness program */
    uint64_t deadline_ms[16];                            /* by enum worker_stage; 0: none */
};

/* Fills defaults, then reads the file (NULL: defaults only). 0, or -EINVAL / -errno with one line
 * in error. */
int config_load(struct config *config, const char *path, char *error, size_t error_bytes);

/* Puts `list`, separated by spaces, in the place of devices = auto; nothing where devices are
 * named. 0, or -EINVAL for a list that devices could not be. */
int config_settle_devices(struct config *config, const char *list);
/* Whether that device, as its worker names it, is to work only where no other can. */
int config_is_fallback(const struct config *config, const char *device);

/*
 * The value of SECTION.KEY after loading, as text, for scripts (`coordinator --config FILE --get
 * workers.synth`); lists are separated by spaces. "lanes.slabs_bytes" is what the slabs of all
 * lanes of a fixed size take. 0 or -ENOENT.
 */
int config_get(const struct config *config, const char *name, char *out, size_t bytes);

/* Names keys that differ between the two and need a restart, separated by spaces; "" where none
 * does. */
void config_restart_keys(const struct config *running, const struct config *fresh, char *out,
                         size_t bytes);

/* "64K", "2M", "1G", plain bytes. "250ms", "20s", "5m". 0 or -EINVAL. */
int config_parse_bytes(const char *text, uint64_t *bytes);
int config_parse_duration_ms(const char *text, uint64_t *ms);

#endif
