#include "plan/lookup.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

#include "os/clock.h"
#include "tests/unit/exec/kitchen.h"

#define KEYS 40

/* A local store before a tier. */
struct places {
    struct bz_cache *cache;
    struct bz_lookup l;
    struct bz_cancel cancel;
    char root[320], tier[320];
};

static void open_places(struct places *p, struct kitchen *k, const char *tier)
{
    struct bz_tier_spec spec;
    struct bz_arena a = {0};
    struct bz_cache_opts opts = {
        .root = p->root,
        .store = {BZ_SHELF_WRITE, BZ_FS_NOSYNC},
        .tiers = {.specs = &spec, .n = 1      }
    };
    struct bz_err err;

    snprintf(p->root, sizeof(p->root), "%s/near", k->scratch->path);
    snprintf(p->tier, sizeof(p->tier), "%s", tier);
    assert_ok(bz_tier_spec_parse(&a, bz_str_from(p->tier), &spec, &err), &err);
    opts.tiers.timeout = 60 * BZ_CLOCK_S;
    assert_ok(bz_cache_open(&opts, &p->cache, &err), &err);
    bz_arena_release(&a);
    bz_cancel_init(&p->cancel, NULL, BZ_CLOCK_NEVER);
    p->l = (struct bz_lookup){
        .cache = p->cache, .pool = k->pool, .fetch = true, .cancel = &p->cancel};
    assert_ok(bz_lookup_open(&p->l, &err), &err);
}

static void close_places(struct places *p)
{
    bz_lookup_release(&p->l);
    bz_cache_close(p->cache);
}

static struct bz_digest key_of(unsigned i)
{
    return (struct bz_digest){
        {(uint8_t)(i + 1), 7}
    };
}

static void put_result(struct bz_cache *cache, struct bz_digest_hasher *h, unsigned i)
{
    const struct bz_cache_labels labels = {BZ_STR("r"), BZ_STR("t")};
    struct bz_reapi_result r = {.exit_code = (int32_t)i};
    struct bz_digest key = key_of(i);
    enum bz_action_put how;
    struct bz_err err;

    assert_ok(bz_cache_put(cache, h, &key, &r, &labels, &how, &err), &err);
}

static void what_tiers_and_the_store_have_is_found(void **state)
{
    struct kitchen *k = *state;
    struct bz_plan_ask all[KEYS] = {0};
    struct places p = {0};
    char tier[320];

    snprintf(tier, sizeof(tier), "dir:%s", k->store);
    open_places(&p, k, tier);
    for (unsigned i = 0; i < KEYS; i++) {
        all[i].key = key_of(i);
        if (i % 3 < 2)
            put_result(i % 3 == 0 ? p.cache : k->cache, p.l.hasher, i);
    }
    for (int round = 0; round < 2; round++) {
        bz_lookup_ask(&p.l, all, KEYS);
        for (unsigned i = 0; i < KEYS; i++) {
            assert_int_equal(all[i].found, i % 3 < 2);
            if (all[i].found)
                assert_int_equal(all[i].result.exit_code, i);
            /* What was found is here now. */
            assert_int_equal(bz_action_has(bz_cache_cas(p.cache), &all[i].key),
                             i % 3 < 2);
        }
    }
    close_places(&p);
}

static void what_is_only_planned_is_not_fetched(void **state)
{
    struct kitchen *k = *state;
    struct bz_plan_ask one = {.key = key_of(1)};
    struct places p = {0};
    char tier[320];

    snprintf(tier, sizeof(tier), "dir:%s", k->store);
    open_places(&p, k, tier);
    put_result(k->cache, p.l.hasher, 1);
    p.l.fetch = false;
    bz_lookup_ask(&p.l, &one, 1);
    assert_true(one.found);
    assert_false(bz_action_has(bz_cache_cas(p.cache), &one.key));
    close_places(&p);
}

static void remote_caches_need_not_be_asked(void **state)
{
    struct kitchen *k = *state;
    struct bz_plan_ask some[2] = {
        {.key = key_of(1), .near = true},
        {.key = key_of(2), .near = true}
    };
    struct places p = {0};
    char tier[320];

    snprintf(tier, sizeof(tier), "dir:%s", k->store);
    open_places(&p, k, tier);
    put_result(k->cache, p.l.hasher, 1);
    put_result(p.cache, p.l.hasher, 2);
    bz_lookup_ask(&p.l, some, BZ_COUNTOF(some));
    assert_false(some[0].found);
    assert_true(some[1].found);
    close_places(&p);
}

/* The user has enough of it as soon as somebody waits. */
static void wait_impatiently(void *ctx, int fd)
{
    struct pollfd done = {.fd = fd, .events = POLLIN};

    bz_cancel_now(ctx);
    assert_int_equal(poll(&done, 1, -1), 1);
}

/* A server that takes connections and says nothing. */
static void the_user_need_not_wait_for_an_answer(void **state)
{
    struct kitchen *k = *state;
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);
    struct bz_plan_ask some[3] = {
        {.key = key_of(1)}, {.key = key_of(2)}, {.key = key_of(3)}};
    int silent = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int64_t began = bz_clock_now();
    struct places p = {0};
    char tier[64];

    assert_int_equal(bind(silent, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(silent, 20), 0);
    assert_int_equal(getsockname(silent, (struct sockaddr *)&at, &len), 0);
    snprintf(tier, sizeof(tier), "http://127.0.0.1:%u/", ntohs(at.sin_port));
    open_places(&p, k, tier);
    p.l.wait = wait_impatiently;
    p.l.wait_ctx = &p.cancel;
    bz_lookup_ask(&p.l, some, BZ_COUNTOF(some));
    for (size_t i = 0; i < BZ_COUNTOF(some); i++)
        assert_false(some[i].found);
    assert_true(bz_clock_now() - began < 30 * BZ_CLOCK_S);
    close(silent);
    close_places(&p);
}

/* Nothing is made of a store that is not there, and others are asked all the same. */
static void what_is_only_looked_at_need_not_be_there(void **state)
{
    struct kitchen *k = *state;
    struct bz_plan_ask one = {.key = key_of(1)};
    struct bz_cache_opts opts = {.look = true};
    struct bz_lookup l = {.pool = k->pool};
    struct bz_digest_hasher *h;
    struct bz_tier_spec spec;
    struct bz_arena a = {0};
    char root[320], tier[320];
    struct bz_err err;

    snprintf(root, sizeof(root), "%s/none", k->scratch->path);
    snprintf(tier, sizeof(tier), "dir:%s", k->store);
    assert_ok(bz_digest_hasher_new(&h, &err), &err);
    put_result(k->cache, h, 1);
    opts.root = root;
    assert_ok(bz_tier_spec_parse(&a, bz_str_from(tier), &spec, &err), &err);
    for (size_t n = 0; n < 2; n++) {
        opts.tiers = (struct bz_tiers_opts){.specs = &spec, .n = n};
        assert_ok(bz_cache_open(&opts, &l.cache, &err), &err);
        assert_ok(bz_lookup_open(&l, &err), &err);
        assert_int_equal(bz_lookup_store(&l).empty, n == 0);
        bz_lookup_ask(&l, &one, 1);
        assert_int_equal(one.found, n > 0);
        bz_lookup_release(&l);
        l = (struct bz_lookup){.pool = k->pool, .cache = l.cache};
        bz_cache_close(l.cache);
    }
    assert_int_equal(access(root, F_OK), -1);
    bz_digest_hasher_free(h);
    bz_arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name)                                                                     \
    cmocka_unit_test_setup_teardown(name, kitchen_setup, kitchen_teardown)
        TEST(what_tiers_and_the_store_have_is_found),
        TEST(what_is_only_planned_is_not_fetched),
        TEST(remote_caches_need_not_be_asked),
        TEST(the_user_need_not_wait_for_an_answer),
        TEST(what_is_only_looked_at_need_not_be_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
