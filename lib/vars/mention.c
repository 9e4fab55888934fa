#include "vars/mention.h"

#include "vars/vars.h"

enum call { GETVAR, GETFLAG, CONTAINS, CONTAINS_ANY, EXPAND, EXEC, OTHER };

static enum call kind_of_call(struct bz_str name)
{
    static const struct {
        struct bz_str name;
        bool end; /* a name that ends so is meant, too */
        enum call kind;
    } calls[] = {
        {BZ_STR("bb.utils.contains"),     false, CONTAINS    },
        {BZ_STR(".getVar"),               true,  GETVAR      },
        {BZ_STR("bb.utils.filter"),       false, CONTAINS_ANY},
        {BZ_STR("bb.utils.contains_any"), false, CONTAINS_ANY},
        {BZ_STR("oe.utils.conditional"),  true,  GETVAR      },
        {BZ_STR(".getVarFlag"),           true,  GETFLAG     },
        {BZ_STR(".expand"),               true,  EXPAND      },
        {BZ_STR("base_contains"),         false, CONTAINS    },
        {BZ_STR(".appendVar"),            true,  GETVAR      },
        {BZ_STR(".prependVar"),           true,  GETVAR      },
        {BZ_STR(".appendVarFlag"),        true,  GETFLAG     },
        {BZ_STR(".prependVarFlag"),       true,  GETFLAG     },
        {BZ_STR("bb.build.exec_func"),    false, EXEC        },
        {BZ_STR("bb.build.exec_task"),    false, EXEC        },
    };
    size_t i;

    for (i = 0; i < BZ_COUNTOF(calls); i++) {
        if (calls[i].end ? bz_str_ends(name, calls[i].name)
                         : bz_str_eq(name, calls[i].name))
            return calls[i].kind;
    }
    return OTHER;
}

/* What kind of a constant it is, as Python's messages name its type. */
static const char *type_name(enum bz_mention_type type)
{
    static const char *const names[] = {
        [BZ_MENTION_STR] = "str",           [BZ_MENTION_SECRET] = "str",
        [BZ_MENTION_BYTES] = "bytes",       [BZ_MENTION_NONE] = "None",
        [BZ_MENTION_BOOL] = "bool",         [BZ_MENTION_INT] = "int",
        [BZ_MENTION_FLOAT] = "float",       [BZ_MENTION_COMPLEX] = "complex",
        [BZ_MENTION_ELLIPSIS] = "ellipsis",
    };

    return names[type];
}

static int too_few(struct bz_err *err)
{
    return bz_fail(err, BZ_E_INVAL, "IndexError: list index out of range");
}

/* BitBake interns the names of functions and items, which only works for strings. */
static int no_name(enum bz_mention_type type, struct bz_err *err)
{
    return bz_fail(err, BZ_E_INVAL, "TypeError: intern() argument must be str, not %s",
                   type_name(type));
}

static int secret(struct bz_err *err)
{
    return bz_fail(err, BZ_E_NOSUP, "a name has a character by its name, \\N{...}");
}

static int add_flag(struct bz_refs *refs, struct bz_str var,
                    const struct bz_mention_arg *flag, struct bz_err *err)
{
    struct bz_str text = flag->type == BZ_MENTION_NONE       ? BZ_STR("None")
                         : flag->type == BZ_MENTION_ELLIPSIS ? BZ_STR("Ellipsis")
                                                             : flag->text;

    if (flag->type == BZ_MENTION_SECRET)
        return secret(err);
    if (flag->type == BZ_MENTION_FLOAT || flag->type == BZ_MENTION_COMPLEX ||
        flag->type == BZ_MENTION_BYTES || (flag->type == BZ_MENTION_INT && !text.p))
        return bz_fail(err, BZ_E_NOSUP, "a flag named by a constant of a rare kind");
    bz_refs_read(refs, bz_arena_printf(refs->arena, "%.*s[%.*s]", BZ_STR_ARG(var),
                                       BZ_STR_ARG(text)));
    return 0;
}

static int add_words(struct bz_refs *refs, struct bz_str var,
                     const struct bz_mention_arg *items, struct bz_err *err)
{
    struct bz_str rest = items->text, word;

    bz_refs_watch(refs, var);
    if (items->type == BZ_MENTION_BYTES)
        return no_name(items->type, err);
    if (items->type != BZ_MENTION_STR)
        return bz_fail(
            err, BZ_E_INVAL, "AttributeError: '%s' object has no attribute 'split'",
            items->type == BZ_MENTION_NONE ? "NoneType" : type_name(items->type));
    while (bz_str_next_word(&rest, &word))
        bz_refs_contains(refs, var, word);
    return 0;
}

static void miss(struct bz_mention_result *out, uint8_t arg)
{
    out->misses = true;
    out->arg = arg;
}

/* A call with two arguments of which the first is the name of a variable. */
static int mention_second(const struct bz_mention *call, enum call kind,
                          struct bz_refs *refs, struct bz_mention_result *out,
                          struct bz_err *err)
{
    struct bz_str var = call->args[0].text;
    const struct bz_mention_arg *second = &call->args[1];

    if (second->type == BZ_MENTION_ABSENT)
        return too_few(err);
    if (second->type == BZ_MENTION_CODE) {
        if (kind == GETFLAG)
            miss(out, 1);
        else
            bz_refs_read(refs, var);
        return 0;
    }
    if (kind == GETFLAG)
        return add_flag(refs, var, second, err);
    if (second->type == BZ_MENTION_SECRET)
        return secret(err);
    if (kind == CONTAINS_ANY)
        return add_words(refs, var, second, err);
    if (second->type != BZ_MENTION_STR)
        return no_name(second->type, err);
    bz_refs_contains(refs, var, second->text);
    return 0;
}

/* A call that names a variable in its first argument. */
static int mention_named(const struct bz_mention *call, enum call kind,
                         struct bz_refs *refs, struct bz_mention_result *out,
                         struct bz_err *err)
{
    const struct bz_mention_arg *first = &call->args[0];

    if (first->type == BZ_MENTION_ABSENT)
        return too_few(err);
    if (first->type == BZ_MENTION_SECRET)
        return secret(err);
    if (first->type != BZ_MENTION_STR) {
        miss(out, 0);
        return 0;
    }
    if (kind != GETVAR)
        return mention_second(call, kind, refs, out, err);
    bz_refs_read(refs, first->text);
    return 0;
}

/* The text is expanded without any variables, just to see what it would take. */
static int mention_expanded(const struct bz_mention *call, struct bz_refs *refs,
                            struct bz_err *err)
{
    BZ_CLEANUP(bz_vars_freep) struct bz_vars *nothing = NULL;
    const struct bz_mention_arg *first = &call->args[0];
    struct bz_str ignored;

    if (first->type == BZ_MENTION_ABSENT)
        return too_few(err);
    if (first->type == BZ_MENTION_SECRET)
        return secret(err);
    if (first->type != BZ_MENTION_STR ||
        bz_str_find(first->text, BZ_STR("${")) == BZ_STR_NONE)
        return 0;
    nothing = bz_vars_new(NULL);
    return bz_vars_expand(nothing, first->text, call->owner, refs, &ignored, err);
}

static int mention_run(const struct bz_mention_arg *first, struct bz_refs *refs,
                       struct bz_mention_result *out, struct bz_err *err)
{
    switch (first->type) {
    case BZ_MENTION_ABSENT:
        return too_few(err);
    case BZ_MENTION_CODE:
        miss(out, 0);
        return 0;
    case BZ_MENTION_SECRET:
        return secret(err);
    case BZ_MENTION_STR:
        out->runs = true;
        bz_refs_exec(refs, first->text);
        return 0;
    default:
        return no_name(first->type, err);
    }
}

int bz_mention_call(const struct bz_mention *call, struct bz_refs *refs,
                    struct bz_mention_result *out, struct bz_err *err)
{
    enum call kind = kind_of_call(call->name);

    *out = (struct bz_mention_result){.misses = false};
    switch (kind) {
    case EXPAND:
        return mention_expanded(call, refs, err);
    case EXEC:
        return mention_run(&call->args[0], refs, out, err);
    case OTHER:
        bz_refs_exec(refs, call->name);
        return 0;
    default:
        return mention_named(call, kind, refs, out, err);
    }
}
