#include "report/trace.h"

#include "codec/json.h"
#include "tests/unit/report/example.h"

struct desk {
    struct bz_account a;
    struct bz_shape s;
    struct bz_buf text;
    struct bz_arena arena;
    const struct bz_doc *events;
};

static int setup(void **state)
{
    struct desk *d = calloc(1, sizeof(*d));
    const struct bz_doc *doc;
    struct bz_err err;

    example_read(EXAMPLE, &d->a, &d->s);
    bz_trace_write(&d->a, &d->s, BZ_STR("a \"build\""), &d->text);
    assert_ok(bz_json_parse(&d->arena, bz_buf_str(&d->text), NULL, &doc, &err), &err);
    d->events = bz_doc_find(doc, "traceEvents");
    *state = d;
    return 0;
}

static int teardown(void **state)
{
    struct desk *d = *state;

    bz_arena_release(&d->arena);
    bz_buf_release(&d->text);
    bz_shape_release(&d->s);
    bz_account_release(&d->a);
    free(d);
    return 0;
}

static bool is_phase(const struct bz_doc *e, const char *phase)
{
    return bz_str_eq(bz_doc_find(e, "ph")->text, bz_str_from(phase));
}

static const struct bz_doc *event(const struct desk *d, const char *name)
{
    for (size_t i = 0; i < d->events->count; i++)
        if (bz_str_eq(bz_doc_find(&d->events->items[i], "name")->text,
                      bz_str_from(name)))
            return &d->events->items[i];
    return NULL;
}

static void what_ran_lies_on_the_track_of_its_slot(void **state)
{
    const struct desk *d = *state;
    const struct bz_doc *e = event(d, "tool:do_x");

    assert_true(is_phase(e, "X"));
    assert_int_equal(bz_doc_find(e, "tid")->i, 2);
    assert_int_equal(bz_doc_find(e, "ts")->i, 2000000);
    assert_int_equal(bz_doc_find(e, "dur")->i, 4000000);
    assert_string_equal(bz_doc_find(bz_doc_find(e, "args"), "recipe")->text.p, "tool");
    assert_false(bz_doc_find(bz_doc_find(e, "args"), "cached")->b);
}

static void what_was_cached_has_a_track_of_its_own(void **state)
{
    const struct desk *d = *state;
    const struct bz_doc *e = event(d, "lib:do_x");

    assert_true(is_phase(e, "i"));
    assert_int_equal(bz_doc_find(e, "tid")->i, 0);
    assert_true(bz_doc_find(bz_doc_find(e, "args"), "cached")->b);
    assert_null(event(d, "lib:do_fetch"));
}

static void arrows_lead_from_within_a_task_to_who_waits(void **state)
{
    const struct desk *d = *state;
    size_t from = 0, to = 0;

    for (size_t i = 0; i < d->events->count; i++) {
        const struct bz_doc *e = &d->events->items[i];

        from += is_phase(e, "s");
        to += is_phase(e, "f");
        if (is_phase(e, "s") && bz_doc_find(e, "ts")->i < 3000000)
            assert_int_equal(bz_doc_find(e, "ts")->i, 2999999);
    }
    assert_int_equal(from, 2);
    assert_int_equal(to, 2);
}

static void tracks_have_names(void **state)
{
    const struct desk *d = *state;
    size_t named = 0;

    for (size_t i = 0; i < d->events->count; i++)
        named += is_phase(&d->events->items[i], "M");
    assert_int_equal(named, 4);
    assert_string_equal(
        bz_doc_find(bz_doc_find(event(d, "process_name"), "args"), "name")->text.p,
        "a \"build\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(what_ran_lies_on_the_track_of_its_slot),
        TEST(what_was_cached_has_a_track_of_its_own),
        TEST(arrows_lead_from_within_a_task_to_who_waits),
        TEST(tracks_have_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
