#include "tests/unit/bz_test.h"

#include <stdlib.h>

#include "base/buf.h"
#include "code/sh_parse.h"

static int show_words(void *ctx, const struct bz_sh_parse_words *words,
                      struct bz_err *err)
{
    static const char kinds[] = "!.=";

    (void)err;
    for (size_t i = 0; i < words->len; i++)
        bz_buf_addf(ctx, "%c%.*s", kinds[words->at[i].kind],
                    BZ_STR_ARG(words->at[i].text));
    bz_buf_add_char(ctx, ' ');
    return 0;
}

static void show_function(void *ctx, struct bz_str name)
{
    bz_buf_addf(ctx, "%.*s() ", BZ_STR_ARG(name));
}

/* Caller frees. */
static char *parse(const char *text)
{
    struct bz_arena arena = {0};
    struct bz_sh_lex_tokens tokens = {0};
    struct bz_buf shown = {0};
    unsigned depth = 0;
    struct bz_sh_parse_fns fns = {show_words, show_function, &shown, &depth};
    struct bz_err err;
    int rc = bz_sh_lex_text(bz_str_from(text), 1, &arena, &tokens, &err);

    if (rc == 0)
        rc = bz_sh_parse_tokens(&tokens, &fns, &err);
    if (rc < 0) {
        bz_buf_truncate(&shown, 0);
        bz_buf_addf(&shown, "%s", err.msg);
    }
    bz_vec_release(&tokens);
    bz_arena_release(&arena);
    return bz_buf_detach(&shown);
}

struct row {
    const char *text, *told;
};

static void check(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char *got = parse(rows[i].text);

        assert_string_equal(got, rows[i].told);
        free(got);
    }
}

static void commands_are_told_with_their_words(void **state)
{
    static const struct row rows[] = {
        {"",                                 ""                                  },
        {"\n\n",                             ""                                  },
        {"a b c\nd; e & f\n",                "!a.b.c !d !e !f "                  },
        {"a | b && ! c || d",                "!a !b !c !d "                      },
        {"a >b 2>&1 c",                      "!a.c "                             },
        {">x a b",                           "!a.b "                             },
        {">x",                               ""                                  },
        {"a=1 b",                            "!a=1.b "                           },
        {"b a=1",                            "!b.a=1 "                           },
        {"a=$x",                             "=$x "                              },
        {"a if then do done until for fi !", "!a.if.then.do.done.until.for.fi.! "},
        {"a <<E b\nx\nE\nc",                 "!a.b !c "                          },
        {">x fi",                            "!fi "                              },
    };

    (void)state;
    check(rows, BZ_COUNTOF(rows));
}

static void compound_commands_are_looked_into(void **state)
{
    static const struct row rows[] = {
        {"{ a; b; }",                                "!a !b "         },
        {"{ a }",                                    "!a "            },
        {"(a; (b)) >x",                              "!a !b "         },
        {"if a; then b; fi",                         "!a !b "         },
        {"if a\nthen b\nelif c; then d; else e; fi", "!a !b !c !d !e "},
        {"while a; do b; done <x",                   "!a !b "         },
        {"until a; do b; done",                      "!a !b "         },
        {"for i in x y; do b; done",                 ".x.y !b "       },
        {"for i in\ndo b; done",                     "!b "            },
        {"f() { a; }",                               "f() !a "        },
        {"f ()\n(a)",                                "f() !a "        },
        {"f() if a; then b; fi",                     "f() !a !b "     },
        {"{ a; } (b) c\n{ d; }",                     "!a !b !c !d "   },
    };

    (void)state;
    check(rows, BZ_COUNTOF(rows));
}

static void a_case_tells_its_commands_and_some_patterns(void **state)
{
    static const struct row rows[] = {
        {"case x in esac",                   ""            },
        {"case x in a) b;; (c) d;; esac",    "!b .a !d .c "},
        {"case x in a|b) c;; esac",          "!c .a "      },
        {"case x in a) b\nesac",             "!b .a "      },
        {"case x in (a) b\nesac",            "!b "         },
        {"case x in a) ;; b) esac",          ".a .b "      },
        {"case x in\n\na)\n\nb\n;;\n\nesac", "!b .a "      },
    };

    (void)state;
    check(rows, BZ_COUNTOF(rows));
}

static void what_the_grammar_has_not_is_an_error(void **state)
{
    static const struct row rows[] = {
        {"fi",                "line 1: expected a command, not 'fi'"                         },
        {"a\n;",              "line 2: expected a command, not ';'"                          },
        {"a ;;",              "line 1: expected a command, not ';;'"                         },
        {"! ! a",             "line 1: expected a command, not '!'"                          },
        {"a |",               "line 1: expected a command, but the text ends"                },
        {"{ a; ",             "line 1: expected '}', but the text ends"                      },
        {"(a",                "line 1: expected ')', but the text ends"                      },
        {"if a; b; fi",       "line 1: expected 'then', not 'fi'"                            },
        {"if a; then b\n",    "line 2: expected 'fi', but the text ends"                     },
        {"while a; b; done",  "line 1: expected 'do', not 'done'"                            },
        {"for i; do a; done", "line 1: expected 'in', not ';'"                               },
        {"for i in a do",     "line 1: expected ';' or the end of the line, not 'do'"        },
        {"case x in a b",     "line 1: expected ')', not 'b'"                                },
        {"case x in if)",     "line 1: expected a pattern, not 'if'"                         },
        {"case x in a) b }",  "line 1: expected ';;' or 'esac', not '}'"                     },
        {"case if in",        "line 1: expected a word, not 'if'"                            },
        {"f() a",             "line 1: expected the body of a function, not 'a'"             },
        {"f(a)",              "line 1: expected ')', not 'a'"                                },
        {"a >",               "line 1: expected the name of a file, but the text ends"       },
        {"a > if",            "line 1: expected the name of a file, not 'if'"                },
        {"a <<E\nE\n",        "line 1: expected the text of a here-document, not 'the "
                       "end of the line'"                              },
        {"{ a & }",           "line 1: '&' at the end of a list within something is not "
                    "understood, as in BitBake; add ': ;' or a command"   },
        {"f() { a; } >b",     "line 1: a redirection behind the body of function f is not "
                          "understood, as in BitBake; put it inside"},
    };

    (void)state;
    check(rows, BZ_COUNTOF(rows));
}

static void nesting_is_bounded(void **state)
{
    struct bz_buf text = {0};
    char *got;

    (void)state;
    for (int i = 0; i < BZ_SH_PARSE_DEPTH; i++)
        bz_buf_addf(&text, "{ ");
    bz_buf_addf(&text, "a");
    for (int i = 0; i < BZ_SH_PARSE_DEPTH; i++)
        bz_buf_addf(&text, "\n}");
    got = parse(bz_buf_text(&text));
    assert_string_equal(got, "!a ");
    free(got);
    bz_buf_truncate(&text, 0);
    for (int i = 0; i < 1000000; i++)
        bz_buf_add_char(&text, '(');
    got = parse(bz_buf_text(&text));
    assert_string_equal(got, "line 1: commands are nested too deeply");
    free(got);
    bz_buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_are_told_with_their_words),
        cmocka_unit_test(compound_commands_are_looked_into),
        cmocka_unit_test(a_case_tells_its_commands_and_some_patterns),
        cmocka_unit_test(what_the_grammar_has_not_is_an_error),
        cmocka_unit_test(nesting_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
