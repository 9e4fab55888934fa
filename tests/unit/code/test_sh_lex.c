#include "tests/unit/bz_test.h"

#include <stdlib.h>

#include "base/buf.h"
#include "code/sh_lex.h"

/* A letter for each type, in their order; words of a text follow theirs. */
static const char letters[] = ".WA/0RHN&|!aS;()iteEfdDcCwuFI{}B";

struct row {
    const char *text, *tokens;
};

/* Caller frees. */
static char *lex(const char *text)
{
    struct bz_arena arena = {0};
    struct bz_sh_lex_tokens tokens = {0};
    struct bz_buf shown = {0};
    struct bz_err err;

    if (bz_sh_lex_text(bz_str_from(text), 1, &arena, &tokens, &err) < 0) {
        bz_buf_addf(&shown, "%s", err.msg);
        tokens.len = 0;
    }
    for (size_t i = 0; i < tokens.len; i++) {
        const struct bz_sh_lex_token *t = &tokens.at[i];

        bz_buf_add_char(&shown, letters[t->type]);
        if (t->type == BZ_SH_LEX_WORD || t->type == BZ_SH_LEX_ASSIGNMENT ||
            t->type == BZ_SH_LEX_HERE_NAME)
            bz_buf_addf(&shown, "[%.*s]", BZ_STR_ARG(t->text));
    }
    bz_vec_release(&tokens);
    bz_arena_release(&arena);
    return bz_buf_detach(&shown);
}

static void check(const struct row *rows, size_t n)
{
    assert_int_equal(sizeof(letters) - 1, BZ_SH_LEX_BANG + 1);
    for (size_t i = 0; i < n; i++) {
        char *got = lex(rows[i].text);

        assert_string_equal(got, rows[i].tokens);
        free(got);
    }
}

static void words_and_operators_are_told_apart(void **state)
{
    static const struct row rows[] = {
        {"",                        "."                                       },
        {"a b\tc",                  "W[a]W[b]W[c]."                           },
        {"a&&b||c|d&e;f;;",         "W[a]&W[b]|W[c]!W[d]aW[e]SW[f];."         },
        {"a<b>c>>d<&e>&f<>g>|h",    "W[a]RW[b]RW[c]RW[d]RW[e]RW[f]RW[g]RW[h]."},
        {"a 2>b c3>d",              "W[a]0RW[b]W[c3]RW[d]."                   },
        {"(a)",                     "(W[a])."                                 },
        {"a \"b c\" 'd'e$(f g)`h`", "W[a]W[\"b c\"]W['d'e$(f g)`h`]."         },
        {"a\\\nb \\\n#c\n",         "W[ab]/."                                 },
        {"a#b #c\nd",               "W[a#b]/W[d]."                            },
        {"a \"\"",                  "W[a]W[\"\"]."                            },
        {"\\\n",                    "."                                       },
        {"#",                       "."                                       },
    };

    (void)state;
    check(rows, BZ_COUNTOF(rows));
}

static void reserved_words_are_tokens_everywhere(void **state)
{
    static const struct row rows[] = {
        {"if then else elif fi do done case esac while until for { } !",
         "iteEfdDcCwuF{}B."                                                                       },
        {"in",                                                           "W[in]."                 },
        {"for x in in",                                                  "FW[x]IW[in]."           },
        {"case x in in",                                                 "cW[x]IW[in]."           },
        {"case x\nin",                                                   "cW[x]/W[in]."           },
        {"\"if\" iff 'fi'",                                              "W[\"if\"]W[iff]W['fi']."},
    };

    (void)state;
    check(rows, BZ_COUNTOF(rows));
}

static void an_assignment_is_one_only_at_the_end(void **state)
{
    static const struct row rows[] = {
        {"a=1",     "A[a=1]."      },
        {"a=1 ",    "W[a=1]."      },
        {"a=1 b=2", "W[a=1]A[b=2]."},
        {"=1",      "W[=1]."       },
        {"a-b=1",   "W[a-b=1]."    },
    };

    (void)state;
    check(rows, BZ_COUNTOF(rows));
}

static void here_documents_follow_their_names(void **state)
{
    static const struct row rows[] = {
        {"c <<E | d\nx\n y\nE\ne",     "W[c]HN[E]W[x\n y\n]!W[d]/W[e]."      },
        {"c <<-'E' #z\n\tx\n\tE\n",    "W[c]HN['E']W[x\n]/."                 },
        {"c <<A <<B z\na\nA\nb\nB\nf", "W[c]HN[A]W[a\n]HN[B]W[b\n]W[z]/W[f]."},
        {"c <<E\nE\n",                 "W[c]HN[E]/."                         },
        {"c <<E\nx",                   "W[c]HN[E]W[x]/."                     },
        {"c <<E\nx\\\nE\ny\nE\n",      "W[c]HN[E]W[x\\\nE\ny\n]/."           },
        {"c <<E",                      "line 1: a here-document has no text" },
        {"c <<E\n",                    "line 2: a here-document has no text" },
        {"c <<''\nx\n",                "line 2: a here-document has no name" },
        {"c <<\n",                     "line 1: << needs a word after it"    },
        {"c << #\n",                   "line 1: << needs a word after it"    },
        {"c <<< d\n",                  "line 1: << needs a word after it"    },
    };

    (void)state;
    check(rows, BZ_COUNTOF(rows));
}

static void errors_name_the_line(void **state)
{
    static const struct row rows[] = {
        {"a\nb \"c\n", "line 2: \" is not closed"         },
        {"a 'b\nc' $", "line 2: there is nothing after $" },
        {"a # b",      "line 1: a comment at the very end is not understood, as in "
                  "BitBake; end the line"},
    };

    (void)state;
    check(rows, BZ_COUNTOF(rows));
}

/* Each here-document must not push the rest of its line again. */
static void a_line_with_many_here_documents_takes_linear_time(void **state)
{
    enum { N = 50000 };
    struct bz_arena arena = {0};
    struct bz_sh_lex_tokens tokens = {0};
    struct bz_buf text = {0};
    struct bz_err err;

    (void)state;
    for (int i = 0; i < N; i++)
        bz_buf_addf(&text, "<<E ");
    for (int i = 0; i < N; i++)
        bz_buf_addf(&text, "\nx\nE");
    assert_int_equal(bz_sh_lex_text(bz_buf_str(&text), 1, &arena, &tokens, &err), 0);
    assert_int_equal(tokens.len, 3 * N + 2);
    bz_vec_release(&tokens);
    bz_arena_release(&arena);
    bz_buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_and_operators_are_told_apart),
        cmocka_unit_test(reserved_words_are_tokens_everywhere),
        cmocka_unit_test(an_assignment_is_one_only_at_the_end),
        cmocka_unit_test(here_documents_follow_their_names),
        cmocka_unit_test(errors_name_the_line),
        cmocka_unit_test(a_line_with_many_here_documents_takes_linear_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
