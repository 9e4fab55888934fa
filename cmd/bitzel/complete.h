/* complete.h - what may come next on a line that is being typed.
 *
 * Knows what the tables of commands and options know; the names of recipes come from
 * the caller. Nothing here fails: a line that makes no sense has no continuation.
 *
 * The answer is lines for the scripts in completion/: a whole word, a tab and a few
 * words about it; or ":files" or ":dirs" where names of these fit.
 */
#ifndef BZ_CMD_COMPLETE_H
#define BZ_CMD_COMPLETE_H

#include "base/vec.h"
#include "cmd.h"

/* What an argument or the value of an option is, by the name that help gives it. */
enum bz_complete_kind {
    BZ_COMPLETE_NOTHING,
    BZ_COMPLETE_COMMANDS,
    BZ_COMPLETE_FILES,
    BZ_COMPLETE_DIRS,
    BZ_COMPLETE_TARGETS, /* RECIPE, RECIPE:do_TASK, mc:NAME:RECIPE */
    BZ_COMPLETE_RECIPES,
    BZ_COMPLETE_TASKS,
    BZ_COMPLETE_VARIABLES,
    BZ_COMPLETE_SETTINGS,
    BZ_COMPLETE_ASSIGNMENTS, /* SETTING=VALUE */
    BZ_COMPLETE_BUILDS,
    BZ_COMPLETE_SHELLS,
};

struct bz_complete;

/* Offers what begins with `typed`; for targets, recipes, tasks, variables and builds.
 */
typedef void (*bz_complete_fn)(struct bz_complete *c, enum bz_complete_kind kind,
                               struct bz_str typed);

struct bz_complete {
    const struct bz_cmd *const *commands; /* these four are set by the caller */
    const struct bz_opt *globals;
    bz_complete_fn names;
    void *ctx;

    const struct bz_cmd *cmd; /* what the line said up to the last word */
    struct bz_complete_args BZ_VEC(const char *) args;
    const char *directory, *project; /* values of these options, or NULL */

    struct bz_str before; /* of the last word: what goes before what is offered */
    struct bz_buf out;
};

/* Fills c->out. The words are those after the program's; the last one is being typed
 * and may be empty. They outlive c, which the caller releases. */
void bz_complete_line(struct bz_complete *c, const char *const *words, size_t n);
void bz_complete_release(struct bz_complete *c);

/* Adds a line if `word` begins with `typed`. */
void bz_complete_offer(struct bz_complete *c, struct bz_str typed, struct bz_str word,
                       struct bz_str help);

#endif
