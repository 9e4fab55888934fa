#include "report/trace.h"

#include "codec/jsonw.h"

enum { PROCESS = 1, CACHE_TRACK = 0 }; /* slot 0 is track 1 */

static void put_int(struct bz_jsonw *w, const char *key, int64_t n)
{
    bz_jsonw_int(bz_jsonw_key(w, key), n);
}

/* Every event begins so; its map stays open. */
static void begin(struct bz_jsonw *w, const char *phase, int64_t track)
{
    bz_jsonw_map(w);
    bz_jsonw_cstr(bz_jsonw_key(w, "ph"), phase);
    put_int(w, "pid", PROCESS);
    put_int(w, "tid", track);
}

static void end(struct bz_jsonw *w)
{
    bz_jsonw_map_end(w);
    bz_buf_add_char(w->out, '\n'); /* so that a line is an event, or nearly */
}

static void name_thing(struct bz_jsonw *w, const char *what, int64_t track,
                       struct bz_str name)
{
    begin(w, "M", track);
    bz_jsonw_cstr(bz_jsonw_key(w, "name"), what);
    bz_jsonw_map(bz_jsonw_key(w, "args"));
    bz_jsonw_str(bz_jsonw_key(w, "name"), name);
    bz_jsonw_map_end(w);
    end(w);
}

static void name_tracks(struct bz_jsonw *w, const struct bz_shape *s,
                        struct bz_str title)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf name = {0};

    name_thing(w, "process_name", CACHE_TRACK, title);
    name_thing(w, "thread_name", CACHE_TRACK, BZ_STR("cache"));
    for (uint32_t i = 0; i < s->nslots; i++) {
        bz_buf_truncate(&name, 0);
        bz_buf_addf(&name, "slot %u", i + 1);
        name_thing(w, "thread_name", (int64_t)i + 1, bz_buf_str(&name));
    }
}

static void put_args(struct bz_jsonw *w, const struct bz_account_task *t, uint32_t wave)
{
    bz_jsonw_map(bz_jsonw_key(w, "args"));
    bz_jsonw_str(bz_jsonw_key(w, "recipe"), t->recipe);
    bz_jsonw_str(bz_jsonw_key(w, "task"), t->task);
    bz_jsonw_bool(bz_jsonw_key(w, "cached"), t->state == BZ_ACCOUNT_CACHED);
    put_int(w, "wave", (int64_t)wave + 1);
    bz_jsonw_str(bz_jsonw_key(w, "key"), t->key);
    if (t->saved > 0)
        bz_jsonw_real(bz_jsonw_key(w, "saved_s"), (double)t->saved / 1e9);
    if (t->cpu > 0)
        bz_jsonw_real(bz_jsonw_key(w, "cpu_s"), (double)t->cpu / 1e9);
    if (t->memory > 0)
        put_int(w, "memory_bytes", (int64_t)t->memory);
    if (t->exit_code >= 0)
        put_int(w, "exit_code", t->exit_code);
    if (t->log.n > 0)
        bz_jsonw_str(bz_jsonw_key(w, "log"), t->log);
    bz_jsonw_map_end(w);
}

static void put_task(struct bz_jsonw *w, const struct bz_account *a,
                     const struct bz_shape *s, uint32_t id)
{
    const struct bz_account_task *t = &a->tasks.at[id];
    bool ran = bz_account_ran(t);

    if (!ran && t->state != BZ_ACCOUNT_CACHED)
        return;
    begin(w, ran ? "X" : "i", ran ? (int64_t)s->slot[id] + 1 : CACHE_TRACK);
    bz_jsonw_str(bz_jsonw_key(w, "name"), t->name);
    bz_jsonw_cstr(bz_jsonw_key(w, "cat"), bz_account_state_name(t->state));
    put_int(w, "ts", t->start / 1000);
    if (ran)
        put_int(w, "dur", (t->end - t->start) / 1000);
    else
        bz_jsonw_cstr(bz_jsonw_key(w, "s"), "t");
    put_args(w, t, s->wave[id]);
    end(w);
}

static void put_arrow(struct bz_jsonw *w, const char *phase, int64_t id, int64_t track,
                      int64_t us)
{
    begin(w, phase, track);
    bz_jsonw_cstr(bz_jsonw_key(w, "name"), "waits");
    bz_jsonw_cstr(bz_jsonw_key(w, "cat"), "waits");
    put_int(w, "id", id);
    put_int(w, "ts", us);
    if (phase[0] == 'f')
        bz_jsonw_cstr(bz_jsonw_key(w, "bp"), "e");
    end(w);
}

/* The dependency that was there last, or the end if none of them ran. */
static uint32_t last_edge(const struct bz_account *a, const struct bz_shape *s,
                          uint32_t id)
{
    uint32_t end = s->dag.start[id + 1], last = end;

    for (uint32_t e = s->dag.start[id]; e < end; e++) {
        const struct bz_account_task *t = &a->tasks.at[s->dag.to[e]];

        if (bz_account_ran(t) &&
            (last == end || t->end > a->tasks.at[s->dag.to[last]].end))
            last = e;
    }
    return last;
}

static bool has_all_arrows(const struct bz_shape *s)
{
    return s->dag.start[s->dag.n] <= BZ_TRACE_ARROWS_MAX;
}

static void put_arrows(struct bz_jsonw *w, const struct bz_account *a,
                       const struct bz_shape *s, uint32_t id)
{
    const struct bz_account_task *t = &a->tasks.at[id];
    uint32_t last = last_edge(a, s, id);

    for (uint32_t e = s->dag.start[id]; e < s->dag.start[id + 1]; e++) {
        uint32_t on = s->dag.to[e];
        const struct bz_account_task *before = &a->tasks.at[on];
        int64_t from = before->start / 1000, until = before->end / 1000;

        if (!bz_account_ran(before) || (e != last && !has_all_arrows(s)))
            continue;
        /* An arrow begins at a point within its task. */
        put_arrow(w, "s", (int64_t)e + 1, (int64_t)s->slot[on] + 1,
                  until > from ? until - 1 : from);
        put_arrow(w, "f", (int64_t)e + 1, (int64_t)s->slot[id] + 1, t->start / 1000);
    }
}

void bz_trace_write(const struct bz_account *a, const struct bz_shape *s,
                    struct bz_str title, struct bz_buf *out)
{
    struct bz_jsonw w = bz_jsonw_to(out, 0);

    bz_jsonw_map(&w);
    bz_jsonw_cstr(bz_jsonw_key(&w, "displayTimeUnit"), "ms");
    bz_jsonw_map(bz_jsonw_key(&w, "otherData"));
    bz_jsonw_str(bz_jsonw_key(&w, "bitzel"), a->version);
    bz_jsonw_str(bz_jsonw_key(&w, "began"), a->time);
    bz_jsonw_cstr(bz_jsonw_key(&w, "arrows"),
                  has_all_arrows(s) ? "from all that a task waited for"
                                    : "from the last that a task waited for");
    bz_jsonw_map_end(&w);
    bz_jsonw_list(bz_jsonw_key(&w, "traceEvents"));
    name_tracks(&w, s, title);
    for (uint32_t i = 0; i < a->tasks.len; i++)
        if (a->tasks.at[i].state == BZ_ACCOUNT_CACHED)
            put_task(&w, a, s, i);
    for (size_t i = 0; i < s->by_start.len; i++)
        put_task(&w, a, s, s->by_start.at[i]);
    for (size_t i = 0; i < s->by_start.len; i++)
        put_arrows(&w, a, s, s->by_start.at[i]);
    bz_jsonw_list_end(&w);
    bz_jsonw_map_end(&w);
    bz_buf_add_char(out, '\n');
}
