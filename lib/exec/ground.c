#include "exec/ground.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "exec/job.h"
#include "exec/trial.h"
#include "os/clock.h"
#include "os/fs.h"
#include "os/fs_lock.h"
#include "os/fs_remove.h"
#include "sandbox/sandbox.h"

#define PATH_SIZE 64
#define PATIENCE (100 * BZ_CLOCK_MS) /* to be asked whether to go on waiting */

void bz_ground_usual(struct bz_ground *g)
{
    *g = (struct bz_ground){.root = BZ_JOB_ROOT, .tmp = "/tmp"};
}

void bz_ground_bare(struct bz_ground *g, const char *top)
{
    *g = (struct bz_ground){.bare = true};
    BZ_ASSERT(strlen(top) < sizeof(g->top));
    snprintf(g->top, sizeof(g->top), "%s", top);
    snprintf(g->root, sizeof(g->root), "%s/root", g->top);
    snprintf(g->tmp, sizeof(g->tmp), "%s/tmp", g->top);
}

void bz_ground_here(struct bz_ground *g)
{
    char top[sizeof(g->top)];

    snprintf(top, sizeof(top), "/tmp/bitzel-%u", (unsigned)geteuid());
    bz_ground_bare(g, top);
}

void bz_ground_find(struct bz_ground *g, const char *store)
{
    struct bz_err why, ignored;
    int rc = bz_sandbox_probe(&why);

    bz_ground_usual(g);
    if (rc == 0 && store) {
        rc = bz_trial_recall(store, &why);
        g->tried = rc == 0;
    }
    if (rc != BZ_E_NOSUP || bz_sandbox_probe_bare(&ignored) < 0)
        return;
    bz_ground_here(g);
    g->why = why;
}

/* /tmp is everybody's: what is there may not be ours. */
static int make_top(const struct bz_ground *g, struct bz_err *err)
{
    struct stat st;

    if (mkdir(g->top, S_IRWXU) < 0 && errno != EEXIST)
        return bz_fail_sys(err, "make %s", g->top);
    if (lstat(g->top, &st) < 0)
        return bz_fail_sys(err, "look at %s", g->top);
    if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid())
        return bz_fail(err, BZ_E_INVAL,
                       "%s is not a directory of this user: remove it, builds without "
                       "namespaces work there",
                       g->top);
    if ((st.st_mode & 07777) != S_IRWXU && chmod(g->top, S_IRWXU) < 0)
        return bz_fail_sys(err, "change %s", g->top);
    return 0;
}

int bz_ground_open(const struct bz_ground *g, struct bz_cancel *cancel, int *lock,
                   struct bz_err *err)
{
    char path[PATH_SIZE];
    int rc = make_top(g, err);

    if (rc < 0)
        return rc;
    snprintf(path, sizeof(path), "%s/lock", g->top);
    rc = bz_fs_lock(AT_FDCWD, path, BZ_FS_LOCK_EXCLUSIVE, bz_clock_in(0), lock, err);
    if (rc != BZ_E_BUSY)
        return rc;
    bz_log_warn("exec", "waiting for another build that works in %s", g->top);
    while (rc == BZ_E_BUSY && bz_cancel_check(cancel) == 0)
        rc = bz_fs_lock(AT_FDCWD, path, BZ_FS_LOCK_EXCLUSIVE, bz_clock_in(PATIENCE),
                        lock, err);
    return rc == BZ_E_BUSY ? bz_fail(err, BZ_E_CANCELED, "interrupted") : rc;
}

void bz_ground_clear(const struct bz_ground *g)
{
    char task[PATH_SIZE];
    struct bz_err err;

    snprintf(task, sizeof(task), "%s/task", g->top);
    if (bz_fs_remove(AT_FDCWD, g->root, &err) < 0 ||
        bz_fs_remove(AT_FDCWD, g->tmp, &err) < 0 ||
        bz_fs_remove(AT_FDCWD, task, &err) < 0)
        bz_log_warn("exec", "%s", err.msg);
}
