#include "sig/roots.h"

#include "tests/unit/vars/script.h"

static const char variables[] =
    "TOPDIR=/w/co/build\nHOME=/home/me\n"
    "BBLAYERS=${TOPDIR}/../meta /w/co/sub/meta/ /w/co/build/own";

static const struct {
    const char *text, *named; /* NULL: there is nothing to name */
} rows[] = {
    {"/w/co/build",                         "<TOPDIR>"                          },
    {"a /w/co/build/x:/w/co/build b",       "a <TOPDIR>/x:<TOPDIR> b"           },
    {"-I/w/co/build/inc",                   "-I<TOPDIR>/inc"                    },
    {"file:///w/co/build/x --x=/w/co/meta", "file://<TOPDIR>/x --x=<layer meta>"},
    {"x-I/w/co/build a//w/co/build",        "x-I<TOPDIR> a/<TOPDIR>"            },
    {"A=/w/co/build/inc",                   "A=<TOPDIR>/inc"                    },
    {"\"/w/co/build\"",                     "\"<TOPDIR>\""                      },
    {"/w/co/build/../meta/f",               "<layer meta>/f"                    },
    {"/w/co/meta/f",                        "<layer meta>/f"                    },
    {"/w/co/sub/meta/f",                    "<layer meta-2>/f"                  },
    {"/w/co/build/own/f",                   "<layer own>/f"                     },
    {"/w/co/build2 /w/co/build-x",          NULL                                },
    {"/x/w/co/build ${X}/w/co/build",       "/x<TOPDIR> ${X}<TOPDIR>"           },
    {"/w/co/other /home/me/x",              NULL                                },
    {"<TOPDIR> ${TOPDIR}",                  NULL                                },
    {"/w/co/other /w/co/meta/x",            "/w/co/other <layer meta>/x"        },
    {"",                                    NULL                                },
    {"/",                                   NULL                                },
};

static void open_roots(struct script *s, struct bz_roots *r, const char *script)
{
    struct bz_err err;

    assert_ok(script_run(s, script, &err), &err);
    assert_ok(bz_roots_open(r, script_store(s), &err), &err);
}

static void names_stand_for_the_build_directory_and_layers(void **state)
{
    struct script s = {0};
    struct bz_roots r;

    (void)state;
    open_roots(&s, &r, variables);
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0}, places = {0};
        bool any = bz_roots_name(&r, bz_str_from(rows[i].text), &out, &places);

        assert_int_equal(any, rows[i].named != NULL);
        assert_string_equal(bz_buf_text(&out), rows[i].named ? rows[i].named : "");
        assert_int_equal(places.len > 0, any);
    }
    bz_roots_close(&r);
    script_release(&s);
}

static void it_is_known_where_names_were_put(void **state)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0}, places = {0};
    struct script s = {0};
    struct bz_roots r;

    (void)state;
    open_roots(&s, &r, variables);
    assert_true(
        bz_roots_name(&r, BZ_STR("<TOPDIR> /w/co/build /w/co/meta"), &out, &places));
    assert_string_equal(bz_buf_text(&places), "9 18 ");
    bz_roots_close(&r);
    script_release(&s);
}

static void home_and_the_checkout_are_found_but_not_named(void **state)
{
    struct script s = {0};
    struct bz_roots r;
    const struct bz_roots_root *root;
    size_t at;

    (void)state;
    open_roots(&s, &r, variables);
    root = bz_roots_find(&r, BZ_STR("x /home/me/dl"), 0, &at);
    assert_non_null(root);
    assert_null(root->name.p);
    assert_int_equal(at, 2);
    root = bz_roots_find(&r, BZ_STR("/w/co/dl"), 0, &at);
    assert_non_null(root);
    assert_null(root->name.p);
    assert_null(bz_roots_find(&r, BZ_STR("/home/you /w/c /usr/bin"), 0, &at));
    bz_roots_close(&r);
    script_release(&s);
}

static void directories_that_say_nothing_are_left_out(void **state)
{
    struct script s = {0};
    struct bz_roots r;

    (void)state;
    open_roots(&s, &r, "TOPDIR=/b\nHOME=/\nBBLAYERS=/x relative");
    assert_int_equal(r.list.len, 0);
    bz_roots_close(&r);
    script_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_stand_for_the_build_directory_and_layers),
        cmocka_unit_test(it_is_known_where_names_were_put),
        cmocka_unit_test(home_and_the_checkout_are_found_but_not_named),
        cmocka_unit_test(directories_that_say_nothing_are_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
