#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "cmd_settings.h"
#include "codec/jsonw.h"
#include "os/clock.h"
#include "tier_setting.h"

struct config_values {
    const char *name;
    bool origin, describe, json;
};

static const struct bz_opt opts[] = {
    BZ_OPT_FLAG(struct config_values, origin, 0, "show-origin",
                "Also show who set it: file and line, variable or option"),
    BZ_OPT_FLAG(struct config_values, describe, 0, "describe",
                "Show what the settings are for"),
    BZ_OPT_FLAG(struct config_values, json, 0, "json", "Print one JSON object"),
    BZ_OPT_END,
};

static const struct bz_opt_arg args[] = {
    BZ_OPT_MAYBE(struct config_values, name, "SETTING", "Its name; else all are shown"),
    BZ_OPT_END,
};

/* Whether a default is below a home that is not HOME: see kashome.h. */
static bool is_in_other_home(const struct bz_setting *row,
                             const struct bz_settings_entry *e)
{
    const char *home = getenv("BITZEL_HOME");
    struct bz_str rest = e->value.text;

    return row->in_home && home && home[0] == '/' &&
           bz_str_cut_prefix(&rest, bz_str_from(home)) &&
           bz_str_starts(rest, BZ_STR("/"));
}

static void print_origin(struct bz_buf *out, const struct bz_setting *row,
                         const struct bz_settings_entry *e)
{
    if (e->level == BZ_SETTINGS_DEFAULT)
        bz_buf_addf(out, "default%s",
                    is_in_other_home(row, e) ? ", below BITZEL_HOME" : "");
    else
        bz_buf_add_str(out, e->source);
    if (e->line > 0)
        bz_buf_addf(out, ":%u", e->line);
}

/* What a setting is, without passwords. */
static struct bz_setting_value shown(struct bz_arena *a, const struct bz_settings *s,
                                     enum bz_setting_id id)
{
    const struct bz_setting_value *v = bz_settings_get(s, id);

    return id == BZ_SETTING_CACHE_TIERS ? bz_tier_setting_value(a, v) : *v;
}

static void json_value(struct bz_jsonw *w, const struct bz_setting *row,
                       const struct bz_setting_value *v)
{
    switch (row->type) {
    case BZ_SETTING_BOOL:
        bz_jsonw_bool(w, v->number != 0);
        break;
    case BZ_SETTING_SIZE:
        if (v->number < 0) /* a share */
            bz_jsonw_str(w, v->text);
        else
            bz_jsonw_int(w, v->number);
        break;
    case BZ_SETTING_INT:
        bz_jsonw_int(w, v->number);
        break;
    case BZ_SETTING_LIST:
        bz_jsonw_list(w);
        for (size_t i = 0; i < v->n; i++)
            bz_jsonw_str(w, v->items[i]);
        bz_jsonw_list_end(w);
        break;
    case BZ_SETTING_DURATION: /* in seconds */
        bz_jsonw_real(w, (double)v->number / (double)BZ_CLOCK_S);
        break;
    case BZ_SETTING_TEXT:
    case BZ_SETTING_PATH:
    case BZ_SETTING_ENUM:
        bz_jsonw_str(w, v->text);
        break;
    }
}

static void json_setting(struct bz_jsonw *w, const struct bz_settings *s,
                         enum bz_setting_id id)
{
    const struct bz_setting *row = bz_setting_row(id);
    const struct bz_settings_entry *e = &s->at[id];
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct bz_setting_value value = shown(&a, s, id);
    char variable[BZ_SETTING_ENV_MAX];

    bz_jsonw_map(w);
    bz_jsonw_cstr(bz_jsonw_key(w, "name"), row->name);
    bz_jsonw_cstr(bz_jsonw_key(w, "type"), bz_setting_type_name(row->type));
    json_value(bz_jsonw_key(w, "value"), row, &value);
    bz_jsonw_str(bz_jsonw_key(w, "text"), value.text);
    bz_jsonw_map(bz_jsonw_key(w, "origin"));
    bz_jsonw_cstr(bz_jsonw_key(w, "level"), bz_settings_level_name(e->level));
    bz_jsonw_str(bz_jsonw_key(w, "source"), e->source);
    if (e->line > 0)
        bz_jsonw_int(bz_jsonw_key(w, "line"), e->line);
    else
        bz_jsonw_null(bz_jsonw_key(w, "line"));
    bz_jsonw_map_end(w);
    bz_jsonw_cstr(bz_jsonw_key(w, "variable"), bz_setting_env(id, variable));
    bz_jsonw_cstr(bz_jsonw_key(w, "help"), row->help);
    bz_jsonw_map_end(w);
}

static void describe(struct bz_out *out, enum bz_setting_id id)
{
    const struct bz_setting *row = bz_setting_row(id);
    char variable[BZ_SETTING_ENV_MAX];

    bz_out_paint(out, BZ_OUT_BOLD, row->name);
    bz_out_print(out, " (%s", bz_setting_type_name(row->type));
    for (int i = 0; row->choices && row->choices[i]; i++)
        bz_out_print(out, "%s%s", i == 0 ? ": " : ", ", row->choices[i]);
    if (row->initial && *row->initial)
        bz_out_print(out, "; default %s", row->initial);
    bz_out_print(out, ")  %s\n    ", bz_setting_env(id, variable));
    bz_out_wrap(out, 4, 4, row->help);
}

static void show(struct bz_out *out, const struct config_values *v,
                 const struct bz_settings *s, enum bz_setting_id id)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf origin = {0};
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct bz_str text = shown(&a, s, id).text;

    if (v->describe) {
        describe(out, id);
        return;
    }
    if (!v->name)
        bz_out_print(out, "%s =%s", bz_setting_row(id)->name, text.n > 0 ? " " : "");
    if (text.n > 0)
        bz_out_plain(out, text.p, text.n);
    if (v->origin) {
        print_origin(&origin, bz_setting_row(id), &s->at[id]);
        bz_out_print(out, "  # ");
        bz_out_plain(out, bz_buf_text(&origin), origin.len);
    }
    bz_out_print(out, "\n");
}

static int run(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    const struct config_values *v = values;
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_jsonw w = bz_jsonw_to(&text, 2);
    int first = 0, last = BZ_SETTING_COUNT - 1;
    struct bz_settings *s;
    enum bz_setting_id id;
    int rc = bz_cmd_settings_get(env, &s, err);

    if (rc == 0 && v->name) {
        rc = bz_setting_find(bz_str_from(v->name), &id, err);
        if (rc == 0)
            first = last = (int)id;
    }
    if (rc < 0)
        return rc;
    if (v->json && !v->name) {
        bz_jsonw_map(&w);
        bz_jsonw_list(bz_jsonw_key(&w, "settings"));
    }
    for (int i = first; i <= last; i++) {
        if (v->json)
            json_setting(&w, s, (enum bz_setting_id)i);
        else
            show(&env->out, v, s, (enum bz_setting_id)i);
    }
    if (v->json && !v->name) {
        bz_jsonw_list_end(&w);
        bz_jsonw_map_end(&w);
    }
    if (v->json)
        bz_out_print(&env->out, "%s\n", bz_buf_text(&text));
    return BZ_CMD_EXIT_SUCCESS;
}

static const struct bz_cmd_term examples[] = {
    {"bitzel config --show-origin",          "See what is set, and by whom"},
    {"bitzel config cache.dir",              "Print one setting"           },
    {"bitzel config --describe cache.tiers", "See what it is for"          },
    {NULL,                                   NULL                          },
};

const struct bz_cmd bz_cmd_config = {
    .name = "config",
    .summary = "Show the settings, and who set them",
    .detail =
        "Shows what is set, here and now. The last of these that says something "
        "counts: the default, /etc/bitzel/bitzel.conf, "
        "~/.config/bitzel/bitzel.conf, the project's own (conf/bitzel.conf of the "
        "build directory, or bitzel.conf beside the kas file), the environment "
        "(BITZEL_CACHE_DIR for cache.dir), and the command line (--set).",
    .opts = opts,
    .args = args,
    .examples = examples,
    .size = sizeof(struct config_values),
    .run = run,
};
