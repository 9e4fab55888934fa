#include "complete.h"

#include "tests/unit/bz_test.h"

struct values {
    bool force, colour;
    const char *text;
    int when;
    struct bz_opt_list list;
};

static const char *const whens[] = {"now", "never", "later", NULL};

static const struct bz_opt opts[] = {
    BZ_OPT_FLAG(struct values, force, 'f', "force", "Do it"),
    BZ_OPT_SWITCH(struct values, colour, 0, "colour", true, "Paint it"),
    BZ_OPT_TEXT(struct values, text, 'c', "task", "TASK", "A task"),
    BZ_OPT_CHOICE(struct values, when, 'w', "when", "WHEN", whens, 0, "The time"),
    BZ_OPT_TEXT(struct values, text, 0, "into", "DIR", "A directory"),
    BZ_OPT_TEXT(struct values, text, 0, "run", "COMMAND", "What a shell runs"),
    BZ_OPT_END,
};

static const struct bz_opt globals[] = {
    BZ_OPT_TEXT(struct values, text, 0, "directory", "DIR", "Go to DIR"),
    BZ_OPT_TEXT(struct values, text, 0, "project", "PROJECT", "The project"),
    BZ_OPT_LIST(struct values, list, 0, "set", "NAME=VALUE", "Set something"),
    BZ_OPT_FLAG(struct values, force, 0, "force", "Not this one"),
    BZ_OPT_END,
};

static const struct bz_opt_arg targets[] = {
    BZ_OPT_SOME(struct values, list, "TARGET", "What to build"),
    BZ_OPT_END,
};

static const struct bz_opt_arg two[] = {
    BZ_OPT_ONE(struct values, text, "OLD", "A file"),
    BZ_OPT_ONE(struct values, text, "SETTING", "A setting"),
    BZ_OPT_END,
};

static const struct bz_opt_arg words[] = {
    BZ_OPT_ANY(struct values, list, "COMMAND", "A command"),
    BZ_OPT_END,
};

static const struct bz_opt_arg task_and_build[] = {
    BZ_OPT_ONE(struct values, text, "TASK", "A task of a recipe"),
    BZ_OPT_ONE(struct values, text, "BUILD", "A build"),
    BZ_OPT_ONE(struct values, text, "VARIABLE", "A variable"),
    BZ_OPT_END,
};

static const struct bz_opt none[] = {BZ_OPT_END};
static const struct bz_opt_arg no_args[] = {BZ_OPT_END};

#define CMD(n) .name = (n), .summary = "About " n

static const struct bz_cmd gc = {
    .of = "cache", CMD("gc"), .opts = opts, .args = no_args};
static const struct bz_cmd *const of_cache[] = {&gc, NULL};
static const struct bz_cmd build = {CMD("build"), .opts = opts, .args = targets};
static const struct bz_cmd cache = {CMD("cache"), .opts = none, .args = no_args,
                                    .subs = of_cache};
static const struct bz_cmd diff = {CMD("diff"), .opts = none, .args = two};
static const struct bz_cmd log_of = {CMD("log"), .opts = none, .args = task_and_build};
static const struct bz_cmd help = {CMD("help"), .opts = none, .args = words};
static const struct bz_cmd secret = {CMD("bundle"), .hidden = true, .opts = none,
                                     .args = no_args};
static const struct bz_cmd *const commands[] = {&build,  &cache,  &diff, &help,
                                                &log_of, &secret, NULL};

static void offer_name(struct bz_complete *c, enum bz_complete_kind kind,
                       struct bz_str typed)
{
    struct bz_str word = kind == BZ_COMPLETE_TASKS       ? BZ_STR("compile")
                         : kind == BZ_COMPLETE_VARIABLES ? BZ_STR("BBPATH")
                         : kind == BZ_COMPLETE_BUILDS    ? BZ_STR("2026")
                                                         : BZ_STR("busybox");

    bz_complete_offer(c, typed, word, BZ_STR("a\nname"));
    bz_complete_offer(c, typed, BZ_STR("b\033[31m"), BZ_STR("not fit for a terminal"));
}

/* The first words of the lines of an answer, with a blank between them. */
static void assert_offers(const char *line, const char *expected)
{
    struct bz_complete c = {
        .commands = commands, .globals = globals, .names = offer_name};
    BZ_CLEANUP(bz_buf_release) struct bz_buf got = {0};
    char copy[128];
    const char *split[8];
    size_t n = 0;
    struct bz_str rest, one, word, tail;

    assert_true(strlen(line) < sizeof(copy));
    strcpy(copy, line);
    for (char *p = copy; p; n++) {
        char *blank = strchr(p, ' ');

        assert_true(n < BZ_COUNTOF(split));
        split[n] = p;
        if (blank)
            *blank++ = '\0';
        p = blank;
    }
    bz_complete_line(&c, split, n);
    rest = bz_buf_str(&c.out);
    while (rest.n > 0 && bz_str_cut(rest, '\n', &one, &tail)) {
        rest = tail;
        bz_str_cut(one, '\t', &word, &tail);
        bz_buf_addf(&got, "%s%.*s", got.len > 0 ? " " : "", BZ_STR_ARG(word));
    }
    bz_complete_release(&c);
    assert_string_equal(bz_buf_text(&got), expected);
}

static void commands_come_first(void **state)
{
    (void)state;
    assert_offers("", "build cache diff help log");
    assert_offers("b", "build");
    assert_offers("x", "");
    assert_offers("cache ", "gc");
    assert_offers("cache g", "gc");
    assert_offers("help ", "build cache diff help log");
    assert_offers("help cache ", "gc");
    assert_offers("help cache gc ", "");
    assert_offers("nonsense b", "");
}

static void options_are_those_of_the_command_and_of_all(void **state)
{
    (void)state;
    assert_offers("--d", "--directory");
    assert_offers("build --f", "--force");
    assert_offers("build -", "--force --colour --no-colour --task --when --into --run "
                             "--directory --project --set");
    assert_offers("build --no", "--no-colour");
    assert_offers("cache gc --t", "--task");
    assert_offers("build -- --f", "");
}

static void values_are_known_by_their_kind(void **state)
{
    (void)state;
    assert_offers("build --when n", "now never");
    assert_offers("build --when=n", "--when=now --when=never");
    assert_offers("build -w l", "later");
    assert_offers("build -fw l", "later");
    assert_offers("build -wl b", "busybox");
    assert_offers("build --task c", "compile");
    assert_offers("build -c ", "compile");
    assert_offers("build --into ", ":dirs");
    assert_offers("build --run ", "");
    assert_offers("--project=x", ":files");
    assert_offers("build --force=", "");
    assert_offers("--set cache.dir", "cache.dir=");
    assert_offers("--set cache.verify=a", "cache.verify=always");
    assert_offers("--set=cache.sync=", "--set=cache.sync=true --set=cache.sync=false");
    assert_offers("--set=nonsense=", "");
}

static void arguments_are_known_by_their_place(void **state)
{
    (void)state;
    assert_offers("build b", "busybox");
    assert_offers("build --force a b", "busybox");
    assert_offers("--directory build build b", "busybox");
    assert_offers("diff ", ":files");
    assert_offers("diff a job", "jobs");
    assert_offers("diff a b ", "");
    assert_offers("log b", "busybox");
    assert_offers("log busybox ", "last 2026");
    assert_offers("log busybox 2", "2026");
    assert_offers("log busybox last BB", "BBPATH");
}

static void what_the_line_says_about_the_project_is_noted(void **state)
{
    const char *const line[] = {"--directory=d", "build", "--project", "p", ""};
    struct bz_complete c = {.commands = commands, .globals = globals};

    (void)state;
    bz_complete_line(&c, line, BZ_COUNTOF(line));
    assert_string_equal(c.directory, "d");
    assert_string_equal(c.project, "p");
    assert_ptr_equal(c.cmd, &build);
    bz_complete_release(&c);
}

static void a_line_of_the_answer_has_one_tab_and_no_control_character(void **state)
{
    const char *const line[] = {"build", "b"};
    struct bz_complete c = {
        .commands = commands, .globals = globals, .names = offer_name};

    (void)state;
    bz_complete_line(&c, line, BZ_COUNTOF(line));
    assert_string_equal(bz_buf_text(&c.out), "busybox\ta name\n");
    bz_complete_release(&c);
    bz_complete_line(&c, line, 0);
    assert_int_equal(c.out.len, 0);
    bz_complete_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_come_first),
        cmocka_unit_test(options_are_those_of_the_command_and_of_all),
        cmocka_unit_test(values_are_known_by_their_kind),
        cmocka_unit_test(arguments_are_known_by_their_place),
        cmocka_unit_test(what_the_line_says_about_the_project_is_noted),
        cmocka_unit_test(a_line_of_the_answer_has_one_tab_and_no_control_character),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
