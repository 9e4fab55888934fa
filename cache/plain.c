#include "cache/plain.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/xattr.h>

#define ATTRIBUTE "security.capability"

mode_t bz_plain_mode(mode_t mode)
{
    mode &= ~(mode_t)(S_ISUID | S_ISGID);
    if (S_ISDIR(mode))
        return mode | S_IRWXU;
    return S_ISLNK(mode) ? mode : mode & ~(mode_t)(S_IWUSR | S_IWGRP | S_IWOTH);
}

static bool is_capable(ssize_t n)
{
    return n >= 0 || (errno != ENODATA && errno != EOPNOTSUPP);
}

bool bz_plain_capable(int fd)
{
    return is_capable(fgetxattr(fd, ATTRIBUTE, NULL, 0));
}

/* No system call before Linux 6.13 takes a directory and a name. */
bool bz_plain_capable_at(int dir, const char *name)
{
    char path[sizeof("/proc/self/fd/2147483647/") + PATH_MAX];

    snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", dir, name);
    return is_capable(lgetxattr(path, ATTRIBUTE, NULL, 0));
}
