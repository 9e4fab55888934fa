#include "sig/origin_op.h"

#include "vars/history.h"

const char *const bz_origin_op_flags[] = {
    "cleandirs",
    "depends",
    "deptask",
    "dirs",
    "export",
    "exports",
    "fakeroot",
    "file-checksums",
    "mcdepends",
    "network",
    "noexec",
    "postfuncs",
    "prefuncs",
    "rdepends",
    "rdeptask",
    "recideptask",
    "recrdeptask",
    "umask",
    "unexport",
    "vardeps",
    "vardepsexclude",
    "vardepvalue",
    "vardepvalueexclude",
    NULL,
};

/* What an operation does to the text so far. */
enum kind {
    KIND_SET,    /* replaces it */
    KIND_WEAK,   /* sets it if there is none */
    KIND_CHANGE, /* adds to it */
    KIND_LATE,   /* works on the final value: :append, :prepend, :remove */
    KIND_DEFAULT /* stands in if there is no other */
};

struct event {
    struct bz_str override; /* of the variant NAME:override; "" for NAME itself */
    struct bz_str group;    /* what overwrites each other: a flag, or "" */
    enum kind kind;
};

struct listing {
    struct bz_origin *o;
    struct bz_str name, only; /* only: the flag of NAME[flag], or p == NULL */
    struct bz_origin_ops *out;
    size_t first;                 /* in `out` */
    const struct bz_str *removed; /* what :remove took something out with */
    size_t nremoved;
    struct BZ_VEC(struct event) events;
};

static bool is_wanted_flag(struct bz_str flag)
{
    for (const char *const *f = bz_origin_op_flags; *f; f++)
        if (bz_str_eq(flag, bz_str_from(*f)))
            return true;
    return false;
}

/* Of ":append[o]" and its like; "" if it has none. */
static struct bz_str bracket(struct bz_str op)
{
    struct bz_str head, tail;

    if (!bz_str_cut(op, '[', &head, &tail) || !bz_str_cut_suffix(&tail, BZ_STR("]")))
        return BZ_STR("");
    return tail;
}

static bool is_active(const struct listing *l, struct bz_str override)
{
    struct bz_str rest = override, part, all, one;

    while (override.n > 0 && bz_str_next_part(&rest, ':', &part)) {
        bool found = false;

        all = l->o->overrides;
        while (!found && all.n > 0 && bz_str_next_part(&all, ':', &one))
            found = bz_str_eq(one, part);
        if (!found)
            return false;
    }
    return true;
}

/* "${NAME}" in what is evaluated at once adds to the text so far. */
static bool refers_to(struct bz_str text, struct bz_str name)
{
    size_t at = bz_str_find(text, name);

    return at != BZ_STR_NONE && bz_str_find(text, BZ_STR("${")) != BZ_STR_NONE;
}

static enum kind kind_of(const struct listing *l, struct bz_str op, struct bz_str flag,
                         struct bz_str text)
{
    static const struct {
        const char *op;
        enum kind kind;
    } known[] = {
        {"set?",    KIND_WEAK  },
        {"append",  KIND_CHANGE},
        {"prepend", KIND_CHANGE},
        {"postdot", KIND_CHANGE},
        {"predot",  KIND_CHANGE},
    };

    if (bz_str_eq(flag, BZ_STR("_defaultval")))
        return KIND_DEFAULT;
    if (bz_str_starts(op, BZ_STR(":")))
        return KIND_LATE;
    for (size_t i = 0; i < BZ_COUNTOF(known); i++)
        if (bz_str_eq(op, bz_str_from(known[i].op)))
            return known[i].kind;
    if (bz_str_eq(op, BZ_STR("immediate")) && refers_to(text, l->name))
        return KIND_CHANGE;
    return KIND_SET;
}

static uint64_t short_digest(struct bz_origin *o, struct bz_str text)
{
    struct bz_digest d;
    uint64_t n = 0;

    bz_digest_bytes(o->hasher, text.p, text.n, &d);
    for (unsigned i = 0; i < 8; i++)
        n = n << 8 | d.b[i];
    return n;
}

static bool removes_nothing(const struct listing *l, struct bz_str op,
                            struct bz_str text)
{
    if (!bz_str_starts(op, BZ_STR(":remove")))
        return false;
    for (size_t i = 0; i < l->nremoved; i++)
        if (bz_str_eq(l->removed[i], text))
            return false;
    return true;
}

/* A function is recorded with the line of its closing brace. */
static uint32_t first_line(const struct bz_history_event *e)
{
    uint32_t lines = 1;

    if (e->flag.n > 0 || !bz_str_ends(e->detail, BZ_STR("\n")))
        return e->line;
    for (size_t i = 0; i < e->detail.n; i++)
        lines += e->detail.p[i] == '\n';
    return e->line > lines ? e->line - lines : e->line;
}

static void take_event(void *ctx, const struct bz_history_event *e)
{
    struct listing *l = ctx;
    struct bz_record_op op = {0};
    struct event event = {.override = BZ_STR(""), .group = BZ_STR("")};
    bool weak = bz_str_eq(e->flag, BZ_STR("_defaultval"));
    struct bz_str rest = e->op, tail;

    if (l->only.p ? !bz_str_eq(e->flag, l->only)
                  : e->flag.n > 0 && !weak && !is_wanted_flag(e->flag))
        return;
    op.line = first_line(e);
    op.file = bz_origin_file_name(l->o->place, bz_str_from(e->file));
    op.op = bz_arena_dup(&l->o->arena, e->op);
    op.flag = bz_arena_dup(&l->o->arena, e->flag);
    op.text = short_digest(l->o, e->detail);
    if (bz_str_cut_prefix(&rest, BZ_STR("override[")) &&
        bz_str_cut(rest, ']', &event.override, &tail) &&
        bz_str_cut_prefix(&tail, BZ_STR(":"))) {
        event.override = bz_arena_dup(&l->o->arena, event.override);
        rest = tail;
    } else {
        rest = e->op;
    }
    if (!weak)
        event.group = op.flag;
    event.kind = kind_of(l, rest, e->flag, e->detail);
    if (event.kind == KIND_LATE)
        op.off = !is_active(l, bracket(rest)) || removes_nothing(l, rest, e->detail);
    BZ_VEC_PUSH(l->out, op);
    BZ_VEC_PUSH(&l->events, event);
}

static bool same_text(const struct event *a, const struct event *b)
{
    return bz_str_eq(a->override, b->override) && bz_str_eq(a->group, b->group);
}

/* Whether some operation before (after) it makes it void. */
static bool is_overwritten(const struct listing *l, size_t i)
{
    const struct event *e = &l->events.at[i];

    for (size_t k = 0; k < l->events.len; k++) {
        const struct event *other = &l->events.at[k];

        if (k == i || !same_text(e, other) || other->kind == KIND_LATE)
            continue;
        if (e->kind == KIND_DEFAULT && (other->kind != KIND_DEFAULT || k > i))
            return true;
        if (e->kind == KIND_WEAK && k < i && other->kind != KIND_DEFAULT)
            return true;
        if (k > i && other->kind == KIND_SET)
            return true;
    }
    return false;
}

static void mark_off(struct listing *l)
{
    bool overridden = false;

    for (size_t i = 0; i < l->events.len; i++)
        if (l->events.at[i].override.n > 0 && is_active(l, l->events.at[i].override))
            overridden = true;
    for (size_t i = 0; i < l->events.len; i++) {
        const struct event *e = &l->events.at[i];
        struct bz_record_op *op = &l->out->at[l->first + i];

        if (e->override.n > 0 && !is_active(l, e->override))
            op->off = true;
        else if (e->kind != KIND_LATE)
            op->off = (overridden && e->override.n == 0 && e->group.n == 0) ||
                      is_overwritten(l, i);
    }
}

void bz_origin_op_list(struct bz_origin *o, struct bz_str name,
                       struct bz_origin_ops *out)
{
    struct listing l = {.o = o, .name = name, .out = out, .first = out->len};
    struct bz_str var, flag;
    struct bz_err ignored;

    if (bz_str_ends(name, BZ_STR("]")) &&
        bz_str_cut(bz_str_sub(name, 0, name.n - 1), '[', &var, &flag)) {
        l.name = var;
        l.only = flag;
    }
    if (bz_vars_removed(o->vars, l.name, &l.removed, &l.nremoved, &ignored) < 0)
        l.nremoved = 0;
    bz_history_each(o->vars, l.name, take_event, &l);
    mark_off(&l);
    bz_vec_release(&l.events);
}
