/* op.h - the ops there are: a table for each op_*.c, ended by a row without a name.
 */
#ifndef BZ_CONFORMANCE_OP_H
#define BZ_CONFORMANCE_OP_H

#include "run.h"

typedef enum replay_verdict (*replay_op_fn)(struct replay_run *r, struct replay_slot *s,
                                            const struct bz_doc *op);

struct replay_op {
    const char *name;
    replay_op_fn fn;
    bool writes; /* what it cannot do makes the store unlike BitBake's */
};

extern const struct replay_op replay_op_var[];
extern const struct replay_op replay_op_flag[];
extern const struct replay_op replay_op_expr[];
extern const struct replay_op replay_op_parse[];
extern const struct replay_op replay_op_scan[];
extern const struct replay_op replay_op_deps[];
extern const struct replay_op replay_op_script[];
extern const struct replay_op replay_op_version[];

#endif
