#include "survey/pyfunc.h"

#include "recipe/finalize.h"
#include "survey/facts.h"
#include "tests/unit/recipe/files.h"

/* Checks the list of a recipe, or of one of its tasks: "LINE WHAT, LINE WHAT". */
static void expect(struct world *w, const char *text, const char *task,
                   const char *expected)
{
    BZ_CLEANUP(bz_finalize_freep) struct bz_finalize *f = NULL;
    struct bz_finalize_opts opts = {.path = at(w, "test_1.0.bb")};
    struct bz_facts facts = {.path = opts.path};
    struct bz_facts_keep keep = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf got = {0}, what = {0};
    struct bz_str list;
    struct bz_pyfunc function;

    bz_library_free(w->library); /* it has read a file of that name perhaps */
    w->library = bz_library_new();
    put_file(w, "test_1.0.bb", text);
    assert_ok(bz_finalize_recipe(w->meta, w->library, &opts, &f, &w->err), &w->err);
    assert_ok(bz_facts_of(&keep, f->variants.at[0].meta, &facts, &w->err), &w->err);
    list = facts.python;
    for (size_t i = 0; task && i < facts.ntasks; i++)
        if (bz_str_eq(facts.tasks[i].name, bz_str_from(task)))
            list = facts.tasks[i].python;
    while (bz_pyfunc_next(&list, &function)) {
        assert_true(bz_str_eq(function.file, opts.path));
        bz_buf_truncate(&what, 0);
        bz_pyfunc_describe(&function, &what);
        bz_buf_addf(&got, "%s%u %s", got.len ? ", " : "", function.line,
                    bz_buf_text(&what));
    }
    assert_string_equal(bz_buf_text(&got), expected);
    bz_facts_release(&keep);
}

static void functions_of_a_recipe_are_handlers_and_anonymous_ones(void **state)
{
    struct world *w = *state;

    expect(w, "A = \"1\"\n", NULL, "");
    expect(w,
           "python () {\n    x\n}\npython __anonymous () {\n    x\n}\n"
           "addhandler h g\npython h() {\n    x\n}\ndef g(e):\n    x\n\n"
           "python unused() {\n    x\n}\n",
           NULL,
           "8 event handler h, 11 event handler g, 1 anonymous function, "
           "4 anonymous function");
}

static void functions_that_do_nothing_do_not_count(void **state)
{
    struct world *w = *state;

    expect(w,
           "python () {\n    pass\n}\npython () {\n\n    # x\n}\n"
           "addhandler h\ndef h(e):\n    pass\n\nA = \"1\"\n",
           NULL, "");
}

#define TASK "addtask do_x\n"

static void a_task_in_python_has_its_function_and_what_changes_it(void **state)
{
    struct world *w = *state;

    expect(w, TASK "do_x() {\n    :\n}\n", "do_x", "");
    expect(w, TASK "python do_x() {\n    pass\n}\n", "do_x", "2 function do_x");
    expect(w,
           TASK "python do_x() {\n    1\n}\npython do_x:append() {\n    2\n}\n"
                "python do_x:append:off() {\n    3\n}\n",
           "do_x", "2 function do_x, 5 function do_x:append");
    expect(w, TASK "do_x() {\n    :\n}\npython do_x:append() {\n    2\n}\n", "do_x",
           "5 function do_x:append");
    expect(w, TASK "python do_x() {\n    1\n}\ndo_x[noexec] = \"1\"\n", "do_x", "");
    expect(w,
           "X = \"x\"\n" TASK "do_x() {\n    :\n}\n"
           "python do_${X}:append() {\n    2\n}\n",
           "do_x", "6 function do_x:append");
}

static void functions_before_and_after_a_task_belong_to_it(void **state)
{
    struct world *w = *state;

    expect(w,
           TASK "do_x[prefuncs] = \"s ${P}\"\ndo_x[postfuncs] = \"q none\"\n"
                "P = \"p\"\ns() {\n    :\n}\npython p() {\n    1\n}\n"
                "python q() {\n    2\n}\n",
           "do_x", "8 function p, 11 function q");
}

#define UNPACK "addtask do_unpack\npython do_unpack() {\n    1\n}\n"

static void of_a_built_in_task_only_what_is_lost_counts(void **state)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"",                                                        ""                            },
        {"python do_unpack:append() {\n    2\n}\n",                 "5 function do_unpack:append" },
        {"do_unpack:prepend() {\n    2\n}\n",                       "5 function do_unpack:prepend"},
        {"python do_unpack:append:off() {\n    2\n}\n",             ""                            },
        {"python do_unpack:append() {\n    pass\n}\n",              ""                            },
        {"python do_unpack() {\n    2\n}\n",                        "5 function do_unpack"        },
        {"do_unpack() {\n    2\n}\n",                               ""                            },
        {"do_unpack .= \"  2\"\n",                                  "5 function do_unpack"        },
        {"do_unpack[postfuncs] = \"p\"\npython p() {\n}\n",         "6 function p"                },
        {"OVERRIDES = \"on\"\npython do_unpack:on() {\n    2\n}\n",
         "6 function do_unpack:on"                                                                },
    };
    struct world *w = *state;

    for (size_t i = 0; i < BZ_COUNTOF(cases); i++)
        expect(w, bz_arena_printf(&w->arena, UNPACK "%s", cases[i].text).p, "do_unpack",
               cases[i].expected);
}

#define PATCH "inherit one\naddtask do_patch\n"

static void an_exported_function_is_followed_to_the_one_it_calls(void **state)
{
    struct world *w = *state;

    put_file(w, "classes/one.bbclass",
             "python one_do_patch() {\n    1\n}\nEXPORT_FUNCTIONS do_patch\n");
    expect(w, PATCH, "do_patch", "");
    expect(w, PATCH "python do_patch:append() {\n    x\n}\n", "do_patch",
           "3 function do_patch:append");
    expect(w, PATCH "python one_do_patch:append() {\n    x\n}\n", "do_patch",
           "3 function one_do_patch:append");
    expect(w, PATCH "python do_patch() {\n    x\n}\n", "do_patch",
           "3 function do_patch");
}

static void a_set_has_each_function_once(void **state)
{
    BZ_CLEANUP(bz_pyfunc_release) struct bz_pyfunc_set set = {0};

    (void)state;
    bz_pyfunc_add(&set, BZ_STR("a 3 __anon /l/a b.bb\nf 4 do_x /l/a b.bb"));
    bz_pyfunc_add(&set, BZ_STR("h 9 h /l/c.bbclass\na 3 __anon /l/a b.bb"));
    bz_pyfunc_add(&set, (struct bz_str){0});
    assert_int_equal(set.list.len, 3);
    assert_text("file", set.list.at[0].file, "/l/a b.bb");
    assert_int_equal(set.list.at[2].line, 9);
}

static void malformed_lines_are_skipped(void **state)
{
    struct bz_str list = BZ_STR("\nx 1 a /b\na\na 1\na 1 b\na x b c\nf 7 b /c\n");
    struct bz_pyfunc f;

    (void)state;
    assert_true(bz_pyfunc_next(&list, &f));
    assert_int_equal(f.line, 7);
    assert_false(bz_pyfunc_next(&list, &f));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        world_test(functions_of_a_recipe_are_handlers_and_anonymous_ones),
        world_test(functions_that_do_nothing_do_not_count),
        world_test(a_task_in_python_has_its_function_and_what_changes_it),
        world_test(functions_before_and_after_a_task_belong_to_it),
        world_test(of_a_built_in_task_only_what_is_lost_counts),
        world_test(an_exported_function_is_followed_to_the_one_it_calls),
        cmocka_unit_test(a_set_has_each_function_once),
        cmocka_unit_test(malformed_lines_are_skipped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
