/* doc_check.h - what must hold for every tree that a reader returns. */
#ifndef BZ_FUZZ_DOC_CHECK_H
#define BZ_FUZZ_DOC_CHECK_H

#include "base/arena.h"
#include "codec/doc.h"

/* Asserts the invariants of doc.h, the limits of the reader, and that writing the tree
 * as JSON, in one line and indented, and reading that gives an equal tree again. */
void doc_check(struct bz_arena *arena, const struct bz_doc *d,
               const struct bz_doc_limits *limits);

/* Asserts that a failure is one a reader may report, and says something. */
void doc_check_failure(int rc, const struct bz_err *err);

#endif
