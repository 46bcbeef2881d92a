/*
 * The names of states and priorities, as users see them. Called by whatever prints or parses them.
 * Holds nothing: a SIGKILL leaves nothing.
 */
#include "coordinator/store.h"

#include <errno.h>
#include <string.h>

static const char *const job_states[] = {"queued", "running", "done", "failed", "cancelled"};
static const char *const partition_states[] = {"queued", "filling", "ready",    "proving",
                                               "done",   "failed",  "cancelled"};
static const char *const priorities[PRIORITIES] = {"low", "normal", "high", "critical"};

const char *job_state_name(enum job_state state)
{
    return state <= JOB_CANCELLED ? job_states[state] : "unknown";
}

const char *partition_state_name(enum partition_state state)
{
    return state <= PARTITION_CANCELLED ? partition_states[state] : "unknown";
}

const char *priority_name(enum priority priority)
{
    return priority < PRIORITIES ? priorities[priority] : "unknown";
}

int priority_parse(const char *text)
{
    for (int i = 0; i < PRIORITIES; i++) {
        if (strcmp(text, priorities[i]) == 0)
            return i;
    }
    return -EINVAL;
}
