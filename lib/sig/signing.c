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
    bz_signing_fn fn;
    void *ctx;
    bool only; /* what is to be shown, and no signatures */
    struct bz_entries *catalog;
    struct bz_fetch_client *client;    /* NULL until it is needed */
    struct bz_signing_commits commits; /* of the task that was signed last */
    struct bz_map noted;   /* lines of the notes; as long as the texts they are from */
    struct bz_arena arena; /* names of files, until the task is signed */
    struct items shown, hidden; /* recipes to evaluate, with and without `fn` */
};

static struct bz_str policy_of(const struct signer *w, uint32_t t)
{
    const struct bz_facts_task *facts = w->goal->graph.tasks[t].facts;

    return w->s->policy ? w->s->policy->line[facts->network][facts->fakeroot]
                        : BZ_STR("");
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
static int add_commits(struct signer *w, uint32_t t, struct bz_str list,
                       struct bz_err *err)
{
    struct bz_revisions *all = NULL;
    struct bz_str question;
    int rc = 0;

    BZ_VEC_CLEAR(&w->commits);
    while (rc == 0 && bz_files_next_question(&list, &question)) {
        char commit[BZ_REVISION_HEX];

        rc = bz_catalog_revisions(w->p, &all, err);
        if (rc == 0 && !bz_revision_find(all, question, commit, NULL))
            rc = resolve_recipe(w, w->goal->graph.tasks[t].recipe, err);
        if (rc == 0 && !bz_revision_find(all, question, commit, NULL))
            rc = bz_fail(err, BZ_E_INVAL, "%.*s is not resolved", BZ_STR_ARG(question));
        if (rc < 0)
            break;
        bz_base_add_commit(w->hasher, question, bz_str_from(commit), &w->s->base[t]);
        BZ_VEC_PUSH(&w->commits, (struct bz_signing_commit){.question = question});
        memcpy(BZ_VEC_LAST(&w->commits).commit, commit, sizeof(commit));
    }
    return rc;
}

/* Completes the digest of a task, and leaves the files in *files. */
static int add_files(struct signer *w, uint32_t t, const struct bz_memo_task *memo,
                     struct bz_base_files *files, struct bz_err *err)
{
    int rc = memo->files.n > 0
                 ? bz_files_read(memo->files, &w->s->sums, &w->arena, files, err)
                 : 0;

    if (memo->files.n > 0) {
        uint32_t n = (uint32_t)memo->files.n;

        bz_buf_add(&w->s->lists, &n, sizeof(n));
        w->s->files[t] =
            (struct bz_signing_files){w->s->lists.len, memo->files.n, files->len};
        bz_buf_add_str(&w->s->lists, memo->files);
        if (bz_files_unused(memo->files, &(struct bz_str){0}))
            bz_bitset_set(&w->s->unused, t);
    }
    if (rc < 0)
        return bz_err_wrap(
            err, "%.*s: %.*s",
            BZ_STR_ARG(
                w->goal->graph.recipes[w->goal->graph.tasks[t].recipe].facts->path),
            BZ_STR_ARG(memo->name));
    w->s->base[t] = memo->digest;
    bz_base_add_files(w->hasher, files, &w->s->base[t]);
    bz_base_add_policy(w->hasher, policy_of(w, t), &w->s->base[t]);
    return add_commits(w, t, memo->files, err);
}

static int sign_task(struct signer *w, uint32_t t, const struct bz_memo_task *memo,
                     struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct bz_base_files files = {0};
    int rc = add_files(w, t, memo, &files, err);

    if (files.len > 0)
        bz_arena_reset(&w->arena);
    return rc;
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

static bool is_shown(const struct signer *w, uint32_t recipe)
{
    const struct bz_tgraph *g = &w->goal->graph;

    for (uint32_t t = g->recipes[recipe].first; t < g->recipes[recipe + 1].first; t++)
        if (w->fn && (!w->s->shown || bz_bitset_test(w->s->shown, t)))
            return true;
    return false;
}

/* Signs what is remembered, and lists what is not. */
static int recall_all(struct signer *w, struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct BZ_VEC(struct bz_memo_task) tasks = {0};
    const struct bz_tgraph *g = &w->goal->graph;
    int rc = 0;

    for (uint32_t r = 0; r < g->nrecipes && rc == 0; r++) {
        uint32_t first = g->recipes[r].first, n = g->recipes[r + 1].first - first;
        struct bz_digesting_item item = {.recipe = r};
        struct bz_str notes;

        if (w->only && !is_shown(w, r))
            continue;
        BZ_VEC_RESERVE(&tasks, n + 1);
        item.known = recall(w, r, tasks.at, &notes);
        if (item.known)
            add_notes(w, notes);
        w->s->evaluated += !item.known;
        if (is_shown(w, r))
            BZ_VEC_PUSH(&w->shown, item);
        else if (!item.known)
            BZ_VEC_PUSH(&w->hidden, item);
        else
            for (uint32_t i = 0; i < n && rc == 0; i++)
                rc = sign_task(w, first + i, &tasks.at[i], err);
    }
    return rc;
}

/* ---- what is evaluated ---- */

static int show(void *ctx, uint32_t t, const struct bz_digesting_seen *seen,
                struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct bz_base_files files = {0};
    struct bz_signing_view view = {seen->inputs,      seen->origins,
                                   seen->vars,        &files,
                                   policy_of(ctx, t), &((struct signer *)ctx)->commits};
    struct signer *w = ctx;
    int rc = add_files(w, t, seen->memo, &files, err);

    if (rc == 0 && (!w->s->shown || bz_bitset_test(w->s->shown, t)))
        w->fn(w->ctx, t, &view);
    bz_arena_reset(&w->arena);
    return rc;
}

static int sign_items(struct signer *w, const struct items *items, struct bz_err *err)
{
    static const struct bz_entries_key none;
    int rc = 0;

    for (size_t i = 0; i < items->len && rc == 0; i++) {
        const struct bz_digesting_item *item = &items->at[i];
        uint32_t first = w->goal->graph.recipes[item->recipe].first;

        for (size_t k = 0; k < item->memo.n && rc == 0 && items == &w->hidden; k++)
            rc = sign_task(w, first + (uint32_t)k, &item->memo.tasks[k], err);
        if (!item->known)
            add_notes(w, item->memo.notes);
        if (!item->known && memcmp(&item->memo.key, &none, sizeof(none)) != 0)
            bz_memo_put(w->catalog, &item->memo);
    }
    return rc;
}

static int evaluate(struct signer *w, struct bz_digesting *e, struct bz_err *err)
{
    int rc = bz_catalog_load(w->p, err);

    e->p = w->p;
    e->goal = w->goal;
    if (rc == 0 && w->hidden.len > 0)
        rc = bz_digesting_run(e, w->hidden.at, w->hidden.len, err);
    e->fn = show;
    e->ctx = w;
    if (rc == 0 && w->shown.len > 0)
        rc = bz_digesting_run(e, w->shown.at, w->shown.len, err);
    if (rc == 0)
        rc = sign_items(w, &w->hidden, err);
    return rc < 0 ? rc : sign_items(w, &w->shown, err);
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
    BZ_CLEANUP(bz_digesting_release) struct bz_digesting e = {0};
    int rc = recall_all(w, err);

    if (rc == 0 && w->shown.len + w->hidden.len > 0)
        rc = evaluate(w, &e, err);
    if (rc == 0 && !w->only)
        sign_graph(w);
    remember(w);
    bz_map_release(&w->noted);
    return rc;
}

static int run(struct signer *w, struct bz_err *err)
{
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *hasher = NULL;
    int rc = bz_digest_hasher_new(&hasher, err);

    w->s->base = bz_mem_array(w->goal->graph.dag.n, sizeof(*w->s->base));
    w->s->keys = bz_mem_array(w->goal->graph.dag.n, sizeof(*w->s->keys));
    w->s->files = bz_mem_array(w->goal->graph.dag.n, sizeof(*w->s->files));
    if (rc < 0)
        return rc;
    w->hasher = hasher;
    w->catalog = bz_catalog_entries(w->p);
    bz_sums_open(&w->s->sums, w->catalog, hasher);
    rc = sign_all(w, err);
    bz_fetch_client_free(w->client);
    bz_vec_release(&w->commits);
    bz_vec_release(&w->shown);
    bz_vec_release(&w->hidden);
    bz_arena_release(&w->arena);
    return rc;
}

int bz_signing_run(struct bz_signing *s, struct bz_catalog *p,
                   const struct bz_goal *goal, bz_signing_fn fn, void *ctx,
                   struct bz_err *err)
{
    struct signer w = {.s = s, .p = p, .goal = goal, .fn = fn, .ctx = ctx};

    return run(&w, err);
}

int bz_signing_show(struct bz_signing *s, struct bz_catalog *p,
                    const struct bz_goal *goal, bz_signing_fn fn, void *ctx,
                    struct bz_err *err)
{
    struct signer w = {
        .s = s, .p = p, .goal = goal, .only = true, .fn = fn, .ctx = ctx};

    return run(&w, err);
}

struct bz_str bz_signing_list(const struct bz_signing *s, uint32_t task)
{
    const struct bz_signing_files *f = &s->files[task];

    return f->n == 0 ? BZ_STR("") : bz_str_of(s->lists.data + f->at, f->n);
}

static int recheck_files(const struct bz_signing *s, uint32_t task, struct bz_err *err)
{
    const struct bz_signing_files *f = &s->files[task];

    return f->n == 0 ? 0
                     : bz_files_recheck(bz_str_of(s->lists.data + f->at, f->n),
                                        &s->sums, f->count, err);
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
    free(s->files);
    bz_sums_close(&s->sums);
    free(s->base);
    free(s->keys);
    free(s->pure);
    bz_buf_release(&s->notes);
    bz_buf_release(&s->lists);
    bz_bitset_release(&s->unused);
    *s = (struct bz_signing){0};
}
