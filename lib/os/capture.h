/* capture.h - the beginning and the end of a stream, in bounded memory.
 *
 * A program's output explains itself at its start (what was called) and at its end
 * (what went wrong). When there is more than the limit, the first half of the limit and
 * the last half are kept and the bytes between them are counted. Memory grows with what
 * is kept. A zeroed struct keeps nothing but counts.
 */
#ifndef BZ_OS_CAPTURE_H
#define BZ_OS_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

struct bz_capture {
    size_t limit;   /* most bytes kept; set it before the first byte is added */
    uint64_t total; /* bytes ever added */
    char *head;
    size_t head_n, head_cap;
    char *ring;       /* the last bytes after the head; wraps at limit / 2 */
    uint64_t after_n; /* bytes ever added after the head */
    size_t ring_cap;
};

void bz_capture_add(struct bz_capture *c, const void *p, size_t n);

/* How many bytes between the head and the tail were dropped. */
uint64_t bz_capture_cut(const struct bz_capture *c);

/* What was kept, with a line that tells the number of cut bytes in place of them;
 * terminated, *n without the NUL. The caller frees it. */
char *bz_capture_text(const struct bz_capture *c, size_t *n);

void bz_capture_release(struct bz_capture *c);

#endif
