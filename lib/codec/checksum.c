#include "codec/checksum.h"

#include <errno.h>
#include <unistd.h>

#include <openssl/evp.h>

#include "base/mem.h"

enum { READ_SIZE = 128 * 1024, LONGEST = 64 };

static const struct {
    const char *name;
    const char *crypto; /* what libcrypto calls it */
    size_t bytes;
} kinds[BZ_CHECKSUM_KINDS] = {
    [BZ_CHECKSUM_MD5] = {"md5",    "MD5",    16},
    [BZ_CHECKSUM_SHA1] = {"sha1",   "SHA1",   20},
    [BZ_CHECKSUM_SHA256] = {"sha256", "SHA256", 32},
    [BZ_CHECKSUM_SHA384] = {"sha384", "SHA384", 48},
    [BZ_CHECKSUM_SHA512] = {"sha512", "SHA512", 64},
};

const char *bz_checksum_name(enum bz_checksum_kind kind)
{
    return kinds[kind].name;
}

size_t bz_checksum_digits(enum bz_checksum_kind kind)
{
    return 2 * kinds[kind].bytes;
}

bool bz_checksum_find(struct bz_str name, enum bz_checksum_kind *out)
{
    for (int i = 0; i < BZ_CHECKSUM_KINDS; i++)
        if (bz_str_eq(name, bz_str_from(kinds[i].name))) {
            *out = (enum bz_checksum_kind)i;
            return true;
        }
    return false;
}

static void to_hex(const unsigned char *p, size_t n, char hex[BZ_CHECKSUM_HEX])
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < n; i++) {
        hex[2 * i] = digits[p[i] >> 4];
        hex[2 * i + 1] = digits[p[i] & 15];
    }
    hex[2 * n] = '\0';
}

struct hashes {
    EVP_MD_CTX *ctx[BZ_CHECKSUM_KINDS]; /* NULL where none is wanted */
};

static void hashes_release(struct hashes *h)
{
    for (int i = 0; i < BZ_CHECKSUM_KINDS; i++)
        EVP_MD_CTX_free(h->ctx[i]);
}

static int hashes_begin(struct hashes *h, unsigned wanted, struct bz_err *err)
{
    for (int i = 0; i < BZ_CHECKSUM_KINDS; i++) {
        EVP_MD *md;
        int ok;

        if (!(wanted & 1u << i))
            continue;
        md = EVP_MD_fetch(NULL, kinds[i].crypto, NULL);
        h->ctx[i] = EVP_MD_CTX_new();
        BZ_ASSERT(h->ctx[i]); /* out of memory */
        ok = md && EVP_DigestInit_ex2(h->ctx[i], md, NULL) == 1;
        EVP_MD_free(md);
        if (!ok)
            return bz_fail(err, BZ_E_NOSUP, "libcrypto is set up without %s",
                           kinds[i].crypto);
    }
    return 0;
}

static int hashes_read(struct hashes *h, int fd, struct bz_err *err)
{
    BZ_CLEANUP(bz_mem_freep) unsigned char *block = bz_mem_alloc(READ_SIZE);
    off_t at = 0;

    for (;;) {
        ssize_t n = pread(fd, block, READ_SIZE, at);

        if (n == 0)
            return 0;
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return bz_fail_sys(err, "read");
        at += n;
        for (int i = 0; i < BZ_CHECKSUM_KINDS; i++)
            if (h->ctx[i])
                EVP_DigestUpdate(h->ctx[i], block, (size_t)n);
    }
}

int bz_checksum_fd(int fd, unsigned wanted, struct bz_checksums *out,
                   struct bz_err *err)
{
    BZ_CLEANUP(hashes_release) struct hashes h = {0};
    int rc = hashes_begin(&h, wanted, err);

    memset(out, 0, sizeof(*out));
    if (rc == 0)
        rc = hashes_read(&h, fd, err);
    for (int i = 0; rc == 0 && i < BZ_CHECKSUM_KINDS; i++) {
        unsigned char sum[LONGEST];
        unsigned n = 0;

        if (!h.ctx[i])
            continue;
        BZ_ASSERT(EVP_DigestFinal_ex(h.ctx[i], sum, &n) == 1 && n == kinds[i].bytes);
        to_hex(sum, n, out->hex[i]);
    }
    return rc;
}

static int base64_value(char c)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;

    return at ? (int)(at - digits) : -1;
}

int bz_checksum_integrity(struct bz_str text, enum bz_checksum_kind *kind,
                          char hex[BZ_CHECKSUM_HEX], struct bz_err *err)
{
    unsigned char sum[LONGEST];
    struct bz_str name, value;
    uint32_t bits = 0;
    size_t n = 0, have = 0;

    bz_str_cut(text, '-', &name, &value);
    if (!bz_checksum_find(name, kind))
        return bz_fail(err, BZ_E_INVAL, "'%.*s' is no checksum that is known",
                       BZ_STR_ARG(text));
    while (bz_str_cut_suffix(&value, BZ_STR("=")))
        ;
    for (size_t i = 0; i < value.n; i++) {
        int six = base64_value(value.p[i]);

        if (six < 0 || n >= kinds[*kind].bytes)
            break;
        bits = bits << 6 | (uint32_t)six;
        have += 6;
        if (have >= 8) {
            have -= 8;
            sum[n++] = (unsigned char)(bits >> have);
        }
    }
    if (n != kinds[*kind].bytes || value.n != (8 * n + 5) / 6)
        return bz_fail(err, BZ_E_INVAL, "'%.*s' is no %s in base64", BZ_STR_ARG(text),
                       kinds[*kind].name);
    to_hex(sum, n, hex);
    return 0;
}
