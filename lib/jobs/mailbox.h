/* mailbox.h - requests as they came in, for whoever reads them: mailboxes with their
 * updaters.
 *
 * An updater is a share of the mailboxes and a flag that says whether somebody is at
 * it: one worker at a time, any worker. How many there are follows from how much mail
 * there is: one more when one could not empty a box at once, one less when one found
 * nothing, and only the first, which is always there, when there is no mail at all.
 */
#ifndef BZ_JOBS_MAILBOX_H
#define BZ_JOBS_MAILBOX_H

#include "jobs/ring.h"

#define BZ_MAILBOX_MAX 64   /* mailboxes, and so updaters */
#define BZ_MAILBOX_BATCH 16 /* that an updater takes from each at a time */

struct bz_mailbox {
    struct bz_ring mail;
};

struct bz_mailbox_updater {
    BZ_PADDED atomic_bool taken;
};

struct bz_mailboxes {
    struct bz_mailbox *boxes;
    unsigned n;
    struct bz_mailbox_updater updaters[BZ_MAILBOX_MAX];
    BZ_PADDED atomic_uint nupdaters;
    atomic_uint most; /* updaters there ever were */
    atomic_uint turn; /* so that none is always looked at last */
};

/* n mailboxes with room for so many requests each. */
void bz_mailbox_init(struct bz_mailboxes *m, unsigned n, size_t capacity);
void bz_mailbox_release(struct bz_mailboxes *m); /* they are empty */

/* Into the one that belongs to the number, or the next that has room. False if none
 * has. */
bool bz_mailbox_put(struct bz_mailboxes *m, uint64_t number, void *request);

/* Does the work of an updater that nobody is at: hands its mail to `fn`. Returns how
 * much there was. */
size_t bz_mailbox_update(struct bz_mailboxes *m, void (*fn)(void *ctx, void *request),
                         void *ctx);

#endif
