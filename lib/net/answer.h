/* answer.h - what the header of an HTTP answer says, as far as we want to know.
 *
 * The lines are foreign. However many come and whatever they hold, this takes a fixed
 * amount of memory and a time in proportion to their length. Names are compared without
 * regard to case; lines that mean nothing to us count towards the limits and are
 * otherwise skipped.
 *
 * An answer may be preceded by others (100 Continue): a status line starts anew.
 */
#ifndef BZ_NET_ANSWER_H
#define BZ_NET_ANSWER_H

#include "net/url.h"

#define BZ_ANSWER_BYTES 65536 /* of all lines together */
#define BZ_ANSWER_LINES 512
#define BZ_ANSWER_WAIT 3600 /* the longest Retry-After believed, seconds */

struct bz_answer {
    unsigned status; /* 100 to 999; 0 before the status line */
    bool has_length, encoded;
    uint64_t length;     /* of the body, as promised */
    unsigned wait;       /* Retry-After in seconds; 0 if there is none, or a date */
    size_t bytes, lines; /* seen so far, those of earlier answers included */
    size_t nlocation;
    char location[BZ_URL_MAX]; /* not looked into; nlocation 0 if there is none */
};

/* One line, with or without its line end; an empty one ends the header. BZ_E_CORRUPT if
 * it cannot be meant (two different lengths, say), BZ_E_LIMIT if it is too much. */
int bz_answer_line(struct bz_answer *a, struct bz_str line,
                   struct bz_err *err) BZ_MUST_CHECK;

static inline struct bz_str bz_answer_location(const struct bz_answer *a)
{
    return bz_str_of(a->location, a->nlocation);
}

/* Whether the status sends us elsewhere, and whether it may be another one when asked
 * again a little later. */
bool bz_answer_redirects(const struct bz_answer *a);
bool bz_answer_transient(const struct bz_answer *a);

#endif
