#include "why_view.h"

#include "diff_view.h"

enum {
    MOST_CAUSES = 50,
    MOST_RECIPES = 10,
    MOST_PLACES = 4,
};

/* The operation as it is written: NAME:append:o, NAME[flag]. */
static void add_written(struct bz_buf *out, struct bz_str name,
                        const struct bz_cause_place *p)
{
    struct bz_str op = p->op, override, rest;

    bz_buf_add_str(out, name);
    if (bz_str_cut_prefix(&op, BZ_STR("override[")) &&
        bz_str_cut(op, ']', &override, &rest)) {
        bz_buf_addf(out, ":%.*s", BZ_STR_ARG(override));
        op = bz_str_starts(rest, BZ_STR("::")) ? bz_str_drop(rest, 1) : BZ_STR("");
    }
    if (bz_str_starts(op, BZ_STR(":"))) {
        bz_str_cut(op, '[', &op, &override);
        bz_str_cut_suffix(&override, BZ_STR("]"));
        bz_buf_add_str(out, op);
        if (override.n > 0)
            bz_buf_addf(out, ":%.*s", BZ_STR_ARG(override));
    }
    if (p->flag.n > 0 && !bz_str_ends(name, BZ_STR("]")))
        bz_buf_addf(out, "[%.*s]", BZ_STR_ARG(p->flag));
}

static void add_places(struct bz_buf *out, const struct bz_cause *c)
{
    for (size_t i = 0; i < c->places.len && i < MOST_PLACES; i++) {
        const struct bz_cause_place *p = &c->places.at[i];

        if (i > 0)
            bz_buf_add_str(out, BZ_STR(", "));
        bz_buf_addf(out, "%.*s:%u", BZ_STR_ARG(p->file), p->is ? p->is : p->was);
        if (p->is == 0 && p->was > 0)
            bz_buf_add_str(out, BZ_STR(" (removed)"));
    }
    if (c->places.len > MOST_PLACES)
        bz_buf_addf(out, " and %zu more", c->places.len - MOST_PLACES);
}

static void add_variable(struct bz_buf *out, const struct bz_cause *c)
{
    if (c->places.len == 0) {
        bz_buf_addf(out, "%.*s changed without an edit of it", BZ_STR_ARG(c->name));
        return;
    }
    bz_buf_addf(out, "%zu change%s in ", c->places.len, c->places.len == 1 ? "" : "s");
    add_places(out, c);
    bz_buf_add_char(out, ' ');
    add_written(out, c->name, &c->places.at[0]);
}

static const char *happened(const struct bz_cause *c)
{
    return !c->was_there ? "is new" : c->is_there ? "changed" : "is gone";
}

static void add_taint(struct bz_buf *out, const struct bz_cause *c)
{
    bz_buf_addf(out,
                c->is_there ? "%.*s was forced at " : "%.*s is not forced any more",
                BZ_STR_ARG(c->name));
    if (c->is_there)
        bz_buf_add_str(out, c->is);
}

void bz_why_view_title(struct bz_buf *out, const struct bz_cause *c)
{
    switch (c->kind) {
    case BZ_CAUSE_VARIABLE:
        add_variable(out, c);
        break;
    case BZ_CAUSE_FILE:
        bz_buf_addf(out, "%.*s %s", BZ_STR_ARG(c->name), happened(c));
        break;
    case BZ_CAUSE_COMMIT:
        bz_buf_addf(out, "%.*s moved", BZ_STR_ARG(c->name));
        break;
    case BZ_CAUSE_DEPENDENCY:
        bz_buf_addf(out,
                    c->is_there ? "%.*s waits for %.*s now"
                                : "%.*s no longer waits for %.*s",
                    BZ_STR_ARG(c->name), BZ_STR_ARG(c->on));
        break;
    case BZ_CAUSE_MACHINE:
    case BZ_CAUSE_DISTRO:
        bz_buf_addf(out, "%.*s changed", BZ_STR_ARG(c->name));
        if (c->places.len > 0) {
            bz_buf_add_str(out, BZ_STR(" in "));
            add_places(out, c);
        }
        break;
    case BZ_CAUSE_POLICY:
        bz_buf_addf(out, "the sandbox of tasks changed");
        break;
    case BZ_CAUSE_TAINT:
        add_taint(out, c);
        break;
    case BZ_CAUSE_OLDER:
        bz_buf_add_str(out, BZ_STR("made by an older bitzel, whose keys count other "
                                   "things"));
        break;
    case BZ_CAUSE_OTHER:
        bz_buf_add_str(out, BZ_STR("something that is not recorded changed"));
        break;
    }
}

static void print_cause(struct bz_out *out, const struct bz_cause *c)
{
    static const struct bz_textdiff_opts opts = {0, 8, 70};
    BZ_CLEANUP(bz_buf_release) struct bz_buf title = {0};

    bz_why_view_title(&title, c);
    if (out->color)
        bz_out_paint(out, BZ_OUT_BOLD, bz_buf_text(&title));
    else
        bz_out_plain(out, bz_buf_text(&title), title.len);
    bz_out_print(out, ", reaches ");
    bz_diff_view_count(out, c->reaches, "task");
    bz_out_print(out, "\n");
    if (c->kind != BZ_CAUSE_TAINT && (c->was.p || c->is.p))
        bz_diff_view_text(out, c->was, c->is, &opts, 4);
}

/* ---- tasks that came or went ---- */

static struct bz_str recipe_of(struct bz_str task)
{
    size_t colon = bz_str_rfind_byte(task, ':');

    return colon == BZ_STR_NONE ? task : bz_str_of(task.p, colon);
}

/* Tasks are by name, so those of a recipe are beside each other. */
static void print_tasks(struct bz_out *out, const char *title,
                        const struct bz_record *r, const struct bz_cause_ids *ids)
{
    size_t recipes = 0, i = 0;

    if (ids->len == 0)
        return;
    bz_out_print(out, "%s: ", title);
    while (i < ids->len) {
        struct bz_str name = recipe_of(r->tasks.at[ids->at[i]].name);
        size_t n = 0;

        while (i < ids->len &&
               bz_str_eq(recipe_of(r->tasks.at[ids->at[i]].name), name)) {
            i++;
            n++;
        }
        if (recipes++ >= MOST_RECIPES)
            continue;
        bz_out_print(out, "%s", recipes > 1 ? ", " : "");
        bz_out_plain(out, name.p, name.n);
        bz_out_print(out, " (");
        bz_diff_view_count(out, n, "task");
        bz_out_print(out, ")");
    }
    if (recipes > MOST_RECIPES)
        bz_out_print(out, " and %zu more", recipes - MOST_RECIPES);
    bz_out_print(out, "\n");
}

void bz_why_view_text(struct bz_out *out, const struct bz_causes *c, const char *since)
{
    size_t shown = c->all.len < MOST_CAUSES ? c->all.len : MOST_CAUSES;

    if (c->changed + c->fresh.len + c->gone.len == 0) {
        bz_out_print(out, "nothing has changed since ");
        bz_out_plain(out, since, strlen(since));
        bz_out_print(out, ": ");
        bz_diff_view_count(out, c->is->tasks.len, "task");
        bz_out_print(out, ", each as it was\n");
        return;
    }
    bz_out_print(out, "%zu of ", c->changed);
    bz_diff_view_count(out, c->is->tasks.len, "task");
    bz_out_print(out, " changed since ");
    bz_out_plain(out, since, strlen(since));
    if (c->upstream > 0)
        bz_out_print(out, ", %zu of these only by what %s for", c->upstream,
                     c->upstream == 1 ? "it waits" : "they wait");
    bz_out_print(out, "\n");
    for (size_t i = 0; i < shown; i++)
        print_cause(out, &c->all.at[i]);
    if (c->all.len > shown)
        bz_out_print(out, "and %zu more causes; --json shows all\n",
                     c->all.len - shown);
    print_tasks(out, "new", c->is, &c->fresh);
    print_tasks(out, "gone", c->was, &c->gone);
}

/* ---- JSON ---- */

static void json_text(struct bz_jsonw *w, const char *key, struct bz_str text)
{
    bz_jsonw_key(w, key);
    if (text.p)
        bz_jsonw_str(w, text);
    else
        bz_jsonw_null(w);
}

static void json_line(struct bz_jsonw *w, const char *key, uint32_t line)
{
    bz_jsonw_key(w, key);
    if (line > 0)
        bz_jsonw_int(w, line);
    else
        bz_jsonw_null(w);
}

static void json_places(struct bz_jsonw *w, const struct bz_cause *c)
{
    bz_jsonw_list(bz_jsonw_key(w, "places"));
    for (size_t i = 0; i < c->places.len; i++) {
        const struct bz_cause_place *p = &c->places.at[i];

        bz_jsonw_map(w);
        bz_jsonw_str(bz_jsonw_key(w, "file"), p->file);
        json_line(w, "old_line", p->was);
        json_line(w, "line", p->is);
        bz_jsonw_str(bz_jsonw_key(w, "op"), p->op);
        if (p->flag.n > 0)
            bz_jsonw_str(bz_jsonw_key(w, "flag"), p->flag);
        bz_jsonw_map_end(w);
    }
    bz_jsonw_list_end(w);
}

void bz_why_view_cause(struct bz_jsonw *w, const struct bz_cause *c)
{
    static const char *const kinds[] = {
        [BZ_CAUSE_VARIABLE] = "variable", [BZ_CAUSE_FILE] = "file",
        [BZ_CAUSE_COMMIT] = "commit",     [BZ_CAUSE_DEPENDENCY] = "dependency",
        [BZ_CAUSE_MACHINE] = "machine",   [BZ_CAUSE_DISTRO] = "distro",
        [BZ_CAUSE_POLICY] = "sandbox",    [BZ_CAUSE_TAINT] = "forced",
        [BZ_CAUSE_OTHER] = "other",       [BZ_CAUSE_OLDER] = "older",
    };

    bz_jsonw_map(w);
    bz_jsonw_cstr(bz_jsonw_key(w, "kind"), kinds[c->kind]);
    bz_jsonw_str(bz_jsonw_key(w, "name"), c->name);
    if (c->kind == BZ_CAUSE_DEPENDENCY)
        bz_jsonw_str(bz_jsonw_key(w, "waits_for"), c->on);
    bz_jsonw_cstr(bz_jsonw_key(w, "change"), !c->was_there ? "added"
                                             : c->is_there ? "changed"
                                                           : "removed");
    json_places(w, c);
    json_text(w, "old", c->was);
    json_text(w, "new", c->is);
    bz_jsonw_str(bz_jsonw_key(w, "first_task"), c->task);
    bz_jsonw_int(bz_jsonw_key(w, "tasks"), (int64_t)c->direct);
    bz_jsonw_int(bz_jsonw_key(w, "reaches"), (int64_t)c->reaches);
    bz_jsonw_map_end(w);
}

static void json_tasks(struct bz_jsonw *w, const char *key, const struct bz_record *r,
                       const struct bz_cause_ids *ids)
{
    bz_jsonw_list(bz_jsonw_key(w, key));
    for (size_t i = 0; i < ids->len; i++)
        bz_jsonw_str(w, r->tasks.at[ids->at[i]].name);
    bz_jsonw_list_end(w);
}

void bz_why_view_json(struct bz_out *out, const struct bz_causes *c, const char *since,
                      bool assumed)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_jsonw w = bz_jsonw_to(&text, 2);

    bz_jsonw_map(&w);
    bz_jsonw_cstr(bz_jsonw_key(&w, "since"), since);
    bz_jsonw_int(bz_jsonw_key(&w, "tasks"), (int64_t)c->is->tasks.len);
    bz_jsonw_int(bz_jsonw_key(&w, "changed"), (int64_t)c->changed);
    bz_jsonw_int(bz_jsonw_key(&w, "only_upstream"), (int64_t)c->upstream);
    bz_jsonw_list(bz_jsonw_key(&w, "causes"));
    for (size_t i = 0; i < c->all.len; i++)
        bz_why_view_cause(&w, &c->all.at[i]);
    bz_jsonw_list_end(&w);
    json_tasks(&w, "new", c->is, &c->fresh);
    json_tasks(&w, "gone", c->was, &c->gone);
    bz_jsonw_bool(bz_jsonw_key(&w, "sandbox_assumed"), assumed);
    bz_jsonw_map_end(&w);
    bz_out_print(out, "%s\n", bz_buf_text(&text));
}
