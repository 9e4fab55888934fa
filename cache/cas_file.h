/* cas_file.h - files into a store and out of it, by hard link where that is safe.
 *
 * A file that is adopted and the blob are one inode with two names: whoever writes to
 * one changes the other. Three things guard against that. Only files with plain modes
 * are adopted: nobody but their owner may write to them, everybody may read them, and
 * they have no special bits and no capabilities. Others go in by copy, as a blob of
 * mode 0444. Tasks see
 * blobs through read-only layers. And a write leaves a time behind that is not
 * BZ_SHELF_MTIME, at which the bytes are checked anew before they are used again.
 *
 * A file comes out with exactly the mode asked for: by link if the blob has it, else by
 * copy.
 */
#ifndef BZ_CACHE_CAS_FILE_H
#define BZ_CACHE_CAS_FILE_H

#include "cache/cas.h"

enum bz_cas_file_in {
    BZ_CAS_FILE_COPY,  /* the file stays as it is */
    BZ_CAS_FILE_ADOPT, /* the file may become the blob; nobody writes to it any more */
};

struct bz_cas_file {
    struct bz_reapi_digest digest;
    struct stat st; /* of the file as it was stored */
    bool existed;   /* such a blob was there and stays: its bytes were not looked at */
};

/* Stores the regular file `name` in `dir`. BZ_E_INVAL for anything else, BZ_E_BUSY if
 * it changes meanwhile. */
int bz_cas_file_put(struct bz_cas *cas, struct bz_digest_hasher *h, int dir,
                    const char *name, enum bz_cas_file_in how, struct bz_cas_file *out,
                    struct bz_err *err) BZ_MUST_CHECK;

enum bz_cas_file_check {
    BZ_CAS_FILE_CHECK,    /* the bytes, always */
    BZ_CAS_FILE_CHANGED,  /* the bytes, if the time says that they may have changed */
    BZ_CAS_FILE_UNCHECKED /* the size only */
};

enum bz_cas_file_out {
    BZ_CAS_FILE_LINK,   /* to be read; by copy where it cannot be linked */
    BZ_CAS_FILE_PRIVATE /* a copy, to be written to */
};

struct bz_cas_file_want {
    const struct bz_reapi_digest *digest;
    mode_t mode;
    enum bz_cas_file_out out;
    enum bz_cas_file_check check;
    bool plain; /* no link to a blob that has capabilities (plain.h) */
};

/* Makes the file `name`, which must not exist, in `dir`. BZ_E_NOENT if the blob is
 * absent or bad, and then there is no file. */
int bz_cas_file_get(struct bz_cas *cas, struct bz_digest_hasher *h, int dir,
                    const char *name, const struct bz_cas_file_want *want,
                    struct bz_err *err) BZ_MUST_CHECK;

#endif
