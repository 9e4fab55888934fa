#include "tests/unit/bz_test.h"

#include <stdlib.h>

#include "code/sh_quote.h"

/* What a word is read as, with the commands in it after a bar; caller frees. */
static char *read_word(const char *word, bool strip)
{
    struct bz_buf out = {0}, shown = {0};
    struct bz_sh_quote_spans spans = {0};
    struct bz_sh_quote q = {.out = &out, .commands = &spans, .strip = strip};
    struct bz_err err;

    if (bz_sh_quote_word(&q, bz_str_from(word), &err) < 0) {
        bz_buf_addf(&shown, "%s: %s", bz_err_name(err.code), err.msg);
    } else {
        bz_buf_add_str(&shown, bz_buf_str(&out));
        for (size_t i = 0; i < spans.len; i++)
            bz_buf_addf(&shown, " | %.*s", (int)(spans.at[i].to - spans.at[i].from),
                        bz_buf_text(&out) + spans.at[i].from);
    }
    bz_sh_quote_release(&q);
    bz_vec_release(&spans);
    bz_buf_release(&out);
    return bz_buf_detach(&shown);
}

struct row {
    const char *word, *read;
};

static void check(const struct row *rows, size_t n, bool strip)
{
    for (size_t i = 0; i < n; i++) {
        char *got = read_word(rows[i].word, strip);

        assert_string_equal(got, rows[i].read);
        free(got);
    }
}

static void a_word_is_copied_without_line_continuations(void **state)
{
    static const struct row rows[] = {
        {"plain",              "plain"             },
        {"",                   ""                  },
        {"a\\\nb",             "ab"                },
        {"\"a\\\nb\"",         "\"ab\""            },
        {"'a\\\nb'",           "'a\\\nb'"          },
        {"\\a\\$",             "\\a\\$"            },
        {"$x-$@$1y${z:-'}'}.", "$x-$@$1y${z:-'}'}."},
        {"\"a'b\"",            "\"a'b\""           },
        {"\"$\"",              "\"$\""             },
        {"a$.b",               "a$.b"              },
    };

    (void)state;
    check(rows, BZ_COUNTOF(rows), false);
}

static void commands_are_seen_outside_and_in_double_quotes(void **state)
{
    static const struct row rows[] = {
        {"$(a b)",            "$(a b) | a b"                  },
        {"x`a`y$(b)",         "x`a`y$(b) | a | b"             },
        {"\"$(a) `b`\"",      "\"$(a) `b`\" | a | b"          },
        {"\"$(a \"$(b)\")\"", "\"$(a \"$(b)\")\" | a \"$(b)\""},
        {"${x:-$(a)}",        "${x:-$(a)}"                    },
        {"\"${x:-$(a)}\"",    "\"${x:-$(a)}\""                },
        {"'$(a)'",            "'$(a)'"                        },
        {"$()",               "$() | "                        },
        {"$(a\\\nb)",         "$(ab) | ab"                    },
        {"$((a))",            "not supported: $((...)) is not understood, as in BitBake; use "
                   "$(expr ...)"            },
        {"$( (a) )",          "$( (a) ) |  (a"                },
    };

    (void)state;
    check(rows, BZ_COUNTOF(rows), false);
}

static void what_has_no_end_is_an_error(void **state)
{
    static const struct row rows[] = {
        {"'a",      "invalid input: ' is not closed"          },
        {"\"a",     "invalid input: \" is not closed"         },
        {"`a",      "invalid input: ` is not closed"          },
        {"${a",     "invalid input: ${ is not closed"         },
        {"$(a",     "invalid input: $( is not closed"         },
        {"$(",      "invalid input: $( is not closed"         },
        {"a$",      "invalid input: there is nothing after $" },
        {"a\\",     "invalid input: there is nothing after \\"},
        {"\"$(a\"", "invalid input: \" is not closed"         },
    };

    (void)state;
    check(rows, BZ_COUNTOF(rows), false);
}

static void stripping_takes_only_quotes_away(void **state)
{
    static const struct row rows[] = {
        {"'E'\"O\"\\F",  "EOF"          },
        {"\"\\E\\$\"",   "\\E$"         },
        {"$(\"a\" \\b)", "$(a b) | a b" },
        {"`\\b\\``",     "`\\b`` | \\b`"},
    };

    (void)state;
    check(rows, BZ_COUNTOF(rows), true);
}

static void a_hundred_thousand_levels_are_read(void **state)
{
    enum { N = 100000 };
    struct bz_buf word = {0}, out = {0};
    struct bz_sh_quote q = {.out = &out};
    struct bz_err err;

    (void)state;
    for (int i = 0; i < N; i++)
        bz_buf_addf(&word, "${");
    for (int i = 0; i < N; i++)
        bz_buf_addf(&word, "}");
    assert_int_equal(bz_sh_quote_word(&q, bz_buf_str(&word), &err), 0);
    assert_int_equal(out.len, word.len);
    bz_sh_quote_release(&q);
    bz_buf_release(&word);
    bz_buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_word_is_copied_without_line_continuations),
        cmocka_unit_test(commands_are_seen_outside_and_in_double_quotes),
        cmocka_unit_test(what_has_no_end_is_an_error),
        cmocka_unit_test(stripping_takes_only_quotes_away),
        cmocka_unit_test(a_hundred_thousand_levels_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
