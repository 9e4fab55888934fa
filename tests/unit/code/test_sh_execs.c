#include "tests/unit/bz_test.h"

#include <stdlib.h>

#include "base/buf.h"
#include "code/sh_execs.h"

/* The names found, in their order, or the message; caller frees. */
static char *execs(struct bz_str text)
{
    struct bz_arena arena = {0};
    struct bz_buf shown = {0};
    const struct bz_map_entry *e;
    struct bz_refs refs;
    struct bz_err err;

    bz_refs_init(&refs, &arena);
    if (bz_sh_execs_find(text, &refs, &err) < 0) {
        assert_int_equal(refs.execs.len, 0);
        bz_buf_addf(&shown, "%s", err.msg);
    }
    for (e = bz_map_next(&refs.execs, NULL); e; e = bz_map_next(&refs.execs, e))
        bz_buf_addf(&shown, "%s%.*s", shown.len > 0 ? " " : "", BZ_STR_ARG(e->key));
    bz_refs_release(&refs);
    bz_arena_release(&arena);
    return bz_buf_detach(&shown);
}

struct row {
    const char *text, *names;
};

static void check(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char *got = execs(bz_str_from(rows[i].text));

        assert_string_equal(got, rows[i].names);
        free(got);
    }
}

/* The answers of all tables here are BitBake's. */
static void commands_are_found_wherever_they_are_run(void **state)
{
    static const struct row rows[] = {
        {"",                                   ""       },
        {"a b; c",                             "a c"    },
        {"a $(b $(c)) \"x`d`\"",               "c b d a"},
        {"v=$(b)",                             "b"      },
        {"v=\"$(b \"$(c)\")$(d)\"",            "c b d"  },
        {"A=1 B=2 c d",                        "c"      },
        {"A=1",                                ""       },
        {"for i in $(a) `b`; do c; done",      "a b c"  },
        {"case x in $(a)) b;; esac",           "b a"    },
        {"a && { b || (c); } | d >e &",        "a b c d"},
        {"eval a \"b\"; eval; A=1 eval `c` d", "a c"    },
        {"./a /b/c \"d e\"",                   "./a"    },
        {"\"$x\" a",                           "\"$x\"" },
        {"[ -f a ]; test b",                   "[ test" },
    };

    (void)state;
    check(rows, BZ_COUNTOF(rows));
}

static void what_is_no_name_of_a_command_is_left_out(void **state)
{
    static const struct row rows[] = {
        {"f() { a; }; f; g",             "a g"},
        {"f; f() { f; }",                ""   },
        {"$x a; ${y} b; $z/c",           ""   },
        {"$(a) b",                       "a"  },
        {"$(a) $(b) $(c)",               "a c"},
        {"A=$(a) b",                     "a"  },
        {"a >$(b)",                      "a"  },
        {"a <<E\n$(b)\nE\n",             "a"  },
        {"case $(a) in b) c;; esac",     "c"  },
        {"case x in a|$(b)) c;; esac",   "c"  },
        {"a ${x:-$(b)} '$(c)' # $(d)\n", "a"  },
    };

    (void)state;
    check(rows, BZ_COUNTOF(rows));
}

static void errors_name_the_line_in_the_text(void **state)
{
    static const struct row rows[] = {
        {"a\nb $(\n fi)",   "line 3: expected a command, not 'fi'"  },
        {"a\n\nb a$ c",     "line 3: there is nothing after $"      },
        {"a\nb=$((1 + 1))", "line 2: $((...)) is not understood, as in BitBake; use "
                            "$(expr ...)"},
    };

    (void)state;
    check(rows, BZ_COUNTOF(rows));
}

static void nested_texts_are_bounded_in_depth_and_time(void **state)
{
    struct bz_buf text = {0};
    char *got;

    (void)state;
    for (int i = 1; i < BZ_SH_EXECS_DEPTH; i++)
        bz_buf_addf(&text, "$(a ");
    for (int i = 1; i < BZ_SH_EXECS_DEPTH; i++)
        bz_buf_addf(&text, ")");
    got = execs(bz_buf_str(&text));
    assert_string_equal(got, "a");
    free(got);
    bz_buf_truncate(&text, 0);
    for (int i = 0; i < 20000; i++)
        bz_buf_addf(&text, "$(a ");
    for (int i = 0; i < 20000; i++)
        bz_buf_addf(&text, ")");
    got = execs(bz_buf_str(&text));
    assert_string_equal(got, "line 1: commands are nested too deeply");
    free(got);
    bz_buf_truncate(&text, 0);
    for (int i = 0; i < 20000; i++)
        bz_buf_addf(&text, "eval ");
    got = execs(bz_buf_str(&text));
    assert_string_equal(got, "line 1: commands are nested too deeply");
    free(got);
    bz_buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_are_found_wherever_they_are_run),
        cmocka_unit_test(what_is_no_name_of_a_command_is_left_out),
        cmocka_unit_test(errors_name_the_line_in_the_text),
        cmocka_unit_test(nested_texts_are_bounded_in_depth_and_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
