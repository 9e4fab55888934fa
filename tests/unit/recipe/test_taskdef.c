#include "recipe/taskdef.h"

#include "base/buf.h"
#include "tests/unit/bz_test.h"

struct fixture {
    struct bz_arena arena;
    struct bz_taskdefs tasks;
};

static int setup(void **state)
{
    static struct fixture f;

    f = (struct fixture){0};
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    bz_taskdef_release(&f->tasks);
    bz_arena_release(&f->arena);
    return 0;
}

static void add(struct fixture *f, const char *name, const char *before,
                const char *after)
{
    bz_taskdef_add(&f->tasks, &f->arena, bz_str_from(name), bz_str_from(before),
                   bz_str_from(after), NULL);
}

static void del(struct fixture *f, const char *name)
{
    bz_taskdef_delete(&f->tasks, &f->arena, bz_str_from(name));
}

/* "a<x,y b<": the listed tasks in order, with what each waits for. */
static void assert_tasks(const struct bz_taskdefs *t, const char *expected)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};

    for (size_t i = 0; i < t->order.len; i++) {
        const struct bz_taskdef *d = bz_taskdef_find(t, t->order.at[i]);

        assert_non_null(d);
        assert_true(d->listed);
        bz_buf_addf(&text, "%s%.*s<", i ? " " : "", BZ_STR_ARG(d->name));
        for (size_t k = 0; k < d->after.len; k++)
            bz_buf_addf(&text, "%s%.*s", k ? "," : "", BZ_STR_ARG(d->after.at[k]));
    }
    assert_string_equal(bz_buf_text(&text), expected);
}

static void names_get_the_prefix_they_lack(void **state)
{
    struct fixture *f = *state;

    add(f, "compile", "build do_image", "do_configure fetch");
    add(f, "do_build", "", "");
    add(f, "image", "", "");
    assert_tasks(&f->tasks, "do_compile<do_configure,do_fetch do_build<do_compile "
                            "do_image<do_compile");
}

static void a_task_is_listed_once_and_its_predecessors_add_up(void **state)
{
    struct fixture *f = *state;

    add(f, "a", "", "x");
    add(f, "b", "", "");
    add(f, "a", "", "y x");
    assert_tasks(&f->tasks, "do_a<do_x,do_y do_b<");
}

static void who_goes_before_comes_first_in_the_list(void **state)
{
    struct fixture *f = *state;

    add(f, "build", "", "install");
    add(f, "a", "build", "");
    add(f, "b", "build", "");
    add(f, "a", "build", "");
    assert_tasks(&f->tasks, "do_build<do_b,do_a,do_install do_a< do_b<");
}

static void being_named_does_not_list_a_task(void **state)
{
    struct fixture *f = *state;

    add(f, "a", "later", "earlier");
    assert_tasks(&f->tasks, "do_a<do_earlier");
    assert_false(bz_taskdef_find(&f->tasks, BZ_STR("do_later"))->listed);
    assert_null(bz_taskdef_find(&f->tasks, BZ_STR("do_earlier")));
    add(f, "later", "", "");
    assert_tasks(&f->tasks, "do_a<do_earlier do_later<do_a");
}

static void deleting_cuts_the_edges_through_a_task(void **state)
{
    struct fixture *f = *state;

    add(f, "a", "", "");
    add(f, "b", "", "a");
    add(f, "c", "", "b a");
    del(f, "b");
    assert_tasks(&f->tasks, "do_a< do_c<do_a");
    add(f, "b", "", "");
    assert_tasks(&f->tasks, "do_a< do_c<do_a do_b<");
}

/* BitBake goes through the listed tasks only. */
static void a_task_that_is_not_listed_remembers_a_deleted_one(void **state)
{
    struct fixture *f = *state;

    add(f, "a", "later", "");
    del(f, "do_a");
    assert_tasks(&f->tasks, "");
    add(f, "later", "", "");
    assert_tasks(&f->tasks, "do_later<do_a");
}

static void deleting_what_is_unknown_changes_nothing(void **state)
{
    struct fixture *f = *state;

    add(f, "a", "", "b");
    del(f, "nothing");
    assert_tasks(&f->tasks, "do_a<do_b");
}

static void a_copy_goes_its_own_way(void **state)
{
    struct fixture *f = *state;
    struct bz_taskdefs copy = {0};

    add(f, "a", "c", "b");
    bz_taskdef_copy(&copy, &f->tasks);
    add(f, "a", "", "d");
    bz_taskdef_add(&copy, &f->arena, BZ_STR("c"), BZ_STR(""), BZ_STR(""), NULL);
    assert_tasks(&f->tasks, "do_a<do_b,do_d");
    assert_tasks(&copy, "do_a<do_b do_c<do_a");
    bz_taskdef_release(&copy);
}

static void an_edge_has_the_place_of_the_statement_that_made_it_first(void **state)
{
    struct fixture *f = *state;
    const struct bz_taskdef_place one = {.file = "/1", .line = 1};
    const struct bz_taskdef_place two = {.file = "/2", .line = 2};
    const struct bz_taskdef *a, *c;

    bz_taskdef_add(&f->tasks, &f->arena, BZ_STR("a"), BZ_STR("c"), BZ_STR("b"), &one);
    bz_taskdef_add(&f->tasks, &f->arena, BZ_STR("a"), BZ_STR(""), BZ_STR("b d"), &two);
    a = bz_taskdef_find(&f->tasks, BZ_STR("do_a"));
    c = bz_taskdef_find(&f->tasks, BZ_STR("do_c"));
    assert_int_equal(bz_taskdef_place(a, BZ_STR("do_b"))->line, 1);
    assert_int_equal(bz_taskdef_place(a, BZ_STR("do_d"))->line, 2);
    assert_string_equal(bz_taskdef_place(c, BZ_STR("do_a"))->file, "/1");
    assert_null(bz_taskdef_place(c, BZ_STR("do_b")));
}

/* Changes do_T to do_x; do_bad has no name. */
static int final_name(void *ctx, struct bz_str *name, struct bz_err *err)
{
    (void)ctx;
    if (bz_str_eq(*name, BZ_STR("do_bad")))
        return bz_fail(err, BZ_E_INVAL, "bad");
    if (bz_str_eq(*name, BZ_STR("do_T")))
        *name = BZ_STR("do_x");
    return 0;
}

static void a_task_that_is_renamed_loses_its_predecessors(void **state)
{
    struct fixture *f = *state;
    struct bz_err err;

    add(f, "T", "", "a");
    add(f, "y", "T", "T x b");
    assert_ok(bz_taskdef_rename(&f->tasks, final_name, NULL, &err), &err);
    assert_tasks(&f->tasks, "do_x< do_y<do_x,do_b");
}

static void the_name_of_a_deleted_task_is_not_expanded(void **state)
{
    struct fixture *f = *state;
    struct bz_err err;

    add(f, "x", "", "");
    bz_taskdef_delete(&f->tasks, &f->arena, BZ_STR("bad"));
    add(f, "y", "z", "");
    add(f, "z", "", "bad");
    bz_taskdef_delete(&f->tasks, &f->arena, BZ_STR("z"));
    assert_ok(bz_taskdef_rename(&f->tasks, final_name, NULL, &err), &err);
    assert_tasks(&f->tasks, "do_x< do_y<");
    add(f, "x", "bad", "");
    assert_int_equal(bz_taskdef_rename(&f->tasks, final_name, NULL, &err), BZ_E_INVAL);
}

static void a_task_that_is_renamed_joins_the_one_of_that_name(void **state)
{
    struct fixture *f = *state;
    struct bz_err err;

    add(f, "T", "", "a");
    add(f, "z", "x", "");
    add(f, "x", "", "c");
    assert_ok(bz_taskdef_rename(&f->tasks, final_name, NULL, &err), &err);
    assert_tasks(&f->tasks, "do_x<do_z,do_c do_z<");
    add(f, "w", "", "bad");
    assert_int_equal(bz_taskdef_rename(&f->tasks, final_name, NULL, &err), BZ_E_INVAL);
}

#define tasks_test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        tasks_test(names_get_the_prefix_they_lack),
        tasks_test(a_task_is_listed_once_and_its_predecessors_add_up),
        tasks_test(who_goes_before_comes_first_in_the_list),
        tasks_test(being_named_does_not_list_a_task),
        tasks_test(deleting_cuts_the_edges_through_a_task),
        tasks_test(a_task_that_is_not_listed_remembers_a_deleted_one),
        tasks_test(deleting_what_is_unknown_changes_nothing),
        tasks_test(a_task_that_is_renamed_loses_its_predecessors),
        tasks_test(the_name_of_a_deleted_task_is_not_expanded),
        tasks_test(a_task_that_is_renamed_joins_the_one_of_that_name),
        tasks_test(a_copy_goes_its_own_way),
        tasks_test(an_edge_has_the_place_of_the_statement_that_made_it_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
