#include "report/eventlog.h"

#include <stdlib.h>
#include <time.h>

#include "base/bitset.h"
#include "base/mem.h"
#include "codec/jsonw.h"
#include "os/clock.h"
#include "os/fs.h"
#include "report/eventkey.h"

struct bz_eventlog {
    struct bz_eventlog_opts o;
    struct bz_buf text; /* not written yet */
    struct bz_bitset passed;
    uint64_t may[BZ_EVENTKEY_LINES]; /* the keys of each kind of line */
    int fd;                          /* -1: not open */
    int rc;
    struct bz_err err;
};

/* A line that is being written, and which keys it may have. */
struct line {
    struct bz_jsonw w;
    uint64_t may;
};

static struct bz_jsonw *key(struct line *l, enum bz_eventkey k)
{
    BZ_ASSERT(l->may >> k & 1); /* else nobody is told what it is */
    return bz_jsonw_key(&l->w, bz_eventkey_name(k));
}

static void put_text(struct line *l, enum bz_eventkey k, const char *text)
{
    if (text)
        bz_jsonw_cstr(key(l, k), text);
}

static void put_count(struct line *l, enum bz_eventkey k, uint64_t n)
{
    bz_jsonw_int(key(l, k), (int64_t)n);
}

static void put_seconds(struct line *l, enum bz_eventkey k, int64_t ns)
{
    /* To the microsecond: more digits would say nothing. */
    bz_jsonw_millionths(key(l, k), ns / 1000);
}

static void put_names(struct bz_eventlog *log, struct line *l, uint32_t task)
{
    const struct bz_dag *dag = log->o.graph ? &log->o.graph->dag : NULL;

    if (!dag)
        return;
    bz_jsonw_list(key(l, BZ_EVENTKEY_AFTER));
    for (uint32_t e = dag->start[task]; e < dag->start[task + 1]; e++)
        bz_jsonw_str(&l->w, log->o.names[dag->to[e]]);
    bz_jsonw_list_end(&l->w);
}

static void put_version(struct bz_eventlog *log, struct line *l, uint32_t task)
{
    if (!log->o.need)
        return;
    bz_jsonw_str(key(l, BZ_EVENTKEY_VERSION),
                 log->o.need->recipes.at[log->o.graph->tasks[task].recipe].facts->pv);
}

static struct line begin_line(struct bz_eventlog *log, enum bz_eventkey_kind kind)
{
    struct line l = {bz_jsonw_to(&log->text, 0), log->may[kind]};

    bz_jsonw_map(&l.w);
    bz_jsonw_cstr(key(&l, BZ_EVENTKEY_EVENT), bz_eventkey_line(kind)->name);
    return l;
}

static void end_line(struct bz_eventlog *log, struct line *l)
{
    bz_jsonw_map_end(&l->w);
    bz_buf_add_char(&log->text, '\n');
}

static void write_begin(struct bz_eventlog *log)
{
    struct line l = begin_line(log, BZ_EVENTKEY_LINE_BEGIN);
    time_t seconds = (time_t)(log->o.wall / BZ_CLOCK_S);
    struct tm tm;
    char when[32];

    gmtime_r(&seconds, &tm);
    strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &tm);
    put_count(&l, BZ_EVENTKEY_VERSION, BZ_EVENTLOG_VERSION);
    put_text(&l, BZ_EVENTKEY_BITZEL, log->o.version);
    put_text(&l, BZ_EVENTKEY_TIME, when);
    bz_jsonw_list(key(&l, BZ_EVENTKEY_TARGETS));
    for (size_t i = 0; i < log->o.ntargets; i++)
        bz_jsonw_cstr(&l.w, log->o.targets[i]);
    bz_jsonw_list_end(&l.w);
    put_count(&l, BZ_EVENTKEY_JOBS, log->o.jobs);
    end_line(log, &l);
}

/* What a task waits for has been told of, or is told now: noexec ones have no event of
 * their own, and lead on to others. */
static void write_passed(struct bz_eventlog *log, uint32_t task, int64_t at)
{
    const struct bz_tgraph *g = log->o.graph;
    BZ_CLEANUP(bz_vec_release) struct BZ_VEC(uint32_t) todo = {0};

    BZ_VEC_PUSH(&todo, task);
    while (todo.len > 0) {
        uint32_t t = BZ_VEC_POP(&todo);

        for (uint32_t e = g->dag.start[t]; e < g->dag.start[t + 1]; e++) {
            uint32_t on = g->dag.to[e];
            struct line l;

            if (!g->tasks[on].facts->noexec || bz_bitset_test(&log->passed, on))
                continue;
            bz_bitset_set(&log->passed, on);
            BZ_VEC_PUSH(&todo, on);
            l = begin_line(log, BZ_EVENTKEY_LINE_PASSED);
            put_seconds(&l, BZ_EVENTKEY_AT, at);
            bz_jsonw_str(key(&l, BZ_EVENTKEY_TASK), log->o.names[on]);
            put_names(log, &l, on);
            end_line(log, &l);
        }
    }
}

static void put_key(struct line *l, const struct bz_event *e)
{
    char hex[BZ_DIGEST_HEX_LEN + 1];

    bz_digest_hex(e->key, hex);
    put_text(l, BZ_EVENTKEY_KEY, hex);
}

static void put_end_of_task(struct line *l, const struct bz_event *e)
{
    put_seconds(l, BZ_EVENTKEY_TOOK, e->ns);
    if (e->cpu > 0)
        put_seconds(l, BZ_EVENTKEY_CPU, e->cpu);
    if (e->memory > 0)
        put_count(l, BZ_EVENTKEY_MEMORY, e->memory);
    if (e->kind == BZ_EVENT_FAILED) {
        if (e->exit_code >= 0)
            put_count(l, BZ_EVENTKEY_EXIT_CODE, (uint64_t)e->exit_code);
        if (e->signal > 0)
            put_count(l, BZ_EVENTKEY_SIGNAL, (uint64_t)e->signal);
        if (e->oom_kills > 0)
            put_count(l, BZ_EVENTKEY_OOM_KILLS, e->oom_kills);
        if (e->timeout > 0)
            put_seconds(l, BZ_EVENTKEY_TIMEOUT, e->timeout);
        put_text(l, BZ_EVENTKEY_ERROR, e->error);
        put_text(l, BZ_EVENTKEY_NETWORK, e->network);
    }
    put_text(l, BZ_EVENTKEY_LOG, e->log);
}

static void put_counts(struct line *l, const struct bz_event *e)
{
    bool end = e->kind == BZ_EVENT_ENDED;

    if (end) {
        put_seconds(l, BZ_EVENTKEY_TOOK, e->ns);
        put_count(l, BZ_EVENTKEY_EXECUTED, e->counts.executed);
        put_count(l, BZ_EVENTKEY_FAILED, e->counts.failed);
        put_count(l, BZ_EVENTKEY_NOT_STARTED, e->counts.blocked);
        put_count(l, BZ_EVENTKEY_EVALUATED, e->evaluated);
        if (e->memory > 0)
            put_count(l, BZ_EVENTKEY_MEMORY_USED, e->memory);
    }
    put_count(l, BZ_EVENTKEY_TASKS, e->counts.tasks);
    put_count(l, BZ_EVENTKEY_CACHED, e->counts.cached);
    put_count(l, BZ_EVENTKEY_NOT_NEEDED, e->counts.unneeded);
    put_count(l, BZ_EVENTKEY_NOEXEC, e->counts.noexec);
    if (!end && e->saved > 0)
        put_seconds(l, BZ_EVENTKEY_SAVED, e->saved);
}

static void put_cached(struct line *l, const struct bz_event *e)
{
    bz_jsonw_bool(key(l, BZ_EVENTKEY_SAME), e->same);
    if (e->saved > 0)
        put_seconds(l, BZ_EVENTKEY_SAVED, e->saved);
}

static void put_place(struct line *l, const struct bz_event_place *p)
{
    put_text(l, BZ_EVENTKEY_PLACE, p->name);
    put_text(l, BZ_EVENTKEY_KIND, p->kind);
    put_count(l, BZ_EVENTKEY_HITS, p->hits);
    put_count(l, BZ_EVENTKEY_MISSES, p->misses);
    put_count(l, BZ_EVENTKEY_BLOBS_READ, p->blobs_read);
    put_count(l, BZ_EVENTKEY_BYTES_READ, p->bytes_read);
    put_count(l, BZ_EVENTKEY_BLOBS_WRITTEN, p->blobs_written);
    put_count(l, BZ_EVENTKEY_BYTES_WRITTEN, p->bytes_written);
}

/* As far as earlier runs tell. */
static void put_outlook(struct line *l, const struct bz_event *e)
{
    if (e->expect > 0)
        put_seconds(l, BZ_EVENTKEY_EXPECT, e->expect);
    if (e->ahead > 0)
        put_seconds(l, BZ_EVENTKEY_AHEAD, e->ahead);
    if (e->work > 0 && e->kind != BZ_EVENT_CACHED && e->kind != BZ_EVENT_UNNEEDED &&
        e->kind != BZ_EVENT_PROGRESS)
        put_seconds(l, BZ_EVENTKEY_WORK, e->work);
}

static const enum bz_eventkey_kind kinds[] = {
    [BZ_EVENT_PLANNED] = BZ_EVENTKEY_LINE_PLANNED,
    [BZ_EVENT_CACHED] = BZ_EVENTKEY_LINE_CACHED,
    [BZ_EVENT_STARTED] = BZ_EVENTKEY_LINE_STARTED,
    [BZ_EVENT_PROGRESS] = BZ_EVENTKEY_LINE_PROGRESS,
    [BZ_EVENT_DONE] = BZ_EVENTKEY_LINE_DONE,
    [BZ_EVENT_FAILED] = BZ_EVENTKEY_LINE_FAILED,
    [BZ_EVENT_ENDED] = BZ_EVENTKEY_LINE_END,
    [BZ_EVENT_WANTED] = BZ_EVENTKEY_LINE_WANTED,
    [BZ_EVENT_FETCHED] = BZ_EVENTKEY_LINE_FETCHED,
    [BZ_EVENT_TRAFFIC] = BZ_EVENTKEY_LINE_TRAFFIC,
    [BZ_EVENT_OVERLAP] = BZ_EVENTKEY_LINE_OVERLAP,
    [BZ_EVENT_REMARK] = BZ_EVENTKEY_LINE_REMARK,
    [BZ_EVENT_DIFFERS] = BZ_EVENTKEY_LINE_DIFFERS,
    [BZ_EVENT_UNNEEDED] = BZ_EVENTKEY_LINE_UNNEEDED,
};

static void put_overlap(struct bz_eventlog *log, struct line *l,
                        const struct bz_event *e)
{
    bz_jsonw_str(key(l, BZ_EVENTKEY_OTHER), log->o.names[e->other]);
    put_text(l, BZ_EVENTKEY_PATH, e->what);
    put_count(l, BZ_EVENTKEY_MORE, e->more);
}

static void write_event(struct bz_eventlog *log, const struct bz_event *e)
{
    bool whole = e->kind == BZ_EVENT_PLANNED || e->kind == BZ_EVENT_ENDED;
    bool traffic = e->kind == BZ_EVENT_TRAFFIC;
    struct line l;

    if (log->o.graph && (e->kind == BZ_EVENT_CACHED || e->kind == BZ_EVENT_STARTED))
        write_passed(log, e->task, e->at);
    l = begin_line(log, kinds[e->kind]);
    put_seconds(&l, BZ_EVENTKEY_AT, e->at);
    if (!whole && !traffic)
        bz_jsonw_str(key(&l, BZ_EVENTKEY_TASK), log->o.names[e->task]);
    if (whole) {
        put_counts(&l, e);
    } else if (traffic) {
        put_place(&l, &e->place);
    } else if (e->kind == BZ_EVENT_OVERLAP) {
        put_overlap(log, &l, e);
    } else if (e->kind == BZ_EVENT_REMARK) {
        put_text(&l, BZ_EVENTKEY_TEXT, e->what);
    } else if (e->kind == BZ_EVENT_FETCHED) {
        put_text(&l, BZ_EVENTKEY_WHAT, e->what);
        put_count(&l, BZ_EVENTKEY_BYTES, e->bytes);
        put_seconds(&l, BZ_EVENTKEY_TOOK, e->ns);
    } else if (e->kind == BZ_EVENT_PROGRESS) {
        put_text(&l, BZ_EVENTKEY_WHAT, e->what);
        put_count(&l, BZ_EVENTKEY_BYTES, e->bytes);
        put_count(&l, BZ_EVENTKEY_TOTAL, e->total);
    } else if (e->kind == BZ_EVENT_DONE || e->kind == BZ_EVENT_FAILED) {
        put_end_of_task(&l, e);
    } else if (e->kind == BZ_EVENT_UNNEEDED) {
        if (e->saved > 0)
            put_seconds(&l, BZ_EVENTKEY_SAVED, e->saved);
    } else if (e->kind != BZ_EVENT_DIFFERS) {
        put_version(log, &l, e->task);
        put_key(&l, e);
        put_names(log, &l, e->task);
        if (e->kind == BZ_EVENT_CACHED)
            put_cached(&l, e);
        else if (e->kind == BZ_EVENT_WANTED)
            bz_jsonw_bool(key(&l, BZ_EVENTKEY_UNLESS), e->unless);
        else
            put_text(&l, BZ_EVENTKEY_LOG, e->log);
    }
    put_outlook(&l, e);
    end_line(log, &l);
}

static void flush(struct bz_eventlog *log)
{
    if (log->rc == 0 && log->fd < 0)
        log->rc = log->o.open(log->o.open_ctx, &log->fd, &log->err);
    if (log->rc == 0)
        log->rc = bz_fs_write_all(log->fd, "the event log", log->text.data,
                                  log->text.len, &log->err);
    bz_buf_truncate(&log->text, 0);
}

struct bz_eventlog *bz_eventlog_new(const struct bz_eventlog_opts *opts)
{
    struct bz_eventlog *log = bz_mem_zalloc(sizeof(*log));

    log->o = *opts;
    log->fd = -1;
    for (unsigned i = 0; i < BZ_EVENTKEY_LINES; i++)
        log->may[i] = bz_eventkey_mask(i);
    write_begin(log);
    return log;
}

void bz_eventlog_write(struct bz_eventlog *log, const struct bz_event *e)
{
    if (log->rc < 0)
        return;
    write_event(log, e);
    if (e->kind == BZ_EVENT_UNNEEDED)
        return; /* there may be thousands of them: they go out with the next event */
    if (!log->o.lazy || log->fd >= 0 || e->kind == BZ_EVENT_STARTED ||
        e->kind == BZ_EVENT_ENDED)
        flush(log);
}

int bz_eventlog_close(struct bz_eventlog *log, struct bz_err *err)
{
    int rc = log ? log->rc : 0;

    if (!log)
        return 0;
    if (rc < 0)
        *err = log->err;
    bz_fs_closep(&log->fd);
    bz_bitset_release(&log->passed);
    bz_buf_release(&log->text);
    free(log);
    return rc;
}
