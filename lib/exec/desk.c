#include "exec/desk.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "os/fs.h"
#include "os/fs_remove.h"

#define MODE 0755

void bz_desk_list_release(struct bz_desk_list *all)
{
    for (struct bz_desk *p = all->free; p; p = p->next)
        free(p->empty);
    bz_arena_release(&all->arena);
    *all = (struct bz_desk_list){0};
}

/* The umask does not count: what a task finds is the same for everybody. */
static int make_dir(const char *path, struct bz_err *err)
{
    if (mkdir(path, MODE) < 0 || chmod(path, MODE) < 0)
        return bz_fail_sys(err, "make %s", path);
    return 0;
}

static int make_desk(struct bz_desk_list *all, struct bz_desk **out, struct bz_err *err)
{
    struct bz_desk *p = BZ_ARENA_NEW(&all->arena, struct bz_desk);
    int rc;

    p->dir = bz_arena_printf(&all->arena, "%s/%u", all->scratch, all->made++).p;
    p->upper = bz_arena_printf(&all->arena, "%s/upper", p->dir).p;
    p->own = bz_arena_printf(&all->arena, "%s/own", p->dir).p;
    p->tmp = bz_arena_printf(&all->arena, "%s/tmp", p->dir).p;
    p->work = bz_arena_printf(&all->arena, "%s/work", p->dir).p;
    p->links = bz_arena_printf(&all->arena, "%s/links", p->dir).p;
    p->fill = bz_arena_printf(&all->arena, "%s/fill", p->dir).p;
    rc = make_dir(p->dir, err);
    if (rc == 0)
        rc = make_dir(p->upper, err);
    if (rc == 0)
        rc = make_dir(p->tmp, err);
    if (rc == 0)
        *out = p;
    return rc;
}

int bz_desk_layer(struct bz_desk *p, struct bz_err *err)
{
    /* One that a volatile overlay has had is refused to another. */
    int rc = p->layered ? bz_fs_remove(AT_FDCWD, p->work, err) : 0;

    if (rc == 0)
        rc = make_dir(p->work, err);
    if (rc == 0 && !p->layered)
        rc = make_dir(p->links, err);
    p->layered = true;
    return rc;
}

int bz_desk_fill(struct bz_desk *p, struct bz_err *err)
{
    p->filled = true;
    return make_dir(p->fill, err);
}

/* ---- empty directories ---- */

/* Whether there is nothing in a directory but `only`, or nothing at all if that is
 * NULL. Without a DIR, which takes as long to make as the rest. */
static bool has_only(int fd, const char *only)
{
    union {
        struct dirent64 first; /* how it is aligned */
        char bytes[4096];
    } room;
    ssize_t n;

    while ((n = getdents64(fd, room.bytes, sizeof(room.bytes))) > 0)
        for (ssize_t at = 0; at < n;) {
            const struct dirent64 *e = (const void *)(room.bytes + at);

            if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
                !(only && strcmp(e->d_name, only) == 0))
                return false;
            at += e->d_reclen;
        }
    return n == 0;
}

/* An open directory, if it is one that a task has not changed and that has nothing in
 * it but `only`, or nothing at all if that is NULL. Otherwise -1. */
static int open_plain(int at, const char *path, const char *only)
{
    int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;
    bool plain = fd >= 0 && fstat(fd, &st) == 0 && (st.st_mode & 07777) == MODE &&
                 flistxattr(fd, NULL, 0) <= 0 && has_only(fd, only);

    if (!plain)
        bz_fs_closep(&fd);
    return plain ? fd : -1;
}

/* The next step of a path, as a C string in place of the slash after it. */
static char *next_step(char **rest)
{
    char *step = *rest, *slash = step ? strchr(step, '/') : NULL;

    if (!step)
        return NULL;
    *rest = slash ? slash + 1 : NULL;
    if (slash)
        *slash = '\0';
    return step;
}

static bool holds_path(const struct bz_desk *p)
{
    BZ_CLEANUP(bz_mem_freep)
    char *path = p->empty ? bz_mem_dup(p->empty, strlen(p->empty)) : NULL;
    char *rest = path, *step = next_step(&rest);
    int fd = open_plain(AT_FDCWD, p->upper, step);

    while (fd >= 0 && step) {
        const char *name = step;
        int dir = fd;

        step = next_step(&rest);
        fd = open_plain(dir, name, step);
        bz_fs_closep(&dir);
    }
    if (fd < 0)
        return false;
    bz_fs_closep(&fd);
    return true;
}

/* The path of the first n bytes of `before`, and one more step. */
static const char *in_upper(struct bz_buf *out, const struct bz_desk *p,
                            const char *before, size_t n, struct bz_str step)
{
    bz_buf_truncate(out, 0);
    bz_buf_addf(out, "%s/%.*s%.*s", p->upper, (int)n, before, BZ_STR_ARG(step));
    return bz_buf_text(out);
}

/* Renames what differs, step by step; false if the paths have not as many. */
static bool rename_path(const struct bz_desk *p, struct bz_str path)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf from = {0}, to = {0};
    struct bz_str old = bz_str_from(p->empty), rest = path, a, b;
    bool more_old = true, more = true;

    while (more_old && more) {
        size_t n = (size_t)(rest.p - path.p);

        more_old = bz_str_cut(old, '/', &a, &old);
        more = bz_str_cut(rest, '/', &b, &rest);
        if (!bz_str_eq(a, b) && rename(in_upper(&from, p, path.p, n, a),
                                       in_upper(&to, p, path.p, n, b)) < 0)
            return false;
    }
    return more_old == more;
}

static int make_path(const struct bz_desk *p, struct bz_str path, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf at = {0};
    struct bz_str rest = path, step;
    bool more = true;
    int rc = 0;

    while (more && rc == 0) {
        size_t n = (size_t)(rest.p - path.p);

        more = bz_str_cut(rest, '/', &step, &rest);
        rc = make_dir(in_upper(&at, p, path.p, n, step), err);
    }
    return rc;
}

static void forget_path(struct bz_desk *p)
{
    free(p->empty);
    p->empty = NULL;
}

static int empty_upper(struct bz_desk *p, struct bz_err *err)
{
    int rc = bz_fs_remove(AT_FDCWD, p->upper, err);

    forget_path(p);
    return rc < 0 ? rc : make_dir(p->upper, err);
}

/* Nobody has used the desk since it was found to have this path. */
static int change_path(struct bz_desk *p, struct bz_str path, struct bz_err *err)
{
    int rc = 0;

    if (p->empty && bz_str_eq(bz_str_from(p->empty), path))
        return 0;
    if (!p->empty || !rename_path(p, path)) {
        rc = p->empty ? empty_upper(p, err) : 0;
        if (rc == 0)
            rc = make_path(p, path, err);
    }
    forget_path(p);
    p->empty = bz_mem_dup(path.p, path.n);
    return rc;
}

bool bz_desk_unused(struct bz_desk *p)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf at = {0};
    size_t n = p->empty ? strlen(p->empty) : 0;

    p->unused = !p->layered && holds_path(p);
    if (p->unused || (p->layered && holds_path(p)))
        return true;
    while (n > 0 && rmdir(in_upper(&at, p, p->empty, n, BZ_STR(""))) == 0) {
        while (n > 0 && p->empty[n - 1] != '/')
            n--;
        n -= n > 0;
    }
    forget_path(p);
    return false;
}

/* ---- taking and giving ---- */

/* How well a desk suits who wants a path; 0: not at all. */
static int suits(const struct bz_desk *d, struct bz_str path)
{
    if (!d->empty || path.n == 0)
        return !d->empty;
    return bz_str_eq(bz_str_from(d->empty), path) ? 3 : 2;
}

/* The free one that suits best: there come to be no more than twice as many as there
 * are steps at a time. */
static struct bz_desk *find_free(struct bz_desk_list *all, struct bz_str path)
{
    struct bz_desk **best = NULL, *found;
    int most = 0;

    for (struct bz_desk **at = &all->free; *at; at = &(*at)->next)
        if (suits(*at, path) > most) {
            most = suits(*at, path);
            best = at;
        }
    if (!best)
        return NULL;
    found = *best;
    *best = found->next;
    return found;
}

int bz_desk_take(struct bz_desk_list *all, struct bz_str path, struct bz_desk **out,
                 struct bz_err *err)
{
    struct bz_desk *p = find_free(all, path);
    int rc = p ? 0 : make_desk(all, &p, err);

    if (rc == 0 && path.n > 0)
        rc = change_path(p, path, err);
    if (rc == 0)
        *out = p;
    else if (p)
        forget_path(p); /* it is swept with the whole of scratch */
    return rc;
}

static int clean_tmp(struct bz_desk *p, struct bz_err *err)
{
    int fd = open_plain(AT_FDCWD, p->tmp, NULL);
    int rc;

    if (fd >= 0) {
        bz_fs_closep(&fd);
        return 0;
    }
    rc = bz_fs_remove(AT_FDCWD, p->tmp, err);
    return rc < 0 ? rc : make_dir(p->tmp, err);
}

static int clean(struct bz_desk *p, struct bz_err *err)
{
    /* An overlay may be let go of a little later. */
    int rc = p->unused || (!p->layered && holds_path(p)) ? 0 : empty_upper(p, err);

    if (rc == 0 && !p->unused)
        rc = bz_fs_remove(AT_FDCWD, p->own, err);
    if (rc == 0 && p->layered)
        rc = bz_fs_remove(AT_FDCWD, p->work, err);
    if (rc == 0 && p->layered)
        rc = bz_fs_remove(AT_FDCWD, p->links, err);
    if (rc == 0 && p->filled)
        rc = bz_fs_remove(AT_FDCWD, p->fill, err);
    p->layered = p->unused = p->filled = false;
    return rc < 0 ? rc : clean_tmp(p, err);
}

void bz_desk_give(struct bz_desk_list *all, struct bz_desk *p)
{
    struct bz_err ignored;

    if (clean(p, &ignored) < 0) {
        forget_path(p); /* it is swept with the whole of scratch */
        return;
    }
    p->next = all->free;
    all->free = p;
}
