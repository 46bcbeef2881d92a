/*
 * Questions to the database: a job with its results, a page of the list. They are answered on the
 * loop, in order with the commits, and what the database says of a job that is not final is brought
 * up to date from memory. Called by the SQLite store. A SIGKILL leaves nothing.
 */
#include "coordinator/store_sqlite_internal.h"

#include <errno.h>
#include <stdlib.h>

/* ---- one job ---- */

struct fetch {
    struct disk_work work; /* first */
    struct sqlite_store *store;
    uint64_t id;
    store_fetched *fetched;
    void *arg;
    int error;
    struct store_job job;
};

static void run_fetch(struct disk_work *work)
{
    struct fetch *fetch = (struct fetch *)work;
    fetch->error = store_db_read(&fetch->store->db, fetch->id, 1, &fetch->job);
}

/* What is not committed is known in memory alone. */
static void update_job(struct store_job *job, const struct entry *entry)
{
    job->state = entry->job.state;
    for (uint32_t i = 0; job->partitions && i < job->partition_count; i++) {
        const struct store_partition *now = &entry->job.partitions[i];
        if (now->state >= PARTITION_DONE)
            continue;
        job->partitions[i].state = now->state;
        job->partitions[i].attempts = now->attempts;
        job->partitions[i].deaths = now->deaths;
    }
}

static int errno_for_asker(int error)
{
    return error == -ENOENT || error == -ENOMEM || error == -EBUSY ? error : -EIO;
}

static void tell_fetch(struct disk_work *work)
{
    struct fetch *fetch = (struct fetch *)work;
    const struct entry *entry = index_find(&fetch->store->index, fetch->id);
    if (fetch->error) {
        fetch->fetched(fetch->arg, errno_for_asker(fetch->error), NULL);
    } else {
        if (entry && entry->job.partition_count == fetch->job.partition_count)
            update_job(&fetch->job, entry);
        fetch->fetched(fetch->arg, 0, &fetch->job);
        store_job_clear(&fetch->job);
    }
    free(fetch);
}

void store_fetch_job(struct store *store, uint64_t job, store_fetched *fetched, void *arg)
{
    struct sqlite_store *this = sqlite_of(store);
    const struct entry *entry = index_find(&this->index, job);
    if (entry && (entry->is_waiting || !entry->taken)) { /* all that there is of it */
        fetched(arg, entry->is_waiting ? -ENOENT : 0, entry->is_waiting ? NULL : &entry->job);
        return;
    }
    struct fetch *fetch = calloc(1, sizeof(*fetch));
    if (!fetch) {
        fetched(arg, -ENOMEM, NULL);
        return;
    }
    *fetch = (struct fetch){.work = {.run = run_fetch, .done = tell_fetch},
                            .store = this,
                            .id = job,
                            .fetched = fetched,
                            .arg = arg};
    if (disk_thread_post(this->disk, &fetch->work)) {
        free(fetch);
        fetched(arg, -EBUSY, NULL);
    }
}

/* ---- a page of the list ---- */

struct listing {
    struct disk_work work; /* first */
    struct sqlite_store *store;
    uint64_t before;
    uint32_t n;
    void (*each)(void *arg, const struct store_job *job);
    void (*end)(void *arg, int error);
    void *arg;
    int64_t count; /* or -errno */
    struct store_job *jobs;
};

static void run_list(struct disk_work *work)
{
    struct listing *listing = (struct listing *)work;
    listing->jobs = calloc(listing->n ? listing->n : 1, sizeof(*listing->jobs));
    listing->count = listing->jobs ? store_db_list(&listing->store->db, listing->before, listing->n,
                                                   listing->jobs)
                                   : -ENOMEM;
}

static void tell_list(struct disk_work *work)
{
    struct listing *listing = (struct listing *)work;
    for (int64_t i = 0; i < listing->count; i++) {
        struct store_job *job = &listing->jobs[i];
        const struct entry *entry = index_find(&listing->store->index, job->id);
        if (entry)
            update_job(job, entry);
        listing->each(listing->arg, job);
        store_job_clear(job);
    }
    listing->end(listing->arg, listing->count < 0 ? errno_for_asker((int)listing->count) : 0);
    free(listing->jobs);
    free(listing);
}

void store_fetch_list(struct store *store, uint64_t before, uint32_t n,
                      void (*each)(void *arg, const struct store_job *job),
                      void (*end)(void *arg, int error), void *arg)
{
    struct sqlite_store *this = sqlite_of(store);
    struct listing *listing = calloc(1, sizeof(*listing));
    if (!listing) {
        end(arg, -ENOMEM);
        return;
    }
    *listing = (struct listing){.work = {.run = run_list, .done = tell_list},
                                .store = this,
                                .before = before,
                                .n = n,
                                .each = each,
                                .end = end,
                                .arg = arg};
    if (disk_thread_post(this->disk, &listing->work)) {
        free(listing);
        end(arg, -EBUSY);
    }
}
