#include "recipe/series.h"

#include "tests/unit/recipe/files.h"

static void collect(struct world *w, struct bz_series *s)
{
    assert_ok(bz_series_collect(s, w->meta, &w->err), &w->err);
}

/* Three layers, read one after the other. */
static void read_layers(struct world *w, struct bz_series *s)
{
    set_var(w->meta, "BBFILE_COLLECTIONS", "core");
    set_var(w->meta, "LAYERSERIES_CORENAMES", "new newer");
    set_var(w->meta, "LAYERSERIES_COMPAT_core", "newer new");
    collect(w, s);
    set_var(w->meta, "BBFILE_COLLECTIONS", "core two");
    set_var(w->meta, "LAYERSERIES_COMPAT_two", "z new old new");
    collect(w, s);
}

static void values_are_taken_away_and_come_back_sorted(void **state)
{
    struct world *w = *state;
    BZ_CLEANUP(bz_series_release) struct bz_series s = {0};

    read_layers(w, &s);
    assert_var(w->meta, "LAYERSERIES_COMPAT_core", NULL);
    assert_var(w->meta, "LAYERSERIES_CORENAMES", NULL);
    assert_ok(bz_series_check(&s, w->meta, &w->err), &w->err);
    assert_var(w->meta, "LAYERSERIES_COMPAT_core", "new newer");
    assert_var(w->meta, "LAYERSERIES_COMPAT_two", "new old z");
    assert_var(w->meta, "LAYERSERIES_CORENAMES", "new newer");
}

static void a_layer_cannot_copy_the_answer_of_another(void **state)
{
    struct world *w = *state;
    BZ_CLEANUP(bz_series_release) struct bz_series s = {0};

    read_layers(w, &s);
    set_var(w->meta, "BBFILE_COLLECTIONS", "core two copy");
    set_var(w->meta, "LAYERSERIES_COMPAT_copy", "${LAYERSERIES_COMPAT_core}");
    collect(w, &s);
    assert_int_equal(bz_series_check(&s, w->meta, &w->err), BZ_E_INVAL);
    assert_non_null(strstr(w->err.msg, "copy"));
}

static void the_first_core_layer_counts(void **state)
{
    struct world *w = *state;
    BZ_CLEANUP(bz_series_release) struct bz_series s = {0};

    read_layers(w, &s);
    set_var(w->meta, "BBFILE_COLLECTIONS", "core two three");
    set_var(w->meta, "LAYERSERIES_CORENAMES", "three");
    set_var(w->meta, "LAYERSERIES_COMPAT_three", "three");
    collect(w, &s);
    assert_int_equal(bz_series_check(&s, w->meta, &w->err), BZ_E_INVAL);
    assert_non_null(strstr(w->err.msg, "three"));
}

static void a_layer_that_does_not_say_is_let_through(void **state)
{
    struct world *w = *state;
    BZ_CLEANUP(bz_series_release) struct bz_series s = {0};

    read_layers(w, &s);
    set_var(w->meta, "BBFILE_COLLECTIONS", "core two silent");
    collect(w, &s);
    assert_ok(bz_series_check(&s, w->meta, &w->err), &w->err);
}

static void without_a_core_layer_nothing_is_compatible(void **state)
{
    struct world *w = *state;
    BZ_CLEANUP(bz_series_release) struct bz_series s = {0};

    set_var(w->meta, "BBFILE_COLLECTIONS", "one");
    collect(w, &s);
    assert_ok(bz_series_check(&s, w->meta, &w->err), &w->err);
    assert_var(w->meta, "LAYERSERIES_CORENAMES", "");
    set_var(w->meta, "LAYERSERIES_COMPAT_one", "x");
    set_var(w->meta, "LAYERSERIES_CORENAMES", "");
    collect(w, &s);
    assert_int_equal(bz_series_check(&s, w->meta, &w->err), BZ_E_INVAL);
    assert_non_null(strstr(w->err.msg, "no core layer"));
}

static void a_collection_cannot_be_named_twice(void **state)
{
    struct world *w = *state;
    BZ_CLEANUP(bz_series_release) struct bz_series s = {0};

    set_var(w->meta, "BBFILE_COLLECTIONS", "a b a");
    collect(w, &s);
    assert_int_equal(bz_series_check(&s, w->meta, &w->err), BZ_E_INVAL);
    assert_non_null(strstr(w->err.msg, "'a'"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        world_test(values_are_taken_away_and_come_back_sorted),
        world_test(a_layer_cannot_copy_the_answer_of_another),
        world_test(the_first_core_layer_counts),
        world_test(a_layer_that_does_not_say_is_let_through),
        world_test(without_a_core_layer_nothing_is_compatible),
        world_test(a_collection_cannot_be_named_twice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
