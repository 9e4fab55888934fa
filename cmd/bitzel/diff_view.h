/* diff_view.h - what changed, printed: old and new text, places, counts. */
#ifndef BZ_CMD_DIFF_VIEW_H
#define BZ_CMD_DIFF_VIEW_H

#include "out.h"
#include "sig/textdiff.h"

/* The lines that differ, each after `indent` blanks and its sign; in one line if both
 * texts are short. p == NULL: there was, or is, none. */
void bz_diff_view_text(struct bz_out *out, struct bz_str was, struct bz_str is,
                       const struct bz_textdiff_opts *opts, unsigned indent);

/* "1 task", "2 tasks" */
void bz_diff_view_count(struct bz_out *out, size_t n, const char *one);

#endif
