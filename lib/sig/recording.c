#include "sig/recording.h"

#include <stdlib.h>

#include "base/mem.h"
#include "sig/listing.h"
#include "sig/origin.h"

/* What is known of a task before all are listed. */
struct part {
    bool known;
    struct bz_str machine, distro, policy;
    const struct bz_record_input **inputs, **context;
    size_t ninputs, ncontext;
    const struct bz_record_input **fields;
    size_t nfields;
    struct bz_record_commit *commits;
    size_t ncommits;
    struct bz_record_file *files;
    size_t nfiles;
};

struct recorder {
    struct bz_record *r;
    struct bz_catalog *p;
    struct bz_digest_hasher *hasher;
    struct bz_origin_files place;
    const struct bz_goal *goal;
    uint32_t recipe; /* whose origin is open, counted from 1; 0: none is */
    struct bz_origin origin;
    struct part *parts; /* [tasks] */
    struct bz_taint taint;
    struct bz_arena arena;
    int rc;
    struct bz_err err;
};

static void recorder_release(struct recorder *w)
{
    bz_origin_release(&w->origin);
    bz_origin_file_release(&w->place);
    bz_taint_release(&w->taint);
    free(w->parts);
    bz_arena_release(&w->arena);
}

static void find_places(struct recorder *w)
{
    bz_origin_file_add_build(&w->place, bz_str_from(w->p->build_dir));
    for (size_t i = 0; i < w->p->layers.all.len; i++)
        bz_origin_file_add_layer(&w->place, w->p->layers.all.at[i].dir);
}

static const struct bz_record_input **keep_list(struct recorder *w,
                                                const struct bz_origin_list *list)
{
    const struct bz_record_input **kept =
        BZ_ARENA_ARRAY(&w->arena, const struct bz_record_input *, list->len);

    for (size_t i = 0; i < list->len; i++)
        kept[i] = list->at[i].kept;
    return kept;
}

static int open_origin(struct recorder *w, uint32_t task, struct bz_vars *vars)
{
    uint32_t recipe = w->goal->graph.tasks[task].recipe + 1;

    if (w->recipe == recipe)
        return 0;
    if (w->recipe == 0)
        find_places(w);
    bz_origin_release(&w->origin);
    w->recipe = recipe;
    return bz_origin_open(&w->origin, vars, &w->place, w->hasher, w->r, &w->err);
}

static void keep_files(struct recorder *w, struct part *part,
                       const struct bz_base_files *files)
{
    part->nfiles = files->len;
    part->files = BZ_ARENA_ARRAY(&w->arena, struct bz_record_file, files->len);
    for (size_t i = 0; i < files->len; i++)
        part->files[i] = (struct bz_record_file){
            bz_arena_dup(&w->arena, files->at[i].name), files->at[i].digest,
            files->at[i].present, files->at[i].executable, files->at[i].mode};
}

static void keep_fields(struct recorder *w, struct part *part,
                        const struct bz_taskspec_inputs *inputs)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf name = {0};

    part->nfields = inputs->len;
    part->fields =
        BZ_ARENA_ARRAY(&w->arena, const struct bz_record_input *, inputs->len);
    for (size_t i = 0; i < inputs->len; i++) {
        const struct bz_taskspec_input *in = &inputs->at[i];
        struct bz_record_input field = {.digest = in->digest, .value = in->value};

        bz_buf_truncate(&name, 0);
        bz_buf_addf(&name, "%s %.*s", bz_taskspec_kinds[in->kind],
                    BZ_STR_ARG(in->name));
        field.name = bz_buf_str(&name);
        part->fields[i] = bz_record_input(w->r, &field);
    }
}

static void keep_commits(struct recorder *w, struct part *part,
                         const struct bz_signing_commits *commits)
{
    part->ncommits = commits->len;
    part->commits = BZ_ARENA_ARRAY(&w->arena, struct bz_record_commit, commits->len);
    for (size_t i = 0; i < commits->len; i++)
        part->commits[i] = (struct bz_record_commit){
            bz_arena_dup(&w->arena, commits->at[i].question),
            bz_arena_dup(&w->arena, bz_str_from(commits->at[i].commit))};
}

static void keep_task(void *ctx, uint32_t task, const struct bz_listing_view *view)
{
    BZ_CLEANUP(bz_vec_release) struct bz_origin_list inputs = {0}, context = {0};
    struct recorder *w = ctx;
    struct part *part = &w->parts[task];
    struct bz_str machine = {0}, distro = {0};

    if (w->rc == 0)
        w->rc = open_origin(w, task, view->vars);
    if (w->rc == 0)
        w->rc = bz_base_machine(view->vars, &machine, &distro, &w->err);
    if (w->rc < 0)
        return;
    part->known = true;
    part->machine = bz_record_text(w->r, machine);
    part->distro = bz_record_text(w->r, distro);
    part->policy = bz_record_text(w->r, view->policy);
    bz_origin_task(&w->origin, view->origins, &inputs, &context);
    part->inputs = keep_list(w, &inputs);
    part->ninputs = inputs.len;
    part->context = keep_list(w, &context);
    part->ncontext = context.len;
    keep_fields(w, part, view->inputs);
    keep_commits(w, part, view->commits);
    keep_files(w, part, view->files);
}

static int by_task(const void *a, const void *b)
{
    const struct bz_record_dep *x = a, *y = b;

    return bz_str_cmp(x->task, y->task);
}

static void add_task(struct recorder *w, const struct bz_signing *s,
                     const struct bz_goal *goal, const struct bz_str *names,
                     uint32_t task)
{
    BZ_CLEANUP(bz_vec_release) struct BZ_VEC(struct bz_record_dep) deps = {0};
    const struct bz_dag *dag = &goal->graph.dag;
    const struct part *part = &w->parts[task];
    struct bz_record_task t = {
        .name = names[task],
        .key = s->keys[task],
        .base = s->base[task],
        .machine = part->machine,
        .distro = part->distro,
        .policy = part->policy,
        .taint = bz_taint_when(s->taint ? s->taint : &w->taint, names[task], &w->arena),
        .fields = part->fields,
        .nfields = part->nfields,
        .commits = part->commits,
        .ncommits = part->ncommits,
        .inputs = part->inputs,
        .ninputs = part->ninputs,
        .context = part->context,
        .ncontext = part->ncontext,
        .files = part->files,
        .nfiles = part->nfiles,
    };

    for (uint32_t e = dag->start[task]; e < dag->start[task + 1]; e++)
        BZ_VEC_PUSH(&deps,
                    (struct bz_record_dep){names[dag->to[e]], s->keys[dag->to[e]]});
    BZ_VEC_SORT(&deps, by_task);
    t.deps = deps.at;
    t.ndeps = deps.len;
    bz_record_add(w->r, &t);
}

static void add_tasks(struct recorder *w, const struct bz_signing *s,
                      const struct bz_goal *goal)
{
    uint32_t n = goal->graph.dag.n;
    struct bz_str *names = BZ_ARENA_ARRAY(&w->arena, struct bz_str, n);
    BZ_CLEANUP(bz_buf_release) struct bz_buf name = {0};

    for (uint32_t t = 0; t < n; t++) {
        bz_buf_truncate(&name, 0);
        bz_goal_task_name(goal, t, &name);
        names[t] = bz_arena_dup(&w->arena, bz_buf_str(&name));
    }
    for (uint32_t t = 0; t < n; t++)
        if (w->parts[t].known)
            add_task(w, s, goal, names, t);
    bz_record_sort(w->r);
}

int bz_recording_run(struct bz_record *r, const struct bz_signing *s,
                     struct bz_catalog *p, const struct bz_goal *goal,
                     struct bz_err *err)
{
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *hasher = NULL;
    BZ_CLEANUP(recorder_release) struct recorder w = {.r = r, .p = p, .goal = goal};
    int rc = bz_digest_hasher_new(&hasher, err);

    if (rc < 0)
        return rc;
    w.hasher = hasher;
    bz_taint_open(&w.taint, bz_catalog_entries(p), p->build_dir);
    w.parts = bz_mem_array(goal->graph.dag.n, sizeof(*w.parts));
    rc = bz_listing_run(s, p, goal, NULL, keep_task, &w, err);
    if (rc == 0 && w.rc < 0) {
        *err = w.err;
        rc = w.rc;
    }
    if (rc == 0)
        add_tasks(&w, s, goal);
    return rc;
}
