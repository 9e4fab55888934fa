/* policy.h - what a recipe's variables say about fetching.
 *
 * Read once: DL_DIR, GITDIR, FILESPATH, PN, PREMIRRORS, MIRRORS, BB_NO_NETWORK,
 * BB_FETCH_PREMIRRORONLY, BB_ALLOWED_NETWORKS, BB_STRICT_CHECKSUM. Decides nothing but
 * who may be asked for what.
 */
#ifndef BZ_FETCH_POLICY_H
#define BZ_FETCH_POLICY_H

#include "fetch/uri.h"

/* A variable, or, if flag.p is not NULL, a flag of it; expanded. *out has p == NULL if
 * it is not set. Texts last as long as what they come from. */
struct bz_policy_vars {
    int (*get)(void *ctx, struct bz_str name, struct bz_str flag, struct bz_str *out,
               struct bz_err *err);
    void *ctx;
};

enum bz_policy_strict {
    BZ_POLICY_FAIL, /* a source from elsewhere must have a checksum */
    BZ_POLICY_WARN,
    BZ_POLICY_IGNORE,
};

struct bz_policy {
    struct bz_policy_vars vars;
    struct bz_str dl_dir;  /* absolute */
    struct bz_str git_dir; /* of bare clones */
    struct bz_str filespath, pn, premirrors, mirrors;
    struct bz_str allowed; /* hosts, "" if all are */
    bool no_network, premirror_only;
    enum bz_policy_strict strict;
};

/* Texts are copied to the arena. BZ_E_INVAL if DL_DIR is not set or not absolute, or a
 * switch is neither yes nor no. */
int bz_policy_read(struct bz_policy *p, struct bz_arena *arena,
                   const struct bz_policy_vars *vars, struct bz_err *err) BZ_MUST_CHECK;

/* A variable that only some sources need; "" if it is not set. */
int bz_policy_get(const struct bz_policy *p, const char *name, struct bz_str *out,
                  struct bz_err *err) BZ_MUST_CHECK;

/* Whether this host may be asked. BZ_E_NOSUP, with the variable that forbids it. */
int bz_policy_check(const struct bz_policy *p, struct bz_str host,
                    struct bz_err *err) BZ_MUST_CHECK;

/* Whether BB_ALLOWED_NETWORKS has nothing against it. */
bool bz_policy_trusts(const struct bz_policy *p, struct bz_str host);

#endif
