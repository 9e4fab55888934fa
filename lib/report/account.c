#include "report/account.h"

#include <signal.h>
#include <time.h>

#include "base/bitset.h"
#include "base/mem.h"
#include "codec/json.h"
#include "os/clock.h"
#include "os/fs.h"
#include "report/eventlog.h"

#define NOBODY UINT32_MAX
#define EXIT_KILLED (128 + SIGKILL)  /* how a shell tells that a command was */
#define SIZE_MOST ((int64_t)1 << 53) /* so that sums of many stay numbers */

struct reader {
    struct bz_account *a;
    const char *name;
    size_t line;
    struct bz_arena scratch; /* of one line */
    struct bz_err *err;
};

static int refuse(struct reader *r, enum bz_code code, const char *what)
{
    return bz_fail(r->err, code, "%s:%zu: %s", r->name, r->line, what);
}

/* ---- fields; one that is not there or of another type is as if it were not told ----
 */

static struct bz_str text_of(struct reader *r, const struct bz_doc *line,
                             const char *key)
{
    const struct bz_doc *d = bz_doc_find(line, key);

    if (!d || d->type != BZ_DOC_STR)
        return (struct bz_str){0};
    return bz_arena_dup(&r->a->arena, d->text);
}

static int64_t count_of(const struct bz_doc *line, const char *key, int64_t max)
{
    const struct bz_doc *d = bz_doc_find(line, key);

    if (!d || d->type != BZ_DOC_INT || d->i < 0)
        return 0;
    return d->i < max ? d->i : max;
}

static int64_t ns_of(const struct bz_doc *line, const char *key)
{
    const struct bz_doc *d = bz_doc_find(line, key);
    double s = !d                       ? 0
               : d->type == BZ_DOC_REAL ? d->r
               : d->type == BZ_DOC_INT  ? (double)d->i
                                        : 0;

    if (s <= 0)
        return 0;
    if (s > (double)BZ_ACCOUNT_TIME_MAX)
        return BZ_ACCOUNT_TIME_MAX * BZ_CLOCK_S;
    return (int64_t)(s * 1e6 + 0.5) * 1000;
}

/* ---- tasks ---- */

/* The number of the task, made if it is new. */
static int task_id(struct bz_account *a, struct bz_str name, uint32_t *id,
                   struct bz_err *err)
{
    struct bz_map_entry *it = bz_map_get(&a->ids, name);
    struct bz_account_task t = {.exit_code = -1};
    size_t colon;

    if (it) {
        *id = (uint32_t)it->u - 1;
        return 0;
    }
    if (a->tasks.len >= BZ_ACCOUNT_TASKS_MAX)
        return bz_fail(err, BZ_E_LIMIT, "more than %zu tasks", BZ_ACCOUNT_TASKS_MAX);
    t.name = bz_arena_dup(&a->arena, name);
    colon = bz_str_rfind_byte(t.name, ':');
    t.recipe = colon == BZ_STR_NONE ? t.name : bz_str_sub(t.name, 0, colon);
    t.task = colon == BZ_STR_NONE ? BZ_STR("") : bz_str_drop(t.name, colon + 1);
    *id = (uint32_t)a->tasks.len;
    BZ_VEC_PUSH(&a->tasks, t);
    bz_map_put(&a->ids, t.name)->u = a->tasks.len;
    return 0;
}

static int find_named(struct reader *r, const struct bz_doc *line, const char *key,
                      uint32_t *id)
{
    const struct bz_doc *d = bz_doc_find(line, key);

    if (!d || d->type != BZ_DOC_STR || d->text.n == 0)
        return refuse(r, BZ_E_INVAL, "the event has no task");
    if (task_id(r->a, d->text, id, r->err) < 0)
        return bz_err_wrap(r->err, "%s:%zu", r->name, r->line);
    return 0;
}

static int find_task(struct reader *r, const struct bz_doc *line, uint32_t *id)
{
    return find_named(r, line, "task", id);
}

static int read_after(struct reader *r, const struct bz_doc *line, uint32_t task)
{
    const struct bz_doc *list = bz_doc_find(line, "after");
    uint32_t on;

    for (size_t i = 0; list && list->type == BZ_DOC_LIST && i < list->count; i++) {
        if (list->items[i].type != BZ_DOC_STR || list->items[i].text.n == 0)
            continue;
        if (r->a->edges.len >= BZ_ACCOUNT_EDGES_MAX)
            return refuse(r, BZ_E_LIMIT, "there are too many dependencies");
        if (task_id(r->a, list->items[i].text, &on, r->err) < 0)
            return bz_err_wrap(r->err, "%s:%zu", r->name, r->line);
        BZ_VEC_PUSH(&r->a->edges, (struct bz_dag_edge){task, on});
    }
    return 0;
}

/* ---- events ---- */

/* Whoever comes later finds the first event to be of this kind. */
static int read_begin(struct reader *r, const struct bz_doc *line)
{
    struct bz_account *a = r->a;
    const struct bz_doc *list = bz_doc_find(line, "targets");
    struct tm tm = {0};

    if (count_of(line, "version", INT64_MAX) != BZ_EVENTLOG_VERSION)
        return refuse(r, BZ_E_INVAL,
                      "this version of bitzel does not know the version of the log");
    a->version = text_of(r, line, "bitzel");
    a->time = text_of(r, line, "time");
    if (a->time.n > 0 && strptime(a->time.p, "%Y-%m-%dT%H:%M:%SZ", &tm))
        a->wall = timegm(&tm);
    a->jobs = count_of(line, "jobs", 1 << 20);
    for (size_t i = 0; list && list->type == BZ_DOC_LIST && i < list->count; i++)
        if (list->items[i].type == BZ_DOC_STR)
            BZ_VEC_PUSH(&a->targets, bz_arena_dup(&a->arena, list->items[i].text));
    return 0;
}

static int read_passed(struct reader *r, const struct bz_doc *line)
{
    uint32_t id = 0;
    int rc = find_task(r, line, &id);

    if (rc < 0)
        return rc;
    r->a->tasks.at[id].state = BZ_ACCOUNT_PASSED;
    return read_after(r, line, id);
}

static int read_cached(struct reader *r, const struct bz_doc *line)
{
    const struct bz_doc *same = bz_doc_find(line, "same");
    struct bz_account_task *t;
    uint32_t id = 0;
    int rc = find_task(r, line, &id);

    if (rc < 0)
        return rc;
    t = &r->a->tasks.at[id];
    t->state = BZ_ACCOUNT_CACHED;
    t->start = t->end = ns_of(line, "at");
    t->same = same && same->type == BZ_DOC_BOOL && same->b;
    t->saved = ns_of(line, "saved");
    t->key = text_of(r, line, "key");
    t->version = text_of(r, line, "version");
    return read_after(r, line, id);
}

static int read_started(struct reader *r, const struct bz_doc *line)
{
    struct bz_account_task *t;
    uint32_t id = 0;
    int rc = find_task(r, line, &id);

    if (rc < 0)
        return rc;
    t = &r->a->tasks.at[id];
    t->state = BZ_ACCOUNT_UNFINISHED;
    t->saved = 0;
    t->start = ns_of(line, "at");
    t->key = text_of(r, line, "key");
    t->version = text_of(r, line, "version");
    t->log = text_of(r, line, "log");
    return read_after(r, line, id);
}

static int read_end_of_task(struct reader *r, const struct bz_doc *line,
                            enum bz_account_state state)
{
    const struct bz_doc *code = bz_doc_find(line, "exit_code");
    struct bz_account_task *t;
    uint32_t id = 0;
    int rc = find_task(r, line, &id);

    if (rc < 0)
        return rc;
    t = &r->a->tasks.at[id];
    t->end = ns_of(line, "at");
    t->took = ns_of(line, "took");
    if (!bz_account_ran(t)) /* its beginning is not told */
        t->start = t->end > t->took ? t->end - t->took : 0;
    if (t->end < t->start)
        t->end = t->start;
    t->state = state;
    t->cpu = ns_of(line, "cpu");
    t->memory = (uint64_t)count_of(line, "memory", INT64_MAX);
    t->exit_code = code ? (int)count_of(line, "exit_code", 255) : -1;
    t->signal = (int)count_of(line, "signal", 255);
    t->oom_kills = (uint64_t)count_of(line, "oom_kills", INT64_MAX);
    t->timeout = ns_of(line, "timeout");
    if (bz_doc_find(line, "log"))
        t->log = text_of(r, line, "log");
    t->error = text_of(r, line, "error");
    t->network = text_of(r, line, "network");
    return 0;
}

static int read_done(struct reader *r, const struct bz_doc *line)
{
    return read_end_of_task(r, line, BZ_ACCOUNT_EXECUTED);
}

static int read_failed(struct reader *r, const struct bz_doc *line)
{
    return read_end_of_task(r, line, BZ_ACCOUNT_FAILED);
}

static int read_fetched(struct reader *r, const struct bz_doc *line)
{
    struct bz_account_download d = {.took = ns_of(line, "took")};
    int rc = find_task(r, line, &d.task);

    if (rc < 0)
        return rc;
    d.from = text_of(r, line, "what");
    d.bytes = (uint64_t)count_of(line, "bytes", SIZE_MOST);
    BZ_VEC_PUSH(&r->a->downloads, d);
    return 0;
}

static int read_overlap(struct reader *r, const struct bz_doc *line)
{
    struct bz_account_overlap o = {0};
    int rc = find_task(r, line, &o.task);

    if (rc == 0)
        rc = find_named(r, line, "other", &o.other);
    if (rc < 0)
        return rc;
    o.path = text_of(r, line, "path");
    o.more = (uint64_t)count_of(line, "more", SIZE_MOST);
    BZ_VEC_PUSH(&r->a->overlaps, o);
    return 0;
}

static int read_differs(struct reader *r, const struct bz_doc *line)
{
    uint32_t id = 0;
    int rc = find_task(r, line, &id);

    if (rc == 0)
        r->a->tasks.at[id].differs = true;
    return rc;
}

static int read_traffic(struct reader *r, const struct bz_doc *line)
{
    const struct bz_account_place p = {
        .name = text_of(r, line, "place"),
        .kind = text_of(r, line, "kind"),
        .hits = (uint64_t)count_of(line, "hits", SIZE_MOST),
        .misses = (uint64_t)count_of(line, "misses", SIZE_MOST),
        .blobs_read = (uint64_t)count_of(line, "blobs_read", SIZE_MOST),
        .bytes_read = (uint64_t)count_of(line, "bytes_read", SIZE_MOST),
        .blobs_written = (uint64_t)count_of(line, "blobs_written", SIZE_MOST),
        .bytes_written = (uint64_t)count_of(line, "bytes_written", SIZE_MOST),
    };

    if (r->a->places.len < BZ_ACCOUNT_PLACES_MAX)
        BZ_VEC_PUSH(&r->a->places, p);
    return 0;
}

static int read_unneeded(struct reader *r, const struct bz_doc *line)
{
    uint32_t id = 0;
    int rc = find_task(r, line, &id);

    if (rc == 0 && r->a->tasks.at[id].state == BZ_ACCOUNT_UNNEEDED)
        r->a->tasks.at[id].saved = ns_of(line, "saved");
    return rc;
}

static int read_counts(struct reader *r, const struct bz_doc *line)
{
    struct bz_event_counts *n = &r->a->counts;

    n->tasks = (uint32_t)count_of(line, "tasks", UINT32_MAX);
    n->cached = (uint32_t)count_of(line, "cached", UINT32_MAX);
    n->unneeded = (uint32_t)count_of(line, "not_needed", UINT32_MAX);
    n->noexec = (uint32_t)count_of(line, "noexec", UINT32_MAX);
    n->executed = (uint32_t)count_of(line, "executed", UINT32_MAX);
    n->failed = (uint32_t)count_of(line, "failed", UINT32_MAX);
    n->blocked = (uint32_t)count_of(line, "not_started", UINT32_MAX);
    return 0;
}

static int read_planned(struct reader *r, const struct bz_doc *line)
{
    r->a->spared = ns_of(line, "saved");
    return read_counts(r, line);
}

static int read_end(struct reader *r, const struct bz_doc *line)
{
    r->a->ended = true;
    r->a->memory_used = (uint64_t)count_of(line, "memory_used", SIZE_MOST);
    return read_counts(r, line);
}

static const struct {
    const char *name;
    int (*read)(struct reader *r, const struct bz_doc *line);
} events[] = {
    {"begin",    read_begin   },
    {"passed",   read_passed  },
    {"cached",   read_cached  },
    {"unneeded", read_unneeded},
    {"planned",  read_planned },
    {"started",  read_started },
    {"done",     read_done    },
    {"failed",   read_failed  },
    {"fetched",  read_fetched },
    {"overlap",  read_overlap },
    {"differs",  read_differs },
    {"traffic",  read_traffic },
    {"end",      read_end     },
};

static int read_event(struct reader *r, const struct bz_doc *line)
{
    const struct bz_doc *event = bz_doc_find(line, "event");
    int64_t at;

    if (!event || event->type != BZ_DOC_STR)
        return refuse(r, BZ_E_INVAL, "this is no event of a build");
    if ((r->line == 1) != bz_str_eq(event->text, BZ_STR("begin")))
        return refuse(r, BZ_E_INVAL,
                      "this is no log of events: it must begin with "
                      "'begin', once");
    at = ns_of(line, "at");
    if (at > r->a->took)
        r->a->took = at;
    for (size_t i = 0; i < BZ_COUNTOF(events); i++)
        if (bz_str_eq(event->text, bz_str_from(events[i].name)))
            return events[i].read(r, line);
    r->a->skipped++;
    return 0;
}

static int read_line(struct reader *r, struct bz_str text)
{
    static const struct bz_doc_limits limits = {.depth = 8};
    const struct bz_doc *line;
    struct bz_err why;
    int rc;

    r->line++;
    bz_arena_reset(&r->scratch);
    rc = bz_json_parse(&r->scratch, text, &limits, &line, &why);
    if (rc < 0)
        return bz_fail(r->err, rc, "%s:%zu: %s", r->name, r->line, why.msg);
    return read_event(r, line);
}

/* What a build counts as it goes is told at its end only. */
static void count_states(struct bz_account *a)
{
    uint32_t n[BZ_ACCOUNT_STATES] = {0};

    for (size_t i = 0; i < a->tasks.len; i++) {
        struct bz_account_task *t = &a->tasks.at[i];

        n[t->state]++;
        if (t->state == BZ_ACCOUNT_UNFINISHED) {
            t->end = a->took > t->start ? a->took : t->start;
            t->took = t->end - t->start;
        }
    }
    if (a->ended)
        return;
    a->counts.cached = n[BZ_ACCOUNT_CACHED];
    a->counts.executed = n[BZ_ACCOUNT_EXECUTED];
    a->counts.failed = n[BZ_ACCOUNT_FAILED];
}

int bz_account_read(struct bz_account *a, struct bz_str text, const char *name,
                    struct bz_err *err)
{
    struct reader r = {.a = a, .name = name, .err = err};
    struct bz_str line;
    int rc = 0;

    if (text.n > BZ_ACCOUNT_BYTES_MAX)
        return bz_fail(err, BZ_E_LIMIT, "%s: an event log has up to %zu MiB", name,
                       BZ_ACCOUNT_BYTES_MAX >> 20);
    /* A last line without its end is being written, or never was. */
    while (rc == 0 && bz_str_cut(text, '\n', &line, &text))
        rc = read_line(&r, line);
    if (rc == 0 && r.line == 0)
        rc = bz_fail(err, BZ_E_INVAL, "%s: nothing is logged yet", name);
    if (rc == 0)
        count_states(a);
    bz_arena_release(&r.scratch);
    return rc;
}

int bz_account_read_file(struct bz_account *a, const char *path, struct bz_err *err)
{
    BZ_CLEANUP(bz_mem_freep) char *text = NULL;
    size_t n;
    int rc = bz_fs_read(AT_FDCWD, path, BZ_ACCOUNT_BYTES_MAX, &text, &n, err);

    return rc < 0 ? rc : bz_account_read(a, bz_str_of(text, n), path, err);
}

void bz_account_release(struct bz_account *a)
{
    bz_map_release(&a->ids);
    bz_vec_release(&a->tasks);
    bz_vec_release(&a->edges);
    bz_vec_release(&a->targets);
    bz_vec_release(&a->downloads);
    bz_vec_release(&a->places);
    bz_vec_release(&a->overlaps);
    bz_arena_release(&a->arena);
    *a = (struct bz_account){0};
}

/* Tasks that nobody waits for were asked for. One that is not told of has nothing to
 * run, and so have those that it waits for and that are not told of either. */
static void find_passed(struct bz_account *a, const struct bz_record *record,
                        const struct bz_dag_ids *ids)
{
    BZ_CLEANUP(bz_bitset_release) struct bz_bitset waited = {0};
    BZ_CLEANUP(bz_vec_release) struct BZ_VEC(size_t) todo = {0};

    for (size_t i = 0; i < a->edges.len; i++)
        bz_bitset_set(&waited, a->edges.at[i].to);
    for (size_t i = 0; i < ids->len; i++)
        if (ids->at[i] != NOBODY && !bz_bitset_test(&waited, ids->at[i]))
            BZ_VEC_PUSH(&todo, i);
    while (todo.len > 0) {
        size_t i = BZ_VEC_POP(&todo);
        const struct bz_record_task *t = &record->tasks.at[i];

        if (a->tasks.at[ids->at[i]].state != BZ_ACCOUNT_UNNEEDED)
            continue;
        a->tasks.at[ids->at[i]].state = BZ_ACCOUNT_PASSED;
        for (size_t d = 0; d < t->ndeps; d++) {
            const struct bz_record_task *on = bz_record_find(record, t->deps[d].task);

            if (on && ids->at[on - record->tasks.at] != NOBODY)
                BZ_VEC_PUSH(&todo, (size_t)(on - record->tasks.at));
        }
    }
}

void bz_account_add(struct bz_account *a, const struct bz_record *record)
{
    BZ_CLEANUP(bz_vec_release) struct bz_dag_ids ids = {0}; /* of those not told of */
    struct bz_err ignored;
    uint32_t on;

    for (size_t i = 0; i < record->tasks.len; i++) {
        const struct bz_record_task *t = &record->tasks.at[i];
        uint32_t id = NOBODY;

        if (task_id(a, t->name, &id, &ignored) < 0 ||
            a->tasks.at[id].state != BZ_ACCOUNT_UNNEEDED)
            id = NOBODY;
        BZ_VEC_PUSH(&ids, id);
        for (size_t d = 0; id != NOBODY && d < t->ndeps; d++)
            if (a->edges.len < BZ_ACCOUNT_EDGES_MAX &&
                task_id(a, t->deps[d].task, &on, &ignored) == 0)
                BZ_VEC_PUSH(&a->edges, (struct bz_dag_edge){id, on});
    }
    find_passed(a, record, &ids);
}

const struct bz_account_task *bz_account_find(const struct bz_account *a,
                                              struct bz_str name)
{
    const struct bz_map_entry *it = bz_map_get(&a->ids, name);

    return it ? &a->tasks.at[it->u - 1] : NULL;
}

enum bz_account_result bz_account_result(const struct bz_account *a)
{
    if (a->counts.failed > 0)
        return BZ_ACCOUNT_FAILURE;
    if (!a->ended)
        return BZ_ACCOUNT_OPEN;
    for (size_t i = 0; i < a->tasks.len; i++)
        if (a->tasks.at[i].state == BZ_ACCOUNT_UNFINISHED)
            return BZ_ACCOUNT_INTERRUPTED;
    return a->counts.blocked > 0 ? BZ_ACCOUNT_INTERRUPTED : BZ_ACCOUNT_COMPLETED;
}

const char *bz_account_result_name(enum bz_account_result result)
{
    static const char *const names[] = {
        [BZ_ACCOUNT_COMPLETED] = "completed",
        [BZ_ACCOUNT_FAILURE] = "failed",
        [BZ_ACCOUNT_INTERRUPTED] = "interrupted",
        [BZ_ACCOUNT_OPEN] = "not ended",
    };

    return names[result];
}

const char *bz_account_state_name(enum bz_account_state state)
{
    static const char *const names[] = {
        [BZ_ACCOUNT_UNNEEDED] = "not needed", [BZ_ACCOUNT_PASSED] = "nothing to run",
        [BZ_ACCOUNT_CACHED] = "cached",       [BZ_ACCOUNT_EXECUTED] = "executed",
        [BZ_ACCOUNT_FAILED] = "failed",       [BZ_ACCOUNT_UNFINISHED] = "not finished",
    };

    return names[state];
}

bool bz_account_starved(int signal, int exit_code, uint64_t oom_kills)
{
    return oom_kills > 0 && (signal == SIGKILL || exit_code == EXIT_KILLED);
}

void bz_account_failure(const struct bz_account_task *t, struct bz_buf *out)
{
    bool starved = bz_account_starved(t->signal, t->exit_code, t->oom_kills);

    if (t->error.n > 0)
        bz_buf_add_str(out, t->error);
    else if (t->timeout > 0) /* the signal was only how */
        bz_buf_addf(out, "not done after %.0fs, its timeout", (double)t->timeout / 1e9);
    else if (starved)
        bz_buf_addf(out, BZ_ACCOUNT_STARVED);
    else if (t->signal > 0)
        bz_buf_addf(out, "killed by signal %d", t->signal);
    else
        bz_buf_addf(out, "exit status %d", t->exit_code);
    if (t->oom_kills > 0 && !starved)
        bz_buf_addf(out,
                    "; meanwhile the kernel killed %llu process%s for lack of memory",
                    (unsigned long long)t->oom_kills, t->oom_kills == 1 ? "" : "es");
    if (t->network.n > 0)
        bz_buf_addf(out, "; it tried to reach %.*s", BZ_STR_ARG(t->network));
}
