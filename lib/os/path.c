#include "os/path.h"

#include <limits.h>

static const struct bz_str dot = {".", 1};
static const struct bz_str dotdot = {"..", 2};

static struct bz_str without_end_slashes(struct bz_str p)
{
    while (p.n > 1 && p.p[p.n - 1] == '/')
        p.n--;
    return p;
}

/* The next component, skipping slashes and "."; false at the end. */
static bool next_name(struct bz_str *rest, struct bz_str *name)
{
    while (bz_str_next_part(rest, '/', name))
        if (name->n && !bz_str_eq(*name, dot))
            return true;
    return false;
}

static int append(struct bz_path *out, struct bz_str more, struct bz_err *err)
{
    if (more.n >= sizeof(out->s) - out->n)
        return bz_fail(err, BZ_E_LIMIT, "path of more than %d bytes: %.40s...",
                       BZ_PATH_MAX - 1, out->s);
    if (more.n)
        memcpy(out->s + out->n, more.p, more.n);
    out->n += more.n;
    out->s[out->n] = '\0';
    return 0;
}

/* Appends a component, after a slash where one is needed. */
static int append_name(struct bz_path *out, struct bz_str name, struct bz_err *err)
{
    if (out->n && out->s[out->n - 1] != '/') {
        int rc = append(out, BZ_STR("/"), err);

        if (rc < 0)
            return rc;
    }
    return append(out, name, err);
}

static int refuse_nul(struct bz_str p, struct bz_err *err)
{
    if (bz_str_find_byte(p, '\0') == BZ_STR_NONE)
        return 0;
    return bz_fail(err, BZ_E_INVAL, "path with a NUL byte: %.*s", BZ_STR_ARG(p));
}

static void reset(struct bz_path *out)
{
    out->n = 0;
    out->s[0] = '\0';
}

bool bz_path_is_absolute(struct bz_str p)
{
    return p.n && p.p[0] == '/';
}

struct bz_str bz_path_dirname(struct bz_str p)
{
    size_t slash;

    p = without_end_slashes(p);
    slash = bz_str_rfind_byte(p, '/');
    if (slash == BZ_STR_NONE)
        return dot;
    return without_end_slashes(bz_str_sub(p, 0, slash ? slash : 1));
}

struct bz_str bz_path_basename(struct bz_str p)
{
    size_t slash;

    p = without_end_slashes(p);
    slash = bz_str_rfind_byte(p, '/');
    if (slash == BZ_STR_NONE || p.n == 1)
        return p;
    return bz_str_sub(p, slash + 1, p.n);
}

int bz_path_join(struct bz_str base, struct bz_str p, struct bz_path *out,
                 struct bz_err *err)
{
    int rc;

    reset(out);
    rc = refuse_nul(base, err);
    if (rc == 0)
        rc = refuse_nul(p, err);
    if (rc == 0 && !bz_path_is_absolute(p))
        rc = append(out, base, err);
    if (rc == 0 && p.n)
        rc = append_name(out, p, err);
    return rc;
}

/* Takes the last component off again; false when there is none that ".." could undo. */
static bool drop_name(struct bz_path *out, bool absolute)
{
    struct bz_str name = bz_path_basename(bz_path_str(out));

    if (out->n <= (absolute ? 1 : 0))
        return absolute; /* the root's parent is the root */
    if (bz_str_eq(name, dotdot))
        return false;
    out->n -= name.n;
    if (out->n > 1 || (out->n == 1 && !absolute))
        out->n--; /* the slash before it */
    out->s[out->n] = '\0';
    return true;
}

int bz_path_normalise(struct bz_str p, struct bz_path *out, struct bz_err *err)
{
    bool absolute = bz_path_is_absolute(p);
    struct bz_str name;
    int rc = refuse_nul(p, err);

    reset(out);
    if (rc < 0)
        return rc;
    if (absolute)
        rc = append(out, BZ_STR("/"), err);
    while (rc == 0 && next_name(&p, &name))
        if (!bz_str_eq(name, dotdot) || !drop_name(out, absolute))
            rc = append_name(out, name, err);
    if (rc == 0 && out->n == 0)
        rc = append(out, dot, err);
    return rc;
}

int bz_path_relative(struct bz_str from, struct bz_str to, struct bz_path *out,
                     struct bz_err *err)
{
    struct bz_path a, b;
    struct bz_str rest_a, rest_b, next_a, next_b, name;
    int rc;

    reset(out);
    if (bz_path_is_absolute(from) != bz_path_is_absolute(to))
        return bz_fail(err, BZ_E_INVAL, "no relative path from '%.*s' to '%.*s'",
                       BZ_STR_ARG(from), BZ_STR_ARG(to));
    rc = bz_path_normalise(from, &a, err);
    if (rc < 0)
        return rc;
    rc = bz_path_normalise(to, &b, err);
    if (rc < 0)
        return rc;

    /* Leave out what both begin with. */
    next_a = rest_a = bz_path_str(&a);
    next_b = rest_b = bz_path_str(&b);
    for (struct bz_str x, y;
         next_name(&next_a, &x) && next_name(&next_b, &y) && bz_str_eq(x, y);) {
        rest_a = next_a;
        rest_b = next_b;
    }
    while (rc == 0 && next_name(&rest_a, &name)) {
        if (bz_str_eq(name, dotdot))
            return bz_fail(err, BZ_E_INVAL, "no relative path from '%s' to '%s'", a.s,
                           b.s);
        rc = append_name(out, dotdot, err);
    }
    while (rc == 0 && next_name(&rest_b, &name))
        rc = append_name(out, name, err);
    if (rc == 0 && out->n == 0)
        rc = append(out, dot, err);
    return rc;
}

bool bz_path_is_safe(struct bz_str p)
{
    struct bz_str name;

    if (p.n == 0 || p.n >= BZ_PATH_MAX || bz_path_is_absolute(p) ||
        bz_str_find_byte(p, '\0') != BZ_STR_NONE)
        return false;
    while (next_name(&p, &name))
        if (name.n > NAME_MAX || bz_str_eq(name, dotdot))
            return false;
    return true;
}
