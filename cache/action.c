#include "cache/action.h"

#include <errno.h>

#include "base/log.h"
#include "base/mem.h"
#include "cache/closure.h"

#define TRIES 4 /* of which a collector, or other writers, may spoil some */

bool bz_action_has(const struct bz_cas *cas, const struct bz_digest *key)
{
    return bz_shelf_has(&cas->actions, key);
}

void bz_action_record_key(struct bz_digest_hasher *h, const struct bz_digest *key,
                          struct bz_digest *out)
{
    static const char kind[] = "bitzel/record";

    bz_digest_begin(h);
    bz_digest_add(h, kind, sizeof(kind) - 1);
    bz_digest_add(h, key->b, BZ_DIGEST_LEN);
    bz_digest_end(h, out);
}

enum bz_action_bound bz_action_bound(const struct bz_reapi_result *r,
                                     const struct bz_digest *key)
{
    enum bz_action_bound got = BZ_ACTION_UNBOUND;

    for (size_t i = 0; i < r->naux && got != BZ_ACTION_ELSEWHERE; i++)
        if (bz_str_eq(r->aux[i].type, BZ_STR(BZ_ACTION_KEY)))
            got = bz_str_eq(r->aux[i].value,
                            bz_str_of((const char *)key->b, sizeof(key->b)))
                      ? BZ_ACTION_BOUND
                      : BZ_ACTION_ELSEWHERE;
    return got;
}

struct bz_reapi_result bz_action_bind(struct bz_arena *a,
                                      const struct bz_reapi_result *r,
                                      const struct bz_digest *key)
{
    struct bz_reapi_result out = *r;

    if (bz_action_bound(r, key) == BZ_ACTION_BOUND)
        return out;
    out.aux = BZ_ARENA_ARRAY(a, struct bz_reapi_aux, r->naux + 1);
    out.naux = 0;
    for (size_t i = 0; i < r->naux; i++)
        if (!bz_str_eq(r->aux[i].type, BZ_STR(BZ_ACTION_KEY)))
            out.aux[out.naux++] = r->aux[i];
    out.aux[out.naux++] = (struct bz_reapi_aux){
        BZ_STR(BZ_ACTION_KEY),
        bz_arena_dup(a, bz_str_of((const char *)key->b, sizeof(key->b)))};
    return out;
}

static bool same_digest(const struct bz_reapi_digest *a,
                        const struct bz_reapi_digest *b)
{
    return a->size == b->size && bz_digest_eq(&a->hash, &b->hash);
}

static bool same_files(const struct bz_reapi_result *a, const struct bz_reapi_result *b)
{
    if (a->nfiles != b->nfiles)
        return false;
    for (size_t i = 0; i < a->nfiles; i++)
        if (!bz_str_eq(a->files[i].path, b->files[i].path) ||
            !same_digest(&a->files[i].digest, &b->files[i].digest) ||
            a->files[i].executable != b->files[i].executable)
            return false;
    return true;
}

static bool same_dirs(const struct bz_reapi_result *a, const struct bz_reapi_result *b)
{
    if (a->ndirs != b->ndirs)
        return false;
    for (size_t i = 0; i < a->ndirs; i++)
        if (!bz_str_eq(a->dirs[i].path, b->dirs[i].path) ||
            !same_digest(&a->dirs[i].tree, &b->dirs[i].tree) ||
            !same_digest(&a->dirs[i].root, &b->dirs[i].root))
            return false;
    return true;
}

static bool same_links(const struct bz_reapi_result *a, const struct bz_reapi_result *b)
{
    if (a->nlinks != b->nlinks)
        return false;
    for (size_t i = 0; i < a->nlinks; i++)
        if (!bz_str_eq(a->links[i].name, b->links[i].name) ||
            !bz_str_eq(a->links[i].target, b->links[i].target))
            return false;
    return true;
}

bool bz_action_same(const struct bz_reapi_result *a, const struct bz_reapi_result *b)
{
    return a->exit_code == b->exit_code && same_files(a, b) && same_dirs(a, b) &&
           same_links(a, b);
}

struct found {
    struct bz_reapi_result result;
    struct stat st;
    bool unbound; /* it names no key, and stays where it is */
};

static int open_result(struct bz_cas *cas, const struct bz_digest *key, char **out,
                       size_t *n, struct stat *st, struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep) int fd = -1;
    int rc = bz_shelf_fd(&cas->actions, key, &fd, err);

    if (rc < 0)
        return rc;
    if (fstat(fd, st) < 0)
        return bz_fail_sys(err, "stat an action result");
    if (!S_ISREG(st->st_mode))
        return bz_fail(err, BZ_E_LIMIT, "an action result that is no file");
    return bz_fs_read_fd(fd, "an action result", BZ_REAPI_MESSAGE_MAX, out, n, err);
}

static int miss(const struct bz_digest *key, const char *why, struct bz_err *err)
{
    char hex[BZ_DIGEST_HEX_LEN + 1];

    bz_digest_hex(key, hex);
    return bz_fail(err, BZ_E_NOENT, "action result %s: %s", hex, why);
}

/* Said once for each opening of a store: who files one wrongly files many. */
static const char *misfiled(const struct bz_cas *cas, const struct bz_digest *key,
                            const char *why)
{
    struct bz_shelf_root *root = cas->actions.root;
    char name[BZ_SHELF_NAME];

    bz_shelf_name(key, name);
    /* relaxed: nothing else depends on it */
    if (!atomic_exchange_explicit(&root->told_key, true, memory_order_relaxed))
        bz_log_warn("cache",
                    "%s/ac/%s %s: it counts as missing, and more like it are not "
                    "mentioned",
                    root->path, name, why);
    return why;
}

/* Why a result that was read does not count, or NULL. */
static const char *refuse(const struct bz_cas *cas, const struct bz_digest *key,
                          enum bz_action_from from, struct found *it)
{
    if (from == BZ_ACTION_OURS && !it->result.sealed)
        return "no seal";
    switch (bz_action_bound(&it->result, key)) {
    case BZ_ACTION_BOUND:
        break;
    case BZ_ACTION_ELSEWHERE:
        return misfiled(cas, key, BZ_ACTION_MISFILED);
    case BZ_ACTION_UNBOUND:
        if (from == BZ_ACTION_ANYONE)
            break;
        it->unbound = true;
        return BZ_ACTION_OLD;
    }
    return NULL;
}

/* Also tells which file it was. */
static int get(struct bz_cas *cas, struct bz_digest_hasher *h,
               const struct bz_digest *key, enum bz_action_from from,
               struct bz_arena *a, struct found *out, struct bz_err *err)
{
    BZ_CLEANUP(bz_mem_freep) char *bytes = NULL;
    const char *why = NULL;
    size_t n = 0;
    int sys;
    int rc = open_result(cas, key, &bytes, &n, &out->st, err);

    if (rc == BZ_E_LIMIT)
        why = S_ISREG(out->st.st_mode) ? "too large" : "not a file";
    else if (rc < 0 && (err->sys == EIO || err->sys == ESTALE))
        why = "cannot be read";
    else if (rc < 0)
        return rc;
    else if (bz_reapi_result_decode(a, bz_str_of(bytes, n), h, &out->result, err) < 0)
        why = "not a result, or a wrong seal";
    else
        why = refuse(cas, key, from, out);
    if (!why && bz_shelf_claim(&cas->actions, key) == BZ_SHELF_ABSENT)
        return miss(key, "removed by a collector", err);
    if (!why)
        return 0;
    if (!out->unbound && (rc == 0 || rc == BZ_E_LIMIT || err->sys == EIO))
        bz_shelf_quarantine(&cas->actions, key, &out->st,
                            strcmp(why, BZ_ACTION_MISFILED) == 0 ? NULL : why);
    sys = rc < 0 ? err->sys : 0;
    (void)miss(key, why, err);
    err->sys = sys;
    return BZ_E_NOENT;
}

int bz_action_get(struct bz_cas *cas, struct bz_digest_hasher *h,
                  const struct bz_digest *key, enum bz_action_from from,
                  struct bz_arena *a, struct bz_reapi_result *out, struct bz_err *err)
{
    struct found found = {0};
    int rc = get(cas, h, key, from, a, &found, err);

    if (rc == 0)
        *out = found.result;
    return rc;
}

/* Whether a result is of no use, for it names blobs that are gone or make no sense. */
static bool incomplete(struct bz_cas *cas, struct bz_digest_hasher *h,
                       const struct bz_reapi_result *r)
{
    BZ_CLEANUP(bz_vec_release) struct bz_closure_blobs blobs = {0};
    struct bz_err err;
    int rc = bz_closure_all(cas, h, r, &blobs, &err);

    for (size_t i = 0; rc == 0 && i < blobs.len; i++)
        if (!bz_cas_claim(cas, &blobs.at[i]))
            rc = BZ_E_NOENT;
    return rc == BZ_E_NOENT || rc == BZ_E_CORRUPT || rc == BZ_E_LIMIT;
}

/* What was there first stays, if it is of use. Otherwise, or if it was damaged, which
 * has been seen by looking at it, it is put aside, so that the caller may try again:
 * then *how is BZ_ACTION_STORED. */
static int compare(struct bz_cas *cas, struct bz_digest_hasher *h,
                   const struct bz_digest *key, const struct bz_reapi_result *r,
                   enum bz_action_put *how, struct bz_err *err)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct found first = {0};
    int rc = get(cas, h, key, BZ_ACTION_OURS, &a, &first, err);

    *how = BZ_ACTION_STORED;
    if (first.unbound)
        bz_shelf_quarantine(&cas->actions, key, &first.st, NULL);
    if (rc == BZ_E_NOENT)
        return 0;
    if (rc < 0)
        return rc;
    if (bz_action_same(&first.result, r))
        *how = BZ_ACTION_SAME;
    else if (incomplete(cas, h, &first.result))
        bz_shelf_quarantine(&cas->actions, key, &first.st, "it names what is gone");
    else
        *how = BZ_ACTION_DIFFERENT;
    return 0;
}

int bz_action_put(struct bz_cas *cas, struct bz_digest_hasher *h,
                  const struct bz_digest *key, const struct bz_reapi_result *r,
                  enum bz_action_put *how, struct bz_err *err)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf bytes = {0};
    struct bz_reapi_result bound = bz_action_bind(&a, r, key);
    int rc = bz_reapi_result_encode(&bound, h, &bytes, err);

    if (rc < 0)
        return rc;
    for (int i = 0; i < TRIES; i++) {
        BZ_CLEANUP(bz_shelf_temp_release) struct bz_shelf_temp t = {.fd = -1};
        bool existed = false;

        *how = BZ_ACTION_STORED;
        rc = bz_shelf_temp_open(&cas->root, &t, err);
        if (rc == 0)
            rc = bz_fs_write_all(t.fd, "an action result", bytes.data, bytes.len, err);
        if (rc == 0)
            rc = bz_shelf_publish(&cas->actions, &t, key, &existed, err);
        if (rc == 0 && existed)
            rc = compare(cas, h, key, r, how, err);
        if (rc < 0 || !existed || *how != BZ_ACTION_STORED)
            return rc;
    }
    return bz_fail(err, BZ_E_BUSY, "a result that cannot be read is in the way");
}
