#include "codec/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>

#include "base/mem.h"

enum { STEPS = 1000000 }; /* of backtracking for one text */

struct bz_regex {
    pcre2_code *code;
    pcre2_match_data *match;
    pcre2_match_context *bounds;
};

int bz_regex_new(struct bz_str pattern, enum bz_regex_how how, struct bz_regex **out,
                 struct bz_err *err)
{
    uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF |
                       (how == BZ_REGEX_MATCH ? PCRE2_ANCHORED : 0);
    struct bz_regex *r;
    PCRE2_SIZE at;
    int code;
    pcre2_code *compiled = pcre2_compile((PCRE2_SPTR)(pattern.p ? pattern.p : ""),
                                         pattern.n, options, &code, &at, NULL);

    if (!compiled) {
        PCRE2_UCHAR text[120] = "";

        pcre2_get_error_message(code, text, sizeof(text));
        return bz_fail(err, BZ_E_INVAL, "regular expression '%.*s', at %zu: %s",
                       BZ_STR_ARG(pattern), (size_t)at, (const char *)text);
    }
    r = bz_mem_zalloc(sizeof(*r));
    r->code = compiled;
    r->match = pcre2_match_data_create_from_pattern(compiled, NULL);
    r->bounds = pcre2_match_context_create(NULL);
    BZ_ASSERT(r->match && r->bounds);
    pcre2_set_match_limit(r->bounds, STEPS);
    *out = r;
    return 0;
}

void bz_regex_free(struct bz_regex *r)
{
    if (!r)
        return;
    pcre2_match_context_free(r->bounds);
    pcre2_match_data_free(r->match);
    pcre2_code_free(r->code);
    free(r);
}

bool bz_regex_test(struct bz_regex *r, struct bz_str text)
{
    return pcre2_match(r->code, (PCRE2_SPTR)(text.p ? text.p : ""), text.n, 0, 0,
                       r->match, r->bounds) >= 0;
}

/* A reference to a group at the beginning of *rest, which is behind a backslash. */
static bool take_group(struct bz_str *rest, size_t *group)
{
    bool named = bz_str_cut_prefix(rest, BZ_STR("g<"));
    size_t n = 0;

    *group = 0;
    while (n < rest->n && n < 2 && rest->p[n] >= '0' && rest->p[n] <= '9')
        *group = *group * 10 + (size_t)(rest->p[n++] - '0');
    *rest = bz_str_drop(*rest, n);
    return (!named || bz_str_cut_prefix(rest, BZ_STR(">"))) && n > 0;
}

static void add_template(const struct bz_regex *r, struct bz_str text,
                         struct bz_str rest, struct bz_buf *out)
{
    const PCRE2_SIZE *at = pcre2_get_ovector_pointer(r->match);
    size_t groups = pcre2_get_ovector_count(r->match), group;

    while (rest.n > 0) {
        struct bz_str tail;

        if (rest.p[0] != '\\' || rest.n == 1) {
            bz_buf_add_char(out, rest.p[0]);
            rest = bz_str_drop(rest, 1);
            continue;
        }
        tail = rest = bz_str_drop(rest, 1);
        if (!take_group(&tail, &group)) {
            bz_buf_add_char(out, rest.p[0]);
            rest = bz_str_drop(rest, 1);
            continue;
        }
        rest = tail;
        if (group < groups && at[2 * group] != PCRE2_UNSET)
            bz_buf_add(out, text.p + at[2 * group], at[2 * group + 1] - at[2 * group]);
    }
}

bool bz_regex_replace(struct bz_regex *r, struct bz_str text, struct bz_str with,
                      struct bz_buf *out)
{
    const PCRE2_SIZE *at = pcre2_get_ovector_pointer(r->match);
    struct bz_str whole = text.p ? text : BZ_STR("");

    /* \K may put the beginning of a match behind its end. */
    if (!bz_regex_test(r, whole) || at[0] > at[1])
        return false;
    bz_buf_add(out, whole.p, at[0]);
    add_template(r, whole, with, out);
    bz_buf_add_str(out, bz_str_sub(whole, at[1], whole.n));
    return true;
}
