#include "tests/unit/vars/script.h"

#include <pthread.h>

#include "base/buf.h"

static void set(struct bz_vars *v, const char *name, const char *value)
{
    struct bz_err err = {0};

    assert_ok(bz_vars_set(v, bz_str_from(name), bz_str_from(value), BZ_VARS_SET_PARSING,
                          NULL, &err),
              &err);
}

static bool reads(struct bz_vars *v, const char *name, const char *value)
{
    struct bz_err err = {0};
    struct bz_str out;

    if (bz_vars_get(v, bz_str_from(name), 0, &out, &err) < 0)
        return false;
    return value ? out.p && bz_str_eq(out, bz_str_from(value)) : !out.p;
}

static void what_goes_in_is_copied_and_what_comes_out_stays(void **state)
{
    struct bz_vars *v = bz_vars_new(NULL);
    struct bz_err err = {0};
    struct bz_str raw, text;
    char name[] = "NAME", value[] = "a ${B}";

    (void)state;
    set(v, "B", "b");
    assert_ok(bz_vars_set(v, bz_str_from(name), bz_str_from(value), 0, NULL, &err),
              &err);
    memset(name, 'x', sizeof(name) - 1);
    memset(value, 'x', sizeof(value) - 1);
    assert_ok(bz_vars_get(v, BZ_STR("NAME"), BZ_VARS_RAW, &raw, &err), &err);
    assert_ok(bz_vars_get(v, BZ_STR("NAME"), 0, &text, &err), &err);
    for (int i = 0; i < 1000; i++)
        set(v, "NAME", i % 2 ? "${B}" : "other");
    assert_ok(bz_vars_del(v, BZ_STR("NAME"), NULL, &err), &err);
    assert_true(bz_str_eq(raw, BZ_STR("a ${B}")));
    assert_true(bz_str_eq(text, BZ_STR("a b")));
    assert_true(reads(v, "NAME", NULL));
    assert_false(bz_vars_exists(v, BZ_STR("NAME")));
    bz_vars_free(v);
}

static void a_copy_changes_nothing_in_its_parent(void **state)
{
    struct bz_vars *v = bz_vars_new(NULL), *copy;
    struct bz_err err = {0};

    (void)state;
    set(v, "OVERRIDES", "o");
    set(v, "X", "1");
    set(v, "X:o", "2");
    set(v, "Y", "${X}");
    set(v, "K_${P}", "k");
    assert_true(reads(v, "Y", "2"));
    copy = bz_vars_new(v);
    set(copy, "OVERRIDES", "q");
    set(copy, "X:q", "3");
    set(copy, "P", "p");
    assert_ok(bz_vars_set_flag(copy, BZ_STR("Y"), BZ_STR("f"), BZ_STR("1"), NULL, &err),
              &err);
    assert_ok(bz_vars_expand_keys(copy, &err), &err);
    assert_ok(bz_vars_rename(copy, BZ_STR("Y"), BZ_STR("Z"), NULL, &err), &err);
    assert_true(reads(copy, "Z", "3"));
    assert_true(reads(copy, "Y", NULL));
    assert_true(reads(copy, "K_p", "k"));
    assert_true(reads(v, "Y", "2"));
    assert_true(reads(v, "Z", NULL));
    assert_true(reads(v, "K_${P}", "k"));
    bz_vars_free(copy);
    assert_true(reads(v, "Y", "2"));
    bz_vars_free(v);
}

enum {
    THREADS = 4,
    COPIES = 50,
};

struct worker {
    pthread_t thread;
    const struct bz_vars *parent;
    bool ok;
};

/* What a recipe does to a copy of the configuration. */
static bool use_a_copy(const struct bz_vars *parent, int number)
{
    struct bz_vars *v = bz_vars_new(parent);
    struct bz_err err = {0};
    const struct bz_str *names;
    size_t n;
    char pn[32], all[64];
    bool ok;

    snprintf(pn, sizeof(pn), "pkg%d", number);
    snprintf(all, sizeof(all), "base %s-dev tail", pn);
    ok = bz_vars_set(v, BZ_STR("PN"), bz_str_from(pn), 1, NULL, &err) == 0 &&
         bz_vars_set(v, BZ_STR("X:append"), BZ_STR(" tail"), 1, NULL, &err) == 0 &&
         bz_vars_set(v, BZ_STR("N_${PN}"), BZ_STR("n"), 1, NULL, &err) == 0 &&
         bz_vars_set(v, BZ_STR("V:pn-own"), BZ_STR("own"), 1, NULL, &err) == 0 &&
         bz_vars_expand_keys(v, &err) == 0 && bz_vars_names(v, &names, &n, &err) == 0 &&
         reads(v, "X", all) && reads(v, "V", number == 7 ? "seven" : "any");
    bz_vars_free(v);
    return ok;
}

static void *work(void *arg)
{
    struct worker *w = arg;

    w->ok = true;
    for (int i = 0; i < COPIES && w->ok; i++)
        w->ok = use_a_copy(w->parent, i);
    return NULL;
}

static void threads_share_a_parent_that_is_read_meanwhile(void **state)
{
    struct bz_vars *v = bz_vars_new(NULL);
    struct worker workers[THREADS] = {0};
    char name[16];

    (void)state;
    set(v, "OVERRIDES", "any:pn-${PN}");
    set(v, "PN", "none");
    set(v, "X", "base ${PN}-dev");
    set(v, "V:any", "any");
    set(v, "V:pn-pkg7", "seven");
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof(name), "V:x%d", i);
        set(v, name, "x");
    }
    for (int i = 0; i < THREADS; i++) {
        workers[i].parent = v;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]),
                         0);
    }
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof(name), "NEVER%d", i);
        assert_true(reads(v, name, NULL));
        assert_true(reads(v, "X", "base none-dev"));
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < THREADS; i++)
        assert_true(workers[i].ok);
    bz_vars_free(v);
}

static void names_and_values_may_hold_any_byte(void **state)
{
    struct bz_vars *v = bz_vars_new(NULL);
    struct bz_err err = {0};
    struct bz_str out, name = bz_str_of("a\0b", 3), value = bz_str_of("\0${x}\xff", 6);

    (void)state;
    assert_ok(bz_vars_set(v, name, value, 0, NULL, &err), &err);
    assert_ok(bz_vars_get(v, name, 0, &out, &err), &err);
    assert_true(bz_str_eq(out, value));
    assert_true(reads(v, "a", NULL));
    assert_ok(bz_vars_set(v, BZ_STR(""), BZ_STR("empty"), 0, NULL, &err), &err);
    assert_true(reads(v, "", "empty"));
    bz_vars_free(v);
}

static void text_is_kept_for_callers(void **state)
{
    struct bz_vars *v = bz_vars_new(NULL);
    char text[] = "text";
    struct bz_str kept = bz_vars_keep(v, bz_str_from(text));

    (void)state;
    text[0] = 'x';
    assert_true(bz_str_eq(kept, BZ_STR("text")));
    assert_int_equal(kept.p[4], '\0');
    bz_vars_free(v);
}

static void note_begin(void *ctx, struct bz_str code)
{
    struct bz_buf *said = ctx;

    bz_buf_addf(said, "(%.*s", BZ_STR_ARG(code));
}

static void note_end(void *ctx, struct bz_str code)
{
    (void)code;
    bz_buf_add_char(ctx, ')');
}

static void expressions_are_told_to_whoever_measures(void **state)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf said = {0};
    struct bz_vars_watch watch = {note_begin, note_end, &said};
    struct bz_vars *v = bz_vars_new(NULL), *copy;
    struct bz_str value;
    struct bz_err err;

    (void)state;
    set(v, "A", "${@1+1}");
    set(v, "B", "${@d.getVar('A')}");
    bz_vars_set_watch(v, &watch);
    copy = bz_vars_new(v);
    assert_ok(bz_vars_get(copy, BZ_STR("B"), 0, &value, &err), &err);
    assert_string_equal(bz_buf_text(&said), "(d.getVar('A')(1+1))");
    bz_vars_free(copy);
    bz_vars_free(v);
}

static void free_takes_nothing_for_an_answer(void **state)
{
    struct bz_vars *none = NULL;

    (void)state;
    bz_vars_free(NULL);
    bz_vars_freep(&none);
    assert_null(none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_goes_in_is_copied_and_what_comes_out_stays),
        cmocka_unit_test(a_copy_changes_nothing_in_its_parent),
        cmocka_unit_test(threads_share_a_parent_that_is_read_meanwhile),
        cmocka_unit_test(names_and_values_may_hold_any_byte),
        cmocka_unit_test(text_is_kept_for_callers),
        cmocka_unit_test(expressions_are_told_to_whoever_measures),
        cmocka_unit_test(free_takes_nothing_for_an_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
