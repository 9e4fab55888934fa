#include "exec/lookup.h"

#include <arpa/inet.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "os/clock.h"
#include "tests/unit/exec/worktop.h"

#define KEYS 40

/* A local store before a tier. */
struct places {
    struct worktop *b;
    struct bz_cache *cache;
    struct bz_exec x;
    char root[320], tier[320];
};

static void open_places(struct places *p, struct worktop *b, const char *tier)
{
    struct bz_tier_spec spec;
    struct bz_arena a = {0};
    struct bz_cache_opts opts = {
        .root = p->root,
        .store = {BZ_SHELF_WRITE, BZ_FS_NOSYNC},
        .tiers = {.specs = &spec, .n = 1      }
    };
    struct bz_err err;

    p->b = b;
    snprintf(p->root, sizeof(p->root), "%s/near", b->k->scratch->path);
    snprintf(p->tier, sizeof(p->tier), "%s", tier);
    assert_ok(bz_tier_spec_parse(&a, bz_str_from(p->tier), &spec, &err), &err);
    opts.tiers.timeout = 60 * BZ_CLOCK_S;
    assert_ok(bz_cache_open(&opts, &p->cache, &err), &err);
    bz_arena_release(&a);
    worktop_open(b, &p->x);
    b->opts.cache = p->cache;
    b->opts.interrupt_fd = -1;
    bz_cancel_init(&p->x.cancel, NULL, BZ_CLOCK_NEVER);
}

static void close_places(struct places *p)
{
    bz_lookup_release(&p->x);
    worktop_close(&p->x);
    bz_cache_close(p->cache);
    p->b->opts.cache = p->b->k->cache;
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
    struct worktop *b = *state;
    struct bz_lookup all[KEYS] = {0};
    struct places p = {0};
    char tier[320];

    snprintf(tier, sizeof(tier), "dir:%s", b->k->store);
    open_places(&p, b, tier);
    for (unsigned i = 0; i < KEYS; i++) {
        all[i].key = key_of(i);
        if (i % 3 < 2)
            put_result(i % 3 == 0 ? p.cache : b->k->cache, p.x.hasher, i);
    }
    for (int round = 0; round < 2; round++) {
        bz_lookup_all(&p.x, all, KEYS);
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

static void a_dry_run_fetches_nothing(void **state)
{
    struct worktop *b = *state;
    struct bz_lookup one = {.key = key_of(1)};
    struct places p = {0};
    char tier[320];

    snprintf(tier, sizeof(tier), "dir:%s", b->k->store);
    open_places(&p, b, tier);
    put_result(b->k->cache, p.x.hasher, 1);
    b->opts.dry = true;
    bz_lookup_all(&p.x, &one, 1);
    assert_true(one.found);
    assert_false(bz_action_has(bz_cache_cas(p.cache), &one.key));
    b->opts.dry = false;
    close_places(&p);
}

static void take_interrupt(void *ctx)
{
    uint64_t n;

    assert_int_equal(read(*(int *)ctx, &n, sizeof(n)), sizeof(n));
}

/* A server that takes connections and says nothing. */
static void the_user_need_not_wait_for_an_answer(void **state)
{
    struct worktop *b = *state;
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);
    struct bz_lookup some[3] = {
        {.key = key_of(1)}, {.key = key_of(2)}, {.key = key_of(3)}};
    int silent = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int user = eventfd(1, EFD_CLOEXEC);
    int64_t began = bz_clock_now();
    struct places p = {0};
    char tier[64];

    assert_int_equal(bind(silent, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(silent, 20), 0);
    assert_int_equal(getsockname(silent, (struct sockaddr *)&at, &len), 0);
    snprintf(tier, sizeof(tier), "http://127.0.0.1:%u/", ntohs(at.sin_port));
    open_places(&p, b, tier);
    b->opts.interrupt_fd = user;
    b->opts.interrupt = take_interrupt;
    b->opts.interrupt_ctx = &user;
    bz_lookup_all(&p.x, some, BZ_COUNTOF(some));
    assert_true(p.x.interrupted && p.x.stop);
    for (size_t i = 0; i < BZ_COUNTOF(some); i++)
        assert_false(some[i].found);
    assert_true(bz_clock_now() - began < 30 * BZ_CLOCK_S);
    b->opts.interrupt_fd = -1;
    close(user);
    close(silent);
    close_places(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name)                                                                     \
    cmocka_unit_test_setup_teardown(name, worktop_setup, worktop_teardown)
        TEST(what_tiers_and_the_store_have_is_found),
        TEST(a_dry_run_fetches_nothing),
        TEST(the_user_need_not_wait_for_an_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
