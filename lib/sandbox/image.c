#include "sandbox/image.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>

#include "os/fs.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x10U
#endif

__asm__(".pushsection .rodata\n"
        ".balign 16\n"
        "bz_image_bytes:\n"
        ".incbin \"" BZ_INIT_PROGRAM "\"\n"
        "bz_image_end:\n"
        ".balign 8\n"
        "bz_image_size:\n"
        ".quad bz_image_end - bz_image_bytes\n"
        ".popsection\n");

extern const char bz_image_bytes[];
extern const uint64_t bz_image_size;

int bz_image_open(int *fd, struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep) int f = memfd_create("init", MFD_CLOEXEC | MFD_EXEC);
    int rc;

    if (f < 0 && errno == EINVAL) /* before Linux 6.3 all of them could be executed */
        f = memfd_create("init", MFD_CLOEXEC);
    if (f < 0)
        return bz_fail_sys(err, "make a file in memory");
    rc = bz_fs_write_all(f, "init", bz_image_bytes, bz_image_size, err);
    if (rc < 0)
        return rc;
    *fd = bz_fs_detach(&f);
    return 0;
}
