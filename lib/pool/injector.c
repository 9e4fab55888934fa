#include "pool/injector.h"

bool bz_injector_push(struct bz_injector *q, struct bz_work *work)
{
    struct bz_work *head = atomic_load_explicit(&q->head, memory_order_relaxed);

    do {
        work->next = head;
        /* seq_cst: the item is in before the poster looks at the counters (P1); its
         * release part pairs with the acquire in bz_injector_take. */
    } while (!atomic_compare_exchange_weak_explicit(
        &q->head, &head, work, memory_order_seq_cst, memory_order_relaxed));
    return head == NULL;
}

struct bz_work *bz_injector_take(struct bz_injector *q)
{
    struct bz_work *newest, *oldest = NULL;

    if (bz_injector_empty(q)) /* keeps the line shared while there is nothing */
        return NULL;
    newest = atomic_exchange_explicit(&q->head, NULL, memory_order_acq_rel);
    while (newest) {
        struct bz_work *next = newest->next;

        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    return oldest;
}
