/* tier_http.h - a web server as a tier: Bazel's HTTP cache protocol (remote.h).
 *
 * Results have to be ones that we wrote: with a seal, and bound to their key
 * (action.h). What is damaged, unsealed, another key's or no result at all counts as
 * missing. The first result under a key stays.
 */
#ifndef BZ_CACHE_TIER_HTTP_H
#define BZ_CACHE_TIER_HTTP_H

#include "cache/remote.h"

/* Asks the server nothing yet. BZ_E_INVAL if the address or a certificate is wrong.
 * (*out)->ops->close closes it. */
int bz_tier_http_open(const struct bz_remote_opts *opts, struct bz_tier **out,
                      struct bz_err *err) BZ_MUST_CHECK;

/* What a server sent as the result of a key: BZ_E_NOENT if it is none of ours. */
int bz_tier_http_decode(struct bz_arena *a, struct bz_str bytes,
                        struct bz_digest_hasher *h, const struct bz_digest *key,
                        struct bz_reapi_result *out, struct bz_err *err) BZ_MUST_CHECK;

#endif
