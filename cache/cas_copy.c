#include "cache/cas_copy.h"

#include <errno.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

#define CHUNK ((size_t)128 * 1024)

/* The next part of [at, end) that is not a hole; empty at `end` if there is none. */
static void next_data(int fd, off_t at, off_t end, off_t *from, off_t *to)
{
    off_t data = lseek(fd, at, SEEK_DATA), hole;

    if (data < 0 && errno != ENXIO)
        data = at; /* a file system that cannot tell: all is data */
    *from = data < 0 || data > end ? end : data;
    hole = *from < end ? lseek(fd, *from, SEEK_HOLE) : end;
    *to = hole < 0 || hole > end ? end : hole;
}

static int cut_short(struct bz_err *err)
{
    return bz_fail(err, BZ_E_BUSY, "the file got shorter while it was copied");
}

/* By hand: needed where the bytes are hashed, or the kernel cannot copy. */
static int copy_part(int from, int to, off_t at, off_t end, struct bz_digest_hasher *h,
                     char *chunk, struct bz_err *err)
{
    while (at < end) {
        size_t want = (size_t)(end - at) < CHUNK ? (size_t)(end - at) : CHUNK;
        ssize_t got = pread(from, chunk, want, at);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return bz_fail_sys(err, "read");
        if (got == 0)
            return cut_short(err);
        if (h)
            bz_digest_add(h, chunk, (size_t)got);
        for (ssize_t done = 0; done < got;) {
            ssize_t put = pwrite(to, chunk + done, (size_t)(got - done), at + done);

            if (put < 0 && errno != EINTR)
                return bz_fail_sys(err, "write");
            done += put > 0 ? put : 0;
        }
        at += got;
    }
    return 0;
}

static void add_zeros(struct bz_digest_hasher *h, off_t n, char *chunk)
{
    memset(chunk, 0, CHUNK);
    for (; n > 0; n -= (off_t)CHUNK)
        bz_digest_add(h, chunk, (size_t)n < CHUNK ? (size_t)n : CHUNK);
}

/* As far as the kernel gets with a part; the rest is for the caller. */
static off_t copy_in_kernel(int from, int to, off_t at, off_t end)
{
    off_t in = at, out = at;

    while (in < end && copy_file_range(from, &in, to, &out, (size_t)(end - in), 0) > 0)
        ;
    return in;
}

int bz_cas_copy(int from, int to, uint64_t size, struct bz_digest_hasher *h,
                struct bz_err *err)
{
    BZ_CLEANUP(bz_mem_freep) char *chunk = NULL;
    off_t end = (off_t)size, at = 0;
    struct stat st;
    int rc;

    if (!h && ioctl(to, FICLONE, from) == 0)
        return fstat(to, &st) == 0 && st.st_size == end ? 0 : cut_short(err);
    chunk = bz_mem_alloc(CHUNK);
    while (at < end) {
        off_t data, hole;

        next_data(from, at, end, &data, &hole);
        if (h)
            add_zeros(h, data - at, chunk);
        at = h ? data : copy_in_kernel(from, to, data, hole);
        rc = copy_part(from, to, at, hole, h, chunk, err);
        if (rc < 0)
            return rc;
        at = hole;
    }
    if (fstat(from, &st) < 0)
        return bz_fail_sys(err, "stat");
    if (st.st_size < end)
        return cut_short(err);
    if (ftruncate(to, end) < 0)
        return bz_fail_sys(err, "set the size of a copy");
    return 0;
}
