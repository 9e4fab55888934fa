#include "recipe/regex.h"

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
