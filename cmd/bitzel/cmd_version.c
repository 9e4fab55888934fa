#include <gnu/libc-version.h>

#include "cmd.h"
#include "codec/jsonw.h"

struct version_values {
    bool json;
};

static const struct bz_opt opts[] = {
    BZ_OPT_FLAG(struct version_values, json, 0, "json", "Print one JSON object"),
    BZ_OPT_END,
};

static const struct bz_opt_arg args[] = {BZ_OPT_END};

#if defined(__clang__)
static const char compiler[] = "clang " __clang_version__;
#else
static const char compiler[] = "gcc " __VERSION__;
#endif

/* The libraries behind lib/codec, in the versions bitzel was compiled against. */
static const struct {
    const char *name, *version;
} libraries[] = {
    {"cjson",     BZ_VERSION_CJSON  },
    {"libcrypto", BZ_VERSION_OPENSSL},
    {"libyaml",   BZ_VERSION_YAML   },
};

void bz_cmd_version_line(struct bz_out *out)
{
    bz_out_print(out, "bitzel %s\n", BZ_VERSION);
}

static void write_json(struct bz_out *out)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_jsonw w = bz_jsonw_to(&text, 2);

    bz_jsonw_map(&w);
    bz_jsonw_cstr(bz_jsonw_key(&w, "version"), BZ_VERSION);
    bz_jsonw_cstr(bz_jsonw_key(&w, "compiler"), compiler);
    bz_jsonw_map(bz_jsonw_key(&w, "libraries"));
    bz_jsonw_cstr(bz_jsonw_key(&w, "libc"), gnu_get_libc_version());
    for (size_t i = 0; i < BZ_COUNTOF(libraries); i++)
        bz_jsonw_cstr(bz_jsonw_key(&w, libraries[i].name), libraries[i].version);
    bz_jsonw_map_end(&w);
    bz_jsonw_map_end(&w);
    bz_out_print(out, "%s\n", bz_buf_text(&text));
}

static void write_text(struct bz_out *out)
{
    bz_cmd_version_line(out);
    bz_out_print(out, "%-10s %s\n", "compiler", compiler);
    bz_out_print(out, "%-10s %s\n", "libc", gnu_get_libc_version());
    for (size_t i = 0; i < BZ_COUNTOF(libraries); i++)
        bz_out_print(out, "%-10s %s\n", libraries[i].name, libraries[i].version);
}

static int run(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    const struct version_values *v = values;

    (void)err;
    if (v->json)
        write_json(&env->out);
    else if (env->global.quiet)
        bz_cmd_version_line(&env->out);
    else
        write_text(&env->out);
    return BZ_CMD_EXIT_SUCCESS;
}

static const struct bz_cmd_term examples[] = {
    {"bitzel version --json", "What to say in a report of a bug"},
    {NULL,                    NULL                              },
};

const struct bz_cmd bz_cmd_version = {
    .name = "version",
    .summary = "Show the version of bitzel and what it was built with",
    .detail =
        "Shows the version, the compiler, and the libraries in the versions bitzel "
        "was compiled against (the C library: in the version it runs with).",
    .opts = opts,
    .args = args,
    .examples = examples,
    .size = sizeof(struct version_values),
    .run = run,
};
