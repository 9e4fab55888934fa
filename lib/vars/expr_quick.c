#include "vars/expr_quick.h"

#include "vars/expr_bb.h"
#include "vars/refs.h"
#include "vars/vars.h"

struct question {
    bool any;
    struct bz_str text[4]; /* variable, words, this, that */
};

static const char *skip_blanks(const char *p, const char *end)
{
    while (p < end && *p == ' ')
        p++;
    return p;
}

/* The plain string at p, and what is after it; NULL if there is none. */
static const char *read_text(const char *p, const char *end, struct bz_str *out)
{
    const char *start = p + 1;

    if (p == end || (*p != '\'' && *p != '"'))
        return NULL;
    for (p = start; p < end && *p != start[-1]; p++) {
        if (*p == '\\' || *p == '\n' || *p == '\r' || *p == '\0')
            return NULL;
    }
    *out = bz_str_of(start, (size_t)(p - start));
    return p < end ? p + 1 : NULL;
}

static bool read_question(struct bz_str code, struct question *q)
{
    const char *p, *end;
    size_t i;

    if (!bz_str_cut_prefix(&code, BZ_STR("bb.utils.contains")))
        return false;
    q->any = bz_str_cut_prefix(&code, BZ_STR("_any"));
    p = code.p;
    end = p + code.n;
    for (i = 0; i < BZ_COUNTOF(q->text); i++) {
        p = skip_blanks(p, end);
        if (p == end || *p != (i ? ',' : '('))
            return false;
        p = read_text(skip_blanks(p + 1, end), end, &q->text[i]);
        if (!p)
            return false;
    }
    p = skip_blanks(p, end);
    if (p == end || *p != ',')
        return false;
    p = skip_blanks(p + 1, end);
    if (p == end || *p != 'd')
        return false;
    p = skip_blanks(p + 1, end);
    return p < end && *p == ')' && skip_blanks(p + 1, end) == end;
}

static void add_refs(const struct question *q, struct bz_refs *refs)
{
    struct bz_str rest = q->text[1], word;

    if (q->any)
        bz_refs_watch(refs, q->text[0]);
    else
        bz_refs_contains(refs, q->text[0], rest);
    while (q->any && bz_str_next_word(&rest, &word))
        bz_refs_contains(refs, q->text[0], word);
}

/* bb.parse.vars_from_file(d.getVar('FILE', False), d)[0] or 'name', by its tokens. */
struct file_part {
    size_t index;
    struct bz_str otherwise;
};

static bool read_file_part(struct bz_str code, struct file_part *f)
{
    static const struct bz_str tokens[] = {
        {"(",        1},
        {"d.getVar", 8},
        {"(",        1},
        {"'FILE'",   6},
        {",",        1},
        {"False",    5},
        {")",        1},
        {",",        1},
        {"d",        1},
        {")",        1},
        {"[",        1}
    };
    const char *end;

    if (!bz_str_cut_prefix(&code, BZ_STR("bb.parse.vars_from_file")))
        return false;
    for (size_t i = 0; i < BZ_COUNTOF(tokens); i++) {
        code = bz_str_trim_start(code);
        if (!bz_str_cut_prefix(&code, tokens[i]))
            return false;
    }
    if (code.n < 2 || code.p[0] < '0' || code.p[0] > '2' || code.p[1] != ']')
        return false;
    f->index = (size_t)(code.p[0] - '0');
    code = bz_str_drop(code, 2);
    if (!bz_str_cut_prefix(&code, BZ_STR(" or ")))
        return false;
    end = code.p + code.n;
    return read_text(code.p, end, &f->otherwise) == end;
}

/* False for a file name whose parts are not plain to see. */
static bool part_of_file(struct bz_str file, const struct file_part *f,
                         struct bz_str *out)
{
    struct bz_str stem = file, parts[3] = {{0}};
    size_t slash = bz_str_rfind_byte(file, '/');
    size_t n = 0;

    *out = f->otherwise;
    if (!bz_str_cut_suffix(&stem, BZ_STR(".bb")) &&
        !bz_str_cut_suffix(&stem, BZ_STR(".bbappend")))
        return true;
    if (slash != BZ_STR_NONE)
        stem = bz_str_sub(stem, slash + 1, stem.n);
    if (stem.n == 0 || stem.p[0] == '.')
        return false;
    while (n < BZ_COUNTOF(parts) && bz_str_next_part(&stem, '_', &parts[n]))
        n++;
    if (parts[f->index].n > 0)
        *out = parts[f->index];
    return !stem.p; /* else there are too many */
}

/* PN, PV and PR of every recipe, unless it sets them. */
static int answer_file_part(struct bz_vars *v, struct bz_str code, struct bz_str *out,
                            bool *done, struct bz_err *err)
{
    struct file_part f;
    struct bz_str file, part;
    int rc;

    if (!read_file_part(code, &f))
        return 0;
    rc = bz_vars_get(v, BZ_STR("FILE"), BZ_VARS_RAW, &file, err);
    if (rc < 0 || !part_of_file(file, &f, &part))
        return 0; /* the long way knows what to say */
    *out = bz_vars_keep(v, part);
    *done = true;
    return 0;
}

int bz_expr_quick(struct bz_vars *v, struct bz_str code, struct bz_refs *refs,
                  struct bz_str *out, bool *done, struct bz_err *err)
{
    struct question q;
    struct bz_str value;
    bool yes = false;
    int rc;

    *done = false;
    if (!read_question(code, &q))
        return refs ? 0 : answer_file_part(v, code, out, done, err);
    rc = bz_vars_get(v, q.text[0], 0, &value, err);
    if (rc == 0 && value.n > 0 && !bz_expr_bb_has_few(value, q.text[1], q.any, &yes))
        return 0;
    *done = true;
    if (refs)
        add_refs(&q, refs);
    if (rc == 0)
        *out = bz_vars_keep(v, q.text[yes ? 2 : 3]);
    return rc;
}
