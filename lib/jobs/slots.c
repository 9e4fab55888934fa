#include "jobs/slots.h"

#include "base/mem.h"

/* The lower bits of a word, beside BZ_SLOTS_NAMED and BZ_SLOTS_CALLBACK. A word without
 * LIVE is free. TASK: it was read. HELD: whoever lets go of it waits for the mutex. */
enum { LIVE = 1, TASK = 8, GIVEN_UP = 16, CANCELED = 32, HELD = 64 };
#define SHIFT 8

static atomic_ullong *word_of(const struct bz_slots *s, uint64_t ticket)
{
    return &s->words[ticket & s->mask];
}

static bool is(unsigned long long word, uint64_t ticket)
{
    return (word & LIVE) && word >> SHIFT == ticket;
}

void bz_slots_init(struct bz_slots *s, size_t n)
{
    size_t size = 16;

    while (size < n)
        size *= 2;
    s->words = bz_mem_array(size, sizeof(*s->words));
    s->tasks = bz_mem_array(size, sizeof(void *));
    s->mask = size - 1;
    s->mutex = (struct bz_sync_mutex){0};
    atomic_init(&s->next, 1);
}

void bz_slots_release(struct bz_slots *s)
{
    free(s->words);
    free(s->tasks);
}

bool bz_slots_enter(struct bz_slots *s, unsigned flags, uint64_t *ticket)
{
    for (uint64_t i = 0; i <= s->mask; i++) {
        uint64_t mine = atomic_fetch_add_explicit(&s->next, 1, memory_order_relaxed);
        atomic_ullong *word = word_of(s, mine);
        unsigned long long seen = atomic_load_explicit(word, memory_order_relaxed);

        /* The slots of those that come next are fetched meanwhile. */
        __builtin_prefetch(word_of(s, mine + 16), 1);
        *ticket = mine;
        if (!(seen & LIVE) &&
            atomic_compare_exchange_strong(word, &seen, mine << SHIFT | LIVE | flags))
            return true;
    }
    return false;
}

bool bz_slots_abandon(struct bz_slots *s, uint64_t ticket)
{
    unsigned long long seen = atomic_exchange(word_of(s, ticket), ticket << SHIFT);

    return !(seen & GIVEN_UP);
}

enum bz_slots_mail bz_slots_read(struct bz_slots *s, uint64_t ticket,
                                 struct bz_task *task)
{
    atomic_ullong *word = word_of(s, ticket);
    unsigned long long seen = atomic_load_explicit(word, memory_order_relaxed);

    s->tasks[ticket & s->mask] = task;
    do
        if (seen & GIVEN_UP) {
            atomic_store_explicit(word, ticket << SHIFT, memory_order_release);
            return BZ_SLOTS_GIVEN_UP;
        }
    /* release: whoever finds a task sees all of it */
    while (!atomic_compare_exchange_weak_explicit(
        word, &seen, seen | TASK, memory_order_release, memory_order_relaxed));
    return seen & CANCELED ? BZ_SLOTS_CANCELED : BZ_SLOTS_WANTED;
}

void bz_slots_leave(struct bz_slots *s, uint64_t ticket)
{
    atomic_ullong *word = word_of(s, ticket);
    unsigned long long seen = atomic_load_explicit(word, memory_order_relaxed);

    for (;;) {
        if (seen & HELD) {
            bz_sync_lock(&s->mutex);
            bz_sync_unlock(&s->mutex);
            seen = atomic_load_explicit(word, memory_order_relaxed);
        } else if (atomic_compare_exchange_weak_explicit(word, &seen, ticket << SHIFT,
                                                         memory_order_acq_rel,
                                                         memory_order_relaxed)) {
            return;
        }
    }
}

/* What is to become of mail that is found. */
enum wish { GIVE_UP, MARK, LEAVE };

/* Changes a word as it has to be, and says what it was: 0 if it is not that ticket's. A
 * task is held then. */
static unsigned long long seize(struct bz_slots *s, uint64_t ticket, enum wish wish)
    BZ_REQUIRES(s->mutex)
{
    atomic_ullong *word = word_of(s, ticket);
    unsigned long long seen = atomic_load(word), to;

    do {
        if (!is(seen, ticket) || seen & GIVEN_UP)
            return 0;
        if (seen & TASK)
            to = seen | HELD;
        else if (wish == GIVE_UP && !(seen & BZ_SLOTS_CALLBACK))
            to = seen | GIVEN_UP;
        else
            to = wish == LEAVE ? seen : seen | CANCELED;
    } while (!atomic_compare_exchange_weak(word, &seen, to));
    return seen;
}

static void call_for(struct bz_slots *s, uint64_t ticket, bz_slots_fn fn, void *ctx)
    BZ_REQUIRES(s->mutex)
{
    fn(s->tasks[ticket & s->mask], ctx);
    atomic_fetch_and(word_of(s, ticket), ~(unsigned long long)HELD);
}

static unsigned long long visit(struct bz_slots *s, uint64_t ticket, bool named,
                                enum wish wish, bz_slots_fn fn, void *ctx)
{
    unsigned long long seen = atomic_load(word_of(s, ticket));

    if (!is(seen, ticket) || named != !!(seen & BZ_SLOTS_NAMED))
        return 0;
    bz_sync_lock(&s->mutex);
    seen = seize(s, ticket, wish);
    if (seen & TASK)
        call_for(s, ticket, fn, ctx);
    bz_sync_unlock(&s->mutex);
    return seen;
}

enum bz_slots_found bz_slots_cancel(struct bz_slots *s, uint64_t ticket, bool named,
                                    bz_slots_fn fn, void *ctx)
{
    unsigned long long seen = visit(s, ticket, named, GIVE_UP, fn, ctx);

    if (seen & TASK)
        return BZ_SLOTS_TASK;
    if (!seen || (seen & BZ_SLOTS_CALLBACK && seen & CANCELED))
        return BZ_SLOTS_NOTHING;
    return seen & BZ_SLOTS_CALLBACK ? BZ_SLOTS_MARKED : BZ_SLOTS_MAIL;
}

enum bz_slots_found bz_slots_find(struct bz_slots *s, uint64_t ticket, bool named,
                                  bz_slots_fn fn, void *ctx)
{
    unsigned long long seen = visit(s, ticket, named, LEAVE, fn, ctx);

    return seen & TASK ? BZ_SLOTS_TASK : seen ? BZ_SLOTS_MAIL : BZ_SLOTS_NOTHING;
}

void bz_slots_cancel_all(struct bz_slots *s, bz_slots_fn fn, void *ctx)
{
    bz_sync_lock(&s->mutex);
    for (size_t i = 0; i <= s->mask; i++) {
        unsigned long long seen = atomic_load(&s->words[i]);
        uint64_t ticket = seen >> SHIFT;

        if (seen & LIVE && seize(s, ticket, MARK) & TASK)
            call_for(s, ticket, fn, ctx);
    }
    bz_sync_unlock(&s->mutex);
}
