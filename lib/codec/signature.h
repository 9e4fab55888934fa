/* signature.h - Ed25519: who vouches for bytes.
 *
 * Keys and signatures are plain values of fixed size (RFC 8032). The text form of a key
 * is 64 lower-case hexadecimal digits, as that of a digest. A key's id is the SHA-256
 * of its public half. Pure functions; any thread.
 */
#ifndef BZ_CODEC_SIGNATURE_H
#define BZ_CODEC_SIGNATURE_H

#include "codec/digest.h"

#define BZ_SIGNATURE_LEN 64
#define BZ_SIGNATURE_KEY_LEN 32
#define BZ_SIGNATURE_HEX_LEN 64 /* of a key, without the terminator */

struct bz_signature {
    uint8_t b[BZ_SIGNATURE_LEN];
};

/* Two types, so that the secret is never given where the public one is meant. */
struct bz_signature_secret {
    uint8_t b[BZ_SIGNATURE_KEY_LEN];
};
struct bz_signature_public {
    uint8_t b[BZ_SIGNATURE_KEY_LEN];
};

/* A new secret from the system's randomness. */
int bz_signature_new(struct bz_signature_secret *out, struct bz_err *err) BZ_MUST_CHECK;
/* Overwrites it, in a way that the compiler keeps. */
void bz_signature_forget(struct bz_signature_secret *s);

int bz_signature_public_of(const struct bz_signature_secret *s,
                           struct bz_signature_public *out,
                           struct bz_err *err) BZ_MUST_CHECK;

int bz_signature_make(const struct bz_signature_secret *s, const void *p, size_t n,
                      struct bz_signature *out, struct bz_err *err) BZ_MUST_CHECK;
/* False also when libcrypto cannot tell. */
bool bz_signature_check(const struct bz_signature_public *key, const void *p, size_t n,
                        const struct bz_signature *s) BZ_MUST_CHECK;

#endif
