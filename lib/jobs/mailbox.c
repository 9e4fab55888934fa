#include "jobs/mailbox.h"

#include "base/mem.h"

void bz_mailbox_init(struct bz_mailboxes *m, unsigned n, size_t capacity)
{
    m->n = n < BZ_MAILBOX_MAX ? n : BZ_MAILBOX_MAX;
    m->boxes = bz_mem_padded(m->n * sizeof(*m->boxes));
    for (unsigned i = 0; i < m->n; i++)
        bz_ring_init(&m->boxes[i].mail, capacity);
    for (unsigned i = 0; i < BZ_MAILBOX_MAX; i++)
        atomic_init(&m->updaters[i].taken, false);
    atomic_init(&m->nupdaters, 1);
    atomic_init(&m->most, 1);
    atomic_init(&m->turn, 0);
}

void bz_mailbox_release(struct bz_mailboxes *m)
{
    for (unsigned i = 0; i < m->n; i++)
        bz_ring_release(&m->boxes[i].mail);
    free(m->boxes);
}

bool bz_mailbox_put(struct bz_mailboxes *m, uint64_t number, void *request)
{
    for (unsigned i = 0; i < m->n; i++) {
        if (bz_ring_push(&m->boxes[(number + i) % m->n].mail, request))
            return true;
    }
    return false;
}

static void add_updater(struct bz_mailboxes *m, unsigned n)
{
    unsigned most = atomic_load_explicit(&m->most, memory_order_relaxed);

    if (n < m->n && atomic_compare_exchange_strong(&m->nupdaters, &n, n + 1))
        while (most < n + 1 && !atomic_compare_exchange_weak(&m->most, &most, n + 1))
            ;
}

/* Takes from one box, within bounds; *left: there is more than that. */
static size_t take_some(struct bz_mailbox *box, void (*fn)(void *ctx, void *request),
                        void *ctx, bool *left)
{
    size_t n = 0;
    void *request;

    while (n < BZ_MAILBOX_BATCH && (request = bz_ring_pop(&box->mail))) {
        n++;
        fn(ctx, request);
    }
    *left |= n == BZ_MAILBOX_BATCH && bz_ring_len(&box->mail) > 0;
    return n;
}

/* Empties the domain of updater `u` of `n`, within bounds. */
static size_t empty(struct bz_mailboxes *m, unsigned u, unsigned n,
                    void (*fn)(void *ctx, void *request), void *ctx)
{
    bool left = false;
    size_t total = 0;

    for (unsigned b = u; b < m->n; b += n)
        total += take_some(&m->boxes[b], fn, ctx, &left);
    if (left)
        add_updater(m, n);
    else if (total == 0 && u > 0 && u == n - 1)
        atomic_compare_exchange_strong(&m->nupdaters, &n, n - 1);
    return total;
}

static bool has_mail(const struct bz_mailboxes *m)
{
    for (unsigned i = 0; i < m->n; i++)
        if (bz_ring_len(&m->boxes[i].mail) > 0)
            return true;
    return false;
}

size_t bz_mailbox_update(struct bz_mailboxes *m, void (*fn)(void *ctx, void *request),
                         void *ctx)
{
    unsigned n = atomic_load_explicit(&m->nupdaters, memory_order_relaxed);
    unsigned turn;
    size_t total = 0;

    if (!has_mail(m)) {
        /* They all would find none, and maybe nobody looks again for long. */
        if (n > 1)
            atomic_compare_exchange_strong(&m->nupdaters, &n, 1);
        return 0;
    }
    turn = n > 1 ? atomic_fetch_add_explicit(&m->turn, 1, memory_order_relaxed) : 0;
    for (unsigned i = 0; i < n && total == 0; i++) {
        unsigned u = (turn + i) % n;

        if (atomic_exchange_explicit(&m->updaters[u].taken, true, memory_order_acquire))
            continue;
        total = empty(m, u, n, fn, ctx);
        atomic_store_explicit(&m->updaters[u].taken, false, memory_order_release);
    }
    return total;
}
