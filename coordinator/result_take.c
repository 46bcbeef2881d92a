/*
 * Taking results over; see the header. Pure but for reading the fd. Called by engine.c.
 */
#include "coordinator/result_take.h"

#include <errno.h>
#include <stdlib.h>

#include "coordinator/clock.h"
#include "coordinator/workers.h"
#include "shm/control.h"
#include "shm/result.h"
#include "shm/wire.h"

#define PUBLIC_TEXT_BYTES 82u /* of one public signal: 78 digits, quotes, comma, and to spare */
#define WITNESS_ELEMENT_BYTES 32u

/* The most that a result can be whose witness fits this slab. */
static uint64_t bytes_possible(const struct control *control, uint32_t slab)
{
    uint64_t signals = control->slabs[slab].bytes / WITNESS_ELEMENT_BYTES;
    uint64_t bytes =
        sizeof(struct result_header) + RESULT_PROOF_BYTES_MAX + signals * PUBLIC_TEXT_BYTES;
    return bytes < RESULT_BYTES_MAX ? bytes : RESULT_BYTES_MAX;
}

static int check_header(const struct result_header *header, const struct wire_proved *proved,
                        const struct worker_task *task, const char **what)
{
    *what = "assignment";
    if (header->assignment != proved->assignment)
        return -EBADMSG;
    *what = "generation";
    if (header->generation != proved->generation)
        return -EBADMSG;
    *what = "partition";
    return header->job == task->job && header->partition == task->partition ? 0 : -EBADMSG;
}

int result_take(const struct control *control, const struct wire_proved *proved,
                const struct worker_task *task, int fd, struct result_texts *texts,
                const char **what)
{
    struct result_header header;
    *texts = (struct result_texts){0};
    *what = "slab";
    if (proved->slab >= control->header->slab_count)
        return -EBADMSG;
    *what = "size";
    if (proved->result_bytes > bytes_possible(control, proved->slab))
        return -EBADMSG;
    *what = "contents";
    int error = result_read(fd, proved->result_bytes, &header, &texts->proof, &texts->publics);
    if (error) {
        *texts = (struct result_texts){0};
        return error;
    }
    error = check_header(&header, proved, task, what);
    if (error) {
        free(texts->proof);
        *texts = (struct result_texts){0};
    }
    return error;
}

static double clamp_ms(uint64_t ns, double most_ms)
{
    double ms = (double)ns / (double)NS_PER_MS;
    return ms < most_ms ? ms : most_ms;
}

void result_times(const struct action *action, const struct wire_times *times, double life_ms,
                  struct partition_times *out)
{
    out->queue = clamp_ms(action->queue_ns, life_ms);
    out->witness = clamp_ms(action->witness_ns, life_ms);
    out->rows = clamp_ms(action->rows_ns, life_ms);
    out->ready = clamp_ms(action->ready_ns, life_ms);
    out->upload = clamp_ms(times->upload_ns, life_ms);
    out->ntt = clamp_ms(times->ntt_ns, life_ms);
    out->msm = clamp_ms(times->msm_ns, life_ms);
    out->prove = clamp_ms(times->prove_ns, life_ms);
    out->finalize = clamp_ms(times->finalize_ns, life_ms);
    out->verify = clamp_ms(times->verify_ns, life_ms);
    out->store = 0;
}
