/*
 * The trace ring. The coordinator appends; anybody who maps control reads. A slot's number is
 * cleared before its words change and stored after them, so that a reader, or a post-mortem after a
 * SIGKILL in the middle, refuses a slot that is half one event and half another.
 */
#include "shm/trace.h"

#include <stddef.h>
#include <string.h>

#include "shm/control.h"

#define EVENT_WORDS (sizeof(struct trace_event) / sizeof(uint64_t))

static struct trace_slot *slot_of(const struct control *control, uint64_t number)
{
    return &control->trace->slots[(number - 1) & (control->header->trace_capacity - 1)];
}

static int is_credit(unsigned kind)
{
    return kind >= TRACE_CREDIT_TAKE && kind <= TRACE_CREDIT_LIMIT;
}

void trace_add(struct control *control, const struct trace_event *event)
{
    struct trace_ring *ring = control->trace;
    struct trace_event copy = *event;
    uint64_t words[EVENT_WORDS];
    /* One writer: it reads its own count. */
    uint64_t number = atomic_load_explicit(&ring->written, memory_order_relaxed) + 1;
    struct trace_slot *slot = slot_of(control, number);

    if (is_credit(event->kind))
        copy.seq = ++ring->credit_seq;
    memcpy(words, &copy, sizeof(words));
    atomic_store_explicit(&slot->number, 0, memory_order_relaxed);
    /* Release for each word: a reader that sees one of them also sees that the number is gone.
     * Pairs with trace_read. */
    for (size_t i = 0; i < EVENT_WORDS; i++)
        atomic_store_explicit(&slot->words[i], words[i], memory_order_release);
    /* Pairs with trace_read and trace_written. */
    atomic_store_explicit(&slot->number, number, memory_order_release);
    atomic_store_explicit(&ring->written, number, memory_order_release);
}

int trace_read(const struct control *control, uint64_t number, struct trace_event *out)
{
    uint64_t words[EVENT_WORDS];

    if (number == 0 || number > trace_written(control))
        return 0;
    struct trace_slot *slot = slot_of(control, number);
    /* Pairs with trace_add. */
    if (atomic_load_explicit(&slot->number, memory_order_acquire) != number)
        return 0;
    /* Acquire for each word keeps the second look at the number behind them. Pairs with trace_add.
     */
    for (size_t i = 0; i < EVENT_WORDS; i++)
        words[i] = atomic_load_explicit(&slot->words[i], memory_order_acquire);
    if (atomic_load_explicit(&slot->number, memory_order_relaxed) != number)
        return 0;
    memcpy(out, words, sizeof(words));
    return 1;
}

uint64_t trace_written(const struct control *control)
{
    /* Pairs with trace_add. */
    return atomic_load_explicit(&control->trace->written, memory_order_acquire);
}

const char *trace_kind_name(unsigned kind)
{
    static const char *const spans[] = {"unknown", "synth",    "ready",  "upload",
                                        "prove",   "finalize", "verify", "store"};
    static const char *const instants[] = {"credit_take", "credit_return", "credit_limit"};

    if (is_credit(kind))
        return instants[kind - TRACE_CREDIT_TAKE];
    return spans[kind < sizeof(spans) / sizeof(spans[0]) ? kind : 0];
}
