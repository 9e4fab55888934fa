#include "cache/upload.h"

#include "tests/unit/cache/fake_tier.h"

static const struct bz_tiers_opts opts = {
    .specs = fake_specs, .n = 3, .timeout = 60 * BZ_CLOCK_S, .open = fake_open};

struct desk {
    struct bz_tiers *tiers;
    struct bz_upload *upload;
};

static struct desk open_desk(struct store *s, struct bz_pool *pool)
{
    struct desk d;

    fakes_init(s);
    d.tiers = bz_tiers_new(&opts);
    d.upload = bz_upload_new(d.tiers, s->cas, pool);
    return d;
}

static void close_desk(const struct desk *d, int64_t wait)
{
    bz_upload_close(d->upload, bz_clock_in(wait));
    assert_true(bz_tiers_close(d->tiers));
    fakes_release();
}

static struct bz_digest add(struct store *s, const struct desk *d, int i, size_t n)
{
    struct bz_reapi_outfile file = {.path = BZ_STR("out")};
    struct bz_reapi_result r = {.files = &file, .nfiles = 1};
    struct bz_digest key = {{0}};

    memcpy(key.b, &i, sizeof(i));
    key.b[8] = 1;
    assert_ok(bz_cas_put(s->cas, s->h, &i, sizeof(i), &file.digest, &s->err), &s->err);
    bz_upload_add(d->upload, s->h, &key, &r, n);
    return key;
}

static void results_reach_the_tiers_that_take_them(void **state)
{
    enum { MANY = 12 };
    struct store *s = *state;
    struct desk d = open_desk(s, NULL);
    struct bz_upload_stats stats;
    struct bz_digest key[MANY], near;

    for (int i = 0; i < MANY; i++)
        key[i] = add(s, &d, i, 3);
    near = add(s, &d, MANY, 1);
    assert_true(bz_upload_flush(d.upload, bz_clock_in(60 * BZ_CLOCK_S)));
    for (int i = 0; i < MANY; i++) {
        assert_true(bz_action_has(fakes[0].cas, &key[i]));
        assert_true(bz_action_has(fakes[1].cas, &key[i]));
        assert_false(bz_action_has(fakes[2].cas, &key[i])); /* only read */
    }
    assert_true(bz_action_has(fakes[0].cas, &near));
    assert_false(bz_action_has(fakes[1].cas, &near));
    assert_false(atomic_load(&fakes[0].early));
    bz_upload_stats(d.upload, &stats);
    assert_int_equal(stats.done, MANY + 1);
    assert_int_equal(stats.dropped + stats.waiting, 0);
    close_desk(&d, BZ_CLOCK_S);
}

static void it_runs_on_a_pool_that_is_there(void **state)
{
    struct store *s = *state;
    BZ_CLEANUP(bz_pool_freep) struct bz_pool *pool = NULL;
    struct bz_digest key;
    struct desk d;

    assert_ok(bz_pool_new(&(struct bz_pool_opts){0}, &pool, &s->err), &s->err);
    d = open_desk(s, pool);
    key = add(s, &d, 7, 2);
    bz_upload_close(d.upload, bz_clock_in(60 * BZ_CLOCK_S));
    assert_true(bz_action_has(fakes[1].cas, &key));
    assert_true(bz_tiers_close(d.tiers));
    fakes_release();
}

static void a_tier_that_fails_does_not_keep_results_from_the_next(void **state)
{
    struct store *s = *state;
    struct desk d = open_desk(s, NULL);
    struct bz_upload_stats stats;
    struct bz_digest key;

    atomic_store(&fakes[0].mood, FAKE_FAILS);
    key = add(s, &d, 1, 3);
    assert_true(bz_upload_flush(d.upload, bz_clock_in(60 * BZ_CLOCK_S)));
    assert_true(bz_action_has(fakes[1].cas, &key));
    bz_upload_stats(d.upload, &stats);
    assert_int_equal(stats.dropped, 1);
    close_desk(&d, BZ_CLOCK_S);
}

static void a_result_whose_blobs_are_gone_is_dropped(void **state)
{
    struct store *s = *state;
    struct desk d = open_desk(s, NULL);
    struct bz_reapi_outfile file = {
        .path = BZ_STR("out"), .digest = {.hash = {{5}}, .size = 1}
    };
    struct bz_reapi_result r = {.files = &file, .nfiles = 1};
    const struct bz_digest key = {{3}};
    struct bz_upload_stats stats;

    bz_upload_add(d.upload, s->h, &key, &r, 3);
    assert_true(bz_upload_flush(d.upload, bz_clock_in(60 * BZ_CLOCK_S)));
    bz_upload_stats(d.upload, &stats);
    assert_int_equal(stats.dropped, 1);
    assert_int_equal(atomic_load(&fakes[0].puts), 0);
    close_desk(&d, BZ_CLOCK_S);
}

static void closing_does_not_wait_for_ever_and_what_waits_is_bounded(void **state)
{
    struct store *s = *state;
    struct desk d = open_desk(s, NULL);
    const struct bz_digest key = {{3}};
    struct bz_reapi_result r = {.out = store_text(s, "text")};
    struct bz_upload_stats stats;
    int64_t before;

    atomic_store(&fakes[0].mood, FAKE_STALLS);
    for (int i = 0; i < BZ_UPLOAD_MAX + 20; i++)
        bz_upload_add(d.upload, s->h, &key, &r, 1);
    bz_upload_stats(d.upload, &stats);
    assert_true(stats.dropped >= 20 - 2); /* two may be under way */
    assert_true(stats.waiting <= BZ_UPLOAD_MAX);
    before = bz_clock_now();
    close_desk(&d, BZ_CLOCK_MS);
    assert_true(bz_clock_now() - before < 10 * BZ_CLOCK_S);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(results_reach_the_tiers_that_take_them),
        store_test(it_runs_on_a_pool_that_is_there),
        store_test(a_tier_that_fails_does_not_keep_results_from_the_next),
        store_test(a_result_whose_blobs_are_gone_is_dropped),
        store_test(closing_does_not_wait_for_ever_and_what_waits_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
