/* entries.h - a file of entries: what a build directory remembers between runs.
 *
 * An entry has a kind, a key and bytes. The last entry of a key counts. The file grows
 * at its end, so a run writes as much as it has to add; it is written anew when half of
 * it is dead or it has grown by half, and entries that two rewrites have not seen used
 * go then.
 *
 *   1. Losing the file loses time, never a result: every failure to read is an empty
 *      file, and a caller may ignore a failure to save.
 *   2. Heads and bytes carry sums. Damage costs the entries that it is in; what a
 * killed writer has left at the end is cut off by the next one.
 *   3. A reader maps the file and sees it as it was when it was opened. It waits for
 *      nobody. Writers take turns by a lock on the file.
 *
 * The sums find what disks and half-written files do, not what somebody does on
 * purpose: whoever reads an entry checks every reference in it. One thread writes; any
 * number may find.
 */
#ifndef BZ_CODEC_ENTRIES_H
#define BZ_CODEC_ENTRIES_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/vec.h"

#define BZ_ENTRIES_MAX ((size_t)4 << 30) /* bytes */
#define BZ_ENTRIES_AGE 1 /* rewrites that an entry survives without being used */

struct bz_entries_key {
    uint8_t b[32];
};

struct bz_entries_new {
    uint32_t kind;
    bool gone;
    struct bz_entries_key key;
    struct bz_str bytes; /* in the arena */
};

/* The fields are this file's own. */
struct bz_entries {
    char *path;
    char tag[24]; /* what the file is for, the version of its content included */
    const char *map;
    size_t size;   /* of the part of it that is whole */
    size_t mapped; /* bytes */
    uint64_t dev, ino;
    size_t live;         /* bytes of entries that count */
    size_t base;         /* bytes that the file had when it was written anew */
    struct bz_map index; /* short key -> where the last entry is */
    struct bz_map used;  /* likewise, if it has been found */
    struct bz_arena arena;
    struct bz_entries_news BZ_VEC(struct bz_entries_new) news;
    size_t saved;        /* how many of these are in the file */
    struct bz_map fresh; /* short key -> number in news, from 1 */
};

/* `path` may be NULL: then nothing is remembered. `tag` has up to 24 bytes; a file with
 * another tag is as none. Close *e in any case. */
void bz_entries_open(struct bz_entries *e, const char *path, const char *tag);
void bz_entries_close(struct bz_entries *e);

/* The bytes of an entry, at a multiple of 8; they last until *e is closed. */
bool bz_entries_find(struct bz_entries *e, uint32_t kind,
                     const struct bz_entries_key *key, struct bz_str *out);

/* Adds or replaces an entry, or takes it away; found at once, saved later. The bytes
 * are copied. */
void bz_entries_put(struct bz_entries *e, uint32_t kind,
                    const struct bz_entries_key *key, struct bz_str bytes);
void bz_entries_drop(struct bz_entries *e, uint32_t kind,
                     const struct bz_entries_key *key);

/* Calls fn for every entry that counts, in no particular order. */
typedef void (*bz_entries_fn)(void *ctx, uint32_t kind,
                              const struct bz_entries_key *key, struct bz_str bytes);
void bz_entries_each(const struct bz_entries *e, bz_entries_fn fn, void *ctx);

/* Writes what was added, if anything was. BZ_E_BUSY if another process is writing for
 * longer than a moment. */
int bz_entries_save(struct bz_entries *e, struct bz_err *err) BZ_MUST_CHECK;

/* A key for a text: two hashes of it. Texts may share a key, so the entry has to tell.
 */
void bz_entries_key_of(struct bz_str text, struct bz_entries_key *out);

#endif
