#include "serve_request.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "codec/json.h"
#include "tests/unit/bz_test.h"

struct values {
    const char *task;
    bool force, color, json;
    int64_t timeout;
    int when;
    struct bz_opt_list set;
};

static const char *const whens[] = {"now", "later", NULL};

static const struct bz_opt own[] = {
    BZ_OPT_TEXT(struct values, task, 'c', "task", "TASK", ""),
    BZ_OPT_FLAG(struct values, force, 'f', "force", ""),
    BZ_OPT_SWITCH(struct values, color, 0, "paint", true, ""),
    BZ_OPT_FLAG(struct values, json, 0, "json", ""),
    BZ_OPT_NUMBER(struct values, timeout, 0, "timeout", "N", 0, 100, -1, ""),
    BZ_OPT_CHOICE(struct values, when, 0, "when", "WHEN", whens, 0, ""),
    BZ_OPT_END,
};

struct globals {
    const char *project;
    struct bz_opt_list set;
    bool help;
};

static const struct bz_opt global[] = {
    BZ_OPT_TEXT(struct globals, project, 0, "project", "FILE", ""),
    BZ_OPT_LIST(struct globals, set, 0, "set", "K=V", ""),
    BZ_OPT_STOP(struct globals, help, 'h', "help", ""),
    BZ_OPT_END,
};

static const char *const words[] = {"build", NULL};
static const char *const fixed[] = {"--json", NULL};
static const char *const refused[] = {"json", NULL};
static const char *const allowed[] = {"project", "set", NULL};
static const char *const base[] = {"HOME=/h", NULL};

static const struct bz_serve_form form = {.words = words,
                                          .fixed = fixed,
                                          .refused = refused,
                                          .own = own,
                                          .global = global,
                                          .globals = allowed,
                                          .operands = "targets",
                                          .several = true,
                                          .needed = true};

static int read_text(struct bz_arena *a, const char *text,
                     const struct bz_serve_form *f, struct bz_serve_request *out,
                     struct bz_err *err)
{
    const struct bz_doc *d;

    assert_int_equal(bz_json_parse(a, bz_str_from(text), NULL, &d, err), 0);
    return bz_serve_request_read(a, d, f, base, out, err);
}

static void assert_line(const char *const *argv, const char *wanted)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf line = {0};

    for (; *argv; argv++)
        bz_buf_addf(&line, "%s%s", line.len ? " " : "", *argv);
    assert_string_equal(bz_buf_text(&line), wanted);
}

static void a_request_becomes_the_line_of_a_command(void **state)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct bz_serve_request r;
    struct bz_err err;

    (void)state;
    assert_int_equal(
        read_text(&a,
                  "{\"project\": \"/p\", \"targets\": [\"a\", \"--b\"],"
                  " \"options\": {\"task\": \"x y\", \"force\": true, \"paint\": false,"
                  " \"timeout\": 7, \"when\": \"later\", \"set\": [\"q=1\", \"r=2\"],"
                  " \"project\": \"kas.yml\"}, \"env\": {\"A\": \"1\", \"B\": \"\"}}",
                  &form, &r, &err),
        0);
    assert_string_equal(r.project, "/p");
    assert_string_equal(r.named, "kas.yml");
    assert_line(r.argv,
                "build --json --task=x y --force --no-paint --timeout=7 --when=later "
                "--set=q=1 --set=r=2 --project=kas.yml -- a --b");
    assert_line(r.env, "A=1 B=");
    assert_int_equal(r.noperands, 2);
    assert_string_equal(r.operands[1], "--b");
}

static void what_is_left_out_stays_as_it_is(void **state)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct bz_serve_request r;
    struct bz_err err;

    (void)state;
    assert_int_equal(read_text(&a,
                               "{\"project\": \"/p\", \"targets\": [\"a\"],"
                               " \"options\": {\"force\": false}}",
                               &form, &r, &err),
                     0);
    assert_line(r.argv, "build --json -- a");
    assert_ptr_equal(r.env, base);
    assert_null(r.named);
}

static void what_is_wrong_is_told(void **state)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"{\"targets\": [\"a\"]}",                                                       "the argument 'project' is missing"},
        {"{\"project\": \"/p\"}",                                                        "the argument 'targets' is missing"},
        {"{\"project\": \"p\", \"targets\": [\"a\"]}",
         "project: it must be an absolute path"                                                                             },
        {"{\"project\": \"/p\", \"targets\": [\"a\"], \"more\": 1}",
         "there is no argument 'more'"                                                                                      },
        {"{\"project\": \"/p\", \"targets\": [\"a\"], \"options\": {\"json\": true}}",
         "the option 'json' makes no sense here"                                                                            },
        {"{\"project\": \"/p\", \"targets\": [\"a\"], \"options\": {\"help\": true}}",
         "there is no option 'help'"                                                                                        },
        {"{\"project\": \"/p\", \"targets\": [\"a\"], \"options\": {\"forse\": true}}",
         "there is no option 'forse'; did you mean 'force'?"                                                                },
        {"{\"project\": \"/p\", \"targets\": [\"a\"], \"options\": {\"timeout\": 101}}",
         "option timeout: not between 0 and 100"                                                                            },
        {"{\"project\": \"/p\", \"targets\": [\"a\"], \"options\": {\"when\": \"x\"}}",
         "option when: 'x' is none of its values"                                                                           },
        {"{\"project\": \"/p\", \"targets\": [\"a\"], \"env\": {\"=\": \"\"}}",
         "env: '=' is no name of a variable"                                                                                },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
        struct bz_serve_request r;
        struct bz_err err;

        assert_int_equal(read_text(&a, cases[i].text, &form, &r, &err), BZ_E_INVAL);
        assert_string_equal(err.msg, cases[i].why);
    }
}

static void wrong_types_are_told_with_their_place(void **state)
{
    static const char *const options[] = {"\"task\": 1", "\"force\": 1",
                                          "\"set\": \"a\"", "\"set\": [1]",
                                          "\"timeout\": \"1\""};
    char text[128];

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(options); i++) {
        BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
        struct bz_serve_request r;
        struct bz_err err;

        snprintf(text, sizeof(text),
                 "{\"project\": \"/p\", \"targets\": [\"a\"], \"options\": {%s}}",
                 options[i]);
        assert_int_equal(read_text(&a, text, &form, &r, &err), BZ_E_INVAL);
        assert_non_null(strstr(err.msg, "expected"));
        assert_int_equal(strncmp(err.msg, "option ", 7), 0);
    }
}

static void a_single_operand_is_a_text(void **state)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct bz_serve_form one = form;
    struct bz_serve_request r;
    struct bz_err err;

    (void)state;
    one.operands = "variable";
    one.several = false;
    assert_int_equal(
        read_text(&a, "{\"project\": \"/p\", \"variable\": \"A\"}", &one, &r, &err), 0);
    assert_line(r.argv, "build --json -- A");
    assert_int_equal(
        read_text(&a, "{\"project\": \"/p\", \"variable\": [\"A\"]}", &one, &r, &err),
        BZ_E_INVAL);
}

static void too_much_is_refused(void **state)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_serve_request r;
    struct bz_err err;

    (void)state;
    bz_buf_addf(&text, "{\"project\": \"/p\", \"targets\": [\"a\"");
    for (int i = 0; i < BZ_SERVE_REQUEST_TARGETS; i++)
        bz_buf_addf(&text, ", \"a\"");
    bz_buf_addf(&text, "]}");
    assert_int_equal(read_text(&a, bz_buf_text(&text), &form, &r, &err), BZ_E_LIMIT);
    bz_buf_truncate(&text, 0);
    bz_buf_addf(&text,
                "{\"project\": \"/p\", \"targets\": [\"a\"], \"env\": {\"A\": \"");
    for (size_t i = 0; i <= BZ_SERVE_REQUEST_ENV; i++)
        bz_buf_add_char(&text, 'x');
    bz_buf_addf(&text, "\"}}");
    assert_int_equal(read_text(&a, bz_buf_text(&text), &form, &r, &err), BZ_E_LIMIT);
    bz_buf_truncate(&text, 0);
    bz_buf_addf(&text, "{\"project\": \"/p\", \"targets\": [\"");
    for (size_t i = 0; i <= BZ_SERVE_REQUEST_TEXT; i++)
        bz_buf_add_char(&text, 'x');
    bz_buf_addf(&text, "\"]}");
    assert_int_equal(read_text(&a, bz_buf_text(&text), &form, &r, &err), BZ_E_LIMIT);
}

static void of_an_environment_who_and_where_the_user_is_stays(void **state)
{
    static const char *const env[] = {"HOME=/h", "BITZEL_JOBS=3",     "BB_X=1",
                                      "PATH=/b", "XDG_CACHE_HOME=/c", "nonsense",
                                      NULL};
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};

    (void)state;
    assert_line(bz_serve_request_base(&a, env), "HOME=/h PATH=/b XDG_CACHE_HOME=/c");
}

static void options_that_were_given_are_written(void **state)
{
    static const char *const left_out[] = {"json", NULL};
    const char *sets[] = {"a=1"};
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_jsonw w = bz_jsonw_to(&text, 0);
    struct values v = {
        .task = "x", .force = true, .json = true, .timeout = 5, .when = 1};
    struct values none = {.color = true, .timeout = -1};
    struct globals g = {
        .set = {sets, 1}
    };

    (void)state;
    bz_jsonw_map(&w);
    bz_serve_request_options(&w, own, &v, left_out);
    bz_serve_request_options(&w, global, &g, NULL);
    bz_jsonw_map_end(&w);
    assert_string_equal(bz_buf_text(&text),
                        "{\"task\":\"x\",\"force\":true,\"paint\":false,\"timeout\":5,"
                        "\"when\":\"later\",\"set\":[\"a=1\"]}");
    bz_buf_truncate(&text, 0);
    w = bz_jsonw_to(&text, 0);
    bz_jsonw_map(&w);
    bz_serve_request_options(&w, own, &none, NULL);
    bz_jsonw_map_end(&w);
    assert_string_equal(bz_buf_text(&text), "{}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_becomes_the_line_of_a_command),
        cmocka_unit_test(what_is_left_out_stays_as_it_is),
        cmocka_unit_test(what_is_wrong_is_told),
        cmocka_unit_test(wrong_types_are_told_with_their_place),
        cmocka_unit_test(a_single_operand_is_a_text),
        cmocka_unit_test(too_much_is_refused),
        cmocka_unit_test(of_an_environment_who_and_where_the_user_is_stays),
        cmocka_unit_test(options_that_were_given_are_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
