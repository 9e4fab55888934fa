#include <string.h>

#include "cmd.h"
#include "cmd_open.h"
#include "codec/jsonw.h"
#include "project/checkout.h"
#include "project/lock.h"

struct lock_values {
    bool dry_run, json;
};

static const struct bz_opt opts[] = {
    BZ_OPT_FLAG(struct lock_values, dry_run, 'n', "dry-run",
                "Show what would be written, and write nothing"),
    BZ_OPT_FLAG(struct lock_values, json, 0, "json", "Print one JSON object"),
    BZ_OPT_END,
};

static const struct bz_opt_arg args[] = {BZ_OPT_END};

/* A repository whose commit the files leave open. */
struct pinned {
    struct bz_str repo, commit;
    struct bz_str before; /* what lock files say; p == NULL: nothing */
    bool changed;         /* the checkout has more than the commit */
};

struct plan {
    struct bz_arena arena;
    struct BZ_VEC(struct pinned) all;
};

static void release_plan(struct plan *plan)
{
    bz_vec_release(&plan->all);
    bz_arena_release(&plan->arena);
}

static const char *state_of(const struct pinned *pin)
{
    if (!pin->before.p)
        return "new";
    return bz_str_eq(pin->before, pin->commit) ? "unchanged" : "updated";
}

/* The commit that a repository has with lock files, or p == NULL. */
static struct bz_str locked_commit(const struct bz_kas *kas, struct bz_str id)
{
    for (size_t i = 0; i < kas->nrepos; i++)
        if (bz_str_eq(kas->repos[i].id, id))
            return kas->repos[i].commit.text;
    return (struct bz_str){0};
}

static int add_pin(struct plan *plan, const struct bz_repo *repo,
                   const struct bz_kas *locked, struct bz_err *err)
{
    struct pinned pin = {.repo = repo->id, .before = locked_commit(locked, repo->id)};
    struct bz_checkout c;
    int rc;

    if (repo->type != BZ_REPO_GIT)
        return bz_fail(err, BZ_E_NOSUP,
                       BZ_KAS_PLACE_FMT ": repository '%.*s' is not of git and cannot "
                                        "be locked; give its commit there",
                       BZ_KAS_PLACE_ARG(repo->at), BZ_STR_ARG(repo->id));
    rc = bz_checkout_read(&plan->arena, repo, &c, err);
    if (rc == 0)
        rc = bz_checkout_upstream(&c, repo, &pin.commit, err);
    pin.changed = c.changed;
    if (rc == 0)
        BZ_VEC_PUSH(&plan->all, pin);
    return rc;
}

/* As kas does: what has a URL and no commit of its own. `floating` is the project
 * without its lock files, `locked` with them. */
static int make_plan(struct plan *plan, const struct bz_kas *floating,
                     const struct bz_kas *locked, struct bz_err *err)
{
    int rc = bz_kas_require(floating, err);

    for (size_t i = 0; rc == 0 && i < floating->nrepos; i++) {
        const struct bz_repo *repo = &floating->repos[i];

        if (repo->url.text.p && !repo->commit.text.p)
            rc = add_pin(plan, repo, locked, err);
    }
    return rc;
}

static int save(const struct plan *plan, const struct bz_kas *kas, struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct BZ_VEC(struct bz_lock_pin) pins = {0};

    for (size_t i = 0; i < plan->all.len; i++)
        BZ_VEC_PUSH(&pins,
                    (struct bz_lock_pin){plan->all.at[i].repo, plan->all.at[i].commit});
    return bz_lock_save(kas, pins.at, pins.len, err);
}

static void warn_changed(struct bz_out *log, const struct plan *plan)
{
    for (size_t i = 0; i < plan->all.len; i++) {
        if (!plan->all.at[i].changed)
            continue;
        bz_out_paint(log, BZ_OUT_YELLOW, "warning:");
        bz_out_print(log, " repository ");
        bz_out_plain(log, plan->all.at[i].repo.p, plan->all.at[i].repo.n);
        bz_out_print(log, " has changes that its commit does not hold\n");
    }
}

static void write_text(struct bz_out *out, const struct plan *plan)
{
    if (plan->all.len == 0)
        bz_out_print(out, "every repository has its commit in the project files\n");
    for (size_t i = 0; i < plan->all.len; i++) {
        const struct pinned *pin = &plan->all.at[i];

        bz_out_print(out, "%-10s%.*s  ", state_of(pin), BZ_STR_ARG(pin->commit));
        bz_out_plain(out, pin->repo.p, pin->repo.n);
        if (pin->before.p && !bz_str_eq(pin->before, pin->commit)) {
            bz_out_print(out, "  was ");
            bz_out_plain(out, pin->before.p, pin->before.n);
        }
        bz_out_print(out, "\n");
    }
}

static void write_json(struct bz_out *out, const struct plan *plan,
                       const struct bz_kas *kas, bool dry_run)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_jsonw w = bz_jsonw_to(&text, 2);

    bz_jsonw_map(&w);
    bz_jsonw_cstr(bz_jsonw_key(&w, "lock"), kas->lock);
    bz_jsonw_bool(bz_jsonw_key(&w, "dry_run"), dry_run);
    bz_jsonw_list(bz_jsonw_key(&w, "repos"));
    for (size_t i = 0; i < plan->all.len; i++) {
        const struct pinned *pin = &plan->all.at[i];

        bz_jsonw_map(&w);
        bz_jsonw_str(bz_jsonw_key(&w, "id"), pin->repo);
        bz_jsonw_cstr(bz_jsonw_key(&w, "state"), state_of(pin));
        bz_jsonw_str(bz_jsonw_key(&w, "commit"), pin->commit);
        if (pin->before.p)
            bz_jsonw_str(bz_jsonw_key(&w, "before"), pin->before);
        else
            bz_jsonw_null(bz_jsonw_key(&w, "before"));
        bz_jsonw_bool(bz_jsonw_key(&w, "changed"), pin->changed);
        bz_jsonw_map_end(&w);
    }
    bz_jsonw_list_end(&w);
    bz_jsonw_map_end(&w);
    bz_out_print(out, "%s\n", bz_buf_text(&text));
}

static int run(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    const struct lock_values *v = values;
    BZ_CLEANUP(bz_build_close)
    struct bz_build floating = {.opts.project.ignore_locks = true}, locked = {0};
    const struct bz_kas *kas;
    BZ_CLEANUP(release_plan) struct plan plan = {0};
    int rc = bz_cmd_open_build(env, &floating, BZ_BUILD_PROJECT, err);

    if (rc < 0)
        return rc;
    kas = floating.catalog.kas;
    if (!kas)
        return bz_fail(err, BZ_E_INVAL,
                       "%s is a build directory, without repositories to lock; "
                       "--project names a kas file",
                       floating.catalog.build_dir);
    rc = bz_cmd_open_build(env, &locked, BZ_BUILD_PROJECT, err);
    if (rc == 0)
        rc = make_plan(&plan, kas, locked.catalog.kas, err);
    if (rc == 0 && !v->dry_run)
        rc = save(&plan, kas, err);
    if (rc < 0) {
        bz_cmd_open_advise(env, kas);
        return rc;
    }
    warn_changed(&env->log, &plan);
    if (v->json)
        write_json(&env->out, &plan, kas, v->dry_run);
    else
        write_text(&env->out, &plan);
    return BZ_CMD_EXIT_SUCCESS;
}

static const struct bz_cmd_term examples[] = {
    {"bitzel project lock --dry-run", "See which commits would be pinned"},
    {NULL,                            NULL                               },
};

const struct bz_cmd bz_cmd_project_lock = {
    .of = "project",
    .name = "lock",
    .summary = "Pin each repository to the commit that is checked out",
    .detail = "Writes the commit that is checked out now of every repository that has "
              "a URL and no commit in the project files: to the lock files that have "
              "it already, else to the one beside the first project file, as "
              "kas-project.lock.yml. From then on the project means those commits.",
    .opts = opts,
    .args = args,
    .examples = examples,
    .size = sizeof(struct lock_values),
    .run = run,
};
