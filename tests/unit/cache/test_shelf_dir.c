#include "cache/shelf_dir.h"

#include "cache/action.h"
#include "tests/unit/cache/store.h"

/* The directories of a store that every build has. */
static const char *const tops[] = {"cas", "ac", "tmp", "leases"};

static struct bz_cas *reopen(struct store *s, enum bz_shelf_access access)
{
    struct bz_cas_opts opts = {access, BZ_FS_NOSYNC};
    struct bz_cas *cas = NULL;

    bz_cas_close(s->cas);
    s->cas = NULL;
    assert_ok(bz_cas_open(s->root, &opts, &cas, &s->err), &s->err);
    s->cas = cas;
    return cas;
}

/* A link at `path` in the scratch directory, to a directory outside the store that has
 * what was there. */
static void plant(const struct store *s, const char *path)
{
    char to[400];

    mkdirat(s->dir, "outside", 0755);
    assert_int_equal(renameat(s->dir, path, s->dir, "outside/far"), 0);
    snprintf(to, sizeof(to), "%s/outside/far", s->scratch->path);
    assert_int_equal(symlinkat(to, s->dir, path), 0);
}

static bool is_link(const struct store *s, const char *path)
{
    struct stat st;

    return fstatat(s->dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode);
}

/* "s/cas/ab" of a blob. */
static const char *fan_path(const struct bz_reapi_digest *d, char out[128])
{
    char *slash = strrchr(store_path("cas", &d->hash, out), '/');

    *slash = '\0';
    return out;
}

static size_t far_names(const struct store *s)
{
    char path[400];

    snprintf(path, sizeof(path), "%s/outside/far", s->scratch->path);
    return count_names(path);
}

static void a_link_in_the_place_of_a_directory_is_refused(void **state)
{
    struct store *s = *state;
    struct bz_reapi_digest d = store_text(s, "abc"), got;
    char path[128];
    char *text;

    plant(s, fan_path(&d, path));
    reopen(s, BZ_SHELF_WRITE);
    assert_false(bz_cas_has(s->cas, &d));
    assert_false(bz_cas_claim(s->cas, &d));
    assert_int_equal(bz_cas_read(s->cas, s->h, &d, 10, &text, &s->err), BZ_E_NOENT);
    assert_int_equal(bz_cas_put(s->cas, s->h, "abc", 3, &got, &s->err), BZ_E_BUSY);
    assert_true(is_link(s, path));
    assert_int_equal(far_names(s), 1);
    assert_int_equal(store_temps(s), 0);
    store_text(s, "something else"); /* the others are as they were */
}

static void a_store_that_is_ours_puts_it_aside(void **state)
{
    struct store *s = *state;
    struct bz_reapi_digest d = store_text(s, "abc");
    char path[128];

    plant(s, fan_path(&d, path));
    reopen(s, BZ_SHELF_MEND);
    assert_false(bz_cas_has(s->cas, &d));
    assert_false(is_link(s, path));
    store_text(s, "abc");
    assert_true(bz_cas_has(s->cas, &d));
    assert_int_equal(far_names(s), 1);
}

/* It does not matter that it was a directory when it was looked at. */
static void a_directory_that_others_may_write_to_is_looked_at_each_time(void **state)
{
    struct store *s = *state;
    struct bz_reapi_digest d, got;
    char path[128];

    assert_int_equal(fchmodat(s->dir, "s/cas", 0777, 0), 0);
    reopen(s, BZ_SHELF_WRITE);
    assert_false(s->cas->blobs.ours);
    d = store_text(s, "abc");
    plant(s, fan_path(&d, path));
    assert_false(bz_cas_has(s->cas, &d));
    assert_int_equal(bz_cas_put(s->cas, s->h, "abc", 3, &got, &s->err), BZ_E_BUSY);
    assert_int_equal(far_names(s), 1);
}

static void one_in_the_root_is_as_good_as_none(void **state)
{
    struct store *s = *state;
    struct bz_reapi_digest got;
    char path[16];

    for (size_t i = 0; i < BZ_COUNTOF(tops); i++) {
        size_t before;
        int rc;

        bz_cas_close(s->cas); /* its lease goes */
        s->cas = NULL;
        snprintf(path, sizeof(path), "s/%s", tops[i]);
        plant(s, path);
        before = far_names(s);
        reopen(s, BZ_SHELF_WRITE);
        rc = bz_cas_put(s->cas, s->h, "abc", 3, &got, &s->err);
        if (strcmp(tops[i], "cas") == 0)
            assert_int_equal(rc, BZ_E_BUSY);
        if (strcmp(tops[i], "tmp") == 0)
            assert_true(s->cas->root.readonly);
        assert_true(is_link(s, path));
        assert_int_equal(far_names(s), before);
        reopen(s, BZ_SHELF_MEND);
        assert_false(is_link(s, path));
        store_text(s, "abc");
        assert_int_equal(far_names(s), before);
        assert_ok(bz_fs_remove(s->dir, "outside", &s->err), &s->err);
    }
}

static void a_link_under_a_key_is_put_aside(void **state)
{
    struct store *s = *state;
    struct bz_reapi_digest d = store_text(s, "abc");
    char path[128];
    char *text;

    put(s->dir, "elsewhere", "abc");
    assert_int_equal(unlinkat(s->dir, store_path("cas", &d.hash, path), 0), 0);
    assert_int_equal(symlinkat("../../../elsewhere", s->dir, path), 0);
    assert_false(bz_cas_has(s->cas, &d));
    assert_false(bz_cas_claim(s->cas, &d));
    assert_int_equal(bz_cas_read(s->cas, s->h, &d, 10, &text, &s->err), BZ_E_NOENT);
    assert_false(is_link(s, path));
    assert_int_equal(store_bad(s), 1);
    assert_int_equal(symlinkat("../../../elsewhere", s->dir, path), 0);
    store_text(s, "abc");
    assert_true(bz_cas_has(s->cas, &d));
    assert_false(is_link(s, path));
}

static void the_root_itself_may_be_a_link(void **state)
{
    struct store *s = *state;
    struct bz_reapi_digest d = store_text(s, "abc");

    bz_cas_close(s->cas);
    s->cas = NULL;
    assert_int_equal(symlinkat("s", s->dir, "named"), 0);
    snprintf(s->root, sizeof(s->root), "%s/named", s->scratch->path);
    reopen(s, BZ_SHELF_MEND);
    assert_true(bz_cas_has(s->cas, &d));
}

static void nobody_else_may_change_what_is_ours(void **state)
{
    static const struct {
        mode_t mode;
        bool ours;
    } cases[] = {
        {0755,  true },
        {0700,  true },
        {0775,  false},
        {0777,  false},
        {01777, false},
    };
    struct store *s = *state;

    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        assert_int_equal(fchmod(s->dir, cases[i].mode), 0);
        assert_int_equal(bz_shelf_dir_is_ours(s->dir), cases[i].ours);
    }
    assert_int_equal(fchmod(s->dir, 0700), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, store_setup, store_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_link_in_the_place_of_a_directory_is_refused),
        TEST(a_store_that_is_ours_puts_it_aside),
        TEST(a_directory_that_others_may_write_to_is_looked_at_each_time),
        TEST(one_in_the_root_is_as_good_as_none),
        TEST(a_link_under_a_key_is_put_aside),
        TEST(the_root_itself_may_be_a_link),
        TEST(nobody_else_may_change_what_is_ours),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
