#include "cache/lease.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/fs_list.h"

#define DIR_MODE 0777 /* the umask decides who shares the store */
#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define RENEW_EVERY (3600 * BZ_CLOCK_S)
#define EXPIRES (86400 * BZ_CLOCK_S)
#define SAME_PROCESS 1000 /* stores that one process has open in one place */

static int64_t ns_of(struct timespec t)
{
    return t.tv_sec * BZ_CLOCK_S + t.tv_nsec;
}

static int open_dir(int top)
{
    int fd = openat(top, "leases", OPEN_DIR);

    if (fd >= 0 || errno != ENOENT)
        return fd;
    if (mkdirat(top, "leases", DIR_MODE) < 0 && errno != EEXIST)
        return -1;
    return openat(top, "leases", OPEN_DIR);
}

void bz_lease_open(struct bz_lease *l, int top, const struct bz_alive *self)
{
    struct stat st;

    l->fd = -1;
    l->begun = bz_clock_wall();
    l->name[0] = '\0';
    atomic_init(&l->renewed, bz_clock_now());
    l->dir = open_dir(top);
    for (int i = 0; l->dir >= 0 && l->fd < 0 && i < SAME_PROCESS; i++) {
        snprintf(l->name, sizeof(l->name), "%s.%x", self->name, (unsigned)i);
        l->fd = openat(l->dir, l->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (l->fd < 0 && errno != EEXIST)
            break;
    }
    if (l->fd >= 0 && fstat(l->fd, &st) == 0)
        l->begun = ns_of(st.st_mtim);
    if (l->fd < 0)
        bz_lease_close(l);
}

void bz_lease_close(struct bz_lease *l)
{
    if (l->fd >= 0)
        unlinkat(l->dir, l->name, 0);
    bz_fs_closep(&l->fd);
    bz_fs_closep(&l->dir);
    l->fd = l->dir = -1;
}

void bz_lease_renew(struct bz_lease *l)
{
    const struct timespec times[2] = {
        {0, UTIME_NOW },
        {0, UTIME_OMIT}
    };
    int64_t now = bz_clock_now();
    long long last = atomic_load_explicit(&l->renewed, memory_order_relaxed);

    /* relaxed: it only keeps most of the threads from doing the same */
    if (l->fd >= 0 && now - last > RENEW_EVERY &&
        atomic_compare_exchange_strong_explicit(
            &l->renewed, &last, now, memory_order_relaxed, memory_order_relaxed))
        futimens(l->fd, times);
}

/* Whether its owner is gone, or has to be taken for it. */
static bool has_expired(const struct bz_alive *self, const char *name,
                        const struct stat *st, int64_t now)
{
    struct bz_str owner = bz_str_from(name);
    size_t dot = bz_str_rfind_byte(owner, '.');

    if (dot != BZ_STR_NONE)
        owner = bz_str_sub(owner, 0, dot);
    switch (bz_alive_check(self, owner)) {
    case BZ_ALIVE_RUNNING:
        return false;
    case BZ_ALIVE_GONE:
        return true;
    case BZ_ALIVE_UNKNOWN:
        break;
    }
    return now - ns_of(st->st_ctim) > EXPIRES;
}

int bz_lease_oldest(int top, const struct bz_alive *self, int64_t now, bool sweep,
                    int64_t *out, struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep) int dir = openat(top, "leases", OPEN_DIR);
    BZ_CLEANUP(bz_fs_list_release) struct bz_fs_list list = {0};
    int rc;

    *out = now;
    if (dir < 0 && errno == ENOENT)
        return 0; /* nobody has ever had one */
    rc = dir < 0 ? bz_fail_sys(err, "open leases of the store")
                 : bz_fs_list_fd(dir, "leases of the store", &list, err);
    for (size_t i = 0; rc == 0 && i < list.n; i++) {
        struct stat st;

        if (fstatat(dir, list.names[i], &st, AT_SYMLINK_NOFOLLOW) < 0) {
            if (errno != ENOENT) /* else it was given up just now */
                rc = bz_fail_sys(err, "look at a lease of the store");
        } else if (has_expired(self, list.names[i], &st, now)) {
            if (sweep)
                unlinkat(dir, list.names[i], 0);
        } else if (ns_of(st.st_mtim) < *out) {
            *out = ns_of(st.st_mtim);
        }
    }
    return rc;
}
