/* mailbox.h - requests as they came in, for whoever reads them: mailboxes with their
 * updaters.
 *
 * A mailbox is a ring of bytes: what is written one after the other is read so, by
 * another processor, without a pointer to follow. Whoever puts something in has the
 * box's mutex; whoever reads has its flag, takes some at a time, and says only then how
 * far it got.
 *
 * An updater is a share of the mailboxes: any worker does its work. How many there are
 * follows from how much mail there is: one more when one could not empty a box at once,
 * one less when one found nothing, and only the first, which is always there, when
 * there is no mail at all.
 */
#ifndef BZ_JOBS_MAILBOX_H
#define BZ_JOBS_MAILBOX_H

#include "base/str.h"
#include "base/sync.h"
#include "jobs/task.h"

#define BZ_MAILBOX_MAX 64             /* mailboxes, and so updaters */
#define BZ_MAILBOX_BATCH 16           /* that an updater takes from each at a time */
#define BZ_MAILBOX_TEXT BZ_TASK_SHORT /* bytes of a request, at most */

/* What comes with a request. */
struct bz_mail {
    struct bz_client *client;
    bz_result_fn callback;
    void *callback_ctx;
    uint64_t id, ticket;
    int64_t since;        /* when it was handed in, if it may matter; else 0 */
    struct bz_task *task; /* made already: its request is too long for a mailbox */
    uint32_t size;        /* of the request */
    bool named;           /* the id is the client's choice */
};

struct bz_mailbox {
    unsigned char *bytes;
    size_t mask;
    size_t capacity; /* requests */
    /* For who puts something in. */
    BZ_PADDED struct bz_sync_mutex mutex;
    atomic_size_t tail, put; /* mutex: bytes and requests so far */
    size_t known_head, known_got;
    /* For who reads. */
    BZ_PADDED atomic_bool taken;
    atomic_size_t head, got; /* taken: bytes and requests so far */
};

struct bz_mailboxes {
    struct bz_mailbox *boxes;
    unsigned n;
    BZ_PADDED atomic_uint nupdaters;
    atomic_uint most; /* updaters there ever were */
};

/* n mailboxes with room for so many requests each, if they are short. */
void bz_mailbox_init(struct bz_mailboxes *m, unsigned n, size_t capacity);
void bz_mailbox_release(struct bz_mailboxes *m); /* they are empty */

/* Into the one that belongs to the number, or the next that has room. False if none
 * has. The text is copied; it has no more than BZ_MAILBOX_TEXT bytes. */
bool bz_mailbox_put(struct bz_mailboxes *m, uint64_t number, struct bz_mail *mail,
                    struct bz_str text);

/* One request, which is gone when this returns, and the box that it was in. */
typedef void (*bz_mailbox_fn)(void *ctx, unsigned box, const struct bz_mail *mail,
                              struct bz_str text);

/* Does the work of an updater that nobody is at, that of the number first. Returns how
 * much there was. */
size_t bz_mailbox_update(struct bz_mailboxes *m, unsigned number, bz_mailbox_fn fn,
                         void *ctx);

/* Whether there is mail that nobody is just reading. */
bool bz_mailbox_waits(const struct bz_mailboxes *m);
/* About how much there is. */
size_t bz_mailbox_count(const struct bz_mailboxes *m);

#endif
