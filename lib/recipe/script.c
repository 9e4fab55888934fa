#include "recipe/script.h"

#include "base/vec.h"
#include "code/sh_execs.h"
#include "vars/history.h"

struct facts {
    bool func, python, exported, unexported;
};

/* True unless it is not set or empty, whatever it says. */
static int has_flag(struct bz_vars *v, struct bz_str name, const char *flag, bool *has,
                    struct bz_err *err)
{
    struct bz_str text;
    int rc = bz_vars_get_flag(v, name, bz_str_from(flag), BZ_VARS_RAW, &text, err);

    *has = rc == 0 && text.n > 0;
    return rc;
}

static int read_facts(struct bz_vars *v, struct bz_str name, struct facts *f,
                      struct bz_err *err)
{
    int rc = has_flag(v, name, "func", &f->func, err);

    if (rc == 0)
        rc = has_flag(v, name, "python", &f->python, err);
    if (rc == 0)
        rc = bz_vars_flag_true(v, name, BZ_STR("export"), &f->exported, err);
    if (rc == 0)
        rc = bz_vars_flag_true(v, name, BZ_STR("unexport"), &f->unexported, err);
    return rc;
}

/* ---- one variable ---- */

static void add_quoted(struct bz_buf *out, struct bz_str value)
{
    for (size_t i = 0; i < value.n; i++) {
        char c = value.p[i];

        if (c == '\n')
            bz_buf_add_char(out, ' ');
        if (c == '"' || c == '`' || c == '$' || c == '\n')
            bz_buf_add_char(out, '\\');
        bz_buf_add_char(out, c);
    }
}

/* A function of bash that came in through the environment as BASH_FUNC_name%%. */
static void add_bash_func(struct bz_buf *out, struct bz_str name, struct bz_str value)
{
    name = name.n < 12 ? BZ_STR("") : bz_str_sub(name, 10, name.n - 2);
    value = value.n < 3 ? BZ_STR("") : bz_str_sub(value, 3, value.n); /* "() " */
    bz_buf_addf(out, "%.*s() ", BZ_STR_ARG(name));
    bz_buf_add_str(out, value);
    bz_buf_addf(out, "\nexport -f %.*s\n", BZ_STR_ARG(name));
}

static int add_function(struct bz_vars *v, struct bz_str name, struct bz_str shown,
                        struct bz_str body, struct bz_buf *out, struct bz_err *err)
{
    struct bz_str line = {0}, file = {0};
    int rc = bz_vars_get_flag(v, name, BZ_STR("lineno"), BZ_VARS_RAW, &line, err);

    if (rc == 0)
        rc = bz_vars_get_flag(v, name, BZ_STR("filename"), BZ_VARS_RAW, &file, err);
    if (rc < 0)
        return rc;
    while (body.n > 0 && body.p[body.n - 1] == '\n')
        body.n--;
    bz_buf_addf(out, "# line: %.*s, file: %.*s\n",
                BZ_STR_ARG(line.p ? line : BZ_STR("None")),
                BZ_STR_ARG(file.p ? file : BZ_STR("None")));
    bz_buf_addf(out, "%.*s() {\n", BZ_STR_ARG(shown));
    bz_buf_add_str(out, body);
    bz_buf_addf(out, "\n}\n");
    return 0;
}

/* What no shell takes for the name of a variable. */
static bool is_odd(struct bz_str name)
{
    for (size_t i = 0; i < name.n; i++)
        if (name.p[i] == '-' || name.p[i] == '.' || name.p[i] == '{' ||
            name.p[i] == '}' || name.p[i] == '+')
            return true;
    return false;
}

static int add_var(struct bz_vars *v, struct bz_str name, const struct facts *f,
                   struct bz_buf *out, bool *function, struct bz_err *err)
{
    struct bz_str shown = {0}, value = {0};
    int rc = bz_vars_get(v, name, 0, &value, err);

    if (rc == 0)
        rc = bz_vars_expand(v, name, (struct bz_str){0}, NULL, &shown, err);
    if (rc < 0)
        return rc;
    if (f->unexported) {
        bz_buf_addf(out, "unset %.*s\n", BZ_STR_ARG(shown));
        return 0;
    }
    if (!value.p)
        return 0;
    *function = f->func || bz_str_starts(shown, BZ_STR("BASH_FUNC_"));
    if (bz_str_starts(shown, BZ_STR("BASH_FUNC_"))) {
        add_bash_func(out, shown, value);
        return 0;
    }
    if (f->func)
        return add_function(v, name, shown, value, out, err);
    bz_buf_addf(out, "%s%.*s=\"", f->exported ? "export " : "", BZ_STR_ARG(shown));
    add_quoted(out, value);
    bz_buf_addf(out, "\"\n");
    return 0;
}

int bz_script_var(struct bz_vars *v, struct bz_str name, unsigned how,
                  struct bz_buf *out, bool *function, struct bz_err *err)
{
    bool all = (how & BZ_SCRIPT_ALL) != 0;
    struct facts f = {0};
    int rc = read_facts(v, name, &f, err);

    *function = false;
    if (rc < 0 || (f.func && f.python))
        return rc;
    if (!all && ((!f.exported && !f.unexported && !f.func) || is_odd(name)))
        return 0;
    if (all)
        rc = bz_history_write(v, name, out, err);
    return rc < 0 ? rc : add_var(v, name, &f, out, function, err);
}

/* ---- all of them ---- */

struct names BZ_VEC(struct bz_str);

/* Copies, since the store's own list does not last: functions or the others, without
 * those that are nobody's business. */
static int pick_names(struct bz_vars *v, bool functions, struct names *out,
                      struct bz_err *err)
{
    const struct bz_str *names;
    size_t n;
    int rc = bz_vars_names(v, &names, &n, err);

    for (size_t i = 0; rc == 0 && i < n; i++) {
        bool func;

        if (bz_str_starts(names[i], BZ_STR("__")))
            continue;
        rc = has_flag(v, names[i], "func", &func, err);
        if (rc == 0 && func == functions)
            BZ_VEC_PUSH(out, names[i]);
    }
    return rc;
}

/* One line, whatever the message has in it. */
static void add_reason(struct bz_buf *out, struct bz_str name, const struct bz_err *err)
{
    size_t from = out->len;

    bz_buf_addf(out, "# %.*s has no value here: %s", BZ_STR_ARG(name), err->msg);
    for (size_t i = from; i < out->len; i++)
        if (out->data[i] == '\n')
            out->data[i] = ' ';
    bz_buf_add_char(out, '\n');
}

int bz_script_env(struct bz_vars *v, struct bz_buf *out, size_t *missing,
                  struct bz_err *err)
{
    *missing = 0;
    for (int functions = 0; functions < 2; functions++) {
        BZ_CLEANUP(bz_vec_release) struct names names = {0};
        int rc = pick_names(v, functions != 0, &names, err);

        if (rc < 0)
            return rc;
        for (size_t i = 0; i < names.len; i++) {
            bool function = false;

            rc = bz_script_var(v, names.at[i], functions ? 0 : BZ_SCRIPT_ALL, out,
                               &function, err);
            if (rc < 0) {
                add_reason(out, names.at[i], err);
                ++*missing;
            } else if (function) {
                bz_buf_add_char(out, '\n');
            }
        }
    }
    return 0;
}

int bz_script_pythons(struct bz_vars *v, struct bz_buf *out, struct bz_err *err)
{
    const struct bz_str *names;
    size_t n;
    int rc = bz_vars_names(v, &names, &n, err);

    for (size_t i = 0; rc == 0 && i < n; i++) {
        bool func, python = false;
        struct bz_str text;

        rc = has_flag(v, names[i], "func", &func, err);
        if (rc == 0 && func)
            rc = has_flag(v, names[i], "python", &python, err);
        if (rc < 0 || !python)
            continue;
        rc = bz_vars_get(v, names[i], BZ_VARS_RAW, &text, err);
        if (rc < 0)
            break;
        bz_buf_addf(out, "\npython %.*s () {\n", BZ_STR_ARG(names[i]));
        bz_buf_add_str(out, text.p ? text : BZ_STR("None"));
        bz_buf_addf(out, "}\n\n");
    }
    return rc;
}

/* ---- one task ---- */

/* Those that may be exported, or the contrary: what a flag says once it is expanded is
 * asked for these alone, since most variables have none. Functions are no such. */
static int pick_exports(struct bz_vars *v, struct names *out, struct bz_err *err)
{
    const struct bz_str *names;
    size_t n;
    int rc = bz_vars_names(v, &names, &n, err);

    for (size_t i = 0; rc == 0 && i < n; i++) {
        bool wanted, func = false;

        if (bz_str_starts(names[i], BZ_STR("__")))
            continue;
        rc = has_flag(v, names[i], "export", &wanted, err);
        if (rc == 0 && !wanted)
            rc = has_flag(v, names[i], "unexport", &wanted, err);
        if (rc == 0 && wanted)
            rc = has_flag(v, names[i], "func", &func, err);
        if (rc == 0 && wanted && !func)
            BZ_VEC_PUSH(out, names[i]);
    }
    return rc;
}

/* The exported ones. BitBake leaves a variable out that fails to expand, with a
 * comment; but what is not known here may well be known to BitBake, so that is a
 * failure. */
static int add_exports(struct bz_vars *v, struct bz_buf *out, struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct names names = {0};
    int rc = pick_exports(v, &names, err);

    for (size_t i = 0; rc == 0 && i < names.len; i++) {
        bool function = false;

        rc = bz_script_var(v, names.at[i], 0, out, &function, err);
        if (rc != BZ_E_INVAL)
            continue;
        add_reason(out, names.at[i], err);
        rc = 0;
    }
    return rc;
}

/* Adds the names that a function calls and has as [vardeps]. */
static int add_calls(struct bz_vars *v, struct bz_str name, struct bz_refs *calls,
                     struct bz_err *err)
{
    struct bz_str body, deps, word;
    int rc = bz_vars_get(v, name, 0, &body, err);

    if (rc == 0 && !body.p)
        return bz_fail(err, BZ_E_NOENT, "function %.*s has no text", BZ_STR_ARG(name));
    if (rc == 0)
        rc = bz_sh_execs_find(body, calls, err);
    if (rc < 0)
        return bz_err_wrap(err, "function %.*s", BZ_STR_ARG(name));
    rc = bz_vars_get_flag(v, name, BZ_STR("vardeps"), 0, &deps, err);
    while (rc == 0 && bz_str_next_word(&deps, &word))
        bz_refs_exec(calls, word);
    return rc;
}

static int by_bytes(const void *a, const void *b)
{
    return bz_str_cmp(*(const struct bz_str *)a, *(const struct bz_str *)b);
}

/* Writes a function; a variable that is none, or one in Python, is left alone. */
static int add_callee(struct bz_vars *v, struct bz_str name, struct bz_refs *calls,
                      struct bz_buf *out, struct bz_err *err)
{
    struct facts f = {0};
    bool function = false;
    int rc = read_facts(v, name, &f, err);

    if (rc < 0 || !f.func || f.python)
        return rc;
    rc = bz_script_var(v, name, 0, out, &function, err);
    if (rc == 0 && function)
        bz_buf_add_char(out, '\n');
    return rc < 0 ? rc : add_calls(v, name, calls, err);
}

/* Goes on until no function calls another that has not been seen: those that are called
 * by the ones before come next, sorted. */
static int add_callees(struct bz_vars *v, struct bz_refs *calls, struct bz_buf *out,
                       struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct names next = {0};
    uint32_t seen = 0;
    int rc = 0;

    while (rc == 0 && seen < calls->execs.len) {
        BZ_VEC_CLEAR(&next);
        for (; seen < calls->execs.len; seen++)
            BZ_VEC_PUSH(&next, calls->execs.entries[seen].key);
        BZ_VEC_SORT(&next, by_bytes);
        for (size_t i = 0; rc == 0 && i < next.len; i++)
            rc = add_callee(v, next.at[i], calls, out, err);
    }
    return rc;
}

int bz_script_func(struct bz_vars *v, struct bz_str name, struct bz_buf *out,
                   struct bz_err *err)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    BZ_CLEANUP(bz_refs_release) struct bz_refs calls;
    bool function = false;
    int rc = add_exports(v, out, err);

    bz_refs_init(&calls, &arena);
    bz_buf_add_char(out, '\n');
    if (rc == 0)
        rc = bz_script_var(v, name, 0, out, &function, err);
    if (rc == 0 && function)
        bz_buf_add_char(out, '\n');
    if (rc == 0)
        rc = add_calls(v, name, &calls, err);
    return rc < 0 ? rc : add_callees(v, &calls, out, err);
}
