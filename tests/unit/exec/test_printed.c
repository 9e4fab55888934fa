#include "exec/printed.h"

#include "base/mem.h"
#include "tests/unit/exec/kitchen.h"

struct printing {
    struct bz_digest_hasher *h;
    struct bz_arena arena;
    struct bz_reapi_result r;
};

static void print(struct kitchen *k, struct printing *p, const char *script)
{
    char log[320];

    kitchen_make(k, script);
    snprintf(log, sizeof(log), "%s/log", k->scratch->path);
    assert_ok(bz_digest_hasher_new(&p->h, &k->err), &k->err);
    bz_printed_add(k->cache, p->h, log, &p->arena, &p->r);
}

static void release(struct printing *p)
{
    bz_digest_hasher_free(p->h);
    bz_arena_release(&p->arena);
}

static void a_short_log_is_in_the_result(void **state)
{
    struct printing p = {0};

    print(*state, &p, "printf 'a\\nb' >log");
    assert_true(bz_str_eq(p.r.out_raw, BZ_STR("a\nb")));
    assert_true(bz_reapi_digest_none(&p.r.out));
    release(&p);
}

static void a_longer_one_is_a_blob(void **state)
{
    struct kitchen *k = *state;
    BZ_CLEANUP(bz_mem_freep) char *bytes = NULL;
    struct printing p = {0};

    print(k, &p, "head -c 5000 /dev/zero | tr '\\0' x >log");
    assert_int_equal(p.r.out_raw.n, 0);
    assert_int_equal(p.r.out.size, 5000);
    assert_ok(bz_cas_read(bz_cache_cas(k->cache), p.h, &p.r.out, 6000, &bytes, &k->err),
              &k->err);
    assert_int_equal(bytes[4999], 'x');
    release(&p);
}

static void of_a_long_one_the_end_is_kept(void **state)
{
    struct kitchen *k = *state;
    BZ_CLEANUP(bz_mem_freep) char *bytes = NULL;
    static const char note[] = "[1951424 bytes before this are not kept]\n";
    struct printing p = {0};

    /* 428571 lines of 7 bytes and a bit; a line is cut. */
    print(k, &p, "(yes 123456 | head -c 3000000; echo; echo end) >log");
    assert_true(p.r.out.size < BZ_PRINTED_MAX + sizeof(note));
    assert_ok(bz_cas_read(bz_cache_cas(k->cache), p.h, &p.r.out, 2 * BZ_PRINTED_MAX,
                          &bytes, &k->err),
              &k->err);
    assert_memory_equal(bytes, "[19514", 6);
    assert_non_null(strstr(bytes, " bytes before this are not kept]\n123456\n"));
    assert_string_equal(bytes + p.r.out.size - 5, "\nend\n");
    release(&p);
}

static void no_log_is_no_failure(void **state)
{
    struct printing p = {0};

    print(*state, &p, "true");
    assert_int_equal(p.r.out_raw.n, 0);
    assert_true(bz_reapi_digest_none(&p.r.out));
    release(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name)                                                                     \
    cmocka_unit_test_setup_teardown(name, kitchen_setup, kitchen_teardown)
        TEST(a_short_log_is_in_the_result),
        TEST(a_longer_one_is_a_blob),
        TEST(of_a_long_one_the_end_is_kept),
        TEST(no_log_is_no_failure),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
