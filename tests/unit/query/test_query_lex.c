#include "query/query_lex.h"

#include "base/buf.h"
#include "tests/unit/bz_test.h"

static int read_all(const char *text, struct bz_buf *out, uint32_t *column,
                    struct bz_err *err)
{
    static const char letters[] = {[BZ_QUERY_TOKEN_WORD] = 'w',
                                   [BZ_QUERY_TOKEN_QUOTED] = 'q',
                                   [BZ_QUERY_TOKEN_REF] = 'r',
                                   [BZ_QUERY_TOKEN_SIGN] = 's'};
    struct bz_query_lex lex;
    int rc;

    bz_query_lex_init(&lex, bz_str_from(text));
    while ((rc = bz_query_lex_next(&lex, err)) == 0 && lex.kind != BZ_QUERY_TOKEN_END)
        bz_buf_addf(out, "%s%c%u:%.*s", out->len ? " " : "", letters[lex.kind],
                    lex.column, BZ_STR_ARG(lex.text));
    *column = lex.column;
    return rc;
}

static void texts_become_tokens(void **state)
{
    static const struct {
        const char *text, *tokens;
    } rows[] = {
        {"",                ""                                       },
        {" \t\n",           ""                                       },
        {"a-b+c",           "w1:a-b+c"                               },
        {"a - b",           "w1:a s3:- w5:b"                         },
        {"a -b",            "w1:a s3:- w4:b"                         },
        {"a^b",             "w1:a s2:^ w3:b"                         },
        {"*-native:*",      "w1:*-native:*"                          },
        {"deps(gtk+3, 2)",  "w1:deps s5:( w6:gtk+3 s11:, w13:2 s14:)"},
        {"'a b' \"c'd\"",   "q1:a b q7:c'd"                          },
        {"let x=$y in $x",  "w1:let w5:x s6:= r7:y w10:in r13:x"     },
        {"''",              "q1:"                                    },
        {"mc:*:lib[0-9]?x", "w1:mc:*:lib[0-9]?x"                     },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};
        struct bz_err err;
        uint32_t column;

        assert_ok(read_all(rows[i].text, &out, &column, &err), &err);
        assert_string_equal(bz_buf_text(&out), rows[i].tokens);
    }
}

static void what_does_not_end_is_an_error_with_its_column(void **state)
{
    static const struct {
        const char *text, *message;
        uint32_t column;
    } rows[] = {
        {"a 'b",  "column 3: the quote does not end",   3},
        {"\"",    "column 1: the quote does not end",   1},
        {"a + $", "column 5: '$' has no name after it", 5},
        {"$ x",   "column 1: '$' has no name after it", 1},
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};
        struct bz_err err;
        uint32_t column;

        assert_int_equal(read_all(rows[i].text, &out, &column, &err), BZ_E_INVAL);
        assert_string_equal(err.msg, rows[i].message);
        assert_int_equal(column, rows[i].column);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_become_tokens),
        cmocka_unit_test(what_does_not_end_is_an_error_with_its_column),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
