#include "sandbox/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/fs.h"
#include "sandbox/spawn.h"

struct making {
    const struct bz_mount_plan *plan;
    int user;
    int mnt, host; /* out */
    struct bz_mount_failure failure;
};

BZ_SPAWN_CHILD static int fail(struct making *m, const char *step)
{
    m->failure = (struct bz_mount_failure){step, NULL, errno};
    return 1;
}

/* A copy of the mounts that are seen, of which those of others do not hear. */
BZ_SPAWN_CHILD static bool make_namespace(struct making *m, int *out)
{
    if (syscall(SYS_unshare, CLONE_NEWNS) < 0 ||
        syscall(SYS_mount, NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return !fail(m, "make a mount namespace");
    *out =
        (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
    return *out >= 0 || !fail(m, "open a mount namespace");
}

/* Shares our descriptors: what it opens is ours. */
BZ_SPAWN_CHILD static int make(void *ctx)
{
    struct making *m = ctx;

    if (syscall(SYS_setns, m->user, CLONE_NEWUSER) < 0)
        return fail(m, "enter a user namespace");
    if (!make_namespace(m, &m->host) || !make_namespace(m, &m->mnt))
        return 1;
    return !bz_mount_base(m->plan, &m->failure);
}

static bool same_entry(const struct bz_spec_entry *a, const struct bz_spec_entry *b,
                       bool fixed)
{
    return a->kind == b->kind && strcmp(a->target, b->target) == 0 &&
           (!fixed || bz_str_eq(a->source, b->source));
}

uint64_t bz_stage_shape(const struct bz_mount_plan *plan)
{
    const struct bz_spec_entries *all = &plan->spec->entries;
    uint64_t shape = all->len;

    for (size_t i = 0; i < all->len; i++) {
        shape =
            (shape ^ bz_str_hash(bz_str_from(all->at[i].target))) * 0x9e3779b97f4a7c15;
        if (plan->fixed[i])
            shape = (shape ^ bz_str_hash(all->at[i].source)) * 0x9e3779b97f4a7c15;
    }
    return shape;
}

bool bz_stage_fits(const struct bz_stage *s, const struct bz_mount_plan *plan)
{
    const struct bz_spec_entries *all = &plan->spec->entries;

    if (s->mnt < 0 || s->entries.len != all->len)
        return false;
    for (size_t i = 0; i < all->len; i++)
        if (!same_entry(&s->entries.at[i], &all->at[i], plan->fixed[i]))
            return false;
    return true;
}

int bz_stage_make(struct bz_stage *s, const struct bz_mount_plan *plan, int user,
                  void *stack, struct bz_err *err)
{
    struct making m = {.plan = plan, .user = user, .mnt = -1, .host = -1};
    int status = 0;
    pid_t pid;
    int rc;

    bz_stage_release(s);
    rc = bz_spawn_start(stack, CLONE_FILES, make, &m, &pid, err);
    if (rc < 0)
        return rc;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    s->mnt = m.mnt;
    s->host = m.host;
    if (status != 0) {
        bz_stage_release(s);
        errno = m.failure.sys;
        return bz_fail_sys(err, "sandbox: %s %s",
                           m.failure.step ? m.failure.step : "killed",
                           m.failure.what ? m.failure.what : "");
    }
    for (size_t i = 0; i < plan->spec->entries.len; i++) {
        struct bz_spec_entry e = plan->spec->entries.at[i];

        e.target = bz_arena_dup(&s->arena, bz_str_from(e.target)).p;
        e.source = plan->fixed[i] ? bz_arena_dup(&s->arena, e.source) : BZ_STR("");
        BZ_VEC_PUSH(&s->entries, e);
    }
    return 0;
}

void bz_stage_release(struct bz_stage *s)
{
    bz_fs_closep(&s->mnt);
    bz_fs_closep(&s->host);
    bz_vec_release(&s->entries);
    bz_arena_release(&s->arena);
    *s = (struct bz_stage){.mnt = -1, .host = -1};
}
