#include "graph/prefer.h"

#include "base/buf.h"
#include "vars/version.h"

/* One recipe, with all that decides its place. */
struct candidate {
    const struct bz_facts *f;
    uint32_t recipe;
};

struct candidates BZ_VEC(struct candidate);

static int by_name(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;

    return bz_str_cmp(x->f->pn, y->f->pn);
}

/* As BitBake's names of files compare: "virtual:VARIANT:PATH" is after all paths. */
static int by_file(const void *a, const void *b)
{
    const struct bz_facts *x = ((const struct candidate *)a)->f;
    const struct bz_facts *y = ((const struct candidate *)b)->f;
    size_t common = x->variant.n < y->variant.n ? x->variant.n : y->variant.n;
    int order;

    if (bz_str_eq(x->variant, y->variant))
        return bz_str_cmp(x->path, y->path);
    if (x->variant.n == 0 || y->variant.n == 0)
        return x->variant.n == 0 ? -1 : 1;
    order = memcmp(x->variant.p, y->variant.p, common);
    if (order)
        return order;
    if (x->variant.n < y->variant.n)
        return ':' < (unsigned char)y->variant.p[common] ? -1 : 1;
    return (unsigned char)x->variant.p[common] < ':' ? -1 : 1;
}

/* The strongest layer first, in a layer the lowest preference first. */
static int by_strength(const void *a, const void *b)
{
    const struct bz_facts *x = ((const struct candidate *)a)->f;
    const struct bz_facts *y = ((const struct candidate *)b)->f;

    if (x->priority != y->priority)
        return x->priority > y->priority ? -1 : 1;
    return (x->default_preference > y->default_preference) -
           (x->default_preference < y->default_preference);
}

static void collect(const struct bz_provide *p, const uint32_t *at, size_t n,
                    struct candidates *out)
{
    BZ_VEC_RESERVE(out, n);
    for (size_t i = 0; i < n; i++)
        BZ_VEC_PUSH(out, (struct candidate){&p->facts[at[i]], at[i]});
}

/* ---- versions of one recipe ---- */

/* What a setting asks for: "1:2.0" or "2.%". */
struct wish {
    struct bz_str text;    /* p == NULL: nothing is asked for */
    struct bz_str epoch;   /* p == NULL: any */
    struct bz_str version; /* may end in '%' */
    bool required;
};

/* KEYWORD_VERSION:pn-NAME, KEYWORD_VERSION_NAME or KEYWORD_VERSION, the first that is
 * set. A name may have '_' in it and an override may not, so this is no override. */
static int read_wish(struct bz_provide *p, const char *const variables[3],
                     struct bz_str pn, struct bz_str *out, struct bz_err *err)
{
    int rc = bz_provide_setting(p, variables[0], pn, out, err);

    if (rc == 0 && out->n == 0)
        rc = bz_provide_setting(p, variables[1], pn, out, err);
    if (rc == 0 && out->n == 0)
        rc = bz_provide_setting(p, variables[2], BZ_STR(""), out, err);
    return rc;
}

/* Epochs in front; of several the last counts. Nothing after a line's end does. */
static void split_wish(struct wish *w)
{
    struct bz_str rest = w->text, line, tail;

    for (;;) {
        size_t n = 0;

        while (n < rest.n && rest.p[n] >= '0' && rest.p[n] <= '9')
            n++;
        if (n == 0 || n == rest.n || rest.p[n] != ':')
            break;
        w->epoch = bz_str_sub(rest, 0, n);
        rest = bz_str_sub(rest, n + 1, rest.n);
    }
    bz_str_cut(rest, '\n', &line, &tail);
    w->version = line;
}

static int find_wish(struct bz_provide *p, struct bz_str pn, struct wish *out,
                     struct bz_err *err)
{
    static const char *const required[] = {"REQUIRED_VERSION:pn-", "REQUIRED_VERSION_",
                                           "REQUIRED_VERSION"};
    static const char *const preferred[] = {"PREFERRED_VERSION:pn-",
                                            "PREFERRED_VERSION_", "PREFERRED_VERSION"};
    struct bz_str must = {0}, may = {0};
    int rc = read_wish(p, required, pn, &must, err);

    *out = (struct wish){0};
    if (rc == 0)
        rc = read_wish(p, preferred, pn, &may, err);
    if (rc < 0)
        return rc;
    if (must.p && may.p)
        bz_provide_note(p, true,
                        "both REQUIRED_VERSION and PREFERRED_VERSION are set for "
                        "'%.*s'; the former counts: %.*s",
                        BZ_STR_ARG(pn), BZ_STR_ARG(must));
    out->required = must.p != NULL;
    out->text = must.p ? must : may;
    split_wish(out);
    return 0;
}

static bool fulfils(const struct wish *w, const struct bz_facts *f)
{
    struct bz_str start = w->version;

    if (w->epoch.p && !bz_str_eq(w->epoch, f->pe))
        return false;
    if (bz_str_eq(w->version, f->pv))
        return true;
    return bz_str_cut_suffix(&start, BZ_STR("%")) && bz_str_starts(f->pv, start);
}

static int by_text(const void *a, const void *b)
{
    return bz_str_cmp(*(const struct bz_str *)a, *(const struct bz_str *)b);
}

/* "1.0 1.1 2:0.9": what there is instead. */
static void list_versions(struct bz_provide *p, const struct candidate *c, size_t n,
                          struct bz_buf *out)
{
    BZ_CLEANUP(bz_vec_release) struct bz_provide_names all = {0};

    for (size_t i = 0; i < n; i++) {
        const struct bz_facts *f = c[i].f;

        BZ_VEC_PUSH(&all, f->pe.n == 0
                              ? f->pv
                              : bz_arena_printf(&p->arena, "%.*s:%.*s",
                                                BZ_STR_ARG(f->pe), BZ_STR_ARG(f->pv)));
    }
    BZ_VEC_SORT(&all, by_text);
    for (size_t i = 0; i < all.len; i++)
        if (i == 0 || !bz_str_eq(all.at[i], all.at[i - 1]))
            bz_buf_addf(out, " %.*s", BZ_STR_ARG(all.at[i]));
}

static void note_unfulfilled(struct bz_provide *p, const struct wish *w,
                             const struct candidate *c, size_t n, struct bz_str item)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_str pn = c[0].f->pn;

    bz_buf_addf(&text, "version %.*s of '%.*s' is %s", BZ_STR_ARG(w->text),
                BZ_STR_ARG(pn), w->required ? "required" : "preferred");
    if (item.n > 0 && !bz_str_eq(item, pn))
        bz_buf_addf(&text, " (for '%.*s')", BZ_STR_ARG(item));
    bz_buf_addf(&text, " but not there; there is:");
    list_versions(p, c, n, &text);
    bz_provide_note(p, true, "%s", bz_buf_text(&text));
}

/* The recipe that a setting asks for, or BZ_PREFER_NONE. `c` are all of one PN, sorted
 * by strength. */
static int find_wished(struct bz_provide *p, const struct candidate *c, size_t n,
                       struct bz_str item, uint32_t *out, bool *required,
                       struct bz_err *err)
{
    struct wish w;
    int rc = find_wish(p, c[0].f->pn, &w, err);

    *out = BZ_PREFER_NONE;
    *required = rc == 0 && w.required;
    if (rc < 0 || w.text.n == 0)
        return rc;
    for (size_t i = 0; i < n; i++) {
        if (!fulfils(&w, c[i].f))
            continue;
        *out = c[i].recipe;
        return 0;
    }
    note_unfulfilled(p, &w, c, n, item);
    return 0;
}

static struct bz_version version_of(struct bz_provide *p, const struct bz_facts *f)
{
    struct bz_version v;
    struct bz_err err;

    if (bz_version_from(f->pe, f->pv, f->pr, &v, &err) < 0)
        bz_provide_note(p, true, "%.*s: PE: %s; 0 is assumed", BZ_STR_ARG(f->path),
                        err.msg);
    return v;
}

/* The newest of the strongest layer, among those of the highest preference. */
static uint32_t find_latest(struct bz_provide *p, const struct candidate *c, size_t n)
{
    struct candidate best = c[0];
    struct bz_version latest;

    if (n > 1 && c[1].f->priority == best.f->priority)
        latest = version_of(p, best.f);
    for (size_t i = 1; i < n && c[i].f->priority == best.f->priority; i++) {
        struct bz_version v = version_of(p, c[i].f);

        if (c[i].f->default_preference == best.f->default_preference &&
            bz_version_compare(&latest, &v) >= 0)
            continue;
        best = c[i];
        latest = v;
    }
    return best.recipe;
}

int bz_prefer_best(struct bz_provide *p, struct bz_str pn, struct bz_prefer_best *out,
                   struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct candidates c = {0};
    size_t n;
    const uint32_t *at = bz_provide_recipes(p, pn, &n);
    int rc;

    if (n == 0)
        return bz_provide_missing(p, BZ_PROVIDE_BUILD, pn, err);
    collect(p, at, n, &c);
    BZ_VEC_SORT(&c, by_strength);
    rc = find_wished(p, c.at, n, (struct bz_str){0}, &out->preferred, &out->required,
                     err);
    if (rc < 0)
        return rc;
    out->latest = find_latest(p, c.at, n);
    if (!out->required && out->preferred == BZ_PREFER_NONE)
        out->preferred = out->latest;
    return 0;
}

/* ---- recipes of several names ---- */

static void move_to_front(struct bz_provide_ids *ids, size_t i)
{
    uint32_t first = ids->at[i];

    memmove(ids->at + 1, ids->at, i * sizeof(*ids->at));
    ids->at[0] = first;
}

static size_t place_of(const struct bz_provide *p, const struct bz_provide_ids *ids,
                       struct bz_str pn)
{
    size_t i = 0;

    while (i < ids->len && !bz_str_eq(p->facts[ids->at[i]].pn, pn))
        i++;
    return i;
}

/* One for each name: first those that a version setting asks for, by name, then the
 * newest of the others. A required version that is not there ends the search, and only
 * what was found before it counts. */
static int find_eligible(struct bz_provide *p, struct candidates *c, struct bz_str item,
                         struct bz_provide_ids *out, struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct bz_provide_ids rest = {0};
    size_t end;

    BZ_VEC_SORT(c, by_file);
    BZ_VEC_SORT(c, by_name);
    for (size_t i = 0; i < c->len; i = end) {
        uint32_t wished;
        bool required;
        int rc;

        for (end = i + 1; end < c->len && by_name(&c->at[i], &c->at[end]) == 0;)
            end++;
        bz_vec_sort(c->at + i, end - i, sizeof(*c->at), by_strength);
        rc = find_wished(p, c->at + i, end - i, item, &wished, &required, err);
        if (rc < 0)
            return rc;
        if (wished != BZ_PREFER_NONE)
            BZ_VEC_PUSH(out, wished);
        else if (required)
            return 0;
        else
            BZ_VEC_PUSH(&rest, find_latest(p, c->at + i, end - i));
    }
    for (size_t i = 0; i < rest.len; i++)
        BZ_VEC_PUSH(out, rest.at[i]);
    return 0;
}

/* PREFERRED_PROVIDER_name, or what PREFERRED_PROVIDERS says. */
static int prefer_built(struct bz_provide *p, struct bz_str name,
                        struct bz_prefer_choice *c, struct bz_err *err)
{
    const struct bz_map_entry *e = bz_map_get(&p->preferred, name);
    struct bz_str provider;
    size_t i;
    int rc = bz_provide_setting(p, "PREFERRED_PROVIDER_", name, &provider, err);

    if (rc < 0)
        return rc;
    if (provider.n == 0 && e)
        provider = *(const struct bz_str *)e->p;
    if (provider.n == 0)
        return 0;
    i = place_of(p, &c->eligible, provider);
    c->settled = i < c->eligible.len;
    if (c->settled)
        move_to_front(&c->eligible, i);
    return 0;
}

/* The place of the eligible recipe that PREFERRED_PROVIDER_x names for one of the x
 * that recipes of this name provide, unless it was preferred before. */
static int find_inferred(struct bz_provide *p, const struct bz_provide_ids *eligible,
                         struct bz_str pn, const struct bz_provide_ids *before,
                         size_t *out, struct bz_err *err)
{
    size_t n;
    const uint32_t *at = bz_provide_recipes(p, pn, &n);

    *out = eligible->len;
    for (size_t i = 0; i < n; i++) {
        struct bz_str names = p->facts[at[i]].provides, name = pn;

        do {
            struct bz_str provider;
            size_t place, k = 0;
            int rc = bz_provide_setting(p, "PREFERRED_PROVIDER_", name, &provider, err);

            if (rc < 0)
                return rc;
            place = provider.p ? place_of(p, eligible, provider) : eligible->len;
            while (place < eligible->len && k < before->len &&
                   before->at[k] != eligible->at[place])
                k++;
            if (place < eligible->len && k == before->len) {
                *out = place;
                return 0;
            }
        } while (bz_str_next_word(&names, &name));
    }
    return 0;
}

/* A run time name follows PREFERRED_PROVIDER of what the eligible recipes build.
 * BitBake walks the list while it takes the first preferred one out of it, and so
 * passes over the one after it; the number of preferences, and so what is an error,
 * depends on it. */
static int infer_run(struct bz_provide *p, struct bz_prefer_choice *c,
                     struct bz_provide_ids *preferred, struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct bz_provide_ids walk = {0};

    for (size_t i = 0; i < c->eligible.len; i++)
        BZ_VEC_PUSH(&walk, c->eligible.at[i]);
    for (size_t i = 0; i < walk.len; i++) {
        size_t place, gone = 0;
        uint32_t recipe;
        int rc = find_inferred(p, &c->eligible, p->facts[walk.at[i]].pn, preferred,
                               &place, err);

        if (rc < 0)
            return rc;
        if (place == c->eligible.len)
            continue;
        recipe = c->eligible.at[place];
        if (preferred->len == 0) {
            while (walk.at[gone] != recipe)
                gone++;
            walk.len--;
            memmove(walk.at + gone, walk.at + gone + 1,
                    (walk.len - gone) * sizeof(*walk.at));
        }
        BZ_VEC_PUSH(preferred, recipe);
        move_to_front(&c->eligible, place);
    }
    return 0;
}

static int prefer_run(struct bz_provide *p, struct bz_str name,
                      struct bz_prefer_choice *c, struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct bz_provide_ids preferred = {0};
    struct bz_str provider;
    size_t i = c->eligible.len;
    int rc = bz_provide_setting(p, "PREFERRED_RPROVIDER_", name, &provider, err);

    if (rc < 0)
        return rc;
    if (provider.n > 0)
        i = place_of(p, &c->eligible, provider);
    if (i < c->eligible.len) {
        move_to_front(&c->eligible, i);
        c->settled = true;
        return 0;
    }
    rc = infer_run(p, c, &preferred, err);
    c->settled = preferred.len > 0;
    if (rc < 0 || preferred.len < 2)
        return rc;
    return bz_fail(
        err, BZ_E_INVAL,
        "PREFERRED_PROVIDER settings choose both '%.*s' and '%.*s' for '%.*s' "
        "at run time; set PREFERRED_RPROVIDER_%.*s",
        BZ_STR_ARG(p->facts[preferred.at[0]].pn),
        BZ_STR_ARG(p->facts[preferred.at[1]].pn), BZ_STR_ARG(name), BZ_STR_ARG(name));
}

static void note_several(struct bz_provide *p, enum bz_provide_kind kind,
                         struct bz_str name, const struct bz_provide_ids *ids)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf names = {0};

    for (size_t i = 0; i < ids->len; i++)
        bz_buf_addf(&names, "%s%.*s", i > 0 ? ", " : "",
                    BZ_STR_ARG(p->facts[ids->at[i]].pn));
    bz_provide_note(p, false,
                    "several recipes provide '%.*s'%s: %s; taking the first, set "
                    "PREFERRED_%sPROVIDER_%.*s to choose",
                    BZ_STR_ARG(name), kind == BZ_PROVIDE_RUNTIME ? " at run time" : "",
                    bz_buf_text(&names), kind == BZ_PROVIDE_RUNTIME ? "R" : "",
                    BZ_STR_ARG(name));
}

/* A broken recipe might have been the one that is meant. */
static void note_broken(struct bz_provide *p, enum bz_provide_kind kind,
                        struct bz_str name)
{
    size_t n;
    const uint32_t *at = bz_provide_lost(p, kind, name, &n);

    for (size_t i = 0; i < n; i++)
        if (p->facts[at[i]].error.p)
            bz_provide_note(p, true, "%.*s is broken and no choice for '%.*s'",
                            BZ_STR_ARG(p->facts[at[i]].path), BZ_STR_ARG(name));
}

static int choose(struct bz_provide *p, enum bz_provide_kind kind, struct bz_str name,
                  struct bz_prefer_choice *out, struct bz_err *err)
{
    size_t own = place_of(p, &out->eligible, name);
    int rc;

    /* A recipe is what its name says, unless a setting disagrees. */
    if (own < out->eligible.len)
        move_to_front(&out->eligible, own);
    rc = kind == BZ_PROVIDE_RUNTIME ? prefer_run(p, name, out, err)
                                    : prefer_built(p, name, out, err);
    if (rc == 0 && out->eligible.len > 1 && !out->settled)
        note_several(p, kind, name, &out->eligible);
    out->settled |= out->eligible.len == 1;
    return rc;
}

int bz_prefer_choose(struct bz_provide *p, enum bz_provide_kind kind,
                     struct bz_str name, struct bz_prefer_choice *out,
                     struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct bz_provide_ids run = {0};
    BZ_CLEANUP(bz_vec_release) struct candidates c = {0};
    int rc = 0;

    if (kind == BZ_PROVIDE_RUNTIME) {
        rc = bz_provide_run(p, name, &run, err);
        collect(p, run.at, run.len, &c);
    } else {
        size_t n;
        const uint32_t *at = bz_provide_built(p, name, &n);

        collect(p, at, n, &c);
    }
    if (rc < 0)
        return rc;
    if (c.len == 0)
        return bz_provide_missing(p, kind, name, err);
    note_broken(p, kind, name);
    rc = find_eligible(p, &c, name, &out->eligible, err);
    if (rc == 0 && out->eligible.len == 0)
        rc = bz_fail(err, BZ_E_NOENT,
                     "no recipe for '%.*s' has the version that REQUIRED_VERSION asks "
                     "for",
                     BZ_STR_ARG(name));
    return rc < 0 ? rc : choose(p, kind, name, out, err);
}

void bz_prefer_release(struct bz_prefer_choice *c)
{
    bz_vec_release(&c->eligible);
}
