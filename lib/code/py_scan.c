#include "code/py_scan.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/buf.h"
#include "vars/mention.h"

struct step {
    const struct bz_py_node *node;
};

struct scan {
    const struct bz_py_source *src;
    struct bz_str code; /* that was parsed */
    struct bz_py_found *found;
    struct bz_buf name; /* of the call at hand */
    struct steps BZ_VEC(struct step) steps;
};

void bz_py_scan_init(struct bz_py_found *f, struct bz_arena *arena)
{
    *f = (struct bz_py_found){.runs = {0}};
    bz_refs_init(&f->refs, arena);
}

void bz_py_scan_release(struct bz_py_found *f)
{
    bz_refs_release(&f->refs);
    bz_map_release(&f->runs);
    bz_vec_release(&f->loose);
}

/* ---- one call ---- */

/* The dotted name of what a call calls; false if it is not just names. */
static bool called_name(struct scan *s, const struct bz_py_node *of)
{
    const struct bz_py_node *n;
    size_t len = 0;
    char *to;

    for (n = of; n->kind == BZ_PY_NODE_ATTR; n = n->first)
        len += n->text.n + 1;
    if (n->kind != BZ_PY_NODE_NAME)
        return false;
    len += n->text.n;
    bz_buf_truncate(&s->name, 0);
    to = bz_buf_reserve(&s->name, len) + len;
    for (n = of; n->kind == BZ_PY_NODE_ATTR; n = n->first) {
        to -= n->text.n;
        memcpy(to, n->text.p, n->text.n);
        *--to = '.';
    }
    memcpy(to - n->text.n, n->text.p, n->text.n);
    bz_buf_commit(&s->name, len);
    return true;
}

/* A whole number as Python shows it, or {0} if it is too large for that. */
static struct bz_str whole(struct bz_str text, char room[32])
{
    int kind = text.n > 2 && text.p[0] == '0' ? text.p[1] | 0x20 : 0;
    unsigned base = kind == 'x' ? 16 : kind == 'o' ? 8 : kind == 'b' ? 2 : 10;
    uint64_t value = 0;
    size_t i;

    for (i = base == 10 ? 0 : 2; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        unsigned d = c <= '9' ? c - 48U : (c | 0x20U) - 'a' + 10;

        if (c == '_')
            continue;
        if (value > (UINT64_MAX - d) / base)
            return (struct bz_str){0};
        value = value * base + d;
    }
    return bz_str_of(room, (size_t)snprintf(room, 32, "%" PRIu64, value));
}

static struct bz_mention_arg number(struct bz_str text, char room[32])
{
    struct bz_mention_arg arg = {.type = BZ_MENTION_INT};
    bool hex = text.n > 1 && (text.p[1] | 0x20) == 'x';

    if ((text.p[text.n - 1] | 0x20) == 'j')
        arg.type = BZ_MENTION_COMPLEX;
    else if (!hex && (bz_str_find_byte(text, '.') != BZ_STR_NONE ||
                      bz_str_find_byte(text, 'e') != BZ_STR_NONE ||
                      bz_str_find_byte(text, 'E') != BZ_STR_NONE))
        arg.type = BZ_MENTION_FLOAT;
    else
        arg.text = whole(text, room);
    return arg;
}

static struct bz_mention_arg argument(const struct bz_py_node *n, char room[32])
{
    static const uint8_t types[] = {
        [BZ_PY_NODE_STR] = BZ_MENTION_STR,
        [BZ_PY_NODE_BYTES] = BZ_MENTION_BYTES,
        [BZ_PY_NODE_NUMBER] = BZ_MENTION_INT,
        [BZ_PY_NODE_NONE] = BZ_MENTION_NONE,
        [BZ_PY_NODE_TRUE] = BZ_MENTION_BOOL,
        [BZ_PY_NODE_FALSE] = BZ_MENTION_BOOL,
        [BZ_PY_NODE_ELLIPSIS] = BZ_MENTION_ELLIPSIS,
        [BZ_PY_NODE_SECRET] = BZ_MENTION_SECRET,
    };
    struct bz_mention_arg arg = {.type = BZ_MENTION_ABSENT};

    if (!n || n->kind == BZ_PY_NODE_KEYWORD)
        return arg;
    if (n->kind == BZ_PY_NODE_NUMBER)
        return number(n->text, room);
    arg.type = n->kind < BZ_COUNTOF(types) ? types[n->kind] : BZ_MENTION_CODE;
    if (bz_py_node_is_constant(n)) /* words are shown as they are written */
        arg.text = n->text.p ? n->text : BZ_STR("");
    return arg;
}

static const struct bz_py_asker *asker(const struct scan *s)
{
    size_t i;

    for (i = 0; i < s->src->naskers; i++)
        if (bz_str_eq(s->src->askers[i].name, bz_buf_str(&s->name)))
            return &s->src->askers[i];
    return NULL;
}

/* Notes an argument that is no literal. */
static void note(struct scan *s, const struct bz_py_node *call, unsigned which)
{
    struct bz_arena *arena = s->found->refs.arena;
    const struct bz_py_node *arg = call->first->next;

    for (; which > 0; which--)
        arg = arg->next;
    BZ_VEC_PUSH(
        &s->found->loose,
        (struct bz_py_loose){
            .line = call->line,
            .name = bz_arena_dup(arena, bz_buf_str(&s->name)),
            .arg = bz_arena_dup(arena, bz_str_sub(s->code, arg->from, arg->to))});
}

/* A call of a function that asks variables for an item. */
static int ask(struct scan *s, const struct bz_py_asker *by,
               const struct bz_py_node *call, const struct bz_mention_arg *item,
               struct bz_err *err)
{
    size_t i;

    switch (item->type) {
    case BZ_MENTION_ABSENT:
        return bz_fail(err, BZ_E_INVAL, "IndexError: list index out of range");
    case BZ_MENTION_SECRET:
        return bz_fail(err, BZ_E_NOSUP,
                       "an item has a character by its name, \\N{...}");
    case BZ_MENTION_STR:
        for (i = 0; i < by->nvars; i++)
            bz_refs_contains_only(&s->found->refs, by->vars[i], item->text);
        return 0;
    default:
        bz_refs_exec(&s->found->refs, by->name);
        note(s, call, 0);
        return 0;
    }
}

static int scan_call(struct scan *s, const struct bz_py_node *call, struct bz_err *err)
{
    struct bz_mention m = {.owner = s->src->name};
    const struct bz_py_node *first = call->first->next;
    const struct bz_py_asker *by;
    struct bz_mention_result result;
    char room[2][32];
    int rc;

    if (!called_name(s, call->first))
        return 0;
    m.name = bz_buf_str(&s->name);
    m.args[0] = argument(first, room[0]);
    m.args[1] = argument(first ? first->next : NULL, room[1]);
    by = asker(s);
    if (by)
        return ask(s, by, call, &m.args[0], err);
    rc = bz_mention_call(&m, &s->found->refs, &result, err);
    if (rc < 0)
        return rc;
    if (result.runs) /* the key is the one that was copied to the arena */
        bz_map_put(&s->found->runs,
                   bz_map_get(&s->found->refs.execs, m.args[0].text)->key);
    if (result.misses)
        note(s, call, result.arg);
    return 0;
}

/* ---- all calls ---- */

static int place(const struct scan *s, const struct bz_py_node *call, int rc,
                 struct bz_err *err)
{
    if (s->src->file && rc < 0)
        return bz_err_wrap(err, "%s:%u", s->src->file, call->line);
    return rc;
}

/* Level by level, as ast.walk() goes. */
static int walk(struct scan *s, const struct bz_py_node *tree, struct bz_err *err)
{
    size_t i;

    BZ_VEC_PUSH(&s->steps, (struct step){tree});
    for (i = 0; i < s->steps.len; i++) {
        const struct bz_py_node *n = s->steps.at[i].node, *child;

        if (n->kind == BZ_PY_NODE_CALL) {
            int rc = scan_call(s, n, err);

            if (rc < 0)
                return place(s, n, rc, err);
        }
        for (child = n->first; child; child = child->next)
            if (child->first)
                BZ_VEC_PUSH(&s->steps, (struct step){child});
    }
    return 0;
}

int bz_py_scan_tree(const struct bz_py_source *src, struct bz_str code,
                    const struct bz_py_node *tree, struct bz_py_found *f,
                    struct bz_err *err)
{
    struct scan s = {.src = src, .code = code, .found = f};
    int rc = walk(&s, tree, err);

    bz_buf_release(&s.name);
    bz_vec_release(&s.steps);
    return rc;
}

/* ---- the text ---- */

struct bz_str bz_py_scan_lines(struct bz_str code, struct bz_arena *arena)
{
    char *text;
    size_t i, n = 0;

    if (bz_str_find_byte(code, '\r') == BZ_STR_NONE)
        return code;
    text = bz_arena_alloc(arena, code.n, 1);
    for (i = 0; i < code.n; i++) {
        text[n++] = code.p[i];
        if (code.p[i] != '\r')
            continue;
        text[n - 1] = '\n';
        if (i + 1 < code.n && code.p[i + 1] == '\n')
            i++;
    }
    return bz_str_of(text, n);
}

/* Code that is indented as a whole gets an `if` before it. *lines is by how many lines
 * it grows. */
static struct bz_str dedent(struct bz_str code, struct bz_arena *arena, int *lines)
{
    size_t i = 0;

    *lines = 0;
    while (i < code.n && strchr("\n\t ", code.p[i]) && code.p[i] != '\0')
        i++;
    if (i == 0 || i == code.n || code.p[i - 1] == '\n')
        return code;
    if (code.p[0] == '\n')
        code = bz_str_sub(code, 1, code.n);
    else
        *lines = 1;
    return bz_arena_printf(arena, "if 1:\n%.*s", BZ_STR_ARG(code));
}

int bz_py_scan(const struct bz_py_source *src, struct bz_py_found *f,
               struct bz_err *err)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    struct bz_py_origin origin = {src->file, src->line ? (int64_t)src->line - 1 : 0};
    struct bz_str code = src->code;
    struct bz_py_node *tree;
    int rc, lines = 0;

    if (bz_str_trim(code).n == 0)
        return 0;
    if (code.n > BZ_PY_PARSE_SIZE)
        return bz_fail(err, BZ_E_LIMIT, "%zu bytes of Python are too long, %zu may be",
                       code.n, BZ_PY_PARSE_SIZE);
    if (src->form == BZ_PY_FORM_EXPRESSION)
        code = bz_str_trim(code);
    else if (!memchr(code.p, '\0', code.n))
        code = dedent(code, &arena, &lines);
    code = bz_py_scan_lines(code, &arena);
    origin.line -= lines;
    rc = bz_py_parse(code, src->form, origin, &arena, &tree, err);
    return rc < 0 ? rc : bz_py_scan_tree(src, code, tree, f, err);
}
