#include "jobs/symbols.h"

#include <ctype.h>
#include <stdio.h>

#include "base/mem.h"

void bz_symbols_release(struct bz_symbols *t)
{
    struct bz_map_entry *e;

    for (e = bz_map_next(&t->map, NULL); e; e = bz_map_next(&t->map, e))
        free(e->p);
    bz_map_release(&t->map);
}

static bool is_name(const char *name)
{
    size_t n = 0;

    for (; name[n]; n++)
        if (n == BZ_SYMBOLS_NAME ||
            (!isalnum((unsigned char)name[n]) && !strchr("_-.", name[n])))
            return false;
    return n > 0;
}

int bz_symbols_add(struct bz_symbols *t, const char *name, void *p, size_t size,
                   unsigned access, struct bz_err *err)
{
    struct bz_symbol *s;
    int rc = 0;

    if (!is_name(name))
        return bz_fail(err, BZ_E_INVAL, "'%.*s' cannot be the name of a symbol",
                       BZ_SYMBOLS_NAME, name);
    bz_sync_lock(&t->mutex);
    if (bz_map_get(&t->map, bz_str_from(name))) {
        rc = bz_fail(err, BZ_E_EXISTS, "there is a symbol %s already", name);
    } else {
        s = bz_mem_zalloc(sizeof(*s));
        snprintf(s->name, sizeof(s->name), "%s", name);
        s->p = p;
        s->size = size;
        s->access = access;
        bz_map_put(&t->map, bz_str_from(s->name))->p = s;
    }
    bz_sync_unlock(&t->mutex);
    return rc;
}

int bz_symbols_remove(struct bz_symbols *t, const char *name, struct bz_err *err)
{
    struct bz_map_entry *e;
    struct bz_symbol *s = NULL;

    bz_sync_lock(&t->mutex);
    e = bz_map_get(&t->map, bz_str_from(name));
    if (e) {
        s = e->p;
        if (s->leaving)
            s = NULL; /* somebody else is about to */
    }
    if (s) {
        s->leaving = true;
        while (s->held > 0)
            bz_sync_wait(&t->changed, &t->mutex, 0);
        bz_map_remove(&t->map, bz_str_from(name));
        free(s);
    }
    bz_sync_unlock(&t->mutex);
    return s ? 0
             : bz_fail(err, BZ_E_NOENT, "unknown symbol: %.*s", BZ_SYMBOLS_NAME, name);
}

int bz_symbols_hold(struct bz_symbols *t, struct bz_str name, unsigned access,
                    struct bz_symbol **out, struct bz_err *err)
{
    struct bz_map_entry *e;
    struct bz_symbol *s = NULL;
    bool may = false;

    bz_sync_lock(&t->mutex);
    e = bz_map_get(&t->map, name);
    if (e && !((struct bz_symbol *)e->p)->leaving)
        s = e->p;
    if (s)
        may = (s->access & access) == access;
    if (may)
        s->held++;
    bz_sync_unlock(&t->mutex);
    /* What is not held may be gone by now. */
    if (!s)
        return bz_fail(err, BZ_E_NOENT, "unknown symbol: %.*s", BZ_STR_ARG(name));
    if (!may)
        return bz_fail(err, BZ_E_INVAL, "symbol %.*s may not be %s", BZ_STR_ARG(name),
                       access & BZ_SYMBOLS_WRITE ? "written" : "read");
    *out = s;
    return 0;
}

void bz_symbols_let_go(struct bz_symbols *t, struct bz_symbol *s)
{
    bz_sync_lock(&t->mutex);
    if (--s->held == 0 && s->leaving)
        bz_sync_broadcast(&t->changed);
    bz_sync_unlock(&t->mutex);
}
