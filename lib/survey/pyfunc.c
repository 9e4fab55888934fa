#include "survey/pyfunc.h"

#include <string.h>

#include "recipe/function.h"
#include "vars/history.h"

static void write_line(struct bz_buf *out, const struct bz_pyfunc *f)
{
    if (out->len > 0)
        bz_buf_add_char(out, '\n');
    bz_buf_addf(out, "%c %u %.*s ", (char)f->kind, f->line, BZ_STR_ARG(f->name));
    bz_buf_add_str(out, f->file);
}

static int get(struct bz_meta *m, struct bz_str name, struct bz_str *out,
               struct bz_err *err)
{
    return bz_vars_get(m->vars, name, BZ_VARS_RAW, out, err);
}

static int get_flag(struct bz_meta *m, struct bz_str name, const char *flag,
                    struct bz_str *out, struct bz_err *err)
{
    return bz_vars_get_flag(m->vars, name, bz_str_from(flag), BZ_VARS_RAW, out, err);
}

static bool does_nothing(struct bz_str text)
{
    struct bz_str line;

    if (bz_str_starts(text, BZ_STR("def ")) && !bz_str_next_part(&text, '\n', &line))
        return true;
    while (bz_str_next_part(&text, '\n', &line)) {
        line = bz_str_trim(line);
        if (line.n > 0 && line.p[0] != '#' && !bz_str_eq(line, BZ_STR("pass")))
            return false;
    }
    return true;
}

/* Adds a function with the place where it is defined. */
static int add_function(struct bz_meta *m, enum bz_pyfunc_kind kind, struct bz_str name,
                        struct bz_str text, struct bz_buf *out, struct bz_err *err)
{
    struct bz_pyfunc f = {.kind = kind, .name = name};
    struct bz_str line = {0};
    uint64_t number = 0;
    struct bz_err ignored;
    int rc = get_flag(m, name, "filename", &f.file, err);

    if (rc == 0)
        rc = get_flag(m, name, "lineno", &line, err);
    if (rc < 0)
        return rc;
    if (bz_str_parse_u64(line, 10, UINT32_MAX, &number, &ignored) == 0)
        f.line = (uint32_t)number;
    /* BitBake names the line before a def. */
    if (kind != BZ_PYFUNC_ANONYMOUS && bz_str_starts(text, BZ_STR("def ")))
        f.line++;
    write_line(out, &f);
    return 0;
}

static int add_all(struct bz_meta *m, enum bz_pyfunc_kind kind,
                   const struct bz_meta_names *names, struct bz_buf *out,
                   struct bz_err *err)
{
    int rc = 0;

    for (size_t i = 0; i < names->len && rc == 0; i++) {
        struct bz_str text;

        rc = get(m, names->at[i], &text, err);
        if (rc == 0 && !does_nothing(text))
            rc = add_function(m, kind, names->at[i], text, out, err);
    }
    return rc;
}

int bz_pyfunc_of_config(struct bz_meta *m, struct bz_buf *out, struct bz_err *err)
{
    return add_all(m, BZ_PYFUNC_HANDLER, &m->handlers, out, err);
}

int bz_pyfunc_of_recipe(struct bz_meta *m, struct bz_buf *out, struct bz_err *err)
{
    int rc = bz_pyfunc_of_config(m, out, err);

    return rc < 0 ? rc : add_all(m, BZ_PYFUNC_ANONYMOUS, &m->anonymous, out, err);
}

/* ---- tasks ---- */

/* The statements about one function. */
struct bodies {
    const struct bz_meta_body *last; /* that defines it, or NULL */
    size_t definitions;              /* at different places */
    size_t changes;                  /* statements that change its text */
};

static int name_of(struct bz_meta *m, const struct bz_meta_body *b, struct bz_str *out,
                   struct bz_err *err)
{
    *out = b->name;
    if (bz_str_find_byte(b->name, '$') == BZ_STR_NONE)
        return 0;
    return bz_vars_expand(m->vars, b->name, (struct bz_str){0}, NULL, out, err);
}

/* Adds the statements that change a function, as far as they are in its text: those for
 * other overrides are not. The text is read if it is not given. */
static int add_changes(struct bz_meta *m, struct bz_str function, struct bz_str text,
                       struct bodies *found, struct bz_buf *out, struct bz_err *err)
{
    int rc = 0;

    *found = (struct bodies){0};
    for (size_t i = 0; i < m->bodies.len && rc == 0; i++) {
        const struct bz_meta_body *b = &m->bodies.at[i];
        struct bz_str name, base, rest;
        bool change;

        rc = name_of(m, b, &name, err);
        if (rc < 0)
            break;
        change = bz_str_cut(name, ':', &base, &rest);
        if (!bz_str_eq(base, function))
            continue;
        if (!change) {
            found->definitions += !found->last || found->last->line != b->line ||
                                  strcmp(found->last->file, b->file) != 0;
            found->last = b;
            continue;
        }
        if (!text.p)
            rc = get(m, function, &text, err);
        if (rc == 0 && bz_str_find(text, b->text) != BZ_STR_NONE) {
            found->changes++;
            if (!does_nothing(b->text))
                write_line(out, &(struct bz_pyfunc){BZ_PYFUNC_PLAIN, name,
                                                    bz_str_from(b->file), b->line});
        }
    }
    return rc;
}

/* Adds what is lost of a function if a step of bitzel replaces its first definition. */
static int add_lost(struct bz_meta *m, struct bz_str function, struct bz_str text,
                    struct bz_buf *out, struct bz_err *err)
{
    struct bz_pyfunc f = {.kind = BZ_PYFUNC_PLAIN, .name = function};
    struct bz_history_event event;
    struct bodies found;
    int rc = add_changes(m, function, text, &found, out, err);

    if (rc < 0)
        return rc;
    if (found.definitions > 1) {
        f.file = bz_str_from(found.last->file);
        f.line = found.last->line;
        write_line(out, &f);
    } else if (found.changes == 0 &&
               (!found.last || !bz_str_eq(text, found.last->text))) {
        /* By an assignment. */
        if (bz_history_last(m->vars, function, &event)) {
            f.file = bz_str_from(event.file);
            f.line = event.line;
        }
        write_line(out, &f);
    }
    return 0;
}

/* A function that has to be called, and all statements that change it. */
static int add_called(struct bz_meta *m, struct bz_str function, struct bz_buf *out,
                      struct bz_err *err)
{
    struct bz_str text, called = function;
    struct bodies found;
    int rc = get(m, function, &text, err);

    if (rc == 0 && bz_function_exported(text, &called)) {
        rc = add_changes(m, function, text, &found, out, err);
        if (rc == 0)
            rc = get(m, called, &text, err);
    }
    if (rc == 0)
        rc = add_function(m, BZ_PYFUNC_PLAIN, called, text, out, err);
    return rc < 0 ? rc : add_changes(m, called, text, &found, out, err);
}

static int add_body(struct bz_meta *m, const struct bz_pyfunc_task *task,
                    struct bz_buf *out, struct bz_err *err)
{
    struct bz_str text, called;
    struct bodies found;
    int rc;

    if (task->python && !bz_function_built_in(task->name))
        return add_called(m, task->name, out, err);
    if (!task->python)
        return add_changes(m, task->name, (struct bz_str){0}, &found, out, err);
    rc = get(m, task->name, &text, err);
    if (rc == 0)
        rc = add_lost(m, task->name, text, out, err);
    if (rc < 0 || !bz_function_exported(text, &called))
        return rc;
    rc = get(m, called, &text, err);
    return rc < 0 ? rc : add_lost(m, called, text, out, err);
}

/* Adds those functions of a flag that are in Python. */
static int add_flag(struct bz_meta *m, struct bz_str words, struct bz_buf *out,
                    struct bz_err *err)
{
    struct bz_str word, python;
    int rc = 0;

    if (words.n > 0)
        rc = bz_vars_expand(m->vars, words, (struct bz_str){0}, NULL, &words, err);
    while (rc == 0 && bz_str_next_word(&words, &word)) {
        rc = get_flag(m, word, "python", &python, err);
        if (rc == 0 && python.n > 0)
            rc = add_called(m, word, out, err);
    }
    return rc;
}

int bz_pyfunc_of_task(struct bz_meta *m, const struct bz_pyfunc_task *task,
                      struct bz_buf *out, struct bz_err *err)
{
    int rc = add_flag(m, task->before, out, err);

    if (rc == 0)
        rc = add_body(m, task, out, err);
    return rc < 0 ? rc : add_flag(m, task->after, out, err);
}

/* ---- lists ---- */

static bool read_line(struct bz_str line, struct bz_pyfunc *out)
{
    struct bz_str kind, number;
    uint64_t n;
    struct bz_err err;

    if (!bz_str_cut(line, ' ', &kind, &line) ||
        !bz_str_cut(line, ' ', &number, &line) ||
        !bz_str_cut(line, ' ', &out->name, &out->file) || kind.n != 1 ||
        !strchr("ahf", kind.p[0]) ||
        bz_str_parse_u64(number, 10, UINT32_MAX, &n, &err) < 0)
        return false;
    out->kind = (enum bz_pyfunc_kind)kind.p[0];
    out->line = (uint32_t)n;
    return true;
}

bool bz_pyfunc_next(struct bz_str *list, struct bz_pyfunc *out)
{
    struct bz_str line;

    while (list->n > 0 && bz_str_next_part(list, '\n', &line))
        if (read_line(line, out))
            return true;
    return false;
}

void bz_pyfunc_describe(const struct bz_pyfunc *f, struct bz_buf *out)
{
    if (f->kind == BZ_PYFUNC_ANONYMOUS)
        bz_buf_addf(out, "anonymous function");
    else
        bz_buf_addf(out, "%s %.*s",
                    f->kind == BZ_PYFUNC_HANDLER ? "event handler" : "function",
                    BZ_STR_ARG(f->name));
}

void bz_pyfunc_add(struct bz_pyfunc_set *set, struct bz_str list)
{
    struct bz_pyfunc f;
    struct bz_str line;

    while (list.n > 0 && bz_str_next_part(&list, '\n', &line))
        if (read_line(line, &f) && bz_map_put(&set->seen, line)->u++ == 0)
            BZ_VEC_PUSH(&set->list, f);
}

void bz_pyfunc_release(struct bz_pyfunc_set *set)
{
    bz_map_release(&set->seen);
    bz_vec_release(&set->list);
}
