/*
 * What every program does the same way: exit codes, log lines, where the socket is. No policy.
 */
#ifndef PAWL_SHM_PROGRAM_H
#define PAWL_SHM_PROGRAM_H

#include <spawn.h>
#include <stddef.h>

/* Exit codes; what each means to users stands in the README. */
enum program_exit {
    EXIT_INPUT = 1, /* the input, key or witness program is at fault, or the proof is invalid */
    EXIT_USAGE_ERROR = 64, /* daemons: do not start me again */
    EXIT_NO_COORDINATOR = 69,
    EXIT_INTERNAL = 70,
    EXIT_MACHINE = 71, /* a limit of the machine */
    EXIT_OUTPUT = 73,
    EXIT_DEVICE_LOST = 74,
    EXIT_CAPACITY = 75,   /* daemons: the coordinator went away */
    EXIT_PERMISSION = 77, /* daemons: do not start me again */
    EXIT_CONFIG = 78,     /* daemons: do not start me again */
    EXIT_CANCELLED = 130,
};

#define PAWL_SOCKET_BYTES 108 /* of sun_path */

/* oom_score_adj by role: memory is to be taken from what is done again first, and from what holds
 * the jobs last. */
#define OOM_SYNTH 500
#define OOM_GPU 300
#define OOM_COORDINATOR (-500)
#define PROGRAM_FILES_LEAST 32

/*
 * Called first by each main: a file that grows over the limit of file sizes is EFBIG and not a
 * signal; the OOM killer's preference is set, as far as it may be (0: left as it is).
 */
void program_begin(int oom_score_adjust);
/* 0, or EXIT_MACHINE having said on stderr that too few files may be open. */
int program_check_files(const char *program);

/* A child begins with signals at their defaults, none blocked. flags: more of POSIX_SPAWN_*. */
void program_reset_signals(posix_spawnattr_t *attributes, int flags);

/* The build id that both sides of a socket must share: version and a hash of the layout headers. */
extern const char pawl_build_id[];

/*
 * One logfmt line on stderr: "ts=... lvl=LEVEL comp=COMPONENT ev=EVENT FIELDS"; ts is left out
 * under JOURNAL_STREAM. fields is a printf format such as "slab=%u sig=%d" (may be empty). One
 * write(2). Never inputs.
 */
void log_open(const char *component);
void log_event(const char *level, const char *event, const char *fields, ...)
    __attribute__((format(printf, 3, 4)));
/* Makes text fit a quoted logfmt value: quotes it, escapes quotes, backslashes and controls.
 * Returns out. */
const char *log_quote(char *out, size_t bytes, const char *text);

/*
 * The worker socket's path: `given` (--socket) if not NULL; else `socket` in [pawl] of the file
 * `config` if not NULL; else $PAWL_SOCKET; else /run/pawl/pawl.sock for root,
 * $XDG_RUNTIME_DIR/pawl.sock for others. 0, or -errno with *why set to a static text
 * (-ENAMETOOLONG, -ENOENT: config cannot be read).
 */
int program_socket_path(char out[PAWL_SOCKET_BYTES], const char *given, const char *config,
                        const char **why);

/* The folder that holds the running program's file, without a trailing slash. 0 or -errno. */
int program_folder(char *out, size_t bytes);

#endif
