#include <stdlib.h>
#include <string.h>

#include "base/near.h"
#include "cmd.h"
#include "codec/jsonw.h"
#include "diff_view.h"
#include "os/fs.h"
#include "sig/record_diff.h"
#include "sig/record_read.h"

struct diff_values {
    const char *was, *is;
    bool json;
};

static const struct bz_opt opts[] = {
    BZ_OPT_FLAG(struct diff_values, json, 0, "json", "Print one JSON object"),
    BZ_OPT_END,
};

static const struct bz_opt_arg args[] = {
    BZ_OPT_ONE(struct diff_values, was, "OLD",
               "A record; FILE:TASK is one task in there"),
    BZ_OPT_ONE(struct diff_values, is, "NEW", "The record to compare it with"),
    BZ_OPT_END,
};

/* A record, and the task that was picked; n == 0: all. */
struct source {
    struct bz_record record;
    struct bz_str task;
};

static void source_release(struct source *s)
{
    bz_record_release(&s->record);
}

/* FILE, or FILE:TASK: the shortest beginning that is a file. */
static int source_read(struct source *s, const char *word, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf path = {0};
    const char *colon = word;
    int rc;

    bz_buf_addf(&path, "%s", word);
    while (!bz_fs_exists(AT_FDCWD, bz_buf_text(&path)) &&
           (colon = strchr(colon, ':')) != NULL) {
        bz_buf_truncate(&path, 0);
        bz_buf_add(&path, word, (size_t)(colon - word));
        s->task = bz_str_from(++colon);
    }
    if (!colon) { /* none is there: the whole word is what the message is about */
        s->task = (struct bz_str){0};
        bz_buf_truncate(&path, 0);
        bz_buf_addf(&path, "%s", word);
    }
    rc = bz_record_read_file(&s->record, bz_buf_text(&path), err);
    if (rc == BZ_E_NOENT) /* a file that cannot be read is no query without answer */
        err->code = rc = BZ_E_INVAL;
    return rc;
}

static int pick(const struct source *s, struct bz_str name, const char *file,
                const struct bz_record_task **out, struct bz_err *err)
{
    struct bz_near near;
    char hint[200];

    *out = bz_record_find(&s->record, name);
    if (*out)
        return 0;
    bz_near_init(&near, name);
    for (size_t i = 0; i < s->record.tasks.len; i++)
        bz_near_offer(&near, s->record.tasks.at[i].name);
    return bz_fail(err, BZ_E_NOENT, "%s: there is no task '%.*s'%s", file,
                   BZ_STR_ARG(name), bz_near_text(&near, "", hint, sizeof(hint)));
}

/* ---- text ---- */

static void print_name(struct bz_out *out, const char *before, struct bz_str name)
{
    bz_out_print(out, "  %s ", before);
    bz_out_plain(out, name.p, name.n);
}

/* Where it was set last. */
static void print_place(struct bz_out *out, const struct bz_record_input *in)
{
    for (size_t i = in ? in->nops : 0; i-- > 0;) {
        const struct bz_record_op *op = &in->ops[i];

        if (op->off || op->flag.n > 0)
            continue;
        bz_out_print(out, "  (");
        bz_out_plain(out, op->file.p, op->file.n);
        bz_out_print(out, ":%u)", op->line);
        break;
    }
}

static void print_inputs(struct bz_out *out, const struct bz_record_diff *d)
{
    static const struct bz_textdiff_opts opts_of_text = {1, 40, 100};

    for (size_t i = 0; i < d->inputs.len; i++) {
        const struct bz_record_input *was = d->inputs.at[i].was;
        const struct bz_record_input *is = d->inputs.at[i].is;

        print_name(out,
                   !was ? "added"
                   : is ? "changed"
                        : "removed",
                   d->inputs.at[i].name);
        print_place(out, is ? is : was);
        bz_out_print(out, "\n");
        bz_diff_view_text(out, was ? was->value : (struct bz_str){0},
                          is ? is->value : (struct bz_str){0}, &opts_of_text, 4);
    }
}

static void print_rest(struct bz_out *out, const struct bz_record_diff *d)
{
    for (size_t i = 0; i < d->files.len; i++) {
        const struct bz_record_file *was = d->files.at[i].was, *is = d->files.at[i].is;

        print_name(out,
                   !was || !was->present ? "added file"
                   : !is || !is->present ? "removed file"
                                         : "changed file",
                   d->files.at[i].name);
        bz_out_print(out, "\n");
    }
    for (size_t i = 0; i < d->deps.len; i++) {
        const struct bz_record_dep *was = d->deps.at[i].was, *is = d->deps.at[i].is;

        print_name(out, was && !is ? "waited for" : "waits for", d->deps.at[i].name);
        bz_out_print(out, "%s\n", was && is ? ", which changed" : is ? " now" : "");
    }
}

static void print_change(struct bz_out *out, const char *what, struct bz_str was,
                         struct bz_str is)
{
    bz_out_print(out, "  %s ", what);
    bz_out_plain(out, was.p ? was.p : "-", was.p ? was.n : 1);
    bz_out_print(out, " -> ");
    bz_out_plain(out, is.p ? is.p : "-", is.p ? is.n : 1);
    bz_out_print(out, "\n");
}

static void print_task(struct bz_out *out, const struct bz_record_task *was,
                       const struct bz_record_task *is, const struct bz_record_diff *d)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf title = {0};

    bz_buf_add_str(&title, was->name);
    if (!bz_str_eq(was->name, is->name))
        bz_buf_addf(&title, " -> %.*s", BZ_STR_ARG(is->name));
    bz_out_paint(out, BZ_OUT_BOLD, bz_buf_text(&title));
    bz_out_print(out, "\n");
    if (d->machine)
        print_change(out, "machine", was->machine, is->machine);
    if (d->distro)
        print_change(out, "distro", was->distro, is->distro);
    if (d->policy)
        print_change(out, "sandbox", was->policy, is->policy);
    if (d->taint)
        print_change(out, "forced at", was->taint, is->taint);
    print_inputs(out, d);
    print_rest(out, d);
    if (d->inputs.len + d->files.len + d->deps.len == 0 && !d->machine && !d->distro &&
        !d->policy && !d->taint)
        bz_out_print(out, "  the key differs, by nothing that is recorded\n");
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

static const char *change_of(bool was, bool is)
{
    return !was ? "added" : is ? "changed" : "removed";
}

static void json_inputs(struct bz_jsonw *w, const struct bz_record_diff *d)
{
    bz_jsonw_list(bz_jsonw_key(w, "inputs"));
    for (size_t i = 0; i < d->inputs.len; i++) {
        const struct bz_record_input *was = d->inputs.at[i].was;
        const struct bz_record_input *is = d->inputs.at[i].is;

        bz_jsonw_map(w);
        bz_jsonw_str(bz_jsonw_key(w, "name"), d->inputs.at[i].name);
        bz_jsonw_cstr(bz_jsonw_key(w, "change"), change_of(was, is));
        json_text(w, "old", was ? was->value : (struct bz_str){0});
        json_text(w, "new", is ? is->value : (struct bz_str){0});
        bz_jsonw_map_end(w);
    }
    bz_jsonw_list_end(w);
}

static void json_rest(struct bz_jsonw *w, const struct bz_record_diff *d)
{
    bz_jsonw_list(bz_jsonw_key(w, "files"));
    for (size_t i = 0; i < d->files.len; i++) {
        const struct bz_record_file *was = d->files.at[i].was, *is = d->files.at[i].is;

        bz_jsonw_map(w);
        bz_jsonw_str(bz_jsonw_key(w, "name"), d->files.at[i].name);
        bz_jsonw_cstr(bz_jsonw_key(w, "change"),
                      change_of(was && was->present, is && is->present));
        bz_jsonw_map_end(w);
    }
    bz_jsonw_list_end(w);
    bz_jsonw_list(bz_jsonw_key(w, "waits_for"));
    for (size_t i = 0; i < d->deps.len; i++) {
        const struct bz_record_dep *was = d->deps.at[i].was, *is = d->deps.at[i].is;

        bz_jsonw_map(w);
        bz_jsonw_str(bz_jsonw_key(w, "task"), d->deps.at[i].name);
        bz_jsonw_cstr(bz_jsonw_key(w, "change"), change_of(was, is));
        bz_jsonw_map_end(w);
    }
    bz_jsonw_list_end(w);
}

static void json_change(struct bz_jsonw *w, const char *key, struct bz_str was,
                        struct bz_str is)
{
    bz_jsonw_map(bz_jsonw_key(w, key));
    json_text(w, "old", was);
    json_text(w, "new", is);
    bz_jsonw_map_end(w);
}

static void json_task(struct bz_jsonw *w, const struct bz_record_task *was,
                      const struct bz_record_task *is, const struct bz_record_diff *d)
{
    bz_jsonw_map(w);
    bz_jsonw_str(bz_jsonw_key(w, "name"), is->name);
    if (!bz_str_eq(was->name, is->name))
        bz_jsonw_str(bz_jsonw_key(w, "old_name"), was->name);
    if (d->machine)
        json_change(w, "machine", was->machine, is->machine);
    if (d->distro)
        json_change(w, "distro", was->distro, is->distro);
    if (d->policy)
        json_change(w, "sandbox", was->policy, is->policy);
    if (d->taint)
        json_change(w, "forced", was->taint, is->taint);
    json_inputs(w, d);
    json_rest(w, d);
    bz_jsonw_map_end(w);
}

/* ---- both ---- */

struct comparison {
    struct bz_out *out;
    struct bz_jsonw *w; /* NULL: text */
    size_t different;
};

static void compare(struct comparison *c, const struct bz_record_task *was,
                    const struct bz_record_task *is)
{
    BZ_CLEANUP(bz_record_diff_release) struct bz_record_diff d = {0};

    if (bz_record_diff_same(was, is))
        return;
    c->different++;
    bz_record_diff_run(&d, was, is);
    if (c->w)
        json_task(c->w, was, is, &d);
    else
        print_task(c->out, was, is, &d);
}

/* The tasks of `a` that `b` does not have. */
static void list_missing(struct comparison *c, const struct bz_record *a,
                         const struct bz_record *b, const char *key)
{
    if (c->w)
        bz_jsonw_list(bz_jsonw_key(c->w, key));
    for (size_t i = 0; i < a->tasks.len; i++) {
        struct bz_str name = a->tasks.at[i].name;

        if (bz_record_find(b, name))
            continue;
        c->different++;
        if (c->w) {
            bz_jsonw_str(c->w, name);
            continue;
        }
        bz_out_print(c->out, "%s: ", key);
        bz_out_plain(c->out, name.p, name.n);
        bz_out_print(c->out, "\n");
    }
    if (c->w)
        bz_jsonw_list_end(c->w);
}

static void compare_all(struct comparison *c, const struct bz_record *was,
                        const struct bz_record *is)
{
    for (size_t i = 0; i < is->tasks.len; i++) {
        const struct bz_record_task *old = bz_record_find(was, is->tasks.at[i].name);

        if (old)
            compare(c, old, &is->tasks.at[i]);
    }
}

static int run_on(struct bz_cmd_env *env, const struct diff_values *v,
                  const struct source *a, const struct source *b, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_jsonw w = bz_jsonw_to(&text, 2);
    struct comparison c = {&env->out, v->json ? &w : NULL, 0};
    bool one = a->task.n > 0 || b->task.n > 0;
    const struct bz_record_task *was = NULL, *is = NULL;
    int rc = 0;

    if (one)
        rc = pick(a, a->task.n > 0 ? a->task : b->task, v->was, &was, err);
    if (rc == 0 && one)
        rc = pick(b, b->task.n > 0 ? b->task : a->task, v->is, &is, err);
    if (rc < 0)
        return rc;
    if (v->json) {
        bz_jsonw_map(&w);
        bz_jsonw_list(bz_jsonw_key(&w, "tasks"));
    }
    if (was && is)
        compare(&c, was, is);
    else
        compare_all(&c, &a->record, &b->record);
    if (v->json)
        bz_jsonw_list_end(&w);
    if (!one) {
        list_missing(&c, &a->record, &b->record, "gone");
        list_missing(&c, &b->record, &a->record, "new");
    }
    if (v->json) {
        bz_jsonw_map_end(&w);
        bz_out_print(&env->out, "%s\n", bz_buf_text(&text));
    }
    return c.different > 0 ? BZ_CMD_EXIT_DIFFERENT : BZ_CMD_EXIT_SUCCESS;
}

static int run(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    const struct diff_values *v = values;
    BZ_CLEANUP(source_release) struct source a = {0};
    BZ_CLEANUP(source_release) struct source b = {0};
    int rc = source_read(&a, v->was, err);

    if (rc == 0)
        rc = source_read(&b, v->is, err);
    return rc < 0 ? rc : run_on(env, v, &a, &b, err);
}

static const struct bz_cmd_term examples[] = {
    {"bitzel sig diff before.sig after.sig",
     "Show all differences between two records"                                },
    {"bitzel sig diff now.sig:busybox:do_compile now.sig:zlib:do_compile",
     "Compare two tasks"                                                       },
    {NULL,                                                                 NULL},
};

const struct bz_cmd bz_cmd_sig_diff = {
    .of = "sig",
    .name = "diff",
    .summary = "Show what differs between two records",
    .detail = "Compares what tasks were signed with, as 'bitzel sig --record' wrote "
              "it: variables, files and the tasks they wait for. Of two tasks that "
              "FILE:TASK names, also of different recipes, one pair is compared, else "
              "all. The exit status is 0 if nothing differs, 6 if something does, 3 if "
              "there is no such task, 2 if a file is no record.",
    .opts = opts,
    .args = args,
    .examples = examples,
    .size = sizeof(struct diff_values),
    .run = run,
};
