/* starved.h - whether the kernel killed something for lack of memory while a task ran.
 *
 * The kernel only counts; whom it killed it tells nobody but root. It is looked at when
 * a build begins and when a task fails, which costs the others nothing: what was killed
 * between a failure before the task began and its own is counted as killed meanwhile.
 *
 * One thread.
 */
#ifndef BZ_EXEC_STARVED_H
#define BZ_EXEC_STARVED_H

#include <stdint.h>

#include "base/vec.h"

struct bz_starved_look {
    int64_t at, kills;
};

struct bz_starved {
    const char *root; /* before every path that is read; NULL: none */
    struct bz_starved_looks BZ_VEC(struct bz_starved_look) looks;
};

/* Looks for the first time. */
void bz_starved_begin(struct bz_starved *s, int64_t now);
/* How many were killed since that instant, or a little longer ago; 0 also if the kernel
 * does not tell. */
uint64_t bz_starved_since(struct bz_starved *s, int64_t began, int64_t now);
void bz_starved_release(struct bz_starved *s);

#endif
