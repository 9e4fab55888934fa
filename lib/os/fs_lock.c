#include "os/fs_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>

#include "os/clock.h"
#include "os/fs.h"

#define FIRST_PAUSE (BZ_CLOCK_MS / 2)
#define LONGEST_PAUSE (20 * BZ_CLOCK_MS)

static bool taken(int sys)
{
    return sys == EAGAIN || sys == EACCES;
}

static int set_lock(int fd, int cmd, enum bz_fs_lock_kind kind)
{
    struct flock whole = {
        .l_type = kind == BZ_FS_LOCK_SHARED ? F_RDLCK : F_WRLCK,
        .l_whence = SEEK_SET,
    };
    int rc;

    do
        rc = fcntl(fd, cmd, &whole);
    while (rc < 0 && errno == EINTR);
    return rc;
}

static void pause_until(int64_t at)
{
    const struct timespec ts = {
        .tv_sec = (time_t)(at / BZ_CLOCK_S),
        .tv_nsec = (long)(at % BZ_CLOCK_S),
    };

    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

/* Only a signal ends fcntl's own waiting early, and signals are not a library's to
 * use; nor is there a descriptor that tells of a released lock. So a wait with a
 * deadline asks again, at growing intervals. */
static int lock_before(int fd, enum bz_fs_lock_kind kind, int64_t deadline)
{
    int64_t pause = FIRST_PAUSE;

    while (set_lock(fd, F_OFD_SETLK, kind) < 0) {
        int64_t now = bz_clock_now();

        if (!taken(errno) || now >= deadline)
            return -1;
        pause_until(deadline - now < pause ? deadline : now + pause);
        pause = pause * 2 < LONGEST_PAUSE ? pause * 2 : LONGEST_PAUSE;
    }
    return 0;
}

int bz_fs_lock(int dir, const char *path, enum bz_fs_lock_kind kind, int64_t deadline,
               int *fd, struct bz_err *err)
{
    /* A shared lock needs no permission to write, so that read-only trees work. */
    int access = kind == BZ_FS_LOCK_SHARED ? O_RDONLY : O_RDWR;
    BZ_CLEANUP(bz_fs_closep)
    int own = openat(dir, path, access | O_CREAT | O_CLOEXEC, 0666);
    int rc;

    if (own < 0)
        return bz_fail_sys(err, "open lock %s", path);
    if (deadline == BZ_CLOCK_NEVER)
        rc = set_lock(own, F_OFD_SETLKW, kind);
    else
        rc = lock_before(own, kind, deadline);
    if (rc < 0 && taken(errno))
        return bz_fail(err, BZ_E_BUSY, "lock %s: somebody else has it", path);
    if (rc < 0)
        return bz_fail_sys(err, "lock %s", path);
    *fd = bz_fs_detach(&own);
    return 0;
}

int bz_fs_lock_fd(int fd, struct bz_err *err)
{
    if (set_lock(fd, F_OFD_SETLK, BZ_FS_LOCK_EXCLUSIVE) == 0)
        return 0;
    if (taken(errno))
        return bz_fail(err, BZ_E_BUSY, "lock: somebody else has it");
    return bz_fail_sys(err, "lock");
}

bool bz_fs_lock_held(int dir, const char *path)
{
    BZ_CLEANUP(bz_fs_closep) int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
    struct flock whole = {.l_type = F_RDLCK, .l_whence = SEEK_SET};

    return fd >= 0 && fcntl(fd, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
}
