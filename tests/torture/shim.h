/* shim.h - system calls that fail on command, or are written down.
 *
 * Linked into a program, these functions stand before those of the C library. As a
 * library of its own (BZ_SHIM_LIBRARY) it is for LD_PRELOAD and reads the environment:
 * SHIM_ERRNO=28 SHIM_NTH=5 [SHIM_FOREVER=1].
 *
 * Only calls that can fail in the way that is asked for are counted. One at a time.
 */
#ifndef BZ_TEST_SHIM_H
#define BZ_TEST_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* From now on the nth call, counted from 1, fails with this errno; `forever`: and all
 * after it. */
void shim_arm(int sys, unsigned nth, bool forever);
/* Returns how many calls were counted. */
unsigned shim_disarm(void);

/* Just before the next call of that kind, calls fn once: another process that comes in
 * between. */
enum shim_call { SHIM_BEFORE_RENAME, SHIM_BEFORE_TOUCH, SHIM_BEFORE_COUNT };
typedef void (*shim_fn)(void *ctx);
void shim_before(enum shim_call call, shim_fn fn, void *ctx);

/* What was done to a file system. Paths are absolute. */
enum shim_kind {
    SHIM_CREATE, /* path, inode */
    SHIM_WRITE,  /* inode; size: how long it is then */
    SHIM_SYNC,   /* inode; or path: of a directory */
    SHIM_LINK,   /* path, inode */
    SHIM_RENAME, /* from, path */
    SHIM_UNLINK, /* path */
    SHIM_MKDIR,  /* path */
};

struct shim_op {
    enum shim_kind kind;
    ino_t inode;
    off_t size;
    char *path, *from; /* owned by the log */
};

struct shim_log {
    struct shim_op *at;
    size_t n, room;
};

/* Writes down all that succeeds, until it is called with NULL. */
void shim_record(struct shim_log *log);
void shim_log_release(struct shim_log *log);

#endif
