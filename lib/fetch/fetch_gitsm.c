#include <stdlib.h>
#include <sys/stat.h>

#include "fetch/fetch_git.h"
#include "os/path.h"

enum { MODULES = 512, DEPTH = 8 }; /* in one repository; repositories in each other */

/* One line of .gitmodules that matters. */
struct module {
    struct bz_str name, path, url;
};

struct modules BZ_VEC(struct module);

static struct module *find(struct modules *all, struct bz_str name)
{
    for (size_t i = 0; i < all->len; i++)
        if (bz_str_eq(all->at[i].name, name))
            return &all->at[i];
    if (all->len == MODULES)
        return NULL;
    BZ_VEC_PUSH(all, (struct module){.name = name});
    return &BZ_VEC_LAST(all);
}

/* "submodule.NAME.path\nVALUE" for each, and a NUL after it. */
static int read_list(struct bz_fetch *f, struct bz_str text, struct modules *all,
                     struct bz_err *err)
{
    struct bz_str entry, key, value;

    while (text.n > 0 && bz_str_next_part(&text, '\0', &entry)) {
        struct module *m;
        bool path;

        bz_str_cut(entry, '\n', &key, &value);
        path = bz_str_cut_suffix(&key, BZ_STR(".path"));
        if (!bz_str_cut_prefix(&key, BZ_STR("submodule.")) ||
            (!path && !bz_str_cut_suffix(&key, BZ_STR(".url"))))
            continue;
        m = find(all, bz_arena_dup(&f->arena, key));
        if (!m)
            return bz_fail(err, BZ_E_LIMIT, "more than %d submodules", MODULES);
        *(path ? &m->path : &m->url) = bz_arena_dup(&f->arena, value);
    }
    return 0;
}

/* 1 if the commit has submodules. */
static int list(struct bz_fetch *f, struct bz_source *s, struct modules *all,
                struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    const char *blob =
        bz_arena_printf(&f->arena, "%.*s:.gitmodules", BZ_STR_ARG(s->revision)).p;
    struct bz_tool t;
    int status, rc;

    bz_fetch_git_tool(&t, f->opts.cancel, s->path);
    bz_tool_add(&t, "--git-dir=.");
    bz_tool_add(&t, "config");
    bz_tool_add(&t, "-z");
    bz_tool_add(&t, bz_arena_printf(&f->arena, "--blob=%s", blob).p);
    bz_tool_add(&t, "--list");
    rc = bz_tool_try(&t, &text, &status, NULL, err);
    if (rc < 0 || status != 0) /* there is no such file */
        return rc < 0 ? rc : 0;
    rc = read_list(f, bz_buf_str(&text), all, err);
    return rc < 0 ? rc : all->len > 0;
}

/* The commit that the tree has at the path; "" if it has none there. */
static int pinned(struct bz_fetch *f, struct bz_source *s, struct bz_str path,
                  struct bz_str *out, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_str mode = {0}, rest, type = {0}, commit = {0};
    int rc = bz_fetch_git_run(f, s->path,
                              (const char *const[]){"--git-dir=.", "ls-tree", "-z",
                                                    s->revision.p, "--", path.p, NULL},
                              &text, err);

    *out = BZ_STR("");
    if (rc < 0)
        return rc;
    rest = bz_buf_str(&text); /* "160000 commit <commit>\t<path>" */
    if (bz_str_next_word(&rest, &mode) && bz_str_next_word(&rest, &type) &&
        bz_str_next_word(&rest, &commit) && bz_str_eq(type, BZ_STR("commit")))
        *out = bz_arena_dup(&f->arena, commit);
    return 0;
}

/* "../other.git" is beside the repository it is in. */
static int locate_relative(struct bz_fetch *f, const struct bz_source *s,
                           struct bz_str url, struct bz_str *out, struct bz_err *err)
{
    struct bz_str proto = bz_uri_param(&s->uri, "protocol");
    struct bz_path joined, path;
    int rc = bz_path_join(s->uri.path, url, &joined, err);

    if (rc == 0)
        rc = bz_path_normalise(bz_path_str(&joined), &path, err);
    if (rc < 0)
        return rc;
    if (proto.n == 0)
        proto = s->uri.host.n == 0 ? BZ_STR("file") : BZ_STR("git");
    *out = bz_arena_printf(&f->arena, "gitsm://%.*s%s%.*s%s;protocol=%.*s",
                           BZ_STR_ARG(s->uri.user), s->uri.user.n > 0 ? "@" : "",
                           BZ_STR_ARG(s->uri.host), path.s, BZ_STR_ARG(proto));
    return 0;
}

/* Where a submodule is, as an entry of SRC_URI. */
static int locate(struct bz_fetch *f, const struct bz_source *s, const struct module *m,
                  struct bz_str *out, struct bz_err *err)
{
    struct bz_str url = m->url, rest = {0};
    size_t at = bz_str_find(url, BZ_STR("://"));

    if (bz_str_starts(url, BZ_STR("./")) || bz_str_starts(url, BZ_STR("../")))
        return locate_relative(f, s, url, out, err);
    if (at != BZ_STR_NONE)
        *out = bz_arena_printf(&f->arena, "gitsm%.*s;protocol=%.*s",
                               BZ_STR_ARG(bz_str_sub(url, at, url.n)),
                               BZ_STR_ARG(bz_str_sub(url, 0, at)));
    else if (bz_str_cut(url, ':', &url, &rest)) /* user@host:path */
        *out = bz_arena_printf(
            &f->arena, "gitsm://%.*s%s%.*s;protocol=ssh", BZ_STR_ARG(url),
            bz_str_starts(rest, BZ_STR("/")) ? "" : "/", BZ_STR_ARG(rest));
    else
        *out =
            bz_arena_printf(&f->arena, "gitsm://%.*s;protocol=file", BZ_STR_ARG(url));
    return 0;
}

/* A source for one submodule; its revision is "" if the tree does not have it. */
static int make_source(struct bz_fetch *f, struct bz_source *s, const struct module *m,
                       struct bz_source *out, struct bz_err *err)
{
    struct bz_str commit, text;
    int rc;

    memset(out, 0, sizeof(*out));
    if (!bz_path_is_safe(m->path) || m->url.n == 0)
        return bz_fail(err, BZ_E_INVAL, "submodule '%.*s' has no path or url to use",
                       BZ_STR_ARG(m->name));
    rc = pinned(f, s, m->path, &commit, err);
    if (rc < 0 || commit.n == 0)
        return rc;
    rc = locate(f, s, m, &text, err);
    if (rc == 0)
        rc = bz_uri_parse(&f->arena,
                          bz_arena_printf(&f->arena, "%.*s;nobranch=1;rev=%.*s",
                                          BZ_STR_ARG(text), BZ_STR_ARG(commit)),
                          &out->uri, err);
    if (rc < 0)
        return rc;
    out->scheme = s->scheme;
    out->name = BZ_STR(" "); /* a name that no SRCREV_ variable has */
    out->shown = bz_uri_shown(&f->arena, &out->uri).p;
    out->revision = commit;
    rc = bz_fetch_git_prepare(f, out, err);
    out->revision = commit;
    return rc;
}

typedef int (*visit_fn)(struct bz_fetch *f, struct bz_source *sub,
                        const struct module *m, const char *dest, unsigned depth,
                        struct bz_err *err);

/* Visits the submodules of a commit that is there; `visit` goes on to theirs. */
/* NOLINTNEXTLINE(misc-no-recursion): at most DEPTH deep */
static int each(struct bz_fetch *f, struct bz_source *s, const char *dest,
                unsigned depth, visit_fn visit, struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct modules all = {0};
    int rc = list(f, s, &all, err);

    if (rc > 0 && depth >= DEPTH)
        return bz_fail(err, BZ_E_LIMIT, "submodules in submodules, %d deep", DEPTH);
    for (size_t i = 0; rc >= 0 && i < all.len; i++) {
        struct bz_source sub;

        rc = make_source(f, s, &all.at[i], &sub, err);
        if (rc == 0 && sub.revision.n > 0)
            rc = visit(f, &sub, &all.at[i], dest, depth + 1, err);
        if (rc < 0)
            return bz_err_wrap(err, "submodule %.*s", BZ_STR_ARG(all.at[i].name));
    }
    return rc < 0 ? rc : 0;
}

/* NOLINTNEXTLINE(misc-no-recursion): at most DEPTH deep */
static int get_one(struct bz_fetch *f, struct bz_source *sub, const struct module *m,
                   const char *dest, unsigned depth, struct bz_err *err)
{
    int rc = bz_fetch_git_ensure(f, sub, err);

    (void)m;
    (void)dest;
    return rc < 0 ? rc : each(f, sub, NULL, depth, get_one, err);
}

/* A link in the tree could lead the checkout elsewhere: git makes none where the tree
 * has a submodule, but one above it may be a link. */
static int check_way(const char *dest, struct bz_str path, struct bz_err *err)
{
    struct bz_path at;
    size_t base = strlen(dest) + 1;
    int rc = bz_path_join(bz_str_from(dest), path, &at, err);

    for (size_t i = base; rc == 0 && i <= at.n; i++) {
        struct stat st;

        if (at.s[i] != '/' && at.s[i] != '\0')
            continue;
        at.s[i] = '\0';
        if (lstat(at.s, &st) == 0 && !S_ISDIR(st.st_mode))
            rc = bz_fail(err, BZ_E_INVAL, "%s is not a directory", at.s);
        at.s[i] = i < at.n ? '/' : '\0';
    }
    return rc;
}

/* NOLINTNEXTLINE(misc-no-recursion): at most DEPTH deep */
static int unpack_one(struct bz_fetch *f, struct bz_source *sub, const struct module *m,
                      const char *dest, unsigned depth, struct bz_err *err)
{
    const char *to = bz_arena_printf(&f->arena, "%s/%.*s", dest, BZ_STR_ARG(m->path)).p;
    int rc = check_way(dest, m->path, err);

    if (rc == 0)
        rc = bz_fetch_git_checkout(f, sub, to, err);
    return rc < 0 ? rc : each(f, sub, to, depth, unpack_one, err);
}

static int download(struct bz_fetch *f, struct bz_source *s, const struct bz_uri *from,
                    int fd, struct bz_err *err)
{
    int rc = bz_fetch_git_present(f, s, err);

    if (rc == 0)
        rc = bz_fetch_git_download(f, s, from, fd, err);
    return rc < 0 ? rc : each(f, s, NULL, 0, get_one, err);
}

/* The repository and all its submodules. */
static int present(struct bz_fetch *f, struct bz_source *s, struct bz_err *err)
{
    bool before = f->policy.no_network;
    int rc = bz_fetch_git_present(f, s, err);

    if (rc <= 0)
        return rc;
    f->policy.no_network = true; /* asks the same questions, but nobody else */
    rc = each(f, s, NULL, 0, get_one, err);
    f->policy.no_network = before;
    return rc == 0;
}

static int unpack(struct bz_fetch *f, struct bz_source *s, const char *dir,
                  struct bz_err *err)
{
    const char *dest;
    int rc = bz_fetch_git_unpack(f, s, dir, &dest, err);

    return rc < 0 ? rc : each(f, s, dest, 0, unpack_one, err);
}

const struct bz_scheme bz_fetch_gitsm = {.name = "gitsm",
                                         .prepare = bz_fetch_git_prepare,
                                         .resolve = bz_fetch_git_resolve,
                                         .download = download,
                                         .present = present,
                                         .unpack = unpack};
