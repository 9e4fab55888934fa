/* sums.h - the SHA-256 of files, each read only if it may have changed.
 *
 * The family "file digests" of the catalog (codec/entries.h): an entry for each path,
 * with the file's stamp. Rule of validity: a digest holds while the stamp (device,
 * inode, size and times) is the same. A changed file appends one entry and changes
 * nothing else in the catalog.
 *
 *   1. A digest belongs to its stamp: the stamp is taken before the file is read and
 *      again after, and both must be equal, else the file is read anew.
 *   2. Only a stamp that had settled (stamp.h) when the file was read is remembered.
 *      A later change, be it within the tick of a coarse clock, then has another time.
 *   3. Within one run a file is looked at once: all tasks see the same content.
 *
 * One thread.
 */
#ifndef BZ_SIG_SUMS_H
#define BZ_SIG_SUMS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "codec/digest.h"
#include "codec/entry_kinds.h"
#include "os/stamp.h"

struct bz_sums_file {
    struct bz_digest digest; /* zero if it is not there */
    bool present, executable;
};

struct bz_sums_seen {
    struct bz_str path;
    struct bz_stamp stamp;
    struct bz_sums_file file;
    bool read; /* its content was */
};

/* The fields are this file's own but for hash and ctx. */
struct bz_sums {
    struct bz_digest_hasher *hasher;
    struct bz_entries *catalog; /* NULL: nothing is remembered */
    struct bz_arena arena;
    struct bz_map index; /* path -> number in seen, from 1 */
    struct bz_sums_seens BZ_VEC(struct bz_sums_seen) seen; /* in this run */
    struct bz_map noted; /* path -> what an entry that is no file was, for one run */
    size_t nread;        /* files whose content was read */
    /* Reads a file from its start; set otherwise in tests. */
    int (*hash)(void *ctx, int fd, struct bz_digest *out, struct bz_err *err);
    void *ctx;
};

/* The catalog may be NULL; it and the hasher are used until bz_sums_keep(). */
void bz_sums_open(struct bz_sums *s, struct bz_entries *catalog,
                  struct bz_digest_hasher *hasher);
void bz_sums_close(struct bz_sums *s);

/* What is at a path, which is terminated; links are followed. A file that is not there
 * is no failure. BZ_E_INVAL for what is no regular file, BZ_E_BUSY for one that changes
 * whenever it is read. */
int bz_sums_get(struct bz_sums *s, const char *path, struct bz_sums_file *out,
                struct bz_err *err) BZ_MUST_CHECK;

/* BZ_E_BUSY if a file is not what bz_sums_get() has found there; by its stamp, by its
 * content only if that had not settled. Needs no hasher of *s. */
int bz_sums_recheck(const struct bz_sums *s, const char *path,
                    struct bz_err *err) BZ_MUST_CHECK;

/* Notes what an entry that is no file was, the target of a link, say; and BZ_E_BUSY if
 * it was not noted or is something else by now. */
void bz_sums_note(struct bz_sums *s, const char *path, struct bz_str text);
int bz_sums_recheck_note(const struct bz_sums *s, const char *path, struct bz_str text,
                         struct bz_err *err) BZ_MUST_CHECK;

/* Adds what was computed to the catalog, if anything was. */
void bz_sums_keep(struct bz_sums *s);

#endif
