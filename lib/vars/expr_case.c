#include "vars/expr_case.h"

#include "vars/expr_text.h"

enum casing { LOWER, UPPER, TITLE, CAPITAL, SWAP };

/* What the characters may be. */
enum { LETTER = 1, DIGIT = 2, SPACE = 4 };

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_letter(char c)
{
    return is_upper(c) || is_lower(c);
}

static int kind_of(char c)
{
    if (is_letter(c))
        return LETTER;
    if (c >= '0' && c <= '9')
        return DIGIT;
    return bz_str_trim(bz_str_of(&c, 1)).n == 0 ? SPACE : 0;
}

static char cased(char c, enum casing how, bool first)
{
    bool up = how == UPPER || (how >= TITLE && how <= CAPITAL && first) ||
              (how == SWAP && is_lower(c));

    if (!is_letter(c))
        return c;
    return (char)(up ? c & ~0x20 : c | 0x20);
}

static int only_ascii(struct bz_expr_run *r, struct bz_str s)
{
    if (!bz_expr_text_ascii(s))
        return bz_expr_value_unknown(r, "the letters of other than ASCII");
    return bz_expr_value_charge(r, s.n / 16);
}

static int recase(struct bz_expr_run *r, struct bz_str s, enum casing how,
                  struct bz_expr_value *out)
{
    char *text;
    size_t i;
    int rc;

    if ((rc = only_ascii(r, s)) < 0 || (rc = bz_expr_value_room(r, s.n, &text)) < 0)
        return rc;
    for (i = 0; i < s.n; i++)
        text[i] =
            cased(s.p[i], how, i == 0 || (how == TITLE && !is_letter(s.p[i - 1])));
    *out = bz_expr_value_str(bz_str_of(text, s.n));
    return 0;
}

int bz_expr_case_lower(struct bz_expr_run *r, struct bz_str text,
                       struct bz_expr_value *out)
{
    return recase(r, text, LOWER, out);
}

static int to_case(struct bz_expr_run *r, const struct bz_expr_args *a,
                   struct bz_expr_value *out)
{
    return recase(r, a->self->s, (enum casing)a->how, out);
}

/* Whether there are characters, and all of them of the kinds in `how`. */
static int all_are(struct bz_expr_run *r, const struct bz_expr_args *a,
                   struct bz_expr_value *out)
{
    struct bz_str s = a->self->s;
    bool all = s.n > 0;
    size_t i;

    for (i = 0; all && i < s.n; i++)
        all = kind_of(s.p[i]) & a->how;
    *out = bz_expr_value_bool(all);
    return only_ascii(r, s);
}

/* Whether there is a letter, and none of the other case. */
static int case_is(struct bz_expr_run *r, const struct bz_expr_args *a,
                   struct bz_expr_value *out)
{
    struct bz_str s = a->self->s;
    bool letter = false, wrong = false;
    size_t i;

    for (i = 0; i < s.n; i++) {
        letter |= is_letter(s.p[i]);
        wrong |= a->how == LOWER ? is_upper(s.p[i]) : is_lower(s.p[i]);
    }
    *out = bz_expr_value_bool(letter && !wrong);
    return only_ascii(r, s);
}

static const struct bz_expr_fn methods[] = {
    {BZ_STR("capitalize"), 0, 0, NULL, to_case, CAPITAL       },
    {BZ_STR("isalnum"),    0, 0, NULL, all_are, LETTER | DIGIT},
    {BZ_STR("isalpha"),    0, 0, NULL, all_are, LETTER        },
    {BZ_STR("isdecimal"),  0, 0, NULL, all_are, DIGIT         },
    {BZ_STR("isdigit"),    0, 0, NULL, all_are, DIGIT         },
    {BZ_STR("islower"),    0, 0, NULL, case_is, LOWER         },
    {BZ_STR("isnumeric"),  0, 0, NULL, all_are, DIGIT         },
    {BZ_STR("isspace"),    0, 0, NULL, all_are, SPACE         },
    {BZ_STR("isupper"),    0, 0, NULL, case_is, UPPER         },
    {BZ_STR("lower"),      0, 0, NULL, to_case, LOWER         },
    {BZ_STR("swapcase"),   0, 0, NULL, to_case, SWAP          },
    {BZ_STR("title"),      0, 0, NULL, to_case, TITLE         },
    {BZ_STR("upper"),      0, 0, NULL, to_case, UPPER         },
};

const struct bz_expr_fn *bz_expr_case_method(struct bz_str name)
{
    return bz_expr_call_search(methods, BZ_COUNTOF(methods), name);
}
