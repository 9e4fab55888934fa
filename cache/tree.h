/* tree.h - directory trees into a store and back.
 *
 * A tree is stored as its files' blobs and one Tree message (codec/reapi.h), whose
 * digest is the tree's name. Equal trees have equal names, on any machine.
 *
 * What is kept: names of any bytes, contents, holes, permission bits, symbolic links,
 * empty directories; and of an overlay's upper layer the whiteouts (character devices
 * 0/0) and opaque directories (xattrs {user,trusted}.overlay.opaque). What is not:
 * owners, times (all become BZ_SHELF_MTIME), other xattrs, and which names were hard
 * links of each other. Sockets are left out; pipes and devices are refused.
 *
 * A tree from a store is foreign: names cannot lead out of the directory (every step is
 * relative to an open one and follows no link), and a few bytes cannot unfold into a
 * tree of more than BZ_TREE_ENTRIES.
 *
 * Both directions work in parallel on a pool.
 */
#ifndef BZ_CACHE_TREE_H
#define BZ_CACHE_TREE_H

#include "cache/cas_file.h"
#include "cache/crew.h"

#define BZ_TREE_DEPTH 256
#define BZ_TREE_ENTRIES 20000000

struct bz_tree_stats {
    uint64_t files, dirs, links, bytes;
    uint64_t unseen; /* files whose bytes the store had, and nobody compared */
};

struct bz_tree_in {
    struct bz_crew_threads threads;
    struct bz_cancel *cancel; /* or NULL */
    enum bz_cas_file_in how;
};

/* Stores everything below the directory `path`. BZ_E_BUSY if it changes meanwhile. */
int bz_tree_store(struct bz_cas *cas, int dir, const char *path,
                  const struct bz_tree_in *in, struct bz_reapi_digest *out,
                  struct bz_tree_stats *stats, struct bz_err *err) BZ_MUST_CHECK;

struct bz_tree_out {
    struct bz_crew_threads threads;
    struct bz_cancel *cancel; /* or NULL */
    enum bz_cas_file_out how;
    enum bz_cas_file_check check;
    bool plain; /* for users (plain.h): read-only, with inodes of their own */
};

/* Makes the directory `path`, which must not exist, and the tree in it. BZ_E_NOENT if
 * the tree or one of its blobs is absent or bad, BZ_E_CORRUPT or BZ_E_LIMIT if it makes
 * no sense; then `path` does not exist. */
int bz_tree_restore(struct bz_cas *cas, const struct bz_reapi_digest *tree, int dir,
                    const char *path, const struct bz_tree_out *out,
                    struct bz_tree_stats *stats, struct bz_err *err) BZ_MUST_CHECK;

/* Whether the directory `path`, which bz_tree_restore has made, is what it was then,
 * but for the time of itself: BZ_E_CORRUPT if something was added, removed or written
 * to. Bytes are hashed with BZ_CAS_FILE_CHECK alone; with BZ_CAS_FILE_CHANGED times
 * tell, and with BZ_CAS_FILE_UNCHECKED these do not count. Other errors as above. */
int bz_tree_check(struct bz_cas *cas, const struct bz_reapi_digest *tree, int dir,
                  const char *path, const struct bz_tree_out *out,
                  struct bz_err *err) BZ_MUST_CHECK;

#endif
