#include "recipe/blame.h"

#include "tests/unit/recipe/files.h"

/* Evaluates a recipe that is wrong; what is said about it, with "DIR" for its folder.
 */
static const char *told(struct world *w, const char *text)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf said = {0}, out = {0};
    struct bz_str rest, dir = bz_str_from(w->dir->path);

    put_file(w, "test.bb", text);
    assert_true(eval(w, "test.bb") < 0);
    bz_library_diags(w->library, &said);
    rest = bz_buf_str(&said);
    for (size_t i; (i = bz_str_find(rest, dir)) != BZ_STR_NONE;) {
        bz_buf_add_str(&out, bz_str_sub(rest, 0, i));
        bz_buf_addf(&out, "DIR");
        rest = bz_str_sub(rest, i + dir.n, rest.n);
    }
    bz_buf_add_str(&out, rest);
    return bz_arena_dup(&w->arena, bz_buf_str(&out)).p;
}

static void a_failure_shows_its_line_and_the_way_to_it(void **state)
{
    struct world *w = *state;

    put_file(w, "classes/c.bbclass", "A = \"1\"\nrequire \\\n    none.inc\n");
    put_file(w, "a.inc", "\ninherit c\n");
    assert_string_equal(
        told(w, "require a.inc\n"),
        "DIR/classes/c.bbclass:3:5: error: Could not include required file none.inc\n"
        "      none.inc\n"
        "      ^ expected a file that is beside this one or along BBPATH\n"
        "DIR/a.inc:2:1: note: inherits DIR/classes/c.bbclass\n"
        "  inherit c\n"
        "  ^\n"
        "DIR/test.bb:1:1: note: includes DIR/a.inc\n"
        "  require a.inc\n"
        "  ^\n");
}

static void a_word_is_found_whole(void **state)
{
    struct world *w = *state;

    put_file(w, "classes/base-x.bbclass", "");
    assert_string_equal(
        told(w, "inherit base-x base\n"),
        "DIR/test.bb:1:16: error: Could not inherit file classes/base.bbclass\n"
        "  inherit base-x base\n"
        "                 ^ expected a class that is in classes-recipe or classes "
        "along "
        "BBPATH\n");
}

static void a_value_that_cannot_be_expanded_is_pointed_at(void **state)
{
    struct world *w = *state;

    assert_string_equal(told(w, "A := \"${@1/0}\"\n"),
                        "DIR/test.bb:1:7: error: A[:=]: ${@1/0}: ZeroDivisionError: "
                        "division by zero\n"
                        "  A := \"${@1/0}\"\n"
                        "        ^\n");
}

static void a_file_with_errors_of_its_own_is_told_the_way_to(void **state)
{
    struct world *w = *state;
    const char *text;

    put_file(w, "a.inc", "B = x\n");
    text = told(w, "require a.inc\n");
    assert_non_null(strstr(text, "DIR/a.inc:1:5: error: unparsed line: 'B = x'\n"));
    assert_non_null(strstr(text, "^ expected a value in quotes\n"
                                 "DIR/test.bb:1:1: note: includes DIR/a.inc\n"));
    assert_null(strstr(text, "test.bb:1:1: error"));
}

static void the_way_through_many_files_is_cut(void **state)
{
    struct world *w = *state;
    const char *text;

    for (int i = 0; i < 30; i++)
        put_file(w, bz_arena_printf(&w->arena, "%d.inc", i).p,
                 bz_arena_printf(&w->arena, "require %d.inc\n", i + 1).p);
    text = told(w, "require 0.inc\n");
    assert_non_null(strstr(text, "DIR/29.inc:1:9: error: "));
    assert_non_null(strstr(text, "DIR/19.inc:1:1: note: includes DIR/20.inc\n"));
    assert_null(strstr(text, "DIR/18.inc:1:1: note"));
    assert_non_null(strstr(text, "(and 20 more files around these)\n"));
}

static void the_notes_of_an_evaluation_get_it(void **state)
{
    struct world *w = *state;
    BZ_CLEANUP(bz_buf_release) struct bz_buf notes = {0}, diags = {0};
    struct bz_eval e = {.meta = w->meta, .library = w->library, .notes = &notes};

    put_file(w, "test.bb", "inherit none\n");
    assert_true(bz_eval_file(&e, at(w, "test.bb"), BZ_EVAL_RECIPE, &w->err) < 0);
    assert_non_null(strstr(bz_buf_text(&notes), "test.bb:1:9: error: "));
    bz_library_diags(w->library, &diags);
    assert_int_equal(diags.len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        world_test(a_failure_shows_its_line_and_the_way_to_it),
        world_test(a_word_is_found_whole),
        world_test(a_value_that_cannot_be_expanded_is_pointed_at),
        world_test(a_file_with_errors_of_its_own_is_told_the_way_to),
        world_test(the_way_through_many_files_is_cut),
        world_test(the_notes_of_an_evaluation_get_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
