#include "project/locate.h"

#include "tests/unit/project/project_test.h"

/* Each part of a list of paths put below the scratch directory; NULL stays NULL. */
static const char *below(const struct scratch *s, const char *list, struct bz_buf *out)
{
    struct bz_str rest = bz_str_from(list ? list : ""), dir;

    while (bz_str_next_part(&rest, ':', &dir))
        bz_buf_addf(out, "%s%s%.*s", out->len ? ":" : "", s->path, BZ_STR_ARG(dir));
    return list ? bz_buf_text(out) : NULL;
}

/* DIR is put before what begins with a slash. */
static const struct {
    const char *cwd, *option, *variable, *builddir, *bbpath;
    const char *files, *dir; /* both NULL: there is no project */
    enum bz_locate_by by;
} cases[] = {
    {"/b",           NULL,                NULL,       NULL, NULL,      NULL,                      "DIR/b",       BZ_LOCATE_NEAR    },
    {"/b/deep/er",   NULL,                NULL,       NULL, NULL,      NULL,                      "DIR/b",       BZ_LOCATE_NEAR    },
    {"/b/deep/er",   NULL,                NULL,       "/c", NULL,      NULL,                      "DIR/c",       BZ_LOCATE_BUILDDIR},
    {"/b",           NULL,                NULL,       NULL, "/x:/c",   NULL,                      "DIR/c",       BZ_LOCATE_BBPATH  },
    {"/b",           NULL,                NULL,       NULL, "/x:/y",   NULL,                      "DIR/b",       BZ_LOCATE_NEAR    },
    {"/b",           NULL,                NULL,       "/c", "/b",      NULL,                      "DIR/c",       BZ_LOCATE_BUILDDIR},
    {"/x",           NULL,                NULL,       NULL, NULL,      NULL,                      NULL,          0                 },
    {"/b",           NULL,                NULL,       "/x", NULL,      NULL,                      NULL,          0                 }, /* told, and wrong: no guessing */
    {NULL,           NULL,                NULL,       NULL, "/x:/b/.", NULL,                      "DIR/b",       BZ_LOCATE_BBPATH  },
    {NULL,           NULL,                NULL,       NULL, NULL,      NULL,                      NULL,          0                 },
    {"/k",           NULL,                NULL,       NULL, NULL,      "DIR/k/kas-project.yml",   NULL,          BZ_LOCATE_NEAR    },
    {"/k/deep",      NULL,                NULL,       NULL, NULL,      "DIR/k/kas-project.yml",   NULL,          BZ_LOCATE_NEAR    },
    {"/k/build/tmp", NULL,                NULL,       NULL, NULL,      NULL,                      "DIR/k/build", BZ_LOCATE_NEAR    },
    {"/both",        NULL,                NULL,       NULL, NULL,      NULL,                      "DIR/both",    BZ_LOCATE_NEAR    },
    {"/menu",        NULL,                NULL,       NULL, NULL,      "DIR/menu/.config.yaml",   NULL,          BZ_LOCATE_NEAR    },
    {"/k",           NULL,                NULL,       "/b", NULL,      NULL,                      "DIR/b",       BZ_LOCATE_BUILDDIR},
    {"/b",           "/k/a.yml:/k/b.yml", "/no",      "/c", "/c",      "DIR/k/a.yml:DIR/k/b.yml", NULL,
     BZ_LOCATE_OPTION                                                                                                              },
    {"/b",           NULL,                "/k/a.yml", "/c", "/c",      "DIR/k/a.yml",             NULL,          BZ_LOCATE_VARIABLE},
    {"/x",           "/b",                NULL,       NULL, NULL,      NULL,                      "DIR/b",       BZ_LOCATE_OPTION  },
    {"/x",           "/k",                NULL,       NULL, NULL,      "DIR/k/kas-project.yml",   NULL,          BZ_LOCATE_OPTION  },
    {"/b",           "/x",                NULL,       NULL, NULL,      NULL,                      NULL,          0                 },
};

static void assert_located(const struct scratch *s, size_t i)
{
    struct bz_buf text[5] = {0};
    struct bz_locate_hints hints = {
        .cwd = below(s, cases[i].cwd, &text[0]),
        .option = below(s, cases[i].option, &text[1]),
        .variable = below(s, cases[i].variable, &text[2]),
        .builddir = below(s, cases[i].builddir, &text[3]),
        .bbpath = below(s, cases[i].bbpath, &text[4]),
    };
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    struct bz_locate found;
    struct bz_err err = {0};
    int rc = bz_locate_find(&arena, &hints, &found, &err);

    if (cases[i].files || cases[i].dir) {
        assert_ok(rc, &err);
        assert_int_equal(found.by, cases[i].by);
        assert_int_equal(found.files != NULL, cases[i].files != NULL);
        assert_message(s, found.files ? found.files : found.build_dir,
                       cases[i].files ? cases[i].files : cases[i].dir);
    } else {
        assert_int_equal(rc, BZ_E_NOENT);
        assert_non_null(strstr(err.msg, "conf/bblayers.conf"));
    }
    for (size_t k = 0; k < BZ_COUNTOF(text); k++)
        bz_buf_release(&text[k]);
}

static void a_project_is_what_is_named_or_nearest(void **state)
{
    struct scratch *s = *state;

    put_file(s, "b/conf/bblayers.conf", "");
    put_file(s, "c/conf/bblayers.conf", "");
    put_file(s, "both/conf/bblayers.conf", "");
    put_file(s, "both/kas.yml", "");
    put_file(s, "k/kas-project.yml", "");
    put_file(s, "k/kas.yaml", "");
    put_file(s, "k/build/conf/bblayers.conf", "");
    put_file(s, "menu/.config.yaml", "");
    put_file(s, "menu/kas.yml", "");
    make_dirs(s->fd, "b/deep/er");
    make_dirs(s->fd, "k/deep");
    make_dirs(s->fd, "x/kas.yml"); /* a directory is no file */
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++)
        assert_located(s, i);
}

static void hints_may_be_relative_to_the_cwd(void **state)
{
    static const struct bz_locate_hints relative[] = {
        {.builddir = "./b"},
        { .builddir = "",   .bbpath = ":b"},
        { .option = "", .variable = "b/"},
    };
    struct scratch *s = *state;

    put_file(s, "b/conf/bblayers.conf", "");
    for (size_t i = 0; i < BZ_COUNTOF(relative); i++) {
        BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
        struct bz_locate_hints hints = relative[i];
        struct bz_locate found;
        struct bz_err err;

        hints.cwd = s->path;
        assert_ok(bz_locate_find(&arena, &hints, &found, &err), &err);
        assert_message(s, found.build_dir, "DIR/b");
    }
}

static void who_decided_has_a_name(void **state)
{
    (void)state;
    assert_string_equal(bz_locate_reason(BZ_LOCATE_OPTION), "--project");
    assert_string_equal(bz_locate_reason(BZ_LOCATE_BUILDDIR), "BUILDDIR");
    assert_non_null(strstr(bz_locate_reason(BZ_LOCATE_NEAR), "upwards"));
}

static void the_sample_is_for_where_there_is_no_project(void **state)
{
    struct scratch *s = *state;
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    struct bz_locate_hints hints = {.sample = "/sample"};
    struct bz_locate found;
    struct bz_err err = {0};

    put_file(s, "b/conf/bblayers.conf", "");
    make_dirs(s->fd, "x");
    assert_ok(bz_locate_find(&arena, &hints, &found, &err), &err);
    assert_int_equal(found.by, BZ_LOCATE_SAMPLE);
    hints.cwd = bz_arena_printf(&arena, "%s/x", s->path).p;
    assert_ok(bz_locate_find(&arena, &hints, &found, &err), &err);
    assert_int_equal(found.by, BZ_LOCATE_SAMPLE);
    assert_string_equal(found.build_dir, "/sample");
    assert_null(found.files);
    hints.builddir = hints.cwd; /* told, and wrong: no guessing */
    assert_int_equal(bz_locate_find(&arena, &hints, &found, &err), BZ_E_NOENT);
    hints.builddir = NULL;
    hints.cwd = bz_arena_printf(&arena, "%s/b", s->path).p;
    assert_ok(bz_locate_find(&arena, &hints, &found, &err), &err);
    assert_int_equal(found.by, BZ_LOCATE_NEAR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(a_project_is_what_is_named_or_nearest),
        scratch_test(hints_may_be_relative_to_the_cwd),
        scratch_test(who_decided_has_a_name),
        scratch_test(the_sample_is_for_where_there_is_no_project),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
