#include "build/idle.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cache/shelf.h"
#include "cache/tree_stamp.h"
#include "os/fs.h"
#include "tests/unit/sig/bench.h"

/* A project whose only task has a stored result and an output. */
struct quiet {
    struct world *w;
    struct bench b;
    struct bz_signing s;
    struct bz_goal_opts goal;
    struct bz_idle_about about;
    char result[512];
};

static const char *const target = "app";

static void wait_a_moment(void)
{
    nanosleep(&(struct timespec){0, 120000000}, NULL);
}

static void begin(struct quiet *q)
{
    struct world *w = q->w;

    bench_begin(&q->b, w);
    q->s = (struct bz_signing){0};
    assert_ok(bz_signing_run(&q->s, &q->b.p, &q->b.g, &w->err), &w->err);
    q->goal = (struct bz_goal_opts){.targets = &target, .n = 1};
    q->about = (struct bz_idle_about){.survey = &q->b.p.survey,
                                      .catalog = bz_catalog_entries(&q->b.p),
                                      .build_dir = at(w, "build").p,
                                      .store = at(w, "store").p,
                                      .goal = &q->goal};
}

static void end(struct quiet *q)
{
    bz_signing_release(&q->s);
    bench_close(&q->b);
}

static void open_quiet(struct quiet *q, struct world *w)
{
    char name[BZ_SHELF_NAME];

    q->w = w;
    bench_files(w);
    wait_a_moment(); /* what has just changed is not remembered */
    for (int i = 0; i < 2; i++) {
        begin(q);
        end(q);
    }
    begin(q);
    assert_int_equal(q->s.evaluated, 0);
    bz_shelf_name(&q->s.keys[0], name);
    snprintf(q->result, sizeof(q->result), "%s/ac/%s", at(w, "store").p, name);
    assert_ok(bz_fs_mkdirs(AT_FDCWD, at(w, "build/bitzel-out/app").p, 0755, &w->err),
              &w->err);
    assert_ok(bz_fs_mkdirs(AT_FDCWD, at(w, "store/out/tree/tmp").p, 0755, &w->err),
              &w->err);
    bz_tree_stamp_set(at(w, "store/out/tree").p);
    assert_int_equal(
        symlink(at(w, "store/out/tree/tmp").p, at(w, "build/bitzel-out/app/work").p),
        0);
    *strrchr(q->result, '/') = '\0';
    assert_ok(bz_fs_mkdirs(AT_FDCWD, q->result, 0755, &w->err), &w->err);
    q->result[strlen(q->result)] = '/';
    assert_ok(
        bz_fs_write(AT_FDCWD, q->result, "result", 6, 0644, BZ_FS_NOSYNC, &w->err),
        &w->err);
    wait_a_moment();
}

static void keep(struct quiet *q, struct bz_event_counts counts)
{
    struct bz_idle_found found = {.counts = counts, .spared = 7};

    BZ_VEC_PUSH(&found.used, (struct bz_idle_use){0, 5});
    assert_ok(bz_idle_keep(&q->about, &q->b.g, &q->s, &found, &q->w->err), &q->w->err);
    bz_vec_release(&found.used);
}

static bool found(struct quiet *q)
{
    struct bz_idle idle;
    bool yes = bz_idle_find(&idle, &q->about);

    if (yes) {
        assert_int_equal(idle.counts.tasks, 1);
        assert_int_equal(idle.spared, 7);
        assert_int_equal(idle.results.len, 1);
        assert_int_equal(idle.results.at[0].saved, 5);
        assert_true(bz_str_eq(idle.results.at[0].task, BZ_STR("app:do_build")));
        assert_true(bz_digest_eq(&idle.results.at[0].key, &q->s.keys[0]));
    }
    bz_idle_release(&idle);
    return yes;
}

static const struct bz_event_counts nothing = {.tasks = 1, .cached = 1};

static void what_nothing_has_changed_of_holds(void **state)
{
    struct quiet q;

    open_quiet(&q, *state);
    assert_false(found(&q));
    keep(&q, nothing);
    assert_true(found(&q));
    end(&q);
    begin(&q);
    assert_true(found(&q));
    q.goal.task = "other";
    assert_false(found(&q));
    end(&q);
}

static void only_builds_in_which_nothing_ran_are_kept(void **state)
{
    struct quiet q;

    open_quiet(&q, *state);
    keep(&q, (struct bz_event_counts){.tasks = 1, .executed = 1});
    keep(&q, (struct bz_event_counts){.tasks = 1, .failed = 1});
    q.s.evaluated = 1;
    keep(&q, nothing);
    q.s.evaluated = 0;
    q.b.p.survey.parsed = 1;
    keep(&q, nothing);
    q.b.p.survey.parsed = 0;
    assert_false(found(&q));
    end(&q);
}

/* Each in turn: what is done, and then it must not hold. */
static void touch_result(struct quiet *q)
{
    assert_int_equal(utimensat(AT_FDCWD, q->result, NULL, 0), 0);
}

static void remove_result(struct quiet *q)
{
    assert_int_equal(unlink(q->result), 0);
}

static void remove_output(struct quiet *q)
{
    assert_int_equal(rmdir(at(q->w, "store/out/tree/tmp").p), 0);
}

static void add_output(struct quiet *q)
{
    assert_int_equal(symlink("x", at(q->w, "build/bitzel-out/app/image").p), 0);
}

static void what_has_changed_does_not_hold(void **state)
{
    static void (*const changes[])(struct quiet *) = {touch_result, add_output,
                                                      remove_output, remove_result};
    struct quiet q;

    open_quiet(&q, *state);
    for (size_t i = 0; i < BZ_COUNTOF(changes); i++) {
        keep(&q, nothing);
        assert_true(found(&q));
        changes[i](&q);
        assert_false(found(&q));
        wait_a_moment();
    }
    end(&q);
}

static void a_store_elsewhere_is_another(void **state)
{
    struct quiet q;

    open_quiet(&q, *state);
    keep(&q, nothing);
    q.about.store = "/elsewhere";
    assert_false(found(&q));
    end(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
        TEST(what_nothing_has_changed_of_holds),
        TEST(only_builds_in_which_nothing_ran_are_kept),
        TEST(what_has_changed_does_not_hold),
        TEST(a_store_elsewhere_is_another),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
