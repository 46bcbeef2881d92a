/*
 * The container of zkey and wtns files, as binfile.h promises. Called by zkey.c and wtns.c; keeps
 * nothing, so a SIGKILL leaves nothing.
 */
#include "synth-worker/binfile.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/program.h"
#include "synth-worker/complaint.h"

#define HEADER_BYTES 12u
#define SECTION_HEADER_BYTES 12u

uint32_t binfile_u32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

uint64_t binfile_u64(const uint8_t *bytes)
{
    return binfile_u32(bytes) | (uint64_t)binfile_u32(bytes + 4) << 32;
}

int binfile_source_fd(struct binfile_source *source, int fd, const char *name,
                      struct complaint *complaint)
{
    struct stat status;
    if (fstat(fd, &status))
        return complain_system(complaint, EXIT_INTERNAL, errno, "%.700s: cannot be read", name);
    if (!S_ISREG(status.st_mode))
        return complain_input(complaint, "%.700s: not a regular file", name);
    *source = (struct binfile_source){.fd = fd, .size = (uint64_t)status.st_size, .name = name};
    return 0;
}

static int read_fd(const struct binfile_source *source, uint64_t offset, void *out, size_t bytes,
                   struct complaint *complaint)
{
    uint8_t *to = out;
    while (bytes) {
        ssize_t got = pread(source->fd, to, bytes, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return complain_system(complaint, EXIT_INPUT, errno, "%.700s: cannot be read",
                                   source->name);
        if (got == 0)
            return complain_input(complaint, "%.700s: became shorter while it was read",
                                  source->name);
        to += got;
        offset += (uint64_t)got;
        bytes -= (size_t)got;
    }
    return 0;
}

int binfile_read(const struct binfile_source *source, uint64_t offset, void *out, size_t bytes,
                 struct complaint *complaint)
{
    if (offset > source->size || bytes > source->size - offset)
        return complain_input(complaint,
                              "%.700s: the file ends at byte %" PRIu64
                              ", %zu bytes are needed at %" PRIu64,
                              source->name, source->size, bytes, offset);
    if (!source->bytes)
        return read_fd(source, offset, out, bytes, complaint);
    if (bytes)
        memcpy(out, source->bytes + offset, bytes);
    return 0;
}

static void note_section(struct binfile *file, uint32_t id, uint64_t offset, uint64_t length)
{
    if (id >= BINFILE_IDS)
        return;
    struct binfile_section *section = &file->section[id];
    if (!section->count++) {
        section->offset = offset;
        section->length = length;
    }
}

static int read_sections(struct binfile *file, uint32_t count, struct complaint *complaint)
{
    uint64_t position = HEADER_BYTES, size = file->source.size;
    for (uint32_t i = 0; i < count; i++) {
        uint8_t head[SECTION_HEADER_BYTES];
        int status = binfile_read(&file->source, position, head, sizeof head, complaint);
        if (status)
            return status;
        position += sizeof head;
        uint32_t id = binfile_u32(head);
        uint64_t length = binfile_u64(head + 4);
        if (length > size - position)
            return complain_input(complaint,
                                  "%.700s: section %" PRIu32 " claims %" PRIu64
                                  " bytes, the file has %" PRIu64 " left",
                                  file->source.name, id, length, size - position);
        note_section(file, id, position, length);
        position += length;
    }
    return 0;
}

int binfile_open(struct binfile *file, const struct binfile_source *source, const char *type,
                 uint32_t version, struct complaint *complaint)
{
    uint8_t head[HEADER_BYTES];
    *file = (struct binfile){.source = *source};
    if (source->size < 4)
        return complain_input(complaint, "%.700s: Invalid File format", source->name);
    int status = binfile_read(source, 0, head, 4, complaint);
    if (status)
        return status;
    if (memcmp(head, type, 4))
        return complain_input(complaint, "%.700s: Invalid File format", source->name);
    status = binfile_read(source, 0, head, sizeof head, complaint);
    if (status)
        return status;
    file->version = binfile_u32(head + 4);
    uint32_t count = binfile_u32(head + 8);
    if (file->version > version)
        return complain_input(complaint, "%.700s: Version not supported (%" PRIu32 ")",
                              source->name, file->version);
    if (count > (source->size - HEADER_BYTES) / SECTION_HEADER_BYTES ||
        count > BINFILE_SECTIONS_MAX)
        return complain_input(complaint, "%.700s: claims %" PRIu32 " sections, too many",
                              source->name, count);
    return read_sections(file, count, complaint);
}

const struct binfile_section *binfile_section(const struct binfile *file, uint32_t id,
                                              struct complaint *complaint)
{
    if (file->section[id].count)
        return &file->section[id];
    complain_input(complaint, "%.700s: Missing section %" PRIu32, file->source.name, id);
    return NULL;
}
