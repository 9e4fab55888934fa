#include "report_view.h"

#include "cache_view.h"
#include "plan_cost.h"
#include "why_view.h"

enum {
    MOST_RECIPES = 30,
    MOST_WAVES = 30,
    MOST_SLOW = 10,
    MOST_CHAIN = 30,
    MOST_CAUSES = 20,
    MOST_ORIGINS = 20,
};

int bz_report_view_open(struct bz_cmd_env *env, const char *which,
                        struct bz_report_view *r, struct bz_err *err)
{
    int rc = bz_past_build_open(env, which, BZ_BUILDS_ANY, &r->build, err);

    if (rc == 0)
        rc = bz_past_build_explain(&r->build, &r->why, err);
    if (rc == 0)
        rc = bz_shape_make(&r->shape, &r->build.account, err);
    if (rc < 0)
        return rc;
    bz_tally_recipes(&r->recipes, &r->build.account);
    bz_tally_waves(&r->waves, &r->build.account, &r->shape);
    bz_traffic_downloads(&r->downloads, &r->build.account);
    bz_tally_slowest(&r->slowest, &r->build.account, &r->shape, BZ_REPORT_VIEW_SLOWEST);
    return 0;
}

void bz_report_view_close(struct bz_report_view *r)
{
    bz_vec_release(&r->downloads);
    bz_vec_release(&r->slowest);
    bz_vec_release(&r->waves);
    bz_vec_release(&r->recipes);
    bz_shape_release(&r->shape);
    bz_past_build_forget(&r->why);
    bz_past_build_close(&r->build);
}

/* One print of it. */
struct sheet {
    const struct bz_report_view *r;
    struct bz_out *out;
    enum bz_table_view_form form;
};

static void put(const struct sheet *s, struct bz_str text)
{
    if (s->form == BZ_TABLE_VIEW_MARKDOWN)
        bz_table_view_escape(s->out, text);
    else
        bz_out_plain(s->out, text.p ? text.p : "", text.n);
}

static void put_span(const struct sheet *s, int64_t ns)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};

    bz_plan_cost_text(ns, &text);
    put(s, bz_buf_str(&text));
}

static void put_heading(const struct sheet *s, const char *title)
{
    if (s->form == BZ_TABLE_VIEW_MARKDOWN)
        bz_out_print(s->out, "\n## %s\n\n", title);
    else
        bz_out_heading(s->out, title);
}

static void put_more(const struct sheet *s, size_t all, size_t shown)
{
    if (all > shown)
        bz_out_print(s->out, "%sand %zu more; --json shows all\n",
                     s->form == BZ_TABLE_VIEW_MARKDOWN ? "\n" : "", all - shown);
}

/* ---- the first lines ---- */

static void put_head(const struct sheet *s)
{
    const struct bz_account *a = &s->r->build.account;

    bz_out_print(s->out, s->form == BZ_TABLE_VIEW_MARKDOWN ? "# Build " : "Build ");
    put(s, s->r->build.id);
    bz_out_print(s->out, s->form == BZ_TABLE_VIEW_MARKDOWN ? "\n\nTargets:" : " of");
    for (size_t i = 0; i < a->targets.len; i++) {
        bz_out_print(s->out, " ");
        put(s, a->targets.at[i]);
    }
    bz_out_print(s->out,
                 s->form == BZ_TABLE_VIEW_MARKDOWN ? ". It %s after " : ": %s after ",
                 bz_past_build_result(a, s->r->build.events));
    put_span(s, a->took);
    bz_out_print(s->out, "\n");
}

static void put_counts(const struct sheet *s)
{
    const struct bz_event_counts *n = &s->r->build.account.counts;

    bz_out_print(s->out,
                 "%u tasks: %u executed, %u from cache, %u not needed, %u with "
                 "nothing to run",
                 n->tasks, n->executed, n->cached, n->unneeded, n->noexec);
    if (n->failed > 0)
        bz_out_print(s->out, ", %u failed", n->failed);
    if (n->blocked > 0)
        bz_out_print(s->out, ", %u not started", n->blocked);
    bz_out_print(s->out, "\n");
}

static void put_sums(const struct sheet *s)
{
    const struct bz_account *a = &s->r->build.account;
    const struct bz_shape *shape = &s->r->shape;
    char size[BZ_CACHE_VIEW_TEXT];

    if (shape->busy > 0) {
        bz_out_print(s->out, "Tasks ran for ");
        put_span(s, shape->busy);
        bz_out_print(s->out, ", %.1f at a time of %lld",
                     a->took > 0 ? (double)shape->busy / (double)a->took : 0.0,
                     (long long)a->jobs);
        if (shape->cpu > 0) {
            bz_out_print(s->out, ", on CPUs for ");
            put_span(s, shape->cpu);
        }
        bz_out_print(s->out, "\n");
    }
    if (shape->memory > 0)
        bz_out_print(s->out, "Memory: the largest process had %s",
                     bz_cache_view_size(shape->memory, size));
    if (a->memory_used > 0)
        bz_out_print(s->out, "%s of the whole machine up to %s were in use",
                     shape->memory > 0 ? ";" : "Memory:",
                     bz_cache_view_size(a->memory_used, size));
    if (shape->memory > 0 || a->memory_used > 0)
        bz_out_print(s->out, "\n");
    if (shape->saved > 0) {
        bz_out_print(s->out, "The cache saved about ");
        put_span(s, shape->saved);
        bz_out_print(s->out, " of tasks' time");
        if (shape->spared > 0) {
            bz_out_print(s->out, ", ");
            put_span(s, shape->spared);
            bz_out_print(s->out, " of it as they were not needed");
        }
        bz_out_print(s->out, "\n");
    }
}

/* ---- tables ---- */

static void add_counts(struct bz_table_view *t, const struct bz_tally_row *row)
{
    bz_table_view_number(t, row->n[BZ_ACCOUNT_EXECUTED]);
    bz_table_view_number(t, row->n[BZ_ACCOUNT_CACHED]);
    bz_table_view_number(t, row->n[BZ_ACCOUNT_FAILED] + row->n[BZ_ACCOUNT_UNFINISHED]);
    bz_table_view_number(t, row->n[BZ_ACCOUNT_UNNEEDED]);
    bz_table_view_span(t, row->ran);
    bz_table_view_span(t, row->saved);
}

/* The last waves are often of tasks with nothing to run alone. */
static bool has_counts(const struct bz_tally_row *row)
{
    return row->n[BZ_ACCOUNT_EXECUTED] + row->n[BZ_ACCOUNT_CACHED] +
               row->n[BZ_ACCOUNT_FAILED] + row->n[BZ_ACCOUNT_UNFINISHED] +
               row->n[BZ_ACCOUNT_UNNEEDED] >
           0;
}

static const struct bz_table_view_column recipe_columns[] = {
    {"RECIPE",     false},
    {"EXECUTED",   true },
    {"CACHED",     true },
    {"FAILED",     true },
    {"NOT NEEDED", true },
    {"RAN",        true },
    {"SAVED",      true },
    {"MEMORY",     true },
};

static void put_recipes(const struct sheet *s)
{
    const struct bz_tally *rows = &s->r->recipes;
    BZ_CLEANUP(bz_table_view_release)
    struct bz_table_view t = {.columns = recipe_columns,
                              .ncolumns = BZ_COUNTOF(recipe_columns)};
    size_t shown = rows->len < MOST_RECIPES ? rows->len : MOST_RECIPES;

    for (size_t i = 0; i < shown; i++) {
        bz_table_view_text(&t, rows->at[i].name);
        add_counts(&t, &rows->at[i]);
        bz_table_view_size(&t, rows->at[i].memory);
    }
    put_heading(s, "Recipes");
    bz_table_view_print(&t, s->out, s->form);
    put_more(s, rows->len, shown);
}

static void put_waves(const struct sheet *s)
{
    const struct bz_tally *rows = &s->r->waves;
    struct bz_table_view_column columns[BZ_COUNTOF(recipe_columns) - 1];
    BZ_CLEANUP(bz_table_view_release)
    struct bz_table_view t = {.columns = columns, .ncolumns = BZ_COUNTOF(columns)};
    size_t shown = rows->len < MOST_WAVES ? rows->len : MOST_WAVES;

    memcpy(columns, recipe_columns, sizeof(columns));
    columns[0] = (struct bz_table_view_column){"WAVE", true};
    for (size_t i = 0; i < shown; i++) {
        if (!has_counts(&rows->at[i]))
            continue;
        bz_table_view_number(&t, i + 1);
        add_counts(&t, &rows->at[i]);
    }
    put_heading(s, "Waves");
    bz_table_view_print(&t, s->out, s->form);
    put_more(s, rows->len, shown);
}

static void put_tasks(const struct sheet *s, const struct bz_dag_ids *ids, size_t most)
{
    static const struct bz_table_view_column columns[] = {
        {"TOOK",   true },
        {"CPU",    true },
        {"MEMORY", true },
        {"TASK",   false},
    };
    BZ_CLEANUP(bz_table_view_release)
    struct bz_table_view t = {.columns = columns, .ncolumns = BZ_COUNTOF(columns)};
    size_t shown = ids->len < most ? ids->len : most;

    for (size_t i = 0; i < shown; i++) {
        const struct bz_account_task *task = &s->r->build.account.tasks.at[ids->at[i]];

        bz_table_view_span(&t, task->end - task->start);
        bz_table_view_span(&t, task->cpu);
        bz_table_view_size(&t, task->memory);
        bz_table_view_text(&t, task->name);
    }
    bz_table_view_print(&t, s->out, s->form);
    put_more(s, ids->len, shown);
}

static void put_chain(const struct sheet *s)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf title = {0};

    bz_buf_add_str(&title, BZ_STR("Critical path, "));
    bz_plan_cost_text(s->r->shape.chain_took, &title);
    put_heading(s, bz_buf_text(&title));
    put_tasks(s, &s->r->shape.chain, MOST_CHAIN);
}

/* ---- traffic ---- */

static void put_downloads(const struct sheet *s)
{
    static const struct bz_table_view_column columns[] = {
        {"SIZE",  true },
        {"FILES", true },
        {"TOOK",  true },
        {"FROM",  false},
    };
    const struct bz_traffic *rows = &s->r->downloads;
    BZ_CLEANUP(bz_table_view_release)
    struct bz_table_view t = {.columns = columns, .ncolumns = BZ_COUNTOF(columns)};
    size_t shown = rows->len < MOST_ORIGINS ? rows->len : MOST_ORIGINS;

    if (rows->len == 0)
        return;
    for (size_t i = 0; i < shown; i++) {
        bz_table_view_size(&t, rows->at[i].bytes);
        bz_table_view_number(&t, rows->at[i].files);
        bz_table_view_span(&t, rows->at[i].took);
        bz_table_view_text(&t, rows->at[i].from);
    }
    put_heading(s, "Downloads");
    bz_table_view_print(&t, s->out, s->form);
    put_more(s, rows->len, shown);
}

static void put_places(const struct sheet *s)
{
    static const struct bz_table_view_column columns[] = {
        {"HITS",    true },
        {"MISSES",  true },
        {"READ",    true },
        {"FILES",   true },
        {"WRITTEN", true },
        {"FILES",   true },
        {"PLACE",   false},
    };
    const struct bz_account_places *all = &s->r->build.account.places;
    BZ_CLEANUP(bz_table_view_release)
    struct bz_table_view t = {.columns = columns, .ncolumns = BZ_COUNTOF(columns)};

    if (all->len == 0)
        return;
    for (size_t i = 0; i < all->len; i++) {
        const struct bz_account_place *p = &all->at[i];

        bz_table_view_number(&t, p->hits);
        bz_table_view_number(&t, p->misses);
        bz_table_view_size(&t, p->bytes_read);
        bz_table_view_number(&t, p->blobs_read);
        bz_table_view_size(&t, p->bytes_written);
        bz_table_view_number(&t, p->blobs_written);
        bz_table_view_text(&t,
                           bz_traffic_is_local(p) ? BZ_STR("local store") : p->name);
    }
    put_heading(s, "Cache traffic");
    bz_table_view_print(&t, s->out, s->form);
}

/* ---- failures and causes ---- */

static void put_failures(const struct sheet *s)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf why = {0};
    const struct bz_account *a = &s->r->build.account;
    struct bz_firsterror first;

    if (a->counts.failed == 0)
        return;
    put_heading(s, "Failed");
    for (size_t i = 0; i < a->tasks.len; i++) {
        const struct bz_account_task *t = &a->tasks.at[i];

        if (t->state != BZ_ACCOUNT_FAILED)
            continue;
        bz_out_print(s->out, s->form == BZ_TABLE_VIEW_MARKDOWN ? "- " : "");
        put(s, t->name);
        bz_out_print(s->out, ": ");
        bz_buf_truncate(&why, 0);
        bz_account_failure(t, &why);
        put(s, bz_buf_str(&why));
        bz_out_print(s->out, "; 'bitzel log ");
        put(s, t->name);
        bz_out_print(s->out, "'\n");
        if (bz_past_build_error(a, t, &first)) {
            bz_out_print(s->out, "  ");
            put(s, bz_str_from(first.line));
            bz_out_print(s->out, "\n");
        }
    }
}

static void put_overlaps(const struct sheet *s)
{
    const struct bz_account *a = &s->r->build.account;
    size_t shown = a->overlaps.len < MOST_CAUSES ? a->overlaps.len : MOST_CAUSES;

    if (a->overlaps.len == 0)
        return;
    put_heading(s, "Written differently by tasks in no order");
    for (size_t i = 0; i < shown; i++) {
        const struct bz_account_overlap *o = &a->overlaps.at[i];

        bz_out_print(s->out, s->form == BZ_TABLE_VIEW_MARKDOWN ? "- " : "");
        put(s, o->path);
        if (o->more > 0)
            bz_out_print(s->out, " and %llu more", (unsigned long long)o->more);
        bz_out_print(s->out, " by ");
        put(s, a->tasks.at[o->task].name);
        bz_out_print(s->out, " and ");
        put(s, a->tasks.at[o->other].name);
        bz_out_print(s->out, "\n");
    }
    put_more(s, a->overlaps.len, shown);
}

static void put_differing(const struct sheet *s)
{
    const struct bz_account *a = &s->r->build.account;
    size_t n = 0;

    for (size_t i = 0; i < a->tasks.len; i++) {
        if (!a->tasks.at[i].differs)
            continue;
        if (n++ == 0)
            put_heading(s, "Not reproducible");
        if (n > MOST_CAUSES)
            continue;
        bz_out_print(s->out, s->form == BZ_TABLE_VIEW_MARKDOWN ? "- " : "");
        put(s, a->tasks.at[i].name);
        bz_out_print(s->out, "\n");
    }
    if (n > 0)
        put_more(s, n, n < MOST_CAUSES ? n : MOST_CAUSES);
}

static void put_causes(const struct sheet *s)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf compared = {0};
    const struct bz_past_causes *why = &s->r->why;
    const struct bz_cause_list *all = &why->causes.all;
    size_t shown = all->len < MOST_CAUSES ? all->len : MOST_CAUSES;

    if (why->kind == BZ_PAST_UNKNOWN || (all->len == 0 && why->causes.fresh.len == 0))
        return;
    put_heading(s, "Why tasks ran");
    for (size_t i = 0; i < shown; i++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf title = {0};

        bz_why_view_title(&title, &all->at[i]);
        bz_out_print(s->out, s->form == BZ_TABLE_VIEW_MARKDOWN ? "- " : "");
        put(s, bz_buf_str(&title));
        bz_out_print(s->out, ", reaches %zu task%s\n", all->at[i].reaches,
                     all->at[i].reaches == 1 ? "" : "s");
    }
    put_more(s, all->len, shown);
    if (why->causes.fresh.len > 0 && why->kind != BZ_PAST_NOTHING)
        bz_out_print(
            s->out, "%s%zu task%s new\n", s->form == BZ_TABLE_VIEW_MARKDOWN ? "- " : "",
            why->causes.fresh.len, why->causes.fresh.len == 1 ? " is" : "s are");
    bz_past_build_compared(why, &compared);
    bz_out_print(s->out, all->len > 0 && s->form == BZ_TABLE_VIEW_MARKDOWN ? "\n" : "");
    put(s, bz_buf_str(&compared));
    bz_out_print(s->out, "\n");
}

void bz_report_view_print(const struct bz_report_view *r, struct bz_out *out,
                          enum bz_table_view_form form)
{
    const struct sheet s = {r, out, form};

    put_head(&s);
    if (form == BZ_TABLE_VIEW_MARKDOWN)
        bz_out_print(out, "\n");
    put_counts(&s);
    put_sums(&s);
    put_failures(&s);
    put_overlaps(&s);
    put_differing(&s);
    put_causes(&s);
    if (r->recipes.len > 0)
        put_recipes(&s);
    if (r->waves.len > 0)
        put_waves(&s);
    if (r->slowest.len > 0) {
        put_heading(&s, "Slowest tasks");
        put_tasks(&s, &r->slowest, MOST_SLOW);
    }
    if (r->shape.chain.len > 0)
        put_chain(&s);
    put_places(&s);
    put_downloads(&s);
}
