/* check.h - what this machine offers, and what bitzel needs of it.
 *
 * A check looks at one thing and judges it: BZ_CHECK_FAIL where bitzel cannot work,
 * BZ_CHECK_WARN where it works with less. Each really tries or measures the thing it
 * is about; nothing is changed. The file system's files are found under a root that a
 * test may choose.
 */
#ifndef BZ_CMD_CHECK_H
#define BZ_CMD_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/defs.h"
#include "cache/tiers.h"

enum bz_check_state { BZ_CHECK_OK, BZ_CHECK_WARN, BZ_CHECK_FAIL };

/* The machine to look at. */
struct bz_check_host {
    const char *root;       /* goes before /proc and /sys: "" for the real ones */
    const char *cache;      /* the directory results are stored in; need not exist */
    const char *decides;    /* the setting or variable that says so */
    const char *home;       /* why it is not below HOME; or NULL */
    struct bz_arena *texts; /* where fixes are kept that depend on the host */
    bool privileged;        /* whether limits of ordinary users do not apply */
    int64_t now;            /* wall clock, see os/clock.h */
    int64_t max_size;       /* of the store: cache.max_size; negative: per cent */
    const char *index;      /* of the store; or NULL */
    const char *build;      /* where builds are made; need not exist */
    const char *temp;       /* for temporary files */
    const struct bz_tiers_opts *tiers; /* or NULL */
    int64_t patience;                  /* ns that a tier may be silent; 0: a little */
};

struct bz_check_row {
    const char *name;
    enum bz_check_state state;
    char found[256];
    const char *fix; /* what to do; NULL if the state is BZ_CHECK_OK */
};

/* Fills a row, but for its name. The fix is for a person, or NULL if all is well. */
void bz_check_judge(struct bz_check_row *row, enum bz_check_state state,
                    const char *fix, const char *fmt, ...) BZ_PRINTF(4, 5);

/* Checks number 0 to bz_check_count() - 1, in the order to show them. */
size_t bz_check_count(void);
void bz_check_run(size_t i, const struct bz_check_host *host,
                  struct bz_check_row *row) BZ_NONNULL;

#endif
