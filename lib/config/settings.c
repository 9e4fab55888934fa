#include "config/settings.h"

#include <errno.h>

#include "config/conffile.h"
#include "os/path.h"

/* Who says something, and what names in it are relative to. */
struct origin {
    enum bz_settings_level level;
    struct bz_str source;
    unsigned line;
    struct bz_str base;
};

static int assign(struct bz_settings *s, enum bz_setting_id id, struct bz_str text,
                  const struct origin *from, struct bz_err *err)
{
    const struct bz_setting *row = bz_setting_row(id);
    struct bz_settings_entry *e = &s->at[id];
    struct bz_settings_entry next = {
        .place = {from->base, s->home},
        .level = from->level,
        .source = from->source,
        .line = from->line
    };
    bool again = e->level == from->level && e->level != BZ_SETTINGS_DEFAULT &&
                 bz_str_eq(e->source, from->source) && from->line > 0;
    int rc;

    if (again && row->type != BZ_SETTING_LIST)
        return bz_fail(err, BZ_E_INVAL, "%s is set already, in line %u", row->name,
                       e->line);
    if (again)
        text = BZ_ARENA_CONCAT(&s->arena, e->value.text, BZ_STR("; "), text);
    rc = bz_setting_value_parse(&s->arena, row, text, &next.place, &next.value, err);
    if (rc < 0)
        return bz_err_wrap(err, "%s", row->name);
    if (again)
        next.line = e->line;
    *e = next;
    return 0;
}

static int set_defaults(struct bz_settings *s, const char *const *env,
                        struct bz_err *err)
{
    const struct origin from = {.level = BZ_SETTINGS_DEFAULT, .base = s->cwd};
    int rc = 0;

    for (int i = 0; rc == 0 && i < BZ_SETTING_COUNT; i++) {
        const struct bz_setting *row = bz_setting_row((enum bz_setting_id)i);
        struct bz_str text;

        if (!row->in_home) {
            rc =
                assign(s, (enum bz_setting_id)i, bz_str_from(row->initial), &from, err);
            continue;
        }
        /* Without a home it stays empty, and whoever needs it says so. */
        text = bz_xdg_dir(&s->arena, env, row->home);
        s->at[i].value.text = BZ_STR("");
        if (text.n > 0)
            rc = assign(s, (enum bz_setting_id)i, text, &from, err);
    }
    return rc;
}

struct reading {
    struct bz_settings *s;
    struct origin from;
};

static int on_line(void *ctx, const struct bz_conffile_line *line, struct bz_err *err)
{
    struct reading *r = ctx;
    enum bz_setting_id id;
    int rc = bz_setting_find(line->name, &id, err);

    r->from.line = line->number;
    return rc < 0 ? rc : assign(r->s, id, line->value, &r->from, err);
}

static int read_file(struct bz_settings *s, const char *path,
                     enum bz_settings_level level, struct bz_err *err)
{
    struct reading r = {s, {.level = level}};
    struct bz_path dir;
    int rc;

    if (!path)
        return 0;
    r.from.source = bz_arena_dup(&s->arena, bz_str_from(path));
    rc = bz_path_join(s->cwd, bz_path_dirname(r.from.source), &dir, err);
    if (rc < 0)
        return rc;
    r.from.base = bz_arena_dup(&s->arena, bz_path_str(&dir));
    rc = bz_conffile_read(path, on_line, &r, err);
    if (rc < 0 && r.from.line == 0 && (err->sys == ENOENT || err->sys == ENOTDIR))
        return 0;
    /* A wrong name in a file is a mistake, not a query without an answer. */
    if (rc == BZ_E_NOENT)
        err->code = rc = BZ_E_INVAL;
    return rc;
}

static int read_project(struct bz_settings *s, const struct bz_settings_opts *opts,
                        struct bz_err *err)
{
    struct bz_settings_entry before[BZ_SETTING_COUNT];
    int rc;

    memcpy(before, s->at, sizeof(before));
    rc = read_file(s, opts->project, BZ_SETTINGS_OF_PROJECT, err);
    for (int i = 0; rc == 0 && opts->guard && i < BZ_SETTING_COUNT; i++) {
        struct bz_settings_entry *e = &s->at[i];
        struct bz_err why;

        if (e->level != BZ_SETTINGS_OF_PROJECT ||
            opts->guard(before, (enum bz_setting_id)i, e, &why) == 0)
            continue;
        s->note[i] = bz_arena_printf(
            &s->arena, "%.*s:%u: %s: %s", BZ_STR_ARG(e->source), e->line,
            bz_setting_row((enum bz_setting_id)i)->name, why.msg);
        *e = before[i];
    }
    return rc;
}

static int read_env(struct bz_settings *s, const char *const *env, struct bz_err *err)
{
    for (int i = 0; i < BZ_SETTING_COUNT; i++) {
        enum bz_setting_id id = (enum bz_setting_id)i;
        char name[BZ_SETTING_ENV_MAX];
        const char *text = bz_xdg_getenv(env, bz_str_from(bz_setting_env(id, name)));
        struct origin from = {.level = BZ_SETTINGS_OF_ENV, .base = s->cwd};
        int rc;

        if (!text || (!*text && bz_setting_row(id)->type != BZ_SETTING_LIST))
            continue;
        from.source = bz_arena_dup(&s->arena, bz_str_from(name));
        rc = assign(s, id, bz_str_from(text), &from, err);
        if (rc < 0)
            return bz_err_wrap(err, "%s", name);
    }
    return 0;
}

int bz_settings_set(struct bz_settings *s, enum bz_setting_id id, const char *text,
                    const char *source, struct bz_err *err)
{
    struct origin from = {.level = BZ_SETTINGS_OF_LINE, .base = s->cwd};

    from.source = bz_arena_dup(&s->arena, bz_str_from(source));
    if (assign(s, id, bz_str_trim(bz_str_from(text)), &from, err) < 0)
        return bz_err_wrap(err, "%s", source);
    return 0;
}

static int read_line(struct bz_settings *s, const char *word, struct bz_err *err)
{
    struct bz_str name, value;
    enum bz_setting_id id;
    int rc;

    if (!bz_str_cut(bz_str_from(word), '=', &name, &value))
        return bz_fail(err, BZ_E_INVAL, "--set %.200s: expected NAME=VALUE", word);
    rc = bz_setting_find(bz_str_trim(name), &id, err);
    if (rc < 0) {
        (void)bz_err_wrap(err, "--set");
        return err->code = BZ_E_INVAL;
    }
    return bz_settings_set(s, id, value.p, "--set", err);
}

int bz_settings_load(const struct bz_settings_opts *opts, struct bz_settings *out,
                     struct bz_err *err)
{
    const char *home = bz_xdg_home(opts->env);
    struct bz_str user;
    int rc;

    *out = (struct bz_settings){0};
    out->cwd = bz_arena_dup(&out->arena, bz_str_from(opts->cwd));
    if (home)
        out->home = bz_arena_dup(&out->arena, bz_str_from(home));
    user = bz_xdg_dir(&out->arena, opts->env, BZ_XDG_CONFIG);
    if (user.n > 0)
        user = BZ_ARENA_CONCAT(&out->arena, user, BZ_STR("/bitzel.conf"));
    rc = set_defaults(out, opts->env, err);
    if (rc == 0)
        rc = read_file(out, opts->system, BZ_SETTINGS_OF_SYSTEM, err);
    if (rc == 0)
        rc = read_file(out, user.n > 0 ? user.p : NULL, BZ_SETTINGS_OF_USER, err);
    if (rc == 0)
        rc = read_project(out, opts, err);
    if (rc == 0)
        rc = read_env(out, opts->env, err);
    for (size_t i = 0; rc == 0 && i < opts->nline; i++)
        rc = read_line(out, opts->line[i], err);
    return rc;
}

void bz_settings_release(struct bz_settings *s)
{
    bz_arena_release(&s->arena);
    *s = (struct bz_settings){0};
}

const char *bz_settings_level_name(enum bz_settings_level level)
{
    static const char *const names[] = {
        [BZ_SETTINGS_DEFAULT] = "default",    [BZ_SETTINGS_OF_SYSTEM] = "system",
        [BZ_SETTINGS_OF_USER] = "user",       [BZ_SETTINGS_OF_PROJECT] = "project",
        [BZ_SETTINGS_OF_ENV] = "environment", [BZ_SETTINGS_OF_LINE] = "command line",
    };

    return names[level];
}
