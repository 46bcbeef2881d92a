/*
 * The table of all keys: what conf/pawl.ini explains stands here once, with its default, kind and
 * bounds. Keys of kind `fixed` belong to functions that this version does not have.
 */
#include "coordinator/config_internal.h"

#include <string.h>

#include "shm/numa.h"
#include "shm/seat.h"
#include "shm/wire.h"

#define AT(member) offsetof(struct config, member)
#define IN_LANE(member) offsetof(struct config_lane, member)
#define ROOM(member) sizeof(((struct config *)NULL)->member)
#define KIB UINT64_C(1024)
#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)
#define TIB (UINT64_C(1) << 40)
#define DAY_MS UINT64_C(86400000)
#define STAGE_DEADLINE(stage, number)                                                              \
    {                                                                                              \
        "limits", "deadline." stage, &config_kind_duration, "300s", AT(deadline_ms[number]), 0,    \
            DAY_MS, false                                                                          \
    }

/* "<socket>.http" has to fit a socket's name as well. */
#define SOCKET_ROOM (PAWL_SOCKET_BYTES - 5)

const struct config_key config_keys[] = {
    {"pawl", "socket", &config_kind_path, "", AT(socket), 0, SOCKET_ROOM, true},
    {"pawl", "state_dir", &config_kind_path, "", AT(state_dir), 0, ROOM(state_dir), true},
    {"pawl", "images_dir", &config_kind_path, "", AT(images_dir), 0, ROOM(images_dir), true},
    {"pawl", "images_max", &config_kind_bytes, "64G", AT(images_max_bytes), 0, 1024 * 1024 * GIB,
     true},
    {"pawl", "run_dir", &config_kind_path, "", AT(run_dir), 0, ROOM(run_dir), true},
    {"pawl", "path_roots", &config_kind_paths, "", 0, 0, 0, false},
    {"pawl", "allow_uids", &config_kind_uids, "", 0, 0, 0, false},
    {"pawl", "http_group", &config_kind_text, "", AT(http_group), 0, ROOM(http_group), true},
    {"pawl", "memory", &config_kind_bytes_auto, "auto", AT(memory_bytes), 16 * MIB, 1024 * TIB,
     true},
    {"pawl", "drain_timeout", &config_kind_duration, "20s", AT(drain_timeout_ms), 0, DAY_MS, false},
    {"pawl", "uncommitted_results", &config_kind_u32, "64", AT(uncommitted_results), 1, 1u << 20,
     false},
    {"pawl", "wipe_slabs", &config_kind_fixed, "no", 0, 0, 0, false},
    {"pawl", "backing", &config_kind_backing, "shm", AT(backing), 0, ROOM(backing), true},
    {"pawl", "store", &config_kind_store, "sqlite", AT(store), 0, ROOM(store), true},
    {"pawl", "dumpable", &config_kind_yes_no, "no", AT(dumpable), 0, 0, true},

    {"http", "listen", &config_kind_fixed, "", 0, 0, 0, false},
    {"http", "token_file", &config_kind_fixed, "", 0, 0, 0, false},
    {"http", "behind_tls_proxy", &config_kind_fixed, "no", 0, 0, 0, false},
    {"http", "allow_unauthenticated_loopback", &config_kind_fixed, "no", 0, 0, 0, false},
    {"http", "max_body", &config_kind_bytes, "1M", AT(max_body_bytes), KIB, GIB, false},

    {"workers", "synth", &config_kind_u32, "2", AT(synth), 0, SEATS_MAX - CONFIG_DEVICES_MAX,
     false},
    {"workers", "devices", &config_kind_devices, "auto", 0, 0, 0, false},
    {"workers", "threads", &config_kind_u32, "0", AT(threads), 0, 1024, false},
    {"workers", "staged", &config_kind_u32, "1", AT(staged), 1, 4, true},
    {"workers", "keep_device_keys", &config_kind_yes_no, "no", AT(keep_device_keys), 0, 0, false},
    {"workers", "cpus.coordinator", &config_kind_cpus, "", AT(cpus[ROLE_NONE]), 0,
     ROOM(cpus[ROLE_NONE]), true},
    {"workers", "cpus.synth", &config_kind_cpus, "", AT(cpus[ROLE_SYNTH]), 0,
     ROOM(cpus[ROLE_SYNTH]), false},
    {"workers", "cpus.gpu", &config_kind_cpus, "", AT(cpus[ROLE_GPU]), 0, ROOM(cpus[ROLE_GPU]),
     false},
    {"workers", "nice.coordinator", &config_kind_nice, "0", AT(nice[ROLE_NONE]), 0, 0, true},
    {"workers", "nice.synth", &config_kind_nice, "0", AT(nice[ROLE_SYNTH]), 0, 0, false},
    {"workers", "nice.gpu", &config_kind_nice, "0", AT(nice[ROLE_GPU]), 0, 0, false},

    {"lane", "slabs", &config_kind_u32_auto, "auto", IN_LANE(slabs), 1, SLABS_MAX, true},
    {"lane", "size", &config_kind_bytes_auto, "auto", IN_LANE(size_bytes), 8 * KIB, 1024 * GIB,
     true},
    {"lane", "credits", &config_kind_u32_auto, "auto", IN_LANE(credits), 1, SLABS_MAX, false},
    {"lane", "rows", &config_kind_rows, "host", IN_LANE(rows), 0, 0, true},
    {"lane", "priorities", &config_kind_priorities, "low normal high critical", 0, 0, 0, true},
    {"lane", "numa", &config_kind_numa, "auto", IN_LANE(numa), 0, NUMA_NODES_MAX - 1, true},

    {"device", "use", &config_kind_use, "auto", offsetof(struct config_device, use), 0, 0, false},

    {"limits", "queued_jobs", &config_kind_u64, "1000", AT(queued_jobs), 1, 1000000, false},
    {"limits", "queued_bytes", &config_kind_bytes, "1G", AT(queued_bytes), 1, 1024 * GIB, false},
    {"limits", "kept_jobs", &config_kind_u32, "10000", AT(kept_jobs), 1, 100000000, false},
    {"limits", "kept_for", &config_kind_duration, "1440m", AT(kept_for_ms), 0, 3650 * DAY_MS,
     false},
    {"limits", "attempts", &config_kind_u32, "3", AT(attempts), 1, 1000, false},
    {"limits", "deaths", &config_kind_u32, "5", AT(deaths), 0, 1000, false},
    {"limits", "device_charges", &config_kind_u32, "3", AT(device_charges), 1, 1000, false},
    {"limits", "program_memory", &config_kind_bytes, "4G", AT(program_memory_bytes), 16 * MIB,
     1024 * GIB, false},
    {"limits", "program_output", &config_kind_bytes, "4G", AT(program_output_bytes), KIB,
     1024 * GIB, false},
    STAGE_DEADLINE("witness", STAGE_WITNESS),
    STAGE_DEADLINE("rows", STAGE_ROWS),
    STAGE_DEADLINE("upload", STAGE_UPLOAD),
    STAGE_DEADLINE("ntt", STAGE_NTT),
    STAGE_DEADLINE("msm", STAGE_MSM),
    STAGE_DEADLINE("finalize", STAGE_FINALIZE),

    {"circuit", "program", &config_kind_path, "", offsetof(struct config_circuit, program), 0,
     sizeof(((struct config_circuit *)NULL)->program), false},
};
const size_t config_key_count = sizeof(config_keys) / sizeof(config_keys[0]);

const struct config_key *config_key_find(const char *section, const char *name)
{
    for (size_t i = 0; i < config_key_count; i++) {
        if (strcmp(config_keys[i].section, section) == 0 && strcmp(config_keys[i].name, name) == 0)
            return &config_keys[i];
    }
    return NULL;
}

void config_set_defaults(const char *section, void *base)
{
    for (size_t i = 0; i < config_key_count; i++) {
        const struct config_key *key = &config_keys[i];
        if (strcmp(key->section, section) == 0)
            key->kind->set(key, base, key->fallback);
    }
}
