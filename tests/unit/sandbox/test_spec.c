#include "sandbox/spec.h"

#include <unistd.h>

#include "tests/unit/bz_test.h"

static void places_inside_are_plain(void **state)
{
    static const char *const bad[] = {"",    "/",    "a",     "a/b",
                                      "/a/", "//a",  "/a//b", "/a/../b",
                                      "/..", "/a/.", "/./a",  "/a/.."};
    static const char *const good[] = {"/a", "/a/b", "/a/..b", "/.a", "/a b"};
    BZ_CLEANUP(bz_spec_release) struct bz_spec s;
    struct bz_err err;

    (void)state;
    bz_spec_init(&s);
    for (size_t i = 0; i < BZ_COUNTOF(bad); i++)
        assert_int_equal(bz_spec_add(&s, BZ_SPEC_DIR, bad[i], BZ_STR(""), &err),
                         BZ_E_INVAL);
    for (size_t i = 0; i < BZ_COUNTOF(good); i++)
        assert_ok(bz_spec_add(&s, BZ_SPEC_DIR, good[i], BZ_STR(""), &err), &err);
    assert_int_equal(s.entries.len, BZ_COUNTOF(good));
}

static void a_path_of_the_host_is_absolute(void **state)
{
    BZ_CLEANUP(bz_spec_release) struct bz_spec s;
    struct bz_err err;

    (void)state;
    bz_spec_init(&s);
    assert_int_equal(bz_spec_add(&s, BZ_SPEC_SHOW, "/a", BZ_STR("x/y"), &err),
                     BZ_E_INVAL);
    assert_string_equal(err.msg, "'x/y', to be seen at /a, is not absolute");
    assert_int_equal(bz_spec_add(&s, BZ_SPEC_WORK, "/a", BZ_STR(""), &err), BZ_E_INVAL);
    assert_ok(bz_spec_add(&s, BZ_SPEC_LINK, "/a", BZ_STR("x/y"), &err), &err);
}

static void fill(struct bz_spec *s, const char *home)
{
    const struct bz_spec_layers layers = {home, 2, home, home};
    struct bz_err err;

    bz_spec_init(s);
    assert_ok(bz_spec_add(s, BZ_SPEC_HOST, "/usr", BZ_STR(""), &err), &err);
    assert_ok(bz_spec_add(s, BZ_SPEC_FILE, "/etc/f", BZ_STR("a\n\"b\""), &err), &err);
    assert_ok(bz_spec_add(s, BZ_SPEC_WORK, "/tmp", bz_str_from(home), &err), &err);
    assert_ok(bz_spec_overlay(s, "/bitzel", &layers, &err), &err);
    bz_spec_limit(s, 7, 100, 200);
    bz_spec_env(s, "A=b c");
    bz_spec_arg(s, "/bin/sh");
    s->cwd = "/bitzel";
}

static void all_of_it_can_be_printed(void **state)
{
    BZ_CLEANUP(bz_spec_release) struct bz_spec s;
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};

    (void)state;
    fill(&s, "/home/x");
    bz_spec_print(&s, BZ_SPEC_WHOLE, &out);
    assert_string_equal(
        bz_buf_text(&out),
        "user 1000\nnetwork none\numask 022\nhostname \"bitzel\"\n"
        "host \"/usr\"\nfile \"/etc/f\" \"a\\x0a\\\"b\\\"\"\n"
        "work \"/tmp\" \"/home/x\"\n"
        "overlay \"/bitzel\" layers=2 of /home/x upper=/home/x\n"
        "limit 7 100 200\ncwd /bitzel\nenv \"A=b c\"\narg \"/bin/sh\"\n");
}

static void the_policy_does_not_tell_where_the_work_lies(void **state)
{
    BZ_CLEANUP(bz_spec_release) struct bz_spec a, b;
    BZ_CLEANUP(bz_buf_release) struct bz_buf one = {0}, other = {0};

    (void)state;
    fill(&a, "/home/x");
    fill(&b, "/srv/build/y");
    bz_spec_env(&b, "MORE=1");
    bz_spec_print(&a, BZ_SPEC_POLICY, &one);
    bz_spec_print(&b, BZ_SPEC_POLICY, &other);
    assert_string_equal(bz_buf_text(&one), bz_buf_text(&other));
    assert_null(strstr(bz_buf_text(&one), "home"));
    bz_buf_truncate(&other, 0);
    b.network = true;
    bz_spec_print(&b, BZ_SPEC_POLICY, &other);
    assert_string_not_equal(bz_buf_text(&one), bz_buf_text(&other));
}

static void there_is_an_end_to_lock_files(void **state)
{
    struct bz_spec s;
    struct bz_err err;

    (void)state;
    bz_spec_init(&s);
    for (int i = 0; i < BZ_SPEC_LOCKS; i++)
        assert_ok(bz_spec_lock(&s, dup(0), &err), &err);
    assert_int_equal(bz_spec_lock(&s, dup(0), &err), BZ_E_LIMIT);
    bz_spec_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_inside_are_plain),
        cmocka_unit_test(a_path_of_the_host_is_absolute),
        cmocka_unit_test(all_of_it_can_be_printed),
        cmocka_unit_test(there_is_an_end_to_lock_files),
        cmocka_unit_test(the_policy_does_not_tell_where_the_work_lies),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
