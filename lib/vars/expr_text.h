/* expr_text.h - values as text: str() and repr(). */
#ifndef BZ_VARS_EXPR_TEXT_H
#define BZ_VARS_EXPR_TEXT_H

#include "vars/expr_value.h"

int bz_expr_text_str(struct bz_expr_run *r, const struct bz_expr_value *v,
                     struct bz_expr_value *out);
int bz_expr_text_repr(struct bz_expr_run *r, const struct bz_expr_value *v,
                      struct bz_expr_value *out);

/* How many characters a string has, and the byte at which character `at` begins (the
 * end of the string for at >= its length). */
size_t bz_expr_text_length(struct bz_str s);
size_t bz_expr_text_offset(struct bz_str s, size_t at);
bool bz_expr_text_ascii(struct bz_str s);

/* Where `needle` last occurs, or BZ_STR_NONE; an empty one at the end. */
int bz_expr_text_find_last(struct bz_expr_run *r, struct bz_str s, struct bz_str needle,
                           size_t *at);

/* int(text, base) and float(text). BZ_E_INVAL if it is no number. */
int bz_expr_text_int(struct bz_expr_run *r, struct bz_str text, int base, int64_t *out);
int bz_expr_text_float(struct bz_expr_run *r, struct bz_str text, double *out);

#endif
