#include "recipe/apply.h"

#include "base/log.h"
#include "tests/unit/recipe/files.h"

/* A recipe, and what X is afterwards. */
static const struct {
    const char *text, *value;
} cases[] = {
    {"X = \"a\"\nX = \"b\"\n",                             "b"         },
    {"X ?= \"a\"\nX ?= \"b\"\n",                           "a"         },
    {"X = \"\"\nX ?= \"b\"\n",                             ""          },
    {"X ?\?= \"a\"\nX ?\?= \"b\"\n",                       "b"         },
    {"X ?\?= \"a\"\nX ?= \"b\"\n",                         "b"         },
    {"X ?\?= \"a\"\nX += \"b\"\n",                         " b"        },
    {"X ?\?= \"a\"\nX:append = \"b\"\n",                   "ab"        },
    {"X = \"a\"\nX += \"b\"\n",                            "a b"       },
    {"X = \"a\"\nX =+ \"b\"\n",                            "b a"       },
    {"X = \"a\"\nX .= \"b\"\n",                            "ab"        },
    {"X = \"a\"\nX =. \"b\"\n",                            "ba"        },
    {"X += \"b\"\n",                                       " b"        },
    {"X =+ \"b\"\n",                                       "b "        },
    {"X .= \"b\"\n",                                       "b"         },
    {"Y = \"1\"\nX = \"${Y}\"\nY = \"2\"\n",               "2"         },
    {"Y = \"1\"\nX := \"${Y}\"\nY = \"2\"\n",              "1"         },
    {"X = \"a\"\nX := \"${X}b\"\n",                        "ab"        },
    {"X := \"${UNKNOWN}\"\n",                              "${UNKNOWN}"},
    {"X:append = \"b\"\nX = \"a\"\n",                      "ab"        },
    {"X:append = \"b\"\nX += \"a\"\n",                     " ab"       },
    {"X:append = \"b\"\nX ?= \"a\"\n",                     "ab"        },
    {"X = \"a b c\"\nX:remove = \"b\"\n",                  "a  c"      },
    {"X = \"b\"\nX:prepend = \"a\"\n",                     "ab"        },
    {"OVERRIDES = \"o\"\nX = \"a\"\nX:o = \"b\"\n",        "b"         },
    {"OVERRIDES = \"o\"\nX:o = \"b\"\nX ?= \"a\"\n",       "b"         },
    {"OVERRIDES = \"o\"\nX = \"a\"\nX:append:o = \"b\"\n", "ab"        },
    {"OVERRIDES = \"o\"\nX = \"a\"\nX:append:p = \"b\"\n", "a"         },
 /* += looks at what the file has said, not at what is read. */
    {"OVERRIDES = \"o\"\nX:o = \"b\"\nX += \"a\"\n",       "b"         },
    {"OVERRIDES = \"o\"\nX = \"a\"\nX:o += \"b\"\n",       " b"        },
    {"OVERRIDES = \"o\"\nX = \"a\"\nX:o:append = \"b\"\n", "b"         },
};

static void each_operator_does_what_it_does_in_bitbake(void **state)
{
    struct world *w = *state;

    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        char name[32];

        bz_meta_free(w->meta);
        w->meta = bz_meta_new();
        snprintf(name, sizeof(name), "%zu.bb", i);
        put_file(w, name, cases[i].text);
        assert_ok(eval(w, name), &w->err);
        assert_var(w->meta, "X", cases[i].value);
    }
}

static void flags_take_all_operators_too(void **state)
{
    struct world *w = *state;

    eval_text(w, "X[set] = \"a\"\n"
                 "X[app] = \"a\"\nX[app] += \"b\"\n"
                 "X[pre] = \"a\"\nX[pre] =+ \"b\"\n"
                 "X[dot] = \"a\"\nX[dot] .= \"b\"\n"
                 "X[predot] = \"a\"\nX[predot] =. \"b\"\n"
                 "X[ques] ?= \"a\"\nX[ques] ?= \"b\"\n"
                 "X[weak] ?\?= \"a\"\nX[weak] ?\?= \"b\"\n"
                 "X[weakset] ?\?= \"a\"\nX[weakset] = \"b\"\n"
                 "X[weakapp] ?\?= \"a\"\nX[weakapp] += \"b\"\n"
                 "Y = \"1\"\nX[now] := \"${Y}\"\nX[late] = \"${Y}\"\nY = \"2\"\n");
    assert_flag(w->meta, "X", "set", "a");
    assert_flag(w->meta, "X", "app", "a b");
    assert_flag(w->meta, "X", "pre", "b a");
    assert_flag(w->meta, "X", "dot", "ab");
    assert_flag(w->meta, "X", "predot", "ba");
    assert_flag(w->meta, "X", "ques", "a");
    assert_flag(w->meta, "X", "weak", "b");
    assert_flag(w->meta, "X", "weakset", "b");
    assert_flag(w->meta, "X", "weakapp", " b");
    assert_flag(w->meta, "X", "now", "1");
    assert_flag(w->meta, "X", "late", "2");
    assert_var(w->meta, "X", NULL);
}

static void an_exported_assignment_does_both(void **state)
{
    struct world *w = *state;

    eval_text(w, "export X = \"1\"\nexport Y ?\?= \"2\"\nZ = \"3\"\n");
    assert_var(w->meta, "X", "1");
    assert_flag(w->meta, "X", "export", "1");
    assert_var(w->meta, "Y", "2");
    assert_flag(w->meta, "Y", "export", "1");
    assert_flag(w->meta, "Z", "export", NULL);
}

static void an_expansion_that_fails_names_the_line(void **state)
{
    struct world *w = *state;

    eval_wrong(w, "A = \"1\"\nB = \"${C}\"\nC = \"${B}\"\nX := \"${B}\"\n",
               "wrong.bb:4: ");
}

static void count_lines(void *arg, enum bz_log_level level, const char *line, size_t n)
{
    (void)n;
    if (level == BZ_LOG_WARN && strstr(line, "not a recommended operator combination"))
        ++*(size_t *)arg;
}

static void an_operator_on_an_operation_is_warned_about(void **state)
{
    struct world *w = *state;
    size_t warnings = 0;
    struct bz_log_sink sink = {count_lines, &warnings};

    bz_log_set_sink(&sink);
    eval_text(w, "X:append = \"a\"\nX:append ?= \"b\"\nX += \"c\"\n");
    assert_int_equal(warnings, 0);
    put_file(w, "w.bb", "X:append += \"a\"\nX:remove .= \"b\"\nX:prepend =. \"c\"\n");
    assert_ok(eval(w, "w.bb"), &w->err);
    bz_log_set_sink(NULL);
    assert_int_equal(warnings, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        world_test(each_operator_does_what_it_does_in_bitbake),
        world_test(flags_take_all_operators_too),
        world_test(an_exported_assignment_does_both),
        world_test(an_operator_on_an_operation_is_warned_about),
        world_test(an_expansion_that_fails_names_the_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
