/* profile.h - where the time of evaluating recipes goes: files and expressions.
 *
 * A thread measures into a profile of its own; they are merged afterwards. A file's own
 * time is without the files it includes or inherits; an expression's own is without
 * the expressions that it evaluates. {0} is empty.
 */
#ifndef BZ_SURVEY_PROFILE_H
#define BZ_SURVEY_PROFILE_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "recipe/eval.h"

struct bz_profile_time {
    struct bz_str name;
    uint64_t times;
    int64_t own, total; /* nanoseconds */
};

/* One of what is under way. */
struct bz_profile_frame {
    struct bz_profile_time *time;
    int64_t began, inner;
};

struct bz_profile_kind {
    struct bz_map times; /* name -> struct bz_profile_time * */
    struct bz_profile_stack BZ_VEC(struct bz_profile_frame) stack;
    struct bz_arena arena;
};

struct bz_profile {
    struct bz_profile_kind files, expressions;
    struct bz_eval_watch watch;
};

/* What tells this profile of each file and expression. The profile must not move. */
const struct bz_eval_watch *bz_profile_watch(struct bz_profile *p);

void bz_profile_merge(struct bz_profile *to, const struct bz_profile *from);
void bz_profile_release(struct bz_profile *p);

/* The n with the longest own time, longest first; returns how many there are. */
size_t bz_profile_top(const struct bz_map *times, struct bz_profile_time *out,
                      size_t n);

#endif
