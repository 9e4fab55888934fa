#include "os/stamp.h"

#include <time.h>

#include "os/clock.h"

enum {
    SKEW = 100, /* milliseconds that clocks may differ, and kernels are late */
    COARSE = 2000,
};

int64_t bz_stamp_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME_COARSE, &t);
    return t.tv_sec * BZ_CLOCK_S + t.tv_nsec;
}

/* A time with nothing below a millisecond is probably from a coarse file system: one
 * in a million of the others has none either, and is then merely compared once more. */
static bool is_old(int64_t time, int64_t now)
{
    int64_t margin = SKEW + (time % BZ_CLOCK_MS == 0 ? COARSE : 0);

    return time < now - margin * BZ_CLOCK_MS;
}

void bz_stamp_stat(const struct stat *st, int64_t now, struct bz_stamp *out)
{
    *out = (struct bz_stamp){
        .dev = st->st_dev,
        .ino = st->st_ino,
        .size = (uint64_t)st->st_size,
        .mtime = st->st_mtim.tv_sec * BZ_CLOCK_S + st->st_mtim.tv_nsec,
        .ctime = st->st_ctim.tv_sec * BZ_CLOCK_S + st->st_ctim.tv_nsec,
        .kind = BZ_STAMP_OTHER,
    };
    if (S_ISREG(st->st_mode))
        out->kind = BZ_STAMP_FILE;
    else if (S_ISDIR(st->st_mode))
        out->kind = BZ_STAMP_DIR;
    out->settled = is_old(out->mtime, now) && is_old(out->ctime, now);
}

bool bz_stamp_fd(int fd, struct bz_stamp *out)
{
    int64_t now = bz_stamp_now(); /* before: a change in between is not old then */
    struct stat st;

    *out = (struct bz_stamp){.kind = BZ_STAMP_ABSENT};
    if (fstat(fd, &st) < 0)
        return false;
    bz_stamp_stat(&st, now, out);
    return true;
}

void bz_stamp_path(int dir, const char *path, struct bz_stamp *out)
{
    int64_t now = bz_stamp_now();
    struct stat st;

    *out = (struct bz_stamp){.kind = BZ_STAMP_ABSENT, .settled = 1};
    if (fstatat(dir, path, &st, 0) == 0)
        bz_stamp_stat(&st, now, out);
}
