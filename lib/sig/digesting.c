#include "sig/digesting.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"
#include "os/cpu.h"
#include "os/fs.h"
#include "pool/pool.h"
#include "sig/builtin.h"
#include "sig/files.h"
#include "sig/pathmap.h"
#include "survey/lineage.h"
#include "vars/vars_table.h"

enum { GRAIN = 4 }; /* recipes taken at a time */

/* What one thread has to itself. */
struct row {
    struct bz_digest_hasher *hasher;
    struct bz_arena arena;
    struct bz_string_pool strings; /* of tables that the catalog does not have */
    struct bz_buf notes;
    size_t failed; /* the first item that did, from 1; 0: none */
    struct bz_err err;
};

struct run {
    struct bz_digesting *e;
    struct bz_digesting_item *items;
    size_t n;
    struct row *rows;
    unsigned nrows;
    struct bz_recall_config *configs; /* of each configuration */
    struct bz_pathmap paths;          /* of layers */
    atomic_size_t next;
};

/* ---- one recipe ---- */

/* One recipe under way. */
struct recipe {
    struct run *run;
    struct row *row;
    struct bz_vars *vars;
    struct bz_taskspec *spec;
    const struct bz_facts *facts;
};

/* What of the layers the task is shown counts, or would if it were there. */
static int list_views(struct recipe *r, const struct bz_taskspec_inputs *inputs,
                      struct bz_buf *list, struct bz_err *err)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    BZ_CLEANUP(bz_vec_release) struct bz_pathmap_paths shown = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    int rc = bz_taskspec_text(r->spec, inputs, &text, err);

    if (rc < 0 || text.len == 0)
        return rc;
    bz_pathmap_find(&r->run->paths, bz_buf_str(&text), &arena, &shown);
    for (size_t i = 0; i < shown.len; i++) {
        struct bz_str path = bz_str_from(shown.at[i]);
        size_t layer, at = bz_pathmap_name_at(&r->run->paths, path.p, &layer);

        bz_files_add_view(list, path, at, layer, bz_fs_exists(AT_FDCWD, path.p));
    }
    return 0;
}

int bz_digesting_inputs(struct bz_taskspec *spec, struct bz_vars *vars,
                        const struct bz_facts_task *task,
                        struct bz_taskspec_inputs *inputs, struct bz_buf *list,
                        struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf unused = {0};
    enum bz_taskspec_how how = task->noexec ? BZ_TASKSPEC_NOTHING : BZ_TASKSPEC_SCRIPT;
    bool files = list && !task->noexec;
    enum bz_builtin what;
    int rc = bz_builtin_of(vars, task->name, &what, err);

    if (rc == 0 && !task->noexec && what != BZ_BUILTIN_NONE)
        how = BZ_TASKSPEC_BUILTIN;
    if (rc == 0)
        rc = bz_taskspec_list(spec, task->name, how, inputs, err);
    if (rc == 0 && files)
        rc = bz_files_of(bz_taskspec_store(spec, NULL)->plain, task->name, list, err);
    if (rc == 0 && files && (what == BZ_BUILTIN_FETCH || what == BZ_BUILTIN_UNPACK))
        rc = bz_files_sources(bz_taskspec_store(spec, NULL)->plain, list, err);
    if (rc == 0 && how == BZ_TASKSPEC_BUILTIN)
        rc = bz_builtin_inputs(spec, what, inputs, list ? list : &unused, err);
    return rc;
}

/* The digest of a task, without what is looked at each time, which is in the list. */
static int sign_task(struct recipe *r, const struct bz_facts_task *task,
                     struct bz_taskspec_inputs *inputs, struct bz_buf *list,
                     struct bz_digest *out, struct bz_err *err)
{
    int rc = bz_digesting_inputs(r->spec, r->vars, task, inputs, list, err);

    if (rc == 0 && !task->noexec)
        rc = list_views(r, inputs, list, err);
    if (rc == 0)
        bz_taskspec_digest(r->spec, inputs, out);
    return rc;
}

static int digest_task(struct recipe *r, uint32_t t, struct bz_taskspec_inputs *inputs,
                       struct bz_memo_task *out, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf list = {0};
    const struct bz_facts_task *facts = r->run->e->goal->graph.tasks[t].facts;
    int rc;

    out->name = facts->name;
    rc = sign_task(r, facts, inputs, &list, &out->digest, err);
    if (rc == 0)
        out->files = bz_arena_dup(&r->row->arena, bz_buf_str(&list));
    return rc;
}

/* Tasks that have something of the clock in them: what they do at two times differs. */
static int compare_clocks(struct recipe *r, struct bz_memo_task *tasks, size_t n,
                          uint32_t first, struct bz_err *err)
{
    int rc = 0;

    /* A day, an hour, a minute more. */
    bz_taskspec_set_clock(r->spec, BZ_DIGESTING_CLOCK + 90061);
    for (size_t i = 0; i < n && rc == 0; i++) {
        BZ_CLEANUP(bz_vec_release) struct bz_taskspec_inputs inputs = {0};
        BZ_CLEANUP(bz_buf_release) struct bz_buf list = {0};
        const struct bz_facts_task *facts =
            r->run->e->goal->graph.tasks[first + i].facts;
        struct bz_digest digest;

        rc = sign_task(r, facts, &inputs, &list, &digest, err);
        if (rc < 0 || bz_digest_eq(&digest, &tasks[i].digest))
            continue;
        bz_buf_truncate(&list, 0);
        bz_buf_add_str(&list, tasks[i].files);
        bz_files_add_unused(&list, BZ_STR("it reads the clock"));
        tasks[i].files = bz_arena_dup(&r->row->arena, bz_buf_str(&list));
        bz_buf_addf(
            &r->row->notes,
            "%.*s:%.*s: warning: what it does depends on the time, so its result "
            "is not used again\n",
            BZ_STR_ARG(r->facts->pn), BZ_STR_ARG(tasks[i].name));
    }
    return rc;
}

/* Copies the inputs of n tasks. */
static void keep_inputs(struct recipe *r, const struct bz_taskspec_inputs *from,
                        size_t n, struct bz_digesting_own *own)
{
    struct bz_arena *a = &r->row->arena;
    struct bz_taskspec_inputs *kept = BZ_ARENA_ARRAY(a, struct bz_taskspec_inputs, n);

    for (size_t i = 0; i < n; i++) {
        kept[i].len = from[i].len;
        kept[i].at = BZ_ARENA_ARRAY(a, struct bz_taskspec_input, from[i].len);
        for (size_t k = 0; k < from[i].len; k++)
            kept[i].at[k] = (struct bz_taskspec_input){
                .kind = from[i].at[k].kind,
                .name = bz_arena_dup(a, from[i].at[k].name),
                .value = from[i].at[k].value.p ? bz_arena_dup(a, from[i].at[k].value)
                                               : (struct bz_str){0},
                .digest = from[i].at[k].digest};
    }
    own->inputs = kept;
}

static int digest_all(struct recipe *r, struct bz_digesting_item *item,
                      struct bz_err *err)
{
    const struct bz_tgraph *g = &r->run->e->goal->graph;
    uint32_t first = g->recipes[item->recipe].first;
    size_t n = g->recipes[item->recipe + 1].first - first;
    struct bz_memo_task *tasks = BZ_ARENA_ARRAY(&r->row->arena, struct bz_memo_task, n);
    struct bz_taskspec_inputs *inputs = bz_mem_array(n, sizeof(*inputs));
    int rc = 0;

    bz_taskspec_set_clock(r->spec, BZ_DIGESTING_CLOCK);
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = digest_task(r, first + (uint32_t)i, &inputs[i], &tasks[i], err);
    item->memo.tasks = tasks;
    item->memo.n = n;
    if (rc == 0 && bz_taskspec_found(r->spec).host) {
        item->memo.key = (struct bz_entries_key){{0}}; /* another time it may differ */
        keep_inputs(r, inputs, n, &item->own);
    }
    for (size_t i = 0; i < n; i++)
        bz_vec_release(&inputs[i]);
    free(inputs);
    if (rc < 0)
        return rc;
    bz_buf_truncate(&r->row->notes, 0);
    bz_taskspec_warn(r->spec, &r->row->notes);
    if (bz_taskspec_found(r->spec).clock)
        rc = compare_clocks(r, tasks, n, first, err);
    item->memo.notes = bz_arena_dup(&r->row->arena, bz_buf_str(&r->row->notes));
    return rc;
}

static int digest_tasks(struct run *run, struct row *row, struct bz_vars *vars,
                        struct bz_digesting_item *item, struct bz_err *err)
{
    BZ_CLEANUP(bz_taskspec_freep) struct bz_taskspec *spec = NULL;
    struct bz_taskspec_opts opts = {bz_catalog_path(run->e->p)};
    struct recipe r = {.run = run,
                       .row = row,
                       .vars = vars,
                       .facts = run->e->goal->graph.recipes[item->recipe].facts};
    int rc = bz_taskspec_new(vars, &opts, row->hasher, &spec, err);

    r.spec = spec;
    return rc < 0 ? rc : digest_all(&r, item, err);
}

/* The key is made of what was looked at just now, not of what the survey saw: should a
 * file have changed in between, this is not what the survey will ask for. */
static void set_key(struct run *run, const struct bz_tgraph_recipe *r,
                    const struct bz_meta *m, struct bz_digesting_item *item)
{
    uint8_t lineage[32];

    if (r->facts->uncached)
        return;
    bz_lineage_of(run->e->p->library, m, r->facts, lineage);
    if (bz_lineage_known(lineage))
        bz_lineage_key(lineage, run->configs[r->part].all, item->memo.key.b);
}

/* Of a table everything is as the survey saw it. */
static int digest_table(struct run *run, struct row *row,
                        struct bz_digesting_item *item, struct bz_err *err)
{
    const struct bz_tgraph_recipe *r = &run->e->goal->graph.recipes[item->recipe];
    BZ_CLEANUP(bz_evaluate_release) struct bz_evaluated recipe = {0};
    int rc = bz_evaluate_read(run->e->p, r->part, &item->table, &recipe, err);

    if (rc < 0)
        return rc;
    bz_lineage_key(r->facts->lineage, run->e->p->survey.parts.at[r->part].config,
                   item->memo.key.b);
    rc = digest_tasks(run, row, recipe.vars, item, err);
    return rc < 0 ? bz_err_wrap(err, "%.*s", BZ_STR_ARG(r->facts->path)) : rc;
}

/* Keeps the variables of a recipe that the catalog has no table of. */
static void keep_table(struct run *run, struct row *row, const struct bz_meta *m,
                       struct bz_digesting_item *item)
{
    const struct bz_tgraph_recipe *r = &run->e->goal->graph.recipes[item->recipe];
    BZ_CLEANUP(bz_buf_release) struct bz_buf table = {0};

    bz_vars_table_write(m->vars, run->e->p->mcs.at[r->part].config->vars, &row->strings,
                        &table);
    item->own.table.table = bz_arena_dup(&row->arena, bz_buf_str(&table));
    item->row = (unsigned)(row - run->rows);
}

static int evaluate(struct run *run, struct row *row, struct bz_digesting_item *item,
                    struct bz_err *err)
{
    const struct bz_tgraph_recipe *r = &run->e->goal->graph.recipes[item->recipe];
    struct bz_catalog *p = run->e->p;
    BZ_CLEANUP(bz_finalize_freep) struct bz_finalize *f = NULL;
    struct bz_finalize_opts opts = {.path = r->facts->path,
                                    .layer = r->facts->layer,
                                    .appends = &item->appends,
                                    .notes = &row->notes, /* the survey's to tell */
                                    .only = r->facts->variant};
    struct bz_meta *m;
    int rc = bz_finalize_recipe(p->mcs.at[r->part].config, p->library, &opts, &f, err);

    if (rc < 0)
        return rc;
    m = bz_finalize_variant(f, r->facts->variant);
    if (!m)
        return bz_fail(err, BZ_E_BUSY, "%.*s changed while it was read; try again",
                       BZ_STR_ARG(r->facts->path));
    set_key(run, r, m, item);
    keep_table(run, row, m, item);
    rc = digest_tasks(run, row, m->vars, item, err);
    return rc < 0 ? bz_err_wrap(err, "%.*s", BZ_STR_ARG(r->facts->path)) : rc;
}

static int digest(struct run *run, struct row *row, struct bz_digesting_item *item,
                  struct bz_err *err)
{
    int rc = item->table.table.p ? digest_table(run, row, item, err) : BZ_E_CORRUPT;

    return rc == BZ_E_CORRUPT ? evaluate(run, row, item, err) : rc;
}

/* ---- all of them ---- */

static void work_row(struct bz_worker *w, size_t begin, size_t end, void *arg)
{
    struct run *run = arg;

    (void)w;
    for (size_t i = begin; i < end; i++) {
        struct row *row = &run->rows[i];
        size_t at;

        /* relaxed: who gets which recipes does not matter, and results are read after
         * the pool's work is done */
        while ((at = atomic_fetch_add_explicit(&run->next, GRAIN,
                                               memory_order_relaxed)) < run->n) {
            size_t stop = at + GRAIN < run->n ? at + GRAIN : run->n;

            for (; at < stop && row->failed == 0; at++)
                if (digest(run, row, &run->items[at], &row->err) < 0)
                    row->failed = at + 1;
        }
    }
}

static void work_all(struct bz_worker *w, void *arg)
{
    struct run *run = arg;

    bz_pool_for(w, 0, run->nrows, 1, work_row, run);
}

static int spread(struct run *run, struct bz_err *err)
{
    BZ_CLEANUP(bz_pool_freep) struct bz_pool *pool = NULL;
    struct bz_pool_opts opts = {.compute = run->nrows - 1, .io = 1};
    int rc;

    if (run->nrows == 1) {
        work_row(NULL, 0, 1, run);
        return 0;
    }
    rc = bz_pool_new(&opts, &pool, err);
    if (rc == 0)
        bz_pool_call(pool, work_all, run);
    return rc;
}

static unsigned count_rows(const struct bz_digesting *e, size_t n)
{
    size_t most = (n + GRAIN - 1) / GRAIN;
    unsigned rows = e->p->sweep.threads;

    if (most <= 1)
        return 1;
    if (rows == 0)
        rows = bz_cpu_count();
    return rows < most ? rows : (unsigned)most;
}

static int prepare(struct run *run, struct bz_err *err)
{
    const struct bz_tgraph *g = &run->e->goal->graph;
    struct bz_catalog *p = run->e->p;
    int rc = 0;

    bz_pathmap_open(&run->paths, p, "", false);
    for (unsigned i = 0; i < run->nrows && rc == 0; i++)
        rc = bz_digest_hasher_new(&run->rows[i].hasher, err);
    for (size_t i = 0; i < p->mcs.len && rc == 0; i++)
        rc = bz_recall_config(p->mcs.at[i].config, &run->configs[i], err);
    for (size_t i = 0; i < run->n && rc == 0; i++) {
        const struct bz_tgraph_recipe *r = &g->recipes[run->items[i].recipe];

        bz_collect_appends(&p->mcs.at[r->part].recipes, r->facts->path,
                           &run->items[i].appends);
        bz_evaluate_find(p, r->part, r->facts, &run->items[i].table);
    }
    return rc;
}

/* The strings of the tables that were kept, once for each thread. */
static int keep_strings(struct run *run, struct bz_err *err)
{
    for (unsigned i = 0; i < run->nrows; i++) {
        const struct bz_string_pool *pool = &run->rows[i].strings;
        struct bz_str strings;

        if (pool->n == 0)
            continue;
        if (pool->full)
            return bz_fail(err, BZ_E_LIMIT, "the string pool exceeds 4 GiB");
        strings = bz_arena_dup(&run->rows[i].arena, bz_string_pool_block(pool));
        for (size_t k = 0; k < run->n; k++)
            if (run->items[k].row == i && run->items[k].own.table.table.p)
                run->items[k].own.table.strings = strings;
    }
    return 0;
}

static int first_error(const struct run *run, struct bz_err *err)
{
    const struct row *first = NULL;

    for (unsigned i = 0; i < run->nrows; i++)
        if (run->rows[i].failed > 0 && (!first || run->rows[i].failed < first->failed))
            first = &run->rows[i];
    if (!first)
        return 0;
    *err = first->err;
    return err->code;
}

int bz_digesting_run(struct bz_digesting *e, struct bz_digesting_item *items, size_t n,
                     struct bz_err *err)
{
    struct run run = {.e = e, .items = items, .n = n, .nrows = count_rows(e, n)};
    int rc;

    run.rows = bz_mem_array(run.nrows, sizeof(run.rows[0]));
    run.configs = bz_mem_array(e->p->mcs.len, sizeof(run.configs[0]));
    rc = prepare(&run, err);
    if (rc == 0)
        rc = spread(&run, err);
    if (rc == 0)
        rc = first_error(&run, err);
    if (rc == 0)
        rc = keep_strings(&run, err);
    for (unsigned i = 0; i < run.nrows; i++) {
        bz_digest_hasher_free(run.rows[i].hasher);
        bz_buf_release(&run.rows[i].notes);
        bz_string_pool_release(&run.rows[i].strings);
        BZ_VEC_PUSH(&e->arenas, run.rows[i].arena);
    }
    for (size_t i = 0; i < e->p->mcs.len; i++)
        bz_buf_release(&run.configs[i].settings);
    for (size_t i = 0; i < n; i++)
        bz_vec_release(&items[i].appends);
    free(run.rows);
    free(run.configs);
    bz_pathmap_release(&run.paths);
    return rc;
}

void bz_digesting_release(struct bz_digesting *e)
{
    for (size_t i = 0; i < e->arenas.len; i++)
        bz_arena_release(&e->arenas.at[i]);
    bz_vec_release(&e->arenas);
    *e = (struct bz_digesting){0};
}
