#include "tests/unit/vars/script.h"

#include "vars/history.h"

struct place {
    struct bz_vars *v;
    struct bz_vars_at at;
};

static void set(struct place *p, const char *name, const char *value)
{
    struct bz_err err = {0};

    p->at.line++;
    assert_ok(bz_vars_set(p->v, bz_str_from(name), bz_str_from(value),
                          BZ_VARS_SET_PARSING, &p->at, &err),
              &err);
}

static void flag(struct place *p, const char *name, const char *flag_name,
                 const char *value, const char *op)
{
    struct bz_vars_at at = p->at;
    struct bz_err err = {0};

    p->at.line++;
    at.line++;
    at.op = op;
    assert_ok(bz_vars_set_flag(p->v, bz_str_from(name), bz_str_from(flag_name),
                               bz_str_from(value), &at, &err),
              &err);
}

static void check(struct bz_vars *v, const char *name, const char *expected)
{
    struct bz_buf out = {0};
    struct bz_err err = {0};

    assert_ok(bz_history_write(v, bz_str_from(name), &out, &err), &err);
    assert_string_equal(bz_buf_text(&out), expected);
    bz_buf_release(&out);
}

/* The expected texts are BitBake's. */
static void operations_are_listed_as_bitbake_lists_them(void **state)
{
    struct place p = {bz_vars_new(NULL), {.file = "a.conf"}};
    struct bz_vars *parent = p.v;
    struct bz_err err = {0};

    (void)state;
    set(&p, "OVERRIDES", "o");
    set(&p, "X", "one\ntwo");
    p.v = bz_vars_new(parent);
    p.at.file = "r.bb";
    set(&p, "X:append", " b");
    set(&p, "X:append:o", " c");
    flag(&p, "X", "doc", "text", NULL);
    flag(&p, "X", "_defaultval", "w",
         "set?"
         "?");
    set(&p, "X:o", "v");
    flag(&p, "X:o", "f", "hidden", NULL);
    set(&p, "Y", "1");
    p.at.line++;
    assert_ok(bz_vars_append(p.v, BZ_STR("Y"), BZ_STR("2"), &p.at, &err), &err);
    p.at.line++;
    assert_ok(bz_vars_del(p.v, BZ_STR("Y"), &p.at, &err), &err);
    check(p.v, "X",
          "#\n# $X [6 operations]\n"
          "#   set a.conf:2\n#     \"one\n#     two\"\n"
          "#   :append r.bb:3\n#     \" b\"\n"
          "#   :append[o] r.bb:4\n#     \" c\"\n"
          "#   set r.bb:5\n#     [doc] \"text\"\n"
          "#   set?"
          "? r.bb:6\n#     [_defaultval] \"w\"\n"
          "#   override[o]:set r.bb:7\n#     \"v\"\n"
          "# pre-expansion value:\n#   \"v b c\"\n");
    check(p.v, "Y",
          "#\n# $Y [3 operations]\n#   set r.bb:9\n#     \"1\"\n"
          "#   append r.bb:10\n#     \"2\"\n#   del r.bb:11\n#     \"\"\n"
          "# pre-expansion value:\n#   \"None\"\n");
    check(p.v, "OVERRIDES", "#\n# $OVERRIDES\n#   set a.conf:1\n#     \"o\"\n");
    check(p.v, "Z", "#\n# $Z\n#   [no history recorded]\n#\n#   \"None\"\n");
    check(parent, "X", "#\n# $X\n#   set a.conf:2\n#     \"one\n#     two\"\n");
    bz_vars_free(p.v);
    bz_vars_free(parent);
}

static void a_renamed_variable_takes_its_history_along(void **state)
{
    struct place p = {
        bz_vars_new(NULL), {.file = "r.bb", .line = 11}
    };
    struct bz_err err = {0};

    (void)state;
    set(&p, "A", "1");
    p.at.line++;
    assert_ok(bz_vars_rename(p.v, BZ_STR("A"), BZ_STR("B"), &p.at, &err), &err);
    check(
        p.v, "A",
        "#\n# $A [2 operations]\n#   set r.bb:12\n#     \"1\"\n"
        "#   rename (to) r.bb:13\n#     \"B\"\n# pre-expansion value:\n#   \"None\"\n");
    check(
        p.v, "B",
        "#\n# $B [2 operations]\n#   set r.bb:12\n#     \"1\"\n"
        "#   rename from A r.bb:13\n#     \"1\"\n# pre-expansion value:\n#   \"1\"\n");
    bz_vars_free(p.v);
}

static void flags_leave_their_traces(void **state)
{
    struct place p = {
        bz_vars_new(NULL), {.file = "r.bb", .line = 1}
    };
    struct bz_err err = {0};

    (void)state;
    flag(&p, "A", "f", "1", NULL);
    assert_ok(
        bz_vars_append_flag(p.v, BZ_STR("A"), BZ_STR("f"), BZ_STR("2"), &p.at, &err),
        &err);
    assert_ok(
        bz_vars_prepend_flag(p.v, BZ_STR("A"), BZ_STR("f"), BZ_STR("0"), &p.at, &err),
        &err);
    bz_vars_del_flag(p.v, BZ_STR("A"), BZ_STR("f"), &p.at);
    bz_vars_del_flag(p.v, BZ_STR("A"), BZ_STR("f"), &p.at); /* does nothing */
    bz_vars_del_flags(p.v, BZ_STR("A"), &p.at);
    check(p.v, "A",
          "#\n# $A [5 operations]\n#   set r.bb:2\n#     [f] \"1\"\n"
          "#   append r.bb:2\n#     [f] \"2\"\n#   prepend r.bb:2\n#     [f] \"0\"\n"
          "#   delFlag r.bb:2\n#     [f] \"\"\n#   delete flags r.bb:2\n#     \"\"\n"
          "# pre-expansion value:\n#   \"None\"\n");
    bz_vars_free(p.v);
}

static void the_last_place_is_found_through_copies(void **state)
{
    struct place p = {bz_vars_new(NULL), {.file = "a.conf"}};
    struct bz_vars *parent = p.v;
    struct bz_history_event e;

    (void)state;
    assert_false(bz_history_last(p.v, BZ_STR("X"), &e));
    flag(&p, "X", "f", "1", NULL);
    assert_false(bz_history_last(p.v, BZ_STR("X"), &e)); /* a flag is another matter */
    flag(&p, "X", "_defaultval", "1", NULL);
    assert_true(bz_history_last(p.v, BZ_STR("X"), &e));
    assert_int_equal(e.line, 2);
    set(&p, "X", "2");
    p.v = bz_vars_new(parent);
    assert_true(bz_history_last(p.v, BZ_STR("X"), &e));
    assert_string_equal(e.file, "a.conf");
    assert_int_equal(e.line, 3);
    p.at.file = "b.bb";
    set(&p, "X", "3");
    assert_true(bz_history_last(p.v, BZ_STR("X"), &e));
    assert_string_equal(e.file, "b.bb");
    assert_true(bz_str_eq(e.detail, BZ_STR("3")));
    assert_true(bz_history_last(parent, BZ_STR("X"), &e));
    assert_string_equal(e.file, "a.conf");
    bz_vars_free(p.v);
    bz_vars_free(parent);
}

static void what_the_program_sets_itself_is_not_recorded(void **state)
{
    static const struct bz_vars_at nowhere = {.op = "set"};
    struct bz_vars *v = bz_vars_new(NULL);
    struct bz_history_event e;
    struct bz_err err = {0};

    (void)state;
    assert_ok(bz_vars_set(v, BZ_STR("X"), BZ_STR("1"), 0, NULL, &err), &err);
    assert_ok(bz_vars_set(v, BZ_STR("X"), BZ_STR("1"), 0, &nowhere, &err), &err);
    assert_false(bz_history_last(v, BZ_STR("X"), &e));
    bz_vars_free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_are_listed_as_bitbake_lists_them),
        cmocka_unit_test(a_renamed_variable_takes_its_history_along),
        cmocka_unit_test(flags_leave_their_traces),
        cmocka_unit_test(the_last_place_is_found_through_copies),
        cmocka_unit_test(what_the_program_sets_itself_is_not_recorded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
