#include "survey/recall.h"

#include "base/buf.h"
#include "base/log.h"
#include "recipe/environ.h"
#include "survey/snapshot_write.h"
#include "vars/dump.h"
#include "vars/history.h"

/* ---- the whole ---- */

void bz_recall_open(struct bz_recall *r, struct bz_entries *catalog, struct bz_str key,
                    struct bz_hashing *hashing)
{
    struct bz_str old_key = {0};
    struct bz_err err;
    int rc = bz_deltas_open(&r->old, catalog, &err);

    if (rc == 0)
        rc = bz_inputs_read(&r->inputs, &r->old, &err);
    if (rc == 0 && !bz_snapshot_text(bz_deltas_base(&r->old),
                                     bz_deltas_base(&r->old)->head->key, &old_key))
        rc = bz_fail(&err, BZ_E_CORRUPT, "the snapshot has no key");
    if (rc < 0) {
        bz_log_debug("survey", "nothing is recalled: %s", err.msg);
        bz_recall_close(r);
        return;
    }
    bz_inputs_check(&r->inputs, hashing);
    r->same_key = bz_str_eq(key, old_key);
}

void bz_recall_close(struct bz_recall *r)
{
    bz_inputs_release(&r->inputs);
    bz_deltas_close(&r->old);
}

bool bz_recall_whole(const struct bz_recall *r)
{
    const struct bz_snapshot *base = bz_deltas_base(&r->old);

    if (!base || !r->same_key || r->inputs.nchanged > 0)
        return false;
    for (uint32_t i = 0; i < bz_snapshot_count(base, BZ_SNAPSHOT_RECIPES); i++) {
        struct bz_deltas_place at;

        if (!bz_deltas_recipe(&r->old, i, &at) || !at.record->valid)
            return false;
    }
    return true;
}

bool bz_recall_may_renew(const struct bz_recall *r)
{
    size_t n = r->inputs.nrenewed;

    return n == 0 ||
           bz_deltas_may_grow(&r->old, sizeof(struct bz_snapshot_head) +
                                           n * sizeof(struct bz_snapshot_input));
}

void bz_recall_renew(struct bz_recall *r, struct bz_entries *catalog)
{
    BZ_CLEANUP(bz_snapshot_write_release) struct bz_snapshot_write w = {0};
    struct bz_err err;
    int rc;

    if (r->inputs.nrenewed == 0)
        return;
    bz_snapshot_write_delta(&w, &r->inputs);
    bz_snapshot_write_inputs(&w);
    rc = bz_deltas_add(&r->old, &w, catalog, &err);
    if (rc == 0)
        rc = bz_entries_save(catalog, &err);
    if (rc < 0)
        bz_log_debug("survey", "stamps are not renewed: %s", err.msg);
}

/* ---- configurations ---- */

/* What a variable does not count for, in bits. */
enum { UNPARSED = 1, UNSIGNED = 2, USERS = 4 };

struct digesting {
    struct bz_digest_hasher *hasher, *others; /* of what counts, and of what does not */
    struct bz_map ignored;
    struct bz_buf *settings;
    struct bz_vars *vars;
};

static void see_file(void *ctx, const struct bz_history_event *e)
{
    bool *any = ctx;

    *any |= e->file && e->file[0] == '/' && e->flag.n == 0;
}

/* What tells who builds may also be set by the metadata, and counts then. */
static bool is_set_in_file(struct bz_vars *v, struct bz_str name)
{
    bool any = false;

    bz_history_each(v, name, see_file, &any);
    return any;
}

static void add_record(void *ctx, struct bz_str name, struct bz_str record)
{
    struct digesting *d = ctx;
    const struct bz_map_entry *it;
    uint32_t n = (uint32_t)record.n;
    uint64_t what;

    bz_buf_add(d->settings, &n, sizeof(n));
    bz_buf_add_str(d->settings, record);
    if (bz_str_eq(name, BZ_STR("BBINCLUDED"))) /* where it was read, not what */
        return;
    it = name.n > 0 ? bz_map_get(&d->ignored, name) : NULL;
    what = it ? it->u : 0;
    if ((what & USERS) && is_set_in_file(d->vars, name))
        what &= ~(uint64_t)UNSIGNED;
    if (!(what & UNPARSED))
        bz_digest_add_field(d->hasher, 'v', record.p, record.n);
    else if (!(what & UNSIGNED))
        bz_digest_add_field(d->others, 'v', record.p, record.n);
}

static void add_names(struct digesting *d, uint8_t tag, const struct bz_str *names,
                      size_t n)
{
    for (size_t i = 0; i < n; i++)
        bz_digest_add_field(d->hasher, tag, names[i].p, names[i].n);
}

static void add_tasks(struct digesting *d, const struct bz_taskdefs *tasks)
{
    add_names(d, 't', tasks->order.at, tasks->order.len);
    for (size_t i = 0; i < tasks->all.len; i++) {
        const struct bz_taskdef *t = &tasks->all.at[i];

        add_names(d, t->listed ? 'T' : 'U', &t->name, 1);
        add_names(d, 'a', t->after.at, t->after.len);
    }
}

static void add_meta(struct digesting *d, const struct bz_meta *m)
{
    bz_dump_each(m->vars, add_record, d);
    add_tasks(d, &m->tasks);
    add_names(d, 'i', m->inherited.at, m->inherited.len);
    add_names(d, 'h', m->handlers.at, m->handlers.len);
    add_names(d, 'y', m->anonymous.at, m->anonymous.len);
    for (size_t i = 0; i < m->bodies.len; i++) {
        const struct bz_meta_body *b = &m->bodies.at[i];
        struct bz_str place[] = {b->name, b->text, bz_str_from(b->file)};

        add_names(d, 'b', place, BZ_COUNTOF(place));
        bz_digest_add_field(d->hasher, 'l', &b->line, sizeof(b->line));
    }
    for (size_t i = 0; i < m->pylibs.len; i++) {
        add_names(d, 'p', &m->pylibs.at[i].dir, 1);
        add_names(d, 'q', &m->pylibs.at[i].name, 1);
    }
    for (size_t i = 0; i < m->deferred.len; i++)
        add_names(d, 'd', &m->deferred.at[i].classes, 1);
}

static void ignore(struct digesting *d, struct bz_str words, uint64_t what)
{
    struct bz_str word;

    while (bz_str_next_word(&words, &word))
        bz_map_put(&d->ignored, word)->u |= what;
}

/* Those of a list that differ from machine to machine or say which recipes there are,
 * and no others. */
static void ignore_varying(struct digesting *d, struct bz_str words, uint64_t what)
{
    const struct bz_str varying =
        BZ_STR(BZ_ENVIRON_VARYING " " BZ_ENVIRON_USER " BBFILES BBMASK");
    struct bz_str word;

    while (bz_str_next_word(&words, &word))
        if (bz_str_has_word(varying, word))
            ignore(d, word, what);
}

static void digest_config(struct digesting *d, const struct bz_meta *config,
                          struct bz_recall_config *out)
{
    struct bz_digest digest;

    bz_digest_begin(d->hasher);
    bz_digest_begin(d->others);
    add_meta(d, config);
    bz_digest_end(d->hasher, &digest);
    memcpy(out->digest, digest.b, sizeof(out->digest));
    bz_digest_add_field(d->others, 'c', digest.b, sizeof(digest.b));
    bz_digest_end(d->others, &digest);
    memcpy(out->all, digest.b, sizeof(out->all));
}

int bz_recall_config(struct bz_meta *config, struct bz_recall_config *out,
                     struct bz_err *err)
{
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *hasher = NULL;
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *others = NULL;
    struct digesting d = {.settings = &out->settings, .vars = config->vars};
    struct bz_str parse = {0}, sign = {0};
    int rc =
        bz_vars_get(config->vars, BZ_STR("BB_HASHCONFIG_IGNORE_VARS"), 0, &parse, err);

    if (rc == 0)
        rc =
            bz_vars_get(config->vars, BZ_STR("BB_BASEHASH_IGNORE_VARS"), 0, &sign, err);
    if (rc < 0 || (rc = bz_digest_hasher_new(&hasher, err)) < 0 ||
        (rc = bz_digest_hasher_new(&others, err)) < 0)
        return rc;
    /* Code may read the others that are ignored, and what it makes of them counts. */
    ignore_varying(&d, parse, UNPARSED);
    ignore_varying(&d, sign, UNSIGNED);
    ignore(&d, BZ_STR(BZ_ENVIRON_USER), UNSIGNED | USERS);
    d.hasher = hasher;
    d.others = others;
    digest_config(&d, config, out);
    bz_map_release(&d.ignored);
    return 0;
}

int bz_recall_settings(struct bz_str settings, struct bz_vars **out, struct bz_err *err)
{
    BZ_CLEANUP(bz_vars_freep) struct bz_vars *v = bz_vars_new(NULL);
    int rc = 0;

    while (settings.n > 0 && rc == 0) {
        uint32_t n = UINT32_MAX;

        if (settings.n >= sizeof(n))
            memcpy(&n, settings.p, sizeof(n));
        if (settings.n < sizeof(n) || n > settings.n - sizeof(n))
            return bz_fail(err, BZ_E_CORRUPT, "the settings are cut short");
        rc = bz_dump_restore(v, bz_str_sub(settings, sizeof(n), sizeof(n) + n), err);
        settings = bz_str_sub(settings, sizeof(n) + n, settings.n);
    }
    if (rc < 0)
        return rc;
    *out = v;
    v = NULL; /* the caller owns it now */
    return 0;
}

/* ---- recipes ---- */

static void index_recipes(struct bz_recall *r, struct bz_recall_part *part)
{
    struct bz_snapshot_range range = part->record->recipes;

    if (!bz_snapshot_has(bz_deltas_base(&r->old), BZ_SNAPSHOT_RECIPES, range))
        return;
    bz_map_reserve(&part->recipes, range.n);
    for (uint32_t i = range.first; i < range.first + range.n; i++) {
        const struct bz_snapshot_fact *fact;
        struct bz_deltas_place at;
        struct bz_str path;

        bz_deltas_recipe(&r->old, i, &at);
        fact = bz_snapshot_at(at.image, BZ_SNAPSHOT_FACTS, at.record->facts.first);
        if (fact && bz_snapshot_text(at.image, fact->text[0], &path) && path.n > 0)
            bz_map_put(&part->recipes, path)->u = (uint64_t)i + 1;
    }
}

void bz_recall_part(struct bz_recall *r, struct bz_str mc, const uint8_t digest[32],
                    struct bz_recall_part *out)
{
    const struct bz_snapshot *base = bz_deltas_base(&r->old);

    *out = (struct bz_recall_part){0};
    for (uint32_t i = 0; base && i < bz_snapshot_count(base, BZ_SNAPSHOT_PARTS); i++) {
        const struct bz_snapshot_part *part =
            bz_snapshot_at(base, BZ_SNAPSHOT_PARTS, i);
        struct bz_str name;

        if (!bz_snapshot_text(base, part->mc, &name) || !bz_str_eq(name, mc) ||
            memcmp(part->digest, digest, sizeof(part->digest)) != 0)
            continue;
        out->record = part;
        index_recipes(r, out);
        return;
    }
}

void bz_recall_part_release(struct bz_recall_part *part)
{
    bz_map_release(&part->recipes);
}

bool bz_recall_number(const struct bz_recall_part *part, struct bz_str path,
                      uint32_t *out)
{
    const struct bz_map_entry *it = bz_map_get(&part->recipes, path);

    if (it)
        *out = (uint32_t)it->u - 1;
    return it;
}

/* The facts of a recipe, without looking whether they hold. */
static int read_facts(const struct bz_deltas_place *at, struct bz_arena *arena,
                      struct bz_recall_recipe *out, struct bz_err *err)
{
    struct bz_snapshot_range range = at->record->facts;
    int rc = 0;

    *out = (struct bz_recall_recipe){.nfacts = range.n};
    if (range.n == 0 || !bz_snapshot_has(at->image, BZ_SNAPSHOT_FACTS, range))
        return bz_fail(err, BZ_E_CORRUPT, "facts are missing in the snapshot");
    out->facts = BZ_ARENA_ARRAY(arena, struct bz_facts, range.n);
    for (uint32_t i = 0; i < range.n && rc == 0; i++)
        rc = bz_snapshot_fact(at->image, range.first + i, &out->facts[i], err);
    return rc;
}

/* Those of the list, which is there and has been checked. */
static void set_looks(const struct bz_recall *r, const struct bz_deltas_place *at,
                      struct bz_arena *arena, struct bz_recall_recipe *out)
{
    struct bz_snapshot_range list = at->record->inputs;

    out->looks = BZ_ARENA_ARRAY(arena, const struct bz_library_look *, list.n);
    out->nlooks = list.n;
    for (uint32_t i = 0; i < list.n; i++) {
        const uint32_t *number =
            bz_snapshot_at(at->image, BZ_SNAPSHOT_LIST, list.first + i);

        out->looks[i] = &r->inputs.looks[*number];
    }
}

static bool same_text(struct bz_str a, struct bz_str b)
{
    if (!a.p || !b.p)
        return a.p == b.p;
    return bz_str_eq(a, b);
}

bool bz_recall_recipe(struct bz_recall *r, const struct bz_recall_part *part,
                      const struct bz_facts *frame, struct bz_arena *arena,
                      struct bz_recall_recipe *out)
{
    struct bz_deltas_place at;
    struct bz_err err;
    uint32_t number;

    if (!bz_recall_number(part, frame->path, &number) ||
        !bz_deltas_recipe(&r->old, number, &at) || !at.record->valid ||
        bz_inputs_any_changed(&r->inputs, at.image, at.record->inputs) ||
        read_facts(&at, arena, out, &err) < 0 ||
        !same_text(out->facts[0].appends, frame->appends) ||
        !same_text(out->facts[0].layer, frame->layer))
        return false;
    for (size_t i = 0; i < out->nfacts; i++) {
        struct bz_facts *f = &out->facts[i];

        out->reframed |= f->priority != frame->priority || f->hidden != frame->hidden;
        f->priority = frame->priority;
        f->hidden = frame->hidden;
    }
    set_looks(r, &at, arena, out);
    return true;
}
