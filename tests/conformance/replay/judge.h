/* judge.h - what an op is worth, by what it returned here and in BitBake.
 */
#ifndef BZ_CONFORMANCE_JUDGE_H
#define BZ_CONFORMANCE_JUDGE_H

#include "run.h"

enum replay_verdict replay_judge_fail(struct replay_run *r, const char *got,
                                      struct bz_str wanted);

/* Of an op that returned rc and, perhaps, a text. */
enum replay_verdict replay_judge_text(struct replay_run *r, const struct bz_doc *op,
                                      int rc, struct bz_str out,
                                      const struct bz_err *err);

/* Of an op whose result is not compared. */
enum replay_verdict replay_judge_rc(struct replay_run *r, const struct bz_doc *op,
                                    int rc, const struct bz_err *err);

#endif
