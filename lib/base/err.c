#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum bz_code code_of_errno(int sys)
{
    switch (sys) {
    case ENOENT:
        return BZ_E_NOENT;
    case EEXIST:
        return BZ_E_EXISTS;
    case EBUSY:
    case EAGAIN:
        return BZ_E_BUSY;
    case ETIMEDOUT:
        return BZ_E_TIMEOUT;
    case ENOSYS:
    case EOPNOTSUPP:
        return BZ_E_NOSUP;
    default:
        return BZ_E_IO;
    }
}

/* Replaces the message. It is formatted aside first, because an argument may be the
 * old message. */
static BZ_PRINTF(2, 0) void say(struct bz_err *err, const char *fmt, va_list ap)
{
    char text[sizeof(err->msg)];

    if (vsnprintf(text, sizeof(text), fmt, ap) < 0)
        text[0] = '\0'; /* a bad format; code and place still say something */
    memcpy(err->msg, text, strlen(text) + 1);
}

/* Adds ": more" as far as it fits; not at all if none of `more` would. */
static void say_more(struct bz_err *err, const char *more)
{
    size_t used = strlen(err->msg);

    if (used + 3 < sizeof(err->msg))
        snprintf(err->msg + used, sizeof(err->msg) - used, ": %s", more);
}

int bz_err_set(struct bz_err *err, enum bz_code code, const char *where,
               const char *fmt, ...)
{
    va_list ap;

    err->code = code;
    err->sys = 0;
    err->where = where;
    va_start(ap, fmt);
    say(err, fmt, ap);
    va_end(ap);
    return code;
}

int bz_err_set_sys(struct bz_err *err, const char *where, const char *fmt, ...)
{
    int sys = errno; /* before anything below can change it */
    const char *desc = strerrordesc_np(sys);
    va_list ap;

    err->code = code_of_errno(sys);
    err->sys = sys;
    err->where = where;
    va_start(ap, fmt);
    say(err, fmt, ap);
    va_end(ap);
    say_more(err, desc ? desc : "unknown errno");
    return err->code;
}

int bz_err_wrap(struct bz_err *err, const char *fmt, ...)
{
    char inner[sizeof(err->msg)];
    va_list ap;

    memcpy(inner, err->msg, strlen(err->msg) + 1);
    va_start(ap, fmt);
    say(err, fmt, ap);
    va_end(ap);
    say_more(err, inner);
    return err->code;
}

const char *bz_err_name(int code)
{
    static const char *const names[] = {
        "ok",           "invalid input", "not found",    "already exists",
        "system error", "corrupt",       "over a limit", "busy",
        "canceled",     "timed out",     "failed",       "not supported",
    };

    if (code > 0 || code <= -(int)BZ_COUNTOF(names))
        return "unknown error";
    return names[-code];
}

void bz_err_bug(const char *what, const char *where)
{
    fprintf(stderr, "bitzel: internal error at %s: %s\n", where, what);
    abort();
}
