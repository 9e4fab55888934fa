#include "vars/expr_text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "vars/expr_parse.h"

#define TEXT_MAX ((size_t)16 << 20)

bool bz_expr_text_ascii(struct bz_str s)
{
    size_t i;

    for (i = 0; i + 8 <= s.n; i += 8) {
        uint64_t word;

        memcpy(&word, s.p + i, sizeof(word));
        if (word & UINT64_C(0x8080808080808080))
            return false;
    }
    for (; i < s.n; i++) {
        if (s.p[i] & 0x80)
            return false;
    }
    return true;
}

static bool continues(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

size_t bz_expr_text_length(struct bz_str s)
{
    size_t i, n = 0;

    for (i = 0; i < s.n; i++)
        n += !continues(s.p[i]);
    return n;
}

size_t bz_expr_text_offset(struct bz_str s, size_t at)
{
    size_t i;

    if (bz_expr_text_ascii(s))
        return at < s.n ? at : s.n;
    for (i = 0; i < s.n; i++) {
        if (!continues(s.p[i]) && at-- == 0)
            break;
    }
    return i;
}

int bz_expr_text_find_last(struct bz_expr_run *r, struct bz_str s, struct bz_str needle,
                           size_t *at)
{
    size_t end;
    int rc = bz_expr_value_charge(r, needle.n > 1 ? s.n / 64 * needle.n : 0);

    *at = needle.n == 1 ? bz_str_rfind_byte(s, needle.p[0]) : BZ_STR_NONE;
    if (rc < 0 || needle.n == 1)
        return rc;
    for (end = s.n; end >= needle.n; end--) {
        if (needle.n == 0 || memcmp(s.p + end - needle.n, needle.p, needle.n) == 0) {
            *at = end - needle.n;
            break;
        }
    }
    return 0;
}

/* The shortest digits that read back as the same number, as Python writes them. */
static void float_text(double f, char out[48])
{
    char digits[40];
    const char *minus = signbit(f) ? "-" : "";
    int precision, exponent;

    if (!isfinite(f)) {
        snprintf(out, 48, "%s", isnan(f) ? "nan" : signbit(f) ? "-inf" : "inf");
        return;
    }
    f = fabs(f);
    for (precision = 0; precision < 17; precision++) {
        snprintf(digits, sizeof(digits), "%.*e", precision, f);
        if (strtod(digits, NULL) == f)
            break;
    }
    exponent = (int)strtol(strchr(digits, 'e') + 1, NULL, 10);
    if (exponent < -4 || exponent >= 16)
        snprintf(out, 48, "%s%.*e", minus, precision, f);
    else
        snprintf(out, 48, "%s%.*f", minus,
                 precision > exponent ? precision - exponent : 1, f);
}

static int add_quoted(struct bz_expr_run *r, struct bz_buf *to, struct bz_str s)
{
    bool two = bz_str_find_byte(s, '\'') != BZ_STR_NONE &&
               bz_str_find_byte(s, '"') == BZ_STR_NONE;
    char quote = two ? '"' : '\'';
    size_t i;
    int rc = bz_buf_try_add_char(to, quote, r->err);

    if (!bz_expr_text_ascii(s))
        return bz_expr_value_unknown(r, "repr() of other than ASCII");
    for (i = 0; rc == 0 && i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if (c == (unsigned char)quote || c == '\\')
            rc = bz_buf_try_addf(to, r->err, "\\%c", c);
        else if (c == '\n' || c == '\r' || c == '\t')
            rc = bz_buf_try_addf(to, r->err, "\\%c",
                                 c == '\n'   ? 'n'
                                 : c == '\r' ? 'r'
                                             : 't');
        else if (c < ' ' || c == 0x7f)
            rc = bz_buf_try_addf(to, r->err, "\\x%02x", c);
        else
            rc = bz_buf_try_add_char(to, (char)c, r->err);
    }
    return rc < 0 ? rc : bz_buf_try_add_char(to, quote, r->err);
}

static int add_repr(struct bz_expr_run *r, struct bz_buf *to,
                    const struct bz_expr_value *v, unsigned depth);

static int add_item(struct bz_expr_run *r, struct bz_buf *to,
                    const struct bz_expr_value *v, size_t i, unsigned depth)
{
    int rc = i > 0 ? bz_buf_try_add_str(to, BZ_STR(", "), r->err) : 0;

    if (rc == 0)
        rc = add_repr(r, to, &v->seq->at[i], depth + 1);
    if (rc < 0 || v->kind != BZ_EXPR_DICT)
        return rc;
    rc = bz_buf_try_add_str(to, BZ_STR(": "), r->err);
    return rc < 0 ? rc : add_repr(r, to, &v->seq->values[i], depth + 1);
}

static int add_all(struct bz_expr_run *r, struct bz_buf *to,
                   const struct bz_expr_value *v, unsigned depth)
{
    static const char *const brackets[] = {
        [BZ_EXPR_LIST] = "[]",
        [BZ_EXPR_TUPLE] = "()",
        [BZ_EXPR_SET] = "{}",
        [BZ_EXPR_DICT] = "{}",
    };
    size_t i;
    int rc;

    /* A tuple of a special type shows the names of its parts. */
    if (v->kind == BZ_EXPR_TUPLE && v->seq->type)
        return bz_expr_value_unknown(r, "str() of such a tuple");
    /* Python shows the keys of a set in an order of its own. */
    if (v->kind == BZ_EXPR_SET && v->seq->len > 1)
        return bz_expr_value_unknown(r, "str() of a set");
    if (v->kind == BZ_EXPR_SET && v->seq->len == 0)
        return bz_buf_try_add_str(to, BZ_STR("set()"), r->err);
    if (depth > BZ_EXPR_PARSE_DEPTH)
        return bz_expr_value_spent(r);
    rc = bz_buf_try_add_char(to, brackets[v->kind][0], r->err);
    for (i = 0; rc == 0 && i < v->seq->len; i++)
        rc = add_item(r, to, v, i, depth);
    if (rc == 0 && v->kind == BZ_EXPR_TUPLE && v->seq->len == 1)
        rc = bz_buf_try_add_char(to, ',', r->err);
    return rc < 0 ? rc : bz_buf_try_add_char(to, brackets[v->kind][1], r->err);
}

static int add_repr(struct bz_expr_run *r, struct bz_buf *to,
                    const struct bz_expr_value *v, unsigned depth)
{
    char text[48];
    int rc = bz_expr_value_charge(r, 1);

    if (rc < 0)
        return rc;
    switch (v->kind) {
    case BZ_EXPR_NONE:
        return bz_buf_try_add_str(to, BZ_STR("None"), r->err);
    case BZ_EXPR_BOOL:
        return bz_buf_try_add_str(to, v->i ? BZ_STR("True") : BZ_STR("False"), r->err);
    case BZ_EXPR_INT:
        return bz_buf_try_addf(to, r->err, "%" PRId64, v->i);
    case BZ_EXPR_FLOAT:
        float_text(v->f, text);
        return bz_buf_try_add_str(to, bz_str_from(text), r->err);
    case BZ_EXPR_STR:
        return add_quoted(r, to, v->s);
    case BZ_EXPR_LIST:
    case BZ_EXPR_TUPLE:
    case BZ_EXPR_SET:
    case BZ_EXPR_DICT:
        return add_all(r, to, v, depth);
    default:
        return bz_expr_value_unknown(r, "such a value as text");
    }
}

int bz_expr_text_repr(struct bz_expr_run *r, const struct bz_expr_value *v,
                      struct bz_expr_value *out)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {.limit = TEXT_MAX};
    int rc = add_repr(r, &text, v, 0);

    return rc < 0 ? rc : bz_expr_value_copy(r, bz_buf_str(&text), out);
}

int bz_expr_text_str(struct bz_expr_run *r, const struct bz_expr_value *v,
                     struct bz_expr_value *out)
{
    if (v->kind == BZ_EXPR_STR) {
        *out = *v;
        return 0;
    }
    if (v->kind == BZ_EXPR_NONE || v->kind == BZ_EXPR_BOOL) {
        *out = bz_expr_value_str(v->kind == BZ_EXPR_NONE ? BZ_STR("None")
                                 : v->i                  ? BZ_STR("True")
                                                         : BZ_STR("False"));
        return 0;
    }
    return bz_expr_text_repr(r, v, out);
}

static int bad_number(struct bz_expr_run *r, const char *what, struct bz_str text)
{
    struct bz_expr_value v = bz_expr_value_str(text), shown;
    int rc = bz_expr_text_repr(r, &v, &shown);

    if (rc < 0)
        return rc;
    return bz_fail(r->err, BZ_E_INVAL, "ValueError: %s: %.*s", what,
                   BZ_STR_ARG(shown.s));
}

/* The characters of a number without the underscores between digits; false if those
 * stand elsewhere or there is too much of it. */
static bool plain_digits(struct bz_str text, char out[72])
{
    size_t i, n = 0;

    for (i = 0; i < text.n; i++) {
        char c = text.p[i];

        if (c == '_') {
            if (i == 0 || i + 1 == text.n || text.p[i - 1] == '_' ||
                strchr("+-.", text.p[i - 1]) || strchr("+-._", text.p[i + 1]))
                return false;
            continue;
        }
        if (c == '\0' || n == 71)
            return false;
        out[n++] = c;
    }
    out[n] = '\0';
    return n > 0;
}

/* Takes "0x" and the like off, where the base calls for it. */
static int cut_base(struct bz_str *digits, int base)
{
    static const char kinds[] = {'x', 'o', 'b'};
    static const int bases[] = {16, 8, 2};
    size_t i;

    for (i = 0; i < BZ_COUNTOF(kinds); i++) {
        if (digits->n > 2 && digits->p[0] == '0' && (digits->p[1] | 0x20) == kinds[i] &&
            (base == 0 || base == bases[i])) {
            *digits = bz_str_sub(*digits, 2, digits->n);
            return bases[i];
        }
    }
    return base;
}

int bz_expr_text_int(struct bz_expr_run *r, struct bz_str text, int base, int64_t *out)
{
    struct bz_str s = bz_str_trim(text);
    char what[64], digits[73] = "", *end = digits;
    bool minus = bz_str_cut_prefix(&s, BZ_STR("-"));
    int real;

    if (!minus)
        (void)bz_str_cut_prefix(&s, BZ_STR("+"));
    if (!bz_expr_text_ascii(s) || s.n > 64)
        return bz_expr_value_unknown(r, "such a number");
    real = cut_base(&s, base);
    snprintf(what, sizeof(what), "invalid literal for int() with base %d", base);
    if (!plain_digits(s, digits + 1) || digits[1] == '+' || digits[1] == '-')
        return bad_number(r, what, text);
    if (real == 0 && digits[1] == '0' && strspn(digits + 1, "0") != strlen(digits + 1))
        return bad_number(r, what, text);
    digits[0] = minus ? '-' : '+';
    /* strtoll takes "0x" for base 16 once more, and white space not at all here. */
    if (real == 16 && (digits[2] | 0x20) == 'x')
        return bad_number(r, what, text);
    errno = 0;
    *out = strtoll(digits, &end, real == 0 ? 10 : real);
    if (*end || end == digits + 1)
        return bad_number(r, what, text);
    return errno ? bz_expr_value_unknown(r, "such a large number") : 0;
}

int bz_expr_text_float(struct bz_expr_run *r, struct bz_str text, double *out)
{
    struct bz_str s = bz_str_trim(text);
    char digits[73], *end;

    if (!bz_expr_text_ascii(s) || s.n > 64)
        return bz_expr_value_unknown(r, "such a number");
    if (!plain_digits(s, digits))
        return bad_number(r, "could not convert string to float", text);
    /* What is spelled out, "nan" or "inf", is left to others, as is hexadecimal. */
    if (strspn(digits, "+-.0123456789eE") != strlen(digits)) {
        if (strpbrk(digits, "nN"))
            return bz_expr_value_unknown(r, "such a number");
        return bad_number(r, "could not convert string to float", text);
    }
    *out = strtod(digits, &end);
    return *end || end == digits
               ? bad_number(r, "could not convert string to float", text)
               : 0;
}
