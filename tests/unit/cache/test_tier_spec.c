#include "cache/tier_spec.h"

#include "tests/unit/cache/web.h"

static const struct {
    const char *text, *place, *name;
    enum bz_tier_spec_kind kind;
    bool write;
    size_t ntrust;
} good[] = {
    {"dir:/srv/cache",                "/srv/cache",            "dir:/srv/cache",  BZ_TIER_SPEC_DIR,  false, 0},
    {" dir:../c  rw ",                "../c",                  "dir:../c",        BZ_TIER_SPEC_DIR,  true,  0},
    {"dir:/c ro trust=ci",            "/c",                    "dir:/c",          BZ_TIER_SPEC_DIR,  false, 1},
    {"https://h/c trust=ci,a.b@c rw", "https://h/c",           "https://h/c",     BZ_TIER_SPEC_HTTP,
     true,                                                                                                  2},
    {"http://me:pw@h:8080/c",         "http://me:pw@h:8080/c", "http://h:8080/c",
     BZ_TIER_SPEC_HTTP,                                                                              false, 0},
    {"http://me:p@w@h",               "http://me:p@w@h",       "http://h",        BZ_TIER_SPEC_HTTP, false, 0},
    {"http://h/a@b",                  "http://h/a@b",          "http://h/a@b",    BZ_TIER_SPEC_HTTP, false, 0},
};

static void a_tier_is_a_place_and_what_it_is_for(void **state)
{
    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(good); i++) {
        BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
        struct bz_tier_spec spec;
        struct bz_err err = {0};

        assert_ok(bz_tier_spec_parse(&a, bz_str_from(good[i].text), &spec, &err), &err);
        assert_string_equal(spec.place.p, good[i].place);
        assert_string_equal(spec.name.p, good[i].name);
        assert_int_equal(spec.kind, good[i].kind);
        assert_int_equal(spec.write, good[i].write);
        assert_int_equal(spec.ntrust, good[i].ntrust);
    }
}

static void a_web_server_has_files(void **state)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct bz_tier_spec spec;
    struct bz_err err = {0};

    (void)state;
    assert_ok(bz_tier_spec_parse(
                  &a, BZ_STR("https://h token=t rw key=k cert=../c ca=/a trust=x"),
                  &spec, &err),
              &err);
    assert_string_equal(spec.file[BZ_TIER_SPEC_TOKEN].p, "t");
    assert_string_equal(spec.file[BZ_TIER_SPEC_CERT].p, "../c");
    assert_string_equal(spec.file[BZ_TIER_SPEC_KEY].p, "k");
    assert_string_equal(spec.file[BZ_TIER_SPEC_CA].p, "/a");
    assert_true(spec.write && spec.ntrust == 1);
}

static void anything_else_is_the_users_error(void **state)
{
    static const char *const wrong[] = {
        "",
        "/srv/cache",
        "dir:",
        "ftp://h/c",
        "https://",
        "https:///c",
        "dir:/c rx",
        "dir:/c token=t",
        "https://h token=",
        "https://h token=a token=b",
        "dir:/c rw ro",
        "dir:/c trust=",
        "dir:/c trust=a,,b",
        "dir:/c trust=a trust=b",
        "dir:/c trust=../a",
        "dir:/c trust=.a",
        "dir:/c trust=a/b",
        "dir:/c trust=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17",
        "dir:/c xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(wrong); i++) {
        BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
        struct bz_tier_spec spec;
        struct bz_err err = {0};

        if (bz_tier_spec_parse(&a, bz_str_from(wrong[i]), &spec, &err) != BZ_E_INVAL)
            fail_msg("'%s' is taken", wrong[i]);
    }
}

static void a_directory_is_opened_if_it_is_there(void **state)
{
    struct store *s = *state;
    struct bz_tier_spec spec = {.place = bz_str_from(s->root)};
    struct bz_tier *t;
    char path[320];

    assert_ok(bz_tier_spec_open(&spec, &t, &s->err), &s->err);
    assert_string_equal(t->ops->kind, "directory");
    t->ops->close(t);
    spec = (struct bz_tier_spec){.kind = BZ_TIER_SPEC_HTTP,
                                 .place = BZ_STR("http://localhost:1/c")};
    assert_ok(bz_tier_spec_open(&spec, &t, &s->err), &s->err);
    assert_string_equal(t->ops->kind, "http");
    t->ops->close(t);
    spec.file[BZ_TIER_SPEC_TOKEN] = BZ_STR("/nowhere/at/all");
    assert_int_equal(bz_tier_spec_open(&spec, &t, &s->err), BZ_E_NOENT);
    snprintf(path, sizeof(path), "%s/nowhere", s->root);
    spec = (struct bz_tier_spec){.place = bz_str_from(path), .write = true};
    assert_int_equal(bz_tier_spec_open(&spec, &t, &s->err), BZ_E_NOENT);
    assert_false(bz_fs_exists(AT_FDCWD, path)); /* it may be a share not mounted */
}

static void a_silent_server_is_waited_for_as_long_as_the_settings_say(void **state)
{
    struct web *w = *state;
    struct bz_tier_blob blob = {web_digest(w, "one"), 0, false};
    struct bz_tier_spec spec = {.kind = BZ_TIER_SPEC_HTTP,
                                .timeout = 300 * BZ_CLOCK_MS};
    struct bz_tier *t;
    int64_t begun;

    web_page(w, "GET", "cas", &blob.digest.hash, "200 OK", "one")->then = SERVER_STALLS;
    snprintf(w->text[0][1], 512, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\no");
    web_start(w);
    spec.place = bz_str_from(w->url);
    assert_ok(bz_tier_spec_open(&spec, &t, &w->s->err), &w->s->err);
    begun = bz_clock_now();
    assert_int_equal(t->ops->get_blobs(t, &w->call, &blob, 1, w->s->cas, &w->s->err),
                     BZ_E_TIMEOUT);
    assert_true(bz_clock_now() - begun < BZ_HTTP_STALL / 2);
    t->ops->close(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tier_is_a_place_and_what_it_is_for),
        cmocka_unit_test(a_web_server_has_files),
        cmocka_unit_test(anything_else_is_the_users_error),
        store_test(a_directory_is_opened_if_it_is_there),
        web_test(a_silent_server_is_waited_for_as_long_as_the_settings_say),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
