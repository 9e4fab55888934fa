#include "sig/signing.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "os/path.h"
#include "sig/digesting.h"
#include "sig/files.h"
#include "sig/sign.h"
#include "sig/sourcing.h"
#include "survey/lineage.h"

struct items BZ_VEC(struct bz_digesting_item);

struct signer {
    struct bz_signing *s;
    struct bz_catalog *p;
    const struct bz_goal *goal;
    struct bz_digest_hasher *hasher;
    struct bz_entries *catalog;
    struct bz_fetch_client *client; /* NULL until it is needed */
    struct bz_map seen;             /* lists of files -> struct bz_signing_seen * */
    struct bz_map noted; /* lines of the notes; as long as the texts they are from */
    struct items items;  /* recipes to evaluate */
    size_t tasks;        /* that were signed */
    bool own;            /* some recipe has something that the catalog has not */
};

struct bz_str bz_signing_policy_of(const struct bz_signing *s,
                                   const struct bz_goal *goal, uint32_t task)
{
    const struct bz_facts_task *facts = goal->graph.tasks[task].facts;

    return s->policy ? s->policy->line[facts->network][facts->fakeroot] : BZ_STR("");
}

/* Has the revisions of a recipe resolved, by its server if that may be asked. */
static int resolve_recipe(struct signer *w, uint32_t recipe, struct bz_err *err)
{
    BZ_CLEANUP(bz_sourcing_close) struct bz_sourcing s = {0};
    struct bz_fetch_opts opts = {.offline = !w->p->resolve};
    int rc = 0;

    if (w->p->resolve && !w->client)
        rc = bz_fetch_client_new(&w->client, err);
    opts.client = w->client;
    if (rc == 0)
        rc = bz_sourcing_open(&s, w->p, w->goal, recipe, "do_fetch", &opts, err);
    return rc < 0 ? rc : bz_fetch_resolve(s.fetch, err);
}

/* What the revisions that are names were resolved to. */
static int find_commits(struct signer *w, uint32_t t, struct bz_str list,
                        struct bz_signing_commits *out, struct bz_err *err)
{
    struct bz_revisions *all = NULL;
    struct bz_str question;
    int rc = 0;

    while (rc == 0 && bz_files_next_question(&list, &question)) {
        char commit[BZ_REVISION_HEX];

        rc = bz_catalog_revisions(w->p, &all, err);
        if (rc == 0 && !bz_revision_find(all, question, commit, NULL))
            rc = resolve_recipe(w, w->goal->graph.tasks[t].recipe, err);
        if (rc == 0 && !bz_revision_find(all, question, commit, NULL))
            rc = bz_fail(err, BZ_E_INVAL, "%.*s is not resolved", BZ_STR_ARG(question));
        if (rc < 0)
            break;
        BZ_VEC_PUSH(out, (struct bz_signing_commit){
                             .question = bz_arena_dup(&w->s->arena, question)});
        memcpy(BZ_VEC_LAST(out).commit, commit, sizeof(commit));
    }
    return rc;
}

/* Looks at the files of a list, which no task before had. */
static int see_list(struct signer *w, uint32_t t, const struct bz_memo_task *memo,
                    struct bz_signing_seen *out, struct bz_err *err)
{
    const struct bz_tgraph *g = &w->goal->graph;
    uint32_t n = (uint32_t)memo->files.n;
    int rc = bz_files_read(memo->files, &w->s->sums, &w->s->arena, &out->files, err);

    bz_buf_add(&w->s->lists, &n, sizeof(n));
    out->at = w->s->lists.len;
    out->n = memo->files.n;
    bz_buf_add_str(&w->s->lists, memo->files);
    if (rc < 0)
        return bz_err_wrap(err, "%.*s: %.*s",
                           BZ_STR_ARG(g->recipes[g->tasks[t].recipe].facts->path),
                           BZ_STR_ARG(memo->name));
    return find_commits(w, t, memo->files, &out->commits, err);
}

static int find_seen(struct signer *w, uint32_t t, const struct bz_memo_task *memo,
                     struct bz_err *err)
{
    struct bz_map_entry *e;
    int rc = 0;

    if (memo->files.n == 0)
        return 0;
    e = bz_map_put(&w->seen, memo->files);
    if (!e->p) {
        struct bz_signing_seen *seen =
            BZ_ARENA_NEW(&w->s->arena, struct bz_signing_seen);

        seen->before = w->s->last;
        w->s->last = seen;
        e->p = seen;
        rc = see_list(w, t, memo, seen, err);
    }
    w->s->seen[t] = e->p;
    if (bz_files_unused(memo->files, &(struct bz_str){0}))
        bz_bitset_set(&w->s->unused, t);
    return rc;
}

static int sign_task(struct signer *w, uint32_t t, const struct bz_memo_task *memo,
                     struct bz_err *err)
{
    static const struct bz_base_files none;
    const struct bz_signing_seen *seen;
    int rc = find_seen(w, t, memo, err);

    if (rc < 0)
        return rc;
    seen = w->s->seen[t];
    w->tasks++;
    w->s->inputs[t] = w->s->base[t] = memo->digest;
    bz_base_add_files(w->hasher, seen ? &seen->files : &none, &w->s->base[t]);
    bz_base_add_policy(w->hasher, bz_signing_policy_of(w->s, w->goal, t),
                       &w->s->base[t]);
    for (size_t i = 0; seen && i < seen->commits.len; i++)
        bz_base_add_commit(w->hasher, seen->commits.at[i].question,
                           bz_str_from(seen->commits.at[i].commit), &w->s->base[t]);
    return 0;
}

/* Classes and configurations are part of many recipes. */
static void add_notes(struct signer *w, struct bz_str notes)
{
    struct bz_str line;

    while (notes.n > 0 && bz_str_next_part(&notes, '\n', &line)) {
        if (line.n == 0 || bz_map_put(&w->noted, line)->u++)
            continue;
        bz_buf_add_str(&w->s->notes, line);
        bz_buf_add_char(&w->s->notes, '\n');
    }
}

/* ---- what is remembered ---- */

/* What is remembered of all tasks of a recipe, in their order, if that still holds. */
static bool recall(struct signer *w, uint32_t recipe, struct bz_memo_task *out,
                   struct bz_str *notes)
{
    const struct bz_tgraph *g = &w->goal->graph;
    const struct bz_tgraph_recipe *r = &g->recipes[recipe];
    struct bz_entries_key key;
    struct bz_memo memo;

    if (!bz_lineage_known(r->facts->lineage))
        return false;
    bz_lineage_key(r->facts->lineage, w->p->survey.parts.at[r->part].config, key.b);
    if (!bz_memo_find(w->catalog, &key, &memo))
        return false;
    *notes = memo.notes;
    for (uint32_t t = r->first; t < g->recipes[recipe + 1].first; t++, out++)
        if (!bz_memo_task(&memo, g->tasks[t].facts->name, out) ||
            !bz_files_hold(out->files))
            return false;
    return true;
}

static bool is_wanted(const struct signer *w, uint32_t recipe)
{
    const struct bz_tgraph *g = &w->goal->graph;
    bool wanted = !w->s->only;

    for (uint32_t t = g->recipes[recipe].first;
         !wanted && t < g->recipes[recipe + 1].first; t++)
        wanted = bz_bitset_test(w->s->only, t);
    return wanted;
}

/* Signs what is remembered, and lists what is not. */
static int recall_all(struct signer *w, struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct BZ_VEC(struct bz_memo_task) tasks = {0};
    const struct bz_tgraph *g = &w->goal->graph;
    int rc = 0;

    for (uint32_t r = 0; r < g->nrecipes && rc == 0; r++) {
        uint32_t first = g->recipes[r].first, n = g->recipes[r + 1].first - first;
        struct bz_str notes;

        if (!is_wanted(w, r))
            continue;
        BZ_VEC_RESERVE(&tasks, n + 1);
        if (!recall(w, r, tasks.at, &notes)) {
            BZ_VEC_PUSH(&w->items, (struct bz_digesting_item){.recipe = r});
            continue;
        }
        add_notes(w, notes);
        for (uint32_t i = 0; i < n && rc == 0; i++)
            rc = sign_task(w, first + i, &tasks.at[i], err);
    }
    return rc;
}

/* ---- what is evaluated ---- */

static int sign_item(struct signer *w, const struct bz_digesting_item *item,
                     struct bz_err *err)
{
    static const struct bz_entries_key none;
    uint32_t first = w->goal->graph.recipes[item->recipe].first;
    int rc = 0;

    for (size_t k = 0; k < item->memo.n && rc == 0; k++)
        rc = sign_task(w, first + (uint32_t)k, &item->memo.tasks[k], err);
    add_notes(w, item->memo.notes);
    if (memcmp(&item->memo.key, &none, sizeof(none)) != 0)
        bz_memo_put(w->catalog, &item->memo);
    if (item->own.table.table.p || item->own.inputs) {
        w->s->own[item->recipe] = item->own;
        w->own = true;
    }
    return rc;
}

static int evaluate(struct signer *w, struct bz_err *err)
{
    struct bz_digesting *e = &w->s->digesting;
    int rc = bz_catalog_load(w->p, err);

    e->p = w->p;
    e->goal = w->goal;
    w->s->evaluated = w->items.len;
    if (rc == 0)
        rc = bz_digesting_run(e, w->items.at, w->items.len, err);
    for (size_t i = 0; i < w->items.len && rc == 0; i++)
        rc = sign_item(w, &w->items.at[i], err);
    return rc;
}

/* ---- all of it ---- */

/* That something cannot be remembered is no failure. */
static void remember(struct signer *w)
{
    struct bz_err err;

    bz_sums_keep(&w->s->sums);
    if (bz_entries_save(w->catalog, &err) < 0)
        bz_log_debug("signing", "digests are not remembered: %s", err.msg);
}

/* Signatures, and if there are taints, those without them too. */
static void sign_graph(struct signer *w)
{
    const struct bz_tgraph *g = &w->goal->graph;
    struct bz_digest *pure = bz_mem_array(g->dag.n, sizeof(*pure));
    BZ_CLEANUP(bz_taint_release) struct bz_taint own = {0};

    bz_sign_graph(&g->dag, &g->order, w->s->base, w->hasher, w->s->keys);
    if (!w->s->taint)
        bz_taint_open(&own, bz_catalog_entries(w->p), w->p->build_dir);
    if (bz_taint_mix(w->s->taint ? w->s->taint : &own, w->goal, w->hasher,
                     w->s->base)) {
        w->s->pure = w->s->keys;
        w->s->keys = pure;
        bz_sign_graph(&g->dag, &g->order, w->s->base, w->hasher, w->s->keys);
    } else {
        free(pure);
    }
}

static int sign_all(struct signer *w, struct bz_err *err)
{
    int rc = recall_all(w, err);

    if (rc == 0 && w->items.len > 0)
        rc = evaluate(w, err);
    if (rc == 0 && !w->s->only)
        sign_graph(w);
    remember(w);
    bz_log_debug("signing", "signed %zu tasks, evaluated %zu recipes", w->tasks,
                 w->s->evaluated);
    return rc;
}

static int run(struct signer *w, struct bz_err *err)
{
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *hasher = NULL;
    int rc = bz_digest_hasher_new(&hasher, err);

    if (rc < 0)
        return rc;
    w->hasher = hasher;
    w->catalog = bz_catalog_entries(w->p);
    bz_sums_open(&w->s->sums, w->catalog, hasher);
    return sign_all(w, err);
}

int bz_signing_run(struct bz_signing *s, struct bz_catalog *p,
                   const struct bz_goal *goal, struct bz_err *err)
{
    struct signer w = {.s = s, .p = p, .goal = goal};
    uint32_t n = goal->graph.dag.n;
    int rc;

    s->base = bz_mem_array(n, sizeof(*s->base));
    s->keys = bz_mem_array(n, sizeof(*s->keys));
    s->inputs = bz_mem_array(n, sizeof(*s->inputs));
    s->seen = bz_mem_array(n, sizeof(void *));
    s->own = bz_mem_array(goal->graph.nrecipes, sizeof(*s->own));
    rc = run(&w, err);
    if (!w.own)
        bz_digesting_release(&s->digesting);
    bz_fetch_client_free(w.client);
    bz_map_release(&w.seen);
    bz_map_release(&w.noted);
    bz_vec_release(&w.items);
    return rc;
}

const struct bz_digesting_own *bz_signing_own(const struct bz_signing *s,
                                              uint32_t recipe)
{
    return &s->own[recipe];
}

int bz_signing_recipe(const struct bz_signing *s, struct bz_catalog *p,
                      const struct bz_goal *goal, uint32_t recipe,
                      struct bz_evaluated *out, struct bz_err *err)
{
    const struct bz_tgraph_recipe *r = &goal->graph.recipes[recipe];
    const struct bz_evaluate_table *own = s->own ? &s->own[recipe].table : NULL;

    *out = (struct bz_evaluated){0};
    return own && own->table.p ? bz_evaluate_read(p, r->part, own, out, err)
                               : bz_evaluate_recipe(p, r->part, r->facts, out, err);
}

struct bz_str bz_signing_list(const struct bz_signing *s, uint32_t task)
{
    const struct bz_signing_seen *seen = s->seen[task];

    return seen ? bz_str_of(s->lists.data + seen->at, seen->n) : BZ_STR("");
}

static int recheck_files(const struct bz_signing *s, uint32_t task, struct bz_err *err)
{
    const struct bz_signing_seen *seen = s->seen[task];

    return seen ? bz_files_recheck(bz_signing_list(s, task), &s->sums, seen->files.len,
                                   err)
                : 0;
}

int bz_signing_recheck(const struct bz_signing *s, const struct bz_tgraph *g,
                       uint32_t task, struct bz_err *err)
{
    uint32_t fetch = BZ_NEED_NONE;
    int rc = recheck_files(s, task, err);

    if (bz_str_eq(g->tasks[task].facts->name, BZ_STR("do_unpack")))
        fetch = bz_tgraph_find(g, g->tasks[task].recipe, BZ_STR("do_fetch"));
    return rc < 0 || fetch == BZ_NEED_NONE ? rc : recheck_files(s, fetch, err);
}

void bz_signing_release(struct bz_signing *s)
{
    for (struct bz_signing_seen *seen = s->last; seen; seen = seen->before) {
        bz_vec_release(&seen->files);
        bz_vec_release(&seen->commits);
    }
    free(s->seen);
    free(s->inputs);
    free(s->own);
    bz_digesting_release(&s->digesting);
    bz_sums_close(&s->sums);
    free(s->base);
    free(s->keys);
    free(s->pure);
    bz_buf_release(&s->notes);
    bz_buf_release(&s->lists);
    bz_bitset_release(&s->unused);
    bz_arena_release(&s->arena);
    *s = (struct bz_signing){0};
}
