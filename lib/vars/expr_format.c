#include "vars/expr_format.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/buf.h"
#include "vars/expr_table.h"
#include "vars/expr_text.h"

#define FORMAT_MAX ((size_t)16 << 20)
#define WIDTH_MAX 65536

/* One "%-5.2s" of a pattern. */
struct spec {
    bool left, zero, plus, space, other;
    int width, precision; /* -1: none */
    char conversion;
};

struct format {
    struct bz_expr_run *run;
    struct bz_buf text;
    struct bz_str rest; /* of the pattern */
    const struct bz_expr_value *arg;
    size_t used; /* arguments of a tuple, or 1 if the only one is used */
    bool named;  /* a dictionary was asked by name */
};

static int too_few(struct format *f)
{
    return bz_fail(f->run->err, BZ_E_INVAL,
                   "TypeError: not enough arguments for format string");
}

static int next_arg(struct format *f, struct bz_expr_value *out)
{
    if (f->arg->kind == BZ_EXPR_TUPLE) {
        if (f->used == f->arg->seq->len)
            return too_few(f);
        *out = f->arg->seq->at[f->used++];
        return 0;
    }
    if (f->used++ > 0)
        return too_few(f);
    *out = *f->arg;
    return 0;
}

static char take(struct format *f)
{
    char c;

    if (f->rest.n == 0)
        return 0;
    c = f->rest.p[0];
    f->rest = bz_str_sub(f->rest, 1, f->rest.n);
    return c;
}

static char peek(const struct format *f)
{
    if (f->rest.n == 0)
        return 0;
    return f->rest.p[0];
}

static int digits(struct format *f, int *out)
{
    *out = 0;
    while (peek(f) >= '0' && peek(f) <= '9') {
        *out = *out * 10 + (take(f) - '0');
        if (*out > WIDTH_MAX)
            return bz_expr_value_unknown(f->run, "such a width");
    }
    return 0;
}

/* What stands between '%' and the letter at its end. */
static int read_spec(struct format *f, struct spec *s)
{
    int rc = 0;

    *s = (struct spec){.precision = -1};
    for (;; take(f)) {
        if (peek(f) == '-')
            s->left = true;
        else if (peek(f) == '0')
            s->zero = true;
        else if (peek(f) == '+')
            s->plus = true;
        else if (peek(f) == ' ')
            s->space = true;
        else
            break;
    }
    rc = digits(f, &s->width);
    if (rc == 0 && peek(f) == '.') {
        take(f);
        rc = digits(f, &s->precision);
    }
    if (rc < 0)
        return rc;
    if (f->rest.n == 0)
        return bz_fail(f->run->err, BZ_E_INVAL, "ValueError: incomplete format");
    s->conversion = take(f);
    return 0;
}

static int pad(struct format *f, size_t n)
{
    int rc = bz_expr_value_charge(f->run, n);

    while (rc == 0 && n-- > 0)
        rc = bz_buf_try_add_char(&f->text, ' ', f->run->err);
    return rc;
}

static int add_padded(struct format *f, const struct spec *s, struct bz_str text)
{
    size_t n = bz_expr_text_length(text);
    size_t fill = s->width > 0 && (size_t)s->width > n ? (size_t)s->width - n : 0;
    int rc = s->left ? 0 : pad(f, fill);

    if (rc == 0)
        rc = bz_expr_value_charge(f->run, text.n / 16);
    if (rc == 0)
        rc = bz_buf_try_add_str(&f->text, text, f->run->err);
    return rc == 0 && s->left ? pad(f, fill) : rc;
}

static int add_text(struct format *f, const struct spec *s,
                    const struct bz_expr_value *v)
{
    struct bz_expr_value text;
    int rc = s->conversion == 's' ? bz_expr_text_str(f->run, v, &text)
                                  : bz_expr_text_repr(f->run, v, &text);

    if (rc < 0)
        return rc;
    if (s->precision >= 0)
        text.s.n = bz_expr_text_offset(text.s, (size_t)s->precision);
    return add_padded(f, s, text.s);
}

static int add_integer(struct format *f, const struct spec *s,
                       const struct bz_expr_value *v)
{
    bool hex = s->conversion == 'x' || s->conversion == 'X';
    char body[32], all[160];
    uint64_t size;
    int zeros, sign;
    size_t n;

    if (v->kind == BZ_EXPR_FLOAT || v->kind >= BZ_EXPR_ITER || s->precision > 64 ||
        s->width > 100)
        return bz_expr_value_unknown(f->run, "such a number in a format");
    if (!bz_expr_value_is_int(v))
        return bz_fail(f->run->err, BZ_E_INVAL,
                       "TypeError: %%%c format: %s is required, not %s", s->conversion,
                       hex || s->conversion == 'o' ? "an integer" : "a real number",
                       bz_expr_value_type(v));
    size = v->i < 0 ? -(uint64_t)v->i : (uint64_t)v->i;
    sign = v->i < 0 ? '-' : s->plus ? '+' : s->space ? ' ' : '\0';
    snprintf(body, sizeof(body),
             s->conversion == 'x'   ? "%" PRIx64
             : s->conversion == 'X' ? "%" PRIX64
             : s->conversion == 'o' ? "%" PRIo64
                                    : "%" PRIu64,
             size);
    zeros = s->precision;
    if (s->zero && !s->left && s->width - (sign != 0) > zeros)
        zeros = s->width - (sign != 0);
    zeros -= (int)strlen(body);
    memset(all, '0', sizeof(all));
    if (sign)
        all[0] = (char)sign;
    n = (sign != 0) + (zeros > 0 ? (size_t)zeros : 0);
    n += (size_t)snprintf(all + n, sizeof(all) - n, "%s", body);
    return add_padded(f, s, bz_str_of(all, n));
}

static int add_field(struct format *f, const struct spec *s,
                     const struct bz_expr_value *v)
{
    switch (s->conversion) {
    case 's':
    case 'r':
        return add_text(f, s, v);
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o':
        return add_integer(f, s, v);
    default:
        return bz_expr_value_unknown(f->run, "such a format");
    }
}

/* The value that "(name)" after a '%' stands for. */
static int named_arg(struct format *f, struct bz_expr_value *out)
{
    size_t at, end = bz_str_find_byte(f->rest, ')');
    struct bz_expr_value key;
    int rc;

    if (f->arg->kind != BZ_EXPR_DICT || end == BZ_STR_NONE ||
        bz_str_find_byte(bz_str_sub(f->rest, 1, end), '(') != BZ_STR_NONE)
        return bz_expr_value_unknown(f->run, "such a format");
    key = bz_expr_value_str(bz_str_sub(f->rest, 1, end));
    f->rest = bz_str_sub(f->rest, end + 1, f->rest.n);
    f->named = true;
    if ((rc = bz_expr_table_find(f->run, f->arg->seq, &key, &at)) < 0)
        return rc;
    if (at == f->arg->seq->len) {
        if ((rc = bz_expr_text_repr(f->run, &key, &key)) < 0)
            return rc;
        return bz_fail(f->run->err, BZ_E_INVAL, "KeyError: %.*s", BZ_STR_ARG(key.s));
    }
    *out = f->arg->seq->values[at];
    return 0;
}

static int percent(struct format *f)
{
    struct bz_expr_value v = bz_expr_value_none();
    bool named = peek(f) == '(';
    struct spec s = {0};
    int rc = named ? named_arg(f, &v) : 0;

    if (rc == 0)
        rc = read_spec(f, &s);
    if (rc < 0)
        return rc;
    if (s.conversion == '%') {
        if (named || s.width || s.precision >= 0)
            return bz_expr_value_unknown(f->run, "such a format");
        return bz_buf_try_add_char(&f->text, '%', f->run->err);
    }
    if (!named && (rc = next_arg(f, &v)) < 0)
        return rc;
    return add_field(f, &s, &v);
}

int bz_expr_format_percent(struct bz_expr_run *r, struct bz_str pattern,
                           const struct bz_expr_value *arg, struct bz_expr_value *out)
{
    struct format f = {
        .run = r, .text = {.limit = FORMAT_MAX}, .rest = pattern, .arg = arg};
    int rc = bz_expr_value_charge(r, pattern.n / 16);
    size_t given = arg->kind == BZ_EXPR_TUPLE ? arg->seq->len : 1;

    while (rc == 0 && f.rest.n > 0) {
        size_t at = bz_str_find_byte(f.rest, '%');
        size_t plain = at == BZ_STR_NONE ? f.rest.n : at;

        rc = bz_buf_try_add_str(&f.text, bz_str_sub(f.rest, 0, plain), r->err);
        f.rest = bz_str_sub(f.rest, plain, f.rest.n);
        if (rc == 0 && f.rest.n > 0) {
            take(&f);
            rc = percent(&f);
        }
    }
    if (rc == 0 && f.used < given && arg->kind >= BZ_EXPR_LIST &&
        arg->kind != BZ_EXPR_TUPLE && arg->kind != BZ_EXPR_SET) {
        if (arg->kind > BZ_EXPR_DICT)
            rc = bz_expr_value_unknown(r, "such an argument of a format");
    } else if (rc == 0 && f.used < given && !f.named) {
        rc = bz_fail(r->err, BZ_E_INVAL,
                     "TypeError: not all arguments converted during string formatting");
    }
    if (rc == 0)
        rc = bz_expr_value_copy(r, bz_buf_str(&f.text), out);
    bz_buf_release(&f.text);
    return rc;
}

/* The number in a field; fields without one count up by themselves. */
static int field_number(struct bz_expr_run *r, struct bz_str field, size_t *automatic,
                        size_t *out)
{
    struct bz_err ignored;
    uint64_t number;

    if (field.n == 0 && *automatic != BZ_STR_NONE) {
        *out = (*automatic)++;
        return 0;
    }
    if (*automatic != 0 && *automatic != BZ_STR_NONE)
        return bz_expr_value_unknown(r, "a format that counts in two ways");
    *automatic = BZ_STR_NONE;
    if (bz_str_parse_u64(field, 10, UINT32_MAX, &number, &ignored) < 0)
        return bz_expr_value_unknown(r, "such a field of a format");
    *out = number;
    return 0;
}

int bz_expr_format_braces(struct bz_expr_run *r, struct bz_str pattern,
                          const struct bz_expr_value *args, size_t n,
                          struct bz_expr_value *out)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {.limit = FORMAT_MAX};
    size_t i, automatic = 0;
    int rc = bz_expr_value_charge(r, pattern.n / 16);

    for (i = 0; rc == 0 && i < pattern.n; i++) {
        char c = pattern.p[i];
        struct bz_expr_value field;
        size_t end, number = 0;

        if ((c == '{' || c == '}') && i + 1 < pattern.n && pattern.p[i + 1] == c) {
            i++;
        } else if (c == '}') {
            return bz_fail(r->err, BZ_E_INVAL,
                           "ValueError: Single '}' encountered in format string");
        } else if (c == '{') {
            end = bz_str_find_byte(bz_str_sub(pattern, i, pattern.n), '}');
            if (end == BZ_STR_NONE)
                return bz_expr_value_unknown(r, "such a format");
            rc = field_number(r, bz_str_sub(pattern, i + 1, i + end), &automatic,
                              &number);
            if (rc < 0)
                return rc;
            if (number >= n)
                return bz_fail(r->err, BZ_E_INVAL,
                               "IndexError: Replacement index %zu out of range for "
                               "positional args tuple",
                               number);
            if ((rc = bz_expr_text_str(r, &args[number], &field)) < 0 ||
                (rc = bz_expr_value_charge(r, field.s.n / 16)) < 0)
                return rc;
            rc = bz_buf_try_add_str(&text, field.s, r->err);
            i += end;
            continue;
        }
        rc = bz_buf_try_add_char(&text, c, r->err);
    }
    return rc < 0 ? rc : bz_expr_value_copy(r, bz_buf_str(&text), out);
}
