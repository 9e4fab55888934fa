#include "exec/trees.h"

#include <sys/xattr.h>

#include "base/log.h"
#include "base/mem.h"
#include "cache/tree_stamp.h"
#include "tests/unit/exec/kitchen.h"

#define CHECKED "user.bitzel.checked"

/* Asks for a tree as a new process does. The path is the caller's to free. */
static char *get_anew(struct kitchen *k, const struct bz_output_layer *layer)
{
    struct bz_trees *t;
    const char *path;
    char *copy = NULL;

    assert_ok(bz_trees_open(k->cache, k->pool, k->store, &t, &k->err), &k->err);
    if (bz_trees_get(t, &layer->tree, &path, &k->err) == 0)
        copy = bz_mem_dup(path, strlen(path));
    bz_trees_close(t);
    return copy;
}

static bool is_found(struct kitchen *k, const struct bz_output_layer *layer)
{
    BZ_CLEANUP(bz_mem_freep) char *path = get_anew(k, layer);

    return path;
}

static void a_tree_is_made_once_and_found_again(void **state)
{
    struct kitchen *k = *state;
    struct bz_output_layer layer;
    struct bz_trees *t;
    const char *path, *again;

    kitchen_make(k, "mkdir -p a/d; echo x >a/d/f");
    layer = kitchen_store(k, "a", "t");
    assert_true(is_found(k, &layer));
    kitchen_make(k, "test \"$(cat store/trees/*/d/f)\" = x; "
                    "stat -c %i store/trees/* >which");
    assert_ok(bz_trees_open(k->cache, k->pool, k->store, &t, &k->err), &k->err);
    assert_ok(bz_trees_get(t, &layer.tree, &again, &k->err), &k->err);
    assert_ok(bz_trees_get(t, &layer.tree, &path, &k->err), &k->err);
    assert_string_equal(path, again);
    kitchen_make(k, "stat -c %i store/trees/* | cmp - which"); /* not made anew */
    bz_trees_close(t);
    bz_trees_close(NULL);
}

static void a_tree_that_somebody_added_to_is_made_anew(void **state)
{
    struct kitchen *k = *state;
    struct bz_output_layer layer;

    bz_log_set_level(BZ_LOG_ERROR);
    kitchen_make(k, "mkdir -p a/d; echo x >a/d/f");
    layer = kitchen_store(k, "a", "t");
    assert_true(is_found(k, &layer));
    kitchen_make(k, "for d in store/trees/*/d; do touch $d/mark; done");
    assert_true(is_found(k, &layer));
    kitchen_make(k, "test ! -e store/trees/*/d/mark; test -e store/trees/*/d/f; "
                    "test $(ls -A store/trees | wc -l) = 1; test ! -e store/work/*");
}

static void a_tree_that_somebody_wrote_to_is_lost(void **state)
{
    struct kitchen *k = *state;
    struct bz_output_layer layer;

    bz_log_set_level(BZ_LOG_ERROR);
    kitchen_make(k, "mkdir -p a/d; echo x >a/d/f; chmod 444 a/d/f");
    layer = kitchen_store(k, "a", "t");
    assert_true(is_found(k, &layer));
    kitchen_make(k, "for f in store/trees/*/d/f; do test $(stat -c %h $f) = 2; "
                    "chmod 644 $f; echo y >$f; chmod 444 $f; done");
    assert_false(is_found(k, &layer));
    assert_int_equal(k->err.code, BZ_E_NOENT);
    kitchen_make(k, "test -e store/bad/cas-*; test -z \"$(ls -A store/trees)\"");
    kitchen_store(k, "a", "t"); /* as the task does that is run again */
    assert_true(is_found(k, &layer));
    kitchen_make(k, "test \"$(cat store/trees/*/d/f)\" = x");
}

static void what_another_boot_laid_out_is_hashed_once(void **state)
{
    struct kitchen *k = *state;
    BZ_CLEANUP(bz_mem_freep) char *path = NULL;
    struct bz_output_layer layer;
    char value[64];

    bz_log_set_level(BZ_LOG_ERROR);
    kitchen_make(k, "mkdir -p a/d; echo x >a/d/f; chmod 600 a/d/f"); /* not linked */
    layer = kitchen_store(k, "a", "t");
    path = get_anew(k, &layer);
    if (getxattr(path, CHECKED, value, sizeof(value)) < 0)
        skip(); /* nothing is remembered here */
    kitchen_make(k, "for f in store/trees/*/d/f; do "
                    "echo y >$f; touch -d @946684800 $f; done");
    assert_true(is_found(k, &layer)); /* the time of the change tells */
    kitchen_make(k, "test \"$(cat store/trees/*/d/f)\" = x");
    kitchen_make(k, "for f in store/trees/*/d/f; do "
                    "echo y >$f; touch -d @946684800 $f; done");
    bz_tree_stamp_set(path); /* as if nobody could tell */
    assert_true(is_found(k, &layer));
    kitchen_make(k, "test \"$(cat store/trees/*/d/f)\" = y");
    assert_int_equal(setxattr(path, CHECKED, "another", 7, 0), 0);
    assert_true(is_found(k, &layer));
    kitchen_make(k, "test \"$(cat store/trees/*/d/f)\" = x");
    assert_int_equal(getxattr(path, CHECKED, value, sizeof(value)), 32);
    assert_int_equal(setxattr(path, CHECKED, "another", 7, 0), 0);
    assert_true(is_found(k, &layer)); /* it is right, and that is noted */
    assert_int_equal(getxattr(path, CHECKED, value, sizeof(value)), 32);
}

static void a_tree_that_is_not_stored_leaves_nothing(void **state)
{
    struct kitchen *k = *state;
    const struct bz_reapi_digest none = {.hash = {{1}}, .size = 9};
    struct bz_trees *t;
    const char *path;

    assert_ok(bz_trees_open(k->cache, k->pool, k->store, &t, &k->err), &k->err);
    assert_int_equal(bz_trees_get(t, &none, &path, &k->err), BZ_E_NOENT);
    kitchen_make(k, "test -z \"$(ls -A store/trees)\"");
    bz_trees_close(t);
}

static void layers_are_merged_by_their_digests(void **state)
{
    struct kitchen *k = *state;
    BZ_CLEANUP(bz_output_release) struct bz_output out = {0};
    struct bz_trees *t;
    const char *path, *other;

    kitchen_make(k, "mkdir a b; echo top >a/f; echo low >b/f; echo b >b/g");
    BZ_VEC_PUSH(&out.own, kitchen_store(k, "a", "a"));
    BZ_VEC_PUSH(&out.own, kitchen_store(k, "b", "b"));
    assert_ok(bz_trees_open(k->cache, k->pool, k->store, &t, &k->err), &k->err);
    assert_ok(bz_trees_merge(t, &out.own, &path, &k->err), &k->err);
    kitchen_make(k, "test \"$(cat store/trees/merged-*/f)\" = top; "
                    "test -e store/trees/merged-*/g");
    out.own.len = 1;
    assert_ok(bz_trees_merge(t, &out.own, &other, &k->err), &k->err);
    assert_string_not_equal(path, other);
    bz_trees_close(t);
}

static void merged_layers_are_looked_at_too(void **state)
{
    struct kitchen *k = *state;
    BZ_CLEANUP(bz_output_release) struct bz_output out = {0};
    static const char *const changes[] = {
        "touch mark",        "rm f",          "chmod 700 d", "rm l", "ln -sfn other l",
        "rm f; echo top >f", "rm l; mkdir l",
    };

    bz_log_set_level(BZ_LOG_ERROR);
    kitchen_make(k, "mkdir a b a/d; echo top >a/f; echo low >b/f; echo b >b/g; "
                    "ln -s x b/l; mknod a/gone c 0 0; echo c >b/gone");
    BZ_VEC_PUSH(&out.own, kitchen_store(k, "a", "a"));
    BZ_VEC_PUSH(&out.own, kitchen_store(k, "b", "b"));
    for (size_t i = 0; i <= BZ_COUNTOF(changes); i++) {
        char line[200];
        struct bz_trees *t;
        const char *path;

        assert_ok(bz_trees_open(k->cache, k->pool, k->store, &t, &k->err), &k->err);
        assert_ok(bz_trees_merge(t, &out.own, &path, &k->err), &k->err);
        assert_ok(bz_trees_merge(t, &out.own, &path, &k->err), &k->err);
        bz_trees_close(t);
        kitchen_make(k, "cd store/trees/merged-*; test \"$(ls)\" = \"$(printf "
                        "'d\\nf\\ng\\nl')\"; test $(cat f) = top; "
                        "test $(stat -c %a d) = 755; test $(readlink l) = x");
        snprintf(line, sizeof(line), "cd store/trees/merged-*; %s",
                 i < BZ_COUNTOF(changes) ? changes[i] : "true");
        kitchen_make(k, line);
    }
}

/* Also forgets that it was right, as another boot does. */
static void show(struct kitchen *k, const struct bz_output_layers *layers)
{
    struct bz_trees *t;
    const char *path;
    size_t lost;

    assert_ok(bz_trees_open(k->cache, k->pool, k->store, &t, &k->err), &k->err);
    assert_ok(bz_trees_show(t, layers, BZ_STR(""), &path, &lost, &k->err), &k->err);
    (void)!removexattr(path, CHECKED);
    bz_trees_close(t);
}

static void what_is_shown_is_plain_and_layers_are_as_they_are(void **state)
{
    struct kitchen *k = *state;
    BZ_CLEANUP(bz_output_release) struct bz_output out = {0};

    bz_log_set_level(BZ_LOG_ERROR);
    kitchen_make(k, "mkdir a b; echo x >a/f; echo g >a/g; chmod 755 a/g; "
                    "chmod 6755 a/f; mkdir -m 2755 a/d; cp -p a/f b/h");
    BZ_VEC_PUSH(&out.own, kitchen_store(k, "a", "a"));
    assert_true(is_found(k, &out.own.at[0]));
    show(k, &out.own);
    kitchen_make(k, "test $(stat -c %a store/trees) = 700; "
                    "cd store/trees/*; test $(stat -c %a f) = 6755; "
                    "test $(stat -c %a d) = 2755; cd ../../out/*; "
                    "test $(stat -c %a f) = 555; test $(stat -c %a d) = 755; "
                    "test $(stat -c %h f) = 1; test \"$(cat f g)\" = \"x\ng\"; "
                    "test $(stat -c %a,%h g) = 555,1");
    BZ_VEC_PUSH(&out.own, kitchen_store(k, "b", "b"));
    show(k, &out.own);
    kitchen_make(k, "cd store/out/merged-*; test $(stat -c %a f) = 555; "
                    "test $(stat -c %a h) = 555; test $(stat -c %a d) = 755; "
                    "test $(stat -c %h h) = 1; test $(stat -c %h g) = 1; "
                    "stat -c %i . >../../which");
    show(k, &out.own);
    kitchen_make(k,
                 "stat -c %i store/out/merged-* | cmp - store/which"); /* as it was */
}

static void what_was_right_in_this_boot_is_shown_without_its_layers(void **state)
{
    struct kitchen *k = *state;
    BZ_CLEANUP(bz_output_release) struct bz_output out = {0};
    struct bz_trees *t;
    const char *path;
    char value[64];
    size_t lost;

    bz_log_set_level(BZ_LOG_ERROR);
    kitchen_make(k, "mkdir a b; echo x >a/f; echo y >b/g");
    BZ_VEC_PUSH(&out.own, kitchen_store(k, "a", "a"));
    BZ_VEC_PUSH(&out.own, kitchen_store(k, "b", "b"));
    assert_ok(bz_trees_open(k->cache, k->pool, k->store, &t, &k->err), &k->err);
    assert_ok(bz_trees_show(t, &out.own, BZ_STR(""), &path, &lost, &k->err), &k->err);
    if (getxattr(path, CHECKED, value, sizeof(value)) < 0)
        skip(); /* nothing is remembered here */
    bz_trees_close(t);
    kitchen_make(k, "rm -rf store/trees/*");
    show(k, &out.own); /* and forgets it */
    kitchen_make(k, "test -z \"$(ls -A store/trees)\"; rm -rf store/cas/*");
    assert_ok(bz_trees_open(k->cache, k->pool, k->store, &t, &k->err), &k->err);
    out.own.at[0] = kitchen_store(k, "a", "a");
    assert_int_equal(bz_trees_show(t, &out.own, BZ_STR(""), &path, &lost, &k->err),
                     BZ_E_NOENT);
    assert_int_equal(lost, 1);
    bz_trees_close(t);
}

static void what_became_setuid_where_it_is_shown_is_made_anew(void **state)
{
    struct kitchen *k = *state;
    BZ_CLEANUP(bz_output_release) struct bz_output out = {0};

    bz_log_set_level(BZ_LOG_ERROR);
    kitchen_make(k,
                 "mkdir a b; echo x >a/f; chmod 6755 a/f; echo y >b/g; chmod 755 b/g");
    BZ_VEC_PUSH(&out.own, kitchen_store(k, "a", "a"));
    for (int i = 0; i < 2; i++) {
        kitchen_make(k, "rm -rf store/out");
        show(k, &out.own);
        kitchen_make(k, "chmod 6755 store/out/*/f");
        show(k, &out.own);
        kitchen_make(k, "test $(stat -c %a store/out/*/f) = 555");
        BZ_VEC_PUSH(&out.own, kitchen_store(k, "b", "b"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name)                                                                     \
    cmocka_unit_test_setup_teardown(name, kitchen_setup, kitchen_teardown)
        TEST(a_tree_is_made_once_and_found_again),
        TEST(a_tree_that_somebody_added_to_is_made_anew),
        TEST(a_tree_that_somebody_wrote_to_is_lost),
        TEST(what_another_boot_laid_out_is_hashed_once),
        TEST(a_tree_that_is_not_stored_leaves_nothing),
        TEST(layers_are_merged_by_their_digests),
        TEST(merged_layers_are_looked_at_too),
        TEST(what_is_shown_is_plain_and_layers_are_as_they_are),
        TEST(what_was_right_in_this_boot_is_shown_without_its_layers),
        TEST(what_became_setuid_where_it_is_shown_is_made_anew),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
