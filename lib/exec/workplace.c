#include "exec/workplace.h"

#include <errno.h>

#include "base/log.h"
#include "cache/expanded.h"
#include "exec/running.h"
#include "exec/trial.h"
#include "os/alive.h"
#include "os/fs.h"
#include "os/fs_list.h"
#include "os/fs_remove.h"

void bz_workplace_interrupt(struct bz_exec *x)
{
    x->o->interrupt(x->o->interrupt_ctx);
    x->killed = x->interrupted;
    x->stop = x->interrupted = true;
    bz_cancel_now(&x->cancel);
    if (x->pump)
        bz_proc_pump_stop_all(x->pump);
}

static void interrupted(void *ctx)
{
    bz_workplace_interrupt(ctx);
}

/* What waits for it is started when the pump returns. */
static void token_there(void *ctx)
{
    struct bz_exec *x = ctx;

    bz_jobserver_rest(&x->shop.jobserver);
}

/* Removes what builds that were killed have left. */
static void sweep(const char *all, const struct bz_alive *self)
{
    BZ_CLEANUP(bz_fs_list_release) struct bz_fs_list names = {0};
    struct bz_err ignored;

    if (bz_fs_list_dir(AT_FDCWD, all, &names, &ignored) < 0)
        return;
    for (size_t i = 0; i < names.n; i++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf path = {0};

        if (bz_alive_check(self, bz_str_from(names.names[i])) != BZ_ALIVE_GONE)
            continue;
        bz_buf_addf(&path, "%s/%s", all, names.names[i]);
        if (bz_fs_remove(AT_FDCWD, bz_buf_text(&path), &ignored) < 0)
            bz_log_warn("exec", "%s", ignored.msg);
    }
}

/* What tasks wrote is nothing for other users of the machine. */
static int close_off(struct bz_exec *x, struct bz_err *err)
{
    const char *work = bz_arena_printf(&x->arena, "%s/work", x->o->store).p;
    const char *failed = bz_arena_printf(&x->arena, "%s/failed", x->o->store).p;
    int rc;

    if (bz_cache_cas(x->o->cache)->root.readonly)
        return 0; /* who needs them says what is wrong */
    rc = bz_expanded_close_off(work, err);
    if (rc == 0 && bz_fs_exists(AT_FDCWD, failed))
        rc = bz_expanded_close_off(failed, err);
    return rc;
}

int bz_workplace_trees(struct bz_exec *x, struct bz_err *err)
{
    const char *all = bz_arena_printf(&x->arena, "%s/work", x->o->store).p;
    struct bz_alive self;
    int rc;

    if (x->shop.trees)
        return 0;
    rc = close_off(x, err);
    if (rc < 0)
        return rc;
    bz_alive_self(&self);
    sweep(all, &self);
    return bz_trees_open(x->o->cache, x->o->pool, x->o->store, &x->shop.trees, err);
}

/* What keeps tasks to themselves. */
static int open_sandbox(struct bz_exec *x, const char *anchor, struct bz_err *err)
{
    const struct bz_ground *g = &x->shop.ground;
    int rc;

    if (!g->bare) {
        rc = g->tried ? 0 : bz_trial_recall(x->o->store, err);
        return rc < 0 ? rc : bz_sandbox_open(anchor, &x->shop.sandbox, err);
    }
    rc = bz_sandbox_open_bare(&x->shop.sandbox, err);
    if (rc < 0)
        return rc;
    bz_log_warn(
        "exec",
        "%s. Tasks run one at a time in %s, kept in by Landlock, with copies of "
        "what they need; --sandbox=required makes this an error",
        g->why.msg, g->root);
    return bz_ground_open(g, &x->cancel, &x->lock, err);
}

int bz_workplace_open(struct bz_exec *x, struct bz_err *err)
{
    const char *all = bz_arena_printf(&x->arena, "%s/work", x->o->store).p;
    struct bz_alive self;
    const char *scratch, *anchor;
    int rc;

    bz_alive_self(&self);
    scratch = bz_arena_printf(&x->arena, "%s/%s", all, self.name).p;
    anchor = bz_arena_printf(&x->arena, "%s/root", scratch).p;
    rc = close_off(x, err);
    if (rc == 0)
        rc = bz_fs_remove(AT_FDCWD, scratch, err);
    if (rc == 0)
        rc = bz_fs_mkdirs(AT_FDCWD, anchor, 0755, err);
    x->failures =
        bz_fs_exists(AT_FDCWD, bz_arena_printf(&x->arena, "%s/failed", x->o->store).p);
    x->shop.cache = x->o->cache;
    x->shop.pool = x->o->pool;
    x->shop.desks.scratch = scratch;
    if (rc == 0)
        rc = bz_workplace_trees(x, err);
    if (rc == 0)
        rc = open_sandbox(x, anchor, err);
    if (rc == 0)
        rc = bz_jobserver_open(&x->shop.jobserver,
                               bz_arena_printf(&x->arena, "%s/jobserver", scratch).p,
                               x->o->jobs, err);
    if (rc == 0)
        rc = bz_proc_pump_open(&x->pump, err);
    if (rc == 0)
        rc = bz_proc_pump_watch(x->pump, x->shop.jobserver.gate, token_there, x, err);
    if (rc == 0 && x->o->interrupt_fd >= 0)
        rc = bz_proc_pump_watch(x->pump, x->o->interrupt_fd, interrupted, x, err);
    return rc;
}

void bz_workplace_close(struct bz_exec *x)
{
    struct bz_err ignored;

    if (x->pump)
        bz_proc_pump_close(x->pump);
    bz_running_drop(x);
    bz_jobserver_close(&x->shop.jobserver);
    bz_sandbox_close(x->shop.sandbox);
    if (x->shop.ground.bare && x->lock >= 0) {
        bz_ground_clear(&x->shop.ground);
        bz_fs_closep(&x->lock);
    }
    bz_trees_close(x->shop.trees);
    if (x->shop.desks.scratch &&
        bz_fs_remove(AT_FDCWD, x->shop.desks.scratch, &ignored) < 0)
        errno = 0; /* a later build sweeps it */
    bz_desk_list_release(&x->shop.desks);
}
