#include "survey/facts.h"

#include "recipe/finalize.h"
#include "tests/unit/recipe/files.h"

/* The facts of test.bb; *f keeps them from being freed too early by mistake. */
static int read_facts(struct world *w, struct bz_facts_keep *keep, const char *text,
                      struct bz_facts *out)
{
    BZ_CLEANUP(bz_finalize_freep) struct bz_finalize *f = NULL;
    struct bz_finalize_opts opts = {.path = at(w, "test_1.0.bb")};

    bz_library_free(w->library); /* it has read a file of that name perhaps */
    w->library = bz_library_new();
    put_file(w, "test_1.0.bb", text);
    assert_ok(bz_finalize_recipe(w->meta, w->library, &opts, &f, &w->err), &w->err);
    *out = (struct bz_facts){.path = opts.path};
    return bz_facts_of(keep, f->variants.at[0].meta, out, &w->err);
}

static void variables_are_read_as_bitbake_reads_them(void **state)
{
    struct world *w = *state;
    struct bz_facts_keep keep = {0};
    struct bz_facts f;

    assert_ok(read_facts(w, &keep,
                         "PN = \"foo\"\nPV = \"1.${X}\"\nX = \"2\"\nPR = \"r1\"\n"
                         "DEPENDS = \" a  b\"\nPROVIDES = \"foo virtual/foo (= 3)\"\n"
                         "DEFAULT_PREFERENCE = \"-1\"\nEXCLUDE_FROM_WORLD = \"Yes\"\n"
                         "PACKAGES_DYNAMIC = \"^foo-.*  ^bar\"\nSUMMARY = \"Foo\"\n",
                         &f),
              &w->err);
    assert_text("PN", f.pn, "foo");
    assert_text("PE", f.pe, "");
    assert_text("PV", f.pv, "1.2");
    assert_text("PR", f.pr, "r1");
    assert_text("DEPENDS", f.depends, "a b");
    assert_text("PROVIDES", f.provides, "foo virtual/foo");
    assert_text("PACKAGES_DYNAMIC", f.packages_dynamic, "^foo-.* ^bar");
    assert_text("SUMMARY", f.summary, "Foo");
    assert_text("skipped", f.skipped, NULL);
    assert_text("error", f.error, NULL);
    assert_int_equal(f.default_preference, -1);
    assert_true(f.not_world);
    assert_false(f.uncached);
    bz_facts_release(&keep);
}

static void packages_have_what_their_own_variables_say(void **state)
{
    struct world *w = *state;
    struct bz_facts_keep keep = {0};
    struct bz_facts f;

    assert_ok(read_facts(w, &keep,
                         "PN = \"foo\"\nPACKAGES = \"foo foo-dev\"\n"
                         "RDEPENDS = \"all\"\nRDEPENDS:foo = \"x (>= 1.0) y (= 2 )\"\n"
                         "RDEPENDS:foo:append = \" z\"\nRPROVIDES:foo-dev = \"d\"\n"
                         "RRECOMMENDS:foo-dev = \"r\"\n",
                         &f),
              &w->err);
    assert_int_equal(f.npackages, 2);
    assert_text("name", f.packages[0].name, "foo");
    assert_text("RDEPENDS", f.packages[0].rdepends, "x y z");
    assert_text("RPROVIDES", f.packages[0].rprovides, "");
    assert_text("name", f.packages[1].name, "foo-dev");
    assert_text("RPROVIDES", f.packages[1].rprovides, "d");
    assert_text("RRECOMMENDS", f.packages[1].rrecommends, "r");
    assert_text("RDEPENDS", f.rdepends, "all");
    bz_facts_release(&keep);
}

static void a_recipe_without_packages_has_one_named_as_itself(void **state)
{
    struct world *w = *state;
    struct bz_facts_keep keep = {0};
    struct bz_facts f;

    assert_ok(read_facts(w, &keep, "X = \"1\"\n", &f), &w->err);
    assert_text("PN", f.pn, "test");
    assert_int_equal(f.npackages, 1);
    assert_text("name", f.packages[0].name, "test");
    bz_facts_release(&keep);
}

#define TASKS                                                                          \
    "addtask a\naddtask b after do_a\ndo_b[deptask] = \"${T}\"\nT = \"do_x\"\n"

static void tasks_have_their_order_and_their_flags(void **state)
{
    struct world *w = *state;
    struct bz_facts_keep keep = {0};
    struct bz_facts f;

    assert_ok(read_facts(w, &keep,
                         TASKS "do_a[nostamp] = \"0\"\ndo_b[noexec] = \"1\"\n"
                               "do_b[depends] = \"x:do_y\"\ndeltask do_c\n",
                         &f),
              &w->err);
    assert_int_equal(f.ntasks, 2);
    assert_text("name", f.tasks[0].name, "do_a");
    assert_text("after", f.tasks[0].after, "");
    assert_text("deptask", f.tasks[0].deptask, NULL);
    assert_true(f.tasks[0].nostamp); /* set is set, whatever it is set to */
    assert_false(f.tasks[0].noexec);
    assert_text("name", f.tasks[1].name, "do_b");
    assert_text("after", f.tasks[1].after, "do_a");
    assert_text("deptask", f.tasks[1].deptask, "do_x");
    assert_text("depends", f.tasks[1].depends, "x:do_y");
    assert_true(f.tasks[1].noexec);
    bz_facts_release(&keep);
}

static void equal_tasks_are_kept_once(void **state)
{
    struct world *w = *state;
    struct bz_facts_keep keep = {0};
    struct bz_facts f, g, h;

    assert_ok(read_facts(w, &keep, TASKS "PN = \"f\"\n", &f), &w->err);
    assert_ok(read_facts(w, &keep, TASKS "PN = \"g\"\n", &g), &w->err);
    assert_ok(read_facts(w, &keep, TASKS "do_a[noexec] = \"1\"\n", &h), &w->err);
    assert_ptr_equal(f.tasks, g.tasks);
    assert_ptr_not_equal(f.tasks, h.tasks);
    bz_facts_release(&keep);
}

static void of_a_skipped_recipe_only_names_are_known(void **state)
{
    struct world *w = *state;
    struct bz_facts_keep keep = {0};
    struct bz_facts f;

    w->meta->skipped = BZ_STR("not for this machine");
    assert_ok(read_facts(w, &keep,
                         TASKS "PN = \"f\"\nPV = \"1\"\nRPROVIDES:f = \"p\"\n"
                               "RDEPENDS:f = \"q\"\nDEFAULT_PREFERENCE = \"x\"\n",
                         &f),
              &w->err);
    assert_text("skipped", f.skipped, "not for this machine");
    assert_text("PN", f.pn, "f");
    assert_text("RPROVIDES", f.packages[0].rprovides, "p");
    assert_int_equal(f.packages[0].rdepends.n, 0);
    assert_int_equal(f.pv.n, 0);
    assert_int_equal(f.ntasks, 0);
    bz_facts_release(&keep);
}

static void what_cannot_be_read_is_an_error(void **state)
{
    static const char *const wrong[][2] = {
        {"DEFAULT_PREFERENCE = \"high\"\n",  "DEFAULT_PREFERENCE: 'high' is not"   },
        {"EXCLUDE_FROM_WORLD = \"maybe\"\n", "EXCLUDE_FROM_WORLD: 'maybe' is not a"},
        {"PV = \"${PV}\"\n",                 "PV"                                  },
    };
    struct world *w = *state;

    for (size_t i = 0; i < BZ_COUNTOF(wrong); i++) {
        struct bz_facts_keep keep = {0};
        struct bz_facts f;

        assert_int_equal(read_facts(w, &keep, wrong[i][0], &f), BZ_E_INVAL);
        assert_non_null(strstr(w->err.msg, wrong[i][1]));
        bz_facts_broken(&keep, bz_str_from(w->err.msg), &f);
        assert_text("error", f.error, w->err.msg);
        assert_text("PN", f.pn, "test");
        assert_int_equal(f.npackages, 0);
        bz_facts_release(&keep);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        world_test(variables_are_read_as_bitbake_reads_them),
        world_test(packages_have_what_their_own_variables_say),
        world_test(a_recipe_without_packages_has_one_named_as_itself),
        world_test(tasks_have_their_order_and_their_flags),
        world_test(equal_tasks_are_kept_once),
        world_test(of_a_skipped_recipe_only_names_are_known),
        world_test(what_cannot_be_read_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
