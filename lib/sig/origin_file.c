#include "sig/origin_file.h"

#include "os/path.h"

void bz_origin_file_release(struct bz_origin_files *f)
{
    bz_map_release(&f->known);
    bz_vec_release(&f->roots);
    bz_arena_release(&f->arena);
    *f = (struct bz_origin_files){0};
}

static void add(struct bz_origin_files *f, struct bz_str dir, bool layer)
{
    struct bz_origin_root root = {0};
    struct bz_path path;
    struct bz_err ignored;

    if (!bz_path_is_absolute(dir) || bz_path_normalise(dir, &path, &ignored) < 0)
        return;
    root.dir = bz_arena_dup(&f->arena, bz_path_str(&path));
    root.shown = layer ? bz_path_basename(root.dir) : BZ_STR("");
    BZ_VEC_PUSH(&f->roots, root);
}

void bz_origin_file_add_build(struct bz_origin_files *f, struct bz_str dir)
{
    add(f, dir, false);
}

void bz_origin_file_add_layer(struct bz_origin_files *f, struct bz_str dir)
{
    add(f, dir, true);
}

static bool is_below(struct bz_str path, struct bz_str dir)
{
    return path.n > dir.n + 1 && bz_str_starts(path, dir) && path.p[dir.n] == '/';
}

/* The innermost directory that has the file in it. */
static const struct bz_origin_root *find_root(const struct bz_origin_files *f,
                                              struct bz_str path)
{
    const struct bz_origin_root *best = NULL;

    for (size_t i = 0; i < f->roots.len; i++) {
        const struct bz_origin_root *root = &f->roots.at[i];

        if (is_below(path, root->dir) && (!best || root->dir.n > best->dir.n))
            best = root;
    }
    return best;
}

static struct bz_str name_of(struct bz_origin_files *f, struct bz_str file)
{
    const struct bz_origin_root *root;
    struct bz_path path;
    struct bz_err ignored;
    struct bz_str rest;

    if (bz_path_normalise(file, &path, &ignored) < 0)
        return BZ_STR("?");
    if (!bz_path_is_absolute(file) && !bz_str_starts(bz_path_str(&path), BZ_STR("..")))
        return bz_arena_dup(&f->arena, bz_path_str(&path));
    root = find_root(f, bz_path_str(&path));
    if (!root)
        return bz_arena_dup(&f->arena, bz_path_basename(bz_path_str(&path)));
    rest = bz_str_drop(bz_path_str(&path), root->dir.n + 1);
    if (root->shown.n == 0)
        return bz_arena_dup(&f->arena, rest);
    return BZ_ARENA_CONCAT(&f->arena, root->shown, BZ_STR("/"), rest);
}

struct bz_str bz_origin_file_name(struct bz_origin_files *f, struct bz_str file)
{
    struct bz_map_entry *e = bz_map_get(&f->known, file);
    struct bz_str *name;

    if (!e) {
        name = BZ_ARENA_NEW(&f->arena, struct bz_str);
        *name = name_of(f, file);
        e = bz_map_put(&f->known, bz_arena_dup(&f->arena, file));
        e->p = name;
    }
    return *(const struct bz_str *)e->p;
}
