#include "sig/cause_op.h"

#include "tests/unit/sig/records.h"

/* Operations on A then and now, and the edits: old line > new line, a dash before one
 * without effect. */
static const struct {
    const char *was, *is, *edits;
} cases[] = {
    {"op f:1 set x",                                 "op f:1 set x",                        ""            },
 /* moved to another line */
    {"op f:1 set x\nop f:2 append y",                "op f:5 set x\nop f:9 append y",       ""            },
    {"op f:1 set x",                                 "op f:1 set y",                        "V 1>1"       },
    {"op f:1 set x\nop g:3 :append y",               "op f:1 set x\nop g:4 :append z",      "V 3>4"       },
    {"op f:1 set x",                                 "op f:1 set x\nop g:2 set y",          "V 0>2"       },
    {"op f:1 set x\nop g:2 set y",                   "op f:1 set x",                        "V 2>0"       },
 /* another operator, in another file */
    {"op f:1 set x",                                 "op f:1 set? x",                       "V 1>1"       },
    {"op f:1 set x",                                 "op g:1 set x",                        "V 1>0, V 0>1"},
 /* the order counts */
    {"op f:1 append x\nop f:2 append y",             "op f:1 append y\nop f:2 append x",    "V 1>2"       },
    {"op -f:1 set x\nop f:2 set y",                  "op -f:1 set z\nop f:2 set y",         "-V 1>1"      },
    {"op -f:1 set x",                                "op f:1 set z",                        "V 1>1"       },
    {"op f:1 set[vardeps] x\nop f:2 set[depends] y", "op f:1 set[vardeps] z",
     "R 1>1, W 2>0"                                                                                       },
 /* the file has another name, which is no edit */
    {"op m/r_1.bb:1 set x",                          "op m/r_2.bb:1 set x",                 ""            },
    {"op m/r_1.bb:1 set x\nop m/r_1.bb:2 append y",
     "op m/r_2.bb:1 set x\nop m/r_2.bb:2 append z",                                         "V 2>2"       },
    {"op m/r_2.bb:1 set x",                          "op m/r_1.bb:1 set x",                 "V 1>0, V 0>1"},
    {"op f:1 set x\nop f:2 set[network] 0",          "op f:1 set x\nop f:2 set[network] 1",
     "S 2>2"                                                                                              },
};

static void edits_of(const struct bz_record_input *was,
                     const struct bz_record_input *is, struct bz_buf *out)
{
    static const struct bz_cause_op_rename renamed = {BZ_STR("r_1.bb"),
                                                      BZ_STR("r_2.bb")};
    struct bz_cause_op_edits edits = {0};

    bz_cause_op_list(was, is, &renamed, &edits);
    for (size_t i = 0; i < edits.len; i++) {
        const struct bz_cause_op_edit *e = &edits.at[i];

        bz_buf_addf(out, "%s%s%c %u>%u", i ? ", " : "", e->idle ? "-" : "",
                    e->about == BZ_CAUSE_OP_VALUE     ? 'V'
                    : e->about == BZ_CAUSE_OP_VARDEPS ? 'R'
                    : e->about == BZ_CAUSE_OP_SANDBOX ? 'S'
                                                      : 'W',
                    e->was ? e->was->line : 0, e->is ? e->is->line : 0);
    }
    bz_vec_release(&edits);
}

static void only_what_was_edited_is_listed(void **state)
{
    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        BZ_CLEANUP(bz_record_release) struct bz_record was = {0}, is = {0};
        BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0}, out = {0};

        bz_buf_addf(&text, "task t\nin A=1\n%s", cases[i].was);
        records_make(&was, bz_buf_text(&text));
        bz_buf_truncate(&text, 0);
        bz_buf_addf(&text, "task t\nin A=1\n%s", cases[i].is);
        records_make(&is, bz_buf_text(&text));
        edits_of(was.tasks.at[0].inputs[0], is.tasks.at[0].inputs[0], &out);
        if (strcmp(bz_buf_text(&out), cases[i].edits) != 0)
            fail_msg("case %zu: %s, expected %s", i, bz_buf_text(&out), cases[i].edits);
    }
}

static void what_was_not_there_is_new_all_over(void **state)
{
    BZ_CLEANUP(bz_record_release) struct bz_record is = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};

    (void)state;
    records_make(&is, "task t\nin A=1\nop f:1 set x\nop f:2 append y\n");
    edits_of(NULL, is.tasks.at[0].inputs[0], &out);
    assert_string_equal(bz_buf_text(&out), "V 0>1, V 0>2");
    bz_buf_truncate(&out, 0);
    edits_of(is.tasks.at[0].inputs[0], NULL, &out);
    assert_string_equal(bz_buf_text(&out), "V 1>0, V 2>0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_was_edited_is_listed),
        cmocka_unit_test(what_was_not_there_is_new_all_over),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
