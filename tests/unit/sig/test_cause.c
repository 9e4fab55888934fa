#include "sig/cause.h"

#include "tests/unit/sig/causes.h"

#define CLASS(text) "op c:14 set " text "\n"

/* Two recipes with a flag from a class, the second with an append of its own, and a
 * task that waits for both. */
#define THREE(class, append)                                                           \
    "task a:x\nin F=" class "\n" CLASS(class) "task b:x\nin F=" class append           \
        "\n" CLASS(class) "op b.bb:3 :append " append                                  \
                          "\ntask z:x\nin x=z\ndep a:x\ndep "                          \
                          "b:x\n"

static const struct causes_case cases[] = {
    {THREE("1",      "2"), THREE("1",              "2"), ""},
 /* one edit is one cause, however many tasks have it */
    {THREE("1",            "2"),                THREE("9",                              "2"), "F c:14 *3"},
 /* an edit of the append is not the class's */
    {THREE("1",     "2"),THREE("1","9"), "F b.bb:3 *2"},
 /* the farthest-reaching first */
    {THREE("1",      "2"),  THREE("9",                          "8"), "F c:14 *3, F b.bb:3 *2"},
    {"task a:x\nfile f=1\ntask b:x\nfile f=1\n",
     "task a:x\nfile f=2\ntask b:x\nfile f=2\n",     "file f *2"                  },
};

static void differences_are_grouped_to_causes(void **state)
{
    (void)state;
    causes_check(cases, BZ_COUNTOF(cases));
}

static void tasks_are_counted(void **state)
{
    BZ_CLEANUP(bz_record_release) struct bz_record was = {0}, is = {0};
    BZ_CLEANUP(bz_cause_release) struct bz_causes c = {0};
    struct bz_err err;

    (void)state;
    records_make(&was, "task gone:x\ntask a:x\nin F=1\ntask b:x\ndep a:x\ntask d:x\n");
    records_make(&is, "task a:x\nin F=2\ntask b:x\ndep a:x\ntask d:x\ntask new:x\n");
    assert_ok(bz_cause_find(&c, &was, &is, &err), &err);
    assert_int_equal(c.changed, 2);
    assert_int_equal(c.upstream, 1);
    assert_int_equal(c.fresh.len, 1);
    assert_int_equal(c.fresh.at[0], 3);
    assert_int_equal(c.gone.len, 1);
    assert_int_equal(c.gone.at[0], 3);
    assert_int_equal(c.all.at[0].direct, 1);
    assert_true(bz_str_eq(c.all.at[0].task, BZ_STR("a:x")));
    assert_true(bz_str_eq(c.all.at[0].was, BZ_STR("1")));
    assert_true(bz_str_eq(c.all.at[0].is, BZ_STR("2")));
}

/* More causes than fit in one word of bits. */
static void many_causes_are_each_counted(void **state)
{
    BZ_CLEANUP(bz_record_release) struct bz_record was = {0}, is = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf a = {0}, b = {0};
    BZ_CLEANUP(bz_cause_release) struct bz_causes c = {0};
    struct bz_err err;

    (void)state;
    for (int i = 0; i < 150; i++) {
        bz_buf_addf(&a, "task t%03d:x\nin F=1\nop f%d:1 set 1\n", i, i);
        bz_buf_addf(&b, "task t%03d:x\nin F=2\nop f%d:1 set 2\n", i, i);
        if (i > 0) {
            bz_buf_addf(&a, "dep t%03d:x\n", i - 1);
            bz_buf_addf(&b, "dep t%03d:x\n", i - 1);
        }
    }
    records_make(&was, bz_buf_text(&a));
    records_make(&is, bz_buf_text(&b));
    assert_ok(bz_cause_find(&c, &was, &is, &err), &err);
    assert_int_equal(c.all.len, 150);
    for (size_t i = 0; i < c.all.len; i++)
        assert_int_equal(c.all.at[i].reaches, 150 - i);
}

static void tasks_that_wait_for_each_other_are_refused(void **state)
{
    BZ_CLEANUP(bz_record_release) struct bz_record was = {0};
    BZ_CLEANUP(bz_cause_release) struct bz_causes c = {0};
    struct bz_record_dep dep = {.task = BZ_STR("a:x")};
    struct bz_record_task task = {.name = BZ_STR("a:x"), .deps = &dep, .ndeps = 1};
    struct bz_err err;

    (void)state;
    bz_record_add(&was, &task);
    assert_int_equal(bz_cause_find(&c, &was, &was, &err), BZ_E_INVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences_are_grouped_to_causes),
        cmocka_unit_test(tasks_are_counted),
        cmocka_unit_test(many_causes_are_each_counted),
        cmocka_unit_test(tasks_that_wait_for_each_other_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
