/* provide.h - who provides a name: an index over the facts of one multiconfig.
 *
 * Two kinds of names: what recipes build (PN and PROVIDES) and what packages are at run
 * time (PACKAGES, RPROVIDES, and PACKAGES_DYNAMIC where nothing else fits). Recipes
 * that are skipped or broken provide nothing, but are known as the reason why. Which of
 * several providers is meant is prefer.h's affair.
 *
 * Recipes are numbers: places in the facts the index was made of. Building it takes
 * time linear in their text. One thread at a time: the settings are read lazily.
 */
#ifndef BZ_GRAPH_PROVIDE_H
#define BZ_GRAPH_PROVIDE_H

#include "base/buf.h"
#include "base/vec.h"
#include "survey/facts.h"
#include "vars/vars.h"

enum bz_provide_kind {
    BZ_PROVIDE_BUILD,
    BZ_PROVIDE_RUNTIME,
};

/* Numbers of recipes. */
struct bz_provide_ids BZ_VEC(uint32_t);

struct bz_provide_names BZ_VEC(struct bz_str);

/* Something the user should hear of, once. */
struct bz_provide_note {
    bool warning; /* else it is only good to know */
    struct bz_str text;
};

struct bz_provide_list;
struct bz_provide_rule;

struct bz_provide {
    const struct bz_facts *facts;
    size_t nfacts;
    struct bz_vars *settings; /* a copy with its keys expanded */
    struct bz_buf key;        /* the name of a setting that is read */
    struct bz_map recipes;    /* PN -> bz_provide_list of its recipes */
    struct bz_map built;      /* PN and PROVIDES -> bz_provide_list */
    struct bz_map run;        /* PACKAGES and RPROVIDES -> bz_provide_list */
    struct bz_map lost[2];    /* by kind: as these two, of skipped and broken ones */
    unsigned searches;        /* for near names: they cost, so only some are done */
    struct bz_map preferred;  /* PREFERRED_PROVIDERS: name -> PN, a struct bz_str */
    struct bz_provide_rules BZ_VEC(struct bz_provide_rule) dynamic, assumed;
    struct bz_map assumed_names;
    struct bz_map multiple; /* BB_MULTI_PROVIDER_ALLOWED */
    struct bz_provide_all_notes BZ_VEC(struct bz_provide_note) notes;
    struct bz_map noted;
    struct bz_arena arena;
};

/* The facts and the settings, a configuration's store, are borrowed and must not change
 * while the index lives. Fails if a setting cannot be expanded, and with BZ_E_INVAL if
 * a regular expression of ASSUME_PROVIDED is wrong. */
int bz_provide_new(const struct bz_facts *facts, size_t n,
                   const struct bz_vars *settings, struct bz_provide **out,
                   struct bz_err *err) BZ_MUST_CHECK;
void bz_provide_free(struct bz_provide *p); /* NULL is allowed */
void bz_provide_freep(struct bz_provide **p);

/* Whether the recipe takes part: it is neither broken nor skipped. */
bool bz_provide_usable(const struct bz_facts *f);

/* The recipes called `pn`, and all that provide `name`, in the order of files; NULL
 * with *n 0 if there are none. Borrowed. */
const uint32_t *bz_provide_recipes(const struct bz_provide *p, struct bz_str pn,
                                   size_t *n);
const uint32_t *bz_provide_built(const struct bz_provide *p, struct bz_str name,
                                 size_t *n);

/* Whether recipes of more than one PN provide it. */
bool bz_provide_contested(const struct bz_provide *p, struct bz_str name);

/* Those that would, but are skipped or broken. */
const uint32_t *bz_provide_lost(const struct bz_provide *p, enum bz_provide_kind kind,
                                struct bz_str name, size_t *n);

/* Adds to `out` the recipes that may yield the package or run time name; dynamic
 * packages count only if nothing else fits. BZ_E_INVAL for a wrong expression. */
int bz_provide_run(struct bz_provide *p, struct bz_str name, struct bz_provide_ids *out,
                   struct bz_err *err) BZ_MUST_CHECK;

/* Whether ASSUME_PROVIDED says that it is there without being built. */
bool bz_provide_assumed(struct bz_provide *p, struct bz_str name);

/* Whether several recipes that provide the name may be built together
 * (BB_MULTI_PROVIDER_ALLOWED). */
bool bz_provide_multiple(const struct bz_provide *p, struct bz_str name);

/* Reads a setting, PREFIX + name: value or p == NULL. */
int bz_provide_setting(struct bz_provide *p, const char *prefix, struct bz_str name,
                       struct bz_str *out, struct bz_err *err) BZ_MUST_CHECK;

/* Keeps a note unless it was made before. */
void bz_provide_note(struct bz_provide *p, bool warning, const char *fmt, ...)
    BZ_PRINTF(3, 4);

/* BZ_E_NOENT, and all that can be said about a name that nothing provides: recipes that
 * would but are skipped or broken, the other kind of name, and names like it. */
int bz_provide_missing(struct bz_provide *p, enum bz_provide_kind kind,
                       struct bz_str name, struct bz_err *err) BZ_MUST_CHECK;

#endif
