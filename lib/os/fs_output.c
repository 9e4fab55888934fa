#include "os/fs_output.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "os/fs.h"
#include "os/path.h"

#define NEW_FILE 0644
#define LINKS_MAX 40 /* as in the kernel */

/* Whether a link is one of /proc: it leads to an open file, which its text may not
 * name.
 */
static bool is_of_proc(const struct bz_path *link)
{
    struct bz_str dir = bz_path_dirname(bz_path_str(link));
    BZ_CLEANUP(bz_mem_freep) char *name = bz_mem_dup(dir.p, dir.n);
    struct statfs fs;

    return statfs(name, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

/* Where the links at `path` end: a name that is no link, or is not there. */
static int follow(const char *path, struct bz_path *end, bool *proc, struct bz_err *err)
{
    int rc = bz_path_join(BZ_STR(""), bz_str_from(path), end, err);

    *proc = false;
    for (int i = 0; rc == 0 && i < LINKS_MAX; i++) {
        BZ_CLEANUP(bz_mem_freep) char *text = NULL;
        struct bz_path link = *end;
        struct stat st;

        if (lstat(end->s, &st) < 0 || !S_ISLNK(st.st_mode))
            return 0;
        *proc = is_of_proc(end);
        if (*proc)
            return 0;
        rc = bz_fs_readlink(AT_FDCWD, end->s, &text, err);
        if (rc == 0)
            rc = bz_path_join(bz_path_dirname(bz_path_str(&link)), bz_str_from(text),
                              end, err);
    }
    errno = ELOOP;
    return rc < 0 ? rc : bz_fail_sys(err, "write %s", path);
}

/* The very file that was looked at, whatever has its name by now. */
static int write_opened(int seen, const char *path, int flags, const void *p, size_t n,
                        struct bz_err *err)
{
    char itself[32];
    BZ_CLEANUP(bz_fs_closep) int fd = -1;

    snprintf(itself, sizeof(itself), "/proc/self/fd/%d", seen);
    fd = open(itself, O_WRONLY | O_CLOEXEC | O_NOCTTY | flags);
    if (fd < 0)
        return bz_fail_sys(err, "write %s", path);
    return bz_fs_write_all(fd, path, p, n, err);
}

/* What is there, with all links followed by the kernel, which refuses those that
 * another user has planted in a directory for all. */
static int write_what_is_there(int seen, const char *path, const void *p, size_t n,
                               struct bz_err *err)
{
    struct bz_path end;
    struct stat st;
    bool proc;
    int rc;

    if (fstat(seen, &st) < 0)
        return bz_fail_sys(err, "write %s", path);
    if (S_ISDIR(st.st_mode) || S_ISSOCK(st.st_mode))
        return bz_fail(err, BZ_E_INVAL, "write %s: it is a %s; name a file", path,
                       S_ISDIR(st.st_mode) ? "directory" : "socket");
    if (!S_ISREG(st.st_mode))
        return write_opened(seen, path, 0, p, n, err);
    rc = follow(path, &end, &proc, err);
    if (rc < 0)
        return rc;
    if (proc)
        return write_opened(seen, path, O_APPEND, p, n, err);
    return bz_fs_write(AT_FDCWD, end.s, p, n, NEW_FILE, BZ_FS_NOSYNC, err);
}

static int output(const char *path, const void *p, size_t n, struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep) int seen = open(path, O_PATH | O_CLOEXEC);
    struct bz_path end;
    bool proc;
    int rc;

    if (seen >= 0)
        return write_what_is_there(seen, path, p, n, err);
    if (errno != ENOENT)
        return bz_fail_sys(err, "write %s", path);
    rc = follow(path, &end, &proc, err);
    return rc < 0 ? rc
                  : bz_fs_write(AT_FDCWD, end.s, p, n, NEW_FILE, BZ_FS_NOSYNC, err);
}

int bz_fs_output(const char *path, const void *p, size_t n, struct bz_err *err)
{
    int rc = output(path, p, n, err);

    if (rc == BZ_E_NOENT)
        err->code = rc = BZ_E_IO;
    return rc;
}
