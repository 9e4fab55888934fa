#include "survey/sweep.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/log.h"
#include "base/mem.h"
#include "os/cpu.h"
#include "pool/pool.h"
#include "recipe/finalize.h"
#include "survey/lineage.h"

enum {
    GRAIN = 8, /* recipes taken at a time: about a millisecond's work */
};

/* What one thread has to itself. */
struct row {
    struct bz_facts_keep keep;
    struct bz_buf notes;
    struct bz_sweep_pool pool;
    struct bz_profile profile; /* used if one is asked for */
    _Atomic(uintptr_t) thread; /* who works here; 0: nobody */
};

struct sweep {
    const struct bz_sweep_opts *opts;
    struct bz_sweep_item *const *items;
    size_t n;
    struct row *rows;
    unsigned nrows;
    pthread_t caller;
    atomic_size_t next, done;
    const struct bz_log_sink *sink; /* the one that was set before */
};

/* ---- the log ---- */

/* A thread finds its own row by its name; it does not matter what else it sees there,
 * so no order is needed. */
static struct row *row_here(const struct sweep *s)
{
    uintptr_t self = (uintptr_t)pthread_self();

    for (unsigned i = 0; i < s->nrows; i++)
        if (atomic_load_explicit(&s->rows[i].thread, memory_order_relaxed) == self)
            return &s->rows[i];
    return NULL;
}

static void catch_line(void *arg, enum bz_log_level level, const char *line, size_t n)
{
    struct sweep *s = arg;
    struct row *row = row_here(s);

    if (row)
        bz_buf_add(&row->notes, line, n + 1);
    else
        s->sink->write(s->sink->arg, level, line, n);
}

/* ---- one recipe ---- */

static void set_broken(struct row *row, struct bz_sweep_item *item, const char *why)
{
    item->tables = NULL;
    item->nfacts = 1;
    item->facts[0] = item->frame;
    item->looks = NULL;
    item->nlooks = 0;
    bz_facts_broken(&row->keep, bz_str_from(why), &item->facts[0]);
}

static int by_variant(const void *a, const void *b)
{
    const struct bz_finalize_variant *x = a, *y = b;

    return bz_str_cmp(y->name, x->name);
}

/* Everything that any variant looked at. Each begins with what the recipe did. */
static void set_looks(struct sweep *s, struct row *row, struct bz_sweep_item *item,
                      const struct bz_finalize *f)
{
    BZ_CLEANUP(bz_map_release) struct bz_map seen = {0};
    size_t most = 0;

    for (size_t i = 0; i < f->variants.len; i++)
        most += f->variants.at[i].meta->looked_at.len;
    item->looks =
        BZ_ARENA_ARRAY(&row->keep.arena, const struct bz_library_look *, most);
    for (size_t i = 0; i < f->variants.len; i++) {
        const struct bz_meta_names *names = &f->variants.at[i].meta->looked_at;

        for (size_t k = 0; k < names->len; k++) {
            const struct bz_library_look *look =
                bz_library_look(s->opts->library, names->at[k]);

            if (!look) /* a name that is too long for anything to be there, ever */
                continue;
            if (f->variants.len > 1 && bz_map_put(&seen, look->path)->u++)
                continue;
            item->looks[item->nlooks++] = look;
        }
    }
}

/* What cannot be recognised again is not kept. */
static void set_tables(struct sweep *s, struct row *row, struct bz_sweep_item *item,
                       const struct bz_finalize *f)
{
    if (!s->opts->pools)
        return;
    item->tables =
        BZ_ARENA_ARRAY(&row->keep.arena, struct bz_sweep_table, f->variants.len);
    for (size_t i = 0; i < f->variants.len; i++) {
        struct bz_sweep_table *t = &item->tables[i];

        if (!bz_lineage_known(item->facts[i].lineage))
            continue;
        t->pool = (size_t)(row - s->rows);
        t->at = row->pool.tables.len;
        bz_vars_table_write(f->variants.at[i].meta->vars, item->config->vars,
                            &row->pool.strings, &row->pool.tables);
        t->n = row->pool.tables.len - t->at;
    }
}

/* All or nothing: one variant that fails takes its recipe with it. */
static void set_facts(struct sweep *s, struct row *row, struct bz_sweep_item *item,
                      struct bz_finalize *f)
{
    struct bz_err err;

    BZ_VEC_SORT(&f->variants, by_variant);
    item->facts = BZ_ARENA_ARRAY(&row->keep.arena, struct bz_facts, f->variants.len);
    for (size_t i = 0; i < f->variants.len; i++) {
        struct bz_facts *facts = &item->facts[item->nfacts++];

        *facts = item->frame;
        facts->variant = bz_facts_text(&row->keep, f->variants.at[i].name);
        if (bz_facts_of(&row->keep, f->variants.at[i].meta, facts, &err) < 0) {
            bz_err_wrap(&err, "%.*s", BZ_STR_ARG(item->frame.path));
            set_broken(row, item, err.msg);
            return;
        }
        if (!facts->uncached)
            bz_lineage_of(s->opts->library, f->variants.at[i].meta, facts,
                          facts->lineage);
    }
    set_looks(s, row, item, f);
    set_tables(s, row, item, f);
}

static void evaluate(struct sweep *s, struct row *row, struct bz_sweep_item *item)
{
    BZ_CLEANUP(bz_finalize_freep) struct bz_finalize *f = NULL;
    struct bz_finalize_opts opts = {.path = item->frame.path,
                                    .layer = item->frame.layer,
                                    .appends = &item->appends,
                                    .notes = &row->notes};
    struct bz_err err;

    if (s->opts->profile)
        opts.watch = bz_profile_watch(&row->profile);
    if (bz_finalize_recipe(item->config, s->opts->library, &opts, &f, &err) == 0) {
        set_facts(s, row, item, f);
    } else {
        item->facts = BZ_ARENA_NEW(&row->keep.arena, struct bz_facts);
        set_broken(row, item, err.msg);
    }
    if (row->notes.len > 0)
        item->notes = bz_arena_dup(&row->keep.arena, bz_buf_str(&row->notes));
    bz_buf_truncate(&row->notes, 0);
}

/* ---- all of them ---- */

static void report(struct sweep *s, size_t done)
{
    if (s->opts->progress && pthread_equal(pthread_self(), s->caller))
        s->opts->progress(s->opts->ctx, done, s->n);
}

static void work_row(struct bz_worker *w, size_t begin, size_t end, void *arg)
{
    struct sweep *s = arg;

    (void)w;
    for (size_t i = begin; i < end; i++) {
        struct row *row = &s->rows[i];
        size_t at;

        atomic_store_explicit(&row->thread, (uintptr_t)pthread_self(),
                              memory_order_relaxed);
        /* relaxed: who gets which recipes does not matter, and results are read after
         * the pool's work is done */
        while ((at = atomic_fetch_add_explicit(&s->next, GRAIN, memory_order_relaxed)) <
               s->n) {
            size_t stop = at + GRAIN < s->n ? at + GRAIN : s->n, done = stop - at;

            for (; at < stop; at++)
                evaluate(s, row, s->items[at]);
            done += atomic_fetch_add_explicit(&s->done, done, memory_order_relaxed);
            report(s, done);
        }
        atomic_store_explicit(&row->thread, 0, memory_order_relaxed);
    }
}

static void work_all(struct bz_worker *w, void *arg)
{
    struct sweep *s = arg;

    bz_pool_for(w, 0, s->nrows, 1, work_row, s);
}

/* The caller works too. With one thread there is no pool. */
static int spread(struct sweep *s, struct bz_err *err)
{
    BZ_CLEANUP(bz_pool_freep) struct bz_pool *pool = NULL;
    struct bz_pool_opts opts = {.compute = s->nrows - 1, .io = 1};
    int rc;

    if (s->nrows == 1) {
        work_row(NULL, 0, 1, s);
        return 0;
    }
    rc = bz_pool_new(&opts, &pool, err);
    if (rc == 0)
        bz_pool_call(pool, work_all, s);
    return rc;
}

static unsigned count_rows(const struct bz_sweep_opts *opts, size_t n)
{
    size_t most = (n + GRAIN - 1) / GRAIN;
    unsigned rows = opts->threads;

    if (rows == 0 && most > 1) /* which asks the system */
        rows = bz_cpu_count();
    if (rows > most)
        rows = (unsigned)most;
    return rows > 0 ? rows : 1;
}

int bz_sweep_run(const struct bz_sweep_opts *opts, struct bz_sweep_item *const *items,
                 size_t n, struct bz_sweep_keeps *keeps, struct bz_err *err)
{
    struct sweep s = {.opts = opts, .items = items, .n = n, .caller = pthread_self()};
    struct bz_log_sink sink = {catch_line, &s};
    int rc;

    s.nrows = count_rows(opts, n);
    s.rows = bz_mem_array(s.nrows, sizeof(s.rows[0]));
    s.sink = bz_log_set_sink(&sink);
    rc = spread(&s, err);
    bz_log_set_sink(s.sink);
    for (unsigned i = 0; i < s.nrows; i++) {
        bz_buf_release(&s.rows[i].notes);
        if (opts->profile)
            bz_profile_merge(opts->profile, &s.rows[i].profile);
        bz_profile_release(&s.rows[i].profile);
        BZ_VEC_PUSH(keeps, s.rows[i].keep);
        if (opts->pools)
            BZ_VEC_PUSH(opts->pools, s.rows[i].pool);
    }
    free(s.rows);
    return rc;
}
