#include "recipe/finalize.h"

#include <pthread.h>

#include "tests/unit/recipe/files.h"

/* Finalizes test.bb; the caller frees. */
static int finalize(struct world *w, const char *text, const char *only,
                    struct bz_finalize **out)
{
    struct bz_finalize_opts opts = {.path = at(w, "test.bb")};

    if (only)
        opts.only = bz_str_from(only);
    put_file(w, "test.bb", text);
    return bz_finalize_recipe(w->meta, w->library, &opts, out, &w->err);
}

static struct bz_finalize *finalized(struct world *w, const char *text)
{
    struct bz_finalize *f = NULL;

    assert_ok(finalize(w, text, NULL, &f), &w->err);
    return f;
}

static void deferred_classes_come_last_and_in_order(void **state)
{
    struct world *w = *state;

    put_file(w, "classes/one.bbclass",
             "X ?= \"class\"\nO .= \"1\"\ninherit_defer three\n");
    put_file(w, "classes/two.bbclass", "O .= \"2\"\n");
    put_file(w, "classes/three.bbclass", "O .= \"3\"\n");
    BZ_CLEANUP(bz_finalize_freep)
    struct bz_finalize *f =
        finalized(w, "BB_DEFER_BBCLASSES = \"one two\"\ninherit one\n"
                     "inherit_defer ${C}\nX ?= \"recipe\"\nC = \"two\"\n");
    assert_int_equal(f->variants.len, 1);
    assert_var(f->variants.at[0].meta, "X", "recipe");
    assert_var(f->variants.at[0].meta, "O", "123");
    assert_var(f->read, "O", NULL);
    assert_int_equal(f->read->deferred.len, 2);
}

static void a_missing_deferred_class_names_the_line_that_asked(void **state)
{
    struct world *w = *state;
    struct bz_finalize *f = NULL;

    assert_int_equal(finalize(w, "\ninherit_defer nothing\n", NULL, &f), BZ_E_INVAL);
    assert_null(f);
    assert_non_null(strstr(w->err.msg, "test.bb:2: "));
}

static void names_of_variables_and_tasks_are_expanded(void **state)
{
    struct world *w = *state;
    BZ_CLEANUP(bz_finalize_freep)
    struct bz_finalize *f =
        finalized(w, "PN = \"foo\"\nFILES:${PN} = \"f\"\nT = \"x\"\n"
                     "addtask ${T}\naddtask y after do_${T} do_${U}\nU = \"u\"\n");
    struct bz_meta *m = f->variants.at[0].meta;
    const struct bz_taskdef *y = bz_taskdef_find(&m->tasks, BZ_STR("do_y"));

    assert_var(m, "FILES:foo", "f");
    assert_var(m, "FILES:${PN}", NULL);
    assert_string_equal(joined(w, m->tasks.order.at, m->tasks.order.len), "do_x do_y");
    assert_string_equal(joined(w, y->after.at, y->after.len), "do_x do_u");
    assert_flag(m, "do_x", "task", "1");
    assert_flag(m, "do_y", "task", "1");
    assert_string_equal(f->read->tasks.order.at[0].p, "do_${T}");
}

static void depends_is_settled(void **state)
{
    struct world *w = *state;
    BZ_CLEANUP(bz_finalize_freep)
    struct bz_finalize *f = finalized(
        w, "BB_RECIPE_VIRTUAL_PROVIDERS = \"virtual/cc virtual/ld\"\n"
           "PREFERRED_PROVIDER_virtual/cc = \"gcc\"\n"
           "DEPENDS = \"  a   virtual/cc\"\nDEPENDS:append = \" b\"\naddtask x\n"
           "do_x[depends] = \"virtual/cc:do_y  c:do_z\"\naddtask y\n");
    struct bz_meta *m = f->variants.at[0].meta;

    assert_var(m, "DEPENDS", "a gcc b");
    assert_flag(m, "do_x", "depends", "gcc:do_y c:do_z");
    assert_flag(m, "do_y", "depends", "");
}

static void what_cannot_be_settled_is_an_error(void **state)
{
    static const char *const wrong[][2] = {
        {"BB_RECIPE_VIRTUAL_PROVIDERS = \"v\"\nDEPENDS = \"v\"\n",
         "PREFERRED_PROVIDER_v"                                                   },
        {"addtask x\ndo_x[depends] = \"foo\"\n",                   "do_x[depends]"},
        {"addhandler nobody\n",                                    "'nobody'"     },
    };
    struct world *w = *state;

    for (size_t i = 0; i < BZ_COUNTOF(wrong); i++) {
        struct bz_finalize *f = NULL;
        char name[32];
        struct bz_finalize_opts opts;

        snprintf(name, sizeof(name), "%zu.bb", i);
        put_file(w, name, wrong[i][0]);
        opts = (struct bz_finalize_opts){.path = at(w, name)};
        assert_int_equal(bz_finalize_recipe(w->meta, w->library, &opts, &f, &w->err),
                         BZ_E_INVAL);
        assert_non_null(strstr(w->err.msg, wrong[i][1]));
    }
}

static void put_classes(struct world *w)
{
    put_file(w, "classes/native.bbclass", "CLASS = \"native\"\nSAW := \"${PN}\"\n");
    put_file(w, "classes/multi.bbclass",
             "CLASS = \"${BBEXTENDCURR} ${BBEXTENDVARIANT}\"\n");
}

#define VARIANTS                                                                       \
    "PN = \"foo\"\nA = \"1\"\nBBCLASSEXTEND = \"${E} multi:lib32\"\nE = \"native\"\n"

static void variants_are_finalized_on_their_own(void **state)
{
    struct world *w = *state;

    struct bz_str raw;

    put_classes(w);
    BZ_CLEANUP(bz_finalize_freep) struct bz_finalize *f = finalized(w, VARIANTS);
    assert_ok(bz_vars_get(f->variants.at[0].meta->vars, BZ_STR("BBCLASSEXTEND"),
                          BZ_VARS_RAW, &raw, &w->err),
              &w->err);
    assert_text("BBCLASSEXTEND", raw, "native multi:lib32");
    assert_int_equal(f->variants.len, 3);
    assert_text("name", f->variants.at[0].name, "");
    assert_text("name", f->variants.at[1].name, "native");
    assert_text("name", f->variants.at[2].name, "multi:lib32");
    assert_var(f->variants.at[0].meta, "PN", "foo");
    assert_var(f->variants.at[0].meta, "CLASS", NULL);
    assert_var(f->variants.at[1].meta, "PN", "foo-native");
    assert_var(f->variants.at[1].meta, "CLASS", "native");
    assert_var(f->variants.at[1].meta, "SAW", "foo-native");
    assert_var(f->variants.at[1].meta, "A", "1");
    assert_var(f->variants.at[1].meta, "BBCLASSEXTEND", "native multi:lib32");
    assert_var(f->variants.at[2].meta, "PN", "foo");
    assert_var(f->variants.at[2].meta, "CLASS", "multi lib32");
}

static void overrides_of_a_variant_choose_its_values(void **state)
{
    struct world *w = *state;

    put_file(w, "classes/native.bbclass", "KIND = \"class-native\"\n");
    BZ_CLEANUP(bz_finalize_freep)
    struct bz_finalize *f = finalized(
        w, "PN = \"x\"\nKIND = \"class-target\"\nOVERRIDES = \"${KIND}:pn-${PN}\"\n"
           "A:class-target = \"t\"\nA:class-native = \"n\"\n"
           "B = \"b\"\nB:append:class-native = \" n\"\nB:pn-x = \"x\"\n"
           "BBCLASSEXTEND = \"native\"\n");
    assert_var(f->variants.at[0].meta, "A", "t");
    assert_var(f->variants.at[0].meta, "B", "x");
    assert_var(f->variants.at[1].meta, "A", "n");
    assert_var(f->variants.at[1].meta, "B", "b n");
}

static void a_variant_that_is_named_twice_is_one(void **state)
{
    struct world *w = *state;

    put_file(w, "classes/native.bbclass", "A .= \"n\"\n");
    BZ_CLEANUP(bz_finalize_freep)
    struct bz_finalize *f =
        finalized(w, "PN = \"x\"\nBBCLASSEXTEND = \"native native\"\n");
    assert_int_equal(f->variants.len, 2);
    assert_var(f->variants.at[1].meta, "A", "n");
}

static void only_some_variants_may_be_asked_for(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *only;
        size_t count;
    } cases[] = {
        {"",            1},
        {"native",      2},
        {"multi:lib32", 2},
        {"other",       1},
        {NULL,          3},
    };

    put_classes(w);
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_finalize *f = NULL;

        assert_ok(finalize(w, VARIANTS, cases[i].only, &f), &w->err);
        assert_int_equal(f->variants.len, cases[i].count);
        bz_finalize_free(f);
    }
}

static void a_recipe_without_variants_needs_no_name(void **state)
{
    struct world *w = *state;
    BZ_CLEANUP(bz_finalize_freep)
    struct bz_finalize *f = finalized(w, "PN = \"${PN}\"\nA = \"1\"\n");

    assert_var(f->variants.at[0].meta, "A", "1");
}

static void a_variant_without_a_class_is_an_error(void **state)
{
    struct world *w = *state;
    struct bz_finalize *f = NULL;

    assert_int_equal(finalize(w, "PN = \"x\"\nBBCLASSEXTEND = \"none\"\n", NULL, &f),
                     BZ_E_INVAL);
    assert_non_null(strstr(w->err.msg, "none.bbclass"));
}

static void appends_and_the_layer_go_into_the_recipe(void **state)
{
    struct world *w = *state;
    BZ_CLEANUP(bz_vec_release) struct bz_meta_names appends = {0};
    BZ_CLEANUP(bz_finalize_freep) struct bz_finalize *f = NULL;
    struct bz_finalize_opts opts = {.layer = BZ_STR("core"), .appends = &appends};
    struct bz_meta *m;

    put_file(w, "x_1.bb", "A = \"0\"\nL := \"${FILE_LAYERNAME}\"\n");
    put_file(w, "x_%.bbappend", "A .= \"1\"\n");
    put_file(w, "l/x_1.bbappend", "A .= \"2\"\n");
    BZ_VEC_PUSH(&appends, at(w, "x_%.bbappend"));
    BZ_VEC_PUSH(&appends, at(w, "l/x_1.bbappend"));
    opts.path = at(w, "x_1.bb");
    assert_ok(bz_finalize_recipe(w->meta, w->library, &opts, &f, &w->err), &w->err);
    m = f->variants.at[0].meta;
    assert_var(m, "A", "012");
    assert_var(m, "L", "core");
    assert_var(m, "FILE", at(w, "x_1.bb").p);
    assert_true(bz_meta_looked(m, at(w, "l/x_1.bbappend")));
    assert_var(w->meta, "A", NULL);
}

static void a_missing_recipe_is_not_there(void **state)
{
    struct world *w = *state;
    struct bz_finalize_opts opts = {.path = at(w, "none.bb")};
    struct bz_finalize *f = NULL;

    assert_int_equal(bz_finalize_recipe(w->meta, w->library, &opts, &f, &w->err),
                     BZ_E_NOENT);
    assert_null(f);
    bz_finalize_free(NULL);
}

enum { THREADS = 4, ROUNDS = 20 };

struct worker {
    struct world *w;
    struct bz_str path;
    size_t good;
};

/* Counts the rounds in which the recipe came out right. */
static void *evaluate(void *arg)
{
    struct worker *k = arg;
    struct bz_finalize_opts opts = {.path = k->path};

    for (int i = 0; i < ROUNDS; i++) {
        struct bz_finalize *f = NULL;
        struct bz_str value;
        struct bz_err err;

        if (bz_finalize_recipe(k->w->meta, k->w->library, &opts, &f, &err) == 0 &&
            f->variants.len == 3 &&
            bz_vars_get(f->variants.at[1].meta->vars, BZ_STR("X"), 0, &value, &err) ==
                0)
            k->good += bz_str_eq(value, BZ_STR("conf foo-native native o"));
        bz_finalize_free(f);
    }
    return NULL;
}

static void threads_share_the_configuration_and_the_library(void **state)
{
    struct world *w = *state;
    struct worker workers[THREADS];
    pthread_t threads[THREADS];

    put_classes(w);
    put_file(w, "conf.inc",
             "OVERRIDES = \"${O}\"\nO = \"o\"\nC = \"conf\"\n"
             "X = \"${C} ${PN} ${CLASS}\"\nX:append:o = \" ${O}\"\n"
             "do_x() {\n    :\n}\naddtask x\n");
    put_file(w, "x.bb", VARIANTS "do_x:append() {\n    ${X}\n}\n");
    assert_ok(eval(w, "conf.inc"), &w->err);
    for (size_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.w = w, .path = at(w, "x.bb")};
        assert_int_equal(pthread_create(&threads[i], NULL, evaluate, &workers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(workers[i].good, ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        world_test(deferred_classes_come_last_and_in_order),
        world_test(a_missing_deferred_class_names_the_line_that_asked),
        world_test(names_of_variables_and_tasks_are_expanded),
        world_test(depends_is_settled),
        world_test(what_cannot_be_settled_is_an_error),
        world_test(variants_are_finalized_on_their_own),
        world_test(overrides_of_a_variant_choose_its_values),
        world_test(a_variant_that_is_named_twice_is_one),
        world_test(only_some_variants_may_be_asked_for),
        world_test(a_recipe_without_variants_needs_no_name),
        world_test(a_variant_without_a_class_is_an_error),
        world_test(appends_and_the_layer_go_into_the_recipe),
        world_test(a_missing_recipe_is_not_there),
        world_test(threads_share_the_configuration_and_the_library),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
