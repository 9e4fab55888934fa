#include "vars/expand.h"

#include <stdio.h>

#include "vars/expr.h"
#include "vars/history.h"
#include "vars/refs.h"
#include "vars/value.h"

enum {
    TURNS = 1000,        /* a text that still changes after so many does so for ever */
    CHAIN_MAX = 100,     /* bytes of an error's message for the chain of variables */
    CODE_MAX = 60,       /* and for an expression */
    STACK_MAX = 4 << 20, /* bytes of the C stack for all levels; threads have 8 MiB */
};

/* ---- errors ---- */

/* "A -> B -> C", outermost first; the middle is left out when it is long. */
static void chain_of(const struct bz_store_frame *f, struct bz_str last, char *out)
{
    struct bz_str names[BZ_EXPAND_DEPTH + 2];
    size_t n = 0, from = 0, used = 0;

    if (last.n > 0)
        names[n++] = last;
    for (; f && n < BZ_COUNTOF(names); f = f->up)
        if (f->name.n > 0)
            names[n++] = f->name;
    for (size_t i = 0; i < n; i++)
        used += names[i].n + 4;
    if (used >= CHAIN_MAX && n > 4)
        from = 2; /* the two nearest the failure, and the outermost two */
    out[0] = '\0';
    for (size_t i = n; i-- > 0;) {
        size_t at = strlen(out);

        if (from > 0 && i == n - 3)
            snprintf(out + at, CHAIN_MAX - at, " -> ...");
        if (from > 0 && i >= from && i + 2 < n)
            continue;
        snprintf(out + at, CHAIN_MAX - at, "%s%.*s", at > 0 ? " -> " : "",
                 BZ_STR_ARG(names[i]));
    }
}

/* " (file:line)" of the last assignment, or nothing. */
static void place_of(const struct bz_vars *v, struct bz_str name, char *out, size_t n)
{
    struct bz_str base, flag;
    struct bz_history_event e;

    bz_str_cut(name, '[', &base, &flag);
    out[0] = '\0';
    if (bz_history_last(v, base, &e))
        snprintf(out, n, " (%s:%u)", e.file, e.line);
}

/* Says in the error, once, through which variables it came about. Not inlined, as its
 * memory would count for every level of an expansion. */
static BZ_NOINLINE int tell(struct bz_vars *v, struct bz_str last, struct bz_str code,
                            struct bz_err *err)
{
    char chain[CHAIN_MAX], place[96], text[CODE_MAX + 8] = "";
    const struct bz_store_frame *f = v->frame;

    while (f && f->name.n == 0)
        f = f->up;
    chain_of(v->frame, last, chain);
    place_of(v, f ? f->name : (struct bz_str){0}, place, sizeof(place));
    if (code.n > CODE_MAX)
        snprintf(text, sizeof(text), "${@%.*s...", CODE_MAX, code.p);
    else if (code.n > 0)
        snprintf(text, sizeof(text), "${@%.*s}", BZ_STR_ARG(code));
    v->told = true;
    return bz_err_wrap(err, "%s%s%s%s", chain[0] ? chain : "expansion", place,
                       text[0] ? ": " : "", text);
}

/* ---- frames ---- */

/* How much of it a level takes is for expressions to decide, so the depth alone says
 * too little. */
static bool is_stack_full(struct bz_vars *v)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);

    if (v->depth == 0)
        v->stack = here;
    return (here < v->stack ? v->stack - here : here - v->stack) > STACK_MAX;
}

static int open_frame(struct bz_vars *v, struct bz_store_frame *f, struct bz_err *err)
{
    if (v->depth >= BZ_EXPAND_DEPTH || is_stack_full(v)) {
        bz_fail(err, BZ_E_LIMIT, "values refer to values too deep, at most %d",
                BZ_EXPAND_DEPTH);
        return tell(v, f->name, (struct bz_str){0}, err);
    }
    f->up = v->frame;
    v->frame = f;
    v->depth++;
    return 0;
}

int bz_expand_enter(struct bz_vars *v, struct bz_store_frame *f, struct bz_err *err)
{
    for (const struct bz_store_frame *up = v->frame; up; up = up->up) {
        if (up->cell != f->cell || up->how != f->how)
            continue;
        bz_fail(err, BZ_E_INVAL, "variable %.*s references itself",
                BZ_STR_ARG(f->name));
        return tell(v, f->name, (struct bz_str){0}, err);
    }
    return open_frame(v, f, err);
}

void bz_expand_leave(struct bz_vars *v, const struct bz_store_frame *f)
{
    BZ_ASSERT(v->frame == f && v->depth > 0);
    v->frame = f->up;
    v->depth--;
}

/* ---- ${NAME} ---- */

static bool is_name_char(char c)
{
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
        return true;
    /* '-' to ':' is "-./0123456789:". */
    return (c >= '-' && c <= ':') || c == '_' || c == '+' || c == '~';
}

/* The next ${NAME} at or after `from`: where it begins, and its name; or
 * BZ_STR_NONE. */
static size_t next_reference(struct bz_str text, size_t from, struct bz_str *name)
{
    while (from < text.n) {
        size_t at = bz_str_find(bz_str_sub(text, from, text.n), BZ_STR("${"));
        size_t end;

        if (at == BZ_STR_NONE)
            break;
        at += from;
        end = at + 2;
        while (end < text.n && is_name_char(text.p[end]))
            end++;
        if (end > at + 2 && end < text.n && text.p[end] == '}') {
            *name = bz_str_sub(text, at + 2, end);
            return at;
        }
        from = end; /* what was looked at cannot begin another */
    }
    return BZ_STR_NONE;
}

static int value_of(struct bz_vars *v, struct bz_str name, struct bz_str *value,
                    struct bz_err *err)
{
    if (v->frame && v->frame->name.n > 0 && bz_str_eq(v->frame->name, name)) {
        bz_fail(err, BZ_E_INVAL, "variable %.*s references itself", BZ_STR_ARG(name));
        return tell(v, name, (struct bz_str){0}, err);
    }
    if (bz_str_eq(name, BZ_STR("OVERRIDES")))
        v->asked_overrides = true;
    return bz_value_get(v, bz_store_cell(v, name), 0, value, err);
}

/* Whether what stands at `at` is within another ${...}, which is on the same line. */
static bool is_within(struct bz_str text, size_t at)
{
    size_t depth = 0, i = at;

    while (i > 0 && text.p[i - 1] != '\n')
        i--;
    for (; i < at; i++) {
        if (text.p[i] == '{' && (depth > 0 || (i > 0 && text.p[i - 1] == '$')))
            depth++;
        else if (text.p[i] == '}' && depth > 0)
            depth--;
    }
    return depth > 0;
}

/* The value of a reference in a store that lets some stand for themselves. In a name or
 * in code it must be the real one. */
static int read_kept(struct bz_vars *v, struct bz_str text, size_t at,
                     struct bz_str name, struct bz_refs *refs, struct bz_str *value,
                     struct bz_err *err)
{
    struct bz_str in = v->frame ? v->frame->name : (struct bz_str){0};
    enum bz_vars_kept what = BZ_VARS_EXPAND;
    bool within = is_within(text, at);
    int rc = within ? bz_vars_get(v->keep.plain, name, 0, value, err)
                    : v->keep.ask(v->keep.ctx, in, name, &what, value, err);

    if (rc == 0 && !within && what == BZ_VARS_EXPAND)
        rc = value_of(v, name, value, err);
    if (rc == 0 && refs && what != BZ_VARS_KEEP)
        bz_refs_read(refs, name);
    if (rc == 0 && what == BZ_VARS_KEEP)
        *value = BZ_ARENA_CONCAT(&v->arena, BZ_STR("\001{"), name, BZ_STR("}"));
    return rc;
}

static int read_reference(struct bz_vars *v, struct bz_str text, size_t at,
                          struct bz_str name, struct bz_refs *refs,
                          struct bz_str *value, struct bz_err *err)
{
    int rc;

    if (v->keep.ask) {
        rc = read_kept(v, text, at, name, refs, value, err);
    } else {
        rc = value_of(v, name, value, err);
        if (rc == 0 && refs)
            bz_refs_read(refs, name);
    }
    if (rc == 0 && !value->p)
        *value = bz_str_sub(text, at, at + name.n + 3);
    return rc;
}

/* One turn over the references. */
static int replace_names(struct bz_vars *v, struct bz_str text, struct bz_refs *refs,
                         struct bz_buf *out, struct bz_err *err)
{
    size_t done = 0;
    int rc = 0;

    while (rc == 0) {
        struct bz_str name, value = {0};
        size_t at = next_reference(text, done, &name);

        if (at == BZ_STR_NONE)
            break;
        rc = read_reference(v, text, at, name, refs, &value, err);
        if (rc < 0)
            break;
        rc = bz_buf_try_add(out, text.p + done, at - done, err);
        if (rc == 0)
            rc = bz_buf_try_add_str(out, value, err);
        done = at + name.n + 3;
    }
    if (rc == 0)
        rc = bz_buf_try_add(out, text.p + done, text.n - done, err);
    return rc;
}

/* ---- ${@CODE} ---- */

/* Steps through the expressions of a text, each of which lies on one line. */
struct scan {
    struct bz_str text;
    size_t line_end; /* of the line that was looked at last */
    size_t last;     /* the last '}' before line_end; 0 if there is none */
    bool line_known; /* whether these two were computed */
};

/* The last '}' of the line that `at` is on, or 0. */
static size_t last_brace(struct scan *s, size_t at)
{
    const char *p;

    if (s->line_known && at < s->line_end)
        return s->last;
    p = memchr(s->text.p + at, '\n', s->text.n - at);
    s->line_end = p ? (size_t)(p - s->text.p) : s->text.n;
    p = memrchr(s->text.p + at, '}', s->line_end - at);
    s->last = p ? (size_t)(p - s->text.p) : 0;
    s->line_known = true;
    return s->last;
}

/* The '}' that ends the code which begins at `at`, or 0. `last`, the line's last '}',
 * is not before it. A
 * {...} is stepped over as a whole if a '}' is left behind it; this is what trying all
 * ways to match the regular expression, in its order, comes to. */
static size_t code_end(struct bz_str text, size_t at, size_t last)
{
    for (size_t begin = at; at <= last; at++) {
        const char *close;

        if (text.p[at] == '}' && at > begin)
            return at;
        if (text.p[at] != '{')
            continue;
        close = memchr(text.p + at, '}', last + 1 - at);
        at = (size_t)(close - text.p);
        if (at == last)
            return last;
    }
    return 0;
}

static bool next_code(struct scan *s, size_t from, size_t *at, size_t *end)
{
    while (from < s->text.n) {
        size_t last;

        *at = bz_str_find(bz_str_sub(s->text, from, s->text.n), BZ_STR("${@"));
        if (*at == BZ_STR_NONE)
            break;
        *at += from;
        last = last_brace(s, *at);
        *end = last > *at + 3 ? code_end(s->text, *at + 3, last) : 0;
        if (*end > 0)
            return true;
        from = *at + 3;
    }
    return false;
}

/* Steps over a string literal at code.p[*i]. False if it has no end; *single then says
 * that it is one of a single line. */
static bool skip_string(struct bz_str code, size_t *i, bool *single)
{
    char quote = code.p[*i];
    size_t at = *i;
    bool triple = at + 2 < code.n && code.p[at + 1] == quote && code.p[at + 2] == quote;

    *single = !triple;
    for (at += triple ? 3 : 1; at < code.n; at++) {
        if (code.p[at] == '\\') {
            at++;
            continue;
        }
        if (code.p[at] != quote)
            continue;
        if (triple &&
            (at + 2 >= code.n || code.p[at + 1] != quote || code.p[at + 2] != quote))
            continue;
        *i = at + (triple ? 2 : 0);
        return true;
    }
    return false;
}

/* The bracket that c closes, or 0. */
static char opening(char c)
{
    switch (c) {
    case ')':
        return '(';
    case ']':
        return '[';
    case '}':
        return '{';
    default:
        return 0;
    }
}

/* Whether Python's complaint about the code is a string literal without an end: it is
 * the first thing wrong with its brackets, backslashes and strings. */
static BZ_NOINLINE bool is_unterminated(struct bz_str code)
{
    char open[200];
    size_t depth = 0;

    for (size_t i = 0; i < code.n; i++) {
        char c = code.p[i];
        bool single;

        if (c == '#' || c == '\\')
            return false;
        if ((c == '\'' || c == '"') && !skip_string(code, &i, &single))
            return single;
        if (c == '(' || c == '[' || c == '{') {
            if (depth == sizeof(open))
                return false; /* Python has the same limit */
            open[depth++] = c;
        } else if (opening(c) && (depth == 0 || opening(c) != open[--depth])) {
            return false;
        }
    }
    return false;
}

static int evaluate(struct bz_vars *v, struct bz_str code, struct bz_refs *refs,
                    struct bz_str *value, struct bz_err *err)
{
    struct bz_str name = v->frame ? v->frame->name : (struct bz_str){0};
    int rc;

    v->told = false;
    if (v->keep.ask) {
        struct bz_vars *plain = v->keep.plain;
        struct bz_store_frame f = {.name = name};

        rc = open_frame(plain, &f, err);
        if (rc < 0)
            return rc;
        rc = evaluate(plain, code, refs, value, err);
        bz_expand_leave(plain, &f);
        v->told = true;
        return rc;
    }
    if (v->watch)
        v->watch->begin(v->watch->ctx, code);
    rc = bz_expr_eval(v, code, refs, value, err);
    if (rc == BZ_E_NOSUP && !v->told && v->python.eval)
        rc = v->python.eval(v->python.ctx, v, code, name, refs, value, err);
    if (v->watch)
        v->watch->end(v->watch->ctx, code);
    if (rc < 0 && !v->told)
        rc = tell(v, (struct bz_str){0}, code, err);
    return rc;
}

/* One turn over the expressions. *whole is false if it was given up. */
static int replace_code(struct bz_vars *v, struct bz_str text, struct bz_refs *refs,
                        struct bz_buf *out, bool *whole, struct bz_err *err)
{
    struct scan s = {.text = text};
    size_t done = 0, at, end;
    int rc = 0;

    *whole = true;
    while (rc == 0 && next_code(&s, done, &at, &end)) {
        struct bz_str code = bz_str_trim(bz_str_sub(text, at + 3, end));
        struct bz_str value = bz_str_sub(text, at, end + 1), name;

        if (next_reference(code, 0, &name) == BZ_STR_NONE) {
            if (is_unterminated(code)) {
                *whole = false;
                return 0;
            }
            rc = evaluate(v, code, refs, &value, err);
            if (rc < 0)
                break;
        }
        rc = bz_buf_try_add(out, text.p + done, at - done, err);
        if (rc == 0)
            rc = bz_buf_try_add_str(out, value, err);
        done = end + 1;
    }
    if (rc == 0)
        rc = bz_buf_try_add(out, text.p + done, text.n - done, err);
    return rc;
}

/* ---- the turns ---- */

static void swap(struct bz_buf *a, struct bz_buf *b)
{
    struct bz_buf t = *a;

    *a = *b;
    *b = t;
}

/* One turn: `text` into `out`, with `other` as room for the step between. */
static int turn(struct bz_vars *v, struct bz_str text, struct bz_refs *refs,
                struct bz_buf *out, struct bz_buf *other, struct bz_err *err)
{
    bool whole;
    int rc;

    bz_buf_truncate(out, 0);
    rc = replace_names(v, text, refs, out, err);
    if (rc < 0 || bz_str_find(bz_buf_str(out), BZ_STR("${@")) == BZ_STR_NONE)
        return rc;
    bz_buf_truncate(other, 0);
    rc = replace_code(v, bz_buf_str(out), refs, other, &whole, err);
    if (rc == 0 && whole)
        swap(out, other);
    return rc;
}

int bz_expand_text(struct bz_vars *v, struct bz_str text, struct bz_refs *refs,
                   struct bz_buf *out, struct bz_err *err)
{
    struct bz_buf now = bz_store_take(v), other = bz_store_take(v);
    int rc = bz_buf_try_add_str(out, text, err);

    v->told = false;
    for (int turns = 0; rc == 0 && bz_expand_needed(bz_buf_str(out)); turns++) {
        if (turns == TURNS) {
            rc = bz_fail(err, BZ_E_LIMIT, "still changes after being expanded %d times",
                         TURNS);
            break;
        }
        rc = turn(v, bz_buf_str(out), refs, &now, &other, err);
        if (rc < 0 || bz_str_eq(bz_buf_str(&now), bz_buf_str(out)))
            break;
        swap(out, &now);
    }
    if (rc < 0 && !v->told)
        rc = tell(v, (struct bz_str){0}, (struct bz_str){0}, err);
    bz_store_give(v, &now);
    bz_store_give(v, &other);
    return rc;
}

int bz_expand_named(struct bz_vars *v, struct bz_str text, struct bz_str name,
                    struct bz_refs *refs, struct bz_buf *out, struct bz_err *err)
{
    struct bz_store_frame f = {.name = name};
    int rc;

    if (!bz_expand_needed(text))
        return bz_buf_try_add_str(out, text, err);
    rc = open_frame(v, &f, err);
    if (rc < 0)
        return rc;
    rc = bz_expand_text(v, text, refs, out, err);
    bz_expand_leave(v, &f);
    return rc;
}
