#include "survey/snapshot_write.h"

#include <fcntl.h>

#include "os/fs.h"
#include "os/path.h"

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

static uint32_t input(struct bz_snapshot_write *w, const struct bz_library_look *look)
{
    struct bz_map_entry *it = bz_map_put(&w->inputs, look->path);
    struct bz_snapshot_input record = {.stamp = look->stamp, .read = look->read};

    if (it->u == 0) {
        memcpy(record.content, look->content, sizeof(record.content));
        record.path = text(w, look->path);
        add(w, BZ_SNAPSHOT_INPUTS, &record);
        it->u = count(w, BZ_SNAPSHOT_INPUTS);
    }
    return (uint32_t)it->u - 1;
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

void bz_snapshot_write_recipe(struct bz_snapshot_write *w, const struct bz_facts *facts,
                              size_t n, const struct bz_snapshot_write_looks *looks)
{
    struct bz_snapshot_recipe recipe = {
        .facts = {count(w, BZ_SNAPSHOT_FACTS), (uint32_t)n},
          .valid = 1
    };

    for (size_t i = 0; i < n; i++) {
        const struct bz_facts *f = &facts[i];
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
            recipe.valid = 0;
    }
    recipe.inputs = list(w, looks);
    add(w, BZ_SNAPSHOT_RECIPES, &recipe);
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

static void align(struct bz_buf *b)
{
    while (b->len % 8 != 0)
        bz_buf_add_char(b, '\0');
}

static void seal(struct bz_buf *bytes)
{
    struct bz_snapshot_head *head = (void *)bytes->data;

    head->size = bytes->len;
    head->sum = bz_snapshot_sum(bytes->data, bytes->len);
}

int bz_snapshot_write_bytes(struct bz_snapshot_write *w, struct bz_str key,
                            struct bz_buf *out, struct bz_err *err)
{
    struct bz_snapshot_head head = {0};
    size_t size = sizeof(head);

    bz_snapshot_sign(&head);
    head.key = text(w, key);
    for (size_t i = 0; i < BZ_SNAPSHOT_TABLES; i++)
        size += w->tables[i].len + 8;
    if (size > BZ_SNAPSHOT_MAX)
        return bz_fail(err, BZ_E_LIMIT, "a snapshot of %zu bytes is too large", size);
    bz_buf_truncate(out, 0);
    bz_buf_reserve(out, size);
    bz_buf_add(out, &head, sizeof(head));
    for (size_t i = 0; i < BZ_SNAPSHOT_TABLES; i++) {
        align(out);
        head.tables[i] = (struct bz_snapshot_range){
            (uint32_t)out->len, count(w, (enum bz_snapshot_table)i)};
        bz_buf_add_str(out, bz_buf_str(&w->tables[i]));
    }
    memcpy(out->data, &head, sizeof(head));
    seal(out);
    return 0;
}

int bz_snapshot_write_sealed(struct bz_buf *bytes, const char *path, struct bz_err *err)
{
    struct bz_path dir;
    int rc = bz_path_join(BZ_STR(""), bz_path_dirname(bz_str_from(path)), &dir, err);

    seal(bytes);
    if (rc == 0)
        rc = bz_fs_mkdirs(AT_FDCWD, dir.s, 0777, err);
    if (rc == 0)
        rc = bz_fs_write(AT_FDCWD, path, bytes->data, bytes->len, 0644, BZ_FS_NOSYNC,
                         err);
    return rc;
}

int bz_snapshot_write_file(struct bz_snapshot_write *w, struct bz_str key,
                           const char *path, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf bytes = {0};
    int rc = bz_snapshot_write_bytes(w, key, &bytes, err);

    return rc < 0 ? rc : bz_snapshot_write_sealed(&bytes, path, err);
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
    *w = (struct bz_snapshot_write){0};
}
