#include "recipe/layer.h"

#include "tests/unit/recipe/files.h"

/* Variables of collections a, b, c and what their priorities come to. */
struct variable {
    const char *name, *value;
};

static void set_vars(struct world *w, const struct variable *v, size_t n)
{
    set_var(w->meta, "BBFILE_COLLECTIONS", "a b c");
    set_var(w->meta, "BBFILE_PATTERN_a", "^/l/");
    set_var(w->meta, "BBFILE_PATTERN_b", "^/l/b/");
    set_var(w->meta, "BBFILE_PATTERN_c", "");
    for (size_t i = 0; i < n && v[i].name; i++)
        set_var(w->meta, v[i].name, v[i].value);
}

static void fresh(struct world *w)
{
    bz_meta_free(w->meta);
    w->meta = bz_meta_new();
}

static void priorities_are_given_or_follow_from_dependencies(void **state)
{
    static const struct {
        struct variable vars[6];
        int64_t priority[3];
    } cases[] = {
        {{{"BBFILE_PRIORITY_a", "5"},
          {"BBFILE_PRIORITY_b", "7"},
          {"BBFILE_PRIORITY_c", "-3"}},
         {5, 7, -3}                                                         },
        {{{"BBFILE_PRIORITY_a", "5"},
          {"LAYERDEPENDS_b", "a"},
          {"LAYERVERSION_b", "2"},
          {"LAYERDEPENDS_c", "b (>= 2) a"}},
         {5, 6, 7}                                                          },
        {{{"BBFILE_PRIORITY_c", " 5 "},
          {"LAYERDEPENDS_a", "b"},
          {"LAYERDEPENDS_b", "c"}},
         {7, 6, 5}                                                          },
        {{{NULL, NULL}},                                           {1, 1, 1}},
        {{{"BBFILE_PRIORITY_a", "9"}, {"BBFILE_PRIORITY_b", "4"}}, {9, 4, 5}},
        {{{"BBFILE_PRIORITY_a", "9"},
          {"BBFILE_PRIORITY_b", "4"},
          {"LAYERRECOMMENDS_c", "none a"}},
         {9, 4, 10}                                                         },
        {{{"BBFILE_PRIORITY_a", "9"},
          {"BBFILE_PRIORITY_b", "0"},
          {"LAYERDEPENDS_b", "a"}},
         {9, 10, 1}                                                         },
    };
    struct world *w = *state;

    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_layers l = {0};

        fresh(w);
        set_vars(w, cases[i].vars, 6);
        assert_ok(bz_layer_read(&l, w->meta, &w->err), &w->err);
        assert_int_equal(l.all.len, 3);
        for (size_t k = 0; k < 3; k++)
            assert_int_equal(l.all.at[k].priority, cases[i].priority[k]);
        bz_layer_release(&l);
    }
}

static void wrong_collections_are_errors(void **state)
{
    static const struct {
        struct variable var;
        const char *reason;
    } cases[] = {
        {{"BBFILE_COLLECTIONS", "a nopattern"}, "BBFILE_PATTERN_nopattern"},
        {{"BBFILE_PATTERN_b", "("},             "'('"                     },
        {{"BBFILE_PRIORITY_b", "high"},         "BBFILE_PRIORITY_b"       },
        {{"BBFILE_PRIORITY_b", "1x"},           "BBFILE_PRIORITY_b"       },
        {{"BBFILE_PRIORITY_b", "99999999999"},  "BBFILE_PRIORITY_b"       },
        {{"LAYERDEPENDS_b", "a missing"},       "'missing'"               },
        {{"LAYERDEPENDS_b", "b"},               "circle"                  },
        {{"BBFILE_COLLECTIONS", "a b a"},       "'a' twice"               },
    };
    struct world *w = *state;

    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_layers l = {0};

        fresh(w);
        set_vars(w, &cases[i].var, 1);
        assert_int_equal(bz_layer_read(&l, w->meta, &w->err), BZ_E_INVAL);
        assert_non_null(strstr(w->err.msg, cases[i].reason));
        bz_layer_release(&l);
    }
}

static void a_long_circle_is_found_too(void **state)
{
    static const struct variable vars[] = {
        {"LAYERDEPENDS_a", "b"},
        {"LAYERDEPENDS_b", "c"},
        {"LAYERDEPENDS_c", "a"},
    };
    struct world *w = *state;
    struct bz_layers l = {0};

    set_vars(w, vars, BZ_COUNTOF(vars));
    assert_int_equal(bz_layer_read(&l, w->meta, &w->err), BZ_E_INVAL);
    bz_layer_release(&l);
}

static void a_file_belongs_to_the_innermost_layer(void **state)
{
    static const struct {
        const char *path, *layer;
    } cases[] = {
        {"/l/x.bb",    "a" },
        {"/l/b/x.bb",  "b" },
        {"/l/bc/x.bb", "a" },
        {"/x/l/x.bb",  NULL},
        {"",           NULL},
    };
    struct world *w = *state;
    struct bz_layers l = {0};

    set_vars(w, NULL, 0);
    assert_ok(bz_layer_read(&l, w->meta, &w->err), &w->err);
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        const struct bz_layer *layer = bz_layer_of(&l, bz_str_from(cases[i].path));
        struct bz_str name = layer ? layer->name : (struct bz_str){0};
        bool owns = true;

        assert_text(cases[i].path, name, cases[i].layer);
        assert_ok(bz_layer_owns(w->meta, BZ_STR("a"), bz_str_from(cases[i].path), &owns,
                                &w->err),
                  &w->err);
        assert_int_equal(owns, layer && bz_str_eq(name, BZ_STR("a")));
    }
    bz_layer_release(&l);
}

static void the_version_of_a_layer_is_kept(void **state)
{
    static const struct variable vars[] = {
        {"LAYERVERSION_a", "3"}
    };
    struct world *w = *state;
    struct bz_layers l = {0};

    set_vars(w, vars, 1);
    assert_ok(bz_layer_read(&l, w->meta, &w->err), &w->err);
    assert_text("version", l.all.at[0].version, "3");
    assert_text("version", l.all.at[1].version, NULL);
    bz_layer_release(&l);
}

static void a_layer_lies_where_it_was_first_named(void **state)
{
    struct world *w = *state;
    struct bz_layers l = {0};
    struct bz_vars_at one = {.file = "/l/one/conf/layer.conf", .line = 3};
    struct bz_vars_at two = {.file = "/l/two/conf/layer.conf", .line = 3};
    struct bz_err *err = &w->err;
    struct bz_str var = BZ_STR("BBFILE_COLLECTIONS");

    set_vars(w, NULL, 0);
    assert_ok(bz_vars_set(w->meta->vars, var, BZ_STR("a"), 0, &one, err), err);
    set_var(w->meta, "C", "c");
    assert_ok(bz_vars_append(w->meta->vars, var, BZ_STR(" b ${C}"), &two, err), err);
    assert_ok(bz_layer_read(&l, w->meta, err), err);
    assert_text("dir", l.all.at[0].dir, "/l/one");
    assert_text("dir", l.all.at[1].dir, "/l/two");
    assert_text("dir", l.all.at[2].dir, "/l/two");
    bz_layer_release(&l);
}

static void no_collections_are_no_layers(void **state)
{
    struct world *w = *state;
    struct bz_layers l = {0};

    assert_ok(bz_layer_read(&l, w->meta, &w->err), &w->err);
    assert_int_equal(l.all.len, 0);
    assert_null(bz_layer_of(&l, BZ_STR("/x")));
    bz_layer_release(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        world_test(priorities_are_given_or_follow_from_dependencies),
        world_test(wrong_collections_are_errors),
        world_test(a_long_circle_is_found_too),
        world_test(a_file_belongs_to_the_innermost_layer),
        world_test(the_version_of_a_layer_is_kept),
        world_test(a_layer_lies_where_it_was_first_named),
        world_test(no_collections_are_no_layers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
