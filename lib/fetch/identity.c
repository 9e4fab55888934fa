#include "fetch/identity.h"

#include <fcntl.h>
#include <stdlib.h>

#include "codec/digest.h"
#include "fetch/scheme.h"
#include "os/fs.h"
#include "os/fs_source.h"
#include "os/path.h"

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
