#include "report_json.h"

#include "cache_view.h"
#include "why_view.h"

static void put_int(struct bz_jsonw *w, const char *key, uint64_t n)
{
    bz_jsonw_int(bz_jsonw_key(w, key), n < INT64_MAX ? (int64_t)n : INT64_MAX);
}

static void put_seconds(struct bz_jsonw *w, const char *key, int64_t ns)
{
    bz_cache_view_json_seconds(w, key, ns);
}

static void put_text(struct bz_jsonw *w, const char *key, struct bz_str text)
{
    if (text.n > 0)
        bz_jsonw_str(bz_jsonw_key(w, key), text);
}

static void put_counts(struct bz_jsonw *w, const struct bz_event_counts *n)
{
    put_int(w, "tasks", n->tasks);
    put_int(w, "executed", n->executed);
    put_int(w, "cached", n->cached);
    put_int(w, "failed", n->failed);
    put_int(w, "not_needed", n->unneeded);
    put_int(w, "noexec", n->noexec);
    put_int(w, "not_started", n->blocked);
}

static void put_row(struct bz_jsonw *w, const struct bz_tally_row *row)
{
    put_int(w, "executed", row->n[BZ_ACCOUNT_EXECUTED]);
    put_int(w, "cached", row->n[BZ_ACCOUNT_CACHED]);
    put_int(w, "failed", row->n[BZ_ACCOUNT_FAILED]);
    put_int(w, "not_finished", row->n[BZ_ACCOUNT_UNFINISHED]);
    put_int(w, "not_needed", row->n[BZ_ACCOUNT_UNNEEDED]);
    put_int(w, "noexec", row->n[BZ_ACCOUNT_PASSED]);
    put_seconds(w, "ran", row->ran);
    put_seconds(w, "cpu", row->cpu);
    put_seconds(w, "saved", row->saved);
    put_int(w, "memory", row->memory);
}

static void put_tallies(struct bz_jsonw *w, const struct bz_report_view *r)
{
    bz_jsonw_list(bz_jsonw_key(w, "recipes"));
    for (size_t i = 0; i < r->recipes.len; i++) {
        bz_jsonw_map(w);
        bz_jsonw_str(bz_jsonw_key(w, "recipe"), r->recipes.at[i].name);
        put_row(w, &r->recipes.at[i]);
        bz_jsonw_map_end(w);
    }
    bz_jsonw_list_end(w);
    bz_jsonw_list(bz_jsonw_key(w, "waves"));
    for (size_t i = 0; i < r->waves.len; i++) {
        bz_jsonw_map(w);
        put_int(w, "wave", i + 1);
        put_row(w, &r->waves.at[i]);
        bz_jsonw_map_end(w);
    }
    bz_jsonw_list_end(w);
}

static void put_names(struct bz_jsonw *w, const char *key, const struct bz_account *a,
                      const uint32_t *ids, size_t n)
{
    bz_jsonw_list(bz_jsonw_key(w, key));
    for (size_t i = 0; i < n; i++)
        bz_jsonw_str(w, a->tasks.at[ids[i]].name);
    bz_jsonw_list_end(w);
}

static void put_task(struct bz_jsonw *w, const struct bz_report_view *r, uint32_t id)
{
    const struct bz_account_task *t = &r->build.account.tasks.at[id];
    const struct bz_dag *dag = &r->shape.dag;
    struct bz_firsterror first;

    bz_jsonw_map(w);
    bz_jsonw_str(bz_jsonw_key(w, "task"), t->name);
    bz_jsonw_cstr(bz_jsonw_key(w, "state"), bz_account_state_name(t->state));
    put_int(w, "wave", (uint64_t)r->shape.wave[id] + 1);
    if (bz_account_ran(t)) {
        put_int(w, "slot", (uint64_t)r->shape.slot[id] + 1);
        put_seconds(w, "start", t->start);
        put_seconds(w, "end", t->end);
        put_seconds(w, "cpu", t->cpu);
        put_int(w, "memory", t->memory);
    }
    if (t->saved > 0)
        put_seconds(w, "saved", t->saved);
    if (t->exit_code >= 0)
        put_int(w, "exit_code", (uint64_t)t->exit_code);
    if (t->signal > 0)
        put_int(w, "signal", (uint64_t)t->signal);
    if (t->oom_kills > 0)
        put_int(w, "oom_kills", t->oom_kills);
    if (t->timeout > 0)
        put_seconds(w, "timeout", t->timeout);
    if (bz_past_build_error(&r->build.account, t, &first))
        put_text(w, "first_error", bz_str_from(first.line));
    put_text(w, "version", t->version);
    put_text(w, "key", t->key);
    put_text(w, "error", t->error);
    put_text(w, "network", t->network);
    put_text(w, "log", t->log);
    put_names(w, "after", &r->build.account, dag->to + dag->start[id],
              bz_dag_degree(dag, id));
    bz_jsonw_map_end(w);
}

static void put_places(struct bz_jsonw *w, const struct bz_account *a)
{
    bz_jsonw_list(bz_jsonw_key(w, "traffic"));
    for (size_t i = 0; i < a->places.len; i++) {
        const struct bz_account_place *p = &a->places.at[i];

        bz_jsonw_map(w);
        bz_jsonw_str(bz_jsonw_key(w, "place"), p->name);
        bz_jsonw_str(bz_jsonw_key(w, "kind"), p->kind);
        put_int(w, "hits", p->hits);
        put_int(w, "misses", p->misses);
        put_int(w, "blobs_read", p->blobs_read);
        put_int(w, "bytes_read", p->bytes_read);
        put_int(w, "blobs_written", p->blobs_written);
        put_int(w, "bytes_written", p->bytes_written);
        bz_jsonw_map_end(w);
    }
    bz_jsonw_list_end(w);
}

static void put_overlaps(struct bz_jsonw *w, const struct bz_account *a)
{
    bz_jsonw_list(bz_jsonw_key(w, "overlaps"));
    for (size_t i = 0; i < a->overlaps.len; i++) {
        const struct bz_account_overlap *o = &a->overlaps.at[i];

        bz_jsonw_map(w);
        bz_jsonw_str(bz_jsonw_key(w, "task"), a->tasks.at[o->task].name);
        bz_jsonw_str(bz_jsonw_key(w, "other"), a->tasks.at[o->other].name);
        bz_jsonw_str(bz_jsonw_key(w, "path"), o->path);
        put_int(w, "more", o->more);
        bz_jsonw_map_end(w);
    }
    bz_jsonw_list_end(w);
}

static void put_differing(struct bz_jsonw *w, const struct bz_account *a)
{
    bz_jsonw_list(bz_jsonw_key(w, "not_reproducible"));
    for (size_t i = 0; i < a->tasks.len; i++)
        if (a->tasks.at[i].differs)
            bz_jsonw_str(w, a->tasks.at[i].name);
    bz_jsonw_list_end(w);
}

static void put_downloads(struct bz_jsonw *w, const struct bz_account *a)
{
    bz_jsonw_list(bz_jsonw_key(w, "downloads"));
    for (size_t i = 0; i < a->downloads.len; i++) {
        const struct bz_account_download *d = &a->downloads.at[i];

        bz_jsonw_map(w);
        bz_jsonw_str(bz_jsonw_key(w, "task"), a->tasks.at[d->task].name);
        bz_jsonw_str(bz_jsonw_key(w, "from"), d->from);
        put_int(w, "bytes", d->bytes);
        put_seconds(w, "took", d->took);
        bz_jsonw_map_end(w);
    }
    bz_jsonw_list_end(w);
}

static void put_causes(struct bz_jsonw *w, const struct bz_past_causes *why)
{
    if (why->kind == BZ_PAST_UNKNOWN)
        return;
    put_text(w, "since", why->since);
    bz_jsonw_bool(bz_jsonw_key(w, "first"), why->kind != BZ_PAST_BUILD);
    put_int(w, "changed", why->causes.changed);
    put_int(w, "new", why->causes.fresh.len);
    bz_jsonw_list(bz_jsonw_key(w, "causes"));
    for (size_t i = 0; i < why->causes.all.len; i++)
        bz_why_view_cause(w, &why->causes.all.at[i]);
    bz_jsonw_list_end(w);
}

void bz_report_json_write(const struct bz_report_view *r, struct bz_jsonw *w)
{
    const struct bz_account *a = &r->build.account;

    bz_jsonw_map(w);
    bz_jsonw_str(bz_jsonw_key(w, "build"), r->build.id);
    put_text(w, "bitzel", a->version);
    put_text(w, "time", a->time);
    bz_jsonw_list(bz_jsonw_key(w, "targets"));
    for (size_t i = 0; i < a->targets.len; i++)
        bz_jsonw_str(w, a->targets.at[i]);
    bz_jsonw_list_end(w);
    put_int(w, "jobs", (uint64_t)a->jobs);
    bz_jsonw_cstr(bz_jsonw_key(w, "result"), bz_past_build_result(a, r->build.events));
    put_seconds(w, "took", a->took);
    put_counts(w, &a->counts);
    put_seconds(w, "ran", r->shape.busy);
    put_seconds(w, "cpu", r->shape.cpu);
    put_seconds(w, "saved", r->shape.saved);
    put_seconds(w, "saved_not_needed", r->shape.spared);
    put_int(w, "memory", r->shape.memory);
    if (a->memory_used > 0)
        put_int(w, "memory_used", a->memory_used);
    put_int(w, "slots", r->shape.nslots);
    put_seconds(w, "critical_path_took", r->shape.chain_took);
    put_names(w, "critical_path", a, r->shape.chain.at, r->shape.chain.len);
    put_causes(w, &r->why);
    put_tallies(w, r);
    put_overlaps(w, a);
    put_differing(w, a);
    put_places(w, a);
    put_downloads(w, a);
    bz_jsonw_list(bz_jsonw_key(w, "details"));
    for (uint32_t i = 0; i < a->tasks.len; i++)
        put_task(w, r, i);
    bz_jsonw_list_end(w);
    bz_jsonw_map_end(w);
}
