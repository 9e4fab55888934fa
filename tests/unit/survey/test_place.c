#include "survey/place.h"

#include <stdio.h>

#include "tests/unit/bz_test.h"

struct fixture {
    struct bz_meta *meta;
    struct bz_buf text;
    struct bz_facts_task task;
};

static int setup(void **state)
{
    struct fixture *f = test_calloc(1, sizeof(*f));

    f->meta = bz_meta_new();
    f->task.name = BZ_STR("do_t");
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    bz_meta_free(f->meta);
    bz_buf_release(&f->text);
    test_free(f);
    return 0;
}

static void flag(struct fixture *f, const char *name, const char *value,
                 const char *file, uint32_t line)
{
    struct bz_vars_at at = {.file = file, .line = line};
    struct bz_err err;

    assert_ok(bz_vars_append_flag(f->meta->vars, BZ_STR("do_t"), bz_str_from(name),
                                  bz_str_from(value), &at, &err),
              &err);
}

static void write_places(struct fixture *f)
{
    bz_place_write(f->meta, &f->task, &f->text);
    f->task.places = bz_str_from(bz_buf_text(&f->text));
}

static void expect(const struct fixture *f, enum bz_place_list list, size_t word,
                   const char *file, uint32_t line)
{
    struct bz_place p = bz_place_find(&f->task, list, word);

    assert_int_equal(p.line, line);
    assert_true(bz_str_eq(p.file, bz_str_from(file)));
}

static void every_edge_has_the_place_of_its_addtask(void **state)
{
    struct fixture *f = *state;
    struct bz_taskdef_place one = {.file = "/a.bb", .line = 3};
    struct bz_taskdef_place two = {.file = "/b c:d.inc", .line = 9};

    bz_taskdef_add(&f->meta->tasks, &f->meta->arena, BZ_STR("t"), BZ_STR(""),
                   BZ_STR("x y"), &one);
    bz_taskdef_add(&f->meta->tasks, &f->meta->arena, BZ_STR("z"), BZ_STR("t"),
                   BZ_STR(""), &two);
    f->task.after = BZ_STR("do_z do_x do_y do_python");
    write_places(f);
    assert_string_equal(bz_buf_text(&f->text), "/b c:d.inc:9\n/a.bb:3\n\n-");
    expect(f, BZ_PLACE_AFTER, 0, "/b c:d.inc", 9);
    expect(f, BZ_PLACE_AFTER, 1, "/a.bb", 3);
    expect(f, BZ_PLACE_AFTER, 2, "/a.bb", 3);
    expect(f, BZ_PLACE_AFTER, 3, "", 0);
    expect(f, BZ_PLACE_AFTER, 4, "", 0);
}

static void a_word_of_a_flag_has_the_place_of_its_statement(void **state)
{
    struct fixture *f = *state;

    flag(f, "depends", "a:do_x ", "/a.bb", 1);
    flag(f, "depends", "${B}:do_x ", "/a.bb", 2);
    flag(f, "depends", "c:do_x", "/c.inc", 3);
    flag(f, "deptask", "do_p", "/p", 4);
    f->task.depends = BZ_STR("a:do_x b:do_x c:do_x");
    f->task.deptask = BZ_STR("do_p");
    write_places(f);
    expect(f, BZ_PLACE_DEPENDS, 0, "/a.bb", 1);
    expect(f, BZ_PLACE_DEPENDS, 1, "/a.bb", 2);
    expect(f, BZ_PLACE_DEPENDS, 2, "/c.inc", 3);
    expect(f, BZ_PLACE_DEPTASK, 0, "/p", 4);
    expect(f, BZ_PLACE_MCDEPENDS, 0, "", 0);
}

static void nothing_is_written_if_no_place_is_known(void **state)
{
    struct fixture *f = *state;

    f->task.after = BZ_STR("do_x");
    f->task.depends = BZ_STR("a:do_x");
    write_places(f);
    assert_int_equal(f->text.len, 0);
    expect(f, BZ_PLACE_AFTER, 0, "", 0);
}

/* A list that grows by many statements does not cost words times statements. */
static void only_the_last_statements_are_searched(void **state)
{
    struct fixture *f = *state;
    BZ_CLEANUP(bz_buf_release) struct bz_buf words = {0};
    char one[32];

    for (uint32_t i = 0; i < 2000; i++) {
        (void)snprintf(one, sizeof(one), "r%u:do_x ", i);
        bz_buf_addf(&words, "%s", one);
        flag(f, "depends", one, "/a.bb", i + 1);
    }
    f->task.depends = bz_buf_str(&words);
    write_places(f);
    expect(f, BZ_PLACE_DEPENDS, 1999, "/a.bb", 2000);
    expect(f, BZ_PLACE_DEPENDS, 1990, "/a.bb", 1991);
    expect(f, BZ_PLACE_DEPENDS, 3, "/a.bb", 2000);
}

static void places_that_are_none_are_unknown(void **state)
{
    struct fixture *f = *state;
    static const char *const bad[] = {"x", "x:", ":y", "/a:99999999999"};

    f->task.after = BZ_STR("do_x");
    for (size_t i = 0; i < BZ_COUNTOF(bad); i++) {
        f->task.places = bz_str_from(bad[i]);
        expect(f, BZ_PLACE_AFTER, 0, "", 0);
    }
}

#define fixture_test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        fixture_test(every_edge_has_the_place_of_its_addtask),
        fixture_test(a_word_of_a_flag_has_the_place_of_its_statement),
        fixture_test(nothing_is_written_if_no_place_is_known),
        fixture_test(only_the_last_statements_are_searched),
        fixture_test(places_that_are_none_are_unknown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
