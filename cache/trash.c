#include "cache/trash.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/fs_list.h"

#define DIR_MODE 0777

static int64_t ns_of(struct timespec t)
{
    return t.tv_sec * BZ_CLOCK_S + t.tv_nsec;
}

int64_t bz_trash_last_use(const struct stat *st)
{
    int64_t a = ns_of(st->st_atim), c = ns_of(st->st_ctim);

    return a > c ? a : c;
}

static int move(const struct bz_shelf *s, const char *name, const char *aside)
{
    if (renameat(s->dir, name, s->root->top, aside) == 0)
        return 0;
    /* Either there is no trash yet, or another collector has taken the file. */
    if (errno != ENOENT ||
        (mkdirat(s->root->top, "trash", DIR_MODE) < 0 && errno != EEXIST))
        return -1;
    return renameat(s->dir, name, s->root->top, aside);
}

/* A key that leads to a file again is as good. Where nothing can be linked, the file
 * that came meanwhile is replaced by its like. */
static void put_back(const struct bz_shelf *s, const char *name, const char *aside)
{
    if (linkat(s->root->top, aside, s->dir, name, 0) == 0 || errno == EEXIST)
        unlinkat(s->root->top, aside, 0);
    else
        renameat(s->root->top, aside, s->dir, name);
}

enum bz_trash_fate bz_trash_remove(const struct bz_shelf *s,
                                   const struct bz_digest *key, int64_t limit,
                                   struct stat *st)
{
    char name[BZ_SHELF_NAME], aside[BZ_SHELF_ASIDE];

    bz_shelf_name(key, name);
    bz_shelf_aside(s, key, aside);
    if (s->dir < 0 || fstatat(s->dir, name, st, AT_SYMLINK_NOFOLLOW) < 0)
        return BZ_TRASH_ABSENT;
    if (s->root->readonly || bz_trash_last_use(st) >= limit)
        return BZ_TRASH_KEPT;
    if (move(s, name, aside) < 0)
        return errno == ENOENT ? BZ_TRASH_ABSENT : BZ_TRASH_KEPT;
    if (fstatat(s->root->top, aside, st, AT_SYMLINK_NOFOLLOW) < 0)
        return BZ_TRASH_KEPT; /* put back by another collector */
    if (ns_of(st->st_atim) >= limit) {
        put_back(s, name, aside);
        return BZ_TRASH_KEPT;
    }
    return unlinkat(s->root->top, aside, 0) == 0 ? BZ_TRASH_REMOVED : BZ_TRASH_KEPT;
}

static void restore(struct bz_shelf *const *shelves, size_t n, const char *file)
{
    for (size_t i = 0; i < n; i++) {
        struct bz_str key = bz_str_from(file);
        char name[BZ_SHELF_NAME], aside[BZ_SHELF_ASIDE];
        struct bz_digest d;
        struct bz_err err;

        if (!bz_str_cut_prefix(&key, bz_str_from(shelves[i]->kind)) ||
            !bz_str_cut_prefix(&key, BZ_STR("-")) || bz_digest_parse(key, &d, &err) < 0)
            continue;
        bz_shelf_name(&d, name);
        bz_shelf_aside(shelves[i], &d, aside);
        put_back(shelves[i], name, aside);
    }
}

size_t bz_trash_restore(struct bz_shelf *const *shelves, size_t n)
{
    const struct bz_shelf_root *root = shelves[0]->root;
    struct bz_fs_list list;
    struct bz_err err;
    size_t found;

    if (root->readonly || bz_fs_list_dir(root->top, "trash", &list, &err) < 0)
        return 0;
    for (size_t i = 0; i < list.n; i++)
        restore(shelves, n, list.names[i]);
    found = list.n;
    bz_fs_list_release(&list);
    return found;
}
