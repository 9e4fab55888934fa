#include "survey/survey.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "codec/entry_kinds.h"
#include "survey/lineage.h"
#include "survey/snapshot_write.h"

/* ---- all remembered ---- */

static void count(struct bz_survey *s, const struct bz_facts *f)
{
    if (f->error.p)
        s->errors++;
    else
        s->variants++;
    if (f->skipped.p)
        s->skipped++;
}

static void take_facts(struct bz_survey *s, struct bz_survey_part *part,
                       const struct bz_facts *facts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        count(s, &facts[i]);
        BZ_VEC_PUSH(&part->facts, facts[i]);
    }
    s->files++;
}

static bool recall_recipe(struct bz_survey *s, struct bz_survey_part *part, uint32_t i)
{
    struct bz_snapshot_range range;
    struct bz_deltas_place at;
    struct bz_facts facts;
    struct bz_err err;

    if (!bz_deltas_recipe(&s->recall.old, i, &at) ||
        !bz_snapshot_has(at.image, BZ_SNAPSHOT_FACTS, at.record->facts))
        return false;
    range = at.record->facts;
    for (uint32_t k = range.first; k < range.first + range.n; k++) {
        if (bz_snapshot_fact(at.image, k, &facts, &err) < 0)
            return false;
        count(s, &facts);
        BZ_VEC_PUSH(&part->facts, facts);
    }
    s->files++;
    s->cached++;
    return true;
}

static bool recall_part(struct bz_survey *s, const struct bz_snapshot_part *record)
{
    const struct bz_snapshot *base = bz_deltas_base(&s->recall.old);
    struct bz_snapshot_range range = record->recipes;
    struct bz_survey_part *part;
    bool good = true;

    BZ_VEC_PUSH(&s->parts, (struct bz_survey_part){0});
    part = &BZ_VEC_LAST(&s->parts);
    if (!bz_snapshot_has(base, BZ_SNAPSHOT_RECIPES, range) ||
        !bz_snapshot_text(base, record->mc, &part->mc) ||
        !bz_snapshot_text(base, record->settings, &part->stored))
        return false;
    memcpy(part->config, record->config, sizeof(part->config));
    s->masked += record->masked;
    BZ_VEC_RESERVE(&part->facts, range.n);
    for (uint32_t i = range.first; i < range.first + range.n && good; i++)
        good = recall_recipe(s, part, i);
    return good;
}

/* Back to the beginning but for what is recalled. */
static void forget_parts(struct bz_survey *s)
{
    struct bz_recall recall = s->recall;

    s->recall = (struct bz_recall){0};
    bz_survey_release(s);
    s->recall = recall;
}

bool bz_survey_recall(struct bz_survey *s, const struct bz_survey_memory *memory)
{
    const struct bz_snapshot *base;
    bool good;

    if (!memory->catalog)
        return false;
    bz_recall_open(&s->recall, memory->catalog, memory->key, memory->hashing);
    base = bz_deltas_base(&s->recall.old);
    good = bz_recall_whole(&s->recall) && bz_recall_may_renew(&s->recall);
    for (uint32_t i = 0; good && i < bz_snapshot_count(base, BZ_SNAPSHOT_PARTS); i++)
        good = recall_part(s, bz_snapshot_at(base, BZ_SNAPSHOT_PARTS, i));
    if (good)
        bz_recall_renew(&s->recall, memory->catalog);
    else
        forget_parts(s);
    return good;
}

/* ---- evaluation ---- */

/* The recipes of all sources in one list, so that threads have enough to share. */
struct items {
    struct bz_sweep_item *at;
    size_t n;
    struct bz_sweep_item **todo; /* those that are not remembered */
    size_t ntodo;
    struct bz_recall_config *configs; /* of each source */
    struct bz_facts_keep keep;        /* of what is known before */
};

static struct bz_str joined(struct bz_facts_keep *keep,
                            const struct bz_meta_names *names)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};

    for (size_t i = 0; i < names->len; i++) {
        if (i > 0)
            bz_buf_add_char(&text, ' ');
        bz_buf_add_str(&text, names->at[i]);
    }
    return bz_facts_text(keep, bz_str_from(bz_buf_text(&text)));
}

static void add_item(struct bz_survey *s, struct items *items,
                     const struct bz_survey_source *src,
                     const struct bz_recall_part *part,
                     const struct bz_collect_recipe *r)
{
    struct bz_sweep_item *item = &items->at[items->n++];
    struct bz_recall_recipe recalled;
    struct bz_facts *f = &item->frame;

    item->config = src->config;
    bz_collect_appends(src->recipes, r->path, &item->appends);
    f->path = bz_facts_text(&items->keep, r->path);
    f->variant = BZ_STR("");
    f->hidden = r->hidden;
    f->appends = joined(&items->keep, &item->appends);
    if (r->layer) {
        f->layer = bz_facts_text(&items->keep, r->layer->name);
        f->priority = r->layer->priority;
    }
    if (bz_recall_number(part, f->path, &item->number))
        item->number++;
    if (!bz_recall_recipe(&s->recall, part, f, &items->keep.arena, &recalled)) {
        items->todo[items->ntodo++] = item;
        return;
    }
    item->known = true;
    item->reframed = recalled.reframed;
    item->facts = recalled.facts;
    item->nfacts = recalled.nfacts;
    item->looks = recalled.looks;
    item->nlooks = recalled.nlooks;
    s->cached++;
}

static int add_source(struct bz_survey *s, struct items *items,
                      const struct bz_survey_opts *opts, size_t i, struct bz_err *err)
{
    const struct bz_survey_source *src = &opts->sources[i];
    struct bz_recall_part part = {0};
    int rc = 0;

    if (opts->memory.catalog)
        rc = bz_recall_config(src->config, &items->configs[i], err);
    if (rc == 0)
        bz_recall_part(&s->recall, src->mc, items->configs[i].digest, &part);
    for (size_t k = 0; k < src->recipes->recipes.len && rc == 0; k++)
        add_item(s, items, src, &part, &src->recipes->recipes.at[k]);
    bz_recall_part_release(&part);
    return rc;
}

static int make_items(struct bz_survey *s, struct items *items,
                      const struct bz_survey_opts *opts, struct bz_err *err)
{
    size_t n = 0;
    int rc = 0;

    for (size_t i = 0; i < opts->nsources; i++)
        n += opts->sources[i].recipes->recipes.len;
    items->at = bz_mem_array(n + 1, sizeof(items->at[0]));
    items->todo = BZ_ARENA_ARRAY(&items->keep.arena, struct bz_sweep_item *, n);
    items->configs = bz_mem_array(opts->nsources + 1, sizeof(items->configs[0]));
    for (size_t i = 0; i < opts->nsources && rc == 0; i++)
        rc = add_source(s, items, opts, i, err);
    return rc;
}

static void free_items(struct items *items, size_t nsources)
{
    for (size_t i = 0; i < items->n; i++)
        bz_vec_release(&items->at[i].appends);
    for (size_t i = 0; i < nsources; i++)
        bz_buf_release(&items->configs[i].settings);
    free(items->configs);
    free(items->at);
}

static void take_items(struct bz_survey *s, const struct bz_survey_opts *opts,
                       struct items *items)
{
    const struct bz_sweep_item *item = items->at;

    for (size_t i = 0; i < opts->nsources; i++) {
        const struct bz_survey_source *src = &opts->sources[i];
        struct bz_survey_part part = {.settings = src->config->vars};

        part.mc = bz_facts_text(&items->keep, src->mc);
        memcpy(part.config, items->configs[i].all, sizeof(part.config));
        s->masked += src->recipes->masked;
        BZ_VEC_RESERVE(&part.facts, src->recipes->recipes.len);
        for (size_t k = 0; k < src->recipes->recipes.len; k++, item++) {
            take_facts(s, &part, item->facts, item->nfacts);
            bz_buf_add_str(&s->notes, item->notes);
        }
        BZ_VEC_PUSH(&s->parts, part);
    }
    s->parsed = items->ntodo;
}

/* ---- memory ---- */

struct looks {
    const struct bz_library_look **at;
    size_t n;
};

static void add_looks(struct bz_library *lib, const struct bz_meta_names *names,
                      struct looks *out)
{
    for (size_t i = 0; i < names->len; i++) {
        const struct bz_library_look *look = bz_library_look(lib, names->at[i]);

        if (look)
            out->at[out->n++] = look;
    }
}

/* All that the configuration of a source depends on, and the list of its recipes. */
static struct bz_snapshot_write_looks source_looks(struct bz_arena *arena,
                                                   struct bz_library *lib,
                                                   const struct bz_survey_source *src)
{
    const struct bz_meta_names *conf = &src->config->looked_at;
    const struct bz_meta_names *dirs = &src->recipes->looked_at;
    struct looks looks = {
        BZ_ARENA_ARRAY(arena, const struct bz_library_look *, conf->len + dirs->len),
        0};

    add_looks(lib, conf, &looks);
    add_looks(lib, dirs, &looks);
    return (struct bz_snapshot_write_looks){looks.at, looks.n};
}

static void write_item(struct bz_snapshot_write *w, const struct bz_sweep_item *item,
                       uint32_t replaces)
{
    bz_snapshot_write_recipe(w, &(struct bz_snapshot_write_recipe){
                                    .facts = item->facts,
                                    .n = item->nfacts,
                                    .looks = {item->looks, item->nlooks},
                                    .replaces = replaces,
    });
}

static void write_source(struct bz_snapshot_write *w, const struct bz_survey_opts *opts,
                         const struct items *items, size_t i,
                         const struct bz_sweep_item *item)
{
    const struct bz_survey_source *src = &opts->sources[i];
    struct bz_snapshot_write_part part = {.mc = src->mc};

    for (size_t k = 0; k < src->recipes->recipes.len; k++)
        write_item(w, &item[k], BZ_SNAPSHOT_UNSET);
    part.settings = bz_buf_str(&items->configs[i].settings);
    part.digest = items->configs[i].digest;
    part.config = items->configs[i].all;
    part.masked = src->recipes->masked;
    part.looks = source_looks(&w->arena, opts->sweep.library, src);
    bz_snapshot_write_part(w, &part);
}

/* Whether an item may be remembered. */
static bool is_good(const struct bz_sweep_item *item)
{
    return !item->facts[0].error.p && !item->facts[0].uncached;
}

/* Whether anything that was evaluated may be remembered. */
static bool any_good(const struct items *items)
{
    for (size_t i = 0; i < items->ntodo; i++)
        if (is_good(items->todo[i]))
            return true;
    return false;
}

/* Whether a source has the recipes of a part of the base, in the same order, and says
 * the same. */
static bool same_part(const struct bz_recall *r, const struct bz_snapshot_part *part,
                      const struct bz_survey_source *src,
                      const struct bz_recall_config *config,
                      const struct bz_sweep_item *item)
{
    const struct bz_snapshot *base = bz_deltas_base(&r->old);
    size_t n = src->recipes->recipes.len;
    struct bz_str mc, settings;

    if (!bz_snapshot_text(base, part->mc, &mc) || !bz_str_eq(mc, src->mc) ||
        memcmp(part->digest, config->digest, sizeof(part->digest)) != 0 ||
        memcmp(part->config, config->all, sizeof(part->config)) != 0 ||
        part->masked != src->recipes->masked || part->recipes.n != n ||
        !bz_snapshot_text(base, part->settings, &settings) ||
        !bz_str_eq(settings, bz_buf_str(&config->settings)))
        return false;
    for (size_t k = 0; k < n; k++)
        if (item[k].number != part->recipes.first + k + 1)
            return false;
    return true;
}

static bool same_looks(const struct bz_snapshot_write *w,
                       const struct bz_snapshot *base, struct bz_snapshot_range list,
                       const struct bz_snapshot_write_looks *looks)
{
    if (!bz_snapshot_has(base, BZ_SNAPSHOT_LIST, list) || list.n != looks->n)
        return false;
    for (uint32_t i = 0; i < list.n; i++) {
        const uint32_t *number = bz_snapshot_at(base, BZ_SNAPSHOT_LIST, list.first + i);
        const struct bz_map_entry *it = bz_map_get(&w->inputs, looks->at[i]->path);

        if (!it || it->u != (uint64_t)*number + 1)
            return false;
    }
    return true;
}

/* Writes what is other than in an earlier survey. False if a delta cannot tell it: the
 * recipes are others, or the configuration is. */
static bool write_delta(struct bz_snapshot_write *w, const struct bz_survey *s,
                        const struct bz_survey_opts *opts, const struct items *items)
{
    const struct bz_recall *r = &s->recall;
    const struct bz_snapshot *base = bz_deltas_base(&r->old);
    const struct bz_sweep_item *item = items->at;

    if (!base || !r->same_key || items->ntodo > items->n / 4 + 1 ||
        bz_snapshot_count(base, BZ_SNAPSHOT_PARTS) != opts->nsources)
        return false;
    for (size_t i = 0; i < opts->nsources; i++) {
        const struct bz_snapshot_part *part =
            bz_snapshot_at(base, BZ_SNAPSHOT_PARTS, i);

        if (!same_part(r, part, &opts->sources[i], &items->configs[i], item))
            return false;
        item += opts->sources[i].recipes->recipes.len;
    }
    bz_snapshot_write_delta(w, &r->inputs);
    for (size_t i = 0; i < opts->nsources; i++) {
        const struct bz_snapshot_part *part =
            bz_snapshot_at(base, BZ_SNAPSHOT_PARTS, i);
        struct bz_snapshot_write_looks looks =
            source_looks(&w->arena, opts->sweep.library, &opts->sources[i]);

        if (!same_looks(w, base, part->inputs, &looks))
            return false;
        bz_snapshot_write_looks(w, &looks);
    }
    for (size_t i = 0; i < items->n; i++) {
        const struct bz_sweep_item *own = &items->at[i];
        struct bz_deltas_place at;

        /* A recipe that failed and fails again has nothing to remember. */
        if ((own->known && !own->reframed) ||
            (own->facts[0].error.p && bz_deltas_recipe(&r->old, own->number - 1, &at) &&
             !at.record->valid))
            continue;
        write_item(w, own, own->number - 1);
    }
    bz_snapshot_write_inputs(w);
    return bz_deltas_may_grow(&r->old, bz_snapshot_write_size(w));
}

static int write_base(struct bz_survey *s, const struct bz_survey_opts *opts,
                      const struct items *items, struct bz_err *err)
{
    BZ_CLEANUP(bz_snapshot_write_release) struct bz_snapshot_write w = {0};
    const struct bz_sweep_item *item = items->at;

    for (size_t i = 0; i < items->n; i++) {
        struct bz_snapshot_write_looks looks = {items->at[i].looks,
                                                items->at[i].nlooks};

        if (items->at[i].known)
            bz_snapshot_write_looks(&w, &looks);
    }
    for (size_t i = 0; i < opts->nsources; i++) {
        write_source(&w, opts, items, i, item);
        item += opts->sources[i].recipes->recipes.len;
    }
    return bz_deltas_replace(&s->recall.old, &w, opts->memory.key, opts->memory.catalog,
                             err);
}

/* What was found earlier and still holds counts before what was looked at now: should a
 * file have changed in between, the next survey notices. */
static int remember(struct bz_survey *s, const struct bz_survey_opts *opts,
                    const struct items *items, struct bz_err *err)
{
    BZ_CLEANUP(bz_snapshot_write_release) struct bz_snapshot_write w = {0};
    const struct bz_recall *r = &s->recall;

    if (bz_recall_is_open(r) && r->same_key &&
        r->inputs.nchanged + r->inputs.nrenewed == 0 && !any_good(items))
        return 0; /* only what is not remembered was evaluated, and is as it was */
    if (!write_delta(&w, s, opts, items))
        return write_base(s, opts, items, err);
    return bz_snapshot_write_none(&w)
               ? 0
               : bz_deltas_add(&s->recall.old, &w, opts->memory.catalog, err);
}

/* ---- tables ---- */

static void release_pools(struct bz_sweep_pools *pools)
{
    for (size_t i = 0; i < pools->len; i++) {
        bz_string_pool_release(&pools->at[i].strings);
        bz_buf_release(&pools->at[i].tables);
    }
    bz_vec_release(pools);
}

/* Of the tables that a pool is for; its name is its content. */
static int put_strings(struct bz_entries *catalog, const struct bz_sweep_pool *pool,
                       struct bz_entries_key *key, struct bz_err *err)
{
    struct bz_str block = bz_string_pool_block(&pool->strings);

    if (pool->strings.full)
        return bz_fail(err, BZ_E_LIMIT, "the string pool exceeds 4 GiB");
    bz_entries_key_of(block, key);
    if (block.n > 0)
        bz_entries_put(catalog, BZ_SURVEY_STRINGS_KIND, key, block);
    return 0;
}

static void put_table(struct bz_entries *catalog, const struct bz_facts *f,
                      const uint8_t config[32], const struct bz_entries_key *pool,
                      struct bz_str table)
{
    char *room = bz_entries_room(catalog, sizeof(*pool) + table.n);
    struct bz_entries_key key;

    memcpy(room, pool, sizeof(*pool));
    memcpy(room + sizeof(*pool), table.p, table.n);
    bz_lineage_key(f->lineage, config, key.b);
    bz_entries_commit(catalog, BZ_SURVEY_TABLE_KIND, &key, sizeof(*pool) + table.n);
}

static void put_tables(const struct bz_survey_opts *opts, const struct items *items,
                       const struct bz_sweep_pools *pools,
                       const struct bz_entries_key *keys)
{
    const struct bz_sweep_item *item = items->at;

    for (size_t i = 0; i < opts->nsources; i++)
        for (size_t k = 0; k < opts->sources[i].recipes->recipes.len; k++, item++)
            for (size_t v = 0; item->tables && v < item->nfacts; v++) {
                const struct bz_sweep_table *t = &item->tables[v];

                if (t->n > 0)
                    put_table(opts->memory.catalog, &item->facts[v],
                              items->configs[i].all, &keys[t->pool],
                              bz_str_of(pools->at[t->pool].tables.data + t->at, t->n));
            }
}

static int remember_tables(const struct bz_survey_opts *opts, const struct items *items,
                           const struct bz_sweep_pools *pools, struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct BZ_VEC(struct bz_entries_key) keys = {0};
    int rc = 0;

    for (size_t i = 0; i < pools->len && rc == 0; i++) {
        BZ_VEC_PUSH(&keys, (struct bz_entries_key){{0}});
        rc = put_strings(opts->memory.catalog, &pools->at[i], &BZ_VEC_LAST(&keys), err);
    }
    if (rc == 0)
        put_tables(opts, items, pools, keys.at);
    return rc;
}

/* A survey that rewrites the catalog has not looked at what only signing and building
 * read. What belongs to recipes as they are now is still of use. */
static void use_known(const struct bz_survey *s, struct bz_entries *catalog)
{
    for (size_t i = 0; i < s->parts.len; i++)
        for (size_t k = 0; k < s->parts.at[i].facts.len; k++) {
            const struct bz_facts *f = &s->parts.at[i].facts.at[k];
            struct bz_entries_key key;
            struct bz_str table, strings;

            if (!bz_lineage_known(f->lineage))
                continue;
            bz_lineage_key(f->lineage, s->parts.at[i].config, key.b);
            bz_entries_use(catalog, &key);
            (void)bz_survey_table(s, i, f, catalog, &table, &strings);
        }
}

static void remember_all(struct bz_survey *s, const struct bz_survey_opts *opts,
                         const struct items *items, const struct bz_sweep_pools *pools)
{
    struct bz_err err;
    int rc = remember(s, opts, items, &err);

    if (rc == 0 && items->ntodo > 0)
        rc = remember_tables(opts, items, pools, &err);
    if (rc == 0 && bz_entries_is_due(opts->memory.catalog))
        use_known(s, opts->memory.catalog);
    if (rc == 0)
        rc = bz_entries_save(opts->memory.catalog, &err);
    if (rc < 0)
        bz_log_debug("survey", "what was evaluated is not remembered: %s", err.msg);
}

bool bz_survey_table(const struct bz_survey *s, size_t part,
                     const struct bz_facts *facts, struct bz_entries *catalog,
                     struct bz_str *table, struct bz_str *strings)
{
    const struct bz_survey_part *p = &BZ_VEC_AT(&s->parts, part);
    struct bz_entries_key key;
    struct bz_str bytes;

    if (!bz_lineage_known(facts->lineage))
        return false;
    bz_lineage_key(facts->lineage, p->config, key.b);
    if (!bz_entries_find(catalog, BZ_SURVEY_TABLE_KIND, &key, &bytes) ||
        bytes.n < sizeof(key))
        return false;
    memcpy(&key, bytes.p, sizeof(key));
    *table = bz_str_drop(bytes, sizeof(key));
    return bz_entries_find(catalog, BZ_SURVEY_STRINGS_KIND, &key, strings);
}

int bz_survey_run(struct bz_survey *s, const struct bz_survey_opts *opts,
                  struct bz_err *err)
{
    BZ_CLEANUP(release_pools) struct bz_sweep_pools pools = {0};
    struct bz_sweep_opts sweep = opts->sweep;
    struct items items = {0};
    int rc = make_items(s, &items, opts, err);

    if (opts->memory.catalog)
        sweep.pools = &pools;
    if (rc == 0)
        rc = bz_sweep_run(&sweep, items.todo, items.ntodo, &s->keeps, err);
    if (rc == 0)
        take_items(s, opts, &items);
    if (rc == 0 && opts->memory.catalog)
        remember_all(s, opts, &items, &pools);
    free_items(&items, opts->nsources);
    BZ_VEC_PUSH(&s->keeps, items.keep);
    return rc;
}

void bz_survey_release(struct bz_survey *s)
{
    for (size_t i = 0; i < s->parts.len; i++) {
        bz_vec_release(&s->parts.at[i].facts);
        if (s->parts.at[i].owned)
            bz_vars_free(s->parts.at[i].settings);
    }
    for (size_t i = 0; i < s->keeps.len; i++)
        bz_facts_release(&s->keeps.at[i]);
    bz_vec_release(&s->parts);
    bz_vec_release(&s->keeps);
    bz_buf_release(&s->notes);
    bz_recall_close(&s->recall);
    *s = (struct bz_survey){0};
}

int bz_survey_settings(struct bz_survey *s, size_t part, struct bz_vars **out,
                       struct bz_err *err)
{
    struct bz_survey_part *p = &BZ_VEC_AT(&s->parts, part);

    if (!p->settings) {
        int rc = bz_recall_settings(p->stored, &p->settings, err);

        if (rc < 0)
            return rc;
        p->owned = true;
    }
    *out = p->settings;
    return 0;
}

static bool add_python(const struct bz_facts *f, bool tasks, struct bz_pyfunc_set *out)
{
    bool any = f->python.n > 0;

    bz_pyfunc_add(out, f->python);
    for (size_t i = 0; i < f->ntasks && tasks; i++) {
        any |= f->tasks[i].python.n > 0;
        bz_pyfunc_add(out, f->tasks[i].python);
    }
    return any;
}

size_t bz_survey_python(const struct bz_survey *s, bool tasks,
                        struct bz_pyfunc_set *out)
{
    size_t recipes = 0;

    for (size_t i = 0; i < s->parts.len; i++) {
        const struct bz_survey_facts *facts = &s->parts.at[i].facts;
        struct bz_str last = {0}; /* the variants of a recipe stand together */

        for (size_t k = 0; k < facts->len; k++) {
            const struct bz_facts *f = &facts->at[k];

            if (!add_python(f, tasks, out) || bz_str_eq(f->path, last))
                continue;
            last = f->path;
            recipes++;
        }
    }
    return recipes;
}
