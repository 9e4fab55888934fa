#include "codec/signature.h"

#include <errno.h>
#include <sys/random.h>

#include <openssl/err.h>
#include <openssl/evp.h>

static void free_key(EVP_PKEY **key)
{
    EVP_PKEY_free(*key);
}

static void free_ctx(EVP_MD_CTX **ctx)
{
    EVP_MD_CTX_free(*ctx);
}

static int no_crypto(struct bz_err *err)
{
    char why[128];

    ERR_error_string_n(ERR_get_error(), why, sizeof(why));
    ERR_clear_error();
    return bz_fail(err, BZ_E_NOSUP, "libcrypto has no Ed25519: %s", why);
}

int bz_signature_new(struct bz_signature_secret *out, struct bz_err *err)
{
    size_t got = 0;

    while (got < sizeof(out->b)) {
        ssize_t n = getrandom(out->b + got, sizeof(out->b) - got, 0);

        if (n < 0 && errno != EINTR)
            return bz_fail_sys(err, "get random bytes");
        got += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

void bz_signature_forget(struct bz_signature_secret *s)
{
    explicit_bzero(s, sizeof(*s));
}

int bz_signature_public_of(const struct bz_signature_secret *s,
                           struct bz_signature_public *out, struct bz_err *err)
{
    BZ_CLEANUP(free_key)
    EVP_PKEY *key =
        EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, s->b, sizeof(s->b));
    size_t n = sizeof(out->b);

    if (!key || EVP_PKEY_get_raw_public_key(key, out->b, &n) != 1 ||
        n != sizeof(out->b))
        return no_crypto(err);
    return 0;
}

int bz_signature_make(const struct bz_signature_secret *s, const void *p, size_t n,
                      struct bz_signature *out, struct bz_err *err)
{
    BZ_CLEANUP(free_key)
    EVP_PKEY *key =
        EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, s->b, sizeof(s->b));
    BZ_CLEANUP(free_ctx) EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    size_t len = sizeof(out->b);

    if (!key || !ctx || EVP_DigestSignInit(ctx, NULL, NULL, NULL, key) != 1 ||
        EVP_DigestSign(ctx, out->b, &len, p, n) != 1 || len != sizeof(out->b))
        return no_crypto(err);
    return 0;
}

bool bz_signature_check(const struct bz_signature_public *key, const void *p, size_t n,
                        const struct bz_signature *s)
{
    BZ_CLEANUP(free_key)
    EVP_PKEY *k =
        EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, key->b, sizeof(key->b));
    BZ_CLEANUP(free_ctx) EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool good = k && ctx && EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, k) == 1 &&
                EVP_DigestVerify(ctx, s->b, sizeof(s->b), p, n) == 1;

    ERR_clear_error(); /* a wrong signature leaves one */
    return good;
}
