#include <sys/stat.h>
#include <unistd.h>

#include "fetch/scheme.h"
#include "os/fs.h"
#include "os/path.h"

/* The first directory of FILESPATH that has it, as BitBake looks. */
static int search(struct bz_fetch *f, struct bz_source *s, struct bz_err *err)
{
    struct bz_str rest = f->policy.filespath, dir;
    struct bz_path path;

    while (rest.n > 0 && bz_str_next_part(&rest, ':', &dir)) {
        struct stat st;
        int rc = bz_path_join(dir, s->uri.path, &path, err);

        if (rc < 0)
            return rc;
        if (dir.n > 0 && stat(path.s, &st) == 0) {
            s->path = bz_arena_dup(&f->arena, bz_path_str(&path)).p;
            return 0;
        }
    }
    return 0;
}

static int prepare(struct bz_fetch *f, struct bz_source *s, struct bz_err *err)
{
    if (bz_str_find_byte(s->uri.path, '*') != BZ_STR_NONE)
        return bz_fail(err, BZ_E_INVAL,
                       "names with '*' are not searched: name the directory instead");
    s->path = s->uri.path.p;
    return bz_path_is_absolute(s->uri.path) ? 0 : search(f, s, err);
}

static int present(struct bz_fetch *f, struct bz_source *s, struct bz_err *err)
{
    struct stat st;

    if (stat(s->path, &st) == 0 && bz_path_is_absolute(bz_str_from(s->path)))
        return 1;
    return bz_fail(err, BZ_E_NOENT, "there is no such file; searched: %.*s",
                   BZ_STR_ARG(bz_path_is_absolute(s->uri.path) ? s->uri.path
                                                               : f->policy.filespath));
}

/* As a mirror: bytes from a directory that others fill. */
static int download(struct bz_fetch *f, struct bz_source *s, const struct bz_uri *from,
                    int fd, struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep) int in = -1;
    int rc = bz_fs_open_file(AT_FDCWD, from->path.p, &in, err);

    (void)f;
    (void)s;
    if (rc < 0)
        return rc;
    if (ftruncate(fd, 0) < 0 || lseek(fd, 0, SEEK_SET) < 0)
        return bz_fail_sys(err, "empty the file");
    return bz_fs_copy_fd(in, fd, from->path.p, err);
}

const struct bz_scheme bz_fetch_file = {.name = "file",
                                        .local = true,
                                        .prepare = prepare,
                                        .download = download,
                                        .present = present};
