#include "fetch/patch.h"

#include <sys/stat.h>

#include "fetch/scheme.h"
#include "os/path.h"

/* The name without a compression's ending; true if it had one. */
static bool cut_compression(struct bz_str *name)
{
    static const char *const ends[] = {".gz", ".bz2", ".xz", ".Z", ".zst"};

    for (size_t i = 0; i < BZ_COUNTOF(ends); i++)
        if (bz_str_cut_suffix(name, bz_str_from(ends[i])))
            return true;
    return false;
}

/* 1 if it is a patch to apply. */
static int is_patch(const struct bz_source *s, struct bz_str name, struct bz_err *err)
{
    struct stat st;
    bool apply, by_name;
    int rc;

    cut_compression(&name);
    by_name = bz_str_ends(name, BZ_STR(".patch")) || bz_str_ends(name, BZ_STR(".diff"));
    if (stat(s->path, &st) == 0 && S_ISDIR(st.st_mode))
        by_name = false;
    rc = bz_uri_flag(&s->uri, "apply", by_name, &apply, err);
    return rc < 0 ? rc : apply;
}

/* Where unpacking puts it: compressed ones expanded to the top, local ones under the
 * directories of their name. */
static int place(struct bz_fetch *f, const struct bz_source *s, struct bz_str *out,
                 struct bz_err *err)
{
    struct bz_str name = bz_path_basename(bz_str_from(s->path));
    struct bz_str subdir = bz_uri_param(&s->uri, "subdir");
    bool unpack;
    int rc = bz_uri_flag(&s->uri, "unpack", true, &unpack, err);

    if (rc < 0)
        return rc;
    if (unpack && cut_compression(&name)) {
        *out = bz_arena_dup(&f->arena, name);
        return 0;
    }
    if (s->scheme->local)
        name = s->uri.path;
    while (bz_str_cut_prefix(&name, BZ_STR("/")))
        ;
    *out = bz_arena_printf(&f->arena, "%.*s%s%.*s", BZ_STR_ARG(subdir),
                           subdir.n > 0 ? "/" : "", BZ_STR_ARG(name));
    return 0;
}

static int make_row(struct bz_fetch *f, const struct bz_source *s, struct bz_patch *p,
                    struct bz_err *err)
{
    struct bz_str strip = bz_uri_param(&s->uri, "striplevel");
    uint64_t n = 1;
    int rc = place(f, s, &p->file, err);

    if (!strip.p)
        strip = bz_uri_param(&s->uri, "pnum");
    if (rc == 0 && strip.p)
        rc = bz_str_parse_u64(strip, 10, 64, &n, err);
    if (rc < 0)
        return bz_err_wrap(err, "%s", s->shown);
    p->strip = (unsigned)n;
    p->name = bz_uri_param(&s->uri, "pname");
    if (p->name.n == 0)
        p->name = bz_path_basename(p->file);
    p->below = bz_uri_param(&s->uri, "patchdir");
    if (!p->below.p)
        p->below = BZ_STR("");
    return 0;
}

int bz_patch_list(struct bz_fetch *f, struct bz_patches *out, struct bz_err *err)
{
    for (size_t i = 0; i < f->all.len; i++) {
        const struct bz_source *s = f->all.at[i];
        struct bz_patch p = {0};
        int rc;

        if (s->scheme->unpack) /* a repository or package, no single file */
            continue;
        rc = is_patch(s, bz_path_basename(bz_str_from(s->path)), err);
        if (rc > 0) {
            rc = make_row(f, s, &p, err);
            if (rc == 0)
                BZ_VEC_PUSH(out, p);
        }
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* NAME FILE DIRECTORY STRIP. First without writing, so that half of a patch is never
 * applied. */
static const char with_patch[] =
    "apply_patch() (\n"
    "cd -- \"$3\" || bbfatal \"$1: there is no directory $3 to apply it in\"\n"
    "said=$(patch -p\"$4\" --force --no-backup-if-mismatch --dry-run -i \"$2\" 2>&1) "
    "||\n"
    "{ echo \"$said\"; bbfatal \"$1 does not apply\"; }\n"
    "case $said in *\" with fuzz \"*) bbwarn \"$1 only fits nearly: make it anew\" ;; "
    "esac\n"
    "patch -p\"$4\" --force --no-backup-if-mismatch -i \"$2\"\n"
    ")\n";

static const char with_git[] =
    "apply_patch() (\n"
    "cd -- \"$3\" || bbfatal \"$1: there is no directory $3 to apply it in\"\n"
    /* It looks for a repository around it otherwise, and leaves out what is not in. */
    "GIT_CEILING_DIRECTORIES=$(dirname \"$PWD\") git apply -p\"$4\" -- \"$2\" ||\n"
    "bbfatal \"$1 does not apply\"\n"
    ")\n";

void bz_patch_script(const struct bz_patches *all, enum bz_patch_by by,
                     struct bz_str source, struct bz_str unpacked, struct bz_buf *out)
{
    if (all->len == 0) {
        bz_buf_addf(out, "bbnote 'there are no patches'\n");
        return;
    }
    bz_buf_addf(out, "%s", by == BZ_PATCH_GIT ? with_git : with_patch);
    for (size_t i = 0; i < all->len; i++) {
        const struct bz_patch *p = &all->at[i];
        BZ_CLEANUP(bz_buf_release) struct bz_buf file = {0}, dir = {0};

        bz_buf_addf(&file, "%.*s/%.*s", BZ_STR_ARG(unpacked), BZ_STR_ARG(p->file));
        bz_buf_addf(&dir, "%.*s", BZ_STR_ARG(source));
        if (p->below.n > 0 && p->below.p[0] == '/')
            bz_buf_truncate(&dir, 0);
        else if (p->below.n > 0)
            bz_buf_add_char(&dir, '/');
        bz_buf_add_str(&dir, p->below);
        bz_buf_addf(out, "bbnote applying ");
        bz_buf_add_quoted(out, p->name);
        bz_buf_addf(out, "\napply_patch ");
        bz_buf_add_quoted(out, p->name);
        bz_buf_add_char(out, ' ');
        bz_buf_add_quoted(out, bz_buf_str(&file));
        bz_buf_add_char(out, ' ');
        bz_buf_add_quoted(out, bz_buf_str(&dir));
        bz_buf_addf(out, " %u\n", p->strip);
    }
}
