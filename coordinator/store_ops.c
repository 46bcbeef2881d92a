/*
 * The life of a change; see the header. Called by the SQLite store. A SIGKILL loses those that
 * were not committed, of which nobody has been told.
 */
#include "coordinator/store_ops.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/clock.h"

struct store_op *store_op_create(enum op_type type, uint64_t job, uint64_t order,
                                 uint32_t partition)
{
    struct store_op *op = calloc(1, sizeof(*op));
    assert(op);
    op->type = type;
    op->job = job;
    op->order = order;
    op->partition = partition;
    op->posted_ns = clock_now_ns();
    return op;
}

void store_op_free(struct store_op *op)
{
    if (op->type == OP_RESULT) {
        free(op->result.proof);
    } else if (op->type == OP_END) {
        free(op->end.error);
        free(op->end.job_error);
    }
    free(op->removals.names);
    free(op);
}

void op_names_add(struct op_names *names, const char *name)
{
    if (!name[0])
        return;
    if (names->count == names->room) {
        names->room = names->room ? 2 * names->room : 8;
        names->names = realloc(names->names, names->room * sizeof(*names->names));
        assert(names->names);
    }
    char *at = names->names[names->count++];
    size_t length = strnlen(name, SPOOL_NAME_BYTES - 1);
    memcpy(at, name, length);
    at[length] = '\0';
}

void op_names_add_inputs(struct op_names *names, const struct store_job *job)
{
    for (uint32_t i = 0; i < job->partition_count; i++)
        op_names_add(names, job->partitions[i].input.name);
}
