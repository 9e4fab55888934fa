/* page.h - a build as one HTML file that shows itself in a browser.
 *
 * The file holds all it needs (lib/report/page/) and may load nothing: its security
 * policy allows no address at all, and of scripts and styles only the very bytes that
 * are in there. Names and logs, which may come from anywhere, lie in it as JSON in
 * which no tag can begin; the script puts them on the page as text.
 */
#ifndef BZ_REPORT_PAGE_H
#define BZ_REPORT_PAGE_H

#include "report/excerpt.h"
#include "report/shape.h"

/* If it takes more bytes than this to tell who waits for whom, the page does without;
 * it is some two for each dependency. */
#define BZ_PAGE_EDGES_MAX ((size_t)1 << 20)
/* And so are more servers that downloads came from. */
#define BZ_PAGE_ORIGINS_MAX 1000

/* And more pairs of tasks that have written a path differently. */
#define BZ_PAGE_OVERLAPS_MAX 100

struct bz_page_cause {
    struct bz_str title;
    size_t reaches; /* tasks */
};

struct bz_page_log {
    uint32_t task;
    struct bz_excerpt excerpt;
};

/* The line of its log that tells why a task failed. */
struct bz_page_error {
    uint32_t task;
    struct bz_str line;
};

struct bz_page {
    const struct bz_account *account;
    const struct bz_shape *shape;
    struct bz_str id, result;
    const struct bz_page_cause *causes; /* [ncauses] */
    size_t ncauses;
    struct bz_str compared; /* with what, to find the causes; "": with nothing */
    size_t fresh;           /* tasks that are new, besides */
    const struct bz_page_log *logs; /* [nlogs] */
    size_t nlogs;
    const struct bz_page_error *errors; /* [nerrors], in the order of tasks */
    size_t nerrors;
};

/* Appends the whole file. */
int bz_page_write(const struct bz_page *p, struct bz_buf *out,
                  struct bz_err *err) BZ_MUST_CHECK;

#endif
