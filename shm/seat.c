/*
 * Seats: the table in control (the coordinator's) and the page that a worker writes. A SIGKILL of
 * the worker leaves its page as it was: stage, progress and last words are read from it afterwards.
 */
#include "shm/seat.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/control.h"

#define SEAT_SEALS (F_SEAL_SHRINK | F_SEAL_GROW)

void seat_occupy(struct control *control, uint32_t seat, uint64_t incarnation, int32_t pid,
                 uint32_t role)
{
    assert(seat < control->header->seat_count && incarnation != 0);
    struct control_seat *entry = &control->seats[seat];

    entry->pid = pid;
    entry->role = role;
    /* Pairs with seat_incarnation. */
    atomic_store_explicit(&entry->incarnation, incarnation, memory_order_release);
}

void seat_vacate(struct control *control, uint32_t seat)
{
    assert(seat < control->header->seat_count);
    /* Pairs with seat_incarnation. */
    atomic_store_explicit(&control->seats[seat].incarnation, 0, memory_order_release);
}

uint64_t seat_incarnation(const struct control *control, uint32_t seat)
{
    if (seat >= control->header->seat_count)
        return 0;
    /* Pairs with seat_occupy and seat_vacate. */
    return atomic_load_explicit(&control->seats[seat].incarnation, memory_order_acquire);
}

static int page_map(struct seat_page **page, int fd)
{
    void *memory = mmap(NULL, SEAT_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (memory == MAP_FAILED)
        return -errno;
    *page = memory;
    return 0;
}

static int page_make(struct seat_page **page, int fd, uint64_t incarnation)
{
    if (ftruncate(fd, SEAT_PAGE_BYTES))
        return -errno;
    int error = page_map(page, fd);
    if (error)
        return error;
    (*page)->incarnation = incarnation;
    (*page)->magic = SEAT_MAGIC;
    if (fcntl(fd, F_ADD_SEALS, SEAT_SEALS | F_SEAL_SEAL) == 0)
        return 0;
    error = -errno;
    seat_unmap(*page);
    *page = NULL;
    return error;
}

int seat_create(struct seat_page **page, int *fd, uint64_t incarnation)
{
    *page = NULL;
    *fd = memfd_create("pawl-seat", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (*fd < 0)
        return -errno;
    int error = page_make(page, *fd, incarnation);
    if (error) {
        close(*fd);
        *fd = -1;
    }
    return error;
}

int seat_map(struct seat_page **page, int fd, uint64_t incarnation)
{
    struct stat status;

    *page = NULL;
    if (fstat(fd, &status))
        return -errno;
    int seals = fcntl(fd, F_GET_SEALS);
    if (status.st_size != SEAT_PAGE_BYTES || seals < 0 || (seals & SEAT_SEALS) != SEAT_SEALS)
        return -EBADMSG;
    int error = page_map(page, fd);
    if (error)
        return error;
    if ((*page)->magic != SEAT_MAGIC)
        error = -EBADMSG;
    else if ((*page)->incarnation != incarnation)
        error = -ESTALE;
    if (error) {
        seat_unmap(*page);
        *page = NULL;
    }
    return error;
}

void seat_unmap(struct seat_page *page)
{
    if (page)
        munmap(page, SEAT_PAGE_BYTES);
}

void seat_enter(struct seat_page *page, enum worker_stage stage, uint64_t assignment, uint64_t job,
                uint32_t partition)
{
    atomic_store_explicit(&page->assignment, assignment, memory_order_relaxed);
    atomic_store_explicit(&page->job, job, memory_order_relaxed);
    atomic_store_explicit(&page->partition, partition, memory_order_relaxed);
    atomic_store_explicit(&page->stage, (uint32_t)stage, memory_order_relaxed);
    seat_progress(page);
}

void seat_progress(struct seat_page *page)
{
    /* Release: who sees the counter moved sees the stage too. Pairs with seat_read. */
    atomic_fetch_add_explicit(&page->progress, 1, memory_order_release);
}

void seat_add(struct seat_page *page, uint64_t busy_ns, uint64_t idle_ns, uint64_t done)
{
    /* Sums for the status; nothing is ordered behind them. */
    atomic_fetch_add_explicit(&page->busy_ns, busy_ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&page->idle_ns, idle_ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&page->done_total, done, memory_order_relaxed);
}

void seat_set_pinning(struct seat_page *page, enum seat_pinning pinning)
{
    atomic_store_explicit(&page->pinned, (uint32_t)pinning, memory_order_relaxed);
}

void seat_add_registration(struct seat_page *page, uint64_t bytes)
{
    /* Release: who sees it counted sees its bytes too. Pairs with seat_read. */
    atomic_fetch_add_explicit(&page->registered_bytes, bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&page->registrations_total, 1, memory_order_release);
}

void seat_drop_registration(struct seat_page *page, uint64_t bytes)
{
    atomic_fetch_sub_explicit(&page->registered_bytes, bytes, memory_order_relaxed);
}

void seat_add_allocation(struct seat_page *page)
{
    atomic_fetch_add_explicit(&page->allocations_after_start, 1, memory_order_relaxed);
}

void seat_set_device_error(struct seat_page *page, uint32_t code)
{
    uint32_t none = 0;

    (void)atomic_compare_exchange_strong_explicit(&page->device_error, &none, code,
                                                  memory_order_relaxed, memory_order_relaxed);
}

void seat_say(struct seat_page *page, const char *text)
{
    uint32_t bytes = (uint32_t)strnlen(text, SEAT_LAST_WORDS_BYTES);

    /* An exchange: the text's stores stay behind it. Pairs with seat_last_words. */
    (void)atomic_exchange_explicit(&page->last_words_bytes, 0, memory_order_acq_rel);
    memcpy(page->last_words, text, bytes);
    atomic_store_explicit(&page->last_words_bytes, bytes, memory_order_release);
}

void seat_last_words(const struct seat_page *page, char *out, uint32_t bytes)
{
    /* Pairs with seat_say. The worker wrote it: it may be any number. */
    uint32_t length = atomic_load_explicit(&page->last_words_bytes, memory_order_acquire);

    if (bytes == 0)
        return;
    if (length > SEAT_LAST_WORDS_BYTES)
        length = SEAT_LAST_WORDS_BYTES;
    if (length > bytes - 1)
        length = bytes - 1;
    for (uint32_t i = 0; i < length; i++) {
        char c = ((const volatile char *)page->last_words)[i];

        out[i] = c >= 0x20 && c < 0x7f ? c : (c == '\n' ? ' ' : '?');
    }
    out[length] = 0;
}

void seat_read(const struct seat_page *page, struct seat_view *view)
{
    /* Pairs with seat_progress. */
    view->progress = atomic_load_explicit(&page->progress, memory_order_acquire);
    view->stage = atomic_load_explicit(&page->stage, memory_order_relaxed);
    view->partition = atomic_load_explicit(&page->partition, memory_order_relaxed);
    view->assignment = atomic_load_explicit(&page->assignment, memory_order_relaxed);
    view->job = atomic_load_explicit(&page->job, memory_order_relaxed);
    view->done_total = atomic_load_explicit(&page->done_total, memory_order_relaxed);
    view->busy_ns = atomic_load_explicit(&page->busy_ns, memory_order_relaxed);
    view->idle_ns = atomic_load_explicit(&page->idle_ns, memory_order_relaxed);
    /* Pairs with seat_add_registration. */
    view->registrations_total =
        atomic_load_explicit(&page->registrations_total, memory_order_acquire);
    view->registered_bytes = atomic_load_explicit(&page->registered_bytes, memory_order_relaxed);
    view->allocations_after_start =
        atomic_load_explicit(&page->allocations_after_start, memory_order_relaxed);
    view->pinned = atomic_load_explicit(&page->pinned, memory_order_relaxed);
    view->device_error = atomic_load_explicit(&page->device_error, memory_order_relaxed);
}

const char *seat_stage_name(uint32_t stage)
{
    static const char *const names[STAGES] = {"starting", "idle", "witness",  "rows",   "upload",
                                              "ntt",      "msm",  "finalize", "leaving"};

    return stage < STAGES ? names[stage] : "unknown";
}

const char *seat_pinning_name(uint32_t pinning)
{
    static const char *const names[PINNINGS] = {NULL, "direct", "bounce"};

    return pinning < PINNINGS ? names[pinning] : NULL;
}
