#include "vars/dump.h"

#include "vars/store.h"

enum { VARIABLE = 'v', FILTER = 'f', RENAME = 'r' };

static const char *const keywords[BZ_STORE_KINDS] = {
    [BZ_STORE_APPEND] = ":append",
    [BZ_STORE_PREPEND] = ":prepend",
    [BZ_STORE_REMOVE] = ":remove",
};

static const struct bz_vars_at nowhere;

/* ---- writing ---- */

/* A length, or all ones for "not set", and the bytes. */
static void put(struct bz_buf *b, struct bz_str s)
{
    uint32_t n = s.p ? (uint32_t)s.n : UINT32_MAX;

    bz_buf_add(b, &n, sizeof(n));
    bz_buf_add_str(b, s);
}

static void put_number(struct bz_buf *b, uint32_t n)
{
    bz_buf_add(b, &n, sizeof(n));
}

static void put_variable(struct bz_buf *b, const struct bz_store_node *node)
{
    const struct bz_store_var *var = node->var;

    bz_buf_add_char(b, VARIABLE);
    put(b, node->name);
    put_number(b, (uint32_t)var->has_content | (uint32_t)var->has_weak << 1);
    put(b, var->content);
    put(b, var->weak);
    put_number(b, var->flags.n);
    for (uint32_t i = 0; i < var->flags.n; i++) {
        put(b, var->flags.at[i].name);
        put(b, var->flags.at[i].value);
    }
    for (int kind = 0; kind < BZ_STORE_KINDS; kind++) {
        put_number(b, var->ops[kind].n);
        for (uint32_t i = 0; i < var->ops[kind].n; i++) {
            put(b, var->ops[kind].at[i].override);
            put(b, var->ops[kind].at[i].text);
        }
    }
}

static void put_pairs(struct bz_buf *b, char kind, const struct bz_map *pairs,
                      bz_dump_fn fn, void *ctx)
{
    const struct bz_map_entry *e;

    for (e = bz_map_next(pairs, NULL); e; e = bz_map_next(pairs, e)) {
        const struct bz_str *value = e->p;

        bz_buf_truncate(b, 0);
        bz_buf_add_char(b, kind);
        put(b, e->key);
        put(b, *value);
        fn(ctx, BZ_STR(""), bz_buf_str(b));
    }
}

struct found {
    const struct bz_store_node *node;
};

static int by_name(const void *a, const void *b)
{
    const struct found *x = a, *y = b;

    return bz_str_cmp(x->node->name, y->node->name);
}

void bz_dump_each(const struct bz_vars *v, bz_dump_fn fn, void *ctx)
{
    BZ_CLEANUP(bz_vec_release)
    struct BZ_VEC(struct found) nodes = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf b = {0};
    const struct bz_map_entry *e;

    BZ_ASSERT(!v->parent);
    for (e = bz_map_next(&v->nodes, NULL); e; e = bz_map_next(&v->nodes, e))
        for (const struct bz_store_node *node = e->p; node; node = node->next)
            if (!bz_store_empty(node->var))
                BZ_VEC_PUSH(&nodes, (struct found){node});
    BZ_VEC_SORT(&nodes, by_name);
    for (size_t i = 0; i < nodes.len; i++) {
        bz_buf_truncate(&b, 0);
        put_variable(&b, nodes.at[i].node);
        fn(ctx, nodes.at[i].node->name, bz_buf_str(&b));
    }
    put_pairs(&b, FILTER, &v->filters, fn, ctx);
    put_pairs(&b, RENAME, &v->renames, fn, ctx);
}

/* ---- reading ---- */

struct cursor {
    struct bz_str rest;
    bool bad; /* it ended too early */
};

static uint32_t take_number(struct cursor *c)
{
    uint32_t n = 0;

    if (c->rest.n < sizeof(n)) {
        c->bad = true;
        return 0;
    }
    memcpy(&n, c->rest.p, sizeof(n));
    c->rest = bz_str_sub(c->rest, sizeof(n), c->rest.n);
    return n;
}

static struct bz_str take(struct cursor *c)
{
    uint32_t n = take_number(c);
    struct bz_str s = {0};

    if (c->bad || n == UINT32_MAX)
        return s;
    if (n > c->rest.n) {
        c->bad = true;
        return s;
    }
    s = bz_str_sub(c->rest, 0, n);
    c->rest = bz_str_sub(c->rest, n, c->rest.n);
    return s;
}

static int restore_flags(struct bz_vars *v, struct bz_str name, struct cursor *c,
                         struct bz_err *err)
{
    int rc = 0;

    for (uint32_t n = take_number(c); n > 0 && !c->bad && rc == 0; n--) {
        struct bz_str flag = take(c), value = take(c);

        if (!c->bad)
            rc = bz_vars_set_flag(v, name, flag, value, &nowhere, err);
    }
    return rc;
}

static int restore_ops(struct bz_vars *v, struct bz_str name, int kind,
                       struct cursor *c, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf full = {0};
    int rc = 0;

    for (uint32_t n = take_number(c); n > 0 && !c->bad && rc == 0; n--) {
        struct bz_str override = take(c), text = take(c);

        bz_buf_truncate(&full, 0);
        bz_buf_addf(&full, "%.*s%s", BZ_STR_ARG(name), keywords[kind]);
        if (override.n > 0)
            bz_buf_addf(&full, ":%.*s", BZ_STR_ARG(override));
        if (!c->bad)
            rc = bz_vars_set(v, bz_buf_str(&full), text, BZ_VARS_SET_PARSING, &nowhere,
                             err);
    }
    return rc;
}

static int restore_variable(struct bz_vars *v, struct cursor *c, struct bz_err *err)
{
    struct bz_str name = take(c);
    uint32_t has = take_number(c);
    struct bz_str content = take(c), weak = take(c);
    int rc = 0;

    if (c->bad || name.n == 0)
        return bz_fail(err, BZ_E_CORRUPT, "a variable's record is cut short");
    if (has & 1)
        rc = bz_vars_set(v, name, content, BZ_VARS_SET_PARSING, &nowhere, err);
    if (rc == 0 && (has & 2))
        rc = bz_vars_set_flag(v, name, BZ_STR("_defaultval"), weak, &nowhere, err);
    if (rc == 0)
        rc = restore_flags(v, name, c, err);
    for (int kind = 0; kind < BZ_STORE_KINDS && rc == 0; kind++)
        rc = restore_ops(v, name, kind, c, err);
    return rc;
}

/* The rest is for the sake of comparison, but a filter counts when values are read. */
static int restore(struct bz_vars *v, char kind, struct cursor *c, struct bz_err *err)
{
    struct bz_str name, value;

    if (kind == VARIABLE)
        return restore_variable(v, c, err);
    name = take(c);
    value = take(c);
    if (kind == FILTER && !c->bad)
        bz_vars_set_filter(v, name, value);
    else if (kind != RENAME)
        c->bad = true;
    return 0;
}

int bz_dump_restore(struct bz_vars *v, struct bz_str record, struct bz_err *err)
{
    struct cursor c = {.rest = record};
    int rc;

    if (record.n == 0)
        return bz_fail(err, BZ_E_CORRUPT, "a variable's record is empty");
    c.rest = bz_str_sub(record, 1, record.n);
    rc = restore(v, record.p[0], &c, err);
    if (rc == 0 && (c.bad || c.rest.n > 0))
        rc = bz_fail(err, BZ_E_CORRUPT, "a variable's record has the wrong length");
    return rc < 0 ? bz_err_wrap(err, "restore a variable") : 0;
}
