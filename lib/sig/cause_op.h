/* cause_op.h - which operations on a variable were edited; a part of cause.c. */
#ifndef BZ_SIG_CAUSE_OP_H
#define BZ_SIG_CAUSE_OP_H

#include "sig/record.h"

/* What an operation is about. */
enum bz_cause_op_about {
    BZ_CAUSE_OP_VALUE = 1,       /* the text, or what counts instead of it */
    BZ_CAUSE_OP_READS = 2,       /* what else it leads to: [export], [unexport] */
    BZ_CAUSE_OP_WAITS = 4,       /* what a task waits for: [depends], [deptask] */
    BZ_CAUSE_OP_RUNS = 8,        /* where it runs: [dirs], [cleandirs] */
    BZ_CAUSE_OP_SANDBOX = 16,    /* what it can reach: [network], [fakeroot] */
    BZ_CAUSE_OP_NOEXEC = 32,     /* whether it runs */
    BZ_CAUSE_OP_ORDER = 128,     /* what runs around it: [prefuncs], [postfuncs] */
    BZ_CAUSE_OP_VARDEPS = 256,   /* [vardeps], which counts of functions */
    BZ_CAUSE_OP_UMASK = 512,     /* [umask] */
    BZ_CAUSE_OP_EXCLUDES = 1024, /* what stays a name in it: [vardepsexclude] */
    BZ_CAUSE_OP_FILES = 64,      /* which files count: [file-checksums] */
};

/* A recipe's file that has another name now: the last components; n == 0: it has not.
 */
struct bz_cause_op_rename {
    struct bz_str was, is;
};

/* One that became another, or came (`was` is NULL), or went (`is` is NULL). */
struct bz_cause_op_edit {
    const struct bz_record_op *was, *is;
    enum bz_cause_op_about about;
    bool idle; /* without effect before and after */
};

struct bz_cause_op_edits BZ_VEC(struct bz_cause_op_edit);

/* Appends what was edited of a variable at two times; one of them may be NULL. The
 * number of a line alone is nothing, and neither is another name of the file. */
void bz_cause_op_list(const struct bz_record_input *was,
                      const struct bz_record_input *is,
                      const struct bz_cause_op_rename *renamed,
                      struct bz_cause_op_edits *out);

#endif
