#include "config/setting_value.h"

#include "base/buf.h"
#include "os/clock.h"
#include "os/path.h"

struct unit {
    const char *name;
    uint64_t worth;
};

static const struct unit sizes[] = {
    {"",  1         },
    {"B", 1         },
    {"K", 1ULL << 10},
    {"M", 1ULL << 20},
    {"G", 1ULL << 30},
    {"T", 1ULL << 40},
    {"P", 1ULL << 50},
};

static const struct unit durations[] = {
    {"ms", BZ_CLOCK_S / 1000  },
    {"s",  BZ_CLOCK_S         },
    {"m",  60 * BZ_CLOCK_S    },
    {"h",  3600 * BZ_CLOCK_S  },
    {"d",  86400 * BZ_CLOCK_S },
    {"w",  604800 * BZ_CLOCK_S},
};

static const struct unit *find_unit(const struct unit *units, size_t n,
                                    struct bz_str name)
{
    for (size_t i = 0; i < n; i++)
        if (bz_str_eq(bz_str_from(units[i].name), name))
            return &units[i];
    return NULL;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Takes the digits at the beginning of *rest as a number. */
static int take_number(struct bz_str *rest, uint64_t *out, struct bz_err *err)
{
    size_t n = 0;
    int rc;

    while (n < rest->n && is_digit(rest->p[n]))
        n++;
    rc = bz_str_parse_u64(bz_str_sub(*rest, 0, n), 10, INT64_MAX, out, err);
    *rest = bz_str_drop(*rest, n);
    return rc;
}

static bool multiply_add(int64_t *sum, uint64_t number, uint64_t worth)
{
    uint64_t product, all;

    if (__builtin_mul_overflow(number, worth, &product) ||
        __builtin_add_overflow((uint64_t)*sum, product, &all) || all > INT64_MAX)
        return false;
    *sum = (int64_t)all;
    return true;
}

static int parse_size(struct bz_str text, int64_t *out, struct bz_err *err)
{
    const struct unit *u;
    struct bz_str rest = text;
    uint64_t number;

    *out = 0;
    if (take_number(&rest, &number, err) < 0)
        return bz_fail(err, BZ_E_INVAL, "expected a size such as 10G, 512M or 0");
    rest = bz_str_trim_start(rest);
    if (bz_str_eq(rest, BZ_STR("%"))) {
        if (number < 1 || number > 100)
            return bz_fail(err, BZ_E_INVAL, "expected a share from 1%% to 100%%");
        *out = -(int64_t)number;
        return 0;
    }
    if (rest.n == 3)
        bz_str_cut_suffix(&rest, BZ_STR("iB"));
    u = find_unit(sizes, BZ_COUNTOF(sizes), rest);
    if (!u)
        return bz_fail(err, BZ_E_INVAL,
                       "expected a size such as 10G, 512M or 0: the units are K, M, G, "
                       "T and P, in powers of 1024, and %%");
    if (!multiply_add(out, number, u->worth))
        return bz_fail(err, BZ_E_INVAL, "this size is too large");
    return 0;
}

static int parse_duration(struct bz_str text, int64_t *out, struct bz_err *err)
{
    struct bz_str rest = text;

    *out = 0;
    if (bz_str_eq(text, BZ_STR("0")))
        return 0;
    do {
        const struct unit *u;
        uint64_t number;
        size_t n = 0;
        int rc = take_number(&rest, &number, err);

        while (n < rest.n && !is_digit(rest.p[n]))
            n++;
        u = find_unit(durations, BZ_COUNTOF(durations),
                      bz_str_trim(bz_str_sub(rest, 0, n)));
        if (rc < 0 || !u)
            return bz_fail(err, BZ_E_INVAL,
                           "expected a duration such as 30s, 1h30m or 14d: the units "
                           "are ms, s, m, h, d and w");
        if (!multiply_add(out, number, u->worth))
            return bz_fail(err, BZ_E_INVAL, "this duration is too long");
        rest = bz_str_drop(rest, n);
    } while (rest.n > 0);
    return 0;
}

static int parse_bool(struct bz_str text, int64_t *out, struct bz_err *err)
{
    static const struct {
        const char *word;
        bool is;
    } words[] = {
        {"true",  true },
        {"yes",   true },
        {"on",    true },
        {"1",     true },
        {"false", false},
        {"no",    false},
        {"off",   false},
        {"0",     false},
    };

    for (size_t i = 0; i < BZ_COUNTOF(words); i++)
        if (bz_str_eq(bz_str_from(words[i].word), text)) {
            *out = words[i].is;
            return 0;
        }
    return bz_fail(err, BZ_E_INVAL, "expected true or false");
}

static int parse_int(const struct bz_setting *row, struct bz_str text, int64_t *out,
                     struct bz_err *err)
{
    struct bz_str digits = text;
    bool negative = bz_str_cut_prefix(&digits, BZ_STR("-"));
    uint64_t number = 0;

    if (bz_str_parse_u64(digits, 10, INT64_MAX, &number, err) == 0) {
        *out = negative ? -(int64_t)number : (int64_t)number;
        if (*out >= row->min && *out <= row->max)
            return 0;
    }
    return bz_fail(err, BZ_E_INVAL, "expected a number from %lld to %lld",
                   (long long)row->min, (long long)row->max);
}

static int parse_enum(const struct bz_setting *row, struct bz_str text, int64_t *out,
                      struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf all = {0};

    for (int i = 0; row->choices[i]; i++) {
        if (bz_str_eq(bz_str_from(row->choices[i]), text)) {
            *out = i;
            return 0;
        }
        bz_buf_addf(&all, "%s%s", i == 0 ? "" : ", ", row->choices[i]);
    }
    return bz_fail(err, BZ_E_INVAL, "expected one of: %s", bz_buf_text(&all));
}

int bz_setting_value_path(struct bz_arena *a, struct bz_str text,
                          const struct bz_setting_value_place *place,
                          struct bz_str *out, struct bz_err *err)
{
    struct bz_path joined, clean;
    struct bz_str base = place->base;
    int rc;

    if (text.n == 0)
        return bz_fail(err, BZ_E_INVAL, "expected a path");
    if (text.p[0] == '~') {
        base = place->home;
        text = bz_str_drop(text, 1);
        if (text.n > 0 && text.p[0] != '/')
            return bz_fail(err, BZ_E_INVAL,
                           "only ~ and ~/ stand for a home directory, your own");
        if (base.n == 0)
            return bz_fail(err, BZ_E_INVAL, "~ has no meaning: HOME is not set");
        while (bz_str_cut_prefix(&text, BZ_STR("/")))
            ;
    }
    rc = bz_path_join(base, text, &joined, err);
    if (rc == 0)
        rc = bz_path_normalise(bz_path_str(&joined), &clean, err);
    if (rc == 0)
        *out = bz_arena_dup(a, bz_path_str(&clean));
    return rc;
}

static int parse_list(struct bz_arena *a, struct bz_str text,
                      struct bz_setting_value *out, struct bz_err *err)
{
    struct bz_str rest = text, part;

    out->items = BZ_ARENA_ARRAY(a, struct bz_str, BZ_SETTING_VALUE_ITEMS);
    while (bz_str_next_part(&rest, ';', &part)) {
        part = bz_str_trim(part);
        if (part.n == 0)
            continue;
        if (out->n == BZ_SETTING_VALUE_ITEMS)
            return bz_fail(err, BZ_E_INVAL, "more than %u items",
                           BZ_SETTING_VALUE_ITEMS);
        out->items[out->n++] = bz_arena_dup(a, part);
    }
    return 0;
}

int bz_setting_value_parse(struct bz_arena *a, const struct bz_setting *row,
                           struct bz_str text,
                           const struct bz_setting_value_place *place,
                           struct bz_setting_value *out, struct bz_err *err)
{
    *out = (struct bz_setting_value){0};
    if (text.n > BZ_SETTING_VALUE_MAX)
        return bz_fail(err, BZ_E_INVAL, "longer than %u bytes", BZ_SETTING_VALUE_MAX);
    out->text = bz_arena_dup(a, text);
    switch (row->type) {
    case BZ_SETTING_BOOL:
        return parse_bool(text, &out->number, err);
    case BZ_SETTING_INT:
        return parse_int(row, text, &out->number, err);
    case BZ_SETTING_SIZE:
        return parse_size(text, &out->number, err);
    case BZ_SETTING_DURATION:
        return parse_duration(text, &out->number, err);
    case BZ_SETTING_ENUM:
        return parse_enum(row, text, &out->number, err);
    case BZ_SETTING_PATH:
        return bz_setting_value_path(a, text, place, &out->text, err);
    case BZ_SETTING_LIST:
        return parse_list(a, text, out, err);
    case BZ_SETTING_TEXT:
        break;
    }
    return 0;
}
