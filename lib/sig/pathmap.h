/* pathmap.h - paths of the host and the paths under which sandboxes show them.
 *
 * The build directory is seen at the root of the work, a layer under the name of its
 * directory below /layers, which says the same on every machine; the second of two
 * layers that are called alike gets a number. Scripts are written with the paths of the
 * host and run with those of the sandbox. Without namespaces layers are seen where they
 * are.
 *
 * The map also finds the paths of layers that a script names. A task is shown these,
 * each with all that is below it, and nothing else of a layer: a task that looked
 * around there would depend on files that no key counts. Where the script goes on with
 * what only the shell knows, a variable or a pattern, it is the directory that has been
 * named so far. Whatever is shown counts for the key, by its content or by not being
 * there.
 *
 * Any thread, once it is made.
 */
#ifndef BZ_SIG_PATHMAP_H
#define BZ_SIG_PATHMAP_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/vec.h"
#include "survey/catalog.h"

/* Where sandboxes show layers. */
#define BZ_PATHMAP_LAYERS "/layers"

struct bz_pathmap_layer {
    struct bz_str host, inside; /* both terminated; the host's is normalised */
    struct bz_str name;         /* of its directory */
    size_t number;              /* among layers in directories of this name, from 1 */
};

/* A path as texts have it. */
struct bz_pathmap_place {
    struct bz_str host, inside;
    size_t layer; /* SIZE_MAX: it is the build directory */
};

struct bz_pathmap {
    struct bz_arena arena;
    struct bz_str root; /* where the work is seen */
    bool bare;          /* layers are seen where they are */
    struct bz_pathmap_layers BZ_VEC(struct bz_pathmap_layer) layers;
    struct bz_pathmap_places BZ_VEC(struct bz_pathmap_place) places; /* longest first */
};

/* Of a loaded catalog. */
void bz_pathmap_open(struct bz_pathmap *m, const struct bz_catalog *p, const char *root,
                     bool bare);
void bz_pathmap_release(struct bz_pathmap *m);

/* Adds a layer: its directory as the metadata has it, and a name instead of that of the
 * directory, or p == NULL. */
void bz_pathmap_add(struct bz_pathmap *m, struct bz_str dir, struct bz_str name);

/* The text with the paths of the host replaced by those of the sandbox; terminated, in
 * the arena. */
struct bz_str bz_pathmap_inside(const struct bz_pathmap *m, struct bz_arena *a,
                                struct bz_str text);

/* Cuts the root of the work and a slash off a path of the sandbox. False if it is not
 * below the root. */
bool bz_pathmap_cut_root(const struct bz_pathmap *m, struct bz_str *path);

/* The paths of layers that a script of the host's names: by path, normalised, none
 * below another, whether they exist or not; texts are in the arena. Of more than
 * BZ_PATHMAP_MAX paths it is all layers instead. */
#define BZ_PATHMAP_MAX 200
struct bz_pathmap_paths BZ_VEC(const char *);
void bz_pathmap_find(const struct bz_pathmap *m, struct bz_str script,
                     struct bz_arena *a, struct bz_pathmap_paths *out);

/* Where in a path of a layer the name of the layer's directory begins, and the layer's
 * number; 0 and 0 if no layer has it. */
size_t bz_pathmap_name_at(const struct bz_pathmap *m, const char *path, size_t *number);

#endif
