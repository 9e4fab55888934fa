#include "recipe/parse.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "tests/unit/bz_test.h"

static void add_field(struct bz_buf *out, const char *name, struct bz_str s)
{
    if (!s.p)
        return;
    bz_buf_addf(out, " %s<", name);
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '\n')
            bz_buf_add_str(out, BZ_STR("\\n"));
        else
            bz_buf_add_char(out, s.p[i]);
    bz_buf_add_char(out, '>');
}

/* A line for each statement: first-last line, kind, and every field it has. */
static void dump(const struct bz_ast *ast, struct bz_buf *out)
{
    static const char *const kinds[] = {
        "assign",   "export", "unset",    "include",   "require", "include_all",
        "inherit",  "defer",  "addtask",  "deltask",   "handler", "export_functions",
        "function", "def",    "addpylib", "fragments",
    };
    static const char *const ops[] = {"=", "?=", "?\?=", ":=", "+=", "=+", ".=", "=."};
    size_t n = 0;

    for (const struct bz_ast_stmt *st = ast->first; st; st = st->next, n++) {
        bz_buf_addf(out, "%u-%u", st->line, st->end_line);
        bz_buf_addf(out, "%s%s%s %s", st->exported ? " exported" : "",
                    st->fakeroot ? " fakeroot" : "", st->python ? " python" : "",
                    kinds[st->kind]);
        if (st->kind == BZ_AST_ASSIGN)
            bz_buf_addf(out, " %s", ops[st->op]);
        add_field(out, "", st->name);
        add_field(out, "flag", st->flag);
        add_field(out, "text", st->text);
        add_field(out, "before", st->before);
        add_field(out, "after", st->after);
        bz_buf_add_char(out, '\n');
    }
    assert_int_equal(n, ast->count);
}

/* What a text comes to: its statements, or the message of the failure; and then the
 * warnings. */
static void expect(enum bz_parse_kind kind, struct bz_str text, const char *expected)
{
    char *copy = bz_mem_dup(text.p, text.n); /* so that nothing can point into it */
    struct bz_arena arena = {0};
    struct bz_diag_list diags = {.arena = &arena};
    struct bz_buf out = {0};
    struct bz_ast *ast;
    struct bz_err err;
    int rc =
        bz_parse_text(&arena, "f", kind, bz_str_of(copy, text.n), &diags, &ast, &err);

    free(copy);
    assert_int_equal(rc, diags.errors ? BZ_E_INVAL : 0);
    if (rc < 0)
        bz_buf_addf(&out, "%s\n", err.msg);
    else
        dump(ast, &out);
    for (const struct bz_diag *d = diags.first; d; d = d->next)
        if (d->severity == BZ_DIAG_WARNING)
            bz_buf_addf(&out, "%u:%u: %s\n", d->line, d->column, d->message);
    if (strcmp(bz_buf_text(&out), expected) != 0)
        fail_msg("%.*s\n---- gives\n%s---- not\n%s", BZ_STR_ARG(text),
                 bz_buf_text(&out), expected);
    bz_buf_release(&out);
    bz_arena_release(&arena);
}

struct row {
    const char *text, *expected;
};

static void expect_rows(enum bz_parse_kind kind, const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        expect(kind, bz_str_from(rows[i].text), rows[i].expected);
}

static void lines_comments_and_ends(void **state)
{
    static const struct row rows[] = {
        {"",                                                                   ""                                                      },
        {"\n\n# c\n#\n",                                                       ""                                                      },
        {"A = \"1\"",                                                          "1-1 assign = <A> text<1>\n"                            },
        {"\nA = \"1\"\n\nB = '2'\n",
         "2-2 assign = <A> text<1>\n4-4 assign = <B> text<2>\n"                                                                        },
        {"A = \"1\" \t\r\nB = \"2\"\rC = \"3\"\r\n",
         "1-1 assign = <A> text<1>\n2-2 assign = <B> text<2>\n"
         "3-3 assign = <C> text<3>\n"                                                                                                  },
        {"A = \"gr\xc3\xbc\xc3\x9f\"\xc2\xa0\n",
         "1-1 assign = <A> text<gr\xc3\xbc\xc3\x9f>\n"                                                                                 },
        {"A = \"x\" # c\n",                                                    "f:1:8: unparsed line: 'A = \"x\" # c'\n"               },
        {" # c\nA = \"1\"\n",                                                  "f:1:1: unparsed line: ' # c'\n"                        },
        {"\xef\xbb\xbf# c\n",                                                  "f:1:1: unparsed line: '\xef\xbb\xbf# c'\n"             },
        {"A[f] ?\?= \"1\"\nexport B += '2'\nunset A[ff]\nunset B\nexport C\n",
         "1-1 assign ?\?= <A> flag<f> text<1>\n2-2 exported assign += <B> text<2>\n"
         "3-3 unset <A> flag<ff>\n4-4 unset <B>\n5-5 export <C>\n"                                                                     },
        {"A = \"x\"y\"\n",                                                     "f:1:7: unparsed line: 'A = \"x\"y\"'\n"                },
        {"A = \"x\" \"y\"\n",                                                  "1-1 assign = <A> text<x\" \"y>\n"                      },
        {" = \"1\"\n",                                                         "f:1:1: Empty variable name in assignment: ' = \"1\"'\n"},
        {"A=\"1\"\nB =\"2\"\n",
         "1-1 assign = <A> text<1>\n2-2 assign = <B> text<2>\n"
         "1:2: lack of whitespace around the assignment: 'A=\"1\"'\n"
         "2:3: lack of whitespace around the assignment: 'B =\"2\"'\n"                                                                 },
    };

    (void)state;
    expect_rows(BZ_PARSE_BB, rows, BZ_COUNTOF(rows));
    expect_rows(BZ_PARSE_CONF, rows, BZ_COUNTOF(rows));
}

static void continued_lines_are_one_statement_in_every_file(void **state)
{
    static const struct row rows[] = {
        {"A = \"a\\\n  b\"\n",                         "1-2 assign = <A> text<a  b>\n"       },
        {"A = \"a \\  \t\n\tb \\\r\n \"\nB = \"1\"\n",
         "1-3 assign = <A> text<a \tb  >\n4-4 assign = <B> text<1>\n"                        },
        {"A = \\\n\\\n\"a\"\n",                        "1-3 assign = <A> text<a>\n"          },
        {"# a \\\n# b \\\n# c\nA = \"1\"\n",           "4-4 assign = <A> text<1>\n"          },
        {"inc\\\nlude a\\\n b\n",                      "1-3 include text<a b>\n"             },
        {"include a \\\n\nA = '1'\n",
         "1-2 include text<a >\n3-3 assign = <A> text<1>\n"                                  },
        {"A = \"x\" \\\n\n",                           "f:1:8: unparsed line: 'A = \"x\" '\n"},
        {"# a \\\nA = \"1\"\n",
         "f:1:1: There is a confusing multiline, partially commented expression\n"           },
        {"# a \\\n\nA = \"1\"\n",
         "f:1:1: There is a confusing multiline, partially commented expression\n"           },
 /* a place in a continued line is where it stands in the file */
        {"A = \"a \\\n  b \\\n  c\" d\n",
         "f:3:5: unparsed line: 'A = \"a   b   c\" d'\n"                                     },
        {"A \\\n  B\n",                                "f:2:3: unparsed line: 'A   B'\n"     },
    };

    (void)state;
    expect_rows(BZ_PARSE_BB, rows, BZ_COUNTOF(rows));
    expect_rows(BZ_PARSE_CONF, rows, BZ_COUNTOF(rows));
}

static void continued_lines_differ_between_recipes_and_conf_files(void **state)
{
    static const struct {
        const char *text, *bb, *conf;
    } rows[] = {
        {"A = \"a \\\n# b \\\n c\"\n",
         "f:2:1: There is a comment in the middle of a multiline expression\n",       "1-3 assign = <A> text<a # b  c>\n"                           },
        {"A = \"a \\\n# b\nc\"\nB = '1'\n",
         "f:2:1: There is a comment in the middle of a multiline expression\n",       "2 errors, the first at f:1:5: unparsed line: 'A = \"a # b'\n"},
 /* the end of the file after a backslash */
        {"include a\\",                     "f:1:1: Unparsed lines: 'include a'\n",
         "1-2 include text<a>\n"                                                                                                                    },
        {"# a\\\n",                         "f:1:1: Unparsed lines: '# a'\n",
         "f:1:1: There is a confusing multiline, partially commented expression\n"                                                                  },
 /* nothing but a backslash */
        {"\\\nA = \"1\"\n",                 "f:1:1: Unparsed lines: '\\'\n",
         "1-2 assign = <A> text<1>\n"                                                                                                               },
        {"\\\n# a\n",                       "f:1:1: Unparsed lines: '\\'\n",          ""                                                            },
        {"\\\n\n",                          "f:1:1: Unparsed lines: '\\'\n",          "f:1:1: unparsed line: '\\'\n"                                },
        {"\\",                              "f:1:1: Unparsed lines: '\\'\n",          "f:1:1: unparsed line: '\\'\n"                                },
 /* two backslashes: in a .conf file the first one counts after an empty line */
        {"A = 'a\\\\\n\n b'\n",
         "2 errors, the first at f:1:5: unparsed line: 'A = 'a\\'\n",                 "1-3 assign = <A> text<a b>\n"                                },
        {"include a\\\\",                   "f:1:1: Unparsed lines: 'include a\\'\n",
         "1-3 include text<a>\n"                                                                                                                    },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        expect(BZ_PARSE_BB, bz_str_from(rows[i].text), rows[i].bb);
        expect(BZ_PARSE_CONF, bz_str_from(rows[i].text), rows[i].conf);
    }
}

static void bodies_of_functions_are_kept(void **state)
{
    static const char tab[] =
        "python should use 4 spaces indentation, but found tabs\n";
    char expected[512];
    static const struct row rows[] = {
        {"f () {\n}\n",                                            "1-2 function <f> text<>\n"                         },
        {"f () {\n    a\n\n\tb \\\n  c  \n # d\n }\n}\nA = '1'\n",
         "1-8 function <f> text<    a\\n\\n\tb \\\\n  c\\n # d\\n }\\n>\n"
         "9-9 assign = <A> text<1>\n"                                                                                  },
        {"fakeroot python do_a:append() {\r\n  x\r\n}\r\n",
         "1-3 fakeroot python function <do_a:append> text<  x\\n>\n"                                                   },
        {"python () {\n    x\n}\npython __anonymous () {\n}\n",
         "1-3 python function text<    x\\n>\n4-5 python function text<>\n"                                            },
        {"f \\\n() {\nA = \"\nEOF\n}",                             "2-5 function <f> text<A = \"\\nEOF\\n>\n"          },
        {"f () {\n} \n",                                           "1-2 function <f> text<>\n"                         },
        {"f () {\n  a\n}  # not the end\n}\n",
         "1-4 function <f> text<  a\\n}  # not the end\\n>\n"                                                          },
        {"A = '1'\nf () {\n  a\n",
         "f:2:1: Unparsed lines from unclosed function 'f'\n"                                                          },
        {"f () {",                                                 "f:1:1: Unparsed lines from unclosed function 'f'\n"},
        {"python () {\n }\n",
         "f:1:1: Unparsed lines from unclosed function '__anonymous'\n"                                                },
        {"}\n",                                                    "f:1:2: unparsed line: '}'\n"                       },
    };

    (void)state;
    expect_rows(BZ_PARSE_BB, rows, BZ_COUNTOF(rows));
    snprintf(expected, sizeof(expected),
             "1-5 python function <f> text<\tx\\n  \ty\\n \\\tz\\n>\n2:1: %s3:3: %s",
             tab, tab);
    expect(BZ_PARSE_BB, BZ_STR("python f() {\n\tx\n  \ty\n \\\tz\n}\n"), expected);
    expect(BZ_PARSE_BB, BZ_STR("f() {\n\tx\n}\n"), "1-3 function <f> text<\tx\\n>\n");
}

static void definitions_go_on_while_lines_are_indented_empty_or_comments(void **state)
{
    static const struct row rows[] = {
        {"def f():\n    a\n\n# c\n    b\nA = '1'\n",
         "1-6 python def <f> text<def f():\\n    a\\n\\n# c\\n    b>\n"
         "6-6 assign = <A> text<1>\n"                                                               },
 /* what comes after it belongs to it too, up to the next statement */
        {"def f():\n  a\n\n# of g\ndef g():\n  b\n",
         "1-5 python def <f> text<def f():\\n  a\\n\\n# of g>\n"
         "5-7 python def <g> text<def g():\\n  b>\n"                                                },
        {"def f(): pass",                            "1-2 python def <f> text<def f(): pass>\n"     },
        {"def f():\n\n\n",                           "1-4 python def <f> text<def f():\\n\\n>\n"    },
        {"def f():\n  a \\\n\t\nb\n",                "f:4:2: unparsed line: 'b'\n"                  },
        {"def f(a, \\\n  b):\n  c\n\\\n",            "f:4:1: Unparsed lines: '\\'\n"                },
        {"def f(a,\\\n b):\n  c\n",                  "2-4 python def <f> text<def f(a, b):\\n  c>\n"},
        {"def f(): # c  \n\xc2\xa0x\n",
         "1-3 python def <f> text<def f(): # c\\n\xc2\xa0x>\n"                                      },
        {"def f():\n\tx\n",
         "1-3 python def <f> text<def f():\\n\tx>\n"
         "2:1: python should use 4 spaces indentation, but found tabs\n"                            },
    };

    (void)state;
    expect_rows(BZ_PARSE_BB, rows, BZ_COUNTOF(rows));
}

static void statements_of_recipes(void **state)
{
    static const struct row rows[] = {
        {"inherit a b\ninherit_defer ${C}\ninclude x\nrequire y z\ninclude_all w\n",
         "1-1 inherit text<a b>\n2-2 defer text<${C}>\n3-3 include text<x>\n"
         "4-4 require text<y z>\n5-5 include_all text<w>\n"                                                                          },
        {"addtask a after b before c # d\naddtask e\ndeltask f # g\naddhandler h\n"
         "EXPORT_FUNCTIONS i j\n",                                          "1-1 addtask text<a> before<c > after<b>\n2-2 addtask text<e>\n"
         "3-3 deltask text<f >\n4-4 handler text<h>\n5-5 export_functions text<i j>\n"    },
        {"addfragments a B C D\n",                                                   "1-1 fragments <B> text<a> before<C> after<D>\n"},
        {"addtask a:append_b\n",
         "f:1:9: Task name 'a:append_b' contains a keyword which is not supported\n"                                                 },
        {"addpylib a b\n",                                                           "f:1:10: unparsed line: 'addpylib a b'\n"       },
    };

    (void)state;
    expect_rows(BZ_PARSE_BB, rows, BZ_COUNTOF(rows));
}

static void statements_of_conf_files(void **state)
{
    static const struct row rows[] = {
        {"include x\nrequire y\ninclude_all z\naddfragments a B C D\n",
         "1-1 include text<x>\n2-2 require text<y>\n3-3 include_all text<z>\n"
         "4-4 fragments <B> text<a> before<C> after<D>\n"                                                                        },
        {"addpylib a b\n",                                              "f:1:10: unparsed line: 'addpylib a b'\n"                },
        {"inherit a\n",                                                 "f:1:1: unparsed line: 'inherit a'\n"                    },
        {"addtask a\n",                                                 "f:1:1: unparsed line: 'addtask a'\n"                    },
        {"f () {\n}\n",                                                 "2 errors, the first at f:1:1: unparsed line: 'f () {'\n"},
        {"def f():\n",                                                  "f:1:1: unparsed line: 'def f():'\n"                     },
    };

    (void)state;
    expect_rows(BZ_PARSE_CONF, rows, BZ_COUNTOF(rows));
    expect(BZ_PARSE_BASECONF, BZ_STR("addpylib ${LAYERDIR}/lib oe\n"),
           "1-1 addpylib text<${LAYERDIR}/lib> before<oe>\n");
    expect(BZ_PARSE_BASECONF, BZ_STR("inherit a\n"),
           "f:1:1: unparsed line: 'inherit a'\n");
}

static void bytes_that_are_no_text_have_a_place(void **state)
{
    (void)state;
    expect(BZ_PARSE_BB, BZ_STR("# \xc3\xa9\nA = \"\xc3\xa9\xe9\"\n"),
           "f:2:7: byte 0xe9 is not UTF-8\n");
    expect(BZ_PARSE_CONF, BZ_STR("a\r\n\r\n\xff"), "f:3:1: byte 0xff is not UTF-8\n");
    expect(BZ_PARSE_BB, BZ_STR("# \xe2\x82"), "f:1:3: byte 0xe2 is not UTF-8\n");
    expect(BZ_PARSE_BB, BZ_STR("\nA = \"\0\"\n"), "f:2:6: NUL byte\n");
    expect(BZ_PARSE_BB, BZ_STR("\0"), "f:1:1: NUL byte\n");
}

static void several_errors_are_told_in_one_run(void **state)
{
    static const char text[] = "A = 1\nB = \"2\"\nC \\\n D\nf () {\n x\n}\nE[ = '1'\n";
    struct bz_arena arena = {0};
    struct bz_diag_list diags = {.arena = &arena};
    struct bz_buf out = {0};
    struct bz_ast *ast = NULL;
    struct bz_err err;

    (void)state;
    assert_int_equal(bz_parse_text(&arena, "d/f.bb", BZ_PARSE_BB, bz_str_from(text),
                                   &diags, &ast, &err),
                     BZ_E_INVAL);
    assert_null(ast);
    for (const struct bz_diag *d = diags.first; d; d = d->next)
        bz_diag_format(d, &out);
    assert_string_equal(bz_buf_text(&out),
                        "d/f.bb:1:5: error: unparsed line: 'A = 1'\n"
                        "  A = 1\n"
                        "      ^ expected a value in quotes\n"
                        "d/f.bb:4:2: error: unparsed line: 'C  D'\n"
                        "   D\n"
                        "   ^ expected an operator: = ?= ?\?= := += =+ .= =.\n"
                        "d/f.bb:8:3: error: unparsed line: 'E[ = '1''\n"
                        "  E[ = '1'\n"
                        "    ^ expected the name of a flag\n");
    bz_buf_release(&out);
    bz_arena_release(&arena);
}

static void the_rest_of_a_wrong_continuation_is_not_read_as_statements(void **state)
{
    static const char *const texts[] = {
        "A = \" \\\n a \\\n# b \\\n c \\\n# d\n e \\\n f\"\nB = '1'\n",
        "# A = \" \\\n a \\\n b\"\nB = '1'\n",
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(texts); i++) {
        struct bz_arena arena = {0};
        struct bz_diag_list diags = {.arena = &arena};
        struct bz_ast *ast;
        struct bz_err err;

        assert_int_equal(bz_parse_text(&arena, "f", BZ_PARSE_BB, bz_str_from(texts[i]),
                                       &diags, &ast, &err),
                         BZ_E_INVAL);
        assert_int_equal(diags.errors, 1);
        bz_arena_release(&arena);
    }
}

static void a_list_serves_several_files(void **state)
{
    struct bz_arena arena = {0};
    struct bz_diag_list diags = {.arena = &arena};
    struct bz_ast *ast;
    struct bz_err err;

    (void)state;
    assert_int_equal(
        bz_parse_text(&arena, "a", BZ_PARSE_BB, BZ_STR("x\n"), &diags, &ast, &err),
        BZ_E_INVAL);
    assert_ok(bz_parse_text(&arena, "b", BZ_PARSE_BB, BZ_STR("A = '1'\n"), &diags, &ast,
                            &err),
              &err);
    assert_string_equal(ast->path, "b");
    for (size_t i = 0; i < BZ_DIAG_KEEP; i++) /* more than the list keeps */
        assert_int_equal(
            bz_parse_text(&arena, "c", BZ_PARSE_BB, BZ_STR("B\n"), &diags, &ast, &err),
            BZ_E_INVAL);
    assert_string_equal(err.msg, "c: 1 errors");
    bz_arena_release(&arena);
}

static void expect_end(enum bz_parse_kind kind, const char *head, struct bz_str middle,
                       const char *tail)
{
    struct bz_arena arena = {0};
    struct bz_diag_list diags = {.arena = &arena};
    struct bz_buf text = {0};
    struct bz_ast *ast;
    struct bz_err err;
    int rc;

    bz_buf_add_str(&text, bz_str_from(head));
    bz_buf_add_str(&text, middle);
    bz_buf_add_str(&text, bz_str_from(tail));
    rc = bz_parse_text(&arena, "f", kind, bz_buf_str(&text), &diags, &ast, &err);
    assert_true(rc == 0 || rc == BZ_E_INVAL);
    assert_in_range(diags.errors, rc < 0, 20);
    bz_buf_release(&text);
    bz_arena_release(&arena);
}

/* Each of these is a shape in which a careless reader goes over the text again for each
 * of its parts. So many bytes of it then take minutes, and the test does not end. */
static void time_is_linear_whatever_the_shape(void **state)
{
    static const struct {
        const char *head, *unit, *tail;
    } shapes[] = {
        {"A = \"",       "\" \"",             "\"\n"       },
        {"A = '",        "\\\n",              "'\n"        },
        {"",             "\r",                ""           },
        {"",             "\r\n",              ""           },
        {"",             "A = '1'\n",         ""           },
        {"",             "A='1'\n",           ""           },
        {"",             "A\n",               ""           },
        {"",             "def f():\n",        ""           },
        {"",             "f() {\n}\n",        ""           },
        {"f() {\n",      "}x\n",              ""           },
        {"",             "python ",           "f () {\n}\n"},
        {"",             " ",                 "\n"         },
        {"A",            " ",                 "= '1'\n"    },
        {"",             "\xc2\xa0",          "x\n"        },
        {"addtask a",    " after b before c", "\n"         },
        {"addtask ",     ":append ",          "\n"         },
        {"addfragments", " ",                 "x\n"        },
        {"addfragments", " a",                "\n"         },
        {"addpylib",     "x",                 "\n"         },
        {"unset A[",     "f",                 "]\n"        },
        {"# ",           "\\\n# ",            "\n"         },
        {"A = 'x\\\n",   "# \\\n",            "'\n"        },
        {"",             "\\\n",              ""           },
        {"",             "\\",                ""           },
        {"def \xc3\xa9", "\xc3\xa9",          ":\n"        },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(shapes); i++) {
        struct bz_buf text = {0};

        bz_buf_add_str(&text, bz_str_from(shapes[i].unit));
        while (text.len < 1 << 18) { /* the unit, doubled again and again */
            bz_buf_reserve(&text, text.len);
            memcpy(text.data + text.len, text.data, text.len);
            bz_buf_commit(&text, text.len);
        }
        expect_end(BZ_PARSE_BB, shapes[i].head, bz_buf_str(&text), shapes[i].tail);
        expect_end(BZ_PARSE_BASECONF, shapes[i].head, bz_buf_str(&text),
                   shapes[i].tail);
        bz_buf_release(&text);
    }
}

static void a_million_statements_are_fine(void **state)
{
    struct bz_arena arena = {0};
    struct bz_diag_list diags = {.arena = &arena};
    struct bz_buf text = {0};
    struct bz_ast *ast;
    struct bz_err err;

    (void)state;
    for (int i = 0; i < 1000000; i++)
        bz_buf_add_str(&text, BZ_STR("A = '1'\n"));
    assert_ok(
        bz_parse_text(&arena, "f", BZ_PARSE_BB, bz_buf_str(&text), &diags, &ast, &err),
        &err);
    assert_int_equal(ast->count, 1000000);
    bz_buf_release(&text);
    bz_arena_release(&arena);
}

static void size_has_a_limit_and_messages_do_too(void **state)
{
    struct bz_arena arena = {0};
    struct bz_diag_list diags = {.arena = &arena};
    char *text = bz_mem_alloc(BZ_PARSE_MAX + 1);
    struct bz_ast *ast;
    struct bz_err err;

    (void)state;
    memset(text, 'x', BZ_PARSE_MAX + 1);
    assert_int_equal(bz_parse_text(&arena, "f", BZ_PARSE_BB,
                                   bz_str_of(text, BZ_PARSE_MAX + 1), &diags, &ast,
                                   &err),
                     BZ_E_LIMIT);
    assert_int_equal(diags.errors, 0);
    assert_int_equal(bz_parse_text(&arena, "f", BZ_PARSE_BB,
                                   bz_str_of(text, BZ_PARSE_MAX), &diags, &ast, &err),
                     BZ_E_INVAL);
    assert_in_range(strlen(diags.first->message), 1, 320);
    assert_in_range(diags.first->source.n, 1, 160);
    assert_int_equal(diags.first->column, BZ_PARSE_MAX + 1);
    free(text);
    bz_arena_release(&arena);
}

static void the_suffix_tells_the_kind(void **state)
{
    static const struct {
        const char *path;
        int kind; /* -1: none */
    } cases[] = {
        {"a.bb",              BZ_PARSE_BB  },
        {"/x/a_1.0.bb",       BZ_PARSE_BB  },
        {"classes/a.bbclass", BZ_PARSE_BB  },
        {"a.inc",             BZ_PARSE_BB  },
        {".a.inc",            BZ_PARSE_BB  },
        {"a.conf",            BZ_PARSE_CONF},
        {"x/.conf",           BZ_PARSE_CONF},
        {"a.bbappend",        -1           },
        {".bb",               -1           }, /* a name without a suffix */
        {"..inc",             -1           },
        {"a.bb/b",            -1           },
        {"a.BB",              -1           },
        {"bb",                -1           },
        {"aconf",             -1           },
        {"",                  -1           },
    };
    enum bz_parse_kind kind;
    struct bz_err err;

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        int rc = bz_parse_kind_of(cases[i].path, &kind, &err);

        if (rc != (cases[i].kind < 0 ? BZ_E_INVAL : 0) ||
            (rc == 0 && (int)kind != cases[i].kind))
            fail_msg("%s", cases[i].path);
    }
    assert_string_equal(err.msg, ": not a BitBake file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_comments_and_ends),
        cmocka_unit_test(continued_lines_are_one_statement_in_every_file),
        cmocka_unit_test(continued_lines_differ_between_recipes_and_conf_files),
        cmocka_unit_test(bodies_of_functions_are_kept),
        cmocka_unit_test(definitions_go_on_while_lines_are_indented_empty_or_comments),
        cmocka_unit_test(statements_of_recipes),
        cmocka_unit_test(statements_of_conf_files),
        cmocka_unit_test(bytes_that_are_no_text_have_a_place),
        cmocka_unit_test(several_errors_are_told_in_one_run),
        cmocka_unit_test(the_rest_of_a_wrong_continuation_is_not_read_as_statements),
        cmocka_unit_test(a_list_serves_several_files),
        cmocka_unit_test(time_is_linear_whatever_the_shape),
        cmocka_unit_test(a_million_statements_are_fine),
        cmocka_unit_test(size_has_a_limit_and_messages_do_too),
        cmocka_unit_test(the_suffix_tells_the_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
