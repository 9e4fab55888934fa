/* sh_marks.h - at which lines of a shell text one more command may be put in.
 *
 * Where a line is the beginning of a command in a function, an assignment can be put in
 * front of it, on the same line, without the text meaning anything else: not after a
 * "&&" at the end of the line before, not between the patterns of a case, and not where
 * the line reads "$?", which the assignment would change. Whatever the lexer or this
 * file is not sure of has no such lines.
 */
#ifndef BZ_CODE_SH_MARKS_H
#define BZ_CODE_SH_MARKS_H

#include "base/arena.h"
#include "base/bitset.h"
#include "base/str.h"
#include "base/vec.h"

struct bz_sh_marks_func {
    struct bz_str name;
    uint32_t first, last; /* lines: of its name, and of the brace that ends it */
};

struct bz_sh_marks {
    struct bz_bitset lines; /* where it may be; the first line is 1 */
    struct bz_sh_marks_funcs BZ_VEC(struct bz_sh_marks_func) funcs; /* outermost */
    struct bz_arena arena;
};

/* BZ_E_INVAL or BZ_E_NOSUP for a text that is not understood. Release *m in any case.
 */
int bz_sh_marks_find(struct bz_str text, struct bz_sh_marks *m,
                     struct bz_err *err) BZ_MUST_CHECK;
void bz_sh_marks_release(struct bz_sh_marks *m);

#endif
