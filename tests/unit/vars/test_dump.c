#include "vars/dump.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/vec.h"
#include "tests/unit/bz_test.h"

static const struct bz_vars_at nowhere;

struct records {
    struct bz_arena arena;
    struct BZ_VEC(struct bz_str) all;
    struct bz_buf names;
};

static void note(void *ctx, struct bz_str name, struct bz_str record)
{
    struct records *r = ctx;

    BZ_VEC_PUSH(&r->all, bz_arena_dup(&r->arena, record));
    bz_buf_addf(&r->names, "%.*s ", BZ_STR_ARG(name));
}

static void release(struct records *r)
{
    bz_vec_release(&r->all);
    bz_buf_release(&r->names);
    bz_arena_release(&r->arena);
}

static void set(struct bz_vars *v, const char *name, const char *value)
{
    struct bz_err err;

    assert_ok(bz_vars_set(v, bz_str_from(name), bz_str_from(value), BZ_VARS_SET_PARSING,
                          &nowhere, &err),
              &err);
}

static void set_flag(struct bz_vars *v, const char *name, const char *flag,
                     const char *value)
{
    struct bz_err err;

    assert_ok(bz_vars_set_flag(v, bz_str_from(name), bz_str_from(flag),
                               bz_str_from(value), &nowhere, &err),
              &err);
}

static struct bz_vars *sample(void)
{
    struct bz_vars *v = bz_vars_new(NULL);

    set(v, "OVERRIDES", "board:${MORE}");
    set(v, "MORE", "pn-x");
    set(v, "X", "base");
    set(v, "X:board", "on board");
    set(v, "X:pn-x:append", " end");
    set(v, "X:append", " a");
    set(v, "X:append:board", " b");
    set(v, "X:prepend:other", "never ");
    set(v, "Y", "p q r");
    set(v, "Y:remove", "q");
    set_flag(v, "Y", "doc", "about ${X}");
    set_flag(v, "Y", "export", "1");
    set_flag(v, "W", "_defaultval", "weak");
    set(v, "F", "f");
    bz_vars_set_filter(v, BZ_STR("F"), BZ_STR("suffix(val, '!')"));
    return v;
}

static void assert_value(struct bz_vars *v, const char *name, const char *expected)
{
    struct bz_str got;
    struct bz_err err;

    assert_ok(bz_vars_get(v, bz_str_from(name), 0, &got, &err), &err);
    if (!got.p || !bz_str_eq(got, bz_str_from(expected)))
        fail_msg("%s is '%.*s', expected '%s'", name, BZ_STR_ARG(got), expected);
}

static void what_is_restored_has_the_same_values(void **state)
{
    static const char *const names[] = {"OVERRIDES", "X", "X:board", "Y", "W", "F"};
    BZ_CLEANUP(bz_vars_freep) struct bz_vars *v = sample();
    BZ_CLEANUP(bz_vars_freep) struct bz_vars *copy = bz_vars_new(NULL);
    struct records r = {0}, again = {0};
    struct bz_str value;
    struct bz_err err;

    (void)state;
    bz_dump_each(v, note, &r);
    for (size_t i = 0; i < r.all.len; i++)
        assert_ok(bz_dump_restore(copy, r.all.at[i], &err), &err);
    for (size_t i = 0; i < BZ_COUNTOF(names); i++) {
        assert_ok(bz_vars_get(v, bz_str_from(names[i]), 0, &value, &err), &err);
        assert_non_null(value.p);
        assert_value(copy, names[i], bz_arena_dup(&r.arena, value).p);
    }
    assert_value(copy, "X", " end a b");
    assert_ok(bz_vars_get_flag(copy, BZ_STR("Y"), BZ_STR("doc"), 0, &value, &err),
              &err);
    assert_true(bz_str_eq(value, BZ_STR("about  end a b")));
    bz_dump_each(copy, note, &again);
    assert_int_equal(r.all.len, again.all.len);
    for (size_t i = 0; i < r.all.len; i++)
        assert_true(bz_str_eq(r.all.at[i], again.all.at[i]));
    release(&r);
    release(&again);
}

static void records_come_by_name(void **state)
{
    BZ_CLEANUP(bz_vars_freep) struct bz_vars *v = bz_vars_new(NULL);
    struct records r = {0};

    (void)state;
    set(v, "B", "1");
    set(v, "A", "1");
    set(v, "A:o", "2");
    bz_dump_each(v, note, &r);
    assert_string_equal(bz_buf_text(&r.names), "A A:o B ");
    release(&r);
}

static void any_difference_shows(void **state)
{
    static const char *const changes[][2] = {
        {"X",          "x"},
        {"X:append",   " "},
        {"X:remove:o", "1"},
        {"X:o",        "2"},
    };
    struct records before = {0};
    BZ_CLEANUP(bz_vars_freep) struct bz_vars *v = sample();

    (void)state;
    bz_dump_each(v, note, &before);
    for (size_t i = 0; i < BZ_COUNTOF(changes) + 1; i++) {
        BZ_CLEANUP(bz_vars_freep) struct bz_vars *other = sample();
        struct records after = {0};
        bool same = true;

        if (i < BZ_COUNTOF(changes))
            set(other, changes[i][0], changes[i][1]);
        else
            set_flag(other, "X", "doc", "");
        bz_dump_each(other, note, &after);
        same = before.all.len == after.all.len;
        for (size_t k = 0; same && k < before.all.len; k++)
            same = bz_str_eq(before.all.at[k], after.all.at[k]);
        assert_false(same);
        release(&after);
    }
    release(&before);
}

static void what_is_no_record_is_refused(void **state)
{
    BZ_CLEANUP(bz_vars_freep) struct bz_vars *v = sample();
    struct records r = {0};
    struct bz_err err;

    (void)state;
    bz_dump_each(v, note, &r);
    for (size_t i = 0; i < r.all.len; i++) {
        for (size_t n = 0; n < r.all.at[i].n; n++) {
            BZ_CLEANUP(bz_vars_freep) struct bz_vars *other = bz_vars_new(NULL);

            assert_int_equal(
                bz_dump_restore(other, bz_str_sub(r.all.at[i], 0, n), &err),
                BZ_E_CORRUPT);
        }
    }
    assert_int_equal(bz_dump_restore(v, BZ_STR("x"), &err), BZ_E_CORRUPT);
    release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_restored_has_the_same_values),
        cmocka_unit_test(records_come_by_name),
        cmocka_unit_test(any_difference_shows),
        cmocka_unit_test(what_is_no_record_is_refused),
    };

    return cmocka_run_group_tests_name("vars/dump", tests, NULL, NULL);
}
