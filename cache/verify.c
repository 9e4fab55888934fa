#include "cache/verify.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/log.h"
#include "cache/expanded.h"
#include "cache/shelf_dir.h"
#include "cache/trash.h"
#include "cache/tree.h"
#include "cache/tree_stamp.h"
#include "os/fs_remove.h"

#define AT_ONCE 8
#define PATH (BZ_SHELF_NAME + 16) /* of what is named by a key, below the store */

struct verify {
    struct bz_cas *cas;
    const struct bz_verify_opts *opts;
    struct bz_inventory v;
    struct bz_verify_stats *stats;
    struct bz_crew crew;
    struct bz_sync_mutex mu;
    uint64_t done;  /* mu; bytes */
    uint64_t bytes; /* mu; hashed */
    struct bz_arena arena;
};

const char *bz_verify_fault_text(enum bz_verify_fault fault)
{
    static const char *const texts[] = {
        [BZ_VERIFY_BLOB] = "wrong bytes",
        [BZ_VERIFY_RESULT] = "not a result, a wrong seal, or another key's",
        [BZ_VERIFY_INCOMPLETE] = "a blob it needs is missing or damaged",
        [BZ_VERIFY_STRANGE] = "a link, a directory or something else in its place",
        [BZ_VERIFY_TREE] = "not what was laid out",
    };

    return texts[fault];
}

/* Whether the bytes are wrong. A blob that went meanwhile is none of our business; one
 * that cannot be read is as good as wrong. */
static int is_bad(struct verify *f, struct bz_digest_hasher *h,
                  const struct bz_digest *want, bool *bad, uint64_t *size,
                  struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep) int fd = -1;
    struct bz_digest got;
    int rc = bz_shelf_peek(&f->cas->blobs, want, &fd, err);

    *size = 0;
    if (rc == 0)
        rc = bz_digest_fd(h, fd, &got, size, err);
    if (rc == BZ_E_NOENT || (rc < 0 && err->sys == ESTALE))
        return 0;
    if (rc < 0 && err->sys != EIO)
        return rc;
    *bad = rc < 0 || !bz_digest_eq(&got, want);
    return 0;
}

static void hash_some(struct bz_worker *w, size_t begin, size_t end, void *arg)
{
    struct verify *f = arg;
    struct bz_digest_hasher *h = bz_crew_take(&f->crew);
    uint64_t done = 0, bytes = 0, size;
    struct bz_err err;

    (void)w;
    if (!h)
        return;
    for (size_t i = begin; i < end && !bz_crew_stopped(&f->crew); i++) {
        struct bz_inventory_blob *b = &f->v.blobs.at[i];

        if (is_bad(f, h, &b->hash, &b->bad, &size, &err) < 0)
            bz_crew_fail(&f->crew, &err);
        done += b->bytes;
        bytes += size;
    }
    bz_crew_give(&f->crew, h);
    bz_sync_lock(&f->mu);
    f->done += done;
    f->bytes += bytes;
    if (f->opts->progress)
        f->opts->progress(f->opts->ctx, f->done, f->v.bytes);
    bz_sync_unlock(&f->mu);
}

static void hash_all(struct bz_worker *w, void *arg)
{
    struct verify *f = arg;

    bz_pool_for(w, 0, f->v.blobs.len, AT_ONCE, hash_some, f);
}

/* What builds have laid out holds the same files. */
static void drop_trees(struct verify *f)
{
    BZ_CLEANUP(bz_expanded_release) struct bz_expanded laid_out = {0};
    struct bz_shelf_root *root = &f->cas->root;
    size_t n = 0;

    if (!f->opts->repair || f->stats->bad_blobs == 0)
        return;
    bz_expanded_take(root, bz_shelf_now(root), &laid_out);
    for (size_t i = 0; i < f->v.blobs.len; i++)
        if (f->v.blobs.at[i].bad)
            n += bz_expanded_drop(root, &laid_out, f->v.blobs.at[i].inode);
    if (n > 0)
        bz_log_info("cache", "%zu trees that were laid out with wrong bytes went", n);
}

static void put_aside(struct verify *f, const struct bz_shelf *shelf,
                      const struct bz_digest *key, const char *why)
{
    char name[BZ_SHELF_NAME];
    struct stat st;

    bz_shelf_name(key, name);
    if (bz_shelf_dir_stat(shelf, name, &st) < 0)
        return;
    bz_shelf_quarantine(shelf, key, &st, why);
    f->stats->repaired++;
}

static void tell(const struct verify *f, enum bz_verify_fault fault, const char *path)
{
    if (f->opts->fault)
        f->opts->fault(f->opts->ctx, fault, path);
}

static void found(struct verify *f, enum bz_verify_fault fault,
                  const struct bz_digest *what)
{
    const char *why = bz_verify_fault_text(fault);
    char name[BZ_SHELF_NAME], path[PATH];
    struct stat st;

    bz_shelf_name(what, name);
    snprintf(path, sizeof(path), "%s/%s", fault == BZ_VERIFY_BLOB ? "cas" : "ac", name);
    tell(f, fault, path);
    if (!f->opts->repair)
        return;
    if (fault == BZ_VERIFY_BLOB)
        put_aside(f, &f->cas->blobs, what, why);
    else if (fault == BZ_VERIFY_RESULT)
        put_aside(f, &f->cas->actions, what, why);
    else if (bz_trash_remove(&f->cas->actions, what, INT64_MAX, &st) ==
             BZ_TRASH_REMOVED)
        f->stats->repaired++;
}

/* ---- other things than files and directories ---- */

static void judge_strange(struct verify *f, const char *path)
{
    f->stats->strange++;
    tell(f, BZ_VERIFY_STRANGE, path);
}

/* A key under which there is no file. */
static void found_strange(struct verify *f, const struct bz_shelf *shelf,
                          const char *name)
{
    char path[PATH], at[BZ_SHELF_NAME];
    struct bz_digest key;
    struct bz_err ignored;

    if (bz_digest_parse(bz_str_from(name), &key, &ignored) < 0)
        return; /* none of ours */
    bz_shelf_name(&key, at);
    snprintf(path, sizeof(path), "%s/%s", shelf->kind, at);
    judge_strange(f, path);
    if (f->opts->repair)
        put_aside(f, shelf, &key, bz_verify_fault_text(BZ_VERIFY_STRANGE));
}

static bool is_kind(int dir, const struct dirent *e, unsigned char type, mode_t mode)
{
    struct stat st;

    if (e->d_type != DT_UNKNOWN)
        return e->d_type == type;
    return fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
           (st.st_mode & S_IFMT) == mode;
}

/* The next entry of a directory that is not of the kind; NULL at its end. */
static const char *next_strange(DIR *d, unsigned char type, mode_t mode)
{
    const struct dirent *e;

    while ((e = readdir(d)))
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            !is_kind(dirfd(d), e, type, mode))
            return e->d_name;
    return NULL;
}

static DIR *open_list(int fd)
{
    DIR *d = fd < 0 ? NULL : fdopendir(fd);

    if (!d)
        bz_fs_closep(&fd);
    return d;
}

static bool is_fan(const char *name)
{
    return strlen(name) == 2 && isxdigit((unsigned char)name[0]) &&
           isxdigit((unsigned char)name[1]);
}

/* What is no directory for the first byte of keys. A repair opens it, which puts it
 * aside (shelf_dir.h). */
static void look_at_fans(struct verify *f, const struct bz_shelf *shelf)
{
    DIR *d = open_list(bz_shelf_dir_open(&f->cas->root, shelf->kind, false));
    const char *name;
    char path[PATH];

    while (d && (name = next_strange(d, DT_DIR, S_IFDIR))) {
        if (!is_fan(name))
            continue;
        snprintf(path, sizeof(path), "%s/%s", shelf->kind, name);
        judge_strange(f, path);
        if (f->opts->repair) {
            BZ_CLEANUP(bz_fs_closep) int fd = bz_shelf_dir_fan(shelf, name);

            f->stats->repaired += fd < 0 && errno == ENOENT;
        }
    }
    if (d)
        closedir(d);
}

static void look_at_shelf(struct verify *f, const struct bz_shelf *shelf)
{
    look_at_fans(f, shelf);
    for (unsigned i = 0; i < BZ_SHELF_FANS; i++) {
        char fan[3];
        const char *name;
        DIR *d;

        snprintf(fan, sizeof(fan), "%02x", i);
        d = shelf->dir < 0
                ? NULL
                : open_list(openat(shelf->dir, fan,
                                   O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        while (d && (name = next_strange(d, DT_REG, S_IFREG)))
            found_strange(f, shelf, name);
        if (d)
            closedir(d);
    }
}

/* ---- laid-out trees ---- */

static void look_for_trees(struct verify *f, const char *kind)
{
    DIR *d = open_list(bz_shelf_dir_open(&f->cas->root, kind, false));
    const char *name;

    while (d && (name = next_strange(d, DT_DIR, S_IFDIR))) {
        judge_strange(f, bz_arena_printf(&f->arena, "%s/%s", kind, name).p);
        if (f->opts->repair)
            f->stats->repaired += unlinkat(dirfd(d), name, 0) == 0;
    }
    if (d)
        closedir(d);
}

static bool is_changed(const char *path)
{
    return bz_tree_stamp_check(path) == BZ_TREE_STAMP_CHANGED;
}

/* Whether a tree is not what its name says. Of one whose message is gone, or that has
 * several, the stamp has to tell. */
static bool is_damaged(struct verify *f, const struct bz_expanded_item *item,
                       const char *path, const char **why)
{
    const struct bz_tree_out how = {
        .threads = f->opts->threads,
        .cancel = f->opts->cancel,
        .check = BZ_CAS_FILE_CHECK,
        .plain = bz_str_starts(bz_str_from(item->name), BZ_STR("out/"))};
    struct bz_reapi_digest tree = {.hash = item->tree};
    char name[BZ_SHELF_NAME];
    struct bz_err err;
    struct stat st;
    uint32_t at = bz_inventory_find(&f->v, &item->tree);

    *why = "";
    bz_shelf_name(&item->tree, name);
    if (item->kind != BZ_EXPANDED_TREE || at == BZ_INVENTORY_NONE ||
        f->v.blobs.at[at].bad || bz_shelf_dir_stat(&f->cas->blobs, name, &st) < 0)
        return is_changed(path);
    tree.size = (uint64_t)st.st_size;
    if (bz_tree_check(f->cas, &tree, AT_FDCWD, path, &how, &err) == 0 ||
        (err.code != BZ_E_CORRUPT && err.sys != EIO))
        return false; /* whole; or gone, or not for us */
    *why = bz_arena_dup(&f->arena, bz_str_from(err.msg)).p;
    return true;
}

static void remove_tree(struct verify *f, const char *path)
{
    const char *old;
    struct bz_err err;

    if (bz_expanded_discard(&f->cas->root, path, &f->arena, &old, &err) < 0 ||
        bz_fs_remove(AT_FDCWD, old, &err) < 0)
        bz_log_warn("cache", "%s", err.msg);
    else
        f->stats->repaired++;
}

static void look_at_trees(struct verify *f)
{
    BZ_CLEANUP(bz_expanded_release) struct bz_expanded laid_out = {0};
    struct bz_shelf_root *root = &f->cas->root;

    look_for_trees(f, "trees");
    look_for_trees(f, "out");
    bz_expanded_take(root, bz_shelf_now(root), &laid_out);
    for (size_t i = 0; i < laid_out.items.len; i++) {
        const struct bz_expanded_item *item = &laid_out.items.at[i];
        const char *path, *why;

        if (item->kind != BZ_EXPANDED_TREE && item->kind != BZ_EXPANDED_MERGED)
            continue;
        f->stats->trees++;
        path = bz_arena_printf(&f->arena, "%s/%s", root->path, item->name).p;
        if (!is_damaged(f, item, path, &why))
            continue;
        f->stats->bad_trees++;
        if (*why)
            bz_log_info("cache", "%s: %s", item->name, why);
        tell(f, BZ_VERIFY_TREE, item->name);
        if (f->opts->repair)
            remove_tree(f, path);
    }
}

/* ---- all of it ---- */

uint64_t bz_verify_faults(const struct bz_verify_stats *stats)
{
    return stats->bad_blobs + stats->bad_results + stats->incomplete + stats->strange +
           stats->bad_trees;
}

static void judge(struct verify *f)
{
    for (size_t i = 0; i < f->v.blobs.len; i++)
        if (f->v.blobs.at[i].bad) {
            f->stats->bad_blobs++;
            found(f, BZ_VERIFY_BLOB, &f->v.blobs.at[i].hash);
        }
    drop_trees(f);
    bz_inventory_settle(&f->v);
    for (size_t i = 0; i < f->v.results.len; i++) {
        const struct bz_inventory_result *r = &f->v.results.at[i];

        f->stats->unsealed += !r->sealed && !r->damaged;
        if (r->damaged) {
            f->stats->bad_results++;
            found(f, BZ_VERIFY_RESULT, &r->key);
        } else if (r->broken) {
            f->stats->incomplete++;
            found(f, BZ_VERIFY_INCOMPLETE, &r->key);
        }
    }
    look_at_shelf(f, &f->cas->blobs);
    look_at_shelf(f, &f->cas->actions);
    look_at_trees(f);
}

int bz_verify_run(struct bz_cas *cas, const struct bz_verify_opts *opts,
                  struct bz_verify_stats *stats, struct bz_err *err)
{
    struct verify f = {.cas = cas, .opts = opts, .stats = stats};
    int rc;

    *stats = (struct bz_verify_stats){0};
    if (opts->repair && cas->root.readonly)
        return bz_fail(err, BZ_E_NOSUP,
                       "the store cannot be written: nothing to repair");
    rc = bz_inventory_take(cas, NULL, NULL, &f.v, err);
    if (rc == 0) {
        bz_crew_init(&f.crew, opts->cancel);
        bz_crew_run(&opts->threads, hash_all, &f);
        rc = bz_crew_result(&f.crew, err);
        bz_crew_release(&f.crew);
    }
    if (rc == 0) {
        stats->blobs = f.v.blobs.len;
        stats->bytes = f.bytes;
        stats->results = f.v.results.len;
        judge(&f);
    }
    bz_inventory_release(&f.v);
    bz_arena_release(&f.arena);
    return rc;
}
