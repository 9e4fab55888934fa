#include "graph/target.h"

/* Takes "mc:NAME:" off the front. False if a configuration alone is named. */
static bool cut_configuration(struct bz_str *rest, struct bz_target *out)
{
    struct bz_str name, recipe;

    if (!bz_str_cut_prefix(rest, BZ_STR("mc:")) &&
        !bz_str_cut_prefix(rest, BZ_STR("multiconfig:")))
        return true;
    if (!bz_str_cut(*rest, ':', &name, &recipe)) {
        out->mc = name;
        return false;
    }
    out->every = bz_str_eq(name, BZ_STR("*"));
    out->mc = out->every ? BZ_STR("") : name;
    *rest = recipe;
    return true;
}

int bz_target_parse(struct bz_str text, struct bz_target *out, struct bz_err *err)
{
    struct bz_str rest = text;
    size_t at;

    *out = (struct bz_target){.mc = BZ_STR(""), .name = BZ_STR("")};
    if (!cut_configuration(&rest, out)) {
        if (out->mc.n > 0 && !bz_str_eq(out->mc, BZ_STR("*")))
            return 0;
        return bz_fail(err, BZ_E_INVAL,
                       "target '%.*s' names neither a configuration nor a recipe; "
                       "write mc:CONFIGURATION:RECIPE",
                       BZ_STR_ARG(text));
    }
    at = bz_str_find(rest, BZ_STR(":do_"));
    if (at != BZ_STR_NONE) {
        out->task = bz_str_sub(rest, at + 1, rest.n);
        rest = bz_str_sub(rest, 0, at);
    }
    out->name = rest;
    if (rest.n > 0)
        return 0;
    return bz_fail(err, BZ_E_INVAL, "target '%.*s' names no recipe", BZ_STR_ARG(text));
}
