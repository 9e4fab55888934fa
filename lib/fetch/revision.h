/* revision.h - the commits that tags and branches were resolved to.
 *
 * A revision that is no full commit hash moves. It is resolved once, by the server, and
 * the answer is remembered with its time in a file of the build directory. Keys and
 * checkouts take the answer from here.
 *
 *   1. In one object an answer never changes, so the key of a task and the commit that
 *      it checks out agree.
 *   2. An object that is opened to refresh has no answers of earlier runs: each
 * question is asked once more.
 *   3. The file is replaced as a whole, ends with a digest of itself, and is ignored if
 *      that is wrong. Saving adds to the answers that other processes saved meanwhile.
 *
 * A question is a text without credentials and newlines: the address of a repository, a
 * blank, a ref. Any thread may call anything but open and close.
 */
#ifndef BZ_FETCH_REVISION_H
#define BZ_FETCH_REVISION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

#define BZ_REVISION_HEX 65 /* digits of a commit, and the terminator */

struct bz_revisions;

/* `path` is where answers are remembered, or NULL: nowhere. A file that is not there or
 * damaged has no answers. */
struct bz_revisions *bz_revision_open(const char *path, bool refresh);
void bz_revision_close(struct bz_revisions *r); /* NULL is fine */

/* Whether the text is the hash of a commit: 40 or 64 lower-case digits. */
bool bz_revision_is_commit(struct bz_str s);

/* The answer to a question; *when, which may be NULL, is its time in seconds since
 * 1970. False if there is none. */
bool bz_revision_find(struct bz_revisions *r, struct bz_str question,
                      char commit[BZ_REVISION_HEX], int64_t *when);

/* Adds an answer, unless there is one: `commit` has the answer that counts then. */
void bz_revision_add(struct bz_revisions *r, struct bz_str question,
                     char commit[BZ_REVISION_HEX]);

/* Writes the answers that were added, if there are any. */
int bz_revision_save(struct bz_revisions *r, struct bz_err *err) BZ_MUST_CHECK;

#endif
