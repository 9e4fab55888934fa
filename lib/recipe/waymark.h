/* waymark.h - lets a script of shell functions say which command made it fail.
 *
 * Few shells know the line they are at, and none knows the line of the recipe. So where
 * a command begins a line (sh_marks.h), an assignment is put in front of it that notes
 * the line of the script; when the shell ends with a status other than 0, the last line
 * noted is shown, with its place in the recipe or class. If the text of a function was
 * put together from several places, or values in it have several lines, the place is
 * that of the function.
 */
#ifndef BZ_RECIPE_WAYMARK_H
#define BZ_RECIPE_WAYMARK_H

#include "base/buf.h"
#include "vars/vars.h"

/* What the script has to begin with. It reads the script itself, $0. */
#define BZ_WAYMARK_SHELL                                                               \
    "bz_at=0\n"                                                                        \
    "bz_ended() {\n"                                                                   \
    "    bz_code=$? bz_n=0\n"                                                          \
    "    [ \"$bz_code\" != 0 ] || return 0\n"                                          \
    "    set +ex\n"                                                                    \
    "    if [ \"$bz_at\" != 0 ] && [ -r \"$0\" ]; then\n"                              \
    "        while IFS= read -r bz_line && [ $((bz_n += 1)) != \"$bz_at\" ]; do\n"     \
    "            :\n"                                                                  \
    "        done <\"$0\"\n"                                                           \
    "        bz_line=${bz_line#*;}\n"                                                  \
    "        bz_line=\": ${bz_line#\"${bz_line%%[! \t]*}\"}\"\n"                       \
    "        bz_place \"$bz_at\"\n"                                                    \
    "    fi\n"                                                                         \
    "    printf 'ERROR: exit code %d in %s%s\\n' \"$bz_code\" \"$bz_where\" "          \
    "\"$bz_line\"\n"                                                                   \
    "}\n"

/* Writes functions, as bz_script_func() does, so that they can tell, for a shell of
 * their own that goes on by calling `name`. */
int bz_waymark_write(struct bz_vars *v, struct bz_str name, struct bz_str functions,
                     struct bz_buf *out, struct bz_err *err) BZ_MUST_CHECK;

#endif
