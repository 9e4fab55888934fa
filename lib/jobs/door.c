#include "jobs/door.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/fs.h"
#include "os/fs_lock.h"
#include "os/path.h"

static int make_dir(const char *path, struct bz_err *err)
{
    struct bz_path dir;
    struct stat st;
    int rc = bz_path_join(BZ_STR(""), bz_path_dirname(bz_str_from(path)), &dir, err);

    if (rc == 0)
        rc = bz_fs_mkdirs(AT_FDCWD, dir.s, 0700, err);
    if (rc < 0)
        return rc;
    if (stat(dir.s, &st) < 0)
        return bz_fail_sys(err, "look at %s", dir.s);
    if (st.st_uid != geteuid() || st.st_mode & (S_IWGRP | S_IWOTH))
        return bz_fail(err, BZ_E_INVAL,
                       "others may write to %s: a socket wants a directory of its own",
                       dir.s);
    return 0;
}

static int bind_at(int fd, const struct sockaddr_un *at, struct bz_err *err)
{
    const struct sockaddr *addr = (const struct sockaddr *)at;

    if (bind(fd, addr, sizeof(*at)) == 0)
        return 0;
    if (errno != EADDRINUSE)
        return bz_fail_sys(err, "bind %s", at->sun_path);
    /* Whoever has left it there is gone, if it was one that locks. */
    if (connect(fd, addr, sizeof(*at)) == 0 || errno == EAGAIN)
        return bz_fail(err, BZ_E_EXISTS, "another server is at %s", at->sun_path);
    unlink(at->sun_path);
    return bind(fd, addr, sizeof(*at)) < 0 ? bz_fail_sys(err, "bind %s", at->sun_path)
                                           : 0;
}

static int claim(struct bz_door *d, const char *path, struct bz_err *err)
{
    struct bz_path file;
    int rc;

    if ((size_t)snprintf(file.s, sizeof(file.s), "%s.lock", path) >= sizeof(file.s))
        return bz_fail(err, BZ_E_LIMIT, "%.200s... is too long", path);
    rc = bz_fs_lock(AT_FDCWD, file.s, BZ_FS_LOCK_EXCLUSIVE, -1, &d->lock, err);
    return rc == BZ_E_BUSY
               ? bz_fail(err, BZ_E_EXISTS, "another server is at %.200s", path)
               : rc;
}

int bz_door_open(struct bz_door *d, const char *path, bool claimed, struct bz_err *err)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    size_t n = strlen(path);
    struct stat st;
    int rc;

    if (n >= sizeof(at.sun_path))
        return bz_fail(err, BZ_E_INVAL,
                       "%s is too long for a socket: at most %zu bytes", path,
                       sizeof(at.sun_path) - 1);
    memcpy(at.sun_path, path, n + 1);
    rc = make_dir(path, err);
    if (rc == 0 && !claimed)
        rc = claim(d, path, err);
    if (rc < 0)
        return rc;
    d->listen = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (d->listen < 0)
        return bz_fail_sys(err, "open a socket");
    rc = bind_at(d->listen, &at, err);
    if (rc < 0)
        return rc;
    if (lstat(path, &st) < 0)
        return bz_fail_sys(err, "look at %s", path);
    d->path = bz_mem_dup(path, n);
    d->dev = st.st_dev;
    d->ino = st.st_ino;
    return 0;
}

void bz_door_close(struct bz_door *d)
{
    struct stat st;

    if (d->path && lstat(d->path, &st) == 0 && st.st_dev == d->dev &&
        st.st_ino == d->ino)
        unlink(d->path);
    bz_fs_closep(&d->listen);
    bz_fs_closep(&d->lock);
    free(d->path);
    d->path = NULL;
}

bool bz_door_is_friend(int fd)
{
    struct ucred peer;
    socklen_t n = sizeof(peer);

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) == 0 &&
           (peer.uid == geteuid() || peer.uid == 0);
}
