/* defs.h - compiler attributes and the few macros any file may use. */
#ifndef BZ_BASE_DEFS_H
#define BZ_BASE_DEFS_H

#include <stddef.h>

#define BZ_COUNTOF(a) (sizeof(a) / sizeof((a)[0]))

/* The struct of which `member`, at p, is a part. */
#define BZ_CONTAINER(p, type, member) ((type *)((char *)(p)-offsetof(type, member)))

#define BZ_CLEANUP(fn) __attribute__((cleanup(fn)))
#define BZ_MUST_CHECK __attribute__((warn_unused_result))
#define BZ_NONNULL __attribute__((nonnull))
#define BZ_NORETURN __attribute__((noreturn))
#define BZ_PRINTF(f, a) __attribute__((format(printf, f, a)))
#define BZ_NOINLINE __attribute__((noinline))
#define BZ_LIKELY(x) __builtin_expect(!!(x), 1)
#define BZ_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Two cache lines: x86 prefetches lines in pairs, so 64 bytes do not keep the
 * state of two threads apart. */
#define BZ_CACHELINE 128
#define BZ_PADDED _Alignas(BZ_CACHELINE)

#endif
