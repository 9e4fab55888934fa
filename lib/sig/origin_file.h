/* origin_file.h - names of files that mean the same on every host.
 *
 * A file of a layer is called by the name of the layer's directory and its path in
 * there, a file of the build directory by its path in there, any other by its last
 * component: never by where a checkout lies. One thread.
 */
#ifndef BZ_SIG_ORIGIN_FILE_H
#define BZ_SIG_ORIGIN_FILE_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"

struct bz_origin_root {
    struct bz_str dir;   /* absolute, normalised */
    struct bz_str shown; /* what stands for it; "": nothing */
};

struct bz_origin_files {
    struct bz_arena arena;
    struct bz_origin_roots BZ_VEC(struct bz_origin_root) roots;
    struct bz_map known; /* file -> struct bz_str * */
};

void bz_origin_file_release(struct bz_origin_files *f);

/* To be called before the first bz_origin_file_name(). A directory that cannot be one
 * is ignored. */
void bz_origin_file_add_build(struct bz_origin_files *f, struct bz_str dir);
void bz_origin_file_add_layer(struct bz_origin_files *f, struct bz_str dir);

/* The name of a file; valid as long as *f. */
struct bz_str bz_origin_file_name(struct bz_origin_files *f, struct bz_str file);

#endif
