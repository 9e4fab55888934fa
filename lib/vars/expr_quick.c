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

int bz_expr_quick(struct bz_vars *v, struct bz_str code, struct bz_refs *refs,
                  struct bz_str *out, bool *done, struct bz_err *err)
{
    struct question q;
    struct bz_str value;
    bool yes = false;
    int rc;

    *done = false;
    if (!read_question(code, &q))
        return 0;
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
