#include "recipe/meta_table.h"

#include "base/mem.h"

/* Layout of a table; numbers are varints, REF is a reference into the pool.
 *
 *     magic FORMAT bits REF:class_type REF:skipped
 *     a REF for each list
 *     the table of the variables
 *
 * A list is a string of the pool: rows of numbers that have four bytes each. */

#define MAGIC "bzmt"

enum { COMPLETE = 1, BITS = 1 };

enum list {
    INHERITED,
    HANDLERS,
    ANONYMOUS,
    LOOKED_AT,
    TASKS,  /* name, whether it is listed, how many of the next two lists are its own */
    AFTERS, /* of one task after the other */
    PLACES,
    ORDER,
    DEFERRED,
    BODIES,
    PYLIBS,
    LISTS,
};

/* The columns of a row: 'r' is a reference, 'n' a number. */
static const struct bz_str columns[LISTS] = {
    [INHERITED] = {"r",    1},
      [HANDLERS] = {"r",    1},
      [ANONYMOUS] = {"r",    1},
    [LOOKED_AT] = {"r",    1},
      [TASKS] = {"rnnn", 4},
      [AFTERS] = {"r",    1},
    [PLACES] = {"rrn",  3},
      [ORDER] = {"r",    1},
      [DEFERRED] = {"rrn",  3},
    [BODIES] = {"rrrn", 4},
      [PYLIBS] = {"rr",   2},
};

enum { CELL = 4 };

/* ---- writing ---- */

struct writer {
    struct bz_string_pool *pool;
    struct bz_buf lists[LISTS];
};

static void put_number(struct writer *w, enum list list, uint32_t number)
{
    struct bz_buf *out = &w->lists[list];

    bz_string_pool_store32((unsigned char *)bz_buf_reserve(out, CELL), number);
    bz_buf_commit(out, CELL);
}

static void put_string(struct writer *w, enum list list, struct bz_str s)
{
    put_number(w, list, bz_string_pool_add(w->pool, s.p ? s : BZ_STR("")));
}

static void put_place(struct writer *w, enum list list, const char *file, uint32_t line)
{
    put_string(w, list, bz_str_from(file));
    put_number(w, list, line);
}

static void put_names(struct writer *w, enum list list, const struct bz_str *names,
                      size_t n)
{
    for (size_t i = 0; i < n; i++)
        put_string(w, list, names[i]);
}

static void put_tasks(struct writer *w, const struct bz_taskdefs *tasks)
{
    put_names(w, ORDER, tasks->order.at, tasks->order.len);
    for (size_t i = 0; i < tasks->all.len; i++) {
        const struct bz_taskdef *t = &tasks->all.at[i];

        put_string(w, TASKS, t->name);
        put_number(w, TASKS, t->listed);
        put_number(w, TASKS, (uint32_t)t->after.len);
        put_number(w, TASKS, (uint32_t)t->places.len);
        put_names(w, AFTERS, t->after.at, t->after.len);
        for (size_t k = 0; k < t->places.len; k++) {
            put_string(w, PLACES, t->places.at[k].after);
            put_place(w, PLACES, t->places.at[k].file, t->places.at[k].line);
        }
    }
}

static void put_lists(struct writer *w, const struct bz_meta *m)
{
    put_names(w, INHERITED, m->inherited.at, m->inherited.len);
    put_names(w, HANDLERS, m->handlers.at, m->handlers.len);
    put_names(w, ANONYMOUS, m->anonymous.at, m->anonymous.len);
    put_names(w, LOOKED_AT, m->looked_at.at, m->looked_at.len);
    put_tasks(w, &m->tasks);
    for (size_t i = 0; i < m->deferred.len; i++) {
        put_string(w, DEFERRED, m->deferred.at[i].classes);
        put_place(w, DEFERRED, m->deferred.at[i].file, m->deferred.at[i].line);
    }
    for (size_t i = 0; i < m->bodies.len; i++) {
        put_string(w, BODIES, m->bodies.at[i].name);
        put_string(w, BODIES, m->bodies.at[i].text);
        put_place(w, BODIES, m->bodies.at[i].file, m->bodies.at[i].line);
    }
    for (size_t i = 0; i < m->pylibs.len; i++) {
        put_string(w, PYLIBS, m->pylibs.at[i].dir);
        put_string(w, PYLIBS, m->pylibs.at[i].name);
    }
}

void bz_meta_table_write(const struct bz_meta *m, struct bz_string_pool *pool,
                         struct bz_buf *out)
{
    struct writer w = {.pool = pool};

    bz_buf_add_str(out, BZ_STR(MAGIC));
    bz_string_pool_put(out, BZ_META_TABLE_FORMAT);
    bz_string_pool_put(out, m->complete ? COMPLETE : 0);
    bz_string_pool_put(out, bz_string_pool_add(pool, bz_str_from(m->class_type)));
    bz_string_pool_put(out, bz_string_pool_add(pool, m->skipped));
    put_lists(&w, m);
    for (int i = 0; i < LISTS; i++) {
        struct bz_str bytes = bz_str_of(bz_buf_text(&w.lists[i]), w.lists[i].len);

        bz_string_pool_put(out, bz_string_pool_add(pool, bytes));
        bz_buf_release(&w.lists[i]);
    }
    bz_vars_table_write(m->vars, m->config ? m->config->vars : NULL, pool, out);
}

/* ---- reading ---- */

struct reader {
    struct bz_meta *m;
    struct bz_str pool;
    struct bz_string_pool_cursor lists[LISTS];
    bool bad;
};

static bool more(const struct reader *r, enum list list)
{
    return r->lists[list].at < r->lists[list].end && !r->bad;
}

static uint32_t take_number(struct reader *r, enum list list)
{
    uint32_t number = bz_string_pool_take32(&r->lists[list]);

    r->bad |= r->lists[list].bad;
    return number;
}

/* No string of a list is NULL. */
static struct bz_str take_string(struct reader *r, enum list list)
{
    struct bz_str s;

    if (!bz_string_pool_get(r->pool, take_number(r, list), &s) || !s.p)
        r->bad = true;
    return r->bad ? BZ_STR("") : s;
}

static size_t rows(const struct reader *r, enum list list)
{
    const struct bz_string_pool_cursor *c = &r->lists[list];

    return (size_t)(c->end - c->at) / (columns[list].n * CELL);
}

static void read_names(struct reader *r, enum list list, struct bz_meta_names *names)
{
    BZ_VEC_RESERVE(names, rows(r, list));
    while (more(r, list))
        BZ_VEC_PUSH(names, take_string(r, list));
}

static void read_task(struct reader *r, struct bz_taskdef *t)
{
    uint32_t nafter, nplaces;

    t->name = take_string(r, TASKS);
    t->listed = take_number(r, TASKS);
    nafter = take_number(r, TASKS);
    nplaces = take_number(r, TASKS);
    if (nafter > rows(r, AFTERS) || nplaces > rows(r, PLACES)) {
        r->bad = true;
        return;
    }
    BZ_VEC_RESERVE(&t->after, nafter);
    for (; nafter > 0 && !r->bad; nafter--)
        BZ_VEC_PUSH(&t->after, take_string(r, AFTERS));
    BZ_VEC_RESERVE(&t->places, nplaces);
    for (; nplaces > 0 && !r->bad; nplaces--) {
        struct bz_taskdef_place place = {.after = take_string(r, PLACES)};

        place.file = take_string(r, PLACES).p;
        place.line = take_number(r, PLACES);
        BZ_VEC_PUSH(&t->places, place);
    }
}

static void read_tasks(struct reader *r)
{
    struct bz_taskdefs *tasks = &r->m->tasks;

    BZ_VEC_RESERVE(&tasks->order, rows(r, ORDER));
    while (more(r, ORDER))
        BZ_VEC_PUSH(&tasks->order, take_string(r, ORDER));
    BZ_VEC_RESERVE(&tasks->all, rows(r, TASKS));
    while (more(r, TASKS)) {
        BZ_VEC_PUSH(&tasks->all, (struct bz_taskdef){0});
        read_task(r, &BZ_VEC_LAST(&tasks->all));
    }
    if (more(r, AFTERS) || more(r, PLACES))
        r->bad = true;
}

static void read_functions(struct reader *r)
{
    struct bz_meta *m = r->m;

    BZ_VEC_RESERVE(&m->bodies, rows(r, BODIES));
    while (more(r, BODIES)) {
        struct bz_meta_body body = {.name = take_string(r, BODIES)};

        body.text = take_string(r, BODIES);
        body.file = take_string(r, BODIES).p;
        body.line = take_number(r, BODIES);
        BZ_VEC_PUSH(&m->bodies, body);
    }
    while (more(r, DEFERRED)) {
        struct bz_meta_deferred deferred = {.classes = take_string(r, DEFERRED)};

        deferred.file = take_string(r, DEFERRED).p;
        deferred.line = take_number(r, DEFERRED);
        BZ_VEC_PUSH(&m->deferred, deferred);
    }
    while (more(r, PYLIBS)) {
        struct bz_meta_pylib pylib = {.dir = take_string(r, PYLIBS)};

        pylib.name = take_string(r, PYLIBS);
        BZ_VEC_PUSH(&m->pylibs, pylib);
    }
}

/* The paths are hashed. They differ, so they are no longer than the pool; checking that
 * bounds the time. */
static void read_paths(struct reader *r)
{
    struct bz_meta *m = r->m;
    size_t bytes = 0;

    read_names(r, LOOKED_AT, &m->looked_at);
    bz_map_reserve(&m->looked_set, m->looked_at.len);
    for (size_t i = 0; i < m->looked_at.len && !r->bad; i++) {
        bytes += m->looked_at.at[i].n;
        if (bytes > r->pool.n)
            r->bad = true;
        else
            bz_map_put(&m->looked_set, m->looked_at.at[i])->u = 1;
    }
}

static void read_lists(struct reader *r)
{
    read_names(r, INHERITED, &r->m->inherited);
    read_names(r, HANDLERS, &r->m->handlers);
    read_names(r, ANONYMOUS, &r->m->anonymous);
    read_tasks(r);
    read_functions(r);
    read_paths(r);
}

/* The bytes behind the magic and the version. */
static int check_format(struct bz_str table, struct bz_string_pool_cursor *in,
                        struct bz_err *err)
{
    uint64_t format;

    *in = (struct bz_string_pool_cursor){0};
    if (!bz_str_cut_prefix(&table, BZ_STR(MAGIC)))
        return bz_fail(err, BZ_E_CORRUPT, "the bytes are no table of metadata");
    *in = bz_string_pool_cursor(table);
    format = bz_string_pool_take(in);
    if (format != BZ_META_TABLE_FORMAT)
        return bz_fail(err, BZ_E_CORRUPT,
                       "the table of metadata has format %llu, expected %d",
                       (unsigned long long)format, BZ_META_TABLE_FORMAT);
    return 0;
}

static int damaged(struct bz_err *err)
{
    return bz_fail(err, BZ_E_CORRUPT, "the table of metadata is damaged");
}

static struct bz_str rest_of(const struct bz_string_pool_cursor *in)
{
    return bz_str_of((const char *)in->at, (size_t)(in->end - in->at));
}

/* Everything but the variables. */
static void read_meta(struct reader *r, struct bz_string_pool_cursor *in)
{
    uint64_t bits = bz_string_pool_take(in);
    struct bz_str class_type = {0}, list;

    if (bits > BITS ||
        !bz_string_pool_get(r->pool, bz_string_pool_take(in), &class_type) ||
        !class_type.p ||
        !bz_string_pool_get(r->pool, bz_string_pool_take(in), &r->m->skipped))
        r->bad = true;
    r->m->complete = bits & COMPLETE;
    r->m->class_type = class_type.p;
    for (int i = 0; i < LISTS; i++) {
        if (!bz_string_pool_get(r->pool, bz_string_pool_take(in), &list))
            r->bad = true;
        r->lists[i] = bz_string_pool_cursor(list);
    }
    r->bad |= in->bad;
    if (!r->bad)
        read_lists(r);
}

int bz_meta_table_read(struct bz_str table, struct bz_str pool,
                       const struct bz_meta *config, struct bz_meta **out,
                       struct bz_err *err)
{
    BZ_CLEANUP(bz_meta_freep) struct bz_meta *m = NULL;
    struct bz_string_pool_cursor in;
    struct reader r = {.pool = pool};
    int rc = check_format(table, &in, err);

    if (rc < 0)
        return rc;
    m = bz_mem_zalloc(sizeof(*m));
    m->config = config;
    r.m = m;
    read_meta(&r, &in);
    if (r.bad)
        return damaged(err);
    rc = bz_vars_table_read(rest_of(&in), pool, config ? config->vars : NULL, &m->vars,
                            err);
    if (rc < 0)
        return rc;
    *out = m;
    m = NULL; /* the caller owns it now */
    return 0;
}

/* ---- moving ---- */

static bool move_list(struct bz_vars_table_move *m, enum list list, uint64_t ref,
                      uint32_t *out)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf bytes = {0};
    struct bz_string_pool_cursor c;
    struct bz_str old;
    size_t column = 0;

    if (!bz_string_pool_get(m->from, ref, &old))
        return false;
    for (c = bz_string_pool_cursor(old); c.at < c.end; column++) {
        bool is_ref = columns[list].p[column % columns[list].n] == 'r';
        uint32_t number = bz_string_pool_take32(&c);

        if (c.bad || (is_ref && !bz_vars_table_move_string(m, number, &number)))
            return false;
        bz_string_pool_store32((unsigned char *)bz_buf_reserve(&bytes, CELL), number);
        bz_buf_commit(&bytes, CELL);
    }
    *out = bz_string_pool_add(m->to, bz_str_of(bz_buf_text(&bytes), bytes.len));
    return true;
}

int bz_meta_table_move(struct bz_vars_table_move *m, struct bz_str table,
                       struct bz_buf *out, struct bz_err *err)
{
    struct bz_string_pool_cursor in;
    uint32_t ref;
    int rc = check_format(table, &in, err);

    if (rc < 0)
        return rc;
    bz_buf_add_str(out, BZ_STR(MAGIC));
    bz_string_pool_put(out, BZ_META_TABLE_FORMAT);
    bz_string_pool_put(out, bz_string_pool_take(&in));
    for (int i = 0; i < 2; i++) { /* class_type, skipped */
        if (!bz_vars_table_move_string(m, bz_string_pool_take(&in), &ref))
            return damaged(err);
        bz_string_pool_put(out, ref);
    }
    for (int i = 0; i < LISTS; i++) {
        if (!move_list(m, (enum list)i, bz_string_pool_take(&in), &ref))
            return damaged(err);
        bz_string_pool_put(out, ref);
    }
    return in.bad ? damaged(err) : bz_vars_table_move(m, rest_of(&in), out, err);
}
