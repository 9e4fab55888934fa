#include "recipe/waymark.h"

#include "code/sh_marks.h"
#include "vars/history.h"

static uint32_t count_lines(struct bz_str text)
{
    uint32_t n = 0;

    for (size_t i = 0; i < text.n; i++)
        n += text.p[i] == '\n';
    return n;
}

/* A text that was only ever set is that of the last place. */
static void note_event(void *ctx, const struct bz_history_event *e)
{
    bool *exact = ctx;

    if (e->flag.n == 0 && !bz_str_eq(e->op, BZ_STR("set")))
        *exact = false;
}

struct origin {
    struct bz_str file;
    uint32_t line; /* 0: not known */
    bool exact;    /* the lines that follow it are those of the text */
};

static int find_origin(struct bz_vars *v, struct bz_str name, struct origin *o,
                       struct bz_err *err)
{
    struct bz_str line = {0}, raw = {0}, text = {0};
    struct bz_err ignored;
    uint64_t number;
    int rc = bz_vars_get_flag(v, name, BZ_STR("lineno"), BZ_VARS_RAW, &line, err);

    *o = (struct origin){0};
    if (rc == 0)
        rc = bz_vars_get_flag(v, name, BZ_STR("filename"), BZ_VARS_RAW, &o->file, err);
    if (rc == 0)
        rc = bz_vars_get(v, name, BZ_VARS_RAW, &raw, err);
    if (rc == 0)
        rc = bz_vars_get(v, name, 0, &text, err);
    if (rc < 0 || o->file.n == 0 ||
        bz_str_parse_u64(line, 10, UINT32_MAX, &number, &ignored) < 0)
        return rc;
    o->line = (uint32_t)number;
    o->exact = count_lines(raw) == count_lines(text);
    bz_history_each(v, name, note_event, &o->exact);
    return 0;
}

/* Sets bz_where for the lines of a function. */
static void add_place(struct bz_buf *out, const struct bz_sh_marks_func *f,
                      uint32_t before, const struct origin *o)
{
    bz_buf_addf(out, "    [ \"$1\" -lt %u ] || [ \"$1\" -gt %u ] || bz_where=",
                before + f->first, before + f->last);
    bz_buf_add_quoted(out, f->name);
    if (o->line > 0) {
        bz_buf_addf(out, "%s", o->exact ? "', '" : "', of '");
        bz_buf_add_quoted(out, o->file);
        bz_buf_add_char(out, ':');
    }
    if (o->line > 0 && o->exact)
        bz_buf_addf(out, "$(($1 - %u + %u))", before + f->first, o->line);
    else if (o->line > 0)
        bz_buf_addf(out, "%u", o->line);
    bz_buf_add_char(out, '\n');
}

static int add_places(struct bz_vars *v, const struct bz_sh_marks *m, uint32_t before,
                      struct bz_buf *out, struct bz_err *err)
{
    int rc = 0;

    bz_buf_addf(out, "bz_place() {\n    :\n");
    for (size_t i = 0; i < m->funcs.len && rc == 0; i++) {
        struct origin o;

        rc = find_origin(v, m->funcs.at[i].name, &o, err);
        if (rc == 0)
            add_place(out, &m->funcs.at[i], before, &o);
    }
    bz_buf_addf(out, "}\n");
    return rc;
}

static void add_marked(struct bz_str text, const struct bz_bitset *lines,
                       uint32_t before, struct bz_buf *out)
{
    struct bz_str line;

    for (uint32_t n = 1; text.n > 0 && bz_str_next_part(&text, '\n', &line); n++) {
        if (bz_bitset_test(lines, n))
            bz_buf_addf(out, "bz_at=%u;", before + n);
        bz_buf_add_str(out, line);
        bz_buf_add_char(out, '\n');
    }
}

int bz_waymark_write(struct bz_vars *v, struct bz_str name, struct bz_str functions,
                     struct bz_buf *out, struct bz_err *err)
{
    BZ_CLEANUP(bz_sh_marks_release) struct bz_sh_marks marks;
    uint32_t before = count_lines(bz_buf_str(out));
    struct bz_err ignored;
    struct origin o;
    int rc = find_origin(v, name, &o, err);

    /* What is not understood is run as it is. */
    if (bz_sh_marks_find(functions, &marks, &ignored) < 0) {
        bz_bitset_zero(&marks.lines);
        BZ_VEC_CLEAR(&marks.funcs);
    }
    add_marked(functions, &marks.lines, before, out);
    if (rc == 0)
        rc = add_places(v, &marks, before, out, err);
    if (rc < 0)
        return rc;
    bz_buf_addf(out, "bz_line= bz_where=");
    bz_buf_add_quoted(out, name);
    if (o.line > 0) {
        bz_buf_addf(out, "', of '");
        bz_buf_add_quoted(out, o.file);
        bz_buf_addf(out, ":%u", o.line);
    }
    bz_buf_addf(out, "\ntrap bz_ended 0\n");
    return 0;
}
