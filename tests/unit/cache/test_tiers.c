#include "cache/tiers.h"

#include "tests/unit/cache/fake_tier.h"

#define SHORT (300 * BZ_CLOCK_MS) /* for what stalls; others must be done in it */
#define LONG (60 * BZ_CLOCK_S)

static const struct bz_digest key = {{1}};
static const struct bz_digest other = {{2}};

static struct bz_tiers *open_tiers(size_t n, int64_t timeout)
{
    const struct bz_tiers_opts opts = {
        .specs = fake_specs, .n = n, .timeout = timeout, .open = fake_open};

    return bz_tiers_new(&opts);
}

/* Where a key is found: the number of the tier, or the failure. */
static int ask(struct store *s, struct bz_tiers *t, const struct bz_digest *k)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct bz_tiers_found found;
    int rc = bz_tiers_get_action(t, s->h, k, NULL, &a, &found, &s->err);

    return rc < 0 ? rc : (int)found.from;
}

static void the_first_tier_that_has_a_result_gives_it(void **state)
{
    struct store *s = *state;
    struct bz_tiers *t = open_tiers(3, LONG);
    struct bz_tiers_stats stats;

    fakes_init(s);
    assert_int_equal(ask(s, t, &key), BZ_E_NOENT);
    fake_fill(s, 2, &key, "text");
    assert_int_equal(ask(s, t, &key), 2);
    fake_fill(s, 1, &key, "text");
    assert_int_equal(ask(s, t, &key), 1);
    bz_tiers_stats(t, 1, &stats);
    assert_string_equal(stats.name, "fake:1");
    assert_int_equal(stats.hits, 1);
    assert_int_equal(stats.misses, 2);
    assert_true(stats.works && stats.write);
    assert_true(bz_tiers_close(t));
    fakes_release();
}

static void a_tier_that_does_not_work_is_asked_once(void **state)
{
    static const enum fake_mood moods[] = {FAKE_FAILS, FAKE_STALLS, FAKE_ABSENT};
    struct store *s = *state;

    for (size_t i = 0; i < BZ_COUNTOF(moods); i++) {
        struct bz_tiers *t = open_tiers(2, SHORT);
        struct bz_tiers_stats stats;

        fakes_init(s);
        fake_fill(s, 1, &key, "text");
        atomic_store(&fakes[0].mood, moods[i]);
        assert_int_equal(ask(s, t, &key), 1);
        assert_int_equal(ask(s, t, &key), 1);
        assert_int_equal(atomic_load(&fakes[0].gets), moods[i] == FAKE_ABSENT ? 0 : 1);
        bz_tiers_stats(t, 0, &stats);
        assert_false(stats.works);
        assert_true(bz_tiers_close(t));
        fakes_release();
    }
}

static void a_tier_that_hangs_is_given_up_with_what_it_holds(void **state)
{
    struct store *s = *state;
    struct bz_tiers *t = open_tiers(2, SHORT);
    int64_t before = bz_clock_now();

    fakes_init(s);
    fake_fill(s, 1, &key, "text");
    atomic_store(&fakes[0].mood, FAKE_HANGS);
    assert_int_equal(ask(s, t, &key), 1);
    assert_true(bz_clock_now() - before < 20 * SHORT);
    assert_false(bz_tiers_close(t));
    fake_release(&fakes[0]);
    assert_true(bz_tiers_close(t));
    fakes_release();
}

static int get(struct store *s, struct bz_tiers *t, size_t first,
               const struct bz_reapi_digest *blobs, size_t n)
{
    return bz_tiers_get_blobs(t, first, s->cas, blobs, n, NULL, &s->err);
}

static void blobs_come_from_wherever_they_are(void **state)
{
    struct store *s = *state;
    struct bz_tiers *t = open_tiers(3, LONG);
    struct bz_reapi_digest d[3];
    struct bz_tiers_stats stats;

    fakes_init(s);
    d[0] = store_text(s, "here");
    d[1] = fake_fill(s, 0, &key, "one");
    d[2] = fake_fill(s, 2, &other, "two");
    assert_ok(get(s, t, 1, d, 3), &s->err);
    assert_true(bz_cas_has(s->cas, &d[1]) && bz_cas_has(s->cas, &d[2]));
    bz_tiers_stats(t, 2, &stats);
    assert_int_equal(stats.fetched, 1);
    assert_int_equal(stats.read.blobs, 1);
    assert_int_equal(stats.read.bytes, strlen("two"));
    assert_int_equal(stats.sent.blobs, 0);
    assert_ok(get(s, t, 1, d, 3), &s->err); /* all here: nobody is asked */
    assert_int_equal(atomic_load(&fakes[0].blob_gets), 1);
    d[0].hash.b[0] ^= 1;
    assert_int_equal(get(s, t, 0, d, 3), BZ_E_NOENT);
    assert_true(bz_tiers_close(t));
    fakes_release();
}

static void many_blobs_come_in_batches(void **state)
{
    enum { MANY = 150 };
    struct store *s = *state;
    struct bz_tiers *t = open_tiers(1, LONG);
    struct bz_reapi_digest *d = calloc(MANY, sizeof(*d));

    fakes_init(s);
    for (int i = 0; i < MANY; i++)
        assert_ok(bz_cas_put(fakes[0].cas, s->h, &i, sizeof(i), &d[i], &s->err),
                  &s->err);
    assert_ok(get(s, t, 0, d, MANY), &s->err);
    for (int i = 0; i < MANY; i++)
        assert_true(bz_cas_has(s->cas, &d[i]));
    assert_int_equal(atomic_load(&fakes[0].blob_gets), 3);
    assert_true(bz_tiers_close(t));
    free(d);
    fakes_release();
}

static void a_tier_that_lies_or_breaks_costs_a_miss(void **state)
{
    static const enum fake_mood moods[] = {FAKE_LIES, FAKE_FAILS, FAKE_STALLS};
    struct store *s = *state;

    for (size_t i = 0; i < BZ_COUNTOF(moods); i++) {
        struct bz_tiers *t = open_tiers(2, SHORT);
        struct bz_reapi_digest d;
        char text[2] = {(char)('a' + i), '\0'};

        fakes_init(s);
        d = fake_fill(s, 0, &key, text);
        atomic_store(&fakes[0].mood, moods[i]);
        assert_int_equal(get(s, t, 0, &d, 1), BZ_E_NOENT);
        fake_fill(s, 1, &key, text);
        assert_ok(get(s, t, 0, &d, 1), &s->err); /* from the other one */
        assert_true(bz_tiers_close(t));
        fakes_release();
    }
}

static int put_to(struct store *s, struct bz_tiers *t, size_t i, const char *text)
{
    struct bz_reapi_outfile file = {.path = BZ_STR("out"),
                                    .digest = store_text(s, text)};
    struct bz_reapi_result r = {.files = &file, .nfiles = 1};
    const struct bz_tiers_load load = {key, &r, &file.digest, 1, s->cas};

    return bz_tiers_put(t, i, &load, NULL, &s->err);
}

static void blobs_are_put_before_their_result(void **state)
{
    struct store *s = *state;
    struct bz_tiers *t = open_tiers(3, LONG);
    struct bz_tiers_stats stats;

    fakes_init(s);
    assert_ok(put_to(s, t, 0, "text"), &s->err);
    assert_false(atomic_load(&fakes[0].early));
    assert_true(bz_action_has(fakes[0].cas, &key));
    bz_tiers_stats(t, 0, &stats);
    assert_int_equal(stats.stored, 1);
    assert_int_equal(put_to(s, t, 2, "text"), BZ_E_NOSUP); /* not meant to be written */
    assert_int_equal(atomic_load(&fakes[2].blob_puts), 0);
    assert_false(bz_tiers_wants(t, 2));
    assert_true(bz_tiers_close(t));
    fakes_release();
}

static bool takes_results(struct bz_tiers *t)
{
    struct bz_tiers_stats stats;

    bz_tiers_stats(t, 0, &stats);
    return stats.write;
}

static void a_tier_that_takes_nothing_is_read_on(void **state)
{
    static const enum fake_mood moods[] = {FAKE_REFUSES, FAKE_FULL};
    struct store *s = *state;

    for (size_t i = 0; i < BZ_COUNTOF(moods); i++) {
        struct bz_tiers *t = open_tiers(1, LONG);

        fakes_init(s);
        fake_fill(s, 0, &key, "text");
        atomic_store(&fakes[0].mood, moods[i]);
        assert_true(takes_results(t));
        assert_true(put_to(s, t, 0, "new") < 0);
        assert_false(takes_results(t));
        assert_int_equal(put_to(s, t, 0, "new"), BZ_E_NOSUP);
        assert_int_equal(atomic_load(&fakes[0].blob_puts), 1);
        assert_int_equal(ask(s, t, &key), 0);
        assert_true(bz_tiers_close(t));
        fakes_release();
    }
}

/* A collector on the server, which has not seen the result yet. */
static struct bz_digest doomed;

static void take_doomed(struct fake *f)
{
    char name[BZ_SHELF_NAME];

    bz_shelf_name(&doomed, name);
    assert_int_equal(unlinkat(f->cas->blobs.dir, name, 0), 0);
}

static void what_a_server_had_is_looked_at_again_after_the_result(void **state)
{
    struct store *s = *state;
    struct bz_tiers *t = open_tiers(1, LONG);
    struct bz_reapi_digest d;

    fakes_init(s);
    fakes[0].skips = true;
    assert_ok(put_to(s, t, 0, "new"), &s->err);
    assert_int_equal(atomic_load(&fakes[0].blob_puts), 1); /* we have just sent it */
    d = store_text(s, "text");
    assert_ok(bz_cas_put(fakes[0].cas, s->h, "text", 4, &d, &s->err), &s->err);
    fakes[0].meanwhile = take_doomed;
    doomed = d.hash;
    assert_ok(put_to(s, t, 0, "text"), &s->err);
    assert_int_equal(atomic_load(&fakes[0].blob_puts), 3);
    assert_true(bz_cas_has(fakes[0].cas, &d));
    assert_true(bz_tiers_close(t));
    fakes_release();
}

static void a_blob_that_is_lost_here_is_not_the_tiers_fault(void **state)
{
    struct store *s = *state;
    struct bz_tiers *t = open_tiers(1, LONG);
    struct bz_reapi_digest gone = {.hash = {{9}}, .size = 3};
    struct bz_reapi_result r = {0};
    const struct bz_tiers_load load = {key, &r, &gone, 1, s->cas};

    fakes_init(s);
    assert_int_equal(bz_tiers_put(t, 0, &load, NULL, &s->err), BZ_E_NOENT);
    assert_true(takes_results(t));
    assert_int_equal(atomic_load(&fakes[0].puts), 0);
    assert_true(bz_tiers_close(t));
    fakes_release();
}

static void a_token_ends_the_wait(void **state)
{
    struct store *s = *state;
    const struct bz_tiers_opts opts = {.specs = fake_specs, .n = 1, .open = fake_open};
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct bz_tiers_found found;
    struct bz_cancel cancel;
    struct bz_tiers *t;

    fakes_init(s);
    atomic_store(&fakes[0].mood, FAKE_STALLS);
    t = bz_tiers_new(&opts);
    bz_cancel_init(&cancel, NULL, bz_clock_in(SHORT));
    assert_int_equal(bz_tiers_get_action(t, s->h, &key, &cancel, &a, &found, &s->err),
                     BZ_E_CANCELED);
    atomic_store(&fakes[0].mood, FAKE_WORKS);
    fake_fill(s, 0, &key, "text");
    assert_int_equal(ask(s, t, &key), 0); /* it is no fault of the tier */
    assert_true(bz_tiers_close(t));
    fakes_release();
}

/* Files a result in the first fake, signed by `signer` if there is one. */
static void file_signed(struct store *s, const struct bz_digest *k,
                        const struct bz_trust_signer *signer)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct bz_reapi_result r = {.exit_code = 3};
    enum bz_action_put how;

    r = bz_action_bind(&a, &r, k); /* what is signed does not change any more */
    if (signer)
        assert_ok(bz_trust_sign(&a, s->h, signer, k, &r, &r, &s->err), &s->err);
    assert_ok(bz_action_put(fakes[0].cas, s->h, k, &r, &how, &s->err), &s->err);
}

static void only_what_a_trusted_key_signed_is_taken(void **state)
{
    static const struct bz_digest third = {{3}};
    struct store *s = *state;
    struct bz_tier_spec spec = fake_specs[0];
    struct bz_tiers_key keys[2] = {{.name = BZ_STR("ci")}, {.name = BZ_STR("eve")}};
    const struct bz_tiers_opts opts = {
        .specs = &spec, .n = 1, .keys = keys, .nkeys = 2, .open = fake_open};
    struct bz_trust_signer signer[2];
    struct bz_tiers_stats stats;
    struct bz_tiers *t;

    fakes_init(s);
    for (int i = 0; i < 2; i++) {
        assert_ok(bz_signature_new(&signer[i].secret, &s->err), &s->err);
        assert_ok(bz_signature_public_of(&signer[i].secret, &keys[i].key, &s->err),
                  &s->err);
        bz_trust_id(s->h, &keys[i].key, &signer[i].id);
    }
    spec.trust[spec.ntrust++] = BZ_STR("ci");
    t = bz_tiers_new(&opts);
    file_signed(s, &key, &signer[0]);
    file_signed(s, &other, &signer[1]); /* known, but not trusted here */
    file_signed(s, &third, NULL);
    assert_int_equal(ask(s, t, &key), 0);
    assert_int_equal(ask(s, t, &other), BZ_E_NOENT);
    assert_int_equal(ask(s, t, &third), BZ_E_NOENT);
    bz_tiers_stats(t, 0, &stats);
    assert_int_equal(stats.untrusted, 2);
    assert_int_equal(stats.hits, 1);
    assert_true(stats.works);
    assert_true(bz_tiers_close(t));
    spec.trust[0] = BZ_STR("nobody"); /* a key that is not known trusts nobody */
    t = bz_tiers_new(&opts);
    assert_int_equal(ask(s, t, &key), BZ_E_NOENT);
    assert_true(bz_tiers_close(t));
    fakes_release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(the_first_tier_that_has_a_result_gives_it),
        store_test(a_tier_that_does_not_work_is_asked_once),
        store_test(a_tier_that_hangs_is_given_up_with_what_it_holds),
        store_test(blobs_come_from_wherever_they_are),
        store_test(many_blobs_come_in_batches),
        store_test(a_tier_that_lies_or_breaks_costs_a_miss),
        store_test(blobs_are_put_before_their_result),
        store_test(a_tier_that_takes_nothing_is_read_on),
        store_test(what_a_server_had_is_looked_at_again_after_the_result),
        store_test(a_blob_that_is_lost_here_is_not_the_tiers_fault),
        store_test(a_token_ends_the_wait),
        store_test(only_what_a_trusted_key_signed_is_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
