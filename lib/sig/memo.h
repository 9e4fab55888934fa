/* memo.h - the digests of tasks that need not be computed again.
 *
 * By the key of an evaluated recipe (survey/lineage.h), which says that nothing it was
 * evaluated from has changed: for each of its tasks the digest without files (base.h)
 * and the list of files (files.h), and what there was to say about the recipe. One
 * file, replaced as a whole (seal.h); what is not used for a while is dropped.
 *
 * Whatever bytes are there, a reader stays within them. One thread writes; any number
 * may read.
 */
#ifndef BZ_SIG_MEMO_H
#define BZ_SIG_MEMO_H

#include <stdbool.h>

#include "base/map.h"
#include "base/vec.h"
#include "codec/digest.h"

#define BZ_MEMO_MAX ((size_t)1 << 17) /* recipes */
#define BZ_MEMO_TASKS 4096            /* of one recipe */
#define BZ_MEMO_AGE 32                /* times it is saved before what is unused goes */

struct bz_memo_key {
    uint8_t b[32];
};

struct bz_memo_task {
    struct bz_str name;
    struct bz_digest digest;
    struct bz_str files; /* a list of files.h */
};

struct bz_memo_recipe {
    struct bz_memo_key key;
    struct bz_str notes;
    const struct bz_memo_task *tasks;
    size_t n;
};

struct bz_memo_record;
struct bz_memo_row;

/* The fields are this file's own. */
struct bz_memo {
    char *bytes;
    const struct bz_memo_record *records;
    const struct bz_memo_row *rows;
    size_t nrecords, nrows;
    struct bz_str texts;
    struct bz_map index; /* the first bytes of a key -> number of a record, from 1 */
    bool *used;          /* [nrecords] */
};

/* Where to look for a recipe's tasks. */
struct bz_memo_found {
    size_t first, n, next; /* rows; the one that is asked for next, probably */
    struct bz_str notes;
};

/* `path` is where an earlier run saved, or NULL; a file that is no good is as none. */
void bz_memo_open(struct bz_memo *m, const char *path, struct bz_digest_hasher *hasher);
void bz_memo_close(struct bz_memo *m);

/* What is known of a recipe; false if nothing is. Texts live as long as *m. */
bool bz_memo_find(struct bz_memo *m, const struct bz_memo_key *key,
                  struct bz_memo_found *out);
/* One task of it. Asking in the order they were saved in is quickest. */
bool bz_memo_task(const struct bz_memo *m, struct bz_memo_found *in, struct bz_str name,
                  struct bz_memo_task *out);

/* Adds recipes, each with other tasks than are known under its key or with the same
 * ones anew, to what is known, and saves all. */
int bz_memo_save(const struct bz_memo *m, const struct bz_memo_recipe *more, size_t n,
                 const char *path, struct bz_digest_hasher *hasher,
                 struct bz_err *err) BZ_MUST_CHECK;

#endif
