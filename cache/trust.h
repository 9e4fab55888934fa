/* trust.h - who vouches for a result.
 *
 * A result is signed over its key and everything in it but signatures: one that was
 * changed, or is filed under another key, is not signed. What is signed is the digest
 * of three tagged fields (codec/digest.h): BZ_TRUST_DOMAIN, the key, and the encoded
 * result without its signatures. A signature is auxiliary metadata of type
 * BZ_TRUST_AUX, which other readers of results ignore: one byte of version, the 32
 * bytes of the key's id, and the 64 of the signature. There may be several; one by a
 * trusted key is enough.
 *
 * A key has a name, which is a matter of this machine only, and lies in a directory:
 *
 *     NAME.key   "ed25519-secret HEX NAME", for its owner only
 *     NAME.pub   "ed25519 HEX NAME", to be given to others
 */
#ifndef BZ_CACHE_TRUST_H
#define BZ_CACHE_TRUST_H

#include "codec/reapi.h"
#include "codec/signature.h"

#define BZ_TRUST_AUX "bitzel/signature"
#define BZ_TRUST_DOMAIN "bitzel result 1"
#define BZ_TRUST_NAME 64   /* bytes of a key's name at most */
#define BZ_TRUST_CHECKED 8 /* signatures of a result that are looked at */

/* A signer: its secret stays in memory as long as it does. */
struct bz_trust_signer {
    struct bz_signature_secret secret;
    struct bz_digest id;
};

/* A name that can be that of a file: letters, digits, and ._-@ but not at the start. */
bool bz_trust_is_name(struct bz_str name);

/* The id of a public key. */
void bz_trust_id(struct bz_digest_hasher *h, const struct bz_signature_public *key,
                 struct bz_digest *out);

/* The result with one more signature, which is in the arena; `out` may be `r`. It must
 * be bound to the key (action.h), or storing it would change what was signed. */
int bz_trust_sign(struct bz_arena *a, struct bz_digest_hasher *h,
                  const struct bz_trust_signer *signer, const struct bz_digest *key,
                  const struct bz_reapi_result *r, struct bz_reapi_result *out,
                  struct bz_err *err) BZ_MUST_CHECK;

/* Why a result is not trusted; the first that applies to the best of its signatures. */
enum bz_trust_verdict {
    BZ_TRUST_GOOD,
    BZ_TRUST_UNSIGNED, /* or not in a form that we know */
    BZ_TRUST_STRANGER, /* signed by keys that are not among these */
    BZ_TRUST_FORGED,   /* it names one of these, and is wrong */
};
enum bz_trust_verdict bz_trust_check(struct bz_digest_hasher *h,
                                     const struct bz_signature_public *keys, size_t n,
                                     const struct bz_digest *key,
                                     const struct bz_reapi_result *r);

/* Makes NAME.key and NAME.pub in the directory, which is made too. BZ_E_EXISTS if there
 * is one of that name. */
int bz_trust_new_key(const char *dir, struct bz_str name,
                     struct bz_signature_public *out, struct bz_err *err) BZ_MUST_CHECK;

/* BZ_E_NOENT if there is no such key; BZ_E_INVAL if the file is wrong or, with a secret
 * one, if others may read it. */
int bz_trust_load_secret(const char *dir, struct bz_str name,
                         struct bz_trust_signer *out, struct bz_err *err) BZ_MUST_CHECK;
int bz_trust_load_public(const char *dir, struct bz_str name,
                         struct bz_signature_public *out,
                         struct bz_err *err) BZ_MUST_CHECK;

#endif
