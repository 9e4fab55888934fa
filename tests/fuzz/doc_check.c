#include "tests/fuzz/doc_check.h"

#include <math.h>

#include "codec/json.h"
#include "codec/jsonw.h"
#include "codec/utf8.h"

static void check_str(struct bz_str s)
{
    BZ_ASSERT(bz_utf8_valid(s) == s.n);
    BZ_ASSERT(s.n == 0 || !memchr(s.p, '\0', s.n));
}

/* Returns the number of values, d included. */
static size_t check_value(const struct bz_doc *d, unsigned levels)
{
    size_t nodes = 1;

    BZ_ASSERT(d->line > 0 && d->column > 0);
    switch (d->type) {
    case BZ_DOC_REAL:
        BZ_ASSERT(isfinite(d->r));
        break;
    case BZ_DOC_LIST:
    case BZ_DOC_MAP:
        BZ_ASSERT(levels > 0);
        for (size_t i = 0; i < d->count; i++) {
            const struct bz_doc *item = &d->items[i];

            BZ_ASSERT((item->key_line > 0) == (d->type == BZ_DOC_MAP));
            BZ_ASSERT(item->key_line <= item->line);
            check_str(item->key);
            nodes += check_value(item, levels - 1);
        }
        return nodes;
    default:
        break;
    }
    check_str(d->text);
    return nodes;
}

static void write_value(struct bz_jsonw *w, const struct bz_doc *d)
{
    switch (d->type) {
    case BZ_DOC_NULL:
        bz_jsonw_null(w);
        break;
    case BZ_DOC_BOOL:
        bz_jsonw_bool(w, d->b);
        break;
    case BZ_DOC_INT:
        bz_jsonw_int(w, d->i);
        break;
    case BZ_DOC_REAL:
        bz_jsonw_real(w, d->r);
        break;
    case BZ_DOC_STR:
        bz_jsonw_str(w, d->text);
        break;
    case BZ_DOC_LIST:
        bz_jsonw_list(w);
        for (size_t i = 0; i < d->count; i++)
            write_value(w, &d->items[i]);
        bz_jsonw_list_end(w);
        break;
    case BZ_DOC_MAP:
        bz_jsonw_map(w);
        for (size_t i = 0; i < d->count; i++)
            write_value(bz_jsonw_key_str(w, d->items[i].key), &d->items[i]);
        bz_jsonw_map_end(w);
        break;
    }
}

static void check_equal(const struct bz_doc *a, const struct bz_doc *b)
{
    BZ_ASSERT(a->type == b->type);
    BZ_ASSERT(bz_str_eq(a->key, b->key));
    switch (a->type) {
    case BZ_DOC_NULL:
        break;
    case BZ_DOC_BOOL:
        BZ_ASSERT(a->b == b->b);
        break;
    case BZ_DOC_INT:
        BZ_ASSERT(a->i == b->i);
        break;
    case BZ_DOC_REAL:
        BZ_ASSERT(a->r == b->r && signbit(a->r) == signbit(b->r));
        break;
    case BZ_DOC_STR:
        BZ_ASSERT(bz_str_eq(a->text, b->text));
        break;
    case BZ_DOC_LIST:
    case BZ_DOC_MAP:
        BZ_ASSERT(a->count == b->count);
        for (size_t i = 0; i < a->count; i++)
            check_equal(&a->items[i], &b->items[i]);
        break;
    }
}

static void check_round_trip(struct bz_arena *arena, const struct bz_doc *d,
                             unsigned indent)
{
    struct bz_buf first = {0}, second = {0};
    struct bz_jsonw w1 = bz_jsonw_to(&first, indent), w2 = bz_jsonw_to(&second, indent);
    const struct bz_doc *back;
    struct bz_err err;
    int rc;

    write_value(&w1, d);
    rc = bz_json_parse(arena, bz_buf_str(&first), NULL, &back, &err);
    BZ_ASSERT(rc == 0);
    check_equal(d, back);
    write_value(&w2, back);
    BZ_ASSERT(bz_str_eq(bz_buf_str(&first), bz_buf_str(&second)));
    bz_buf_release(&first);
    bz_buf_release(&second);
}

void doc_check(struct bz_arena *arena, const struct bz_doc *d,
               const struct bz_doc_limits *limits)
{
    BZ_ASSERT(check_value(d, limits->depth) <= limits->nodes);
    check_round_trip(arena, d, 0);
    check_round_trip(arena, d, 2);
}

void doc_check_failure(int rc, const struct bz_err *err)
{
    BZ_ASSERT(rc == BZ_E_INVAL || rc == BZ_E_LIMIT || rc == BZ_E_NOSUP);
    BZ_ASSERT(rc == err->code && err->msg[0] != '\0');
    /* cJSON refuses what the scan accepted only for want of memory, if at all. */
    BZ_ASSERT(!bz_str_starts(bz_str_from(err->msg), BZ_STR("no memory")));
}
