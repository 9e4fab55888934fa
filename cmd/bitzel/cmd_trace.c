#include "cmd.h"
#include "os/fs_output.h"
#include "past_build.h"
#include "report/trace.h"

struct trace_values {
    const char *build, *output;
    bool json;
};

static const struct bz_opt opts[] = {
    BZ_OPT_TEXT(struct trace_values, output, 'o', "output", "FILE",
                "Write it there; else to stdout"),
    BZ_OPT_FLAG(struct trace_values, json, 0, "json",
                "What it does anyway: a trace is JSON"),
    BZ_OPT_END,
};

static const struct bz_opt_arg args[] = {
    BZ_OPT_MAYBE(struct trace_values, build, "BUILD",
                 "Its id, the beginning of it, or 'last'"),
    BZ_OPT_END,
};

static int run(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    const struct trace_values *v = values;
    BZ_CLEANUP(bz_past_build_close) struct bz_past_build b = {0};
    BZ_CLEANUP(bz_shape_release) struct bz_shape s = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    int rc = bz_past_build_open(env, v->build, BZ_BUILDS_ANY, &b, err);

    if (rc == 0)
        rc = bz_shape_make(&s, &b.account, err);
    if (rc < 0)
        return rc;
    bz_trace_write(&b.account, &s, b.id, &text);
    if (v->output)
        return bz_fs_output(v->output, text.data, text.len, err);
    bz_out_put(&env->out, text.data, text.len);
    return BZ_CMD_EXIT_SUCCESS;
}

static const struct bz_cmd_term examples[] = {
    {"bitzel trace -o build.json", "Write the last build for https://ui.perfetto.dev"},
    {NULL,                         NULL                                              },
};

const struct bz_cmd bz_cmd_trace = {
    .name = "trace",
    .summary = "Write a build as a trace that Perfetto shows",
    .detail = "Writes the tasks of a build, the last one unless another is named, as "
              "Chrome trace events: one track for each task that could run at the same "
              "time, one for what came from the cache, and arrows from tasks to those "
              "that waited for them; if these are too many, only from the last one "
              "that each waited for. https://ui.perfetto.dev and chrome://tracing open "
              "the file.",
    .opts = opts,
    .args = args,
    .examples = examples,
    .size = sizeof(struct trace_values),
    .run = run,
};
