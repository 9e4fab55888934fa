#include "codec/doc.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"

enum {
    KEY_SHOWN = 64,  /* bytes of a key in a message */
    FEW_KEYS = 16,   /* up to here comparing all pairs is faster than sorting */
    MAX_DEPTH = 500, /* what the recursion in json.c and yaml.c may use of the stack */
};

struct bz_doc_limits bz_doc_limits_or_default(const struct bz_doc_limits *limits)
{
    struct bz_doc_limits l = limits ? *limits : (struct bz_doc_limits){0};

    if (l.bytes == 0)
        l.bytes = (size_t)16 << 20;
    if (l.nodes == 0)
        l.nodes = 1000000;
    if (l.depth == 0)
        l.depth = 64;
    BZ_ASSERT(l.bytes <= UINT32_MAX && l.depth <= MAX_DEPTH);
    return l;
}

const struct bz_doc *bz_doc_find(const struct bz_doc *map, const char *key)
{
    struct bz_str want = bz_str_from(key);

    if (map->type != BZ_DOC_MAP)
        return NULL;
    for (size_t i = 0; i < map->count; i++)
        if (bz_str_eq(map->items[i].key, want))
            return &map->items[i];
    return NULL;
}

static const char *type_name(enum bz_doc_type type)
{
    static const char *const names[] = {
        [BZ_DOC_NULL] = "null",      [BZ_DOC_BOOL] = "a boolean",
        [BZ_DOC_INT] = "an integer", [BZ_DOC_REAL] = "a number",
        [BZ_DOC_STR] = "a string",   [BZ_DOC_LIST] = "a list",
        [BZ_DOC_MAP] = "a map",
    };

    return names[type];
}

int bz_doc_expect(const struct bz_doc *d, enum bz_doc_type type, struct bz_err *err)
{
    if (d->type == type)
        return 0;
    return bz_fail(err, BZ_E_INVAL, "line %u, column %u: expected %s, found %s",
                   d->line, d->column, type_name(type), type_name(d->type));
}

/* The value with this key; NULL and *err filled if there is none. */
static const struct bz_doc *field(const struct bz_doc *map, const char *key,
                                  struct bz_err *err)
{
    const struct bz_doc *d;

    if (bz_doc_expect(map, BZ_DOC_MAP, err) < 0)
        return NULL;
    d = bz_doc_find(map, key);
    if (!d)
        bz_fail(err, BZ_E_NOENT, "line %u, column %u: field '%s' is missing", map->line,
                map->column, key);
    return d;
}

static int wrong_type(const struct bz_doc *d, const char *key, enum bz_doc_type type,
                      struct bz_err *err)
{
    return bz_fail(err, BZ_E_INVAL,
                   "line %u, column %u: field '%s': expected %s, found %s", d->line,
                   d->column, key, type_name(type), type_name(d->type));
}

/* The same, but only of this type. */
static const struct bz_doc *typed_field(const struct bz_doc *map, const char *key,
                                        enum bz_doc_type type, struct bz_err *err)
{
    const struct bz_doc *d = field(map, key, err);

    if (d && d->type != type) {
        wrong_type(d, key, type, err);
        return NULL;
    }
    return d;
}

int bz_doc_field(const struct bz_doc *map, const char *key, enum bz_doc_type type,
                 const struct bz_doc **out, struct bz_err *err)
{
    const struct bz_doc *d = typed_field(map, key, type, err);

    if (!d)
        return err->code;
    *out = d;
    return 0;
}

int bz_doc_get_str(const struct bz_doc *map, const char *key, struct bz_str *out,
                   struct bz_err *err)
{
    const struct bz_doc *d = typed_field(map, key, BZ_DOC_STR, err);

    if (!d)
        return err->code;
    *out = d->text;
    return 0;
}

int bz_doc_get_bool(const struct bz_doc *map, const char *key, bool *out,
                    struct bz_err *err)
{
    const struct bz_doc *d = typed_field(map, key, BZ_DOC_BOOL, err);

    if (!d)
        return err->code;
    *out = d->b;
    return 0;
}

int bz_doc_get_int(const struct bz_doc *map, const char *key, int64_t min, int64_t max,
                   int64_t *out, struct bz_err *err)
{
    const struct bz_doc *d = typed_field(map, key, BZ_DOC_INT, err);

    if (!d)
        return err->code;
    if (d->i < min || d->i > max)
        return bz_fail(err, BZ_E_INVAL,
                       "line %u, column %u: field '%s': %" PRId64 " is not in %" PRId64
                       "..%" PRId64,
                       d->line, d->column, key, d->i, min, max);
    *out = d->i;
    return 0;
}

int bz_doc_get_real(const struct bz_doc *map, const char *key, double *out,
                    struct bz_err *err)
{
    const struct bz_doc *d = field(map, key, err);

    if (!d)
        return err->code;
    if (d->type != BZ_DOC_INT && d->type != BZ_DOC_REAL)
        return wrong_type(d, key, BZ_DOC_REAL, err);
    *out = d->type == BZ_DOC_INT ? (double)d->i : d->r;
    return 0;
}

static int duplicate(const struct bz_doc *first, const struct bz_doc *second,
                     struct bz_err *err)
{
    int shown = second->key.n < KEY_SHOWN ? (int)second->key.n : KEY_SHOWN;

    return bz_fail(err, BZ_E_INVAL, "line %u: key '%.*s' is already in line %u",
                   second->key_line, shown, second->key.n ? second->key.p : "",
                   first->key_line);
}

/* By key, then by position: neighbours that are equal are in the order of the text. */
static int by_key(const void *a, const void *b)
{
    const struct bz_doc *x = *(const struct bz_doc *const *)a;
    const struct bz_doc *y = *(const struct bz_doc *const *)b;
    int order = bz_str_cmp(x->key, y->key);

    return order != 0 ? order : (x > y) - (x < y);
}

int bz_doc_check_keys(const struct bz_doc *map, struct bz_err *err)
{
    BZ_CLEANUP(bz_mem_freep) const struct bz_doc **sorted = NULL;

    if (map->count <= FEW_KEYS) {
        for (size_t i = 1; i < map->count; i++)
            for (size_t k = 0; k < i; k++)
                if (bz_str_eq(map->items[k].key, map->items[i].key))
                    return duplicate(&map->items[k], &map->items[i], err);
        return 0;
    }
    sorted = bz_mem_array(map->count, sizeof(const struct bz_doc *));
    for (size_t i = 0; i < map->count; i++)
        sorted[i] = &map->items[i];
    qsort(sorted, map->count, sizeof(const struct bz_doc *), by_key);
    for (size_t i = 1; i < map->count; i++)
        if (bz_str_eq(sorted[i - 1]->key, sorted[i]->key))
            return duplicate(sorted[i - 1], sorted[i], err);
    return 0;
}
