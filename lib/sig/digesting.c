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

enum {
    GRAIN = 4,         /* recipes taken at a time */
    CLOCK = 981173106, /* what time it is for code that keys count: always the same */
};

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
    struct bz_base *base; /* NULL: there is none yet */
    unsigned turn;        /* of the variables that it is for */
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

/* The digest of a task, without what is looked at each time, which is in the list. */
static int sign_task(struct recipe *r, struct bz_str name, bool noexec,
                     struct bz_taskspec_inputs *inputs, struct bz_buf *list,
                     struct bz_digest *out, struct bz_err *err)
{
    enum bz_taskspec_how how = noexec ? BZ_TASKSPEC_NOTHING : BZ_TASKSPEC_SCRIPT;
    enum bz_builtin what;
    int rc = bz_builtin_of(r->vars, name, &what, err);

    if (rc == 0 && !noexec && what != BZ_BUILTIN_NONE)
        how = BZ_TASKSPEC_BUILTIN;
    if (rc == 0)
        rc = bz_taskspec_list(r->spec, name, how, inputs, err);
    if (rc == 0 && !noexec)
        rc = bz_files_of(bz_taskspec_store(r->spec, NULL)->plain, name, list, err);
    if (rc == 0 && !noexec && (what == BZ_BUILTIN_FETCH || what == BZ_BUILTIN_UNPACK))
        rc = bz_files_sources(bz_taskspec_store(r->spec, NULL)->plain, list, err);
    if (rc == 0 && how == BZ_TASKSPEC_BUILTIN)
        rc = bz_builtin_inputs(r->spec, what, inputs, list, err);
    if (rc == 0 && !noexec)
        rc = list_views(r, inputs, list, err);
    if (rc == 0)
        bz_taskspec_digest(r->spec, inputs, out);
    return rc;
}

struct names BZ_VEC(struct bz_str);

struct checksums {
    struct bz_arena *arena;
    struct names *names;
};

static void add_checksum(void *ctx, struct bz_str flag, struct bz_str value)
{
    struct checksums *c = ctx;

    (void)value;
    BZ_VEC_PUSH(c->names, bz_arena_printf(c->arena, "SRC_URI[%.*s]", BZ_STR_ARG(flag)));
}

/* The variables that sources are made from. */
static void add_source_names(struct recipe *r, const struct bz_keystore *store,
                             struct names *names)
{
    struct checksums c = {&r->row->arena, names};

    BZ_VEC_PUSH(names, BZ_STR("SRC_URI"));
    BZ_VEC_PUSH(names, BZ_STR("SRCREV"));
    BZ_VEC_PUSH(names, BZ_STR("S")); /* where patches are applied */
    bz_vars_flags(store->plain, BZ_STR("SRC_URI"), add_checksum, &c);
}

/* What the inputs are made from. */
static int list_origins(struct recipe *r, struct bz_str task,
                        const struct bz_taskspec_inputs *inputs,
                        struct bz_base_inputs *out, struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct names names = {0};
    static const struct bz_str mask = BZ_STR("BB_DEFAULT_UMASK");
    bool sources = false, exports = false;
    struct bz_str unset;
    size_t next = 0;
    unsigned turn;
    const struct bz_keystore *store = bz_taskspec_store(r->spec, &turn);
    int rc = 0;

    if (!r->base || r->turn != turn) {
        bz_base_free(r->base);
        r->base = NULL;
        rc = bz_base_new(store->key, r->row->hasher, &r->base, err);
        r->turn = turn;
    }
    BZ_VEC_PUSH(&names, task);
    for (size_t i = 0; i < inputs->len; i++) {
        enum bz_taskspec_kind kind = inputs->at[i].kind;

        exports |= kind == BZ_TASKSPEC_EXPORT;
        if (kind == BZ_TASKSPEC_UMASK && bz_vars_exists(store->plain, mask))
            BZ_VEC_PUSH(&names, mask);
        if (bz_str_starts(inputs->at[i].name, BZ_STR("SRC_URI"))) {
            sources = true;
        } else if (kind != BZ_TASKSPEC_TASK && kind != BZ_TASKSPEC_ORDER &&
                   kind != BZ_TASKSPEC_UMASK &&
                   bz_str_find_byte(inputs->at[i].name, ' ') == BZ_STR_NONE) {
            BZ_VEC_PUSH(&names, inputs->at[i].name);
        }
    }
    while (exports && bz_taskspec_next_unset(r->spec, &next, &unset))
        BZ_VEC_PUSH(&names, unset);
    if (sources)
        add_source_names(r, store, &names);
    return rc < 0 ? rc : bz_base_list(r->base, names.at, names.len, out, err);
}

static int digest_task(struct recipe *r, uint32_t t, struct bz_memo_task *out,
                       struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct bz_base_inputs origins = {0};
    BZ_CLEANUP(bz_vec_release) struct bz_taskspec_inputs inputs = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf list = {0};
    struct bz_digesting *e = r->run->e;
    const struct bz_facts_task *facts = e->goal->graph.tasks[t].facts;
    struct bz_digesting_seen seen = {r->vars, &origins, &inputs, out};
    int rc;

    out->name = facts->name;
    rc = sign_task(r, out->name, facts->noexec, &inputs, &list, &out->digest, err);
    if (rc == 0 && e->fn)
        rc = list_origins(r, out->name, &inputs, &origins, err);
    if (rc < 0)
        return rc;
    out->files = bz_arena_dup(&r->row->arena, bz_buf_str(&list));
    return e->fn ? e->fn(e->ctx, t, &seen, err) : 0;
}

/* Tasks that have something of the clock in them: what they do at two times differs. */
static int compare_clocks(struct recipe *r, struct bz_memo_task *tasks, size_t n,
                          uint32_t first, struct bz_err *err)
{
    int rc = 0;

    bz_taskspec_set_clock(r->spec, CLOCK + 90061); /* a day, an hour, a minute more */
    for (size_t i = 0; i < n && rc == 0; i++) {
        BZ_CLEANUP(bz_vec_release) struct bz_taskspec_inputs inputs = {0};
        BZ_CLEANUP(bz_buf_release) struct bz_buf list = {0};
        const struct bz_facts_task *facts =
            r->run->e->goal->graph.tasks[first + i].facts;
        struct bz_digest digest;

        rc = sign_task(r, tasks[i].name, facts->noexec, &inputs, &list, &digest, err);
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

static int digest_all(struct recipe *r, struct bz_digesting_item *item,
                      struct bz_err *err)
{
    const struct bz_tgraph *g = &r->run->e->goal->graph;
    uint32_t first = g->recipes[item->recipe].first;
    size_t n = g->recipes[item->recipe + 1].first - first;
    struct bz_memo_task *tasks = BZ_ARENA_ARRAY(&r->row->arena, struct bz_memo_task, n);
    int rc = 0;

    bz_taskspec_set_clock(r->spec, CLOCK);
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = digest_task(r, first + (uint32_t)i, &tasks[i], err);
    item->memo.tasks = tasks;
    item->memo.n = n;
    if (rc < 0)
        return rc;
    bz_buf_truncate(&r->row->notes, 0);
    bz_taskspec_warn(r->spec, &r->row->notes);
    if (bz_taskspec_found(r->spec).host) /* it may say something else the next time */
        item->memo.key = (struct bz_entries_key){{0}};
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
    if (rc == 0)
        rc = digest_all(&r, item, err);
    bz_base_free(r.base);
    return rc;
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

    if (e->fn || most <= 1)
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
