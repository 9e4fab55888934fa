#include <stdlib.h>

#include "build/builds.h"
#include "build/retrieval.h"
#include "cmd.h"
#include "cmd_open.h"
#include "cmd_open_cache.h"
#include "sig/record_read.h"
#include "sig/recording.h"
#include "why_view.h"

struct why_values {
    struct bz_opt_list targets;
    const char *task, *since, *vs;
    bool json;
};

static const struct bz_opt opts[] = {
    BZ_OPT_TEXT(struct why_values, task, 'c', "task", "TASK",
                "The task of targets that name none"),
    BZ_OPT_TEXT(struct why_values, since, 0, "since", "BUILD",
                "Compare with this build: its id, the beginning of it, or 'last'"),
    BZ_OPT_TEXT(struct why_values, vs, 0, "vs", "FILE",
                "Compare with a record that 'bitzel sig --record' wrote"),
    BZ_OPT_FLAG(struct why_values, json, 0, "json", "Print one JSON object"),
    BZ_OPT_END,
};

static const struct bz_opt_arg args[] = {
    BZ_OPT_SOME(struct why_values, targets, "TARGET",
                "A recipe, RECIPE:do_TASK, mc:CONFIGURATION:RECIPE, world"),
    BZ_OPT_END,
};

/* One question. */
struct why {
    struct bz_cmd_env *env;
    const struct why_values *v;
    struct bz_build *b;
};

/* What to compare with; *name is how it is called. */
static int read_record(const struct why_values *v, const struct bz_catalog *p,
                       struct bz_arena *arena, struct bz_record *r, const char **name,
                       struct bz_err *err)
{
    struct bz_builds_found found = {0};
    int rc;

    if (v->vs) {
        *name = v->vs;
        rc = bz_record_read_file(r, v->vs, err);
        if (rc == BZ_E_NOENT) /* the option is wrong; nothing was asked yet */
            err->code = rc = BZ_E_INVAL;
        return rc;
    }
    rc = bz_builds_find(arena, p->build_dir, v->since, BZ_BUILDS_RECORD, &found, err);
    if (rc < 0)
        return rc;
    *name = bz_arena_printf(arena, "build %.*s", BZ_STR_ARG(found.id)).p;
    return bz_record_read_file(r, found.path.p, err);
}

/* A target that the record does not know was not part of what it was made for. */
static void note_targets(struct bz_cmd_env *env, const struct bz_goal *goal,
                         const struct bz_record *was, const char *name)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf task = {0};

    for (size_t i = 0; i < goal->graph.targets.len; i++) {
        bz_buf_truncate(&task, 0);
        bz_goal_task_name(goal, goal->graph.targets.at[i], &task);
        if (bz_record_find(was, bz_buf_str(&task)))
            continue;
        bz_out_print(&env->log, "note: ");
        bz_out_plain(&env->log, name, strlen(name));
        bz_out_print(&env->log, " does not have ");
        bz_out_plain(&env->log, bz_buf_text(&task), task.len);
        bz_out_print(&env->log, "\n");
    }
}

static int show(const struct why *q, const struct bz_record *was,
                const struct bz_record *is, const char *name, struct bz_err *err)
{
    BZ_CLEANUP(bz_cause_release) struct bz_causes causes = {0};
    int rc = bz_cause_find(&causes, was, is, err);

    if (rc < 0)
        return rc;
    if (q->v->json)
        bz_why_view_json(&q->env->out, &causes, name, q->b->assumed);
    else
        bz_why_view_text(&q->env->out, &causes, name);
    return 0;
}

static int explain(const struct why *q, const struct bz_record *was,
                   const struct bz_record *is, const char *name, struct bz_err *err)
{
    note_targets(q->env, &q->b->goal, was, name);
    return show(q, was, is, name, err);
}

/* ---- by what is stored ---- */

/* What there is to look through; only what comes from a tier is written. */
static int open_store(struct bz_cmd_env *env, struct bz_arena *a,
                      struct bz_retrieval_opts *o, struct bz_err *err)
{
    struct bz_cache_opts store;
    const char **dirs;
    int rc = bz_cmd_open_cache_opts(env, a, &store, err);

    if (rc < 0)
        return rc;
    store.keep = true;
    store.store.access = store.tiers.n > 0 ? BZ_SHELF_WRITE : BZ_SHELF_READ;
    dirs = BZ_ARENA_ARRAY(a, const char *, store.tiers.n);
    for (size_t i = 0; i < store.tiers.n; i++)
        if (store.tiers.specs[i].kind == BZ_TIER_SPEC_DIR)
            dirs[o->ndirs++] = store.tiers.specs[i].place.p;
    o->dirs = dirs;
    return bz_cmd_open_cache_as(&store, a, &o->cache, err);
}

static void list_targets(const struct bz_goal *goal, struct bz_arena *a,
                         struct bz_retrieval_opts *o)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf name = {0};
    size_t n = goal->graph.targets.len;
    struct bz_str *names = BZ_ARENA_ARRAY(a, struct bz_str, n);

    for (size_t i = 0; i < n; i++) {
        bz_buf_truncate(&name, 0);
        bz_goal_task_name(goal, goal->graph.targets.at[i], &name);
        names[i] = bz_arena_dup(a, bz_buf_str(&name));
    }
    o->targets = names;
    o->ntargets = n;
}

/* No build here has made the targets; but others may have. */
static int explain_stored(const struct why *q, const struct bz_record *is,
                          struct bz_arena *a, struct bz_err *err)
{
    struct bz_cmd_env *env = q->env;
    BZ_CLEANUP(bz_retrieval_release) struct bz_retrieval found = {0};
    struct bz_retrieval_opts o = {.is = is};
    int rc = open_store(env, a, &o, err);

    if (rc == 0) {
        list_targets(&q->b->goal, a, &o);
        rc = bz_retrieval_run(&found, &o, err);
    }
    bz_cache_close(o.cache);
    if (rc < 0)
        return rc;
    bz_out_print(&env->log, "note: no build here has made this; comparing with what "
                            "stored results were made from\n");
    if (found.missing > 0)
        bz_out_print(&env->log,
                     "note: what %zu task%s made from is not stored; "
                     "they count as new\n",
                     found.missing, found.missing == 1 ? " was" : "s were");
    return show(q, &found.was, is, "the stored results", err);
}

static bool has_target(const struct bz_goal *goal, const struct bz_record *was)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf task = {0};

    for (size_t i = 0; i < goal->graph.targets.len; i++) {
        bz_buf_truncate(&task, 0);
        bz_goal_task_name(goal, goal->graph.targets.at[i], &task);
        if (bz_record_find(was, bz_buf_str(&task)))
            return true;
    }
    return false;
}

static int compare(const struct why *q, struct bz_err *err)
{
    const struct why_values *v = q->v;
    struct bz_build *b = q->b;
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    BZ_CLEANUP(bz_record_release) struct bz_record was = {0}, is = {0};
    const char *name = "";
    struct bz_err unknown;
    int rc = read_record(v, &b->catalog, &arena, &was, &name, err);
    bool elsewhere = !v->since && !v->vs &&
                     (rc == BZ_E_NOENT || (rc == 0 && !has_target(&q->b->goal, &was)));

    if (rc < 0 && !elsewhere)
        return rc;
    unknown = *err; /* what to say if nobody else knows more */
    if (bz_recording_run(&is, &b->keys, &b->catalog, &b->goal, err) < 0)
        return err->code;
    if (elsewhere) {
        int found = explain_stored(q, &is, &arena, err);

        if (found != BZ_E_NOENT)
            return found;
    }
    if (rc < 0) {
        *err = unknown;
        return rc;
    }
    return explain(q, &was, &is, name, err);
}

static int run(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    const struct why_values *v = values;
    BZ_CLEANUP(bz_build_close) struct bz_build b = {0};
    int rc;

    if (v->since && v->vs)
        return bz_fail(err, BZ_E_INVAL, "only one of --since and --vs");
    b.opts.targets = (struct bz_goal_opts){
        .targets = v->targets.word, .n = v->targets.n, .task = v->task};
    rc = bz_cmd_open_build(env, &b, BZ_BUILD_KEYS, err);
    if (rc == 0)
        rc = compare(&(struct why){env, v, &b}, err);
    bz_cmd_open_diags(env, &b.catalog);
    return rc;
}

static const struct bz_cmd_term examples[] = {
    {"bitzel why core-image-minimal",      "See what was edited since the last build"},
    {"bitzel why --vs before.sig busybox",
     "Compare with a record of 'bitzel sig --record'"                                },
    {NULL,                                 NULL                                      },
};

const struct bz_cmd bz_cmd_why = {
    .name = "why",
    .summary = "Show why tasks have changed since a build",
    .detail =
        "Compares the signatures of all tasks that the targets need with those "
        "of a build, the last one unless another or a record is named, and shows "
        "what was edited: which operation on a variable, in which file and line, "
        "which file, which dependency, and how many tasks each edit reaches. A "
        "task that changed only because of what it waits for is counted, not "
        "listed. Where no build has made the targets, the stored results say what "
        "they were made from, also those of other machines. The exit status is 0 "
        "whether or not something changed, 3 if "
        "there is no such target or nothing to compare with.",
    .opts = opts,
    .args = args,
    .examples = examples,
    .size = sizeof(struct why_values),
    .run = run,
};
