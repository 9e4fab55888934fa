#include "cache/index.h"

#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/sync.h"
#include "base/vec.h"
#include "cache/index_file.h"
#include "cache/index_sql.h"
#include "cache/schema.h"
#include "os/clock.h"
#include "os/fs.h"

#define COSTS_MANY 200   /* asks from which on all of a project is read */
#define QUEUE_FLUSH 4096 /* records after which the queue is written */
#define BOOT_MAX 64

enum kind {
    NOTE_ACTION,
    NOTE_HIT,
    NOTE_BLOB,
    NOTE_CHECKED,
    NOTE_COST,
    NOTE_GUESS,
    FORGET_ACTION,
    FORGET_BLOB
};

struct record {
    enum kind kind;
    struct bz_digest key;
    char *recipe, *task;               /* owned */
    char *project, *machine, *version; /* owned; of a cost */
    int64_t used, duration;
    uint64_t bytes;
    struct bz_reapi_digest *refs; /* owned */
    size_t nrefs;
};

struct record_list BZ_VEC(struct record);

struct bz_index {
    struct bz_sync_mutex db_mu;
    sqlite3 *db;                            /* db_mu; NULL once it has failed */
    sqlite3_stmt *stmt[BZ_INDEX_SQL_COUNT]; /* db_mu; prepared when first used */
    char boot[BOOT_MAX];
    char *path; /* owned; NULL: in memory */

    struct bz_sync_mutex mu;
    struct bz_sync_cond idle;
    struct record_list queue; /* mu */
    bool flushing;            /* mu; an item is on the pool */
    struct bz_pool *pool;     /* or NULL */
    struct bz_pool_item item;
};

static void record_release(struct record *r)
{
    free(r->recipe);
    free(r->task);
    free(r->project);
    free(r->machine);
    free(r->version);
    free(r->refs);
}

static void records_release(struct record_list *list)
{
    for (size_t i = 0; i < list->len; i++)
        record_release(&list->at[i]);
    bz_vec_release(list);
}

/* Opening. */

static void read_boot(struct bz_index *x)
{
    struct bz_err err;
    char *text;
    size_t n;

    if (bz_fs_read(AT_FDCWD, "/proc/sys/kernel/random/boot_id", BOOT_MAX - 1, &text, &n,
                   &err) < 0)
        return; /* then every boot is the same, and none was checked in */
    memcpy(x->boot, text, n + 1);
    free(text);
}

int bz_index_open(const char *path, struct bz_pool *pool, struct bz_index **out,
                  enum bz_index_state *state, struct bz_err *err)
{
    BZ_CLEANUP(bz_mem_freep) struct bz_index *x = bz_mem_zalloc(sizeof(*x));
    bool fresh = true;
    int rc = -1;

    x->pool = pool;
    read_boot(x);
    *state = BZ_INDEX_MEMORY;
    if (path) {
        rc = bz_index_file_open(path, &x->db, &fresh, err);
        if (rc == 0) {
            if (fresh)
                bz_index_set_next_part(x, 0);
            *state = fresh ? BZ_INDEX_NEW : BZ_INDEX_KEPT;
            x->path = bz_mem_dup(path, strlen(path));
        } else
            bz_log_warn("cache", "%s: %s; it is kept in memory this time", path,
                        err->msg);
    }
    if (rc < 0)
        rc = bz_index_file_memory(&x->db, err);
    if (rc < 0)
        return rc;
    *out = x;
    x = NULL; /* the caller owns it now */
    return 0;
}

int bz_index_next_part(struct bz_index *x)
{
    int part;

    bz_sync_lock(&x->db_mu);
    part = x->db ? bz_index_file_part(x->db) : BZ_INDEX_FILLED;
    bz_sync_unlock(&x->db_mu);
    return part;
}

void bz_index_set_next_part(struct bz_index *x, int part)
{
    bz_sync_lock(&x->db_mu);
    if (x->db)
        bz_index_file_set_part(x->db, part);
    bz_sync_unlock(&x->db_mu);
}

static void close_db_locked(struct bz_index *x) BZ_REQUIRES(x->db_mu)
{
    for (size_t i = 0; i < BZ_INDEX_SQL_COUNT; i++)
        sqlite3_finalize(x->stmt[i]);
    memset(x->stmt, 0, sizeof(x->stmt));
    sqlite3_close(x->db);
    x->db = NULL;
}

/* Statements. */

/* A database that turns out to be broken is not asked again; the next one to open it
 * puts it aside. */
static int failed_locked(struct bz_index *x, int rc, struct bz_err *err)
    BZ_REQUIRES(x->db_mu)
{
    int code = bz_schema_fail(x->db, rc, "use it", err);

    if (code == BZ_E_CORRUPT) {
        close_db_locked(x);
        if (x->path)
            bz_index_file_spoil(x->path);
    } else { /* a transaction that stays open would be in the way of the next */
        (void)sqlite3_exec(x->db, "ROLLBACK", NULL, NULL, NULL);
    }
    return code;
}

/* The statement with its first parameter, a digest, or NULL and err. */
static sqlite3_stmt *bind_locked(struct bz_index *x, enum bz_index_sql which,
                                 const struct bz_digest *key, struct bz_err *err)
    BZ_REQUIRES(x->db_mu)
{
    sqlite3_stmt **stmt = &x->stmt[which];
    int rc = SQLITE_OK;

    if (!x->db) {
        bz_fail(err, BZ_E_CORRUPT, "index: it is broken");
        return NULL;
    }
    if (!*stmt)
        rc = sqlite3_prepare_v3(x->db, bz_index_sql_text(which), -1,
                                SQLITE_PREPARE_PERSISTENT, stmt, NULL);
    if (rc == SQLITE_OK && key)
        rc = sqlite3_bind_blob(*stmt, 1, key->b, sizeof(key->b), SQLITE_STATIC);
    if (rc == SQLITE_OK)
        return *stmt;
    failed_locked(x, rc, err);
    return NULL;
}

/* Runs a statement that yields no rows. */
static int done_locked(struct bz_index *x, sqlite3_stmt *stmt, struct bz_err *err)
    BZ_REQUIRES(x->db_mu)
{
    int rc = sqlite3_step(stmt);

    sqlite3_reset(stmt);
    return rc == SQLITE_DONE ? 0 : failed_locked(x, rc, err);
}

static int put_blob_locked(struct bz_index *x, const struct bz_digest *hash,
                           uint64_t size, int64_t used, struct bz_err *err)
    BZ_REQUIRES(x->db_mu)
{
    sqlite3_stmt *s = bind_locked(x, BZ_INDEX_SQL_PUT_BLOB, hash, err);

    if (!s)
        return err->code;
    sqlite3_bind_int64(s, 2, (sqlite3_int64)size);
    sqlite3_bind_int64(s, 3, used);
    return done_locked(x, s, err);
}

/* The blobs that a record refers to, and that it does. */
static int put_refs_locked(struct bz_index *x, const struct record *r,
                           struct bz_err *err) BZ_REQUIRES(x->db_mu)
{
    enum bz_index_sql which = r->kind == NOTE_ACTION ? BZ_INDEX_SQL_PUT_ACTION_REF
                                                     : BZ_INDEX_SQL_PUT_BLOB_REF;

    for (size_t i = 0; i < r->nrefs; i++) {
        const struct bz_digest *to = &r->refs[i].hash;
        sqlite3_stmt *s;

        if (put_blob_locked(x, to, r->refs[i].size, r->used, err) < 0)
            return err->code;
        s = bind_locked(x, which, &r->key, err);
        if (!s)
            return err->code;
        sqlite3_bind_blob(s, 2, to->b, sizeof(to->b), SQLITE_STATIC);
        if (done_locked(x, s, err) < 0)
            return err->code;
    }
    return 0;
}

/* `bytes` is the peak of the memory. */
static int put_cost_locked(struct bz_index *x, const struct record *r,
                           enum bz_index_sql which, struct bz_err *err)
    BZ_REQUIRES(x->db_mu)
{
    sqlite3_stmt *s = bind_locked(x, which, NULL, err);

    if (!s)
        return err->code;
    sqlite3_bind_text(s, 1, r->project, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 2, r->machine, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 3, r->recipe, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 4, r->task, -1, SQLITE_STATIC);
    if (which != BZ_INDEX_SQL_TRIM_COST) {
        sqlite3_bind_text(s, 5, r->version, -1, SQLITE_STATIC);
        sqlite3_bind_int64(s, 6, r->used);
        sqlite3_bind_int64(s, 7, r->duration);
        sqlite3_bind_int64(s, 8, (sqlite3_int64)r->bytes);
    }
    return done_locked(x, s, err);
}

static int put_action_locked(struct bz_index *x, const struct record *r,
                             struct bz_err *err) BZ_REQUIRES(x->db_mu)
{
    sqlite3_stmt *s = bind_locked(x, BZ_INDEX_SQL_PUT_ACTION, &r->key, err);

    if (!s)
        return err->code;
    sqlite3_bind_int64(s, 2, r->used);
    sqlite3_bind_text(s, 3, r->recipe, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 4, r->task, -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 5, r->duration);
    sqlite3_bind_int64(s, 6, (sqlite3_int64)r->bytes);
    return done_locked(x, s, err);
}

static int forget_locked(struct bz_index *x, const struct record *r, struct bz_err *err)
    BZ_REQUIRES(x->db_mu)
{
    static const enum bz_index_sql of_action[] = {BZ_INDEX_SQL_DROP_ACTION_REFS,
                                                  BZ_INDEX_SQL_DROP_ACTION},
                                   of_blob[] = {BZ_INDEX_SQL_DROP_BLOB_REFS,
                                                BZ_INDEX_SQL_DROP_REFS_TO_BLOB,
                                                BZ_INDEX_SQL_DROP_BLOB};
    const enum bz_index_sql *all = r->kind == FORGET_ACTION ? of_action : of_blob;
    size_t n = r->kind == FORGET_ACTION ? BZ_COUNTOF(of_action) : BZ_COUNTOF(of_blob);
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < n; i++) {
        sqlite3_stmt *s = bind_locked(x, all[i], &r->key, err);

        rc = s ? done_locked(x, s, err) : err->code;
    }
    return rc;
}

static int put_record_locked(struct bz_index *x, const struct record *r,
                             struct bz_err *err) BZ_REQUIRES(x->db_mu)
{
    sqlite3_stmt *s;
    int rc = 0;

    switch (r->kind) {
    case NOTE_ACTION:
        rc = put_action_locked(x, r, err);
        break;
    case NOTE_COST:
        rc = put_cost_locked(x, r, BZ_INDEX_SQL_PUT_COST, err);
        if (rc == 0)
            rc = put_cost_locked(x, r, BZ_INDEX_SQL_TRIM_COST, err);
        break;
    case NOTE_GUESS:
        rc = put_cost_locked(x, r, BZ_INDEX_SQL_GUESS_COST, err);
        break;
    case NOTE_BLOB:
        rc = put_blob_locked(x, &r->key, r->bytes, r->used, err);
        break;
    case NOTE_HIT:
    case NOTE_CHECKED:
        s = bind_locked(
            x, r->kind == NOTE_HIT ? BZ_INDEX_SQL_PUT_HIT : BZ_INDEX_SQL_PUT_CHECKED,
            &r->key, err);
        if (!s)
            return err->code;
        if (r->kind == NOTE_HIT)
            sqlite3_bind_int64(s, 2, r->used);
        else
            sqlite3_bind_text(s, 2, x->boot, -1, SQLITE_STATIC);
        rc = done_locked(x, s, err);
        break;
    case FORGET_ACTION:
    case FORGET_BLOB:
        rc = forget_locked(x, r, err);
        break;
    }
    return rc < 0 ? rc : put_refs_locked(x, r, err);
}

static int write_locked(struct bz_index *x, const struct record_list *list,
                        struct bz_err *err) BZ_REQUIRES(x->db_mu)
{
    int rc;

    if (!x->db)
        return bz_fail(err, BZ_E_CORRUPT, "index: it is broken");
    rc = sqlite3_exec(x->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (rc != SQLITE_OK)
        return failed_locked(x, rc, err);
    for (size_t i = 0; i < list->len; i++) {
        rc = put_record_locked(x, &list->at[i], err);
        if (rc < 0)
            return rc;
    }
    rc = sqlite3_exec(x->db, "COMMIT", NULL, NULL, NULL);
    return rc == SQLITE_OK ? 0 : failed_locked(x, rc, err);
}

int bz_index_flush(struct bz_index *x, struct bz_err *err)
{
    struct record_list list;
    int rc = 0;

    bz_sync_lock(&x->mu);
    list = x->queue;
    x->queue = (struct record_list){0};
    bz_sync_unlock(&x->mu);
    if (list.len > 0) {
        bz_sync_lock(&x->db_mu);
        rc = write_locked(x, &list, err);
        bz_sync_unlock(&x->db_mu);
    }
    records_release(&list);
    return rc;
}

static void flush_and_say(struct bz_index *x)
{
    struct bz_err err;

    if (bz_index_flush(x, &err) < 0)
        bz_log_warn("cache", "%s; what was to be noted is dropped", err.msg);
}

static void flush_body(struct bz_worker *w, void *arg)
{
    (void)w;
    flush_and_say(arg);
}

static void flush_done(struct bz_pool_item *item, int status)
{
    struct bz_index *x = item->arg;

    (void)status;
    bz_sync_lock(&x->mu);
    x->flushing = false;
    bz_sync_broadcast(&x->idle);
    bz_sync_unlock(&x->mu);
}

void bz_index_close(struct bz_index *x)
{
    if (!x)
        return;
    bz_sync_lock(&x->mu);
    while (x->flushing)
        (void)bz_sync_wait(&x->idle, &x->mu, BZ_CLOCK_NEVER);
    bz_sync_unlock(&x->mu);
    flush_and_say(x);
    bz_sync_lock(&x->db_mu);
    close_db_locked(x);
    bz_sync_unlock(&x->db_mu);
    free(x->path);
    free(x);
}

/* Noting. */

static void note(struct bz_index *x, const struct record *r)
{
    bool full, submit = false;

    bz_sync_lock(&x->mu);
    BZ_VEC_PUSH(&x->queue, *r);
    full = x->queue.len >= QUEUE_FLUSH;
    if (full && x->pool && !x->flushing)
        submit = x->flushing = true;
    bz_sync_unlock(&x->mu);
    if (submit) {
        x->item =
            (struct bz_pool_item){.body = flush_body, .arg = x, .finish = flush_done};
        bz_pool_submit(x->pool, NULL, BZ_LANE_IO, &x->item);
    } else if (full && !x->pool) {
        flush_and_say(x);
    }
}

static struct bz_reapi_digest *dup_refs(const struct bz_reapi_digest *refs, size_t n)
{
    struct bz_reapi_digest *own = bz_mem_array(n, sizeof(*own));

    if (n > 0)
        memcpy(own, refs, n * sizeof(*own));
    return own;
}

void bz_index_note_action(struct bz_index *x, const struct bz_index_action *a,
                          const struct bz_reapi_digest *blobs, size_t n)
{
    note(x, &(struct record){.kind = NOTE_ACTION,
                             .key = a->key,
                             .recipe = bz_mem_dup(a->recipe.p, a->recipe.n),
                             .task = bz_mem_dup(a->task.p, a->task.n),
                             .used = a->used,
                             .duration = a->duration,
                             .bytes = a->bytes,
                             .refs = dup_refs(blobs, n),
                             .nrefs = n});
}

void bz_index_note_hit(struct bz_index *x, const struct bz_digest *key)
{
    note(x, &(struct record){.kind = NOTE_HIT, .key = *key, .used = bz_clock_wall()});
}

void bz_index_note_blob(struct bz_index *x, const struct bz_reapi_digest *blob,
                        int64_t used, const struct bz_reapi_digest *children, size_t n)
{
    note(x, &(struct record){.kind = NOTE_BLOB,
                             .key = blob->hash,
                             .bytes = blob->size,
                             .used = used,
                             .refs = dup_refs(children, n),
                             .nrefs = n});
}

void bz_index_note_checked(struct bz_index *x, const struct bz_digest *tree)
{
    note(x, &(struct record){.kind = NOTE_CHECKED, .key = *tree});
}

static void note_cost(struct bz_index *x, enum kind kind,
                      const struct bz_index_task *of, const struct bz_index_cost *cost)
{
    note(x, &(struct record){.kind = kind,
                             .project = bz_mem_dup(of->project.p, of->project.n),
                             .machine = bz_mem_dup(of->machine.p, of->machine.n),
                             .recipe = bz_mem_dup(of->recipe.p, of->recipe.n),
                             .version = bz_mem_dup(of->version.p, of->version.n),
                             .task = bz_mem_dup(of->task.p, of->task.n),
                             .used = bz_clock_wall(),
                             .duration = cost->duration,
                             .bytes = cost->peak});
}

void bz_index_note_cost(struct bz_index *x, const struct bz_index_task *of,
                        const struct bz_index_cost *cost)
{
    note_cost(x, NOTE_COST, of, cost);
}

void bz_index_guess_cost(struct bz_index *x, const struct bz_index_task *of,
                         int64_t duration)
{
    note_cost(x, NOTE_GUESS, of, &(struct bz_index_cost){duration, 0});
}

void bz_index_forget_action(struct bz_index *x, const struct bz_digest *key)
{
    note(x, &(struct record){.kind = FORGET_ACTION, .key = *key});
}

void bz_index_forget_blob(struct bz_index *x, const struct bz_digest *hash)
{
    note(x, &(struct record){.kind = FORGET_BLOB, .key = *hash});
}

/* Asking. */

static struct bz_digest digest_at(sqlite3_stmt *s, int column)
{
    struct bz_digest d = {{0}};
    const void *p = sqlite3_column_blob(s, column);

    if (sqlite3_column_bytes(s, column) == sizeof(d.b))
        memcpy(d.b, p, sizeof(d.b));
    return d;
}

static struct bz_str text_at(sqlite3_stmt *s, int column)
{
    const char *p = (const char *)sqlite3_column_text(s, column);

    return bz_str_of(p ? p : "", p ? (size_t)sqlite3_column_bytes(s, column) : 0);
}

static struct bz_index_action action_at(sqlite3_stmt *s)
{
    return (struct bz_index_action){
        .key = digest_at(s, 0),
        .recipe = text_at(s, 1),
        .task = text_at(s, 2),
        .used = sqlite3_column_int64(s, 3),
        .hits = (uint64_t)sqlite3_column_int64(s, 4),
        .duration = sqlite3_column_int64(s, 5),
        .bytes = (uint64_t)sqlite3_column_int64(s, 6),
    };
}

/* The first row of a question about `key`, or NULL; then the caller ends it. */
static sqlite3_stmt *ask_locked(struct bz_index *x, enum bz_index_sql which,
                                const struct bz_digest *key) BZ_REQUIRES(x->db_mu)
{
    struct bz_err err;
    sqlite3_stmt *s = bind_locked(x, which, key, &err);
    int rc;

    if (!s)
        return NULL;
    if (which == BZ_INDEX_SQL_GET_CHECKED)
        sqlite3_bind_text(s, 2, x->boot, -1, SQLITE_STATIC);
    rc = sqlite3_step(s);
    if (rc == SQLITE_ROW)
        return s;
    sqlite3_reset(s);
    if (rc != SQLITE_DONE)
        failed_locked(x, rc, &err); /* writing will say so */
    return NULL;
}

bool bz_index_checked(struct bz_index *x, const struct bz_digest *tree)
{
    sqlite3_stmt *s;

    if (!x->boot[0])
        return false;
    bz_sync_lock(&x->db_mu);
    s = ask_locked(x, BZ_INDEX_SQL_GET_CHECKED, tree);
    sqlite3_reset(s);
    bz_sync_unlock(&x->db_mu);
    return s != NULL;
}

static void bind_text(sqlite3_stmt *s, int i, struct bz_str text)
{
    sqlite3_bind_text(s, i, text.n > 0 ? text.p : "", (int)text.n, SQLITE_STATIC);
}

/* The statement has a place for the version, or has none. */
static bool get_cost(sqlite3_stmt *s, bool version, struct bz_index_ask *ask)
{
    bind_text(s, 1, ask->of.project);
    bind_text(s, 2, ask->of.machine);
    bind_text(s, 3, ask->of.recipe);
    bind_text(s, 4, ask->of.task);
    if (version)
        bind_text(s, 5, ask->of.version);
    ask->known = sqlite3_step(s) == SQLITE_ROW;
    if (ask->known)
        ask->cost = (struct bz_index_cost){sqlite3_column_int64(s, 0),
                                           (uint64_t)sqlite3_column_int64(s, 1)};
    sqlite3_reset(s);
    return ask->known;
}

/* Asks one after another. */
static void get_few_locked(struct bz_index *x, struct bz_index_ask *asks, size_t n)
    BZ_REQUIRES(x->db_mu)
{
    struct bz_err err;
    sqlite3_stmt *s = bind_locked(x, BZ_INDEX_SQL_GET_COST, NULL, &err);
    sqlite3_stmt *near =
        s ? bind_locked(x, BZ_INDEX_SQL_GET_COST_NEAR, NULL, &err) : NULL;

    for (size_t i = 0; near && i < n; i++)
        if (!get_cost(s, true, &asks[i]))
            (void)get_cost(near, false, &asks[i]);
}

/* Many asks about one project, to be answered by reading all that is known of it. */
struct batch {
    struct bz_index_ask *asks;
    struct bz_map first; /* machine, recipe and task -> an ask, from 1 */
    size_t *next;        /* [n]: another ask about the same, from 1; 0: none */
    int64_t *noted;      /* [n]: when what was found was; INT64_MAX: of this version */
    struct bz_arena arena;
    struct bz_buf key;
};

static struct bz_str batch_key(struct batch *b, struct bz_str machine,
                               struct bz_str recipe, struct bz_str task)
{
    bz_buf_truncate(&b->key, 0);
    bz_buf_add_str(&b->key, machine);
    bz_buf_add_char(&b->key, '\n');
    bz_buf_add_str(&b->key, recipe);
    bz_buf_add_char(&b->key, '\n');
    bz_buf_add_str(&b->key, task);
    return bz_buf_str(&b->key);
}

static void batch_add(struct batch *b, size_t i)
{
    const struct bz_index_task *of = &b->asks[i].of;
    struct bz_map_entry *e =
        bz_map_put(&b->first, batch_key(b, of->machine, of->recipe, of->task));

    if (e->u == 0)
        e->key = bz_arena_dup(&b->arena, bz_buf_str(&b->key));
    b->next[i] = e->u;
    e->u = i + 1;
}

static void batch_take(struct batch *b, sqlite3_stmt *row)
{
    const struct bz_map_entry *e = bz_map_get(
        &b->first, batch_key(b, text_at(row, 0), text_at(row, 1), text_at(row, 2)));
    int64_t noted = sqlite3_column_int64(row, 4);

    for (size_t i = e ? e->u : 0; i > 0; i = b->next[i - 1]) {
        struct bz_index_ask *ask = &b->asks[i - 1];
        bool exact = bz_str_eq(ask->of.version, text_at(row, 3));

        if (ask->known && !exact && noted <= b->noted[i - 1])
            continue;
        ask->known = true;
        ask->cost = (struct bz_index_cost){sqlite3_column_int64(row, 5),
                                           (uint64_t)sqlite3_column_int64(row, 6)};
        b->noted[i - 1] = exact ? INT64_MAX : noted;
    }
}

static void get_many_locked(struct bz_index *x, struct bz_index_ask *asks, size_t n)
    BZ_REQUIRES(x->db_mu)
{
    struct batch b = {.asks = asks,
                      .next = bz_mem_array(n, sizeof(*b.next)),
                      .noted = bz_mem_array(n, sizeof(*b.noted))};
    struct bz_err err;
    sqlite3_stmt *s = bind_locked(x, BZ_INDEX_SQL_ALL_COSTS, NULL, &err);

    if (s) {
        bind_text(s, 1, asks[0].of.project);
        for (bool row = sqlite3_step(s) == SQLITE_ROW, begun = false; row;
             row = sqlite3_step(s) == SQLITE_ROW) {
            for (size_t i = 0; i < n && !begun; i++)
                batch_add(&b, i);
            begun = true;
            batch_take(&b, s);
        }
        sqlite3_reset(s);
    }
    free(b.next);
    free(b.noted);
    bz_map_release(&b.first);
    bz_arena_release(&b.arena);
    bz_buf_release(&b.key);
}

void bz_index_get_costs(struct bz_index *x, struct bz_index_ask *asks, size_t n)
{
    size_t same = 0; /* as many are of the project of the first */

    for (size_t i = 0; i < n; i++)
        asks[i].known = false;
    while (same < n && bz_str_eq(asks[same].of.project, asks[0].of.project))
        same++;
    if (same < COSTS_MANY)
        same = 0;
    bz_sync_lock(&x->db_mu);
    if (same > 0)
        get_many_locked(x, asks, same);
    /* Else the file is locked and unlocked for each of them. */
    if (n - same > 1 && x->db)
        (void)sqlite3_exec(x->db, "BEGIN", NULL, NULL, NULL);
    if (n > same)
        get_few_locked(x, asks + same, n - same);
    if (n - same > 1 && x->db)
        (void)sqlite3_exec(x->db, "ROLLBACK", NULL, NULL, NULL);
    bz_sync_unlock(&x->db_mu);
}

bool bz_index_get_action(struct bz_index *x, const struct bz_digest *key,
                         struct bz_arena *a, struct bz_index_action *out)
{
    sqlite3_stmt *s;

    bz_sync_lock(&x->db_mu);
    s = ask_locked(x, BZ_INDEX_SQL_GET_ACTION, key);
    if (s) {
        *out = action_at(s);
        out->recipe = bz_arena_dup(a, out->recipe);
        out->task = bz_arena_dup(a, out->task);
    }
    sqlite3_reset(s);
    bz_sync_unlock(&x->db_mu);
    return s != NULL;
}

bool bz_index_get_blob(struct bz_index *x, const struct bz_digest *hash,
                       struct bz_index_blob *out)
{
    sqlite3_stmt *s;

    bz_sync_lock(&x->db_mu);
    s = ask_locked(x, BZ_INDEX_SQL_GET_BLOB, hash);
    if (s)
        *out = (struct bz_index_blob){.size = (uint64_t)sqlite3_column_int64(s, 0),
                                      .used = sqlite3_column_int64(s, 1),
                                      .refs = (uint64_t)sqlite3_column_int64(s, 2)};
    sqlite3_reset(s);
    bz_sync_unlock(&x->db_mu);
    return s != NULL;
}

void bz_index_get_totals(struct bz_index *x, struct bz_index_totals *out)
{
    sqlite3_stmt *s;

    *out = (struct bz_index_totals){0};
    bz_sync_lock(&x->db_mu);
    s = ask_locked(x, BZ_INDEX_SQL_GET_TOTALS, NULL);
    if (s)
        *out = (struct bz_index_totals){.blobs = (uint64_t)sqlite3_column_int64(s, 0),
                                        .bytes = (uint64_t)sqlite3_column_int64(s, 1),
                                        .actions = (uint64_t)sqlite3_column_int64(s, 2),
                                        .hits = (uint64_t)sqlite3_column_int64(s, 3)};
    sqlite3_reset(s);
    bz_sync_unlock(&x->db_mu);
}

int bz_index_clear(struct bz_index *x, struct bz_err *err)
{
    int rc = bz_index_flush(x, err);

    if (rc < 0)
        return rc;
    bz_sync_lock(&x->db_mu);
    if (!x->db)
        rc = bz_fail(err, BZ_E_CORRUPT, "index: it is broken");
    else
        rc = sqlite3_exec(x->db,
                          "BEGIN IMMEDIATE; DELETE FROM action; DELETE FROM blob;"
                          "DELETE FROM action_ref; DELETE FROM blob_ref; COMMIT",
                          NULL, NULL, NULL);
    if (rc > 0)
        rc = failed_locked(x, rc, err);
    bz_sync_unlock(&x->db_mu);
    return rc;
}
