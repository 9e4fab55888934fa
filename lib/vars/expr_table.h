/* expr_table.h - sets and dictionaries: sequences with an index by hash.
 *
 * They keep the order in which keys were added. That is what Python promises for
 * dictionaries; for sets it promises nothing, and gives another order in each run.
 */
#ifndef BZ_VARS_EXPR_TABLE_H
#define BZ_VARS_EXPR_TABLE_H

#include "vars/expr_value.h"

/* The place of a key, or seq->len if it is not there. BZ_E_INVAL for what Python cannot
 * hash. */
int bz_expr_table_find(struct bz_expr_run *r, const struct bz_expr_seq *seq,
                       const struct bz_expr_value *key, size_t *at);

/* Adds a key if it is not there; `value` is for a dictionary, else NULL. */
int bz_expr_table_put(struct bz_expr_run *r, struct bz_expr_seq *seq,
                      const struct bz_expr_value *key,
                      const struct bz_expr_value *value);

/* A set of what can be seen in v: set(v). */
int bz_expr_table_set(struct bz_expr_run *r, const struct bz_expr_value *v,
                      struct bz_expr_value *out);

/* The words of a string as a set. */
int bz_expr_table_words(struct bz_expr_run *r, const struct bz_expr_value *text,
                        struct bz_expr_value *out);

/* a op b of two sets, for & | - ^. */
int bz_expr_table_combine(struct bz_expr_run *r, const struct bz_expr_value *a,
                          const struct bz_expr_value *b, enum bz_expr_tok op,
                          struct bz_expr_value *out);

/* Whether each key of a is in b. */
int bz_expr_table_subset(struct bz_expr_run *r, const struct bz_expr_seq *a,
                         const struct bz_expr_seq *b, bool *out);

/* a == b of two sets or two dictionaries. */
int bz_expr_table_equal(struct bz_expr_run *r, const struct bz_expr_value *a,
                        const struct bz_expr_value *b, bool *out);

#endif
