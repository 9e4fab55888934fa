#undef _FORTIFY_SOURCE /* its inline functions have the names defined here */
#include "tests/torture/shim.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What a call can fail with. */
enum { NOSPC = 1, ROFS = 2, ACCES = 4, STALE = 8, IO = 16 };
#define MAKES (NOSPC | ROFS | ACCES | STALE)

static struct {
    atomic_int sys; /* 0: not armed */
    atomic_uint seen, nth;
    atomic_bool forever;
    _Atomic(struct shim_log *) log;
    pthread_mutex_t mu; /* of the log */
} shim = {.mu = PTHREAD_MUTEX_INITIALIZER};

static struct {
    _Atomic(shim_fn) fn; /* whoever takes it may read ctx */
    void *ctx;
} before[SHIM_BEFORE_COUNT];

void shim_before(enum shim_call call, shim_fn fn, void *ctx)
{
    before[call].ctx = ctx;
    atomic_store(&before[call].fn, fn);
}

static void interrupt(enum shim_call call)
{
    shim_fn fn =
        atomic_load(&before[call].fn) ? atomic_exchange(&before[call].fn, NULL) : NULL;

    if (fn)
        fn(before[call].ctx);
}

static int bit_of(int sys)
{
    switch (sys) {
    case ENOSPC:
        return NOSPC;
    case EROFS:
        return ROFS;
    case EACCES:
        return ACCES;
    case ESTALE:
        return STALE;
    case EIO:
        return IO;
    default:
        return 0;
    }
}

/* Whether this call is to fail; errno is set then. */
static bool fails(int ways)
{
    int sys = atomic_load(&shim.sys);
    unsigned number, nth;

    if (!(bit_of(sys) & ways))
        return false;
    number = atomic_fetch_add(&shim.seen, 1) + 1;
    nth = atomic_load(&shim.nth);
    if (number != nth && !(number > nth && atomic_load(&shim.forever)))
        return false;
    errno = sys;
    return true;
}

void shim_arm(int sys, unsigned nth, bool forever)
{
    atomic_store(&shim.seen, 0);
    atomic_store(&shim.nth, nth);
    atomic_store(&shim.forever, forever);
    atomic_store(&shim.sys, sys);
}

unsigned shim_disarm(void)
{
    atomic_store(&shim.sys, 0);
    return atomic_load(&shim.seen);
}

#ifdef BZ_SHIM_LIBRARY
__attribute__((constructor)) static void arm_from_environment(void)
{
    const char *sys = getenv("SHIM_ERRNO"), *nth = getenv("SHIM_NTH");

    if (sys && nth)
        shim_arm(atoi(sys), (unsigned)atoi(nth), getenv("SHIM_FOREVER") != NULL);
}
#endif

/* The log. */

void shim_record(struct shim_log *log)
{
    atomic_store(&shim.log, log);
}

void shim_log_release(struct shim_log *log)
{
    for (size_t i = 0; i < log->n; i++) {
        free(log->at[i].path);
        free(log->at[i].from);
    }
    free(log->at);
    *log = (struct shim_log){0};
}

static char *absolute(int dir, const char *path)
{
    char base[PATH_MAX] = "", link[64], *out = NULL;
    ssize_t n;

    if (path && path[0] == '/')
        return strdup(path);
    snprintf(link, sizeof(link), "/proc/self/fd/%d", dir);
    n = readlink(dir == AT_FDCWD ? "/proc/self/cwd" : link, base, sizeof(base) - 1);
    base[n > 0 ? n : 0] = '\0';
    if (asprintf(&out, "%s%s%s", base, path ? "/" : "", path ? path : "") < 0)
        abort();
    return out;
}

static void note(struct shim_op op)
{
    struct shim_log *log = atomic_load(&shim.log);
    int saved = errno;

    pthread_mutex_lock(&shim.mu);
    if (log->n == log->room) {
        log->room = log->room ? log->room * 2 : 64;
        log->at = realloc(log->at, log->room * sizeof(*log->at));
        if (!log->at)
            abort();
    }
    log->at[log->n++] = op;
    pthread_mutex_unlock(&shim.mu);
    errno = saved;
}

static bool recording(void)
{
    return atomic_load(&shim.log) != NULL;
}

static void note_size(int fd)
{
    struct stat st;

    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        note((struct shim_op){
            .kind = SHIM_WRITE, .inode = st.st_ino, .size = st.st_size});
}

static void note_sync(int fd)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return;
    if (S_ISDIR(st.st_mode))
        note((struct shim_op){.kind = SHIM_SYNC, .path = absolute(fd, NULL)});
    else
        note((struct shim_op){.kind = SHIM_SYNC, .inode = st.st_ino});
}

static void note_named(enum shim_kind kind, int dir, const char *path)
{
    struct stat st = {0};

    (void)fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW);
    note((struct shim_op){
        .kind = kind, .inode = st.st_ino, .path = absolute(dir, path)});
}

/* The calls. The prototypes are the C library's. */

int openat(int dir, const char *path, int flags, ...)
{
    int ways = flags & O_CREAT ? MAKES : ACCES | STALE, fd;
    mode_t mode = 0;

    if (flags & (O_CREAT | __O_TMPFILE)) {
        va_list args;

        va_start(args, flags);
        mode = va_arg(args, mode_t);
        va_end(args);
    }
    if (fails(ways))
        return -1;
    fd = (int)syscall(SYS_openat, dir, path, flags, mode);
    if (fd >= 0 && (flags & O_CREAT) && recording())
        note_named(SHIM_CREATE, dir, path);
    return fd;
}

int linkat(int from_dir, const char *from, int dir, const char *path, int flags)
{
    int rc;

    if (fails(MAKES))
        return -1;
    rc = (int)syscall(SYS_linkat, from_dir, from, dir, path, flags);
    if (rc == 0 && recording())
        note_named(SHIM_LINK, dir, path);
    return rc;
}

int renameat(int from_dir, const char *from, int dir, const char *path)
{
    int rc;

    interrupt(SHIM_BEFORE_RENAME);
    if (fails(MAKES))
        return -1;
    rc = (int)syscall(SYS_renameat, from_dir, from, dir, path);
    if (rc == 0 && recording())
        note((struct shim_op){.kind = SHIM_RENAME,
                              .path = absolute(dir, path),
                              .from = absolute(from_dir, from)});
    return rc;
}

int mkdirat(int dir, const char *path, mode_t mode)
{
    int rc;

    if (fails(MAKES))
        return -1;
    rc = (int)syscall(SYS_mkdirat, dir, path, mode);
    if (rc == 0 && recording())
        note((struct shim_op){.kind = SHIM_MKDIR, .path = absolute(dir, path)});
    return rc;
}

int unlinkat(int dir, const char *path, int flags)
{
    int rc;

    if (fails(ROFS | ACCES | STALE))
        return -1;
    rc = (int)syscall(SYS_unlinkat, dir, path, flags);
    if (rc == 0 && recording())
        note((struct shim_op){.kind = SHIM_UNLINK, .path = absolute(dir, path)});
    return rc;
}

ssize_t write(int fd, const void *p, size_t n)
{
    ssize_t rc;

    if (fails(NOSPC | STALE | IO))
        return -1;
    rc = (ssize_t)syscall(SYS_write, fd, p, n);
    if (rc > 0 && recording())
        note_size(fd);
    return rc;
}

ssize_t pwrite(int fd, const void *p, size_t n, off_t at)
{
    ssize_t rc;

    if (fails(NOSPC | STALE | IO))
        return -1;
    rc = (ssize_t)syscall(SYS_pwrite64, fd, p, n, at);
    if (rc > 0 && recording())
        note_size(fd);
    return rc;
}

ssize_t copy_file_range(int from, off_t *in, int to, off_t *out, size_t n,
                        unsigned flags)
{
    ssize_t rc;

    if (fails(NOSPC | STALE | IO))
        return -1;
    rc = (ssize_t)syscall(SYS_copy_file_range, from, in, to, out, n, flags);
    if (rc > 0 && recording())
        note_size(to);
    return rc;
}

int ftruncate(int fd, off_t n)
{
    int rc;

    if (fails(NOSPC | STALE | IO))
        return -1;
    rc = (int)syscall(SYS_ftruncate, fd, n);
    if (rc == 0 && recording())
        note_size(fd);
    return rc;
}

ssize_t read(int fd, void *p, size_t n)
{
    return fails(STALE | IO) ? -1 : (ssize_t)syscall(SYS_read, fd, p, n);
}

ssize_t pread(int fd, void *p, size_t n, off_t at)
{
    return fails(STALE | IO) ? -1 : (ssize_t)syscall(SYS_pread64, fd, p, n, at);
}

int fsync(int fd)
{
    int rc;

    if (fails(NOSPC | IO | STALE))
        return -1;
#ifdef BZ_SHIM_LIBRARY
    rc = (int)syscall(SYS_fsync, fd);
#else
    rc = 0; /* what happens without power is modelled, not waited for */
#endif
    if (rc == 0 && recording())
        note_sync(fd);
    return rc;
}

int futimens(int fd, const struct timespec times[2])
{
    return fails(ROFS | STALE) ? -1 : (int)syscall(SYS_utimensat, fd, NULL, times, 0);
}

int utimensat(int dir, const char *path, const struct timespec times[2], int flags)
{
    interrupt(SHIM_BEFORE_TOUCH);
    return fails(ROFS | ACCES | STALE)
               ? -1
               : (int)syscall(SYS_utimensat, dir, path, times, flags);
}

int fchmod(int fd, mode_t mode)
{
    return fails(ROFS | STALE) ? -1 : (int)syscall(SYS_fchmod, fd, mode);
}
