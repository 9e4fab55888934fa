#include "opt.h"

#include <string.h>

#include "tests/unit/bz_test.h"

/* Bigger than any word of a test. */
#define WORDS 8

struct values {
    bool force, keep, color;
    int64_t jobs;
    int when;
    const char *cmd, *first, *second;
    struct bz_opt_list set, rest;
};

struct globals {
    bool quiet, help;
    const char *dir;
};

static const char *const whens[] = {"auto", "always", "never", NULL};

static const struct bz_opt own[] = {
    BZ_OPT_FLAG(struct values, force, 'f', "force", ""),
    BZ_OPT_FLAG(struct values, keep, 'k', "keep-going", ""),
    BZ_OPT_SWITCH(struct values, color, 0, "color", true, ""),
    BZ_OPT_NUMBER(struct values, jobs, 'j', "jobs", "N", -2, 64, 4, ""),
    BZ_OPT_CHOICE(struct values, when, 0, "when", "WHEN", whens, 2, ""),
    BZ_OPT_TEXT(struct values, cmd, 'c', "cmd", "TASK", ""),
    BZ_OPT_LIST(struct values, set, 's', "set", "K=V", ""),
    BZ_OPT_END,
};

static const struct bz_opt global[] = {
    BZ_OPT_FLAG(struct globals, quiet, 'q', "quiet", ""),
    BZ_OPT_STOP(struct globals, help, 'h', "help", ""),
    BZ_OPT_TEXT(struct globals, dir, 0, "directory", "DIR", ""),
    BZ_OPT_END,
};

static const struct bz_opt_arg any[] = {
    BZ_OPT_ANY(struct values, rest, "TARGET", "what to build"),
    BZ_OPT_END,
};

/* Splits `text` at blanks and parses the words; "''" stands for an empty one. */
struct parsed {
    struct values v;
    struct globals g;
    struct bz_opt_line line;
    struct bz_err err;
    char text[256];
    char *words[WORDS];
    int n;
    int rc;
};

static void parse(struct parsed *p, const struct bz_opt_arg *args, const char *text)
{
    char *save = NULL;

    *p = (struct parsed){
        .line = {.own = own, .args = args, .global = global}
    };
    p->line.into = &p->v;
    p->line.global_into = &p->g;
    assert_true(strlen(text) < sizeof(p->text));
    memcpy(p->text, text, strlen(text) + 1);
    for (char *w = strtok_r(p->text, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
        assert_true(p->n < WORDS);
        if (strcmp(w, "''") == 0)
            w[0] = '\0';
        p->words[p->n++] = w;
    }
    bz_opt_init(own, &p->v);
    bz_opt_init(global, &p->g);
    p->rc = bz_opt_parse(&p->line, p->n, p->words, &p->err);
}

static void parse_ok(struct parsed *p, const struct bz_opt_arg *args, const char *text)
{
    parse(p, args, text);
    assert_ok(p->rc, &p->err);
}

static void nothing_given_leaves_the_initial_values(void **state)
{
    struct parsed p;

    (void)state;
    parse_ok(&p, any, "");
    assert_int_equal(p.rc, 0);
    assert_int_equal(p.v.jobs, 4);
    assert_int_equal(p.v.when, 2);
    assert_true(p.v.color);
    assert_false(p.v.force);
    assert_null(p.v.cmd);
    assert_int_equal(p.v.rest.n, 0);
}

static void a_value_may_be_written_in_four_ways(void **state)
{
    static const char *const ways[] = {"--jobs=7", "--jobs 7", "-j7", "-j 7"};

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(ways); i++) {
        struct parsed p;

        parse_ok(&p, any, ways[i]);
        assert_int_equal(p.v.jobs, 7);
    }
}

static void short_flags_group_and_the_last_may_take_a_value(void **state)
{
    struct parsed p;

    (void)state;
    parse_ok(&p, any, "-fqkccompile x");
    assert_true(p.v.force && p.v.keep && p.g.quiet);
    assert_string_equal(p.v.cmd, "compile");
    assert_int_equal(p.v.rest.n, 1);
    bz_opt_release(&p.line);
}

static void options_may_follow_arguments(void **state)
{
    struct parsed p;

    (void)state;
    parse_ok(&p, any, "a -f - b --directory /tmp");
    assert_int_equal(p.rc, 6);
    assert_true(p.v.force);
    assert_string_equal(p.g.dir, "/tmp");
    assert_int_equal(p.v.rest.n, 3);
    assert_string_equal(p.v.rest.word[0], "a");
    assert_string_equal(p.v.rest.word[1], "-");
    assert_string_equal(p.v.rest.word[2], "b");
    bz_opt_release(&p.line);
}

static void two_dashes_end_the_options(void **state)
{
    struct parsed p;

    (void)state;
    parse_ok(&p, any, "-f -- -k -- --jobs");
    assert_true(p.v.force);
    assert_false(p.v.keep);
    assert_int_equal(p.v.rest.n, 3);
    assert_string_equal(p.v.rest.word[1], "--");
    bz_opt_release(&p.line);
}

static void a_switch_turns_off_and_the_last_word_counts(void **state)
{
    struct parsed p;

    (void)state;
    parse_ok(&p, any, "--color --no-color");
    assert_false(p.v.color);
    parse_ok(&p, any, "--no-color --color");
    assert_true(p.v.color);
    parse_ok(&p, any, "-j1 --jobs=2");
    assert_int_equal(p.v.jobs, 2);
}

static void a_list_collects_every_value_in_order(void **state)
{
    struct parsed p;

    (void)state;
    parse_ok(&p, any, "-sA=1 --set=B=2 --set C=3 -s ''");
    assert_int_equal(p.v.set.n, 4);
    assert_string_equal(p.v.set.word[0], "A=1");
    assert_string_equal(p.v.set.word[1], "B=2");
    assert_string_equal(p.v.set.word[2], "C=3");
    assert_string_equal(p.v.set.word[3], "");
    bz_opt_release(&p.line);
    assert_int_equal(p.v.set.n, 0);
}

static void a_value_may_begin_with_a_dash_if_the_sense_is_clear(void **state)
{
    struct parsed p;

    (void)state;
    parse_ok(&p, any, "--cmd=-x");
    assert_string_equal(p.v.cmd, "-x");
    parse_ok(&p, any, "--cmd -");
    assert_string_equal(p.v.cmd, "-");
    parse_ok(&p, any, "--jobs -2");
    assert_int_equal(p.v.jobs, -2);
    parse_ok(&p, any, "--cmd=");
    assert_string_equal(p.v.cmd, "");
}

static void help_stops_the_reading(void **state)
{
    struct parsed p;

    (void)state;
    parse_ok(&p, any, "a --help --nonsense");
    assert_true(p.g.help);
    assert_int_equal(p.rc, 2);
    bz_opt_release(&p.line);
    parse_ok(&p, any, "-fhZ");
    assert_true(p.v.force && p.g.help);
}

static void without_an_argument_table_reading_stops_at_the_first_argument(void **state)
{
    struct parsed p;

    (void)state;
    parse_ok(&p, NULL, "-q --directory x doctor --unknown");
    assert_int_equal(p.rc, 3);
    parse_ok(&p, NULL, "-q");
    assert_int_equal(p.rc, 1);
}

static void arguments_go_to_their_rows(void **state)
{
    static const struct bz_opt_arg rows[] = {
        BZ_OPT_ONE(struct values, first, "FROM", "the source"),
        BZ_OPT_MAYBE(struct values, second, "TO", "the destination"),
        BZ_OPT_END,
    };
    static const struct bz_opt_arg some[] = {
        BZ_OPT_ONE(struct values, first, "FROM", "the source"),
        BZ_OPT_SOME(struct values, rest, "TO", "the destinations"),
        BZ_OPT_END,
    };
    struct parsed p;

    (void)state;
    parse_ok(&p, rows, "a");
    assert_string_equal(p.v.first, "a");
    assert_null(p.v.second);
    parse_ok(&p, rows, "a b");
    assert_string_equal(p.v.second, "b");
    parse(&p, rows, "a b c");
    assert_int_equal(p.rc, BZ_E_INVAL);
    assert_string_equal(p.err.msg, "unexpected argument 'c'");
    parse(&p, rows, "-f");
    assert_string_equal(p.err.msg, "missing argument FROM: the source");

    parse_ok(&p, some, "a b c");
    assert_int_equal(p.v.rest.n, 2);
    bz_opt_release(&p.line);
    parse(&p, some, "a");
    assert_int_equal(p.rc, BZ_E_INVAL);
    assert_string_equal(p.err.msg, "missing argument TO: the destinations");
}

static void errors_say_what_is_wrong_and_what_to_do(void **state)
{
    static const struct {
        const char *line, *msg;
    } cases[] = {
        {"--forse",                     "unknown option '--forse'; did you mean '--force'?"  },
        {"--quite",                     "unknown option '--quite'; did you mean '--quiet'?"  },
        {"--dir=x",                     "unknown option '--dir'; did you mean '--directory'?"},
        {"--zzzzzz",                    "unknown option '--zzzzzz'"                          },
        {"--=x",                        "unknown option '--'"                                },
        {"-x",                          "unknown option '-x'"                                },
        {"-fx",                         "unknown option '-x' in '-fx'"                       },
        {"-force",                      "unknown option '-force'; did you mean '--force'?"   },
        {"-quiet",                      "unknown option '-quiet'; did you mean '--quiet'?"   },
        {"--force=1",                   "--force takes no value, but got '1'"                },
        {"--no-color=1",                "--no-color takes no value, but got '1'"             },
        {"--no-force",                  "--no-force: --force cannot be turned off"           },
        {"--no-jobs",                   "--no-jobs: --jobs cannot be turned off"             },
        {"--no-",                       "unknown option '--no-'"                             },
        {"--jobs",                      "--jobs needs a value: --jobs N"                     },
        {"-j",                          "-j needs a value: -j N"                             },
        {"--cmd --force",               "--cmd needs a value, but '--force' follows; to pass that, "
                          "write --cmd=--force"                     },
        {"--jobs 65",                   "--jobs: '65' is not a number from -2 to 64"         },
        {"--jobs -3",                   "--jobs: '-3' is not a number from -2 to 64"         },
        {"-j4x",                        "-j: '4x' is not a number from -2 to 64"             },
        {"--jobs=",                     "--jobs: '' is not a number from -2 to 64"           },
        {"--jobs=-",                    "--jobs: '-' is not a number from -2 to 64"          },
        {"--jobs=+4",                   "--jobs: '+4' is not a number from -2 to 64"         },
        {"--jobs=99999999999999999999",
         "--jobs: '99999999999999999999' is not a number from -2 to 64"                      },
        {"--when=alway",
         "--when: 'alway' is none of auto, always, never; did you mean 'always'?"            },
        {"--when=",                     "--when: '' is none of auto, always, never"          },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct parsed p;

        parse(&p, any, cases[i].line);
        assert_int_equal(p.rc, BZ_E_INVAL);
        assert_string_equal(p.err.msg, cases[i].msg);
        bz_opt_release(&p.line);
    }
}

static void a_very_long_word_is_shortened_in_the_message(void **state)
{
    char line[240];
    struct parsed p;

    (void)state;
    memset(line, 'x', sizeof(line) - 1);
    line[sizeof(line) - 1] = '\0';
    line[0] = line[1] = '-';
    parse(&p, any, line);
    assert_int_equal(p.rc, BZ_E_INVAL);
    assert_true(strlen(p.err.msg) < 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_given_leaves_the_initial_values),
        cmocka_unit_test(a_value_may_be_written_in_four_ways),
        cmocka_unit_test(short_flags_group_and_the_last_may_take_a_value),
        cmocka_unit_test(options_may_follow_arguments),
        cmocka_unit_test(two_dashes_end_the_options),
        cmocka_unit_test(a_switch_turns_off_and_the_last_word_counts),
        cmocka_unit_test(a_list_collects_every_value_in_order),
        cmocka_unit_test(a_value_may_begin_with_a_dash_if_the_sense_is_clear),
        cmocka_unit_test(help_stops_the_reading),
        cmocka_unit_test(without_an_argument_table_reading_stops_at_the_first_argument),
        cmocka_unit_test(arguments_go_to_their_rows),
        cmocka_unit_test(errors_say_what_is_wrong_and_what_to_do),
        cmocka_unit_test(a_very_long_word_is_shortened_in_the_message),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
