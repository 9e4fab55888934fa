/* index.h - what is known about a store, in a database private to this machine.
 *
 * Sizes, last use, hits, durations, labels, and what refers to what. Nothing is right
 * or wrong because of it: without it a build is the same, only less is known. It can be
 * made anew from the store (reindex.h) at any time.
 *
 *   1. Noting something costs a place in a queue; a transaction writes many of them, on
 *      the pool when there are enough, by bz_index_flush, and when it is closed. What
 *      cannot be written is dropped, and said in the log.
 *   2. A database that cannot be read is put aside as `<path>.bad` and begun anew; one
 *      that cannot be used at all (a newer version, no room, no rights) is replaced by
 *      one in memory.
 *   3. Processes of one machine may share one file. SQLite does not lock reliably over
 *      a network: the file belongs in a local directory.
 *
 * Labels are opaque texts. Any thread may call anything.
 */
#ifndef BZ_CACHE_INDEX_H
#define BZ_CACHE_INDEX_H

#include "base/arena.h"
#include "codec/reapi.h"
#include "pool/pool.h"

struct bz_index;

enum bz_index_state {
    BZ_INDEX_KEPT,   /* as it was */
    BZ_INDEX_NEW,    /* empty: there was none, or it was broken */
    BZ_INDEX_MEMORY, /* empty, and gone when it is closed */
};

/* `path` may be NULL: in memory. With a pool, which outlives it, queues are written on
 * its io lane. Fails only if there is no memory database either. */
int bz_index_open(const char *path, struct bz_pool *pool, struct bz_index **out,
                  enum bz_index_state *state, struct bz_err *err) BZ_MUST_CHECK;
/* How much of the store it knows, while it is filled for the first time (reindex.h):
 * the next part, or BZ_INDEX_FILLED. */
#define BZ_INDEX_FILLED (-1)
int bz_index_next_part(struct bz_index *x);
void bz_index_set_next_part(struct bz_index *x, int part);

/* Writes what is queued. NULL is fine. Not for workers of the pool. */
void bz_index_close(struct bz_index *x);

struct bz_index_action {
    struct bz_digest key;
    struct bz_str recipe, task;
    int64_t used;     /* bz_clock_wall() */
    uint64_t hits;    /* not read when noted */
    int64_t duration; /* of making it, ns */
    uint64_t bytes;   /* of its outputs */
};

/* A result that was stored or seen, and the blobs it names itself. */
void bz_index_note_action(struct bz_index *x, const struct bz_index_action *a,
                          const struct bz_reapi_digest *blobs, size_t n);
/* A result that saved work. */
void bz_index_note_hit(struct bz_index *x, const struct bz_digest *key);
/* A blob, and those it refers to, if it is a tree. */
void bz_index_note_blob(struct bz_index *x, const struct bz_reapi_digest *blob,
                        int64_t used, const struct bz_reapi_digest *children, size_t n);
/* All of a tree was checked, in this boot of the machine: what is read from a disk
 * after a power cut need not be what was written. */
void bz_index_note_checked(struct bz_index *x, const struct bz_digest *tree);

/* What it took to run a task when it was last run on this computer, whatever its key:
 * to guess what it takes next time. Kept when results are collected. */
struct bz_index_cost {
    int64_t duration; /* ns */
    uint64_t peak;    /* bytes of memory of its largest process; 0: not known */
};
/* The task. A recipe of the same name is another one in another project, or built for
 * another machine. */
struct bz_index_task {
    struct bz_str project, machine, recipe, version, task;
};
void bz_index_note_cost(struct bz_index *x, const struct bz_index_task *of,
                        const struct bz_index_cost *cost);
/* Somewhere else it took so long: counts as long as it was not run here. */
void bz_index_guess_cost(struct bz_index *x, const struct bz_index_task *of,
                         int64_t duration);

/* What is no longer in the store. */
void bz_index_forget_action(struct bz_index *x, const struct bz_digest *key);
void bz_index_forget_blob(struct bz_index *x, const struct bz_digest *hash);

/* Writes what is queued, now. */
int bz_index_flush(struct bz_index *x, struct bz_err *err) BZ_MUST_CHECK;

/* Questions are about what has been written. An index that fails answers as if it
 * knew nothing. */
bool bz_index_checked(struct bz_index *x, const struct bz_digest *tree);
/* What tasks took. If that is not known of a task in this version, another version of
 * the same recipe of the same project for the same machine counts, the one that was
 * noted last: most changes of a version change little. To ask for many at once takes
 * far less time. */
struct bz_index_ask {
    struct bz_index_task of;
    struct bz_index_cost cost; /* untouched if it is not known */
    bool known;
};
void bz_index_get_costs(struct bz_index *x, struct bz_index_ask *asks, size_t n);

static inline bool bz_index_get_cost(struct bz_index *x, const struct bz_index_task *of,
                                     struct bz_index_cost *out)
{
    struct bz_index_ask ask = {.of = *of};

    bz_index_get_costs(x, &ask, 1);
    if (ask.known)
        *out = ask.cost;
    return ask.known;
}
bool bz_index_get_action(struct bz_index *x, const struct bz_digest *key,
                         struct bz_arena *a, struct bz_index_action *out);

struct bz_index_blob {
    uint64_t size;
    int64_t used;
    uint64_t refs; /* how many results and trees name it */
};
bool bz_index_get_blob(struct bz_index *x, const struct bz_digest *hash,
                       struct bz_index_blob *out);

struct bz_index_totals {
    uint64_t blobs, bytes, actions, hits;
};
void bz_index_get_totals(struct bz_index *x, struct bz_index_totals *out);

/* Forgets everything, to be told anew. */
int bz_index_clear(struct bz_index *x, struct bz_err *err) BZ_MUST_CHECK;

#endif
