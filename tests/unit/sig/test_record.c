#include "sig/record.h"

#include <stdlib.h>

#include "tests/unit/sig/records.h"

static const char *const two = "task b:do_x\n"
                               "machine board\n"
                               "in do_x=make ${F}\\n\n"
                               "op meta/classes/base.bbclass:3 set make ${F}\n"
                               "in F=-O2\n"
                               "op meta/conf/b.conf:1 set? -O1\n"
                               "op -conf/local.conf:7 :append[arm] -g\n"
                               "file files/x.patch=abc\n"
                               "file files/gone\n"
                               "task a:do_x\n"
                               "in F=-O2\n"
                               "op meta/conf/b.conf:1 set? -O1\n"
                               "op -conf/local.conf:7 :append[arm] -g\n"
                               "ctx OVERRIDES=${M}:all\n"
                               "op meta/conf/b.conf:9 set ${M}:all\n"
                               "use M\n"
                               "dep b:do_x\n";

static void a_file_is_a_line_for_each_task_by_name(void **state)
{
    BZ_CLEANUP(bz_record_release) struct bz_record r = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};
    struct bz_str rest, line;

    (void)state;
    records_make(&r, two);
    bz_record_write(&r, &out);
    rest = bz_buf_str(&out);
    assert_true(bz_str_cut(rest, '\n', &line, &rest));
    assert_true(bz_str_eq(
        line, BZ_STR("{\"format\":\"bitzel record\",\"version\":2,\"tasks\":2}")));
    assert_true(bz_str_cut(rest, '\n', &line, &rest));
    assert_true(bz_str_starts(line, BZ_STR("{\"v\":2,\"task\":\"a:do_x\",\"key\":\"")));
    assert_true(bz_str_cut(rest, '\n', &line, &rest));
    assert_true(bz_str_starts(line, BZ_STR("{\"v\":2,\"task\":\"b:do_x\",\"key\":\"")));
    assert_int_equal(rest.n, 0);
}

static void a_packed_file_has_what_tasks_share_once(void **state)
{
    BZ_CLEANUP(bz_record_release) struct bz_record r = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};
    struct bz_str rest, line;

    (void)state;
    records_make(&r, two);
    bz_record_pack(&r, 0, r.tasks.len, &out);
    rest = bz_buf_str(&out);
    assert_true(bz_str_cut(rest, '\n', &line, &rest));
    assert_true(bz_str_eq(line, BZ_STR("{\"format\":\"bitzel record\",\"version\":2,"
                                       "\"inputs\":6,\"tasks\":2}")));
    assert_true(bz_str_cut(rest, '\n', &line, &rest));
    assert_true(bz_str_starts(line, BZ_STR("{\"name\":\"function F\"")));
    assert_true(bz_str_find(rest, BZ_STR("\"fields\":[0],\"inputs\":[1],"
                                         "\"context\":[2]")) < rest.n);
    assert_true(bz_str_find(rest, BZ_STR("\"fields\":[3,0,4],\"inputs\":[5,1],"
                                         "\"context\":[]")) < rest.n);
}

static void a_line_says_all_there_is(void **state)
{
    static const char *const parts[] = {
        "\"machine\":\"board\",\"distro\":null,\"policy\":null",
        "\"name\":\"do_x\"",
        "\"value\":\"make ${F}\\n\"",
        "{\"at\":\"meta/conf/b.conf:1\",\"op\":\"set?\",\"text\":\"",
        "{\"at\":\"conf/local.conf:7\",\"op\":\":append\",\"flag\":\"arm\"",
        "\"off\":true}",
        "{\"name\":\"files/x.patch\",\"digest\":\"ba7816bf",
        "{\"name\":\"files/gone\",\"digest\":null}",
        "\"deps\":[]}",
    };
    BZ_CLEANUP(bz_record_release) struct bz_record r = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};
    struct bz_str rest, lines[3];

    (void)state;
    records_make(&r, two);
    bz_record_write(&r, &out);
    rest = bz_buf_str(&out);
    for (int i = 0; i < 3; i++) /* a head and two tasks */
        assert_true(bz_str_next_part(&rest, '\n', &lines[i]));
    for (size_t i = 0; i < BZ_COUNTOF(parts); i++)
        if (bz_str_find(lines[2], bz_str_from(parts[i])) == BZ_STR_NONE)
            fail_msg("%s is not in %.*s", parts[i], BZ_STR_ARG(lines[2]));
    assert_true(bz_str_find(lines[1], BZ_STR("\"uses\":[\"M\"]")) < lines[1].n);
    assert_true(
        bz_str_find(lines[1], BZ_STR("\"deps\":[{\"task\":\"b:do_x\",\"key\":\"")) <
        lines[1].n);
}

static void an_input_of_two_tasks_is_kept_once(void **state)
{
    BZ_CLEANUP(bz_record_release) struct bz_record r = {0};

    (void)state;
    records_make(&r, two);
    assert_ptr_equal(r.tasks.at[0].inputs[0], r.tasks.at[1].inputs[1]);
    assert_ptr_not_equal(r.tasks.at[0].inputs[0], r.tasks.at[1].inputs[0]);
}

/* Each differs from the first in one thing, and none of them in its digest: that of a
 * file that was read need not be right. */
static void inputs_that_differ_in_anything_are_kept_apart(void **state)
{
    static const struct bz_str names[] = {BZ_STR("A"), BZ_STR("B")};
    static const struct bz_record_op one = {
        .file = BZ_STR("f"), .line = 1, .op = BZ_STR("set"), .text = 7};
    struct bz_record_op ops[6] = {one, one, one, one, one, one};
    const struct bz_record_input plain = {.name = BZ_STR("N"),
                                          .value = BZ_STR("v"),
                                          .ops = &one,
                                          .nops = 1,
                                          .uses = names,
                                          .nuses = 1,
                                          .leads = names,
                                          .nleads = 1};
    struct bz_record_input all[14];
    const struct bz_record_input *kept[BZ_COUNTOF(all)];
    BZ_CLEANUP(bz_record_release) struct bz_record r = {0};

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(all); i++)
        all[i] = plain;
    ops[0].file = BZ_STR("g");
    ops[1].line = 2;
    ops[2].op = BZ_STR("add");
    ops[3].flag = BZ_STR("x");
    ops[4].text = 8;
    ops[5].off = true;
    for (size_t i = 0; i < BZ_COUNTOF(ops); i++)
        all[1 + i].ops = &ops[i];
    all[7].name = BZ_STR("M");
    all[8].value = BZ_STR("w");
    all[9].value = (struct bz_str){0};
    all[10].value = BZ_STR("");
    all[11].uses = names + 1;
    all[12].leads = names + 1;
    all[13].size = 100000;
    for (size_t i = 0; i < BZ_COUNTOF(all); i++) {
        kept[i] = bz_record_input(&r, &all[i]);
        for (size_t k = 0; k < i; k++)
            assert_ptr_not_equal(kept[i], kept[k]);
    }
    for (size_t i = 0; i < BZ_COUNTOF(all); i++)
        assert_ptr_equal(bz_record_input(&r, &all[i]), kept[i]);
}

static void tasks_are_found_by_name(void **state)
{
    BZ_CLEANUP(bz_record_release) struct bz_record r = {0};

    (void)state;
    records_make(&r, two);
    assert_ptr_equal(bz_record_find(&r, BZ_STR("a:do_x")), &r.tasks.at[0]);
    assert_ptr_equal(bz_record_find(&r, BZ_STR("b:do_x")), &r.tasks.at[1]);
    assert_null(bz_record_find(&r, BZ_STR("b:do_y")));
    assert_null(bz_record_find(&r, BZ_STR("")));
}

static void a_long_value_is_cut_between_characters(void **state)
{
    BZ_CLEANUP(bz_record_release) struct bz_record r = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_record_input in = {.name = BZ_STR("LONG")};
    const struct bz_record_input *kept;

    (void)state;
    bz_buf_add_char(&text, 'x'); /* so that the limit is within a character */
    while (text.len < 2 * BZ_RECORD_VALUE_MAX)
        bz_buf_add_str(&text, BZ_STR("\xc3\xa4"));
    in.value = bz_buf_str(&text);
    kept = bz_record_input(&r, &in);
    assert_int_equal(kept->size, text.len);
    assert_int_equal(kept->value.n, BZ_RECORD_VALUE_MAX - 1);
    assert_ptr_equal(bz_record_input(&r, kept), kept);
}

static void bytes_that_json_cannot_hold_are_replaced(void **state)
{
    BZ_CLEANUP(bz_record_release) struct bz_record r = {0};
    struct bz_record_input in = {.name = BZ_STR("N"), .value = BZ_STR("a\xff\0b")};
    const struct bz_record_input *kept = bz_record_input(&r, &in);

    (void)state;
    assert_true(bz_str_eq(kept->value, BZ_STR("a\xef\xbf\xbd\xef\xbf\xbd"
                                              "b")));
    assert_int_equal(kept->size, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_a_line_for_each_task_by_name),
        cmocka_unit_test(a_packed_file_has_what_tasks_share_once),
        cmocka_unit_test(a_line_says_all_there_is),
        cmocka_unit_test(an_input_of_two_tasks_is_kept_once),
        cmocka_unit_test(inputs_that_differ_in_anything_are_kept_apart),
        cmocka_unit_test(tasks_are_found_by_name),
        cmocka_unit_test(a_long_value_is_cut_between_characters),
        cmocka_unit_test(bytes_that_json_cannot_hold_are_replaced),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
