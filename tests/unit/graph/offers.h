/* offers.h - recipes made up for tests of the choice among them. */
#ifndef BZ_TEST_GRAPH_OFFERS_H
#define BZ_TEST_GRAPH_OFFERS_H

#include "base/buf.h"
#include "graph/provide.h"
#include "tests/unit/bz_test.h"

/* One recipe; what is NULL is empty. */
struct offer {
    const char *path, *variant, *pn, *pe, *pv;
    int priority, preference;
    const char *provides, *rprovides, *dynamic, *skipped, *error;
    bool not_world;
};

/* A variable of the configuration. */
struct setting {
    const char *name, *value;
};

struct offers {
    struct bz_facts facts[16];
    struct bz_facts_package packages[16];
    size_t n;
    struct bz_vars *settings;
    struct bz_provide *p;
    struct bz_err err;
};

static inline struct bz_str offer_text(const char *text)
{
    return bz_str_from(text ? text : "");
}

static inline void offers_add(struct offers *o, const struct offer *from)
{
    struct bz_facts *f = &o->facts[o->n];
    struct bz_facts_package *package = &o->packages[o->n++];

    *f = (struct bz_facts){.path = offer_text(from->path),
                           .variant = offer_text(from->variant),
                           .pn = offer_text(from->pn),
                           .pe = offer_text(from->pe),
                           .pv = offer_text(from->pv),
                           .pr = BZ_STR("r0"),
                           .priority = from->priority,
                           .default_preference = from->preference,
                           .provides = offer_text(from->provides),
                           .packages_dynamic = offer_text(from->dynamic),
                           .not_world = from->not_world,
                           .packages = package,
                           .npackages = 1};
    *package = (struct bz_facts_package){.name = f->pn,
                                         .rprovides = offer_text(from->rprovides)};
    if (from->skipped)
        f->skipped = bz_str_from(from->skipped);
    if (from->error)
        f->error = bz_str_from(from->error);
}

/* An index of the recipes up to one without a path, with the settings up to one without
 * a name. */
static inline void offers_open(struct offers *o, const struct offer *recipes,
                               const struct setting *settings)
{
    *o = (struct offers){.settings = bz_vars_new(NULL)};
    for (; recipes->path; recipes++)
        offers_add(o, recipes);
    for (; settings && settings->name; settings++)
        assert_ok(bz_vars_set(o->settings, bz_str_from(settings->name),
                              bz_str_from(settings->value), 0, NULL, &o->err),
                  &o->err);
    assert_ok(bz_provide_new(o->facts, o->n, o->settings, &o->p, &o->err), &o->err);
}

static inline void offers_close(struct offers *o)
{
    bz_provide_free(o->p);
    bz_vars_free(o->settings);
}

/* "a_1.bb b_2.bb": paths, with "variant:" before those of variants. */
static inline void offers_name(const struct offers *o, const uint32_t *at, size_t n,
                               struct bz_buf *out)
{
    for (size_t i = 0; i < n; i++) {
        const struct bz_facts *f = &o->facts[at[i]];

        bz_buf_addf(out, "%s%.*s%s%.*s", i > 0 ? " " : "", BZ_STR_ARG(f->variant),
                    f->variant.n > 0 ? ":" : "", BZ_STR_ARG(f->path));
    }
}

#endif
