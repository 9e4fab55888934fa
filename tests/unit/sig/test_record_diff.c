#include "sig/record_diff.h"

#include "tests/unit/sig/records.h"

#define LIB "task lib:do_x\nin do_x=x\n"

static const struct {
    const char *was, *is, *differences;
} cases[] = {
    {"task a:do_x\nin A=1\nin B=1\nin C=1",               "task a:do_x\nin A=1\nin B=2\nin D=1",
     "changed B, removed C, added D"                                                                                              },
 /* where something was set is not what it is */
    {"task a:do_x\nin A=1\nop f:1 set 1",                 "task a:do_x\nin A=1\nop g:2 set? 1",  ""                               },
    {"task a:do_x\nmachine one",                          "task a:do_x\nmachine two",            "machine"                        },
    {"task a:do_x\nfile f=1\nfile g\nfile h=1\nfile i=1",
     "task a:do_x\nfile f=2\nfile g=1\nfile h\nfile i=1",                                        "file f 11, file g 01, file h 10"},
    {"task a:do_x\nfile f=1",                             "task a:do_x\nfile e=1",               "file e 01, file f 10"           },
    {LIB "task m:do_x\ntask a:do_x\ndep lib:do_x",
     LIB "task m:do_x\ntask a:do_x\ndep m:do_x",                                                 "-lib:do_x, +m:do_x"             },
    {LIB "task a:do_x\ndep lib:do_x",
     "task lib:do_x\nin do_x=y\ntask a:do_x\ndep lib:do_x",                                      "~lib:do_x"                      },
};

static void word(struct bz_buf *out, const char *what, struct bz_str name)
{
    bz_buf_addf(out, "%s%s%.*s", out->len ? ", " : "", what, BZ_STR_ARG(name));
}

static void show(const struct bz_record_diff *d, struct bz_buf *out)
{
    if (d->machine)
        word(out, "machine", BZ_STR(""));
    for (size_t i = 0; i < d->inputs.len; i++) {
        const struct bz_record_input *was = d->inputs.at[i].was;
        const struct bz_record_input *is = d->inputs.at[i].is;

        word(out, !was ? "added " : is ? "changed " : "removed ", d->inputs.at[i].name);
    }
    for (size_t i = 0; i < d->files.len; i++) {
        const struct bz_record_file *was = d->files.at[i].was, *is = d->files.at[i].is;

        word(out, "file ", d->files.at[i].name);
        bz_buf_addf(out, " %d%d", was && was->present, is && is->present);
    }
    for (size_t i = 0; i < d->deps.len; i++) {
        const struct bz_record_dep *was = d->deps.at[i].was, *is = d->deps.at[i].is;

        word(out, !was ? "+" : is ? "~" : "-", d->deps.at[i].name);
    }
}

static void each_difference_is_found_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        BZ_CLEANUP(bz_record_release) struct bz_record was = {0}, is = {0};
        BZ_CLEANUP(bz_record_diff_release) struct bz_record_diff d = {0};
        BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};
        const struct bz_record_task *a, *b;

        records_make(&was, cases[i].was);
        records_make(&is, cases[i].is);
        a = bz_record_find(&was, BZ_STR("a:do_x"));
        b = bz_record_find(&is, BZ_STR("a:do_x"));
        bz_record_diff_run(&d, a, b);
        show(&d, &out);
        if (strcmp(bz_buf_text(&out), cases[i].differences) != 0)
            fail_msg("case %zu: %s, expected %s", i, bz_buf_text(&out),
                     cases[i].differences);
        assert_int_equal(bz_record_diff_same(a, b), cases[i].differences[0] == '\0');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_difference_is_found_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
