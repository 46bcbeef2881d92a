/*
 * The two objects of the region and a worker's whole mappings of them. The coordinator creates;
 * workers map. Memory is reserved when an object is made, all of it, or there is no object. A
 * SIGKILL leaves nothing but what workers still map, until they end.
 */
#include "shm/region.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/region_object.h"
#include "shm/slab.h"

#define PART_BYTES (UINT64_C(1) << 30)

/* ---- control ---- */

static int map_new_control(struct region *region, int fd, const struct lane_spec *lanes,
                           uint32_t lane_count, const char *build_id)
{
    void *memory = mmap(NULL, region->control_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (memory == MAP_FAILED)
        return -errno;
    control_lay_out(memory, lanes, lane_count, region->backing, build_id);
    int error = control_view(&region->control, memory, region->control_bytes);
    if (error)
        munmap(memory, region->control_bytes);
    return error;
}

static int create_control(struct region *region, const struct lane_spec *lanes, uint32_t lane_count,
                          const char *build_id)
{
    int backing = region_backing_parse(region->backing);
    struct region_object object;

    if (backing == BACKING_HUGETLBFS) /* for less than a huge page of words */
        backing = BACKING_MEMFD;
    region->control_bytes = control_bytes(lanes, lane_count);
    int error = region_object_open(&object, (enum region_backing)backing, region->control_bytes);
    if (error)
        return error;
    error = region_object_fill(object.rw, 0, region->control_bytes, 0);
    if (!error)
        error = map_new_control(region, object.rw, lanes, lane_count, build_id);
    /* The read-only fd is the border; this closes the way around it by /proc. */
    if (!error && backing == BACKING_MEMFD &&
        fcntl(object.rw, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL))
        error = -errno;
    if (!error) {
        region->control_ro_fd = object.ro;
        object.ro = -1;
    }
    region_object_close(&object);
    return error;
}

/* ---- slabs ---- */

/* Sizes as the backing wants them. 0 or -errno. */
static int round_lanes(struct region_slabs *slabs, uint64_t unit)
{
    for (uint32_t i = 0; i < slabs->lane_count; i++) {
        uint64_t bytes = slabs->lanes[i].slab_bytes;

        if (bytes > UINT64_MAX - unit)
            return -EINVAL;
        slabs->lanes[i].slab_bytes = (bytes + unit - 1) / unit * unit;
    }
    return control_bytes(slabs->lanes, slabs->lane_count) ? 0 : -EINVAL;
}

int region_slabs_begin(struct region_slabs *slabs, const struct lane_spec *lanes,
                       uint32_t lane_count, const char *backing)
{
    int kind = region_backing_parse(backing);
    struct region_object object;

    memset(slabs, 0, sizeof(*slabs));
    slabs->fd = -1;
    if (kind < 0 || lane_count > LANES_MAX)
        return -EINVAL;
    uint64_t unit = region_backing_unit((enum region_backing)kind);
    if (!unit)
        return -EOPNOTSUPP;
    if (lane_count)
        memcpy(slabs->lanes, lanes, lane_count * sizeof(*lanes));
    slabs->lane_count = lane_count;
    int error = round_lanes(slabs, unit);
    if (error)
        return error;
    slabs->bytes = control_slabs_bytes(slabs->lanes, lane_count);
    slabs->unit_bytes = unit;
    if (slabs->bytes < unit) { /* no slabs yet: no huge page for nothing */
        kind = BACKING_MEMFD;
        slabs->unit_bytes = SLAB_PAGE_BYTES;
    }
    error = region_object_open(&object, (enum region_backing)kind, slabs->bytes);
    if (error)
        return error;
    close(object.ro);
    slabs->fd = object.rw;
    return 0;
}

/* Which lane's slabs lie at that offset (lane_count: none), and where they end. */
static uint32_t lane_at(const struct region_slabs *slabs, uint64_t offset, uint64_t *end)
{
    *end = 0;
    for (uint32_t i = 0; i < slabs->lane_count; i++) {
        *end += slabs->lanes[i].slab_count * slabs->lanes[i].slab_bytes;
        if (offset < *end)
            return i;
    }
    *end = slabs->bytes;
    return slabs->lane_count;
}

int region_slabs_make(struct region_slabs *slabs, uint64_t part_bytes)
{
    uint64_t at = slabs->made_bytes, end;

    if (at >= slabs->bytes)
        return 0;
    uint32_t lane = lane_at(slabs, at, &end);
    uint32_t numa = lane < slabs->lane_count ? slabs->lanes[lane].numa : 0;
    uint64_t units = part_bytes / slabs->unit_bytes;
    uint64_t bytes = (units ? units : 1) * slabs->unit_bytes;
    if (bytes > end - at)
        bytes = end - at;
    int error = region_object_fill(slabs->fd, at, bytes, numa);
    if (error)
        return error;
    slabs->made_bytes += bytes;
    return slabs->made_bytes < slabs->bytes;
}

void region_slabs_drop(struct region_slabs *slabs)
{
    if (slabs->fd >= 0)
        close(slabs->fd);
    memset(slabs, 0, sizeof(*slabs));
    slabs->fd = -1;
}

void region_slabs_adopt(struct region *region, struct region_slabs *slabs)
{
    assert(slabs->fd >= 0 && slabs->made_bytes == slabs->bytes);
    control_plan(&region->control, slabs->lanes, slabs->lane_count);
    close(region->slabs_fd);
    region->slabs_fd = slabs->fd;
    region->slabs_bytes = slabs->bytes;
    region->generation++;
    slabs->fd = -1;
    region_slabs_drop(slabs);
}

/* ---- both ---- */

static int make_whole(struct region_slabs *slabs)
{
    int more;

    do
        more = region_slabs_make(slabs, PART_BYTES);
    while (more > 0);
    return more;
}

static int create_objects(struct region *region, struct region_slabs *slabs, const char *build_id,
                          const char **what)
{
    *what = "control";
    int error = create_control(region, slabs->lanes, slabs->lane_count, build_id);
    if (error)
        return error;
    *what = "slabs";
    error = make_whole(slabs);
    if (error)
        return error;
    region->slabs_fd = slabs->fd;
    region->slabs_bytes = slabs->bytes;
    region->generation = 1;
    slabs->fd = -1;
    return 0;
}

int region_create(struct region *region, const struct lane_spec *lanes, uint32_t lane_count,
                  const char *backing, const char *build_id, const char **what)
{
    struct region_slabs slabs;

    memset(region, 0, sizeof(*region));
    region->control_ro_fd = region->slabs_fd = -1;
    *what = "backing";
    if (region_backing_parse(backing) < 0)
        return -EINVAL;
    snprintf(region->backing, sizeof(region->backing), "%s", backing);
    *what = "lanes";
    if (control_bytes(lanes, lane_count) == 0)
        return -EINVAL;
    *what = "slabs";
    int error = region_slabs_begin(&slabs, lanes, lane_count, backing);
    if (!error)
        error = create_objects(region, &slabs, build_id, what);
    region_slabs_drop(&slabs);
    if (error)
        region_destroy(region);
    return error;
}

void region_destroy(struct region *region)
{
    region_unmap_control(&region->control);
    if (region->control_ro_fd >= 0)
        close(region->control_ro_fd);
    if (region->slabs_fd >= 0)
        close(region->slabs_fd);
    memset(region, 0, sizeof(*region));
    region->control_ro_fd = region->slabs_fd = -1;
}

/* Maps an object whose size is just `bytes`; NULL and errno. */
static void *map_whole(int fd, uint64_t bytes, int flags)
{
    struct stat status;

    if (fstat(fd, &status))
        return NULL;
    if (bytes == 0 || (uint64_t)status.st_size != bytes) {
        errno = EBADMSG;
        return NULL;
    }
    void *memory = mmap(NULL, bytes, PROT_READ, MAP_SHARED | flags, fd, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

int region_map_control(struct control *control, int fd, uint64_t bytes)
{
    void *memory = map_whole(fd, bytes, 0);

    if (!memory)
        return -errno;
    int error = control_view(control, memory, bytes);
    if (error)
        munmap(memory, bytes);
    return error;
}

void region_unmap_control(struct control *control)
{
    if (control->header)
        munmap(control->header, control->bytes);
    memset(control, 0, sizeof(*control));
}

const void *region_map_slabs(int fd, uint64_t bytes)
{
    void *memory = map_whole(fd, bytes, MAP_POPULATE);

    if (memory)
        madvise(memory, bytes, MADV_DONTDUMP);
    return memory;
}
