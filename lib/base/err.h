/* err.h - how a failure travels.
 *
 * A function that can fail returns 0 or a negative enum bz_code, and describes the
 * failure in the struct bz_err its caller passed. That struct is a plain value, with
 * nothing on the heap and nothing thread-local: it may be filled on one thread and
 * shown by another. Its contents mean something only after a negative return.
 *
 * A broken invariant of our own is no failure: BZ_ASSERT stops the program.
 */
#ifndef BZ_BASE_ERR_H
#define BZ_BASE_ERR_H

#include "base/defs.h"

enum bz_code {
    BZ_E_INVAL = -1,    /* what the user wrote is wrong: recipe, option, config */
    BZ_E_NOENT = -2,    /* what was asked for is not there */
    BZ_E_EXISTS = -3,   /* what was to be made is there already */
    BZ_E_IO = -4,       /* the system refused; bz_err.sys has the errno */
    BZ_E_CORRUPT = -5,  /* stored bytes disagree with their digest or format */
    BZ_E_LIMIT = -6,    /* larger, deeper or more than a bound allows */
    BZ_E_BUSY = -7,     /* somebody else has it; trying later may work */
    BZ_E_CANCELED = -8, /* the caller asked for it to stop */
    BZ_E_TIMEOUT = -9,  /* the deadline passed */
    BZ_E_TASK = -10,    /* a task of the build failed */
    BZ_E_NOSUP = -11,   /* this system or this build cannot do it */
};

struct bz_err {
    int code;          /* enum bz_code of the innermost failure */
    int sys;           /* its errno, or 0 */
    const char *where; /* "lib/os/fs.c:123", static */
    char msg[1000];    /* outermost context first: "load x: read y: no such file" */
};

#define BZ_ERR_TEXT_(x) #x
#define BZ_ERR_TEXT(x) BZ_ERR_TEXT_(x)
#define BZ_ERR_HERE __FILE__ ":" BZ_ERR_TEXT(__LINE__)

/* Describe a failure and evaluate to its code: `return bz_fail(err, ...)`. The second
 * takes the code from errno and adds the system's message. The arguments may include
 * the message that err holds already. */
#define bz_fail(err, code, ...) bz_err_set((err), (code), BZ_ERR_HERE, __VA_ARGS__)
#define bz_fail_sys(err, ...) bz_err_set_sys((err), BZ_ERR_HERE, __VA_ARGS__)

int bz_err_set(struct bz_err *err, enum bz_code code, const char *where,
               const char *fmt, ...) BZ_NONNULL BZ_PRINTF(4, 5);
int bz_err_set_sys(struct bz_err *err, const char *where, const char *fmt,
                   ...) BZ_NONNULL BZ_PRINTF(3, 4);

/* Puts context before the message of a failure and returns its code. Text that does
 * not fit is cut at the end, so the outermost context always survives. */
int bz_err_wrap(struct bz_err *err, const char *fmt, ...) BZ_NONNULL BZ_PRINTF(2, 3);

/* "not found", "canceled", ...: two words for a code, static. */
const char *bz_err_name(int code);

/* For states that only a bug can bring about. Checked in every build. */
#define BZ_ASSERT(cond) (BZ_LIKELY(cond) ? (void)0 : bz_err_bug(#cond, BZ_ERR_HERE))
void bz_err_bug(const char *what, const char *where) BZ_NORETURN;

#endif
