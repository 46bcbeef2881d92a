/*
 * Copies witness programs; see the header. Called by main.c for `--compile --program`, in a process
 * that holds no fd of the region. A SIGKILL leaves what the header says.
 */
#include "synth-worker/program_take.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/program.h"
#include "synth-worker/complaint.h"
#include "synth-worker/folder.h"

#define PROGRAM_BYTES_MAX (UINT64_C(16) << 30)
#define PIECE_BYTES 65536

struct taking {
    const struct program_request *request;
    struct complaint *complaint;
    int program_fd, data_fd; /* data_fd -1: none */
    int folder_fd, draft_fd;
    char draft[32];
};

/* ---- what it is ---- */

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#else
#define MACHINE EM_NONE
#endif

/* What a file that begins so is, where it is a witness maker of another kind. */
static const char *other_kind(const uint8_t *head)
{
    static const struct {
        const char *magic, *kind;
    } kinds[] = {{"\0asm", "a WebAssembly witness calculator (wasm)"},
                 {"wtns.graph.00", "a witness graph of circom-witnesscalc"},
                 {"wtns.vm.001", "a witness program of a virtual machine (wtns.vm)"},
                 {"wtns.cvm.001", "a witness program of a virtual machine (wtns.cvm)"},
                 {"#!", "a script"}};
    static const size_t lengths[] = {4, 13, 11, 12, 2};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!memcmp(head, kinds[i].magic, lengths[i]))
            return kinds[i].kind;
    return NULL;
}

static int check_kind(const struct taking *taking)
{
    union {
        Elf64_Ehdr elf;
        uint8_t byte[sizeof(Elf64_Ehdr)];
    } head = {0};
    const char *name = taking->request->program;
    ssize_t got = pread(taking->program_fd, &head, sizeof head, 0);
    if (got < 0)
        return complain_system(taking->complaint, EXIT_INPUT, errno, "%.700s: reading", name);
    const char *kind = other_kind(head.byte);
    if (kind)
        return complain_input(taking->complaint,
                              "%.700s: %s; only ELF programs are taken in this version", name,
                              kind);
    if (memcmp(head.byte, ELFMAG, SELFMAG))
        return complain_input(taking->complaint,
                              "%.700s: not an ELF program (JavaScript, wasm and others are not in "
                              "this version)",
                              name);
    if (got < (ssize_t)sizeof head || head.byte[EI_CLASS] != ELFCLASS64 ||
        head.elf.e_machine != MACHINE || (head.elf.e_type != ET_EXEC && head.elf.e_type != ET_DYN))
        return complain_input(taking->complaint, "%.700s: not a program for this machine", name);
    return 0;
}

static int open_file(const struct taking *taking, const char *path, int *fd)
{
    struct stat status;
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0)
        return complain_system(taking->complaint, EXIT_INPUT, errno, "%.700s: cannot be opened",
                               path);
    if (!fstat(*fd, &status) && S_ISREG(status.st_mode) &&
        (uint64_t)status.st_size <= PROGRAM_BYTES_MAX)
        return 0;
    return complain_input(taking->complaint, "%.700s: not a regular file of at most 16 GiB", path);
}

static int open_files(struct taking *taking)
{
    char path[PATH_MAX];
    const struct program_request *request = taking->request;
    int status = open_file(taking, request->program, &taking->program_fd);
    if (!status)
        status = check_kind(taking);
    if (status || request->data)
        return status ? status : open_file(taking, request->data, &taking->data_fd);
    if (snprintf(path, sizeof path, "%s.dat", request->program) >= (int)sizeof path ||
        access(path, F_OK))
        return 0;
    return open_file(taking, path, &taking->data_fd);
}

/* ---- the draft ---- */

static int try_draft(struct taking *taking, unsigned number)
{
    snprintf(taking->draft, sizeof taking->draft, ".tmp-%d-%u", (int)getpid(), number);
    if (mkdirat(taking->folder_fd, taking->draft, 0700))
        return -errno;
    taking->draft_fd =
        openat(taking->folder_fd, taking->draft, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (taking->draft_fd < 0)
        return -errno;
    return flock(taking->draft_fd, LOCK_EX | LOCK_NB) ? -EEXIST : 0;
}

static int complain_folder(const struct taking *taking, int error)
{
    return complain_system(taking->complaint, EXIT_OUTPUT, error,
                           "%.700s: a witness program cannot be kept there",
                           taking->request->programs);
}

static int open_draft(struct taking *taking)
{
    taking->folder_fd = folder_open_made(taking->request->programs);
    if (taking->folder_fd < 0)
        return complain_folder(taking, -taking->folder_fd);
    folder_sweep_unlocked(taking->folder_fd, ".tmp-");
    int status = -EEXIST;
    for (unsigned number = 0; number < 100 && status == -EEXIST; number++)
        status = try_draft(taking, number);
    return status ? complain_folder(taking, -status) : 0;
}

/* ---- copying ---- */

static int copy_bytes(int from, int to, struct hash *hash)
{
    static uint8_t piece[PIECE_BYTES];
    ssize_t got;
    for (off_t at = 0; (got = pread(from, piece, sizeof piece, at)) > 0; at += got) {
        hash_add(hash, piece, (uint64_t)got);
        for (ssize_t done = 0, put; done < got; done += put) {
            put = write(to, piece + done, (size_t)(got - done));
            if (put < 0)
                return -errno;
        }
    }
    return got < 0 ? -errno : 0;
}

static int copy_file(const struct taking *taking, int from, const char *name, mode_t mode,
                     struct hash *hash)
{
    int to = openat(taking->draft_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (to < 0)
        return -errno;
    int status = copy_bytes(from, to, hash);
    if (!status && (fchmod(to, mode) || fdatasync(to)))
        status = -errno;
    close(to);
    return status;
}

static int copy_files(const struct taking *taking, uint8_t digest[HASH_SHA256_BYTES])
{
    struct hash hash;
    struct stat program;
    uint8_t length[8];
    if (fstat(taking->program_fd, &program))
        return -errno;
    for (int i = 0; i < 8; i++)
        length[i] = (uint8_t)((uint64_t)program.st_size >> 8 * i);
    hash_begin(&hash);
    hash_add(&hash, length, sizeof length);
    int status = copy_file(taking, taking->program_fd, "program", 0555, &hash);
    if (!status && taking->data_fd >= 0)
        status = copy_file(taking, taking->data_fd, "program.dat", 0444, &hash);
    hash_end(&hash, status ? NULL : digest);
    return status;
}

static int publish(const struct taking *taking, const char *name)
{
    if (fchmod(taking->draft_fd, 0755) || fsync(taking->draft_fd))
        return -errno;
    if (!renameat(taking->folder_fd, taking->draft, taking->folder_fd, name))
        return fsync(taking->folder_fd) ? -errno : 0;
    if (errno != EEXIST && errno != ENOTEMPTY)
        return -errno;
    folder_remove(taking->folder_fd, taking->draft); /* it is there already */
    return 0;
}

static int take(struct taking *taking, char out[HASH_HEX_BYTES])
{
    uint8_t digest[HASH_SHA256_BYTES];
    int status = open_files(taking);
    if (!status)
        status = open_draft(taking);
    if (status)
        return status;
    status = copy_files(taking, digest);
    if (!status) {
        hash_hex(out, digest);
        status = publish(taking, out);
    }
    if (!status)
        return 0;
    folder_remove(taking->folder_fd, taking->draft);
    return complain_folder(taking, -status);
}

int program_take(const struct program_request *request, char out[HASH_HEX_BYTES],
                 struct complaint *complaint)
{
    struct taking taking = {.request = request,
                            .complaint = complaint,
                            .program_fd = -1,
                            .data_fd = -1,
                            .folder_fd = -1,
                            .draft_fd = -1};
    int status = take(&taking, out);
    const int fds[] = {taking.program_fd, taking.data_fd, taking.folder_fd, taking.draft_fd};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    return status;
}
