#include "vars/expr_fetch.h"

#include "base/buf.h"
#include "tests/unit/os/scratch.h"
#include "tests/unit/vars/expr_rows.h"

struct row {
    const char *uris, *path, *text; /* D is the scratch directory; text NULL: see rc */
    int rc;
};

/* As BitBake 2.18 answered, in a tree like the one below. */
static const struct row rows[] = {
    {"file://one",                                         "D/a:D/b",  "D/a/one:False D/b/one:True",     0         },
    {"file://one;name=x;subdir=y file://sub/two",          "D/a:D/b",
     "D/a/one:False D/b/one:True D/a/sub/two:True",                                                      0         },
    {"file://sub",                                         "D/a:D/b",  "D/a/sub:True",                   0         },
    {"file://sub",                                         "D/b:D/a",  "D/b/sub:True",                   0         },
    {"http://h/x;name=a file:one git://h/r;protocol=file", "D/b",      "D/b/one:True",                   0         },
    {"file:///dev/null",                                   "D/a",      "/dev/null:True",                 0         },
    {"file:/dev/null file:////dev/null",                   "D/a",      "/dev/null:True //dev/null:True", 0         },
    {"file://x%20y",                                       "D/a",      "D/a/x y:True",                   0         },
    {"file://x%2",                                         "D/a",      "D/a/x%2:True",                   0         },
    {"file://one#frag file://one?q=1",                     "D/b",      "D/b/one:True D/b/one:True",      0         },
    {"FILE://one",                                         "D/b",      "D/b/one:True",                   0         },
    {"file://",                                            "D/a",      "/:True",                         0         },
    {"",                                                   "D/a",      "",                               0         },
    {"ssh://h/x",                                          "",         "",                               0         },
    {"file://sub/",                                        "D/a",      "D/a/sub/:True",                  0         },
    {"file://./one",                                       "D/a:D/b/", "D/a/./one:False D/b/./one:True", 0         },
    {"file://${B}",                                        "D/b",      "D/b/b:True",                     0         },
    {"file://nope",                                        "D/a:D/b",  NULL,                             BZ_E_INVAL},
    {"file://one/",                                        "D/b",      NULL,                             BZ_E_INVAL},
    {"file://o*",                                          "D/a",      NULL,                             BZ_E_INVAL},
    {"file://one",                                         "",         NULL,                             BZ_E_INVAL},
    {"foo://x",                                            "D/a",      NULL,                             BZ_E_NOSUP},
    {"x",                                                  "D/a",      NULL,                             BZ_E_NOSUP},
    {"1://x",                                              "D/a",      NULL,                             BZ_E_NOSUP},
    {"file://one;name=a,b",                                "D/b",      NULL,                             BZ_E_NOSUP},
    {"file://%ff",                                         "D/b",      NULL,                             BZ_E_NOSUP},
    {"file://one",                                         "a:D/b",    NULL,                             BZ_E_NOSUP},
};

static void set(struct bz_vars *v, const char *name, const char *text,
                const struct scratch *s)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf full = {0};
    struct bz_err err;

    for (; *text; text++)
        bz_buf_addf(&full, "%.*s", *text == 'D' ? (int)strlen(s->path) : 1,
                    *text == 'D' ? s->path : text);
    assert_ok(bz_vars_set(v, bz_str_from(name), bz_str_from(bz_buf_text(&full)), 0,
                          NULL, &err),
              &err);
}

static void local_files_are_found_where_bitbake_finds_them(void **state)
{
    struct scratch *s = *state;

    make_dirs(s->fd, "a/sub");
    make_dirs(s->fd, "b");
    put(s->fd, "a/sub/two", "");
    put(s->fd, "a/x y", "");
    put(s->fd, "a/x%2", "");
    put(s->fd, "b/one", "");
    put(s->fd, "b/b", "");
    put(s->fd, "b/sub", "");
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        BZ_CLEANUP(bz_vars_freep) struct bz_vars *v = expr_store();
        struct bz_str want = {0};
        struct bz_err err;

        set(v, "SRC_URI", rows[i].uris, s);
        set(v, "FILESPATH", rows[i].path, s);
        set(v, "WANT", rows[i].text ? rows[i].text : "", s);
        assert_ok(bz_vars_get(v, BZ_STR("WANT"), 0, &want, &err), &err);
        expr_check(v, "bb.fetch.get_checksum_file_list(d)", rows[i].rc,
                   rows[i].text ? want.p : NULL);
    }
}

static const struct expr_row errors[] = {
    ROW("bb.fetch.get_checksum_file_list(d)",
        "AttributeError: 'NoneType' object has no attribute 'split'"),
};

static void without_sources_it_fails_as_bitbake_does(void **state)
{
    (void)state;
    expr_rows_raise(errors, BZ_COUNTOF(errors));
}

static void a_file_that_is_nowhere_is_named(void **state)
{
    BZ_CLEANUP(bz_vars_freep) struct bz_vars *v = expr_store();
    struct scratch *s = *state;

    set(v, "SRC_URI", "file://deep/nope", s);
    set(v, "FILESPATH", "D", s);
    expr_check(v, "bb.fetch2.get_checksum_file_list(d)", BZ_E_INVAL,
               "BBHandledException: Unable to get checksum for foo-native SRC_URI "
               "entry nope: file could not be found; the directories of FILESPATH "
               "were searched");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(local_files_are_found_where_bitbake_finds_them),
        cmocka_unit_test(without_sources_it_fails_as_bitbake_does),
        scratch_test(a_file_that_is_nowhere_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
