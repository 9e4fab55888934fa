/* memo.h - the digests of tasks that need not be computed again.
 *
 * A part of the family "evaluation" of the catalog (survey/deltas.h): an entry for each
 * evaluated recipe. Rule of validity: the key, which says that nothing it was evaluated
 * from has changed (survey/lineage.h). An entry has for each
 * of its tasks the digest without files (base.h) and the list of files (files.h), and
 * what there was to say about the recipe.
 *
 * Whatever bytes are there, a reader stays within them. One thread.
 */
#ifndef BZ_SIG_MEMO_H
#define BZ_SIG_MEMO_H

#include <stdbool.h>

#include "codec/digest.h"
#include "codec/entry_kinds.h"

#define BZ_MEMO_TASKS 4096 /* of one recipe */

struct bz_memo_task {
    struct bz_str name;
    struct bz_digest digest;
    struct bz_str files; /* a list of files.h */
};

struct bz_memo_recipe {
    struct bz_entries_key key;
    struct bz_str notes;
    const struct bz_memo_task *tasks;
    size_t n;
};

struct bz_memo_row;

/* What is known of a recipe. */
struct bz_memo {
    struct bz_str notes;
    size_t n; /* tasks */
    /* This file's own. */
    const struct bz_memo_row *rows;
    struct bz_str texts;
    size_t next; /* the row that is asked for next, probably */
};

/* False if nothing is known. Texts live as long as the catalog is open. */
bool bz_memo_find(struct bz_entries *catalog, const struct bz_entries_key *key,
                  struct bz_memo *out);
/* One task of it. Asking in the order they were kept in is quickest. */
bool bz_memo_task(struct bz_memo *m, struct bz_str name, struct bz_memo_task *out);

/* Keeps a recipe; tasks that are known under its key, and are not among these, stay. */
void bz_memo_put(struct bz_entries *catalog, const struct bz_memo_recipe *recipe);

#endif
