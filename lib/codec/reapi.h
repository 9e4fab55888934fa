/* reapi.h - the Remote Execution API's messages as plain structs, and the one door to
 * protobuf-c.
 *
 * Directory, Tree and ActionResult of version 2, as far as a store of results needs
 * them. What is not in these structs is dropped when read; properties of unknown names
 * are kept.
 *
 *   1. A directory is written in one way, the canonical one: names sorted by bytes, no
 *      name twice. Decoding accepts no other order.
 *   2. Names read are safe to use below a directory: never empty, ".", "..", too long,
 *      or with '/' or NUL in them. Paths in results are relative and have no "..".
 *   3. Sizes are between 0 and BZ_REAPI_SIZE_MAX; modes have permission bits only.
 *   4. Reading takes memory and time in proportion to the bytes read, whatever they
 * are.
 *
 * Names on disk need not be UTF-8, and deletions have no place in these messages.
 * Both are told by properties of the directory that others may ignore:
 *
 *   bitzel.escape = percent    names and link targets in it are escaped, see
 *                              reapi_name.h
 *   bitzel.opaque = 1          hides what lower layers have below this directory
 *   bitzel.whiteout.NAME = 1   hides NAME of the lower layers
 *
 * An encoded result ends in a seal, the digest of what goes before it, in a field that
 * others skip: a file cut short may well be a valid message, but not a sealed one.
 *
 * What is decoded lies in the caller's arena. Pure functions; any thread.
 */
#ifndef BZ_CODEC_REAPI_H
#define BZ_CODEC_REAPI_H

#include "base/arena.h"
#include "base/buf.h"
#include "codec/digest.h"

#define BZ_REAPI_SIZE_MAX (UINT64_C(1) << 44)   /* of a blob that a message names */
#define BZ_REAPI_MESSAGE_MAX ((size_t)64 << 20) /* of a Directory or ActionResult */
#define BZ_REAPI_TREE_MAX ((size_t)256 << 20)   /* of a Tree */
#define BZ_REAPI_TREE_DIRS ((size_t)1 << 20)    /* directories in it */

/* What a message calls a digest. A zero hash stands for none. */
struct bz_reapi_digest {
    struct bz_digest hash;
    uint64_t size;
};

static inline bool bz_reapi_digest_none(const struct bz_reapi_digest *d)
{
    return bz_digest_is_zero(&d->hash);
}

struct bz_reapi_time {
    int64_t s; /* since 1970 */
    int32_t ns;
    bool set;
};

struct bz_reapi_prop {
    struct bz_str name, value;
};

struct bz_reapi_props {
    struct bz_reapi_prop *at; /* sorted by name, none twice */
    size_t n;
    struct bz_reapi_time mtime;
    uint32_t mode; /* permission bits */
    bool has_mode;
};

struct bz_reapi_file {
    struct bz_str name;
    struct bz_reapi_digest digest;
    bool executable;
    struct bz_reapi_props props;
};

struct bz_reapi_subdir {
    struct bz_str name;
    struct bz_reapi_digest digest; /* of the encoded directory */
};

struct bz_reapi_link {
    struct bz_str name; /* in a result: its path */
    struct bz_str target;
    struct bz_reapi_props props;
};

struct bz_reapi_dir {
    struct bz_reapi_file *files;
    size_t nfiles;
    struct bz_reapi_subdir *dirs;
    size_t ndirs;
    struct bz_reapi_link *links;
    size_t nlinks;
    struct bz_str *whiteouts;
    size_t nwhiteouts;
    bool opaque;
    struct bz_reapi_props props; /* without the three above */
};

/* Appends the canonical encoding; the order of the entries does not matter. BZ_E_INVAL
 * if a name is not fit for a directory or is there twice. `out` has no limit. */
int bz_reapi_dir_encode(const struct bz_reapi_dir *dir, struct bz_buf *out,
                        struct bz_err *err) BZ_MUST_CHECK;
/* BZ_E_CORRUPT if the bytes are no such directory, BZ_E_LIMIT if they are too many. */
int bz_reapi_dir_decode(struct bz_arena *a, struct bz_str bytes,
                        struct bz_reapi_dir *out, struct bz_err *err) BZ_MUST_CHECK;

/* A directory and all below it in one message. Each is given as its encoding; parents
 * come before their children and equal ones are there once, as the specification wants
 * of a tree that says it is topologically sorted. */
struct bz_reapi_tree {
    struct bz_str *dirs; /* the root first */
    size_t ndirs;
};

void bz_reapi_tree_encode(const struct bz_reapi_tree *tree, struct bz_buf *out);
/* Splits; the directories are slices of `bytes` and are not looked into. */
int bz_reapi_tree_decode(struct bz_arena *a, struct bz_str bytes,
                         struct bz_reapi_tree *out, struct bz_err *err) BZ_MUST_CHECK;

struct bz_reapi_outfile {
    struct bz_str path;
    struct bz_reapi_digest digest;
    struct bz_str contents; /* may be given along with the digest */
    bool executable;
    struct bz_reapi_props props;
};

struct bz_reapi_outdir {
    struct bz_str path;          /* "": the working directory itself */
    struct bz_reapi_digest tree; /* of a Tree message, or none */
    struct bz_reapi_digest root; /* of a Directory message, or none */
    bool sorted;                 /* the tree is topologically sorted */
};

enum bz_reapi_when {
    BZ_REAPI_QUEUED,
    BZ_REAPI_WORKER_START,
    BZ_REAPI_WORKER_DONE,
    BZ_REAPI_FETCH_START,
    BZ_REAPI_FETCH_DONE,
    BZ_REAPI_RUN_START,
    BZ_REAPI_RUN_DONE,
    BZ_REAPI_UPLOAD_START,
    BZ_REAPI_UPLOAD_DONE,
    BZ_REAPI_WHEN_COUNT,
};

/* Auxiliary metadata: bytes of a type that the reader may know. */
struct bz_reapi_aux {
    struct bz_str type, value;
};

struct bz_reapi_result {
    struct bz_reapi_outfile *files;
    size_t nfiles;
    struct bz_reapi_outdir *dirs;
    size_t ndirs;
    struct bz_reapi_link *links;
    size_t nlinks;
    int32_t exit_code;
    struct bz_str out_raw, err_raw;    /* what it printed, or */
    struct bz_reapi_digest out, error; /* where that is stored */
    struct bz_str worker;
    struct bz_reapi_time when[BZ_REAPI_WHEN_COUNT];
    struct bz_reapi_aux *aux; /* without the seal */
    size_t naux;
    bool sealed; /* decoded: its seal is there and right */
};

/* Appends the message and its seal. BZ_E_INVAL for a path that is not relative, has
 * ".." in it or is not UTF-8. */
int bz_reapi_result_encode(const struct bz_reapi_result *r, struct bz_digest_hasher *h,
                           struct bz_buf *out, struct bz_err *err) BZ_MUST_CHECK;
/* BZ_E_CORRUPT if the bytes are no result or have a wrong seal. Without a seal, as
 * others write it, `sealed` is false. */
int bz_reapi_result_decode(struct bz_arena *a, struct bz_str bytes,
                           struct bz_digest_hasher *h, struct bz_reapi_result *out,
                           struct bz_err *err) BZ_MUST_CHECK;

#endif
