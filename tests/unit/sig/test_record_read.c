#include "sig/record_read.h"

#include "tests/unit/sig/records.h"

static const char *const script = "task a:do_x\n"
                                  "machine board\n"
                                  "in do_x=make ${F}\\n\"\n"
                                  "op meta/classes/base.bbclass:3 set make ${F}\n"
                                  "op meta/a:b.bb:4 set[vardeps] F\n"
                                  "in F=-O2\n"
                                  "op -conf/local.conf:7 :append -g\n"
                                  "file files/x.patch=abc\n"
                                  "file files/gone\n"
                                  "task b:do_x\n"
                                  "taint now\n"
                                  "ctx OVERRIDES=${M}:all\n"
                                  "use M\n"
                                  "dep a:do_x\n";

static void what_was_written_is_read_again(void **state)
{
    BZ_CLEANUP(bz_record_release) struct bz_record r = {0}, again = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0}, twice = {0};
    const struct bz_record_task *t;
    struct bz_err err;

    (void)state;
    records_make(&r, script);
    bz_record_write(&r, &out);
    assert_ok(bz_record_read(&again, bz_buf_str(&out), "x", &err), &err);
    bz_record_write(&again, &twice);
    assert_string_equal(bz_buf_text(&out), bz_buf_text(&twice));
    t = bz_record_find(&again, BZ_STR("a:do_x"));
    assert_true(bz_str_eq(t->inputs[0]->ops[1].file, BZ_STR("meta/a:b.bb")));
    assert_int_equal(t->inputs[0]->ops[1].line, 4);
    assert_true(bz_str_eq(t->inputs[0]->ops[1].flag, BZ_STR("vardeps")));
    assert_true(t->inputs[1]->ops[0].off);
    assert_true(t->files[0].present);
    assert_false(t->files[1].present);
    assert_null(t->distro.p);
    assert_null(t->taint.p);
    t = bz_record_find(&again, BZ_STR("b:do_x"));
    assert_true(bz_str_eq(t->taint, BZ_STR("now")));
}

static void what_was_packed_is_read_again(void **state)
{
    BZ_CLEANUP(bz_record_release) struct bz_record r = {0}, again = {0}, one = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0}, packed = {0}, twice = {0};
    struct bz_err err;

    (void)state;
    records_make(&r, script);
    bz_record_write(&r, &out);
    bz_record_pack(&r, 0, r.tasks.len, &packed);
    assert_ok(bz_record_read(&again, bz_buf_str(&packed), "x", &err), &err);
    bz_record_write(&again, &twice);
    assert_string_equal(bz_buf_text(&out), bz_buf_text(&twice));
    bz_buf_truncate(&packed, 0);
    bz_record_pack(&r, 1, 1, &packed);
    assert_ok(bz_record_read(&one, bz_buf_str(&packed), "x", &err), &err);
    assert_int_equal(one.tasks.len, 1);
    assert_true(bz_str_eq(one.tasks.at[0].name, BZ_STR("b:do_x")));
    assert_true(bz_str_eq(one.tasks.at[0].context[0]->name, BZ_STR("OVERRIDES")));
}

#define HEAD "{\"format\":\"bitzel record\",\"version\":1,\"tasks\":1}\n"
#define PACKED "{\"format\":\"bitzel record\",\"version\":1,\"inputs\":1,\"tasks\":1}\n"
#define D "\"0000000000000000000000000000000000000000000000000000000000000000\""
#define START "{\"v\":1,\"task\":\"a:b\",\"key\":" D ",\"base\":" D
#define TASK START ",\"machine\":null,\"distro\":null"
#define EMPTY ",\"inputs\":[],\"context\":[],\"files\":[],\"deps\":[]}\n"
#define INPUT "{\"name\":\"N\",\"digest\":" D ",\"value\":null"

static const struct {
    const char *text, *message; /* NULL: it is fine */
} cases[] = {
    {HEAD TASK EMPTY,                                                                 NULL                                             },
    {HEAD TASK ",\"later\":{\"x\":1}" EMPTY,                                          NULL                                             },
    {"",                                                                              "x:1: this is no record"                         },
    {"\n",                                                                            "x:1: this is no record"                         },
    {"[]\n",                                                                          "x:1: this is no record"                         },
    {"{\"format\":\"other\",\"version\":1,\"tasks\":0}\n",                            "x:1: this is no record"                         },
    {"{\"format\":\"bitzel record\",\"version\":1}\n",                                "x:1: this is no record"                         },
    {"{\"format\":\"bitzel record\",\"version\":3,\"tasks\":0}\n",
     "x:1: version 3 of the format is not known"                                                                                       },
    {HEAD,                                                                            "x: 0 tasks of 1 are there"                      },
    {HEAD TASK EMPTY TASK EMPTY,                                                      "x:3: tasks are out of order"                    },
    {HEAD "\n",                                                                       "x:2: line 1, column 1"                          },
    {HEAD "{}\n",                                                                     "x:2: line 1, column 1"                          },
    {HEAD "{\"v\":3}\n",                                                              "x:2: version 3 is not known"                    },
    {HEAD START EMPTY,                                                                "x:2: line 1"                                    },
    {HEAD TASK "}\n",                                                                 "x:2: line 1"                                    },
    {HEAD "{\"v\":1,\"task\":\"a:b\",\"key\":\"12\"" EMPTY,                           "x:2: "                                          },
    {HEAD TASK ",\"inputs\":[1],\"context\":[],\"files\":[],\"deps\":[]}\n",          "x:2: "                                          },
    {HEAD TASK ",\"inputs\":[" INPUT "}],\"context\":[],\"files\":[],\"deps\":[]}\n",
     "x:2: "                                                                                                                           },
    {HEAD TASK ",\"inputs\":[" INPUT
               ",\"set\":[]}],\"context\":[],\"files\":[],\"deps\":[]}\n",       NULL                                             },
    {HEAD TASK ",\"inputs\":[" INPUT ",\"set\":[{\"at\":\"nowhere\"}]}],\"context\":[],"
               "\"files\":[],\"deps\":[]}\n",                                    "x:2: line 1, column 315: expected FILE:LINE"    },
    {HEAD TASK ",\"inputs\":[" INPUT ",\"set\":[],\"uses\":[1]}],\"context\":[],"
               "\"files\":[],\"deps\":[]}\n",                                    "x:2: "                                          },
    {HEAD TASK ",\"inputs\":[],\"context\":[],\"files\":[{\"name\":\"f\"}],"
               "\"deps\":[]}\n",                                                 "x:2: "                                          },
    {HEAD TASK ",\"inputs\":[],\"context\":[],\"files\":[],\"deps\":[{\"task\":\"c\","
               "\"key\":" D "},{\"task\":\"c\",\"key\":" D "}]}\n",
     "x:2: line 1"                                                                                                                     },
    {PACKED INPUT ",\"set\":[]}\n" TASK
                  ",\"inputs\":[0],\"context\":[0],\"files\":[],\"deps\":[]}\n", NULL                                             },
    {PACKED INPUT ",\"set\":[]}\n" TASK
                  ",\"inputs\":[1],\"context\":[],\"files\":[],\"deps\":[]}\n",  "x:3: line 1, column 207: there is no such input"},
    {PACKED INPUT ",\"set\":[]}\n" TASK
                  ",\"inputs\":[-1],\"context\":[],\"files\":[],\"deps\":[]}\n", "x:3: line 1, column 207: there is no such input"},
    {PACKED TASK EMPTY,                                                               "x:2: line 1"                                    },
    {PACKED INPUT ",\"set\":[]}\n",                                                   "x: 0 tasks of 1 are there"                      },
    {PACKED,                                                                          "x: 0 tasks of 1 are there"                      },
};

static void damage_is_told_with_its_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        BZ_CLEANUP(bz_record_release) struct bz_record r = {0};
        struct bz_err err = {0};
        int rc = bz_record_read(&r, bz_str_from(cases[i].text), "x", &err);

        if (!cases[i].message)
            assert_ok(rc, &err);
        else if (rc != BZ_E_INVAL ||
                 strncmp(err.msg, cases[i].message, strlen(cases[i].message)) != 0)
            fail_msg("case %zu: %d %s, expected %s", i, rc, err.msg, cases[i].message);
    }
}

static void a_file_that_is_not_there_is_told_apart(void **state)
{
    BZ_CLEANUP(bz_record_release) struct bz_record r = {0};
    struct bz_err err;

    (void)state;
    assert_int_equal(bz_record_read_file(&r, "/nonexistent/record", &err), BZ_E_NOENT);
    assert_int_equal(bz_record_read_file(&r, "/", &err), BZ_E_INVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read_again),
        cmocka_unit_test(what_was_packed_is_read_again),
        cmocka_unit_test(damage_is_told_with_its_place),
        cmocka_unit_test(a_file_that_is_not_there_is_told_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
