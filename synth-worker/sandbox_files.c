/*
 * Landlock by its three system calls, whose numbers and words are fixed by the kernel
 * (linux/landlock.h; the libc's headers may be older than the kernel). See sandbox.h. A SIGKILL
 * leaves nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "synth-worker/sandbox.h"

enum { CALL_CREATE_RULESET = 444, CALL_ADD_RULE = 445, CALL_RESTRICT_SELF = 446 };
enum { CREATE_VERSION = 1, RULE_PATH_BENEATH = 1 };

#define EXECUTE (UINT64_C(1) << 0)
#define WRITE_FILE (UINT64_C(1) << 1)
#define READ_FILE (UINT64_C(1) << 2)
#define READ_DIR (UINT64_C(1) << 3)
#define TRUNCATE (UINT64_C(1) << 14) /* version 3 */
#define SCOPES UINT64_C(3)           /* version 6: abstract sockets, signals */

struct ruleset {
    uint64_t files, network, scopes;
};
struct rule {
    uint64_t access;
    int32_t fd;
} __attribute__((packed));

/* All rights over files that the version knows; what is not allowed below is forbidden. */
static uint64_t file_rights(long version)
{
    int bits = version >= 5 ? 16 : version >= 3 ? 15 : version >= 2 ? 14 : 13;
    return (UINT64_C(1) << bits) - 1;
}

static int allow_fd(int ruleset, int fd, uint64_t access)
{
    struct rule rule = {.access = access, .fd = fd};
    return syscall(CALL_ADD_RULE, ruleset, RULE_PATH_BENEATH, &rule, 0) ? -errno : 0;
}

/* A place of the system, where there is one. */
static int allow_path(int ruleset, const char *path, uint64_t access)
{
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT || errno == EACCES ? 0 : -errno;
    int error = allow_fd(ruleset, fd, access);
    close(fd);
    return error;
}

static int allow_system(int ruleset)
{
    static const struct {
        const char *path;
        uint64_t access;
    } places[] = {{"/lib", EXECUTE | READ_FILE | READ_DIR},
                  {"/lib64", EXECUTE | READ_FILE | READ_DIR},
                  {"/usr/lib", EXECUTE | READ_FILE | READ_DIR},
                  {"/usr/lib64", EXECUTE | READ_FILE | READ_DIR},
                  {"/usr/local/lib", EXECUTE | READ_FILE | READ_DIR},
                  {"/sys/devices/system/cpu", READ_FILE | READ_DIR},
                  {"/etc/ld.so.cache", READ_FILE},
                  {"/dev/null", READ_FILE | WRITE_FILE},
                  {"/dev/urandom", READ_FILE}};
    int error = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places && !error; i++)
        error = allow_path(ruleset, places[i].path, places[i].access);
    return error;
}

static int allow_all(int ruleset, const struct sandbox_places *places, long version)
{
    uint64_t cut = version >= 3 ? TRUNCATE : 0;
    int error = allow_system(ruleset);
    if (!error)
        error = allow_fd(ruleset, places->program_folder, EXECUTE | READ_FILE);
    if (!error)
        error = allow_fd(ruleset, places->input, READ_FILE);
    return error ? error : allow_fd(ruleset, places->output, READ_FILE | WRITE_FILE | cut);
}

int sandbox_restrict_files(const struct sandbox_places *places)
{
    long version = syscall(CALL_CREATE_RULESET, NULL, 0, CREATE_VERSION);
    if (version < 1)
        return -EOPNOTSUPP;
    const struct ruleset rights = {.files = file_rights(version),
                                   .network = version >= 4 ? 3 : 0,
                                   .scopes = version >= 6 ? SCOPES : 0};
    size_t bytes = version >= 6 ? sizeof rights : version >= 4 ? 16 : 8;
    int ruleset = (int)syscall(CALL_CREATE_RULESET, &rights, bytes, 0);
    if (ruleset < 0)
        return -errno;
    int error = allow_all(ruleset, places, version);
    if (!error && syscall(CALL_RESTRICT_SELF, ruleset, 0))
        error = -errno;
    close(ruleset);
    return error;
}
