#include "fetch/patch.h"

#include <stdio.h>
#include <sys/stat.h>

#include "fetch/fetch_git.h"
#include "fetch/scheme.h"
#include "fetch/tool.h"
#include "os/path.h"

#define PATIENCE (600 * BZ_CLOCK_S)

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

/* "Hunk #2 succeeded at 7 with fuzz 1 (offset 3 lines)." */
static void note_fuzz(const struct bz_patch *p, struct bz_str said, struct bz_buf *fuzz)
{
    struct bz_str line;

    while (said.n > 0 && bz_str_next_part(&said, '\n', &line))
        if (bz_str_find(line, BZ_STR(" with fuzz ")) != BZ_STR_NONE)
            bz_buf_addf(fuzz, "%.*s: %.*s\n", BZ_STR_ARG(p->name),
                        BZ_STR_ARG(bz_str_trim(line)));
}

static int run(const struct bz_patch *p, struct bz_tool *t, struct bz_buf *said,
               struct bz_err *err)
{
    int rc;

    t->merge = true;
    t->patience = PATIENCE;
    rc = bz_tool_run(t, said, err);
    if (rc == BZ_E_IO)
        return bz_fail(err, BZ_E_INVAL, "%.*s does not apply: %s", BZ_STR_ARG(p->name),
                       err->msg);
    return rc < 0 ? bz_err_wrap(err, "%.*s", BZ_STR_ARG(p->name)) : 0;
}

int bz_patch_apply(const struct bz_patch *p, enum bz_patch_by by, const char *source,
                   const char *unpacked, struct bz_buf *fuzz, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf said = {0};
    struct bz_path dir, file;
    struct bz_tool t = {0};
    char strip[16];
    int rc = bz_path_join(bz_str_from(source), p->below, &dir, err);

    if (rc == 0)
        rc = bz_path_join(bz_str_from(unpacked), p->file, &file, err);
    if (rc < 0)
        return rc;
    snprintf(strip, sizeof(strip), "-p%u", p->strip);
    if (by == BZ_PATCH_GIT) {
        bz_fetch_git_tool(&t, NULL, dir.s);
        bz_tool_add(&t, "apply");
        bz_tool_add(&t, strip);
        bz_tool_add(&t, "--");
        bz_tool_add(&t, file.s);
        return run(p, &t, &said, err);
    }
    /* First without writing, so that half of a patch is never applied. */
    for (int dry = 1; rc == 0 && dry >= 0; dry--) {
        memset(&t, 0, sizeof(t));
        bz_buf_truncate(&said, 0);
        t.cwd = dir.s;
        bz_tool_add(&t, "patch");
        bz_tool_add(&t, strip);
        bz_tool_add(&t, "--force");
        bz_tool_add(&t, "--no-backup-if-mismatch");
        bz_tool_add(&t, "-i");
        bz_tool_add(&t, file.s);
        if (dry)
            bz_tool_add(&t, "--dry-run");
        rc = run(p, &t, &said, err);
    }
    if (rc == 0)
        note_fuzz(p, bz_buf_str(&said), fuzz);
    return rc;
}
