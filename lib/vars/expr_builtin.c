#include "vars/expr_builtin.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "vars/expr_each.h"
#include "vars/expr_table.h"
#include "vars/expr_text.h"

static int len(struct bz_expr_run *r, const struct bz_expr_args *a,
               struct bz_expr_value *out)
{
    const struct bz_expr_value *v = &a->at[0];

    if (v->kind == BZ_EXPR_DATA)
        return bz_expr_value_unknown(r, "the number of all variables");
    if (v->kind == BZ_EXPR_STR) {
        *out = bz_expr_value_int((int64_t)bz_expr_text_length(v->s));
        return bz_expr_value_charge(r, v->s.n / 64);
    }
    if (v->kind < BZ_EXPR_LIST || v->kind > BZ_EXPR_ITER ||
        (v->kind == BZ_EXPR_ITER && v->seq->once))
        return bz_fail(r->err, BZ_E_INVAL,
                       "TypeError: object of type '%s' has no len()",
                       bz_expr_value_type(v));
    *out = bz_expr_value_int((int64_t)v->seq->len);
    return 0;
}

static int to_bool(struct bz_expr_run *r, const struct bz_expr_args *a,
                   struct bz_expr_value *out)
{
    *out = bz_expr_value_bool(a->n > 0 && bz_expr_value_true(&a->at[0]));
    return bz_expr_value_charge(r, 1);
}

static int to_int(struct bz_expr_run *r, const struct bz_expr_args *a,
                  struct bz_expr_value *out)
{
    int64_t base = 10;

    *out = bz_expr_value_int(0);
    if (a->n == 0)
        return 0;
    if (a->n == 2) {
        if (!bz_expr_value_is_int(&a->at[1]) || a->at[0].kind != BZ_EXPR_STR)
            return bz_expr_value_unknown(r, "int() called so");
        base = a->at[1].i;
        if (base != 0 && (base < 2 || base > 36))
            return bz_fail(r->err, BZ_E_INVAL,
                           "ValueError: int() base must be >= 2 and <= 36, or 0");
    }
    if (a->at[0].kind == BZ_EXPR_STR)
        return bz_expr_text_int(r, a->at[0].s, (int)base, &out->i);
    if (a->at[0].kind == BZ_EXPR_FLOAT) {
        if (!(fabs(a->at[0].f) < 9e18))
            return bz_expr_value_unknown(r, "such a large number");
        out->i = (int64_t)a->at[0].f;
        return 0;
    }
    if (!bz_expr_value_is_int(&a->at[0]))
        return bz_fail(
            r->err, BZ_E_INVAL,
            "TypeError: int() argument must be a string, a bytes-like object "
            "or a real number, not '%s'",
            bz_expr_value_type(&a->at[0]));
    out->i = a->at[0].i;
    return 0;
}

static int to_float(struct bz_expr_run *r, const struct bz_expr_args *a,
                    struct bz_expr_value *out)
{
    const struct bz_expr_value *v = &a->at[0];

    *out = (struct bz_expr_value){.kind = BZ_EXPR_FLOAT, .f = 0};
    if (a->n == 0)
        return 0;
    if (v->kind == BZ_EXPR_STR)
        return bz_expr_text_float(r, v->s, &out->f);
    if (!bz_expr_value_is_int(v) && v->kind != BZ_EXPR_FLOAT)
        return bz_fail(r->err, BZ_E_INVAL,
                       "TypeError: float() argument must be a string or a real number, "
                       "not '%s'",
                       bz_expr_value_type(v));
    out->f = v->kind == BZ_EXPR_FLOAT ? v->f : (double)v->i;
    return 0;
}

static int to_str(struct bz_expr_run *r, const struct bz_expr_args *a,
                  struct bz_expr_value *out)
{
    if (a->n == 0) {
        *out = bz_expr_value_str(BZ_STR(""));
        return 0;
    }
    return bz_expr_text_str(r, &a->at[0], out);
}

static int repr(struct bz_expr_run *r, const struct bz_expr_args *a,
                struct bz_expr_value *out)
{
    return bz_expr_text_repr(r, &a->at[0], out);
}

/* list() and tuple(); `how` is the kind. */
static int to_seq(struct bz_expr_run *r, const struct bz_expr_args *a,
                  struct bz_expr_value *out)
{
    struct bz_expr_seq *from = NULL, *to;
    int rc;

    if (a->n > 0 && (rc = bz_expr_value_items(r, &a->at[0], &from)) < 0)
        return rc;
    if ((rc = bz_expr_value_new_seq(r, from ? from->len : 0, &to)) < 0)
        return rc;
    if (from && from->len)
        memcpy(to->at, from->at, from->len * sizeof(*to->at));
    to->len = from ? from->len : 0;
    *out = bz_expr_value_seq((enum bz_expr_kind)a->how, to);
    return 0;
}

static int to_set(struct bz_expr_run *r, const struct bz_expr_args *a,
                  struct bz_expr_value *out)
{
    struct bz_expr_seq *to;
    int rc;

    if (a->n > 0)
        return bz_expr_table_set(r, &a->at[0], out);
    if ((rc = bz_expr_value_new_seq(r, 0, &to)) == 0)
        *out = bz_expr_value_seq(BZ_EXPR_SET, to);
    return rc;
}

/* dict() of another or of pairs. */
static int to_dict(struct bz_expr_run *r, const struct bz_expr_args *a,
                   struct bz_expr_value *out)
{
    struct bz_expr_seq *from, *pair, *to;
    size_t i;
    int rc;

    if (a->n > 0 && a->at[0].kind == BZ_EXPR_DICT) {
        *out = a->at[0];
        return 0;
    }
    if ((rc = bz_expr_value_new_seq(r, 0, &to)) < 0)
        return rc;
    *out = bz_expr_value_seq(BZ_EXPR_DICT, to);
    if (a->n == 0 || (rc = bz_expr_value_items(r, &a->at[0], &from)) < 0)
        return rc;
    for (i = 0; rc == 0 && i < from->len; i++) {
        if (from->at[i].kind < BZ_EXPR_STR)
            return bz_expr_value_unknown(r, "a dictionary of such values");
        if ((rc = bz_expr_value_items(r, &from->at[i], &pair)) < 0)
            return rc;
        if (pair->len != 2)
            return bz_expr_value_unknown(r, "a dictionary of such values");
        rc = bz_expr_table_put(r, to, &pair->at[0], &pair->at[1]);
    }
    return rc;
}

static int absolute(struct bz_expr_run *r, const struct bz_expr_args *a,
                    struct bz_expr_value *out)
{
    const struct bz_expr_value *v = &a->at[0];

    if (v->kind == BZ_EXPR_FLOAT) {
        *out = (struct bz_expr_value){.kind = BZ_EXPR_FLOAT, .f = fabs(v->f)};
        return 0;
    }
    if (!bz_expr_value_is_int(v))
        return bz_fail(r->err, BZ_E_INVAL,
                       "TypeError: bad operand type for abs(): '%s'",
                       bz_expr_value_type(v));
    if (v->i == INT64_MIN)
        return bz_expr_value_unknown(r, "such a large number");
    *out = bz_expr_value_int(v->i < 0 ? -v->i : v->i);
    return 0;
}

/* bin(), oct() and hex(); `how` is the base. */
static int in_base(struct bz_expr_run *r, const struct bz_expr_args *a,
                   struct bz_expr_value *out)
{
    char text[72], *p = text + sizeof(text);
    uint64_t size;

    if (!bz_expr_value_is_int(&a->at[0]))
        return bz_fail(r->err, BZ_E_INVAL,
                       "TypeError: '%s' object cannot be interpreted as an integer",
                       bz_expr_value_type(&a->at[0]));
    size = a->at[0].i < 0 ? -(uint64_t)a->at[0].i : (uint64_t)a->at[0].i;
    do {
        *--p = "0123456789abcdef"[size % (unsigned)a->how];
        size /= (unsigned)a->how;
    } while (size);
    *--p = "box"[(a->how >= 8) + (a->how >= 16)];
    *--p = '0';
    if (a->at[0].i < 0)
        *--p = '-';
    return bz_expr_value_copy(r, bz_str_of(p, (size_t)(text + sizeof(text) - p)), out);
}

static int chr(struct bz_expr_run *r, const struct bz_expr_args *a,
               struct bz_expr_value *out)
{
    char c;

    if (!bz_expr_value_is_int(&a->at[0]) || a->at[0].i < 0 || a->at[0].i > 0x7f)
        return bz_expr_value_unknown(r, "chr() of other than ASCII");
    c = (char)a->at[0].i;
    return bz_expr_value_copy(r, bz_str_of(&c, 1), out);
}

static int ord(struct bz_expr_run *r, const struct bz_expr_args *a,
               struct bz_expr_value *out)
{
    const struct bz_expr_value *v = &a->at[0];

    if (v->kind != BZ_EXPR_STR || v->s.n != 1 || v->s.p[0] & 0x80)
        return bz_expr_value_unknown(r, "ord() of other than an ASCII character");
    *out = bz_expr_value_int(v->s.p[0]);
    return 0;
}

static int isinstance(struct bz_expr_run *r, const struct bz_expr_args *a,
                      struct bz_expr_value *out)
{
    static const struct {
        struct bz_str name;
        enum bz_expr_kind kind;
    } types[] = {
        {BZ_STR("bool"),  BZ_EXPR_BOOL },
        {BZ_STR("int"),   BZ_EXPR_INT  },
        {BZ_STR("float"), BZ_EXPR_FLOAT},
        {BZ_STR("str"),   BZ_EXPR_STR  },
        {BZ_STR("list"),  BZ_EXPR_LIST },
        {BZ_STR("tuple"), BZ_EXPR_TUPLE},
        {BZ_STR("set"),   BZ_EXPR_SET  },
        {BZ_STR("dict"),  BZ_EXPR_DICT },
    };
    enum bz_expr_kind kind = a->at[0].kind;
    size_t i;

    if (a->at[1].kind == BZ_EXPR_FN) {
        for (i = 0; i < BZ_COUNTOF(types); i++) {
            if (!bz_str_eq(types[i].name, a->at[1].fn->name))
                continue;
            *out = bz_expr_value_bool(
                kind == types[i].kind ||
                (kind == BZ_EXPR_BOOL && types[i].kind == BZ_EXPR_INT));
            return 0;
        }
    }
    return bz_expr_value_unknown(r, "isinstance() of such a type");
}

static const struct bz_expr_fn functions[] = {
    {BZ_STR("abs"),        1, 1,                NULL,             absolute,               0             },
    {BZ_STR("all"),        1, 1,                NULL,             bz_expr_each_all,       0             },
    {BZ_STR("any"),        1, 1,                NULL,             bz_expr_each_any,       0             },
    {BZ_STR("bin"),        1, 1,                NULL,             in_base,                2             },
    {BZ_STR("bool"),       0, 1,                NULL,             to_bool,                0             },
    {BZ_STR("chr"),        1, 1,                NULL,             chr,                    0             },
    {BZ_STR("dict"),       0, 1,                NULL,             to_dict,                0             },
    {BZ_STR("enumerate"),  1, 2,                "iterable start", bz_expr_each_enumerate, 0             },
    {BZ_STR("filter"),     2, 2,                NULL,             bz_expr_each_filter,    0             },
    {BZ_STR("float"),      0, 1,                NULL,             to_float,               0             },
    {BZ_STR("hex"),        1, 1,                NULL,             in_base,                16            },
    {BZ_STR("int"),        0, 2,                NULL,             to_int,                 0             },
    {BZ_STR("isinstance"), 2, 2,                NULL,             isinstance,             0             },
    {BZ_STR("len"),        1, 1,                NULL,             len,                    0             },
    {BZ_STR("list"),       0, 1,                NULL,             to_seq,                 BZ_EXPR_LIST  },
    {BZ_STR("map"),        2, 2,                NULL,             bz_expr_each_map,       0             },
    {BZ_STR("max"),        1, BZ_EXPR_CALL_ANY, NULL,             bz_expr_each_best,      BZ_EXPR_TOK_GT},
    {BZ_STR("min"),        1, BZ_EXPR_CALL_ANY, NULL,             bz_expr_each_best,      BZ_EXPR_TOK_LT},
    {BZ_STR("oct"),        1, 1,                NULL,             in_base,                8             },
    {BZ_STR("ord"),        1, 1,                NULL,             ord,                    0             },
    {BZ_STR("range"),      1, 3,                NULL,             bz_expr_each_range,     0             },
    {BZ_STR("repr"),       1, 1,                NULL,             repr,                   0             },
    {BZ_STR("reversed"),   1, 1,                NULL,             bz_expr_each_reversed,  0             },
    {BZ_STR("set"),        0, 1,                NULL,             to_set,                 0             },
    {BZ_STR("sorted"),     1, 1,                "? key reverse",  bz_expr_each_sorted,    0             },
    {BZ_STR("str"),        0, 1,                NULL,             to_str,                 0             },
    {BZ_STR("sum"),        1, 2,                "? start",        bz_expr_each_sum,       0             },
    {BZ_STR("tuple"),      0, 1,                NULL,             to_seq,                 BZ_EXPR_TUPLE },
    {BZ_STR("zip"),        0, BZ_EXPR_CALL_ANY, NULL,             bz_expr_each_zip,       0             },
};

const struct bz_expr_fn *bz_expr_builtin_find(struct bz_str name)
{
    return bz_expr_call_search(functions, BZ_COUNTOF(functions), name);
}

bool bz_expr_builtin_reserved(struct bz_str name)
{
    static const char all[] =
        " ArithmeticError AssertionError AttributeError BaseException "
        "BaseExceptionGroup BlockingIOError BrokenPipeError BufferError BytesWarning "
        "ChildProcessError ConnectionAbortedError ConnectionError "
        "ConnectionRefusedError ConnectionResetError DeprecationWarning EOFError "
        "Ellipsis EncodingWarning EnvironmentError Exception ExceptionGroup "
        "FileExistsError FileNotFoundError FloatingPointError FutureWarning "
        "GeneratorExit IOError ImportError ImportWarning IndentationError IndexError "
        "InterruptedError IsADirectoryError KeyError KeyboardInterrupt LookupError "
        "MemoryError ModuleNotFoundError NameError NotADirectoryError NotImplemented "
        "NotImplementedError OSError OverflowError PendingDeprecationWarning "
        "PermissionError ProcessLookupError PythonFinalizationError RecursionError "
        "ReferenceError ResourceWarning RuntimeError RuntimeWarning "
        "StopAsyncIteration StopIteration SyntaxError SyntaxWarning SystemError "
        "SystemExit TabError TimeoutError TypeError UnboundLocalError "
        "UnicodeDecodeError UnicodeEncodeError UnicodeError UnicodeTranslateError "
        "UnicodeWarning UserWarning ValueError Warning ZeroDivisionError aiter anext "
        "ascii breakpoint bytearray bytes callable classmethod compile complex "
        "copyright credits delattr dir divmod eval exec exit format frozenset getattr "
        "globals hasattr hash help id input issubclass iter license locals memoryview "
        "next object open pow print property quit round setattr slice staticmethod "
        "super type vars ";
    char word[40];
    int n = snprintf(word, sizeof(word), " %.*s ", BZ_STR_ARG(name));

    return n > 2 && (size_t)n < sizeof(word) && strstr(all, word);
}
