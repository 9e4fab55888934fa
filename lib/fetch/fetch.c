#include "fetch/fetch.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "codec/archive.h"
#include "fetch/scheme.h"
#include "fetch/unpack.h"
#include "os/clock.h"
#include "os/fs.h"
#include "os/fs_lock.h"
#include "os/path.h"

#define ENTRIES 65536
#define LOCK_PATIENCE (3600 * BZ_CLOCK_S)
#define LOCK_PAUSE (100 * BZ_CLOCK_MS)
#define TRIES 3
#define RETRIES 6 /* of a transfer: with pauses of 6 seconds in all */

static const struct bz_scheme *const schemes[] = {
    &bz_fetch_file, &bz_fetch_http,  &bz_fetch_http_secure, &bz_fetch_http_ftp,
    &bz_fetch_git,  &bz_fetch_gitsm, &bz_fetch_apt,         &bz_fetch_npm,
};

struct bz_fetch_client {
    struct bz_http *http;
};

int bz_fetch_client_new(struct bz_fetch_client **out, struct bz_err *err)
{
    BZ_CLEANUP(bz_mem_freep) char *netrc = NULL;
    const char *home = getenv("HOME");
    struct bz_http_opts opts = {
        .retries = RETRIES, .connect = 20 * BZ_CLOCK_S, .patient = true};
    struct bz_http *http;
    int rc;

    if (home && asprintf(&netrc, "%s/.netrc", home) > 0 && access(netrc, R_OK) == 0)
        opts.auth.netrc = netrc;
    rc = bz_http_new(&opts, &http, err);
    if (rc < 0)
        return rc;
    *out = bz_mem_zalloc(sizeof(**out));
    (*out)->http = http;
    return 0;
}

void bz_fetch_client_free(struct bz_fetch_client *c)
{
    if (!c)
        return;
    bz_http_free(c->http);
    free(c);
}

struct bz_http *bz_fetch_connections(const struct bz_fetch *f)
{
    return f->opts.client->http;
}

static void note(const struct bz_fetch *f, const char *fmt, ...) BZ_PRINTF(2, 3);

static void note(const struct bz_fetch *f, const char *fmt, ...)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    va_list ap;

    if (!f->opts.watch.note)
        return;
    va_start(ap, fmt);
    bz_buf_addv(&text, fmt, ap);
    va_end(ap);
    f->opts.watch.note(f->opts.watch.ctx, bz_buf_text(&text));
}

int bz_fetch_lock(const struct bz_fetch *f, const char *path, int *lock,
                  struct bz_err *err)
{
    int64_t end = bz_clock_in(LOCK_PATIENCE), wait = bz_clock_in(0);
    bool said = false;
    int rc;

    while ((rc = bz_fs_lock(AT_FDCWD, path, BZ_FS_LOCK_EXCLUSIVE, wait, lock, err)) ==
               BZ_E_BUSY &&
           bz_clock_now() < end) {
        rc = bz_cancel_check(f->opts.cancel);
        if (rc < 0)
            return bz_fail(err, rc, "stopped waiting for another process that has %s",
                           path);
        if (!said)
            note(f, "waiting for another process that has %s", path);
        said = true;
        wait = bz_clock_in(LOCK_PAUSE);
    }
    return rc;
}

const char *bz_fetch_below(struct bz_fetch *f, struct bz_str dir, struct bz_str name)
{
    return BZ_ARENA_CONCAT(&f->arena, dir, BZ_STR("/"), name).p;
}

static const struct bz_scheme *find_scheme(struct bz_str name)
{
    for (size_t i = 0; i < BZ_COUNTOF(schemes); i++)
        if (bz_str_eq(name, bz_str_from(schemes[i]->name)))
            return schemes[i];
    return NULL;
}

static int read_source(struct bz_fetch *f, struct bz_str word, struct bz_source *s,
                       struct bz_err *err)
{
    int rc = bz_uri_parse(&f->arena, word, &s->uri, err);

    if (rc < 0)
        return rc;
    s->shown = bz_uri_shown(&f->arena, &s->uri).p;
    s->name = bz_uri_param(&s->uri, "name");
    if (!s->name.p)
        s->name = BZ_STR("default");
    s->scheme = find_scheme(s->uri.scheme);
    if (!s->scheme)
        return bz_fail(err, BZ_E_NOSUP, "%s: sources of the kind %.*s:// are not known",
                       s->shown, BZ_STR_ARG(s->uri.scheme));
    rc = bz_expect_read(&s->sums, &f->arena, &s->uri, &f->policy, s->scheme->checked,
                        err);
    if (rc == 0)
        rc = s->scheme->prepare(f, s, err);
    return rc < 0 ? bz_err_wrap(err, "%s", s->shown) : 0;
}

int bz_fetch_open(const struct bz_fetch_opts *opts, struct bz_str src_uri,
                  struct bz_fetch **out, struct bz_err *err)
{
    BZ_CLEANUP(bz_fetch_closep) struct bz_fetch *f = bz_mem_zalloc(sizeof(*f));
    struct bz_str word;
    int rc;

    f->opts = *opts;
    rc = bz_policy_read(&f->policy, &f->arena, &opts->vars, err);
    f->policy.no_network |= opts->offline;
    while (rc == 0 && bz_str_next_word(&src_uri, &word)) {
        struct bz_source *s = BZ_ARENA_NEW(&f->arena, struct bz_source);

        if (f->all.len == ENTRIES)
            return bz_fail(err, BZ_E_LIMIT, "SRC_URI has more than %d entries",
                           ENTRIES);
        rc = read_source(f, word, s, err);
        BZ_VEC_PUSH(&f->all, s); /* NOLINT(bugprone-sizeof-expression) */
    }
    if (rc < 0)
        return rc;
    *out = f;
    f = NULL; /* the caller owns it now */
    return 0;
}

void bz_fetch_close(struct bz_fetch *f)
{
    if (!f)
        return;
    bz_vec_release(&f->all);
    bz_arena_release(&f->arena);
    free(f);
}

void bz_fetch_attach(struct bz_fetch *f, const struct bz_fetch_watch *watch,
                     struct bz_cancel *cancel)
{
    f->opts.watch = *watch;
    f->opts.cancel = cancel;
}

size_t bz_fetch_count(const struct bz_fetch *f)
{
    return f->all.len;
}

const struct bz_source *bz_fetch_source(const struct bz_fetch *f, size_t i)
{
    return BZ_VEC_AT(&f->all, i);
}

int bz_fetch_resolve_one(struct bz_fetch *f, size_t i, struct bz_err *err)
{
    struct bz_source *s = BZ_VEC_AT(&f->all, i);
    struct bz_err unsaved;
    int rc;

    if (!s->scheme->resolve || s->revision.n > 0)
        return 0;
    rc = s->scheme->resolve(f, s, err);
    if (rc < 0)
        return bz_err_wrap(err, "%s", s->shown);
    if (f->opts.revisions && bz_revision_save(f->opts.revisions, &unsaved) < 0)
        note(f, "resolved revisions are not remembered: %s", unsaved.msg);
    return 0;
}

int bz_fetch_resolve(struct bz_fetch *f, struct bz_err *err)
{
    for (size_t i = 0; i < f->all.len; i++) {
        int rc = bz_fetch_resolve_one(f, i, err);

        if (rc < 0)
            return rc;
    }
    return 0;
}

struct bz_str bz_fetch_commit(const struct bz_source *s)
{
    return s->revision.p ? s->revision : BZ_STR("");
}

struct bz_str bz_fetch_question(const struct bz_source *s)
{
    return s->question.p ? s->question : BZ_STR("");
}

const char *bz_fetch_shown(const struct bz_source *s)
{
    return s->shown;
}

const char *bz_fetch_path(const struct bz_source *s)
{
    return s->path;
}

bool bz_fetch_is_local(const struct bz_source *s)
{
    return s->scheme->local;
}

static const char *beside(struct bz_fetch *f, const struct bz_source *s,
                          const char *suffix)
{
    return BZ_ARENA_CONCAT(&f->arena, bz_str_from(s->path), bz_str_from(suffix)).p;
}

/* The done stamp is BitBake's: that it is there counts, not what is in it. */
static int stamp(struct bz_fetch *f, const struct bz_source *s, struct bz_err *err)
{
    const char *path = beside(f, s, ".done");

    if (bz_fs_exists(AT_FDCWD, path))
        return 0;
    return bz_fs_write(AT_FDCWD, path, "", 0, 0644, BZ_FS_NOSYNC, err);
}

/* No checksum is given: what that means, and the line that gives one. */
static int judge_missing(struct bz_fetch *f, const struct bz_source *s, int fd,
                         struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf line = {0};
    int rc;

    if (s->sums.kinds != 0 || f->policy.strict == BZ_POLICY_IGNORE)
        return 0;
    rc = bz_expect_line(&s->sums, fd, &line, err);
    if (rc < 0)
        return rc;
    if (f->policy.strict == BZ_POLICY_FAIL)
        return bz_fail(
            err, BZ_E_INVAL,
            "no checksum is given for it; if the file in DL_DIR is the right "
            "one, add this line to the recipe:\n%s",
            bz_buf_text(&line));
    note(f, "%s: no checksum is given for it; add this line to the recipe:\n%s",
         s->shown, bz_buf_text(&line));
    return 0;
}

static const char *aside_name(struct bz_fetch *f, const struct bz_source *s,
                              const char *digits)
{
    return bz_arena_printf(&f->arena, "%s_bad-checksum_%s", s->path, digits).p;
}

/* 1 if the file is there and right. A wrong one is put aside, as BitBake does. */
static int look(struct bz_fetch *f, const struct bz_source *s, struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep) int fd = -1;
    char got[BZ_CHECKSUM_HEX];
    const char *bad;
    int rc = bz_fs_open_file(AT_FDCWD, s->path, &fd, err);

    if (rc == BZ_E_NOENT)
        return 0;
    if (rc < 0)
        return rc;
    if (s->sums.kinds == 0) {
        if (!bz_fs_exists(AT_FDCWD, beside(f, s, ".done")))
            return 0;
        rc = judge_missing(f, s, fd, err);
        return rc < 0 ? rc : 1;
    }
    rc = bz_expect_file(&s->sums, fd, s->path, got, err);
    if (rc == 0)
        rc = stamp(f, s, err);
    if (rc != BZ_E_CORRUPT)
        return rc < 0 ? rc : 1;
    bad = aside_name(f, s, got);
    note(f, "%s; it is now %s", err->msg, bad);
    if (rename(s->path, bad) < 0)
        return bz_fail_sys(err, "rename %s", s->path);
    (void)unlink(beside(f, s, ".done"));
    return 0;
}

/* Recipes that call different files by one name put each other's aside: what is wanted
 * may be among that, under the checksum that it has. */
static int take_back(struct bz_fetch *f, const struct bz_source *s, struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep) int fd = -1;
    struct bz_str want = s->sums.want[BZ_CHECKSUM_SHA256];
    char got[BZ_CHECKSUM_HEX];
    const char *aside;
    int rc;

    if (want.n == 0)
        return 0;
    aside = aside_name(f, s, want.p);
    rc = bz_fs_open_file(AT_FDCWD, aside, &fd, err);
    if (rc == 0)
        rc = bz_expect_file(&s->sums, fd, aside, got, err);
    if (rc < 0)
        return rc == BZ_E_NOENT || rc == BZ_E_CORRUPT ? 0 : rc;
    if (rename(aside, s->path) < 0)
        return bz_fail_sys(err, "rename %s", aside);
    rc = stamp(f, s, err);
    return rc < 0 ? rc : 1;
}

/* The bytes are there and verified: give them their name. */
static int publish(struct bz_fetch *f, const struct bz_source *s, int fd,
                   const char *part, struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep) int dir = -1;
    const char *parent =
        bz_arena_dup(&f->arena, bz_path_dirname(bz_str_from(s->path))).p;

    if (fchmod(fd, 0644) < 0 || fsync(fd) < 0)
        return bz_fail_sys(err, "make %s durable", part);
    if (rename(part, s->path) < 0)
        return bz_fail_sys(err, "rename %s", part);
    dir = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0 || fsync(dir) < 0)
        return bz_fail_sys(err, "make %s durable", parent);
    return stamp(f, s, err);
}

static int open_part(const char *part, bool keep, int *fd, struct bz_err *err)
{
    *fd = open(part, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | (keep ? 0 : O_TRUNC),
               0600);
    return *fd < 0 ? bz_fail_sys(err, "write %s", part) : 0;
}

/* Of a transfer that never began nothing is left to go on with. */
static void drop_empty(const char *part)
{
    struct stat st;

    if (stat(part, &st) == 0 && st.st_size == 0)
        (void)unlink(part);
}

static uint64_t size_of(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 ? (uint64_t)st.st_size : 0;
}

/* One file from one place. What a broken transfer left is gone on with once; if that
 * gives other bytes, all is loaded anew. *came: bytes that were not here before. */
static int try_file(struct bz_fetch *f, struct bz_source *s, const struct bz_uri *from,
                    const struct bz_scheme *scheme, uint64_t *came, struct bz_err *err)
{
    const char *part = beside(f, s, ".bz-part");
    bool resumed = s->sums.kinds != 0 && bz_fs_exists(AT_FDCWD, part);
    char got[BZ_CHECKSUM_HEX];
    int rc;

    for (;;) {
        BZ_CLEANUP(bz_fs_closep) int fd = -1;
        uint64_t had = 0;

        rc = open_part(part, s->sums.kinds != 0, &fd, err);
        if (rc == 0) {
            had = size_of(fd);
            rc = scheme->download(f, s, from, fd, err);
        }
        if (rc < 0) {
            drop_empty(part);
            break;
        }
        *came = size_of(fd) > had ? size_of(fd) - had : size_of(fd);
        rc = bz_expect_file(&s->sums, fd, "what came", got, err);
        if (rc == 0)
            rc = publish(f, s, fd, part, err);
        if (rc == 0)
            return judge_missing(f, s, fd, err);
        (void)unlink(part);
        if (rc != BZ_E_CORRUPT || !resumed)
            break;
        resumed = false;
    }
    return rc;
}

static int try_place(struct bz_fetch *f, struct bz_source *s, const struct bz_uri *from,
                     struct bz_err *err)
{
    const struct bz_scheme *scheme = find_scheme(from->scheme);
    int rc = bz_cancel_check(f->opts.cancel);
    int64_t began = bz_clock_now();
    uint64_t came = 0;

    if (rc < 0)
        return bz_fail(err, rc, "stopped");
    if (!s->scheme->checked)
        rc = s->scheme->download(f, s, from, -1, err);
    else if (!scheme || !(scheme->checked || scheme->local))
        rc = bz_fail(err, BZ_E_NOSUP, "a mirror of the kind %.*s:// is no use",
                     BZ_STR_ARG(from->scheme));
    else
        rc = try_file(f, s, from, scheme, &came, err);
    if (rc == 0 && f->opts.watch.fetched)
        f->opts.watch.fetched(f->opts.watch.ctx, bz_uri_shown(&f->arena, from).p, came,
                              bz_clock_now() - began);
    return rc;
}

/* What went wrong, place by place. */
struct trial {
    struct bz_buf why;
    unsigned places;
    int worst; /* the code to report */
};

/* Other places do not help: we are to stop, or the file came and lacks a checksum. */
static bool final(const struct bz_fetch *f, const struct bz_source *s, int rc)
{
    return bz_cancel_check(f->opts.cancel) < 0 ||
           (rc == BZ_E_INVAL && s->scheme->checked && s->sums.kinds == 0);
}

static void remember(struct trial *t, const char *shown, int rc,
                     const struct bz_err *err)
{
    bz_buf_addf(&t->why, "%s%s: %s", t->places++ ? "\n" : "", shown, err->msg);
    if (t->worst == 0 || rc == BZ_E_CORRUPT || t->worst == BZ_E_NOSUP)
        t->worst = rc;
}

/* 1 if one of the mirrors had it. */
static int try_mirrors(struct bz_fetch *f, struct bz_source *s, struct bz_str pairs,
                       struct trial *t, struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct bz_mirrors places = {0};
    int rc =
        bz_mirror_list(&f->arena, pairs, &s->uri, s->scheme->checked ? s->path : NULL,
                       s->tarball, &places, err);

    for (size_t i = 0; rc == 0 && i < places.len; i++) {
        struct bz_uri from;
        const char *shown;

        rc = bz_uri_parse(&f->arena, places.at[i], &from, err);
        if (rc < 0)
            break;
        if (!bz_policy_trusts(&f->policy, from.host))
            continue;
        shown = bz_uri_shown(&f->arena, &from).p;
        rc = try_place(f, s, &from, err);
        if (rc == 0)
            return 1;
        if (final(f, s, rc))
            return rc;
        if (rc == BZ_E_CORRUPT)
            note(f, "%s: %s", shown, err->msg);
        remember(t, shown, rc, err);
        rc = 0;
    }
    return rc;
}

static int try_upstream(struct bz_fetch *f, struct bz_source *s, struct trial *t,
                        struct bz_err *err)
{
    int rc;

    if (f->policy.premirror_only)
        rc = bz_fail(err, BZ_E_NOSUP,
                     "not asked, because BB_FETCH_PREMIRRORONLY is set");
    else
        rc = try_place(f, s, &s->uri, err);
    if (rc == 0)
        return 1;
    if (final(f, s, rc))
        return rc;
    remember(t, s->shown, rc, err);
    return 0;
}

static int get_remote(struct bz_fetch *f, struct bz_source *s, struct bz_err *err)
{
    struct trial t = {0};
    int rc = try_mirrors(f, s, f->policy.premirrors, &t, err);

    if (rc == 0)
        rc = try_upstream(f, s, &t, err);
    if (rc == 0 && !f->policy.premirror_only)
        rc = try_mirrors(f, s, f->policy.mirrors, &t, err);
    if (rc == 0) {
        rc = t.places == 1 ? bz_fail(err, t.worst, "%s",
                                     bz_buf_text(&t.why) + strlen(s->shown) + 2)
                           : bz_fail(err, t.worst, "none of %u places has it:\n%s",
                                     t.places, bz_buf_text(&t.why));
    }
    bz_buf_release(&t.why);
    return rc < 0 ? rc : 0;
}

static int prepare_dir(struct bz_fetch *f, const struct bz_source *s,
                       struct bz_err *err)
{
    struct bz_str dir = bz_path_dirname(bz_str_from(s->path));

    return bz_fs_mkdirs(AT_FDCWD, bz_arena_dup(&f->arena, dir).p, 0755, err);
}

static int is_there(struct bz_fetch *f, struct bz_source *s, struct bz_err *err)
{
    int rc;

    if (!s->scheme->checked)
        return s->scheme->present(f, s, err);
    rc = look(f, s, err);
    return rc == 0 ? take_back(f, s, err) : rc;
}

static int get(struct bz_fetch *f, struct bz_source *s, enum bz_fetch_how *how,
               struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep) int lock = -1;
    int rc;

    *how = BZ_FETCH_PRESENT;
    if (s->scheme->local) {
        rc = is_there(f, s, err);
        return rc < 0 ? rc : 0;
    }
    rc = prepare_dir(f, s, err);
    if (rc == 0)
        rc = bz_fetch_lock(f, beside(f, s, ".lock"), &lock, err);
    if (rc == 0)
        rc = is_there(f, s, err);
    if (rc != 0)
        return rc < 0 ? rc : 0;
    *how = BZ_FETCH_DOWNLOADED;
    return get_remote(f, s, err);
}

int bz_fetch_get(struct bz_fetch *f, size_t i, enum bz_fetch_how *how,
                 struct bz_err *err)
{
    struct bz_source *s = BZ_VEC_AT(&f->all, i);
    enum bz_fetch_how ignored;
    int rc = get(f, s, how ? how : &ignored, err);

    return rc < 0 ? bz_err_wrap(err, "%s", s->shown) : 0;
}

int bz_fetch_verified(struct bz_fetch *f, struct bz_source *s, int *fd,
                      struct bz_err *err)
{
    enum bz_fetch_how ignored;
    char got[BZ_CHECKSUM_HEX];
    int rc = 0;

    for (int i = 0; i < TRIES; i++) {
        rc = bz_fs_open_file(AT_FDCWD, s->path, fd, err);
        if (rc == 0 && s->scheme->checked)
            rc = bz_expect_file(&s->sums, *fd, s->path, got, err);
        if (rc == 0 || !s->scheme->checked || (rc != BZ_E_CORRUPT && rc != BZ_E_NOENT))
            return rc;
        bz_fs_closep(fd);
        rc = get(f, s, &ignored, err);
        if (rc < 0)
            return rc;
    }
    return bz_fail(err, BZ_E_BUSY, "%s is replaced again and again", s->path);
}

_Static_assert(BZ_FETCH_MASKED == BZ_ARCHIVE_MASKED, "one mark for both");

mode_t bz_fetch_umask(const struct bz_fetch *f)
{
    return f->opts.umask ? f->opts.umask : BZ_ARCHIVE_UMASK | BZ_ARCHIVE_MASKED;
}

int bz_fetch_unpack(struct bz_fetch *f, const char *dir, struct bz_err *err)
{
    f->unpacking = true;
    for (size_t i = 0; i < f->all.len; i++) {
        struct bz_source *s = f->all.at[i];
        int rc = s->scheme->unpack ? s->scheme->unpack(f, s, dir, err)
                                   : bz_unpack_source(f, s, dir, err);

        if (rc < 0)
            return bz_err_wrap(err, "unpack %s", s->shown);
    }
    return 0;
}
