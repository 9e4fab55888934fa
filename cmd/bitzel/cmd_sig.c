#include <stdlib.h>

#include "base/mem.h"
#include "cmd.h"
#include "cmd_open.h"
#include "codec/jsonw.h"
#include "os/fs_output.h"
#include "sig/listing.h"
#include "sig/recording.h"

struct sig_values {
    struct bz_opt_list targets;
    const char *task;
    const char *record;
    bool all, inputs, json;
};

static const struct bz_opt opts[] = {
    BZ_OPT_TEXT(struct sig_values, task, 'c', "task", "TASK",
                "The task of targets that name none"),
    BZ_OPT_FLAG(struct sig_values, all, 'a', "all",
                "Also of every task that they wait for"),
    BZ_OPT_FLAG(struct sig_values, inputs, 0, "inputs",
                "Also what counts: variables with digest and text, files with digest"),
    BZ_OPT_TEXT(struct sig_values, record, 0, "record", "FILE",
                "Print nothing; write what all these tasks were signed with to FILE, "
                "or to standard output if it is -"),
    BZ_OPT_FLAG(struct sig_values, json, 0, "json", "Print one JSON object"),
    BZ_OPT_END,
};

static const struct bz_opt_arg args[] = {
    BZ_OPT_SOME(struct sig_values, targets, "TARGET",
                "A recipe, RECIPE:do_TASK, mc:CONFIGURATION:RECIPE, world"),
    BZ_OPT_END,
};

/* What counts for the tasks that are to be shown. */
struct listing {
    uint32_t n; /* tasks of the graph */
    struct bz_bitset wanted;
    bool inputs;
    struct bz_taskspec_inputs *kept; /* [tasks] */
    struct bz_base_files *files;     /* [tasks] */
    struct bz_str *policy;           /* [tasks] */
    struct bz_arena arena;
};

static void keep_inputs(void *ctx, uint32_t task, const struct bz_listing_view *view)
{
    const struct bz_taskspec_inputs *inputs = view->inputs;
    struct listing *l = ctx;

    for (size_t i = 0; i < inputs->len; i++)
        BZ_VEC_PUSH(&l->kept[task],
                    (struct bz_taskspec_input){
                        .kind = inputs->at[i].kind,
                        .name = bz_arena_dup(&l->arena, inputs->at[i].name),
                        .value = bz_arena_dup(&l->arena, inputs->at[i].value),
                        .digest = inputs->at[i].digest});
    l->policy[task] = bz_arena_dup(&l->arena, view->policy);
    for (size_t i = 0; i < view->files->len; i++) {
        BZ_VEC_PUSH(&l->files[task], view->files->at[i]);
        BZ_VEC_LAST(&l->files[task]).name =
            bz_arena_dup(&l->arena, view->files->at[i].name);
    }
}

static void listing_init(struct listing *l, const struct bz_goal *goal,
                         const struct sig_values *v)
{
    const struct bz_tgraph *g = &goal->graph;

    *l = (struct listing){.n = g->dag.n, .inputs = v->inputs};
    l->kept = bz_mem_array(g->dag.n, sizeof(*l->kept));
    l->files = bz_mem_array(g->dag.n, sizeof(*l->files));
    l->policy = bz_mem_array(g->dag.n, sizeof(*l->policy));
    for (size_t i = 0; i < g->targets.len; i++)
        bz_bitset_set(&l->wanted, g->targets.at[i]);
    for (uint32_t t = 0; v->all && t < g->dag.n; t++)
        bz_bitset_set(&l->wanted, t);
}

static void listing_release(struct listing *l)
{
    for (uint32_t t = 0; t < l->n; t++) {
        bz_vec_release(&l->kept[t]);
        bz_vec_release(&l->files[t]);
    }
    free(l->kept);
    free(l->files);
    free(l->policy);
    bz_bitset_release(&l->wanted);
    bz_arena_release(&l->arena);
}

/* On one line, whatever is in it. */
static void add_value(struct bz_str value, struct bz_buf *out)
{
    for (size_t i = 0; i < value.n; i++) {
        if (value.p[i] == '\n')
            bz_buf_addf(out, "\\n");
        else
            bz_buf_add_char(out, value.p[i]);
    }
}

static void write_files(struct bz_out *out, const struct bz_base_files *files)
{
    for (size_t i = 0; i < files->len; i++) {
        const struct bz_base_file *f = &files->at[i];
        char hex[BZ_DIGEST_HEX_LEN + 1];

        bz_digest_hex(&f->digest, hex);
        bz_out_print(out, "  %-12.12s  file ", f->present ? hex : "missing");
        bz_out_plain(out, f->name.p, f->name.n);
        bz_out_print(out, "%s\n", f->executable ? " (executable)" : "");
    }
}

static void write_text(struct bz_out *out, const struct bz_goal *goal,
                       const struct listing *l, const struct bz_signing *s)
{
    for (size_t t = bz_bitset_next(&l->wanted, 0); t < BZ_BITSET_END;
         t = bz_bitset_next(&l->wanted, t + 1)) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf line = {0};
        char hex[BZ_DIGEST_HEX_LEN + 1];

        bz_digest_hex(&s->keys[t], hex);
        bz_goal_task_name(goal, (uint32_t)t, &line);
        bz_out_print(out, "%s  ", hex);
        bz_out_plain(out, bz_buf_text(&line), line.len);
        bz_out_print(out, "\n");
        for (size_t i = 0; i < l->kept[t].len; i++) {
            const struct bz_taskspec_input *in = &l->kept[t].at[i];

            bz_buf_truncate(&line, 0);
            bz_digest_hex(&in->digest, hex);
            bz_buf_addf(&line, "%s %.*s = ", bz_taskspec_kinds[in->kind],
                        BZ_STR_ARG(in->name));
            add_value(in->value, &line);
            bz_out_print(out, "  %.12s  ", hex);
            bz_out_plain(out, bz_buf_text(&line), line.len);
            bz_out_print(out, "\n");
        }
        write_files(out, &l->files[t]);
        if (l->inputs)
            bz_out_print(out, "  sandbox       %.*s\n", BZ_STR_ARG(l->policy[t]));
    }
}

static void json_inputs(const struct bz_taskspec_inputs *inputs, struct bz_jsonw *w)
{
    bz_jsonw_list(bz_jsonw_key(w, "inputs"));
    for (size_t i = 0; i < inputs->len; i++) {
        char hex[BZ_DIGEST_HEX_LEN + 1];

        bz_digest_hex(&inputs->at[i].digest, hex);
        bz_jsonw_map(w);
        bz_jsonw_cstr(bz_jsonw_key(w, "kind"), bz_taskspec_kinds[inputs->at[i].kind]);
        bz_jsonw_str(bz_jsonw_key(w, "name"), inputs->at[i].name);
        bz_jsonw_cstr(bz_jsonw_key(w, "digest"), hex);
        bz_jsonw_str(bz_jsonw_key(w, "value"), inputs->at[i].value);
        bz_jsonw_map_end(w);
    }
    bz_jsonw_list_end(w);
}

static void json_files(const struct bz_base_files *files, struct bz_jsonw *w)
{
    bz_jsonw_list(bz_jsonw_key(w, "files"));
    for (size_t i = 0; i < files->len; i++) {
        const struct bz_base_file *f = &files->at[i];
        char hex[BZ_DIGEST_HEX_LEN + 1];

        bz_digest_hex(&f->digest, hex);
        bz_jsonw_map(w);
        bz_jsonw_str(bz_jsonw_key(w, "name"), f->name);
        bz_jsonw_bool(bz_jsonw_key(w, "present"), f->present);
        if (f->present) {
            bz_jsonw_cstr(bz_jsonw_key(w, "digest"), hex);
            bz_jsonw_bool(bz_jsonw_key(w, "executable"), f->executable);
        }
        bz_jsonw_map_end(w);
    }
    bz_jsonw_list_end(w);
}

static void write_json(struct bz_out *out, const struct bz_goal *goal,
                       const struct listing *l, const struct bz_signing *s,
                       bool assumed)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0}, name = {0};
    struct bz_jsonw w = bz_jsonw_to(&text, 2);
    char hex[BZ_DIGEST_HEX_LEN + 1];

    bz_jsonw_map(&w);
    bz_jsonw_list(bz_jsonw_key(&w, "tasks"));
    for (size_t t = bz_bitset_next(&l->wanted, 0); t < BZ_BITSET_END;
         t = bz_bitset_next(&l->wanted, t + 1)) {
        bz_buf_truncate(&name, 0);
        bz_goal_task_name(goal, (uint32_t)t, &name);
        bz_jsonw_map(&w);
        bz_jsonw_str(bz_jsonw_key(&w, "name"), bz_buf_str(&name));
        bz_digest_hex(&s->keys[t], hex);
        bz_jsonw_cstr(bz_jsonw_key(&w, "signature"), hex);
        bz_digest_hex(&s->base[t], hex);
        bz_jsonw_cstr(bz_jsonw_key(&w, "base"), hex);
        if (l->inputs) {
            json_inputs(&l->kept[t], &w);
            json_files(&l->files[t], &w);
            bz_jsonw_str(bz_jsonw_key(&w, "sandbox"), l->policy[t]);
        }
        bz_jsonw_map_end(&w);
    }
    bz_jsonw_list_end(&w);
    bz_jsonw_int(bz_jsonw_key(&w, "evaluated"), (int64_t)s->evaluated);
    bz_jsonw_bool(bz_jsonw_key(&w, "sandbox_assumed"), assumed);
    bz_jsonw_map_end(&w);
    bz_out_print(out, "%s\n", bz_buf_text(&text));
}

static int write_record(struct bz_cmd_env *env, const char *file, struct bz_build *b,
                        struct bz_err *err)
{
    BZ_CLEANUP(bz_record_release) struct bz_record r = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    int rc = bz_recording_run(&r, &b->keys, &b->catalog, &b->goal, err);

    if (rc < 0)
        return rc;
    bz_record_write(&r, &text);
    if (strcmp(file, "-") == 0)
        bz_out_put(&env->out, bz_buf_text(&text), text.len);
    else
        rc = bz_fs_output(file, bz_buf_text(&text), text.len, err);
    return rc;
}

static int show(struct bz_cmd_env *env, const struct sig_values *v, struct bz_build *b,
                struct bz_err *err)
{
    const struct bz_goal *goal = &b->goal;
    BZ_CLEANUP(listing_release) struct listing l = {0};
    int rc = 0;

    listing_init(&l, goal, v);
    if (v->inputs)
        rc = bz_listing_run(&b->keys, &b->catalog, goal, &l.wanted, keep_inputs, &l,
                            err);
    if (rc < 0)
        return rc;
    if (v->json)
        write_json(&env->out, goal, &l, &b->keys, b->assumed);
    else
        write_text(&env->out, goal, &l, &b->keys);
    return BZ_CMD_EXIT_SUCCESS;
}

static int run(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    const struct sig_values *v = values;
    BZ_CLEANUP(bz_build_close) struct bz_build b = {0};
    int rc;

    b.opts.targets = (struct bz_goal_opts){
        .targets = v->targets.word, .n = v->targets.n, .task = v->task};
    rc = bz_cmd_open_build(env, &b, BZ_BUILD_KEYS, err);
    if (rc == 0)
        rc = v->record ? write_record(env, v->record, &b, err) : show(env, v, &b, err);
    bz_cmd_open_diags(env, &b.catalog);
    if (!env->global.quiet)
        bz_out_put(&env->log, bz_buf_text(&b.keys.notes), b.keys.notes.len);
    return rc;
}

static const struct bz_cmd *const subs[] = {&bz_cmd_sig_diff, NULL};

static const struct bz_cmd_term examples[] = {
    {"bitzel sig --inputs busybox:do_compile", "See what counts for a task"},
    {"bitzel sig --record before.sig world",
     "Remember what everything was signed with"                            },
    {NULL,                                     NULL                        },
};

const struct bz_cmd bz_cmd_sig = {
    .name = "sig",
    .summary = "Show the signatures of tasks, and what counts for them",
    .detail = "Prints the signature of each target's task: a digest of its code, of "
              "every variable that the code reads, of the files that count, and of the "
              "signatures of all tasks it waits for. Results are stored by it. The "
              "exit status is 3 if there "
              "is no such target.",
    .opts = opts,
    .args = args,
    .examples = examples,
    .size = sizeof(struct sig_values),
    .run = run,
    .subs = subs,
};
