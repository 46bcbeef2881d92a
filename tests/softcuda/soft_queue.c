/*
 * The queue of soft_queue.h: modules by curve, device memory as a list of ranges, launches that run
 * at once. For tests: it ends the program where it is used wrongly.
 */
#include "tests/softcuda/soft_queue.h"

#include <assert.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MODULES_MOST = 32, ALIGNMENT = 256, GAP = 1 << 16, MULTIPROCESSORS = 4 };

static const gpu_pointer first_address = UINT64_C(0x7100000000);

struct soft_queue_state {
    struct ptx_module *module[MODULES_MOST];
    unsigned modules;
    struct ptx_range **range; /* in order of address */
    size_t ranges, room;
    gpu_pointer next;
};

/* ------------------------------------------------------------ modules */

static void *read_file(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rbe");
    assert(file != NULL && fseek(file, 0, SEEK_END) == 0);
    const long size = ftell(file);
    assert(size >= 0);
    rewind(file);
    void *data = malloc((size_t)size + 1);
    assert(data != NULL && fread(data, 1, (size_t)size, file) == (size_t)size);
    fclose(file);
    *bytes = (size_t)size;
    return data;
}

static void load_module(struct soft_queue_state *state, const char *path)
{
    char why[300];
    size_t bytes;
    void *image = read_file(path, &bytes);
    struct ptx_module *module = ptx_module_load(image, bytes, why, sizeof why);
    free(image);
    if (module == NULL) {
        fprintf(stderr, "soft_queue: %s: %s\n", path, why);
        exit(1);
    }
    assert(state->modules < MODULES_MOST);
    state->module[state->modules++] = module;
}

static void load_modules(struct soft_queue_state *state, const char *curve)
{
    const char *build = getenv("BUILD_DIR");
    char pattern[4096];
    const int length = snprintf(pattern, sizeof pattern, "%s/cuda/kernels/*/*.%s.fatbin",
                                build != NULL ? build : "build", curve);
    assert(length > 0 && (size_t)length < sizeof pattern);
    glob_t found;
    if (glob(pattern, 0, NULL, &found) != 0) {
        fprintf(stderr, "soft_queue: no %s: make it first, or set BUILD_DIR\n", pattern);
        exit(1);
    }
    for (size_t i = 0; i < found.gl_pathc; i++)
        load_module(state, found.gl_pathv[i]);
    globfree(&found);
}

static const struct ptx_kernel *find_kernel(const struct soft_queue_state *state, const char *name)
{
    for (unsigned i = 0; i < state->modules; i++) {
        const struct ptx_kernel *kernel = ptx_kernel_find(state->module[i], name);
        if (kernel != NULL)
            return kernel;
    }
    fprintf(stderr, "soft_queue: no module has a kernel %s\n", name);
    exit(1);
}

/* ------------------------------------------------------------ memory */

/* the first range that ends behind the address */
static size_t find_place(const struct soft_queue_state *state, gpu_pointer address)
{
    size_t low = 0, high = state->ranges;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (state->range[middle]->base + state->range[middle]->bytes <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const struct ptx_range *find_range(void *owner, uint64_t address)
{
    const struct soft_queue_state *state = owner;
    const size_t place = find_place(state, address);
    if (place == state->ranges || state->range[place]->base > address)
        return NULL;
    return state->range[place];
}

/* the range that holds all of the bytes; ends the program where there is none */
static struct ptx_range *hold(const struct soft_queue_state *state, gpu_pointer at, size_t bytes)
{
    const size_t place = find_place(state, at);
    assert(place < state->ranges && state->range[place]->base <= at);
    struct ptx_range *range = state->range[place];
    assert(bytes <= range->bytes - (at - range->base));
    return range;
}

gpu_pointer soft_queue_allocate(struct soft_queue *queue, size_t bytes)
{
    struct soft_queue_state *state = queue->state;
    if (state->ranges == state->room) {
        state->room = 2 * state->room + 16;
        state->range = realloc(state->range, state->room * sizeof *state->range);
        assert(state->range != NULL);
    }
    struct ptx_range *range = malloc(sizeof *range);
    assert(range != NULL && bytes > 0);
    *range = (struct ptx_range){.base = state->next,
                                .bytes = bytes,
                                .host = malloc(bytes),
                                .written = calloc(ptx_written_bytes(bytes), 1)};
    assert(range->host != NULL && range->written != NULL);
    memset(range->host, PTX_POISON, bytes);
    state->range[state->ranges++] = range; /* addresses only grow */
    state->next += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + GAP;
    return range->base;
}

static void free_range(struct ptx_range *range)
{
    free(range->host);
    free(range->written);
    free(range);
}

void soft_queue_free(struct soft_queue *queue, gpu_pointer at)
{
    struct soft_queue_state *state = queue->state;
    const size_t place = find_place(state, at);
    assert(place < state->ranges && state->range[place]->base == at);
    free_range(state->range[place]);
    state->ranges--;
    memmove(&state->range[place], &state->range[place + 1],
            (state->ranges - place) * sizeof *state->range);
}

void soft_queue_write(struct soft_queue *queue, gpu_pointer to, const void *from, size_t bytes)
{
    if (bytes == 0)
        return;
    struct ptx_range *range = hold(queue->state, to, bytes);
    memcpy(range->host + (to - range->base), from, bytes);
    ptx_written_mark(range, to - range->base, bytes, true);
}

void soft_queue_read(struct soft_queue *queue, void *to, gpu_pointer from, size_t bytes)
{
    if (bytes == 0)
        return;
    const struct ptx_range *range = hold(queue->state, from, bytes);
    memcpy(to, range->host + (from - range->base), bytes);
}

/* ------------------------------------------------------------ the queue's calls */

static int launch(struct gpu_queue *self, const struct gpu_launch *launch)
{
    struct soft_queue *queue = (struct soft_queue *)self;
    if (queue->fault.kind != PTX_FAULT_NONE)
        return -EFAULT;
    const struct ptx_launch what = {.grid = {launch->blocks, 1, 1},
                                    .block = {launch->threads, 1, 1},
                                    .shared_bytes = launch->shared_bytes,
                                    .params = launch->arguments,
                                    .param_bytes = launch->argument_bytes};
    const struct ptx_memory memory = {
        .find = find_range, .owner = queue->state, .seed = queue->seed++};
    queue->launches++;
    const int result =
        ptx_run(find_kernel(queue->state, launch->kernel), &what, &memory, &queue->fault);
    if (result != 0 && !queue->quiet)
        fprintf(stderr, "soft_queue: %s\n", queue->fault.text);
    return result;
}

static int clear(struct gpu_queue *self, gpu_pointer at, size_t bytes)
{
    struct soft_queue *queue = (struct soft_queue *)self;
    if (queue->fault.kind != PTX_FAULT_NONE)
        return -EFAULT;
    if (bytes == 0)
        return 0;
    struct ptx_range *range = hold(queue->state, at, bytes);
    memset(range->host + (at - range->base), 0, bytes);
    ptx_written_mark(range, at - range->base, bytes, true);
    return 0;
}

struct soft_queue *soft_queue_open(const char *curve, uint64_t seed)
{
    struct soft_queue *queue = calloc(1, sizeof *queue);
    struct soft_queue_state *state = calloc(1, sizeof *state);
    assert(queue != NULL && state != NULL);
    state->next = first_address;
    queue->queue = (struct gpu_queue){.launch = launch,
                                      .clear = clear,
                                      .multiprocessors = MULTIPROCESSORS,
                                      .shared_bytes_most = 227 * 1024};
    queue->seed = seed;
    queue->state = state;
    load_modules(state, curve);
    return queue;
}

void soft_queue_close(struct soft_queue *queue)
{
    struct soft_queue_state *state = queue->state;
    for (size_t i = 0; i < state->ranges; i++)
        free_range(state->range[i]);
    for (unsigned i = 0; i < state->modules; i++)
        ptx_module_free(state->module[i]);
    free(state->range);
    free(state);
    free(queue);
}
