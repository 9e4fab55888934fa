#include "project/kas_include.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "os/fs.h"
#include "os/path.h"
#include "project/lock.h"
#include "project/repo.h"

/* A file on its way into the order. Those that lead to it, up to one that the user
 * named, are all on the stack. */
struct visit {
    const struct visit *up; /* the file that includes it, or whose lock file it is */
    const struct bz_kas_file *file;
    unsigned depth;
    const char *root; /* of its repository: includes start there */
    bool lock, external;
    bool first;               /* of the named files */
    struct bz_kas_place from; /* the include that leads here, or the file itself */
};

static int visit_file(struct bz_kas_include *inc, const char *path, struct visit v,
                      struct bz_err *err);

static struct bz_kas_place place(const struct bz_kas_file *file, const struct bz_doc *d)
{
    return (struct bz_kas_place){file->shown, d->line, d->column};
}

static const char *dirname_of(struct bz_arena *arena, const char *path)
{
    return bz_arena_dup(arena, bz_path_dirname(bz_str_from(path))).p;
}

/* True if `path` is `dir` or below it; both are free of links and dots. */
static bool is_inside(const char *path, const char *dir)
{
    struct bz_str rest = bz_str_from(path);

    if (strcmp(dir, "/") == 0)
        return true;
    return bz_str_cut_prefix(&rest, bz_str_from(dir)) &&
           (rest.n == 0 || rest.p[0] == '/');
}

static int leads_outside(struct bz_kas_place at, struct bz_str name, const char *base,
                         struct bz_err *err)
{
    return bz_fail(err, BZ_E_INVAL,
                   BZ_KAS_PLACE_FMT ": include '%.*s' leads out of its repository %s",
                   BZ_KAS_PLACE_ARG(at), BZ_STR_ARG(name), base);
}

/* The file `name` in the directory `base`, free of links. BZ_E_NOENT if there is none,
 * BZ_E_INVAL if it is not inside. */
static int find_in(struct bz_arena *arena, const char *base, struct bz_str name,
                   struct bz_kas_place at, const char **out, struct bz_err *err)
{
    BZ_CLEANUP(bz_mem_freep) char *real = NULL;
    BZ_CLEANUP(bz_mem_freep) char *real_base = realpath(base, NULL);
    const char *joined;
    int rc = bz_kas_file_resolve(arena, base, name, &joined, err);

    if (rc < 0)
        return bz_err_wrap(err, BZ_KAS_PLACE_FMT, BZ_KAS_PLACE_ARG(at));
    real = realpath(joined, NULL);
    if (real && real_base) {
        *out = bz_arena_dup(arena, bz_str_from(real)).p;
        return is_inside(real, real_base) ? 0 : leads_outside(at, name, base, err);
    }
    if (!is_inside(joined, base))
        return leads_outside(at, name, base, err);
    if (errno == ENOENT || errno == ENOTDIR)
        return bz_fail(err, BZ_E_NOENT,
                       BZ_KAS_PLACE_FMT ": include '%.*s' is not in %s",
                       BZ_KAS_PLACE_ARG(at), BZ_STR_ARG(name), base);
    return bz_fail_sys(err, BZ_KAS_PLACE_FMT ": include '%.*s'", BZ_KAS_PLACE_ARG(at),
                       BZ_STR_ARG(name));
}

/* An include by name alone; `v` is what is to become of it. */
static int include_name(struct bz_kas_include *inc, struct bz_str name,
                        const struct visit *v, struct bz_err *err)
{
    const char *beside = dirname_of(inc->arena, v->up->file->path);
    struct bz_err second;
    const char *path = NULL;
    int rc = find_in(inc->arena, v->root, name, v->from, &path, err);

    if (rc == BZ_E_NOENT &&
        find_in(inc->arena, beside, name, v->from, &path, &second) == 0) {
        bz_kas_place_warn(inc->notes, v->from,
                          "include '%.*s' starts from the directory of its file; it "
                          "should start from %s",
                          BZ_STR_ARG(name), v->root);
        rc = 0;
    }
    return rc < 0 ? rc : visit_file(inc, path, *v, err);
}

/* An include from a repository, whose directory may be unknown yet. */
static int include_from_repo(struct bz_kas_include *inc, const struct bz_doc *item,
                             struct visit v, struct bz_err *err)
{
    struct bz_str repo = bz_doc_find(item, "repo")->text;
    struct bz_str name = bz_doc_find(item, "file")->text;
    const struct bz_map_entry *known = bz_map_get(&inc->dirs, repo);
    const char *const *dir = known ? known->p : NULL;
    const char *path = NULL;
    int rc;

    if (!dir) {
        BZ_VEC_PUSH(&inc->missing, (struct bz_kas_wanted){repo, v.from});
        return 0;
    }
    v.root = *dir;
    v.external = strcmp(v.root, inc->root) != 0;
    rc = find_in(inc->arena, v.root, name, v.from, &path, err);
    return rc < 0 ? rc : visit_file(inc, path, v, err);
}

/* What `up` leads to: in the same repository unless somebody knows better. */
static struct visit below(const struct visit *up, const struct bz_doc *from)
{
    return (struct visit){.up = up,
                          .depth = up->depth + 1,
                          .root = up->root,
                          .external = up->external,
                          .from = place(up->file, from)};
}

static int visit_includes(struct bz_kas_include *inc, const struct visit *up,
                          struct bz_err *err)
{
    const struct bz_doc *header = bz_doc_find(up->file->doc, "header");
    const struct bz_doc *list = bz_doc_find(header, "includes");

    for (size_t i = 0; list && i < list->count; i++) {
        const struct bz_doc *item = &list->items[i];
        struct visit v = below(up, item);
        int rc;

        if (item->type == BZ_DOC_STR)
            rc = include_name(inc, item->text, &v, err);
        else
            rc = include_from_repo(inc, item, v, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int visit_lock(struct bz_kas_include *inc, const struct visit *up,
                      struct bz_err *err)
{
    struct visit v = below(up, up->file->doc);
    struct bz_path name;
    int rc = bz_lock_name(bz_str_from(up->file->path), &name, err);

    if (rc < 0)
        return rc;
    if (!bz_fs_exists(AT_FDCWD, name.s))
        return 0;
    v.lock = true;
    return visit_file(inc, bz_arena_dup(inc->arena, bz_path_str(&name)).p, v, err);
}

/* kas's menu writes a file elsewhere that says where the project's repository is. */
static int take_source_dir(struct bz_kas_include *inc, struct visit *v,
                           struct bz_err *err)
{
    const struct bz_doc *dir = bz_doc_find(v->file->doc, "_source_dir");
    int rc;

    if (!dir)
        return 0;
    if (!v->first)
        return bz_fail(err, BZ_E_INVAL,
                       BZ_KAS_PLACE_FMT
                       ": '_source_dir' is only for the file that the user named first",
                       BZ_KAS_PLACE_ARG(place(v->file, dir)));
    rc = bz_kas_file_resolve(inc->arena, inc->cwd, dir->text, &inc->root, err);
    v->root = inc->root;
    return rc;
}

/* The file that is visited again is the one of `again`. */
static int fail_cycle(const struct visit *v, const struct visit *again,
                      struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    const struct visit *chain[BZ_KAS_INCLUDE_DEPTH];
    size_t n = 0;

    for (const struct visit *u = v->up; u != again->up; u = u->up)
        chain[n++] = u;
    while (n-- > 0)
        bz_buf_addf(&text, "%s -> ", chain[n]->file->shown);
    return bz_fail(err, BZ_E_INVAL, BZ_KAS_PLACE_FMT ": include cycle: %s%s",
                   BZ_KAS_PLACE_ARG(v->from), bz_buf_text(&text), again->file->shown);
}

static int check_chain(struct bz_kas_include *inc, const char *path,
                       const struct visit *v, struct bz_err *err)
{
    for (const struct visit *u = v->up; u; u = u->up)
        if (strcmp(u->file->path, path) == 0)
            return fail_cycle(v, u, err);
    if (v->depth == BZ_KAS_INCLUDE_DEPTH)
        return bz_fail(err, BZ_E_LIMIT,
                       BZ_KAS_PLACE_FMT ": more than %d files include each other",
                       BZ_KAS_PLACE_ARG(v->from), BZ_KAS_INCLUDE_DEPTH);
    if (inc->visits++ == BZ_KAS_INCLUDE_VISITS)
        return bz_fail(err, BZ_E_LIMIT, "%s: more than %d includes in all", path,
                       BZ_KAS_INCLUDE_VISITS);
    return 0;
}

static int read_once(struct bz_kas_include *inc, const char *path,
                     const struct bz_kas_file **out, struct bz_err *err)
{
    const struct bz_map_entry *entry = bz_map_get(&inc->files, bz_str_from(path));
    struct bz_kas_file *file;
    int rc;

    if (entry) {
        *out = entry->p;
        return 0;
    }
    file = BZ_ARENA_NEW(inc->arena, struct bz_kas_file);
    rc = bz_kas_file_read(inc->arena, path, inc->cwd, inc->notes, file, err);
    if (rc < 0)
        return rc;
    bz_map_put(&inc->files, bz_str_from(file->path))->p = file;
    *out = file;
    return 0;
}

/* check_chain() bounds the recursion. */
static int visit_file(struct bz_kas_include *inc, const char *path, struct visit v,
                      struct bz_err *err)
{
    int rc = check_chain(inc, path, &v, err);

    if (rc == 0)
        rc = read_once(inc, path, &v.file, err);
    if (rc == 0)
        rc = visit_lock(inc, &v, err);
    if (rc == 0)
        rc = take_source_dir(inc, &v, err);
    if (rc == 0)
        rc = visit_includes(inc, &v, err);
    if (rc == 0)
        BZ_VEC_PUSH(&inc->order, (struct bz_kas_source){v.file, v.lock, v.external});
    return rc;
}

/* The named files are in one repository, or all in none. */
static int find_root(struct bz_kas_include *inc, struct bz_err *err)
{
    bool versioned = false;

    for (size_t i = 0; i < inc->ntops; i++) {
        const char *dir = dirname_of(inc->arena, inc->tops[i]);
        struct bz_path root;
        bool found = bz_repo_root(dir, &root);

        if (i == 0) {
            versioned = found;
            inc->root = found ? bz_arena_dup(inc->arena, bz_path_str(&root)).p : dir;
        } else if (found != versioned || (found && strcmp(root.s, inc->root) != 0)) {
            return bz_fail(err, BZ_E_INVAL, "%s and %s are not in the same repository",
                           inc->tops[0], inc->tops[i]);
        }
    }
    return 0;
}

int bz_kas_include_collect(struct bz_kas_include *inc, struct bz_err *err)
{
    int rc = find_root(inc, err);

    BZ_VEC_CLEAR(&inc->order);
    BZ_VEC_CLEAR(&inc->missing);
    for (size_t i = 0; rc == 0 && i < inc->ntops; i++) {
        struct visit v = {.root = inc->root, .first = i == 0};

        v.from = (struct bz_kas_place){inc->tops[i], 1, 1};
        rc = visit_file(inc, inc->tops[i], v, err);
    }
    return rc;
}

void bz_kas_include_release(struct bz_kas_include *inc)
{
    bz_map_release(&inc->dirs);
    bz_map_release(&inc->files);
    bz_vec_release(&inc->order);
    bz_vec_release(&inc->missing);
}
