#include "guard.h"

#include "tier_setting.h"

/* All tiers of an entry that can be understood; who uses them says what is wrong. */
struct tiers {
    struct bz_tier_spec *at;
    size_t n;
};

static struct tiers parse_tiers(struct bz_arena *a, const struct bz_settings_entry *e)
{
    struct tiers all = {.at = BZ_ARENA_ARRAY(a, struct bz_tier_spec, e->value.n)};
    struct bz_err err;

    for (size_t i = 0; i < e->value.n; i++)
        if (bz_tier_setting_parse(a, e->value.items[i], &e->place, &all.at[all.n],
                                  &err) == 0)
            all.n++;
    return all;
}

static const struct bz_tier_spec *find_place(const struct tiers *all,
                                             const struct bz_tier_spec *t)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->at[i].kind == t->kind && bz_str_eq(all->at[i].place, t->place))
            return &all->at[i];
    return NULL;
}

static bool trusts(const struct bz_tier_spec *t, struct bz_str key)
{
    for (size_t i = 0; i < t->ntrust; i++)
        if (bz_str_eq(t->trust[i], key))
            return true;
    return false;
}

/* Whether all keys that `t` trusts are those that one of the others trusts. */
static bool trusts_no_more(const struct bz_tier_spec *t, const struct tiers *others)
{
    bool asked = false;

    for (size_t i = 0; i < others->n; i++)
        asked = asked || others->at[i].ntrust > 0;
    for (size_t k = 0; asked && k < t->ntrust; k++) {
        bool found = false;

        for (size_t i = 0; i < others->n; i++)
            found = found || trusts(&others->at[i], t->trust[k]);
        if (!found)
            return false;
    }
    return true;
}

static int check_known(const struct bz_tier_spec *t, const struct bz_tier_spec *known,
                       struct bz_err *err)
{
    struct bz_tier_spec copy = *known;
    const struct tiers one = {&copy, 1};

    if (t->write && !known->write)
        return bz_fail(err, BZ_E_INVAL, "%s is to be read only", t->name.p);
    if (known->ntrust > 0 && (t->ntrust == 0 || !trusts_no_more(t, &one)))
        return bz_fail(err, BZ_E_INVAL, "%s needs the trust= that it has", t->name.p);
    for (int i = 0; i < BZ_TIER_SPEC_FILES; i++) {
        bool needed = i == BZ_TIER_SPEC_CA && known->file[i].n > 0;

        if ((needed || t->file[i].n > 0) && !bz_str_eq(t->file[i], known->file[i]))
            return bz_fail(err, BZ_E_INVAL,
                           "%s has other files with a token, certificates or a key",
                           t->name.p);
    }
    return 0;
}

static int check_stranger(const struct bz_tier_spec *t, const struct tiers *known,
                          struct bz_err *err)
{
    if (t->write)
        return bz_fail(err, BZ_E_INVAL, "nothing is written to %s", t->name.p);
    for (int i = 0; i < BZ_TIER_SPEC_FILES; i++)
        if (i != BZ_TIER_SPEC_CA && t->file[i].n > 0)
            return bz_fail(err, BZ_E_INVAL, "no token, certificate or key for %s",
                           t->name.p);
    if (t->ntrust == 0 || !trusts_no_more(t, known))
        return bz_fail(err, BZ_E_INVAL,
                       "%s needs trust= and a key that is trusted here", t->name.p);
    return 0;
}

static int check_tiers(const struct bz_settings_entry *before,
                       const struct bz_settings_entry *now, struct bz_err *err)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct tiers known = parse_tiers(&a, before);
    struct tiers said = parse_tiers(&a, now);
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < said.n; i++) {
        const struct bz_tier_spec *same = find_place(&known, &said.at[i]);

        rc = same ? check_known(&said.at[i], same, err)
                  : check_stranger(&said.at[i], &known, err);
    }
    return rc < 0 ? bz_err_wrap(err, "a project may not decide this") : 0;
}

/* How much a value allows. */
static int64_t freedom(enum bz_setting_id id, int64_t value)
{
    static const int64_t verify[] = {[BZ_SETTING_VERIFY_ALWAYS] = 0,
                                     [BZ_SETTING_VERIFY_FIRST_USE] = 1,
                                     [BZ_SETTING_VERIFY_NEVER] = 2};

    if (id == BZ_SETTING_CACHE_VERIFY)
        return verify[value];
    return id == BZ_SETTING_SANDBOX ? value == BZ_SETTING_SANDBOX_AUTO : value;
}

int bz_guard_check(const struct bz_settings_entry *before, enum bz_setting_id id,
                   const struct bz_settings_entry *now, struct bz_err *err)
{
    const struct bz_setting_value *old = &before[id].value;

    switch (id) {
    case BZ_SETTING_CACHE_TIERS:
        return check_tiers(&before[id], now, err);
    case BZ_SETTING_CACHE_UPLOAD:
    case BZ_SETTING_CACHE_VERIFY:
    case BZ_SETTING_SANDBOX:
        if (freedom(id, now->value.number) <= freedom(id, old->number))
            return 0;
        return bz_fail(err, BZ_E_INVAL, "a project may only be stricter than '%.*s'",
                       BZ_STR_ARG(old->text));
    case BZ_SETTING_CACHE_KEYS:
    case BZ_SETTING_CACHE_SIGN:
    case BZ_SETTING_STATE_DIR:
        if (now->value.text.n == 0 || bz_str_eq(now->value.text, old->text))
            return 0;
        return bz_fail(err, BZ_E_INVAL, "a project may not decide this");
    default:
        return 0;
    }
}
