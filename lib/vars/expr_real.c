#include "vars/expr_real.h"

#include <sys/stat.h>
#include <unistd.h>

#include "os/path.h"
#include "vars/expr_lib.h"
#include "vars/expr_str.h"

enum { LINKS = 40 }; /* as many as the kernel follows */

/* A path on its way: what is resolved, and what is still to be. Both are terminated. */
struct walk {
    char done[BZ_PATH_MAX], rest[BZ_PATH_MAX];
    size_t ndone, nrest;
    unsigned links;
};

static bool push(struct walk *w, struct bz_str name)
{
    if (w->ndone + 1 + name.n >= sizeof(w->done))
        return false;
    w->done[w->ndone++] = '/';
    memcpy(w->done + w->ndone, name.p, name.n);
    w->ndone += name.n;
    w->done[w->ndone] = '\0';
    return true;
}

static void pop(struct walk *w)
{
    size_t slash = bz_str_rfind_byte(bz_str_of(w->done, w->ndone), '/');

    w->ndone = slash == BZ_STR_NONE ? 0 : slash;
    w->done[w->ndone] = '\0';
}

/* If what has just been pushed is a link, goes on with what it says. */
static bool follow(struct walk *w)
{
    char target[BZ_PATH_MAX];
    struct stat st;
    ssize_t n;

    if (lstat(w->done, &st) < 0 || !S_ISLNK(st.st_mode))
        return true;
    n = readlink(w->done, target, sizeof(target));
    if (n < 0 || ++w->links > LINKS || (size_t)n + 1 + w->nrest >= sizeof(w->rest) ||
        (size_t)n >= sizeof(target))
        return false;
    memmove(w->rest + n + 1, w->rest, w->nrest + 1);
    memcpy(w->rest, target, (size_t)n);
    w->rest[n] = '/';
    w->nrest += (size_t)n + 1;
    pop(w);
    if (target[0] == '/') {
        w->ndone = 0;
        w->done[0] = '\0';
    }
    return true;
}

static bool step(struct walk *w)
{
    struct bz_str rest = bz_str_of(w->rest, w->nrest), name, tail;
    char kept[BZ_PATH_MAX];

    bz_str_cut(rest, '/', &name, &tail);
    memcpy(kept, name.p, name.n);
    name.p = kept;
    memmove(w->rest, w->rest + (w->nrest - tail.n), tail.n);
    w->nrest = tail.n;
    w->rest[w->nrest] = '\0';
    if (name.n == 0 || bz_str_eq(name, BZ_STR(".")))
        return true;
    if (bz_str_eq(name, BZ_STR(".."))) {
        pop(w);
        return true;
    }
    return push(w, name) && follow(w);
}

int bz_expr_real_path(struct bz_expr_run *r, struct bz_str path,
                      struct bz_expr_value *out)
{
    struct walk w = {0};
    int rc = 0;

    if (!bz_str_starts(path, BZ_STR("/")) || path.n >= sizeof(w.rest) ||
        memchr(path.p, '\0', path.n))
        return bz_expr_value_unknown(r, "the real path of such a name");
    memcpy(w.rest, path.p, path.n);
    w.nrest = path.n;
    while (rc == 0 && w.nrest > 0) {
        rc = bz_expr_value_charge(r, 1);
        if (rc == 0 && !step(&w))
            return bz_expr_value_unknown(r, "the real path of such a name");
    }
    if (rc < 0)
        return rc;
    return w.ndone == 0 ? bz_expr_value_copy(r, BZ_STR("/"), out)
                        : bz_expr_value_copy(r, bz_str_of(w.done, w.ndone), out);
}

/* One part of a list: its real path, with the slash it had at its end. */
static int add_part(struct bz_expr_run *r, struct bz_str part, struct bz_expr_seq *to)
{
    struct bz_expr_value real = {0};
    char *text;
    int rc;

    if (bz_str_find_byte(part, '$') != BZ_STR_NONE)
        return 0;
    rc = bz_expr_real_path(r, part, &real);
    if (rc == 0 && bz_str_ends(part, BZ_STR("/"))) {
        rc = bz_expr_value_room(r, real.s.n + 1, &text);
        if (rc < 0)
            return rc;
        memcpy(text, real.s.p, real.s.n);
        text[real.s.n] = '/';
        real = bz_expr_value_str(bz_str_of(text, real.s.n + 1));
    }
    return rc < 0 ? rc : bz_expr_value_push(r, to, &real);
}

int bz_expr_real_list(struct bz_expr_run *r, const struct bz_expr_args *a,
                      struct bz_expr_value *out)
{
    struct bz_str rest = BZ_STR(""), sep = BZ_STR(","), part;
    struct bz_expr_value list;
    struct bz_expr_seq *real;
    int rc = 0;

    if (bz_expr_value_true(&a->at[0])) {
        rc = bz_expr_lib_want_str(r, &a->at[0], "split");
        rest = a->at[0].s;
    }
    if (rc < 0 || (rc = bz_expr_value_new_seq(r, 0, &real)) < 0)
        return rc;
    if (bz_expr_call_has(a, 1)) {
        if (a->at[1].kind != BZ_EXPR_STR || a->at[1].s.n != 1)
            return bz_expr_value_unknown(r, "such a separator");
        sep = a->at[1].s;
    }
    while (rc == 0 && bz_str_next_part(&rest, sep.p[0], &part))
        rc = add_part(r, part, real);
    list = bz_expr_value_seq(BZ_EXPR_LIST, real);
    return rc < 0 ? rc : bz_expr_str_join(r, sep, &list, out);
}
