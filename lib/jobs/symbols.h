/* symbols.h - memory that requests may name.
 *
 * A region has a name, a size, and says whether it may be read or written. While a task
 * holds one it does not go away: removing it waits. Any thread may call anything.
 */
#ifndef BZ_JOBS_SYMBOLS_H
#define BZ_JOBS_SYMBOLS_H

#include "base/err.h"
#include "base/map.h"
#include "base/sync.h"

#define BZ_SYMBOLS_NAME 63 /* bytes of a name */

enum bz_symbols_access { BZ_SYMBOLS_READ = 1, BZ_SYMBOLS_WRITE = 2 };

struct bz_symbol {
    char name[BZ_SYMBOLS_NAME + 1];
    void *p;
    size_t size;
    unsigned access; /* of enum bz_symbols_access */
    unsigned held;   /* the table's, as is the next */
    bool leaving;
};

struct bz_symbols {
    struct bz_sync_mutex mutex;
    struct bz_sync_cond changed;
    struct bz_map map; /* name -> struct bz_symbol */
};

/* All regions must have been let go. */
void bz_symbols_release(struct bz_symbols *t);

/* BZ_E_EXISTS if there is one of that name, BZ_E_INVAL for a name that is none:
 * letters, digits, '_', '-' and '.'. */
int bz_symbols_add(struct bz_symbols *t, const char *name, void *p, size_t size,
                   unsigned access, struct bz_err *err) BZ_MUST_CHECK;

/* BZ_E_NOENT if there is none. Afterwards nobody uses the memory any more. */
int bz_symbols_remove(struct bz_symbols *t, const char *name,
                      struct bz_err *err) BZ_MUST_CHECK;

/* BZ_E_NOENT "unknown symbol: X", BZ_E_INVAL if it may not be used so. To be let go. */
int bz_symbols_hold(struct bz_symbols *t, struct bz_str name, unsigned access,
                    struct bz_symbol **out, struct bz_err *err) BZ_MUST_CHECK;
void bz_symbols_let_go(struct bz_symbols *t, struct bz_symbol *s);

#endif
