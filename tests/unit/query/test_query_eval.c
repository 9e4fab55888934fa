#include "query/query_eval.h"

#include <stdio.h>

#include "query/query_glob.h"
#include "query/query_parse.h"
#include "tests/unit/graph/random_dag.h"

/* Nodes are letters from 'a' on. Attribute X of a node is its letter twice, b has none.
 * A node's inputs are the files f<letter> and fall. */
struct toy {
    struct bz_dag dag;
    char value[3];
};

static struct bz_str letter(uint32_t node)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz";

    return bz_str_of(&letters[node], 1);
}

static int toy_match(void *ctx, struct bz_str name, struct bz_bitset *out,
                     struct bz_err *err)
{
    const struct toy *t = ctx;
    bool found = bz_query_glob_is(name);

    for (uint32_t i = 0; i < t->dag.n; i++)
        if (bz_query_glob_match(name, letter(i))) {
            bz_bitset_set(out, i);
            found = true;
        }
    if (found)
        return 0;
    return bz_fail(err, BZ_E_NOENT, "nothing is called '%.*s'", BZ_STR_ARG(name));
}

static void toy_name(void *ctx, uint32_t node, struct bz_buf *out)
{
    (void)ctx;
    bz_buf_add_str(out, letter(node));
}

static const char *toy_kind(void *ctx, uint32_t node, struct bz_str *text)
{
    (void)ctx;
    *text = letter(node);
    return node % 2 ? "odd" : "even";
}

static int toy_attr(void *ctx, uint32_t node, struct bz_str name, struct bz_str *value,
                    struct bz_err *err)
{
    struct toy *t = ctx;

    if (bz_str_eq(name, BZ_STR("BAD")))
        return bz_fail(err, BZ_E_IO, "cannot");
    memset(t->value, 'a' + (int)node, 2);
    t->value[2] = '\0';
    *value = node == 1 ? (struct bz_str){0} : bz_str_from(t->value);
    return 0;
}

static int toy_leaves(void *ctx, const struct bz_bitset *nodes, bz_query_leaf_fn leaf,
                      void *to, struct bz_err *err)
{
    (void)ctx;
    (void)err;
    for (size_t i = bz_bitset_next(nodes, 0); i != BZ_BITSET_END;
         i = bz_bitset_next(nodes, i + 1)) {
        char text[3] = {'f', (char)('a' + (int)i), '\0'};

        leaf(to, "file", bz_str_from(text));
        leaf(to, "file", BZ_STR("fall"));
    }
    return 0;
}

static struct bz_query_world toy_world(struct toy *t)
{
    static const char *const kinds[] = {"odd", "even", "file", NULL};

    return (struct bz_query_world){.dag = &t->dag,
                                   .kinds = kinds,
                                   .ctx = t,
                                   .match = toy_match,
                                   .name = toy_name,
                                   .kind = toy_kind,
                                   .attr = toy_attr,
                                   .inputs = toy_leaves,
                                   .outputs = toy_leaves};
}

static void show(const struct bz_query_eval *e, const struct bz_query_answer *a,
                 struct bz_buf *out)
{
    for (size_t i = 0; i < a->path.len; i++)
        bz_query_eval_describe(e, a->path.at[i], out);
    if (a->path.len > 0)
        return;
    for (size_t i = bz_bitset_next(&a->nodes, 0); i != BZ_BITSET_END;
         i = bz_bitset_next(&a->nodes, i + 1)) {
        bz_query_eval_describe(e, i, out);
        if (i >= e->world->dag->n)
            bz_buf_addf(out, " ");
    }
}

static int ask(const struct bz_query_world *w, const char *text, struct bz_buf *out,
               uint32_t *column, struct bz_err *err)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    struct bz_query_answer a = {0};
    struct bz_query_eval e;
    const struct bz_query *q = NULL;
    int rc = bz_query_parse(bz_str_from(text), &arena, &q, column, err);

    bz_query_eval_init(&e, w);
    if (rc == 0)
        rc = bz_query_eval_run(&e, q, &a, column, err);
    if (rc == 0)
        show(&e, &a, out);
    bz_query_eval_release_answer(&a);
    bz_query_eval_release(&e);
    return rc;
}

/* a -> b -> c -> d, a -> e -> d, f */
static void toy_init(struct toy *t)
{
    const struct bz_dag_edge edges[] = {
        {0, 1},
        {1, 2},
        {2, 3},
        {0, 4},
        {4, 3}
    };

    bz_dag_build(&t->dag, 6, edges, BZ_COUNTOF(edges));
}

static void questions_have_answers(void **state)
{
    static const struct {
        const char *text, *answer;
    } rows[] = {
        {"a",                                       "a"         },
        {"set(c a)",                                "ac"        },
        {"*",                                       "abcdef"    },
        {"[a-c] - b",                               "ac"        },
        {"a + b ^ b",                               "b"         },
        {"a + (b ^ c)",                             "a"         },
        {"a except a",                              ""          },
        {"deps(b)",                                 "bcd"       },
        {"deps(b, 0)",                              "b"         },
        {"deps(a, 1)",                              "abe"       },
        {"deps(a + f, 2)",                          "abcdef"    },
        {"rdeps(*, d)",                             "abcde"     },
        {"rdeps(b, d)",                             "bcd"       },
        {"rdeps(*, d, 1)",                          "cde"       },
        {"rdeps(f, d)",                             ""          },
        {"somepath(a, d)",                          "aed"       },
        {"somepath(b, d)",                          "bcd"       },
        {"somepath(f, d)",                          ""          },
        {"somepath(d, d)",                          "d"         },
        {"somepath(a, d) - e",                      "ad"        },
        {"allpaths(b, d)",                          "bcd"       },
        {"allpaths(a, d)",                          "abcde"     },
        {"allpaths(d, a)",                          ""          },
        {"kind(odd, *)",                            "bdf"       },
        {"kind(even [b-e], *)",                     "ce"        },
        {"filter('[ab]', *)",                       "ab"        },
        {"attr(X, '^(bb|cc)$', *)",                 "c"         },
        {"let x = deps(b) in $x - let x = d in $x", "bc"        },
        {"inputs(a)",                               "fa fall "  },
        {"inputs(a + b) - inputs(b)",               "fa "       },
        {"inputs(a) ^ outputs(c)",                  "fall "     },
        {"kind(file fa*, inputs(a) + a)",           "fa fall "  },
        {"filter('l$', inputs(b))",                 "fall "     },
        {"deps(inputs(b) + c)",                     "cdfb fall "},
        {"rdeps(*, inputs(b))",                     ""          },
        {"inputs(inputs(a))",                       ""          },
        {"attr(X, '', inputs(a))",                  ""          },
        {"somepath(inputs(a), a)",                  ""          },
    };
    struct toy t;
    struct bz_query_world w;

    (void)state;
    toy_init(&t);
    w = toy_world(&t);
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};
        struct bz_err err;
        uint32_t column;

        assert_ok(ask(&w, rows[i].text, &out, &column, &err), &err);
        if (strcmp(bz_buf_text(&out), rows[i].answer) != 0)
            fail_msg("%s: '%s'", rows[i].text, bz_buf_text(&out));
    }
    bz_dag_release(&t.dag);
}

static void questions_that_have_none_say_where(void **state)
{
    static const struct {
        const char *text, *message;
        int code;
        uint32_t column;
    } rows[] = {
        {"a + zz",              "column 5: nothing is called 'zz'",                                  BZ_E_NOENT, 5 },
        {"set(a zz)",           "column 7: nothing is called 'zz'",                                  BZ_E_NOENT, 7 },
        {"kind(evn, a)",        "column 6: there is no kind 'evn'; did you mean 'even'?",
         BZ_E_INVAL,                                                                                             6 },
        {"a + $y",              "column 5: $y has no value here; give it one with 'let y = ... in'",
         BZ_E_INVAL,                                                                                             5 },
        {"attr(BAD, x, a)",     "cannot",                                                            BZ_E_IO,    1 },
        {"a ^ attr(X, '(', a)", NULL,                                                                BZ_E_INVAL, 13},
    };
    struct toy t;
    struct bz_query_world w;

    (void)state;
    toy_init(&t);
    w = toy_world(&t);
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};
        struct bz_err err;
        uint32_t column;

        assert_int_equal(ask(&w, rows[i].text, &out, &column, &err), rows[i].code);
        if (rows[i].message)
            assert_string_equal(err.msg, rows[i].message);
        assert_int_equal(column, rows[i].column);
    }
    bz_dag_release(&t.dag);
}

/* dist[a][b]: steps from a to b, 100 if there is no way. */
static void naive_distances(const struct bz_dag *d, uint32_t dist[24][24])
{
    for (uint32_t a = 0; a < d->n; a++)
        for (uint32_t b = 0; b < d->n; b++) {
            dist[a][b] = bz_dag_has(d, a, b) ? 1 : 100;
            if (a == b)
                dist[a][b] = 0;
        }
    for (uint32_t k = 0; k < d->n; k++)
        for (uint32_t a = 0; a < d->n; a++)
            for (uint32_t b = 0; b < d->n; b++)
                if (dist[a][k] + dist[k][b] < dist[a][b])
                    dist[a][b] = dist[a][k] + dist[k][b];
}

static void check_random(struct random_dag *g)
{
    struct toy t = {.dag = g->dag};
    struct bz_query_world w = toy_world(&t);
    uint32_t dist[24][24], from = random_below(g, g->dag.n),
                           to = random_below(g, g->dag.n), depth = random_below(g, 4);
    int a = 'a' + (int)from, b = 'a' + (int)to;
    char text[3][64];
    struct bz_buf out[3] = {{0}};

    naive_distances(&g->dag, dist);
    (void)snprintf(text[0], 64, "deps(%c, %u)", a, depth);
    (void)snprintf(text[1], 64, "rdeps(%c, %c)", a, b);
    (void)snprintf(text[2], 64, "somepath(%c, %c)", a, b);
    for (int i = 0; i < 3; i++) {
        struct bz_err err;
        uint32_t column;

        assert_ok(ask(&w, text[i], &out[i], &column, &err), &err);
    }
    for (uint32_t i = 0; i < g->dag.n; i++) {
        int c = 'a' + (int)i;
        bool between = dist[from][i] < 100 && dist[i][to] < 100;

        assert_int_equal(!!strchr(bz_buf_text(&out[0]), c), dist[from][i] <= depth);
        assert_int_equal(!!strchr(bz_buf_text(&out[1]), c), between);
    }
    assert_int_equal(out[2].len, dist[from][to] < 100 ? dist[from][to] + 1 : 0);
    for (int i = 0; i < 3; i++)
        bz_buf_release(&out[i]);
}

static void walks_agree_with_distances_in_any_graph(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct random_dag g;

        random_dag_init(&g, seed);
        check_random(&g);
        random_dag_release(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(questions_have_answers),
        cmocka_unit_test(questions_that_have_none_say_where),
        cmocka_unit_test(walks_agree_with_distances_in_any_graph),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
