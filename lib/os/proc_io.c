#include "os/proc_io.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "os/fs.h"

static int dup_high(int fd)
{
    return fcntl(fd, F_DUPFD_CLOEXEC, BZ_PROC_IO_FREE);
}

int bz_proc_io_lift(int fd)
{
    int high;

    if (fd < 0 || fd >= BZ_PROC_IO_FREE)
        return fd;
    high = dup_high(fd);
    bz_fs_closep(&fd);
    return high;
}

static int open_null(int flags, struct bz_err *err)
{
    int fd = bz_proc_io_lift(open("/dev/null", flags | O_CLOEXEC));

    return fd < 0 ? bz_fail_sys(err, "open /dev/null") : fd;
}

/* A file in memory instead of a pipe: the child may read it late, partly or never, and
 * nobody has to feed it. */
static int open_bytes(struct bz_str bytes, struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep)
    int fd = bz_proc_io_lift(memfd_create("stdin", MFD_CLOEXEC));
    int rc;

    if (fd < 0)
        return bz_fail_sys(err, "create a file for stdin");
    rc = bz_fs_write_all(fd, "stdin", bytes.p, bytes.n, err);
    if (rc < 0)
        return rc;
    if (lseek(fd, 0, SEEK_SET) < 0)
        return bz_fail_sys(err, "rewind stdin");
    return bz_fs_detach(&fd);
}

static int open_in(struct bz_proc_io *io, const struct bz_proc_in *in,
                   struct bz_err *err)
{
    int fd;

    switch (in->kind) {
    case BZ_PROC_IN_BYTES:
        fd = open_bytes(in->bytes, err);
        break;
    case BZ_PROC_IN_FD:
        fd = dup_high(in->fd);
        if (fd < 0)
            return bz_fail_sys(err, "pass descriptor %d on", in->fd);
        break;
    default:
        fd = open_null(O_RDONLY, err);
    }
    io->child[0] = fd;
    return fd < 0 ? fd : 0;
}

static int open_pipe(int *ours, int *theirs, struct bz_err *err)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return bz_fail_sys(err, "make a pipe");
    *ours = bz_proc_io_lift(ends[0]);
    *theirs = bz_proc_io_lift(ends[1]);
    /* Only our end: a program's own stdout has to block. */
    if (*ours < 0 || *theirs < 0 || fcntl(*ours, F_SETFL, O_NONBLOCK) < 0)
        return bz_fail_sys(err, "make a pipe");
    return 0;
}

static int open_out(struct bz_proc_io *io, int which, const struct bz_proc_out *out,
                    struct bz_err *err)
{
    int *ours = which == STDOUT_FILENO ? &io->out : &io->err;
    int *theirs = &io->child[which];

    switch (out->kind) {
    case BZ_PROC_CAPTURE:
        return open_pipe(ours, theirs, err);
    case BZ_PROC_NULL:
        *theirs = open_null(O_WRONLY, err);
        return *theirs < 0 ? *theirs : 0;
    case BZ_PROC_FD:
        *theirs = dup_high(out->fd);
        if (*theirs < 0)
            return bz_fail_sys(err, "pass descriptor %d on", out->fd);
        return 0;
    case BZ_PROC_MERGE:
        BZ_ASSERT(which == STDERR_FILENO);
        *theirs = dup_high(io->child[STDOUT_FILENO]);
        return *theirs < 0 ? bz_fail_sys(err, "merge stderr") : 0;
    }
    return 0;
}

int bz_proc_io_open(struct bz_proc_io *io, const struct bz_proc_spec *spec,
                    struct bz_err *err)
{
    int rc = open_in(io, &spec->in, err);

    if (rc == 0)
        rc = open_out(io, STDOUT_FILENO, &spec->out, err);
    if (rc == 0)
        rc = open_out(io, STDERR_FILENO, &spec->err, err);
    return rc;
}

void bz_proc_io_release(struct bz_proc_io *io)
{
    bz_fs_closep(&io->out);
    bz_fs_closep(&io->err);
    for (size_t i = 0; i < BZ_COUNTOF(io->child); i++)
        bz_fs_closep(&io->child[i]);
}
