#include "cache/tier_dir.h"

#include "tests/unit/cache/store.h"

static struct bz_tier *open_tier(struct store *s)
{
    static const struct bz_cas_opts opts = {BZ_SHELF_WRITE, BZ_FS_NOSYNC};
    struct bz_tier *t;
    char path[320];

    snprintf(path, sizeof(path), "%s/shared", s->scratch->path);
    assert_ok(bz_tier_dir_open(path, &opts, &t, &s->err), &s->err);
    return t;
}

static void blobs_and_results_go_there_and_come_back(void **state)
{
    static const struct bz_digest key = {{4}};
    struct store *s = *state;
    struct bz_tier *t = open_tier(s);
    struct bz_reapi_digest d = store_text(s, "text");
    struct bz_reapi_result r = {.exit_code = 3}, got;
    struct bz_arena a = {0};
    char path[128], *out;

    assert_ok(t->ops->put_blob(t, s->h, &d, s->cas, &s->err), &s->err);
    assert_ok(t->ops->put_action(t, s->h, &key, &r, &s->err), &s->err);
    assert_int_equal(unlinkat(s->dir, store_path("cas", &d.hash, path), 0), 0);
    assert_ok(t->ops->get_blob(t, s->h, &d, s->cas, &s->err), &s->err);
    assert_ok(bz_cas_read(s->cas, s->h, &d, 10, &out, &s->err), &s->err);
    assert_string_equal(out, "text");
    assert_ok(t->ops->get_action(t, s->h, &key, &a, &got, &s->err), &s->err);
    assert_int_equal(got.exit_code, 3);
    free(out);
    bz_arena_release(&a);
    t->ops->close(t);
}

static void what_is_absent_is_a_miss(void **state)
{
    static const struct bz_reapi_digest absent = {{{9}}, 5};
    struct store *s = *state;
    struct bz_tier *t = open_tier(s);
    struct bz_reapi_result got;
    struct bz_arena a = {0};

    assert_int_equal(t->ops->get_blob(t, s->h, &absent, s->cas, &s->err), BZ_E_NOENT);
    assert_int_equal(t->ops->get_action(t, s->h, &absent.hash, &a, &got, &s->err),
                     BZ_E_NOENT);
    assert_int_equal(store_temps(s), 0);
    bz_arena_release(&a);
    t->ops->close(t);
}

static void wrong_bytes_do_not_arrive(void **state)
{
    struct store *s = *state;
    struct bz_tier *t = open_tier(s);
    struct bz_reapi_digest d = store_text(s, "text");
    char name[BZ_SHELF_NAME], path[128];

    assert_ok(t->ops->put_blob(t, s->h, &d, s->cas, &s->err), &s->err);
    assert_int_equal(unlinkat(s->dir, store_path("cas", &d.hash, path), 0), 0);
    bz_shelf_name(&d.hash, name);
    snprintf(path, sizeof(path), "shared/cas/%s", name);
    damage(s->dir, path, 1, false);
    assert_int_equal(t->ops->get_blob(t, s->h, &d, s->cas, &s->err), BZ_E_NOENT);
    assert_false(bz_cas_has(s->cas, &d));
    assert_false(bz_fs_exists(s->dir, path));
    t->ops->close(t);
}

static void a_tier_that_is_not_there_cannot_be_opened_for_reading(void **state)
{
    static const struct bz_cas_opts opts = {BZ_SHELF_READ, BZ_FS_NOSYNC};
    struct store *s = *state;
    struct bz_tier *t;

    assert_int_equal(bz_tier_dir_open("/nonexistent", &opts, &t, &s->err), BZ_E_NOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(blobs_and_results_go_there_and_come_back),
        store_test(what_is_absent_is_a_miss),
        store_test(wrong_bytes_do_not_arrive),
        store_test(a_tier_that_is_not_there_cannot_be_opened_for_reading),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
