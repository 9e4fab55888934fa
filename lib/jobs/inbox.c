#include "jobs/inbox.h"

#include <sched.h>

#include "base/mem.h"
#include "os/clock.h"

#define LOOK (20 * BZ_CLOCK_S / 1000000)

struct bz_inbox_queue {
    struct bz_result *first, **last;
};

static struct bz_inbox_shard *shard_of(struct bz_inbox *b, uint64_t id)
{
    return &b->shards[id % BZ_INBOX_SHARDS];
}

struct bz_inbox *bz_inbox_new(void)
{
    return bz_mem_padded(sizeof(struct bz_inbox));
}

void bz_inbox_free(struct bz_inbox *b)
{
    for (size_t i = 0; b && i < BZ_INBOX_SHARDS; i++) {
        struct bz_map *queues = &b->shards[i].queues;
        struct bz_map_entry *e;

        for (e = bz_map_next(queues, NULL); e; e = bz_map_next(queues, e)) {
            struct bz_inbox_queue *q = e->p;

            while (q->first) {
                struct bz_result *next = q->first->next;

                free(q->first);
                q->first = next;
            }
            free(q);
        }
        bz_map_release(queues);
    }
    free(b);
}

void bz_inbox_put(void *inbox, struct bz_result *result)
{
    struct bz_inbox *b = inbox;
    struct bz_inbox_shard *s = shard_of(b, result->id);
    struct bz_map_entry *e;
    struct bz_inbox_queue *q;

    bz_sync_lock(&s->mutex);
    e = bz_map_put_u64(&s->queues, result->id);
    if (!e->p) {
        e->p = q = bz_mem_zalloc(sizeof(*q));
        q->last = &q->first;
    }
    q = e->p;
    *q->last = result;
    q->last = &result->next;
    atomic_fetch_add_explicit(&s->puts, 1, memory_order_relaxed);
    bz_sync_broadcast(&s->came);
    bz_sync_unlock(&s->mutex);
}

static struct bz_result *take(struct bz_inbox_shard *s, uint64_t id)
    BZ_REQUIRES(s->mutex)
{
    struct bz_map_entry *e = bz_map_get_u64(&s->queues, id);
    struct bz_inbox_queue *q = e ? e->p : NULL;
    struct bz_result *r = q ? q->first : NULL;

    if (!r)
        return NULL;
    q->first = r->next;
    r->next = NULL;
    if (!q->first) {
        /* The next part makes a new one. */
        free(q);
        bz_map_remove_u64(&s->queues, id);
    }
    return r;
}

struct bz_result *bz_inbox_poll(struct bz_inbox *b, uint64_t id)
{
    struct bz_inbox_shard *s = shard_of(b, id);
    struct bz_result *r;

    bz_sync_lock(&s->mutex);
    r = take(s, id);
    bz_sync_unlock(&s->mutex);
    if (r)
        bz_client_taken(b->client, r);
    return r;
}

/* What takes a few microseconds is not worth being woken for. */
static void look_a_while(struct bz_inbox_shard *s, int64_t deadline)
{
    unsigned seen = atomic_load_explicit(&s->puts, memory_order_relaxed);
    int64_t now = bz_clock_now(), end = now + LOOK;

    if (deadline != BZ_CLOCK_NEVER && deadline < end)
        end = deadline;
    while (now < end && atomic_load_explicit(&s->puts, memory_order_relaxed) == seen) {
        sched_yield();
        now = bz_clock_now();
    }
}

struct bz_result *bz_inbox_wait(struct bz_inbox *b, uint64_t id, int64_t deadline)
{
    struct bz_inbox_shard *s = shard_of(b, id);
    struct bz_result *r = bz_inbox_poll(b, id);

    if (r)
        return r;
    look_a_while(s, deadline);
    bz_sync_lock(&s->mutex);
    r = take(s, id);
    while (!r && bz_sync_wait(&s->came, &s->mutex, deadline))
        r = take(s, id);
    if (!r)
        r = take(s, id);
    bz_sync_unlock(&s->mutex);
    if (r)
        bz_client_taken(b->client, r);
    return r;
}
