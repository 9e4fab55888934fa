#include "codec/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* The functions that hash without a provider. Those of EVP load libcrypto's
 * configuration and providers first, which takes longer than a command that has nothing
 * to do hashes. The deprecation is for programs that want a validated module. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

#include "base/mem.h"

enum {
    READ_SIZE = 128 * 1024, /* larger reads no longer make hashing faster */
};

struct bz_digest_hasher {
    SHA256_CTX ctx;
    bool open; /* between begin and end */
    uint8_t block[READ_SIZE];
};

int bz_digest_hasher_new(struct bz_digest_hasher **out, struct bz_err *err)
{
    BZ_CLEANUP(bz_digest_hasher_freep)
    struct bz_digest_hasher *h = bz_mem_alloc(sizeof(*h));

    h->open = false;
    if (SHA256_Init(&h->ctx) != 1)
        return bz_fail(err, BZ_E_NOSUP, "libcrypto has no SHA-256");
    *out = h;
    h = NULL; /* the caller owns it now */
    return 0;
}

void bz_digest_hasher_free(struct bz_digest_hasher *h)
{
    free(h);
}

/* Starting over, adding and finishing allocate nothing and have no way to fail: the
 * assertions below can only report a misuse of libcrypto. */
void bz_digest_begin(struct bz_digest_hasher *h)
{
    int ok = SHA256_Init(&h->ctx);

    BZ_ASSERT(ok == 1);
    h->open = true;
}

void bz_digest_add(struct bz_digest_hasher *h, const void *p, size_t n)
{
    int ok;

    BZ_ASSERT(h->open);
    if (n == 0)
        return;
    ok = SHA256_Update(&h->ctx, p, n);
    BZ_ASSERT(ok == 1);
}

void bz_digest_end(struct bz_digest_hasher *h, struct bz_digest *out)
{
    int ok;

    BZ_ASSERT(h->open);
    ok = SHA256_Final(out->b, &h->ctx);
    BZ_ASSERT(ok == 1);
    h->open = false;
}

void bz_digest_add_field(struct bz_digest_hasher *h, uint8_t tag, const void *p,
                         size_t n)
{
    uint8_t head[1 + sizeof(uint64_t)] = {tag};

    for (size_t i = 0; i < sizeof(uint64_t); i++)
        head[1 + i] = (uint8_t)((uint64_t)n >> (8 * i));
    bz_digest_add(h, head, sizeof(head));
    bz_digest_add(h, p, n);
}

void bz_digest_bytes(struct bz_digest_hasher *h, const void *p, size_t n,
                     struct bz_digest *out)
{
    bz_digest_begin(h);
    bz_digest_add(h, p, n);
    bz_digest_end(h, out);
}

static bool is_sparse(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
           (uint64_t)st.st_blocks * 512 < (uint64_t)st.st_size;
}

/* Adds the zeros of a hole that begins here and passes it: reading it would fill the
 * page cache with nothing. Returns their number. */
static uint64_t pass_hole(struct bz_digest_hasher *h, int fd)
{
    off_t at = lseek(fd, 0, SEEK_CUR);
    off_t data = at < 0 ? at : lseek(fd, at, SEEK_DATA);

    if (at >= 0 && data < 0 && errno == ENXIO)
        data = lseek(fd, 0, SEEK_END); /* there is but a hole */
    if (at < 0 || data <= at)
        return 0; /* or a file system that cannot tell */
    memset(h->block, 0, sizeof(h->block));
    for (uint64_t left = (uint64_t)(data - at), n; left > 0; left -= n) {
        n = left < sizeof(h->block) ? left : sizeof(h->block);
        bz_digest_add(h, h->block, (size_t)n);
    }
    return (uint64_t)(data - at);
}

int bz_digest_fd(struct bz_digest_hasher *h, int fd, struct bz_digest *out,
                 uint64_t *size, struct bz_err *err)
{
    bool sparse = is_sparse(fd);
    uint64_t total = 0;

    bz_digest_begin(h);
    for (;;) {
        ssize_t got;

        total += sparse ? pass_hole(h, fd) : 0;
        got = read(fd, h->block, sizeof(h->block));

        if (got == 0)
            break;
        if (got > 0) {
            bz_digest_add(h, h->block, (size_t)got);
            total += (uint64_t)got;
        } else if (errno != EINTR) {
            return bz_fail_sys(err, "read");
        }
    }
    bz_digest_end(h, out);
    *size = total;
    return 0;
}

static int digest_regular(struct bz_digest_hasher *h, int fd, struct bz_digest *out,
                          uint64_t *size, struct bz_err *err)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return bz_fail_sys(err, "stat");
    if (!S_ISREG(st.st_mode))
        return bz_fail(err, BZ_E_INVAL, "not a regular file");
    return bz_digest_fd(h, fd, out, size, err);
}

int bz_digest_file(struct bz_digest_hasher *h, int dirfd, const char *path,
                   struct bz_digest *out, uint64_t *size, struct bz_err *err)
{
    /* O_NONBLOCK means nothing to a regular file and keeps open(2) from waiting for
     * the writer of a named pipe. */
    int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    int rc;

    if (fd < 0)
        return bz_fail_sys(err, "open %s", path);
    rc = digest_regular(h, fd, out, size, err);
    close(fd);
    return rc < 0 ? bz_err_wrap(err, "digest %s", path) : 0;
}

void bz_digest_hex(const struct bz_digest *d, char out[BZ_DIGEST_HEX_LEN + 1])
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < sizeof(d->b); i++) {
        out[2 * i] = digits[d->b[i] >> 4];
        out[2 * i + 1] = digits[d->b[i] & 15];
    }
    out[BZ_DIGEST_HEX_LEN] = '\0';
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

int bz_digest_parse(struct bz_str hex, struct bz_digest *out, struct bz_err *err)
{
    struct bz_digest d;

    if (hex.n != BZ_DIGEST_HEX_LEN)
        return bz_fail(err, BZ_E_INVAL, "a SHA-256 has %d hex digits, not %zu",
                       BZ_DIGEST_HEX_LEN, hex.n);
    for (size_t i = 0; i < sizeof(d.b); i++) {
        int hi = hex_value(hex.p[2 * i]);
        int lo = hex_value(hex.p[2 * i + 1]);

        if (hi < 0 || lo < 0)
            return bz_fail(err, BZ_E_INVAL, "digit %zu of a SHA-256 is not in 0-9a-f",
                           2 * i + (hi < 0 ? 1 : 2));
        d.b[i] = (uint8_t)(hi << 4 | lo);
    }
    *out = d;
    return 0;
}
