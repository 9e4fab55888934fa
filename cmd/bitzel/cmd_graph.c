#include <stdlib.h>

#include "cmd.h"
#include "cmd_open.h"
#include "graph_view.h"
#include "os/proc_run.h"

struct graph_values {
    struct bz_opt_list targets;
    const char *task;
    bool recipes, dot, svg, json, reduce;
};

static const struct bz_opt opts[] = {
    BZ_OPT_TEXT(struct graph_values, task, 'c', "task", "TASK",
                "The task of targets that name none"),
    BZ_OPT_FLAG(struct graph_values, recipes, 0, "recipes", "Show recipes, not tasks"),
    BZ_OPT_FLAG(struct graph_values, reduce, 0, "reduce",
                "Leave out what other dependencies imply"),
    BZ_OPT_FLAG(struct graph_values, dot, 0, "dot", "Print it for Graphviz"),
    BZ_OPT_FLAG(struct graph_values, svg, 0, "svg",
                "Print a picture, drawn by Graphviz's program 'dot'"),
    BZ_OPT_FLAG(struct graph_values, json, 0, "json", "Print one JSON object"),
    BZ_OPT_END,
};

static const struct bz_opt_arg args[] = {
    BZ_OPT_SOME(struct graph_values, targets, "TARGET",
                "A recipe, RECIPE:do_TASK, mc:CONFIGURATION:RECIPE, world"),
    BZ_OPT_END,
};

static int draw(struct bz_cmd_env *env, struct bz_str dot, struct bz_err *err)
{
    static const char *const argv[] = {"dot",
                                       "-Tsvg",
                                       "-Grankdir=LR",
                                       "-Granksep=0.4",
                                       "-Gnodesep=0.15",
                                       "-Nshape=box",
                                       "-Nstyle=rounded,filled",
                                       "-Nfillcolor=#eaf1fb",
                                       "-Ncolor=#4a7ab5",
                                       "-Nfontname=sans-serif",
                                       "-Nfontsize=10",
                                       "-Nheight=0.4",
                                       "-Nmargin=0.12,0.04",
                                       "-Ecolor=gray40",
                                       "-Earrowsize=0.7",
                                       NULL};
    enum { LARGEST = 256 << 20 };
    struct bz_proc_spec spec = {
        .argv = argv,
        .in = {.kind = BZ_PROC_IN_BYTES, .bytes = dot},
        .capture_max = LARGEST
    };
    struct bz_proc_result r = {0};
    char *text;
    size_t n;
    int rc = bz_proc_run(&spec, &r, err);

    if (rc == BZ_E_NOENT)
        return bz_fail(err, BZ_E_NOSUP,
                       "--svg needs the program 'dot'; install the package graphviz, "
                       "or print text for it with --dot");
    if (rc < 0)
        return rc;
    text = bz_capture_text(r.exit_code == 0 ? &r.out : &r.err, &n);
    if (r.exit_code == 0)
        bz_out_put(&env->out, text, n);
    else
        rc = bz_fail(err, BZ_E_IO, "dot failed: %s", text);
    free(text);
    bz_proc_pump_release_result(&r);
    return rc;
}

static int show(struct bz_cmd_env *env, const struct graph_values *v,
                const struct bz_goal *goal, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_graph_view view;
    bool reduced;
    int rc = 0;

    bz_graph_view_init(&view, goal, v->recipes, v->reduce, &reduced);
    view.brief = v->svg;
    if (v->reduce && !reduced)
        bz_out_print(&env->log, "note: some recipes wait for each other, by different "
                                "tasks; nothing was left out\n");
    if (v->json)
        bz_graph_view_json(&view, &text);
    else if (v->dot || v->svg)
        bz_graph_view_dot(&view, &text);
    else
        bz_graph_view_text(&view, &text);
    bz_graph_view_release(&view);
    if (v->svg)
        rc = draw(env, bz_buf_str(&text), err);
    else
        bz_out_put(&env->out, bz_buf_text(&text), text.len);
    return rc;
}

static int run(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    const struct graph_values *v = values;
    BZ_CLEANUP(bz_build_close) struct bz_build b = {0};
    BZ_CLEANUP(bz_pyfunc_release) struct bz_pyfunc_set python = {0};
    int rc;

    if (v->dot + v->svg + v->json > 1)
        return bz_fail(err, BZ_E_INVAL, "only one of --dot, --svg and --json");
    b.opts.targets = (struct bz_goal_opts){v->targets.word, v->targets.n, v->task, true,
                                           BZ_GOAL_DESCRIBE_PYTHON};
    rc = bz_cmd_open_build(env, &b, BZ_BUILD_GRAPH, err);
    if (rc == 0) {
        (void)bz_goal_list_python(&b.goal, false, &python);
        bz_cmd_open_warn_python(env, python.list.len);
    }
    return rc < 0 ? rc : show(env, v, &b.goal, err);
}

static const struct bz_cmd_term examples[] = {
    {"bitzel graph -c compile busybox",                          "Show what do_compile of a recipe waits for"},
    {"bitzel graph --recipes --reduce --svg busybox >needs.svg",
     "Draw which recipes need which"                                                                         },
    {NULL,                                                       NULL                                        },
};

const struct bz_cmd bz_cmd_graph = {
    .name = "graph",
    .summary = "Show what targets need, and what waits for what",
    .detail = "Prints every task that the targets need, each with the tasks it waits "
              "for, as BitBake's -g finds them. What nothing provides is left out. "
              "The exit status is 3 if there is no such target.",
    .opts = opts,
    .args = args,
    .examples = examples,
    .size = sizeof(struct graph_values),
    .run = run,
};
