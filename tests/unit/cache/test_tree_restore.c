#include <sys/xattr.h>

#include "tests/unit/cache/forest.h"

static void random_trees_come_back_identical_twice(void **state)
{
    struct grove *g = *state;
    size_t fds = count_fds();

    for (unsigned seed = 0; seed < 12; seed++) {
        char from[16], one[16], two[16];
        struct bz_reapi_digest a, b;

        snprintf(from, sizeof(from), "from%u", seed);
        snprintf(one, sizeof(one), "one%u", seed);
        snprintf(two, sizeof(two), "two%u", seed);
        forest_make(g->s->dir, from, seed, 20 + 20 * seed);
        g->in.how = seed % 2 ? BZ_CAS_FILE_COPY : BZ_CAS_FILE_ADOPT;
        a = grove_store(g, from);
        g->out.check = (enum bz_cas_file_check)(seed % 3);
        g->out.how = seed % 4 == 3 ? BZ_CAS_FILE_PRIVATE : BZ_CAS_FILE_LINK;
        assert_ok(grove_restore(g, &a, one), &g->s->err);
        forest_assert_same(g->s->h, g->s->dir, from, one);
        b = grove_store(g, one);
        assert_true(bz_digest_eq(&a.hash, &b.hash));
        assert_ok(grove_restore(g, &b, two), &g->s->err);
        forest_assert_same(g->s->h, g->s->dir, one, two);
    }
    assert_int_equal(count_fds(), fds);
    assert_int_equal(store_bad(g->s), 0);
    assert_int_equal(store_temps(g->s), 0);
}

static void all_times_are_the_same(void **state)
{
    struct grove *g = *state;
    struct bz_reapi_digest d;
    static const char *const paths[] = {"out", "out/d", "out/d/f", "out/l"};

    make_dirs(g->s->dir, "t/d");
    put(g->s->dir, "t/d/f", "x");
    assert_int_equal(symlinkat("x", g->s->dir, "t/l"), 0);
    d = grove_store(g, "t");
    assert_ok(grove_restore(g, &d, "out"), &g->s->err);
    for (size_t i = 0; i < BZ_COUNTOF(paths); i++) {
        struct stat st;

        assert_int_equal(fstatat(g->s->dir, paths[i], &st, AT_SYMLINK_NOFOLLOW), 0);
        assert_int_equal(st.st_mtim.tv_sec, BZ_SHELF_MTIME);
        assert_int_equal(st.st_mtim.tv_nsec, 0);
    }
}

static void a_plain_tree_has_no_special_bits(void **state)
{
    struct grove *g = *state;
    struct bz_reapi_digest d, other;
    struct stat st;

    make_dirs(g->s->dir, "t/d");
    put(g->s->dir, "t/f", "x");
    assert_int_equal(fchmodat(g->s->dir, "t/f", 06755, 0), 0);
    assert_int_equal(fchmodat(g->s->dir, "t/d", 03775, 0), 0);
    d = grove_store(g, "t");
    assert_ok(grove_restore(g, &d, "same"), &g->s->err);
    assert_int_equal(fstatat(g->s->dir, "same/f", &st, 0), 0);
    assert_int_equal(st.st_mode & 07777, 06755);
    g->out.plain = true;
    assert_ok(grove_restore(g, &d, "out"), &g->s->err);
    assert_int_equal(fstatat(g->s->dir, "out/f", &st, 0), 0);
    assert_int_equal(st.st_mode & 07777, 0555);
    assert_int_equal(fstatat(g->s->dir, "out/d", &st, 0), 0);
    assert_int_equal(st.st_mode & 07777, 01775);
    assert_ok(bz_tree_check(g->s->cas, &d, g->s->dir, "out", &g->out, &g->s->err),
              &g->s->err);
    other = grove_store(g, "out");
    assert_false(bz_digest_eq(&d.hash, &other.hash));
}

static void an_overlays_deletions_come_back(void **state)
{
    struct grove *g = *state;
    struct bz_reapi_digest d;
    struct stat st;
    char value = 0, path[320];

    make_dirs(g->s->dir, "t/opaque");
    assert_int_equal(mknodat(g->s->dir, "t/gone", S_IFCHR, 0), 0);
    snprintf(path, sizeof(path), "%s/t/opaque", g->s->scratch->path);
    if (setxattr(path, "user.overlay.opaque", "y", 1, 0) < 0)
        skip(); /* no such attributes here */
    d = grove_store(g, "t");
    assert_ok(grove_restore(g, &d, "out"), &g->s->err);
    assert_int_equal(fstatat(g->s->dir, "out/gone", &st, 0), 0);
    assert_true(S_ISCHR(st.st_mode) && st.st_rdev == 0);
    snprintf(path, sizeof(path), "%s/out/opaque", g->s->scratch->path);
    assert_int_equal(getxattr(path, "user.overlay.opaque", &value, 1), 1);
    assert_int_equal(value, 'y');
}

struct damager {
    unsigned skip;
    unsigned how; /* 0 cut, 1 flip, 2 remove */
    bool done;
};

static int damage_one(void *ctx, const struct bz_fs_walk_entry *e, struct bz_err *err)
{
    struct damager *d = ctx;

    (void)err;
    if (!S_ISREG(e->st->st_mode) || e->st->st_size == 0 || d->skip-- > 0)
        return BZ_FS_WALK_ON;
    if (d->how == 2)
        unlinkat(e->dir, e->name, 0);
    else
        damage(e->dir, e->name, e->st->st_size / 2, d->how == 0);
    d->done = true;
    return BZ_FS_WALK_STOP;
}

/* Makes a tree and stores it. */
static struct bz_reapi_digest plant(struct grove *g)
{
    forest_make(g->s->dir, "t", 3, 24);
    return grove_store(g, "t");
}

static void fell(struct grove *g, const char *path)
{
    assert_ok(bz_fs_remove(g->s->dir, path, &g->s->err), &g->s->err);
}

static bool damage_blob(struct grove *g, unsigned i)
{
    struct damager dam = {.skip = i / 3, .how = i % 3};

    assert_ok(bz_fs_walk(g->s->dir, "s/cas", damage_one, &dam, &g->s->err), &g->s->err);
    return dam.done;
}

/* One blob after another of a tree, the tree's own message included. Stored anew it is
 * whole again. */
static void a_tree_with_a_bad_blob_is_a_miss_and_leaves_nothing(void **state)
{
    struct grove *g = *state;
    struct bz_reapi_digest d = plant(g);
    unsigned i;

    for (i = 0; damage_blob(g, i); i++) {
        fell(g, "t");
        g->out.how = i % 2 ? BZ_CAS_FILE_PRIVATE : BZ_CAS_FILE_LINK;
        g->out.check = i % 5 ? BZ_CAS_FILE_CHANGED : BZ_CAS_FILE_CHECK;
        assert_int_equal(grove_restore(g, &d, "out"), BZ_E_NOENT);
        assert_false(bz_fs_exists(g->s->dir, "out"));
        d = plant(g);
        assert_ok(grove_restore(g, &d, "out"), &g->s->err);
        forest_assert_same(g->s->h, g->s->dir, "t", "out");
        fell(g, "out");
    }
    assert_true(i > 20);
}

static void what_exists_is_neither_changed_nor_removed(void **state)
{
    struct grove *g = *state;
    struct bz_reapi_digest d;

    make_dirs(g->s->dir, "t");
    d = grove_store(g, "t");
    make_dirs(g->s->dir, "out");
    put(g->s->dir, "out/mine", "x");
    assert_int_equal(grove_restore(g, &d, "out"), BZ_E_EXISTS);
    assert_true(bz_fs_exists(g->s->dir, "out/mine"));
}

static void a_link_planted_in_the_way_is_not_followed(void **state)
{
    struct grove *g = *state;
    struct bz_reapi_digest d;

    make_dirs(g->s->dir, "t");
    put(g->s->dir, "t/f", "x");
    d = grove_store(g, "t");
    make_dirs(g->s->dir, "elsewhere");
    assert_int_equal(symlinkat("elsewhere", g->s->dir, "out"), 0);
    assert_int_equal(grove_restore(g, &d, "out"), BZ_E_EXISTS);
    assert_false(bz_fs_exists(g->s->dir, "elsewhere/f"));
}

static void a_private_tree_can_be_changed_without_harm(void **state)
{
    struct grove *g = *state;
    struct bz_reapi_digest d;

    make_dirs(g->s->dir, "t");
    put(g->s->dir, "t/f", "text");
    d = grove_store(g, "t");
    g->out.how = BZ_CAS_FILE_PRIVATE;
    assert_ok(grove_restore(g, &d, "out"), &g->s->err);
    damage(g->s->dir, "out/f", 0, false);
    assert_ok(grove_restore(g, &d, "again"), &g->s->err);
    forest_assert_same(g->s->h, g->s->dir, "t", "again");
}

/* Nothing can be linked there; everything is copied, as far as there is room. */
static void another_file_system_gets_copies_or_nothing(void **state)
{
    struct grove *g = *state;
    struct bz_reapi_digest d;
    char path[320];

    forest_make(g->s->dir, "t", 4, 100);
    d = grove_store(g, "t");
    if (!store_mount(g->s, "size=64k", path))
        skip();
    assert_int_equal(grove_restore(g, &d, "m/out"), BZ_E_IO);
    assert_int_equal(g->s->err.sys, ENOSPC);
    assert_false(bz_fs_exists(g->s->dir, "m/out"));
    assert_int_equal(umount2(path, MNT_DETACH), 0);
    assert_true(store_mount(g->s, "size=64m", path));
    assert_ok(grove_restore(g, &d, "m/out"), &g->s->err);
    forest_assert_same(g->s->h, g->s->dir, "t", "m/out");
    assert_int_equal(umount2(path, MNT_DETACH), 0);
    assert_int_equal(store_bad(g->s), 0);
}

static void a_canceled_restore_leaves_nothing(void **state)
{
    struct grove *g = *state;
    struct bz_reapi_digest d;
    struct bz_cancel cancel;

    forest_make(g->s->dir, "t", 2, 100);
    d = grove_store(g, "t");
    bz_cancel_init(&cancel, NULL, 0);
    bz_cancel_now(&cancel);
    g->out.cancel = &cancel;
    assert_int_equal(grove_restore(g, &d, "out"), BZ_E_CANCELED);
    assert_false(bz_fs_exists(g->s->dir, "out"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        grove_test(random_trees_come_back_identical_twice),
        grove_test(all_times_are_the_same),
        grove_test(a_plain_tree_has_no_special_bits),
        grove_test(an_overlays_deletions_come_back),
        grove_test(a_tree_with_a_bad_blob_is_a_miss_and_leaves_nothing),
        grove_test(what_exists_is_neither_changed_nor_removed),
        grove_test(a_link_planted_in_the_way_is_not_followed),
        grove_test(a_private_tree_can_be_changed_without_harm),
        grove_test(another_file_system_gets_copies_or_nothing),
        grove_test(a_canceled_restore_leaves_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
