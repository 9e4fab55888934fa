#include "recipe/library.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/sync.h"
#include "os/path.h"

struct book {
    struct bz_arena arena;
    struct bz_ast *ast; /* NULL: rc and err say why */
    int rc;
    struct bz_err err;
};

struct bz_library {
    struct bz_sync_mutex mu;
    struct bz_arena arena; /* mu; paths, diagnostics */
    struct bz_map books;   /* mu; kind and path -> struct book * */
    struct bz_map exists;  /* mu; path -> 1 or 2: no or yes */
    struct bz_buf diags;   /* mu */
};

enum { NO = 1, YES = 2 };

struct bz_library *bz_library_new(void)
{
    return bz_mem_zalloc(sizeof(struct bz_library));
}

static void book_free(struct book *b)
{
    bz_arena_release(&b->arena);
    free(b);
}

void bz_library_free(struct bz_library *lib)
{
    if (!lib)
        return;
    for (struct bz_map_entry *it = NULL; (it = bz_map_next(&lib->books, it));)
        book_free(it->p);
    bz_map_release(&lib->books);
    bz_map_release(&lib->exists);
    bz_buf_release(&lib->diags);
    bz_arena_release(&lib->arena);
    free(lib);
}

void bz_library_freep(struct bz_library **lib)
{
    bz_library_free(*lib);
}

static struct book *book_new(struct bz_str path, enum bz_parse_kind kind,
                             struct bz_buf *diags)
{
    struct book *b = bz_mem_zalloc(sizeof(*b));
    struct bz_diag_list list = {.arena = &b->arena};

    b->rc = bz_parse_file(&b->arena, bz_arena_dup(&b->arena, path).p, kind, &list,
                          &b->ast, &b->err);
    if (b->rc < 0)
        b->ast = NULL;
    for (const struct bz_diag *d = list.first; d; d = d->next)
        bz_diag_format(d, diags);
    return b;
}

static struct book *find_book(struct bz_library *lib, struct bz_str key)
{
    struct bz_map_entry *it;
    struct book *b = NULL;

    bz_sync_lock(&lib->mu);
    it = bz_map_get(&lib->books, key);
    if (it)
        b = it->p; /* the entry itself may move as soon as the lock is given up */
    bz_sync_unlock(&lib->mu);
    return b;
}

/* Puts the book in, unless another thread has: then that one counts. */
static struct book *shelve(struct bz_library *lib, struct bz_str key, struct book *b,
                           struct bz_str diags)
{
    struct bz_map_entry *it;
    struct book *other = NULL;

    bz_sync_lock(&lib->mu);
    it = bz_map_get(&lib->books, key);
    if (it) {
        other = it->p;
    } else {
        bz_map_put(&lib->books, bz_arena_dup(&lib->arena, key))->p = b;
        bz_buf_add_str(&lib->diags, diags);
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
    BZ_CLEANUP(bz_buf_release) struct bz_buf key = {0};
    struct book *b;

    bz_buf_addf(&key, "%d%.*s", (int)kind, BZ_STR_ARG(path));
    b = find_book(lib, bz_buf_str(&key));
    if (!b) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf diags = {0};

        b = book_new(path, kind, &diags);
        b = shelve(lib, bz_buf_str(&key), b, bz_buf_str(&diags));
    }
    *out = b->ast;
    if (b->rc < 0)
        *err = b->err;
    return b->rc;
}

bool bz_library_exists(struct bz_library *lib, struct bz_str path)
{
    struct bz_path terminated;
    struct bz_map_entry *it;
    struct bz_err err;
    uint64_t answer;

    bz_sync_lock(&lib->mu);
    it = bz_map_get(&lib->exists, path);
    answer = it ? it->u : 0;
    bz_sync_unlock(&lib->mu);
    if (answer)
        return answer == YES;
    if (bz_path_join(BZ_STR(""), path, &terminated, &err) < 0)
        return false; /* too long to exist */
    answer = access(terminated.s, F_OK) == 0 ? YES : NO;
    bz_sync_lock(&lib->mu);
    if (!bz_map_get(&lib->exists, path))
        bz_map_put(&lib->exists, bz_arena_dup(&lib->arena, path))->u = answer;
    bz_sync_unlock(&lib->mu);
    return answer == YES;
}

static struct bz_str keep(struct bz_library *lib, struct bz_str path)
{
    struct bz_str kept;

    bz_sync_lock(&lib->mu);
    kept = bz_arena_dup(&lib->arena, path);
    bz_sync_unlock(&lib->mu);
    return kept;
}

struct bz_str bz_library_find(struct bz_library *lib, struct bz_str dirs,
                              struct bz_str name, bz_library_tried_fn tried, void *ctx)
{
    struct bz_str dir;

    while (bz_str_next_part(&dirs, ':', &dir)) {
        struct bz_path path;
        struct bz_err err;

        if (bz_path_join(dir, name, &path, &err) < 0)
            continue;
        tried(ctx, bz_path_str(&path));
        if (bz_library_exists(lib, bz_path_str(&path)))
            return keep(lib, bz_path_str(&path));
    }
    return (struct bz_str){0};
}

void bz_library_diags(struct bz_library *lib, struct bz_buf *out)
{
    bz_sync_lock(&lib->mu);
    bz_buf_add_str(out, bz_buf_str(&lib->diags));
    bz_buf_truncate(&lib->diags, 0);
    bz_sync_unlock(&lib->mu);
}
