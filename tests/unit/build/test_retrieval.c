#include "build/retrieval.h"

#include "base/log.h"
#include "tests/unit/build/larder.h"

static int retrieve(struct larder *l, struct bz_retrieval *f, struct bz_err *err)
{
    const struct bz_str target = BZ_STR("app:do_build");

    return bz_retrieval_run(
        f,
        &(struct bz_retrieval_opts){
            .cache = l->cache, .is = &l->r, .targets = &target, .ntargets = 1},
        err);
}

static bool is_same(const struct larder *l, const struct bz_retrieval *f,
                    const char *name)
{
    return bz_digest_eq(&bz_record_find(&l->r, bz_str_from(name))->key,
                        &bz_record_find(&f->was, bz_str_from(name))->key);
}

static void what_has_not_changed_is_as_it_was(void **state)
{
    struct world *w = *state;
    struct bz_retrieval f = {0};
    struct larder l;

    put_files(w, larder_files, BZ_COUNTOF(larder_files));
    larder_open(&l, w);
    assert_int_equal(retrieve(&l, &f, &w->err), BZ_E_NOENT);
    bz_retrieval_release(&f);
    larder_file(&l, w);
    assert_ok(retrieve(&l, &f, &w->err), &w->err);
    assert_int_equal(f.was.tasks.len, 4);
    assert_int_equal(f.missing, 0);
    assert_true(is_same(&l, &f, "app:do_build") && is_same(&l, &f, "lib:do_make"));
    bz_retrieval_release(&f);
    larder_close(&l);
}

static void what_has_changed_is_found_by_its_name_and_what_it_waited_for(void **state)
{
    static const struct file edit = {"layer/app.bb",
                                     "DEPENDS = \"lib\"\nA = \"22222\"\n"};
    struct world *w = *state;
    struct bz_retrieval f = {0};
    const struct bz_record_task *was;
    struct larder l;

    put_files(w, larder_files, BZ_COUNTOF(larder_files));
    larder_open(&l, w);
    larder_file(&l, w);
    larder_close(&l);
    put_files(w, &edit, 1);
    larder_open(&l, w);
    assert_ok(retrieve(&l, &f, &w->err), &w->err);
    assert_int_equal(f.was.tasks.len, 4);
    assert_int_equal(f.missing, 0);
    assert_false(is_same(&l, &f, "app:do_make"));
    assert_true(is_same(&l, &f, "lib:do_make"));
    was = bz_record_find(&f.was, BZ_STR("app:do_make"));
    assert_true(bz_str_eq(was->inputs[0]->name, BZ_STR("do_make")) ||
                bz_str_eq(was->inputs[0]->name, BZ_STR("A")));
    bz_retrieval_release(&f);
    larder_close(&l);
}

static void what_cannot_be_read_counts_as_nothing(void **state)
{
    struct world *w = *state;
    struct bz_retrieval f = {0};
    char line[1000];
    struct larder l;

    put_files(w, larder_files, BZ_COUNTOF(larder_files));
    larder_open(&l, w);
    larder_file(&l, w);
    snprintf(line, sizeof(line),
             "chmod -R u+w %s; for f in %s/[0-9a-f]*/*; do echo x >$f; done",
             at(w, "store/cas").p, at(w, "store/cas").p);
    assert_int_equal(system(line), 0);
    bz_log_set_level(BZ_LOG_ERROR);
    assert_int_equal(retrieve(&l, &f, &w->err), BZ_E_NOENT);
    bz_retrieval_release(&f);
    larder_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
        TEST(what_has_not_changed_is_as_it_was),
        TEST(what_has_changed_is_found_by_its_name_and_what_it_waited_for),
        TEST(what_cannot_be_read_counts_as_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
