#include "graph/goal.h"

#include <stdlib.h>

#include "base/mem.h"
#include "graph/clash.h"
#include "graph/prune.h"
#include "graph/target.h"
#include "graph/world.h"
#include "recipe/runscript.h"

struct target_list BZ_VEC(struct bz_tgraph_target);

static int open_parts(struct bz_goal *g, struct bz_err *err)
{
    int rc = 0;

    g->nparts = g->survey->parts.len;
    g->mcs = bz_mem_array(g->nparts, sizeof(*g->mcs));
    g->provide = bz_mem_array(g->nparts, sizeof(struct bz_provide *));
    for (size_t i = 0; i < g->nparts && rc == 0; i++) {
        const struct bz_survey_part *part = &g->survey->parts.at[i];
        struct bz_vars *settings;

        g->mcs[i] = part->mc;
        rc = bz_survey_settings(g->survey, i, &settings, err);
        if (rc == 0)
            rc = bz_provide_new(part->facts.at, part->facts.len, settings,
                                &g->provide[i], err);
    }
    if (rc == 0)
        bz_need_init(&g->need, g->provide, g->nparts);
    return rc;
}

static int find_part(const struct bz_goal *g, struct bz_str mc, uint32_t *out,
                     struct bz_err *err)
{
    for (uint32_t i = 0; i < g->nparts; i++)
        if (bz_str_eq(g->mcs[i], mc)) {
            *out = i;
            return 0;
        }
    return bz_fail(err, BZ_E_NOENT, "there is no configuration '%.*s' in BBMULTICONFIG",
                   BZ_STR_ARG(mc));
}

/* The task of a target that names none, with its do_. */
static int default_task(struct bz_goal *g, uint32_t part, const char *asked,
                        struct bz_str *out, struct bz_err *err)
{
    struct bz_str task = asked ? bz_str_from(asked) : (struct bz_str){0};
    struct bz_vars *settings;
    int rc = 0;

    if (!asked) {
        rc = bz_survey_settings(g->survey, part, &settings, err);
        if (rc == 0)
            rc = bz_vars_get(settings, BZ_STR("BB_DEFAULT_TASK"), 0, &task, err);
    }
    if (rc == 0 && task.n == 0)
        task = BZ_STR("build");
    *out = bz_str_starts(task, BZ_STR("do_"))
               ? task
               : bz_arena_printf(&g->arena, "do_%.*s", BZ_STR_ARG(task));
    return rc;
}

/* Whether a target of the world is to be asked for. */
static int is_wanted(struct bz_goal *g, uint32_t part, struct bz_str name, bool *yes,
                     struct bz_err *err)
{
    int rc = 0;

    *yes = true;
    if (g->tolerant)
        rc = bz_need_add(&g->need, part, name, BZ_PROVIDE_BUILD, err);
    if (rc == 0 && g->tolerant)
        *yes = !bz_need_find(&g->need, part, name, BZ_PROVIDE_BUILD)->failed;
    return rc;
}

static int add_all(struct bz_goal *g, uint32_t part, struct bz_str name,
                   struct bz_str task, struct target_list *list, struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct bz_provide_names names = {0};
    int rc = 0;

    if (bz_str_eq(name, BZ_STR("world")))
        bz_world_targets(g->provide[part], task, &names);
    else
        bz_world_universe(g->provide[part], task, &names);
    for (size_t i = 0; i < names.len && rc == 0; i++) {
        bool yes;

        rc = is_wanted(g, part, names.at[i], &yes, err);
        if (rc == 0 && yes)
            BZ_VEC_PUSH(list, (struct bz_tgraph_target){part, names.at[i], task});
    }
    return rc;
}

static int add_target(struct bz_goal *g, const struct bz_target *t, uint32_t part,
                      const char *task, struct target_list *list, struct bz_err *err)
{
    struct bz_tgraph_target out = {.part = part, .name = t->name, .task = t->task};
    size_t at = t->task.p ? BZ_STR_NONE : bz_str_rfind_byte(t->name, ':');
    int rc = 0;

    if (at != BZ_STR_NONE) { /* RECIPE:TASK, without do_ */
        out.name = bz_str_sub(t->name, 0, at);
        out.task = bz_arena_printf(&g->arena, "do_%.*s",
                                   BZ_STR_ARG(bz_str_sub(t->name, at + 1, t->name.n)));
    } else if (!t->task.p) {
        rc = default_task(g, part, task, &out.task, err);
    }

    if (rc < 0)
        return rc;
    if (bz_str_eq(out.name, BZ_STR("world")) || bz_str_eq(out.name, BZ_STR("universe")))
        return add_all(g, part, out.name, out.task, list, err);
    BZ_VEC_PUSH(list, out);
    return 0;
}

static bool names_configuration(struct bz_str text)
{
    return bz_str_starts(text, BZ_STR("mc:")) ||
           bz_str_starts(text, BZ_STR("multiconfig:"));
}

static int read_target(struct bz_goal *g, const char *text, const char *task,
                       struct target_list *list, struct bz_err *err)
{
    struct bz_target t;
    uint32_t part = 0;
    int rc = bz_target_parse(bz_str_from(text), &t, err);

    if (rc == 0 && t.name.n == 0)
        rc = bz_fail(err, BZ_E_INVAL, "target '%s' names no recipe", text);
    if (rc < 0)
        return rc;
    /* world without a configuration is the world of all of them. */
    if (bz_str_eq(t.name, BZ_STR("world")) || bz_str_eq(t.name, BZ_STR("universe"))) {
        g->world = true;
        t.every = t.every || !names_configuration(bz_str_from(text));
    }
    if (!t.every) {
        rc = find_part(g, t.mc, &part, err);
        return rc < 0 ? rc : add_target(g, &t, part, task, list, err);
    }
    for (part = 0; part < g->nparts && rc == 0; part++)
        rc = add_target(g, &t, part, task, list, err);
    return rc;
}

/* ---- what can be wrong with a graph ---- */

static const char *rule_text(enum bz_tgraph_rule rule)
{
    static const char *const texts[] = {
        [BZ_TGRAPH_AFTER] = "addtask",
        [BZ_TGRAPH_MCDEPENDS] = "[mcdepends]",
        [BZ_TGRAPH_DEPTASK] = "[deptask]",
        [BZ_TGRAPH_RDEPTASK] = "[rdeptask]",
        [BZ_TGRAPH_DEPENDS] = "[depends]",
        [BZ_TGRAPH_RDEPENDS] = "[rdepends]",
        [BZ_TGRAPH_RECRDEPTASK] = "[recrdeptask]",
    };

    return texts[rule];
}

/* Where the rule stands, and of which recipe's names it makes edges. */
static void show_place(const struct bz_tgraph_step *step, struct bz_buf *why)
{
    static const char *const names[] = {
        [BZ_TGRAPH_AFTER] = NULL,
        [BZ_TGRAPH_MCDEPENDS] = NULL,
        [BZ_TGRAPH_DEPTASK] = "DEPENDS",
        [BZ_TGRAPH_RDEPTASK] = "RDEPENDS",
        [BZ_TGRAPH_DEPENDS] = NULL,
        [BZ_TGRAPH_RDEPENDS] = NULL,
        [BZ_TGRAPH_RECRDEPTASK] = "what it needs",
    };
    bool known = step->place.file.p != NULL;

    if (known)
        bz_buf_addf(why, " (%.*s:%u)", BZ_STR_ARG(step->place.file), step->place.line);
    if (names[step->rule])
        bz_buf_addf(why, " and %s", names[step->rule]);
    if (names[step->rule] || !known)
        bz_buf_addf(why, " (%.*s)", BZ_STR_ARG(step->recipe->path));
    bz_buf_add_char(why, '\n');
}

static void show_cycle(const struct bz_tgraph *g, struct bz_buf *why)
{
    for (size_t i = 0; i < g->cycle.len; i++) {
        const struct bz_tgraph_step *from = &g->cycle.at[i];
        const struct bz_tgraph_step *to = &g->cycle.at[(i + 1) % g->cycle.len];

        bz_buf_addf(why, "  %.*s:%.*s waits for %.*s:%.*s by %s",
                    BZ_STR_ARG(from->recipe->pn), BZ_STR_ARG(from->task->name),
                    BZ_STR_ARG(to->recipe->pn), BZ_STR_ARG(to->task->name),
                    rule_text(from->rule));
        show_place(from, why);
    }
}

static void show_notes(const struct bz_goal *g, struct bz_buf *notes)
{
    for (size_t i = 0; i < g->nparts; i++)
        for (size_t k = 0; g->provide[i] && k < g->provide[i]->notes.len; k++)
            bz_buf_addf(notes, "%.*s\n", BZ_STR_ARG(g->provide[i]->notes.at[k].text));
}

/* A recipe that is wrong and not needed does not stop anything. One that is needed is
 * the reason why something is not provided. */
static void show_broken(const struct bz_goal *g, struct bz_buf *notes)
{
    for (size_t i = 0; i < g->nparts; i++) {
        const struct bz_survey_facts *facts = &g->survey->parts.at[i].facts;

        for (size_t k = 0; k < facts->len; k++)
            if (facts->at[k].error.p)
                bz_buf_addf(notes, "warning: %.*s\n", BZ_STR_ARG(facts->at[k].error));
    }
}

/* Recipes that provide the same. Whoever asks for the whole world, or only for a graph,
 * asks for both of them. */
static int check_clashes(const struct bz_goal *g, bool lenient, struct bz_buf *notes,
                         struct bz_buf *why, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_clash found = bz_clash_find(&g->graph, &g->need, &text);

    if (found.names == 0)
        return 0;
    if (lenient && !found.versions) {
        bz_buf_addf(notes, "warning: %s", bz_buf_text(&text));
        return 0;
    }
    bz_buf_add_str(why, bz_buf_str(&text));
    return bz_fail(err, BZ_E_INVAL,
                   "%zu name%s provided by more than one recipe that is to be built",
                   found.names, found.names == 1 ? " is" : "s are");
}

/* ---- Python functions ---- */

/* So many functions are shown; more would not help. */
enum { SHOWN = 10 };

size_t bz_goal_list_python(const struct bz_goal *g, bool tasks,
                           struct bz_pyfunc_set *out)
{
    const struct bz_tgraph *graph = &g->graph;
    size_t n = 0;

    for (uint32_t r = 0; r < graph->nrecipes; r++) {
        struct bz_str list = graph->recipes[r].facts->python;
        bool any = list.n > 0;

        bz_pyfunc_add(out, list);
        for (uint32_t t = graph->recipes[r].first;
             t < graph->recipes[r + 1].first && tasks; t++) {
            list = graph->tasks[t].facts->python;
            any |= list.n > 0;
            bz_pyfunc_add(out, list);
        }
        n += any;
    }
    return n;
}

int bz_goal_fail_pruned(const struct bz_goal *g, struct bz_err *err)
{
    return bz_fail(err, BZ_E_INVAL,
                   "%zu Python function%s of %zu recipe%s cannot be run", g->functions,
                   g->functions == 1 ? "" : "s", g->recipes,
                   g->recipes == 1 ? "" : "s");
}

static void show_python(const struct bz_pyfunc_set *set, struct bz_buf *why)
{
    for (size_t i = 0; i < set->list.len && i < SHOWN; i++) {
        const struct bz_pyfunc *f = &set->list.at[i];

        if (f->file.n > 0)
            bz_buf_addf(why, "%.*s:%u: ", BZ_STR_ARG(f->file), f->line);
        bz_buf_addf(why, "error: ");
        bz_pyfunc_describe(f, why);
        bz_buf_addf(why, ": " BZ_RUNSCRIPT_PYTHON "\n");
    }
    if (set->list.len > SHOWN)
        bz_buf_addf(why, "and %zu more\n", set->list.len - SHOWN);
}

static void prune_python(struct bz_goal *g)
{
    BZ_CLEANUP(bz_bitset_release) struct bz_bitset tasks = {0};

    for (uint32_t t = 0; t < g->graph.dag.n; t++)
        if (g->graph.recipes[g->graph.tasks[t].recipe].facts->python.n > 0 ||
            g->graph.tasks[t].facts->python.n > 0)
            bz_bitset_set(&tasks, t);
    bz_prune_tasks(&g->graph, &tasks);
}

static int check_python(struct bz_goal *g, enum bz_goal_python how, struct bz_buf *why,
                        struct bz_err *err)
{
    BZ_CLEANUP(bz_pyfunc_release) struct bz_pyfunc_set set = {0};

    if (how == BZ_GOAL_DESCRIBE_PYTHON)
        return 0;
    g->recipes = bz_goal_list_python(g, true, &set);
    g->functions = set.list.len;
    if (g->functions == 0)
        return 0;
    show_python(&set, why);
    if (how == BZ_GOAL_REFUSE_PYTHON)
        return bz_goal_fail_pruned(g, err);
    prune_python(g);
    return g->graph.dag.n > 0 ? 0 : bz_goal_fail_pruned(g, err);
}

int bz_goal_open(struct bz_goal *g, const struct bz_goal_opts *opts,
                 struct bz_buf *notes, struct bz_buf *why, struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct target_list list = {0};
    int rc = open_parts(g, err);

    g->need.incomplete = opts->incomplete;
    show_broken(g, notes);
    for (size_t i = 0; i < opts->n && rc == 0; i++)
        rc = read_target(g, opts->targets[i], opts->task, &list, err);
    if (rc < 0)
        return rc;
    rc = bz_tgraph_build(&g->graph, &g->need, g->mcs, list.at, list.len, err);
    if (rc == 0)
        rc = check_python(g, opts->python, why, err);
    if (rc == 0)
        rc = check_clashes(g, opts->incomplete || g->world, notes, why, err);
    show_notes(g, notes);
    show_cycle(&g->graph, why);
    bz_buf_add_str(why, bz_buf_str(&g->graph.lack));
    return rc;
}

void bz_goal_close(struct bz_goal *g)
{
    bz_tgraph_release(&g->graph);
    if (g->need.nparts > 0)
        bz_need_release(&g->need);
    for (size_t i = 0; i < g->nparts; i++)
        bz_provide_free(g->provide[i]);
    free(g->provide);
    free(g->mcs);
    bz_arena_release(&g->arena);
    *g = (struct bz_goal){0};
}

void bz_goal_name(const struct bz_goal *g, uint32_t recipe, struct bz_buf *out)
{
    const struct bz_tgraph_recipe *r = &g->graph.recipes[recipe];

    if (g->mcs[r->part].n > 0)
        bz_buf_addf(out, "mc:%.*s:", BZ_STR_ARG(g->mcs[r->part]));
    bz_buf_add_str(out, r->facts->pn);
}

void bz_goal_task_name(const struct bz_goal *g, uint32_t task, struct bz_buf *out)
{
    const struct bz_tgraph_task *t = &g->graph.tasks[task];

    bz_goal_name(g, t->recipe, out);
    bz_buf_addf(out, ":%.*s", BZ_STR_ARG(t->facts->name));
}

const struct bz_str *bz_goal_machines(struct bz_goal *g)
{
    struct bz_str *out = BZ_ARENA_ARRAY(&g->arena, struct bz_str, g->nparts);

    for (size_t i = 0; i < g->nparts; i++) {
        struct bz_vars *settings;
        struct bz_str machine;
        struct bz_err ignored;

        out[i] = BZ_STR("");
        if (bz_survey_settings(g->survey, i, &settings, &ignored) == 0 &&
            bz_vars_get(settings, BZ_STR("MACHINE"), 0, &machine, &ignored) == 0)
            out[i] = bz_arena_dup(&g->arena, machine);
    }
    return out;
}
