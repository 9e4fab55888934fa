#include "args.h"

const struct bz_doc *replay_args_at(const struct bz_doc *op, size_t i)
{
    const struct bz_doc *args = bz_doc_find(op, "args");

    return args && args->type == BZ_DOC_LIST && i < args->count ? &args->items[i]
                                                                : NULL;
}

const struct bz_doc *replay_args_either(const struct bz_doc *op, size_t i,
                                        const char *key)
{
    const struct bz_doc *kw = bz_doc_find(op, "kw");
    const struct bz_doc *found = replay_args_at(op, i);

    return found || !kw ? found : bz_doc_find(kw, key);
}

bool replay_args_text_of(struct bz_arena *arena, const struct bz_doc *d,
                         struct bz_str *out)
{
    *out = (struct bz_str){0};
    if (!d || d->type == BZ_DOC_NULL)
        return true;
    switch (d->type) {
    case BZ_DOC_STR:
        *out = d->text.p ? d->text : BZ_STR("");
        return true;
    case BZ_DOC_BOOL:
        *out = d->b ? BZ_STR("1") : BZ_STR("0");
        return true;
    case BZ_DOC_INT:
        *out = bz_arena_printf(arena, "%jd", (intmax_t)d->i);
        return true;
    default:
        return false;
    }
}

struct bz_str replay_args_text(struct replay_run *r, const struct bz_doc *op, size_t i)
{
    struct bz_str out;

    if (!replay_args_text_of(&r->arena, replay_args_at(op, i), &out))
        out = (struct bz_str){0};
    return out;
}

bool replay_args_true(const struct bz_doc *d, bool otherwise)
{
    if (!d || d->type == BZ_DOC_NULL)
        return otherwise;
    return d->type == BZ_DOC_BOOL ? d->b : d->type != BZ_DOC_INT || d->i != 0;
}

unsigned replay_args_how(const struct bz_doc *op, size_t first)
{
    return (replay_args_true(replay_args_either(op, first, "expand"), true)
                ? 0
                : BZ_VARS_RAW) |
           (replay_args_true(replay_args_either(op, first + 1, "noweakdefault"), false)
                ? BZ_VARS_NOWEAK
                : 0) |
           (replay_args_true(replay_args_either(op, first + 2, "parsing"), false)
                ? BZ_VARS_PARSING
                : 0);
}
