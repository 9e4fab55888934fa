#include "exec/queue.h"

#include "base/err.h"

static bool is_before(const struct bz_queue_item *a, const struct bz_queue_item *b)
{
    if (a->free != b->free)
        return a->free;
    if (a->wave != b->wave)
        return a->wave < b->wave;
    if (a->ahead != b->ahead)
        return a->ahead > b->ahead;
    return a->rank < b->rank;
}

void bz_queue_push(struct bz_queue *q, const struct bz_queue_item *item)
{
    const struct bz_queue_item it = *item;
    size_t at = q->len;

    BZ_VEC_PUSH(q, it);
    for (; at > 0 && is_before(&it, &q->at[(at - 1) / 2]); at = (at - 1) / 2)
        q->at[at] = q->at[(at - 1) / 2];
    q->at[at] = it;
}

const struct bz_queue_item *bz_queue_peek(const struct bz_queue *q)
{
    BZ_ASSERT(q->len > 0);
    return &q->at[0];
}

void bz_queue_pop(struct bz_queue *q)
{
    const struct bz_queue_item last = BZ_VEC_POP(q);
    size_t at = 0;

    for (size_t next = 1; next < q->len; next = 2 * at + 1) {
        if (next + 1 < q->len && is_before(&q->at[next + 1], &q->at[next]))
            next++;
        if (!is_before(&q->at[next], &last))
            break;
        q->at[at] = q->at[next];
        at = next;
    }
    if (q->len > 0)
        q->at[at] = last;
}
