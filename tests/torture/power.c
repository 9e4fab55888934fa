/* The power fails while a process stores. All it does to the file system is written
 * down; then for every moment a disk is made as it may be found: what was synced is
 * there, of the rest some. Names made or removed since the last sync of their directory
 * are there or not, each for itself; contents since the last sync of their file are
 * right, cut short, zeros or nothing.
 *
 * Whatever the policy, what is used from such a store is right, and so are trees that
 * were laid out in it. With BZ_FS_SYNC a result whose storing had succeeded is there;
 * without, nothing is promised but the former. */
#include "base/mem.h"
#include "cache/action.h"
#include "os/clock.h"
#include "tests/torture/shim.h"
#include "tests/unit/cache/forest.h"

#define RESULTS 3
#define FILES 7

struct power {
    struct grove *g;
    struct shim_log log;
    size_t stored[RESULTS]; /* length of the log when storing it had succeeded */
    struct forest dice;
    unsigned found, missing;
    unsigned whole, torn; /* trees that were laid out */
};

static struct bz_digest key_of(unsigned n)
{
    return (struct bz_digest){
        {(uint8_t)(n + 1), 1}
    };
}

static const char *tree_of(unsigned n, char out[16])
{
    snprintf(out, 16, "from%u", n);
    return out;
}

static const char *laid_out_of(unsigned n, const char *below, char out[64])
{
    snprintf(out, 64, "%s/%s%u", below, "tree", n);
    return out;
}

/* As builds do it. */
static void lay_out(struct power *p, struct bz_cas *cas, unsigned n,
                    const struct bz_reapi_digest *tree)
{
    const struct bz_tree_out how = {.threads = p->g->out.threads};
    struct store *s = p->g->s;
    char work[64], trees[64];

    assert_ok(bz_fs_mkdirs(cas->root.top, "trees", 0755, &s->err), &s->err);
    assert_ok(bz_fs_mkdirs(cas->root.top, "work", 0755, &s->err), &s->err);
    assert_ok(bz_tree_restore(cas, tree, cas->root.top, laid_out_of(n, "work", work),
                              &how, &p->g->stats, &s->err),
              &s->err);
    assert_int_equal(
        renameat(cas->root.top, work, cas->root.top, laid_out_of(n, "trees", trees)),
        0);
}

static void store_each(struct power *p, const char *root, enum bz_fs_sync sync)
{
    struct bz_cas_opts opts = {BZ_SHELF_WRITE, sync};
    struct store *s = p->g->s;
    struct bz_cas *cas;

    assert_ok(bz_cas_open(root, &opts, &cas, &s->err), &s->err);
    for (unsigned i = 0; i < RESULTS; i++) {
        struct bz_reapi_outdir dir = {.path = BZ_STR(""), .sorted = true};
        struct bz_reapi_result r = {.dirs = &dir, .ndirs = 1};
        struct bz_digest key = key_of(i);
        enum bz_action_put how;
        char from[16], laid_out[64];

        assert_ok(bz_tree_store(cas, s->dir, tree_of(i, from), &p->g->in, &dir.tree,
                                &p->g->stats, &s->err),
                  &s->err);
        assert_ok(bz_action_put(cas, s->h, &key, &r, &how, &s->err), &s->err);
        p->stored[i] = p->log.n;
        if (!bz_fs_exists(cas->root.top, laid_out_of(i, "trees", laid_out)))
            lay_out(p, cas, i, &dir.tree);
    }
    bz_cas_close(cas);
}

/* Stores, with everything written down from before the store exists. `before`: somebody
 * else did the same before and did not sync. */
static void store_all(struct power *p, enum bz_fs_sync sync, bool before)
{
    struct store *s = p->g->s;
    char root[320], from[16];

    snprintf(root, sizeof(root), "%s/live", s->scratch->path);
    for (unsigned i = 0; i < RESULTS; i++)
        forest_make(s->dir, tree_of(i, from), i, FILES);
    shim_record(&p->log);
    if (before)
        store_each(p, root, BZ_FS_NOSYNC);
    store_each(p, root, sync);
    shim_record(NULL);
}

/* The path below the live store, or NULL if it is elsewhere. */
static const char *inside(const struct power *p, const char *path)
{
    char root[320];
    size_t n = (size_t)snprintf(root, sizeof(root), "%s/live", p->g->s->scratch->path);

    if (!path || strncmp(path, root, n) != 0)
        return NULL;
    return path[n] == '/' ? path + n + 1 : path[n] == '\0' ? "." : NULL;
}

static bool lies_in(const char *path, const char *dir)
{
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) : 0;

    if (strcmp(dir, ".") == 0)
        return !slash;
    return strlen(dir) == n && memcmp(path, dir, n) == 0;
}

/* Whether a change of a directory is on the disk for sure. */
static bool is_name_synced(const struct power *p, size_t op, size_t end)
{
    const char *path = inside(p, p->log.at[op].path);

    for (size_t i = op + 1; i < end; i++) {
        const char *dir =
            p->log.at[i].kind == SHIM_SYNC ? inside(p, p->log.at[i].path) : NULL;

        if (dir && lies_in(path, dir))
            return true;
    }
    return false;
}

/* How long a file was at that moment, and whether that is on the disk. A file that is
 * older than the log was never synced. */
static off_t size_at(const struct power *p, ino_t inode, size_t end, off_t whole,
                     bool *synced)
{
    off_t size = whole;
    bool written = false;

    *synced = false;
    for (size_t i = 0; i < end; i++) {
        const struct shim_op *op = &p->log.at[i];

        if (op->inode != inode)
            continue;
        if (op->kind == SHIM_CREATE && !written)
            size = 0;
        if (op->kind == SHIM_WRITE)
            size = op->size;
        written |= op->kind == SHIM_WRITE;
        if (op->kind == SHIM_WRITE)
            *synced = false;
        if (op->kind == SHIM_SYNC)
            *synced = true;
    }
    return size;
}

/* The bytes that a file ended up with: files are written once. */
struct content {
    ino_t inode;
    char *bytes;
    size_t n;
};
struct contents BZ_VEC(struct content);

static int keep_content(void *ctx, const struct bz_fs_walk_entry *e, struct bz_err *err)
{
    struct contents *all = ctx;
    struct content c = {.inode = e->st->st_ino};

    if (!S_ISREG(e->st->st_mode))
        return BZ_FS_WALK_ON;
    if (bz_fs_read(e->dir, e->name, 1 << 24, &c.bytes, &c.n, err) < 0)
        return err->code;
    BZ_VEC_PUSH(all, c);
    return BZ_FS_WALK_ON;
}

static const struct content *content_of(const struct contents *all, ino_t inode)
{
    for (size_t i = 0; i < all->len; i++)
        if (all->at[i].inode == inode)
            return &all->at[i];
    return NULL;
}

/* A file as it may be found. */
static void put_file(struct power *p, int disk, const char *path,
                     const struct content *c, ino_t inode, size_t end)
{
    bool synced;
    size_t n = (size_t)size_at(p, inode, end, c ? (off_t)c->n : 0, &synced), kept;
    char *bytes = calloc(1, n + 1);
    struct bz_err err;
    int fd;

    if (c)
        memcpy(bytes, c->bytes, n < c->n ? n : c->n);
    if (!synced && n > 0) {
        kept = forest_below(&p->dice, (unsigned)n + 1);
        switch (forest_below(&p->dice, 4)) {
        case 0:
            n = 0;
            break;
        case 1:
            n = kept;
            break;
        case 2:
            memset(bytes + kept, 0, n - kept);
            break;
        default:
            break; /* all of it came through */
        }
    }
    fd = openat(disk, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd >= 0) {
        const struct timespec times[2] = {
            {0,              UTIME_NOW},
            {BZ_SHELF_MTIME, 0        }
        };

        assert_ok(bz_fs_write_all(fd, path, bytes, n, &err), &err);
        futimens(fd, times); /* times may survive where bytes do not */
        close(fd);
    }
    free(bytes);
}

/* Of a tree that is laid out most should be there, or nobody takes it for one. */
static bool is_name_lost(struct power *p, const char *path)
{
    bool laid_out = strncmp(path, "trees", 5) == 0 || strncmp(path, "work", 4) == 0;

    return laid_out ? forest_below(&p->dice, 64) == 0 : forest_below(&p->dice, 2);
}

/* Replays the first `end` changes on an empty disk. */
static void make_disk(struct power *p, const struct contents *all, size_t end, int disk)
{
    for (size_t i = 0; i < end; i++) {
        const struct shim_op *op = &p->log.at[i];
        const char *path = inside(p, op->path);

        if (!path || op->kind == SHIM_SYNC || op->kind == SHIM_WRITE ||
            (!is_name_synced(p, i, end) && is_name_lost(p, path)))
            continue;
        switch (op->kind) {
        case SHIM_MKDIR:
            if (strcmp(path, ".") != 0)
                mkdirat(disk, path, 0755);
            break;
        case SHIM_CREATE:
        case SHIM_LINK:
            put_file(p, disk, path, content_of(all, op->inode), op->inode, end);
            break;
        case SHIM_UNLINK:
            unlinkat(disk, path, 0);
            break;
        case SHIM_RENAME:
            if (inside(p, op->from))
                renameat(disk, inside(p, op->from), disk, path);
            break;
        default:
            break;
        }
    }
}

/* Modes, times and links, which are not written down, may all have come through. */
struct looks {
    int disk;
    bool dirs; /* of these, when all is in them; else of all others */
};

static int give_look(void *ctx, const struct bz_fs_walk_entry *e, struct bz_err *err)
{
    const struct looks *l = ctx;
    const struct timespec times[2] = {e->st->st_atim, e->st->st_mtim};
    char target[4096] = "";

    (void)err;
    if (S_ISDIR(e->st->st_mode) != l->dirs)
        return BZ_FS_WALK_ON;
    if (S_ISLNK(e->st->st_mode) &&
        readlinkat(e->dir, e->name, target, sizeof(target) - 1) > 0)
        (void)!symlinkat(target, l->disk, e->path);
    else if (S_ISCHR(e->st->st_mode))
        (void)!mknodat(l->disk, e->path, S_IFCHR, 0);
    else
        (void)!fchmodat(l->disk, e->path, e->st->st_mode & 07777, 0);
    (void)!utimensat(l->disk, e->path, times, AT_SYMLINK_NOFOLLOW);
    return BZ_FS_WALK_ON;
}

static void give_looks(struct power *p)
{
    struct store *s = p->g->s;
    int disk = openat(s->dir, "disk/trees", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    for (int dirs = 0; disk >= 0 && dirs < 2; dirs++) {
        struct looks l = {disk, dirs};

        assert_ok(bz_fs_walk(s->dir, "live/trees", give_look, &l, &s->err), &s->err);
    }
    bz_fs_closep(&disk);
}

/* A tree that was laid out is what was stored, or it is found out. */
static void use_laid_out(struct power *p, struct bz_cas *cas, unsigned i,
                         const struct bz_reapi_digest *tree)
{
    struct store *s = p->g->s;
    char name[64], path[80], from[16];

    snprintf(path, sizeof(path), "disk/%s", laid_out_of(i, "trees", name));
    if (!bz_fs_exists(s->dir, path))
        return;
    if (bz_tree_check(cas, tree, s->dir, path, &p->g->out, &s->err) < 0) {
        p->torn++;
        return;
    }
    forest_assert_same(s->h, s->dir, tree_of(i, from), path);
    p->whole++;
}

/* Restores one result, if it is there: then it is what was stored. */
static int use_result(struct power *p, struct bz_cas *cas, unsigned i)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct store *s = p->g->s;
    struct bz_digest key = key_of(i);
    struct bz_reapi_result r;
    char from[16];
    int rc = bz_action_get(cas, s->h, &key, BZ_ACTION_OURS, &a, &r, &s->err);

    if (rc == 0)
        use_laid_out(p, cas, i, &r.dirs[0].tree);
    if (rc == 0)
        rc = bz_tree_restore(cas, &r.dirs[0].tree, s->dir, "out", &p->g->out,
                             &p->g->stats, &s->err);
    if (rc < 0)
        return rc;
    forest_assert_same(s->h, s->dir, tree_of(i, from), "out");
    assert_ok(bz_fs_remove(s->dir, "out", &s->err), &s->err);
    return 0;
}

/* What comes out of such a disk. */
static void use_disk(struct power *p, size_t end, bool promised)
{
    static const struct bz_cas_opts opts = {BZ_SHELF_WRITE, BZ_FS_NOSYNC};
    struct store *s = p->g->s;
    struct bz_cas *cas;
    char root[320];

    snprintf(root, sizeof(root), "%s/disk", s->scratch->path);
    assert_ok(bz_cas_open(root, &opts, &cas, &s->err), &s->err);
    for (unsigned i = 0; i < RESULTS; i++) {
        int rc = use_result(p, cas, i);

        p->found += rc == 0;
        p->missing += rc != 0;
        assert_true(rc == 0 || rc == BZ_E_NOENT);
        if (rc < 0 && promised && p->stored[i] <= end)
            fail_msg("result %u was stored at %zu and is lost at %zu: %s", i,
                     p->stored[i], end, s->err.msg);
    }
    bz_cas_close(cas);
}

static void fail_at_every_moment(struct grove *g, enum bz_fs_sync sync, bool before)
{
    struct power p = {.g = g, .dice.random = 5};
    struct contents all = {0};
    unsigned rounds = getenv("BITZEL_TORTURE_FULL") ? 5 : 1;
    size_t step = getenv("BITZEL_TORTURE_FULL") ? 1 : 9;
    struct bz_err err;

    store_all(&p, sync, before);
    assert_ok(bz_fs_walk(g->s->dir, "live", keep_content, &all, &err), &err);
    g->out.check = BZ_CAS_FILE_CHECK; /* as the first use after a boot does */
    g->out.how = BZ_CAS_FILE_PRIVATE;
    for (size_t end = 0; end <= p.log.n; end += step)
        for (unsigned i = 0; i < rounds; i++) {
            int disk;

            assert_int_equal(mkdirat(g->s->dir, "disk", 0755), 0);
            disk = openat(g->s->dir, "disk", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
            make_disk(&p, &all, end, disk);
            close(disk);
            give_looks(&p);
            use_disk(&p, end, sync == BZ_FS_SYNC);
            assert_ok(bz_fs_remove(g->s->dir, "disk", &err), &err);
        }
    assert_true(p.missing > 0);
    if (sync == BZ_FS_SYNC) {
        assert_true(p.found > 0);
        assert_true(p.torn > 0);
    }
    for (size_t i = 0; i < all.len; i++)
        free(all.at[i].bytes);
    bz_vec_release(&all);
    shim_log_release(&p.log);
}

static void what_is_copied_in_and_synced_survives(void **state)
{
    struct grove *g = *state;

    g->in.how = BZ_CAS_FILE_COPY;
    fail_at_every_moment(g, BZ_FS_SYNC, false);
}

static void what_is_adopted_and_synced_survives(void **state)
{
    struct grove *g = *state;

    g->in.how = BZ_CAS_FILE_ADOPT;
    fail_at_every_moment(g, BZ_FS_SYNC, false);
}

static void what_another_did_not_sync_is_synced(void **state)
{
    struct grove *g = *state;

    g->in.how = BZ_CAS_FILE_COPY;
    fail_at_every_moment(g, BZ_FS_SYNC, true);
}

static void what_is_not_synced_is_right_or_missing(void **state)
{
    struct grove *g = *state;

    g->in.how = BZ_CAS_FILE_COPY;
    fail_at_every_moment(g, BZ_FS_NOSYNC, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        grove_test(what_is_copied_in_and_synced_survives),
        grove_test(what_is_adopted_and_synced_survives),
        grove_test(what_another_did_not_sync_is_synced),
        grove_test(what_is_not_synced_is_right_or_missing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
