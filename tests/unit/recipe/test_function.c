#include "recipe/function.h"

#include "tests/unit/recipe/files.h"

static void a_shell_function_is_a_variable_with_flags(void **state)
{
    struct world *w = *state;

    eval_text(w, "\ndo_x() {\n    echo ${A}\n\n    true\n}\nA = \"1\"\n");
    assert_var(w->meta, "do_x", "    echo 1\n\n    true\n");
    assert_flag(w->meta, "do_x", "func", "1");
    assert_flag(w->meta, "do_x", "python", NULL);
    assert_flag(w->meta, "do_x", "fakeroot", NULL);
    assert_flag(w->meta, "do_x", "lineno", "2");
    assert_flag(w->meta, "do_x", "filename", at(w, "test.bb").p);
}

static void kinds_of_functions_are_told_by_flags(void **state)
{
    struct world *w = *state;

    eval_text(w, "python p() {\n    pass\n}\n"
                 "fakeroot f() {\n    :\n}\n"
                 "fakeroot python b() {\n    pass\n}\n"
                 "def d(x):\n    return x\n\nA = \"1\"\n");
    assert_flag(w->meta, "p", "python", "1");
    assert_flag(w->meta, "p", "fakeroot", NULL);
    assert_flag(w->meta, "f", "python", NULL);
    assert_flag(w->meta, "f", "fakeroot", "1");
    assert_flag(w->meta, "b", "python", "1");
    assert_flag(w->meta, "b", "fakeroot", "1");
    assert_flag(w->meta, "d", "python", "1");
    assert_flag(w->meta, "d", "func", "1");
    assert_flag(w->meta, "d", "lineno", "9");
    assert_var(w->meta, "d", "def d(x):\n    return x\n");
}

static void a_new_definition_forgets_the_kind_of_the_old(void **state)
{
    struct world *w = *state;

    eval_text(w, "fakeroot python x() {\n    pass\n}\nx() {\n    :\n}\n");
    assert_flag(w->meta, "x", "python", NULL);
    assert_flag(w->meta, "x", "fakeroot", NULL);
    assert_flag(w->meta, "x", "func", "1");
    assert_flag(w->meta, "x", "lineno", "4");
}

static void the_line_is_the_one_with_the_brace(void **state)
{
    struct world *w = *state;

    eval_text(w, "\nx \\\n( ) {\n    a \\\n    b\n}\ndef y(d, \\\n  e):\n    pass\n");
    assert_flag(w->meta, "x", "lineno", "3");
    assert_flag(w->meta, "y", "lineno", "7");
}

static void operations_and_overrides_work_on_functions(void **state)
{
    struct world *w = *state;

    eval_text(w, "OVERRIDES = \"o\"\nx() {\n    1\n}\nx:append() {\n    2\n}\n"
                 "x:prepend:o() {\n    0\n}\nx:append:p() {\n    3\n}\n"
                 "y() {\n    1\n}\ny:o() {\n    2\n}\n");
    assert_var(w->meta, "x", "    0\n    1\n    2\n");
    assert_var(w->meta, "y", "    2\n");
}

static void anonymous_functions_are_named_and_listed_in_order(void **state)
{
    struct world *w = *state;
    BZ_CLEANUP(bz_buf_release) struct bz_buf first = {0}, text = {0};

    eval_text(w, "python () {\n    a\n}\npython __anonymous() {\n    b\n}\n");
    assert_int_equal(w->meta->anonymous.len, 2);
    bz_buf_addf(&first, "__anon_3_%s", w->dir->path);
    for (char *c = first.data; *c; c++)
        if (*c == '/' || *c == '-')
            *c = '_';
    bz_buf_addf(&first, "_test_bb");
    assert_text("name", w->meta->anonymous.at[0], bz_buf_text(&first));
    bz_buf_addf(&text, "def %s(d):\n    a\n", bz_buf_text(&first));
    assert_var(w->meta, bz_buf_text(&first), bz_buf_text(&text));
    assert_flag(w->meta, bz_buf_text(&first), "python", "1");
    assert_non_null(strstr(w->meta->anonymous.at[1].p, "__anon_6_"));
}

static void assert_body(const struct world *w, size_t i, const char *name,
                        uint32_t line)
{
    assert_text("name", w->meta->bodies.at[i].name, name);
    assert_int_equal(w->meta->bodies.at[i].line, line);
}

static void changes_of_python_functions_and_of_built_in_tasks_are_listed(void **state)
{
    struct world *w = *state;

    eval_text(w, "python x() {\n    1\n}\npython x:append() {\n    2\n}\n"
                 "y:append() {\n    3\n}\npython a_do_fetch() {\n    4\n}\n"
                 "do_patch() {\n    5\n}\ndo_unpack:prepend:o() {\n    6\n}\n");
    assert_int_equal(w->meta->bodies.len, 4);
    assert_body(w, 0, "x:append", 4);
    assert_body(w, 1, "a_do_fetch", 10);
    assert_body(w, 2, "do_patch", 13);
    assert_body(w, 3, "do_unpack:prepend:o", 16);
    assert_text("text", w->meta->bodies.at[2].text, "    5\n");
    assert_true(bz_function_built_in(BZ_STR("do_fetch")));
    assert_false(bz_function_built_in(BZ_STR("a_do_fetch")));
}

static void an_exported_python_function_names_the_one_it_calls(void **state)
{
    struct world *w = *state;
    struct bz_str text, called;

    put_file(w, "classes/a.bbclass",
             "python a_do_fetch() {\n    A\n}\nEXPORT_FUNCTIONS do_fetch\n");
    eval_text(w, "inherit a\npython do_fetch:prepend() {\n    x\n}\n");
    assert_int_equal(w->meta->bodies.len, 3);
    assert_body(w, 1, "do_fetch", 4);
    assert_ok(bz_meta_get(w->meta, "do_fetch", &text, &w->err), &w->err);
    assert_true(bz_function_exported(text, &called));
    assert_text("called", called, "a_do_fetch");
    assert_false(bz_function_exported(BZ_STR("    a_do_fetch\n"), &called));
}

#define SENTINEL "    # Export function set\n"

static void exported_functions_call_those_of_the_class(void **state)
{
    struct world *w = *state;

    put_file(w, "classes/a.bbclass",
             "a_do_x() {\n    A\n}\npython a_do_y() {\n    A\n}\n"
             "do_x[dirs] = \"/d\"\ndo_x[cleandirs] = \"/c\"\ndo_x[other] = \"o\"\n"
             "EXPORT_FUNCTIONS do_x do_y\n");
    eval_text(w, "inherit a\n");
    assert_var(w->meta, "do_x", SENTINEL "    a_do_x\n");
    assert_flag(w->meta, "do_x", "func", "1");
    assert_flag(w->meta, "do_x", "python", NULL);
    assert_flag(w->meta, "do_x", "filename", "autogenerated");
    assert_flag(w->meta, "do_x", "lineno", "1");
    assert_flag(w->meta, "a_do_x", "dirs", "/d");
    assert_flag(w->meta, "a_do_x", "cleandirs", "/c");
    assert_flag(w->meta, "a_do_x", "other", NULL);
    assert_var(w->meta, "do_y", SENTINEL "    bb.build.exec_func('a_do_y', d)\n");
    assert_flag(w->meta, "do_y", "python", "1");
}

static void the_last_class_wins_over_others_but_not_over_the_recipe(void **state)
{
    struct world *w = *state;

    put_file(w, "classes/a.bbclass",
             "python a_do_x() {\n    A\n}\na_do_y() {\n    A\n}\n"
             "EXPORT_FUNCTIONS do_x do_y\n");
    put_file(w, "classes/b.bbclass",
             "b_do_x() {\n    B\n}\nb_do_y() {\n    B\n}\n"
             "EXPORT_FUNCTIONS do_x do_y\n");
    eval_text(w, "do_y() {\n    own\n}\ninherit a b\n");
    assert_var(w->meta, "do_x", SENTINEL "    b_do_x\n");
    assert_flag(w->meta, "do_x", "python", NULL);
    assert_var(w->meta, "do_y", "    own\n");
}

static void count_flag(void *ctx, struct bz_str flag, struct bz_str value)
{
    size_t *n = ctx;

    *n += bz_str_eq(flag, BZ_STR("python")) && !value.p;
}

static void a_function_exported_again_keeps_empty_flags(void **state)
{
    struct world *w = *state;
    size_t n = 0;

    put_file(w, "classes/a.bbclass",
             "python a_do_x() {\n    A\n}\nEXPORT_FUNCTIONS do_x\n");
    put_file(w, "classes/b.bbclass", "EXPORT_FUNCTIONS do_x\n");
    eval_text(w, "inherit a b\n");
    bz_vars_flags(w->meta->vars, BZ_STR("do_x"), count_flag, &n);
    assert_int_equal(n, 1);
    assert_flag(w->meta, "do_x", "func", NULL);
}

static void a_class_with_a_dash_cannot_export_shell_functions(void **state)
{
    struct world *w = *state;

    put_file(w, "classes/a-b.bbclass", "EXPORT_FUNCTIONS do_x\n");
    eval_wrong(w, "inherit a-b\n", "a-b.bbclass:1: ");
    assert_non_null(strstr(w->err.msg, "dash"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        world_test(a_shell_function_is_a_variable_with_flags),
        world_test(kinds_of_functions_are_told_by_flags),
        world_test(a_new_definition_forgets_the_kind_of_the_old),
        world_test(the_line_is_the_one_with_the_brace),
        world_test(operations_and_overrides_work_on_functions),
        world_test(changes_of_python_functions_and_of_built_in_tasks_are_listed),
        world_test(an_exported_python_function_names_the_one_it_calls),
        world_test(anonymous_functions_are_named_and_listed_in_order),
        world_test(exported_functions_call_those_of_the_class),
        world_test(the_last_class_wins_over_others_but_not_over_the_recipe),
        world_test(a_function_exported_again_keeps_empty_flags),
        world_test(a_class_with_a_dash_cannot_export_shell_functions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
