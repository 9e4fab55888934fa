#include "vars/expr_os.h"

#include <sched.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "os/clock.h"
#include "vars/expr_real.h"
#include "vars/store.h"

void bz_expr_os_impure(struct bz_expr_run *r, bool clock)
{
    if (!r->vars)
        return;
    if (clock)
        r->vars->impure.clock++;
    else
        r->vars->impure.host++;
}

enum { EXISTS, LEXISTS, IS_FILE, IS_DIR, IS_LINK, IS_PROGRAM };

static int want_path(struct bz_expr_run *r, const struct bz_expr_value *v)
{
    if (v->kind == BZ_EXPR_STR)
        return 0;
    if (v->kind == BZ_EXPR_NONE || v->kind == BZ_EXPR_LIST)
        return bz_fail(r->err, BZ_E_INVAL,
                       "TypeError: expected str, bytes or os.PathLike object, not %s",
                       bz_expr_value_type(v));
    return bz_expr_value_unknown(r, "a path that is no string");
}

/* Where the last component begins. */
static size_t base_at(struct bz_str path)
{
    size_t slash = bz_str_rfind_byte(path, '/');

    return slash == BZ_STR_NONE ? 0 : slash + 1;
}

/* All before the last component, without the slashes at its end unless it is only
 * those. */
static struct bz_str head_of(struct bz_str path)
{
    struct bz_str head = bz_str_sub(path, 0, base_at(path));
    size_t n = head.n;

    while (n > 0 && head.p[n - 1] == '/')
        n--;
    return n ? bz_str_sub(head, 0, n) : head;
}

static int basename_(struct bz_expr_run *r, const struct bz_expr_args *a,
                     struct bz_expr_value *out)
{
    struct bz_str path = a->at[0].s;
    int rc = want_path(r, &a->at[0]);

    if (rc == 0)
        *out = bz_expr_value_part(&a->at[0], bz_str_sub(path, base_at(path), path.n));
    return rc;
}

static int dirname_(struct bz_expr_run *r, const struct bz_expr_args *a,
                    struct bz_expr_value *out)
{
    int rc = want_path(r, &a->at[0]);

    if (rc == 0)
        *out = bz_expr_value_part(&a->at[0], head_of(a->at[0].s));
    return rc;
}

static int push_two(struct bz_expr_run *r, const struct bz_expr_value *of,
                    struct bz_str head, struct bz_str tail, struct bz_expr_value *out)
{
    struct bz_expr_seq *both;
    int rc = bz_expr_value_new_seq(r, 2, &both);

    if (rc < 0)
        return rc;
    both->at[0] = bz_expr_value_part(of, head);
    both->at[1] = bz_expr_value_part(of, tail);
    both->len = 2;
    *out = bz_expr_value_seq(BZ_EXPR_TUPLE, both);
    return 0;
}

static int split(struct bz_expr_run *r, const struct bz_expr_args *a,
                 struct bz_expr_value *out)
{
    struct bz_str path = a->at[0].s;
    int rc = want_path(r, &a->at[0]);

    if (rc < 0)
        return rc;
    return push_two(r, &a->at[0], head_of(path),
                    bz_str_sub(path, base_at(path), path.n), out);
}

/* The dots that a name begins with are no extension. */
static int splitext(struct bz_expr_run *r, const struct bz_expr_args *a,
                    struct bz_expr_value *out)
{
    struct bz_str path = a->at[0].s;
    size_t dot, i;
    int rc = want_path(r, &a->at[0]);

    if (rc < 0)
        return rc;
    i = base_at(path);
    while (i < path.n && path.p[i] == '.')
        i++;
    dot = bz_str_rfind_byte(bz_str_sub(path, i, path.n), '.');
    dot = dot == BZ_STR_NONE ? path.n : i + dot;
    return push_two(r, &a->at[0], bz_str_sub(path, 0, dot),
                    bz_str_sub(path, dot, path.n), out);
}

static int is_absolute(struct bz_expr_run *r, const struct bz_expr_args *a,
                       struct bz_expr_value *out)
{
    int rc = want_path(r, &a->at[0]);

    if (rc == 0)
        *out = bz_expr_value_bool(bz_str_starts(a->at[0].s, BZ_STR("/")));
    return rc;
}

int bz_expr_os_join(struct bz_expr_run *r, struct bz_str a, struct bz_str b,
                    struct bz_expr_value *out)
{
    bool slash = a.n > 0 && a.p[a.n - 1] != '/';
    char *text;
    int rc;

    *out = bz_expr_value_str(b);
    if (bz_str_starts(b, BZ_STR("/")) || a.n == 0)
        return 0;
    if ((rc = bz_expr_value_room(r, a.n + slash + b.n, &text)) < 0)
        return rc;
    memcpy(text, a.p, a.n);
    if (slash)
        text[a.n] = '/';
    if (b.n)
        memcpy(text + a.n + slash, b.p, b.n);
    *out = bz_expr_value_str(bz_str_of(text, a.n + slash + b.n));
    return 0;
}

static int join(struct bz_expr_run *r, const struct bz_expr_args *a,
                struct bz_expr_value *out)
{
    size_t i;
    int rc = want_path(r, &a->at[0]);

    *out = a->at[0];
    for (i = 1; rc == 0 && i < a->n; i++) {
        if (a->at[i].kind == BZ_EXPR_NONE || a->at[i].kind == BZ_EXPR_LIST)
            return bz_fail(r->err, BZ_E_INVAL,
                           "TypeError: join() argument must be str, bytes, or "
                           "os.PathLike object, not '%s'",
                           bz_expr_value_type(&a->at[i]));
        rc = want_path(r, &a->at[i]);
        if (rc == 0)
            rc = bz_expr_os_join(r, out->s, a->at[i].s, out);
    }
    return rc;
}

/* Appends a component to n bytes that are normalised, or takes one off for "..". */
static size_t step(char *to, size_t root, size_t n, struct bz_str part)
{
    struct bz_str have = bz_str_of(to, n);
    struct bz_str last =
        bz_str_sub(have, base_at(have) > root ? base_at(have) : root, n);

    if (part.n == 0 || bz_str_eq(part, BZ_STR(".")))
        return n;
    if (bz_str_eq(part, BZ_STR(".."))) {
        if (n == root && root > 0)
            return n;
        if (n > root && !bz_str_eq(last, part)) {
            n -= last.n;
            return n > root ? n - 1 : n;
        }
    }
    if (n > root)
        to[n++] = '/';
    memcpy(to + n, part.p, part.n);
    return n + part.n;
}

int bz_expr_os_normpath(struct bz_expr_run *r, struct bz_str path,
                        struct bz_expr_value *out)
{
    struct bz_str rest = path.n ? path : BZ_STR("."), part;
    size_t n, root = 0;
    char *text;
    int rc = bz_expr_value_room(r, rest.n + 1, &text);

    if (rc < 0)
        return rc;
    while (root < rest.n && rest.p[root] == '/')
        root++;
    /* Two slashes at the start, but not three, mean something to POSIX. */
    root = root > 2 ? 1 : root;
    memset(text, '/', root);
    n = root;
    while (bz_str_next_part(&rest, '/', &part))
        n = step(text, root, n, part);
    if (n == 0)
        text[n++] = '.';
    *out = bz_expr_value_str(bz_str_of(text, n));
    return 0;
}

static int normpath(struct bz_expr_run *r, const struct bz_expr_args *a,
                    struct bz_expr_value *out)
{
    int rc = want_path(r, &a->at[0]);

    return rc < 0 ? rc : bz_expr_os_normpath(r, a->at[0].s, out);
}

/* Skips what two lists of components have in common. */
static void skip_common(struct bz_str *a, struct bz_str *b)
{
    struct bz_str next_a = *a, next_b = *b, x, y;

    while (bz_str_next_part(&next_a, '/', &x) && bz_str_next_part(&next_b, '/', &y) &&
           bz_str_eq(x, y)) {
        *a = next_a;
        *b = next_b;
    }
}

/* The components of a normalised absolute path; none has p == NULL. */
static struct bz_str components(struct bz_str path)
{
    while (bz_str_cut_prefix(&path, BZ_STR("/")))
        ;
    return path.n ? path : (struct bz_str){0};
}

int bz_expr_os_relpath(struct bz_expr_run *r, const struct bz_expr_value *path,
                       const struct bz_expr_value *start, struct bz_expr_value *out)
{
    struct bz_expr_value to, from;
    struct bz_str a, b, part;
    char *text;
    size_t n = 0;
    int rc;

    if (!bz_expr_value_true(path))
        return bz_fail(r->err, BZ_E_INVAL, "ValueError: no path specified");
    if (start->kind == BZ_EXPR_NONE)
        return bz_expr_value_unknown(r, "relpath() from the current directory");
    if ((rc = want_path(r, path)) < 0 || (rc = want_path(r, start)) < 0)
        return rc;
    if (!bz_str_starts(path->s, BZ_STR("/")) || !bz_str_starts(start->s, BZ_STR("/")))
        return bz_expr_value_unknown(r, "relpath() of a relative path");
    if ((rc = bz_expr_os_normpath(r, path->s, &to)) < 0 ||
        (rc = bz_expr_os_normpath(r, start->s, &from)) < 0 ||
        (rc = bz_expr_value_room(r, to.s.n + 3 * from.s.n + 1, &text)) < 0)
        return rc;
    a = components(to.s);
    b = components(from.s);
    skip_common(&a, &b);
    while (bz_str_next_part(&b, '/', &part))
        n = (size_t)((char *)mempcpy(text + n, "/..", 3) - text);
    if (a.p) {
        text[n++] = '/';
        n = (size_t)((char *)mempcpy(text + n, a.p, a.n) - text);
    }
    *out = n ? bz_expr_value_str(bz_str_of(text + 1, n - 1))
             : bz_expr_value_str(BZ_STR("."));
    return 0;
}

static int relpath(struct bz_expr_run *r, const struct bz_expr_args *a,
                   struct bz_expr_value *out)
{
    return bz_expr_os_relpath(r, &a->at[0], &a->at[1], out);
}

static int realpath_(struct bz_expr_run *r, const struct bz_expr_args *a,
                     struct bz_expr_value *out)
{
    int rc = want_path(r, &a->at[0]);

    bz_expr_os_impure(r, false);
    return rc < 0 ? rc : bz_expr_real_path(r, a->at[0].s, out);
}

/* Whether there is a file of the kind `how`. */
static int probe(struct bz_expr_run *r, struct bz_str path, int how, bool *yes)
{
    struct stat st;
    char *name;
    int rc;

    *yes = false;
    if (!bz_str_starts(path, BZ_STR("/")))
        return bz_expr_value_unknown(r, "a file that is not an absolute path");
    if (memchr(path.p, '\0', path.n))
        return 0;
    if ((rc = bz_expr_value_room(r, path.n, &name)) < 0)
        return rc;
    memcpy(name, path.p, path.n);
    name[path.n] = '\0';
    rc = how == LEXISTS || how == IS_LINK ? lstat(name, &st) : stat(name, &st);
    *yes =
        rc == 0 && (how == IS_FILE      ? S_ISREG(st.st_mode)
                    : how == IS_DIR     ? S_ISDIR(st.st_mode)
                    : how == IS_LINK    ? S_ISLNK(st.st_mode)
                    : how == IS_PROGRAM ? S_ISREG(st.st_mode) && access(name, X_OK) == 0
                                        : true);
    return 0;
}

int bz_expr_os_exists(struct bz_expr_run *r, struct bz_str path, bool executable,
                      bool *out)
{
    return probe(r, path, executable ? IS_PROGRAM : EXISTS, out);
}

static int check_file(struct bz_expr_run *r, const struct bz_expr_args *a,
                      struct bz_expr_value *out)
{
    bool yes = false;
    int rc;

    if (a->at[0].kind != BZ_EXPR_STR)
        return bz_expr_value_unknown(r, "a file that is not an absolute path");
    bz_expr_os_impure(r, false);
    rc = probe(r, a->at[0].s, a->how, &yes);
    *out = bz_expr_value_bool(yes);
    return rc;
}

/* Numbers of this process. */
static int own_id(struct bz_expr_run *r, const struct bz_expr_args *a,
                  struct bz_expr_value *out)
{
    bz_expr_os_impure(r, a->how == 'p');
    *out = bz_expr_value_int(a->how == 'p'   ? (int64_t)getpid()
                             : a->how == 'u' ? (int64_t)getuid()
                                             : (int64_t)getgid());
    return bz_expr_value_charge(r, 1);
}

static int uname_(struct bz_expr_run *r, const struct bz_expr_args *a,
                  struct bz_expr_value *out)
{
    struct utsname names;
    const char *const all[] = {names.sysname, names.nodename, names.release,
                               names.version, names.machine};
    struct bz_expr_seq *seq;
    size_t i;
    int rc = bz_expr_value_new_seq(r, BZ_COUNTOF(all), &seq);

    (void)a;
    bz_expr_os_impure(r, false);
    if (rc < 0)
        return rc;
    if (uname(&names) < 0)
        return bz_fail_sys(r->err, "uname");
    for (i = 0; rc == 0 && i < BZ_COUNTOF(all); i++) {
        struct bz_expr_value v;

        rc = bz_expr_value_copy(r, bz_str_from(all[i]), &v);
        if (rc == 0)
            rc = bz_expr_value_push(r, seq, &v);
    }
    seq->type = "posix.uname_result";
    *out = bz_expr_value_seq(BZ_EXPR_TUPLE, seq);
    return rc;
}

int bz_expr_os_cpus(struct bz_expr_run *r, int64_t *out)
{
    cpu_set_t set;

    bz_expr_os_impure(r, false);
    if (sched_getaffinity(0, sizeof(set), &set) < 0)
        return bz_expr_value_unknown(r, "the processors of such a machine");
    *out = CPU_COUNT(&set);
    return 0;
}

static const char struct_time[] = "time.struct_time";

/* The parts of the time in UTC that strftime() below knows, in Python's order. */
static int gmtime_now(struct bz_expr_run *r, const struct bz_expr_args *a,
                      struct bz_expr_value *out)
{
    int64_t set = r->vars ? r->vars->clock : 0;
    time_t now = (time_t)(set > 0 ? set : bz_clock_wall() / BZ_CLOCK_S);
    struct bz_expr_seq *seq;
    struct tm tm;
    int rc = bz_expr_value_new_seq(r, 6, &seq);

    (void)a;
    bz_expr_os_impure(r, true);
    if (rc < 0)
        return rc;
    if (!gmtime_r(&now, &tm))
        return bz_expr_value_unknown(r, "such a time");
    seq->at[0] = bz_expr_value_int(tm.tm_year + 1900);
    seq->at[1] = bz_expr_value_int(tm.tm_mon + 1);
    seq->at[2] = bz_expr_value_int(tm.tm_mday);
    seq->at[3] = bz_expr_value_int(tm.tm_hour);
    seq->at[4] = bz_expr_value_int(tm.tm_min);
    seq->at[5] = bz_expr_value_int(tm.tm_sec);
    seq->len = 6;
    seq->type = struct_time;
    seq->once = true;
    *out = bz_expr_value_seq(BZ_EXPR_ITER, seq);
    return 0;
}

static int strftime_(struct bz_expr_run *r, const struct bz_expr_args *a,
                     struct bz_expr_value *out)
{
    static const char letters[] = "YmdHMS";
    const struct bz_expr_value *when = &a->at[1];
    struct bz_str format = a->at[0].s;
    char text[128];
    size_t i, n = 0;

    if (a->at[0].kind != BZ_EXPR_STR || when->kind != BZ_EXPR_ITER ||
        when->seq->type != struct_time)
        return bz_expr_value_unknown(r, "strftime() called so");
    for (i = 0; i < format.n; i++) {
        const char *letter = i + 1 < format.n ? strchr(letters, format.p[i + 1]) : NULL;

        if (n + 16 > sizeof(text) || (format.p[i] == '%' && (!letter || !*letter)))
            return bz_expr_value_unknown(r, "such a format of a time");
        if (format.p[i] != '%') {
            text[n++] = format.p[i];
            continue;
        }
        n +=
            (size_t)snprintf(text + n, sizeof(text) - n, "%0*d", *letter == 'Y' ? 4 : 2,
                             (int)when->seq->at[letter - letters].i);
        i++;
    }
    return bz_expr_value_copy(r, bz_str_of(text, n), out);
}

static const struct bz_expr_fn functions[] = {
    {BZ_STR("os.getgid"),        0, 0,                NULL,         own_id,      'g'    },
    {BZ_STR("os.getpid"),        0, 0,                NULL,         own_id,      'p'    },
    {BZ_STR("os.getuid"),        0, 0,                NULL,         own_id,      'u'    },
    {BZ_STR("os.path.basename"), 1, 1,                NULL,         basename_,   0      },
    {BZ_STR("os.path.dirname"),  1, 1,                NULL,         dirname_,    0      },
    {BZ_STR("os.path.exists"),   1, 1,                NULL,         check_file,  EXISTS },
    {BZ_STR("os.path.isabs"),    1, 1,                NULL,         is_absolute, 0      },
    {BZ_STR("os.path.isdir"),    1, 1,                NULL,         check_file,  IS_DIR },
    {BZ_STR("os.path.isfile"),   1, 1,                NULL,         check_file,  IS_FILE},
    {BZ_STR("os.path.islink"),   1, 1,                NULL,         check_file,  IS_LINK},
    {BZ_STR("os.path.join"),     1, BZ_EXPR_CALL_ANY, NULL,         join,        0      },
    {BZ_STR("os.path.lexists"),  1, 1,                NULL,         check_file,  LEXISTS},
    {BZ_STR("os.path.normpath"), 1, 1,                NULL,         normpath,    0      },
    {BZ_STR("os.path.realpath"), 1, 1,                NULL,         realpath_,   0      },
    {BZ_STR("os.path.relpath"),  2, 2,                "path start", relpath,     0      },
    {BZ_STR("os.path.split"),    1, 1,                NULL,         split,       0      },
    {BZ_STR("os.path.splitext"), 1, 1,                NULL,         splitext,    0      },
    {BZ_STR("os.uname"),         0, 0,                NULL,         uname_,      0      },
    {BZ_STR("time.gmtime"),      0, 0,                NULL,         gmtime_now,  0      },
    {BZ_STR("time.strftime"),    2, 2,                NULL,         strftime_,   0      },
};

const struct bz_expr_fn *bz_expr_os_find(struct bz_str name)
{
    return bz_expr_call_search(functions, BZ_COUNTOF(functions), name);
}
