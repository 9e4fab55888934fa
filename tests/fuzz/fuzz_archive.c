#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "codec/archive.h"
#include "os/fs.h"
#include "os/fs_list.h"
#include "os/fs_remove.h"
#include "os/fs_walk.h"

enum { MEMBERS = 64, BYTES = 1 << 20 };

static int check_entry(void *ctx, const struct bz_fs_walk_entry *e, struct bz_err *err)
{
    mode_t type = e->st->st_mode & S_IFMT;

    (void)ctx;
    (void)err;
    BZ_ASSERT(type == S_IFREG || type == S_IFDIR || type == S_IFLNK);
    BZ_ASSERT(type == S_IFLNK || (e->st->st_mode & 07022) == 0);
    return BZ_FS_WALK_ON;
}

/* However it ended: nothing lies beside the directory, and in it nothing strange. */
static void check_disk(int top)
{
    struct bz_fs_list list;
    struct bz_err err;
    int rc = bz_fs_list_dir(top, ".", &list, &err);

    BZ_ASSERT(rc == 0 && list.n == 1);
    bz_fs_list_release(&list);
    rc = bz_fs_walk(top, "out", check_entry, NULL, &err);
    BZ_ASSERT(rc == 0 || rc == BZ_E_LIMIT); /* deeper than a walk goes */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct bz_archive_opts ways[] = {
        {.members = MEMBERS, .bytes = BYTES},
        { .members = MEMBERS, .bytes = BYTES,   .strip = 1, .inner = "data.tar"},
    };
    /* In memory, where there is such a place: this makes and removes many files. */
    char shm[] = "/dev/shm/bz-fuzz-XXXXXX", tmp[] = "/tmp/bz-fuzz-XXXXXX";
    const char *path = mkdtemp(shm) ? shm : mkdtemp(tmp);
    int fd = memfd_create("archive", MFD_CLOEXEC), top, out, rc;
    struct bz_err err = {0};

    BZ_ASSERT(fd >= 0 && path);
    top = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    rc = bz_fs_write_all(fd, "archive", data, size, &err);
    BZ_ASSERT(rc == 0 && mkdirat(top, "out", 0755) == 0);
    out = openat(top, "out", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (size_t i = 0; i < BZ_COUNTOF(ways); i++) {
        struct bz_archive_stats stats;

        rc = bz_archive_unpack(fd, "a", out, &ways[i], &stats, &err);
        BZ_ASSERT(rc == 0 || (rc == err.code && strncmp(err.msg, "a: ", 3) == 0));
        BZ_ASSERT(rc < 0 || (stats.members <= MEMBERS && stats.bytes <= BYTES));
        check_disk(top);
    }
    rc = bz_archive_expand(fd, "a", out, "single", &ways[0], &err);
    BZ_ASSERT(rc == 0 || rc == err.code);
    check_disk(top);
    close(out);
    close(top);
    close(fd);
    rc = bz_fs_remove(AT_FDCWD, path, &err);
    BZ_ASSERT(rc == 0);
    return 0;
}
