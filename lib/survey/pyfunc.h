/* pyfunc.h - Python functions of a recipe that BitBake would run and bitzel does not.
 *
 *   of a recipe  its anonymous functions and its event handlers, also those of the
 *                configuration: they may change anything
 *   of a task    its own function, unless bitzel has a step instead of it, then only
 *                what is added to the first definition or replaces it; and the
 * functions of its [prefuncs] and [postfuncs]
 *
 * A function that consists of comments and `pass` does not count, but for those that a
 * task has to call. Facts keep such a list as text, a line for each function:
 * "KIND LINE NAME FILE".
 */
#ifndef BZ_SURVEY_PYFUNC_H
#define BZ_SURVEY_PYFUNC_H

#include "base/buf.h"
#include "base/map.h"
#include "base/vec.h"
#include "recipe/meta.h"

enum bz_pyfunc_kind {
    BZ_PYFUNC_ANONYMOUS = 'a',
    BZ_PYFUNC_HANDLER = 'h',
    BZ_PYFUNC_PLAIN = 'f',
};

struct bz_pyfunc {
    enum bz_pyfunc_kind kind;
    struct bz_str name; /* as written, perhaps with ":append" */
    struct bz_str file; /* n == 0: not known */
    uint32_t line;
};

/* Append the list of a recipe that is finalized; of the configuration, which runs no
 * anonymous functions, only the handlers count. Fail as reading a variable does. */
int bz_pyfunc_of_recipe(struct bz_meta *m, struct bz_buf *out,
                        struct bz_err *err) BZ_MUST_CHECK;
int bz_pyfunc_of_config(struct bz_meta *m, struct bz_buf *out,
                        struct bz_err *err) BZ_MUST_CHECK;

struct bz_pyfunc_task {
    struct bz_str name;
    bool python;                 /* its function is in Python */
    struct bz_str before, after; /* [prefuncs] and [postfuncs], unexpanded */
};
int bz_pyfunc_of_task(struct bz_meta *m, const struct bz_pyfunc_task *task,
                      struct bz_buf *out, struct bz_err *err) BZ_MUST_CHECK;

/* Takes the first function off a list. False at its end. */
bool bz_pyfunc_next(struct bz_str *list, struct bz_pyfunc *out);

/* Appends "anonymous function", "event handler NAME" or "function NAME". */
void bz_pyfunc_describe(const struct bz_pyfunc *f, struct bz_buf *out);

/* Functions of several lists, each once and in the order they came. {0} is empty. The
 * lists must outlive it. */
struct bz_pyfunc_set {
    struct bz_map seen;
    struct bz_pyfuncs BZ_VEC(struct bz_pyfunc) list;
};
void bz_pyfunc_add(struct bz_pyfunc_set *set, struct bz_str list);
void bz_pyfunc_release(struct bz_pyfunc_set *set);

#endif
