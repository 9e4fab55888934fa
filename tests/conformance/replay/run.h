/* run.h - one recorded test under way: its stores, and what its ops were worth.
 *
 * A store is known by the number the record gives it. One that BitBake filled in a way
 * that could not be repeated is spoilt: no op on it is judged any more.
 */
#ifndef BZ_CONFORMANCE_RUN_H
#define BZ_CONFORMANCE_RUN_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/vec.h"
#include "codec/doc.h"
#include "recipe/finalize.h"
#include "recipe/meta.h"

enum { REPLAY_STORES = 256 };

enum replay_verdict {
    REPLAY_PASSED,
    REPLAY_PYTHON,  /* it needs an interpreter */
    REPLAY_NOT_YET, /* nothing here does it, or the record does not say enough */
    REPLAY_FAILED,
    REPLAY_VERDICTS
};

struct replay_slot {
    struct bz_meta *meta; /* owned by the run; NULL before the first op */
    enum replay_verdict state;
    bool used;
    bool shared;  /* has copies, and so must not change any more */
    bool guessed; /* taken to be empty: how it came about is not in the record */
};

/* What a run frees in the end, the last first. Each may be NULL. */
struct replay_owned {
    struct bz_library *library;
    struct bz_finalize *finalize; /* before its library */
    struct bz_meta *meta;
    struct bz_vars *vars;
};

struct replay_run {
    const char *test;
    const char *dir; /* for its files, "@TMP@" in the record; absent before the first */
    bool tables;     /* every op works on a store that was written and read again */
    struct bz_arena arena;
    struct replay_slot stores[REPLAY_STORES];
    struct replay_metas BZ_VEC(struct replay_owned) owned; /* a copy after its parent */
    char why[1024]; /* the last op was not PASSED, or "" */
};

void replay_run_release(struct replay_run *r);

/* Leaves it to the run to free. */
void replay_run_own(struct replay_run *r, struct replay_owned thing);

enum replay_verdict replay_run_op(struct replay_run *r, const struct bz_doc *op);

/* The store of that number, or of {"store": number}; NULL if it is neither. */
struct replay_slot *replay_run_slot(struct replay_run *r, const struct bz_doc *where);

/* createCopy. What is set in either afterwards is not seen in the other. */
enum replay_verdict replay_run_copy(struct replay_run *r, struct replay_slot *s,
                                    const struct bz_doc *op);

#endif
