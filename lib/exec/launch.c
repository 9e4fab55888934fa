#include "exec/launch.h"

static void launch(struct bz_worker *w, void *arg)
{
    struct bz_launch *l = arg;

    (void)w;
    l->rc = bz_step_launch(&l->x->shop, l->step, &l->err);
}

/* Hands it back to the thread that has the build. */
static void end(struct bz_pool_item *item, int status)
{
    struct bz_launch *l = item->arg;
    struct bz_exec *x = l->x;

    if (status < 0)
        l->rc = bz_fail(&l->err, status, "interrupted");
    bz_sync_lock(&x->mutex);
    l->next = x->launched;
    x->launched = l;
    /* While the lock is held nobody can take it and close the pump. */
    bz_proc_pump_wake(x->pump);
    bz_sync_unlock(&x->mutex);
}

void bz_launch_start(struct bz_launch *l)
{
    l->item = (struct bz_pool_item){
        .body = launch, .arg = l, .cancel = &l->x->cancel, .finish = end};
    l->x->launching++;
    bz_pool_submit(l->x->o->pool, NULL, BZ_LANE_COMPUTE, &l->item);
}

void bz_launch_take(struct bz_exec *x, void (*fn)(struct bz_launch *l))
{
    struct bz_launch *all, *next;

    bz_sync_lock(&x->mutex);
    all = x->launched;
    x->launched = NULL;
    bz_sync_unlock(&x->mutex);
    for (; all; all = next) {
        next = all->next;
        x->launching--;
        fn(all);
    }
}
