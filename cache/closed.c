#include "cache/closed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "os/fs.h"

#define MODE_BITS 07777
#define ENTER (S_IRUSR | S_IXUSR)

/* The mode is that of the inode: a path descriptor can be changed by its other name. */
static int open_with(int dir, const char *name, mode_t type, mode_t more, mode_t *mode)
{
    BZ_CLEANUP(bz_fs_closep)
    int path = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    char itself[32];
    struct stat st;
    int fd, sys;

    if (path < 0 || fstat(path, &st) < 0)
        return -1;
    if ((st.st_mode & S_IFMT) != type || st.st_uid != geteuid()) {
        errno = EACCES;
        return -1;
    }
    *mode = st.st_mode & MODE_BITS;
    snprintf(itself, sizeof(itself), "/proc/self/fd/%d", path);
    if (chmod(itself, *mode | more) < 0)
        return -1;
    fd = open(itself, O_RDONLY | O_CLOEXEC);
    sys = errno;
    if (fd < 0)
        (void)!chmod(itself, *mode);
    errno = sys;
    return fd;
}

int bz_closed_file(int dir, const char *name, mode_t *mode)
{
    int fd = open_with(dir, name, S_IFREG, S_IRUSR, mode);

    /* What is open stays so. */
    if (fd >= 0 && fchmod(fd, *mode) < 0)
        bz_fs_closep(&fd);
    return fd;
}

int bz_closed_dir(int dir, const char *name, mode_t *mode)
{
    return open_with(dir, name, S_IFDIR, ENTER, mode);
}

bool bz_closed_enter(int fd, mode_t mode)
{
    return (mode & ENTER) != ENTER && geteuid() != 0 &&
           fchmod(fd, (mode & MODE_BITS) | ENTER) == 0;
}

void bz_closed_again(int fd, mode_t mode)
{
    (void)!fchmod(fd, mode & MODE_BITS);
}
