/* slots.h - the tasks of a client by number, from being handed in to being let go of.
 *
 * A slot is one word: the ticket of the task that has it, and what has become of that.
 * Tickets count up, each slot has every so manieth of them, and one that is not free is
 * passed over: a task is found by its ticket without a table to search, and whoever
 * hands in touches a line of the cache that several tasks in a row share.
 *
 * A task is mail first, which somebody may give up or mark before it is read; then a
 * struct bz_task, which may be held by one thread at a time: it is not freed meanwhile.
 * Any thread may call anything.
 */
#ifndef BZ_JOBS_SLOTS_H
#define BZ_JOBS_SLOTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/sync.h"

struct bz_task;

struct bz_slots {
    atomic_ullong *words;
    struct bz_task **tasks; /* each behind the state of its slot */
    uint64_t mask;
    struct bz_sync_mutex mutex; /* of whoever holds one */
    BZ_PADDED atomic_ullong next;
};

/* What is known of a task when it is handed in. */
#define BZ_SLOTS_NAMED 2U    /* its id is the client's choice, not made of the ticket */
#define BZ_SLOTS_CALLBACK 4U /* its results go to a callback */

/* Room for at least n tasks. */
void bz_slots_init(struct bz_slots *s, size_t n);
void bz_slots_release(struct bz_slots *s);

/* A slot for mail. False if there is none. Tickets are never 0. */
bool bz_slots_enter(struct bz_slots *s, unsigned flags, uint64_t *ticket);
/* The mail could not be sent after all. False if it was given up meanwhile. */
bool bz_slots_abandon(struct bz_slots *s, uint64_t ticket);

enum bz_slots_mail { BZ_SLOTS_GIVEN_UP, BZ_SLOTS_CANCELED, BZ_SLOTS_WANTED };

/* The mail was read, and is that task now, unless it was given up: then the slot is
 * free. */
enum bz_slots_mail bz_slots_read(struct bz_slots *s, uint64_t ticket,
                                 struct bz_task *task);
/* The task is about to be freed; waits for who holds it. */
void bz_slots_leave(struct bz_slots *s, uint64_t ticket);

enum bz_slots_found {
    BZ_SLOTS_NOTHING, /* or given up */
    BZ_SLOTS_MAIL,    /* it was given up by this */
    BZ_SLOTS_MARKED,  /* mail for a callback: it was marked as canceled by this */
    BZ_SLOTS_TASK     /* for which the function was called */
};

/* Functions for tasks that are held: short, and nothing else is called by them. */
typedef void (*bz_slots_fn)(struct bz_task *task, void *ctx);

/* The task of that ticket, if it was handed in with or without a name, as said. */
enum bz_slots_found bz_slots_cancel(struct bz_slots *s, uint64_t ticket, bool named,
                                    bz_slots_fn fn, void *ctx);

/* Marks all mail as canceled, and calls the function for all tasks. */
void bz_slots_cancel_all(struct bz_slots *s, bz_slots_fn fn, void *ctx);

/* Like bz_slots_cancel, but changes nothing: BZ_SLOTS_MAIL is any mail. */
enum bz_slots_found bz_slots_find(struct bz_slots *s, uint64_t ticket, bool named,
                                  bz_slots_fn fn, void *ctx);

#endif
