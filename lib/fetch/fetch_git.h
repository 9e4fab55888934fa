/* fetch_git.h - what the files that fetch from git share.
 *
 * A repository is a bare clone below GITDIR, or DL_DIR/git2, named as BitBake names it.
 * For the files of this module only.
 */
#ifndef BZ_FETCH_FETCH_GIT_H
#define BZ_FETCH_FETCH_GIT_H

#include "fetch/scheme.h"
#include "fetch/tool.h"

/* git, as far as its options: no settings of the user, no hooks, no questions. */
void bz_fetch_git_tool(struct bz_tool *t, struct bz_cancel *cancel, const char *cwd);

/* Runs git with these arguments, up to a NULL. */
int bz_fetch_git_run(struct bz_fetch *f, const char *cwd, const char *const *args,
                     struct bz_buf *out, struct bz_err *err) BZ_MUST_CHECK;

/* Makes sure that a repository has its commit; for a submodule, whose lock it takes. */
int bz_fetch_git_ensure(struct bz_fetch *f, struct bz_source *s,
                        struct bz_err *err) BZ_MUST_CHECK;

/* A work tree of the commit at `dest`, which does not exist. */
int bz_fetch_git_checkout(struct bz_fetch *f, struct bz_source *s, const char *dest,
                          struct bz_err *err) BZ_MUST_CHECK;

/* The parts of a scheme that git and gitsm have in common. */
int bz_fetch_git_prepare(struct bz_fetch *f, struct bz_source *s,
                         struct bz_err *err) BZ_MUST_CHECK;
/* BZ_E_INVAL if the revision is not resolved. */
int bz_fetch_git_check(struct bz_fetch *f, const struct bz_source *s,
                       struct bz_err *err) BZ_MUST_CHECK;
int bz_fetch_git_resolve(struct bz_fetch *f, struct bz_source *s,
                         struct bz_err *err) BZ_MUST_CHECK;
int bz_fetch_git_download(struct bz_fetch *f, struct bz_source *s,
                          const struct bz_uri *from, int fd,
                          struct bz_err *err) BZ_MUST_CHECK;
int bz_fetch_git_present(struct bz_fetch *f, struct bz_source *s,
                         struct bz_err *err) BZ_MUST_CHECK;
/* *to is where it was put. */
int bz_fetch_git_unpack(struct bz_fetch *f, struct bz_source *s, const char *dir,
                        const char **to, struct bz_err *err) BZ_MUST_CHECK;

#endif
