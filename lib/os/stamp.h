/* stamp.h - what a path was when it was looked at, so that a change can be noticed.
 *
 * A stamp is what the kernel says without reading: device, inode, size, times, kind.
 * "Nothing is there" is a stamp too. Two equal stamps mean the same content, with one
 * exception: a file that changes again within the tick of the clock that stamped its
 * last change looks as before. A stamp that old is settled: the change it shows lies so
 * far back that any later one bears another time. One that is not settled says nothing
 * but that the content must be compared.
 *
 * What is old enough: kernels stamp with a clock that ticks a few times in 10 ms; a
 * file system that keeps whole milliseconds or seconds only may be as coarse as FAT,
 * 2 s. A tenth of a second is added for servers whose clock differs from ours.
 *
 * Plain data without padding; pure but for the calls to the kernel. Any thread may call
 * anything.
 */
#ifndef BZ_OS_STAMP_H
#define BZ_OS_STAMP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/defs.h"

enum bz_stamp_kind {
    BZ_STAMP_ABSENT, /* or it cannot be reached */
    BZ_STAMP_FILE,
    BZ_STAMP_DIR,
    BZ_STAMP_OTHER,
};

struct bz_stamp {
    uint64_t dev, ino, size;
    int64_t mtime, ctime; /* nanoseconds since 1970 */
    uint32_t kind;        /* enum bz_stamp_kind */
    uint32_t settled;     /* 0 or 1; not a part of what is compared */
};

/* Of what is open, to be asked before it is read: what is read then is at least as new
 * as the stamp. False if the kernel does not say. */
bool bz_stamp_fd(int fd, struct bz_stamp *out);

/* Of what a path leads to, following links. */
void bz_stamp_path(int dir, const char *path, struct bz_stamp *out);

/* Of what the kernel said when the clock for times of files stood at `now`. */
void bz_stamp_stat(const struct stat *st, int64_t now, struct bz_stamp *out);

/* That clock. */
int64_t bz_stamp_now(void);

/* Whether nothing has changed as far as stamps can tell. */
static inline bool bz_stamp_same(const struct bz_stamp *a, const struct bz_stamp *b)
{
    if (a->kind != b->kind)
        return false;
    return a->kind == BZ_STAMP_ABSENT ||
           (a->ino == b->ino && a->size == b->size && a->mtime == b->mtime &&
            a->ctime == b->ctime && a->dev == b->dev);
}

#endif
