/* shelf.h - immutable files by key, in a plain directory that any number of processes
 * and machines share.
 *
 * A store's root holds the shelves `cas` and `ac`, in the layout of Bazel's disk cache
 * (`cas/ab/abcd...`), beside `tmp` for files on their way, `bad` for what was found
 * damaged, `leases` of those who use it (lease.h) and `trash` on its way out (trash.h).
 *
 *   1. A file appears under its key by link(2) from a complete temporary, whole or not
 *      at all. Whoever comes second finds EEXIST and is content.
 *   2. A file under a key is never written again.
 *   3. There are no locks and there is no database. What a killed process leaves is a
 *      temporary that nobody looks at; its name tells its owner (os/alive.h).
 *   4. A published file's modification time is BZ_SHELF_MTIME. Another one means that
 *      somebody wrote to it through one of its hard links.
 *
 * On a file system without hard links, rename(2) publishes; there the last one wins
 * with the same content.
 *
 * Any number of threads may use one shelf.
 */
#ifndef BZ_CACHE_SHELF_H
#define BZ_CACHE_SHELF_H

#include <stdatomic.h>
#include <sys/stat.h>

#include "cache/lease.h"
#include "codec/digest.h"
#include "os/alive.h"
#include "os/fs.h"

/* 2000-01-01 UTC. One time for all files makes equal trees equal, and make(1) content.
 */
#define BZ_SHELF_MTIME 946684800

/* Two digits, a slash and all digits of a key, terminated. */
#define BZ_SHELF_NAME (3 + BZ_DIGEST_HEX_LEN + 1)
/* The shelf, a dash and all digits. */
#define BZ_SHELF_ASIDE (4 + BZ_DIGEST_HEX_LEN + 1)

/* A name in tmp/: of the process, a dot and a number. */
#define BZ_SHELF_TEMP (BZ_ALIVE_MAX + 32)

/* A shelf has a directory for each first byte of the keys. */
#define BZ_SHELF_FANS 256

/* How old a file's access time is when somebody who wants the file sets it anew. */
#define BZ_SHELF_TOUCH 3600 /* seconds */

/* The directories of a store, shared by its shelves. */
struct bz_shelf_root {
    char *path; /* as it was given; owned */
    int top, tmp;
    bool readonly;    /* the file system or the opener does not allow writing */
    bool mend;        /* what is no directory and should be is put aside, shelf_dir.h */
    atomic_bool told; /* that something is no directory */
    atomic_bool told_key; /* that a result is another key's (action.h) */
    /* A blob was found damaged: others may be, too. From then on, whoever publishes a
     * blob that exists compares the bytes. */
    atomic_bool doubt;
    atomic_bool known[2][BZ_SHELF_FANS]; /* of results, of blobs: is a directory */
    enum bz_fs_sync sync;
    struct bz_alive self;
    struct bz_lease lease;
    int64_t skew;        /* of the file system's clock against ours, ns */
    int64_t touch;       /* BZ_SHELF_TOUCH in ns; tests want less */
    atomic_ullong temps; /* how many were made: their names differ by it */
};

struct bz_shelf {
    struct bz_shelf_root *root;
    int dir;
    const char *kind; /* "cas" or "ac", static */
    bool by_content;  /* a key is the digest of its file: sizes must agree */
    bool ours;        /* nobody else may change which directories it has */
};

/* BZ_SHELF_MEND is BZ_SHELF_WRITE for a store that we cannot do without (shelf_dir.h).
 */
enum bz_shelf_access {
    BZ_SHELF_WRITE,
    BZ_SHELF_READ,
    BZ_SHELF_MEND,
    BZ_SHELF_READ_AGAIN /* reads, and tells nothing of what the first opening tells */
};

/* Opens the directory `path`. Unless it is only read, what is missing is made; a store
 * that cannot be written is opened for reading if it is there. BZ_E_NOENT otherwise. */
int bz_shelf_root_open(struct bz_shelf_root *r, const char *path,
                       enum bz_shelf_access access, enum bz_fs_sync sync,
                       struct bz_err *err) BZ_MUST_CHECK;
void bz_shelf_root_close(struct bz_shelf_root *r); /* fine on a failed open */

int bz_shelf_open(struct bz_shelf *s, struct bz_shelf_root *root, const char *kind,
                  struct bz_err *err) BZ_MUST_CHECK;
void bz_shelf_close(struct bz_shelf *s);

void bz_shelf_name(const struct bz_digest *key, char out[BZ_SHELF_NAME]);
/* Its name in trash/, where a collector puts it on its way out. */
void bz_shelf_aside(const struct bz_shelf *s, const struct bz_digest *key,
                    char out[BZ_SHELF_ASIDE]);
bool bz_shelf_has(const struct bz_shelf *s, const struct bz_digest *key);
/* Whether it lies there. */
bool bz_shelf_in_trash(const struct bz_shelf *s, const struct bz_digest *key);

/* The time now on the file system's clock, as far as it is known. ns since 1970. */
int64_t bz_shelf_now(const struct bz_shelf_root *r);

/* The same, asked by making a file. Our own clock if the store is only read. */
int bz_shelf_clock(struct bz_shelf_root *r, int64_t *now,
                   struct bz_err *err) BZ_MUST_CHECK;

enum bz_shelf_claim {
    BZ_SHELF_ABSENT,
    BZ_SHELF_CLAIMED, /* no collector takes it as long as this store is open */
    BZ_SHELF_FOREIGN, /* it is there, but we may not say that we want it */
};

/* To be asked before something is built upon a file that is there already. */
enum bz_shelf_claim bz_shelf_claim(const struct bz_shelf *s,
                                   const struct bz_digest *key);
/* The same for a file of this size; one of another is absent. */
enum bz_shelf_claim bz_shelf_claim_sized(const struct bz_shelf *s,
                                         const struct bz_digest *key, uint64_t size);

/* Opens for reading. BZ_E_NOENT if there is no such file, and if it vanished under a
 * network file system's hands. A symbolic link is put aside, and counts as none. */
int bz_shelf_fd(const struct bz_shelf *s, const struct bz_digest *key, int *fd,
                struct bz_err *err) BZ_MUST_CHECK;
/* The same for whoever only looks: reading does not count as a use, if the file is
 * ours. */
int bz_shelf_peek(const struct bz_shelf *s, const struct bz_digest *key, int *fd,
                  struct bz_err *err) BZ_MUST_CHECK;

/* A temporary on its way. */
struct bz_shelf_temp {
    struct bz_shelf_root *root; /* NULL when there is none */
    int fd;
    char name[BZ_SHELF_TEMP];
};

/* BZ_E_IO with EROFS if the store is for reading only. */
int bz_shelf_temp_open(struct bz_shelf_root *r, struct bz_shelf_temp *t,
                       struct bz_err *err) BZ_MUST_CHECK;
/* Gives it its key, mode 0444 and its time; *existed if another file had the key before
 * and keeps it: nobody has looked at its bytes, unless there is `doubt`. By content,
 * one that is damaged, as far as its size tells, is put aside first. The temporary is
 * released, also on failure. BZ_E_BUSY if the shelf takes no such key, because
 * something else has the place of its directory. */
int bz_shelf_publish(const struct bz_shelf *s, struct bz_shelf_temp *t,
                     const struct bz_digest *key, bool *existed,
                     struct bz_err *err) BZ_MUST_CHECK;
void bz_shelf_temp_release(struct bz_shelf_temp *t);

/* Publishes a file that lies on the same file system, without copying: it gets a second
 * name. `fd` is open on it; *existed as above. BZ_E_NOSUP if it cannot be linked,
 * BZ_E_BUSY if the name leads to another file by now, or the shelf takes no such key.
 */
int bz_shelf_adopt(const struct bz_shelf *s, int dir, const char *name, int fd,
                   const struct bz_digest *key, bool *existed,
                   struct bz_err *err) BZ_MUST_CHECK;

/* Puts a damaged file aside, unless it is no longer the one that `seen` tells, and says
 * so in the log, unless `why` is NULL. Failing to do so is no error: it is a miss
 * either way. */
void bz_shelf_quarantine(const struct bz_shelf *s, const struct bz_digest *key,
                         const struct stat *seen, const char *why);

/* Removes temporaries whose owner is gone, or, when that cannot be known, that have not
 * changed for a day by the file system's own clock. Returns how many. */
size_t bz_shelf_sweep(struct bz_shelf_root *r);

#endif
