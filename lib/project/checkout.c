#include "project/checkout.h"

#include <stdlib.h>

#include "os/fs.h"
#include "os/proc_run.h"
#include "project/repo.h"

#define PATIENCE (60 * BZ_CLOCK_S)

/* The branch on which kas commits a project's patches has this before the commit they
 * apply to. */
#define PATCHED BZ_STR("patched-")

/* One line of `git status --porcelain=v2 --branch`. */
static void take_line(struct bz_arena *arena, struct bz_str line,
                      struct bz_checkout *out)
{
    if (bz_str_cut_prefix(&line, BZ_STR("# branch.oid "))) {
        if (bz_repo_is_hash(line))
            out->commit = bz_arena_dup(arena, line);
    } else if (bz_str_cut_prefix(&line, BZ_STR("# branch.head "))) {
        if (!bz_str_eq(line, BZ_STR("(detached)")))
            out->branch = bz_arena_dup(arena, line);
    } else if (line.n > 0 && line.p[0] != '#') {
        out->changed = true;
    }
}

static void take_answer(struct bz_arena *arena, const struct bz_capture *said,
                        struct bz_checkout *out)
{
    struct bz_str rest, line;
    size_t n;
    char *text = bz_capture_text(said, &n);

    rest = bz_str_of(text, n);
    while (bz_str_next_part(&rest, '\n', &line))
        take_line(arena, line, out);
    free(text);
}

static int fail_git(const struct bz_repo *repo, const struct bz_proc_result *result,
                    struct bz_err *err)
{
    struct bz_str first, rest;
    size_t n;
    char *text;
    int rc;

    if (result->why == BZ_PROC_PUMP_TIMEOUT)
        return bz_fail(err, BZ_E_TIMEOUT, "git does not answer in %s", repo->path);
    text = bz_capture_text(&result->err, &n);
    bz_str_cut(bz_str_of(text, n), '\n', &first, &rest);
    rc = bz_fail(err, BZ_E_IO, "git status in %s: %.*s", repo->path, BZ_STR_ARG(first));
    free(text);
    return rc;
}

int bz_checkout_read(struct bz_arena *arena, const struct bz_repo *repo,
                     struct bz_checkout *out, struct bz_err *err)
{
    struct bz_path dir;
    struct bz_str option;
    const char *argv[] = {"git",
                          "--no-optional-locks",
                          "-c",
                          "core.fsmonitor=false",
                          NULL,
                          "--work-tree=.",
                          "status",
                          "--porcelain=v2",
                          "--branch",
                          "-uno",
                          "--ignore-submodules",
                          NULL};
    struct bz_proc_spec spec = {
        .argv = argv, .cwd = repo->path, .deadline = bz_clock_in(PATIENCE)};
    struct bz_proc_result result = {0};
    int rc = bz_path_join(bz_str_from(repo->path), BZ_STR(".git"), &dir, err);

    *out = (struct bz_checkout){0};
    if (rc < 0)
        return rc;
    if (repo->type != BZ_REPO_GIT || !bz_fs_exists(AT_FDCWD, dir.s))
        return bz_fail(err, BZ_E_NOENT, "%s is no git repository", repo->path);
    /* Named, so that neither a repository around it nor GIT_DIR is meant. */
    option = bz_arena_printf(arena, "--git-dir=%s", dir.s);
    argv[4] = option.p;
    rc = bz_proc_run(&spec, &result, err);
    if (rc < 0)
        return rc;
    if (result.exit_code == 0)
        take_answer(arena, &result.out, out);
    else
        rc = fail_git(repo, &result, err);
    bz_proc_pump_release_result(&result);
    return rc;
}

int bz_checkout_upstream(const struct bz_checkout *c, const struct bz_repo *repo,
                         struct bz_str *out, struct bz_err *err)
{
    struct bz_str base = c->branch;

    *out = c->commit;
    if (base.p && bz_str_cut_prefix(&base, PATCHED) && bz_repo_is_hash(base))
        *out = base;
    else if (repo->npatches > 0 && base.p && bz_str_starts(c->branch, PATCHED))
        return bz_fail(err, BZ_E_INVAL,
                       "repository '%.*s' is on branch %.*s, with patches; the commit "
                       "below them is not known",
                       BZ_STR_ARG(repo->id), BZ_STR_ARG(c->branch));
    if (!out->p)
        return bz_fail(err, BZ_E_INVAL, "repository '%.*s' in %s has no commit yet",
                       BZ_STR_ARG(repo->id), repo->path);
    return 0;
}
