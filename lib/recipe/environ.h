/* environ.h - which variables of the environment the configuration sees.
 *
 * BitBake's rules. By default a short list of names passes, with the MACHINE and DISTRO
 * that oe-init-build-env adds; BB_ENV_PASSTHROUGH
 * replaces the list, BB_ENV_PASSTHROUGH_ADDITIONS extends it, BB_PRESERVE_ENV lets
 * everything pass. LC_ALL is always en_US.UTF-8, unless everything passes: tools that
 * the metadata runs must not speak the user's language.
 */
#ifndef BZ_RECIPE_ENVIRON_H
#define BZ_RECIPE_ENVIRON_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/vec.h"

/* Variables that say who builds, and where; words. They are not what is built. */
#define BZ_ENVIRON_USER "HOME LC_ALL LOGNAME PATH PWD SHELL TERM USER"

/* Variables that differ from machine to machine and from day to day; words. Where
 * BB_BASEHASH_IGNORE_VARS has them, no key counts them (sig/keystore.h). */
#define BZ_ENVIRON_VARYING                                                             \
    "BB_NUMBER_PARSE_THREADS BB_NUMBER_THREADS DATE DATETIME PARALLEL_MAKE "           \
    "PARALLEL_MAKEINST TIME"

struct bz_environ_var {
    struct bz_str name, value;
};

struct bz_environ {
    struct bz_arena arena;
    struct bz_environ_vars BZ_VEC(struct bz_environ_var) vars; /* what passes */
};

/* Reads `envp`, as environ(7) has it. The n variables of `more` win over it and pass
 * in any case; one with value.p == NULL has no value of its own. */
void bz_environ_read(struct bz_environ *e, const char *const *envp,
                     const struct bz_environ_var *more, size_t n);

/* BZ_E_INVAL for a variable that BitBake has renamed: it would be ignored silently. */
int bz_environ_check(const char *const *envp, struct bz_err *err) BZ_MUST_CHECK;
void bz_environ_release(struct bz_environ *e);

/* The value of a variable before any rule, or NULL. */
const char *bz_environ_find(const char *const *envp, const char *name);

/* The value that passes, or p == NULL. */
struct bz_str bz_environ_get(const struct bz_environ *e, struct bz_str name);

/* Whether tasks see it without being told to. */
bool bz_environ_exported(struct bz_str name);

#endif
