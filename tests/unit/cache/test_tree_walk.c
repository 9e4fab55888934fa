#include "cache/tree_walk.h"

#include <stdatomic.h>

#include "tests/unit/cache/forest.h"

/* A walk that counts, and fails or leaves out what it is told to. */
struct survey {
    struct bz_tree_walk walk; /* first: nodes lead to it */
    atomic_uint met, entered, files;
    const char *skip, *bad; /* names */
};

static struct survey *of(const struct bz_tree_walk_node *n)
{
    return (struct survey *)n->walk;
}

static bool is(const char *name, const char *other)
{
    return other && strcmp(name, other) == 0;
}

static int meet(const struct bz_tree_walk_node *n, const char *name, struct bz_err *err)
{
    atomic_fetch_add(&of(n)->met, 1);
    if (is(name, of(n)->bad))
        return bz_fail(err, BZ_E_CORRUPT, "%s is bad", name);
    return is(name, of(n)->skip);
}

static int enter(struct bz_worker *w, struct bz_tree_walk_node *n, int at,
                 const char *name, struct bz_err *err)
{
    (void)at;
    (void)name;
    (void)err;
    atomic_fetch_add(&of(n)->entered, 1);
    n->fd = 1000; /* a walk does nothing with it */
    bz_tree_walk_below(w, n);
    return 0;
}

static int file(const struct bz_tree_walk_node *n, struct bz_digest_hasher *h,
                const struct bz_reapi_file *f, const char *name, struct bz_err *err)
{
    atomic_fetch_add(&of(n)->files, 1);
    if (!h || n->fd != 1000 || f->name.n != strlen(name))
        return bz_fail(err, BZ_E_INVAL, "%s: not what was promised", name);
    return is(name, of(n)->bad) ? bz_fail(err, BZ_E_CORRUPT, "%s is bad", name) : 0;
}

static int survey(struct grove *g, const struct bz_tree_load *tree, struct survey *s)
{
    static const struct bz_tree_walk_ops ops = {meet, enter, file};

    s->walk = (struct bz_tree_walk){
        .ops = &ops, .cas = g->s->cas, .out = &g->out, .tree = tree};
    atomic_store(&s->met, 0);
    atomic_store(&s->entered, 0);
    atomic_store(&s->files, 0);
    return bz_tree_walk(&s->walk, g->s->dir, "t", &g->s->err);
}

/* t/a/b/deep, t/a/many/0 to 199, t/top */
static void plant(struct grove *g, struct bz_tree_load *tree)
{
    struct bz_reapi_digest d;
    char path[64];

    make_dirs(g->s->dir, "t/a/b");
    make_dirs(g->s->dir, "t/a/many");
    put(g->s->dir, "t/a/b/deep", "x");
    put(g->s->dir, "t/top", "y");
    for (int i = 0; i < 200; i++) {
        snprintf(path, sizeof(path), "t/a/many/%d", i);
        put(g->s->dir, path, "z");
    }
    d = grove_store(g, "t");
    assert_ok(bz_tree_load(g->s->cas, &d, &g->out.threads, tree, &g->s->err),
              &g->s->err);
}

static void every_directory_and_file_is_seen_once(void **state)
{
    struct bz_tree_load tree = {0};
    struct survey s = {0};

    plant(*state, &tree);
    assert_ok(survey(*state, &tree, &s), &((struct grove *)*state)->s->err);
    assert_int_equal(s.met, 3); /* not the root */
    assert_int_equal(s.entered, 4);
    assert_int_equal(s.files, 202);
    s.skip = "many";
    assert_ok(survey(*state, &tree, &s), &((struct grove *)*state)->s->err);
    assert_int_equal(s.entered, 3);
    assert_int_equal(s.files, 2);
    bz_tree_load_release(&tree);
}

static void an_error_says_where_and_stops_the_rest(void **state)
{
    static const struct {
        const char *bad, *msg;
    } cases[] = {
        {"top",  "top is bad"             },
        {"deep", "in a: in b: deep is bad"},
        {"b",    "in a: b is bad"         },
        {"a",    "a is bad"               },
    };
    struct grove *g = *state;
    struct bz_tree_load tree = {0};
    struct survey s = {0};

    plant(g, &tree);
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        s.bad = cases[i].bad;
        assert_int_equal(survey(g, &tree, &s), BZ_E_CORRUPT);
        assert_string_equal(g->s->err.msg, cases[i].msg);
    }
    assert_int_equal(s.entered, 1); /* of the last: nothing is below but by `a` */
    bz_tree_load_release(&tree);
}

static void a_canceled_walk_ends(void **state)
{
    struct grove *g = *state;
    struct bz_tree_load tree = {0};
    struct bz_cancel cancel;
    struct survey s = {0};

    plant(g, &tree);
    bz_cancel_init(&cancel, NULL, 0);
    bz_cancel_now(&cancel);
    g->out.cancel = &cancel;
    assert_int_equal(survey(g, &tree, &s), BZ_E_CANCELED);
    assert_int_equal(s.files, 0);
    bz_tree_load_release(&tree);
}

static void a_directory_without_a_mode_has_the_usual_one(void **state)
{
    struct bz_tree_load_dir from = {0};
    struct bz_tree_out out = {0};
    struct bz_tree_walk walk = {.out = &out};
    struct bz_tree_walk_node n = {.walk = &walk, .from = &from};

    (void)state;
    assert_int_equal(bz_tree_walk_mode(&n), 0755);
    from.dir.props.has_mode = true;
    from.dir.props.mode = 0511;
    assert_int_equal(bz_tree_walk_mode(&n), 0511);
    from.dir.props.mode = 02755;
    assert_int_equal(bz_tree_walk_mode(&n), 02755);
    out.plain = true;
    assert_int_equal(bz_tree_walk_mode(&n), 0755);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        grove_test(every_directory_and_file_is_seen_once),
        grove_test(an_error_says_where_and_stops_the_rest),
        grove_test(a_canceled_walk_ends),
        cmocka_unit_test(a_directory_without_a_mode_has_the_usual_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
