#include "report/page.h"

#include "codec/json.h"
#include "tests/unit/report/example.h"

struct desk {
    struct bz_account a;
    struct bz_shape s;
    struct bz_buf html;
    struct bz_arena arena;
};

static void write_page(struct desk *d, const char *log, const struct bz_page *more)
{
    struct bz_page p = *more;
    struct bz_err err;

    example_read(log, &d->a, &d->s);
    p.account = &d->a;
    p.shape = &d->s;
    p.result = BZ_STR("failed");
    assert_ok(bz_page_write(&p, &d->html, &err), &err);
}

static int setup(void **state)
{
    *state = calloc(1, sizeof(struct desk));
    return 0;
}

static int teardown(void **state)
{
    struct desk *d = *state;

    bz_arena_release(&d->arena);
    bz_buf_release(&d->html);
    bz_shape_release(&d->s);
    bz_account_release(&d->a);
    free(d);
    return 0;
}

/* What lies between two texts; it comes once. */
static struct bz_str between(const struct desk *d, const char *before,
                             const char *after)
{
    const char *from = strstr(d->html.data, before), *to;

    assert_non_null(from);
    from += strlen(before);
    assert_null(strstr(from, before));
    to = strstr(from, after);
    assert_non_null(to);
    return bz_str_of(from, (size_t)(to - from));
}

static const struct bz_doc *data_of(struct desk *d)
{
    struct bz_str text =
        between(d, "<script type=\"application/json\" id=\"data\">", "</script>");
    const struct bz_doc *doc;
    struct bz_err err;

    assert_ok(bz_json_parse(&d->arena, text, NULL, &doc, &err), &err);
    return doc;
}

static void the_data_have_a_column_for_everything(void **state)
{
    struct desk *d = *state;
    const struct bz_doc *doc;
    uint32_t z;

    write_page(d, EXAMPLE, &(struct bz_page){.id = BZ_STR("77")});
    doc = data_of(d);
    z = example_id(&d->a, "app:do_z");
    assert_int_equal(bz_doc_find(doc, "s")->count, 7);
    assert_int_equal(bz_doc_find(doc, "s")->items[z].i, BZ_ACCOUNT_FAILED);
    assert_int_equal(bz_doc_find(doc, "b")->items[z].i, 50000);
    assert_int_equal(bz_doc_find(doc, "d")->items[z].i, 20000);
    assert_int_equal(bz_doc_find(doc, "m")->items[z].i, 2);
    assert_int_equal(bz_doc_find(doc, "l")->items[example_id(&d->a, "lib:do_x")].i, -1);
    assert_int_equal(bz_doc_find(doc, "recipes")->count, 3);
    assert_int_equal(bz_doc_find(doc, "kinds")->count, 5);
    assert_int_equal(bz_doc_find(doc, "chain")->count, 3);
    assert_int_equal(bz_doc_find(doc, "took")->i, 8000);
}

/* a waits for nothing, b for a, c for a and b; d, which comes first in the log, for e.
 */
static void dependencies_are_told_in_few_letters(void **state)
{
    static const char log[] = EXAMPLE_BEGIN EXAMPLE_RAN("a:x", 0, 1, "", "\"done\"")
        EXAMPLE_RAN("b:x", 1, 2, "\"a:x\"", "\"done\"")
            EXAMPLE_RAN("c:x", 2, 3, "\"b:x\",\"a:x\"", "\"done\"")
                EXAMPLE_RAN("d:x", 4, 5, "\"e:x\"", "\"done\"");
    struct desk *d = *state;

    write_page(d, log, &(struct bz_page){.id = BZ_STR("77")});
    /* 0; 1, two halves of one below; 2, 2 below, 1 on; 1, 1 above; 0 */
    assert_string_equal(bz_doc_find(data_of(d), "e")->text.p, "ABCCEBBDA");
}

static void no_text_can_leave_its_place(void **state)
{
    static const char evil[] = "</script><script>alert(1)</script><!--";
    struct bz_page_cause cause = {BZ_STR("</script><img src=x>"), 1};
    struct bz_page_log log = {
        0, {bz_str_from(evil), false}
    };
    struct desk *d = *state;
    size_t tags = 0;

    write_page(d,
               EXAMPLE_BEGIN EXAMPLE_RAN("</script><b>:do_<i>", 0, 1, "", "\"done\""),
               &(struct bz_page){.id = BZ_STR("</title><script>&"),
                                 .causes = &cause,
                                 .ncauses = 1,
                                 .logs = &log,
                                 .nlogs = 1});
    assert_null(strstr(d->html.data, "<script>alert"));
    assert_null(strstr(d->html.data, "<img"));
    assert_null(strstr(d->html.data, "<b>"));
    assert_non_null(strstr(d->html.data, "Build &lt;/title>&lt;script>&amp;"));
    for (const char *p = d->html.data; (p = strstr(p, "</script>")); p++)
        tags++;
    assert_int_equal(tags, 2);
    assert_string_equal(bz_doc_find(data_of(d), "logs")->items[0].items[1].text.p,
                        evil);
}

static void the_policy_allows_just_these_bytes(void **state)
{
    struct desk *d = *state;
    struct bz_str policy;

    write_page(d, EXAMPLE, &(struct bz_page){.id = BZ_STR("77")});
    policy = between(d, "Content-Security-Policy\" content=\"", "\"");
    assert_true(bz_str_starts(policy, BZ_STR("default-src 'none'; ")));
    assert_true(bz_str_find(policy, BZ_STR("unsafe")) == BZ_STR_NONE);
    assert_true(bz_str_find(policy, BZ_STR("script-src 'sha256-")) != BZ_STR_NONE);
    assert_true(bz_str_ends(policy, BZ_STR("='"))); /* 32 bytes end in one '=' */
}

static void nothing_is_loaded_from_elsewhere(void **state)
{
    struct desk *d = *state;

    write_page(d, EXAMPLE, &(struct bz_page){.id = BZ_STR("77")});
    assert_null(strstr(d->html.data, "src="));
    assert_null(strstr(d->html.data, "url("));
    assert_null(strstr(d->html.data, "@import"));
    assert_null(strstr(d->html.data, "https://"));
    assert_null(strstr(d->html.data, "innerHTML"));
    assert_null(strstr(d->html.data, "{{"));
}

static void a_build_without_tasks_has_a_page(void **state)
{
    struct desk *d = *state;

    write_page(d, EXAMPLE_BEGIN, &(struct bz_page){.id = BZ_STR("77")});
    assert_int_equal(bz_doc_find(data_of(d), "s")->count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(the_data_have_a_column_for_everything),
        TEST(no_text_can_leave_its_place),
        TEST(dependencies_are_told_in_few_letters),
        TEST(the_policy_allows_just_these_bytes),
        TEST(nothing_is_loaded_from_elsewhere),
        TEST(a_build_without_tasks_has_a_page),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
