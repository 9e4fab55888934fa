/* meta.h - what evaluating files produces: a variable store and what goes with
 * it.
 *
 * The lists that are not variables: which classes have been inherited, which
 * still have to be, the tasks, handlers and anonymous functions, and every path
 * that was looked at, found or not, since a change of any of them can change
 * the result. Copies of a complete configuration begin with no paths: what it looked
 * at is its own affair, unless a recipe looks at it as well.
 *
 * One thread at a time. A copy shares the store as bz_vars_new() does: the
 * original must neither change nor go away before its copies.
 */
#ifndef BZ_RECIPE_META_H
#define BZ_RECIPE_META_H

#include "base/arena.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "recipe/taskdef.h"
#include "vars/vars.h"

struct bz_meta_names BZ_VEC(struct bz_str);

/* A class to be inherited when the file has been read. */
struct bz_meta_deferred {
    struct bz_str classes; /* unexpanded */
    const char *file;
    uint32_t line;
};

/* A directory of Python modules, and the one in it that expressions may name. */
struct bz_meta_pylib {
    struct bz_str dir, name;
};

/* A statement that defines a function or, if the name has a ':', changes one. */
struct bz_meta_body {
    struct bz_str name, text;
    const char *file;
    uint32_t line;
};

struct bz_meta {
    struct bz_vars *vars;
    struct bz_arena arena;
    const char *class_type; /* "global" for the configuration, else "recipe" */
    struct bz_str skipped;  /* why, or p == NULL */

    struct bz_meta_names inherited; /* files of classes, in order */
    struct bz_meta_defers BZ_VEC(struct bz_meta_deferred) deferred;
    struct bz_taskdefs tasks;
    struct bz_meta_names handlers, anonymous;
    struct bz_meta_bodies
        BZ_VEC(struct bz_meta_body) bodies; /* those that function.h keeps */
    struct bz_meta_pylibs BZ_VEC(struct bz_meta_pylib) pylibs;
    struct bz_meta_names looked_at; /* each path once */
    struct bz_map looked_set;
    bool complete;                /* a configuration that has been read to its end */
    const struct bz_meta *config; /* the complete one it was copied from, or NULL */
};

struct bz_meta *bz_meta_new(void);
struct bz_meta *bz_meta_copy(const struct bz_meta *from);
void bz_meta_free(struct bz_meta *m); /* NULL is allowed */
void bz_meta_freep(struct bz_meta **m);

/* Notes that the result depends on `path`. False if that was known. */
bool bz_meta_look(struct bz_meta *m, struct bz_str path);
bool bz_meta_looked(const struct bz_meta *m, struct bz_str path);

/* The expanded value; and a value that the program itself sets, as d.setVar() does. */
int bz_meta_get(struct bz_meta *m, const char *name, struct bz_str *out,
                struct bz_err *err) BZ_MUST_CHECK;
int bz_meta_set(struct bz_meta *m, const char *name, struct bz_str value,
                struct bz_err *err) BZ_MUST_CHECK;

bool bz_meta_has(const struct bz_meta_names *names, struct bz_str name);

#endif
