/* setting_value.h - the text of a setting as a value of its type.
 *
 * Sizes are bytes: a whole number and K, M, G, T or P, which count in powers of 1024
 * ("10G", "512MiB"), or a share ("50%"), which is a negative number. Durations are
 * pairs of a whole number and ms, s, m, h, d or w
 * ("30s", "1h30m"); only 0 needs no unit. Texts are bounded by BZ_SETTING_VALUE_MAX
 * bytes, lists also by BZ_SETTING_VALUE_ITEMS.
 */
#ifndef BZ_CONFIG_SETTING_VALUE_H
#define BZ_CONFIG_SETTING_VALUE_H

#include "config/setting.h"

#define BZ_SETTING_VALUE_MAX 16384U
#define BZ_SETTING_VALUE_ITEMS 256U

struct bz_setting_value {
    struct bz_str text;   /* terminated; a path is absolute or, if it is empty, none */
    int64_t number;       /* of a BOOL, INT, SIZE (negative: per cent), DURATION (ns),
                             ENUM (its index) */
    struct bz_str *items; /* of a LIST, none of them empty */
    size_t n;
};

/* What texts are relative to. */
struct bz_setting_value_place {
    struct bz_str base; /* a directory, absolute: where relative paths start */
    struct bz_str home; /* what ~ stands for; {0} if that is not known */
};

/* The value is in the arena. BZ_E_INVAL, saying what was expected. */
int bz_setting_value_parse(struct bz_arena *a, const struct bz_setting *row,
                           struct bz_str text,
                           const struct bz_setting_value_place *place,
                           struct bz_setting_value *out,
                           struct bz_err *err) BZ_MUST_CHECK;

/* A path as a setting may name it: ~ and ~/x, absolute, or relative to the base. The
 * result is absolute and normalised, in the arena. */
int bz_setting_value_path(struct bz_arena *a, struct bz_str text,
                          const struct bz_setting_value_place *place,
                          struct bz_str *out, struct bz_err *err) BZ_MUST_CHECK;

#endif
