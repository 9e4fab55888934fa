/* printed.h - what a task printed, stored with its result.
 *
 * Standard output and error of a task go to one log, which is the `stdout` of an
 * ActionResult: in the message if it is short, else as a blob. Of a long one only the
 * end is kept. Two results that differ in it are the same result (cache/action.h).
 */
#ifndef BZ_EXEC_PRINTED_H
#define BZ_EXEC_PRINTED_H

#include "cache/cache.h"

#define BZ_PRINTED_SHORT 2048
#define BZ_PRINTED_MAX ((size_t)1 << 20)

/* Adds the log at that path to a result; its bytes are the arena's. A result without it
 * is as good, so a log that cannot be read or stored is left out. */
void bz_printed_add(struct bz_cache *cache, struct bz_digest_hasher *h, const char *log,
                    struct bz_arena *a, struct bz_reapi_result *r);

#endif
