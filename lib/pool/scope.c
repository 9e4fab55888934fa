#include "pool/scope.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "pool/worker.h"

enum {
    CREDIT = 256, /* drawn at once */
    BATCH = 128,  /* items that change hands at once */
};

struct bz_scope_item {
    struct bz_work work;
    bz_work_body body;
    void *arg;
    struct bz_scope *scope;
    struct bz_scope_item *next; /* in a batch of spares */
};

struct bz_scope_chunk {
    struct bz_scope_chunk *next;

    struct bz_scope_item item[BATCH];
};

/* The head of a batch in the store links to the next batch through `arg`, which a
 * spare item does not need. */
static struct bz_scope_item *take_batch(struct bz_scope_store *store)
{
    struct bz_scope_item *head;

    bz_sync_lock(&store->mu);
    head = store->batches;
    if (head)
        store->batches = head->arg;
    bz_sync_unlock(&store->mu);
    return head;
}

static void give_batch(struct bz_scope_store *store, struct bz_scope_item *head)
{
    bz_sync_lock(&store->mu);
    head->arg = store->batches;
    store->batches = head;
    bz_sync_unlock(&store->mu);
}

static struct bz_scope_item *new_batch(struct bz_scope_store *store)
{
    struct bz_scope_chunk *chunk = bz_mem_padded(sizeof(*chunk));

    for (unsigned i = 0; i + 1 < BATCH; i++)
        chunk->item[i].next = &chunk->item[i + 1];
    bz_sync_lock(&store->mu);
    chunk->next = store->chunks;
    store->chunks = chunk;
    bz_sync_unlock(&store->mu);
    return &chunk->item[0];
}

static BZ_NOINLINE void find_spares(struct bz_scope_cache *c)
{
    c->spare = c->full;
    c->full = NULL;
    if (!c->spare)
        c->spare = take_batch(c->store);
    if (!c->spare)
        c->spare = new_batch(c->store);
    c->nspare = BATCH;
}

static struct bz_scope_item *item_new(struct bz_scope_cache *c)
{
    struct bz_scope_item *item;

    if (BZ_UNLIKELY(!c->spare))
        find_spares(c);
    item = c->spare;
    c->spare = item->next;
    c->nspare--;
    return item;
}

static void item_free(struct bz_scope_cache *c, struct bz_scope_item *item)
{
    item->next = c->spare;
    c->spare = item;
    if (BZ_LIKELY(++c->nspare < BATCH))
        return;
    if (c->full)
        give_batch(c->store, c->full);
    c->full = c->spare;
    c->spare = NULL;
    c->nspare = 0;
}

void bz_scope_refill(struct bz_scope_cache *c, struct bz_scope *s)
{
    /* relaxed: the caller has work of this scope in hand, so pending is above zero
     * and cannot get there while it looks. */
    atomic_fetch_add_explicit(&s->pending, CREDIT, memory_order_relaxed);
    c->credit = CREDIT;
}

void bz_scope_flush(struct bz_scope_cache *c)
{
    struct bz_scope *s = c->scope;
    int64_t n = c->credit;

    c->scope = NULL;
    c->credit = 0;
    /* acq_rel: what this worker did for the scope is visible to whoever ends it. */
    if (n > 0 && atomic_fetch_sub_explicit(&s->pending, n, memory_order_acq_rel) == n)
        bz_latch_set(&s->done);
}

static void run_item(struct bz_worker *w, struct bz_work *work)
{
    struct bz_scope_item *item = BZ_CONTAINER(work, struct bz_scope_item, work);
    struct bz_scope *s = item->scope;
    bz_work_body body = item->body;
    void *arg = item->arg;

    item_free(&w->cache, item);
    bz_scope_enter(&w->cache, s);
    if (!s->cancel || bz_cancel_check(s->cancel) == 0)
        body(w, arg);
    bz_scope_give(&w->cache, s);
}

void bz_scope_begin(struct bz_scope *s, struct bz_worker *w, struct bz_cancel *cancel)
{
    atomic_init(&s->pending, 1); /* for the owner itself, until bz_scope_end */
    bz_latch_init(&s->done, &w->lane->sleep, w->index);
    s->cancel = cancel;
}

void bz_scope_spawn(struct bz_scope *s, struct bz_worker *w, bz_work_body body,
                    void *arg)
{
    struct bz_scope_item *item = item_new(&w->cache);

    item->work.run = run_item;
    item->body = body;
    item->arg = arg;
    item->scope = s;
    bz_scope_take(&w->cache, s);
    bz_worker_push(w, &item->work);
}

void bz_scope_end(struct bz_scope *s, struct bz_worker *w)
{
    /* The owner's own share is one more credit. */
    bz_scope_give(&w->cache, s);
    bz_worker_wait(w, &s->done);
}

void bz_scope_store_release(struct bz_scope_store *store)
{
    while (store->chunks) {
        struct bz_scope_chunk *chunk = store->chunks;

        store->chunks = chunk->next;
        free(chunk);
    }
    store->batches = NULL;
}
