/*
 * What `pawl doctor` looks at of memory, limits and the kernel; see doctor.h. Nothing is changed.
 */
#include "coordinator/client/doctor.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shm/memory_limit.h"
#include "shm/numa.h"

#define MIB (UINT64_C(1) << 20)
#define SHM_LEAST (256 * MIB)
#define MEMORY_LEAST (512 * MIB)
#define FILES_LEAST 64
#define FILES_GOOD 1024

static void look_at_shm(struct doctor_finding *finding, const struct doctor_place *place)
{
    static const char mend[] = "mount -o remount,size=8G /dev/shm (docker: --shm-size=8g), or set "
                               "backing = memfd in [pawl]";
    char path[PATH_MAX];
    struct statvfs status;

    if (place->backing && strcmp(place->backing, "shm")) {
        doctor_find(finding, DOCTOR_OK, NULL, "backing = %.40s: /dev/shm is not used",
                    place->backing);
        return;
    }
    snprintf(path, sizeof(path), "%s/dev/shm", place->root);
    if (statvfs(path, &status)) {
        doctor_find(finding, DOCTOR_FAIL, mend,
                    "/dev/shm cannot be looked at (%s): slabs with "
                    "backing = shm have no place",
                    strerror(errno));
        return;
    }
    uint64_t room = (uint64_t)status.f_bavail * status.f_frsize;
    uint64_t all = (uint64_t)status.f_blocks * status.f_frsize;
    if (all < place->slabs_bytes) {
        doctor_find(finding, DOCTOR_FAIL, mend,
                    "the configured lanes take %" PRIu64 " MiB, and /dev/shm has %" PRIu64 " MiB",
                    place->slabs_bytes / MIB, all / MIB);
        return;
    }
    int small = room < SHM_LEAST || room < place->slabs_bytes;
    doctor_find(finding, small ? DOCTOR_WARN : DOCTOR_OK, small ? mend : NULL,
                "/dev/shm has room for %" PRIu64
                " MiB of slabs (`pawl status` shows what they take)",
                room / MIB);
}

static void look_at_memory(struct doctor_finding *finding, const struct doctor_place *place)
{
    uint64_t machine = memory_machine_bytes(place->root), group = memory_cgroup_bytes(place->root);
    uint64_t least = machine < group ? machine : group;
    int short_of = least < MEMORY_LEAST;

    if (machine == UINT64_MAX) {
        doctor_find(finding, DOCTOR_WARN, "mount -t proc proc /proc",
                    "/proc/meminfo does not tell the memory: memory = auto knows no limit");
        return;
    }
    const char *mend =
        short_of ? "raise the control group's limit, or lower slabs and synth" : NULL;
    if (group == UINT64_MAX)
        doctor_find(finding, short_of ? DOCTOR_WARN : DOCTOR_OK, mend,
                    "the machine has %" PRIu64 " MiB, and no control group limits them",
                    machine / MIB);
    else
        doctor_find(finding, short_of ? DOCTOR_WARN : DOCTOR_OK, mend,
                    "the control group allows %" PRIu64 " of the machine's %" PRIu64
                    " MiB: memory = auto keeps to the lesser",
                    group / MIB, machine / MIB);
}

static void look_at_memlock(struct doctor_finding *finding, const struct doctor_place *place)
{
    struct rlimit limit;

    (void)place;
    getrlimit(RLIMIT_MEMLOCK, &limit);
    if (limit.rlim_cur == RLIM_INFINITY)
        doctor_find(finding, DOCTOR_OK, NULL, "slabs may be locked in memory");
    else
        doctor_find(finding, DOCTOR_WARN, "ulimit -l unlimited (systemd: LimitMEMLOCK=infinity)",
                    "at most %" PRIu64
                    " KiB may be locked: more slabs than that can be swapped out, "
                    "and proving is slower then",
                    (uint64_t)limit.rlim_cur / 1024);
}

static void look_at_files(struct doctor_finding *finding, const struct doctor_place *place)
{
    struct rlimit limit;

    (void)place;
    getrlimit(RLIMIT_NOFILE, &limit);
    uint64_t files = limit.rlim_max;
    enum doctor_state state = files < FILES_LEAST  ? DOCTOR_FAIL
                              : files < FILES_GOOD ? DOCTOR_WARN
                                                   : DOCTOR_OK;
    doctor_find(
        finding, state, state == DOCTOR_OK ? NULL : "ulimit -n 65536 (systemd: LimitNOFILE=65536)",
        "the coordinator may open %" PRIu64 " files: clients, workers and uploads share them",
        files);
}

static void look_at_huge_pages(struct doctor_finding *finding, const struct doctor_place *place)
{
    char path[PATH_MAX], line[128];
    unsigned long long total = 0, left = 0, kib = 0;

    snprintf(path, sizeof(path), "%s/proc/meminfo", place->root);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof(line), file)) {
        sscanf(line, "HugePages_Total: %llu", &total);
        sscanf(line, "HugePages_Free: %llu", &left);
        sscanf(line, "Hugepagesize: %llu", &kib);
    }
    if (file)
        fclose(file);
    if (total)
        doctor_find(finding, DOCTOR_OK, NULL,
                    "%llu of %llu huge pages of %llu KiB are free for "
                    "backing = hugetlbfs",
                    left, total, kib);
    else
        doctor_find(finding, DOCTOR_OK, "sysctl vm.nr_hugepages=N (for backing = hugetlbfs alone)",
                    "there are no huge pages: backing = hugetlbfs would not start");
}

static void look_at_numa(struct doctor_finding *finding, const struct doctor_place *place)
{
    int nodes = __builtin_popcountll(numa_nodes_online(place->root));

    doctor_find(finding, DOCTOR_OK, nodes > 1 ? "numa = N in [lane NAME] keeps slabs on one" : NULL,
                nodes > 1 ? "%d memory nodes: slabs are spread over them" : "%d memory node",
                nodes);
}

static void look_at_landlock(struct doctor_finding *finding, const struct doctor_place *place)
{
    (void)place;
#ifdef SYS_landlock_create_ruleset
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, 1U);
#else
    long version = -1;
#endif
    if (version > 0)
        doctor_find(finding, DOCTOR_OK, NULL, "landlock version %ld bounds witness programs' files",
                    version);
    else
        doctor_find(finding, DOCTOR_WARN,
                    "a kernel of 5.13 or later, started with lsm=landlock,...",
                    "the kernel has no landlock: witness programs can read what their user can");
}

static void look_at_seccomp(struct doctor_finding *finding, const struct doctor_place *place)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/proc/sys/kernel/seccomp/actions_avail", place->root);
    if (access(path, F_OK) == 0)
        doctor_find(finding, DOCTOR_OK, NULL, "seccomp bounds witness programs' system calls");
    else
        doctor_find(finding, DOCTOR_WARN, "a kernel with CONFIG_SECCOMP_FILTER",
                    "the kernel has no seccomp filters, which contain witness programs");
}

const struct doctor_check doctor_checks[] = {
    {"shm", look_at_shm},
    {"memory", look_at_memory},
    {"memlock", look_at_memlock},
    {"files", look_at_files},
    {"huge-pages", look_at_huge_pages},
    {"numa", look_at_numa},
    {"cpu", doctor_look_at_cpu},
    {"driver", doctor_look_at_driver},
    {"devices", doctor_look_at_devices},
    {"mps", doctor_look_at_mps},
    {"landlock", look_at_landlock},
    {"seccomp", look_at_seccomp},
    {"run-dir", doctor_look_at_run_dir},
    {"socket", doctor_look_at_socket},
    {"state-dir", doctor_look_at_state_dir},
    {0},
};
