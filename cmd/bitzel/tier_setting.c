#include "tier_setting.h"

int bz_tier_setting_parse(struct bz_arena *a, struct bz_str text,
                          const struct bz_setting_value_place *place,
                          struct bz_tier_spec *out, struct bz_err *err)
{
    int rc = bz_tier_spec_parse(a, text, out, err);

    if (rc == 0 && out->kind == BZ_TIER_SPEC_DIR)
        rc = bz_setting_value_path(a, out->place, place, &out->place, err);
    for (int i = 0; rc == 0 && i < BZ_TIER_SPEC_FILES; i++)
        if (out->file[i].n > 0)
            rc = bz_setting_value_path(a, out->file[i], place, &out->file[i], err);
    if (rc < 0)
        text = bz_tier_setting_shown(a, text);
    return rc < 0 ? bz_err_wrap(err, "'%.*s'", BZ_STR_ARG(text)) : 0;
}

struct bz_str bz_tier_setting_shown(struct bz_arena *a, struct bz_str text)
{
    size_t scheme = bz_str_find(text, BZ_STR("://"));
    struct bz_str rest, host;
    size_t at;

    if (scheme == BZ_STR_NONE)
        return text;
    rest = host = bz_str_drop(text, scheme + 3);
    for (size_t i = 0; i < host.n; i++)
        if (host.p[i] == '/' || host.p[i] == ' ' || host.p[i] == '\t')
            host.n = i;
    /* A password may have an '@' in it. */
    at = bz_str_rfind_byte(host, '@');
    if (at == BZ_STR_NONE)
        return text;
    return BZ_ARENA_CONCAT(a, bz_str_sub(text, 0, scheme + 3),
                           bz_str_drop(rest, at + 1));
}

struct bz_setting_value bz_tier_setting_value(struct bz_arena *a,
                                              const struct bz_setting_value *v)
{
    struct bz_setting_value out = {.items = BZ_ARENA_ARRAY(a, struct bz_str, v->n)};

    for (; out.n < v->n; out.n++) {
        struct bz_str item = bz_tier_setting_shown(a, v->items[out.n]);

        out.items[out.n] = item;
        out.text = out.n == 0 ? item : BZ_ARENA_CONCAT(a, out.text, BZ_STR("; "), item);
    }
    return out;
}
