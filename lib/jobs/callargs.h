/* callargs.h - what handlers read from their arguments.
 *
 * Each returns 0, or a status with a message, to be returned by the handler. As call.h:
 * on the handler's thread.
 */
#ifndef BZ_JOBS_CALLARGS_H
#define BZ_JOBS_CALLARGS_H

#include "jobs/call.h"

/* All of them, a map. */
int bz_callargs_read(struct bz_call *c, const struct bz_doc **args);

/* A member that may be left out: then *out stays as it is. */
int bz_callargs_count(struct bz_call *c, const struct bz_doc *args, const char *name,
                      uint64_t *out);
int bz_callargs_flag(struct bz_call *c, const struct bz_doc *args, const char *name,
                     bool *out);

/* One that has to be there. */
int bz_callargs_text(struct bz_call *c, const struct bz_doc *args, const char *name,
                     struct bz_str *out);

#endif
