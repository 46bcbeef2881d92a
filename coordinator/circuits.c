/*
 * The circuit set; see the header. Called by HTTP, the engine and the tick. A SIGKILL leaves the
 * names on disk and the images in the cache; the next start finds both.
 */
#include "coordinator/circuits.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/circuit_fit.h"
#include "coordinator/circuit_mend.h"
#include "coordinator/circuit_version.h"
#include "coordinator/config.h"
#include "coordinator/lane_plan.h"
#include "coordinator/memory.h"
#include "coordinator/store.h"
#include "coordinator/workers.h"
#include "shm/program.h"

#define ERROR_TEXT_BYTES 2048

static void start_next(struct circuits *circuits);

/* ---- names ---- */

static struct circuit_name *find_name(const struct circuits *circuits, const char *name)
{
    for (struct circuit_name *at = circuits->first_name; at; at = at->next)
        if (strcmp(at->name, name) == 0)
            return at;
    return NULL;
}

const struct circuit_name *circuits_find(const struct circuits *circuits, const char *name)
{
    return find_name(circuits, name);
}

static struct circuit_name *make_name(struct circuits *circuits, const char *name)
{
    struct circuit_name *made = find_name(circuits, name);
    if (made || circuits->name_count >= CIRCUITS_MAX)
        return made;
    made = calloc(1, sizeof(*made));
    if (!made)
        return NULL;
    snprintf(made->name, sizeof(made->name), "%s", name);
    made->key_fd = made->r1cs_fd = made->program_fd = made->program_data_fd = -1;
    made->next = circuits->first_name;
    circuits->first_name = made;
    circuits->name_count++;
    return made;
}

static void drop_files(struct circuit_name *name)
{
    int *fds[] = {&name->key_fd, &name->r1cs_fd, &name->program_fd, &name->program_data_fd};
    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
        if (*fds[i] >= 0)
            close(*fds[i]);
        *fds[i] = -1;
    }
    free(name->key_path);
    free(name->r1cs_path);
    free(name->program_path);
    name->key_path = name->r1cs_path = name->program_path = NULL;
    name->turn = 0;
}

static void set_pending(struct circuit_name *name, struct circuit *circuit)
{
    if (name->pending)
        circuit_version_free(name->pending);
    name->pending = circuit;
}

static void free_name(struct circuit_name *name)
{
    drop_files(name);
    set_pending(name, NULL);
    free(name->error);
    free(name);
}

static void set_error(struct circuit_name *name, enum wire_fault fault, const char *text)
{
    free(name->error);
    name->error = text ? strdup(text) : NULL;
    name->fault = text ? fault : 0;
    if (!text)
        return;
    char quoted[ERROR_TEXT_BYTES];
    log_event("warn", "circuit_failed", "name=%s error=%s", name->name,
              log_quote(quoted, sizeof(quoted), text));
}

const char *circuit_state_name(const struct circuit_name *name)
{
    if (name->turn || name->is_compiling || name->pending)
        return "compiling";
    return name->error || !name->current ? "failed" : "ready";
}

/* ---- versions ---- */

static struct circuit *find_number(const struct circuits *circuits, uint32_t number)
{
    for (struct circuit *at = circuits->first; at; at = at->next)
        if (at->number == number)
            return at;
    return NULL;
}

int circuits_image(const struct circuits *circuits, uint32_t number)
{
    const struct circuit *circuit = find_number(circuits, number);
    return circuit ? circuit->image_fd : -1;
}

int circuits_program(const struct circuits *circuits, uint32_t number)
{
    const struct circuit *circuit = find_number(circuits, number);
    return circuit ? circuit->program_fd : -1;
}

static void add_needs(const struct circuit *circuit, struct lane_needs *slabs,
                      struct memory_needs *memory)
{
    if (circuit->slab_bytes > slabs->with_rows)
        slabs->with_rows = circuit->slab_bytes;
    if (circuit->slab_bytes_without_rows > slabs->without_rows)
        slabs->without_rows = circuit->slab_bytes_without_rows;
    if (circuit->device_bytes > memory->device_bytes)
        memory->device_bytes = circuit->device_bytes;
    memory->image_bytes += circuit->bytes;
}

void circuits_needs(const struct circuits *circuits, const struct circuit *more,
                    struct lane_needs *slabs, struct memory_needs *memory)
{
    for (const struct circuit *at = circuits->first; at; at = at->next)
        add_needs(at, slabs, memory);
    for (const struct circuit_name *at = circuits->first_name; at; at = at->next)
        if (at->pending && at->pending != more)
            add_needs(at->pending, slabs, memory);
    if (more)
        add_needs(more, slabs, memory);
}

/* The name leads to the version from now on; jobs keep the one before. */
static void adopt(struct circuits *circuits, struct circuit_name *name, struct circuit *circuit)
{
    if (name->current)
        name->current->is_current = 0;
    circuit->number = ++circuits->numbers;
    circuit->is_current = 1;
    circuit->next = circuits->first;
    circuits->first = circuit;
    name->current = circuit;
}

/* ---- versions of kept jobs ---- */

static struct circuit *open_version(const struct circuits *circuits, const uint8_t *hash,
                                    const char *program, char *why, size_t bytes)
{
    return circuit_version_open(&circuits->names, &circuits->programs, hash, program, why, bytes);
}

static int is_pending(const struct circuits *circuits, const uint8_t *hash, const char *program)
{
    for (const struct circuit_name *at = circuits->first_name; at; at = at->next)
        if (at->pending && circuit_version_is(at->pending, hash, program))
            return 1;
    return 0;
}

void circuits_hold(struct circuits *circuits, const uint8_t *hash, const char *program)
{
    char why[ERROR_TEXT_BYTES];
    struct circuit *circuit = NULL;
    if (!circuits_find_version(circuits, hash, program) && !is_pending(circuits, hash, program))
        circuit = open_version(circuits, hash, program, why, sizeof(why));
    if (!circuit)
        return;
    circuit->number = ++circuits->numbers;
    circuit->next = circuits->first;
    circuits->first = circuit;
}

const struct circuit *circuits_find_version(const struct circuits *circuits, const uint8_t *hash,
                                            const char *program)
{
    for (const struct circuit *at = circuits->first; at; at = at->next)
        if (circuit_version_is(at, hash, program))
            return at;
    return NULL;
}

static int hash_is_used(const struct circuits *circuits, const uint8_t *hash)
{
    for (const struct circuit *at = circuits->first; at; at = at->next)
        if (memcmp(at->hash, hash, HASH_BYTES) == 0)
            return 1;
    return 0;
}

static void forget_version(struct circuits *circuits, struct circuit *circuit)
{
    if (!hash_is_used(circuits, circuit->hash))
        workers_forget_image(circuits->workers, circuit->hash);
    circuits->sweep_due |= circuit->has_program;
    circuit_version_free(circuit);
}

static int program_is_used(void *arg, const char *program)
{
    const struct circuits *circuits = arg;
    for (const struct circuit *at = circuits->first; at; at = at->next)
        if (strcmp(at->program, program) == 0)
            return 1;
    for (const struct circuit_name *at = circuits->first_name; at; at = at->next)
        if (at->pending && strcmp(at->pending->program, program) == 0)
            return 1;
    return 0;
}

/* Not while a child may be putting one there. */
static void sweep_programs(struct circuits *circuits)
{
    if (!circuits->sweep_due || circuits->compile.pid)
        return;
    circuits->sweep_due = 0;
    circuit_programs_sweep(&circuits->programs, program_is_used, circuits);
}

void circuits_tick(struct circuits *circuits)
{
    struct circuit **link = &circuits->first;
    int changed = 0;
    while (*link) {
        struct circuit *circuit = *link;
        if (circuit->is_current ||
            circuits->store->uses_circuit(circuits->store, circuit->number)) {
            link = &circuit->next;
            continue;
        }
        *link = circuit->next;
        forget_version(circuits, circuit);
        changed = 1;
    }
    if (changed && circuits->changed)
        circuits->changed(circuits->planner);
    sweep_programs(circuits);
}

/* ---- what comes of compiling ---- */

/* program: "" where the child says nothing of one; *made: 0 where the image was there. */
static int parse_hashes(const char *out, uint8_t *hash, char program[CIRCUIT_HEX_BYTES], int *made)
{
    json_t *root = json_loads(out, JSON_REJECT_DUPLICATES, NULL);
    const char *text = json_string_value(json_object_get(root, "hash"));
    const char *hex = json_string_value(json_object_get(root, "program"));
    int error = text ? circuit_hash_parse(text, strlen(text), hash) : -EINVAL;
    snprintf(program, CIRCUIT_HEX_BYTES, "%s", hex ? hex : "");
    *made = json_is_false(json_object_get(root, "cached"));
    json_decref(root);
    return error;
}

/* Its links on disk; the old ones go once the new ones stand. */
static int keep_version(struct circuits *circuits, const char *name, const struct circuit *circuit)
{
    int error = circuit_programs_save(&circuits->programs, name, circuit->hash, circuit->program);
    if (!error)
        error = circuit_names_save(&circuits->names, name, circuit->hash);
    if (!error)
        circuit_programs_forget(&circuits->programs, name, circuit->hash);
    return error;
}

static void serve_version(struct circuits *circuits, struct circuit_name *name,
                          struct circuit *circuit)
{
    adopt(circuits, name, circuit);
    int error = keep_version(circuits, name->name, circuit);
    if (error)
        log_event("error", "circuit_not_kept", "name=%s error=\"%s\"", name->name,
                  strerror(-error));
    log_event("info", "circuit_ready", "name=%s number=%u", name->name, circuit->number);
}

static int admit(struct circuits *circuits, const struct circuit *circuit, char *why, size_t bytes)
{
    if (circuits->admit)
        return circuits->admit(circuits->planner, circuit, why, bytes);
    return circuit_fit_check(circuits->control, circuit, why, bytes);
}

/* It serves at once, or when there are slabs for it, or not at all. */
static void take_version(struct circuits *circuits, struct circuit_name *name,
                         struct circuit *circuit)
{
    char why[ERROR_TEXT_BYTES] = "no memory";
    set_pending(name, circuit);
    int answer = admit(circuits, circuit, why, sizeof(why));
    if (answer > 0)
        return;
    if (answer == 0) {
        name->pending = NULL;
        serve_version(circuits, name, circuit);
        return;
    }
    set_error(name, FAULT_CAPACITY, why);
    set_pending(name, NULL);
}

static void serve_pending(struct circuits *circuits, struct circuit_name *name, int error,
                          const char *why)
{
    struct circuit *circuit = name->pending;
    char text[ERROR_TEXT_BYTES];
    int misfit = circuit_fit_check(circuits->control, circuit, text, sizeof(text));
    if (!misfit) {
        name->pending = NULL;
        serve_version(circuits, name, circuit);
        return;
    }
    set_error(name, FAULT_CAPACITY, error ? why : text);
    set_pending(name, NULL);
}

void circuits_planned(struct circuits *circuits, int error, const char *why)
{
    for (struct circuit_name *at = circuits->first_name; at; at = at->next)
        if (at->pending)
            serve_pending(circuits, at, error, why);
}

static void compiled(struct circuits *circuits, struct circuit_name *name, const uint8_t *hash,
                     const char *program, int made)
{
    char why[ERROR_TEXT_BYTES];
    struct circuit *circuit;
    set_error(name, 0, NULL);
    set_pending(name, NULL);
    if (made || name->is_checking)
        circuit_mend_made(circuits, hash, made);
    if (name->current && circuit_version_is(name->current, hash, program))
        return;
    circuit = open_version(circuits, hash, program, why, sizeof(why));
    if (circuit)
        take_version(circuits, name, circuit);
    else
        set_error(name, FAULT_INTERNAL, why);
}

static void not_compiled(struct circuit_name *name, int exit_code, const char *error)
{
    char text[ERROR_TEXT_BYTES];
    enum wire_fault fault = exit_code == EXIT_INPUT     ? FAULT_INPUT
                            : exit_code == EXIT_MACHINE ? FAULT_CAPACITY
                                                        : FAULT_INTERNAL;
    if (error[0])
        snprintf(text, sizeof(text), "%s", error);
    else if (exit_code > 128)
        snprintf(text, sizeof(text), "the compiling process ended by signal %d", exit_code - 128);
    else
        snprintf(text, sizeof(text), "the compiling process exited with code %d", exit_code);
    set_error(name, fault, text);
}

static void on_compiled(void *arg, int exit_code, const char *out, const char *error)
{
    struct circuits *circuits = arg;
    struct circuit_name *name = circuits->first_name;
    uint8_t hash[HASH_BYTES];
    char program[CIRCUIT_HEX_BYTES];
    int made;
    while (name && !name->is_compiling)
        name = name->next;
    if (name) { /* else it was removed meanwhile */
        name->is_compiling = 0;
        if (exit_code != 0)
            not_compiled(name, exit_code, error);
        else if (parse_hashes(out, hash, program, &made))
            not_compiled(name, EXIT_INTERNAL, "the compiling process printed no hash");
        else
            compiled(circuits, name, hash, program, made);
    }
    start_next(circuits);
}

static struct circuit_name *find_next(const struct circuits *circuits)
{
    struct circuit_name *next = NULL;
    for (struct circuit_name *at = circuits->first_name; at; at = at->next)
        if (at->turn && (!next || at->turn < next->turn))
            next = at;
    return next;
}

static void start_next(struct circuits *circuits)
{
    struct circuit_name *name;
    while (!circuits->compile.pid && (name = find_next(circuits))) {
        struct compile_job job = {.key_fd = name->key_fd,
                                  .key_path = name->key_path,
                                  .r1cs_fd = name->r1cs_fd,
                                  .r1cs_path = name->r1cs_path,
                                  .program_fd = name->program_fd,
                                  .program_data_fd = name->program_data_fd,
                                  .program_path = name->program_path,
                                  .programs_dir = circuits->programs.folder,
                                  .images_dir = circuits->names.images,
                                  .images_max = circuits->images_max,
                                  .check_subgroups = name->check_subgroups,
                                  .check_image = circuit_mend_wants_check(name)};
        int error = compile_start(&circuits->compile, &job);
        drop_files(name);
        name->is_compiling = !error;
        name->is_checking = job.check_image;
        if (error)
            not_compiled(name, EXIT_MACHINE, strerror(-error));
    }
}

/* ---- from outside ---- */

int circuits_add(struct circuits *circuits, const char *name, const struct circuit_files *files,
                 int check_subgroups)
{
    struct circuit_name *entry = make_name(circuits, name);
    char *path = strdup(files->key_path),
         *r1cs = files->r1cs_path ? strdup(files->r1cs_path) : NULL,
         *program = files->program_path ? strdup(files->program_path) : NULL;
    if (!entry || !path || (files->r1cs_path && !r1cs) || (files->program_path && !program)) {
        free(path);
        free(r1cs);
        free(program);
        return entry || circuits->name_count < CIRCUITS_MAX ? -ENOMEM : -ENOSPC;
    }
    drop_files(entry);
    entry->key_fd = files->key_fd;
    entry->key_path = path;
    entry->r1cs_fd = files->r1cs_fd;
    entry->r1cs_path = r1cs;
    entry->program_fd = files->program_fd;
    entry->program_data_fd = files->program_data_fd;
    entry->program_path = program;
    entry->check_subgroups = check_subgroups;
    entry->turn = ++circuits->turns;
    start_next(circuits);
    return 0;
}

int circuits_remove(struct circuits *circuits, const char *name, int force)
{
    struct circuit_name **link = &circuits->first_name;
    while (*link && strcmp((*link)->name, name) != 0)
        link = &(*link)->next;
    struct circuit_name *entry = *link;
    if (!entry)
        return -ENOENT;
    if (entry->current && !force &&
        circuits->store->uses_circuit(circuits->store, entry->current->number))
        return -EBUSY;
    *link = entry->next;
    circuits->name_count--;
    if (entry->current)
        entry->current->is_current = 0;
    if (entry->is_compiling)
        compile_kill(&circuits->compile);
    circuit_names_remove(&circuits->names, name);
    circuit_programs_forget(&circuits->programs, name, NULL);
    circuits->sweep_due = 1;
    int waited = entry->pending != NULL;
    free_name(entry);
    if (waited && circuits->changed)
        circuits->changed(circuits->planner);
    return 0;
}

/* ---- start and end ---- */

/* It serves once circuits_planned says that there are slabs. */
static void load_name(void *arg, const char *name, const uint8_t *hash)
{
    struct circuits *circuits = arg;
    char why[ERROR_TEXT_BYTES], program[CIRCUIT_HEX_BYTES];
    struct circuit_name *entry = make_name(circuits, name);
    if (!entry)
        return;
    circuit_programs_find(&circuits->programs, name, hash, program);
    struct circuit *circuit = open_version(circuits, hash, program, why, sizeof(why));
    if (circuit)
        set_pending(entry, circuit);
    else
        set_error(entry, FAULT_INTERNAL, why);
}

int circuits_start(struct circuits *circuits, struct event_base *base, struct clock_meter *meter,
                   const struct control *control, const struct config *config)
{
    *circuits = (struct circuits){.control = control, .sweep_due = 1};
    compile_init(&circuits->compile, base, meter, on_compiled, circuits);
    circuits->images_max = config->images_max_bytes;
    int error = circuit_programs_open(&circuits->programs, config);
    if (!error)
        error = circuit_names_open(&circuits->names, config);
    return error ? error : circuit_names_each(&circuits->names, load_name, circuits);
}

void circuits_stop(struct circuits *circuits)
{
    if (!circuits->control) /* not started: no fd is set to -1 yet */
        return;
    compile_stop(&circuits->compile);
    while (circuits->first_name) {
        struct circuit_name *name = circuits->first_name;
        circuits->first_name = name->next;
        free_name(name);
    }
    while (circuits->first) {
        struct circuit *circuit = circuits->first;
        circuits->first = circuit->next;
        circuit_version_free(circuit);
    }
}
