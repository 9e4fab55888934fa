/* ops.h - :append, :prepend and :remove: kept when set, applied when read. */
#ifndef BZ_VARS_OPS_H
#define BZ_VARS_OPS_H

#include "vars/store.h"

/* What "BASE:append:a:b" asks for. */
struct bz_ops_name {
    struct bz_str base;
    enum bz_store_kind kind;
    struct bz_str keyword;  /* ":append" */
    struct bz_str override; /* "a:b"; may be empty */
};

/* Whether a name ends in an operation: a keyword, followed by nothing or by overrides
 * without capital letters. The first keyword for which that holds counts. */
bool bz_ops_parse(struct bz_str name, struct bz_ops_name *out);

/* Adds an operation; its strings are kept by the store already. */
void bz_ops_add(struct bz_vars *v, struct bz_store_var *var, enum bz_store_kind kind,
                struct bz_store_op op);
void bz_ops_drop(struct bz_store_var *var);

/* Whether the variable has :append or :prepend, active or not. */
static inline bool bz_ops_pending(const struct bz_store_var *var)
{
    return var->ops[BZ_STORE_APPEND].n > 0 || var->ops[BZ_STORE_PREPEND].n > 0;
}

/* Appends to `out` what the value becomes by the operations that are active now:
 * prepended texts, value, appended texts. *any is false, and nothing is written, if
 * there are none. */
int bz_ops_apply(struct bz_vars *v, const struct bz_store_var *var, struct bz_str value,
                 struct bz_buf *out, bool *any, struct bz_err *err) BZ_MUST_CHECK;

/* Texts of :remove. */
struct bz_ops_texts BZ_VEC(struct bz_str);

/* Adds the active ones of the variable. */
int bz_ops_removes(struct bz_vars *v, const struct bz_store_var *var,
                   struct bz_ops_texts *texts, struct bz_err *err) BZ_MUST_CHECK;

/* Writes `value` without the words of the texts, which are expanded, to `out`; all
 * white space stays. The texts that had an effect remain in `texts`, sorted,
 * each once. */
int bz_ops_remove(struct bz_vars *v, struct bz_str value, struct bz_ops_texts *texts,
                  struct bz_buf *out, struct bz_err *err) BZ_MUST_CHECK;

#endif
