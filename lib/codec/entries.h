/* entries.h - a file of entries: everything that a build directory remembers.
 *
 * An entry has a kind, a key and bytes. The last entry of a key counts. A run appends
 * its new entries and nothing else. The file is rewritten when half of it is dead or
 * it has grown by half; a rewrite drops the entries that two rewrites in a row have not
 * seen used, except for the kept kinds (BZ_ENTRIES_KEPT).
 *
 *   1. Losing the file loses time, never a result: every failure to read is an empty
 *      file, and a caller may ignore a failure to save. An entry that cannot be
 *      recomputed has a kept kind: it survives rewrites, damage elsewhere in the file
 *      and a file of another version.
 *   2. Heads and bytes carry sums. A damaged entry is absent, and costs no other entry.
 *      The next writer cuts off the torn end that a killed writer leaves.
 *   3. A reader maps the file and sees it as it was when it was opened. It takes no
 *      lock. Writers lock the file, append under the lock, and replace the file by
 *      rename(2) when they rewrite it: a mapping of the old file stays valid.
 *   4. Opening reads the last index and the entries after it, not every entry. Every
 *      save ends with a mark that says where the last index is; without a mark at the
 *      end all heads are read.
 *
 * The sums detect accidents, not attacks: the reader of an entry checks every reference
 * in it. One thread writes; one thread finds.
 */
#ifndef BZ_CODEC_ENTRIES_H
#define BZ_CODEC_ENTRIES_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/vec.h"

#define BZ_ENTRIES_MAX ((size_t)4 << 30) /* bytes */
#define BZ_ENTRIES_AGE 1 /* rewrites that an entry survives without being used */
#define BZ_ENTRIES_KEPT                                                                \
    0x80000000U /* set in kinds whose entries stay until dropped                       \
                 */

struct bz_entries_key {
    uint8_t b[32];
};

/* Memory of new entries, as the file will have them. */
struct bz_entries_chunk {
    char *data;
    size_t len, cap;
    size_t saved; /* bytes that are in the file */
};

struct bz_entries_slot;

/* The fields are private to entries.c. */
struct bz_entries {
    char *path;
    char tag[24]; /* the version of the content */
    const char *map;
    size_t size;   /* of the part of it that is whole */
    size_t mapped; /* bytes */
    uint64_t dev, ino;
    bool foreign; /* the file has another head: only kept entries count */
    bool damaged; /* entries follow bytes that are none */
    size_t dead;  /* bytes of entries that do not count */
    size_t base;  /* bytes that the file had when it was rewritten */
    const struct bz_entries_slot *slots; /* the last index, [nslots] */
    size_t nslots, indexed;
    uint64_t index_at;            /* 0: there is no index */
    struct BZ_VEC(uint64_t) kept; /* where entries of kept kinds are, old ones too */
    struct bz_map index; /* short key -> where the last entry after the index is */
    struct bz_map used;  /* short keys of entries that were found */
    struct BZ_VEC(struct bz_entries_chunk) chunks;
    struct bz_map fresh; /* short key -> the head of a new entry */
    size_t nnew, nsaved; /* entries in chunks; of these in the file */
};

/* `path` may be NULL: then nothing is saved. `tag` has up to 24 bytes; of a file with
 * another tag only the kept entries count. Close *e in any case. */
void bz_entries_open(struct bz_entries *e, const char *path, const char *tag);
void bz_entries_close(struct bz_entries *e);

/* Whether a save writes anywhere. */
static inline bool bz_entries_is_saved(const struct bz_entries *e)
{
    return e->path != NULL;
}

/* The bytes of an entry, at a multiple of 8; they last until *e is closed. */
bool bz_entries_find(struct bz_entries *e, uint32_t kind,
                     const struct bz_entries_key *key, struct bz_str *out);

/* The sum of bytes that bz_entries_find() has returned. */
uint64_t bz_entries_sum(struct bz_str found);

/* Adds or replaces an entry, or drops it; found at once, saved later. The bytes are
 * copied. */
void bz_entries_put(struct bz_entries *e, uint32_t kind,
                    const struct bz_entries_key *key, struct bz_str bytes);
void bz_entries_drop(struct bz_entries *e, uint32_t kind,
                     const struct bz_entries_key *key);

/* The same without a copy: room for n bytes, at a multiple of 8. bz_entries_commit()
 * makes an entry of the first m of them, m <= n; no other call adds in between. */
char *bz_entries_room(struct bz_entries *e, size_t n);
void bz_entries_commit(struct bz_entries *e, uint32_t kind,
                       const struct bz_entries_key *key, size_t m);

/* Calls fn for every entry that counts, or for those of one kept kind, which takes no
 * look at the others. */
typedef void (*bz_entries_fn)(void *ctx, uint32_t kind,
                              const struct bz_entries_key *key, struct bz_str bytes);
void bz_entries_each(const struct bz_entries *e, bz_entries_fn fn, void *ctx);
void bz_entries_each_kept(const struct bz_entries *e, uint32_t kind, bz_entries_fn fn,
                          void *ctx);

/* Whether the next save rewrites the file, unless others write before: time to say
 * which entries are still of use. bz_entries_use() says so of the entries of a key, of
 * all kinds below BZ_ENTRIES_KINDS, without reading them. */
#define BZ_ENTRIES_KINDS 16
bool bz_entries_is_due(const struct bz_entries *e);
void bz_entries_use(struct bz_entries *e, const struct bz_entries_key *key);

/* Writes the new entries, if there are any. BZ_E_BUSY if another process is writing for
 * longer than a second. */
int bz_entries_save(struct bz_entries *e, struct bz_err *err) BZ_MUST_CHECK;

/* A key for a text: two hashes of it. Texts may share a key, so the entry has to have
 * the text, too. */
void bz_entries_key_of(struct bz_str text, struct bz_entries_key *out);

#endif
