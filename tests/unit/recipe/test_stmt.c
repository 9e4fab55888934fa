#include "recipe/stmt.h"

#include "tests/unit/bz_test.h"

/* A statement in one line: its kind, then name[flag]|text|before|after, where nothing
 * stands for what is absent. */
static struct bz_str shown(struct bz_arena *arena, const struct bz_ast_stmt *st)
{
    static const char *const kinds[] = {
        [BZ_AST_ASSIGN] = "assign",
        [BZ_AST_EXPORT] = "export",
        [BZ_AST_UNSET] = "unset",
        [BZ_AST_INCLUDE] = "include",
        [BZ_AST_REQUIRE] = "require",
        [BZ_AST_INCLUDE_ALL] = "include_all",
        [BZ_AST_INHERIT] = "inherit",
        [BZ_AST_INHERIT_DEFER] = "inherit_defer",
        [BZ_AST_ADDTASK] = "addtask",
        [BZ_AST_DELTASK] = "deltask",
        [BZ_AST_ADDHANDLER] = "addhandler",
        [BZ_AST_EXPORT_FUNCTIONS] = "EXPORT_FUNCTIONS",
        [BZ_AST_FUNCTION] = "function",
        [BZ_AST_DEF] = "def",
        [BZ_AST_ADDPYLIB] = "addpylib",
        [BZ_AST_ADDFRAGMENTS] = "addfragments",
    };

    return bz_arena_printf(arena, "%s%s%s %.*s[%.*s]|%.*s|%.*s|%.*s",
                           st->fakeroot ? "fakeroot " : "", st->python ? "python " : "",
                           kinds[st->kind], BZ_STR_ARG(st->name), BZ_STR_ARG(st->flag),
                           BZ_STR_ARG(st->text), BZ_STR_ARG(st->before),
                           BZ_STR_ARG(st->after));
}

static struct bz_str read_as(struct bz_arena *arena, enum bz_parse_kind kind,
                             const char *line)
{
    struct bz_ast_stmt st = {0};
    struct bz_stmt_note note;

    if (!bz_stmt_read(arena, kind, bz_str_from(line), &st, &note))
        return BZ_STR("nothing");
    return shown(arena, &st);
}

struct row {
    const char *line, *shown;
};

static void expect_rows(enum bz_parse_kind kind, const struct row *rows, size_t n)
{
    struct bz_arena arena = {0};

    for (size_t i = 0; i < n; i++) {
        struct bz_str got = read_as(&arena, kind, rows[i].line);

        if (!bz_str_eq(got, bz_str_from(rows[i].shown)))
            fail_msg("%s\n  is <%.*s>\n not <%s>", rows[i].line, BZ_STR_ARG(got),
                     rows[i].shown);
    }
    bz_arena_release(&arena);
}

static void statements_with_one_text(void **state)
{
    static const struct row rows[] = {
        {"include a.inc",              "include []|a.inc||"             },
        {"include  \ta.inc ${B}",      "include []|a.inc ${B}||"        },
        {"include\xc2\xa0"
         "a",                 "include []|a||"                 },
        {"require a b",                "require []|a b||"               },
        {"include_all conf/x.conf",    "include_all []|conf/x.conf||"   },
        {"inherit a ${B}",             "inherit []|a ${B}||"            },
        {"inherit_defer a",            "inherit_defer []|a||"           },
        {"addhandler a b # c",         "addhandler []|a b # c||"        },
        {"EXPORT_FUNCTIONS do_a do_b", "EXPORT_FUNCTIONS []|do_a do_b||"},
        {"deltask do_a do_b # why",    "deltask []|do_a do_b ||"        },
        {"deltask do_a#why",           "deltask []|do_a||"              },
        {"include",                    "nothing"                        },
        {"includes a",                 "nothing"                        },
        {"include/a",                  "nothing"                        },
        {"Include a",                  "nothing"                        },
        {"deltask",                    "nothing"                        },
        {"deltask #",                  "nothing"                        },
 /* what a continuation with an empty line makes: the last blank is the text */
        {"include ",                   "nothing"                        },
        {"include  ",                  "include []| ||"                 },
        {"include a ",                 "include []|a ||"                },
        {"deltask  #",                 "deltask []| ||"                 },
        {"inherit \xe2\x80\x83",       "inherit []|\xe2\x80\x83||"      },
    };

    (void)state;
    expect_rows(BZ_PARSE_BB, rows, BZ_COUNTOF(rows));
}

static void addtask_splits_at_before_and_after(void **state)
{
    static const struct row rows[] = {
        {"addtask a",                                  "addtask []|a||"         },
        {"addtask do_a do_b",                          "addtask []|do_a do_b||" },
        {"addtask a after b",                          "addtask []|a||b"        },
        {"addtask a before c",                         "addtask []|a|c|"        },
        {"addtask a after b c before d e",             "addtask []|a|d e|b c"   },
        {"addtask a before d e after b c",             "addtask []|a|d e|b c"   },
        {"addtask a after b before c # why not",       "addtask []|a|c |b"      },
        {"addtask a after b#before c",                 "addtask []|a||b"        },
        {"addtask a after b after c",                  "addtask []|a||b c"      },
        {"addtask a before b before c before d",       "addtask []|a|b c d|"    },
        {"addtask a after ${@x} before ${B}",          "addtask []|a|${B}|${@x}"},
 /* pieces are put together without a space */
        {"addtask a after b before c after d",         "addtask []|a|c|bd"      },
        {"addtask a before b after c before d",        "addtask []|a|bd|c"      },
        {"addtask a after b before c after d after e", "addtask []|a|c|bd e"    },
 /* only a space on both sides makes a separator */
        {"addtask a\tafter b",                         "addtask []|a\tafter b||"},
        {"addtask a after",                            "addtask []|a after||"   },
        {"addtask after b",                            "addtask []|after b||"   },
        {"addtask a before after b",                   "addtask []|a||"         },
        {"addtask a after  after b",                   "addtask []|a|| b"       },
        {"addtask a after # b",                        "addtask []|a||"         },
        {"addtask",                                    "nothing"                },
        {"addtask # a",                                "nothing"                },
        {"addtask  # a",                               "addtask []| ||"         },
    };

    (void)state;
    expect_rows(BZ_PARSE_BB, rows, BZ_COUNTOF(rows));
}

static void unset_and_export_take_one_plain_name(void **state)
{
    static const struct row rows[] = {
        {"export A",                "export A[]|||"            },
        {"export \t aZ09-_+.${}/~", "export aZ09-_+.${}/~[]|||"},
        {"export A:b",              "nothing"                  },
        {"export A B",              "nothing"                  },
        {"export A[f]",             "nothing"                  },
        {"export A ",               "nothing"                  },
        {"export",                  "nothing"                  },
        {"unset A",                 "unset A[]|||"             },
        {"unset ${A}-b",            "unset ${A}-b[]|||"        },
        {"unset A[ff]",             "unset A[ff]|||"           },
        {"unset A[-.@]",            "unset A[-.@]|||"          },
        {"unset A[f]",              "nothing"                  }, /* one character */
        {"unset A[@f]",             "nothing"                  },
        {"unset A[f/g]",            "nothing"                  },
        {"unset A[]",               "nothing"                  },
        {"unset A[ff",              "nothing"                  },
        {"unset A[ff] ",            "nothing"                  },
        {"unset A]",                "nothing"                  },
        {"unset [ff]",              "nothing"                  },
        {"unset A:b",               "nothing"                  },
        {"unset",                   "nothing"                  },
    };

    (void)state;
    expect_rows(BZ_PARSE_BB, rows, BZ_COUNTOF(rows));
}

static void heads_of_functions(void **state)
{
    static const struct row rows[] = {
        {"f () {",                  "function f[]|||"                 },
        {"f(){",                    "function f[]|||"                 },
        {"f \t(\xc2\xa0)\t{",       "function f[]|||"                 },
        {"do_a:append:${X}() {",    "function do_a:append:${X}[]|||"  },
        {"a-b+c.d{} () {",          "function a-b+c.d{}[]|||"         },
        {"gr\xc3\xbc\xc3\x9f() {",  "function gr\xc3\xbc\xc3\x9f[]|||"},
        {"fakeroot f () {",         "fakeroot function f[]|||"        },
        {"python f () {",           "python function f[]|||"          },
        {"fakeroot python f () {",  "fakeroot python function f[]|||" },
        {"python fakeroot f () {",  "fakeroot python function f[]|||" },
        {"python python f () {",    "python function f[]|||"          },
        {"pythonf () {",            "function pythonf[]|||"           },
        {"fakeroot() {",            "function fakeroot[]|||"          },
        {"python fakeroot() {",     "python function fakeroot[]|||"   },
 /* without a name, or with this one, a function runs by itself */
        {"python () {",             "python function []|||"           },
        {"python() {",              "python function []|||"           },
        {"python __anonymous () {", "python function []|||"           },
        {"__anonymous () {",        "python function []|||"           },
        {"() {",                    "python function []|||"           },
        {" () {",                   "python function []|||"           },
        {"fakeroot () {",           "fakeroot python function []|||"  },
        {" f () {",                 "nothing"                         },
        {" python () {",            "nothing"                         },
        {"f g () {",                "nothing"                         },
        {"f () { :; }",             "nothing"                         },
        {"f () {}",                 "nothing"                         },
        {"f (x) {",                 "nothing"                         },
        {"f {",                     "nothing"                         },
        {"f() () {",                "nothing"                         },
        {"f/g () {",                "nothing"                         },
        {"f\xe2\x80\x93g () {",     "nothing"                         },
        {"{",                       "nothing"                         },
        {"){",                      "nothing"                         },
    };

    (void)state;
    expect_rows(BZ_PARSE_BB, rows, BZ_COUNTOF(rows));
}

static void heads_of_definitions(void **state)
{
    static const struct row rows[] = {
        {"def f():",                 "python def f[]|||"         },
        {"def \t f(a, b=':'):  # c", "python def f[]|||"         },
        {"def f: x",                 "python def f[]|||"         },
        {"def f(x) -> y: pass",      "python def f[]|||"         },
        {"def gr\xc3\xbc(d):",       "python def gr\xc3\xbc[]|||"},
        {"def f = 'a:b'",            "python def f[]|||"         },
        {"def f = 'a'",              "nothing"                   },
        {"def f()",                  "nothing"                   },
        {"def (x):",                 "nothing"                   },
        {"def -f():",                "nothing"                   },
        {"def",                      "nothing"                   },
        {"define:",                  "nothing"                   },
    };

    (void)state;
    expect_rows(BZ_PARSE_BB, rows, BZ_COUNTOF(rows));
}

/* Here it shows that a pattern decides and not a split into words. */
static void addpylib_and_addfragments_take_the_last_words(void **state)
{
    static const struct row rows[] = {
        {"addpylib ${D}/lib oe",   "addpylib []|${D}/lib|oe|"},
        {"addpylib a b c",         "addpylib []|a b|c|"      },
        {"addpylib a  b",          "addpylib []|a |b|"       },
        {"addpylib  a b",          "addpylib []|a|b|"        },
        {"addpylib a b ",          "addpylib []|a|b |"       },
        {"addpylib a b  ",         "addpylib []|a b| |"      },
        {"addpylib   b",           "addpylib []| |b|"        },
        {"addpylib  b",            "nothing"                 },
        {"addpylib a",             "nothing"                 },
        {"addpylib",               "nothing"                 },
        {"addfragments a B C D",   "addfragments B[]|a|C|D"  },
        {"addfragments a b B C D", "addfragments B[]|a b|C|D"},
        {"addfragments a  B C  D", "addfragments B[]|a |C |D"},
        {"addfragments a B   C D", "addfragments  []|a B|C|D"},
        {"addfragments a B C",     "nothing"                 },
        {"addfragments a\xc2\xa0"
         "B\xe2\x80\x83"
         "C\tD",          "addfragments B[]|a|C|D"  },
    };

    (void)state;
    expect_rows(BZ_PARSE_BASECONF, rows, BZ_COUNTOF(rows));
}

static void the_kind_of_file_decides_what_comes_first(void **state)
{
    static const struct {
        const char *line, *bb, *conf;
    } rows[] = {
        {"inherit = 'x'",           "inherit []|= 'x'||",           "assign inherit[]|x||"  },
        {"addtask = 'x'",           "addtask []|= 'x'||",           "assign addtask[]|x||"  },
        {"include = 'x'",           "assign include[]|x||",         "assign include[]|x||"  },
        {"unset = 'x'",             "assign unset[]|x||",           "assign unset[]|x||"    },
        {"inherit x",               "inherit []|x||",               "nothing"               },
        {"inherit_defer x",         "inherit_defer []|x||",         "nothing"               },
        {"addtask x",               "addtask []|x||",               "nothing"               },
        {"deltask x",               "deltask []|x||",               "nothing"               },
        {"addhandler x",            "addhandler []|x||",            "nothing"               },
        {"EXPORT_FUNCTIONS x",      "EXPORT_FUNCTIONS []|x||",      "nothing"               },
        {"f () {",                  "function f[]|||",              "nothing"               },
        {"def f():",                "python def f[]|||",            "nothing"               },
        {"include x",               "include []|x||",               "include []|x||"        },
        {"require x",               "require []|x||",               "require []|x||"        },
        {"include_all x",           "include_all []|x||",           "include_all []|x||"    },
        {"export X",                "export X[]|||",                "export X[]|||"         },
        {"unset X",                 "unset X[]|||",                 "unset X[]|||"          },
        {"addpylib a b",            "nothing",                      "nothing"               },
        {"addfragments a B C D",    "addfragments B[]|a|C|D",       "addfragments B[]|a|C|D"},
 /* what looks like the head of a function leaves nothing behind */
        {"inherit python 'x' () {", "inherit []|python 'x' () {||", "nothing"               },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        const struct row bb = {rows[i].line, rows[i].bb};
        const struct row conf = {rows[i].line, rows[i].conf};

        expect_rows(BZ_PARSE_BB, &bb, 1);
        expect_rows(BZ_PARSE_CONF, &conf, 1);
    }
}

static void a_note_says_what_is_wrong_and_where(void **state)
{
    static const struct {
        enum bz_parse_kind kind;
        const char *line;
        enum bz_stmt_fault fault;
        size_t at;
        const char *expected;
    } rows[] = {
        {BZ_PARSE_BB,   "A = '1'",                    BZ_STMT_FINE,     0,  NULL                        },
        {BZ_PARSE_BB,   "A= '1'",                     BZ_STMT_TIGHT,    1,  "white space on both sides" },
        {BZ_PARSE_BB,   "= '1'",                      BZ_STMT_NO_NAME,  0,  "the name of a variable"    },
        {BZ_PARSE_BB,   "export = '1'",               BZ_STMT_NO_NAME,  7,  "the name of a variable"    },
        {BZ_PARSE_BB,   "[f] = '1'",                  BZ_STMT_NO_NAME,  0,  "the name of a variable"    },
        {BZ_PARSE_BB,   "A = 1",                      BZ_STMT_UNPARSED, 4,  "a value in quotes"         },
        {BZ_PARSE_BB,   "  A = '1'",                  BZ_STMT_UNPARSED, 0,  "a statement, in the first" },
        {BZ_PARSE_BB,   "inherit",                    BZ_STMT_UNPARSED, 7,  "names of classes"          },
        {BZ_PARSE_BB,   "require ",                   BZ_STMT_UNPARSED, 8,  "the name of a file"        },
        {BZ_PARSE_BB,   "unset  A[f]",                BZ_STMT_UNPARSED, 7,  "one name without a colon"  },
        {BZ_PARSE_BB,   "addpylib a b",               BZ_STMT_UNPARSED, 9,  "a directory and a name"    },
        {BZ_PARSE_CONF, "inherit x",                  BZ_STMT_UNPARSED, 0,  "what a .conf file may have"},
        {BZ_PARSE_CONF, "f () {",                     BZ_STMT_UNPARSED, 0,  "what a .conf file may have"},
        {BZ_PARSE_BB,   "addtask a after b:append_c", BZ_STMT_TASK,     16, NULL                        },
        {BZ_PARSE_BB,   "addtask a # x:remove_",      BZ_STMT_TASK,     12, NULL                        },
        {BZ_PARSE_BB,   "addtask a:prepend_b",        BZ_STMT_TASK,     8,  NULL                        },
    };
    struct bz_arena arena = {0};

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        struct bz_ast_stmt st = {0};
        struct bz_stmt_note note;
        bool good =
            bz_stmt_read(&arena, rows[i].kind, bz_str_from(rows[i].line), &st, &note);

        if (note.fault != rows[i].fault || note.at != rows[i].at)
            fail_msg("%s: fault %d at %zu", rows[i].line, (int)note.fault, note.at);
        assert_int_equal(good, note.fault <= BZ_STMT_TIGHT);
        if (rows[i].expected)
            assert_memory_equal(note.expected, rows[i].expected,
                                strlen(rows[i].expected));
    }
    bz_arena_release(&arena);
}

static void a_task_may_have_an_operation_without_an_underscore(void **state)
{
    static const struct row rows[] = {
        {"addtask a:append",   "addtask []|a:append||"  },
        {"addtask a_append_b", "addtask []|a_append_b||"},
        {"deltask a:append_b", "deltask []|a:append_b||"},
    };

    (void)state;
    expect_rows(BZ_PARSE_BB, rows, BZ_COUNTOF(rows));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statements_with_one_text),
        cmocka_unit_test(addtask_splits_at_before_and_after),
        cmocka_unit_test(unset_and_export_take_one_plain_name),
        cmocka_unit_test(heads_of_functions),
        cmocka_unit_test(heads_of_definitions),
        cmocka_unit_test(addpylib_and_addfragments_take_the_last_words),
        cmocka_unit_test(the_kind_of_file_decides_what_comes_first),
        cmocka_unit_test(a_note_says_what_is_wrong_and_where),
        cmocka_unit_test(a_task_may_have_an_operation_without_an_underscore),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
