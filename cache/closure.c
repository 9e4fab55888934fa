#include "cache/closure.h"

#include "base/map.h"
#include "base/mem.h"

static struct bz_str key_of(const struct bz_reapi_digest *d)
{
    return bz_str_of((const char *)d->hash.b, sizeof(d->hash.b));
}

/* `seen` holds what is in the list already; its keys must stay where they are. */
static void add(struct bz_closure_blobs *out, struct bz_map *seen,
                const struct bz_reapi_digest *d)
{
    struct bz_map_entry *e;

    if (bz_reapi_digest_none(d))
        return;
    e = bz_map_put(seen, key_of(d));
    if (e->u == 0)
        BZ_VEC_PUSH(out, *d);
    e->u = 1;
}

void bz_closure_own(const struct bz_reapi_result *r, struct bz_closure_blobs *out)
{
    BZ_CLEANUP(bz_map_release) struct bz_map seen = {0};

    for (size_t i = 0; i < r->nfiles; i++)
        add(out, &seen, &r->files[i].digest);
    for (size_t i = 0; i < r->ndirs; i++) {
        add(out, &seen, &r->dirs[i].tree);
        add(out, &seen, &r->dirs[i].root);
    }
    add(out, &seen, &r->out);
    add(out, &seen, &r->error);
}

int bz_closure_tree(struct bz_cas *cas, struct bz_digest_hasher *h,
                    const struct bz_reapi_digest *tree, struct bz_closure_blobs *out,
                    struct bz_err *err)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    BZ_CLEANUP(bz_map_release) struct bz_map seen = {0};
    BZ_CLEANUP(bz_mem_freep) char *bytes = NULL;
    struct bz_reapi_tree t;
    int rc = bz_cas_read(cas, h, tree, BZ_REAPI_TREE_MAX, &bytes, err);

    if (rc == 0)
        rc = bz_reapi_tree_decode(&a, bz_str_of(bytes, tree->size), &t, err);
    for (size_t i = 0; rc == 0 && i < t.ndirs; i++) {
        struct bz_reapi_dir dir;

        rc = bz_reapi_dir_decode(&a, t.dirs[i], &dir, err);
        for (size_t k = 0; rc == 0 && k < dir.nfiles; k++)
            add(out, &seen, &dir.files[k].digest);
    }
    return rc < 0 ? bz_err_wrap(err, "look into a tree") : 0;
}

int bz_closure_all(struct bz_cas *cas, struct bz_digest_hasher *h,
                   const struct bz_reapi_result *r, struct bz_closure_blobs *out,
                   struct bz_err *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < r->ndirs; i++)
        if (!bz_reapi_digest_none(&r->dirs[i].tree))
            rc = bz_closure_tree(cas, h, &r->dirs[i].tree, out, err);
    if (rc == 0)
        bz_closure_own(r, out);
    return rc;
}
