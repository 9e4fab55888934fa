#include "recipe/function.h"

#include <string.h>

#include "base/buf.h"
#include "os/path.h"

/* In a function that EXPORT_FUNCTIONS made: a later class may replace it. */
#define MARK "    # Export function set\n"
#define CALL "    bb.build.exec_func('"

static const struct bz_str built_in[] = {
    BZ_STR("do_fetch"),
    BZ_STR("do_unpack"),
    BZ_STR("do_patch"),
};

static int set_flag(struct bz_eval *e, struct bz_str name, const char *flag,
                    struct bz_str value, struct bz_err *err)
{
    return bz_vars_set_flag(e->meta->vars, name, bz_str_from(flag), value, NULL, err);
}

static int get_flag(struct bz_eval *e, struct bz_str name, const char *flag,
                    struct bz_str *out, struct bz_err *err)
{
    return bz_vars_get_flag(e->meta->vars, name, bz_str_from(flag), BZ_VARS_RAW, out,
                            err);
}

/* filename and lineno, the latter that of the line with the opening brace. */
static int set_place(struct bz_eval *e, struct bz_str name, const char *file,
                     uint32_t line, struct bz_err *err)
{
    char digits[10]; /* printf would take longer than all the rest */
    size_t at = sizeof(digits);
    int rc = set_flag(e, name, "filename", bz_str_from(file), err);

    do {
        digits[--at] = (char)('0' + line % 10);
        line /= 10;
    } while (line > 0);
    if (rc == 0)
        rc = set_flag(e, name, "lineno", bz_str_of(digits + at, sizeof(digits) - at),
                      err);
    return rc;
}

static int set_text(struct bz_eval *e, struct bz_str name, struct bz_str text,
                    struct bz_err *err)
{
    struct bz_vars_at at = bz_eval_at(e, NULL);

    return bz_vars_set(e->meta->vars, name, text, BZ_VARS_SET_PARSING, &at, err);
}

/* Keeps a statement about a function if function.h says so. */
static void note_body(struct bz_eval *e, const struct bz_meta_body *body, bool python)
{
    struct bz_str base, rest;
    bool keep = bz_str_cut(body->name, ':', &base, &rest) && python;

    for (size_t i = 0; i < BZ_COUNTOF(built_in) && !keep; i++)
        keep = bz_str_ends(base, built_in[i]);
    if (keep)
        BZ_VEC_PUSH(&e->meta->bodies, *body);
}

/* BitBake's name for an anonymous function: line and file, made an identifier.
 */
static struct bz_str anonymous_name(struct bz_eval *e, const struct bz_ast_stmt *s)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf name = {0};

    bz_buf_addf(&name, "__anon_%u_", s->end_line);
    for (const char *c = e->top->path; *c; c++) {
        char safe = *c;

        if (strchr("/.+-@%&~", safe))
            safe = '_';
        bz_buf_add_char(&name, safe);
    }
    return bz_arena_dup(&e->meta->arena, bz_buf_str(&name));
}

static int define(struct bz_eval *e, const struct bz_ast_stmt *s, struct bz_str name,
                  struct bz_str text, bool python, struct bz_err *err)
{
    struct bz_vars *v = e->meta->vars;
    struct bz_str old;
    int rc = bz_vars_get(v, name, BZ_VARS_RAW, &old, err);

    if (rc == 0 && old.n > 0) {
        bz_vars_del_flag(v, name, BZ_STR("python"), NULL);
        bz_vars_del_flag(v, name, BZ_STR("fakeroot"), NULL);
    }
    if (rc == 0 && python)
        rc = set_flag(e, name, "python", BZ_STR("1"), err);
    if (rc == 0 && s->fakeroot)
        rc = set_flag(e, name, "fakeroot", BZ_STR("1"), err);
    if (rc == 0)
        rc = set_flag(e, name, "func", BZ_STR("1"), err);
    if (rc == 0)
        rc = set_text(e, name, text, err);
    if (rc == 0)
        rc = set_place(e, name, e->top->path, s->line, err);
    return rc;
}

bool bz_function_built_in(struct bz_str task)
{
    for (size_t i = 0; i < BZ_COUNTOF(built_in); i++)
        if (bz_str_eq(task, built_in[i]))
            return true;
    return false;
}

int bz_function_define(struct bz_eval *e, const struct bz_ast_stmt *s,
                       struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_str name;

    if (s->name.p && !bz_str_eq(s->name, BZ_STR("__anonymous"))) {
        note_body(e, &(struct bz_meta_body){s->name, s->text, e->top->path, s->line},
                  s->python);
        return define(e, s, s->name, s->text, s->python, err);
    }
    name = anonymous_name(e, s);
    BZ_VEC_PUSH(&e->meta->anonymous, name);
    bz_buf_addf(&text, "def %.*s(d):\n", BZ_STR_ARG(name));
    bz_buf_add_str(&text, s->text);
    return define(e, s, name, bz_buf_str(&text), true, err);
}

int bz_function_def(struct bz_eval *e, const struct bz_ast_stmt *s, struct bz_err *err)
{
    int rc = set_flag(e, s->name, "func", BZ_STR("1"), err);

    if (rc == 0)
        rc = set_flag(e, s->name, "python", BZ_STR("1"), err);
    if (rc == 0)
        rc = set_text(e, s->name, s->text, err);
    if (rc == 0)
        rc = set_place(e, s->name, e->top->path, s->line - 1, err);
    return rc;
}

/* Copies a flag from one function to another if it is set there. */
static int copy_flag(struct bz_eval *e, struct bz_str from, struct bz_str to,
                     const char *flag, struct bz_err *err)
{
    struct bz_str value;
    int rc = get_flag(e, from, flag, &value, err);

    if (rc < 0 || value.n == 0)
        return rc;
    return set_flag(e, to, flag, value, err);
}

/* The text of an exported function. */
static int export_text(struct bz_eval *e, struct bz_str name, struct bz_str called,
                       struct bz_str cls, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_str python;
    int rc = get_flag(e, called, "python", &python, err);

    if (rc < 0)
        return rc;
    if (python.n == 0 && bz_str_find_byte(cls, '-') != BZ_STR_NONE)
        return bz_fail(err, BZ_E_INVAL,
                       "EXPORT_FUNCTIONS of class %.*s: a shell function's name cannot "
                       "contain a dash; rename the class",
                       BZ_STR_ARG(cls));
    if (python.n > 0)
        bz_buf_addf(&text, MARK CALL "%.*s', d)\n", BZ_STR_ARG(called));
    else
        bz_buf_addf(&text, MARK "    %.*s\n", BZ_STR_ARG(called));
    if (bz_function_built_in(name)) {
        struct bz_vars_at at = bz_eval_at(e, NULL);
        struct bz_str kept = bz_arena_dup(&e->meta->arena, bz_buf_str(&text));

        note_body(e, &(struct bz_meta_body){name, kept, at.file, at.line}, false);
    }
    return set_text(e, name, bz_buf_str(&text), err);
}

bool bz_function_exported(struct bz_str text, struct bz_str *called)
{
    struct bz_str rest;
    size_t at = bz_str_find(text, BZ_STR(MARK CALL));

    if (at == BZ_STR_NONE)
        return false;
    text = bz_str_drop(text, at + strlen(MARK CALL));
    return bz_str_cut(text, '\'', called, &rest);
}

static int export_one(struct bz_eval *e, struct bz_str name, struct bz_str cls,
                      struct bz_err *err)
{
    static const char *const back[] = {"dirs", "cleandirs", "fakeroot"};
    BZ_CLEANUP(bz_buf_release) struct bz_buf buf = {0};
    struct bz_vars *v = e->meta->vars;
    struct bz_str called, old;
    int rc = bz_vars_get(v, name, BZ_VARS_RAW, &old, err);

    if (rc < 0 || (old.n > 0 && bz_str_find(old, BZ_STR(MARK)) == BZ_STR_NONE))
        return rc;
    bz_buf_addf(&buf, "%.*s_%.*s", BZ_STR_ARG(cls), BZ_STR_ARG(name));
    called = bz_buf_str(&buf);
    /* The flags stay, with nothing in them: BitBake lists them all the same. */
    if (old.n > 0)
        rc = set_flag(e, name, "python", (struct bz_str){0}, err);
    if (rc == 0 && old.n > 0)
        rc = set_flag(e, name, "func", (struct bz_str){0}, err);
    if (rc == 0)
        rc = copy_flag(e, called, name, "func", err);
    if (rc == 0)
        rc = copy_flag(e, called, name, "python", err);
    for (size_t i = 0; i < BZ_COUNTOF(back) && rc == 0; i++)
        rc = copy_flag(e, name, called, back[i], err);
    if (rc == 0)
        rc = set_place(e, name, "autogenerated", 1, err);
    return rc < 0 ? rc : export_text(e, name, called, cls, err);
}

int bz_function_export(struct bz_eval *e, const struct bz_ast_stmt *s,
                       struct bz_err *err)
{
    struct bz_str cls = bz_path_basename(bz_str_from(e->top->path));
    struct bz_str names = s->text, word;
    int rc = 0;

    if (!bz_str_cut_suffix(&cls, BZ_STR(".bbclass")))
        cls = BZ_STR("");
    while (rc == 0 && bz_str_next_word(&names, &word))
        rc = export_one(e, word, cls, err);
    return rc;
}
