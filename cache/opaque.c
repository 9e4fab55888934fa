#include "cache/opaque.h"

#include <sys/xattr.h>

#include "base/defs.h"

static const char *const names[] = {"user.overlay.opaque", "trusted.overlay.opaque"};

bool bz_opaque_is(int fd)
{
    char value;

    for (size_t i = 0; i < BZ_COUNTOF(names); i++)
        if (fgetxattr(fd, names[i], &value, 1) == 1 && value == 'y')
            return true;
    return false;
}

int bz_opaque_set(int fd, struct bz_err *err)
{
    bool marked = false;

    for (size_t i = 0; i < BZ_COUNTOF(names); i++)
        marked |= fsetxattr(fd, names[i], "y", 1, 0) == 0;
    return marked ? 0 : bz_fail_sys(err, "make a directory opaque");
}
