#include "graph/provide.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/near.h"
#include "codec/regex.h"

enum {
    SHOWN = 3,     /* reasons in a message */
    SEARCHES = 20, /* for near names */
};

/* Recipes of one name, in the arena; it grows by moving. Most have one only. */
struct bz_provide_list {
    uint32_t n, cap;
    uint32_t *at;
    uint32_t first;
    bool mixed; /* their names (PN) differ */
};

/* A regular expression, compiled when it is first needed, and whom it stands for. */
struct bz_provide_rule {
    struct bz_str pattern;
    struct bz_regex *regex;
    struct bz_provide_list *list; /* NULL in ASSUME_PROVIDED */
};

static struct bz_provide_list *new_list(struct bz_provide *p)
{
    struct bz_provide_list *l = BZ_ARENA_NEW(&p->arena, struct bz_provide_list);

    l->cap = 1;
    l->at = &l->first;
    return l;
}

static struct bz_provide_list *list_of(struct bz_provide *p, struct bz_map *m,
                                       struct bz_str name)
{
    struct bz_map_entry *e = bz_map_put(m, name);

    if (!e->p)
        e->p = new_list(p);
    return e->p;
}

/* Recipes come in order, so one that is there already is the last. */
static void add(struct bz_provide *p, struct bz_provide_list *l, uint32_t recipe)
{
    if (l->n > 0 && l->at[l->n - 1] == recipe)
        return;
    if (l->n == l->cap) {
        uint32_t *old = l->at;

        l->cap *= 2;
        l->at = BZ_ARENA_ARRAY(&p->arena, uint32_t, l->cap);
        memcpy(l->at, old, l->n * sizeof(*old));
    }
    l->at[l->n++] = recipe;
    if (!bz_str_eq(p->facts[recipe].pn, p->facts[l->at[0]].pn))
        l->mixed = true;
}

static void add_words(struct bz_provide *p, struct bz_map *m, struct bz_str words,
                      uint32_t recipe)
{
    struct bz_str word;

    while (bz_str_next_word(&words, &word))
        add(p, list_of(p, m, word), recipe);
}

static void add_dynamic(struct bz_provide *p, struct bz_map *seen, struct bz_str words,
                        uint32_t recipe)
{
    struct bz_str word;

    while (bz_str_next_word(&words, &word)) {
        struct bz_map_entry *e = bz_map_put(seen, word);

        if (!e->p) {
            struct bz_provide_rule rule = {.pattern = word};

            rule.list = e->p = new_list(p);
            BZ_VEC_PUSH(&p->dynamic, rule);
        }
        add(p, e->p, recipe);
    }
}

bool bz_provide_usable(const struct bz_facts *f)
{
    return !f->error.p && !f->skipped.p;
}

static void index_names(struct bz_provide *p, struct bz_map *built, struct bz_map *run,
                        uint32_t i)
{
    const struct bz_facts *f = &p->facts[i];

    add(p, list_of(p, built, f->pn), i);
    add_words(p, built, f->provides, i);
    add_words(p, run, f->rprovides, i);
    for (size_t k = 0; k < f->npackages; k++) {
        add(p, list_of(p, run, f->packages[k].name), i);
        add_words(p, run, f->packages[k].rprovides, i);
    }
}

static void index_facts(struct bz_provide *p)
{
    struct bz_map patterns = {0};
    size_t packages = 0;

    for (size_t i = 0; i < p->nfacts; i++)
        packages += p->facts[i].npackages;
    bz_map_reserve(&p->recipes, p->nfacts);
    bz_map_reserve(&p->built, p->nfacts);
    bz_map_reserve(&p->run, packages);
    for (uint32_t i = 0; i < p->nfacts; i++) {
        const struct bz_facts *f = &p->facts[i];

        if (!bz_provide_usable(f)) {
            index_names(p, &p->lost[BZ_PROVIDE_BUILD], &p->lost[BZ_PROVIDE_RUNTIME], i);
            continue;
        }
        add(p, list_of(p, &p->recipes, f->pn), i);
        index_names(p, &p->built, &p->run, i);
        add_dynamic(p, &patterns, f->packages_dynamic, i);
    }
    bz_map_release(&patterns);
}

int bz_provide_setting(struct bz_provide *p, const char *prefix, struct bz_str name,
                       struct bz_str *out, struct bz_err *err)
{
    bz_buf_truncate(&p->key, 0);
    bz_buf_add_str(&p->key, bz_str_from(prefix));
    bz_buf_add_str(&p->key, name);
    return bz_vars_get(p->settings, bz_buf_str(&p->key), 0, out, err);
}

void bz_provide_note(struct bz_provide *p, bool warning, const char *fmt, ...)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_map_entry *e;
    va_list ap;

    va_start(ap, fmt);
    bz_buf_addv(&text, fmt, ap);
    va_end(ap);
    if (bz_map_get(&p->noted, bz_buf_str(&text)))
        return;
    e = bz_map_put(&p->noted, bz_arena_dup(&p->arena, bz_buf_str(&text)));
    BZ_VEC_PUSH(&p->notes, (struct bz_provide_note){warning, e->key});
}

/* "name:provider" words. A later one wins over an earlier one, with a word. */
static void read_preferred(struct bz_provide *p, struct bz_str words)
{
    struct bz_str word;

    while (bz_str_next_word(&words, &word)) {
        struct bz_str name, provider;
        struct bz_map_entry *e;
        struct bz_str *kept;

        if (!bz_str_cut(word, ':', &name, &provider) ||
            bz_str_find_byte(provider, ':') != BZ_STR_NONE) {
            bz_provide_note(p, true,
                            "PREFERRED_PROVIDERS: '%.*s' is not of the form "
                            "NAME:PROVIDER; ignored",
                            BZ_STR_ARG(word));
            continue;
        }
        e = bz_map_put(&p->preferred, name);
        kept = e->p;
        if (kept && !bz_str_eq(*kept, provider))
            bz_provide_note(p, true,
                            "PREFERRED_PROVIDERS names both '%.*s' and '%.*s' for "
                            "'%.*s'; the latter counts",
                            BZ_STR_ARG(*kept), BZ_STR_ARG(provider), BZ_STR_ARG(name));
        if (!kept)
            e->p = kept = BZ_ARENA_NEW(&p->arena, struct bz_str);
        *kept = provider;
    }
}

/* In ASSUME_PROVIDED a word with '^' before it or '$' after it is an expression. */
static int read_assumed(struct bz_provide *p, struct bz_str words, struct bz_err *err)
{
    struct bz_str word;

    while (bz_str_next_word(&words, &word)) {
        struct bz_provide_rule rule = {.pattern = word};
        int rc;

        if (word.p[0] != '^' && word.p[word.n - 1] != '$') {
            bz_map_put(&p->assumed_names, word)->u = 1;
            continue;
        }
        rc = bz_regex_new(word, BZ_REGEX_MATCH, &rule.regex, err);
        if (rc < 0)
            return bz_err_wrap(err, "ASSUME_PROVIDED");
        BZ_VEC_PUSH(&p->assumed, rule);
    }
    return 0;
}

static int read_settings(struct bz_provide *p, struct bz_err *err)
{
    struct bz_str preferred, assumed, multiple, word;
    int rc = bz_vars_expand_keys(p->settings, err);

    if (rc == 0)
        rc = bz_provide_setting(p, "PREFERRED_PROVIDERS", BZ_STR(""), &preferred, err);
    if (rc == 0)
        rc = bz_provide_setting(p, "ASSUME_PROVIDED", BZ_STR(""), &assumed, err);
    if (rc == 0)
        rc = bz_provide_setting(p, "BB_MULTI_PROVIDER_ALLOWED", BZ_STR(""), &multiple,
                                err);
    if (rc < 0)
        return rc;
    read_preferred(p, preferred);
    while (bz_str_next_word(&multiple, &word))
        bz_map_put(&p->multiple, word)->u = 1;
    return read_assumed(p, assumed, err);
}

int bz_provide_new(const struct bz_facts *facts, size_t n,
                   const struct bz_vars *settings, struct bz_provide **out,
                   struct bz_err *err)
{
    struct bz_provide *p = bz_mem_zalloc(sizeof(*p));
    int rc;

    BZ_ASSERT(n < UINT32_MAX);
    p->facts = facts;
    p->nfacts = n;
    p->settings = bz_vars_new(settings);
    rc = read_settings(p, err);
    if (rc < 0) {
        bz_provide_free(p);
        return rc;
    }
    index_facts(p);
    *out = p;
    return 0;
}

static void release_rules(struct bz_provide_rules *rules)
{
    for (size_t i = 0; i < rules->len; i++)
        bz_regex_free(rules->at[i].regex);
    bz_vec_release(rules);
}

void bz_provide_free(struct bz_provide *p)
{
    if (!p)
        return;
    release_rules(&p->dynamic);
    release_rules(&p->assumed);
    bz_map_release(&p->recipes);
    bz_map_release(&p->built);
    bz_map_release(&p->run);
    bz_map_release(&p->lost[BZ_PROVIDE_BUILD]);
    bz_map_release(&p->lost[BZ_PROVIDE_RUNTIME]);
    bz_map_release(&p->preferred);
    bz_map_release(&p->assumed_names);
    bz_map_release(&p->multiple);
    bz_map_release(&p->noted);
    bz_vec_release(&p->notes);
    bz_buf_release(&p->key);
    bz_vars_free(p->settings);
    bz_arena_release(&p->arena);
    free(p);
}

void bz_provide_freep(struct bz_provide **p)
{
    bz_provide_free(*p);
    *p = NULL;
}

static const uint32_t *find(const struct bz_map *m, struct bz_str name, size_t *n)
{
    const struct bz_map_entry *e = bz_map_get(m, name);
    const struct bz_provide_list *l = e ? e->p : NULL;

    *n = l ? l->n : 0;
    return l ? l->at : NULL;
}

const uint32_t *bz_provide_recipes(const struct bz_provide *p, struct bz_str pn,
                                   size_t *n)
{
    return find(&p->recipes, pn, n);
}

const uint32_t *bz_provide_built(const struct bz_provide *p, struct bz_str name,
                                 size_t *n)
{
    return find(&p->built, name, n);
}

bool bz_provide_contested(const struct bz_provide *p, struct bz_str name)
{
    const struct bz_map_entry *e = bz_map_get(&p->built, name);
    const struct bz_provide_list *l = e ? e->p : NULL;

    return l && l->mixed;
}

const uint32_t *bz_provide_lost(const struct bz_provide *p, enum bz_provide_kind kind,
                                struct bz_str name, size_t *n)
{
    return find(&p->lost[kind], name, n);
}

static void add_all(struct bz_provide_ids *out, const uint32_t *at, size_t n)
{
    for (size_t i = 0; i < n; i++)
        BZ_VEC_PUSH(out, at[i]);
}

/* In these expressions '+' is meant as it stands: packages are called libstdc++. */
static int compile(struct bz_provide *p, struct bz_provide_rule *rule,
                   struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    const struct bz_facts *f = &p->facts[rule->list->at[0]];
    int rc;

    for (size_t i = 0; i < rule->pattern.n; i++) {
        if (rule->pattern.p[i] == '+')
            bz_buf_add_char(&text, '\\');
        bz_buf_add_char(&text, rule->pattern.p[i]);
    }
    rc = bz_regex_new(bz_buf_str(&text), BZ_REGEX_MATCH, &rule->regex, err);
    return rc < 0 ? bz_err_wrap(err, "%.*s: PACKAGES_DYNAMIC", BZ_STR_ARG(f->path)) : 0;
}

int bz_provide_run(struct bz_provide *p, struct bz_str name, struct bz_provide_ids *out,
                   struct bz_err *err)
{
    size_t n;
    const uint32_t *at = find(&p->run, name, &n);

    add_all(out, at, n);
    if (n > 0)
        return 0;
    for (size_t i = 0; i < p->dynamic.len; i++) {
        struct bz_provide_rule *rule = &p->dynamic.at[i];
        int rc = rule->regex ? 0 : compile(p, rule, err);

        if (rc < 0)
            return rc;
        if (bz_regex_test(rule->regex, name))
            add_all(out, rule->list->at, rule->list->n);
    }
    return 0;
}

bool bz_provide_assumed(struct bz_provide *p, struct bz_str name)
{
    if (bz_map_get(&p->assumed_names, name))
        return true;
    for (size_t i = 0; i < p->assumed.len; i++)
        if (bz_regex_test(p->assumed.at[i].regex, name))
            return true;
    return false;
}

bool bz_provide_multiple(const struct bz_provide *p, struct bz_str name)
{
    return bz_map_get(&p->multiple, name) != NULL;
}

/* What becomes of recipes that would provide the name, if they could. */
static void add_reasons(const struct bz_provide *p, enum bz_provide_kind kind,
                        struct bz_str name, struct bz_buf *out)
{
    size_t n;
    const uint32_t *at = find(&p->lost[kind], name, &n);

    for (size_t i = 0; i < n && i < SHOWN; i++) {
        const struct bz_facts *f = &p->facts[at[i]];

        if (f->error.p)
            bz_buf_addf(out, "; %.*s is broken", BZ_STR_ARG(f->path));
        else
            bz_buf_addf(out, "; %.*s%s was skipped: %.*s", BZ_STR_ARG(f->pn),
                        bz_str_eq(f->pn, name) ? "" : ", which provides it,",
                        BZ_STR_ARG(f->skipped));
    }
}

static void offer(struct bz_near *near, const struct bz_map *m)
{
    for (const struct bz_map_entry *e = bz_map_next(m, NULL); e; e = bz_map_next(m, e))
        bz_near_offer(near, e->key);
}

/* Names like it, of the same kind. */
static void add_near(struct bz_provide *p, enum bz_provide_kind kind,
                     struct bz_str name, struct bz_buf *out)
{
    struct bz_near near;
    char text[200];

    if (p->searches++ >= SEARCHES)
        return;
    bz_near_init(&near, name);
    offer(&near, kind == BZ_PROVIDE_BUILD ? &p->built : &p->run);
    bz_buf_addf(out, "%s", bz_near_text(&near, "", text, sizeof(text)));
}

/* A package is no target, but its recipe is. */
static void add_others(struct bz_provide *p, struct bz_str name, struct bz_buf *out)
{
    size_t n;
    const uint32_t *at = find(&p->run, name, &n);

    for (size_t i = 0; i < n && i < SHOWN; i++)
        bz_buf_addf(out, "%s%.*s", i > 0 ? ", " : "; it is a package of ",
                    BZ_STR_ARG(p->facts[at[i]].pn));
}

int bz_provide_missing(struct bz_provide *p, enum bz_provide_kind kind,
                       struct bz_str name, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf why = {0};

    add_reasons(p, kind, name, &why);
    if (kind == BZ_PROVIDE_BUILD)
        add_others(p, name, &why);
    if (why.len == 0)
        add_near(p, kind, name, &why);
    return bz_fail(err, BZ_E_NOENT, "nothing provides '%.*s'%s%s", BZ_STR_ARG(name),
                   kind == BZ_PROVIDE_RUNTIME ? " at run time" : "", bz_buf_text(&why));
}
