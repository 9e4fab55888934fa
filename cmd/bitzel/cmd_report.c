#include "cmd.h"
#include "report/buildstats.h"
#include "report_json.h"
#include "report_page.h"

struct report_values {
    const char *build, *html, *buildstats;
    bool json, md;
};

static const struct bz_opt opts[] = {
    BZ_OPT_FLAG(struct report_values, md, 0, "md", "Print Markdown"),
    BZ_OPT_TEXT(struct report_values, html, 0, "html", "FILE",
                "Write a page for a browser; it holds all it needs"),
    BZ_OPT_TEXT(struct report_values, buildstats, 0, "buildstats", "DIR",
                "Write it below DIR as OpenEmbedded's buildstats class would"),
    BZ_OPT_FLAG(struct report_values, json, 0, "json", "Print one JSON object"),
    BZ_OPT_END,
};

static const struct bz_opt_arg args[] = {
    BZ_OPT_MAYBE(struct report_values, build, "BUILD",
                 "Its id, the beginning of it, or 'last'"),
    BZ_OPT_END,
};

static int write_buildstats(struct bz_report_view *r, const char *dir,
                            struct bz_err *err)
{
    struct bz_str path =
        bz_arena_printf(&r->build.arena, "%s/%.*s", dir, BZ_STR_ARG(r->build.id));

    return bz_buildstats_write(&r->build.account, &r->shape, path.p, err);
}

static void print_json(const struct bz_report_view *r, struct bz_out *out)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_jsonw w = bz_jsonw_to(&text, 2);

    bz_report_json_write(r, &w);
    bz_out_print(out, "%s\n", bz_buf_text(&text));
}

static int run(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    const struct report_values *v = values;
    BZ_CLEANUP(bz_report_view_close) struct bz_report_view r = {0};
    int rc;

    if (v->json + v->md + (v->html != NULL) + (v->buildstats != NULL) > 1)
        return bz_fail(err, BZ_E_INVAL,
                       "only one of --md, --html, --buildstats and --json");
    rc = bz_report_view_open(env, v->build, &r, err);
    if (rc < 0)
        return rc;
    if (v->html)
        return bz_report_page_write(&r, v->html, err);
    if (v->buildstats)
        return write_buildstats(&r, v->buildstats, err);
    if (v->json)
        print_json(&r, &env->out);
    else
        bz_report_view_print(&r, &env->out,
                             v->md ? BZ_TABLE_VIEW_MARKDOWN : BZ_TABLE_VIEW_TEXT);
    return BZ_CMD_EXIT_SUCCESS;
}

static const struct bz_cmd_term examples[] = {
    {"bitzel report",                 "See where the time of the last build went"},
    {"bitzel report --html r.html",   "A page to look at it in a browser"        },
    {"bitzel report --md >report.md", "The same as Markdown, for a review"       },
    {NULL,                            NULL                                       },
};

const struct bz_cmd bz_cmd_report = {
    .name = "report",
    .summary = "Show what a build did, and where its time went",
    .detail = "Shows a build, the last one unless another is named: what was executed, "
              "came from the cache or was not needed, by recipe and by wave; why tasks "
              "ran, compared with the last build before it that completed, or with "
              "what stored results were made from; what failed; the slowest tasks; and "
              "the critical path: of all chains of tasks that waited for "
              "each other, the one that took longest.",
    .opts = opts,
    .args = args,
    .examples = examples,
    .size = sizeof(struct report_values),
    .run = run,
};
