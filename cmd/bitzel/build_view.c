#include "build_view.h"

#include <stdio.h>
#include <unistd.h>

#include "build/outdir.h"
#include "cache_view.h"
#include "codec/jsonw.h"
#include "os/clock.h"
#include "os/path.h"

#define KEY_DIGITS 8

static void say_task(struct bz_build_view *c, enum bz_out_style style, const char *what,
                     const struct bz_event *e)
{
    char hex[BZ_DIGEST_HEX_LEN + 1], digits[KEY_DIGITS + 3];

    bz_digest_hex(e->key, hex);
    snprintf(digits, sizeof(digits), "(%.*s)", KEY_DIGITS, hex);
    bz_out_paint(c->log, style, what);
    bz_out_print(c->log, " ");
    bz_out_plain(c->log, c->names[e->task].p, c->names[e->task].n);
    bz_out_print(c->log, " ");
    bz_out_paint(c->log, BZ_OUT_FAINT, digits);
}

static void say_wanted(struct bz_build_view *c, const struct bz_event *e)
{
    struct bz_build_view results = {.log = c->out, .names = c->names};

    BZ_VEC_PUSH(&c->wanted, e->task);
    if (e->unless)
        BZ_VEC_PUSH(&c->unless, e->task);
    if (!c->out)
        return;
    say_task(&results, BZ_OUT_BOLD, "Would execute", e);
    bz_out_print(c->out,
                 e->unless ? ", unless what it needs comes out the same\n" : "\n");
}

/* As it is called in a log: a warning, or an error that did not end the task. */
static void say_remark(struct bz_build_view *c, const struct bz_event *e)
{
    struct bz_str text = bz_str_from(e->what);
    bool warning = bz_str_cut_prefix(&text, BZ_STR("WARNING: "));

    if (!warning)
        (void)bz_str_cut_prefix(&text, BZ_STR("ERROR: "));
    bz_out_paint(c->log, warning ? BZ_OUT_YELLOW : BZ_OUT_RED,
                 warning ? "warning:" : "error:");
    bz_out_print(c->log, " ");
    bz_out_plain(c->log, c->names[e->task].p, c->names[e->task].n);
    bz_out_print(c->log, ": ");
    bz_out_plain(c->log, text.p, text.n);
    bz_out_print(c->log, "\n");
}

/* A file that every recipe writes would be told for every two of them. */
static void say_overlap(struct bz_build_view *c, const struct bz_event *e)
{
    struct bz_str path = bz_str_from(e->what);

    if (bz_map_get(&c->clashes, path)) {
        c->untold++;
        return;
    }
    bz_map_put(&c->clashes, bz_arena_dup(&c->arena, path));
    bz_out_paint(c->log, BZ_OUT_YELLOW, "warning:");
    bz_out_print(c->log, " ");
    bz_out_plain(c->log, c->names[e->task].p, c->names[e->task].n);
    bz_out_print(c->log, " and ");
    bz_out_plain(c->log, c->names[e->other].p, c->names[e->other].n);
    bz_out_print(c->log, " write ");
    bz_out_plain(c->log, e->what, strlen(e->what));
    if (e->more > 0)
        bz_out_print(c->log, " and %zu more", e->more);
    bz_out_print(c->log, " differently: let one wait for the other\n");
}

static void say_differs(struct bz_build_view *c, const struct bz_event *e)
{
    bz_out_paint(c->log, BZ_OUT_YELLOW, "warning:");
    bz_out_print(c->log, " ");
    bz_out_plain(c->log, c->names[e->task].p, c->names[e->task].n);
    bz_out_print(c->log, " is not reproducible: it has made something else than "
                         "before; what was stored first stays\n");
}

void bz_build_view_event(void *ctx, const struct bz_event *e)
{
    struct bz_build_view *c = ctx;

    switch (e->kind) {
    case BZ_EVENT_STARTED:
        if (c->verbose) {
            say_task(c, BZ_OUT_PLAIN, "Started", e);
            bz_out_print(c->log, "\n");
        }
        break;
    case BZ_EVENT_CACHED: /* live, they are counted only: there may be thousands */
        if (c->verbose ||
            !(c->quiet || (c->screen && (c->screen->live || c->screen->brief)))) {
            say_task(c, BZ_OUT_GREEN, "Cached", e);
            bz_out_print(c->log,
                         e->same ? ", as what it needs came out the same\n" : "\n");
        }
        break;
    case BZ_EVENT_DONE:
        if (!c->quiet) {
            say_task(c, BZ_OUT_BOLD, "Executed", e);
            bz_out_print(c->log, " in %.1fs\n", (double)e->ns / 1e9);
        }
        break;
    case BZ_EVENT_FAILED:
        say_task(c, BZ_OUT_RED, "Failed", e);
        bz_build_failure_say(&c->failure, c->log, c->build, e);
        break;
    case BZ_EVENT_OVERLAP:
        say_overlap(c, e);
        break;
    case BZ_EVENT_REMARK:
        say_remark(c, e);
        break;
    case BZ_EVENT_DIFFERS:
        say_differs(c, e);
        break;
    case BZ_EVENT_WANTED:
        say_wanted(c, e);
        return;
    case BZ_EVENT_FETCHED:
        c->traffic.downloads++;
        c->traffic.downloaded += e->bytes;
        break;
    case BZ_EVENT_TRAFFIC:
        if (strcmp(e->place.kind, "local") == 0)
            return;
        c->traffic.hits += e->place.hits;
        c->traffic.read += e->place.bytes_read;
        c->traffic.sent += e->place.bytes_written;
        return;
    default:
        break;
    }
    if (c->screen)
        bz_build_screen_hear(c->screen, e);
    if (c->screen && e->kind == BZ_EVENT_FAILED)
        bz_build_screen_show(c->screen);
    if (!c->screen)
        bz_out_flush(c->log);
}

void bz_build_view_release(struct bz_build_view *v)
{
    bz_build_failure_release(&v->failure);
    bz_vec_release(&v->wanted);
    bz_vec_release(&v->unless);
    bz_map_release(&v->clashes);
    bz_arena_release(&v->arena);
}

/* The other targets are still to be seen. */
/* As short as it can be written from where the user is. */
static void say_path(struct bz_out *out, struct bz_str path)
{
    char cwd[BZ_PATH_MAX];
    struct bz_str rest = path;

    if (getcwd(cwd, sizeof(cwd)) && bz_str_cut_prefix(&rest, bz_str_from(cwd)) &&
        bz_str_cut_prefix(&rest, BZ_STR("/")))
        path = rest;
    bz_out_plain(out, path.p, path.n);
}

/* Where to look for what was built, if it is not where it was before. */
static void say_where(const struct bz_build_view *v)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf path = {0};
    const struct bz_goal *goal;

    if (!v->build || v->build->linked == 0 || v->quiet)
        return;
    goal = &v->build->goal;
    bz_buf_addf(&path, "%s/", v->build->catalog.build_dir);
    if (v->build->linked == 1)
        bz_outdir_name(goal, goal->graph.tasks[v->build->last].recipe, &path);
    else
        bz_buf_add_str(&path, BZ_STR("bitzel-out"));
    bz_out_print(v->log, "The output is in ");
    say_path(v->log, bz_buf_str(&path));
    bz_out_print(v->log, "\n");
}

/* What belongs to no single task. */
static void say_last(const struct bz_build_view *v)
{
    if (v->untold > 0) {
        bz_out_paint(v->log, BZ_OUT_YELLOW, "warning:");
        bz_out_print(v->log,
                     " %zu more pairs of tasks write such a path differently: "
                     "'bitzel report' lists them\n",
                     v->untold);
    }
    say_where(v);
    bz_out_flush(v->log);
}

static void say_traffic(struct bz_out *out, const struct bz_traffic_sum *t)
{
    const struct {
        uint64_t bytes;
        const char *what;
    } parts[] = {
        {t->downloaded, "downloaded"        },
        {t->read,       "from shared caches"},
        {t->sent,       "to shared caches"  },
    };
    char size[BZ_CACHE_VIEW_TEXT];

    for (size_t i = 0; i < BZ_COUNTOF(parts); i++)
        if (parts[i].bytes > 0)
            bz_out_print(out, ", %s %s", bz_cache_view_size(parts[i].bytes, size),
                         parts[i].what);
}

void bz_build_view_end(struct bz_out *out, const struct bz_build_view *v,
                       const struct bz_event_counts *n, int64_t ns, int rc)
{
    /* What was stopped while it ran is as little done as what never began. */
    uint32_t left =
        n->tasks - n->unneeded - n->noexec - n->cached - n->executed - n->failed;

    say_last(v);
    bz_out_paint(out,
                 rc == 0               ? BZ_OUT_GREEN
                 : rc == BZ_E_CANCELED ? BZ_OUT_YELLOW
                                       : BZ_OUT_RED,
                 rc == 0               ? "Build completed"
                 : rc == BZ_E_CANCELED ? "Build interrupted"
                                       : "Build failed");
    bz_out_print(out, " in %.1fs (%u task%s executed, %u from cache", (double)ns / 1e9,
                 n->executed, n->executed == 1 ? "" : "s", n->cached);
    if (n->failed > 0)
        bz_out_print(out, ", %u failed", n->failed);
    if (rc == BZ_E_CANCELED && left > 0)
        bz_out_print(out, ", %u not done", left);
    else if (n->blocked > 0)
        bz_out_print(out, ", %u not started", n->blocked);
    bz_out_print(out, ")");
    say_traffic(out, &v->traffic);
    bz_out_print(out, "\n");
}

void bz_build_view_dry(struct bz_out *out, const struct bz_event_counts *n)
{
    bz_out_print(out, "Nothing was run (%u task%s to execute", n->wanted,
                 n->wanted == 1 ? "" : "s");
    if (n->unless > 0)
        bz_out_print(out, ", %u of them unless unchanged", n->unless);
    bz_out_print(out, ", %u from cache)\n", n->cached);
}

static void json_tasks(struct bz_jsonw *w, const char *key, const struct bz_str *names,
                       const struct bz_dag_ids *tasks)
{
    bz_jsonw_list(bz_jsonw_key(w, key));
    for (size_t i = 0; i < tasks->len; i++)
        bz_jsonw_str(w, names[tasks->at[i]]);
    bz_jsonw_list_end(w);
}

void bz_build_view_json(struct bz_out *out, const struct bz_build_view *v,
                        const struct bz_event_counts *n, int64_t ns, int rc)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_jsonw w = bz_jsonw_to(&text, 2);

    bz_jsonw_map(&w);
    bz_jsonw_bool(bz_jsonw_key(&w, "success"), rc == 0);
    bz_jsonw_int(bz_jsonw_key(&w, "tasks"), n->tasks);
    bz_jsonw_int(bz_jsonw_key(&w, "executed"), n->executed);
    bz_jsonw_int(bz_jsonw_key(&w, "cached"), n->cached);
    bz_jsonw_int(bz_jsonw_key(&w, "not_needed"), n->unneeded);
    bz_jsonw_int(bz_jsonw_key(&w, "noexec"), n->noexec);
    bz_jsonw_int(bz_jsonw_key(&w, "failed"), n->failed);
    bz_jsonw_int(bz_jsonw_key(&w, "not_started"), n->blocked);
    bz_jsonw_int(bz_jsonw_key(&w, "milliseconds"), ns / BZ_CLOCK_MS);
    bz_jsonw_int(bz_jsonw_key(&w, "downloaded_bytes"), (int64_t)v->traffic.downloaded);
    bz_jsonw_int(bz_jsonw_key(&w, "tier_hits"), (int64_t)v->traffic.hits);
    bz_jsonw_int(bz_jsonw_key(&w, "tier_bytes_read"), (int64_t)v->traffic.read);
    bz_jsonw_int(bz_jsonw_key(&w, "tier_bytes_written"), (int64_t)v->traffic.sent);
    if (v->wanted.len > 0) {
        json_tasks(&w, "would_execute", v->names, &v->wanted);
        json_tasks(&w, "unless", v->names, &v->unless);
    }
    bz_jsonw_map_end(&w);
    bz_out_print(out, "%s\n", bz_buf_text(&text));
}
