#include "recipe/runscript.h"

#include "recipe/script.h"
#include "recipe/waymark.h"
#include "vars/history.h"

/* The names that classes call to say something; metadata may define its own. */
static const char preamble[] =
    "#!/bin/sh\n"
    "bbplain() { echo \"$*\"; }\n"
    "bbnote() { echo \"NOTE: $*\"; }\n"
    "bbdebug() { shift; echo \"DEBUG: $*\"; }\n"
    "bbwarn() { echo \"WARNING: $*\"; }\n"
    "bberror() { echo \"ERROR: $*\"; }\n"
    "bbfatal() { echo \"ERROR: $*\"; exit 1; }\n"
    "bbfatal_log() { bbfatal \"$@\"; }\n" BZ_WAYMARK_SHELL "set -e\n";

static int get_flag(struct bz_vars *v, struct bz_str name, const char *flag,
                    struct bz_str *out, struct bz_err *err)
{
    return bz_vars_get_flag(v, name, bz_str_from(flag), 0, out, err);
}

bool bz_runscript_next_dir(struct bz_str *rest, struct bz_str top, struct bz_str *dir)
{
    struct bz_str s = bz_str_trim_start(*rest), part = s, word;

    while (part.n > 0) {
        if (top.n > 0 && bz_str_cut_prefix(&part, top))
            continue;
        word = bz_str_trim_start(part);
        if (word.n < part.n)
            break;
        part = bz_str_drop(part, 1);
    }
    *dir = bz_str_of(s.p, s.n - part.n);
    *rest = part;
    return dir->n > 0;
}

static void add_each(struct bz_buf *out, const char *command, struct bz_str words,
                     struct bz_str top)
{
    struct bz_str word;

    while (bz_runscript_next_dir(&words, top, &word)) {
        bz_buf_addf(out, "%s ", command);
        bz_buf_add_quoted(out, word);
        bz_buf_add_char(out, '\n');
    }
}

/* Looking first takes no process. */
static void add_dirs(struct bz_buf *out, struct bz_str words, struct bz_str top,
                     struct bz_str *last)
{
    struct bz_str word;

    while (bz_runscript_next_dir(&words, top, &word)) {
        bz_buf_addf(out, "test -d ");
        bz_buf_add_quoted(out, word);
        bz_buf_addf(out, " || mkdir -p -- ");
        bz_buf_add_quoted(out, word);
        bz_buf_add_char(out, '\n');
        if (last)
            *last = word;
    }
}

struct blamed {
    struct bz_str flag;
    const char *file;
    uint32_t line;
};

static void remember_place(void *ctx, const struct bz_history_event *e)
{
    struct blamed *b = ctx;

    if (e->file && bz_str_eq(e->flag, b->flag)) {
        b->file = e->file;
        b->line = e->line;
    }
}

int bz_runscript_blame(struct bz_vars *v, struct bz_str name, const char *flag,
                       struct bz_err *err)
{
    struct blamed b = {.flag = bz_str_from(flag)};

    bz_history_each(v, name, remember_place, &b);
    return b.file ? bz_err_wrap(err, "%s:%u", b.file, b.line) : err->code;
}

/* Where it is written, as far as that is known. */
static int refuse_python(struct bz_vars *v, struct bz_str name, struct bz_err *err)
{
    struct bz_str file = {0}, line = {0};
    struct bz_err ignored;

    if (bz_vars_get_flag(v, name, BZ_STR("filename"), BZ_VARS_RAW, &file, &ignored) <
            0 ||
        bz_vars_get_flag(v, name, BZ_STR("lineno"), BZ_VARS_RAW, &line, &ignored) < 0 ||
        file.n == 0)
        return bz_fail(err, BZ_E_NOSUP, "%.*s: " BZ_RUNSCRIPT_PYTHON, BZ_STR_ARG(name));
    return bz_fail(err, BZ_E_NOSUP, "%.*s:%.*s: %.*s: " BZ_RUNSCRIPT_PYTHON,
                   BZ_STR_ARG(file), BZ_STR_ARG(line), BZ_STR_ARG(name));
}

/* One function, or `body` instead of it, in a shell of its own if others come after it:
 * what it sets is not to last. */
static int add_function(struct bz_vars *v, struct bz_str name, struct bz_str body,
                        bool more, struct bz_buf *out, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_str clean = {0}, dirs = {0}, python = {0}, cwd = {0}, top = {0};
    int rc = bz_vars_get(v, BZ_STR("TOPDIR"), 0, &top, err);

    if (rc == 0)
        rc = get_flag(v, name, "cleandirs", &clean, err);
    if (rc == 0)
        rc = get_flag(v, name, "dirs", &dirs, err);
    if (rc == 0)
        rc = get_flag(v, name, "python", &python, err);
    if (rc < 0)
        return rc;
    if (python.n > 0 && !body.p)
        return refuse_python(v, name, err);
    if (more)
        bz_buf_addf(out, "(\n");
    add_each(out, "rm -rf --", clean, top);
    add_dirs(out, clean, top, NULL);
    add_dirs(out, dirs, top, &cwd);
    if (!body.p)
        rc = bz_script_func(v, name, &text, err);
    if (rc == 0 && !body.p)
        rc = bz_waymark_write(v, name, bz_buf_str(&text), out, err);
    if (rc < 0)
        return rc;
    if (cwd.n > 0) {
        bz_buf_addf(out, "cd -- ");
        bz_buf_add_quoted(out, cwd);
        bz_buf_add_char(out, '\n');
    }
    bz_buf_add_str(out, body.p ? body : name);
    bz_buf_addf(out, more ? "\n)\n" : "\n");
    return 0;
}

/* Those that a flag of the task names. */
static int add_functions(struct bz_vars *v, struct bz_str task, const char *flag,
                         struct bz_buf *out, struct bz_err *err)
{
    struct bz_str names = {0}, name;
    int rc = get_flag(v, task, flag, &names, err);

    if (rc < 0)
        return rc;
    while (rc == 0 && bz_str_next_word(&names, &name)) {
        if (!bz_vars_exists(v, name)) {
            (void)bz_fail(err, BZ_E_NOENT,
                          "%.*s[%s] has '%.*s': there is no such function",
                          BZ_STR_ARG(task), flag, BZ_STR_ARG(name));
            return bz_runscript_blame(v, task, flag, err);
        }
        rc = add_function(v, name, bz_str_of(NULL, 0), true, out, err);
    }
    return rc < 0 ? bz_err_wrap(err, "%.*s[%s]", BZ_STR_ARG(task), flag) : 0;
}

int bz_runscript_umask(struct bz_vars *v, struct bz_str task, unsigned *out,
                       struct bz_err *err)
{
    struct bz_str text = {0};
    uint64_t mask = BZ_RUNSCRIPT_UMASK;
    int rc = get_flag(v, task, "umask", &text, err);
    bool own = bz_str_trim(text).n > 0;

    if (rc == 0 && !own)
        rc = bz_vars_get(v, BZ_STR("BB_DEFAULT_UMASK"), 0, &text, err);
    if (rc < 0)
        return rc;
    text = bz_str_trim(text);
    if (text.n > 0 && bz_str_parse_u64(text, 8, 0777, &mask, err) < 0) {
        if (own) {
            (void)bz_fail(err, BZ_E_INVAL, "%.*s[umask] is '%.*s': give it in octal",
                          BZ_STR_ARG(task), BZ_STR_ARG(text));
            return bz_runscript_blame(v, task, "umask", err);
        }
        return bz_fail(err, BZ_E_INVAL, "BB_DEFAULT_UMASK is '%.*s': give it in octal",
                       BZ_STR_ARG(text));
    }
    *out = (unsigned)mask;
    return 0;
}

/* What holds for all functions of the task. */
static int begin(struct bz_vars *v, struct bz_str task, struct bz_buf *out,
                 struct bz_err *err)
{
    struct bz_str temp, top = {0};
    unsigned mask = 0;
    int rc = bz_runscript_umask(v, task, &mask, err);

    bz_buf_addf(out, "%s", preamble);
    if (rc == 0)
        rc = bz_vars_get(v, BZ_STR("T"), 0, &temp, err);
    if (rc == 0)
        rc = bz_vars_get(v, BZ_STR("TOPDIR"), 0, &top, err);
    if (rc < 0)
        return rc;
    if (mask != BZ_RUNSCRIPT_UMASK)
        bz_buf_addf(out, "umask %04o\n", mask);
    add_dirs(out, temp, top, NULL);
    return 0;
}

int bz_runscript_write(struct bz_vars *v, struct bz_str task, struct bz_str body,
                       struct bz_buf *out, struct bz_err *err)
{
    struct bz_str after = {0};
    int rc = begin(v, task, out, err);

    if (rc == 0)
        rc = get_flag(v, task, "postfuncs", &after, err);
    if (rc == 0)
        rc = add_functions(v, task, "prefuncs", out, err);
    if (rc == 0)
        rc = add_function(v, task, body, bz_str_trim(after).n > 0, out, err);
    return rc < 0 ? rc : add_functions(v, task, "postfuncs", out, err);
}

int bz_runscript_before(struct bz_vars *v, struct bz_str task, struct bz_buf *out,
                        struct bz_err *err)
{
    struct bz_str before = {0}, clean = {0}, top = {0};
    int rc = get_flag(v, task, "prefuncs", &before, err);

    if (rc == 0)
        rc = get_flag(v, task, "cleandirs", &clean, err);
    if (rc == 0)
        rc = bz_vars_get(v, BZ_STR("TOPDIR"), 0, &top, err);
    if (rc < 0 || (bz_str_trim(before).n == 0 && bz_str_trim(clean).n == 0))
        return rc;
    rc = begin(v, task, out, err);
    if (rc == 0)
        rc = add_functions(v, task, "prefuncs", out, err);
    add_each(out, "rm -rf --", clean, top);
    add_dirs(out, clean, top, NULL);
    return rc;
}

int bz_runscript_after(struct bz_vars *v, struct bz_str task, struct bz_buf *out,
                       struct bz_err *err)
{
    struct bz_str after = {0};
    int rc = get_flag(v, task, "postfuncs", &after, err);

    if (rc < 0 || bz_str_trim(after).n == 0)
        return rc;
    rc = begin(v, task, out, err);
    return rc < 0 ? rc : add_functions(v, task, "postfuncs", out, err);
}

static const struct bz_vars_at nowhere = {0};

static int set_override(struct bz_vars *v, struct bz_str name, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf value = {0};
    struct bz_str overrides;
    int rc = bz_vars_get(v, BZ_STR("OVERRIDES"), BZ_VARS_RAW, &overrides, err);

    if (rc < 0)
        return rc;
    bz_buf_addf(&value, "task-");
    for (size_t i = 0; i < name.n; i++) { /* an override has no underscore */
        if (name.p[i] == '_')
            bz_buf_add_char(&value, '-');
        else
            bz_buf_add_char(&value, name.p[i]);
    }
    bz_buf_addf(&value, ":%.*s", BZ_STR_ARG(overrides));
    return bz_vars_set(v, BZ_STR("OVERRIDES"), bz_buf_str(&value), 0, &nowhere, err);
}

/* The locale that BitBake asks of a host for itself need not be there; this one is. */
static int set_locale(struct bz_vars *v, struct bz_err *err)
{
    const struct bz_str name = BZ_STR("LC_ALL");
    struct bz_str value;
    int rc = bz_vars_get(v, name, 0, &value, err);

    if (rc < 0 || !bz_str_eq(value, BZ_STR("en_US.UTF-8")))
        return rc;
    return bz_vars_set(v, name, BZ_STR("C.UTF-8"), 0, &nowhere, err);
}

static int set_person(struct bz_vars *v, struct bz_err *err)
{
    static const struct {
        struct bz_str name, value;
    } rows[] = {
        {BZ_STR("HOME"),    BZ_STR("/tmp")   },
        {BZ_STR("SHELL"),   BZ_STR("/bin/sh")},
        {BZ_STR("TERM"),    BZ_STR("dumb")   },
        {BZ_STR("USER"),    BZ_STR("builder")},
        {BZ_STR("LOGNAME"), BZ_STR("builder")},
    };
    int rc = 0;

    for (size_t i = 0; i < BZ_COUNTOF(rows) && rc == 0; i++) {
        rc = bz_vars_set(v, rows[i].name, rows[i].value, 0, &nowhere, err);
        if (rc == 0)
            rc = bz_vars_set_flag(v, rows[i].name, BZ_STR("export"), BZ_STR("1"),
                                  &nowhere, err);
    }
    if (rc == 0 && bz_vars_exists(v, BZ_STR("PWD")))
        rc = bz_vars_del(v, BZ_STR("PWD"), &nowhere, err);
    return rc < 0 ? rc : set_locale(v, err);
}

static int set_path(struct bz_vars *v, struct bz_str own, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_str value;
    size_t at;
    int rc = bz_vars_get(v, BZ_STR("PATH"), 0, &value, err);

    if (rc < 0 || !value.p || own.n == 0)
        return rc;
    at = bz_str_find(value, own);
    if (at == BZ_STR_NONE)
        return 0;
    bz_buf_add(&text, value.p, at);
    bz_buf_addf(&text, "%s", BZ_RUNSCRIPT_PATH);
    bz_buf_add_str(&text, bz_str_drop(value, at + own.n));
    return bz_vars_set(v, BZ_STR("PATH"), bz_buf_str(&text), 0, &nowhere, err);
}

int bz_runscript_enter(struct bz_vars *v, struct bz_str task, struct bz_str path,
                       struct bz_err *err)
{
    struct bz_str name = task;
    int rc;

    bz_str_cut_prefix(&name, BZ_STR("do_"));
    rc = set_override(v, name, err);
    if (rc == 0)
        rc = bz_vars_set(v, BZ_STR("BB_CURRENTTASK"), name, 0, &nowhere, err);
    if (rc == 0)
        rc = set_person(v, err);
    return rc < 0 ? rc : set_path(v, path, err);
}
