#include "cache/expanded.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/log.h"
#include "cache/shelf_dir.h"
#include "os/clock.h"
#include "os/fs_list.h"
#include "os/fs_remove.h"
#include "os/fs_walk.h"

#define DISK_BLOCK 512                   /* what st_blocks counts */
#define UNKNOWN_FOR (86400 * BZ_CLOCK_S) /* then a process elsewhere counts as dead */
#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define OLD ".old-"
#define CHECKED "user.bitzel.checked"
#define BOOT_LEN 32
#define SIZE "user.bitzel.size" /* a uint64_t; no other machine reads it */

static int64_t ns_of(struct timespec t)
{
    return t.tv_sec * BZ_CLOCK_S + t.tv_nsec;
}

static int64_t later(const struct stat *st)
{
    int64_t m = ns_of(st->st_mtim), c = ns_of(st->st_ctim);

    return m > c ? m : c;
}

struct measure {
    struct bz_expanded *x;
    uint32_t item;
};

static int add_entry(void *ctx, const struct bz_fs_walk_entry *e, struct bz_err *err)
{
    struct measure *m = ctx;

    (void)err;
    if (S_ISDIR(e->st->st_mode) || e->st->st_nlink == 1)
        m->x->items.at[m->item].bytes += (uint64_t)e->st->st_blocks * DISK_BLOCK;
    else
        BZ_VEC_PUSH(&m->x->links, (struct bz_expanded_link){e->st->st_ino, m->item});
    return BZ_FS_WALK_ON;
}

static void name_tree(struct bz_expanded_item *item, const char *name,
                      const struct stat *st)
{
    struct bz_str hex = bz_str_from(name);
    struct bz_err ignored;

    item->used = ns_of(st->st_mtim);
    if (bz_digest_parse(hex, &item->tree, &ignored) == 0) {
        item->kind = BZ_EXPANDED_TREE;
    } else if (bz_str_cut_prefix(&hex, BZ_STR("merged-"))) {
        item->kind = BZ_EXPANDED_MERGED;
    } else {
        item->kind = BZ_EXPANDED_LEFT;
        if (!bz_str_starts(hex, BZ_STR(OLD)))
            item->used = later(st); /* it gets a time of its own in the end */
    }
}

static void name_failed(struct bz_expanded_item *item, const char *name,
                        const struct stat *st)
{
    bool old = bz_str_starts(bz_str_from(name), BZ_STR(OLD));

    item->kind = old ? BZ_EXPANDED_LEFT : BZ_EXPANDED_FAILED;
    item->used = ns_of(st->st_mtim);
}

static void name_work(struct bz_expanded_item *item, const struct bz_shelf_root *root,
                      const char *name, const struct stat *st, int64_t now)
{
    item->kind = BZ_EXPANDED_WORK;
    item->used = later(st);
    switch (bz_alive_check(&root->self, bz_str_from(name))) {
    case BZ_ALIVE_RUNNING:
        item->running = true;
        break;
    case BZ_ALIVE_GONE:
        break;
    case BZ_ALIVE_UNKNOWN:
        item->running = now - item->used < UNKNOWN_FOR;
        break;
    }
}

/* The directory that "kind/name" lies in; *base is the name. -1 if there is none. */
static int open_kind(struct bz_shelf_root *root, const char *name, const char **base)
{
    char kind[16];

    *base = strchr(name, '/') + 1;
    snprintf(kind, sizeof(kind), "%.*s", (int)(*base - name - 1), name);
    return bz_shelf_dir_open(root, kind, false);
}

static void take_some(struct bz_shelf_root *root, const char *kind, int64_t now,
                      struct bz_expanded *x)
{
    BZ_CLEANUP(bz_fs_closep) int dir = bz_shelf_dir_open(root, kind, false);
    struct bz_fs_list list = {0};
    struct bz_err ignored;

    if (dir < 0 || bz_fs_list_dir(dir, ".", &list, &ignored) < 0)
        return; /* most stores have none */
    for (size_t i = 0; i < list.n; i++) {
        struct bz_expanded_item item = {0};
        struct stat st;

        item.name = bz_arena_printf(&x->arena, "%s/%s", kind, list.names[i]).p;
        if (fstatat(dir, list.names[i], &st, AT_SYMLINK_NOFOLLOW) < 0 ||
            !S_ISDIR(st.st_mode))
            continue;
        if (strcmp(kind, "work") == 0)
            name_work(&item, root, list.names[i], &st, now);
        else if (strcmp(kind, "failed") == 0)
            name_failed(&item, list.names[i], &st);
        else
            name_tree(&item, list.names[i], &st);
        item.bytes = (uint64_t)st.st_blocks * DISK_BLOCK;
        BZ_VEC_PUSH(&x->items, item);
    }
    bz_fs_list_release(&list);
}

static int by_use(const void *a, const void *b)
{
    const struct bz_expanded_item *x = a, *y = b;

    return (x->used > y->used) - (x->used < y->used);
}

static int by_inode(const void *a, const void *b)
{
    const struct bz_expanded_link *x = a, *y = b;

    return (x->inode > y->inode) - (x->inode < y->inode);
}

/* What cannot be looked into, or goes meanwhile, counts as far as it was seen. */
static void measure(struct bz_shelf_root *root, struct bz_expanded *x, uint32_t item)
{
    const char *base, *name = x->items.at[item].name;
    BZ_CLEANUP(bz_fs_closep) int dir = open_kind(root, name, &base);
    BZ_CLEANUP(bz_fs_closep) int fd = dir < 0 ? -1 : openat(dir, base, OPEN_DIR);
    struct measure m = {x, item};
    struct bz_err err;

    if (fd < 0)
        bz_log_debug("cache", "%s cannot be opened", name);
    else if (bz_fs_walk(fd, ".", add_entry, &m, &err) < 0)
        bz_log_debug("cache", "%s: %s", name, err.msg);
}

void bz_expanded_take(struct bz_shelf_root *root, int64_t now, struct bz_expanded *out)
{
    *out = (struct bz_expanded){0};
    take_some(root, "trees", now, out);
    take_some(root, "out", now, out);
    take_some(root, "work", now, out);
    take_some(root, "failed", now, out);
    BZ_VEC_SORT(&out->items, by_use);
    for (size_t i = 0; i < out->items.len; i++) {
        measure(root, out, (uint32_t)i);
        out->bytes += out->items.at[i].bytes;
    }
    BZ_VEC_SORT(&out->links, by_inode);
}

void bz_expanded_release(struct bz_expanded *x)
{
    bz_vec_release(&x->items);
    bz_vec_release(&x->links);
    bz_arena_release(&x->arena);
    *x = (struct bz_expanded){0};
}

bool bz_expanded_doom(struct bz_expanded *x, struct bz_expanded_item *item,
                      int64_t limit)
{
    if (item->doomed ||
        (item->kind == BZ_EXPANDED_WORK ? item->running : item->used >= limit))
        return false;
    item->doomed = true;
    x->bytes -= item->bytes;
    return true;
}

/* The place of the first name of a file. */
static size_t find_links(const struct bz_expanded *x, uint64_t inode)
{
    size_t low = 0, high = x->links.len;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (x->links.at[middle].inode < inode)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t bz_expanded_names(const struct bz_expanded *x, uint64_t inode)
{
    uint32_t n = 0;

    for (size_t i = find_links(x, inode);
         i < x->links.len && x->links.at[i].inode == inode; i++)
        n += x->items.at[x->links.at[i].item].doomed;
    return n;
}

static bool touched(int dir, const char *name, int64_t limit)
{
    struct stat st;

    return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
           ns_of(st.st_mtim) >= limit;
}

static bool erase(int dir, const char *name)
{
    struct bz_err err;

    if (bz_fs_remove(dir, name, &err) == 0)
        return true;
    bz_log_warn("cache", "%s cannot be removed: %s", name, err.msg);
    return false;
}

/* Out of the way first: so a build that is about to use it sees that it is gone, or we
 * see that it is used. The new name is in the same directory, where it takes no
 * permission of the tree's own. */
static bool take_away(int dir, const char *name, int64_t limit)
{
    char old[sizeof(OLD) + 128];

    snprintf(old, sizeof(old), OLD "%.100s", name);
    if (touched(dir, name, limit))
        return false;
    if (renameat(dir, name, dir, old) < 0 &&
        ((errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR) ||
         !erase(dir, old) || renameat(dir, name, dir, old) < 0))
        return false;
    if (touched(dir, old, limit) && renameat(dir, old, dir, name) == 0)
        return false;
    return erase(dir, old);
}

bool bz_expanded_remove(struct bz_shelf_root *root, struct bz_expanded *x,
                        struct bz_expanded_item *item, int64_t limit)
{
    bool named = item->kind == BZ_EXPANDED_TREE || item->kind == BZ_EXPANDED_MERGED ||
                 item->kind == BZ_EXPANDED_FAILED;
    BZ_CLEANUP(bz_fs_closep) int dir = -1;
    const char *base;

    if (!item->doomed)
        return false;
    dir = open_kind(root, item->name, &base);
    if (dir >= 0 && (named ? take_away(dir, base, limit) : erase(dir, base)))
        return true;
    item->doomed = false;
    x->bytes += item->bytes;
    return false;
}

size_t bz_expanded_drop(struct bz_shelf_root *root, struct bz_expanded *x,
                        uint64_t inode)
{
    size_t n = 0;

    for (size_t i = find_links(x, inode);
         i < x->links.len && x->links.at[i].inode == inode; i++) {
        struct bz_expanded_item *item = &x->items.at[x->links.at[i].item];

        if (item->kind == BZ_EXPANDED_TREE || item->kind == BZ_EXPANDED_MERGED)
            n += bz_expanded_doom(x, item, INT64_MAX) &&
                 bz_expanded_remove(root, x, item, INT64_MAX);
    }
    return n;
}

int bz_expanded_close_off(const char *path, struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep) int fd = -1;
    struct stat st;
    int rc = bz_fs_mkdirs(AT_FDCWD, path, S_IRWXU, err);

    if (rc < 0)
        return rc;
    fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if ((fd < 0 ? stat(path, &st) : fstat(fd, &st)) < 0)
        return bz_fail_sys(err, "open %s", path);
    if (st.st_uid != geteuid() && (geteuid() != 0 || fchown(fd, 0, (gid_t)-1) < 0))
        return bz_fail(err, BZ_E_IO,
                       "%s belongs to another user: each user needs a store of their "
                       "own, set cache.dir; a directory to share goes into cache.tiers",
                       path);
    if (fd < 0 || ((st.st_mode & 07777) != S_IRWXU && fchmod(fd, S_IRWXU) < 0))
        return bz_fail_sys(err, "open %s", path);
    return 0;
}

int bz_expanded_touch(const char *path, struct bz_err *err)
{
    const struct timespec times[2] = {
        {0, UTIME_OMIT},
        {0, UTIME_NOW }
    };

    if (utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW) < 0)
        return bz_fail_sys(err, "note the use of %s", path);
    return 0;
}

bool bz_expanded_claim(struct bz_shelf_root *root, const char *path)
{
    struct bz_err ignored;
    struct stat st;

    if (lstat(path, &st) < 0 || !S_ISDIR(st.st_mode))
        return false;
    bz_lease_renew(&root->lease);
    if (bz_shelf_now(root) - ns_of(st.st_mtim) <= root->touch || root->readonly)
        return true;
    /* One that is not ours to touch has its two hours. */
    if (bz_expanded_touch(path, &ignored) < 0 && ignored.code != BZ_E_NOENT)
        return true;
    /* The touch may have reached it on its way out. */
    return bz_fs_exists(AT_FDCWD, path);
}

/* The kernel's boot id, with which our own name begins; empty if it is not known. */
static struct bz_str boot_of(const struct bz_shelf_root *root)
{
    struct bz_str boot, rest;

    bz_str_cut(bz_str_from(root->self.name), '.', &boot, &rest);
    return boot.n == BOOT_LEN ? boot : BZ_STR("");
}

void bz_expanded_note_checked(const struct bz_shelf_root *root, const char *path)
{
    struct bz_str boot = boot_of(root);

    /* One that does not remember it is checked again. */
    if (boot.n > 0)
        (void)!setxattr(path, CHECKED, boot.p, boot.n, 0);
}

bool bz_expanded_checked(const struct bz_shelf_root *root, const char *path)
{
    struct bz_str boot = boot_of(root);
    char value[BOOT_LEN];
    ssize_t n = getxattr(path, CHECKED, value, sizeof(value));

    return boot.n > 0 && n >= 0 && bz_str_eq(bz_str_of(value, (size_t)n), boot);
}

static int add_size(void *ctx, const struct bz_fs_walk_entry *e, struct bz_err *err)
{
    uint64_t *bytes = ctx;

    (void)err;
    if (S_ISDIR(e->st->st_mode) || e->st->st_nlink == 1)
        *bytes += (uint64_t)e->st->st_blocks * DISK_BLOCK;
    return BZ_FS_WALK_ON;
}

uint64_t bz_expanded_size(int dir, const char *path)
{
    BZ_CLEANUP(bz_fs_closep)
    int fd = openat(dir, path, OPEN_DIR);
    uint64_t bytes;
    struct bz_err ignored;
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        return 0;
    if (fgetxattr(fd, SIZE, &bytes, sizeof(bytes)) == sizeof(bytes))
        return bytes;
    bytes = (uint64_t)st.st_blocks * DISK_BLOCK;
    /* What cannot be looked into counts as far as it was seen. */
    if (bz_fs_walk(fd, ".", add_size, &bytes, &ignored) == 0)
        (void)!fsetxattr(fd, SIZE, &bytes, sizeof(bytes), 0);
    return bytes;
}

uint64_t bz_expanded_estimate(struct bz_shelf_root *root)
{
    static const char *const kinds[] = {"trees", "out", "failed"};
    uint64_t sum = 0;

    for (size_t k = 0; k < BZ_COUNTOF(kinds); k++) {
        BZ_CLEANUP(bz_fs_closep) int dir = bz_shelf_dir_open(root, kinds[k], false);
        BZ_CLEANUP(bz_fs_list_release) struct bz_fs_list list = {0};
        struct bz_err ignored;

        if (dir < 0 || bz_fs_list_dir(dir, ".", &list, &ignored) < 0)
            continue;
        for (size_t i = 0; i < list.n; i++)
            sum += bz_expanded_size(dir, list.names[i]);
    }
    return sum;
}

int bz_expanded_discard(struct bz_shelf_root *root, const char *path,
                        struct bz_arena *a, const char **old, struct bz_err *err)
{
    const char *base = strrchr(path, '/') + 1;

    /* In the same directory, where it takes no permission of the tree's own. */
    *old =
        bz_arena_printf(
            a, "%.*s" OLD "%s-%s-%llx", (int)(base - path), path, base, root->self.name,
            atomic_fetch_add_explicit(&root->temps, 1, memory_order_relaxed))
            .p;
    return rename(path, *old) < 0 && errno != ENOENT
               ? bz_fail_sys(err, "put %s aside", path)
               : 0;
}
