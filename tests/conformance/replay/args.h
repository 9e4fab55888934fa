/* args.h - the arguments of a recorded call.
 */
#ifndef BZ_CONFORMANCE_ARGS_H
#define BZ_CONFORMANCE_ARGS_H

#include "run.h"

const struct bz_doc *replay_args_at(const struct bz_doc *op, size_t i);

/* An argument by place or by name. */
const struct bz_doc *replay_args_either(const struct bz_doc *op, size_t i,
                                        const char *key);

/* The text of a value as a store would hold it. False for lists and maps. */
bool replay_args_text_of(struct bz_arena *arena, const struct bz_doc *d,
                         struct bz_str *out);
struct bz_str replay_args_text(struct replay_run *r, const struct bz_doc *op, size_t i);

bool replay_args_true(const struct bz_doc *d, bool otherwise);

/* How to read: expand, noweakdefault, parsing, from place `first` on. */
unsigned replay_args_how(const struct bz_doc *op, size_t first);

#endif
