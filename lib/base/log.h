/* log.h - leveled diagnostics for whoever debugs.
 *
 * A line reads "fetch: warn: text": subject tag, level, message. Control characters,
 * and bytes that are not UTF-8, are shown as \xNN, so that a line is one line and
 * foreign text cannot drive the terminal; a line longer than BZ_LOG_MAX is cut and ends
 * in "...". It goes to stderr, or to the sink that was set. Secrets are cut out by the
 * caller.
 *
 * Any thread may log at any time. There is no lock: each line is built on the stack and
 * given away in one piece, to stderr by one write(2), so lines never mix. errno is
 * preserved. Not for signal handlers, nor between fork and exec: printf's machinery is
 * not async-signal-safe.
 *
 * The level and the sink are the only mutable globals of the program, but for what
 * report/terminal.c puts back after a crash.
 */
#ifndef BZ_BASE_LOG_H
#define BZ_BASE_LOG_H

#include <stdbool.h>

#include "base/defs.h"

enum bz_log_level {
    BZ_LOG_ERROR, /* something is lost, and no caller is there to be told */
    BZ_LOG_WARN,  /* it goes on, perhaps not as wanted; the default level */
    BZ_LOG_INFO,  /* what was decided */
    BZ_LOG_DEBUG, /* why */
};

/* The longest line, without its newline. Small enough for a pipe to take it whole. */
#define BZ_LOG_MAX 2048

void bz_log_error(const char *tag, const char *fmt, ...) BZ_PRINTF(2, 3);
void bz_log_warn(const char *tag, const char *fmt, ...) BZ_PRINTF(2, 3);
void bz_log_info(const char *tag, const char *fmt, ...) BZ_PRINTF(2, 3);
void bz_log_debug(const char *tag, const char *fmt, ...) BZ_PRINTF(2, 3);

/* Lines above this level are dropped (errors never are), at the cost of a call and a
 * relaxed load. Where the arguments are dear to compute, ask bz_log_on first. */
void bz_log_set_level(enum bz_log_level level);
bool bz_log_on(enum bz_log_level level);

/* Takes each line, from any thread and several at a time. line[n] is '\n' and belongs
 * to the line but not to n; line[n + 1] is '\0'. Must not log. */
struct bz_log_sink {
    void (*write)(void *arg, enum bz_log_level level, const char *line, size_t n);
    void *arg;
};

/* NULL is stderr. The sink is borrowed; it stays alive until it is replaced and every
 * thread that may have been logging meanwhile is known to be done. Returns the one that
 * is replaced, to put it back. */
const struct bz_log_sink *bz_log_set_sink(const struct bz_log_sink *sink);

#endif
