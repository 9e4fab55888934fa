#include "vars/assign.h"

#include "base/log.h"
#include "vars/flag.h"
#include "vars/history.h"
#include "vars/ops.h"
#include "vars/override.h"

/* A name is kept once for each of its overrides, with all that stands before it. */
enum {
    NAME_MAX_BYTES = 4096,
    NAME_MAX_PARTS = 32,
};

/* What one renaming may cost, with all it entails: a name into its own variants can
 * make ever more of them. */
enum {
    RENAME_DEPTH = 64,       /* variants of variants; recipes have two or three */
    RENAME_BUDGET = 4 << 20, /* bytes of new names */
    RENAME_COST = 64,        /* and so many for each of them */
};

static const struct bz_str nothing;

/* ---- names that may not be set ---- */

static size_t count_colons(struct bz_str name)
{
    struct bz_str part;
    size_t n = 0;

    while (bz_str_cut(name, ':', &part, &name))
        n++;
    return n;
}

static int check_size(struct bz_str name, struct bz_err *err)
{
    size_t parts = count_colons(name);

    if (name.n > NAME_MAX_BYTES || parts > NAME_MAX_PARTS)
        return bz_fail(err, BZ_E_LIMIT,
                       "name of a variable has %zu bytes and %zu overrides: %.*s",
                       name.n, parts, BZ_STR_ARG(name));
    return 0;
}

/* What BitBake itself has renamed. A hint with a space in it is a sentence. */
static const struct {
    struct bz_str name, hint;
} renamed[] = {
#define RENAMED(name, hint)                                                            \
    {                                                                                  \
        {name, sizeof(name) - 1},                                                      \
        {                                                                              \
            hint, sizeof(hint) - 1                                                     \
        }                                                                              \
    }
    RENAMED("BB_ENV_WHITELIST", "BB_ENV_PASSTHROUGH"),
    RENAMED("BB_ENV_EXTRAWHITE", "BB_ENV_PASSTHROUGH_ADDITIONS"),
    RENAMED("BB_HASHBASE_WHITELIST", "BB_BASEHASH_IGNORE_VARS"),
    RENAMED("BB_HASHCONFIG_WHITELIST", "BB_HASHCONFIG_IGNORE_VARS"),
    RENAMED("BB_HASHTASK_WHITELIST", "BB_TASKHASH_IGNORE_TASKS"),
    RENAMED("BB_SETSCENE_ENFORCE_WHITELIST", "BB_SETSCENE_ENFORCE_IGNORE_TASKS"),
    RENAMED("MULTI_PROVIDER_WHITELIST", "BB_MULTI_PROVIDER_ALLOWED"),
    RENAMED("BB_STAMP_WHITELIST", "is no longer supported"),
    RENAMED("BB_STAMP_POLICY", "is no longer supported"),
#undef RENAMED
};

/* What to use instead, or {0}. */
static struct bz_str hint_for(const struct bz_vars *v, struct bz_str name)
{
    for (; v && v->any_rename; v = v->parent) {
        const struct bz_map_entry *e = bz_map_get(&v->renames, name);

        if (e)
            return *(const struct bz_str *)e->p;
    }
    if (name.n == 0 || (name.p[0] != 'B' && name.p[0] != 'M'))
        return nothing; /* those below begin with one of them */
    for (size_t i = 0; i < BZ_COUNTOF(renamed); i++)
        if (bz_str_eq(renamed[i].name, name))
            return renamed[i].hint;
    return nothing;
}

static int check_renamed(const struct bz_vars *v, struct bz_str name,
                         struct bz_err *err)
{
    struct bz_str hint = hint_for(v, name);

    if (!hint.p)
        return 0;
    return bz_fail(err, BZ_E_INVAL, "variable %.*s %s%.*s", BZ_STR_ARG(name),
                   bz_str_find_byte(hint, ' ') == BZ_STR_NONE ? "has been renamed to "
                                                              : "",
                   BZ_STR_ARG(hint));
}

int bz_assign_check_renamed(struct bz_str name, struct bz_err *err)
{
    return check_renamed(NULL, name, err);
}

/* Whether the rest of a name, from behind an underscore, begins with an operator. */
static bool is_operator(struct bz_str rest)
{
    switch (rest.n > 0 ? rest.p[0] : 0) {
    case 'a':
        return bz_str_starts(rest, BZ_STR("append"));
    case 'p':
        return bz_str_starts(rest, BZ_STR("prepend"));
    case 'r':
        return bz_str_starts(rest, BZ_STR("remove"));
    default:
        return false;
    }
}

/* Operators used to be written with an underscore. */
static bool is_old_syntax(struct bz_str name)
{
    struct bz_str head, rest = name;

    while (bz_str_cut(rest, '_', &head, &rest))
        if (is_operator(rest))
            return !bz_str_starts(name, BZ_STR("__anon_"));
    return false;
}

static int check_name(const struct bz_vars *v, struct bz_str name, struct bz_err *err)
{
    struct bz_str base, rest;
    int rc = check_size(name, err);

    if (rc < 0)
        return rc;
    if (is_old_syntax(name))
        return bz_fail(err, BZ_E_INVAL,
                       "variable %.*s contains an operation in the old syntax: write "
                       ":append, :prepend or :remove",
                       BZ_STR_ARG(name));
    bz_str_cut(name, ':', &base, &rest);
    return check_renamed(v, base, err);
}

/* ---- set ---- */

static void del(struct bz_vars *v, struct bz_str name, const struct bz_vars_at *at);

/* Drops the operations, the active variants, and the knowledge of the others. */
static int drop_pending(struct bz_vars *v, struct bz_store_cell *c, struct bz_err *err)
{
    struct BZ_VEC(struct bz_str) active = {0};
    const struct bz_store_variants *all = c->variants;
    int rc;

    bz_ops_drop(bz_store_write(v, c));
    if (!all || !all->present)
        return 0;
    rc = bz_override_need(v, err);
    if (rc < 0)
        return rc;
    for (uint32_t i = 0; i < all->n; i++)
        if (all->at[i].name.p && bz_override_active(v, all->at[i].override))
            BZ_VEC_PUSH(&active, all->at[i].name);
    for (size_t i = 0; i < active.len; i++)
        del(v, active.at[i], NULL);
    bz_vec_release(&active);
    bz_override_clear(v, c);
    return 0;
}

/* ":append", or ":append[a:b]". */
static struct bz_str label(struct bz_vars *v, const struct bz_ops_name *name)
{
    if (name->override.n == 0)
        return name->keyword;
    return BZ_ARENA_CONCAT(&v->arena, name->keyword, BZ_STR("["), name->override,
                           BZ_STR("]"));
}

/* Sets NAME:append and the like. */
static int set_op(struct bz_vars *v, struct bz_str full, const struct bz_ops_name *name,
                  struct bz_str value, const struct bz_vars_at *at, struct bz_err *err)
{
    struct bz_store_cell *c = bz_store_cell(v, name->base);
    struct bz_store_op op = {.text = bz_store_keep(v, value, nothing)};

    if (name->override.n > 0)
        op.override = bz_arena_dup(&v->arena, name->override);
    bz_ops_add(v, bz_store_write(v, c), name->kind, op);
    if (at && at->file)
        bz_history_add(v, c, at, label(v, name), nothing, op.text);
    bz_override_add(v, name->base);
    return c->steers ? bz_override_steer(v, full, value, err) : 0;
}

int bz_assign_set(struct bz_vars *v, struct bz_str name, struct bz_str value,
                  unsigned how, const struct bz_vars_at *at, struct bz_err *err)
{
    struct bz_ops_name op;
    struct bz_store_cell *c;
    struct bz_store_var *var;
    int rc = check_name(v, name, err);

    if (rc < 0)
        return rc;
    if (bz_str_find(name, BZ_STR(":task-")) != BZ_STR_NONE)
        v->by_task = true;
    if (bz_ops_parse(name, &op))
        return set_op(v, name, &op, value, at, err);
    c = bz_store_cell(v, name);
    if (!(how & BZ_VARS_SET_PARSING))
        rc = drop_pending(v, c, err);
    if (rc < 0)
        return rc;
    bz_override_add(v, name);
    var = bz_store_write(v, c);
    var->content = bz_store_keep(v, value, var->content);
    var->has_content = true;
    bz_history_add(v, c, at, nothing, nothing, var->content);
    return c->steers ? bz_override_steer(v, name, var->content, err) : 0;
}

int bz_assign_op(struct bz_vars *v, struct bz_str name, const char *keyword,
                 struct bz_str value, struct bz_str op, const struct bz_vars_at *at,
                 struct bz_err *err)
{
    struct bz_buf full = bz_store_take(v);
    int rc = bz_buf_try_addf(&full, err, "%.*s%s", BZ_STR_ARG(name), keyword);

    if (rc == 0)
        rc = bz_assign_set(v, bz_buf_str(&full), value, BZ_VARS_SET_PARSING, NULL, err);
    if (rc == 0 && at && at->file)
        bz_history_add(v, bz_store_cell(v, name), at, op, nothing,
                       bz_store_keep(v, value, nothing));
    bz_store_give(v, &full);
    return rc;
}

/* ---- delete ---- */

static void del(struct bz_vars *v, struct bz_str name, const struct bz_vars_at *at)
{
    struct bz_store_cell *c = bz_store_cell(v, name);

    bz_history_add(v, c, at, BZ_STR("del"), nothing, BZ_STR(""));
    *bz_store_write(v, c) = (struct bz_store_var){0};
    bz_override_clear(v, c);
    bz_override_remove(v, c->name);
}

int bz_assign_del(struct bz_vars *v, struct bz_str name, const struct bz_vars_at *at,
                  struct bz_err *err)
{
    int rc = check_size(name, err);

    if (rc == 0)
        del(v, name, at);
    return rc;
}

/* ---- rename ---- */

struct renaming {
    unsigned depth;
    size_t left; /* of RENAME_BUDGET */
};

static int rename_to(struct bz_vars *v, struct bz_str from, struct bz_str to,
                     const struct bz_vars_at *at, struct renaming *r,
                     struct bz_err *err);

/* The content moves as if it had been assigned; a weak default becomes content. */
static int move_content(struct bz_vars *v, const struct bz_store_cell *c,
                        struct bz_str to, const struct bz_vars_at *at, bool *moved,
                        struct bz_err *err)
{
    const struct bz_store_var *var = c->var;
    struct bz_store_cell *dest = bz_store_cell(v, to);
    struct bz_str value = {0};

    if (var)
        value = var->has_content ? var->content : var->weak;
    *moved = value.p != NULL;
    if (!*moved)
        return 0;
    bz_history_copy(v, c, dest);
    if (at && at->file)
        bz_history_add(
            v, dest, at,
            bz_arena_printf(&v->arena, "rename from %.*s", BZ_STR_ARG(c->name)),
            nothing, value);
    return bz_assign_set(v, to, value, BZ_VARS_SET_PARSING, NULL, err);
}

static int move_ops(struct bz_vars *v, const struct bz_store_cell *c, struct bz_str to,
                    struct bz_err *err)
{
    for (int kind = 0; c->var && kind < BZ_STORE_KINDS; kind++) {
        const struct bz_store_ops *ops = &c->var->ops[kind];
        int rc;

        if (ops->n == 0)
            continue;
        rc = check_renamed(v, to, err);
        if (rc < 0)
            return rc;
        for (uint32_t i = 0; i < ops->n; i++)
            bz_ops_add(v, bz_store_write(v, bz_store_cell(v, to)),
                       (enum bz_store_kind)kind, ops->at[i]);
    }
    return 0;
}

/* The name with each `from` in it replaced. */
static int replace(struct bz_vars *v, struct bz_str name, struct bz_str from,
                   struct bz_str to, struct bz_str *out, struct bz_err *err)
{
    struct bz_buf buf = {.limit = RENAME_BUDGET};
    int rc = 0;

    for (size_t i = 0; i < name.n && rc == 0;) {
        if (from.n > 0 && bz_str_starts(bz_str_sub(name, i, name.n), from)) {
            rc = bz_buf_try_add_str(&buf, to, err);
            i += from.n;
        } else {
            rc = bz_buf_try_add_char(&buf, name.p[i++], err);
        }
    }
    if (rc == 0)
        *out = bz_arena_dup(&v->arena, bz_buf_str(&buf));
    bz_buf_release(&buf);
    return rc;
}

/* NAME:override becomes TO:override for every variant. */
static int move_variants(struct bz_vars *v, const struct bz_store_cell *c,
                         struct bz_str to, struct renaming *r, struct bz_err *err)
{
    const struct bz_store_variants *all = c->variants;
    struct bz_store_cell *dest = bz_store_cell(v, to);
    struct BZ_VEC(struct bz_store_variant) list = {0};
    int rc = 0;

    if (!all || !all->present)
        return 0;
    for (uint32_t i = 0; i < all->n; i++)
        if (all->at[i].name.p)
            BZ_VEC_PUSH(&list, all->at[i]);
    bz_override_clear(v, dest);
    for (size_t i = 0; i < list.len && rc == 0; i++) {
        struct bz_str name = {0};

        rc = replace(v, list.at[i].name, c->name, to, &name, err);
        if (rc == 0)
            bz_override_put(v, dest, name, list.at[i].override);
        if (rc == 0)
            rc = rename_to(v, list.at[i].name, name, NULL, r, err);
    }
    bz_vec_release(&list);
    return rc;
}

static int spend(struct renaming *r, struct bz_str from, struct bz_str to,
                 struct bz_err *err)
{
    if (r->depth > RENAME_DEPTH || r->left < to.n + RENAME_COST)
        return bz_fail(err, BZ_E_LIMIT, "renaming %.*s finds ever more variants of it",
                       BZ_STR_ARG(from));
    r->left -= to.n + RENAME_COST;
    return check_size(to, err);
}

static int move(struct bz_vars *v, struct bz_store_cell *c, struct bz_str to,
                const struct bz_vars_at *at, struct renaming *r, struct bz_err *err)
{
    bool moved;
    int rc = move_content(v, c, to, at, &moved, err);

    if (rc == 0)
        rc = move_ops(v, c, to, err);
    if (rc == 0)
        rc = move_variants(v, c, to, r, err);
    if (rc == 0 && !moved)
        bz_override_add(v, to);
    return rc;
}

static int rename_to(struct bz_vars *v, struct bz_str from, struct bz_str to,
                     const struct bz_vars_at *at, struct renaming *r,
                     struct bz_err *err)
{
    struct bz_store_cell *c = bz_store_cell(v, from);
    int rc;

    if (bz_str_eq(from, to)) {
        bz_log_warn("vars", "renaming %.*s to itself does nothing", BZ_STR_ARG(from));
        return 0;
    }
    r->depth++;
    rc = spend(r, from, to, err);
    if (rc == 0)
        rc = move(v, c, to, at, r, err);
    r->depth--;
    if (rc < 0)
        return rc;
    if (at && at->file)
        bz_history_add(v, c, at, BZ_STR("rename (to)"), nothing,
                       bz_store_keep(v, to, nothing));
    del(v, from, NULL);
    return 0;
}

int bz_assign_rename(struct bz_vars *v, struct bz_str from, struct bz_str to,
                     const struct bz_vars_at *at, struct bz_err *err)
{
    struct renaming r = {.left = RENAME_BUDGET};

    return rename_to(v, from, to, at, &r, err);
}

/* ---- flags ---- */

/* BB_RENAMED_VARIABLES[OLD] = "NEW" makes OLD a name that may not be set. */
static void learn_rename(struct bz_vars *v, struct bz_str old, struct bz_str use)
{
    struct bz_str *hint = BZ_ARENA_NEW(&v->arena, struct bz_str);

    *hint = use;
    bz_map_put(&v->renames, old)->p = hint;
    v->any_rename = true;
}

static void list_export(struct bz_vars *v, struct bz_store_cell *c)
{
    struct bz_store_node *own = bz_store_own(v, c);

    if (own->listed)
        return;
    own->listed = true;
    BZ_VEC_PUSH(&v->exports, own->name);
}

int bz_assign_flag(struct bz_vars *v, struct bz_str name, struct bz_str flag,
                   struct bz_str value, const struct bz_vars_at *at, struct bz_err *err)
{
    struct bz_store_cell *c;
    int rc = check_size(name, err);

    if (rc < 0)
        return rc;
    if (flag.n == 0 || flag.p[0] == ':')
        return bz_fail(err, BZ_E_INVAL, "%.*s[%.*s]: not the name of a flag",
                       BZ_STR_ARG(name), BZ_STR_ARG(flag));
    flag = bz_arena_dup(&v->arena, flag);
    value = bz_store_keep(v, value, nothing);
    if (bz_str_eq(name, BZ_STR("BB_RENAMED_VARIABLES")))
        learn_rename(v, flag, value);
    rc = check_renamed(v, name, err);
    if (rc < 0)
        return rc;
    c = bz_store_cell(v, name);
    bz_history_add(v, c, at, nothing, flag, value);
    bz_flag_put(v, bz_store_write(v, c), flag, value);
    if (bz_str_eq(flag, BZ_STR("export")) || bz_str_eq(flag, BZ_STR("unexport")))
        list_export(v, c);
    if (!bz_str_eq(flag, BZ_STR("_defaultval")))
        return 0;
    bz_override_add(v, name);
    return c->steers ? bz_override_steer(v, name, value, err) : 0;
}

int bz_assign_extend_flag(struct bz_vars *v, struct bz_str name, struct bz_str flag,
                          struct bz_str before, struct bz_str after,
                          const struct bz_vars_at *at, struct bz_err *err)
{
    struct bz_store_cell *c = bz_store_cell(v, name);
    struct bz_str added = before.p ? before : after;
    struct bz_buf value = bz_store_take(v);
    int rc = bz_buf_try_add_str(&value, before, err);

    if (rc == 0)
        rc = bz_buf_try_add_str(&value, bz_flag_read(c->var, flag, 0), err);
    if (rc == 0)
        rc = bz_buf_try_add_str(&value, after, err);
    if (rc == 0)
        rc = bz_assign_flag(v, name, flag, bz_str_of(bz_buf_text(&value), value.len),
                            NULL, err);
    if (rc == 0 && at && at->file)
        bz_history_add(v, c, at, before.p ? BZ_STR("prepend") : BZ_STR("append"),
                       bz_store_keep(v, flag, nothing),
                       bz_store_keep(v, added, nothing));
    bz_store_give(v, &value);
    return rc;
}

void bz_assign_del_flag(struct bz_vars *v, struct bz_str name, struct bz_str flag,
                        const struct bz_vars_at *at)
{
    struct bz_store_cell *c = bz_store_cell(v, name);
    struct bz_store_var *var;

    if (bz_store_empty(c->var))
        return;
    var = bz_store_write(v, c);
    if (!bz_flag_remove(v, var, flag))
        return;
    bz_flag_remove_weak(v, var, flag);
    if (at && at->file)
        bz_history_add(v, c, at, BZ_STR("delFlag"), bz_store_keep(v, flag, nothing),
                       BZ_STR(""));
}

void bz_assign_del_flags(struct bz_vars *v, struct bz_str name,
                         const struct bz_vars_at *at)
{
    struct bz_store_cell *c = bz_store_cell(v, name);
    struct bz_str content = c->var ? c->var->content : nothing;

    bz_history_add(v, c, at, BZ_STR("delete flags"), nothing, BZ_STR(""));
    if (!c->var || !c->var->has_content) {
        /* BitBake drops the copy's variable, which uncovers that of the parent. */
        bz_store_unshadow(v, c);
        return;
    }
    *bz_store_write(v, c) =
        (struct bz_store_var){.content = content, .has_content = true};
}
