#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "check.h"
#include "cmd.h"
#include "cmd_open_cache.h"
#include "cmd_settings.h"
#include "codec/jsonw.h"
#include "os/clock.h"

/* The columns where names and findings begin. */
#define NAME 6
#define SPLIT 23

struct doctor_values {
    bool json;
};

static const struct bz_opt opts[] = {
    BZ_OPT_FLAG(struct doctor_values, json, 0, "json", "Print one JSON object"),
    BZ_OPT_END,
};

static const struct bz_opt_arg args[] = {BZ_OPT_END};

static const struct {
    const char *word;
    enum bz_out_style style;
} states[] = {
    [BZ_CHECK_OK] = {"ok",   BZ_OUT_GREEN },
    [BZ_CHECK_WARN] = {"warn", BZ_OUT_YELLOW},
    [BZ_CHECK_FAIL] = {"fail", BZ_OUT_RED   },
};

/* Where results will be kept. A mistake in the settings is not what this is about. */
static const char *cache_dir(struct bz_cmd_env *env, struct bz_arena *a)
{
    struct bz_settings *settings;
    struct bz_str dir = {0};
    struct bz_err err;

    if (bz_cmd_settings_get(env, &settings, &err) == 0)
        dir = bz_settings_get(settings, BZ_SETTING_CACHE_DIR)->text;
    if (dir.n == 0)
        dir = bz_xdg_dir(a, (const char *const *)environ, BZ_XDG_CACHE);
    return dir.n > 0 ? dir.p : "/.cache/bitzel";
}

/* What to change to have them elsewhere. */
static const char *cache_decides(struct bz_cmd_env *env, struct bz_arena *a)
{
    struct bz_settings *settings;
    const struct bz_settings_entry *e;
    struct bz_err err;

    if (bz_cmd_settings_get(env, &settings, &err) < 0)
        return "XDG_CACHE_HOME";
    e = &settings->at[BZ_SETTING_CACHE_DIR];
    if (e->level == BZ_SETTINGS_DEFAULT)
        return "XDG_CACHE_HOME";
    if (e->level == BZ_SETTINGS_OF_ENV)
        return "BITZEL_CACHE_DIR";
    if (e->level == BZ_SETTINGS_OF_LINE)
        return "cache.dir";
    return bz_arena_printf(a, "cache.dir in %.*s", BZ_STR_ARG(e->source)).p;
}

/* That the store is not below HOME, where kas has changed that; or NULL. */
static const char *other_home(struct bz_arena *a, const char *cache)
{
    const char *home = getenv("BITZEL_HOME"), *now = getenv("HOME");
    struct bz_str rest = bz_str_from(cache);

    if (!home || home[0] != '/' || !bz_str_cut_prefix(&rest, bz_str_from(home)))
        return NULL;
    return bz_arena_printf(a, "below BITZEL_HOME (HOME is %s)", now ? now : "not set")
        .p;
}

/* Where we are, unless something else was said. */
static const char *build_dir(struct bz_arena *a)
{
    const char *said = getenv("BUILDDIR");
    char here[4096];

    if (said && said[0])
        return said;
    return getcwd(here, sizeof(here)) ? bz_arena_dup(a, bz_str_from(here)).p : ".";
}

static const char *temp_dir(void)
{
    const char *said = getenv("TMPDIR");

    return said && said[0] ? said : "/tmp";
}

static void write_json(struct bz_out *out, const struct bz_check_row *rows, size_t n,
                       const size_t *count)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_jsonw w = bz_jsonw_to(&text, 2);

    bz_jsonw_map(&w);
    bz_jsonw_list(bz_jsonw_key(&w, "checks"));
    for (size_t i = 0; i < n; i++) {
        bz_jsonw_map(&w);
        bz_jsonw_cstr(bz_jsonw_key(&w, "name"), rows[i].name);
        bz_jsonw_cstr(bz_jsonw_key(&w, "status"), states[rows[i].state].word);
        bz_jsonw_cstr(bz_jsonw_key(&w, "found"), rows[i].found);
        if (rows[i].fix)
            bz_jsonw_cstr(bz_jsonw_key(&w, "fix"), rows[i].fix);
        else
            bz_jsonw_null(bz_jsonw_key(&w, "fix"));
        bz_jsonw_map_end(&w);
    }
    bz_jsonw_list_end(&w);
    for (size_t s = 0; s < BZ_COUNTOF(states); s++)
        bz_jsonw_int(bz_jsonw_key(&w, states[s].word), (int64_t)count[s]);
    bz_jsonw_map_end(&w);
    bz_out_print(out, "%s\n", bz_buf_text(&text));
}

static void write_text(struct bz_out *out, const struct bz_check_row *row)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf fix = {0};
    const char *word = states[row->state].word;

    bz_out_paint(out, states[row->state].style, word);
    bz_out_print(out, "%*s%s", (int)(NAME - strlen(word)), "", row->name);
    bz_out_row(out, (unsigned)(NAME + strlen(row->name)), SPLIT, row->found);
    if (row->fix) {
        bz_buf_addf(&fix, "fix: %s", row->fix);
        bz_out_row(out, 0, SPLIT, bz_buf_text(&fix));
    }
}

static int run(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    const struct doctor_values *v = values;
    size_t n = bz_check_count();
    BZ_CLEANUP(bz_mem_freep) struct bz_check_row *rows = bz_mem_array(n, sizeof(*rows));
    size_t count[BZ_COUNTOF(states)] = {0};
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct bz_err ignored;
    struct bz_check_host host = {.root = "",
                                 .cache = cache_dir(env, &a),
                                 .decides = cache_decides(env, &a),
                                 .home = other_home(&a, cache_dir(env, &a)),
                                 .texts = &a,
                                 .privileged = geteuid() == 0,
                                 .now = bz_clock_wall(),
                                 .build = build_dir(&a),
                                 .temp = temp_dir()};
    struct bz_cache_opts store;

    (void)err;
    if (bz_cmd_open_cache_opts(env, &a, &store, &ignored) == 0) {
        host.index = store.index;
        host.tiers = &store.tiers;
        host.max_size = store.max_size;
    }
    for (size_t i = 0; i < n; i++) {
        bz_check_run(i, &host, &rows[i]);
        count[rows[i].state]++;
        if (!v->json && (rows[i].state != BZ_CHECK_OK || !env->global.quiet))
            write_text(&env->out, &rows[i]);
    }
    if (v->json)
        write_json(&env->out, rows, n, count);
    return count[BZ_CHECK_FAIL] > 0 ? BZ_CMD_EXIT_INFRA : BZ_CMD_EXIT_SUCCESS;
}

static const struct bz_cmd_term examples[] = {
    {"bitzel doctor", "Check this machine before the first build"},
    {NULL,            NULL                                       },
};

const struct bz_cmd bz_cmd_doctor = {
    .name = "doctor",
    .summary = "Check what this machine offers",
    .detail = "Checks what bitzel needs of this machine. Each row is ok, warn (bitzel "
              "works, with less) or fail (it cannot work), and says what was found and "
              "what to do about it. The exit status is 4 if a row is fail.",
    .opts = opts,
    .args = args,
    .examples = examples,
    .size = sizeof(struct doctor_values),
    .run = run,
};
