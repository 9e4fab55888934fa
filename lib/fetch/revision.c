#include "fetch/revision.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/sync.h"
#include "codec/digest.h"
#include "os/clock.h"
#include "os/fs.h"
#include "os/fs_lock.h"
#include "os/path.h"

#define HEAD "bitzel revisions 1\n"
#define TAIL "sha256 "
#define LIMIT ((size_t)16 << 20)
#define PATIENCE (10 * BZ_CLOCK_S)

/* A line of the file: COMMIT TIME QUESTION. */
struct answer {
    char commit[BZ_REVISION_HEX];
    int64_t when;
    bool added; /* in this run */
};

struct bz_revisions {
    char *path; /* or NULL */
    bool refresh;
    struct bz_sync_mutex mu; /* for all below */
    struct bz_arena arena;
    struct bz_map answers; /* question -> struct answer */
    bool unsaved;
};

bool bz_revision_is_commit(struct bz_str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((s.p[i] < '0' || s.p[i] > '9') && (s.p[i] < 'a' || s.p[i] > 'f'))
            return false;
    return s.n == 40 || s.n == 64;
}

static void set_commit(struct answer *a, struct bz_str commit)
{
    snprintf(a->commit, sizeof(a->commit), "%.*s", BZ_STR_ARG(commit));
}

/* ---- the file ---- */

static bool read_line(struct bz_str line, struct bz_arena *arena, struct bz_map *out)
{
    struct answer *a = BZ_ARENA_NEW(arena, struct answer);
    struct bz_str commit, when, question;
    struct bz_err ignored;
    uint64_t seconds;

    if (!bz_str_cut(line, ' ', &commit, &question) ||
        !bz_str_cut(question, ' ', &when, &question) || question.n == 0 ||
        !bz_revision_is_commit(commit) ||
        bz_str_parse_u64(when, 10, INT64_MAX, &seconds, &ignored) < 0)
        return false;
    set_commit(a, commit);
    a->when = (int64_t)seconds;
    bz_map_put(out, bz_arena_dup(arena, question))->p = a;
    return true;
}

static int seal_of(struct bz_str text, char hex[BZ_DIGEST_HEX_LEN + 1],
                   struct bz_err *err)
{
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *hasher = NULL;
    struct bz_digest digest;
    int rc = bz_digest_hasher_new(&hasher, err);

    if (rc < 0)
        return rc;
    bz_digest_bytes(hasher, text.p, text.n, &digest);
    bz_digest_hex(&digest, hex);
    return 0;
}

/* The answers of the file; none unless it is whole. */
static int read_file(const char *path, struct bz_arena *arena, struct bz_map *out,
                     struct bz_err *err)
{
    BZ_CLEANUP(bz_mem_freep) char *text = NULL;
    char hex[BZ_DIGEST_HEX_LEN + 1];
    struct bz_str all, tail, line;
    size_t n, at;
    int rc = bz_fs_read(AT_FDCWD, path, LIMIT, &text, &n, err);

    if (rc < 0)
        return rc == BZ_E_NOENT ? 0 : rc;
    all = bz_str_of(text, n);
    at = bz_str_ends(all, BZ_STR("\n"))
             ? bz_str_rfind_byte(bz_str_sub(all, 0, n - 1), '\n')
             : BZ_STR_NONE;
    if (at == BZ_STR_NONE)
        return bz_fail(err, BZ_E_CORRUPT, "%s is cut short", path);
    tail = bz_str_sub(all, at + 1, n - 1);
    all = bz_str_sub(all, 0, at + 1);
    rc = seal_of(all, hex, err);
    if (rc < 0)
        return rc;
    if (!bz_str_cut_prefix(&tail, BZ_STR(TAIL)) || !bz_str_eq(tail, bz_str_from(hex)) ||
        !bz_str_cut_prefix(&all, BZ_STR(HEAD)))
        return bz_fail(err, BZ_E_CORRUPT, "%s is damaged", path);
    while (all.n > 0 && bz_str_next_part(&all, '\n', &line))
        if (line.n > 0 && !read_line(line, arena, out)) {
            bz_map_clear(out);
            return bz_fail(err, BZ_E_CORRUPT, "%s has a line that is no answer", path);
        }
    return 0;
}

static int write_file(const char *path, const struct bz_map *answers,
                      struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};
    char hex[BZ_DIGEST_HEX_LEN + 1];
    int rc;

    bz_buf_addf(&out, "%s", HEAD);
    for (const struct bz_map_entry *e = bz_map_next(answers, NULL); e;
         e = bz_map_next(answers, e)) {
        const struct answer *a = e->p;

        bz_buf_addf(&out, "%s %" PRId64 " %.*s\n", a->commit, a->when,
                    BZ_STR_ARG(e->key));
    }
    rc = seal_of(bz_buf_str(&out), hex, err);
    if (rc < 0)
        return rc;
    bz_buf_addf(&out, "%s%s\n", TAIL, hex);
    return bz_fs_write(AT_FDCWD, path, bz_buf_text(&out), out.len, 0644, BZ_FS_NOSYNC,
                       err);
}

/* ---- the object ---- */

struct bz_revisions *bz_revision_open(const char *path, bool refresh)
{
    struct bz_revisions *r = bz_mem_zalloc(sizeof(*r));
    struct bz_err ignored;

    r->refresh = refresh;
    if (path)
        r->path = bz_mem_dup(path, strlen(path) + 1);
    bz_sync_lock(&r->mu);
    if (path && read_file(path, &r->arena, &r->answers, &ignored) < 0)
        bz_log_debug("fetch", "no resolved revisions are recalled: %s", ignored.msg);
    bz_sync_unlock(&r->mu);
    return r;
}

void bz_revision_close(struct bz_revisions *r)
{
    if (!r)
        return;
    bz_sync_lock(&r->mu);
    bz_map_release(&r->answers);
    bz_arena_release(&r->arena);
    bz_sync_unlock(&r->mu);
    free(r->path);
    free(r);
}

static struct answer *find(const struct bz_revisions *r, struct bz_str question)
    BZ_REQUIRES(r->mu)
{
    const struct bz_map_entry *e = bz_map_get(&r->answers, question);
    struct answer *a = e ? e->p : NULL;

    return a && (a->added || !r->refresh) ? a : NULL;
}

bool bz_revision_find(struct bz_revisions *r, struct bz_str question,
                      char commit[BZ_REVISION_HEX], int64_t *when)
{
    const struct answer *a;
    bool found;

    bz_sync_lock(&r->mu);
    a = find(r, question);
    found = a != NULL;
    if (found) {
        memcpy(commit, a->commit, BZ_REVISION_HEX);
        if (when)
            *when = a->when;
    }
    bz_sync_unlock(&r->mu);
    return found;
}

void bz_revision_add(struct bz_revisions *r, struct bz_str question,
                     char commit[BZ_REVISION_HEX])
{
    struct answer *a;

    BZ_ASSERT(bz_revision_is_commit(bz_str_from(commit)) &&
              bz_str_find_byte(question, '\n') == BZ_STR_NONE);
    bz_sync_lock(&r->mu);
    a = find(r, question);
    if (!a) {
        a = BZ_ARENA_NEW(&r->arena, struct answer);
        *a = (struct answer){.when = bz_clock_wall() / BZ_CLOCK_S, .added = true};
        set_commit(a, bz_str_from(commit));
        bz_map_put(&r->answers, bz_arena_dup(&r->arena, question))->p = a;
        r->unsaved = true;
    }
    memcpy(commit, a->commit, BZ_REVISION_HEX);
    bz_sync_unlock(&r->mu);
}

/* The answers of this run, as copies. */
static bool take_added(struct bz_revisions *r, struct bz_arena *arena,
                       struct bz_map *out)
{
    bool unsaved;

    bz_sync_lock(&r->mu);
    unsaved = r->unsaved;
    r->unsaved = false;
    for (const struct bz_map_entry *e = bz_map_next(&r->answers, NULL); e && unsaved;
         e = bz_map_next(&r->answers, e)) {
        struct answer *own = BZ_ARENA_NEW(arena, struct answer);

        *own = *(const struct answer *)e->p;
        if (own->added)
            bz_map_put(out, bz_arena_dup(arena, e->key))->p = own;
    }
    bz_sync_unlock(&r->mu);
    return unsaved;
}

static int merge(const char *path, struct bz_arena *arena, const struct bz_map *added,
                 struct bz_err *err)
{
    BZ_CLEANUP(bz_map_release) struct bz_map all = {0};
    BZ_CLEANUP(bz_fs_closep) int lock = -1;
    struct bz_str dir = bz_arena_dup(arena, bz_path_dirname(bz_str_from(path)));
    int rc = bz_fs_mkdirs(AT_FDCWD, dir.p, 0777, err);

    if (rc == 0)
        rc = bz_fs_lock(AT_FDCWD, bz_arena_printf(arena, "%s.lock", path).p,
                        BZ_FS_LOCK_EXCLUSIVE, bz_clock_in(PATIENCE), &lock, err);
    if (rc < 0)
        return rc;
    if (read_file(path, arena, &all, err) < 0)
        bz_map_clear(&all); /* it is replaced */
    for (const struct bz_map_entry *e = bz_map_next(added, NULL); e;
         e = bz_map_next(added, e))
        bz_map_put(&all, e->key)->p = e->p;
    return write_file(path, &all, err);
}

int bz_revision_save(struct bz_revisions *r, struct bz_err *err)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    BZ_CLEANUP(bz_map_release) struct bz_map added = {0};

    if (!r->path || !take_added(r, &arena, &added))
        return 0;
    return merge(r->path, &arena, &added, err);
}
