#include "plan/lookup.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/clock.h"
#include "os/fs.h"

#define HANDS 8 /* at once; the io lane has other things to do as well */

struct bz_lookup_hand {
    struct bz_lookup_hand *next; /* of all that were, for what they have found */
    struct bz_arena arena;
    struct bz_pool_item item;
    struct asking *of;
};

struct asking {
    struct bz_lookup *l;
    struct bz_plan_ask **at;
    size_t n;
    atomic_size_t next;    /* to be asked for */
    atomic_uint asking;    /* hands that do */
    atomic_uint unsettled; /* hands that the pool still has */
    int done;              /* an eventfd: none any more */
};

static bool is_canceled(const struct bz_lookup *l)
{
    return l->cancel && bz_cancel_check(l->cancel) < 0;
}

static bool fetch(const struct bz_lookup *l, struct bz_digest_hasher *h,
                  const struct bz_plan_ask *a)
{
    struct bz_err ignored;

    return !l->fetch ||
           bz_cache_fetch(l->cache, h, &a->key, &a->result, l->cancel, &ignored) == 0;
}

/* The last one to ask fetches. */
static void ask(struct bz_worker *w, void *arg)
{
    struct bz_lookup_hand *hand = arg;
    struct asking *a = hand->of;
    const struct bz_lookup *l = a->l;
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *h = NULL;
    struct bz_err ignored;
    size_t i;

    (void)w;
    if (bz_digest_hasher_new(&h, &ignored) < 0)
        h = NULL;
    /* relaxed: the number alone is shared */
    while (h && !is_canceled(l) &&
           (i = atomic_fetch_add_explicit(&a->next, 1, memory_order_relaxed)) < a->n)
        a->at[i]->found = bz_cache_seek(l->cache, h, &a->at[i]->key, l->cancel,
                                        &hand->arena, &a->at[i]->result, &ignored) == 0;
    /* Pairs with itself: the last one sees what the others have found. */
    if (atomic_fetch_sub_explicit(&a->asking, 1, memory_order_acq_rel) > 1)
        return;
    for (i = 0; i < a->n; i++)
        a->at[i]->found = a->at[i]->found && h && fetch(l, h, a->at[i]);
}

static void settle(struct bz_pool_item *item, int status)
{
    struct bz_lookup_hand *hand = item->arg;
    struct asking *a = hand->of;
    const uint64_t one = 1;
    int done = a->done;

    (void)status;
    /* release: pairs with ask_remote. After this *a is the caller's again. */
    if (atomic_fetch_sub_explicit(&a->unsettled, 1, memory_order_acq_rel) == 1)
        (void)!write(done, &one, sizeof(one));
}

static void wait_for(void *ctx, int fd)
{
    struct pollfd fds = {.fd = fd, .events = POLLIN};

    (void)ctx;
    while (poll(&fds, 1, -1) < 0 && errno == EINTR)
        continue;
}

static void ask_remote(struct bz_lookup *l, struct bz_plan_ask **at, size_t n)
{
    unsigned hands = n < HANDS ? (unsigned)n : HANDS;
    struct asking a = {.l = l, .at = at, .n = n, .done = eventfd(0, EFD_CLOEXEC)};
    uint64_t one;

    if (a.done < 0)
        return; /* they are missed */
    atomic_init(&a.asking, hands);
    atomic_init(&a.unsettled, hands);
    for (unsigned i = 0; i < hands; i++) {
        struct bz_lookup_hand *hand = bz_mem_zalloc(sizeof(*hand));

        hand->of = &a;
        hand->item = (struct bz_pool_item){.body = ask, .arg = hand, .finish = settle};
        hand->next = l->hands;
        l->hands = hand;
        bz_pool_submit(l->pool, NULL, BZ_LANE_IO, &hand->item);
    }
    (l->wait ? l->wait : wait_for)(l->wait_ctx, a.done);
    /* The last one has written; acquire: what all of them have done is seen. */
    (void)!read(a.done, &one, sizeof(one));
    BZ_ASSERT(atomic_load_explicit(&a.unsettled, memory_order_acquire) == 0);
    bz_fs_closep(&a.done);
}

void bz_lookup_ask(void *ctx, struct bz_plan_ask *at, size_t n)
{
    struct bz_lookup *l = ctx;
    BZ_CLEANUP(bz_mem_freep)
    struct bz_plan_ask **far = bz_mem_array(n, sizeof(struct bz_plan_ask *));
    bool remote = bz_cache_tiers(l->cache) != NULL;
    size_t nfar = 0;

    for (size_t i = 0; i < n; i++) {
        struct bz_plan_ask *a = &at[i];
        struct bz_err ignored;

        a->found = false;
        if ((remote || a->near) && !bz_cache_has(l->cache, &a->key)) {
            if (!a->near)
                far[nfar++] = a;
        } else
            a->found = bz_cache_get(l->cache, l->hasher, &a->key, &l->arena, &a->result,
                                    &ignored) == 0 &&
                       fetch(l, l->hasher, a);
    }
    if (nfar > 0 && !is_canceled(l))
        ask_remote(l, far, nfar);
}

struct bz_plan_store bz_lookup_store(struct bz_lookup *l)
{
    return (struct bz_plan_store){.ask = bz_lookup_ask,
                                  .ctx = l,
                                  .empty = bz_cache_is_empty(l->cache),
                                  .cancel = l->cancel};
}

int bz_lookup_open(struct bz_lookup *l, struct bz_err *err)
{
    return bz_digest_hasher_new(&l->hasher, err);
}

void bz_lookup_release(struct bz_lookup *l)
{
    while (l->hands) {
        struct bz_lookup_hand *hand = l->hands;

        l->hands = hand->next;
        bz_arena_release(&hand->arena);
        free(hand);
    }
    bz_digest_hasher_free(l->hasher);
    bz_arena_release(&l->arena);
}
