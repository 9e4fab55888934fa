/* cmd_open_cache.h - the store that the settings describe, for the commands that need
 * one. */
#ifndef BZ_CMD_CMD_OPEN_CACHE_H
#define BZ_CMD_CMD_OPEN_CACHE_H

#include "cache/cache.h"
#include "cmd.h"

/* Where keys lie, in the arena; NULL if state.dir is not known. */
const char *bz_cmd_open_cache_keys(const struct bz_settings *s, struct bz_arena *a);

/* The public key of that name: of this machine or else of cache.keys. BZ_E_NOENT if it
 * is not known. */
int bz_cmd_open_cache_key(const struct bz_settings *s, struct bz_str name,
                          struct bz_signature_public *out,
                          struct bz_err *err) BZ_MUST_CHECK;

/* Looks up the keys that the tiers of *out trust. BZ_E_INVAL if one is not known. */
int bz_cmd_open_cache_trust(const struct bz_settings *s, struct bz_arena *a,
                            struct bz_tiers_opts *out,
                            struct bz_err *err) BZ_MUST_CHECK;

/* What --verify may be; for a row whose initial value is -1, not given. */
extern const char *const bz_cmd_open_cache_verifies[];

/* Makes cache.verify what --verify says, if it was given. */
int bz_cmd_open_cache_verify(struct bz_cmd_env *env, int how,
                             struct bz_err *err) BZ_MUST_CHECK;

/* Why nothing may be uploaded or signed; NULL if it may. */
const char *bz_cmd_open_cache_keeps(const struct bz_settings *s);

/* What the settings say, but for the signer; the texts are in the arena or the
 * settings'. The index lies in state.dir under a name made from that of the store, for
 * it knows one store only. */
int bz_cmd_open_cache_opts(struct bz_cmd_env *env, struct bz_arena *a,
                           struct bz_cache_opts *out, struct bz_err *err) BZ_MUST_CHECK;

/* Leaves out the tiers that are servers, or all of them. */
void bz_cmd_open_cache_near(struct bz_cache_opts *opts, struct bz_arena *a, bool all);

/* Opens it. With BZ_SHELF_READ a store that is not there is BZ_E_NOENT and is not made.
 * `pool` may be NULL and outlives the cache, which the caller closes. */
int bz_cmd_open_cache(struct bz_cmd_env *env, enum bz_shelf_access access,
                      struct bz_pool *pool, struct bz_cache **out,
                      struct bz_err *err) BZ_MUST_CHECK;

/* The options of a store that a build writes to, without the tiers that are servers
 * (`offline`) or any (`local`). The signer holds a secret: forget it once the store is
 * open. */
struct bz_cmd_open_cache_without {
    bool offline; /* the servers */
    bool local;   /* all of them */
};
int bz_cmd_open_cache_build(struct bz_cmd_env *env, struct bz_arena *a,
                            const struct bz_cmd_open_cache_without *near,
                            struct bz_cache_opts *out, struct bz_trust_signer *signer,
                            struct bz_err *err) BZ_MUST_CHECK;
void bz_cmd_open_cache_forget(struct bz_trust_signer *signer);

/* The same with options of one's own, from bz_cmd_open_cache_opts. */
int bz_cmd_open_cache_as(const struct bz_cache_opts *opts, struct bz_arena *a,
                         struct bz_cache **out, struct bz_err *err) BZ_MUST_CHECK;

#endif
