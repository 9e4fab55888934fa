#include "sig/memo.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "sig/seal.h"
#include "sig/taskspec.h"

static const struct bz_seal_kind kind = {"bz-memo3"};

struct text {
    uint32_t at, n;
};

/* The content: this, the records, the rows, the texts. */
struct head {
    char format[24]; /* BZ_TASKSPEC_FORMAT */
    uint64_t nrecords, nrows;
};

static const char format[sizeof(((struct head *)0)->format)] = BZ_TASKSPEC_FORMAT;

struct bz_memo_record {
    struct bz_memo_key key;
    struct text notes;
    uint32_t first, n; /* rows */
    uint32_t age;      /* times it was saved since it was used */
    uint32_t unused;
};

struct bz_memo_row {
    struct bz_digest digest;
    struct text name, files;
};

static uint64_t short_key(const struct bz_memo_key *key)
{
    uint64_t x;

    memcpy(&x, key->b, sizeof(x));
    return x;
}

/* ---- reading ---- */

static struct bz_str text_of(const struct bz_memo *m, struct text t)
{
    if (t.at > m->texts.n || t.n > m->texts.n - t.at)
        return BZ_STR("");
    return bz_str_sub(m->texts, t.at, (size_t)t.at + t.n);
}

static void take_content(struct bz_memo *m, struct bz_str content)
{
    struct head head = {0};
    size_t left = content.n, records, rows;

    if (left < sizeof(head))
        return;
    memcpy(&head, content.p, sizeof(head));
    left -= sizeof(head);
    if (memcmp(head.format, format, sizeof(format)) != 0 ||
        head.nrecords > BZ_MEMO_MAX ||
        head.nrecords > left / sizeof(struct bz_memo_record))
        return;
    records = head.nrecords * sizeof(struct bz_memo_record);
    left -= records;
    if (head.nrows > left / sizeof(struct bz_memo_row))
        return;
    rows = head.nrows * sizeof(struct bz_memo_row);
    m->nrecords = head.nrecords;
    m->nrows = head.nrows;
    m->records = (const void *)(content.p + sizeof(head));
    m->rows = (const void *)(content.p + sizeof(head) + records);
    m->texts = bz_str_sub(content, sizeof(head) + records + rows, content.n);
    m->used = bz_mem_array(m->nrecords + 1, sizeof(m->used[0]));
    bz_map_reserve(&m->index, m->nrecords);
    for (size_t i = 0; i < m->nrecords; i++)
        bz_map_put_u64(&m->index, short_key(&m->records[i].key))->u = i + 1;
}

void bz_memo_open(struct bz_memo *m, const char *path, struct bz_digest_hasher *hasher)
{
    struct bz_str content;
    struct bz_err err;

    *m = (struct bz_memo){0};
    if (!path)
        return;
    if (bz_seal_read(path, kind, hasher, &m->bytes, &content, &err) < 0)
        bz_log_debug("memo", "no digests of tasks are recalled: %s", err.msg);
    else
        take_content(m, content);
}

void bz_memo_close(struct bz_memo *m)
{
    bz_map_release(&m->index);
    free(m->used);
    free(m->bytes);
    *m = (struct bz_memo){0};
}

static const struct bz_memo_record *find(const struct bz_memo *m,
                                         const struct bz_memo_key *key)
{
    const struct bz_map_entry *it = bz_map_get_u64(&m->index, short_key(key));
    const struct bz_memo_record *r = it ? &m->records[it->u - 1] : NULL;

    if (!r || memcmp(&r->key, key, sizeof(*key)) != 0 || r->first > m->nrows ||
        r->n > m->nrows - r->first || r->n > BZ_MEMO_TASKS)
        return NULL;
    return r;
}

bool bz_memo_find(struct bz_memo *m, const struct bz_memo_key *key,
                  struct bz_memo_found *out)
{
    const struct bz_memo_record *r = find(m, key);

    if (!r)
        return false;
    m->used[r - m->records] = true;
    *out = (struct bz_memo_found){
        .first = r->first, .n = r->n, .notes = text_of(m, r->notes)};
    return true;
}

bool bz_memo_task(const struct bz_memo *m, struct bz_memo_found *in, struct bz_str name,
                  struct bz_memo_task *out)
{
    for (size_t i = 0; i < in->n; i++) {
        size_t at = (in->next + i) % in->n;
        const struct bz_memo_row *row = &m->rows[in->first + at];

        if (!bz_str_eq(text_of(m, row->name), name))
            continue;
        in->next = at + 1;
        *out = (struct bz_memo_task){name, row->digest, text_of(m, row->files)};
        return true;
    }
    return false;
}

/* ---- saving ---- */

struct writer {
    const struct bz_memo *m;
    struct bz_map texts; /* text -> its place, from 1 */
    struct bz_map fresh; /* the first bytes of the keys that are added */
    struct bz_buf records, rows, heap;
    size_t left; /* rows of old records; more there are only if they overlap */
};

static struct text put_text(struct writer *w, struct bz_str s)
{
    struct bz_map_entry *it;

    if (s.n == 0)
        return (struct text){0, 0};
    it = bz_map_put(&w->texts, s);
    if (it->u == 0) {
        it->u = w->heap.len + 1;
        bz_buf_add_str(&w->heap, s);
    }
    /* Beyond 4 GiB the file is refused; until then any number will do. */
    return (struct text){(uint32_t)(it->u - 1), (uint32_t)s.n};
}

static void put_row(struct writer *w, const struct bz_memo_task *task)
{
    struct bz_memo_row row = {task->digest, put_text(w, task->name),
                              put_text(w, task->files)};

    bz_buf_add(&w->rows, &row, sizeof(row));
}

static size_t count_rows(const struct writer *w)
{
    return w->rows.len / sizeof(struct bz_memo_row);
}

static void end_record(struct writer *w, struct bz_memo_record *r, size_t first)
{
    r->first = (uint32_t)first;
    r->n = (uint32_t)(count_rows(w) - first);
    bz_buf_add(&w->records, r, sizeof(*r));
}

static struct bz_memo_task task_at(const struct bz_memo *m, size_t i)
{
    const struct bz_memo_row *row = &m->rows[i];

    return (struct bz_memo_task){text_of(m, row->name), row->digest,
                                 text_of(m, row->files)};
}

static bool has_task(const struct bz_memo_recipe *r, struct bz_str name)
{
    for (size_t i = 0; i < r->n; i++)
        if (bz_str_eq(r->tasks[i].name, name))
            return true;
    return false;
}

static void put_fresh(struct writer *w, const struct bz_memo_recipe *r)
{
    const struct bz_memo_record *old = find(w->m, &r->key);
    struct bz_memo_record record = {.key = r->key, .notes = put_text(w, r->notes)};
    size_t first = count_rows(w);

    for (size_t i = 0; i < r->n; i++)
        put_row(w, &r->tasks[i]);
    if (old && old->n > w->left)
        old = NULL;
    w->left -= old ? old->n : 0;
    for (size_t i = 0; old && i < old->n; i++) {
        struct bz_memo_task task = task_at(w->m, old->first + i);

        if (!has_task(r, task.name))
            put_row(w, &task);
    }
    end_record(w, &record, first);
    bz_map_put_u64(&w->fresh, short_key(&r->key))->u = 1;
}

static void put_old(struct writer *w, size_t i)
{
    const struct bz_memo_record *old = find(w->m, &w->m->records[i].key);
    struct bz_memo_record record;
    size_t first = count_rows(w);

    if (old != &w->m->records[i] || bz_map_get_u64(&w->fresh, short_key(&old->key)))
        return;
    record = (struct bz_memo_record){.key = old->key,
                                     .notes = put_text(w, text_of(w->m, old->notes)),
                                     .age = w->m->used[i] ? 0 : old->age + 1};
    if (record.age > BZ_MEMO_AGE || old->n > w->left)
        return;
    w->left -= old->n;
    for (size_t k = 0; k < old->n; k++) {
        struct bz_memo_task task = task_at(w->m, old->first + k);

        put_row(w, &task);
    }
    end_record(w, &record, first);
}

static size_t count_records(const struct writer *w)
{
    return w->records.len / sizeof(struct bz_memo_record);
}

static int seal(const struct writer *w, const char *path,
                struct bz_digest_hasher *hasher, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf all = {0};
    struct head head = {.nrecords = count_records(w), .nrows = count_rows(w)};

    memcpy(head.format, format, sizeof(format));
    bz_buf_add(&all, &head, sizeof(head));
    bz_buf_add_str(&all, bz_buf_str(&w->records));
    bz_buf_add_str(&all, bz_buf_str(&w->rows));
    bz_buf_add_str(&all, bz_buf_str(&w->heap));
    return bz_seal_write(path, kind, hasher, bz_buf_str(&all), err);
}

int bz_memo_save(const struct bz_memo *m, const struct bz_memo_recipe *more, size_t n,
                 const char *path, struct bz_digest_hasher *hasher, struct bz_err *err)
{
    struct writer w = {.m = m, .left = m->nrows};
    int rc;

    for (size_t i = 0; i < n && count_records(&w) < BZ_MEMO_MAX; i++)
        put_fresh(&w, &more[i]);
    for (size_t i = 0; i < m->nrecords && count_records(&w) < BZ_MEMO_MAX; i++)
        put_old(&w, i);
    rc = seal(&w, path, hasher, err);
    bz_map_release(&w.texts);
    bz_map_release(&w.fresh);
    bz_buf_release(&w.records);
    bz_buf_release(&w.rows);
    bz_buf_release(&w.heap);
    return rc;
}
