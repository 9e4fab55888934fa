#include "past_build.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "cmd_open.h"
#include "os/clock.h"
#include "os/fs_lock.h"
#include "sig/record_read.h"

#define SLACK_S 2 /* a file's time may be rounded */

void bz_past_build_close(struct bz_past_build *b)
{
    bz_account_release(&b->account);
    bz_build_close(&b->build);
    bz_arena_release(&b->arena);
}

int bz_past_build_open(struct bz_cmd_env *env, const char *which, const char *file,
                       struct bz_past_build *b, struct bz_err *err)
{
    struct bz_builds_found found = {0};
    int rc = bz_cmd_open_build(env, &b->build, BZ_BUILD_PROJECT, err);

    if (rc == 0)
        rc = bz_builds_find(&b->arena, b->build.catalog.build_dir, which, file, &found,
                            err);
    if (rc < 0)
        return rc;
    b->id = found.id;
    b->events = found.path.p;
    return bz_account_read_file(&b->account, b->events, err);
}

bool bz_past_build_runs(const char *events)
{
    return bz_fs_lock_held(AT_FDCWD, events);
}

const char *bz_past_build_result(const struct bz_account *a, const char *events)
{
    if (a->ended)
        return bz_account_result_name(bz_account_result(a));
    return bz_past_build_runs(events) ? "running" : "killed";
}

int64_t bz_past_build_until(const struct bz_account *a)
{
    return a->ended && a->wall > 0 ? a->wall + a->took / BZ_CLOCK_S + SLACK_S : 0;
}

bool bz_past_build_error(const struct bz_account *a, const struct bz_account_task *t,
                         struct bz_firsterror *out)
{
    int64_t until = bz_past_build_until(a);
    struct stat st;

    return t->state == BZ_ACCOUNT_FAILED && t->log.n > 0 && t->error.n == 0 &&
           t->timeout == 0 &&
           !bz_account_starved(t->signal, t->exit_code, t->oom_kills) &&
           stat(t->log.p, &st) == 0 && (until == 0 || st.st_mtim.tv_sec <= until) &&
           bz_firsterror_read(t->log.p, out);
}

/* What to compare with; *path is NULL if there is nothing. */
static int find_before(struct bz_past_build *b, struct bz_past_causes *c,
                       const char **path, struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct bz_builds_list list = {0};
    struct bz_builds_found found;
    int rc = bz_builds_list(&b->arena, b->build.catalog.build_dir, BZ_BUILDS_RECORD,
                            &list, err);

    *path = NULL;
    c->kind = BZ_PAST_NOTHING;
    for (size_t i = 0; i < list.len && bz_str_cmp(list.at[i].id, b->id) < 0; i++) {
        c->kind = BZ_PAST_BUILD;
        c->since = list.at[i].id;
        *path = list.at[i].path.p;
    }
    if (rc < 0 || *path)
        return rc;
    rc = bz_builds_find(&b->arena, b->build.catalog.build_dir, b->id.p,
                        BZ_BUILDS_BEFORE, &found, err);
    if (rc == 0) {
        c->kind = BZ_PAST_STORED;
        *path = found.path.p;
    }
    return rc == BZ_E_NOENT ? 0 : rc;
}

int bz_past_build_explain(struct bz_past_build *b, struct bz_past_causes *c,
                          struct bz_err *err)
{
    struct bz_builds_found found;
    const char *before;
    int rc = bz_builds_find(&b->arena, b->build.catalog.build_dir, b->id.p,
                            BZ_BUILDS_RECORD "|" BZ_BUILDS_PARTIAL, &found, err);

    if (rc == BZ_E_NOENT)
        return 0;
    if (rc == 0)
        rc = bz_record_read_file(&c->is, found.path.p, err);
    if (rc < 0)
        return rc;
    if (!bz_str_ends(found.path, BZ_STR("/" BZ_BUILDS_PARTIAL)))
        bz_account_add(&b->account, &c->is);
    rc = find_before(b, c, &before, err);
    if (rc == 0 && before)
        rc = bz_record_read_file(&c->was, before, err);
    return rc < 0 ? rc : bz_cause_find(&c->causes, &c->was, &c->is, err);
}

void bz_past_build_compared(const struct bz_past_causes *c, struct bz_buf *out)
{
    switch (c->kind) {
    case BZ_PAST_BUILD:
        bz_buf_addf(out, "Compared with the build %.*s", BZ_STR_ARG(c->since));
        break;
    case BZ_PAST_STORED:
        bz_buf_addf(out, "First build here: compared with what stored results were "
                         "made from");
        break;
    case BZ_PAST_NOTHING:
        bz_buf_addf(out, "First build here: %zu task%s new", c->causes.fresh.len,
                    c->causes.fresh.len == 1 ? " is" : "s are");
        break;
    case BZ_PAST_UNKNOWN:
        break;
    }
}

void bz_past_build_forget(struct bz_past_causes *c)
{
    bz_cause_release(&c->causes);
    bz_record_release(&c->was);
    bz_record_release(&c->is);
}
