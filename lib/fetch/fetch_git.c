#include "fetch/fetch_git.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fetch/unpack.h"
#include "os/fs.h"
#include "os/fs_remove.h"
#include "os/path.h"

void bz_fetch_git_tool(struct bz_tool *t, struct bz_cancel *cancel, const char *cwd)
{
    static const char *const first[] = {"git",
                                        "-c",
                                        "core.hooksPath=/dev/null",
                                        "-c",
                                        "core.fsmonitor=false",
                                        "-c",
                                        "core.pager=cat",
                                        "-c",
                                        "gc.auto=0",
                                        "-c",
                                        "protocol.ext.allow=never",
                                        "-c",
                                        "clone.defaultRemoteName=origin",
                                        "-c",
                                        "advice.detachedHead=false",
                                        "-c",
                                        "init.defaultBranch=main",
                                        "-c",
                                        "submodule.recurse=false",
                                        "-c",
                                        "core.logAllRefUpdates=false",
                                        "-c",
                                        "http.lowSpeedLimit=100",
                                        "-c",
                                        "http.lowSpeedTime=30"};

    memset(t, 0, sizeof(*t));
    for (size_t i = 0; i < BZ_COUNTOF(first); i++)
        bz_tool_add(t, first[i]);
    t->env[0] = "GIT_CONFIG_NOSYSTEM=1";
    t->env[1] = "GIT_CONFIG_GLOBAL=/dev/null";
    t->env[2] = "GIT_TERMINAL_PROMPT=0";
    t->env[3] = "GIT_TEMPLATE_DIR=";
    t->env[4] = "GIT_ASKPASS=true";
    t->env[5] = "GIT_SSH_COMMAND=ssh -oBatchMode=yes";
    t->env[6] = "GIT_LFS_SKIP_SMUDGE=1";
    t->cwd = cwd;
    t->cancel = cancel;
}

static void add_all(struct bz_tool *t, const char *const *args)
{
    for (; *args; args++)
        bz_tool_add(t, *args);
}

int bz_fetch_git_run(struct bz_fetch *f, const char *cwd, const char *const *args,
                     struct bz_buf *out, struct bz_err *err)
{
    struct bz_tool t;

    bz_fetch_git_tool(&t, f->opts.cancel, cwd);
    add_all(&t, args);
    if (f->unpacking)
        t.umask = bz_fetch_umask(f);
    return bz_tool_run(&t, out, err);
}

/* 1 if it succeeds, 0 if it does not. */
static int git_asks(struct bz_fetch *f, const char *cwd, const char *const *args,
                    struct bz_err *err)
{
    struct bz_tool t;
    int status, rc;

    bz_fetch_git_tool(&t, f->opts.cancel, cwd);
    add_all(&t, args);
    rc = bz_tool_try(&t, NULL, &status, NULL, err);
    return rc < 0 ? rc : status == 0;
}

#define GIT(f, cwd, out, err, ...)                                                     \
    bz_fetch_git_run((f), (cwd), (const char *const[]){__VA_ARGS__, NULL}, (out), (err))
#define ASK(f, cwd, err, ...)                                                          \
    git_asks((f), (cwd), (const char *const[]){__VA_ARGS__, NULL}, (err))

static bool yes(const struct bz_source *s, const char *param)
{
    return bz_str_eq(bz_uri_param(&s->uri, param), BZ_STR("1"));
}

/* A name that git cannot take for an option. */
static int check_ref(struct bz_str ref, const char *what, struct bz_err *err)
{
    bool ok =
        ref.n > 0 && ref.p[0] != '-' && bz_str_find(ref, BZ_STR("..")) == BZ_STR_NONE;

    for (size_t i = 0; i < ref.n; i++)
        ok = ok && (unsigned char)ref.p[i] > ' ';
    if (!ok)
        return bz_fail(err, BZ_E_INVAL, "'%.*s' is no name of a %s", BZ_STR_ARG(ref),
                       what);
    return 0;
}

/* SRCREV in the forms that BitBake tries, then ;rev= and ;tag=. */
static int find_revision(struct bz_fetch *f, struct bz_source *s, struct bz_err *err)
{
    struct bz_str pn = f->policy.pn, rev = bz_uri_param(&s->uri, "rev");
    struct bz_str tag = bz_uri_param(&s->uri, "tag"), value = {0};
    const char *names[] = {
        bz_arena_printf(&f->arena, "SRCREV_%.*s:pn-%.*s", BZ_STR_ARG(s->name),
                        BZ_STR_ARG(pn))
            .p,
        bz_arena_printf(&f->arena, "SRCREV_%.*s", BZ_STR_ARG(s->name)).p,
        bz_arena_printf(&f->arena, "SRCREV:pn-%.*s", BZ_STR_ARG(pn)).p,
        "SRCREV",
    };

    for (size_t i = 0; i < BZ_COUNTOF(names); i++) {
        int rc = bz_policy_get(&f->policy, names[i], &value, err);

        if (rc < 0)
            return rc;
        value = bz_str_trim(value);
        if (value.n > 0 && !bz_str_eq(value, BZ_STR("INVALID")))
            break;
        value = (struct bz_str){0};
    }
    if (rev.n > 0 && value.n > 0 && !bz_str_eq(rev, value))
        return bz_fail(err, BZ_E_INVAL, "SRCREV is %.*s and ;rev= is %.*s: keep one",
                       BZ_STR_ARG(value), BZ_STR_ARG(rev));
    if (value.n == 0)
        value = rev.n > 0 ? rev : tag;
    if (value.n == 0)
        return bz_fail(err, BZ_E_INVAL,
                       "no revision: set SRCREV, or SRCREV_%.*s, to a commit",
                       BZ_STR_ARG(s->name));
    s->revision = bz_arena_dup(&f->arena, value);
    return 0;
}

/* As BitBake names the bare clone, so that both find it. */
static struct bz_str clone_name(struct bz_fetch *f, const struct bz_uri *u)
{
    struct bz_str name = BZ_ARENA_CONCAT(&f->arena, u->host, u->path);
    char *p = bz_arena_alloc(&f->arena, name.n + 1, 1);

    for (size_t i = 0; i <= name.n; i++) {
        char c = name.p[i];

        p[i] = c;
        if (c == '/' || c == '*' || (c == ':' && i < u->host.n))
            p[i] = '.';
        else if (c == ' ' || c == '(' || c == ')')
            p[i] = '_';
    }
    return p[0] == '.' ? bz_str_of(p + 1, name.n - 1) : bz_str_of(p, name.n);
}

/* The address that git gets, from an entry or a mirror. No password: those are for
 * agents and ~/.netrc, as in BitBake. */
static int address(struct bz_fetch *f, const struct bz_uri *u, const char **out,
                   bool *local, struct bz_err *err)
{
    static const char *const known[] = {"git", "ssh", "http", "https", "file", "rsync"};
    BZ_CLEANUP(bz_buf_release) struct bz_buf path = {0};
    struct bz_str proto = bz_uri_param(u, "protocol");
    bool ok = false;

    if (!proto.p)
        proto = bz_uri_param(u, "proto");
    if (!proto.p)
        proto = u->host.n == 0 ? BZ_STR("file") : BZ_STR("git");
    if (bz_str_eq(u->host, BZ_STR("github.com")) && bz_str_eq(proto, BZ_STR("git")))
        proto = BZ_STR("https"); /* the git protocol is not served there any more */
    for (size_t i = 0; i < BZ_COUNTOF(known); i++)
        ok = ok || bz_str_eq(proto, bz_str_from(known[i]));
    if (!ok)
        return bz_fail(err, BZ_E_INVAL, "git knows no protocol '%.*s'",
                       BZ_STR_ARG(proto));
    *local = bz_str_eq(proto, BZ_STR("file"));
    if (*local) {
        if (!bz_path_is_absolute(u->path))
            return bz_fail(err, BZ_E_INVAL, "the path of a repository is absolute");
        *out = bz_arena_printf(&f->arena, "file://%.*s", BZ_STR_ARG(u->path)).p;
        return 0;
    }
    if (u->host.n == 0 || u->host.p[0] == '-' || (u->user.n > 0 && u->user.p[0] == '-'))
        return bz_fail(err, BZ_E_INVAL, "'%.*s' is no host", BZ_STR_ARG(u->host));
    bz_uri_quote(u->path, &path);
    *out = bz_arena_printf(&f->arena, "%.*s://%.*s%s%.*s%s", BZ_STR_ARG(proto),
                           BZ_STR_ARG(u->user), u->user.n > 0 ? "@" : "",
                           BZ_STR_ARG(u->host), bz_buf_text(&path))
               .p;
    return 0;
}

static int check_network(struct bz_fetch *f, const struct bz_uri *u, bool local,
                         struct bz_err *err)
{
    return local ? 0 : bz_policy_check(&f->policy, u->host, err);
}

/* A line of ls-remote: "<commit>\t<ref>". */
static struct bz_str find_ref(struct bz_str text, struct bz_str want)
{
    struct bz_str line, commit, ref;

    while (text.p && bz_str_next_part(&text, '\n', &line))
        if (bz_str_cut(line, '\t', &commit, &ref) && bz_str_eq(ref, want) &&
            bz_revision_is_commit(commit))
            return commit;
    return (struct bz_str){0};
}

/* The commit of a ref; that of a tag with a message is the one it points to. */
static struct bz_str find_commit(struct bz_str text, struct bz_str want)
{
    static const struct {
        const char *before, *after;
    } names[] =
        {
            {"refs/heads/", ""   },
            {"refs/tags/",  "^{}"},
            {"refs/tags/",  ""   },
    },
      refs[] = {
          {"", "^{}"},
          {"", ""},
      };
    bool full = bz_str_starts(want, BZ_STR("refs/")) || bz_str_eq(want, BZ_STR("HEAD"));
    struct bz_str found = {0};

    for (size_t i = 0; i < (full ? BZ_COUNTOF(refs) : BZ_COUNTOF(names)) && !found.p;
         i++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf ref = {0};

        bz_buf_addf(&ref, "%s%.*s%s", full ? refs[i].before : names[i].before,
                    BZ_STR_ARG(want), full ? refs[i].after : names[i].after);
        found = find_ref(text, bz_buf_str(&ref));
    }
    return found;
}

/* What a person calls the ref. */
static const char *wanted(struct bz_fetch *f, const struct bz_source *s)
{
    struct bz_str name = s->wanted;
    const char *kind = "revision ";

    if (bz_str_cut_prefix(&name, BZ_STR("refs/heads/")))
        kind = "branch ";
    else if (bz_str_cut_prefix(&name, BZ_STR("refs/tags/")))
        kind = "tag ";
    return bz_arena_printf(&f->arena, "%s%.*s", kind, BZ_STR_ARG(name)).p;
}

static bool looks_short(struct bz_str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!isxdigit((unsigned char)s.p[i]))
            return false;
    return s.n >= 7;
}

int bz_fetch_git_check(struct bz_fetch *f, const struct bz_source *s,
                       struct bz_err *err)
{
    if (s->revision.n > 0)
        return 0;
    return bz_fail(err, BZ_E_INVAL, "%s is not resolved yet: run 'bitzel fetch' once",
                   wanted(f, s));
}

/* What the server says that the ref is now. */
static int ask_server(struct bz_fetch *f, struct bz_source *s,
                      char commit[BZ_REVISION_HEX], struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_str found;
    const char *url;
    bool local;
    int rc = address(f, &s->uri, &url, &local, err);

    if (rc == 0)
        rc = check_network(f, &s->uri, local, err);
    if (rc == 0)
        rc = GIT(f, NULL, &text, err, "ls-remote", "--", url);
    if (rc < 0)
        return rc;
    found = find_commit(bz_buf_str(&text), s->wanted);
    if (!found.p)
        return bz_fail(err, BZ_E_NOENT,
                       "the repository has neither branch nor tag %.*s%s",
                       BZ_STR_ARG(s->wanted),
                       looks_short(s->wanted) ? "; give all digits of a commit" : "");
    snprintf(commit, BZ_REVISION_HEX, "%.*s", BZ_STR_ARG(found));
    return 0;
}

static bool recall(struct bz_fetch *f, struct bz_source *s)
{
    char commit[BZ_REVISION_HEX];
    bool known = f->opts.revisions &&
                 bz_revision_find(f->opts.revisions, s->question, commit, NULL);

    if (known)
        s->revision = bz_arena_dup(&f->arena, bz_str_from(commit));
    return known;
}

int bz_fetch_git_resolve(struct bz_fetch *f, struct bz_source *s, struct bz_err *err)
{
    char commit[BZ_REVISION_HEX];
    int rc = 0;

    if (recall(f, s)) /* since the entry was read */
        return 0;
    rc =
        f->opts.offline ? bz_fetch_git_check(f, s, err) : ask_server(f, s, commit, err);
    if (rc < 0)
        return rc;
    if (f->opts.revisions)
        bz_revision_add(f->opts.revisions, s->question, commit);
    s->revision = bz_arena_dup(&f->arena, bz_str_from(commit));
    return 0;
}

/* A revision that is a name. The question has no user: it might be a token, but for
 * ssh, where repositories may be the user's. */
static int prepare_name(struct bz_fetch *f, struct bz_source *s, struct bz_str branch,
                        struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf path = {0};
    struct bz_uri place = s->uri;
    const char *url;
    bool local;
    int rc;

    if (!bz_str_eq(bz_uri_param(&s->uri, "protocol"), BZ_STR("ssh")))
        place.user = (struct bz_str){0};
    rc = address(f, &place, &url, &local, err);
    if (rc < 0)
        return rc;
    bz_uri_quote(place.path, &path);
    if (bz_str_eq(s->revision, bz_uri_param(&s->uri, "tag")))
        s->wanted =
            bz_arena_printf(&f->arena, "refs/tags/%.*s", BZ_STR_ARG(s->revision));
    else if (!bz_str_eq(s->revision, BZ_STR("AUTOINC")))
        s->wanted = s->revision;
    else if (yes(s, "usehead"))
        s->wanted = BZ_STR("HEAD");
    else if (branch.n > 0)
        s->wanted = bz_arena_printf(&f->arena, "refs/heads/%.*s", BZ_STR_ARG(branch));
    else
        return bz_fail(err, BZ_E_INVAL, "AUTOREV needs ;branch=NAME");
    s->question = bz_arena_printf(
        &f->arena, "%s %.*s",
        local ? bz_arena_printf(&f->arena, "file://%s", bz_buf_text(&path)).p : url,
        BZ_STR_ARG(s->wanted));
    s->revision = BZ_STR("");
    (void)recall(f, s);
    return 0;
}

int bz_fetch_git_prepare(struct bz_fetch *f, struct bz_source *s, struct bz_err *err)
{
    struct bz_str branch = bz_uri_param(&s->uri, "branch"), name;
    int rc = 0;

    if (branch.n == 0 && !yes(s, "nobranch") && !yes(s, "usehead"))
        return bz_fail(err, BZ_E_INVAL,
                       "add ;branch=NAME, or ;nobranch=1 if the commit "
                       "is in none");
    if (branch.n > 0)
        rc = check_ref(branch, "branch", err);
    if (rc == 0)
        rc = find_revision(f, s, err);
    if (rc == 0)
        rc = check_ref(s->revision, "revision", err);
    if (rc == 0 && !bz_revision_is_commit(s->revision))
        rc = prepare_name(f, s, branch, err);
    if (rc < 0)
        return rc;
    name = clone_name(f, &s->uri);
    if (!bz_path_is_safe(name))
        return bz_fail(err, BZ_E_INVAL, "'%.*s' is no name of a directory",
                       BZ_STR_ARG(name));
    s->path = bz_fetch_below(f, f->policy.git_dir, name);
    s->tarball = bz_arena_printf(&f->arena, "git2_%.*s.tar.gz", BZ_STR_ARG(name)).p;
    return 0;
}

/* Whether the clone has the commit, in its branch if one is named. */
static int has_commit(struct bz_fetch *f, struct bz_source *s, struct bz_err *err)
{
    struct bz_str branch = bz_uri_param(&s->uri, "branch");
    const char *commit =
        bz_arena_printf(&f->arena, "%.*s^{commit}", BZ_STR_ARG(s->revision)).p;
    const char *ref =
        bz_arena_printf(&f->arena, "refs/heads/%.*s", BZ_STR_ARG(branch)).p;
    int rc;

    if (s->revision.n == 0 || !bz_fs_exists(AT_FDCWD, s->path))
        return 0;
    rc = ASK(f, s->path, err, "--git-dir=.", "cat-file", "-e", commit);
    if (rc <= 0 || branch.n == 0 || yes(s, "nobranch"))
        return rc;
    return ASK(f, s->path, err, "--git-dir=.", "merge-base", "--is-ancestor", commit,
               ref);
}

int bz_fetch_git_present(struct bz_fetch *f, struct bz_source *s, struct bz_err *err)
{
    int rc = bz_fetch_git_check(f, s, err);

    return rc < 0 ? rc : has_commit(f, s, err);
}

/* A clone is made under another name, so that half of one is never found. */
static int clone(struct bz_fetch *f, struct bz_source *s, const char *url,
                 struct bz_err *err)
{
    const char *temp = bz_arena_printf(&f->arena, "%s.bz-clone", s->path).p;
    int rc = bz_fs_remove(AT_FDCWD, temp, err);

    if (rc == 0)
        rc = GIT(f, NULL, NULL, err, "clone", "-q", "--bare", "--mirror", "--", url,
                 temp);
    if (rc == 0 && rename(temp, s->path) < 0)
        rc = bz_fail_sys(err, "rename %s", temp);
    return rc;
}

static int update(struct bz_fetch *f, struct bz_source *s, const char *url,
                  struct bz_err *err)
{
    if (yes(s, "nobranch"))
        return GIT(f, s->path, NULL, err, "--git-dir=.", "fetch", "-q", "-f", "--", url,
                   "refs/*:refs/*");
    return GIT(f, s->path, NULL, err, "--git-dir=.", "fetch", "-q", "-f", "--", url,
               "refs/heads/*:refs/heads/*", "refs/tags/*:refs/tags/*");
}

/* A clone in an archive, as mirrors have them. */
static int unpack_tarball(struct bz_fetch *f, struct bz_source *s,
                          const struct bz_uri *from, struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep) int fd = -1;
    const char *temp = bz_arena_printf(&f->arena, "%s.bz-clone", s->path).p;
    const char *file = bz_fetch_below(f, f->policy.dl_dir, bz_str_from(s->tarball));
    const struct bz_scheme *scheme =
        bz_str_eq(from->scheme, BZ_STR("file")) ? &bz_fetch_file : &bz_fetch_http;
    int rc;

    if (bz_fs_exists(AT_FDCWD, s->path))
        return bz_fail(err, BZ_E_NOENT, "the clone that is there is newer");
    fd = open(file, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0)
        return bz_fail_sys(err, "write %s", file);
    rc = scheme->download(f, s, from, fd, err);
    if (rc == 0)
        rc = bz_fs_remove(AT_FDCWD, temp, err);
    if (rc == 0)
        rc = bz_unpack_tree(f, fd, s->tarball, temp, err);
    if (rc == 0 && rename(temp, s->path) < 0)
        rc = bz_fail_sys(err, "rename %s", temp);
    if (rc < 0)
        (void)unlink(file);
    return rc;
}

static int download_clone(struct bz_fetch *f, struct bz_source *s,
                          const struct bz_uri *from, struct bz_err *err)
{
    const char *url;
    bool local;
    int rc = address(f, from, &url, &local, err);

    if (rc == 0)
        rc = check_network(f, from, local, err);
    if (rc == 0 && bz_fs_exists(AT_FDCWD, s->path))
        rc = update(f, s, url, err);
    else if (rc == 0)
        rc = clone(f, s, url, err);
    return rc;
}

int bz_fetch_git_download(struct bz_fetch *f, struct bz_source *s,
                          const struct bz_uri *from, int fd, struct bz_err *err)
{
    bool repository = bz_str_eq(from->scheme, BZ_STR("git")) ||
                      bz_str_eq(from->scheme, BZ_STR("gitsm"));
    bool tarball = bz_str_ends(from->path, bz_str_from(s->tarball));
    int rc;

    (void)fd;
    if (!repository && !tarball)
        return bz_fail(err, BZ_E_NOSUP, "a mirror of the kind %.*s:// is no repository",
                       BZ_STR_ARG(from->scheme));
    rc = repository ? download_clone(f, s, from, err) : unpack_tarball(f, s, from, err);
    if (rc == 0)
        rc = has_commit(f, s, err);
    if (rc == 0)
        return bz_fail(err, BZ_E_NOENT, "it has no commit %.*s%s%.*s%s%s%s",
                       BZ_STR_ARG(s->revision),
                       bz_uri_param(&s->uri, "branch").n > 0 ? " in branch " : "",
                       BZ_STR_ARG(bz_uri_param(&s->uri, "branch")),
                       s->question.n > 0 ? "; 'bitzel fetch --refresh' resolves " : "",
                       s->question.n > 0 ? wanted(f, s) : "",
                       s->question.n > 0 ? " anew" : "");
    return rc < 0 ? rc : 0;
}

int bz_fetch_git_ensure(struct bz_fetch *f, struct bz_source *s, struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep) int lock = -1;
    const char *path = bz_arena_printf(&f->arena, "%s.lock", s->path).p;
    int rc = bz_fs_mkdirs(AT_FDCWD, f->policy.git_dir.p, 0755, err);

    if (rc == 0)
        rc = bz_fetch_lock(f, path, &lock, err);
    if (rc == 0)
        rc = has_commit(f, s, err);
    if (rc != 0)
        return rc < 0 ? rc : 0;
    return bz_fetch_git_download(f, s, &s->uri, -1, err);
}

/* Only a part of the tree, as if it were all of it. */
static int checkout_part(struct bz_fetch *f, struct bz_source *s, const char *dest,
                         struct bz_str subpath, struct bz_err *err)
{
    const char *tree = bz_arena_printf(&f->arena, "%.*s:%.*s", BZ_STR_ARG(s->revision),
                                       BZ_STR_ARG(subpath))
                           .p;
    int rc = GIT(f, dest, NULL, err, "read-tree", tree);

    if (rc == 0)
        rc = GIT(f, dest, NULL, err, "checkout-index", "-q", "-f", "-a");
    if (rc == 0)
        rc = GIT(f, dest, NULL, err, "update-ref", "--no-deref", "HEAD", s->revision.p);
    return rc;
}

static int checkout(struct bz_fetch *f, struct bz_source *s, const char *dest,
                    struct bz_err *err)
{
    struct bz_str subpath = bz_uri_param(&s->uri, "subpath");
    struct bz_str branch = bz_uri_param(&s->uri, "branch");

    if (yes(s, "nocheckout") || yes(s, "bareclone"))
        return 0;
    if (subpath.n > 0)
        return checkout_part(f, s, dest, subpath, err);
    if (yes(s, "nobranch") || branch.n == 0)
        return GIT(f, dest, NULL, err, "checkout", "-q", "--detach", s->revision.p);
    return GIT(f, dest, NULL, err, "checkout", "-q", "-B",
               bz_arena_dup(&f->arena, branch).p, s->revision.p);
}

/* The index has times and inodes of files, which are others each time. One that was
 * only read from a tree has none. */
static int forget_times(struct bz_fetch *f, struct bz_source *s, const char *dest,
                        struct bz_err *err)
{
    if (yes(s, "nocheckout") || yes(s, "bareclone"))
        return 0;
    if (bz_uri_param(&s->uri, "subpath").n > 0)
        return 0; /* it was made that way */
    return GIT(f, dest, NULL, err, "read-tree", "HEAD");
}

int bz_fetch_git_checkout(struct bz_fetch *f, struct bz_source *s, const char *dest,
                          struct bz_err *err)
{
    struct bz_str alone;
    const char *how = "--shared", *url;
    bool local;
    int rc = bz_policy_get(&f->policy, "BB_GIT_NOSHARED", &alone, err);

    if (rc == 0 && (f->opts.whole || bz_str_eq(alone, BZ_STR("1"))))
        how = "--no-hardlinks";
    if (rc == 0)
        rc = address(f, &s->uri, &url, &local, err);
    if (rc == 0)
        rc = GIT(f, NULL, NULL, err, "clone", "-q",
                 yes(s, "bareclone") ? "--mirror" : "-n", how, "--", s->path, dest);
    if (rc == 0)
        rc = GIT(f, dest, NULL, err, "remote", "set-url", "origin", url);
    if (rc == 0)
        rc = checkout(f, s, dest, err);
    return rc < 0 || !f->opts.whole ? rc : forget_times(f, s, dest, err);
}

int bz_fetch_git_unpack(struct bz_fetch *f, struct bz_source *s, const char *dir,
                        const char **to, struct bz_err *err)
{
    struct bz_str subpath = bz_uri_param(&s->uri, "subpath"), suffix;
    const char *dest;
    int rc = bz_policy_get(&f->policy, "BB_GIT_DEFAULT_DESTSUFFIX", &suffix, err);

    if (rc < 0)
        return rc;
    if (suffix.n == 0)
        suffix = BZ_STR("git");
    if (subpath.n > 0)
        suffix = bz_path_basename(subpath);
    if (bz_uri_param(&s->uri, "subdir").n > 0)
        suffix = BZ_STR("");
    rc = bz_unpack_dest(f, s, dir, suffix, &dest, err);
    if (rc == 0)
        rc = bz_fs_remove(AT_FDCWD, dest, err);
    if (rc == 0)
        rc = bz_fetch_git_checkout(f, s, dest, err);
    if (rc == 0)
        *to = dest;
    return rc;
}

static int unpack(struct bz_fetch *f, struct bz_source *s, const char *dir,
                  struct bz_err *err)
{
    const char *dest;

    return bz_fetch_git_unpack(f, s, dir, &dest, err);
}

const struct bz_scheme bz_fetch_git = {.name = "git",
                                       .prepare = bz_fetch_git_prepare,
                                       .resolve = bz_fetch_git_resolve,
                                       .download = bz_fetch_git_download,
                                       .present = bz_fetch_git_present,
                                       .unpack = unpack};
