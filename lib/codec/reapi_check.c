#include "codec/reapi_check.h"

#include "base/vec.h"
#include "codec/reapi_name.h"
#include "codec/utf8.h"
#include "os/path.h"

bool bz_reapi_check_utf8(struct bz_str s)
{
    return bz_utf8_valid(s) == s.n;
}

static int cmp_names(const void *a, const void *b)
{
    return bz_str_cmp(*(const struct bz_str *)a, *(const struct bz_str *)b);
}

struct name_list BZ_VEC(struct bz_str);

/* Whether two of the names are the same; sorts them. */
static struct bz_str twice_in(struct name_list *names)
{
    BZ_VEC_SORT(names, cmp_names);
    for (size_t i = 1; i < names->len; i++)
        if (bz_str_eq(names->at[i - 1], names->at[i]))
            return names->at[i];
    return (struct bz_str){0};
}

struct bz_str bz_reapi_check_twice(const struct bz_reapi_dir *d)
{
    BZ_CLEANUP(bz_vec_release) struct name_list names = {0};

    BZ_VEC_RESERVE(&names, d->nfiles + d->ndirs + d->nlinks + d->nwhiteouts);
    for (size_t i = 0; i < d->nfiles; i++)
        BZ_VEC_PUSH(&names, d->files[i].name);
    for (size_t i = 0; i < d->ndirs; i++)
        BZ_VEC_PUSH(&names, d->dirs[i].name);
    for (size_t i = 0; i < d->nlinks; i++)
        BZ_VEC_PUSH(&names, d->links[i].name);
    for (size_t i = 0; i < d->nwhiteouts; i++)
        BZ_VEC_PUSH(&names, d->whiteouts[i]);
    return twice_in(&names);
}

static int check_props(const struct bz_reapi_props *p, struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct name_list names = {0};
    struct bz_str twice;

    if ((p->has_mode && p->mode > BZ_REAPI_CHECK_MODE) ||
        (p->mtime.set && (p->mtime.ns < 0 || p->mtime.ns > BZ_REAPI_CHECK_NANOS)))
        return bz_fail(err, BZ_E_INVAL, "mode or time out of range");
    for (size_t i = 0; i < p->n; i++) {
        if (p->at[i].name.n == 0 || !bz_reapi_check_utf8(p->at[i].name) ||
            !bz_reapi_check_utf8(p->at[i].value))
            return bz_fail(err, BZ_E_INVAL, "a property without a name or not UTF-8");
        BZ_VEC_PUSH(&names, p->at[i].name);
    }
    twice = twice_in(&names);
    if (twice.p)
        return bz_fail(err, BZ_E_INVAL, "property '%.*s' is there twice",
                       BZ_STR_ARG(twice));
    return 0;
}

static int check_name(struct bz_str name, bool *escape, struct bz_err *err)
{
    if (!bz_reapi_name_ok(name))
        return bz_fail(err, BZ_E_INVAL, "'%.*s' names no entry of a directory",
                       BZ_STR_ARG(name));
    *escape |= !bz_reapi_check_utf8(name);
    return 0;
}

static int check_file(const struct bz_reapi_file *f, bool *escape, struct bz_err *err)
{
    int rc = check_name(f->name, escape, err);

    if (rc == 0)
        rc = check_props(&f->props, err);
    if (rc == 0 &&
        (bz_reapi_digest_none(&f->digest) || f->digest.size > BZ_REAPI_SIZE_MAX))
        return bz_fail(err, BZ_E_INVAL, "file '%.*s' has no digest or is too large",
                       BZ_STR_ARG(f->name));
    return rc;
}

static int check_link(const struct bz_reapi_link *l, bool *escape, struct bz_err *err)
{
    int rc = check_name(l->name, escape, err);

    if (rc == 0)
        rc = check_props(&l->props, err);
    if (rc == 0 && !bz_reapi_name_target_ok(l->target))
        return bz_fail(err, BZ_E_INVAL, "link '%.*s' points nowhere",
                       BZ_STR_ARG(l->name));
    *escape |= !bz_reapi_check_utf8(l->target);
    return rc;
}

static int check_own(const struct bz_reapi_props *p, struct bz_err *err)
{
    for (size_t i = 0; i < p->n; i++) {
        struct bz_str name = p->at[i].name;

        if (bz_str_eq(name, BZ_STR(BZ_REAPI_ESCAPE)) ||
            bz_str_eq(name, BZ_STR(BZ_REAPI_OPAQUE)) ||
            bz_str_starts(name, BZ_STR(BZ_REAPI_WHITEOUT)))
            return bz_fail(err, BZ_E_INVAL, "property '%.*s' has a place of its own",
                           BZ_STR_ARG(name));
    }
    return check_props(p, err);
}

int bz_reapi_check_dir(const struct bz_reapi_dir *d, bool *escape, struct bz_err *err)
{
    struct bz_str twice;
    int rc = check_own(&d->props, err);

    for (size_t i = 0; rc == 0 && i < d->nfiles; i++)
        rc = check_file(&d->files[i], escape, err);
    for (size_t i = 0; rc == 0 && i < d->ndirs; i++) {
        rc = check_name(d->dirs[i].name, escape, err);
        if (rc == 0 && bz_reapi_digest_none(&d->dirs[i].digest))
            rc = bz_fail(err, BZ_E_INVAL, "directory '%.*s' has no digest",
                         BZ_STR_ARG(d->dirs[i].name));
    }
    for (size_t i = 0; rc == 0 && i < d->nlinks; i++)
        rc = check_link(&d->links[i], escape, err);
    for (size_t i = 0; rc == 0 && i < d->nwhiteouts; i++)
        rc = check_name(d->whiteouts[i], escape, err);
    if (rc < 0)
        return rc;
    twice = bz_reapi_check_twice(d);
    if (twice.p)
        return bz_fail(err, BZ_E_INVAL, "'%.*s' is twice in a directory",
                       BZ_STR_ARG(twice));
    return 0;
}

static int check_path(struct bz_str path, struct bz_err *err)
{
    if (!bz_path_is_safe(path) || !bz_reapi_check_utf8(path))
        return bz_fail(err, BZ_E_INVAL, "'%.*s' is no path of an output",
                       BZ_STR_ARG(path));
    return 0;
}

static int check_outfile(const struct bz_reapi_outfile *f, struct bz_err *err)
{
    int rc = check_path(f->path, err);

    if (rc == 0)
        rc = check_props(&f->props, err);
    if (rc == 0 && bz_reapi_digest_none(&f->digest))
        return bz_fail(err, BZ_E_INVAL, "output '%.*s' has no digest",
                       BZ_STR_ARG(f->path));
    return rc;
}

static int check_outdir(const struct bz_reapi_outdir *d, struct bz_err *err)
{
    if (bz_reapi_digest_none(&d->tree) && bz_reapi_digest_none(&d->root))
        return bz_fail(err, BZ_E_INVAL, "output '%.*s' has no digest",
                       BZ_STR_ARG(d->path));
    return d->path.n > 0 ? check_path(d->path, err) : 0;
}

static int check_outlink(const struct bz_reapi_link *l, struct bz_err *err)
{
    int rc = check_path(l->name, err);

    if (rc == 0)
        rc = check_props(&l->props, err);
    if (rc == 0 &&
        (!bz_reapi_name_target_ok(l->target) || !bz_reapi_check_utf8(l->target)))
        return bz_fail(err, BZ_E_INVAL, "link '%.*s' points nowhere",
                       BZ_STR_ARG(l->name));
    return rc;
}

int bz_reapi_check_result(const struct bz_reapi_result *r, struct bz_err *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < r->nfiles; i++)
        rc = check_outfile(&r->files[i], err);
    for (size_t i = 0; rc == 0 && i < r->ndirs; i++)
        rc = check_outdir(&r->dirs[i], err);
    for (size_t i = 0; rc == 0 && i < r->nlinks; i++)
        rc = check_outlink(&r->links[i], err);
    return rc;
}
