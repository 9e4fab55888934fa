#include "exec/step.h"

#include <sys/wait.h>

#include "tests/unit/exec/kitchen.h"

struct bench {
    struct kitchen *k;
    struct bz_step_shop shop;
    char scratch[320], anchor[340], run[320], log[320];
};

static int setup(void **state)
{
    struct bench *b = calloc(1, sizeof(*b));
    struct bz_err err;
    void *k;

    if (kitchen_setup(&k) < 0)
        return -1;
    *state = b;
    b->k = k;
    snprintf(b->scratch, sizeof(b->scratch), "%s/work", b->k->store);
    snprintf(b->anchor, sizeof(b->anchor), "%s/root", b->scratch);
    snprintf(b->run, sizeof(b->run), "%s/t/run", b->k->scratch->path);
    snprintf(b->log, sizeof(b->log), "%s/t/log", b->k->scratch->path);
    b->shop = (struct bz_step_shop){
        .cache = b->k->cache, .pool = b->k->pool, .desks.scratch = b->scratch};
    bz_ground_usual(&b->shop.ground);
    assert_ok(bz_fs_mkdirs(AT_FDCWD, b->anchor, 0755, &err), &err);
    assert_ok(bz_trees_open(b->k->cache, b->k->pool, b->k->store, &b->shop.trees, &err),
              &err);
    if (bz_sandbox_open(b->anchor, &b->shop.sandbox, &err) < 0) {
        if (err.code != BZ_E_NOSUP || getenv("BITZEL_MUST_WORK"))
            fail_msg("%s", err.msg);
        print_message("%s\n", err.msg);
        skip();
    }
    return 0;
}

static int teardown(void **state)
{
    struct bench *b = *state;
    void *k = b->k;

    bz_sandbox_close(b->shop.sandbox);
    bz_trees_close(b->shop.trees);
    bz_desk_list_release(&b->shop.desks);
    free(b);
    return kitchen_teardown(&k);
}

/* Runs a script to its end, which has to be good, and stores its output. */
static void run(struct bench *b, const char *script, const struct bz_output *handed,
                struct bz_reapi_digest *own, struct bz_reapi_digest *shared)
{
    const struct bz_job job = {.script = bz_str_from(script),
                               .workdir = BZ_STR(BZ_JOB_ROOT "/w/x"),
                               .temp = BZ_STR(BZ_JOB_ROOT "/w/x/temp"),
                               .run = b->run,
                               .log = b->log};
    struct bz_step step;
    struct bz_err err;
    int status;

    assert_ok(bz_step_open(&b->shop, &job, handed, &step, &err), &err);
    assert_ok(bz_step_plan(&b->shop, &job, handed, &step, &err), &err);
    assert_ok(bz_step_launch(&b->shop, &step, &err), &err);
    bz_proc_reap(&step.child.proc, &status, NULL);
    bz_sandbox_leave(b->shop.sandbox, &step.child);
    assert_int_equal(status, 0);
    assert_ok(bz_step_finish(&b->shop, &step, own, shared, &err), &err);
    bz_step_release(&step);
}

static void output_is_split_at_the_work_directory(void **state)
{
    struct bench *b = *state;
    const struct bz_output none = {0};
    struct bz_reapi_digest own, shared;
    const char *path;
    struct bz_err err;

    run(b, "set -e; mkdir -p w/x s; echo o >w/x/own; echo s >s/shared; echo hi", &none,
        &own, &shared);
    assert_ok(bz_trees_get(b->shop.trees, &own, &path, &err), &err);
    assert_ok(bz_trees_get(b->shop.trees, &shared, &path, &err), &err);
    kitchen_make(b->k, "test \"$(cat store/trees/*/w/x/own)\" = o; "
                       "test \"$(cat store/trees/*/s/shared)\" = s; "
                       "test \"$(cat t/log)\" = hi; grep -q own t/run; "
                       "test -z \"$(find store/work/0 -type f)\"");
}

static void a_task_that_writes_nothing_has_no_output(void **state)
{
    struct bench *b = *state;
    const struct bz_output none = {0};
    struct bz_reapi_digest own, shared;

    run(b, "true", &none, &own, &shared);
    assert_true(bz_reapi_digest_none(&own));
    assert_true(bz_reapi_digest_none(&shared));
}

static void a_task_finds_an_empty_directory_for_its_files(void **state)
{
    struct bench *b = *state;
    const struct bz_output none = {0};
    struct bz_reapi_digest own, shared;

    for (int i = 0; i < 2; i++) {
        run(b, "set -e; test -z \"$(ls w/x/temp)\"; echo 1 >w/x/temp/file", &none, &own,
            &shared);
        assert_false(bz_reapi_digest_none(&own));
        assert_true(bz_reapi_digest_none(&shared));
    }
    run(b, "set -e; test -z \"$(ls w/x/temp)\"; mkdir s", &none, &own, &shared);
    assert_true(bz_reapi_digest_none(&own));
    assert_false(bz_reapi_digest_none(&shared));
}

static void the_next_task_sees_it_and_stores_only_what_it_changes(void **state)
{
    struct bench *b = *state;
    const struct bz_output none = {0};
    BZ_CLEANUP(bz_output_release) struct bz_output handed = {0};
    struct bz_output_layer first = {.task = BZ_STR("a")};
    struct bz_reapi_digest own, shared;
    const char *path;
    struct bz_err err;

    run(b, "mkdir -p w/x; echo 1 >w/x/one; echo 2 >w/x/two", &none, &first.tree,
        &shared);
    BZ_VEC_PUSH(&handed.own, first);
    run(b, "set -e; test \"$(cat w/x/one)\" = 1; rm w/x/one; echo 3 >w/x/three",
        &handed, &own, &shared);
    assert_ok(bz_trees_get(b->shop.trees, &own, &path, &err), &err);
    kitchen_make(b->k, "test -c $(dirname store/trees/*/w/x/three)/one");
    assert_true(bz_reapi_digest_none(&shared));
}

static void many_layers_are_merged_before(void **state)
{
    struct bench *b = *state;
    BZ_CLEANUP(bz_output_release) struct bz_output handed = {0};
    struct bz_reapi_digest own, shared;

    for (int i = 0; i < 40; i++) {
        char script[200];

        snprintf(script, sizeof(script),
                 "rm -rf l; mkdir l; echo %d >l/f%d; echo %d >l/last", i, i, i);
        kitchen_make(b->k, script);
        BZ_VEC_PUSH(&handed.shared, kitchen_store(b->k, "l", "t"));
    }
    run(b, "set -e; test $(ls | wc -l) = 41; test $(cat last) = 0", &handed, &own,
        &shared);
    kitchen_make(b->k, "test -d store/trees/merged-*");
}

static void a_layer_that_is_gone_is_told(void **state)
{
    struct bench *b = *state;
    const struct bz_job job = {.script = BZ_STR("true"), .run = b->run, .log = b->log};
    BZ_CLEANUP(bz_output_release) struct bz_output handed = {0};
    struct bz_step step;
    struct bz_err err;

    BZ_VEC_PUSH(&handed.own, (struct bz_output_layer){
                                 BZ_STR("lost:do_x"), {.hash = {{7}}, .size = 3}
    });
    assert_ok(bz_step_open(&b->shop, &job, &handed, &step, &err), &err);
    assert_int_equal(bz_step_plan(&b->shop, &job, &handed, &step, &err), BZ_E_NOENT);
    assert_non_null(strstr(err.msg, "output of lost:do_x"));
    bz_step_release(&step);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(output_is_split_at_the_work_directory),
        TEST(a_task_that_writes_nothing_has_no_output),
        TEST(a_task_finds_an_empty_directory_for_its_files),
        TEST(the_next_task_sees_it_and_stores_only_what_it_changes),
        TEST(many_layers_are_merged_before),
        TEST(a_layer_that_is_gone_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
