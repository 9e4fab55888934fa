#include "pipeline/digesting.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"
#include "os/cpu.h"
#include "pool/pool.h"
#include "sig/files.h"
#include "survey/lineage.h"

enum { GRAIN = 4 }; /* recipes taken at a time */

/* What one thread has to itself. */
struct row {
    struct bz_digest_hasher *hasher;
    struct bz_arena arena;
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
    atomic_size_t next;
};

/* ---- one recipe ---- */

static int digest_task(struct run *run, struct row *row, struct bz_base *b,
                       struct bz_vars *v, uint32_t t, struct bz_memo_task *out,
                       struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct bz_base_inputs inputs = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf list = {0};
    struct bz_digesting *e = run->e;
    int rc;

    out->name = e->goal->graph.tasks[t].facts->name;
    rc = bz_base_task(b, out->name, &out->digest, e->fn ? &inputs : NULL, err);
    if (rc == 0)
        rc = bz_files_of(v, out->name, &list, err);
    if (rc < 0)
        return rc;
    out->files = bz_arena_dup(&row->arena, bz_buf_str(&list));
    return e->fn ? e->fn(e->ctx, t, v, &inputs, out, err) : 0;
}

static int digest_tasks(struct run *run, struct row *row, struct bz_meta *m,
                        struct bz_digesting_item *item, struct bz_err *err)
{
    const struct bz_tgraph *g = &run->e->goal->graph;
    uint32_t first = g->recipes[item->recipe].first;
    size_t n = g->recipes[item->recipe + 1].first - first;
    struct bz_memo_task *tasks = BZ_ARENA_ARRAY(&row->arena, struct bz_memo_task, n);
    BZ_CLEANUP(bz_base_freep) struct bz_base *b = NULL;
    int rc = bz_base_new(m->vars, row->hasher, &b, err);

    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = digest_task(run, row, b, m->vars, first + (uint32_t)i, &tasks[i], err);
    item->memo.tasks = tasks;
    item->memo.n = n;
    if (rc < 0)
        return rc;
    bz_buf_truncate(&row->notes, 0);
    bz_base_leaks(b, &row->notes);
    item->memo.notes = bz_arena_dup(&row->arena, bz_buf_str(&row->notes));
    return 0;
}

static struct bz_meta *find_variant(const struct bz_finalize *f, struct bz_str name)
{
    for (size_t i = 0; i < f->variants.len; i++)
        if (bz_str_eq(f->variants.at[i].name, name))
            return f->variants.at[i].meta;
    return NULL;
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

static int evaluate(struct run *run, struct row *row, struct bz_digesting_item *item,
                    struct bz_err *err)
{
    const struct bz_tgraph_recipe *r = &run->e->goal->graph.recipes[item->recipe];
    struct bz_pipeline *p = run->e->p;
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
    m = find_variant(f, r->facts->variant);
    if (!m)
        return bz_fail(err, BZ_E_BUSY, "%.*s changed while it was read; try again",
                       BZ_STR_ARG(r->facts->path));
    set_key(run, r, m, item);
    rc = digest_tasks(run, row, m, item, err);
    return rc < 0 ? bz_err_wrap(err, "%.*s", BZ_STR_ARG(r->facts->path)) : rc;
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
                if (evaluate(run, row, &run->items[at], &row->err) < 0)
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

    if (e->fn || most <= 1)
        return 1;
    if (rows == 0)
        rows = bz_cpu_count();
    return rows < most ? rows : (unsigned)most;
}

static int prepare(struct run *run, struct bz_err *err)
{
    const struct bz_tgraph *g = &run->e->goal->graph;
    struct bz_pipeline *p = run->e->p;
    int rc = 0;

    for (unsigned i = 0; i < run->nrows && rc == 0; i++)
        rc = bz_digest_hasher_new(&run->rows[i].hasher, err);
    for (size_t i = 0; i < p->mcs.len && rc == 0; i++)
        rc = bz_recall_config(p->mcs.at[i].config, &run->configs[i], err);
    for (size_t i = 0; i < run->n && rc == 0; i++) {
        const struct bz_tgraph_recipe *r = &g->recipes[run->items[i].recipe];

        bz_collect_appends(&p->mcs.at[r->part].recipes, r->facts->path,
                           &run->items[i].appends);
    }
    return rc;
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
    for (unsigned i = 0; i < run.nrows; i++) {
        bz_digest_hasher_free(run.rows[i].hasher);
        bz_buf_release(&run.rows[i].notes);
        BZ_VEC_PUSH(&e->arenas, run.rows[i].arena);
    }
    for (size_t i = 0; i < e->p->mcs.len; i++)
        bz_buf_release(&run.configs[i].settings);
    for (size_t i = 0; i < n; i++)
        bz_vec_release(&items[i].appends);
    free(run.rows);
    free(run.configs);
    return rc;
}

void bz_digesting_release(struct bz_digesting *e)
{
    for (size_t i = 0; i < e->arenas.len; i++)
        bz_arena_release(&e->arenas.at[i]);
    bz_vec_release(&e->arenas);
    *e = (struct bz_digesting){0};
}
