/* taskspec.h - everything that decides what a task does, as a list of named inputs.
 *
 * The list is what a key is a digest of, and what `why` compares: two keys that differ
 * have an input that does. Values are those that tasks see (keystore.h), with names for
 * the build directory and the layers (roots.h): where these lie does not count, nor who
 * builds, nor when.
 *
 *   recipe     PN
 *   version    PV
 *   revision   PR
 *   task       its name
 *   directory  WORKDIR and T
 *   function   each shell function of the script, with its text
 *   order      [prefuncs], the task and [postfuncs], as they are called
 *   export     each variable that is exported, or must not be
 *   dirs, cleandirs, umask  the flags, evaluated
 *   vardeps    each variable that a [vardeps] names
 *   source     an entry of SRC_URI, for a task that bitzel carries out itself
 *   step       what else decides such a task
 *
 * Of the other flags of a task, [noexec], [vardepsexclude], [vardepvalue] and
 * [vardepvalueexclude] count through these texts, [fakeroot] and [network] through the
 * sandbox's policy, [file-checksums] through the files. These do not count:
 *
 *   depends, deptask, mcdepends, rdepends, rdeptask, recideptask, recrdeptask
 *                     dependencies count by their keys
 *   lockfiles         when a task runs, not what it does
 *   nostamp           whether a result is used, not what it is
 *   timeout           a task that takes longer has no result
 *   doc, progress     for people
 *
 * To these come the files that count (files.h), the sandbox's policy and the keys of
 * the dependencies (sign.h). One thread.
 */
#ifndef BZ_SIG_TASKSPEC_H
#define BZ_SIG_TASKSPEC_H

#include "base/buf.h"
#include "base/vec.h"
#include "codec/digest.h"
#include "sig/keystore.h"

/* Changes when the same inputs are to give other digests, when other inputs count, or
 * when a task's script is made of them in another way. */
#define BZ_TASKSPEC_FORMAT "bitzel task 1"

enum bz_taskspec_kind {
    BZ_TASKSPEC_RECIPE,
    BZ_TASKSPEC_VERSION,
    BZ_TASKSPEC_REVISION,
    BZ_TASKSPEC_TASK,
    BZ_TASKSPEC_DIRECTORY,
    BZ_TASKSPEC_FUNCTION,
    BZ_TASKSPEC_ORDER,
    BZ_TASKSPEC_EXPORT,
    BZ_TASKSPEC_DIRS,
    BZ_TASKSPEC_CLEANDIRS,
    BZ_TASKSPEC_UMASK,
    BZ_TASKSPEC_VARDEPS,
    BZ_TASKSPEC_SOURCE,
    BZ_TASKSPEC_STEP,
    BZ_TASKSPEC_KINDS,
};

/* What each kind is called. */
extern const char *const bz_taskspec_kinds[BZ_TASKSPEC_KINDS];

struct bz_taskspec_input {
    enum bz_taskspec_kind kind;
    struct bz_str name;   /* of the variable or function; NAME[flag] */
    struct bz_str value;  /* with names for directories; p == NULL: not set */
    struct bz_str places; /* where in the value these are */
    struct bz_digest digest;
};

struct bz_taskspec_inputs BZ_VEC(struct bz_taskspec_input);

struct bz_taskspec_opts {
    struct bz_str path; /* the caller's PATH */
};

struct bz_taskspec;

/* The recipe's store, which is complete, and the hasher must outlive *out. */
int bz_taskspec_new(struct bz_vars *recipe, const struct bz_taskspec_opts *opts,
                    struct bz_digest_hasher *hasher, struct bz_taskspec **out,
                    struct bz_err *err) BZ_MUST_CHECK;
void bz_taskspec_free(struct bz_taskspec *s); /* NULL is allowed */
void bz_taskspec_freep(struct bz_taskspec **s);

/* How the task is carried out. */
enum bz_taskspec_how {
    BZ_TASKSPEC_SCRIPT,  /* by its own function */
    BZ_TASKSPEC_BUILTIN, /* by bitzel: the function does not count */
    BZ_TASKSPEC_NOTHING, /* not at all: [noexec] */
};

/* Adds the inputs of a task. Texts live as long as *s. */
int bz_taskspec_list(struct bz_taskspec *s, struct bz_str task,
                     enum bz_taskspec_how how, struct bz_taskspec_inputs *out,
                     struct bz_err *err) BZ_MUST_CHECK;

/* Adds one more, of a task that bitzel carries out itself. */
void bz_taskspec_add(struct bz_taskspec *s, enum bz_taskspec_kind kind,
                     struct bz_str name, struct bz_str value,
                     struct bz_taskspec_inputs *out);

/* The variables that are exported but have no value, in the store of the task that was
 * listed last; *i begins with 0. False after the last one. */
bool bz_taskspec_next_unset(const struct bz_taskspec *s, size_t *i,
                            struct bz_str *name);

/* The digest of a list, in its order. */
void bz_taskspec_digest(struct bz_taskspec *s, const struct bz_taskspec_inputs *inputs,
                        struct bz_digest *out);

/* The variables as the task that was listed last sees them. `turn`, if not NULL, is
 * another number each time these are others. */
struct bz_keystore *bz_taskspec_store(struct bz_taskspec *s, unsigned *turn);

/* What is true of all tasks that were listed so far. */
struct bz_taskspec_found {
    bool host;  /* code asked this host: another time it may say something else */
    bool clock; /* code asked for the time */
};
struct bz_taskspec_found bz_taskspec_found(struct bz_taskspec *s);

/* Code gets this time, in seconds, from here on. */
void bz_taskspec_set_clock(struct bz_taskspec *s, int64_t clock);

/* Adds warnings, one a line: paths of this host that were written into what counts, and
 * options that make a result depend on this machine's processor. */
void bz_taskspec_warn(struct bz_taskspec *s, struct bz_buf *notes);

/* Adds the text of the inputs in which paths of layers may be named, everything
 * expanded: what a sandbox shows of layers is found in it. */
int bz_taskspec_text(struct bz_taskspec *s, const struct bz_taskspec_inputs *inputs,
                     struct bz_buf *out, struct bz_err *err) BZ_MUST_CHECK;

#endif
