#include "cmd.h"
#include "cmd_open.h"
#include "codec/jsonw.h"
#include "query/query_glob.h"
#include "query/query_parse.h"
#include "query_world.h"

struct query_values {
    const char *text;
    struct bz_opt_list universe;
    bool json, dot;
};

static const struct bz_opt opts[] = {
    BZ_OPT_LIST(struct query_values, universe, 'u', "universe", "TARGET",
                "Ask about what TARGET needs, 'universe' being everything; else about "
                "the whole world and the names in EXPR"),
    BZ_OPT_FLAG(struct query_values, dot, 0, "dot",
                "Print the answer and what is between its nodes for Graphviz"),
    BZ_OPT_FLAG(struct query_values, json, 0, "json", "Print one JSON object"),
    BZ_OPT_END,
};

static const struct bz_opt_arg args[] = {
    BZ_OPT_ONE(struct query_values, text, "EXPR", "The question, in quotes"),
    BZ_OPT_END,
};

static const struct bz_cmd_term terms[] = {
    {"busybox",                 "the recipe of that name, or that provides it"            },
    {"busybox:do_compile",      "a task of it; mc:NAME:busybox in another configuration"  },
    {"busybox:*",               "patterns with * ? [a-z] in any part, as *-native, mc:*:x"},
    {"set(a b c)",              "all of these"                                            },
    {"a + b, a union b",        "what is in either; a name may contain + and -, so blanks "
                         "go around operators"                    },
    {"a ^ b, intersect",        "what is in both; operators bind alike, from the left"    },
    {"a - b, except",           "what is in a and not in b"                               },
    {"let v = a in EXPR",       "EXPR, in which $v stands for a"                          },
    {"deps(x[, n])",            "x and what it waits for, at most n steps away"           },
    {"rdeps(u, x[, n])",        "x and what waits for it, of all that u leads to"         },
    {"somepath(a, b)",          "one shortest way from a to b, in its order"              },
    {"allpaths(a, b)",          "everything on any way from a to b"                       },
    {"kind(KIND[ PATTERN], x)",
     "what is of a kind: task, recipe, variable, file, provides, "
     "package; and whose own name fits"                                                   },
    {"filter(REGEX, x)",        "whose full name has a match"                             },
    {"attr(NAME, REGEX, x)",    "whose recipe's variable NAME has a match"                },
    {"inputs(x)",               "the variables, code and files whose change runs a task of "
                  "x again"                                              },
    {"outputs(x)",              "what x's recipes provide, and their packages; which files "
                   "a task writes is known only after it ran"           },
    {NULL,                      NULL                                                      },
};

/* ---- the universe ---- */

struct target_names {
    struct bz_arena arena;
    struct target_vec BZ_VEC(const char *) list;
};

/* A name that is no pattern belongs to the universe, whether the world has it or not.
 */
static void add_target(void *ctx, struct bz_str name)
{
    struct target_names *t = ctx;

    if (!bz_query_glob_is(name))
        BZ_VEC_PUSH(&t->list, bz_arena_dup(&t->arena, name).p);
}

/* Which provider was chosen matters to who builds, not to who asks. */
static void show_stage(void *ctx, struct bz_build *b, int rc)
{
    struct bz_cmd_env *env = ctx;

    if (!env->global.verbose)
        bz_buf_truncate(&b->notes, 0);
    bz_cmd_open_ended(ctx, b, rc);
}

static int open_universe(struct bz_cmd_env *env, const struct query_values *v,
                         const struct bz_query *q, struct bz_build *b,
                         struct bz_err *err)
{
    struct target_names names = {0};
    BZ_CLEANUP(bz_pyfunc_release) struct bz_pyfunc_set python = {0};
    int rc;

    for (size_t i = 0; i < v->universe.n; i++)
        BZ_VEC_PUSH(&names.list, v->universe.word[i]);
    if (v->universe.n == 0) {
        BZ_VEC_PUSH(&names.list, "world");
        bz_query_parse_names(q, add_target, &names);
    }
    b->opts.targets = (struct bz_goal_opts){.targets = names.list.at,
                                            .n = names.list.len,
                                            .incomplete = true,
                                            .python = BZ_GOAL_DESCRIBE_PYTHON};
    /* One recipe that cannot be built must not hide the others. */
    b->opts.tolerant = true;
    b->opts.ended = show_stage;
    rc = bz_cmd_open_build(env, b, BZ_BUILD_GRAPH, err);
    if (rc == 0) {
        (void)bz_goal_list_python(&b->goal, false, &python);
        bz_cmd_open_warn_python(env, python.list.len);
    }
    bz_vec_release(&names.list);
    bz_arena_release(&names.arena);
    return rc;
}

/* ---- the answer ---- */

typedef void (*node_fn)(void *ctx, size_t node);

/* In the order of a path, or else of the graph. */
static void each(const struct bz_query_answer *a, node_fn fn, void *ctx)
{
    for (size_t i = 0; i < a->path.len; i++)
        fn(ctx, a->path.at[i]);
    for (size_t i = bz_bitset_next(&a->nodes, 0);
         a->path.len == 0 && i != BZ_BITSET_END; i = bz_bitset_next(&a->nodes, i + 1))
        fn(ctx, i);
}

struct showing {
    const struct bz_query_eval *e;
    const struct bz_query_world_of *w;
    const struct bz_query_answer *a;
    struct bz_buf *out;
    struct bz_jsonw json;
    struct bz_buf name;
};

static struct bz_str name_of(struct showing *s, size_t node)
{
    bz_buf_truncate(&s->name, 0);
    bz_query_eval_describe(s->e, node, &s->name);
    return bz_buf_str(&s->name);
}

/* What is no task and no recipe is shown with its kind: a package may be called as its
 * recipe. */
static void show_line(void *ctx, size_t node)
{
    struct showing *s = ctx;

    if (node >= s->w->dag.n)
        bz_buf_addf(s->out, "%s ", bz_query_eval_describe(s->e, node, NULL));
    bz_query_eval_describe(s->e, node, s->out);
    bz_buf_add_char(s->out, '\n');
}

static void show_json(void *ctx, size_t node)
{
    struct showing *s = ctx;
    const struct bz_tgraph *g = &s->w->build->goal.graph;
    struct bz_jsonw *j = &s->json;

    bz_jsonw_map(j);
    bz_jsonw_str(bz_jsonw_key(j, "name"), name_of(s, node));
    bz_jsonw_cstr(bz_jsonw_key(j, "kind"), bz_query_eval_describe(s->e, node, NULL));
    if (node < s->w->dag.n) {
        const struct bz_facts *f =
            g->recipes[bz_query_world_recipe(s->w, (uint32_t)node)].facts;

        bz_jsonw_str(bz_jsonw_key(j, "recipe"), f->pn);
        if (node < g->dag.n)
            bz_jsonw_str(bz_jsonw_key(j, "task"), g->tasks[node].facts->name);
        bz_jsonw_str(bz_jsonw_key(j, "version"), f->pv);
        bz_jsonw_str(bz_jsonw_key(j, "file"), f->path);
    }
    bz_jsonw_map_end(j);
}

static void add_quoted(struct bz_buf *out, struct bz_str text)
{
    bz_buf_add_char(out, '"');
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '"' || text.p[i] == '\\')
            bz_buf_add_char(out, '\\');
        bz_buf_add_char(out, text.p[i]);
    }
    bz_buf_add_char(out, '"');
}

static void show_dot(void *ctx, size_t node)
{
    struct showing *s = ctx;
    const struct bz_dag *dag = &s->w->dag;

    add_quoted(s->out, name_of(s, node));
    bz_buf_add_char(s->out, '\n');
    for (uint32_t e = node < dag->n ? dag->start[node] : 0;
         node < dag->n && e < dag->start[node + 1]; e++) {
        if (!bz_bitset_test(&s->a->nodes, dag->to[e]))
            continue;
        add_quoted(s->out, name_of(s, node));
        bz_buf_addf(s->out, " -> ");
        add_quoted(s->out, name_of(s, dag->to[e]));
        bz_buf_add_char(s->out, '\n');
    }
}

static void show(struct bz_cmd_env *env, const struct query_values *v,
                 struct showing *s)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};

    /* For as long as this shows something. */
    /* cppcheck-suppress autoVariables */
    s->out = &text;
    s->json = bz_jsonw_to(&text, 2);
    if (v->json) {
        bz_jsonw_map(&s->json);
        bz_jsonw_list(bz_jsonw_key(&s->json, "results"));
        each(s->a, show_json, s);
        bz_jsonw_list_end(&s->json);
        bz_jsonw_map_end(&s->json);
        bz_buf_add_char(&text, '\n');
    } else if (v->dot) {
        bz_buf_addf(&text, "digraph query {\n");
        each(s->a, show_dot, s);
        bz_buf_addf(&text, "}\n");
    } else {
        each(s->a, show_line, s);
    }
    bz_out_put(&env->out, bz_buf_text(&text), text.len);
    bz_buf_release(&s->name);
}

/* ---- the command ---- */

/* The question, and a caret under the column. */
static void show_place(struct bz_cmd_env *env, const char *text, uint32_t column)
{
    size_t n = strlen(text);

    if (strchr(text, '\n') || n > 400)
        return;
    bz_out_print(&env->log, "  ");
    bz_out_plain(&env->log, text, n);
    bz_out_print(&env->log, "\n  %*s^\n", (int)column - 1, "");
}

static int answer(struct bz_cmd_env *env, const struct query_values *v,
                  const struct bz_query *q, struct bz_query_world_of *w,
                  struct bz_err *err)
{
    struct bz_query_answer a = {0};
    struct bz_query_eval e;
    struct showing s = {.e = &e, .w = w, .a = &a};
    uint32_t column;
    int rc;

    bz_query_eval_init(&e, &w->world);
    rc = bz_query_eval_run(&e, q, &a, &column, err);
    bz_cmd_open_diags(env, &w->build->catalog);
    bz_out_put(&env->log, bz_buf_text(&w->notes), w->notes.len);
    if (rc == BZ_E_NOENT || rc == BZ_E_INVAL)
        show_place(env, v->text, column);
    if (rc == 0 && bz_bitset_count(&a.nodes) == 0) {
        bz_out_print(&env->log, "nothing matches\n");
        rc = BZ_CMD_EXIT_NONE;
    }
    if (rc >= 0 && (rc == 0 || v->json))
        show(env, v, &s);
    bz_query_eval_release_answer(&a);
    bz_query_eval_release(&e);
    return rc;
}

static int run(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    const struct query_values *v = values;
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    BZ_CLEANUP(bz_build_close) struct bz_build b = {0};
    BZ_CLEANUP(bz_query_world_release) struct bz_query_world_of w = {0};
    const struct bz_query *q = NULL;
    uint32_t column;
    int rc;

    if (v->dot && v->json)
        return bz_fail(err, BZ_E_INVAL, "only one of --dot and --json");
    rc = bz_query_parse(bz_str_from(v->text), &arena, &q, &column, err);
    if (rc < 0) {
        show_place(env, v->text, column);
        return rc;
    }
    rc = open_universe(env, v, q, &b, err);
    if (rc < 0)
        return rc;
    bz_query_world_init(&w, &b);
    return answer(env, v, q, &w, err);
}

static const struct bz_cmd_term examples[] = {
    {"bitzel query 'rdeps(*, openssl)'",
     "List the recipes that need another, directly or not"            },
    {"bitzel query 'somepath(core-image-minimal, perl)'",
     "See why an image needs a recipe"                                },
    {"bitzel query 'kind(variable, inputs(busybox:do_compile))'",
     "List the variables that count for a task"                       },
    {NULL,                                                        NULL},
};

const struct bz_cmd bz_cmd_query = {
    .name = "query",
    .summary = "Answer questions about tasks and recipes",
    .detail = "Prints what an expression over the task graph means, one name a line. "
              "Recipes wait for recipes and tasks for tasks; there is no way from one "
              "to the other. The exit status is 3 if nothing matches.",
    .opts = opts,
    .args = args,
    .terms = terms,
    .examples = examples,
    .size = sizeof(struct query_values),
    .run = run,
};
