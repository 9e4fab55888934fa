#include "recipe/meta.h"

#include "tests/unit/recipe/files.h"

static void a_new_one_is_empty_and_of_recipe_class(void **state)
{
    BZ_CLEANUP(bz_meta_freep) struct bz_meta *m = bz_meta_new();

    (void)state;
    assert_string_equal(m->class_type, "recipe");
    assert_null(m->skipped.p);
    assert_int_equal(m->looked_at.len, 0);
    assert_var(m, "ANYTHING", NULL);
}

static void a_path_is_noted_once_in_order(void **state)
{
    BZ_CLEANUP(bz_meta_freep) struct bz_meta *m = bz_meta_new();
    char path[] = "/b";

    (void)state;
    assert_false(bz_meta_looked(m, BZ_STR("/b")));
    assert_true(bz_meta_look(m, bz_str_from(path)));
    path[1] = 'x'; /* its text was copied */
    assert_true(bz_meta_look(m, BZ_STR("/a")));
    assert_false(bz_meta_look(m, BZ_STR("/b")));
    assert_true(bz_meta_looked(m, BZ_STR("/b")));
    assert_false(bz_meta_looked(m, BZ_STR("/x")));
    assert_int_equal(m->looked_at.len, 2);
    assert_true(bz_str_eq(m->looked_at.at[0], BZ_STR("/b")));
    assert_true(bz_str_eq(m->looked_at.at[1], BZ_STR("/a")));
}

static void what_the_configuration_looked_at_is_told_apart(void **state)
{
    BZ_CLEANUP(bz_meta_freep) struct bz_meta *config = bz_meta_new();
    BZ_CLEANUP(bz_meta_freep) struct bz_meta *recipe = NULL;
    BZ_CLEANUP(bz_meta_freep) struct bz_meta *variant = NULL;

    (void)state;
    bz_meta_look(config, BZ_STR("/conf"));
    config->complete = true;
    recipe = bz_meta_copy(config);
    bz_meta_look(recipe, BZ_STR("/bb"));
    assert_ptr_equal(recipe->config, config);
    assert_false(recipe->complete);
    assert_false(bz_meta_looked(recipe, BZ_STR("/conf")));
    assert_true(bz_meta_look(recipe, BZ_STR("/conf"))); /* a recipe's own look */
    variant = bz_meta_copy(recipe);
    assert_ptr_equal(variant->config, config);
    assert_true(bz_meta_looked(variant, BZ_STR("/bb")));
    assert_true(bz_meta_looked(variant, BZ_STR("/conf")));
    assert_int_equal(config->looked_at.len, 1);
}

static void a_copy_has_all_and_leaves_the_original_alone(void **state)
{
    BZ_CLEANUP(bz_meta_freep) struct bz_meta *m = bz_meta_new();
    struct bz_meta *copy;

    (void)state;
    set_var(m, "A", "1");
    m->class_type = "global";
    m->skipped = BZ_STR("why");
    BZ_VEC_PUSH(&m->inherited, BZ_STR("/c.bbclass"));
    BZ_VEC_PUSH(&m->handlers, BZ_STR("h"));
    BZ_VEC_PUSH(&m->anonymous, BZ_STR("a"));
    BZ_VEC_PUSH(&m->pylibs, (struct bz_meta_pylib){BZ_STR("/lib"), BZ_STR("oe")});
    BZ_VEC_PUSH(&m->deferred, (struct bz_meta_deferred){BZ_STR("d"), "f", 3});
    bz_taskdef_add(&m->tasks, &m->arena, BZ_STR("t"), BZ_STR(""), BZ_STR(""), NULL);
    bz_meta_look(m, BZ_STR("/p"));

    copy = bz_meta_copy(m);
    assert_var(copy, "A", "1");
    assert_string_equal(copy->class_type, "global");
    assert_true(bz_str_eq(copy->skipped, BZ_STR("why")));
    assert_true(bz_meta_has(&copy->inherited, BZ_STR("/c.bbclass")));
    assert_true(bz_meta_has(&copy->handlers, BZ_STR("h")));
    assert_true(bz_meta_has(&copy->anonymous, BZ_STR("a")));
    assert_int_equal(copy->pylibs.len, 1);
    assert_text("name", copy->pylibs.at[0].name, "oe");
    assert_int_equal(copy->deferred.len, 1);
    assert_int_equal(copy->deferred.at[0].line, 3);
    assert_int_equal(copy->tasks.order.len, 1);
    assert_true(bz_meta_looked(copy, BZ_STR("/p")));

    set_var(copy, "A", "2");
    BZ_VEC_PUSH(&copy->inherited, BZ_STR("/d.bbclass"));
    bz_meta_look(copy, BZ_STR("/q"));
    bz_taskdef_delete(&copy->tasks, &copy->arena, BZ_STR("t"));
    bz_meta_free(copy);
    assert_var(m, "A", "1");
    assert_false(bz_meta_has(&m->inherited, BZ_STR("/d.bbclass")));
    assert_false(bz_meta_looked(m, BZ_STR("/q")));
    assert_int_equal(m->tasks.order.len, 1);
}

static void nothing_may_be_freed(void **state)
{
    (void)state;
    bz_meta_free(NULL);
}

static void a_value_that_is_set_drops_operations_and_reads_expanded(void **state)
{
    struct bz_meta *m = bz_meta_new();
    struct bz_str out;
    struct bz_err err;

    (void)state;
    assert_ok(bz_meta_set(m, "A:append", BZ_STR(" more"), &err), &err);
    assert_ok(bz_meta_set(m, "A", BZ_STR("${B}"), &err), &err);
    assert_ok(bz_meta_set(m, "B", BZ_STR("b"), &err), &err);
    assert_ok(bz_meta_get(m, "A", &out, &err), &err);
    assert_true(bz_str_eq(out, BZ_STR("b")));
    bz_meta_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_that_is_set_drops_operations_and_reads_expanded),
        cmocka_unit_test(a_new_one_is_empty_and_of_recipe_class),
        cmocka_unit_test(a_path_is_noted_once_in_order),
        cmocka_unit_test(what_the_configuration_looked_at_is_told_apart),
        cmocka_unit_test(a_copy_has_all_and_leaves_the_original_alone),
        cmocka_unit_test(nothing_may_be_freed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
