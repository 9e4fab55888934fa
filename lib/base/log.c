#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LOG_CUT "..."

static void to_stderr(void *arg, enum bz_log_level level, const char *line, size_t n)
{
    size_t done = 0;

    (void)arg;
    (void)level;
    n++; /* with the newline */
    /* One call, but for a signal or a device that takes less. Failing to log is the
     * one failure that nobody can be told. */
    while (done < n) {
        ssize_t wrote = write(STDERR_FILENO, line + done, n - done);

        if (wrote > 0)
            done += (size_t)wrote;
        else if (wrote == 0 || errno != EINTR)
            return;
    }
}

static const struct bz_log_sink stderr_sink = {to_stderr, NULL};

static atomic_int max_level = BZ_LOG_WARN;
static const struct bz_log_sink *_Atomic current_sink = &stderr_sink;

/* A line in the making; the newline and the terminator always fit behind it. */
struct line {
    char text[BZ_LOG_MAX + 2];
    size_t n;
};

/* Replaces the end of a line that is too long by the mark. */
static void cut(struct line *line)
{
    size_t keep = BZ_LOG_MAX - strlen(LOG_CUT);

    if (line->n > keep) {
        while (((unsigned char)line->text[keep] & 0xc0) == 0x80)
            keep--; /* not in the middle of a character */
        line->n = keep;
    }
    memcpy(line->text + line->n, LOG_CUT, strlen(LOG_CUT));
    line->n += strlen(LOG_CUT);
}

/* How many bytes the character at p has; 0 if its first byte is to be escaped, because
 * it is a control character (C0, delete, C1) or not UTF-8. */
static size_t printable(const unsigned char *p)
{
    static const uint32_t least[] = {0, 0, 0xa0, 0x800, 0x10000};
    size_t i, n;
    uint32_t c;

    if (p[0] < 0x80)
        return p[0] >= 0x20 && p[0] != 0x7f;
    if (p[0] < 0xc0 || p[0] > 0xf7)
        return 0;
    n = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    c = p[0] & (0x7fu >> n);
    for (i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0; /* also at the end of the text */
        c = c << 6 | (p[i] & 0x3fu);
    }
    if (c < least[n] || (c >= 0xd800 && c <= 0xdfff) || c > 0x10ffff)
        return 0;
    return n;
}

/* Adds text, escaping what is not printable. False if it did not fit. */
static bool add_escaped(struct line *line, const char *text)
{
    const char *p = text;

    while (*p) {
        size_t n = printable((const unsigned char *)p);

        if (line->n + (n ? n : strlen("\\xNN")) > BZ_LOG_MAX)
            return false;
        if (n) {
            memcpy(line->text + line->n, p, n);
            line->n += n;
            p += n;
        } else {
            sprintf(line->text + line->n, "\\x%02x", (unsigned char)*p++);
            line->n += strlen("\\xNN");
        }
    }
    return true;
}

static BZ_NOINLINE BZ_PRINTF(3, 0) void emit(enum bz_log_level level, const char *tag,
                                             const char *fmt, va_list ap)
{
    static const char *const names[] = {"error", "warn", "info", "debug"};
    const struct bz_log_sink *sink;
    /* A message that does not fit here does not fit behind its tag either. */
    char message[BZ_LOG_MAX + 1];
    struct line line;
    int saved = errno;

    line.n = 0;
    if (vsnprintf(message, sizeof(message), fmt, ap) < 0)
        message[0] = '\0'; /* a bad format; who logs it is still worth knowing */
    if (!add_escaped(&line, tag) || !add_escaped(&line, ": ") ||
        !add_escaped(&line, names[level]) || !add_escaped(&line, ": ") ||
        !add_escaped(&line, message))
        cut(&line);
    line.text[line.n] = '\n';
    line.text[line.n + 1] = '\0';
    /* acquire: pairs with the release in bz_log_set_sink */
    sink = atomic_load_explicit(&current_sink, memory_order_acquire);
    sink->write(sink->arg, level, line.text, line.n);
    errno = saved;
}

bool bz_log_on(enum bz_log_level level)
{
    /* relaxed: a line more or less while the level changes is of no account */
    return (int)level <= atomic_load_explicit(&max_level, memory_order_relaxed);
}

void bz_log_error(const char *tag, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    emit(BZ_LOG_ERROR, tag, fmt, ap);
    va_end(ap);
}

void bz_log_warn(const char *tag, const char *fmt, ...)
{
    va_list ap;

    if (!bz_log_on(BZ_LOG_WARN))
        return;
    va_start(ap, fmt);
    emit(BZ_LOG_WARN, tag, fmt, ap);
    va_end(ap);
}

void bz_log_info(const char *tag, const char *fmt, ...)
{
    va_list ap;

    if (!bz_log_on(BZ_LOG_INFO))
        return;
    va_start(ap, fmt);
    emit(BZ_LOG_INFO, tag, fmt, ap);
    va_end(ap);
}

void bz_log_debug(const char *tag, const char *fmt, ...)
{
    va_list ap;

    if (!bz_log_on(BZ_LOG_DEBUG))
        return;
    va_start(ap, fmt);
    emit(BZ_LOG_DEBUG, tag, fmt, ap);
    va_end(ap);
}

void bz_log_set_level(enum bz_log_level level)
{
    atomic_store_explicit(&max_level, (int)level, memory_order_relaxed);
}

const struct bz_log_sink *bz_log_set_sink(const struct bz_log_sink *sink)
{
    /* release: pairs with the acquire in emit; the sink's fields come first. acquire:
     * the caller may write to the old one. */
    return atomic_exchange_explicit(&current_sink, sink ? sink : &stderr_sink,
                                    memory_order_acq_rel);
}
