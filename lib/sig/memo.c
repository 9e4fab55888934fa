#include "sig/memo.h"

#include "base/buf.h"

enum { RECENT = 8 }; /* rows in which an equal list of files is looked for */

struct text {
    uint32_t at, n;
};

/* An entry: this, the rows, the texts. */
struct head {
    uint32_t nrows;
    struct text notes;
    uint32_t unused;
};

struct bz_memo_row {
    struct bz_digest digest;
    struct text name, files;
};

static struct bz_str text_of(const struct bz_memo *m, struct text t)
{
    if (t.at > m->texts.n || t.n > m->texts.n - t.at)
        return BZ_STR("");
    return bz_str_sub(m->texts, t.at, (size_t)t.at + t.n);
}

bool bz_memo_find(struct bz_entries *catalog, const struct bz_entries_key *key,
                  struct bz_memo *out)
{
    struct bz_str bytes;
    struct head head;
    size_t rows;

    if (!bz_entries_find(catalog, BZ_MEMO_KIND, key, &bytes) || bytes.n < sizeof(head))
        return false;
    memcpy(&head, bytes.p, sizeof(head));
    if (head.nrows > BZ_MEMO_TASKS ||
        head.nrows > (bytes.n - sizeof(head)) / sizeof(struct bz_memo_row))
        return false;
    rows = head.nrows * sizeof(struct bz_memo_row);
    *out = (struct bz_memo){
        .n = head.nrows,
        .rows = (const void *)(bytes.p + sizeof(head)),
        .texts = bz_str_sub(bytes, sizeof(head) + rows, bytes.n),
    };
    out->notes = text_of(out, head.notes);
    return true;
}

static struct bz_memo_task task_at(const struct bz_memo *m, size_t i)
{
    const struct bz_memo_row *row = &m->rows[i];

    return (struct bz_memo_task){text_of(m, row->name), row->digest,
                                 text_of(m, row->files)};
}

bool bz_memo_task(struct bz_memo *m, struct bz_str name, struct bz_memo_task *out)
{
    for (size_t i = 0; i < m->n; i++) {
        size_t at = (m->next + i) % m->n;

        if (!bz_str_eq(text_of(m, m->rows[at].name), name))
            continue;
        m->next = at + 1;
        *out = task_at(m, at);
        return true;
    }
    return false;
}

/* ---- keeping ---- */

struct writer {
    struct bz_buf rows, texts;
};

static size_t count_rows(const struct writer *w)
{
    return w->rows.len / sizeof(struct bz_memo_row);
}

static struct text put_text(struct writer *w, struct bz_str s)
{
    struct text t = {(uint32_t)w->texts.len, (uint32_t)s.n};

    bz_buf_add_str(&w->texts, s);
    return t;
}

/* Tasks of a recipe often have the same files. */
static struct text put_files(struct writer *w, struct bz_str files)
{
    const struct bz_memo_row *rows = (const void *)w->rows.data;
    size_t n = count_rows(w);

    for (size_t i = n; i > 0 && n - i < RECENT; i--) {
        struct text t = rows[i - 1].files;

        if (bz_str_eq(bz_str_of(w->texts.data + t.at, t.n), files))
            return t;
    }
    return put_text(w, files);
}

static void put_row(struct writer *w, const struct bz_memo_task *task)
{
    struct bz_memo_row row = {.digest = task->digest};

    if (count_rows(w) == BZ_MEMO_TASKS)
        return;
    row.name = put_text(w, task->name);
    row.files = put_files(w, task->files);
    bz_buf_add(&w->rows, &row, sizeof(row));
}

static bool has_task(const struct bz_memo_recipe *r, struct bz_str name)
{
    for (size_t i = 0; i < r->n; i++)
        if (bz_str_eq(r->tasks[i].name, name))
            return true;
    return false;
}

void bz_memo_put(struct bz_entries *catalog, const struct bz_memo_recipe *recipe)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf all = {0};
    struct writer w = {0};
    struct head head = {.notes = put_text(&w, recipe->notes)};
    struct bz_memo old;

    for (size_t i = 0; i < recipe->n; i++)
        put_row(&w, &recipe->tasks[i]);
    if (bz_memo_find(catalog, &recipe->key, &old))
        for (size_t i = 0; i < old.n; i++) {
            struct bz_memo_task task = task_at(&old, i);

            if (!has_task(recipe, task.name))
                put_row(&w, &task);
        }
    head.nrows = (uint32_t)count_rows(&w);
    bz_buf_add(&all, &head, sizeof(head));
    bz_buf_add_str(&all, bz_buf_str(&w.rows));
    bz_buf_add_str(&all, bz_buf_str(&w.texts));
    if (w.texts.len <= UINT32_MAX)
        bz_entries_put(catalog, BZ_MEMO_KIND, &recipe->key, bz_buf_str(&all));
    bz_buf_release(&w.rows);
    bz_buf_release(&w.texts);
}
