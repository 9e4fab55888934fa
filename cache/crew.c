#include "cache/crew.h"

void bz_crew_init(struct bz_crew *c, struct bz_cancel *cancel)
{
    *c = (struct bz_crew){.cancel = cancel};
}

void bz_crew_release(struct bz_crew *c)
{
    for (size_t i = 0; i < c->idle.len; i++)
        bz_digest_hasher_free(c->idle.at[i].h);
    bz_vec_release(&c->idle);
}

void bz_crew_run(const struct bz_crew_threads *threads, bz_work_body body, void *arg)
{
    if (threads->worker)
        body(threads->worker, arg);
    else
        bz_pool_call(threads->pool, body, arg);
}

struct bz_digest_hasher *bz_crew_take(struct bz_crew *c)
{
    struct bz_digest_hasher *h = NULL;
    struct bz_err err;

    bz_sync_lock(&c->mu);
    if (c->idle.len > 0)
        h = BZ_VEC_POP(&c->idle).h;
    bz_sync_unlock(&c->mu);
    if (!h && bz_digest_hasher_new(&h, &err) < 0) {
        bz_crew_fail(c, &err);
        return NULL;
    }
    return h;
}

void bz_crew_give(struct bz_crew *c, struct bz_digest_hasher *h)
{
    bz_sync_lock(&c->mu);
    BZ_VEC_PUSH(&c->idle, (struct bz_crew_idle){h});
    bz_sync_unlock(&c->mu);
}

void bz_crew_fail(struct bz_crew *c, const struct bz_err *err)
{
    bz_sync_lock(&c->mu);
    if (!atomic_load_explicit(&c->failed, memory_order_relaxed)) {
        c->err = *err;
        /* relaxed: whoever reads the error does so under mu or after the end */
        atomic_store_explicit(&c->failed, true, memory_order_relaxed);
    }
    bz_sync_unlock(&c->mu);
}

bool bz_crew_stopped(struct bz_crew *c)
{
    struct bz_err err;
    int rc;

    if (atomic_load_explicit(&c->failed, memory_order_relaxed))
        return true;
    rc = bz_cancel_check(c->cancel);
    if (rc == 0)
        return false;
    bz_fail(&err, rc, "stopped");
    bz_crew_fail(c, &err);
    return true;
}

int bz_crew_result(struct bz_crew *c, struct bz_err *err)
{
    int rc = 0;

    bz_sync_lock(&c->mu);
    if (atomic_load_explicit(&c->failed, memory_order_relaxed)) {
        *err = c->err;
        rc = err->code;
    }
    bz_sync_unlock(&c->mu);
    return rc;
}
