/* origin_op.h - the operations on one variable, for a record; a part of origin.c. */
#ifndef BZ_SIG_ORIGIN_OP_H
#define BZ_SIG_ORIGIN_OP_H

#include "sig/origin.h"

struct bz_origin_ops BZ_VEC(struct bz_record_op);

/* The flags that decide what counts of a variable and what a task waits for, up to a
 * NULL. */
extern const char *const bz_origin_op_flags[];

/* Appends the operations on the variable and on those flags of it, or on the one flag
 * of NAME[flag], oldest first. Texts live as long as *o. */
void bz_origin_op_list(struct bz_origin *o, struct bz_str name,
                       struct bz_origin_ops *out);

#endif
