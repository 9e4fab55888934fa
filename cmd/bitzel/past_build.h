/* past_build.h - a build that the build directory remembers, or one that runs. */
#ifndef BZ_CMD_PAST_BUILD_H
#define BZ_CMD_PAST_BUILD_H

#include "build/build.h"
#include "build/builds.h"
#include "cmd.h"
#include "report/account.h"
#include "report/firsterror.h"
#include "sig/cause.h"

struct bz_past_build {
    struct bz_build build;
    struct bz_arena arena;
    struct bz_str id;
    const char *events; /* the path of its log */
    struct bz_account account;
};

/* Finds the project and its build `which` with a log that `file` names (BZ_BUILDS_ANY,
 * or one), as bz_builds_find does, and reads it. Close *b in any case. */
int bz_past_build_open(struct bz_cmd_env *env, const char *which, const char *file,
                       struct bz_past_build *b, struct bz_err *err) BZ_MUST_CHECK;
void bz_past_build_close(struct bz_past_build *b);

/* Whether the build is alive whose log this is: it holds a lock on it. */
bool bz_past_build_runs(const char *events);

/* "completed", ..., "running", "killed". */
const char *bz_past_build_result(const struct bz_account *a, const char *events);

/* When the build had ended, in seconds since 1970, and a little later; 0: not known.
 * What was written after that is of another build. */
int64_t bz_past_build_until(const struct bz_account *a);

/* The line of its log that tells why a task failed; false if there is none, or the log
 * is of another build by now. */
bool bz_past_build_error(const struct bz_account *a, const struct bz_account_task *t,
                         struct bz_firsterror *out);

/* Why tasks have other keys than before, by the records of then and now. */
enum bz_past_since {
    BZ_PAST_UNKNOWN, /* the build has no record */
    BZ_PAST_BUILD,   /* compared with the last build before it that completed */
    BZ_PAST_STORED,  /* the first build here: with what stored results were made from */
    BZ_PAST_NOTHING, /* the first build, and of nothing that was stored: all is new */
};

struct bz_past_causes {
    struct bz_record was, is;
    struct bz_causes causes;
    enum bz_past_since kind;
    struct bz_str since; /* the id of the build before, if it is one */
};

/* Adds what only the record of the build knows to its account, and finds the causes.
 * Release *c in any case. */
int bz_past_build_explain(struct bz_past_build *b, struct bz_past_causes *c,
                          struct bz_err *err) BZ_MUST_CHECK;
void bz_past_build_forget(struct bz_past_causes *c);

/* "Compared with ...", or "First build here: ..."; nothing if nothing is known. */
void bz_past_build_compared(const struct bz_past_causes *c, struct bz_buf *out);

#endif
