#include "exec/failed.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"
#include "cache/expanded.h"
#include "os/fs.h"
#include "os/fs_list.h"
#include "os/fs_remove.h"

#define KEY_LIMIT 128

/* A name has no slash but what metadata puts there. */
static void add_path(struct bz_buf *out, const char *store, struct bz_str task)
{
    bz_buf_addf(out, "%s/failed/", store);
    for (size_t i = 0; i < task.n; i++)
        if (task.p[i] == '/')
            bz_buf_add_char(out, '_');
        else
            bz_buf_add_char(out, task.p[i]);
}

static int move(const char *dir, const char *name, const char *from, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf to = {0};

    bz_buf_addf(&to, "%s/%s", dir, name);
    if (rename(from, bz_buf_text(&to)) < 0)
        return bz_fail_sys(err, "keep %s", bz_buf_text(&to));
    return mkdir(from, 0755) < 0 ? bz_fail_sys(err, "make %s", from) : 0;
}

static int write_key(const char *dir, const struct bz_digest *key, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf path = {0};
    char hex[BZ_DIGEST_HEX_LEN + 1];

    bz_buf_addf(&path, "%s/key", dir);
    bz_digest_hex(key, hex);
    return bz_fs_write(AT_FDCWD, bz_buf_text(&path), hex, BZ_DIGEST_HEX_LEN, 0644,
                       BZ_FS_NOSYNC, err);
}

struct kept {
    const char *name;
    struct timespec when;
};

struct kept_list BZ_VEC(struct kept);

static int newest_first(const void *a, const void *b)
{
    const struct timespec *x = &((const struct kept *)a)->when;
    const struct timespec *y = &((const struct kept *)b)->when;

    if (x->tv_sec != y->tv_sec)
        return x->tv_sec > y->tv_sec ? -1 : 1;
    return x->tv_nsec > y->tv_nsec ? -1 : x->tv_nsec < y->tv_nsec;
}

/* All that are kept; the names are the list's. */
static void list_kept(const char *all, struct bz_fs_list *names, struct kept_list *out)
{
    struct bz_err ignored;

    if (bz_fs_list_dir(AT_FDCWD, all, names, &ignored) < 0)
        return;
    for (size_t i = 0; i < names->n; i++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf path = {0};
        struct stat st;

        bz_buf_addf(&path, "%s/%s/key", all, names->names[i]);
        if (lstat(bz_buf_text(&path), &st) < 0)
            st.st_mtim = (struct timespec){0};
        BZ_VEC_PUSH(out, (struct kept){names->names[i], st.st_mtim});
    }
    BZ_VEC_SORT(out, newest_first);
}

static void remove_old(const char *store)
{
    BZ_CLEANUP(bz_fs_list_release) struct bz_fs_list names = {0};
    BZ_CLEANUP(bz_vec_release) struct kept_list kept = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf all = {0};

    bz_buf_addf(&all, "%s/failed", store);
    list_kept(bz_buf_text(&all), &names, &kept);
    for (size_t i = BZ_FAILED_MOST; i < kept.len; i++)
        bz_failed_drop(store, bz_str_from(kept.at[i].name));
}

bool bz_failed_crowds(const char *store)
{
    struct statvfs st;

    return statvfs(store, &st) == 0 &&
           (uint64_t)st.f_bavail * st.f_frsize < BZ_FAILED_ROOM;
}

void bz_failed_drop(const char *store, struct bz_str task)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf dir = {0};
    struct bz_err err;

    add_path(&dir, store, task);
    if (bz_fs_remove(AT_FDCWD, bz_buf_text(&dir), &err) < 0)
        bz_log_warn("exec", "%s", err.msg);
}

void bz_failed_keep(const char *store, struct bz_str task, const struct bz_digest *key,
                    const struct bz_desk *desk)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf all = {0}, dir = {0};
    struct bz_err err;
    int rc;

    bz_buf_addf(&all, "%s/failed", store);
    add_path(&dir, store, task);
    rc = bz_expanded_close_off(bz_buf_text(&all), &err);
    if (rc == 0)
        rc = bz_fs_remove(AT_FDCWD, bz_buf_text(&dir), &err);
    if (rc == 0)
        rc = bz_fs_mkdirs(AT_FDCWD, bz_buf_text(&dir), 0755, &err);
    if (rc == 0)
        rc = move(bz_buf_text(&dir), "upper", desk->upper, &err);
    if (rc == 0)
        rc = move(bz_buf_text(&dir), "tmp", desk->tmp, &err);
    if (rc == 0)
        rc = write_key(bz_buf_text(&dir), key, &err);
    if (rc < 0)
        bz_log_warn("exec", "%s", err.msg);
    remove_old(store);
}

static bool is_dir(int dir, const char *name)
{
    struct stat st;

    return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

/* Whether a directory is what a task with this key has left, no link being part of it.
 */
static bool holds(const char *path, const struct bz_digest *key)
{
    BZ_CLEANUP(bz_fs_closep)
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    BZ_CLEANUP(bz_fs_closep) int fd = -1;
    BZ_CLEANUP(bz_mem_freep) char *text = NULL;
    char hex[BZ_DIGEST_HEX_LEN + 1];
    struct bz_err ignored;
    size_t n;

    if (dir < 0 || !is_dir(dir, "upper") || !is_dir(dir, "tmp"))
        return false;
    fd = openat(dir, "key", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || bz_fs_read_fd(fd, "key", KEY_LIMIT, &text, &n, &ignored) < 0)
        return false;
    bz_digest_hex(key, hex);
    return bz_str_eq(bz_str_of(text, n), bz_str_from(hex));
}

bool bz_failed_find(const char *store, struct bz_str task, const struct bz_digest *key,
                    struct bz_arena *a, const char **upper, const char **tmp)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf dir = {0};
    struct bz_err ignored;

    add_path(&dir, store, task);
    /* As long as the store is open no collector takes it then. */
    if (!holds(bz_buf_text(&dir), key) ||
        (bz_expanded_touch(bz_buf_text(&dir), &ignored) < 0 &&
         ignored.code == BZ_E_NOENT))
        return false;
    *upper = bz_arena_printf(a, "%s/upper", bz_buf_text(&dir)).p;
    *tmp = bz_arena_printf(a, "%s/tmp", bz_buf_text(&dir)).p;
    return true;
}

struct bz_str bz_failed_last(const char *store, struct bz_str recipe,
                             struct bz_arena *a)
{
    BZ_CLEANUP(bz_fs_list_release) struct bz_fs_list names = {0};
    BZ_CLEANUP(bz_vec_release) struct kept_list kept = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf all = {0};

    bz_buf_addf(&all, "%s/failed", store);
    list_kept(bz_buf_text(&all), &names, &kept);
    for (size_t i = 0; i < kept.len; i++) {
        struct bz_str name = bz_str_from(kept.at[i].name);

        if (bz_str_cut_prefix(&name, recipe) && bz_str_cut_prefix(&name, BZ_STR(":")) &&
            bz_str_starts(name, BZ_STR("do_")))
            return bz_arena_dup(a, name);
    }
    return BZ_STR("");
}
