#include "vars/history.h"

#include "base/string_pool.h"
#include "vars/store.h"

static void push(struct bz_vars *v, struct bz_store_cell *c,
                 const struct bz_history_event *e)
{
    struct bz_store_node *own = bz_store_own(v, c);
    struct bz_store_event *event = BZ_ARENA_NEW(&v->arena, struct bz_store_event);

    event->e = *e;
    if (own->last)
        own->last->next = event;
    else
        own->first = event;
    own->last = event;
}

void bz_history_add(struct bz_vars *v, struct bz_store_cell *c,
                    const struct bz_vars_at *at, struct bz_str op, struct bz_str flag,
                    struct bz_str detail)
{
    if (!at || !at->file)
        return;
    push(v, c,
         &(struct bz_history_event){
             .file = at->file,
             .line = at->line,
             .op = op.n == 0 ? bz_str_from(at->op ? at->op : "set") : op,
             .flag = flag,
             .detail = at->detail.p ? at->detail : detail,
         });
}

/* Takes the next event off the bytes of a table. */
static bool unpack(const struct bz_vars *v, struct bz_string_pool_cursor *c,
                   struct bz_history_event *e)
{
    struct bz_str file;
    bool good = bz_string_pool_get(v->pool, bz_string_pool_take32(c), &file);

    *e = (struct bz_history_event){.file = file.p, .line = bz_string_pool_take32(c)};
    return good && file.p &&
           bz_string_pool_get(v->pool, bz_string_pool_take32(c), &e->op) &&
           bz_string_pool_get(v->pool, bz_string_pool_take32(c), &e->flag) &&
           bz_string_pool_get(v->pool, bz_string_pool_take32(c), &e->detail) && !c->bad;
}

bool bz_history_each_own(const struct bz_vars *v, const struct bz_store_node *node,
                         bz_history_fn fn, void *ctx)
{
    struct bz_string_pool_cursor c = bz_string_pool_cursor(node->past);
    const struct bz_store_event *last = node->last; /* fn may add more */
    struct bz_history_event e;

    while (c.at < c.end) {
        if (!unpack(v, &c, &e))
            return false;
        fn(ctx, &e);
    }
    for (const struct bz_store_event *event = last ? node->first : NULL; event;
         event = event->next) {
        fn(ctx, &event->e);
        if (event == last)
            break;
    }
    return true;
}

/* What the store and its parents recorded for the name, theirs first. */
static bool each_level(const struct bz_vars *v, struct bz_str name, uint64_t hash,
                       bz_history_fn fn, void *ctx)
{
    const struct bz_store_node *node;
    bool good = true;

    if (v->parent)
        good = each_level(v->parent, name, hash, fn, ctx);
    node = bz_store_find(v, name, hash);
    return (!node || bz_history_each_own(v, node, fn, ctx)) && good;
}

struct copy {
    struct bz_vars *v;
    struct bz_store_cell *to;
};

static void copy_event(void *ctx, const struct bz_history_event *e)
{
    const struct copy *copy = ctx;

    push(copy->v, copy->to, e);
}

void bz_history_copy(struct bz_vars *v, const struct bz_store_cell *from,
                     struct bz_store_cell *to)
{
    struct copy copy = {v, to};

    each_level(v, from->name, from->hash, copy_event, &copy);
}

/* Passes on the events of a variant as those of the variable it overrides. */
struct relabel {
    struct bz_str override;
    bz_history_fn fn;
    void *ctx;
};

static void relabel_event(void *ctx, const struct bz_history_event *e)
{
    const struct relabel *r = ctx;
    struct bz_history_event as = *e;
    struct bz_buf op = {0};

    if (e->flag.n > 0 && e->flag.p[0] != '_' && e->flag.p[0] != ':')
        return; /* flags have no overrides */
    bz_buf_addf(&op, "override[%.*s]:%.*s", BZ_STR_ARG(r->override), BZ_STR_ARG(e->op));
    as.op = bz_buf_str(&op);
    r->fn(r->ctx, &as);
    bz_buf_release(&op);
}

static bool each_event(struct bz_vars *v, struct bz_str name, bz_history_fn fn,
                       void *ctx)
{
    const struct bz_store_cell *c = bz_store_cell(v, name);
    const struct bz_store_variants *all = c->variants;
    bool good = each_level(v, name, c->hash, fn, ctx);

    for (uint32_t i = 0; all && i < all->n; i++) {
        struct relabel r = {all->at[i].override, fn, ctx};

        if (all->at[i].name.p)
            good &= each_level(v, all->at[i].name, bz_str_hash(all->at[i].name),
                               relabel_event, &r);
    }
    return good;
}

void bz_history_each(struct bz_vars *v, struct bz_str name, bz_history_fn fn, void *ctx)
{
    each_event(v, name, fn, ctx);
}

struct search {
    struct bz_history_event *last;
    bool found;
};

static void note_last(void *ctx, const struct bz_history_event *e)
{
    struct search *s = ctx;

    if (e->flag.n > 0 && !bz_str_eq(e->flag, BZ_STR("_defaultval")))
        return;
    *s->last = *e;
    s->found = true;
}

bool bz_history_last(const struct bz_vars *v, struct bz_str name,
                     struct bz_history_event *e)
{
    uint64_t hash = bz_str_hash(name);
    struct search s = {.last = e};

    for (; v && !s.found; v = v->parent) {
        const struct bz_store_node *node = bz_store_find(v, name, hash);

        if (node)
            bz_history_each_own(v, node, note_last, &s);
    }
    return s.found;
}

/* ---- as text ---- */

/* The text in quotes, each further line behind `indent`. */
static void add_quoted(struct bz_buf *out, struct bz_str text, const char *indent)
{
    struct bz_str rest = text.p ? text : BZ_STR("None"), line;
    bool first = true;

    bz_buf_add_char(out, '"');
    while (bz_str_next_part(&rest, '\n', &line)) {
        if (!first)
            bz_buf_addf(out, "\n%s", indent);
        bz_buf_add_str(out, line);
        first = false;
    }
    bz_buf_add(out, "\"\n", 2);
}

struct listing {
    struct bz_buf *out;
    size_t n;
};

static void count_event(void *ctx, const struct bz_history_event *e)
{
    struct listing *l = ctx;

    (void)e;
    l->n++;
}

static void add_event(void *ctx, const struct bz_history_event *e)
{
    const struct listing *l = ctx;

    bz_buf_addf(l->out, "#   %.*s %s:%u\n#     ", BZ_STR_ARG(e->op), e->file, e->line);
    if (e->flag.n > 0)
        bz_buf_addf(l->out, "[%.*s] ", BZ_STR_ARG(e->flag));
    add_quoted(l->out, e->detail, "#     ");
}

int bz_history_write(struct bz_vars *v, struct bz_str name, struct bz_buf *out,
                     struct bz_err *err)
{
    struct listing l = {.out = out};
    struct bz_str raw;
    int rc = bz_vars_get(v, name, BZ_VARS_RAW, &raw, err);

    if (rc < 0)
        return rc;
    if (!each_event(v, name, count_event, &l))
        return bz_fail(err, BZ_E_CORRUPT, "the history of %.*s is damaged",
                       BZ_STR_ARG(name));
    bz_buf_addf(out, "#\n# $%.*s", BZ_STR_ARG(name));
    if (l.n > 1)
        bz_buf_addf(out, " [%zu operations]", l.n);
    bz_buf_add_char(out, '\n');
    bz_history_each(v, name, add_event, &l);
    if (l.n == 0)
        bz_buf_addf(out, "#   [no history recorded]\n#\n");
    else if (l.n > 1)
        bz_buf_addf(out, "# pre-expansion value:\n");
    if (l.n != 1) {
        bz_buf_addf(out, "#   ");
        add_quoted(out, raw, "#");
    }
    return 0;
}
