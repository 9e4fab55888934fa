#include "exec/lookup.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/mem.h"
#include "exec/workplace.h"
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
    struct bz_exec *x;
    struct bz_lookup **at;
    size_t n;
    atomic_size_t next;    /* to be asked for */
    atomic_uint asking;    /* hands that do */
    atomic_uint unsettled; /* hands that the pool still has */
    int done;              /* an eventfd: none any more */
};

static bool fetch(struct bz_exec *x, struct bz_digest_hasher *h,
                  const struct bz_lookup *l)
{
    struct bz_err ignored;

    return x->o->dry || bz_cache_fetch(x->o->cache, h, &l->key, &l->result, &x->cancel,
                                       &ignored) == 0;
}

/* Whoever is the last to ask fetches. */
static void ask(struct bz_worker *w, void *arg)
{
    struct bz_lookup_hand *hand = arg;
    struct asking *a = hand->of;
    struct bz_exec *x = a->x;
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *h = NULL;
    struct bz_err ignored;
    size_t i;

    (void)w;
    if (bz_digest_hasher_new(&h, &ignored) < 0)
        h = NULL;
    /* relaxed: the number alone is shared */
    while (h && bz_cancel_check(&x->cancel) == 0 &&
           (i = atomic_fetch_add_explicit(&a->next, 1, memory_order_relaxed)) < a->n)
        a->at[i]->found = bz_cache_seek(x->o->cache, h, &a->at[i]->key, &x->cancel,
                                        &hand->arena, &a->at[i]->result, &ignored) == 0;
    /* Pairs with itself: the last one sees what the others have found. */
    if (atomic_fetch_sub_explicit(&a->asking, 1, memory_order_acq_rel) > 1)
        return;
    for (i = 0; i < a->n; i++)
        a->at[i]->found = a->at[i]->found && h && fetch(x, h, a->at[i]);
}

static void settle(struct bz_pool_item *item, int status)
{
    struct bz_lookup_hand *hand = item->arg;
    struct asking *a = hand->of;
    const uint64_t one = 1;
    int done = a->done;

    (void)status;
    /* release: pairs with wait_for. After this *a is the caller's again. */
    if (atomic_fetch_sub_explicit(&a->unsettled, 1, memory_order_acq_rel) == 1)
        (void)!write(done, &one, sizeof(one));
}

/* How long nobody needs to be told that time passes. */
static int pause_of(const struct bz_exec *x)
{
    int64_t left = x->tick - bz_clock_now();

    if (x->o->tick == 0)
        return -1;
    return left > 0 ? (int)(left / BZ_CLOCK_MS) + 1 : 0;
}

/* Until all is done. The user may have enough of it before. */
static void wait_for(struct asking *a)
{
    struct bz_exec *x = a->x;
    struct pollfd fds[2] = {
        {.fd = a->done,            .events = POLLIN},
        {.fd = x->o->interrupt_fd, .events = POLLIN}
    };
    uint64_t one;

    while (!(fds[0].revents & POLLIN)) {
        if (poll(fds, 2, pause_of(x)) < 0 && errno != EINTR)
            bz_cancel_now(&x->cancel); /* never seen; the hands come back soon */
        if (fds[1].revents & POLLIN)
            bz_workplace_interrupt(x);
        bz_exec_tell_time(x);
    }
    /* The last one has written; acquire: what all of them have done is seen. */
    (void)!read(a->done, &one, sizeof(one));
    BZ_ASSERT(atomic_load_explicit(&a->unsettled, memory_order_acquire) == 0);
}

static void ask_tiers(struct bz_exec *x, struct bz_lookup **at, size_t n)
{
    unsigned hands = n < HANDS ? (unsigned)n : HANDS;
    struct asking a = {.x = x, .at = at, .n = n, .done = eventfd(0, EFD_CLOEXEC)};

    if (a.done < 0)
        return; /* they are missed */
    atomic_init(&a.asking, hands);
    atomic_init(&a.unsettled, hands);
    for (unsigned i = 0; i < hands; i++) {
        struct bz_lookup_hand *hand = bz_mem_zalloc(sizeof(*hand));

        hand->of = &a;
        hand->item = (struct bz_pool_item){.body = ask, .arg = hand, .finish = settle};
        hand->next = x->hands;
        x->hands = hand;
        bz_pool_submit(x->o->pool, NULL, BZ_LANE_IO, &hand->item);
    }
    wait_for(&a);
    bz_fs_closep(&a.done);
}

void bz_lookup_all(struct bz_exec *x, struct bz_lookup *at, size_t n)
{
    BZ_CLEANUP(bz_mem_freep)
    struct bz_lookup **far = bz_mem_array(n, sizeof(struct bz_lookup *));
    bool tiers = bz_cache_tiers(x->o->cache) != NULL;
    size_t nfar = 0;

    for (size_t i = 0; i < n; i++) {
        struct bz_lookup *l = &at[i];
        struct bz_err ignored;

        l->found = false;
        if (tiers && !bz_action_has(bz_cache_cas(x->o->cache), &l->key))
            far[nfar++] = l;
        else
            l->found = bz_cache_get(x->o->cache, x->hasher, &l->key, &x->arena,
                                    &l->result, &ignored) == 0 &&
                       fetch(x, x->hasher, l);
    }
    if (nfar > 0 && !x->interrupted)
        ask_tiers(x, far, nfar);
}

void bz_lookup_release(struct bz_exec *x)
{
    while (x->hands) {
        struct bz_lookup_hand *hand = x->hands;

        x->hands = hand->next;
        bz_arena_release(&hand->arena);
        free(hand);
    }
}
