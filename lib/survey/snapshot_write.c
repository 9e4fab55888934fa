#include "survey/snapshot_write.h"

#include <stdlib.h>

#include "base/mem.h"

static uint32_t count(const struct bz_snapshot_write *w, enum bz_snapshot_table table)
{
    return (uint32_t)(w->tables[table].len / bz_snapshot_sizes[table]);
}

static void add(struct bz_snapshot_write *w, enum bz_snapshot_table table,
                const void *record)
{
    bz_buf_add(&w->tables[table], record, bz_snapshot_sizes[table]);
}

/* Texts that are given live as long as the writer, and so may be keys. */
static struct bz_snapshot_text text(struct bz_snapshot_write *w, struct bz_str s)
{
    struct bz_snapshot_text ref = {BZ_SNAPSHOT_UNSET, 0};
    struct bz_buf *heap = &w->tables[BZ_SNAPSHOT_TEXTS];
    struct bz_map_entry *it;

    if (!s.p)
        return ref;
    it = bz_map_put(&w->texts, s);
    if (it->u == 0) {
        it->u = heap->len + 1;
        bz_buf_add_str(heap, s);
        bz_buf_add_char(heap, '\0');
    }
    /* Beyond this the file is refused in the end; until then any number will do. */
    ref.at = it->u - 1 < BZ_SNAPSHOT_MAX ? (uint32_t)(it->u - 1) : 0;
    ref.n = (uint32_t)s.n;
    return ref;
}

static void texts(struct bz_snapshot_write *w, const void *from, const size_t *at,
                  size_t n, struct bz_snapshot_text *out)
{
    for (size_t i = 0; i < n; i++) {
        struct bz_str s;

        memcpy(&s, (const char *)from + at[i], sizeof(s));
        out[i] = text(w, s);
    }
}

static void add_input(struct bz_snapshot_write *w, const struct bz_library_look *look,
                      uint32_t replaces)
{
    struct bz_snapshot_input record = {
        .stamp = look->stamp,
        .bits = look->read ? BZ_SNAPSHOT_READ : 0,
        .path = {BZ_SNAPSHOT_UNSET, 0},
        .replaces = replaces
    };

    memcpy(record.content, look->content, sizeof(record.content));
    if (replaces == BZ_SNAPSHOT_UNSET)
        record.path = text(w, look->path);
    else
        w->replaced[replaces] = true;
    add(w, BZ_SNAPSHOT_INPUTS, &record);
}

static uint32_t input(struct bz_snapshot_write *w, const struct bz_library_look *look)
{
    struct bz_map_entry *it = bz_map_put(&w->inputs, look->path);
    uint32_t number = (uint32_t)it->u - 1;

    if (it->u == 0) {
        number = w->ninputs++;
        it->u = w->ninputs;
        add_input(w, look, BZ_SNAPSHOT_UNSET);
    } else if (w->known && number < w->known->n && w->known->changed[number] &&
               !w->replaced[number]) {
        add_input(w, look, number);
    }
    return number;
}

void bz_snapshot_write_delta(struct bz_snapshot_write *w, const struct bz_inputs *known)
{
    w->known = known;
    w->ninputs = (uint32_t)known->n;
    w->replaced = bz_mem_array(known->n + 1, sizeof(w->replaced[0]));
    bz_map_reserve(&w->inputs, known->n);
    for (size_t i = 0; i < known->n; i++)
        if (!known->dropped[i])
            bz_map_put(&w->inputs, known->looks[i].path)->u = i + 1;
}

void bz_snapshot_write_inputs(struct bz_snapshot_write *w)
{
    const struct bz_inputs *in = w->known;

    for (uint32_t i = 0; i < in->n; i++) {
        struct bz_snapshot_input gone = {
            .bits = BZ_SNAPSHOT_DROPPED, .path = {BZ_SNAPSHOT_UNSET, 0},
                 .replaces = i
        };

        if (w->replaced[i])
            continue;
        if (in->changed[i])
            add(w, BZ_SNAPSHOT_INPUTS, &gone);
        else if (in->renewed[i])
            add_input(w, &in->looks[i], i);
    }
}

bool bz_snapshot_write_none(const struct bz_snapshot_write *w)
{
    return w->tables[BZ_SNAPSHOT_INPUTS].len + w->tables[BZ_SNAPSHOT_RECIPES].len == 0;
}

void bz_snapshot_write_looks(struct bz_snapshot_write *w,
                             const struct bz_snapshot_write_looks *looks)
{
    for (size_t i = 0; i < looks->n; i++)
        input(w, looks->at[i]);
}

static struct bz_snapshot_range list(struct bz_snapshot_write *w,
                                     const struct bz_snapshot_write_looks *looks)
{
    struct bz_snapshot_range range = {count(w, BZ_SNAPSHOT_LIST), (uint32_t)looks->n};

    for (size_t i = 0; i < looks->n; i++) {
        uint32_t number = input(w, looks->at[i]);

        add(w, BZ_SNAPSHOT_LIST, &number);
    }
    return range;
}

/* The records from `first` on, unless equal ones are there already: then those. */
static uint32_t once(struct bz_snapshot_write *w, enum bz_snapshot_table table,
                     uint32_t first)
{
    struct bz_buf *b = &w->tables[table];
    size_t from = first * bz_snapshot_sizes[table];
    struct bz_str bytes = bz_str_of(b->data + from, b->len - from);
    struct bz_map_entry *it = bz_map_get(&w->equal, bytes);

    if (it) {
        bz_buf_truncate(b, from);
        return (uint32_t)it->u - 1;
    }
    bz_map_put(&w->equal, bz_arena_dup(&w->arena, bytes))->u = (uint64_t)first + 1;
    return first;
}

static struct bz_snapshot_range packages(struct bz_snapshot_write *w,
                                         const struct bz_facts *f)
{
    struct bz_snapshot_range range = {count(w, BZ_SNAPSHOT_PACKAGES),
                                      (uint32_t)f->npackages};

    for (size_t i = 0; i < f->npackages; i++) {
        struct bz_snapshot_package record;

        texts(w, &f->packages[i], bz_snapshot_package_at, BZ_SNAPSHOT_PACKAGE_TEXTS,
              record.text);
        add(w, BZ_SNAPSHOT_PACKAGES, &record);
    }
    return range;
}

static void add_task(struct bz_snapshot_write *w, const struct bz_facts_task *t)
{
    struct bz_snapshot_task record = {.bits = (t->noexec ? BZ_SNAPSHOT_NOEXEC : 0) |
                                              (t->nostamp ? BZ_SNAPSHOT_NOSTAMP : 0) |
                                              (t->fakeroot ? BZ_SNAPSHOT_FAKEROOT : 0) |
                                              (t->network ? BZ_SNAPSHOT_NETWORK : 0)};

    texts(w, t, bz_snapshot_task_at, BZ_SNAPSHOT_TASK_TEXTS, record.text);
    add(w, BZ_SNAPSHOT_TASKS, &record);
}

/* Most recipes share a list, also as it lies in memory; the others may be equal. */
static struct bz_snapshot_range tasks(struct bz_snapshot_write *w,
                                      const struct bz_facts *f)
{
    struct bz_snapshot_range range = {count(w, BZ_SNAPSHOT_TASKS), (uint32_t)f->ntasks};
    struct bz_map_entry *it;

    if (f->ntasks == 0)
        return range;
    it = bz_map_put_u64(&w->tasks, (uintptr_t)f->tasks ^ (uint64_t)f->ntasks << 48);
    if (it->u == 0) {
        for (size_t i = 0; i < f->ntasks; i++)
            add_task(w, &f->tasks[i]);
        it->u = (uint64_t)once(w, BZ_SNAPSHOT_TASKS, range.first) + 1;
    }
    range.first = (uint32_t)it->u - 1;
    return range;
}

void bz_snapshot_write_recipe(struct bz_snapshot_write *w,
                              const struct bz_snapshot_write_recipe *recipe)
{
    struct bz_snapshot_recipe own = {
        .facts = {count(w, BZ_SNAPSHOT_FACTS), (uint32_t)recipe->n},
        .valid = 1,
        .replaces = recipe->replaces
    };

    for (size_t i = 0; i < recipe->n; i++) {
        const struct bz_facts *f = &recipe->facts[i];
        struct bz_snapshot_fact record = {.priority = f->priority,
                                          .preference = f->default_preference};

        record.bits = (f->hidden ? BZ_SNAPSHOT_HIDDEN : 0) |
                      (f->uncached ? BZ_SNAPSHOT_UNCACHED : 0) |
                      (f->not_world ? BZ_SNAPSHOT_NOT_WORLD : 0);
        memcpy(record.lineage, f->lineage, sizeof(record.lineage));
        texts(w, f, bz_snapshot_fact_at, BZ_SNAPSHOT_FACT_TEXTS, record.text);
        record.packages = packages(w, f);
        record.tasks = tasks(w, f);
        add(w, BZ_SNAPSHOT_FACTS, &record);
        if (f->error.p || f->uncached)
            own.valid = 0;
    }
    own.inputs = list(w, &recipe->looks);
    add(w, BZ_SNAPSHOT_RECIPES, &own);
}

void bz_snapshot_write_part(struct bz_snapshot_write *w,
                            const struct bz_snapshot_write_part *part)
{
    uint32_t n = count(w, BZ_SNAPSHOT_PARTS), before = 0;
    struct bz_snapshot_part record = {.masked = part->masked};

    if (n > 0) {
        struct bz_snapshot_part last;

        memcpy(&last, w->tables[BZ_SNAPSHOT_PARTS].data + (n - 1) * sizeof(last),
               sizeof(last));
        before = last.recipes.first + last.recipes.n;
    }
    record.mc = text(w, part->mc);
    record.settings = text(w, part->settings);
    memcpy(record.digest, part->digest, sizeof(record.digest));
    memcpy(record.config, part->config, sizeof(record.config));
    record.recipes.first = before;
    record.recipes.n = count(w, BZ_SNAPSHOT_RECIPES) - before;
    record.inputs = list(w, &part->looks);
    add(w, BZ_SNAPSHOT_PARTS, &record);
}

static size_t aligned(size_t n)
{
    return (n + 7) / 8 * 8;
}

size_t bz_snapshot_write_size(const struct bz_snapshot_write *w)
{
    size_t size = sizeof(struct bz_snapshot_head);

    for (size_t i = 0; i < BZ_SNAPSHOT_TABLES; i++)
        size += aligned(w->tables[i].len);
    return size;
}

/* Adds the key, which is a text like others, and checks the size. */
static int prepare(struct bz_snapshot_write *w, struct bz_str key,
                   struct bz_snapshot_head *head, struct bz_err *err)
{
    bz_snapshot_sign(head);
    head->key = text(w, key);
    head->size = bz_snapshot_write_size(w);
    if (head->size > BZ_SNAPSHOT_MAX)
        return bz_fail(err, BZ_E_LIMIT, "a snapshot of %zu bytes is too large",
                       (size_t)head->size);
    return 0;
}

static void fill(const struct bz_snapshot_write *w, struct bz_snapshot_head *head,
                 char *out)
{
    size_t at = sizeof(*head);

    for (size_t i = 0; i < BZ_SNAPSHOT_TABLES; i++) {
        const struct bz_buf *table = &w->tables[i];

        head->tables[i] = (struct bz_snapshot_range){
            (uint32_t)at, count(w, (enum bz_snapshot_table)i)};
        if (table->len > 0)
            memcpy(out + at, table->data, table->len);
        memset(out + at + table->len, 0, aligned(table->len) - table->len);
        at += aligned(table->len);
    }
    memcpy(out, head, sizeof(*head));
}

int bz_snapshot_write_bytes(struct bz_snapshot_write *w, struct bz_str key,
                            struct bz_buf *out, struct bz_err *err)
{
    struct bz_snapshot_head head = {0};
    int rc = prepare(w, key, &head, err);

    if (rc < 0)
        return rc;
    bz_buf_truncate(out, 0);
    fill(w, &head, bz_buf_reserve(out, (size_t)head.size));
    bz_buf_commit(out, (size_t)head.size);
    return 0;
}

int bz_snapshot_write_entry(struct bz_snapshot_write *w, struct bz_str key,
                            struct bz_entries *catalog, uint32_t kind,
                            const struct bz_entries_key *name, struct bz_err *err)
{
    struct bz_snapshot_head head = {0};
    int rc = prepare(w, key, &head, err);

    if (rc < 0)
        return rc;
    fill(w, &head, bz_entries_room(catalog, (size_t)head.size));
    bz_entries_commit(catalog, kind, name, (size_t)head.size);
    return 0;
}

void bz_snapshot_write_release(struct bz_snapshot_write *w)
{
    for (size_t i = 0; i < BZ_SNAPSHOT_TABLES; i++)
        bz_buf_release(&w->tables[i]);
    bz_map_release(&w->texts);
    bz_map_release(&w->inputs);
    bz_map_release(&w->tasks);
    bz_map_release(&w->equal);
    bz_arena_release(&w->arena);
    free(w->replaced);
    *w = (struct bz_snapshot_write){0};
}
