#include "fetch/identity.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>

#include "codec/digest.h"
#include "fetch/fetch_git.h"
#include "fetch/scheme.h"
#include "os/fs.h"
#include "os/fs_source.h"
#include "os/path.h"

/* ---- an entry ---- */

static void add_field(struct bz_identity_fields *out, const char *name,
                      struct bz_str value)
{
    BZ_VEC_PUSH(out, (struct bz_identity_field){bz_str_from(name), value});
}

/* scheme://host/path?query as it stands in the recipe, without user and password. */
static struct bz_str place_of(struct bz_fetch *f, const struct bz_uri *u)
{
    size_t at = bz_str_find(u->place, BZ_STR("://"));
    struct bz_str rest = u->place;

    if (u->host.n == 0 || at == BZ_STR_NONE)
        return bz_arena_printf(&f->arena, "%.*s://%.*s", BZ_STR_ARG(u->scheme),
                               BZ_STR_ARG(u->path));
    rest = bz_str_sub(rest, at + 3, rest.n);
    for (at = 0; at < rest.n && !strchr("/?#", rest.p[at]); at++)
        ;
    rest = bz_str_sub(rest, at, rest.n);
    return bz_arena_printf(&f->arena, "%.*s://%.*s%.*s", BZ_STR_ARG(u->scheme),
                           BZ_STR_ARG(u->host), BZ_STR_ARG(rest));
}

static bool is_secret(struct bz_str name)
{
    return bz_str_has_word(BZ_STR("user pswd passwd password token"), name);
}

static int by_name(const void *a, const void *b)
{
    const struct bz_identity_field *x = a, *y = b;

    return bz_str_cmp(x->name, y->name);
}

/* Of several parameters with a name the last one counts. */
static void add_params(struct bz_fetch *f, const struct bz_uri *u,
                       struct bz_identity_fields *out)
{
    size_t first = out->len;

    for (size_t i = 0; i < u->nparams; i++) {
        bool last = true;

        for (size_t k = i + 1; k < u->nparams; k++)
            last = last && !bz_str_eq(u->params[k].name, u->params[i].name);
        if (last && !is_secret(u->params[i].name))
            add_field(
                out,
                bz_arena_printf(&f->arena, ";%.*s", BZ_STR_ARG(u->params[i].name)).p,
                u->params[i].value);
    }
    if (out->len > first)
        qsort(out->at + first, out->len - first, sizeof(out->at[0]), by_name);
}

static void add_sums(struct bz_fetch *f, const struct bz_expect *sums,
                     struct bz_identity_fields *out)
{
    for (int i = 0; i < BZ_CHECKSUM_KINDS; i++) {
        struct bz_str want = sums->want[i];
        char *digits;

        if (want.n == 0)
            continue;
        digits = bz_arena_alloc(&f->arena, want.n + 1, 1);
        for (size_t k = 0; k < want.n; k++)
            digits[k] = (char)tolower((unsigned char)want.p[k]);
        digits[want.n] = '\0';
        add_field(out,
                  bz_arena_printf(&f->arena, "%ssum",
                                  bz_checksum_name((enum bz_checksum_kind)i))
                      .p,
                  bz_str_of(digits, want.n));
    }
}

static int add_commit(struct bz_fetch *f, struct bz_source *s,
                      struct bz_identity_fields *out, struct bz_err *err)
{
    struct bz_str suffix = {0}, question = bz_fetch_question(s);
    int rc = question.n > 0 ? 0 : bz_fetch_git_check(f, s, err);

    if (rc == 0)
        rc = bz_policy_get(&f->policy, "BB_GIT_DEFAULT_DESTSUFFIX", &suffix, err);
    if (rc < 0)
        return bz_err_wrap(err, "%s", s->shown);
    add_field(out, question.n > 0 ? "revision" : "commit",
              question.n > 0 ? question : s->revision);
    if (suffix.n > 0)
        add_field(out, "destsuffix", bz_arena_dup(&f->arena, suffix));
    return 0;
}

int bz_identity_fields(struct bz_fetch *f, size_t i, struct bz_identity_fields *out,
                       struct bz_err *err)
{
    struct bz_source *s = BZ_VEC_AT(&f->all, i);

    add_field(out, "uri", place_of(f, &s->uri));
    add_params(f, &s->uri, out);
    add_sums(f, &s->sums, out);
    return s->scheme->resolve ? add_commit(f, s, out, err) : 0;
}

/* ---- a fetched source ---- */

struct lines {
    struct bz_digest_hasher *hasher;
    struct bz_str name; /* of the source */
    struct bz_buf *out;
};

/* Names come from elsewhere: a newline must not make two lines of one. */
static void add_name(struct bz_buf *out, struct bz_str name)
{
    for (size_t i = 0; i < name.n; i++) {
        unsigned char c = (unsigned char)name.p[i];

        if (c <= ' ' || c == '%')
            bz_buf_addf(out, "%%%02x", c);
        else
            bz_buf_add_char(out, (char)c);
    }
}

static void begin_line(const struct lines *l, const char *kind, const char *path)
{
    bz_buf_addf(l->out, "%s ", kind);
    add_name(l->out, l->name);
    if (path) {
        bz_buf_add_char(l->out, '/');
        add_name(l->out, bz_str_from(path));
    }
    bz_buf_add_char(l->out, ' ');
}

static int add_file(const struct lines *l, int dir, const char *name, const char *path,
                    mode_t mode, struct bz_err *err)
{
    char hex[BZ_DIGEST_HEX_LEN + 1];
    struct bz_digest digest;
    uint64_t size;
    int rc = bz_digest_file(l->hasher, dir, name, &digest, &size, err);

    if (rc < 0)
        return rc;
    bz_digest_hex(&digest, hex);
    begin_line(l, mode & S_IXUSR ? "program" : "file", path);
    bz_buf_addf(l->out, "%s\n", hex);
    return 0;
}

static int add_entry(void *ctx, const struct bz_fs_walk_entry *e, struct bz_err *err)
{
    const struct lines *l = ctx;
    char *says = NULL;
    int rc = 0;

    if (S_ISREG(e->st->st_mode)) {
        rc = add_file(l, e->dir, e->name, e->path, e->st->st_mode, err);
    } else if (S_ISLNK(e->st->st_mode)) {
        rc = bz_fs_readlink(e->dir, e->name, &says, err);
        if (rc == 0) {
            begin_line(l, "link", e->path);
            add_name(l->out, bz_str_from(says));
            bz_buf_add_char(l->out, '\n');
        }
        free(says);
    } else {
        begin_line(l, "directory", e->path);
        bz_buf_add_char(l->out, '\n');
    }
    return rc < 0 ? rc : BZ_FS_WALK_ON;
}

static int add_tree(const struct bz_fetch *f, const struct bz_source *s,
                    struct lines *l, struct bz_err *err)
{
    struct bz_str excluded;
    int rc =
        bz_policy_get(&f->policy, "BB_SIGNATURE_LOCAL_DIRS_EXCLUDE", &excluded, err);

    return rc < 0 ? rc
                  : bz_fs_source_walk(s->path, bz_fs_source_excluded(excluded),
                                      add_entry, l, err);
}

int bz_identity_write(const struct bz_fetch *f, size_t i, struct bz_buf *out,
                      struct bz_err *err)
{
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *hasher = NULL;
    const struct bz_source *s = f->all.at[i];
    struct lines l = {.name = bz_path_basename(bz_str_from(s->path)), .out = out};
    struct stat st;
    int rc = bz_digest_hasher_new(&hasher, err);

    if (rc < 0)
        return rc;
    l.hasher = hasher;
    if (s->scheme->local)
        l.name = s->uri.path;
    if (s->revision.n > 0) {
        begin_line(&l, "commit", NULL);
        bz_buf_addf(out, "%.*s\n", BZ_STR_ARG(s->revision));
        return 0;
    }
    if (stat(s->path, &st) < 0)
        return bz_fail_sys(err, "look at %s", s->path);
    if (S_ISDIR(st.st_mode))
        return add_tree(f, s, &l, err);
    return add_file(&l, AT_FDCWD, s->path, NULL, st.st_mode, err);
}
