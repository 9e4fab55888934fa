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

static int get_one(struct store *s, struct bz_tier *t, const struct bz_reapi_digest *d)
{
    const struct bz_tier_call call = {.h = s->h};
    struct bz_tier_blob blob = {*d, 1, false};
    int rc = t->ops->get_blobs(t, &call, &blob, 1, s->cas, &s->err);

    assert_int_equal(blob.status, rc);
    return rc;
}

static void put_one(struct store *s, struct bz_tier *t, const struct bz_reapi_digest *d)
{
    const struct bz_tier_call call = {.h = s->h};
    struct bz_tier_blob blob = {*d, 1, false};

    assert_ok(t->ops->put_blobs(t, &call, &blob, 1, s->cas, &s->err), &s->err);
    assert_int_equal(blob.status, 0);
}

static void blobs_and_results_go_there_and_come_back(void **state)
{
    static const struct bz_digest key = {{4}};
    struct store *s = *state;
    const struct bz_tier_call call = {.h = s->h};
    struct bz_tier *t = open_tier(s);
    struct bz_reapi_digest d = store_text(s, "text");
    struct bz_reapi_result r = {.exit_code = 3}, got;
    struct bz_arena a = {0};
    char path[128], *out;

    put_one(s, t, &d);
    assert_ok(t->ops->put_action(t, &call, &key, &r, &s->err), &s->err);
    assert_int_equal(unlinkat(s->dir, store_path("cas", &d.hash, path), 0), 0);
    assert_ok(get_one(s, t, &d), &s->err);
    assert_ok(bz_cas_read(s->cas, s->h, &d, 10, &out, &s->err), &s->err);
    assert_string_equal(out, "text");
    assert_ok(t->ops->get_action(t, &call, &key, &a, &got, &s->err), &s->err);
    assert_int_equal(got.exit_code, 3);
    free(out);
    bz_arena_release(&a);
    t->ops->close(t);
}

static void what_is_absent_is_a_miss(void **state)
{
    static const struct bz_reapi_digest absent = {{{9}}, 5};
    struct store *s = *state;
    const struct bz_tier_call call = {.h = s->h};
    struct bz_tier *t = open_tier(s);
    struct bz_reapi_result got;
    struct bz_arena a = {0};

    assert_int_equal(get_one(s, t, &absent), BZ_E_NOENT);
    assert_int_equal(t->ops->get_action(t, &call, &absent.hash, &a, &got, &s->err),
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

    put_one(s, t, &d);
    assert_int_equal(unlinkat(s->dir, store_path("cas", &d.hash, path), 0), 0);
    bz_shelf_name(&d.hash, name);
    snprintf(path, sizeof(path), "shared/cas/%s", name);
    damage(s->dir, path, 1, false);
    assert_int_equal(get_one(s, t, &d), BZ_E_NOENT);
    assert_false(bz_cas_has(s->cas, &d));
    assert_false(bz_fs_exists(s->dir, path));
    t->ops->close(t);
}

static void a_batch_brings_what_there_is_and_tells_what_is_not(void **state)
{
    static const struct bz_reapi_digest absent = {{{9}}, 5};
    struct store *s = *state;
    struct bz_tier_moved moved = {0};
    const struct bz_tier_call call = {.h = s->h, .moved = &moved};
    struct bz_tier *t = open_tier(s);
    struct bz_tier_blob blobs[] = {
        {store_text(s, "one"), 1,     false},
        {absent,       1,      false},
        {store_text(s,      "two"),      1, false     }
    };
    char path[128];

    assert_int_equal(t->ops->put_blobs(t, &call, blobs, 3, s->cas, &s->err),
                     BZ_E_NOENT);
    for (size_t i = 0; i < 3; i += 2)
        assert_int_equal(
            unlinkat(s->dir, store_path("cas", &blobs[i].digest.hash, path), 0), 0);
    assert_int_equal(t->ops->get_blobs(t, &call, blobs, 3, s->cas, &s->err),
                     BZ_E_NOENT);
    assert_int_equal(blobs[0].status, 0);
    assert_int_equal(blobs[1].status, BZ_E_NOENT);
    assert_int_equal(blobs[2].status, 0);
    assert_true(bz_cas_has(s->cas, &blobs[2].digest));
    assert_int_equal(moved.blobs, 4);
    assert_int_equal(moved.bytes, 12);
    blobs[1] = blobs[0];
    assert_ok(t->ops->put_blobs(t, &call, blobs, 3, s->cas, &s->err), &s->err);
    assert_int_equal(moved.blobs, 4); /* they are there */
    t->ops->close(t);
}

static void a_batch_that_is_canceled_copies_nothing_more(void **state)
{
    struct store *s = *state;
    struct bz_cancel cancel;
    const struct bz_tier_call call = {.h = s->h, .cancel = &cancel};
    struct bz_tier *t = open_tier(s);
    struct bz_tier_blob blobs[] = {
        {store_text(s, "one"), 1, false},
        {store_text(s, "two"), 1, false}
    };
    char path[128];

    bz_cancel_init(&cancel, NULL, 0);
    bz_cancel_now(&cancel);
    assert_int_equal(t->ops->put_blobs(t, &call, blobs, 2, s->cas, &s->err),
                     BZ_E_CANCELED);
    assert_int_equal(blobs[0].status, BZ_E_CANCELED);
    assert_int_equal(blobs[1].status, BZ_E_CANCELED);
    assert_int_equal(
        unlinkat(s->dir, store_path("cas", &blobs[0].digest.hash, path), 0), 0);
    assert_int_equal(get_one(s, t, &blobs[0].digest), BZ_E_NOENT);
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
        store_test(a_batch_brings_what_there_is_and_tells_what_is_not),
        store_test(a_batch_that_is_canceled_copies_nothing_more),
        store_test(a_tier_that_is_not_there_cannot_be_opened_for_reading),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
