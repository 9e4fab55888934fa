/* record.h - what tasks were signed with, to be kept and compared later.
 *
 * A record has, for every task, its keys and all that went into them: each variable
 * with its text and the operations that shaped it, files, and the tasks it waits for.
 * It lies beside results and builds, on this host or another one; so it holds no
 * absolute path, and the same tasks give the same bytes everywhere.
 *
 * As text a task is one line of JSON. A file is a line that says what it is and how
 * many tasks follow, then the tasks by name; in a packed one, before them, the inputs
 * that they share. record_read.h reads both.
 *
 * Many tasks share most of their variables: these are kept once. Belongs to one thread
 * at a time.
 */
#ifndef BZ_SIG_RECORD_H
#define BZ_SIG_RECORD_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/vec.h"
#include "codec/digest.h"

#define BZ_RECORD_FORMAT "bitzel record"
#define BZ_RECORD_VERSION 2
#define BZ_RECORD_VALUE_MAX ((size_t)16 << 10) /* bytes of a text that are kept */

/* One operation on a variable. */
struct bz_record_op {
    struct bz_str file; /* relative to its layer's parent or to the build directory */
    uint32_t line;
    struct bz_str op;   /* as in history.h */
    struct bz_str flag; /* n == 0: the variable itself */
    uint64_t text;      /* the first bytes of a digest of what was written */
    bool off;           /* without effect: overwritten, or its override is not active */
};

/* One variable, function or flag. */
struct bz_record_input {
    struct bz_str name;      /* of a variable, or NAME[flag] */
    struct bz_digest digest; /* of name and value, as signed */
    struct bz_str value;     /* what counts of it, perhaps cut; p == NULL: not set */
    size_t size;             /* of the whole value if it is cut, else 0 */
    const struct bz_record_op *ops;
    size_t nops;
    /* Of context: what its text names. Of an input: what of the context decides about
     * it, besides OVERRIDES. By name. */
    const struct bz_str *uses;
    size_t nuses;
    /* Of an input: the inputs that it leads to directly. By name. */
    const struct bz_str *leads;
    size_t nleads;
    struct bz_str json; /* all of this; filled by bz_record_input() */
};

struct bz_record_file {
    struct bz_str name;
    struct bz_digest digest;
    bool present, executable;
    unsigned mode; /* that the task sees; 0: it does not */
};

/* A revision that is a name, and what it was resolved to. */
struct bz_record_commit {
    struct bz_str question, commit;
};

struct bz_record_dep {
    struct bz_str task;
    struct bz_digest key;
};

struct bz_record_task {
    struct bz_str name; /* [mc:X:]recipe:do_task */
    struct bz_digest key, base;
    bool older; /* of version 1, when keys counted other things: there are no fields */
    struct bz_str machine, distro; /* p == NULL: means nothing to it */
    struct bz_str policy;          /* what its sandbox is like; p == NULL: not known */
    struct bz_str taint; /* when it was forced to run; p == NULL: it was not */
    /* What its key is a digest of (taskspec.h), together with what follows it here but
     * inputs and context. */
    const struct bz_record_input *const *fields; /* name: kind, blank, name */
    size_t nfields;
    const struct bz_record_commit *commits;
    size_t ncommits;
    /* The variables that these are made from. */
    const struct bz_record_input *const *inputs;
    size_t ninputs;
    /* What decides about inputs without being one: OVERRIDES, DEPENDS,
     * PREFERRED_VERSION, what contains() asks. */
    const struct bz_record_input *const *context;
    size_t ncontext;
    const struct bz_record_file *files;
    size_t nfiles;
    const struct bz_record_dep *deps; /* by name */
    size_t ndeps;
};

struct bz_record {
    struct bz_arena arena;
    struct bz_map texts;  /* each once */
    struct bz_map inputs; /* JSON -> struct bz_record_input * */
    struct bz_map quick;  /* a hash of an input -> the first one that has it */
    struct bz_record_tasks BZ_VEC(struct bz_record_task) tasks;
};

void bz_record_release(struct bz_record *r);

/* One copy of the text that lives as long as the record. */
struct bz_str bz_record_text(struct bz_record *r, struct bz_str text);

/* The one copy of an input; its value is cut if it is too long. Nothing of *in needs to
 * outlive the call. */
const struct bz_record_input *bz_record_input(struct bz_record *r,
                                              const struct bz_record_input *in);

/* Adds a task. Texts and arrays are copied, but for the inputs, which are of this
 * record. */
void bz_record_add(struct bz_record *r, const struct bz_record_task *task);

/* By name, as the functions below need them. Names must differ. */
void bz_record_sort(struct bz_record *r);

/* The task of that name, or NULL. */
const struct bz_record_task *bz_record_find(const struct bz_record *r,
                                            struct bz_str name);

/* A whole file: a head, then a line for each task. */
void bz_record_write(const struct bz_record *r, struct bz_buf *out);

/* A file of the n tasks from `first` on, smaller: what they are made of comes before
 * them, each on one line, and they name it by its number. */
void bz_record_pack(const struct bz_record *r, size_t first, size_t n,
                    struct bz_buf *out);

#endif
