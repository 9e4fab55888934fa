#include "recipe/eval.h"

#include "base/log.h"
#include "tests/unit/recipe/files.h"

static void includes_are_found_beside_the_file_and_along_bbpath(void **state)
{
    struct world *w = *state;
    const struct file files[] = {
        {"r/x.bb",           "require own.inc\nrequire both.inc far/f.conf\n"},
        {"r/own.inc",        "OWN = \"1\"\n"                                 },
        {"r/both.inc",       "BOTH = \"beside\"\n"                           },
        {"other/both.inc",   "BOTH = \"far\"\n"                              },
        {"other/far/f.conf", "FAR = \"1\"\n"                                 },
    };

    put_files(w, files, BZ_COUNTOF(files));
    set_var(w->meta, "BBPATH", at(w, "other").p);
    assert_ok(eval(w, "r/x.bb"), &w->err);
    assert_var(w->meta, "OWN", "1");
    assert_var(w->meta, "BOTH", "beside");
    assert_var(w->meta, "FAR", "1");
}

static void names_of_includes_are_expanded_and_may_be_none(void **state)
{
    struct world *w = *state;

    put_file(w, "a.inc", "A = \"1\"\n");
    put_file(w, "b.inc", "B = \"1\"\n");
    eval_text(w, "N = \"a.inc b.inc\"\nrequire ${N}\nE = \"\"\nrequire ${E}\n");
    assert_var(w->meta, "A", "1");
    assert_var(w->meta, "B", "1");
}

static void a_missing_include_matters_only_if_required(void **state)
{
    struct world *w = *state;

    eval_text(w, "include missing.inc\ninclude /nowhere/missing.conf\nA = \"1\"\n");
    assert_var(w->meta, "A", "1");
    eval_wrong(w, "\nrequire missing.inc\n",
               "wrong.bb:2: Could not include required file missing.inc");
    assert_int_equal(w->err.code, BZ_E_INVAL);
}

static void what_is_no_metadata_cannot_be_included(void **state)
{
    struct world *w = *state;

    put_file(w, "a.txt", "A = \"1\"\n");
    eval_wrong(w, "include a.txt\n", "wrong.bb:1: ");
}

static void a_name_that_stays_unexpanded_is_no_metadata(void **state)
{
    struct world *w = *state;

    eval_wrong(w, "include ${UNKNOWN}\n", "wrong.bb:1: ");
}

static void file_is_the_file_being_read(void **state)
{
    struct world *w = *state;

    put_file(w, "a.inc", "A := \"${FILE}\"\ninherit c\n");
    put_file(w, "b.conf", "B := \"${FILE}\"\n");
    put_file(w, "classes/c.bbclass", "C := \"${FILE}\"\n");
    eval_text(w, "require a.inc b.conf\nD := \"${FILE}\"\n");
    assert_var(w->meta, "A", at(w, "a.inc").p);
    assert_var(w->meta, "B", at(w, "b.conf").p);
    assert_var(w->meta, "C", at(w, "a.inc").p);
    assert_var(w->meta, "D", at(w, "test.bb").p);
}

static void an_append_is_read_after_the_recipe(void **state)
{
    struct world *w = *state;
    struct bz_eval e = {.meta = w->meta, .library = w->library};

    put_file(w, "x.bb", "A = \"1\"\n");
    put_file(w, "x.bbappend", "A .= \"2\"\nF := \"${FILE}\"\n");
    assert_ok(eval(w, "x.bb"), &w->err);
    assert_ok(bz_eval_file(&e, at(w, "x.bbappend"), BZ_EVAL_APPEND, &w->err), &w->err);
    assert_var(w->meta, "A", "12");
    assert_var(w->meta, "F", at(w, "x.bbappend").p);
    assert_var(w->meta, "FILE", at(w, "x.bb").p);
}

static void include_all_takes_one_of_each_directory(void **state)
{
    struct world *w = *state;

    put_file(w, "one/c/all.inc", "A .= \"1\"\n");
    put_file(w, "three/c/all.inc", "A .= \"3\"\n");
    put_file(w, "c/all.inc", "A .= \"beside\"\n");
    put_file(w, "x.bb", "BBPATH = \"one:two:three\"\ninclude_all c/all.inc\n");
    assert_ok(eval(w, "x.bb"), &w->err); /* they are below TOPDIR */
    assert_var(w->meta, "A", "13");
}

static void errors_name_the_innermost_place(void **state)
{
    struct world *w = *state;
    BZ_CLEANUP(bz_buf_release) struct bz_buf expected = {0};

    put_file(w, "a.inc", "\n\nrequire b.inc\n");
    put_file(w, "b.inc", "\nrequire \\\n    missing.inc\n");
    eval_wrong(w, "require a.inc\n", "missing.inc");
    bz_buf_addf(&expected, "%s:3: ", at(w, "b.inc").p);
    assert_memory_equal(w->err.msg, expected.data, expected.len);
    assert_null(strstr(w->err.msg, "a.inc"));
}

static void a_syntax_error_stops_the_recipe(void **state)
{
    struct world *w = *state;

    put_file(w, "a.inc", "A = \"1\"\nthis is nothing\n");
    eval_wrong(w, "require a.inc\nB = \"1\"\n", "a.inc");
    assert_var(w->meta, "A", NULL);
    assert_var(w->meta, "B", NULL);
}

static void a_circle_of_includes_is_an_error(void **state)
{
    struct world *w = *state;

    put_file(w, "a.inc", "include b.inc\n");
    put_file(w, "b.inc", "include a.inc\n");
    eval_wrong(w, "require a.inc\n", "includes itself");
}

static void a_circle_that_a_class_breaks_is_none(void **state)
{
    struct world *w = *state;

    put_file(w, "a.inc", "A .= \"a\"\ninherit c\n");
    put_file(w, "classes/c.bbclass", "include a.inc\nA .= \"c\"\n");
    eval_text(w, "require a.inc\n");
    assert_var(w->meta, "A", "aac");
}

static void a_file_that_names_itself_is_passed_over(void **state)
{
    struct world *w = *state;
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};

    bz_buf_addf(&text, "include %s\nA = \"1\"\n", at(w, "test.bb").p);
    eval_text(w, bz_buf_text(&text));
    assert_var(w->meta, "A", "1");
}

static void count_lines(void *arg, enum bz_log_level level, const char *line, size_t n)
{
    (void)n;
    if (level == BZ_LOG_WARN && strstr(line, "has been included before"))
        ++*(size_t *)arg;
}

static void including_a_file_twice_is_warned_about(void **state)
{
    struct world *w = *state;
    struct bz_meta *config;
    size_t warnings = 0;
    struct bz_log_sink sink = {count_lines, &warnings};

    put_file(w, "a.inc", "A .= \"1\"\n");
    put_file(w, "b.inc", "");
    bz_meta_look(w->meta, at(w, "b.inc"));
    w->meta->complete = true; /* what the configuration has read does not count */
    config = w->meta;
    w->meta = bz_meta_copy(config);
    bz_log_set_sink(&sink);
    eval_text(w, "include a.inc b.inc\n");
    assert_int_equal(warnings, 0);
    put_file(w, "again.bb", "include a.inc\ninclude ${TOPDIR}/a.inc\n");
    assert_ok(eval(w, "again.bb"), &w->err);
    bz_log_set_sink(NULL);
    assert_int_equal(warnings, 2);
    assert_var(w->meta, "A", "111");
    bz_meta_free(w->meta);
    w->meta = config;
}

static void nesting_is_bounded(void **state)
{
    struct world *w = *state;

    for (int i = 0; i < 200; i++) {
        char name[32], text[64];

        snprintf(name, sizeof(name), "%d.inc", i);
        snprintf(text, sizeof(text), "include %d.inc\n", i + 1);
        put_file(w, name, text);
    }
    eval_wrong(w, "include 0.inc\n", "nested");
    assert_int_equal(w->err.code, BZ_E_LIMIT);
}

static void silent(void *arg, enum bz_log_level level, const char *line, size_t n)
{
    (void)arg, (void)level, (void)line, (void)n;
}

/* Each of them includes the next one twice. */
static void the_number_of_files_is_bounded(void **state)
{
    struct world *w = *state;
    struct bz_log_sink sink = {silent, NULL};

    for (int i = 0; i < 40; i++) {
        char name[32], text[64];

        snprintf(name, sizeof(name), "%d.inc", i);
        snprintf(text, sizeof(text), "include %d.inc %d.inc\n", i + 1, i + 1);
        put_file(w, name, text);
    }
    put_file(w, "40.inc", "");
    bz_log_set_sink(&sink);
    eval_wrong(w, "include 0.inc\n", "files are included");
    bz_log_set_sink(NULL);
    assert_int_equal(w->err.code, BZ_E_LIMIT);
}

static void classes_are_inherited_once(void **state)
{
    struct world *w = *state;

    put_file(w, "classes/a.bbclass", "A .= \"a\"\ninherit b\n");
    put_file(w, "classes/b.bbclass", "A .= \"b\"\ninherit a\n");
    eval_text(w, "C = \"b\"\ninherit a ${C}\ninherit a\n");
    assert_var(w->meta, "A", "ab");
    assert_var(w->meta, "__inherit_cache", " /a.bbclass /b.bbclass");
    assert_int_equal(w->meta->inherited.len, 2);
    assert_string_equal(w->meta->inherited.at[0].p, at(w, "classes/a.bbclass").p);
}

static void the_kind_of_class_decides_where_it_is_looked_for(void **state)
{
    struct world *w = *state;

    put_file(w, "classes-recipe/a.bbclass", "A = \"recipe\"\n");
    put_file(w, "classes-global/a.bbclass", "A = \"global\"\n");
    put_file(w, "classes/a.bbclass", "A = \"any\"\n");
    put_file(w, "classes/b.bbclass", "B = \"any\"\n");
    eval_text(w, "inherit a b\n");
    assert_var(w->meta, "A", "recipe");
    assert_var(w->meta, "B", "any");
    bz_meta_free(w->meta);
    w->meta = bz_meta_new();
    set_var(w->meta, "BBPATH", w->dir->path);
    w->meta->class_type = "global";
    assert_ok(eval(w, "test.bb"), &w->err);
    assert_var(w->meta, "A", "global");
}

static void a_missing_class_is_an_error(void **state)
{
    struct world *w = *state;

    eval_wrong(w, "inherit nothing\n",
               "wrong.bb:1: Could not inherit file classes/nothing.bbclass");
}

static void unset_takes_variables_and_flags_away(void **state)
{
    struct world *w = *state;

    eval_text(w,
              "OVERRIDES = \"o\"\nA = \"1\"\nA:o = \"2\"\nA:append = \"3\"\nunset A\n"
              "B = \"1\"\nB[ff] = \"f\"\nB[gg] = \"g\"\nunset B[ff]\n");
    assert_var(w->meta, "A", NULL);
    assert_var(w->meta, "A:o", "2");
    assert_var(w->meta, "B", "1");
    assert_flag(w->meta, "B", "ff", NULL);
    assert_flag(w->meta, "B", "gg", "g");
}

static void deferred_classes_wait(void **state)
{
    struct world *w = *state;

    put_file(w, "classes/a.bbclass", "A = \"1\"\n");
    put_file(w, "classes/late.bbclass", "L = \"1\"\n");
    eval_text(w, "BB_DEFER_BBCLASSES = \"late\"\n"
                 "inherit a late\ninherit_defer ${X} b\n");
    assert_var(w->meta, "A", "1");
    assert_var(w->meta, "L", NULL);
    assert_int_equal(w->meta->deferred.len, 2);
    assert_text("first", w->meta->deferred.at[0].classes, "late");
    assert_text("second", w->meta->deferred.at[1].classes, "${X} b");
    assert_int_equal(w->meta->deferred.at[1].line, 3);
}

static void tasks_handlers_and_flags_are_collected(void **state)
{
    struct world *w = *state;

    eval_text(w, "T = \"c\"\naddtask a b after x before y\naddtask c\ndeltask ${T}\n"
                 "addhandler h i\nexport E\nX = \"1\"\nX[ff] = \"2\"\nX[gg] = \"3\"\n"
                 "unset X[ff]\nY = \"1\"\nunset Y\n");
    assert_string_equal(joined(w, w->meta->tasks.order.at, w->meta->tasks.order.len),
                        "do_a do_b");
    assert_string_equal(joined(w, w->meta->handlers.at, w->meta->handlers.len), "h i");
    assert_flag(w->meta, "do_a", "task", "1");
    assert_flag(w->meta, "do_c", "task", NULL);
    assert_flag(w->meta, "h", "handler", "1");
    assert_flag(w->meta, "E", "export", "1");
    assert_flag(w->meta, "X", "ff", NULL);
    assert_flag(w->meta, "X", "gg", "3");
    assert_var(w->meta, "Y", NULL);
}

static void python_libraries_may_be_named_in_the_base_configuration_only(void **state)
{
    struct world *w = *state;
    struct bz_eval e = {.meta = w->meta, .library = w->library};

    put_file(w, "layer.conf", "D = \"/d\"\naddpylib ${D}/lib oe\nD = \"/e\"\n");
    assert_ok(bz_eval_file(&e, at(w, "layer.conf"), BZ_EVAL_BASE, &w->err), &w->err);
    assert_int_equal(w->meta->pylibs.len, 1);
    assert_text("dir", w->meta->pylibs.at[0].dir, "/d/lib");
    assert_text("name", w->meta->pylibs.at[0].name, "oe");
    assert_true(bz_eval_file(&e, at(w, "layer.conf"), BZ_EVAL_INCLUDE, &w->err) < 0);
}

static void every_path_looked_at_is_noted(void **state)
{
    struct world *w = *state;
    BZ_CLEANUP(bz_buf_release) struct bz_buf expected = {0};
    const char *dir = w->dir->path;

    put_file(w, "r/x.bb", "include a.inc\ninclude /no/b.inc\ninherit c\n");
    put_file(w, "a.inc", "");
    put_file(w, "classes/c.bbclass", "");
    assert_ok(eval(w, "r/x.bb"), &w->err);
    bz_buf_addf(&expected,
                "%s/r/x.bb %s/r/a.inc %s/a.inc /no/b.inc "
                "%s/classes-recipe/c.bbclass %s/classes/c.bbclass",
                dir, dir, dir, dir, dir);
    assert_string_equal(joined(w, w->meta->looked_at.at, w->meta->looked_at.len),
                        bz_buf_text(&expected));
}

static void a_missing_file_is_told_from_a_wrong_one(void **state)
{
    struct world *w = *state;
    struct bz_eval e = {.meta = w->meta, .library = w->library};

    assert_int_equal(bz_eval_file(&e, at(w, "no.bb"), BZ_EVAL_RECIPE, &w->err),
                     BZ_E_NOENT);
    assert_int_equal(bz_eval_file(&e, BZ_STR("no.conf"), BZ_EVAL_BASE, &w->err),
                     BZ_E_NOENT);
}

static void the_place_of_a_statement_is_its_last_line(void **state)
{
    struct bz_eval_frame frame = {.path = "/x.bb", .line = 7, .depth = 1};
    struct bz_eval e = {.top = &frame};
    struct bz_vars_at place = bz_eval_at(&e, "set");

    (void)state;
    assert_string_equal(place.file, "/x.bb");
    assert_int_equal(place.line, 7);
    assert_string_equal(place.op, "set");
    e.top = NULL;
    assert_non_null(bz_eval_at(&e, NULL).file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        world_test(includes_are_found_beside_the_file_and_along_bbpath),
        world_test(names_of_includes_are_expanded_and_may_be_none),
        world_test(a_missing_include_matters_only_if_required),
        world_test(what_is_no_metadata_cannot_be_included),
        world_test(a_name_that_stays_unexpanded_is_no_metadata),
        world_test(file_is_the_file_being_read),
        world_test(an_append_is_read_after_the_recipe),
        world_test(include_all_takes_one_of_each_directory),
        world_test(errors_name_the_innermost_place),
        world_test(a_syntax_error_stops_the_recipe),
        world_test(a_circle_of_includes_is_an_error),
        world_test(a_circle_that_a_class_breaks_is_none),
        world_test(a_file_that_names_itself_is_passed_over),
        world_test(including_a_file_twice_is_warned_about),
        world_test(nesting_is_bounded),
        world_test(the_number_of_files_is_bounded),
        world_test(classes_are_inherited_once),
        world_test(the_kind_of_class_decides_where_it_is_looked_for),
        world_test(a_missing_class_is_an_error),
        world_test(unset_takes_variables_and_flags_away),
        world_test(deferred_classes_wait),
        world_test(tasks_handlers_and_flags_are_collected),
        world_test(python_libraries_may_be_named_in_the_base_configuration_only),
        world_test(every_path_looked_at_is_noted),
        world_test(a_missing_file_is_told_from_a_wrong_one),
        cmocka_unit_test(the_place_of_a_statement_is_its_last_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
