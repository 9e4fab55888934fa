/* cause_op.h - which operations on a variable were edited; a part of cause.c. */
#ifndef BZ_SIG_CAUSE_OP_H
#define BZ_SIG_CAUSE_OP_H

#include "sig/record.h"

/* What an operation is about. */
enum bz_cause_op_about {
    BZ_CAUSE_OP_VALUE = 1, /* the text, or what counts instead of it */
    BZ_CAUSE_OP_READS = 2, /* what else it leads to: [vardeps], [prefuncs], [export] */
    BZ_CAUSE_OP_WAITS = 4, /* what a task waits for: [depends], [deptask] */
    BZ_CAUSE_OP_RUNS = 8,  /* how it runs: [dirs], [umask], [network] */
};

/* One that became another, or came (`was` is NULL), or went (`is` is NULL). */
struct bz_cause_op_edit {
    const struct bz_record_op *was, *is;
    enum bz_cause_op_about about;
    bool idle; /* without effect before and after */
};

struct bz_cause_op_edits BZ_VEC(struct bz_cause_op_edit);

/* Appends what was edited of a variable at two times; one of them may be NULL. The
 * number of a line alone is nothing. */
void bz_cause_op_list(const struct bz_record_input *was,
                      const struct bz_record_input *is, struct bz_cause_op_edits *out);

#endif
