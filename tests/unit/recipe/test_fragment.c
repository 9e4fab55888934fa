#include "recipe/fragment.h"

#include "tests/unit/recipe/files.h"

#define ADD "addfragments conf/fragments LIST MOVED BUILTIN\n"

/* Two layers with fragments, as a configuration that is being read. */
static void put_layers(struct world *w)
{
    static const struct file files[] = {
        {"core/conf/fragments/a.conf",     "SUMMARY = \"about a\"\nA = \"${FILE}\"\n"},
        {"core/conf/fragments/sub/b.conf", "B = \"1\"\n"                             },
        {"more/conf/fragments/a.conf",     "SUMMARY = \"other\"\nA = \"more\"\n"     },
    };

    put_files(w, files, BZ_COUNTOF(files));
    set_var(w->meta, "BBLAYERS", "${TOPDIR}/core ${TOPDIR}/more");
    set_var(w->meta, "BBFILE_COLLECTIONS", "core more");
    set_var(w->meta, "BBFILE_PATTERN_core", "^${TOPDIR}/core/");
    set_var(w->meta, "BBFILE_PATTERN_more", "^${TOPDIR}/more/");
    set_var(w->meta, "MOVED", "SUMMARY DESCRIPTION");
    set_var(w->meta, "BUILTIN", "machine:MACHINE colour:COLOUR");
}

static void fragments_come_from_the_layer_they_name(void **state)
{
    struct world *w = *state;

    put_layers(w);
    eval_text(w, "LIST = \"more/a core/sub/b\"\n" ADD);
    assert_var(w->meta, "A", "more");
    assert_var(w->meta, "B", "1");
}

static void certain_values_move_to_a_flag(void **state)
{
    struct world *w = *state;

    put_layers(w);
    eval_text(w, "LIST = \"core/a more/a\"\n" ADD);
    assert_var(w->meta, "SUMMARY", NULL);
    assert_flag(w->meta, "SUMMARY", "core/a", "about a");
    assert_flag(w->meta, "SUMMARY", "more/a", "other");
    assert_flag(w->meta, "DESCRIPTION", "core/a", NULL);
}

static void built_in_fragments_set_a_variable(void **state)
{
    struct world *w = *state;

    put_layers(w);
    eval_text(w, "MACHINE ?\?= \"weak\"\nOVERRIDES = \"o\"\nCOLOUR:o = \"blue\"\n"
                 "LIST = \"machine/qemu/x\"\n" ADD);
    assert_var(w->meta, "MACHINE", "qemu/x");
    assert_var(w->meta, "COLOUR", "blue");
}

static void a_built_in_fragment_does_not_replace_a_value(void **state)
{
    struct world *w = *state;

    put_layers(w);
    eval_wrong(w, "MACHINE = \"set\"\nLIST = \"machine/qemu\"\n" ADD, "machine/qemu");
    assert_var(w->meta, "MACHINE", "set");
}

static void fragments_that_are_not_there_are_errors(void **state)
{
    static const char *const lists[] = {"core/none", "nolayer/a", "core/sub"};
    struct world *w = *state;

    put_layers(w);
    for (size_t i = 0; i < BZ_COUNTOF(lists); i++) {
        char name[32], text[128];

        snprintf(name, sizeof(name), "%zu.bb", i);
        snprintf(text, sizeof(text), "LIST = \"%s\"\n" ADD, lists[i]);
        put_file(w, name, text);
        assert_int_equal(eval(w, name), BZ_E_INVAL);
        assert_non_null(strstr(w->err.msg, lists[i]));
    }
}

static void a_fragment_needs_a_layer(void **state)
{
    struct world *w = *state;

    put_layers(w);
    eval_wrong(w, "LIST = \"plain\"\n" ADD, "'plain'");
}

static void an_empty_list_and_skipping_do_nothing(void **state)
{
    struct world *w = *state;

    put_layers(w);
    eval_text(w, ADD);
    put_file(w, "skip.bb", "_BB_SKIP_FRAGMENTS = \"1\"\nLIST = \"core/a\"\n" ADD);
    assert_ok(eval(w, "skip.bb"), &w->err);
    assert_var(w->meta, "A", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        world_test(fragments_come_from_the_layer_they_name),
        world_test(certain_values_move_to_a_flag),
        world_test(built_in_fragments_set_a_variable),
        world_test(a_built_in_fragment_does_not_replace_a_value),
        world_test(fragments_that_are_not_there_are_errors),
        world_test(a_fragment_needs_a_layer),
        world_test(an_empty_list_and_skipping_do_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
