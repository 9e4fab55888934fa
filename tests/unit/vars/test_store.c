#include "tests/unit/vars/script.h"

#include "vars/store.h"

static void a_cell_stays_where_it_is(void **state)
{
    struct bz_vars *v = bz_vars_new(NULL);
    struct bz_store_cell *c = bz_store_cell(v, BZ_STR("X"));
    char name[32];

    (void)state;
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof(name), "N%d", i);
        assert_true(
            bz_str_eq(bz_store_cell(v, bz_str_from(name))->name, bz_str_from(name)));
    }
    assert_ptr_equal(bz_store_cell(v, BZ_STR("X")), c);
    assert_null(c->own);
    assert_null(bz_store_find(v, c->name, c->hash));
    bz_vars_free(v);
}

static void names_with_the_same_hash_are_told_apart(void **state)
{
    struct bz_vars *v = bz_vars_new(NULL), *copy;
    struct bz_store_cell *a = bz_store_cell(v, BZ_STR("A"));
    struct bz_store_cell *b = bz_store_cell(v, BZ_STR("B"));
    struct bz_store_node *own_a, *own_b;

    (void)state;
    b->hash = a->hash;
    own_a = bz_store_own(v, a);
    own_b = bz_store_own(v, b);
    assert_ptr_not_equal(own_a, own_b);
    assert_ptr_equal(bz_store_find(v, BZ_STR("A"), a->hash), own_a);
    assert_ptr_equal(bz_store_find(v, BZ_STR("B"), a->hash), own_b);
    assert_null(bz_store_find(v, BZ_STR("C"), a->hash));
    copy = bz_vars_new(v);
    assert_null(bz_store_cell(copy, BZ_STR("A"))->own);
    bz_vars_free(copy);
    bz_vars_free(v);
}

static void writing_copies_what_the_parent_has(void **state)
{
    struct bz_vars *v = bz_vars_new(NULL), *copy;
    struct bz_store_cell *c = bz_store_cell(v, BZ_STR("X")), *seen;
    struct bz_store_var *var = bz_store_write(v, c);

    (void)state;
    var->content = BZ_STR("1");
    var->has_content = true;
    copy = bz_vars_new(v);
    seen = bz_store_cell(copy, BZ_STR("X"));
    assert_ptr_equal(seen->var, var);
    bz_store_write(copy, seen)->content = BZ_STR("2");
    assert_true(bz_str_eq(var->content, BZ_STR("1")));
    assert_true(bz_str_eq(seen->var->content, BZ_STR("2")));
    bz_store_unshadow(copy, seen);
    assert_ptr_equal(seen->var, var);
    bz_vars_free(copy);
    bz_vars_free(v);
}

static void every_write_begins_a_new_generation(void **state)
{
    struct bz_vars *v = bz_vars_new(NULL);
    struct bz_store_cell *c = bz_store_cell(v, BZ_STR("X"));
    uint64_t gen = v->gen;

    (void)state;
    bz_store_write(v, c);
    assert_true(v->gen > gen);
    gen = v->gen;
    bz_store_write(v, c);
    assert_true(v->gen > gen);
    gen = v->gen;
    bz_store_unshadow(v, c);
    assert_true(v->gen > gen);
    assert_true(bz_store_empty(c->var));
    bz_vars_free(v);
}

static void equal_text_is_kept_once(void **state)
{
    struct bz_vars *v = bz_vars_new(NULL);
    struct bz_str a = bz_store_keep(v, BZ_STR("text"), (struct bz_str){0});

    (void)state;
    assert_ptr_equal(bz_store_keep(v, BZ_STR("text"), a).p, a.p);
    assert_ptr_not_equal(bz_store_keep(v, BZ_STR("other"), a).p, a.p);
    assert_null(bz_store_keep(v, (struct bz_str){0}, a).p);
    assert_non_null(bz_store_keep(v, BZ_STR(""), (struct bz_str){0}).p);
    bz_vars_free(v);
}

static void buffers_are_used_again_unless_they_are_large(void **state)
{
    struct bz_vars *v = bz_vars_new(NULL);
    struct bz_err err = {0};
    struct bz_buf b = bz_store_take(v);
    const char *data;

    (void)state;
    assert_int_equal(b.limit, BZ_STORE_TEXT_MAX);
    assert_ok(bz_buf_try_add(&b, "x", 1, &err), &err);
    data = b.data;
    bz_store_give(v, &b);
    b = bz_store_take(v);
    assert_ptr_equal(b.data, data);
    assert_int_equal(b.len, 0);
    for (int i = 0; i < 200000; i++)
        assert_ok(bz_buf_try_add_char(&b, 'x', &err), &err);
    bz_store_give(v, &b);
    b = bz_store_take(v);
    assert_null(b.data);
    assert_int_equal(b.limit, BZ_STORE_TEXT_MAX);
    bz_store_give(v, &b);
    bz_vars_free(v);
}

static void names_with_a_reference_are_listed(void **state)
{
    struct bz_vars *v = bz_vars_new(NULL);

    (void)state;
    bz_store_own(v, bz_store_cell(v, BZ_STR("X")));
    bz_store_own(v, bz_store_cell(v, BZ_STR("X_${P}")));
    bz_store_own(v, bz_store_cell(v, BZ_STR("X_${P}")));
    assert_int_equal(v->dynamic.len, 1);
    assert_true(bz_str_eq(v->dynamic.at[0], BZ_STR("X_${P}")));
    bz_vars_free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cell_stays_where_it_is),
        cmocka_unit_test(names_with_the_same_hash_are_told_apart),
        cmocka_unit_test(writing_copies_what_the_parent_has),
        cmocka_unit_test(every_write_begins_a_new_generation),
        cmocka_unit_test(equal_text_is_kept_once),
        cmocka_unit_test(buffers_are_used_again_unless_they_are_large),
        cmocka_unit_test(names_with_a_reference_are_listed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
