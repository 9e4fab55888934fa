#include "jobs/share.h"

#include "jobs/task.h"

static void put_back(struct bz_share_queue *q, struct bz_task *t)
{
    t->next = NULL;
    if (q->first)
        q->last->next = t;
    else
        q->first = t;
    q->last = t;
}

bool bz_share_enter(struct bz_share *s, unsigned limit, struct bz_task *t)
{
    bool full;

    bz_sync_lock(&s->mutex);
    full = s->in >= (limit > 0 ? limit : 1);
    if (full)
        put_back(&s->held[t->request.priority], t);
    else
        s->in++;
    bz_sync_unlock(&s->mutex);
    return !full;
}

struct bz_task *bz_share_leave(struct bz_share *s)
{
    struct bz_task *t = NULL;

    bz_sync_lock(&s->mutex);
    for (size_t i = 0; i < BZ_REQUEST_PRIORITIES && !t; i++) {
        t = s->held[i].first;
        if (t)
            s->held[i].first = t->next;
    }
    if (!t)
        s->in--;
    bz_sync_unlock(&s->mutex);
    return t;
}
