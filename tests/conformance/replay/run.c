#include "run.h"

#include <stdio.h>
#include <stdlib.h>

#include "op.h"
#include "vars/store.h"
#include "vars/vars_table.h"

static const struct replay_op *const tables[] = {
    replay_op_var,  replay_op_flag,   replay_op_expr,    replay_op_parse,
    replay_op_scan, replay_op_script, replay_op_version, replay_op_deps,
};

static const struct replay_op *find_op(struct bz_str name)
{
    for (size_t t = 0; t < BZ_COUNTOF(tables); t++)
        for (const struct replay_op *op = tables[t]; op->name; op++)
            if (bz_str_eq(name, bz_str_from(op->name)))
                return op;
    return NULL;
}

void replay_run_release(struct replay_run *r)
{
    while (r->owned.len > 0) {
        struct replay_owned *last = &r->owned.at[--r->owned.len];

        bz_meta_free(last->meta);
        bz_vars_free(last->vars);
        bz_finalize_free(last->finalize);
        bz_library_free(last->library);
    }
    bz_vec_release(&r->owned);
    bz_arena_release(&r->arena);
}

void replay_run_own(struct replay_run *r, struct replay_owned thing)
{
    BZ_VEC_PUSH(&r->owned, thing);
}

static struct bz_meta *own(struct replay_run *r, struct bz_meta *meta)
{
    replay_run_own(r, (struct replay_owned){.meta = meta});
    return meta;
}

struct replay_slot *replay_run_slot(struct replay_run *r, const struct bz_doc *where)
{
    const struct bz_doc *id =
        where && where->type == BZ_DOC_MAP ? bz_doc_find(where, "store") : where;
    struct replay_slot *s;

    if (!id || id->type != BZ_DOC_INT || id->i < 0 || id->i >= REPLAY_STORES)
        return NULL;
    s = &r->stores[id->i];
    if (!s->meta)
        s->meta = own(r, bz_meta_new());
    return s;
}

/* The store an op works on: its "store", or the last argument that is one. */
static struct replay_slot *slot_for(struct replay_run *r, const struct bz_doc *op)
{
    const struct bz_doc *args = bz_doc_find(op, "args");
    struct replay_slot *s = replay_run_slot(r, bz_doc_find(op, "store"));

    for (size_t i = args ? args->count : 0; !s && i-- > 0;)
        if (args->items[i].type == BZ_DOC_MAP)
            s = replay_run_slot(r, &args->items[i]);
    return s;
}

enum replay_verdict replay_run_copy(struct replay_run *r, struct replay_slot *s,
                                    const struct bz_doc *op)
{
    const struct bz_doc *ret = bz_doc_find(op, "ret");
    const struct bz_doc *id = ret ? bz_doc_find(ret, "store") : NULL;
    const struct bz_meta *parent = s->meta;

    if (!id || id->type != BZ_DOC_INT || id->i < 0 || id->i >= REPLAY_STORES ||
        r->stores[id->i].meta)
        return REPLAY_NOT_YET;
    s->shared = true;
    r->stores[id->i] = (struct replay_slot){.meta = own(r, bz_meta_copy(parent)),
                                            .state = s->state,
                                            .used = true,
                                            .guessed = s->guessed};
    return REPLAY_PASSED;
}

/* Nothing that the op would have filled can be judged. */
static void spoil(struct replay_run *r, const struct bz_doc *op, struct replay_slot *s,
                  enum replay_verdict why)
{
    const struct bz_doc *variants = bz_doc_find(op, "variants");

    if (s)
        s->state = why;
    for (size_t i = 0; variants && i < variants->count; i++) {
        struct replay_slot *variant = replay_run_slot(r, &variants->items[i]);

        if (variant)
            variant->state = why;
    }
}

/* A store that is first heard of when it is read came about in a way that was not
 * recorded. It is taken to be empty, as the first of a test is, until that turns out
 * to be wrong. */
static void check_origin(struct replay_run *r, struct replay_slot *s, bool writes)
{
    if (s && !s->used)
        s->guessed = s != &r->stores[0] && !writes;
    if (s)
        s->used = true;
}

/* Puts a store in its place that was read from its table. Copies keep the old one. */
static void restore(struct replay_run *r, struct bz_meta *meta)
{
    BZ_CLEANUP(bz_string_pool_release) struct bz_string_pool strings = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf table = {0}, pool = {0};
    struct bz_vars *old = meta->vars;
    struct bz_err err;
    int rc;

    bz_vars_table_write(old, old->parent, &strings, &table);
    rc = bz_string_pool_write(&strings, &pool, &err);
    if (rc == 0)
        rc = bz_vars_table_read(bz_buf_str(&table),
                                bz_arena_dup(&r->arena, bz_buf_str(&pool)), old->parent,
                                &meta->vars, &err);
    if (rc < 0) {
        fprintf(stderr, "%s: %s\n", r->test, err.msg);
        exit(1);
    }
    replay_run_own(r, (struct replay_owned){.vars = old});
}

enum replay_verdict replay_run_op(struct replay_run *r, const struct bz_doc *doc)
{
    const struct bz_doc *name = bz_doc_find(doc, "op");
    const struct replay_op *op = name ? find_op(name->text) : NULL;
    struct replay_slot none = {.meta = NULL}, *s = slot_for(r, doc);
    enum replay_verdict verdict;

    r->why[0] = '\0';
    if (!op) {
        spoil(r, doc, bz_doc_find(doc, "variants") ? s : NULL, REPLAY_NOT_YET);
        return REPLAY_NOT_YET;
    }
    check_origin(r, s, op->writes);
    if (s && s->state != REPLAY_PASSED) {
        if (op->fn == replay_run_copy)
            replay_run_copy(r, s, doc); /* the copy is just as spoilt */
        return s->state;
    }
    if (s && s->shared && op->writes && op->fn != replay_run_copy) {
        s->meta = own(r, bz_meta_copy(s->meta)); /* the record goes on with it */
        s->shared = false;
    }
    if (s && r->tables)
        restore(r, s->meta);
    none.meta = s ? NULL : bz_meta_new(); /* for ops that need no store of theirs */
    verdict = op->fn(r, s ? s : &none, doc);
    if (s && s->guessed && verdict == REPLAY_FAILED)
        verdict = s->state = REPLAY_NOT_YET;
    if (verdict != REPLAY_PASSED && op->writes)
        spoil(r, doc, s, verdict);
    bz_meta_free(none.meta);
    return verdict;
}
