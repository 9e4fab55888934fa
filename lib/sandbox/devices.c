#include "sandbox/devices.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* Those of host.c; the numbers are Linux's, the same on every machine. */
static const struct {
    const char *path;
    unsigned major, minor;
} devices[] = {
    {"/dev/null",    1, 3},
    {"/dev/zero",    1, 5},
    {"/dev/full",    1, 7},
    {"/dev/random",  1, 8},
    {"/dev/urandom", 1, 9},
};

static void describe(const struct stat *st, char *out, size_t size)
{
    const unsigned high = major(st->st_rdev), low = minor(st->st_rdev);

    if (S_ISCHR(st->st_mode) || S_ISBLK(st->st_mode))
        snprintf(out, size, "is the %s device %u:%u",
                 S_ISCHR(st->st_mode) ? "character" : "block", high, low);
    else
        snprintf(out, size, "is a %s",
                 S_ISREG(st->st_mode)    ? "regular file"
                 : S_ISDIR(st->st_mode)  ? "directory"
                 : S_ISFIFO(st->st_mode) ? "fifo"
                                         : "socket");
}

/* `st` is NULL if there is none. */
static void tell(size_t i, const struct stat *st, struct bz_devices_wrong *out)
{
    const char *path = devices[i].path;
    const unsigned high = devices[i].major, low = devices[i].minor;
    const char *clear = !st ? "" : S_ISDIR(st->st_mode) ? "rmdir " : "rm -f ";
    char is[40] = "is missing";

    if (st)
        describe(st, is, sizeof(is));
    snprintf(out->found, sizeof(out->found), "%s %s, not the character device %u:%u",
             path, is, high, low);
    snprintf(out->fix, sizeof(out->fix), "%s%s%smknod -m 666 %s c %u %u", clear,
             st ? path : "", st ? "; " : "", path, high, low);
}

bool bz_devices_wrong(const char *root, struct bz_devices_wrong *out)
{
    for (size_t i = 0; i < BZ_COUNTOF(devices); i++) {
        char path[256];
        struct stat st;
        bool there;

        snprintf(path, sizeof(path), "%s%s", root, devices[i].path);
        there = stat(path, &st) == 0;
        if (there && S_ISCHR(st.st_mode) &&
            st.st_rdev == makedev(devices[i].major, devices[i].minor))
            continue;
        tell(i, there ? &st : NULL, out);
        return true;
    }
    return false;
}

int bz_devices_check(struct bz_err *err)
{
    struct bz_devices_wrong wrong;

    if (!bz_devices_wrong("", &wrong))
        return 0;
    return bz_fail(err, BZ_E_IO, "%s: no task is started. Repair it as root: %s",
                   wrong.found, wrong.fix);
}
