#include "recipe/library.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/sync.h"
#include "base/vec.h"
#include "os/fs.h"
#include "os/fs_list.h"
#include "os/path.h"

enum { KINDS = BZ_PARSE_BASECONF + 1 };

struct book {
    struct bz_arena arena;
    struct bz_ast *ast; /* NULL: rc and err say why */
    int rc;
    struct bz_err err;
    struct bz_str diags;
};

/* Searches along the same directories; there are few such lists, and each is used for
 * every class of every recipe. */
struct search {
    struct bz_map trails; /* name -> struct trail * */
};

/* The paths that were tried for a name; what is there is the last of them. */
struct trail {
    bool found;
    size_t n;
    struct bz_str paths[];
};

struct paths BZ_VEC(struct bz_str);

struct bz_library {
    struct bz_sync_mutex mu;
    struct bz_arena arena;      /* mu; looks, diagnostics */
    struct bz_map books[KINDS]; /* mu; path -> struct book * */
    struct bz_map looks;        /* mu; path -> struct bz_library_look * */
    struct bz_map diags;        /* mu; path -> struct bz_str * */
    struct bz_map shelves;      /* mu; path -> struct shelf * */
    struct bz_map searches;     /* mu; directories -> struct search * */
    bz_library_hash_fn hash;
    void *hash_ctx;
    atomic_size_t evaluations;
};

/* A directory. */
struct shelf {
    struct bz_arena arena;
    struct bz_library_list list;
    bool is; /* false: it is no directory */
};

struct bz_library *bz_library_new(void)
{
    return bz_mem_zalloc(sizeof(struct bz_library));
}

/* relaxed, both: nothing else depends on the number */
void bz_library_count(struct bz_library *lib)
{
    atomic_fetch_add_explicit(&lib->evaluations, 1, memory_order_relaxed);
}

size_t bz_library_counted(const struct bz_library *lib)
{
    return lib ? atomic_load_explicit(&lib->evaluations, memory_order_relaxed) : 0;
}

static void book_free(struct book *b)
{
    bz_arena_release(&b->arena);
    free(b);
}

static void shelf_free(struct shelf *s)
{
    bz_vec_release(&s->list);
    bz_arena_release(&s->arena);
    free(s);
}

void bz_library_free(struct bz_library *lib)
{
    if (!lib)
        return;
    for (struct bz_map_entry *it = NULL; (it = bz_map_next(&lib->shelves, it));)
        shelf_free(it->p);
    bz_map_release(&lib->shelves);
    for (struct bz_map_entry *it = NULL; (it = bz_map_next(&lib->searches, it));)
        bz_map_release(&((struct search *)it->p)->trails);
    bz_map_release(&lib->searches);
    for (size_t i = 0; i < BZ_COUNTOF(lib->books); i++) {
        for (struct bz_map_entry *it = NULL; (it = bz_map_next(&lib->books[i], it));)
            book_free(it->p);
        bz_map_release(&lib->books[i]);
    }
    bz_map_release(&lib->looks);
    bz_map_release(&lib->diags);
    bz_arena_release(&lib->arena);
    free(lib);
}

void bz_library_freep(struct bz_library **lib)
{
    bz_library_free(*lib);
}

void bz_library_set_hash(struct bz_library *lib, bz_library_hash_fn hash, void *ctx)
{
    lib->hash = hash;
    lib->hash_ctx = ctx;
}

/* ---- looks ---- */

static struct bz_library_look *find_look(struct bz_library *lib, struct bz_str path)
{
    struct bz_map_entry *it;
    struct bz_library_look *look = NULL;

    bz_sync_lock(&lib->mu);
    it = bz_map_get(&lib->looks, path);
    if (it)
        look = it->p; /* the entry itself may move as soon as the lock is given up */
    bz_sync_unlock(&lib->mu);
    return look;
}

/* Notes what was found, unless another thread has: the first look counts, but that a
 * file's content counts is never forgotten. Nothing becomes something only if whoever
 * found nothing learns of it: so that stays. */
static struct bz_library_look *note_look(struct bz_library *lib,
                                         const struct bz_library_look *found)
{
    struct bz_map_entry *it;
    struct bz_library_look *look;

    bz_sync_lock(&lib->mu);
    it = bz_map_get(&lib->looks, found->path);
    if (!it) {
        struct bz_str path = bz_arena_dup(&lib->arena, found->path);

        it = bz_map_put(&lib->looks, path);
        look = BZ_ARENA_NEW(&lib->arena, struct bz_library_look);
        *look = *found;
        look->path = path; /* which others read without the lock */
        it->p = look;
    }
    look = it->p;
    if (found->read && !look->read && look->stamp.kind != BZ_STAMP_ABSENT) {
        look->stamp = found->stamp;
        look->read = true;
        memcpy(look->content, found->content, sizeof(look->content));
    }
    bz_sync_unlock(&lib->mu);
    return look;
}

/* Looks at a path that may have been looked at; NULL if it is too long to exist. */
static const struct bz_library_look *look_at(struct bz_library *lib, struct bz_str path)
{
    struct bz_library_look found = {.path = path}, *look = find_look(lib, path);
    struct bz_path terminated;
    struct bz_err err;

    if (look)
        return look;
    if (bz_path_join(BZ_STR(""), path, &terminated, &err) < 0)
        return NULL;
    bz_stamp_path(AT_FDCWD, terminated.s, &found.stamp);
    return note_look(lib, &found);
}

/* Whether something was there; also while another thread notes that it was read. */
static bool is_there(struct bz_library *lib, const struct bz_library_look *look)
{
    bool there;

    if (!look)
        return false;
    bz_sync_lock(&lib->mu);
    there = look->stamp.kind != BZ_STAMP_ABSENT;
    bz_sync_unlock(&lib->mu);
    return there;
}

bool bz_library_exists(struct bz_library *lib, struct bz_str path)
{
    return is_there(lib, look_at(lib, path));
}

const struct bz_library_look *bz_library_look(struct bz_library *lib,
                                              struct bz_str path)
{
    return find_look(lib, path);
}

/* ---- searches ---- */

static struct trail *find_trail(struct bz_library *lib, struct bz_str dirs,
                                struct bz_str name)
{
    const struct bz_map_entry *it;
    struct trail *t = NULL;

    bz_sync_lock(&lib->mu);
    it = bz_map_get(&lib->searches, dirs);
    if (it)
        it = bz_map_get(&((struct search *)it->p)->trails, name);
    if (it)
        t = it->p;
    bz_sync_unlock(&lib->mu);
    return t;
}

/* Keeps the paths as a trail, which equals that of any other thread. */
static struct trail *keep_trail(struct bz_library *lib, struct bz_str dirs,
                                struct bz_str name, const struct paths *paths,
                                bool found)
{
    size_t bytes = paths->len * sizeof(paths->at[0]);
    struct bz_map_entry *it;
    struct search *search;
    struct trail *t;

    bz_sync_lock(&lib->mu);
    t = bz_arena_alloc(&lib->arena, sizeof(*t) + bytes, _Alignof(struct trail));
    t->found = found;
    t->n = paths->len;
    if (bytes > 0)
        memcpy(t->paths, paths->at, bytes);
    it = bz_map_get(&lib->searches, dirs);
    if (!it) {
        it = bz_map_put(&lib->searches, bz_arena_dup(&lib->arena, dirs));
        it->p = BZ_ARENA_NEW(&lib->arena, struct search);
    }
    search = it->p;
    if (!bz_map_get(&search->trails, name))
        bz_map_put(&search->trails, bz_arena_dup(&lib->arena, name))->p = t;
    bz_sync_unlock(&lib->mu);
    return t;
}

static struct trail *follow(struct bz_library *lib, struct bz_str dirs,
                            struct bz_str name)
{
    BZ_CLEANUP(bz_vec_release) struct paths paths = {0};
    struct bz_str rest = dirs, dir;
    bool found = false;

    while (!found && bz_str_next_part(&rest, ':', &dir)) {
        const struct bz_library_look *look;
        struct bz_path path;
        struct bz_err err;

        if (bz_path_join(dir, name, &path, &err) < 0)
            continue;
        look = look_at(lib, bz_path_str(&path));
        if (look)
            BZ_VEC_PUSH(&paths, look->path);
        found = is_there(lib, look);
    }
    return keep_trail(lib, dirs, name, &paths, found);
}

struct bz_str bz_library_find(struct bz_library *lib, struct bz_str dirs,
                              struct bz_str name, bz_library_tried_fn tried, void *ctx)
{
    const struct trail *t = find_trail(lib, dirs, name);

    if (!t)
        t = follow(lib, dirs, name);
    for (size_t i = 0; i < t->n; i++)
        tried(ctx, t->paths[i]);
    return t->found ? t->paths[t->n - 1] : (struct bz_str){0};
}

/* ---- directories ---- */

static int by_name(const void *a, const void *b)
{
    const struct bz_library_entry *x = a, *y = b;

    return bz_str_cmp(x->name, y->name);
}

static enum bz_library_kind kind_of(int dir, const struct dirent *e)
{
    struct stat st;

    if (e->d_type == DT_DIR)
        return BZ_LIBRARY_DIR;
    if (e->d_type == DT_LNK)
        return BZ_LIBRARY_LINK;
    if (e->d_type != DT_UNKNOWN ||
        fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return BZ_LIBRARY_OTHER;
    if (S_ISDIR(st.st_mode))
        return BZ_LIBRARY_DIR;
    return S_ISLNK(st.st_mode) ? BZ_LIBRARY_LINK : BZ_LIBRARY_OTHER;
}

/* Reads a directory, with the stamp it has before that. */
static bool read_dir(const char *path, struct bz_arena *arena,
                     struct bz_library_list *out, struct bz_stamp *stamp)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const struct dirent *e;
    DIR *dir;

    if (fd < 0)
        return false;
    bz_stamp_fd(fd, stamp);
    dir = fdopendir(fd);
    if (!dir) {
        close(fd);
        return false;
    }
    while ((e = readdir(dir)) && out->len < BZ_FS_LIST_MAX) {
        struct bz_str name = bz_str_from(e->d_name);

        if (!bz_str_eq(name, BZ_STR(".")) && !bz_str_eq(name, BZ_STR("..")))
            BZ_VEC_PUSH(out, (struct bz_library_entry){bz_arena_dup(arena, name),
                                                       kind_of(fd, e)});
    }
    closedir(dir);
    BZ_VEC_SORT(out, by_name);
    return true;
}

/* Names and kinds: a name that comes to stand for a directory counts as well. */
static void hash_list(const struct bz_library_list *list, bz_library_hash_fn hash,
                      void *ctx, uint8_t out[32])
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};

    for (size_t i = 0; i < list->len; i++) {
        bz_buf_add_char(&text, (char)list->at[i].kind);
        bz_buf_add(&text, list->at[i].name.p, list->at[i].name.n + 1);
    }
    hash(ctx, bz_buf_str(&text), out);
}

bool bz_library_hash_dir(const char *path, bz_library_hash_fn hash, void *ctx,
                         struct bz_stamp *stamp, uint8_t out[32])
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    BZ_CLEANUP(bz_vec_release) struct bz_library_list list = {0};

    if (!read_dir(path, &arena, &list, stamp))
        return false;
    hash_list(&list, hash, ctx, out);
    return true;
}

static struct shelf *shelf_new(struct bz_library *lib, struct bz_str path)
{
    struct bz_library_look found = {.path = path};
    struct shelf *s = bz_mem_zalloc(sizeof(*s));

    s->is = read_dir(path.p, &s->arena, &s->list, &found.stamp);
    if (!s->is) {
        look_at(lib, path);
        return s;
    }
    found.read = true;
    if (lib->hash)
        hash_list(&s->list, lib->hash, lib->hash_ctx, found.content);
    note_look(lib, &found);
    return s;
}

const struct bz_library_list *bz_library_list(struct bz_library *lib,
                                              struct bz_str path)
{
    struct bz_map_entry *it;
    struct bz_path terminated;
    struct shelf *s = NULL;
    struct bz_err err;

    bz_sync_lock(&lib->mu);
    it = bz_map_get(&lib->shelves, path);
    if (it)
        s = it->p;
    bz_sync_unlock(&lib->mu);
    if (s)
        return s->is ? &s->list : NULL;
    if (bz_path_join(BZ_STR(""), path, &terminated, &err) < 0)
        return NULL;
    s = shelf_new(lib, bz_path_str(&terminated));
    bz_sync_lock(&lib->mu);
    it = bz_map_get(&lib->shelves, path);
    if (it) { /* another thread was faster: what it found counts */
        shelf_free(s);
        s = it->p;
    } else {
        bz_map_put(&lib->shelves, bz_arena_dup(&lib->arena, path))->p = s;
    }
    bz_sync_unlock(&lib->mu);
    return s->is ? &s->list : NULL;
}

/* ---- files ---- */

/* Whether a file that is read again has other bytes than the first time. */
static bool has_changed(struct bz_library *lib, const struct bz_library_look *first,
                        const struct bz_library_look *found)
{
    bool other;

    bz_sync_lock(&lib->mu);
    other = lib->hash && first->read && found->read &&
            memcmp(first->content, found->content, sizeof(found->content)) != 0;
    bz_sync_unlock(&lib->mu);
    return other;
}

/* The stamp comes first: what is read then is at least as new. */
static int read_bytes(struct bz_library *lib, struct bz_str path, char **data,
                      size_t *n, struct bz_err *err)
{
    struct bz_library_look found = {.path = path};
    BZ_CLEANUP(bz_fs_closep) int fd = -1;
    int rc = bz_fs_open_file(AT_FDCWD, path.p, &fd, err);

    if (rc < 0 && err->sys == EACCES)
        rc = err->code = BZ_E_INVAL; /* the fault of the metadata, not of the machine */
    if (rc < 0) {
        look_at(lib, path);
        return rc;
    }
    found.read = bz_stamp_fd(fd, &found.stamp);
    rc = bz_fs_read_fd(fd, path.p, BZ_PARSE_MAX, data, n, err);
    if (rc < 0)
        found.read = false;
    else if (lib->hash)
        lib->hash(lib->hash_ctx, bz_str_of(*data, *n), found.content);
    if (has_changed(lib, note_look(lib, &found), &found))
        return bz_fail(err, BZ_E_BUSY, "%s changed after it was read; try again",
                       path.p);
    return rc;
}

/* `path` is terminated and lives as long as the arena. */
static int parse(struct bz_library *lib, struct bz_arena *arena, struct bz_str path,
                 enum bz_parse_kind kind, struct bz_buf *diags, struct bz_ast **out,
                 struct bz_err *err)
{
    BZ_CLEANUP(bz_mem_freep) char *data = NULL;
    struct bz_diag_list list = {.arena = arena};
    size_t n = 0;
    int rc = read_bytes(lib, path, &data, &n, err);

    if (rc < 0)
        return rc;
    rc = bz_parse_text(arena, path.p, kind, bz_str_of(data, n), &list, out, err);
    for (const struct bz_diag *d = list.first; d; d = d->next)
        bz_diag_format(d, diags);
    return rc;
}

static struct book *book_new(struct bz_library *lib, struct bz_str path,
                             enum bz_parse_kind kind)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf diags = {0};
    struct book *b = bz_mem_zalloc(sizeof(*b));

    b->rc = parse(lib, &b->arena, bz_arena_dup(&b->arena, path), kind, &diags, &b->ast,
                  &b->err);
    if (b->rc < 0)
        b->ast = NULL;
    b->diags = bz_arena_dup(&b->arena, bz_buf_str(&diags));
    return b;
}

static struct book *find_book(struct bz_library *lib, struct bz_str path,
                              enum bz_parse_kind kind)
{
    struct bz_map_entry *it;
    struct book *b = NULL;

    bz_sync_lock(&lib->mu);
    it = bz_map_get(&lib->books[kind], path);
    if (it)
        b = it->p;
    bz_sync_unlock(&lib->mu);
    return b;
}

static void keep_diags_locked(struct bz_library *lib, struct bz_str path,
                              struct bz_str text) BZ_REQUIRES(lib->mu);

/* A text to be told by bz_library_diags. */
static void keep_diags_locked(struct bz_library *lib, struct bz_str path,
                              struct bz_str text)
{
    struct bz_map_entry *it;
    struct bz_str *kept;

    if (text.n == 0 || bz_map_get(&lib->diags, path))
        return;
    kept = BZ_ARENA_NEW(&lib->arena, struct bz_str);
    *kept = bz_arena_dup(&lib->arena, text);
    it = bz_map_put(&lib->diags, bz_arena_dup(&lib->arena, path));
    it->p = kept;
}

/* Puts the book in, unless another thread has: then that one counts. */
static struct book *shelve(struct bz_library *lib, struct bz_str path,
                           enum bz_parse_kind kind, struct book *b)
{
    struct bz_map_entry *it;
    struct book *other = NULL;

    bz_sync_lock(&lib->mu);
    it = bz_map_get(&lib->books[kind], path);
    if (it) {
        other = it->p;
    } else {
        bz_map_put(&lib->books[kind], bz_arena_dup(&lib->arena, path))->p = b;
        keep_diags_locked(lib, path, b->diags);
    }
    bz_sync_unlock(&lib->mu);
    if (!other)
        return b;
    book_free(b);
    return other;
}

int bz_library_get(struct bz_library *lib, struct bz_str path, enum bz_parse_kind kind,
                   const struct bz_ast **out, struct bz_err *err)
{
    struct book *b = find_book(lib, path, kind);

    if (!b)
        b = shelve(lib, path, kind, book_new(lib, path, kind));
    *out = b->ast;
    if (b->rc < 0)
        *err = b->err;
    return b->rc;
}

int bz_library_read(struct bz_library *lib, struct bz_str path, enum bz_parse_kind kind,
                    const struct bz_library_sheet *sheet, const struct bz_ast **out,
                    struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf own = {0};
    struct bz_ast *ast = NULL;
    int rc = parse(lib, sheet->arena, bz_arena_dup(sheet->arena, path), kind,
                   sheet->notes ? sheet->notes : &own, &ast, err);

    *out = rc < 0 ? NULL : ast;
    if (own.len > 0) {
        bz_sync_lock(&lib->mu);
        keep_diags_locked(lib, path, bz_buf_str(&own));
        bz_sync_unlock(&lib->mu);
    }
    return rc;
}

bool bz_library_told(struct bz_library *lib, struct bz_str path,
                     enum bz_parse_kind kind)
{
    const struct book *b = find_book(lib, path, kind);

    return b && b->diags.n > 0;
}

void bz_library_tell(struct bz_library *lib, struct bz_str key, struct bz_str text)
{
    bz_sync_lock(&lib->mu);
    keep_diags_locked(lib, key, text);
    bz_sync_unlock(&lib->mu);
}

struct told {
    struct bz_str path, text;
};

static int by_path(const void *a, const void *b)
{
    return bz_str_cmp(((const struct told *)a)->path, ((const struct told *)b)->path);
}

void bz_library_diags(struct bz_library *lib, struct bz_buf *out)
{
    BZ_CLEANUP(bz_vec_release) struct library_told BZ_VEC(struct told) all = {0};

    bz_sync_lock(&lib->mu);
    for (struct bz_map_entry *it = NULL; (it = bz_map_next(&lib->diags, it));) {
        struct bz_str *text = it->p;

        BZ_VEC_PUSH(&all, (struct told){it->key, *text});
        *text = (struct bz_str){0};
    }
    bz_sync_unlock(&lib->mu);
    BZ_VEC_SORT(&all, by_path);
    for (size_t i = 0; i < all.len; i++)
        bz_buf_add_str(out, all.at[i].text);
}
