/* cas.h - blobs by the SHA-256 of their bytes, in one directory.
 *
 * Blobs lie on the shelf `cas`, see shelf.h for what makes it safe to share. What is
 * read is checked against its digest; what fails the check is put aside, said in the
 * log and reported as absent, for a cache may only save time. Digests come with sizes,
 * as in the messages that refer to blobs.
 *
 * Any number of threads may use one store; a hasher belongs to one at a time.
 */
#ifndef BZ_CACHE_CAS_H
#define BZ_CACHE_CAS_H

#include "cache/shelf.h"
#include "codec/reapi.h"

struct bz_cas {
    struct bz_shelf_root root;
    struct bz_shelf blobs;
    struct bz_shelf actions; /* of action.h */
};

struct bz_cas_opts {
    enum bz_shelf_access access;
    enum bz_fs_sync sync; /* whether what is stored survives a power cut at once */
};

/* As bz_shelf_root_open. The caller closes *out. */
int bz_cas_open(const char *root, const struct bz_cas_opts *opts, struct bz_cas **out,
                struct bz_err *err) BZ_MUST_CHECK;
void bz_cas_close(struct bz_cas *cas); /* NULL is fine */
void bz_cas_closep(struct bz_cas **cas);

/* Whether there is a file of that name: the cheapest question. */
bool bz_cas_has(const struct bz_cas *cas, const struct bz_reapi_digest *d);

/* The same, and its size is right, and no collector takes it as long as this store is
 * open: to be asked before a result that names it is filed (shelf.h). False if it has
 * to be stored again. */
bool bz_cas_claim(const struct bz_cas *cas, const struct bz_reapi_digest *d);

/* Stores bytes; *out is what to ask for later. Storing what is there is cheap. */
int bz_cas_put(struct bz_cas *cas, struct bz_digest_hasher *h, const void *p, size_t n,
               struct bz_reapi_digest *out, struct bz_err *err) BZ_MUST_CHECK;

/* The same in pieces: the caller writes to temp.fd, gives the bytes to `h` and sets
 * `size`. One at a time for a hasher. */
struct bz_cas_writer {
    struct bz_cas *cas;
    struct bz_digest_hasher *h;
    struct bz_shelf_temp temp;
    uint64_t size;
    bool existed; /* after bz_cas_end: such a blob was there and stays, unread */
};

int bz_cas_begin(struct bz_cas *cas, struct bz_digest_hasher *h,
                 struct bz_cas_writer *w, struct bz_err *err) BZ_MUST_CHECK;
/* Publishes. With `want`, only if that is what was written, else BZ_E_CORRUPT. The
 * writer is released, also on failure. */
int bz_cas_end(struct bz_cas_writer *w, const struct bz_reapi_digest *want,
               struct bz_reapi_digest *out, struct bz_err *err) BZ_MUST_CHECK;
void bz_cas_abort(struct bz_cas_writer *w); /* harmless after bz_cas_end */

/* All bytes, checked, with a NUL after them; the caller frees *out. BZ_E_LIMIT if the
 * digest says that they are more than `limit`; BZ_E_NOENT if they are absent or bad. */
int bz_cas_read(struct bz_cas *cas, struct bz_digest_hasher *h,
                const struct bz_reapi_digest *d, size_t limit, char **out,
                struct bz_err *err) BZ_MUST_CHECK;

/* Opens for reading. The size is checked; the bytes only with a hasher. BZ_E_NOENT as
 * above. */
int bz_cas_fd(struct bz_cas *cas, struct bz_digest_hasher *h,
              const struct bz_reapi_digest *d, int *fd,
              struct bz_err *err) BZ_MUST_CHECK;

/* For whoever has opened a blob, of which *st tells, and found that it has not the size
 * that a reference tells: one of the two is damaged. If it is the blob, it is put
 * aside. A reference may come from anywhere and must not cost a blob. Always
 * BZ_E_NOENT. */
int bz_cas_wrong_size(struct bz_cas *cas, const struct bz_reapi_digest *d, int fd,
                      const struct stat *st, struct bz_err *err) BZ_MUST_CHECK;

/* For whoever failed to read a blob, of which *st tells: a disk that cannot read it has
 * lost it. If *err is about that the blob is put aside, and this is BZ_E_NOENT; else it
 * is the failure. */
int bz_cas_unreadable(struct bz_cas *cas, const struct bz_reapi_digest *d,
                      const struct stat *st, struct bz_err *err) BZ_MUST_CHECK;

/* The same for whoever failed to copy from `fd`, where it may have been the writing: it
 * is read once more. */
int bz_cas_not_copied(struct bz_cas *cas, const struct bz_reapi_digest *d, int fd,
                      struct bz_err *err) BZ_MUST_CHECK;

#endif
