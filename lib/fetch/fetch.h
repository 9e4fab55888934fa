/* fetch.h - the sources of a recipe: from entries of SRC_URI to verified files.
 *
 *   1. What has a checksum is what the checksum says, or it is not there: bytes are
 *      written beside their name, verified, made durable, and renamed.
 *   2. Any place will do that has these bytes: DL_DIR, then PREMIRRORS, the entry's own
 *      address, MIRRORS. A place that has others is passed over, with a note.
 *   3. One download, however many want it, also in other processes: whoever comes
 *      second waits for the lock beside the file, and finds it there.
 *   4. DL_DIR is laid out as BitBake lays it out, so both may use one.
 *   5. Programs that are started (git, apt-get) see none of the user's settings but
 *      keys and proxies, ask nothing and run no hooks. No message has a password in it.
 *
 * One recipe's sources belong to one thread; any number of threads and processes may
 * each fetch a recipe's. A struct bz_fetch_client is shared by all threads.
 */
#ifndef BZ_FETCH_FETCH_H
#define BZ_FETCH_FETCH_H

#include <sys/types.h>

#include "fetch/policy.h"
#include "fetch/revision.h"
#include "pool/cancel.h"

struct bz_fetch_client; /* connections that are kept */
struct bz_fetch;
struct bz_source;

int bz_fetch_client_new(struct bz_fetch_client **out, struct bz_err *err) BZ_MUST_CHECK;
void bz_fetch_client_free(struct bz_fetch_client *c); /* NULL is fine */

/* All may be NULL. `shown` is an address without secrets. */
struct bz_fetch_watch {
    void (*progress)(void *ctx, const char *shown, uint64_t n, uint64_t total);
    /* What one address gave: the bytes that came (0: not known), in how many ns. */
    void (*fetched)(void *ctx, const char *shown, uint64_t n, int64_t ns);
    void (*note)(void *ctx, const char *text); /* what is worth knowing */
    void *ctx;
};

#define BZ_FETCH_MASKED 01000 /* in a mask: it is meant, even if it has no bits */

struct bz_fetch_opts {
    struct bz_policy_vars vars; /* must outlive the object */
    struct bz_fetch_client *client;
    struct bz_fetch_watch watch;
    struct bz_cancel *cancel;       /* or NULL */
    struct bz_revisions *revisions; /* names that were resolved; or NULL: none were */
    bool offline; /* as with BB_NO_NETWORK; names of revisions are not resolved */
    bool whole;   /* repositories are unpacked so that they do not need DL_DIR */
    mode_t umask; /* of what is unpacked, see BZ_FETCH_MASKED; 0: the usual */
};

/* Takes the entries apart; of the disk it only looks where local files are. `src_uri`
 * is expanded. BZ_E_INVAL for an entry that is wrong or of a kind that is not known. */
int bz_fetch_open(const struct bz_fetch_opts *opts, struct bz_str src_uri,
                  struct bz_fetch **out, struct bz_err *err) BZ_MUST_CHECK;
void bz_fetch_close(struct bz_fetch *f); /* NULL is fine */
static inline void bz_fetch_closep(struct bz_fetch **f)
{
    bz_fetch_close(*f);
}

/* Another watch and another token, for whoever takes it over. */
void bz_fetch_attach(struct bz_fetch *f, const struct bz_fetch_watch *watch,
                     struct bz_cancel *cancel);

size_t bz_fetch_count(const struct bz_fetch *f);
const struct bz_source *bz_fetch_source(const struct bz_fetch *f, size_t i);

/* Has the revision of every git entry be a commit: the hash that the recipe gives, the
 * answer that opts.revisions has, or else that of the server, which is remembered
 * there. Call it before keys are computed and before bz_fetch_get(), which resolves
 * nothing. BZ_E_INVAL if a server would have to be asked but opts.offline is set,
 * BZ_E_NOENT if the repository has no such branch or tag. */
int bz_fetch_resolve(struct bz_fetch *f, struct bz_err *err) BZ_MUST_CHECK;
int bz_fetch_resolve_one(struct bz_fetch *f, size_t i,
                         struct bz_err *err) BZ_MUST_CHECK;

/* The commit of a git entry; "" for other entries, and if it is not resolved. */
struct bz_str bz_fetch_commit(const struct bz_source *s);

/* What opts.revisions is asked about a git entry whose revision is a name; "" if there
 * is nothing to ask. The commit in a key holds as long as the answer is the same. */
struct bz_str bz_fetch_question(const struct bz_source *s);

/* What one may know of a source: its entry without secrets, where it lies once it is
 * fetched (a file, or a directory for git and apt), and whether it is local. */
const char *bz_fetch_shown(const struct bz_source *s);
const char *bz_fetch_path(const struct bz_source *s);
bool bz_fetch_is_local(const struct bz_source *s);

enum bz_fetch_how { BZ_FETCH_PRESENT, BZ_FETCH_DOWNLOADED };

/* Makes sure that one source is there. BZ_E_NOENT if no place has it, BZ_E_CORRUPT if
 * all that do have other bytes, BZ_E_NOSUP if those that may have it must not be asked,
 * BZ_E_INVAL if it lacks a checksum (the message has the line to add) or its revision
 * is not resolved. `how` may be NULL. */
int bz_fetch_get(struct bz_fetch *f, size_t i, enum bz_fetch_how *how,
                 struct bz_err *err) BZ_MUST_CHECK;

/* Unpacks all sources, which have been fetched, into a directory, which exists. */
int bz_fetch_unpack(struct bz_fetch *f, const char *dir,
                    struct bz_err *err) BZ_MUST_CHECK;

#endif
