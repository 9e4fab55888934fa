#include "report/firsterror.h"

#include "tests/unit/os/scratch.h"

struct sample {
    const char *log, *line, *file;
    unsigned number, column;
};

static void expect_each(const struct sample *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct bz_firsterror e = {.file = ""};

        assert_true(bz_firsterror_find(bz_str_from(s[i].log), &e));
        assert_string_equal(e.line, s[i].line);
        assert_string_equal(e.file, s[i].file);
        assert_int_equal(e.number, s[i].number);
        assert_int_equal(e.column, s[i].column);
    }
}

static void compilers_tell_the_place(void **state)
{
    static const struct sample samples[] = {
        {"gcc -O2 -Werror -c -o sauce.o sauce.c\n"
         "sauce.c: In function 'simmer':\n"
         "sauce.c:12:9: warning: unused variable 'salt' [-Wunused-variable]\n"
         "sauce.c:14:5: error: 'basil' undeclared (first use in this function)\n"
         "   14 |     basil++;\n"
         "sauce.c:15:5: error: expected ';' before '}' token\n"
         "make[1]: *** [Makefile:7: sauce.o] Error 1\n"
         "make: *** [Makefile:3: all] Error 2\n"
         "ERROR: exit code 2 in do_compile, sauce.bb:4: make\n",                       "sauce.c:14:5: error: 'basil' undeclared (first use in this function)",
         "sauce.c",                                                                                                                                                                    14, 5 },
        {"[12/40] CC oven.o\n"
         "FAILED: oven.o\n"
         "cc -c ../oven.c -o oven.o\n"
         "../oven.c:3:10: fatal error: heat.h: No such file or directory\n"
         "compilation terminated.\n"
         "ninja: build stopped: subcommand failed.\n",                                 "../oven.c:3:10: fatal error: heat.h: No such file or directory",       "../oven.c",
         3,                                                                                                                                                                                10},
        {"start.S: Assembler messages:\nstart.S:8: Error: no such instruction: "
         "`bake'\n",                                                                   "start.S:8: Error: no such instruction: `bake'",                        "start.S",     8,  0 },
        {"Dish.java:4: error: cannot find symbol\n1 error\n",
         "Dish.java:4: error: cannot find symbol",                                                                                                                      "Dish.java",   4,  0 },
        {"# example.org/pizza\n./main.go:9:2: undefined: Basil\n",
         "./main.go:9:2: undefined: Basil",                                                                                                                             "./main.go",   9,  2 },
        {"   Compiling pizza v0.1.0\n"
         "warning: unused import: `std::fmt`\n"
         " --> src/lib.rs:1:5\n"
         "error[E0425]: cannot find value `basil` in this scope\n"
         "  --> src/main.rs:7:13\n"
         "   |\n"
         "error: aborting due to 1 previous error\n"
         "error: could not compile `pizza` (bin \"pizza\") due to 1 previous error\n", "error[E0425]: cannot find value `basil` in this scope",                "src/main.rs", 7,  13},
        {"error: expected one of `;` or `}`, found `bake`\n --> src/main.rs:2:9\n",
         "error: expected one of `;` or `}`, found `bake`",                                                                                                             "src/main.rs", 2,  9 },
        {"\033[01m\033[Ksauce.c:1:2:\033[m\033[K \033[01;31m\033[Kerror: "
         "\033[m\033[Kno\n",                                                           "sauce.c:1:2: error: no",                                               "sauce.c",     1,  2 },
    };

    (void)state;
    expect_each(samples, BZ_COUNTOF(samples));
}

static void linkers_tell_what_is_missing(void **state)
{
    static const struct sample samples[] = {
        {"/usr/bin/ld: main.o: in function `main':\n"
         "main.c:(.text+0x5): undefined reference to `bake'\n"
         "collect2: error: ld returned 1 exit status\n",                    "main.c:(.text+0x5): undefined reference to `bake'",            "", 0, 0},
        {"/usr/bin/ld: cannot find -lcheese: No such file or directory\n"
         "collect2: error: ld returned 1 exit status\n",                    "/usr/bin/ld: cannot find -lcheese: No such file or directory", "", 0, 0},
        {"ld.lld: error: undefined symbol: bake\n"
         ">>> referenced by main.c\n"
         "clang: error: linker command failed with exit code 1 (use -v)\n", "ld.lld: error: undefined symbol: bake",                        "", 0, 0},
        {"a.o: multiple definition of `dough'; b.o:b.c:1: first defined here\n",
         "a.o: multiple definition of `dough'; b.o:b.c:1: first defined here",                                                                       "", 0,
         0                                                                                                                                                   },
    };

    (void)state;
    expect_each(samples, BZ_COUNTOF(samples));
}

static void tools_tell_what_they_could_not_do(void **state)
{
    static const struct sample samples[] = {
        {"-- Looking for cheese\n"
         "CMake Error at cmake/Cheese.cmake:21 (find_package):\n"
         "  Could not find a package configuration file\n"
         "-- Configuring incomplete, errors occurred!\n",                       "CMake Error at cmake/Cheese.cmake:21 (find_package):", "cmake/Cheese.cmake",
         21,                                                                                                                                                               0},
        {"CMake Error: The source directory \"/x\" does not exist.\n",
         "CMake Error: The source directory \"/x\" does not exist.",                                                                             "",                   0,  0},
        {"checking for cheese... no\n"
         "configure: error: no cheese was found\n"
         "ERROR: exit code 1 in do_configure\n",                                "configure: error: no cheese was found",                "",                   0,  0},
        {"../meson.build:12:0: ERROR: Dependency \"cheese\" not found\n",
         "../meson.build:12:0: ERROR: Dependency \"cheese\" not found",                                                                          "../meson.build",     12, 0},
        {"make: *** No rule to make target 'tomato.c', needed by 'sauce.o'.  Stop.\n",
         "make: *** No rule to make target 'tomato.c', needed by 'sauce.o'.  Stop.",                                                             "",
         0,                                                                                                                                                                0},
        {"Makefile:7: *** missing separator.  Stop.\n",
         "Makefile:7: *** missing separator.  Stop.",                                                                                            "Makefile",           7,  0},
        {"ERROR: no oven in this kitchen\nERROR: exit code 1 in do_bake\n",
         "ERROR: no oven in this kitchen",                                                                                                       "",                   0,  0},
        {"/bitzel/run.do_bake: 12: knead: not found\nERROR: exit code 127 in do_bake\n",
         "/bitzel/run.do_bake: 12: knead: not found",                                                                                            "",                   0,  0},
        {"fatal: not a git repository\n",                                                "fatal: not a git repository",                          "",                   0,  0},
        {"cp: error writing 'x': No space left on device\n",
         "cp: error writing 'x': No space left on device",                                                                                       "",                   0,  0},
    };

    (void)state;
    expect_each(samples, BZ_COUNTOF(samples));
}

static void python_tells_last_what_was_raised(void **state)
{
    static const struct sample samples[] = {
        {"Traceback (most recent call last):\n"
         "  File \"setup.py\", line 3, in <module>\n"
         "    main()\n"
         "  File \"/bitzel/tools/bake.py\", line 41, in main\n"
         "    raise ValueError(\"too hot\")\n"
         "ValueError: too hot\n"
         "make: *** [Makefile:2: all] Error 1\n", "ValueError: too hot",   "/bitzel/tools/bake.py", 41, 0},
        {"Traceback (most recent call last):\n"
         "  File \"a.py\", line 1, in <module>\n"
         "KeyError: 'salt'\n"
         "\n"
         "During handling of the above exception, another exception occurred:\n"
         "\n"
         "Traceback (most recent call last):\n"
         "  File \"b.py\", line 2, in <module>\n"
         "RuntimeError: no salt\n"
         "sauce.c:1:1: error: later\n",           "RuntimeError: no salt", "b.py",                  2,  0},
    };

    (void)state;
    expect_each(samples, BZ_COUNTOF(samples));
}

static void effects_are_better_than_nothing(void **state)
{
    static const struct sample samples[] = {
        {"a\nmake: *** [Makefile:3: all] Error 2\nERROR: exit code 2 in do_x\n",
         "make: *** [Makefile:3: all] Error 2",                                                 "", 0, 0},
        {"FAILED: a.o\nninja: build stopped\n",                                  "FAILED: a.o", "", 0, 0},
    };

    (void)state;
    expect_each(samples, BZ_COUNTOF(samples));
}

static void a_script_tells_its_place_if_nobody_else_does(void **state)
{
    static const struct sample samples[] = {
        {"ERROR: exit code 3 in do_x, /layers/a/x.bb:2: false\n",
         "ERROR: exit code 3 in do_x, /layers/a/x.bb:2: false",                                                             "/layers/a/x.bb", 2,  0},
        {"cp: cannot stat 'a, b:1: c': No such file or directory\nERROR: exit code 1 "
         "in do_x, x.bb:12: cp 'a, b:1: c' .\n",         "cp: cannot stat 'a, b:1: c': No such file or directory", "x.bb",           12, 0},
        {"ERROR: exit code 3 in do_x, x.bb: false\n",
         "ERROR: exit code 3 in do_x, x.bb: false",                                                                         "",               0,  0},
        {"ERROR: exit code 3 in do_x, :2: false\n",
         "ERROR: exit code 3 in do_x, :2: false",                                                                           "",               0,  0},
    };

    (void)state;
    expect_each(samples, BZ_COUNTOF(samples));
}

static void what_is_no_error_is_not_taken_for_one(void **state)
{
    static const char log[] = "cc -Werror -o error.o error.c\n"
                              "checking for error_at_line... yes\n"
                              "0 errors, 3 warnings\n"
                              "x.c:1:2: warning: deprecated\n"
                              "PASS: test_errors\n"
                              "at 12:30: all is well\n";
    struct bz_firsterror e;

    (void)state;
    assert_false(bz_firsterror_find(BZ_STR(""), &e));
    assert_false(bz_firsterror_find(bz_str_from(log), &e));
}

static void any_bytes_will_do(void **state)
{
    static const char alphabet[] = ":: 1a\n\n\033[\r File\"error: .go*->";
    struct bz_firsterror e = {.file = ""};
    char text[400];
    unsigned seed = 7;

    (void)state;
    for (int round = 0; round < 20000; round++) {
        size_t n = (size_t)round % sizeof(text);

        for (size_t i = 0; i < n; i++) {
            seed = seed * 1103515245 + 12345;
            text[i] = alphabet[(seed >> 16) % sizeof(alphabet)];
        }
        (void)bz_firsterror_find(bz_str_of(text, n), &e);
    }
    memset(text, ':', sizeof(text));
    assert_false(bz_firsterror_find(bz_str_of(text, sizeof(text)), &e));
}

static void a_file_is_read_from_its_end(void **state)
{
    struct scratch *s = *state;
    struct bz_firsterror e;
    char path[300];

    snprintf(path, sizeof(path), "%s/log", s->path);
    assert_false(bz_firsterror_read(path, &e));
    put(s->fd, "log", "");
    assert_false(bz_firsterror_read(path, &e));
    put(s->fd, "log", "fine\na.c:3:1: error: bad");
    assert_true(bz_firsterror_read(path, &e));
    assert_string_equal(e.line, "a.c:3:1: error: bad");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compilers_tell_the_place),
        cmocka_unit_test(linkers_tell_what_is_missing),
        cmocka_unit_test(tools_tell_what_they_could_not_do),
        cmocka_unit_test(python_tells_last_what_was_raised),
        cmocka_unit_test(effects_are_better_than_nothing),
        cmocka_unit_test(a_script_tells_its_place_if_nobody_else_does),
        cmocka_unit_test(what_is_no_error_is_not_taken_for_one),
        cmocka_unit_test(any_bytes_will_do),
        cmocka_unit_test_setup_teardown(a_file_is_read_from_its_end, scratch_setup,
                                        scratch_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
