/* inbox.h - results that wait until somebody asks for them, by their task's id.
 *
 * A client's results go in (bz_inbox_put is a bz_client_fn). Those of one task come out
 * in order. Any thread may call anything.
 */
#ifndef BZ_JOBS_INBOX_H
#define BZ_JOBS_INBOX_H

#include "jobs/client.h"

#define BZ_INBOX_SHARDS 16

struct bz_inbox_shard {
    BZ_PADDED struct bz_sync_mutex mutex;
    struct bz_sync_cond came;
    atomic_uint
        puts; /* changes with each: for who looks for a moment before sleeping */
    struct bz_map queues; /* id -> struct bz_inbox_queue */
};

struct bz_inbox {
    struct bz_client *client; /* to be set, once there is one */
    struct bz_inbox_shard shards[BZ_INBOX_SHARDS];
};

struct bz_inbox *bz_inbox_new(void);
/* What nobody took is dropped. After the client is freed. */
void bz_inbox_free(struct bz_inbox *b);

void bz_inbox_put(void *inbox, struct bz_result *result);

/* The next result of the task, which the caller frees; NULL if there is none yet. */
struct bz_result *bz_inbox_poll(struct bz_inbox *b, uint64_t id);
/* The same, but waits until the deadline (os/clock.h). */
struct bz_result *bz_inbox_wait(struct bz_inbox *b, uint64_t id, int64_t deadline);

#endif
