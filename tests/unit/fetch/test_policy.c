#include "fetch/policy.h"

#include "tests/unit/fetch/fetching.h"

static int read_policy(struct fetching *f, struct bz_arena *arena, struct bz_policy *p)
{
    struct bz_policy_vars vars = {fetching_var, f};

    return bz_policy_read(p, arena, &vars, &f->err);
}

static void variables_become_a_policy(void **state)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    struct fetching *f = *state;
    struct bz_policy p;

    assert_ok(read_policy(f, &arena, &p), &f->err);
    assert_false(p.no_network);
    assert_int_equal(p.strict, BZ_POLICY_FAIL);
    assert_true(bz_str_ends(p.git_dir, BZ_STR("/dl/git2")));
    fetching_set(f, "BB_NO_NETWORK", NULL, "1");
    fetching_set(f, "BB_FETCH_PREMIRRORONLY", NULL, "no");
    fetching_set(f, "BB_STRICT_CHECKSUM", NULL, "0");
    fetching_set(f, "GITDIR", NULL, "/g");
    assert_ok(read_policy(f, &arena, &p), &f->err);
    assert_true(p.no_network);
    assert_false(p.premirror_only);
    assert_int_equal(p.strict, BZ_POLICY_WARN);
    assert_true(bz_str_eq(p.git_dir, BZ_STR("/g")));
    assert_int_equal(bz_policy_check(&p, BZ_STR("h"), &f->err), BZ_E_NOSUP);
    assert_non_null(strstr(f->err.msg, "BB_NO_NETWORK"));
}

static void what_is_neither_yes_nor_no_is_an_error(void **state)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    struct fetching *f = *state;
    struct bz_policy p;

    fetching_set(f, "BB_NO_NETWORK", NULL, "maybe");
    assert_int_equal(read_policy(f, &arena, &p), BZ_E_INVAL);
    assert_string_equal(f->err.msg,
                        "BB_NO_NETWORK is 'maybe': expected \"1\" or \"0\"");
    fetching_set(f, "BB_NO_NETWORK", NULL, "0");
    fetching_set(f, "DL_DIR", NULL, "downloads");
    assert_int_equal(read_policy(f, &arena, &p), BZ_E_INVAL);
}

static void only_allowed_networks_are_asked(void **state)
{
    static const struct {
        const char *host;
        bool allowed;
    } cases[] = {
        {"example.org",      true },
        {"a.example.org:80", true },
        {"A.B.EXAMPLE.org",  true },
        {"notexample.org",   false},
        {"exact.net",        true },
        {"a.exact.net",      false},
        {"",                 true },
    };
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    struct fetching *f = *state;
    struct bz_policy p;

    fetching_set(f, "BB_ALLOWED_NETWORKS", NULL, "*.example.org exact.net");
    assert_ok(read_policy(f, &arena, &p), &f->err);
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++)
        assert_int_equal(bz_policy_trusts(&p, bz_str_from(cases[i].host)),
                         cases[i].allowed);
    assert_int_equal(bz_policy_check(&p, BZ_STR("evil.org"), &f->err), BZ_E_NOSUP);
    fetching_set(f, "BB_ALLOWED_NETWORKS", "demo", "evil.org");
    assert_ok(read_policy(f, &arena, &p), &f->err);
    assert_true(bz_policy_trusts(&p, BZ_STR("evil.org")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        fetching_test(variables_become_a_policy),
        fetching_test(what_is_neither_yes_nor_no_is_an_error),
        fetching_test(only_allowed_networks_are_asked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
