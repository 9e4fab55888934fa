/* cause.h - why tasks have other keys than they had: few causes instead of many
 * differences.
 *
 * Compares two records. A task's own differences are traced to what somebody edited:
 * an operation on a variable, at its place; a file; a dependency; the machine. What
 * follows from an edit (a variable that a new text mentions, a variant that another
 * OVERRIDES chooses) is no cause of its own, and neither is a statement that only moved
 * to another line. Tasks with the same cause are counted with it, and so are all that
 * wait for them.
 *
 * Results refer to both records. One thread.
 */
#ifndef BZ_SIG_CAUSE_H
#define BZ_SIG_CAUSE_H

#include "sig/record.h"

enum bz_cause_kind {
    BZ_CAUSE_VARIABLE,
    BZ_CAUSE_FILE,       /* whose content counts */
    BZ_CAUSE_COMMIT,     /* that a revision was resolved to */
    BZ_CAUSE_DEPENDENCY, /* between recipes */
    BZ_CAUSE_MACHINE,
    BZ_CAUSE_DISTRO,
    BZ_CAUSE_POLICY, /* what the sandbox of the task is like */
    BZ_CAUSE_TAINT,  /* the task was forced to run, or no longer is */
    BZ_CAUSE_OLDER,  /* an older bitzel, whose keys count other things */
    BZ_CAUSE_OTHER,  /* nothing that is recorded */
};

/* Where an operation was edited. */
struct bz_cause_place {
    struct bz_str file;
    uint32_t was, is;   /* lines; 0: it was not, or is not, there */
    struct bz_str op;   /* as in history.h */
    struct bz_str flag; /* n == 0: the variable itself */
};

struct bz_cause {
    enum bz_cause_kind kind;
    struct bz_str name; /* of the variable or file; the recipe that waits */
    struct bz_str on;   /* the recipe that it waits for */
    bool was_there, is_there;
    struct bz_str was, is; /* the texts for the first task; p == NULL: none */
    struct bz_cause_places BZ_VEC(struct bz_cause_place) places; /* none: not known */
    struct bz_str task;                                          /* the first one */
    size_t direct;  /* tasks with this difference */
    size_t reaches; /* these, and all changed ones that wait for them */
};

struct bz_cause_link {
    uint32_t task, cause;
};

struct bz_cause_ids BZ_VEC(uint32_t);

struct bz_causes {
    const struct bz_record *was, *is;
    struct bz_cause_list BZ_VEC(struct bz_cause) all; /* the farthest-reaching first */
    struct bz_cause_ids fresh; /* tasks of `is` that were not there */
    struct bz_cause_ids gone;  /* tasks of `was` that are not there now */
    size_t changed;            /* tasks of both with another key */
    size_t upstream;           /* of these, those without a difference of their own */
    /* The rest is for this module. */
    struct bz_arena arena;
    struct bz_map index; /* what tells a cause from another -> its number */
    struct bz_cause_links BZ_VEC(struct bz_cause_link) links; /* by task, each once */
};

/* Fills *c, which is empty; the records, sorted, must outlive it. BZ_E_INVAL if tasks
 * of `is` wait for each other. Release *c in any case. */
int bz_cause_find(struct bz_causes *c, const struct bz_record *was,
                  const struct bz_record *is, struct bz_err *err) BZ_MUST_CHECK;
void bz_cause_release(struct bz_causes *c);

/* For this module: the cause of this kind with these names (`key` is a third one, to
 * tell it from others), counted for a task of `is`. It is valid until the next call. */
struct bz_cause *bz_cause_add(struct bz_causes *c, uint32_t task,
                              const struct bz_cause *like, struct bz_str key);

#endif
