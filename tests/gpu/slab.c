/*
 * See the header.
 */
#include "tests/gpu/slab.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shm/slab.h"
#include "synth-worker/complaint.h"
#include "synth-worker/fill.h"

void check_slab_open(struct check_slab *slab, const struct image *image)
{
    struct slab_plan plan;
    int fd = memfd_create("gpu-check-slab", MFD_CLOEXEC);
    if (fd < 0 || fill_plan(&plan, image, 1))
        abort();
    slab->bytes = (plan.bytes + SLAB_PAGE_BYTES - 1) / SLAB_PAGE_BYTES * SLAB_PAGE_BYTES;
    if (posix_fallocate(fd, 0, (off_t)slab->bytes))
        abort();
    slab->writable = mmap(NULL, slab->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    slab->slabs.base = mmap(NULL, slab->bytes, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
    if (slab->writable == MAP_FAILED || slab->slabs.base == MAP_FAILED)
        abort();
    slab->slabs.bytes = slab->bytes;
    slab->slabs.count = 1;
    slab->slabs.slab[0] = (struct device_slab){0, slab->bytes};
    close(fd);
}

void check_slab_close(struct check_slab *slab)
{
    munmap(slab->writable, slab->bytes);
    munmap(slab->slabs.base, slab->bytes);
}

int check_slab_fill(struct check_slab *slab, const struct image *image, const char *witness,
                    int with_rows)
{
    struct complaint complaint = {0};
    struct fill_result result;
    struct fill_request request = {.image = image,
                                   .witness_fd = open(witness, O_RDONLY | O_CLOEXEC),
                                   .label = witness,
                                   .slab = slab->writable,
                                   .generation = 1,
                                   .job = 1,
                                   .with_rows = with_rows};
    int error = request.witness_fd < 0 ? -1 : fill_slab(&request, &result, &complaint);
    if (error)
        fprintf(stderr, "gpu-check: %s: %s\n", witness,
                request.witness_fd < 0 ? "cannot be opened" : complaint.text);
    if (request.witness_fd >= 0)
        close(request.witness_fd);
    return error ? -1 : 0;
}

static const uint64_t *section_at(const struct check_slab *slab, const struct slab_section *section)
{
    if (section->bytes == 0)
        return NULL;
    return (const uint64_t *)((const char *)slab->slabs.base + section->offset);
}

struct device_work check_slab_work(const struct check_slab *slab)
{
    struct slab_header header;
    const char *what;
    int error = slab_check(&header, slab->slabs.base, slab->bytes, &what);
    assert(error == 0);
    return (struct device_work){section_at(slab, &header.witness), section_at(slab, &header.rows_a),
                                section_at(slab, &header.rows_b)};
}

struct device *check_device_open(const char *name, const struct check_slab *slab)
{
    struct device_settings settings = {0};
    const char *why = "";
    struct device *device = device_open(name, &settings, &why);
    if (!device)
        fprintf(stderr, "gpu-check: %s: %s\n", name, why);
    else if (device->operations->slabs_attach &&
             device->operations->slabs_attach(device, &slab->slabs)) {
        fprintf(stderr, "gpu-check: %s: the slab cannot be attached\n", name);
        device->operations->close(device);
        device = NULL;
    }
    return device;
}

void check_device_close(struct device *device)
{
    if (device->operations->slabs_detach)
        device->operations->slabs_detach(device);
    device->operations->close(device);
}

static void ignore_step(struct device_watch *self, enum worker_stage stage)
{
    (void)self;
    (void)stage;
}

static int never_cancelled(struct device_watch *self)
{
    (void)self;
    return 0;
}

struct device_watch check_watch = {.step = ignore_step, .cancelled = never_cancelled};
