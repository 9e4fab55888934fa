#include <string.h>

#include "cmd.h"
#include "cmd_open.h"
#include "codec/jsonw.h"
#include "project/checkout.h"

#define SPLIT 14 /* the column where values begin */

struct project_values {
    bool json;
};

static const struct bz_opt opts[] = {
    BZ_OPT_FLAG(struct project_values, json, 0, "json", "Print one JSON object"),
    BZ_OPT_END,
};

static const struct bz_opt_arg args[] = {BZ_OPT_END};

static void row(struct bz_out *out, const char *label, struct bz_str value)
{
    if (!value.p)
        return;
    bz_out_print(out, "%-*s", SPLIT, label);
    bz_out_plain(out, value.p, value.n);
    bz_out_print(out, "\n");
}

static void text_or_null(struct bz_jsonw *w, const char *key, struct bz_str value)
{
    (void)bz_jsonw_key(w, key);
    if (value.p)
        bz_jsonw_str(w, value);
    else
        bz_jsonw_null(w);
}

/* What the files of a project, or the configuration of a build directory, say. */
struct facts {
    struct bz_arena arena;
    struct bz_str machine, distro, mcs;
    struct bz_meta_names layers; /* directories, as in BBLAYERS */
};

static void release_facts(struct facts *f)
{
    bz_vec_release(&f->layers);
    bz_arena_release(&f->arena);
}

static int read_config(struct bz_catalog *p, struct facts *f, struct bz_err *err)
{
    struct bz_vars *vars = p->mcs.at[0].config->vars;
    struct bz_str list = {0}, dir;
    int rc = bz_vars_get(vars, BZ_STR("MACHINE"), 0, &f->machine, err);

    if (rc == 0)
        rc = bz_vars_get(vars, BZ_STR("DISTRO"), 0, &f->distro, err);
    if (rc == 0)
        rc = bz_vars_get(vars, BZ_STR("BBMULTICONFIG"), 0, &f->mcs, err);
    if (rc == 0)
        rc = bz_vars_get(vars, BZ_STR("BBLAYERS"), 0, &list, err);
    while (bz_str_next_word(&list, &dir))
        BZ_VEC_PUSH(&f->layers, dir);
    return rc;
}

static void read_files(const struct bz_kas *kas, struct facts *f)
{
    f->machine = kas->machine.text;
    f->distro = kas->distro.text;
    for (size_t i = 0; i < kas->nlayers; i++)
        BZ_VEC_PUSH(&f->layers, bz_str_from(kas->layers[i]->path));
}

static void show_checkout(struct bz_out *out, struct facts *f,
                          const struct bz_repo *repo)
{
    struct bz_checkout c;
    struct bz_err err;

    if (!repo->present) {
        row(out, "  checked out", BZ_STR("no"));
        return;
    }
    if (bz_checkout_read(&f->arena, repo, &c, &err) < 0) {
        row(out, "  checked out",
            repo->url.text.p ? bz_str_from(err.msg) : (struct bz_str){0});
        return;
    }
    row(out, "  checked out",
        bz_arena_printf(&f->arena, "%.*s%s%.*s%s%s", BZ_STR_ARG(c.commit),
                        c.branch.p ? " (" : "", BZ_STR_ARG(c.branch),
                        c.branch.p ? ")" : "", c.changed ? ", changed" : ""));
}

static void show_repos(struct bz_out *out, struct facts *f, const struct bz_kas *kas)
{
    for (size_t i = 0; i < kas->nrepos; i++) {
        const struct bz_repo *repo = &kas->repos[i];

        row(out, "repository", repo->id);
        row(out, "  path", bz_str_from(repo->path));
        row(out, "  url", bz_repo_shown_url(&f->arena, repo));
        row(out, "  branch", repo->branch.text);
        row(out, "  tag", repo->tag.text);
        row(out, "  refspec", repo->refspec.text);
        row(out, "  commit", repo->commit.text);
        show_checkout(out, f, repo);
    }
}

static void show_text(struct bz_out *out, const struct bz_catalog *p, struct facts *f)
{
    const struct bz_kas *kas = p->kas;

    row(out, "project", bz_str_from(p->found.files ? p->found.files : p->build_dir));
    row(out, "chosen by", bz_str_from(bz_locate_reason(p->found.by)));
    row(out, "build in", bz_str_from(p->build_dir));
    for (size_t i = 0; kas && i < kas->nfiles; i++)
        row(out, kas->files[i].lock ? "lock file" : "file",
            bz_str_from(kas->files[i].file->path));
    row(out, "machine", f->machine);
    row(out, "distro", f->distro);
    row(out, "multiconfig", f->mcs);
    for (size_t i = 0; kas && i < kas->ntargets; i++)
        row(out, "target", kas->targets[i].text);
    if (kas) {
        row(out, "task", kas->task.text);
        show_repos(out, f, kas);
    }
    for (size_t i = 0; i < f->layers.len; i++)
        row(out, "layer", f->layers.at[i]);
    /* Those that pass in every project say nothing about this one. */
    for (size_t i = 0; i < p->env.vars.len; i++)
        if (!bz_environ_exported(p->env.vars.at[i].name))
            row(out, "environment",
                bz_arena_printf(&f->arena, "%.*s=%.*s",
                                BZ_STR_ARG(p->env.vars.at[i].name),
                                BZ_STR_ARG(p->env.vars.at[i].value)));
}

static void json_checkout(struct bz_jsonw *w, struct facts *f,
                          const struct bz_repo *repo)
{
    struct bz_checkout c;
    struct bz_err err;

    (void)bz_jsonw_key(w, "checkout");
    if (!repo->present || bz_checkout_read(&f->arena, repo, &c, &err) < 0) {
        bz_jsonw_null(w);
        return;
    }
    bz_jsonw_map(w);
    text_or_null(w, "commit", c.commit);
    text_or_null(w, "branch", c.branch);
    bz_jsonw_bool(bz_jsonw_key(w, "changed"), c.changed);
    bz_jsonw_map_end(w);
}

static void json_repo(struct bz_jsonw *w, struct facts *f, const struct bz_repo *repo)
{
    bz_jsonw_map(w);
    bz_jsonw_str(bz_jsonw_key(w, "id"), repo->id);
    bz_jsonw_cstr(bz_jsonw_key(w, "path"), repo->path);
    bz_jsonw_bool(bz_jsonw_key(w, "present"), repo->present);
    text_or_null(w, "url", bz_repo_shown_url(&f->arena, repo));
    text_or_null(w, "branch", repo->branch.text);
    text_or_null(w, "tag", repo->tag.text);
    text_or_null(w, "refspec", repo->refspec.text);
    text_or_null(w, "commit", repo->commit.text);
    json_checkout(w, f, repo);
    bz_jsonw_list(bz_jsonw_key(w, "layers"));
    for (size_t i = 0; i < repo->nlayers; i++)
        bz_jsonw_cstr(w, repo->layers[i].path);
    bz_jsonw_list_end(w);
    bz_jsonw_map_end(w);
}

/* What only kas files say. */
static void json_kas(struct bz_jsonw *w, struct facts *f, const struct bz_kas *kas)
{
    bz_jsonw_list(bz_jsonw_key(w, "files"));
    for (size_t i = 0; i < kas->nfiles; i++) {
        bz_jsonw_map(w);
        bz_jsonw_cstr(bz_jsonw_key(w, "path"), kas->files[i].file->path);
        bz_jsonw_bool(bz_jsonw_key(w, "lock"), kas->files[i].lock);
        bz_jsonw_bool(bz_jsonw_key(w, "external"), kas->files[i].external);
        bz_jsonw_map_end(w);
    }
    bz_jsonw_list_end(w);
    bz_jsonw_list(bz_jsonw_key(w, "targets"));
    for (size_t i = 0; i < kas->ntargets; i++)
        bz_jsonw_str(w, kas->targets[i].text);
    bz_jsonw_list_end(w);
    text_or_null(w, "task", kas->task.text);
    bz_jsonw_list(bz_jsonw_key(w, "repos"));
    for (size_t i = 0; i < kas->nrepos; i++)
        json_repo(w, f, &kas->repos[i]);
    bz_jsonw_list_end(w);
}

static void show_json(struct bz_out *out, const struct bz_catalog *p, struct facts *f)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_jsonw w = bz_jsonw_to(&text, 2);

    bz_jsonw_map(&w);
    bz_jsonw_cstr(bz_jsonw_key(&w, "project"),
                  p->found.files ? p->found.files : p->build_dir);
    bz_jsonw_cstr(bz_jsonw_key(&w, "kind"), p->kas ? "kas" : "build directory");
    bz_jsonw_cstr(bz_jsonw_key(&w, "chosen_by"), bz_locate_reason(p->found.by));
    bz_jsonw_cstr(bz_jsonw_key(&w, "build_dir"), p->build_dir);
    text_or_null(&w, "machine", f->machine);
    text_or_null(&w, "distro", f->distro);
    text_or_null(&w, "multiconfig", f->mcs);
    if (p->kas)
        json_kas(&w, f, p->kas);
    bz_jsonw_list(bz_jsonw_key(&w, "layers"));
    for (size_t i = 0; i < f->layers.len; i++)
        bz_jsonw_str(&w, f->layers.at[i]);
    bz_jsonw_list_end(&w);
    bz_jsonw_map(bz_jsonw_key(&w, "environment"));
    for (size_t i = 0; i < p->env.vars.len; i++)
        bz_jsonw_str(bz_jsonw_key_str(&w, p->env.vars.at[i].name),
                     p->env.vars.at[i].value);
    bz_jsonw_map_end(&w);
    bz_jsonw_map_end(&w);
    bz_out_print(out, "%s\n", bz_buf_text(&text));
}

static int run(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    const struct project_values *v = values;
    BZ_CLEANUP(bz_build_close) struct bz_build b = {0};
    struct bz_catalog *p = &b.catalog;
    BZ_CLEANUP(release_facts) struct facts f = {0};
    int rc = bz_cmd_open_build(env, &b, BZ_BUILD_PROJECT, err);

    if (rc < 0)
        return rc;
    /* Kas files say it all, whether or not the repositories are there; what a build
     * directory means only its configuration knows. */
    if (p->kas) {
        read_files(p->kas, &f);
    } else {
        rc = bz_cmd_open_project(env, &b, err);
        if (rc == 0)
            rc = read_config(p, &f, err);
        if (rc < 0)
            return rc;
    }
    if (v->json)
        show_json(&env->out, p, &f);
    else
        show_text(&env->out, p, &f);
    return BZ_CMD_EXIT_SUCCESS;
}

static const struct bz_cmd_term show_examples[] = {
    {"bitzel project show --json", "The same for a script"},
    {NULL,                         NULL                   },
};

static const struct bz_cmd show = {
    .of = "project",
    .name = "show",
    .summary = "Show which project this is and what it consists of",
    .detail = "Shows the project that commands work on here and what decided that; its "
              "files in the order they merge, machine, distribution and targets; its "
              "repositories with what is checked out; layers, highest priority first; "
              "and the variables that pass from the environment besides the usual "
              "ones. A repository that is not checked out is no error.",
    .opts = opts,
    .args = args,
    .examples = show_examples,
    .size = sizeof(struct project_values),
    .run = run,
};

static const struct bz_cmd *const subs[] = {&show, &bz_cmd_project_lock, NULL};

static const struct bz_cmd_term project_examples[] = {
    {"bitzel project",                             "See which project this is, and why"},
    {"bitzel --project kas.yml:debug.yml project", "The same of two kas files"         },
    {NULL,                                         NULL                                },
};

const struct bz_cmd bz_cmd_project = {
    .name = "project",
    .summary = "Show the project, or pin its repositories",
    .detail = "A project is a build directory with conf/bblayers.conf, or one or more "
              "kas files that a build directory is made from. --project names it, or "
              "BITZEL_PROJECT, BUILDDIR or BBPATH; else it is the nearest upwards: "
              "conf/bblayers.conf, .config.yaml, kas-project.yml or kas.yml. Without "
              "a command the project is shown.",
    .opts = opts,
    .args = args,
    .examples = project_examples,
    .size = sizeof(struct project_values),
    .run = run,
    .subs = subs,
};
