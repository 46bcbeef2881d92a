/*
 * Running synth-worker as a plain command. Called by vkey and the one-shot form of prove; a SIGKILL
 * of pawl kills the child too, and its half-made files are removed by the next --compile.
 */
#include "coordinator/client/synth_command.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "coordinator/client/child.h"
#include "coordinator/client/say.h"
#include "shm/program.h"

static int say_end(const struct child_output *output)
{
    int status = output->status;
    if (WIFSIGNALED(status))
        return say_error(EXIT_INTERNAL, "synth-worker was ended by signal %d (%s)%s",
                         WTERMSIG(status), strsignal(WTERMSIG(status)),
                         WTERMSIG(status) == SIGKILL ? "; is memory short?" : "");
    if (!output->error[0])
        return say_error(EXIT_INTERNAL, "synth-worker ended with exit code %d and no reason",
                         WEXITSTATUS(status));
    return say_error(WEXITSTATUS(status), "%s", output->error);
}

int synth_command_run(struct child_output *output, char *const *words, size_t limit)
{
    int error = child_run(output, "synth-worker", words, limit, -1);
    if (error == -EINTR)
        return say_error(EXIT_CANCELLED, "interrupted");
    if (error)
        return say_error(EXIT_INTERNAL, "cannot run synth-worker: %s", strerror(-error));
    return output->status ? say_end(output) : 0;
}
