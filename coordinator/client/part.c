/*
 * The processes of a private instance, one by one. Called by one_shot.c.
 */
#include "coordinator/client/part.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coordinator/client/say.h"
#include "shm/program.h"

void part_init(struct part *part, const char *program)
{
    *part = (struct part){.program = program, .child = {0, -1}, .log_fd = -1};
}

static int open_log(struct part *part, const char *folder)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s.log", folder, part->program);
    part->log_fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    return part->log_fd < 0 ? -errno : 0;
}

int part_start(struct part *part, const char *folder, char *const *words, int fd3, int fd4)
{
    int error = open_log(part, folder);
    /* The coordinator, which has more fds, sees by them when we end. */
    int is_coordinator = fd3 >= 0;
    struct child_spec spec = {part->program,
                              words,
                              {-1, part->log_fd, part->log_fd, fd3, fd4},
                              is_coordinator ? 5 : 3,
                              !is_coordinator};
    if (!error)
        error = child_start(&part->child, &spec);
    return error ? say_error(EXIT_INTERNAL, "cannot start %s: %s", part->program, strerror(-error))
                 : 0;
}

/* The last line that it said, without its name, "" where there is none. */
static void last_words(const struct part *part, char *out, size_t bytes)
{
    char tail[2048] = "";
    struct stat status;
    off_t from = 0;
    if (fstat(part->log_fd, &status) == 0 && status.st_size >= (off_t)sizeof(tail))
        from = status.st_size - (off_t)sizeof(tail) + 1;
    ssize_t got = pread(part->log_fd, tail, sizeof(tail) - 1, from);
    tail[got > 0 ? got : 0] = 0;
    for (size_t end = strlen(tail); end && tail[end - 1] == '\n'; end--)
        tail[end - 1] = 0;
    const char *line = strrchr(tail, '\n');
    line = line ? line + 1 : tail;
    size_t name = strlen(part->program);
    if (!strncmp(line, part->program, name) && !strncmp(line + name, ": ", 2))
        line += name + 2;
    snprintf(out, bytes, "%.*s", (int)bytes - 1, line);
}

int part_describe_end(struct part *part, char *why, size_t bytes, int *exit_code)
{
    int status;
    char said[300];
    if (!part->child.pid || !child_wait(&part->child, 0, &status))
        return 0;
    last_words(part, said, sizeof(said));
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    if (WIFSIGNALED(status))
        snprintf(why, bytes, "the private %s was ended by signal %d (%s)%s", part->program,
                 WTERMSIG(status), strsignal(WTERMSIG(status)),
                 WTERMSIG(status) == SIGKILL ? "; is memory short?" : "");
    else
        snprintf(why, bytes, "the private %s ended with exit code %d: %s", part->program, code,
                 said);
    *exit_code = code == EXIT_USAGE_ERROR || code == EXIT_MACHINE ? code : EXIT_INTERNAL;
    return 1;
}

void part_stop(struct part *part, int grace_ms)
{
    child_stop(&part->child, grace_ms);
    if (part->log_fd >= 0)
        close(part->log_fd);
    part->log_fd = -1;
}
