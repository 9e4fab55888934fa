/* account.h - what happened in a build, read back from the log of its events.
 *
 * The log (eventlog.h) may be of a build that still runs, that was killed, or of
 * another version of bitzel; it may also be damaged or made up. So sizes and counts are
 * bounded, a last line without its end counts as not written, and events and fields
 * that are not known are skipped. Anything else that is no event log is refused.
 *
 * What follows from an account is in shape.h and tally.h. One thread.
 */
#ifndef BZ_REPORT_ACCOUNT_H
#define BZ_REPORT_ACCOUNT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/vec.h"
#include "exec/event.h"
#include "graph/dag.h"
#include "sig/record.h"

#define BZ_ACCOUNT_BYTES_MAX ((size_t)1 << 30)
#define BZ_ACCOUNT_TASKS_MAX ((size_t)1 << 20)
#define BZ_ACCOUNT_EDGES_MAX ((size_t)1 << 24)
#define BZ_ACCOUNT_PLACES_MAX 64
#define BZ_ACCOUNT_TIME_MAX INT64_C(10000000) /* seconds; times beyond are cut */

enum bz_account_state {
    BZ_ACCOUNT_UNNEEDED, /* nothing but stored results would have needed it */
    BZ_ACCOUNT_PASSED,   /* there was nothing to run for it */
    BZ_ACCOUNT_CACHED,
    BZ_ACCOUNT_EXECUTED,
    BZ_ACCOUNT_FAILED,
    BZ_ACCOUNT_UNFINISHED, /* it began, and its end is not told */
    BZ_ACCOUNT_STATES,
};

/* Instants are ns since tasks were looked at first. Texts that there are not are empty.
 */
struct bz_account_task {
    struct bz_str name;         /* [mc:X:]recipe:do_task */
    struct bz_str recipe, task; /* its parts */
    struct bz_str version;      /* of the recipe */
    enum bz_account_state state;
    int64_t start, end;    /* of one that began; the end of the account if not told */
    int64_t took;          /* how long it ran in there */
    int64_t cpu;           /* 0: not known, as are the next two */
    int64_t saved;         /* cached or not needed: how long it took when it ran */
    uint64_t memory;       /* the most that one process had */
    int exit_code;         /* -1: none */
    int signal;            /* 0: none */
    int64_t timeout;       /* after which it was stopped; 0: it was not */
    uint64_t oom_kills;    /* processes killed meanwhile for lack of memory */
    bool same;             /* cached: found by the trees it sees */
    bool differs;          /* it made something else than before, of the same */
    struct bz_str key;     /* its signature, in hexadecimal digits */
    struct bz_str log;     /* a path */
    struct bz_str error;   /* why it could not be run */
    struct bz_str network; /* what it tried to reach */
};

/* A download that ended well. */
struct bz_account_download {
    uint32_t task;
    struct bz_str from; /* an address without secrets */
    uint64_t bytes;     /* 0: not known */
    int64_t took;
};

/* What went to and from one place of the cache. */
struct bz_account_place {
    struct bz_str name, kind; /* "local", "directory", "http" */
    uint64_t hits, misses;    /* of results that were looked up */
    uint64_t blobs_read, bytes_read;
    uint64_t blobs_written, bytes_written;
};

/* Tasks in no order that have written a path differently, and how many more. */
struct bz_account_overlap {
    uint32_t task, other;
    struct bz_str path;
    uint64_t more;
};

enum bz_account_result {
    BZ_ACCOUNT_COMPLETED,
    BZ_ACCOUNT_FAILURE,
    BZ_ACCOUNT_INTERRUPTED,
    BZ_ACCOUNT_OPEN, /* it is running, or was killed */
};

struct bz_account_edges BZ_VEC(struct bz_dag_edge);
struct bz_account_words BZ_VEC(struct bz_str);
struct bz_account_downloads BZ_VEC(struct bz_account_download);
struct bz_account_places BZ_VEC(struct bz_account_place);
struct bz_account_overlaps BZ_VEC(struct bz_account_overlap);

struct bz_account {
    struct bz_arena arena;
    struct bz_map ids; /* name -> number of the task, from 1 */
    struct bz_account_tasks BZ_VEC(struct bz_account_task) tasks;
    struct bz_account_edges edges; /* who waits for whom; may come twice */
    struct bz_str version;         /* of bitzel */
    struct bz_str time;            /* when it began: 2026-01-02T03:04:05Z, or "" */
    int64_t wall;                  /* the same as seconds since 1970, or 0 */
    struct bz_account_words targets;
    struct bz_account_downloads downloads;
    struct bz_account_places places;
    struct bz_account_overlaps overlaps;
    int64_t jobs;
    bool ended;
    int64_t took;         /* of all; up to the last event if it has not ended */
    int64_t spared;       /* what all tasks that are not needed took when they ran */
    uint64_t memory_used; /* the most of the machine's that was in use; 0: not known */
    struct bz_event_counts counts; /* as far as they are told */
    size_t skipped;                /* lines with an event that is not known */
};

/* Fills *a, which is {0}, from the text of a log; `name` is for messages: "NAME:3:
 * ...". BZ_E_INVAL if it is none, BZ_E_LIMIT if it is too large. Release *a in any
 * case. */
int bz_account_read(struct bz_account *a, struct bz_str text, const char *name,
                    struct bz_err *err) BZ_MUST_CHECK;
int bz_account_read_file(struct bz_account *a, const char *path,
                         struct bz_err *err) BZ_MUST_CHECK;
void bz_account_release(struct bz_account *a);

/* Adds the tasks that only the record of the same build knows: those that were not
 * needed, and those without anything to run that nobody waited for. More than fit are
 * left out. The record is sorted, and of a build that completed. */
void bz_account_add(struct bz_account *a, const struct bz_record *record);

/* The task of that name, or NULL. */
const struct bz_account_task *bz_account_find(const struct bz_account *a,
                                              struct bz_str name);

enum bz_account_result bz_account_result(const struct bz_account *a);

/* "completed", "not needed": words for results and states, static. */
const char *bz_account_result_name(enum bz_account_result result);
const char *bz_account_state_name(enum bz_account_state state);

/* Whether a task that ended so was killed for lack of memory, as far as can be told; in
 * words. */
bool bz_account_starved(int signal, int exit_code, uint64_t oom_kills);
#define BZ_ACCOUNT_STARVED "killed, out of memory"

/* Why a task failed: "exit status 7". */
void bz_account_failure(const struct bz_account_task *t, struct bz_buf *out);

static inline bool bz_account_ran(const struct bz_account_task *t)
{
    return t->state >= BZ_ACCOUNT_EXECUTED;
}

#endif
