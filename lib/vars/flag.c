#include "vars/flag.h"

static const struct bz_str content = {"_content", 8};
static const struct bz_str weak = {"_defaultval", 11};

static struct bz_store_flag *find(const struct bz_store_flags *f, struct bz_str name)
{
    for (uint32_t i = 0; i < f->n; i++)
        if (bz_str_eq(f->at[i].name, name))
            return &f->at[i];
    return NULL;
}

bool bz_flag_get(const struct bz_store_var *var, struct bz_str flag,
                 struct bz_str *value)
{
    const struct bz_store_flag *f;

    *value = (struct bz_str){0};
    if (!var)
        return false;
    if (bz_str_eq(flag, content)) {
        *value = var->content;
        return var->has_content;
    }
    if (bz_str_eq(flag, weak)) {
        *value = var->weak;
        return var->has_weak;
    }
    f = find(&var->flags, flag);
    if (f)
        *value = f->value;
    return f != NULL;
}

/* The default of `flag`; compared in two parts, so that no name need be put together.
 */
static const struct bz_store_flag *find_weak(const struct bz_store_flags *f,
                                             struct bz_str flag)
{
    for (uint32_t i = 0; i < f->n; i++) {
        struct bz_str name = f->at[i].name;

        /* Few have the length, which is the quickest to tell. */
        if (name.n == flag.n + BZ_FLAG_WEAK.n &&
            bz_str_cut_prefix(&name, BZ_FLAG_WEAK) && bz_str_eq(name, flag))
            return &f->at[i];
    }
    return NULL;
}

struct bz_str bz_flag_read(const struct bz_store_var *var, struct bz_str flag,
                           unsigned how)
{
    struct bz_str value;
    const struct bz_store_flag *f;

    if (bz_flag_get(var, flag, &value) || !var || (how & BZ_VARS_NOWEAK))
        return value;
    f = find_weak(&var->flags, flag);
    return f ? f->value : value;
}

/* Makes the array the store's own, so that an element may be changed or removed. */
static void unshare(struct bz_vars *v, struct bz_store_flags *f)
{
    if (f->cap == 0)
        bz_store_grow_flags(v, f);
}

void bz_flag_put(struct bz_vars *v, struct bz_store_var *var, struct bz_str flag,
                 struct bz_str value)
{
    struct bz_store_flag *f;

    if (bz_str_eq(flag, content)) {
        var->content = value;
        var->has_content = true;
        return;
    }
    if (bz_str_eq(flag, weak)) {
        var->weak = value;
        var->has_weak = true;
        return;
    }
    unshare(v, &var->flags);
    f = find(&var->flags, flag);
    if (f) {
        f->value = value;
        return;
    }
    bz_store_grow_flags(v, &var->flags);
    var->flags.at[var->flags.n++] = (struct bz_store_flag){flag, value};
}

static void drop(struct bz_store_flags *f, uint32_t i)
{
    f->n--;
    memmove(&f->at[i], &f->at[i + 1], (f->n - i) * sizeof(*f->at));
}

bool bz_flag_remove(struct bz_vars *v, struct bz_store_var *var, struct bz_str flag)
{
    struct bz_store_flag *f;
    bool was;

    if (bz_str_eq(flag, content)) {
        was = var->has_content;
        var->content = (struct bz_str){0};
        var->has_content = false;
        return was;
    }
    if (bz_str_eq(flag, weak)) {
        was = var->has_weak;
        var->weak = (struct bz_str){0};
        var->has_weak = false;
        return was;
    }
    unshare(v, &var->flags);
    f = find(&var->flags, flag);
    if (!f)
        return false;
    drop(&var->flags, (uint32_t)(f - var->flags.at));
    return true;
}

void bz_flag_remove_weak(struct bz_vars *v, struct bz_store_var *var,
                         struct bz_str flag)
{
    const struct bz_store_flag *f;

    unshare(v, &var->flags);
    f = find_weak(&var->flags, flag);
    if (f)
        drop(&var->flags, (uint32_t)(f - var->flags.at));
}

void bz_flag_each(const struct bz_store_var *var, bz_vars_flag_fn fn, void *ctx)
{
    if (!var)
        return;
    for (uint32_t i = 0; i < var->flags.n; i++) {
        struct bz_str name = var->flags.at[i].name;

        if (bz_str_cut_prefix(&name, BZ_FLAG_WEAK)) {
            if (find(&var->flags, name))
                continue;
        } else if (name.n > 0 && (name.p[0] == '_' || name.p[0] == ':')) {
            continue;
        }
        fn(ctx, name, var->flags.at[i].value);
    }
}
