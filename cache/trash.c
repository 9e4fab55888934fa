#include "cache/trash.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "cache/shelf_dir.h"
#include "os/clock.h"
#include "os/fs_list.h"

static int64_t ns_of(struct timespec t)
{
    return t.tv_sec * BZ_CLOCK_S + t.tv_nsec;
}

int64_t bz_trash_last_use(const struct stat *st)
{
    int64_t a = ns_of(st->st_atim), c = ns_of(st->st_ctim);

    return a > c ? a : c;
}

/* A key that leads to a file again is as good. Where nothing can be linked, the file
 * that came meanwhile is replaced by its like. */
static void put_back(const struct bz_shelf_dir_place *at, int trash, const char *aside)
{
    if (linkat(trash, aside, at->dir, at->name, 0) == 0 || errno == EEXIST)
        unlinkat(trash, aside, 0);
    else
        renameat(trash, aside, at->dir, at->name);
}

/* Takes it away from its place, which is open, by way of the trash. */
static enum bz_trash_fate take_out(const struct bz_shelf *s,
                                   const struct bz_shelf_dir_place *at,
                                   const char *aside, int64_t limit, struct stat *st)
{
    BZ_CLEANUP(bz_fs_closep) int trash = bz_shelf_dir_open(s->root, "trash", true);

    if (trash < 0)
        return BZ_TRASH_KEPT;
    if (renameat(at->dir, at->name, trash, aside) < 0)
        return errno == ENOENT ? BZ_TRASH_ABSENT : BZ_TRASH_KEPT;
    if (fstatat(trash, aside, st, AT_SYMLINK_NOFOLLOW) < 0)
        return BZ_TRASH_KEPT; /* put back by another collector */
    if (ns_of(st->st_atim) >= limit) {
        put_back(at, trash, aside);
        return BZ_TRASH_KEPT;
    }
    return unlinkat(trash, aside, 0) == 0 ? BZ_TRASH_REMOVED : BZ_TRASH_KEPT;
}

enum bz_trash_fate bz_trash_remove(const struct bz_shelf *s,
                                   const struct bz_digest *key, int64_t limit,
                                   struct stat *st)
{
    BZ_CLEANUP(bz_shelf_dir_leave) struct bz_shelf_dir_place at = {.own = -1};
    char name[BZ_SHELF_NAME], aside[BZ_SHELF_ASIDE];

    bz_shelf_name(key, name);
    bz_shelf_aside(s, key, aside);
    if (bz_shelf_dir_enter(s, name, false, &at) < 0 ||
        fstatat(at.dir, at.name, st, AT_SYMLINK_NOFOLLOW) < 0)
        return BZ_TRASH_ABSENT;
    if (s->root->readonly || bz_trash_last_use(st) >= limit)
        return BZ_TRASH_KEPT;
    return take_out(s, &at, aside, limit, st);
}

static void restore(struct bz_shelf *const *shelves, size_t n, int trash,
                    const char *file)
{
    for (size_t i = 0; i < n; i++) {
        BZ_CLEANUP(bz_shelf_dir_leave) struct bz_shelf_dir_place at = {.own = -1};
        struct bz_str key = bz_str_from(file);
        char name[BZ_SHELF_NAME];
        struct bz_digest d;
        struct bz_err err;

        if (!bz_str_cut_prefix(&key, bz_str_from(shelves[i]->kind)) ||
            !bz_str_cut_prefix(&key, BZ_STR("-")) || bz_digest_parse(key, &d, &err) < 0)
            continue;
        bz_shelf_name(&d, name);
        if (bz_shelf_dir_enter(shelves[i], name, false, &at) == 0)
            put_back(&at, trash, file);
    }
}

size_t bz_trash_restore(struct bz_shelf *const *shelves, size_t n)
{
    struct bz_shelf_root *root = shelves[0]->root;
    BZ_CLEANUP(bz_fs_closep)
    int trash = root->readonly ? -1 : bz_shelf_dir_open(root, "trash", false);
    struct bz_fs_list list;
    struct bz_err err;
    size_t found;

    if (trash < 0 || bz_fs_list_dir(trash, ".", &list, &err) < 0)
        return 0;
    for (size_t i = 0; i < list.n; i++)
        restore(shelves, n, trash, list.names[i]);
    found = list.n;
    bz_fs_list_release(&list);
    return found;
}
