/* attach.h - a client of a service in another process, by shared memory.
 *
 * The service is asked for memory on its socket (channel.h); from then on requests and
 * results go through that, without a system call unless one side sleeps. The socket
 * stays: it is the bell with which the service is woken, and when it is closed the
 * other side is gone. What was asked for then ends with BZ_TASK_CANCELED.
 *
 * There is no thread: results are taken out of the memory by whoever polls or waits,
 * and lie here until they are asked for. Any thread may call anything.
 */
#ifndef BZ_JOBS_ATTACH_H
#define BZ_JOBS_ATTACH_H

#include "jobs/task.h"

/* What the client says first, and how the answer begins. */
#define BZ_ATTACH_HELLO "{\"attach\":1}"
#define BZ_ATTACH_WELCOME "{\"attached\":1,\"results\":"

struct bz_attach;

/* BZ_E_NOENT if no service is there, BZ_E_NOSUP if it is another user's or does not
 * share memory, BZ_E_TIMEOUT if it does not answer for some seconds. */
int bz_attach_new(const char *socket_path, struct bz_attach **out,
                  struct bz_err *err) BZ_MUST_CHECK;
/* What was asked for is canceled. NULL is fine. */
void bz_attach_free(struct bz_attach *a);

/* As bz_client_submit. BZ_E_BUSY also if there is no room in the memory. A request that
 * is longer than a piece waits for room. */
int bz_attach_submit(struct bz_attach *a, struct bz_str text, uint64_t *id,
                     struct bz_err *err) BZ_MUST_CHECK;

/* As bz_inbox_poll and bz_inbox_wait; waiting ends when the service is gone. */
struct bz_result *bz_attach_poll(struct bz_attach *a, uint64_t id);
struct bz_result *bz_attach_wait(struct bz_attach *a, uint64_t id, int64_t deadline);

/* False if there is no such task. */
bool bz_attach_cancel(struct bz_attach *a, uint64_t id);

#endif
