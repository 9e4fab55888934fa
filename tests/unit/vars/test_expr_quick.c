#include "vars/expr_quick.h"

#include "base/buf.h"

#include "tests/unit/vars/expr_rows.h"

struct answer {
    int rc;
    struct bz_str text;
    struct bz_arena arena;
    struct bz_refs refs;
};

static void same_maps(const struct bz_map *a, const struct bz_map *b)
{
    struct bz_map_entry *e;

    assert_int_equal(a->len, b->len);
    for (e = bz_map_next(a, NULL); e; e = bz_map_next(a, e))
        assert_non_null(bz_map_get(b, e->key));
}

static void ask(struct bz_vars *v, struct bz_str code, struct answer *a)
{
    struct bz_err err = {0};

    *a = (struct answer){0};
    bz_refs_init(&a->refs, &a->arena);
    a->rc = bz_expr_eval(v, code, &a->refs, &a->text, &err);
}

static void forget(struct answer *a)
{
    bz_refs_release(&a->refs);
    bz_arena_release(&a->arena);
}

static bool is_quick(struct bz_vars *v, const char *code)
{
    struct bz_err err = {0};
    struct bz_str out;
    bool done;

    assert_ok(bz_expr_quick(v, bz_str_from(code), NULL, &out, &done, &err), &err);
    return done;
}

/* In brackets, an expression takes the long way. */
static void the_short_way_and_the_long_way_agree(void **state)
{
    static const char *const codes[] = {
        "bb.utils.contains('A', 'a', 'yes', 'no', d)",
        "bb.utils.contains('A', 'z', 'yes', 'no', d)",
        "bb.utils.contains('A', 'a c', 'yes', 'no', d)",
        "bb.utils.contains('A', 'a z', 'yes', 'no', d)",
        "bb.utils.contains('A', '', 'yes', 'no', d)",
        "bb.utils.contains('A', ' ', 'yes', 'no', d)",
        "bb.utils.contains('E', '', 'yes', 'no', d)",
        "bb.utils.contains('NOPE', 'a', 'yes', 'no', d)",
        "bb.utils.contains('A', 'a b c a b c', 'yes', 'no', d)",
        "bb.utils.contains_any('A', 'z a', 'yes', 'no', d)",
        "bb.utils.contains_any('A', 'x y z', 'yes', 'no', d)",
        "bb.utils.contains_any('A', '', 'yes', 'no', d)",
        "bb.utils.contains_any('A', 'u v w x y a', 'yes', 'no', d)",
        "bb.utils.contains(\"A\", \"a\", \"it's\", 'say \"no\"', d)",
        "bb.utils.contains  (  'A'  ,  'a'  ,  'y'  ,  'n'  ,  d  )  ",
        "bb.utils.contains('INNER', '<b>', 'y', 'n', d)",
        "bb.utils.contains('U', 'h\xc3\xa9\xc3\xa9', '\xc3\xa9', 'n', d)",
    };
    BZ_CLEANUP(bz_vars_freep) struct bz_vars *v = expr_store();
    size_t i;

    (void)state;
    for (i = 0; i < BZ_COUNTOF(codes); i++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf bracket = {0};
        struct answer quick, slow;
        struct bz_map_entry *e;

        bz_buf_addf(&bracket, "(%s)", codes[i]);
        assert_false(is_quick(v, bracket.data));
        ask(v, bz_str_from(codes[i]), &quick);
        ask(v, bz_buf_str(&bracket), &slow);
        assert_int_equal(quick.rc, 0);
        assert_int_equal(slow.rc, 0);
        if (!bz_str_eq(quick.text, slow.text))
            fail_msg("%s: %.*s, but %.*s", codes[i], BZ_STR_ARG(quick.text),
                     BZ_STR_ARG(slow.text));
        same_maps(&quick.refs.reads, &slow.refs.reads);
        same_maps(&quick.refs.execs, &slow.refs.execs);
        same_maps(&quick.refs.contains, &slow.refs.contains);
        for (e = bz_map_next(&quick.refs.contains, NULL); e;
             e = bz_map_next(&quick.refs.contains, e))
            same_maps(e->p, bz_map_get(&slow.refs.contains, e->key)->p);
        forget(&quick);
        forget(&slow);
    }
}

static void parts_of_a_file_name_are_the_same_the_long_way(void **state)
{
    static const char *const files[] = {
        "/l/r/name_1.0.bb", "/l/r/name.bb",      "name_1.0_r3.bb", "/l/_1.0.bb",
        "/l/name_.bb",      "/l/name_.bbappend", "/l/x.conf",      "/a.b/c",
        "/l/a_b/c.bb",      "/l/\xc3\xa9_1.bb",  "/l/a__r1.bb",    "",
        "/l/..bb",          "/l/.x_1.bb",        "/l/.bb",         "/l/a_1_2_3.bb",
    };
    BZ_CLEANUP(bz_vars_freep) struct bz_vars *v = expr_store();

    (void)state;
    for (size_t i = 0; i < 3 * BZ_COUNTOF(files); i++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf code = {0};
        struct bz_str quick = {0}, slow = {0};
        struct bz_err err = {0}, other = {0};
        bool done;
        int rc;

        assert_ok(
            bz_vars_set(v, BZ_STR("FILE"), bz_str_from(files[i / 3]), 0, NULL, &err),
            &err);
        bz_buf_addf(&code,
                    "(bb.parse.vars_from_file(d.getVar('FILE', False),d)[%zu]"
                    " or 'none')",
                    i % 3);
        rc = bz_expr_eval(v, bz_buf_str(&code), NULL, &slow, &other);
        bz_buf_truncate(&code, code.len - 1);
        assert_ok(bz_expr_quick(v, bz_str_drop(bz_buf_str(&code), 1), NULL, &quick,
                                &done, &err),
                  &err);
        if (done && (rc < 0 || !bz_str_eq(quick, slow)))
            fail_msg("%s[%zu]: %.*s, but %.*s", files[i / 3], i % 3, BZ_STR_ARG(quick),
                     BZ_STR_ARG(slow));
        if (!done && i / 3 < 12)
            fail_msg("%s is plain enough", files[i / 3]);
    }
}

static void only_the_plain_form_is_quick(void **state)
{
    static const struct {
        const char *code;
        bool quick;
    } cases[] = {
        {"bb.utils.contains('A', 'a', 'y', 'n', d)",                            true },
        {"bb.utils.contains_any('A', 'a', 'y', 'n', d)",                        true },
        {"bb.utils.contains('A', 'a', 'y', 'n', d) ",                           true },
        {" bb.utils.contains('A', 'a', 'y', 'n', d)",                           false},
        {"bb.utils.contains('A', 'a', 'y', 'n', d) or 1",                       false},
        {"bb.utils.contains('A', 'a', 'y', 'n', d).x",                          false},
        {"bb.utils.contains('A', 'a', 'y', 'n', dd)",                           false},
        {"bb.utils.contains('A', 'a', 'y', 'n', d",                             false},
        {"bb.utils.contains('A', 'a', 'y', 'n')",                               false},
        {"bb.utils.contains('A', 'a', 'y' 'n', 'x', d)",                        false},
        {"bb.utils.contains('A', 'a', 'y\\n', 'n', d)",                         false},
        {"bb.utils.contains('A', 'a', 'y\n', 'n', d)",                          false},
        {"bb.utils.contains('A', 'a', 'y', 'n, d)",                             false},
        {"bb.utils.contains('A', ['a'], 'y', 'n', d)",                          false},
        {"bb.utils.contains('A', 'a', True, False, d)",                         false},
        {"bb.utils.contains",                                                   false},
        {"bb.utils.contains(",                                                  false},
        {"bb.utils.contains_anyway('A', 'a', 'y', 'n', d)",                     false},
        {"bb.utils.contains(\"\"\"A\"\"\", 'a', 'y', 'n', d)",                  false},
        {"",                                                                    false},
        {"bb.parse.vars_from_file(d.getVar('FILE', False),d)[0] or 'x'",        true },
        {"bb.parse.vars_from_file( d.getVar ('FILE' , False) , d)[2] or \"x\"", true },
        {"bb.parse.vars_from_file(d.getVar('FILE', False),d)[3] or 'x'",        false},
        {"bb.parse.vars_from_file(d.getVar('FILE', False),d)[0]",               false},
        {"bb.parse.vars_from_file(d.getVar('FILE', False),d)[0] or 'x' or 'y'", false},
        {"bb.parse.vars_from_file(d.getVar('FILE'),d)[0] or 'x'",               false},
        {"bb.parse.vars_from_file(d.getVar('FILE', False),d)[0] or x",          false},
        {"bb.parse.vars_from_file(",                                            false},
    };
    BZ_CLEANUP(bz_vars_freep) struct bz_vars *v = expr_store();
    size_t i;

    (void)state;
    for (i = 0; i < BZ_COUNTOF(cases); i++) {
        if (is_quick(v, cases[i].code) != cases[i].quick)
            fail_msg("%s", cases[i].code);
    }
}

static void failures_of_the_variable_are_passed_on(void **state)
{
    BZ_CLEANUP(bz_vars_freep) struct bz_vars *v = expr_store();
    struct bz_err err = {0};
    struct bz_str out;
    bool done;

    (void)state;
    assert_ok(bz_vars_set(v, BZ_STR("X"), BZ_STR("${X}"), 0, NULL, &err), &err);
    assert_true(bz_expr_quick(v, BZ_STR("bb.utils.contains('X', 'a', 'y', 'n', d)"),
                              NULL, &out, &done, &err) < 0);
    assert_true(done);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_short_way_and_the_long_way_agree),
        cmocka_unit_test(parts_of_a_file_name_are_the_same_the_long_way),
        cmocka_unit_test(only_the_plain_form_is_quick),
        cmocka_unit_test(failures_of_the_variable_are_passed_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
