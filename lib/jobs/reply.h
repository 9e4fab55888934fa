/* reply.h - a result as a line of JSON. */
#ifndef BZ_JOBS_REPLY_H
#define BZ_JOBS_REPLY_H

#include "base/buf.h"
#include "jobs/task.h"

#define BZ_REPLY_NOWHERE UINT64_MAX

/*     {"task_id":7,"status":0,"final":true,"data":"text"}
 *
 * with "error" if the status is not 0, and "at" if that is not BZ_REPLY_NOWHERE. */
void bz_reply_write(struct bz_buf *out, const struct bz_result *r, uint64_t at);

#endif
